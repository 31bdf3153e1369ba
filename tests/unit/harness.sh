#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The harness itself: results that must not count as success, kernel logs
# that must not count as clean, and verdicts of lint that hold in every checkout.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

# summary "last line and status" "description" FILE-CONTENT...
summary()
{
	local want=$1 desc=$2 n=0 is rc=0
	shift 2

	rm -rf "$work/r"
	mkdir "$work/r"
	for content in "$@"; do
		n=$((n + 1))
		printf '%b' "$content" >"$work/r/$n.tap"
	done
	is=$("$top/tests/summary" "$work/r" 2>/dev/null) || rc=$?
	report "$(tail -n 1 <<<"$is") $rc" "$want" "summary: $desc"
}

summary "2 passed, 0 failed 0" "two files that pass" '1..1\nok 1 - a\n' 'ok 1 - b\n1..1\n'
summary "1 passed, 1 failed 1" "a failed test" 'ok 1 - a\nnot ok 2 - b\n1..2\n'
summary "1 passed, 1 failed 1" "no plan" 'ok 1 - a\n'
summary "1 passed, 1 failed 1" "a plan that is not met" '1..2\nok 1 - a\n'
summary "1 passed, 1 failed 1" "a bail-out" 'ok 1 - a\nBail out! gone\n'
summary "0 passed, 1 failed 1" "an empty file" ''
summary "1 passed, 1 failed 1" "an empty file beside a good one" 'ok 1 - a\n1..1\n' ''
summary "0 passed, 1 failed 1" "no file"
summary "0 passed, 1 failed 1" "a plan of nothing" '1..0\n'
summary "1 passed, 0 failed 0" "a skipped test is not a passed one" 'ok 1 - a\nok 2 - b # SKIP why\n1..2\n'
summary "1 passed, 0 failed 0" "nested lines do not count" '# not ok 1 - inner\n    not ok 1 - inner\nok 1 - a\n1..1\n'

# klog STATUS "description" LOG [ALLOW]
klog()
{
	local rc=0

	mkdir -p "$work/vm/allow"
	cp "$top/tests/vm/klog" "$work/vm/"
	printf '%b' "${4-}" >"$work/vm/allow/x"
	printf '%b' "$3" >"$work/log"
	"$work/vm/klog" -f x "$work/log" >/dev/null 2>&1 || rc=$?
	report "$rc" "$1" "klog: $2"
}

klog 0 "a quiet log" '[ 1.0] pci 0000:00:00.0: enabled\n'
klog 1 "an empty log" ''
klog 1 "a warning" '[ 1.0] WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1\n'
klog 1 "a bug" '[ 1.0] BUG: kernel NULL pointer dereference, address: 8\n'
klog 1 "a lock order" '[ 1.0] WARNING: possible circular locking dependency detected\n'
klog 1 "a blocked task" '[ 1.0] INFO: task sh:1 blocked for more than 120 seconds.\n'
klog 1 "a double sysfs name" "[ 1.0] sysfs: cannot create duplicate filename '/x'\n"
klog 1 "a module that does not fit" '[ 1.0] gpufabric: Unknown symbol pci_x (err -2)\n'
klog 0 "an allowed complaint" '[ 1.0] WARNING: a\n' '# theirs\nWARNING: a$\n'
klog 1 "another one than the allowed" '[ 1.0] WARNING: b\n' 'WARNING: a$\n'
klog 0 "allowed with what follows" '[ 1.0] WARNING: a\n[ 1.0] in f\n' 'WARNING: a &&& in f\n'
klog 1 "allowed only with what follows" '[ 1.0] WARNING: a\n[ 1.0] in g\n' 'WARNING: a &&& in f\n'

# shellcheck source=tests/unread.sh
. "$top/tests/unread.sh"

# verdict CHECKOUT TOOL: the name of a tool's verdict about a file.
verdict()
{
	local top=$1 build=$1/build cache=$work

	stamps "$2" "$work/seen.c"
}

echo >"$work/seen.c"
first=$(verdict /one "1.0 /one/build/tool /one/setting")
report "$(verdict /two "1.0 /two/build/tool /two/setting")" "$first" "lint: what was read in one checkout is not read again in another"
[ "$(verdict /one "1.1 /one/build/tool /one/setting")" != "$first" ]
report $? 0 "lint: another version of a tool reads all"

report "$("$top/tests/deps/install" -n no-such-section 2>&1)" \
	"deps: no section \"no-such-section\" in $top/tests/deps/packages" "deps: an unknown section is refused"

echo "1..$count"
[ "$failed" -eq 0 ]
