#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Slots whose driver nobody can hold, beside others of the same switch: they are
# listed, as the PCI core sees them, and left alone. Drivers come and go, in one
# way and in the other, under operations and listings.
#
#   sim0-0, sim0-1   held by a device below the port
#   sim0-2, sim0-3   not
#
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

state() { gpuctl -j show "$1" | jq -r .slot.state; }
in_state() { [ "$(state "$1")" = "$2" ]; }
flags() { gpuctl -j show "$1" | jq -r '.slot.flags | join(" ")'; }
is_managed() { [[ "$(flags "$1")" != *unmanaged* ]]; }
is_unmanaged() { [[ "$(flags "$1")" = *unmanaged* ]]; }
power() { cat "/sys/bus/pci/slots/$1/power"; }
is_listed() { gpuctl -j list | jq -e --arg slot "$1" '.slots[] | select(.slot == $slot)'; }
is_gone() { ! is_listed "$1"; }
composed() { gpuctl -j list | jq -r '.compositions[] | [.name, .state, .slots[]] | join(" ")'; }

check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=20 \
	'gpus=0.0:l40s,0.1:l40s:off,0.2:l40s,0.3:l40s:off' || bail_out "no simulator"
knob 2 slot_driver unguarded
knob 3 slot_driver unguarded
is "$(cat "$SIM/slot0.0/slot_driver") $(cat "$SIM/slot0.2/slot_driver")" "1 unguarded" "the simulator says which is which"
gpu=$(lspci -D -n -d 6767::0302 | head -n 1 | cut -d' ' -f1)
knob 0 driver remove-block
echo "$gpu" >/sys/bus/pci/drivers/gpufabric-sim-gpu/unbind &
unbind=$!
check "a GPU's lock is held" wait_for 20 grep -q gpu_remove /proc/$unbind/stack
check "gpufabric loads" modprobe gpufabric poll_ms=200 || bail_out "no module"
check "its slot is listed all the same" is_listed sim0-0
check "and managed" is_managed sim0-0
knob 0 driver remove-release
wait $unbind
echo "$gpu" >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
check "all are listed" wait_for 10 is_listed sim0-3

note "what is said of them"
is "$(for i in 0 1 2 3; do state sim0-$i; done | xargs)" "ready off ready empty" "one without a GPU that can be seen is empty"
check "those with a device are managed" is_managed sim0-0
check "those without are not" is_unmanaged sim0-2
check "nor is an empty one" is_unmanaged sim0-3
is "$(gpuctl -j show sim0-2 | jq -r .slot.slot_driver)" gpufabric_sim "their driver's name is known"
like "$(gpuctl list)" "! sim0-2, sim0-3: listed only, as slot driver gpufabric_sim" "a list says so"
like "$(gpuctl topo)" "ready, unmanaged" "and a tree"
like "$(gpuctl show sim0-2)" "listed only" "and so does show"
is "$(gpuctl -j list | jq -r '.warnings | length')" 1 "once for both"
is "$(gpuctl -j list --free | jq -r '[.slots[].slot] | join(" ")')" "sim0-0 sim0-1" "they are not free"

note "what is refused"
for slot in sim0-2 sim0-3; do
	check_rc 1 "attach of $slot" gpuctl attach $slot
	like "$(cat "$check_log")" "unmanaged: slot driver gpufabric_sim .*gpuctl doctor" "with what can be done"
	check_rc 1 "detach of $slot" gpuctl detach $slot
	check_rc 1 "by force as well" gpuctl detach $slot --force
done
check_fails "drain" g drain sim0-2
like "$(cat "$check_log")" "EOPNOTSUPP: the slot driver can free the slot at any time, so requests are refused" "by the module itself"
check_fails "attach" g attach sim0-3
like "$(cat "$check_log")" "EOPNOTSUPP" "by the module itself"
check_fails "compose" g compose one sim0-0 sim0-2
like "$(cat "$check_log")" "EOPNOTSUPP" "by the module itself"
check "those without power are looked into" gpuctl scan
is "$(power sim0-2) $(power sim0-3)" "1 0" "but these are not"
check_rc 3 "a composition finds two GPUs and no third" gpuctl compose all --gpus 3
check "two it finds" gpuctl compose all --gpus 2
check_fails "resize" g resize all +sim0-2
like "$(cat "$check_log")" "EOPNOTSUPP" "by the module itself"
check "it is released" gpuctl release all
is "$(power sim0-2) $(power sim0-3)" "1 0" "nobody touched their power"

note "who works them"
echo 0 >/sys/bus/pci/slots/sim0-2/power
check "one that is powered off is empty" wait_for 10 in_state sim0-2 empty
echo 1 >/sys/bus/pci/slots/sim0-3/power
check "one that is powered on is ready" wait_for 10 in_state sim0-3 ready
knob 3 surprise remove
check "one that is pulled is empty" wait_for 10 in_state sim0-3 empty
knob 3 surprise insert
check "one that is put in is ready" wait_for 10 in_state sim0-3 ready

note "drivers that come and go"
knob 3 slot_driver 0
check "it goes with its driver" wait_for 10 is_gone sim0-3
knob 3 slot_driver 1
check "it comes with one that can be held" wait_for 10 is_listed sim0-3
check "and is managed" is_managed sim0-3
check "detached" gpuctl detach sim0-3
check "and attached" gpuctl attach sim0-3
guard=$(basename "$(readlink -f /sys/bus/platform/drivers/gpufabric_sim/gpufabric_sim_slot.3)")
check "the other one is off" test "$(state sim0-0)" = off
knob 0 driver probe-fail
g -d 60000 compose both sim0-3 sim0-0 &
compose=$!
check "a composition gets both, and waits for the driver of one" g wait sim0-0 attached
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/unbind
check "the other one goes meanwhile" wait_for 10 is_gone sim0-3
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/bind
check "and comes back" wait_for 10 in_state sim0-3 ready
echo "$gpu" >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
check "the driver comes" wait $compose
is "$(composed)" "both active sim0-0 sim0-3" "when all is done it is the composition's"
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/unbind
check "it goes when that is unbound" wait_for 10 is_gone sim0-3
is "$(composed)" "both degraded sim0-0 sim0-3" "the composition is told"
gpuctl watch >/tmp/told &
watch=$!
check "somebody watches" wait_for 10 grep -q . /tmp/told
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/bind
check "and comes when it is bound" wait_for 10 in_state sim0-3 ready
is "$(composed)" "both active sim0-0 sim0-3" "still the composition's"
check "which is told" wait_for 10 grep -q "both.*active" /tmp/told
kill $watch
wait $watch
check_rc 4 "and nobody else's" gpuctl detach sim0-3
knob 3 slot_driver 0
check "its driver goes" wait_for 10 is_gone sim0-3
knob 3 slot_driver unguarded
check "it comes with one that cannot be held" wait_for 10 is_listed sim0-3
is "$(gpuctl -j show sim0-3 | jq -r '.slot.composition')" null "the composition does not have that"
check "it is released" gpuctl release both
knob 3 slot_driver 0
check "the slot goes" wait_for 10 is_gone sim0-3
knob 3 slot_driver 1
check "and comes as it was" wait_for 10 in_state sim0-3 ready
check "a GPU for the other slot" gpuctl attach sim0-0

note "one that comes back, and is in another operation when it could be had"
check "a GPU goes" gpuctl detach sim0-0
knob 0 driver probe-fail
g -d 60000 compose both sim0-3 sim0-0 &
compose=$!
check "a composition waits for a driver" g wait sim0-0 attached
guard=$(basename "$(readlink -f /sys/bus/platform/drivers/gpufabric_sim/gpufabric_sim_slot.3)")
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/unbind
check "its other slot goes" wait_for 10 is_gone sim0-3
echo "$guard" >/sys/bus/platform/drivers/gpufabric_sim/bind
check "and comes back" wait_for 10 in_state sim0-3 ready
knob 3 driver remove-block
g detach sim0-3 &
detach=$!
check "somebody detaches it" wait_for 10 in_state sim0-3 detaching
echo "$gpu" >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
check "the driver comes" wait $compose
knob 3 driver remove-release
check "the detach ends" wait $detach
is "$(gpuctl -j show sim0-3 | jq -r '"\(.slot.state) \(.slot.composition)"')" "off both" "and it is the composition's"
check "which is released" gpuctl release both

note "a driver that leaves under listings"
for ((i = 0; i < 20; i++)); do
	knob 2 slot_driver 0
	gpuctl list >/dev/null 2>&1
	knob 2 slot_driver $((i % 2))
	knob 1 slot_driver $((i % 2))
	gpuctl list >/dev/null 2>&1
done
check "the last one counts" wait_for 10 is_managed sim0-2
check "the modules unload" unload
finish
