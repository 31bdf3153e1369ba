# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests/lint: which files a tool has not found clean yet. Sourced with $top, $build and
# $cache set. A verdict is a file in the cache, named after the tool and the file's checksum, so
# that it holds for every checkout. With LINT=all there are no verdicts.

# A file that is as it was that number of commits ago was read by the checks of those commits.
past_commits=50

# stamps TOOL FILE...: "STAMP FILE" lines. TOOL is all that a verdict depends on but the file; where
# the checkout lies is no part of it. $checksums says what else than its text is the file's.
stamps()
{
	local tool=$1

	tool=${tool//"${build:?}/"/}
	tool=${tool//"${top:?}/"/}
	tool=$(sha256sum <<<"$tool" | cut -c1-16)
	shift
	"${checksums:-sha256sum}" "$@" | sed -E "s#^(.{24})[^ ]* +#${cache:?}/lint/$tool-\1 #"
}

# Those of the files that TOOL has not found clean.
unread()
{
	local stamp file

	stamps "$@" | while read -r stamp file; do
		[ -e "$stamp" ] && [ "${LINT:-}" != all ] || echo "$file"
	done
}

# What is not as it was that number of commits ago; nothing of a history that is shorter.
changes()
{
	git -C "${top:?}" diff --name-only "HEAD~$past_commits" 2>/dev/null &&
		git -C "$top" ls-files --others --exclude-standard
}

# Those that TOOL has not found clean and that have changed in the last commits: with what they
# include when TOOL has read them before, else themselves.
changed()
{
	local new list

	new=$(unread "$@")
	if [ -n "$new" ] && [ "${LINT:-}" != all ] && list=$(changes); then
		grep -xF "$list" <<<"$new" || true
	else
		echo "$new" | grep . || true
	fi
}

clean()
{
	stamps "$@" | cut -d' ' -f1 | xargs touch
}
