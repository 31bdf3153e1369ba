#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run cases one after the other, with what the debug kernel has to say of each. Runs in the
# guest; see tests/vm/debug.
#
#   tests/vm/group.sh CASE:SECONDS...
#
# Leaves in /out, for each case: CASE.tap, what it printed, and CASE.status; and
# in lockdep whether that was on to the end.

set -uo pipefail
# Polling tests wait so much longer.
export SLOW=${SLOW:-4}

debug_locks()
{
	awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats 2>/dev/null
}

# What a case left behind must not disturb the next one.
clean_up()
{
	local module

	kill -KILL -- "-$1" 2>/dev/null
	udevadm control --exit 2>/dev/null
	for module in gpufabric gpufabric_sim; do
		[ ! -e "/sys/module/$module" ] || rmmod "$module"
	done
	rm -rf /tmp/* /etc/gpuctl
	dmesg -n 4
}

run_case()
{
	local case=$1 limit=$2 pid rc=0

	echo "gpufabric-test: case $case" >/dev/kmsg
	setsid timeout -k 10 "$limit" bash "$TESTS/vm/cases/$case.sh" \
		>"/out/$case.tap" 2>&1 </dev/null &
	pid=$!
	wait "$pid" || rc=$?
	echo "$rc" >"/out/$case.status"
	clean_up "$pid" >>"/out/$case.tap" 2>&1
	echo "# $case: status $rc, at $(cut -d ' ' -f 1 /proc/uptime) s, lockdep $(debug_locks)"
}

for arg; do
	run_case "${arg%%:*}" "${arg##*:}"
done
debug_locks >/out/lockdep
exit 0
