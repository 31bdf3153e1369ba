#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A driver that does not let go of a GPU stops nobody else: it is unbound before
# the slot driver is called, without the PCI core's lock. Nobody binds to the GPU
# meanwhile, and one that stays where it is gets its driver back.
#
#   root port -- upstream -- slots 0 ... 3 with an h100-80 each, off
#
# by kernel: the driver override has moved
# brief: one kind of slots on each kernel
# before: tests/selftests/build
# vm: -t 180 -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

driver=/sys/bus/pci/drivers/gpufabric-sim-gpu

# Somebody is in the driver's remove().
in_remove()
{
	grep -qs gpu_remove /proc/[0-9]*/stack
}

# What may hang for good is looked at from outside: in_time COMMAND...
in_time()
{
	rm -f /tmp/in-time
	{ "$@" && touch /tmp/in-time; } &
	wait_for 20 test -e /tmp/in-time
}

rescan()
{
	echo 1 >/sys/bus/pci/rescan
}

bind()
{
	echo "$1" >"$driver/bind"
}

address()
{
	g list "$1" | cut -d' ' -f7
}

is_ready()
{
	[ "$(g state "$1")" = ready ]
}

driver_of()
{
	basename "$(readlink "/sys/bus/pci/devices/$1/driver")"
}

# SLOT: its driver holds it back, and a detach waits for that.
detaching()
{
	follow
	g -t "$1" detach "${all[0]}" 2>/tmp/error &
	detach=$!
	seen "slot-changed ${all[0]} draining detaching" && wait_for 20 in_remove && unfollow
}

stopped()
{
	wait "$detach"
}

nobody_waits()
{
	local gpu

	check "$mode: two are attached" g attach "${all[@]:0:2}"
	gpu=$(address "${all[0]}")
	knob 0 driver remove-block
	check "$mode: a driver does not let go" detaching 20000
	check "$mode: the PCI core can look for devices all the same" in_time rescan
	check "$mode: another GPU can be attached" in_time g attach "${all[2]}"
	check "$mode: and another detached" in_time g detach "${all[1]}"
	is "$(states "${all[@]}")" "detaching off ready off" "$mode: the list is right"
	check_fails "$mode: the driver cannot be bound again" bind "$gpu"
	check_fails "$mode: the detach passes its deadline" stopped
	is "$(g list "${all[0]}" | cut -d' ' -f2,3)" "stuck timeout" "$mode: the slot is stuck"
	like "$(g text "${all[0]}")" \
		"^timeout of $gpu, driver gpufabric-sim-gpu; kworker/.* \(pid [0-9]+\) is unbinding $gpu$" \
		"$mode: and names the driver, and who waits for it"
	check "$mode: the PCI core still looks" in_time rescan
	knob 0 driver remove-release
	check "$mode: let go, it is off" g wait "${all[0]}" off
	check "$mode: nothing is left of it" test ! -e "/sys/bus/pci/devices/$gpu"
	check "$mode: it is attached again" g attach "${all[0]}"
	is "$(address "${all[0]}") $(driver_of "$gpu")" "$gpu gpufabric-sim-gpu" "$mode: with its driver"
	check "$mode: all are detached" g detach "${all[0]}" "${all[2]}"
}

# An attach that fails powers off as well, and its driver may not let go either.
rolled_back()
{
	knob 3 fail power
	knob 0 driver remove-block
	g compose both "${all[0]}" "${all[3]}" 2>/tmp/error &
	detach=$!
	check "$mode: what was attached is taken back, and held" wait_for 20 in_remove
	check "$mode: the PCI core can look for devices all the same" in_time rescan
	knob 0 driver remove-release
	check_fails "$mode: the composition has failed" stopped
	is "$(states "${all[0]}" "${all[3]}")" "off fault" "$mode: and nothing of it is left"
	check "$mode: the fault is cleared" g clear "${all[3]}"
}

no_slot()
{
	! g state "$1"
}

# The slot driver leaves while the GPU's driver is waited for: nobody powers it off.
# given_back OVERRIDE: "" for none.
given_back()
{
	local gpu override

	check "$mode: one is attached" g attach "${all[0]}"
	gpu=$(address "${all[0]}")
	echo "$1" >"/sys/bus/pci/devices/$gpu/driver_override"
	override=$(cat "/sys/bus/pci/devices/$gpu/driver_override")
	knob 0 driver remove-block
	check "$mode: a driver does not let go" detaching 60000
	knob 0 slot_driver 0
	check "$mode: meanwhile the slot driver leaves" wait_for 20 test ! -e "/sys/bus/pci/slots/${all[0]}/power"
	knob 0 driver remove-release
	check_fails "$mode: the detach fails" stopped
	like "$(cat /tmp/error)" "^E[A-Z]+: slot ${all[0]}: power" "$mode: and says why"
	is "$(driver_of "$gpu")" gpufabric-sim-gpu "$mode: the GPU has its driver again"
	is "$(cat "/sys/bus/pci/devices/$gpu/driver_override")" "$override" "$mode: and its driver override: $override"
	check "$mode: our slot goes with it" wait_for 20 no_slot "${all[0]}"
	knob 0 slot_driver 1
	check "$mode: the slot driver comes back" wait_for 20 is_ready "${all[0]}"
	check "$mode: and detaches" g detach "${all[0]}"
}

for mode in $(modes); do
	check "$mode: the modules load" load "$mode" switches=1 slots=4 latency_ms=20 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 3)"
	nobody_waits
	rolled_back
	if [ "$mode" = own ]; then
		given_back gpufabric-sim-gpu
		given_back ""
	fi
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
