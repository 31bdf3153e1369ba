#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory runs out, at every place in turn: while the module loads, while it
# answers requests, and in its workers. Whatever fails then fails as a whole,
# nothing leaks, and afterwards all is well.
#
#   one switch: slots 100 ... 103, H100, off
#
# Slots of pciehp, because its own threads bring cards up: the PCI core itself
# does not survive want of memory there, and is not what is tested.
#
# kernels: debug-6.1 debug-6.12
# before: tests/selftests/build
# vm: -t 200 -f build/selftests/gfclient

. "$TESTS/vm/lib.sh"

client=/tests/gfclient
failslab=/sys/kernel/debug/failslab

# nth N COMMAND...: the Nth allocation that the command makes finds no memory.
# It may fail, or crash for want of a page; nobody else notices.
nth()
{
	local n=$1
	shift

	# shellcheck disable=SC2016 # for the inner shell
	(exec bash -c 'echo "$0" >/proc/self/fail-nth; exec "$@"' "$n" "$@") >/dev/null 2>&1
}

# Allocations of the unbound workers fail now and then, or no longer.
workers_fail()
{
	local comm task

	for task in /proc/[0-9]*; do
		read -r comm <"$task/comm" 2>/dev/null || continue
		[[ $comm != kworker/u* ]] || echo "$1" >"$task/make-it-fail" 2>/dev/null
	done
	true
}

states()
{
	gpuctl -j list | jq -r '[.slots[].state] | group_by(.) | map("\(length) \(.[0])") | join(", ")'
}

# shellcheck disable=SC2317 # wait_for calls it
settled()
{
	! cat /sys/class/gpufabric/*/uevent | grep '^GPUFABRIC_ACTIVITY=' | grep -qv =none
}

reset_slots()
{
	local slot

	wait_for 60 settled
	for slot in 100 101 102 103; do
		gpuctl clear $slot
		gpuctl detach --force $slot
	done
} >/dev/null 2>&1

echo N >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose
echo -1 >$failslab/times
check "the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=4 \
	'gpus=*:h100-80:off' || bail_out "no simulator"
module=$(modinfo -n gpufabric)

loaded=0
refused=0
for ((n = 40; n < 200; n += 7)); do
	if nth $n insmod "$module"; then
		loaded=$((loaded + 1))
	else
		refused=$((refused + 1))
	fi
	[ ! -e /sys/module/gpufabric ] || rmmod gpufabric || not_ok "unload after allocation $n failed"
done
count memory.loads.refused $refused
count memory.loads.succeeded $loaded
check "some loads failed" test $refused -gt 0
check "some did not need that memory" test $loaded -gt 0
check "the module loads" modprobe gpufabric || bail_out "no module"
is "$(states)" "4 off" "all slots are there"

gpuctl watch >/dev/null 2>&1 &
watcher=$!
for ((n = 20; n < 170; n += 5)); do
	nth $n $client compose a 100 101
	nth $n $client release a
	nth $n $client attach 102
	nth $n $client list
	nth $n cat /sys/class/gpufabric/slot1/uevent
	nth $n $client detach 102
	$client release a >/dev/null 2>&1
done
kill $watcher
reset_slots
is "$(states)" "4 off" "requests that found no memory leave nothing"
is "$(gpuctl -j list | jq '.compositions | length')" 0 "and no composition"

echo Y >$failslab/task-filter
echo 3 >$failslab/probability
for ((n = 0; n < 10; n++)); do
	workers_fail 1
	gpuctl attach 100 &
	first=$!
	gpuctl compose c --gpus 2 &
	second=$!
	echo remove >$SIM/slot0.3/surprise
	echo insert >$SIM/slot0.3/surprise
	wait $first $second
	gpuctl release --force c
	[ $n -ne 5 ] || { rmmod gpufabric && modprobe gpufabric; }
	reset_slots
done >/dev/null 2>&1
echo 0 >$failslab/probability
workers_fail 0
reset_slots
is "$(states)" "4 off" "workers that found no memory leave nothing"
for slot in 100 101 102 103; do
	check "slot $slot attaches" gpuctl attach $slot
	check "slot $slot detaches" gpuctl detach $slot
done
check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim
finish
