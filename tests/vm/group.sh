#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run cases one after the other in one machine, each as if it were alone. Runs in the
# guest; see tests/vm/all and tests/vm/debug.
#
#   tests/vm/group.sh CASE:SECONDS...
#
# A case has directories of its own, where it can write what it likes, and what it started
# or loaded is gone when the next one begins. Where that fails, or the kernel has been hurt,
# the rest does not run here: whoever has no status did not run.
#
# Leaves in /out, for each case: CASE.tap, what it printed, CASE.status, and CASE.out/, its
# /out; and in lockdep whether that was on to the end. The kernel's log has a line
# "gpufabric-test: case NAME" where each begins.

set -uo pipefail

private=(/etc /out /root /run /tmp /var)
places=/cases

debug_locks()
{
	awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats 2>/dev/null
}

# Processes begun so far, and milliseconds that the processors computed. /proc/stat counts ticks,
# which miss half of what a timer wakes; not every kernel has the other file.
counts=(/proc/stat)
[ ! -e /proc/schedstat ] || counts+=(/proc/schedstat)
spent()
{
	awk '$1 == "processes" { begun = $2 }
		$1 == "cpu" { ticks = $2 + $3 + $4 + $7 + $8 }
		$1 ~ /^cpu[0-9]/ && FILENAME == "/proc/schedstat" { exact += $8 / 1e6 }
		END { printf "%d %d\n", begun, exact ? exact : ticks * 10 }' "${counts[@]}"
}

processes()
{
	local pid

	for pid in /proc/[0-9]*; do
		# A thread of the kernel has no program.
		[ ! -e "$pid/exe" ] || echo "${pid#/proc/}"
	done | sort
}

modules()
{
	cut -d' ' -f1 /proc/modules | sort
}

# In a mount namespace of its own: what the case writes there, it alone sees.
inside()
{
	local case=$1 limit=$2 dir

	for dir in "${private[@]}"; do
		mkdir -p "$places/$case$dir"
		[ "$dir" = /out ] || cp -a "$dir/." "$places/$case$dir/"
	done
	for dir in "${private[@]}"; do
		mount --bind "$places/$case$dir" "$dir" || exit 125
	done
	exec timeout -k 10 "$((limit * ${PATIENCE:-1} + 5))" bash "$TESTS/vm/cases/$case.sh"
}

# A case that does not end: its kernel says where each of its tasks is before they are killed.
tasks_tell()
{
	sleep "$(($1 * ${PATIENCE:-1}))"
	echo t >/proc/sysrq-trigger
}

# What a case left behind must not disturb the next one.
clean_up()
{
	local name pid tries=100

	for pid in $(processes | comm -13 /run/group.processes -); do
		[ "$pid" = $$ ] || kill -KILL "$pid" 2>/dev/null
	done
	while [ -n "$(modules | comm -13 /run/group.modules -)" ] && [ $((tries -= 1)) -gt 0 ]; do
		for name in $(modules | comm -13 /run/group.modules -); do
			rmmod "$name" 2>/dev/null
		done
		sleep 0.1
	done
	dmesg -n 4
}

# Warnings, oopses and hung tasks of a case are that case's; nothing more is to be learned here.
is_spoiled()
{
	[ $(($(cat /proc/sys/kernel/tainted) & (1 << 5 | 1 << 7 | 1 << 9 | 1 << 14))) -ne 0 ] ||
		[ -n "$(modules | comm -13 /run/group.modules -)" ]
}

run_case()
{
	local case=$1 limit=$2 rc=0 begun busy before

	read -r begun busy < <(spent)
	before=("$begun" "$busy")
	echo "gpufabric-test: case $case" >/dev/kmsg
	tasks_tell "$limit" &
	disown
	setsid -w unshare -m bash "$0" inside "$case" "$limit" >"/out/$case.tap" 2>&1 </dev/null || rc=$?
	clean_up >>"/out/$case.tap" 2>&1
	mv "$places/$case/out" "/out/$case.out"
	rm -rf "${places:?}/$case"
	echo "$rc" >"/out/$case.status"
	read -r begun busy < <(spent)
	echo "# $case: status $rc, at $(cut -d ' ' -f 1 /proc/uptime) s, lockdep $(debug_locks)"
	echo "# $case: $((begun - before[0])) processes, $(((busy - before[1]) / 1000)) s of processors"
}

if [ "$1" = inside ]; then
	shift
	inside "$@"
fi
modules >/run/group.modules
processes >/run/group.processes
for arg; do
	run_case "${arg%%:*}" "${arg##*:}"
	! is_spoiled || break
done
debug_locks >/out/lockdep
exit 0
