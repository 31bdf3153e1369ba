# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For unit tests that are scripts: a directory to work in, and the comparison of
# what is with what was expected, as TAP. The script prints the plan itself, from
# $count, and ends with status 1 when there are $failed.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# report IS EXPECTED "description"
report()
{
	count=$((count + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $count - $3"
	else
		failed=$((failed + 1))
		echo "not ok $count - $3"
		echo "#   is \"$1\", expected \"$2\""
	fi
}
