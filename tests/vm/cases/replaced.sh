#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A GPU that is not the one of before, and nobody saw the one go and the other come. Whoever
# looks, removes or attaches is held up meanwhile:
#
#   root port -- upstream -- 4 slots with an l40s each, off
#
# brief: slots of one kind
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 240 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

point=/sys/module/gf_delay/parameters

powered() { cat "$SIM/slot0.$1/power"; }
address_of() { g list "$1" | cut -d' ' -f7; }
generation_of() { g list "$1" | cut -d' ' -f5; }
contents_of() { gpuctl -j show "$1" | jq -r .slot.contents; }

# hold_up FUNCTION [CALLER]: the next task that comes there stays, until go_on.
hold_up()
{
	insmod "$TESTS/gf_delay.ko" function="$1" caller="${2-}" ms=10000 armed=1
}

is_held() { [ "$(cat "$point/held")" = 1 ]; }

# Fails when the time of who was held up was over before. It has a processor, for which others
# may have waited: the kernel chooses one for a driver's probe.
go_on()
{
	local over

	echo 1 >"$point/go_on"
	over=$(cat "$point/over")
	rmmod gf_delay
	[ "$over" = 0 ]
}

# replace ADDRESS: its function goes, and one comes that has the address.
replace()
{
	echo 1 >"/sys/bus/pci/devices/$1/remove"
	echo 1 >/sys/bus/pci/rescan
	[ -e "/sys/bus/pci/devices/$1" ]
}

between_two_looks()
{
	local slot gpu drained
	slot=$(name 0)

	gpu=$(address_of "$slot")
	check "$mode: a GPU is composed" g compose mine "$slot"
	exec {drain}> >(exec "$TESTS/gfclient" -t 600000 drain "$slot" >/tmp/drained)
	check "$mode: and drained" g wait "$slot" draining
	drained=$(generation_of "$slot")
	follow
	check "$mode: looks can be held up" hold_up gf_snapshot_take refresh_run
	check "$mode: another one comes in its place" replace "$gpu"
	check "$mode: before somebody has looked" wait_for 20 is_held
	go_on || note "somebody may have looked"
	check "$mode: the one of before has gone" seen " slot-changed $slot draining off"
	check "$mode: the other one is ready" seen " slot-changed $slot attached ready"
	unfollow
	check_fails "$mode: nobody has drained that" g -f detach "$slot=$drained"
	like "$(cat "$check_log")" "^ESTALE" "$mode: the drain was of the one of before"
	is "$(g state "$slot") $(powered 0) $(address_of "$slot")" "ready 1 $gpu" "$mode: it stays"
	like "$(g compositions)" "^mine active - $slot$" "$mode: the composition has it"
	exec {drain}>&-
	check "$mode: it is released" g release mine
	is "$(g state "$slot") $(powered 0)" "off 0" "$mode: and off"
}

# meanwhile REQUEST... -- COMMAND...: a request, and something else while it is held up where
# hold_up says, as many times as it takes. The slots of the request are as before each time by way
# of $again. /tmp/status is how the request ended, /tmp/error what it said, and /tmp/state what
# $slot was then.
meanwhile()
{
	local request=() held met

	while [ "$1" != -- ]; do
		request+=("$1")
		shift
	done
	shift
	for _ in 1 2 3 4 5; do
		hold_up "${held_up[@]}" || return 1
		{ g "${request[@]}" 2>/tmp/error; echo $? >/tmp/status; g state "$slot" >/tmp/state; } &
		held=$!
		wait_for 20 is_held && "$@"
		met=$?
		if go_on; then
			wait "$held"
			return "$met"
		fi
		wait "$held"
		"${again[@]}" || return 1
	done
	return 1
}

before_a_removal()
{
	local slot gpu held_up=(gf_unbind) again
	slot=$(name 1)
	again=(g attach "$slot")

	gpu=$(address_of "$slot")
	is "$(contents_of "$slot")" power-cycled "$mode: a GPU that was powered on holds nothing"
	check "$mode: it is detached, and another one comes in its place" meanwhile detach "$slot" -- replace "$gpu"
	is "$(cat /tmp/status)" 1 "$mode: which does not go"
	like "$(cat /tmp/error)" "^ESTALE.*changed" "$mode: that is said"
	is "$(cat /tmp/state)" ready "$mode: it is ready when the request has ended"
	is "$(powered 1) $(address_of "$slot") $(contents_of "$slot")" "1 $gpu unknown" "$mode: and stays, and what it holds is not known"
	check "$mode: it is detached" g detach "$slot"
	is "$(g state "$slot") $(powered 1)" "off 0" "$mode: and off"
}

# power_on SLOT: as everybody can.
power_on() { echo 1 >"/sys/bus/pci/slots/$1/power"; }

two_are_off()
{
	g clear "$(name 3)" && g detach "$(name 2)" && knob 3 driver probe-fail
}

before_an_attach()
{
	local slot held_up=(gf_snapshot_take gf_step_run) again=(two_are_off)
	slot=$(name 2)

	knob 3 driver probe-fail
	check "$mode: two are attached, and somebody else powers on the first one" \
		meanwhile -o -d 1000 attach "$slot" "$(name 3)" -- power_on "$slot"
	is "$(cat /tmp/status)" 1 "$mode: the second one fails"
	like "$(cat /tmp/error)" "$(name 3): driver" "$mode: that is said"
	is "$(g state "$slot") $(powered 2)" "ready 1" "$mode: the first one stays"
	check "$mode: what failed is cleared" g clear "$(name 3)"
}

# attach_waits SLOT: for the driver of its GPU, which another one replaces before somebody looks.
# $gpu is the address, $attach the request, which has not ended.
attach_waits()
{
	for _ in 1 2 3 4 5; do
		knob 2 driver probe-fail
		g -d 60000 attach "$1" 2>/tmp/error &
		attach=$!
		g wait "$1" attached || return 1
		gpu=$(address_of "$1")
		hold_up gf_snapshot_take gf_step_run || return 1
		echo 1 >"/sys/bus/pci/devices/$gpu/remove"
		wait_for 20 is_held && echo 1 >/sys/bus/pci/rescan
		if go_on; then
			return 0
		fi
		wait "$attach"
		g clear "$1"
		g detach "$1"
	done
	return 1
}

while_a_driver_is_awaited()
{
	local slot gpu attach
	slot=$(name 2)

	check "$mode: a slot is off" g detach "$slot"
	check "$mode: its GPU waits for a driver, and another one comes in its place" attach_waits "$slot"
	check_fails "$mode: which is not the one that was asked for" wait "$attach"
	like "$(cat /tmp/error)" "$slot: .*surprise" "$mode: that is said"
	check "$mode: it is ready, as one that was put in" g wait "$slot" ready
	is "$(powered 2) $(address_of "$slot") $(contents_of "$slot")" "1 $gpu unknown" "$mode: and stays, and what it holds is not known"
	check "$mode: it is detached" g detach "$slot"
	check "$mode: and attached" g attach "$slot"
}

while_a_resize_waits()
{
	local slot other resize
	slot=$(name 0) other=$(name 2)

	check "$mode: a GPU is composed" g compose mine "$slot"
	check "$mode: another one is off" g detach "$other"
	knob 2 driver probe-fail
	g -d 60000 resize mine "+$other" "-$slot" 2>/tmp/error &
	resize=$!
	check "$mode: it is to take its place, when it has a driver" g wait "$other" attached
	knob 0 surprise remove
	check "$mode: it is pulled" g wait "$slot" lost
	knob 0 fail bar
	knob 0 surprise insert
	check "$mode: one comes that fails" g wait "$slot" fault
	address_of "$other" >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
	check_fails "$mode: which does not go" wait "$resize"
	like "$(cat /tmp/error)" "^ESTALE.*changed" "$mode: that is said"
	is "$(powered 0)" 1 "$mode: it has its power"
	like "$(g compositions)" "^mine [a-z]+ - $slot,$other$" "$mode: the composition has both"
	check "$mode: that is released" g release mine
}

for mode in $(brief own "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=4 latency_ms=20 'gpus=*:l40s:off' ||
		bail_out "no modules"
	check "$mode: two GPUs are attached" g attach "$(name 0)" "$(name 1)"
	between_two_looks
	before_a_removal
	before_an_attach
	while_a_driver_is_awaited
	while_a_resize_waits
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
