#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the cases against one mutant of the module after the other, in one VM.
# Runs in the guest; see tests/mutants/run.
#
#   tests/mutants/guest.sh SLOW ID=CASES...
#
# A case may take SLOW times what it has in its own VM. /mutants/N.ko is the module of
# the Nth ID on the list. Prints, as soon as it is known,
#
#   mutant ID begins
#   mutant ID killed by CASE: WHAT      mutant ID survived
#
# and ends early when a mutant left something that only a fresh VM is rid of.

set -uo pipefail

slow=$1
shift
updates=/usr/lib/modules/$KVER/updates

# Nobody can end an rmmod that waits for a driver that does not let go.
unload_soon()
{
	local pid tries

	rmmod "$1" 2>/dev/null &
	pid=$!
	for ((tries = 0; tries < 200; tries++)); do
		[ -e "/proc/$pid/fd/0" ] || break
		sleep 0.1
	done
	[ ! -e "/sys/module/$1" ]
}

clean_up()
{
	local module

	udevadm control --exit 2>/dev/null
	for module in gf_failpoint gpufabric gpufabric_sim; do
		[ ! -e "/sys/module/$module" ] || unload_soon "$module" || return 1
	done
	rm -rf /tmp/* /etc/gpuctl /etc/modprobe.d
	dmesg -n 4
}

# What the case says that it needs, as for tests/vm/all.
limit_of()
{
	local seconds

	seconds=$(sed -n '2,/^[^#]/s/^# vm:.*-t \([0-9]*\).*/\1/p' "$TESTS/vm/cases/$1.sh")
	echo $((${seconds:-120} * slow))
}

# run_case CASE: fails at the first test that does, with its name in $why.
run_case()
{
	local pid line

	why=
	# Processes that the case leaves behind may keep the pipe open: its end is a line.
	# shellcheck disable=SC2016 # for the inner shell
	setsid bash -c 'timeout --foreground -k 5 "$0" bash "$1"; echo "case ended $?"' \
		"$(limit_of "$1")" "$TESTS/vm/cases/$1.sh" >/run/case 2>&1 </dev/null &
	pid=$!
	while IFS= read -r line; do
		case $line in
		"not ok"*|"Bail out"*) why=$line; break ;;
		"case ended 0") break ;;
		"case ended "*) why=$line; break ;;
		esac
	done </run/case
	kill -KILL -- "-$pid"
	wait "$pid"
	[ -z "$why" ]
} 2>/dev/null

# log_since MARK: the kernel's log behind the last line with it; it can have many thousands.
log_since()
{
	local at

	dmesg >/run/dmesg
	at=$(grep -nF "$1" /run/dmesg | tail -n 1 | cut -d : -f 1)
	tail -n +$((${at:-0} + 1)) /run/dmesg
}

# Complaints that the case expects, as options of klog.
expected_of()
{
	sed -n '2,/^[^#]/s/^# vm:.*-e \([a-z-]*\).*/-f \1/p' "$TESTS/vm/cases/$1.sh"
}

judge()
{
	local id=$1 case log=/run/mutant.log expected
	shift

	for case; do
		echo "gpufabric-test: mutant $id: $case" >/dev/kmsg
		if ! run_case "$case"; then
			echo "mutant $id killed by $case: $why"
			clean_up
			return
		fi
		log_since "gpufabric-test: mutant $id: $case" >$log
		read -ra expected <<<"$(expected_of "$case")"
		if [ -s $log ] && ! "$TESTS/vm/klog" -f "$FLAVOUR" ${expected[@]+"${expected[@]}"} $log >/run/klog; then
			echo "mutant $id killed by $case: kernel log: $(sed -n 2p /run/klog)"
			clean_up
			return
		fi
		if ! clean_up; then
			echo "mutant $id killed by $case: the modules cannot be unloaded"
			return 1
		fi
	done
	echo "mutant $id survived"
}

# Lockdep looks no further once something was found that it cannot trust, as KASAN's are.
checks_locks()
{
	[[ $FLAVOUR != debug-* ]] || grep -q '^ debug_locks: *1' /proc/lockdep_stats
}

# Whoever oopses with a lock held would be waited for: such a kernel has not survived.
echo 1 >/proc/sys/kernel/panic_on_oops
mkfifo /run/case
n=0
for arg; do
	n=$((n + 1))
	id=${arg%%=*}
	read -ra cases <<<"${arg#*=}"
	cp "/mutants/$n.ko" "$updates/gpufabric.ko"
	echo "mutant $id begins"
	judge "$id" "${cases[@]}" || break
	checks_locks || break
done
exit 0
