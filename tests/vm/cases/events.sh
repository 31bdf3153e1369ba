#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What udev sees: a slot is a device, and the GPU in it a child that is added when
# it is ready and removed when it goes. With the real udevadm.
#
#   root port -- upstream -- 4 slots with an h100-80 each, off
#
# brief: slots of the simulator's own kind
# in turn: each event is awaited before the next thing is done
# before: tests/selftests/build
# vm: -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

monitor=/tmp/monitor

listen()
{
	: >"$monitor"
	udevadm monitor --kernel --property --subsystem-match=gpufabric >"$monitor" 2>&1 &
	listener=$!
	# It says so when it is ready.
	wait_for 10 grep -q "KERNEL - the kernel uevent" "$monitor"
}

# So many uevents with this action have come.
counted()
{
	test "$(grep -c "^ACTION=$1$" "$monitor")" "$2" "$3"
}

# The order of events is theirs; the end is one that we know will come.
heard()
{
	wait_for 20 grep -q "$1" "$monitor"
}

# The last that was said of a variable, by NAME=VALUE.
heard_last() { [ "$(grep "^${1%%=*}=" "$monitor" | tail -n 1)" = "$1" ]; }

stop_listening()
{
	kill "$listener"
	wait "$listener" 2>/dev/null
}

# "action device" of each uevent, in order.
heard_list()
{
	awk '/^KERNEL\[/ { print $2, $3 }' "$monitor" | sed 's,/devices/[^ ]*/gpufabric/,,; s,/devices/virtual/gpufabric/,,'
}

# A variable of the last event with this action about this device.
variable()
{
	awk -v action="$1" -v device="$2" -v name="$3" '
		/^KERNEL\[/ { hit = $2 == action && $3 ~ device "$" }
		hit && index($0, name "=") == 1 { value = substr($0, length(name) + 2) }
		END { print value }' "$monitor"
}

check "udev runs" start_udev
for mode in $(brief pciehp "own pciehp"); do
	listen
	check "$mode: the modules load" load "$mode" switches=1 slots=4 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 3)"
	check "$mode: four slots are added" wait_for 10 counted add -ge 4
	list=$(heard_list)
	is "$(grep -c ' *slot[0-9]*$' <<<"$list")" "$(wc -l <<<"$list")" "$mode: and nothing but slots"
	stop_listening
	id=$(basename "$(dirname "$(grep -lx "GPUFABRIC_SLOT=${all[0]}" /sys/class/gpufabric/slot*/uevent | head -n 1)")")

	listen
	check "$mode: attach" g attach "${all[0]}"
	check "$mode: the GPU is added" heard "^ACTION=add$"
	is "$(variable add "/$id!gpu" GPUFABRIC_SLOT)" "${all[0]}" "$mode: its slot"
	is "$(variable add "/$id!gpu" GPUFABRIC_OCCUPANCY)" gpu "$mode: which holds a GPU"
	is "$(variable add "/$id!gpu" GPUFABRIC_ADDRESS)" "$(lspci_gpus)" "$mode: the address of the GPU"
	is "$(variable add "/$id!gpu" GPUFABRIC_COMPOSITION)" "" "$mode: in no composition"
	is "$(variable add "/$id!gpu" SUBSYSTEM)" gpufabric "$mode: the subsystem"
	check "$mode: it is in sysfs" test -e "/sys/class/gpufabric/$id!gpu"
	like "$(cat "/sys/class/gpufabric/$id!gpu/uevent")" "^GPUFABRIC_ADDRESS=$(lspci_gpus)$" "$mode: with its address"
	is "$(heard_list | grep -c "^add .*gpu$")" 1 "$mode: it was added once"
	stop_listening

	listen
	check "$mode: detach" g detach "${all[0]}"
	check "$mode: the GPU is removed" heard "^ACTION=remove$"
	is "$(variable remove "/$id!gpu" GPUFABRIC_SLOT)" "${all[0]}" "$mode: from its slot"
	check_fails "$mode: it is gone from sysfs" test -e "/sys/class/gpufabric/$id!gpu"
	check "$mode: the slot has changed, too" heard "^KERNEL.* change .*$id "
	stop_listening
	like "$(cat "/sys/class/gpufabric/$id/uevent")" "^GPUFABRIC_POWER=off$" "$mode: the slot is off"

	listen
	check "$mode: compose two" g compose train "${all[1]}" "${all[2]}"
	check "$mode: two GPUs are added" wait_for 10 counted add -eq 2
	is "$(grep -c GPUFABRIC_COMPOSITION=train <(awk '/^KERNEL.* add /, /^$/' "$monitor"))" 2 \
		"$mode: with the name of their composition"
	knob 1 surprise remove
	check "$mode: one is pulled and removed" heard "^ACTION=remove$"
	check "$mode: it is lost" g wait "${all[1]}" lost
	knob 1 surprise insert
	check "$mode: and put in again" g wait "${all[1]}" ready
	check "$mode: added once more" wait_for 10 counted add -eq 3
	stop_listening
	check "$mode: settled" settle

	# Somebody who drains takes nothing away yet.
	listen
	g drain "${all[2]}" </dev/null >/dev/null
	check "$mode: a drain is a change of the slot" heard "GPUFABRIC_ACTIVITY=draining\|GPUFABRIC_ACTIVITY=none"
	check "$mode: after it" g wait "${all[2]}" ready
	is "$(grep -c ACTION=remove "$monitor")" 0 "$mode: and removes nothing"
	stop_listening

	check "$mode: release" g release train

	# A card that is not a GPU comes and goes without a step of ours.
	knob 3 surprise remove
	check "$mode: a slot is empty" g wait "${all[3]}" empty
	listen
	knob 3 surprise "insert nic"
	check "$mode: another card comes: a change of the slot" heard "GPUFABRIC_OCCUPANCY=other"
	came=$(gpuctl -j show "${all[3]}" | jq -r .slot.since)
	knob 3 surprise remove
	check "$mode: it goes: another one" wait_for 20 heard_last GPUFABRIC_OCCUPANCY=empty
	check "$mode: which is later" test "$(gpuctl -j show "${all[3]}" | jq -r .slot.since)" -gt "$came"
	stop_listening

	listen
	check "$mode: the modules unload" unload || bail_out "the modules stay"
	check "$mode: four slots are removed" wait_for 10 counted remove -ge 4
	stop_listening
done
finish
