#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/abi: what the protocol promised may not change or vanish. On a repository of its own.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
repo=$work/repo
list=$repo/uapi/abi.txt
mkdir -p "$repo/uapi"
git init -q "$repo"

commit()
{
	git -C "$repo" add uapi
	git -C "$repo" -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$1"
}

# judged WANT "description": what tests/abi says of the repository, commits without their names.
judged()
{
	report "$("$top/tests/abi" "$repo" 2>&1 | sed -E 's/by [0-9a-f]{12}/by COMMIT/'; echo "rc ${PIPESTATUS[0]}")" "$1" "$2"
}

printf 'value state off 0\nattribute slot id 1 u32\ncommand drain 5 message\n' >"$list"
commit "the first list"
judged "rc 0" "a list that is new"
echo 'attribute slot name 2 string' >>"$list"
judged "rc 0" "one that grows"
commit "a name"
judged "rc 0" "and has grown"
sed -i 's/id 1 u32/id 1 u64/' "$list"
judged "uapi/abi.txt: lost since HEAD: attribute slot id 1 u32
rc 1" "a type that changes"
git -C "$repo" checkout -q uapi
sed -i '/^value/d; s/drain 5/drain 6/' "$list"
judged "uapi/abi.txt: lost since HEAD: command drain 5 message
uapi/abi.txt: lost since HEAD: value state off 0
rc 1" "a number that changes, and a value that vanishes"
commit "drain moves"
judged "uapi/abi.txt: lost by COMMIT, which does not say why (abi: WHY): command drain 5 message
uapi/abi.txt: lost by COMMIT, which does not say why (abi: WHY): value state off 0
rc 1" "that was committed without a word"
git -C "$repo" -c user.name=test -c user.email=test@localhost commit -q --amend -m "drain moves

abi: states are objects of their own"
judged "rc 0" "with one"
git -C "$repo" tag v0.9
sed -i '$d' "$list"
commit "no name

abi: nobody has one"
judged "rc 0" "a tag of a version that promises nothing"
git -C "$repo" tag v1.0
echo 'flag bar wide 0x2' >>"$list"
commit "wide"
judged "rc 0" "growth since a version that does"
sed -i '/drain/d' "$list"
commit "no drain

abi: nobody drains"
judged "uapi/abi.txt: lost since v1.0: command drain 6 message
rc 1" "after that no word helps"

echo "1..$count"
[ "$failed" -eq 0 ]
