#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The manual pages: roff and man have nothing to warn of, there is one for each
# command and none for others, all of them are installed, and what they
# refer to exists.
#
# before: make -s gpuctl

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
gpuctl=${GPUCTL:-${GPUFABRIC_BUILD:-$top/build}/gpuctl}
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# report "description" COMMAND...: must succeed and say nothing.
report()
{
	local desc=$1 text rc=0
	shift

	text=$("$@" 2>&1) || rc=$?
	count=$((count + 1))
	if [ "$rc" -eq 0 ] && [ -z "$text" ]; then
		echo "ok $count - $desc"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $desc"
	head -n 10 <<<"$text" | sed 's/^/#   /'
}

man_warns()
{
	{ man --warnings=w -E UTF-8 -l -Tutf8 -Z "$1" >/dev/null; } 2>&1
}

roff_warns()
{
	groff -ww -b -man -z -Tutf8 "$1" 2>&1
}

# NAME, SYNOPSIS and DESCRIPTION first, and no line that a terminal cannot show whole.
is_whole()
{
	local heads

	heads=$(grep -E '^\.SH ' "$1" | head -n 3 | tr -d '"' | cut -c 5- | xargs)
	[[ "$heads" == "NAME SYNOPSIS "* ]] || echo "begins with $heads"
	MANWIDTH=80 man -l -Tascii "$1" 2>/dev/null | col -b | awk 'length > 80 { print "wide: " $0 }'
}

# Pages of ours that a page refers to.
refers_to()
{
	sed -nE 's/^\.BR ([^ ]+) .*\(([0-9])\).*/\1.\2/p' "$1" | sed 's/\\-/-/g' |
		grep -E '^(gpuctl|gpufabric)' | sort -u
}

dangling()
{
	local page other

	for page in ctl/man/*.[458] fm/man/*.8 slurm/man/*.8 dra/man/*.8; do
		refers_to "$page" | while read -r other; do
			[ -e "ctl/man/$other" ] || [ -e "fm/man/$other" ] || [ -e "slurm/man/$other" ] || [ -e "dra/man/$other" ] || echo "$page: there is no $other"
		done
	done
}

commands()
{
	"$gpuctl" completion commands | sed 's/^/gpuctl-/; s/$/.8/'
}

pages()
{
	(cd ctl/man && ls gpuctl-*.8)
}

missing()
{
	comm -3 <(commands | sort) <(pages | sort)
}

installed()
{
	make -s install-files DESTDIR="$work" prefix=/usr WERROR= || return
	comm -3 <(cd ctl/man && find . -name '*.[458]' | sort) \
		<(cd "$work/usr/share/man" && find . -type f -printf './%f\n' | sort)
	[ -s "$work/usr/share/bash-completion/completions/gpuctl" ] || echo "no completion for bash"
	[ -s "$work/usr/share/zsh/vendor-completions/_gpuctl" ] || echo "no completion for zsh"
}

for page in ctl/man/*.[458] fm/man/*.8 slurm/man/*.8 dra/man/*.8; do
	name=${page##*/}
	report "$name: roff is content" roff_warns "$page"
	report "$name: man is content" man_warns "$page"
	report "$name: is whole" is_whole "$page"
done
report "a page for each command, and no other" missing
report "no page refers to one that there is not" dangling
report "all of it is installed" installed
printf '.TH BAD 1\n.SH NAME\nbad\n.frobnicate\n' >"$work/bad.8"
roff_warns "$work/bad.8" | grep -q frobnicate || { echo "not ok $((count + 1)) - a bad page is noticed"; failed=1; }
echo "# count manual.pages $(find ctl/man -name '*.[458]' | wc -l)"
echo "1..$count"
[ "$failed" -eq 0 ]
