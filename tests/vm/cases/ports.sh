#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ports that are worked by their links, and what others do to them: the host bridge goes
# while one is looked at, the switch does not answer, somebody keeps the PCI core's lock,
# the module is unloaded. What does not answer says nothing, who waits for the lock keeps
# nobody from unloading for ever, and nothing stays as only we wanted it.
#
#   root port -- upstream -- 10000:02:00.0 l40s
#                            10000:02:01.0 l40s, link disabled
#                            10000:02:02.0 empty
#                            10000:02:03.0 l40s
#
# by kernel: host bridges go differently, and so do registers change
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 240 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

DEVICES=/sys/bus/pci/devices
point=/sys/module/gf_delay/parameters
on=10000:02:00.0
off=10000:02:01.0
empty=10000:02:02.0
other=10000:02:03.0

held() { grep -qx 1 "$point/held"; }
in_state() { [ "$(g state "$1")" = "$2" ]; }
all_states() { states "$on" "$off" "$empty" "$other"; }
shown() { gpuctl -j show "$1" | jq -r "$2"; }
cause() { shown "$1" '"\(.slot.state) \(.slot.cause // "none")"'; }
link_control() { setpci -s "$1" CAP_EXP+10.w; }
there() { [ -e "$DEVICES/$1" ]; }
found() { echo 1 >/sys/bus/pci/rescan && there "$1"; }
unloaded() { [ ! -e /sys/module/gpufabric ]; }
pinned() { [ "$(cat /sys/module/gpufabric/refcnt)" -gt 0 ]; }
in_remove() { grep -qs gpu_remove /proc/[0-9]*/stack; }

begin()
{
	load bare switches=1 slots=4 latency_ms=20 gpus=0.0:l40s,0.1:l40s:off,0.3:l40s || return
	echo 100 >/sys/module/gpufabric/parameters/poll_ms
	echo 500 >/sys/module/gpufabric/parameters/lost_ms
	wait_for 20 in_state "$on" ready && wait_for 20 in_state "$other" ready
}

# Somebody removes the GPU of slot 3, whose driver does not let go: the lock is kept.
keep_lock()
{
	knob 3 driver remove-block
	echo 1 >"$DEVICES/10000:06:00.0/remove" &
	keeper=$!
	wait_for 20 in_remove
}

give_lock()
{
	knob 3 driver remove-release
	wait "$keeper"
}

note "the host bridge goes while a port is looked at"
for reader in rescan_status gf_sight_read; do
	check "$reader: the modules load" begin || bail_out "no modules"
	check "$reader: tasks can be held up" insmod "$TESTS/gf_delay.ko" function=pcie_capability_read_word \
		caller=$reader ms=3000 || bail_out "no delay"
	echo 1 >$point/armed
	check "$reader: it is held up before it reads" wait_for 20 held
	check "$reader: meanwhile the host bridge goes" rmmod gpufabric_sim
	rmmod gf_delay
	check "$reader: gpufabric unloads" wait_for 10 rmmod gpufabric
	is "$(dmesg | grep -c 'after its host bridge was removed')" 0 "$reader: nobody has read from what is gone"
done

note "the switch does not answer"
check "the modules load" begin || bail_out "no modules"
is "$(all_states)" "ready off empty ready" "what there is"
echo fall-off >"$SIM/switch0/surprise"
check "its GPUs are lost" wait_for 20 in_state $on lost
is "$(cause $on)" "lost port" "for they do not answer, not for their links"
is "$(shown $on '"\(.slot.occupancy) \(.slot.power)"') $(shown $off '"\(.slot.occupancy) \(.slot.power)"')" \
	"gpu no-control unknown off" "what is there, and its power, are as last seen"
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "and is loaded anew" modprobe gpufabric bare_ports=all poll_ms=100 lost_ms=500
is "$(states $off $empty)" "empty empty" "nothing is seen in ports that do not answer"
is "$(shown $empty '.slot.capabilities | length')" 0 "nor what these can do"
echo come-back >"$SIM/switch0/surprise"
check "when it answers, what is off is seen" wait_for 20 in_state $off off
is "$(states $empty)" empty "and what is empty"
check "the modules unload" unload

note "somebody keeps the PCI core's lock"
check "the modules load" begin || bail_out "no modules"
check "it is kept" keep_lock
check "a list comes all the same" timeout 20 "$TESTS/gfclient" list
check "we wait for it" wait_for 20 pinned
check_fails "so unloading is refused" rmmod gpufabric
give_lock
check "until it is given back" wait_for 20 rmmod gpufabric
check "gpufabric loads" modprobe gpufabric bare_ports=all poll_ms=100
echo 1 >$DEVICES/../rescan
check "the GPU is there again" wait_for 20 in_state $other ready
insmod "$TESTS/gf_delay.ko" function=gf_inventory_stop ms=3000 || not_ok "no task can be held up"
echo 1 >$point/armed
wait_for 20 rmmod gpufabric &
check "it unloads, and is held up" wait_for 20 held
check "meanwhile the lock is kept" keep_lock
knob 2 surprise "insert l40s"
check "nobody waits for it any more, and it is unloaded" wait_for 20 unloaded
give_lock
wait
rmmod gf_delay
check "the simulator unloads" rmmod gpufabric_sim

note "unloading leaves no link disabled that was not before"
check "the modules load" begin || bail_out "no modules"
check "one is detached" g detach $on
is "$(link_control $on) $(link_control $off)" "0010 0010" "its link is disabled, as another was before"
check "gpufabric unloads" wait_for 10 rmmod gpufabric
is "$(link_control $on) $(link_control $off)" "0000 0010" "its link is as it was before, and so is the other"
check "whoever looks for devices finds the GPU" wait_for 20 found 10000:03:00.0
check_fails "and not the other" there 10000:04:00.0
check "gpufabric loads" modprobe gpufabric bare_ports=all
check "the GPU is ready" wait_for 20 in_state $on ready
check "the other is attached" g attach $off
check "and detached" g detach $off
check "gpufabric unloads" wait_for 10 rmmod gpufabric
is "$(link_control $off)" 0000 "what was attached since may be found as well"
check "the simulator unloads" rmmod gpufabric_sim
finish
