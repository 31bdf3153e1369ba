#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ports without a slot driver: they are slots by the names of their ports, worked by
# their links, beside slots that have a driver.
#
#   root port -- upstream -- sim0-0         l40s, with a slot driver
#                            10000:02:01.0  l40s, no controller, on
#                            10000:02:02.0  l40s, no controller, link disabled
#                            10000:02:03.0  empty, no controller
#
# by kernel: the PCI core takes in what comes back
# brief: on another kernel the check leaves out what is not the PCI core's
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 300 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
DEVICES=/sys/bus/pci/devices
on=10000:02:01.0
disabled=10000:02:02.0
empty=10000:02:03.0

knob() { echo "$3" >"$SIM/slot0.$1/$2"; }
state() { gpuctl -j show "$1" | jq -r .slot.state; }
in_state() { [ "$(state "$1")" = "$2" ]; }
names() { gpuctl -j list | jq -r '.slots[].slot' | sort | xargs; }
states() { gpuctl -j list | jq -r '.slots | sort_by(.port) | map(.state) | join(" ")'; }
link_control() { setpci -s "$1" CAP_EXP+10.w; }
names_are() { [ "$(names)" = "$1" ]; }
composed_are() { [ "$(gpuctl -j list | jq -r '.compositions[] | "\(.name) \(.state)"')" = "$1" ]; }
has_no_function() { [ ! -e "$DEVICES/$1" ]; }

check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=20 \
	'gpus=0.0:l40s,0.1:l40s:nohp,0.2:l40s:off:nohp,0.3:none:nohp' || bail_out "no simulator"
named_ports()
{
	local wrong

	note "which ports"
	for wrong in 1 y 0 none c1:04.0 10000:02:01 10000:02:20.0 10000:02:01.8 "10000:02:01.0,," 10000:02:01.0:x \
		"$on,all" "$on;$disabled"; do
		mark_log
		check_fails "bare_ports=$wrong is refused" modprobe gpufabric bare_ports="$wrong"
		like "$(log_since_mark)" 'gpufabric: bare_ports: ".*" is not a PCI address' "and the log says why"
	done
	check "gpufabric loads" modprobe gpufabric
	is "$(names)" sim0-0 "ports without a controller are slots only where they are named"
	check "it unloads" wait_for 10 rmmod gpufabric
	check "with two ports named, one of which is not there" modprobe gpufabric bare_ports="$empty,10000:02:1f.0"
	is "$(names)" "$empty sim0-0" "the other is a slot"
	check "it unloads" wait_for 10 rmmod gpufabric
}

elsewhere || named_ports
check "gpufabric loads" modprobe gpufabric poll_ms=200 lost_ms=500 bare_ports=all || bail_out "no module"
start_udev

note "what is there"
is "$(names)" "$on $disabled $empty sim0-0" "ports without a driver are slots with the ports' names"
is "$(states)" "ready ready off empty" "their states follow the links"
is "$(gpuctl -j list | jq -r '.slots | sort_by(.port) | map(.backend) | join(" ")')" "slot rescan rescan rescan" \
	"and say what drives each"
like "$(gpuctl show $on)" "driven by +rescan" "show says so"
gpuctl scan >/dev/null 2>&1
is "$(states)" "ready ready off empty" "a scan leaves them as they were"

note "detach and attach"
check "a GPU is detached" gpuctl detach $on
is "$(state $on)" off "its slot is off"
check "its function is gone" has_no_function 10000:04:00.0
is "$(link_control $on)" 0010 "its link is disabled"
like "$(cat "$SIM/slot0.1/state")" "power off" "which takes its power away"
check "it is attached" gpuctl attach $on
is "$(state $on)" ready "its slot is ready"
is "$(basename "$(readlink $DEVICES/10000:04:00.0/driver)")" gpufabric-sim-gpu "it has its driver"
is "$(lspci -D -v -d 6767:: | grep -cE 'Memory at <(unassigned|ignored)>')" 0 "every BAR has an address"
check "one whose link was disabled before is attached" gpuctl attach $disabled
is "$(state $disabled)" ready "its slot is ready"
check "all of them make a composition" gpuctl compose mixed --gpus 3
is "$(gpuctl -j show mixed | jq -r '.composition.members | length')" 3 "with the slots of both kinds"
check "it is released" gpuctl release mixed
is "$(states)" "off off off empty" "all are off"

note "what others do"
knob 3 surprise "insert a100-40"
check "a card that is put in is seen" wait_for 10 in_state $empty off
check "and attached" gpuctl attach $empty
is "$(state $empty)" ready "it is ready"
knob 3 surprise remove
check "one that is pulled is lost" wait_for 10 in_state $empty lost
check_fails "its function stays" has_no_function 10000:06:00.0
echo 1 >$DEVICES/10000:06:00.0/remove
check "until somebody removes it" has_no_function 10000:06:00.0
check "the slot is cleared" gpuctl clear $empty
is "$(state $empty)" empty "and empty"
knob 1 surprise remove
check_rc 1 "one that was pulled while its link was disabled cannot be attached" gpuctl attach $on
is "$(state $on)" fault "which is a fault"
check "that is cleared" gpuctl clear $on
is "$(state $on)" empty "the slot is empty"
knob 1 surprise "insert l40s"
check "another card is seen" wait_for 10 in_state $on off
check "and attached" gpuctl attach $on

what_goes_wrong()
{
	note "what goes wrong"
	exec 9</dev/gpufabric-sim/sim0-1
	check_rc 4 "a GPU that is held is not detached" gpuctl detach $on
	exec 9<&-
	check "when it is free it is" gpuctl detach $on
	knob 1 driver probe-fail
	check_rc 7 "a driver that fails" gpuctl attach $on
	is "$(state $on)" fault "is a fault"
	is "$(link_control $on)" 0010 "and has its power taken away"
	check "which is cleared" gpuctl clear $on
	knob 1 fail link
	check "a link that does not come up at once is tried again" gpuctl attach $on
	is "$(state $on)" ready "and is ready"
	knob 1 driver remove-block
	check_rc 7 "a driver that does not let go" gpuctl detach $on --timeout 1s
	is "$(state $on)" stuck "leaves it stuck"
	check_fails "the module stays for that" rmmod gpufabric
	knob 1 driver remove-release
	check "until it lets go" wait_for 20 in_state $on off
}

elsewhere || what_goes_wrong

note "a slot driver that comes later"
check "a GPU is there without one" gpuctl attach $disabled
knob 2 slot_driver 1
check "the port is its slot" wait_for 10 in_state sim0-2 ready
is "$(names)" "$on $empty sim0-0 sim0-2" "and none of ours any more"
is "$(gpuctl -j show sim0-2 | jq -r .slot.backend)" slot "it is worked by its driver"
check "that detaches" gpuctl detach sim0-2
is "$(link_control $disabled)" 0000 "without disabling the link"
check "and attaches" gpuctl attach sim0-2
knob 2 slot_driver 0
check "when the driver has left, the port is without one" wait_for 10 in_state $disabled ready
is "$(names)" "$on $disabled $empty sim0-0" "and so it is called"
check "and detached" gpuctl detach $disabled
is "$(link_control $disabled)" 0010 "by its link"

added_slots()
{
	local watcher

	note "slots that are added while it runs"
	mkdir -p /sys/kernel/config/gpufabric_sim/switches/a
	echo 2 >/sys/kernel/config/gpufabric_sim/switches/a/slots
	mkdir /sys/kernel/config/gpufabric_sim/switches/a/1
	echo 0 >/sys/kernel/config/gpufabric_sim/switches/a/1/hotplug
	gpuctl watch >/tmp/watch 2>&1 &
	watcher=$!
	echo 1 >/sys/kernel/config/gpufabric_sim/switches/a/enabled
	check "the one without a driver" wait_for 20 in_state 10001:02:01.0 empty
	is "$(state sim1-0)" empty "and the one with"
	kill $watcher
	is "$(grep -c '10001:02:00.0' /tmp/watch)" 0 "which was never taken for one without"
	echo 0 >/sys/kernel/config/gpufabric_sim/switches/a/enabled
	rmdir /sys/kernel/config/gpufabric_sim/switches/a/1 /sys/kernel/config/gpufabric_sim/switches/a
}

elsewhere || added_slots
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim

note "a switch without any slot driver"
check "the simulator loads" modprobe gpufabric_sim mode=bare switches=1 slots=4 latency_ms=5 'gpus=0.0-3:h100-80:off'
check "gpufabric loads" modprobe gpufabric bare_ports=all
check "its GPUs are looked at" gpuctl scan
check "and composed" gpuctl compose all --gpus 4
is "$(states)" "ready ready ready ready" "and are ready"
check "and released" gpuctl release all
is "$(states)" "off off off off" "and are off"

note "somebody else rescans while a link is being disabled"
insmod "$TESTS/gf_delay.ko" function=pcie_capability_clear_and_set_word_locked caller=rescan_set ms=3000 ||
	not_ok "no task can be held up"
check "a GPU is attached" gpuctl attach $on
echo 1 >/sys/module/gf_delay/parameters/armed
gpuctl detach $on >/tmp/detach 2>&1 &
check "its detach is held up before the link is down" wait_for 20 grep -qx 1 /sys/module/gf_delay/parameters/held
echo 1 >/sys/bus/pci/rescan
wait
sed "s/^/# /" /tmp/detach
check "the rescan does not find the GPU again" has_no_function 10000:04:00.0
is "$(state $on) $(link_control $on)" "off 0010" "its slot is off"
rmmod gf_delay
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim

# What is composed when a switch is removed and found at once, several times.
found_again()
{
	local i slot slots

	check "$mode: the simulator loads" modprobe gpufabric_sim mode="$mode" switches=1 slots=4 latency_ms=20 'gpus=0.0-1:l40s'
	check "$mode: gpufabric loads" modprobe gpufabric
	slots=$(names)
	check "$mode: two GPUs are composed" gpuctl compose pair --gpus 2
	for ((i = 0; i < 5; i++)); do
		echo 1 >$DEVICES/10000:01:00.0/remove
		echo 1 >/sys/bus/pci/rescan
		# Both: pciehp is done with each before the switch goes again.
		for slot in ${slots%% *} "$(cut -d' ' -f2 <<<"$slots")"; do
			check "$mode: slot $slot is found again, with its name" wait_for 20 in_state "$slot" ready
			check "$mode: and its node" wait_for 20 test -e "/dev/gpufabric/$slot"
		done
		check "$mode: all are" wait_for 20 names_are "$slots"
		check "$mode: still the composition's" wait_for 20 composed_are "pair active"
	done
	check "$mode: which is released" gpuctl release pair
	check "$mode: gpufabric unloads" wait_for 10 rmmod gpufabric
	check "$mode: the simulator unloads" rmmod gpufabric_sim
}

note "a switch that is removed, and found again at once"
for mode in $(modes); do
	found_again
done

# The inventory waits for that look meanwhile: it knows nothing of what is gone and has come.
note "a switch that is found again while one of its slots is looked at"
# It is held up for longer than the kernel likes, on a busy host.
echo 1 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
check "the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=4 latency_ms=20 'gpus=0.0:l40s,0.3:l40s'
check "gpufabric loads" modprobe gpufabric poll_ms=0
check "two GPUs are composed" gpuctl compose pair --gpus 2
insmod "$TESTS/gf_delay.ko" function=gf_snapshot_take caller=refresh_run ms=10000 armed=1 || not_ok "no task can be held up"
echo 1 >$DEVICES/10000:01:00.0/remove
check "a look at one is held up" wait_for 20 grep -qx 1 /sys/module/gf_delay/parameters/held
echo 1 >/sys/bus/pci/rescan
is "$(cd /sys/bus/pci/slots && echo 10*)" "100 101 102 103" "they are found, with their names"
echo 1 >/sys/module/gf_delay/parameters/go_on
for slot in 100 103; do
	check "slot $slot is ready" wait_for 20 in_state $slot ready
	check "and has its node" wait_for 20 test -e /dev/gpufabric/$slot
done
check "all slots are found" wait_for 20 names_are "100 101 102 103"
check "and still the composition's" wait_for 20 composed_are "pair active"
check "which is released" gpuctl release pair
rmmod gf_delay
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim

# They are empty: pciehp has nothing to do in them.
note "a switch that goes while its slots are being taken in"
check "the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=4 gpus=0.0:none
check "gpufabric loads" modprobe gpufabric poll_ms=0
mark_log
echo 1 >$DEVICES/10000:01:00.0/remove
check "the slots go" wait_for 20 names_are ""
insmod "$TESTS/gf_delay.ko" function=gf_snapshot_take caller=gf_slot_admit ms=10000 armed=1 || not_ok "no task can be held up"
echo 1 >/sys/bus/pci/rescan
check "they come, and the first is about to be taken in" wait_for 20 grep -qx 1 /sys/module/gf_delay/parameters/held
echo 1 >$DEVICES/10000:01:00.0/remove
echo 1 >/sys/module/gf_delay/parameters/go_on
echo 1 >/sys/bus/pci/rescan
check "those that came last are taken in" wait_for 20 names_are "100 101 102 103"
rmmod gf_delay
is "$(log_since_mark | grep -c 'cannot register')" 0 "no device of another was made"
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim

# It has an operation, which ends when the one that was found has appeared.
found_before_its_operation_ends()
{
	note "a slot that is found again before its operation has ended"
	check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=20 'gpus=0.0:l40s:off'
	check "gpufabric loads" modprobe gpufabric poll_ms=100
	knob 0 driver probe-fail
	"$TESTS/gfclient" -d 60000 attach sim0-0 >/tmp/attach 2>&1 &
	check "an attach waits for a driver" wait_for 20 in_state sim0-0 attached
	check "tasks can be held up" insmod "$TESTS/gf_delay.ko" function=gf_snapshot_take caller=gf_step_run ms=100000 armed=1
	echo 1 >$DEVICES/10000:01:00.0/remove
	check "the switch goes, and the attach is held up" wait_for 20 grep -qx 1 /sys/module/gf_delay/parameters/held
	echo 1 >/sys/bus/pci/rescan
	check "the others are found" wait_for 20 "$TESTS/gfclient" state sim0-3
	is "$("$TESTS/gfclient" list | cut -d' ' -f1,2 | sort | head -n 2 | xargs)" "sim0-0 attached sim0-1 empty" \
		"and the slot is its operation's"
	is "$(cat /sys/module/gf_delay/parameters/over)" 0 "which is still held up"
	echo 1 >/sys/module/gf_delay/parameters/go_on
	check_fails "the attach fails" wait $!
	sed "s/^/# /" /tmp/attach
	rmmod gf_delay
	check "the one that was found takes its place" wait_for 20 in_state sim0-0 ready
	is "$(names)" "sim0-0 sim0-1 sim0-2 sim0-3" "there is one with its name"
	check "it has its node" test -e /dev/gpufabric/sim0-0
	check "gpufabric unloads" wait_for 10 rmmod gpufabric
	check "the simulator unloads" rmmod gpufabric_sim
}

# A debug kernel does not get far while a processor is held up.
[[ $FLAVOUR = debug* ]] || found_before_its_operation_ends
finish
