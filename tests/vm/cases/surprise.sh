#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cards pulled and put in without a word: while nothing happens, and in the
# middle of an attach, a composition, a drain and a detach. Then a whole switch.
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#
# by kernel: the slot driver notices what went away
# brief: one kind of slots on each kernel
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# The card of slot N is put in again and brought to off, whatever came before.
put_back()
{
	local slot
	slot=$(name "$1")

	case $(g state "$slot") in
	fault | lost) g clear "$slot" || return 1 ;;
	esac
	# Its slot driver powers what is put in.
	if [ "$(cat "$SIM/slot0.$1/presence")" = 0 ]; then
		g wait "$slot" empty && knob "$1" surprise insert && g wait "$slot" ready || return 1
	fi
	g wait "$slot" ready,off || return 1
	is_off "$slot" || g detach "$slot"
}

is_off()
{
	[ "$(g state "$1")" = off ]
}

idle()
{
	check "$mode: attach" g attach "${all[0]}"
	knob 0 surprise remove
	check "$mode: pulled while ready, the GPU is lost" g wait "${all[0]}" lost
	is "$(g list "${all[0]}" | cut -d' ' -f2,3,7)" "lost surprise -" "$mode: by surprise, and no function is left"
	is "$(lspci_gpus)" "" "$mode: lspci agrees"
	like "$(g history "${all[0]}" | tail -n 1)" "^${all[0]} lost surprise none 0 ." "$mode: so does the history"
	knob 0 surprise insert
	check "$mode: put in again, it is ready" g wait "${all[0]}" ready
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: lspci agrees again"

	follow
	knob 0 surprise flap
	check "$mode: a link that goes down is a loss" seen "slot-changed ${all[0]} ready lost"
	check "$mode: when it comes up again the GPU is back" seen "slot-changed ${all[0]} attached ready"
	unfollow
	check "$mode: and can be detached as ever" g detach "${all[0]}"

	knob 1 surprise remove
	check "$mode: pulled while off, the slot is empty" g wait "${all[1]}" empty
	knob 1 surprise "insert l40s"
	check "$mode: another card is put in, and its slot driver powers it" g wait "${all[1]}" ready
	check "$mode: it can be detached" g detach "${all[1]}"
}

attaching()
{
	# While the link trains.
	follow
	g attach "${all[2]}" 2>/tmp/error &
	check "$mode: an attach begins" seen "slot-changed ${all[2]} off attaching"
	knob 2 surprise remove
	check "$mode: pulled while its link trains, the attach ends" seen "operation-done"
	unfollow
	check_fails "$mode: with an error" wait $!
	like "$(cat /tmp/error)" "slot ${all[2]}: [a-z]+" "$mode: that names the slot"
	like "$(g state "${all[2]}")" "^(lost|fault|empty)$" "$mode: the slot does not pretend to have a GPU"
	check "$mode: a card put in makes it usable" put_back 2

	# While the driver probes, which nothing can interrupt.
	knob 2 driver "probe-slow 1000"
	follow
	g -d 5000 attach "${all[2]}" 2>/tmp/error &
	check "$mode: an attach with a slow driver begins" seen "slot-changed ${all[2]} off attaching"
	wait_for 10 test -e "/sys/bus/pci/devices/10000:05:00.0"
	knob 2 surprise remove
	check "$mode: pulled while its driver probes, the attach ends" seen "operation-done"
	unfollow
	wait
	check "$mode: the slot comes to rest" g wait "${all[2]}" lost,fault,empty
	is "$(lspci_gpus)" "" "$mode: no GPU is left behind"
	check "$mode: a card put in makes it usable again" put_back 2
}

# How often the PCI core found the function of slot N since mark_log.
found()
{
	log_since_mark | grep -c "pci 10000:0$(($1 + 3)):00.0: \[6767:"
}

# What its slot driver brings up for a card that was put in is taken as it is.
attaching_what_comes()
{
	mark_log
	knob 5 surprise remove
	knob 5 surprise insert
	check "$mode: attached while its slot driver brings it up" g attach "${all[5]}"
	is "$(g list "${all[5]}" | cut -d' ' -f2,8)" "ready gpufabric-sim-gpu" "$mode: it is ready"
	is "$(found 5)" 1 "$mode: and has come once"
	check "$mode: it can be detached" g detach "${all[5]}"

	mark_log
	knob 5 surprise remove
	knob 5 surprise "insert h100-80 bridge"
	check_fails "$mode: another device comes while an attach is asked for" g attach "${all[5]}"
	local end
	check "$mode: it is found" wait_for 10 test -e /sys/bus/pci/devices/10000:08:00.0
	# The slot driver brings it up, and may be done before the request comes.
	end=$(g state "${all[5]}")
	like "$end" '^(fault|other)$' "$mode: the attach has failed, or was refused"
	is "$(found 5)" 1 "$mode: and has left it alone"
	knob 5 surprise remove
	check "$mode: it is pulled" wait_for 10 test ! -e /sys/bus/pci/devices/10000:08:00.0
	[ "$end" = other ] || g clear "${all[5]}"
	g wait "${all[5]}" empty
	knob 5 surprise "insert h100-80"
	check "$mode: a GPU is put in instead" g wait "${all[5]}" ready
	check "$mode: and detached" g detach "${all[5]}"
}

composing()
{
	follow
	g compose eight "${all[@]}" 2>/tmp/error &
	check "$mode: a composition of eight begins" seen "slot-changed ${all[4]} off attaching"
	knob 4 surprise remove
	check "$mode: the fifth is pulled, the composition ends" seen "operation-done"
	unfollow
	check_fails "$mode: with an error" wait $!
	like "$(states "${all[@]:0:4}" "${all[@]:5}")" "^$(times 7 off)$" "$mode: the others are off again"
	is "$(g list | awk '$6 != "-"')" "" "$mode: no slot is claimed"
	is "$(g compositions)" "" "$mode: there is no composition"
	check "$mode: the card is put in again" put_back 4

	check "$mode: eight are composed" g compose eight "${all[@]}"
	knob 4 surprise remove
	check "$mode: one is pulled: degraded" g wait-composition eight degraded
	knob 4 surprise insert
	check "$mode: and put in: active" g wait-composition eight active
	knob 4 surprise remove
	check "$mode: pulled again" g wait "${all[4]}" lost
	check "$mode: the rest is released" g release eight
	is "$(states "${all[@]:0:4}" "${all[@]:5}")" "$(times 7 off)" "$mode: and off"
	is "$(g list "${all[4]}" | cut -d' ' -f2,6)" "lost -" "$mode: the lost one is claimed no more"
	check "$mode: cleared it is empty" g clear "${all[4]}"
	check "$mode: that is" g wait "${all[4]}" empty
	check "$mode: the card is put in for good" put_back 4
}

detaching()
{
	check "$mode: attach" g attach "${all[3]}"
	knob 3 driver remove-block
	follow
	g detach "${all[3]}" 2>/tmp/error &
	check "$mode: a detach begins" seen "slot-changed ${all[3]} draining detaching"
	knob 3 surprise remove
	knob 3 driver remove-release
	check "$mode: pulled while it is removed, the detach ends" seen "operation-done"
	unfollow
	check "$mode: without an error" wait $!
	check "$mode: the slot is empty" g wait "${all[3]}" empty
	is "$(lspci_gpus)" "" "$mode: no GPU is left behind"
	check "$mode: a card put in makes it usable" put_back 3
}

# A switch goes with all that is behind it, and comes back. Nothing is under way:
# pciehp itself hangs when a switch goes while a slot behind it is powered on.
whole_switch()
{
	check "$mode: two are composed" g compose pair "${all[0]}" "${all[1]}"
	follow
	echo 1 >/sys/bus/pci/devices/10000:00:00.0/remove
	check "$mode: the switch is removed: its slots go" seen "switch-removed"
	unfollow
	is "$(g list)" "" "$mode: no slot is listed"
	like "$(g compositions)" "^pair degraded" "$mode: the composition is degraded"
	check "$mode: it can be released" g release pair
	is "$(g compositions)" "" "$mode: and is gone"
	is "$(find /sys/class/gpufabric/ -type l)" "" "$mode: no device is left"
	follow
	echo 1 >/sys/bus/pci/rescan
	check "$mode: a rescan brings the slots back" seen "slot-added ${all[7]}"
	unfollow
	check "$mode: one of them comes to rest" g wait "${all[7]}" off,ready
}

# Cards are pulled while their links train; pciehp waits a second for that.
train_ms=$((SLOW > 1 ? 700 : 400))
for mode in $(modes); do
	check "$mode: the modules load" load "$mode" switches=1 slots=8 latency_ms=$train_ms 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"
	idle
	attaching
	attaching_what_comes
	composing
	detaching
	whole_switch
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
