#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every refusal of the module is one that a test provokes (tools/errors.py): a
# new one needs a test, a changed one changes it. And that program itself, on a
# copy of the module in which something is changed.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
errors=$top/tools/errors.py

"$errors" >"$work/table" 2>&1
rc=$?
grep -v '^1\.\.' "$work/table"
count=$(grep -cE '^(not )?ok ' "$work/table")
failed=0
[ "$rc" -eq 0 ] || failed=1

verdict()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failed=$((failed + 1))
		echo "not ok $count - $2"
		sed 's/^/#   /' "$work/out" | grep -v '^#   ok' | tail -n 5
	fi
}

# changed "description" FILE SED-SCRIPT WANT: with that change the program fails
# and says WANT.
changed()
{
	local is=0

	rm -rf "$work/tree"
	mkdir -p "$work/tree/tests/vm"
	cp -r "$top/kmod" "$work/tree/"
	cp -r "$top/tests/selftests" "$work/tree/tests/"
	cp -r "$top/tests/vm/cases" "$work/tree/tests/vm/"
	sed -i "$3" "$work/tree/$2"
	if cmp -s "$top/$2" "$work/tree/$2"; then
		echo "the change changed nothing" >"$work/out"
		is=1
	elif "$errors" -t "$work/tree" >"$work/out" 2>&1 || ! grep -qF -- "$4" "$work/out"; then
		is=1
	fi
	verdict "$is" "$1"
}

verdict "$((count < 40))" "all were found ($count)"
changed "another text is noticed" kmod/request.c 's/the name is taken, choose/the name is used, choose/' \
	"EEXIST from request.c judge_compose: the name is used"
changed "another errno is noticed" kmod/check.c 's/refuse(-EEXIST, why,/refuse(-EALREADY, why,/' \
	"EALREADY from check.c gf_check_add: the slot is in this composition already"
changed "the same text at another place is noticed" kmod/check.c \
	's/"the slot is not being drained, [^"]*"/"name slots to add or to remove"/' \
	"EINVAL from check.c gf_check_abort: name slots to add or to remove"
changed "an extended ack by the kernel's macro is noticed" kmod/netlink.c \
	's/return gf_refuse(info, NULL, -EINVAL, "name what to get, by its id or name");/{ NL_SET_ERR_MSG(info->extack, "no switch here"); return -EINVAL; }/' \
	"EINVAL from netlink.c gpufabric_nl_get_doit: no switch here"
changed "a text with a format is refused" kmod/netlink.c \
	's/gf_refuse(info, NULL, -EINVAL, "name what to get, by its id or name");/NL_SET_ERR_MSG_FMT(info->extack, "no %d");/' \
	"a text with a format is in no table"
changed "a text that is no constant is refused" kmod/netlink.c \
	's/gf_refuse(info, NULL, -EINVAL, "name what to get, by its id or name");/gf_refuse(info, NULL, -EINVAL, text);/' \
	"not a constant text"
changed "a refusal without an errno is refused" kmod/netlink.c 's/^	return -EPERM;$/	return error;/' \
	"no errno follows"
changed "a test that is gone is missed" tests/selftests/read_test.c 's/"there is none of this id or name"/"there is none"/' \
	"ENOENT from netlink.c gpufabric_nl_get_doit"
changed "what cannot be provoked and is, is noticed" tests/selftests/request_test.c \
	's/"the slot is in fault, see its cause and clear it first"/"the slot is changing state, try again"/;s/, EIO,$/, EBUSY,/' \
	"can be provoked after all"
echo "1..$count"
[ "$failed" -eq 0 ]
