#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Links that go down by themselves, cards that stop answering, and bus resets, of GPUs
# that are in use: nothing is ever removed that nobody asked to remove. What comes
# back as it was is what it was; what is gone for long is lost; what was reset is in
# fault. A slot driver does what it does all the same.
#
#   bare ports 10000:02:00.0 ... 07.0 with an l40s each, 10000:03:00.0 ... 0a:00.0
#
# by kernel: slot drivers differ in what they make of a link that drops
# brief: one kind of slots on each kernel
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

DEVICES=/sys/bus/pci/devices
# Never, as far as this case goes.
LONG=600000

# The names of port and GPU of slot N.
port() { printf '10000:02:%02x.0' "$1"; }
gpu() { printf '10000:%02x:00.0' $(($1 + 3)); }
there() { [ -e "$DEVICES/$(gpu "$1")" ]; }
removed() { ! there "$1"; }
counted() { gpuctl -j show "$1" | jq -r ".slot.$2"; }
counts() { [ "$(counted "$1" "$2")" = "$3" ]; }
cause() { gpuctl -j show "$1" | jq -r '"\(.slot.state) \(.slot.cause // "none")"'; }
in_state() { [ "$(g state "$1")" = "$2" ]; }
lost_after() { echo "$1" >/sys/module/gpufabric/parameters/lost_ms; }
# The link of slot N is up and its card answers.
answers() { [ "$(setpci -s "$(gpu "$1")" VENDOR_ID)" = 6767 ]; }
slot_of() { if [ "$mode" = bare ]; then port "$1"; else name "$1"; fi; }

# What a driver does that knows of the loss; $registers is what save has found.
save()
{
	registers=$(for register in BASE_ADDRESS_1 BASE_ADDRESS_2 BASE_ADDRESS_3 BASE_ADDRESS_4; do
		echo "$register=$(setpci -s "$(gpu "$1")" $register.l)"
	done; echo "COMMAND=$(setpci -s "$(gpu "$1")" COMMAND)")
}

restore()
{
	wait_for 10 answers "$1"
	# shellcheck disable=SC2086 # several registers
	setpci -s "$(gpu "$1")" ${registers//BASE_ADDRESS_?=/&}
}

# Slot N holds what is left of a GPU that was lost or reset; an admin detaches that.
anew()
{
	gpuctl detach "$(slot_of "$1")" && removed "$1" || return
	g wait "$(slot_of "$1")" off,empty && g attach "$(slot_of "$1")"
}

flaps()
{
	local slot before
	slot=$(slot_of 0)
	before=$(counted "$slot" generation)
	save 0
	for i in 1 2 3 4; do
		follow
		knob 0 surprise "blink $LONG"
		check "$mode: flap $i is seen" seen "slot-changed $slot ready ready"
		knob 0 link full
		check "$mode: the card's registers are restored" restore 0
		check "$mode: it was a flap" wait_for 10 counts "$slot" flaps "$i"
		unfollow
	done
	is "$(cause "$slot")" "ready none" "$mode: the slot is ready"
	is "$(counted "$slot" generation)" "$before" "$mode: and has never been anything else"
	is "$(counted "$slot" faults) $(gpuctl -j show "$slot" | jq -r '.slot.flags | length')" "0 0" "$mode: nor is it in quarantine, or near it"
}

losses()
{
	local slot
	slot=$(slot_of 1)
	save 1
	lost_after 300
	knob 1 surprise "blink $LONG"
	check "$mode: a link that stays down is lost" g wait "$slot" lost
	is "$(cause "$slot")" "lost link" "$mode: with the reason"
	check "$mode: its function stays where it is" there 1
	like "$(gpuctl history "$slot" | tail -n 1)" "lost" "$mode: the history says so"
	lost_after $LONG
	knob 1 link full
	check "$mode: the card's registers are restored" restore 1
	check "$mode: it is what it was before" g wait "$slot" ready
	is "$(cause "$slot")" "ready none" "$mode: and well"
	lost_after 300
	knob 1 surprise "blink 1"
	check "$mode: a card that was reset is in fault" g wait "$slot" fault
	is "$(cause "$slot")" "fault reset" "$mode: with the reason"
	check "$mode: its function stays where it is" there 1
	like "$(gpuctl list)" "^! $slot: fault \(reset\): .* \(gpuctl detach $slot\)" "$mode: list says what to do"
	check "$mode: detached and attached it is well" anew 1
	is "$(cause "$slot")" "ready none" "$mode: it is ready"
	knob 1 surprise remove
	check "$mode: a card that is pulled is lost" g wait "$slot" lost
	check "$mode: its function stays where it is" there 1
	knob 1 surprise "insert l40s"
	check "$mode: another card in its place is a fault" g wait "$slot" fault
	check "$mode: it can be had" anew 1
	knob 1 surprise remove
	check "$mode: a card that is pulled is lost again" g wait "$slot" lost
	check "$mode: what is left of it is detached" gpuctl detach "$slot"
	check "$mode: nothing is left, and the slot is empty" g wait "$slot" empty
	check "$mode: nor is its function" removed 1
	knob 1 surprise "insert l40s"
	check "$mode: the next card is seen" g wait "$slot" off
	check "$mode: and attached" g attach "$slot"
	lost_after 3000
}

# A card that does not answer though its link is up; the first slot that is there.
silence()
{
	local slot
	slot=$(slot_of 2)
	lost_after 300
	knob 2 surprise fall-off
	check "$mode: a card that falls off the bus is lost" g wait "$slot" lost
	is "$(cause "$slot")" "lost enumerate" "$mode: with the reason"
	check "$mode: its function stays where it is" there 2
	lost_after $LONG
	knob 2 surprise come-back
	check "$mode: when it answers again it is what it was" g wait "$slot" ready
	lost_after 300
	knob 2 surprise fall-off
	check "$mode: lost again" g wait "$slot" lost
	check "$mode: it can be detached" gpuctl detach "$slot"
	check "$mode: its function is gone" removed 2
	check "$mode: and attached" g attach "$slot"
	lost_after 3000
}

# As VFIO does when a VM starts: 20 of them. The kernel gives a link a second.
resets()
{
	local slot before i rc=0
	slot=$(slot_of 3)
	lost_after 1
	before="$(counted "$slot" generation) $(counted "$slot" flaps)"
	knob 3 link "slow 100"
	for i in {1..20}; do
		echo 1 >"$DEVICES/$(gpu 3)/reset" || rc=1
	done
	knob 3 link full
	is "$rc" 0 "$mode: a GPU in use is reset 20 times"
	check "$mode: it is there" there 3
	is "$(g state "$slot") $(counted "$slot" generation) $(counted "$slot" flaps)" "ready $before" "$mode: nobody took that for a loss"
	lost_after 3000
}

# A driver that waits for its users, and a link that is down for longer than it may.
waiting()
{
	local slot
	slot=$(slot_of 4)
	knob 4 driver remove-wait-close
	lost_after 300
	knob 4 surprise "blink $LONG"
	check "$mode: a GPU is lost whose driver waits for its users" g wait "$slot" lost
	check "$mode: nobody waits for it: the host can be rescanned" timeout 20 sh -c 'echo 1 >/sys/bus/pci/rescan'
	knob 4 link full
	check "$mode: it has been reset" g wait "$slot" fault
	knob 4 driver none
	lost_after 3000
}

# Nobody looks of himself, but the kernel tells of a driver that goes.
unpolled()
{
	local slot
	slot=$(slot_of 5)
	check "$mode: a GPU is ready" g wait "$slot" ready
	echo 0 >/sys/module/gpufabric/parameters/poll_ms
	lost_after 300
	knob 5 surprise "blink $LONG"
	gpu 5 >/sys/bus/pci/drivers/gpufabric-sim-gpu/unbind
	check "$mode: without polls a loss is found by what the kernel tells" g wait "$slot" lost
	echo 100 >/sys/module/gpufabric/parameters/poll_ms
	lost_after 3000
}

quarantine()
{
	local slot i
	slot=$(slot_of 5)
	for i in 1 2 3; do
		lost_after 100
		knob 5 surprise fall-off
		check "$mode: loss $i" g wait "$slot" lost
		knob 5 surprise come-back
		check "$mode: that ends by itself" g wait "$slot" ready
	done
	is "$(gpuctl -j show "$slot" | jq -r '.slot.flags | join(" ")')" quarantined "$mode: three losses in a row are enough"
	check "$mode: that is cleared" g clear "$slot"
	lost_after 3000
}

check "bare: the modules load" load bare switches=1 slots=6 'gpus=*:l40s' latency_ms=20 || bail_out "no modules"
echo 100 >/sys/module/gpufabric/parameters/poll_ms
for n in 0 1 2 3 4 5; do
	check "bare: slot $n is ready" g wait "$(slot_of $n)" ready
done
lost_after $LONG
exec 7</dev/gpufabric-sim/sim0-0 8</dev/gpufabric-sim/sim0-3 9</dev/gpufabric-sim/sim0-4
flaps
resets
losses
silence
waiting
quarantine
unpolled
for n in 0 3 4; do
	check "bare: the GPU of slot $n, which is in use, was never removed" there "$n"
done
is "$(wc -c <&7) $(wc -c <&8)" "22 22" "bare: and can be read"
exec 7<&- 8<&- 9<&-
check "bare: the modules unload" unload || bail_out "the modules stay"

for each in $(modes); do
	check "$each: the modules load" load "$each" switches=1 slots=4 'gpus=*:l40s' latency_ms=20 || bail_out "no modules"
	echo 100 >/sys/module/gpufabric/parameters/poll_ms
	for n in 2 3; do
		check "$mode: slot $n is ready" g wait "$(slot_of $n)" ready
	done
	silence
	exec 8<"/dev/gpufabric-sim/$(slot_of 3)"
	resets
	exec 8<&-
	follow
	knob 3 surprise "blink 100"
	check "$mode: a link that blinks takes the GPU with it, as its slot driver says" seen "slot-changed $(slot_of 3) ready lost"
	check "$mode: which brings it back" seen "slot-changed $(slot_of 3) attached ready"
	for i in 2 3; do
		knob 3 surprise "blink 100"
		check "$mode: loss $i" seen "slot-changed $(slot_of 3) ready lost"
		check "$mode: that ends by itself" seen "slot-changed $(slot_of 3) attached ready"
	done
	unfollow
	is "$(gpuctl -j show "$(slot_of 3)" | jq -r '.slot.flags | join(" ")')" quarantined "$mode: three losses in a row are enough"
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
