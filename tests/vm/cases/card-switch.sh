#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cards with a switch of their own. What is behind it belongs to the slot that the card is
# in, and its ports are no slots. A switch whose ports implement slots could be a chassis: of
# that nothing is powered until the admin says that it is a card:
#
#   root port -- upstream --+-- slot 0: switch with a port and a GPU
#                           +-- slot 1: switch with two ports, a GPU with audio behind each
#                           +-- slot 2: switch with two ports that implement slots, a GPU behind each
#                           +-- slot 3: GPU
#                           +-- slot 4: as slot 0, without power
#                           +-- slot 5: empty, with bus numbers for such a card
#
# by kernel: who numbers and sizes the bridges of a card that comes
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient

# shellcheck disable=SC2317 # functions that check and wait_for call
# states asks for all slots.
# shellcheck disable=SC2119
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

cards=0.0:l40s:switch,0.1:l40s:dual:audio,0.2:l40s:chassis,0.3:l40s,0.4:l40s:switch:off

powered() { cat "$SIM/slot0.$1/power"; }
ports_of()
{
	local dev

	for dev in /sys/bus/pci/devices/"$(of "$1" .port)"/*:*:*.*/*:*:*.*; do
		[ "$(cat "$dev/class")" != 0x060400 ] || basename "$dev"
	done | xargs | tr ' ' ,
}
of() { gpuctl -j list | jq -r ".slots[] | select(.slot == \"$(name "$1")\") | $2"; }
condition() { gpuctl -j show "$(name "$1")" | jq -r '.slot | "\(.occupancy) \(.health)"'; }
all_slots() { gpuctl -j list | jq -r '[.slots[].slot] | join(" ")'; }
functions() { gpuctl -j show "$(name "$1")" | jq '[.. | objects | .functions? // empty | .[]] | length'; }
in_state() { [ "$(states "$(name "$1")")" = "$2" ]; }
held_by() { of "$1" .composition; }
# Bridges above the GPU of a slot, from its port on.
below() { readlink -f "/sys/bus/pci/devices/$(of "$1" .address)" | sed "s,.*$(of "$1" .port),,; s,[^/],,g" | awk '{ print length }'; }

verdict_of() { gpuctl -j show "$(name "$1")" | jq -r '[.. | objects | .verdict? // empty][0]'; }
# Newer kernels make the windows of bridges on a card as large as the sum of what is behind them,
# which is too little for two GPUs, and hand a larger one down from a hot-plug port alone.
comes_back() { [ "$mode" = pciehp ] || [ "$sums" = no ]; }
sums=no
IFS=. read -r major minor patch _ < <(uname -r | tr -c "0-9\n" .)
case $major.$minor in
6.18) [ "$patch" -lt 14 ] || sums=yes ;;
6.19) [ "$patch" -lt 4 ] || sums=yes ;;
*) [ "$major" -lt 7 ] || sums=yes ;;
esac

has_no_functions() { [ "$(functions "$1")" = 0 ]; }

is_drive() { [[ $(condition "$1") = "other "* ]] && [ "$(functions "$1")" = 1 ]; }

# drive_comes SLOT: the GPU is pulled, and a drive put in its place.
drive_comes()
{
	check "$mode: the GPU of slot $1 is pulled" knob "$1" surprise remove
	check "$mode: it is lost" wait_for 10 in_state "$1" lost
	check "$mode: a drive comes" knob "$1" surprise "insert nvme"
	{ echo 1 >"/sys/bus/pci/slots/$(name "$1")/power"; } 2>/dev/null
	check "$mode: and is on" wait_for 10 is_drive "$1"
}

in_mode()
{
	local serial resize i

	mode=$1
	note "mode=$mode"
	check "$mode: the modules load" load "$mode" switches=1 slots=6 latency_ms=20 buses=4 gpus=$cards ||
		bail_out "no modules"

	# --- what is what --------------------------------------------------------------------------
	is "$(all_slots)" "$(names 0 5)" "$mode: ports inside a card are no slots"
	is "$(states)" "ready ready other ready off empty" "$mode: the GPUs of the cards are ready"
	is "$(below 0) $(below 3)" "3 1" "$mode: one of them is behind a switch"
	is "$(of 0 .serial)" "$(cat "$SIM/slot0.0/serial")" "$mode: its serial number is the GPU's"
	is "$(functions 0) $(functions 1) $(functions 3)" "3 7 1" "$mode: bridges of a card are among its functions"
	is "$(of 0 .gpus) $(of 1 .gpus) $(of 3 .gpus)" "1 2 1" "$mode: a card can have several GPUs"
	is "$(of 0 .link)" "16 GT/s x16" "$mode: the link is that of the slot"
	like "$(gpuctl list)" "^$(name 2) .* other " "$mode: a switch with slots is another card"
	is "$(of 2 '.flags | join(" ")')" "chassis" "$mode: which is said"
	like "$(gpuctl list)" "^! $(name 2): .*cards=$(of 2 .port)" "$mode: as is what to do when it is none"
	is "$(of 2 .gpus)" null "$mode: what is in its slots is not its own"

	# --- of a chassis nothing is powered -----------------------------------------------------------
	check_fails "$mode: attach of the chassis is refused" gpuctl attach "$(name 2)"
	check_fails "$mode: so is drain" g drain "$(name 2)"
	gpuctl detach --force "$(name 2)"
	check_fails "$mode: compose" g compose mine "$(name 2)"
	is "$(powered 2)" 1 "$mode: it has its power"

	# --- off and on ----------------------------------------------------------------------------------
	serial=$(of 0 .serial)
	check "$mode: a card with a switch is detached" gpuctl detach "$(name 0)"
	is "$(states "$(name 0)") $(powered 0) $(of 0 .gpus)" "off 0 1" "$mode: it is off, and known"
	check "$mode: it is said to fit" test "$(gpuctl -j show "$(name 0)" | jq -r '.. | .verdict? // empty' | head -n 1)" != cannot
	check "$mode: it is attached" gpuctl attach "$(name 0)"
	is "$(states "$(name 0)") $(of 0 .serial)" "ready $serial" "$mode: and is the same"
	check "$mode: one that was found without power" gpuctl attach "$(name 4)"
	is "$(states "$(name 4)") $(below 4)" "ready 3" "$mode: is ready with its switch"

	# --- each GPU counts -----------------------------------------------------------------------------
	exec 9<"/dev/gpufabric-sim/$(name 1).1"
	check_rc 4 "$mode: a card is busy while its second GPU is in use" gpuctl detach "$(name 1)"
	exec 9<&-
	check "$mode: two GPUs" gpuctl compose pair "--exclude=$(name 3)" "--exclude=$(name 4)" --gpus 2
	is "$(held_by 1) $(held_by 0)" "pair null" "$mode: are those of one card"
	mkdir -p /etc/gpuctl/workloads.d
	printf 'sensor = amdgpu busy\ntarget = 50\nmax = 4\n' >/etc/gpuctl/workloads.d/pair
	is "$(gpuctl -n -j demand --folder /tmp/demand | jq '.demand[] | select(.workload == "pair") | .gpus')" 2 \
		"$mode: the demand of a workload counts both"
	rm -r /etc/gpuctl/workloads.d
	check_fails "$mode: more than there are cannot be had" gpuctl compose many --gpus 4
	check "$mode: as many as there are can" gpuctl compose rest --gpus 3
	is "$(gpuctl -j list | jq -r '[.compositions[] | "\(.name) \(.gpus) \(.slots | length)"] | join(" ")')" \
		"pair 2 1 rest 3 3" "$mode: GPUs are counted, not slots"
	check "$mode: one is released" gpuctl release pair
	check "$mode: so is the other" gpuctl release rest
	is "$(states)" "off off other off off empty" "$mode: all are off"
	if comes_back; then
		is "$(gpuctl -j scan --all | jq -c '[.slots[] | [.slot, .gpus, .memory]] | sort')" \
			"$(gpuctl -j list | jq -c '[.slots[] | select(.state == "off") | [.slot, .gpus, .memory]] | sort')" \
			"$mode: a scan and a list count GPUs and memory of a card alike"
		is "$(states)" "off off other off off empty" "$mode: all are off again"
		is "$(verdict_of 1)" fits "$mode: two GPUs are said to fit"
		check "$mode: and attached" gpuctl attach "$(name 0)" "$(name 1)" "$(name 3)" "$(name 4)"
	else
		# One of them has had no address so far: all of the card is known when it has come.
		check_fails "$mode: two GPUs cannot be" gpuctl attach --no-fit-check "$(name 1)"
		is "$(of 1 .cause) $(powered 1)" "resources 0" "$mode: for want of resources"
		check "$mode: clear" gpuctl clear "$(name 1)"
		is "$(verdict_of 1)" cannot "$mode: which is said from then on"
		check_rc 3 "$mode: so they are refused" gpuctl attach "$(name 1)"
		like "$(gpuctl attach "$(name 1)" 2>&1)" "bridges on the card" "$mode: with the reason"
		check "$mode: the others are attached" gpuctl attach "$(name 0)" "$(name 3)" "$(name 4)"
	fi

	# --- surprises ---------------------------------------------------------------------------------
	follow
	check "$mode: a card with a switch is pulled out" knob 0 surprise remove
	check "$mode: it is lost" seen " slot-changed $(name 0) .*lost"
	check "$mode: it is put back" knob 0 surprise insert
	check "$mode: and is ready" seen " slot-changed $(name 0) .*ready"
	echo 1 >"/sys/bus/pci/devices/$(of 0 .address)/remove"
	check "$mode: somebody removes the GPU and leaves its switch: it is lost" seen " slot-changed $(name 0) ready lost"
	like "$(of 0 .state)" "^(fault|lost)$" "$mode: what it left is no other card"
	check "$mode: which is detached" gpuctl detach "$(name 0)"
	is "$(states "$(name 0)") $(powered 0)" "off 0" "$mode: and off"
	check "$mode: it is attached" gpuctl attach "$(name 0)"
	is "$(states "$(name 0)") $(below 0)" "ready 3" "$mode: and all there"
	echo 1 >"/sys/bus/pci/devices/$(of 4 .address)/remove"
	check "$mode: another GPU leaves its switch" seen " slot-changed $(name 4) ready lost"
	check "$mode: that is cleared" g clear "$(name 4)"
	is "$(condition 4)" "other ok" "$mode: and is a card without a GPU from then on"
	check "$mode: it is pulled out" knob 4 surprise remove
	check "$mode: it is gone" wait_for 10 in_state 4 empty
	check "$mode: and put back" knob 4 surprise insert
	check "$mode: with its GPU" seen " slot-changed $(name 4) .*ready"
	if comes_back; then
		check "$mode: one with two GPUs comes" knob 5 surprise "insert l40s dual"
		check "$mode: it is ready" seen " slot-changed $(name 5) .*ready"
		is "$(of 5 .gpus) $(functions 5)" "2 5" "$mode: with both"
	else
		check "$mode: another one comes" knob 5 surprise "insert l40s switch"
		check "$mode: it is ready" seen " slot-changed $(name 5) .*ready"
	fi
	unfollow
	check "$mode: it goes" gpuctl detach "$(name 5)"
	knob 5 fail bar
	check_fails "$mode: a BAR behind a switch that gets no address fails the attach" gpuctl attach "$(name 5)"
	is "$(of 5 .cause) $(powered 5)" "resources 0" "$mode: it is named, and the card is off"
	check "$mode: clear" gpuctl clear "$(name 5)"
	check "$mode: the next time it is well" gpuctl attach --no-fit-check "$(name 5)"

	# --- a drive comes while the GPU before it waits for its turn to go --------------------------------
	check "$mode: a GPU is composed" g compose mine "$(name 4)"
	check "$mode: another slot is detached" g detach "$(name 3)"
	knob 3 driver probe-fail
	g -d 60000 resize mine "+$(name 3)" "-$(name 4)" >/tmp/resize 2>&1 &
	resize=$!
	check "$mode: and to take its place, when it has a driver" wait_for 20 in_state 3 attached
	drive_comes 4
	of 3 .address >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
	check "$mode: the GPU has gone" wait $resize
	is "$(powered 4) $(functions 4) $(held_by 4)" "1 1 null" "$mode: and the drive stays on, in no composition"
	drive_comes 3
	check "$mode: a composition that has a drive where its GPU was is released" g release mine
	is "$(powered 3) $(functions 3) $(held_by 3)" "1 1 null" "$mode: and leaves the drive on"
	for i in 3 4; do
		knob $i surprise remove
		wait_for 10 has_no_functions $i
	done
	check "$mode: a GPU comes again" knob 3 surprise "insert l40s"
	check "$mode: and is ready" wait_for 20 in_state 3 ready
	check "$mode: so does the other" knob 4 surprise "insert l40s switch"
	check "$mode: and is ready" wait_for 20 in_state 4 ready

	# --- a card that turns out to be a chassis when its detach is accepted ----------------------------
	local port inner
	inner=$(ports_of 2)
	like "$inner" '^[^,]+,[^,]+$' "$mode: the chassis has two ports"
	echo 1 >"/sys/bus/pci/devices/${inner#*,}/remove"
	check "$mode: with one port alone it is a card" wait_for 10 in_state 2 ready
	check "$mode: that is composed" g compose mine "$(name 2)"
	check "$mode: another slot is detached" g detach "$(name 3)"
	knob 3 driver probe-fail
	g -d 60000 resize mine "+$(name 3)" "-$(name 2)" >/tmp/resize 2>&1 &
	resize=$!
	check "$mode: and to take its place, when it has a driver" wait_for 20 in_state 3 attached
	echo 1 >/sys/bus/pci/rescan
	is "$(ports_of 2) $(states "$(name 3)")" "$inner attached" "$mode: meanwhile the other port is back"
	of 3 .address >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
	check_fails "$mode: what is a chassis now does not go" wait $resize
	like "$(cat /tmp/resize)" chassis "$mode: that is said"
	is "$(powered 2)" 1 "$mode: it has its power"
	check "$mode: clear" g clear "$(name 2)"
	check "$mode: the composition goes" g release mine
	is "$(powered 2)" 1 "$mode: and leaves the chassis that"

	# --- the admin knows better -----------------------------------------------------------------------
	port=$(of 2 .port)
	check "$mode: the module goes" wait_for 10 rmmod gpufabric
	check_fails "$mode: a list that is none is refused" modprobe gpufabric cards=yes
	check "$mode: and comes, with a word on slot 2" modprobe gpufabric "cards=$port"
	is "$(all_slots)" "$(names 0 5)" "$mode: it has the same slots"
	is "$(states "$(name 2)") $(of 2 .gpus)" "ready 2" "$mode: one more holds a card, with two GPUs"
	if comes_back; then
		check "$mode: that is detached" gpuctl detach "$(name 2)"
		is "$(powered 2)" 0 "$mode: it is off"
		check "$mode: and attached" gpuctl attach "$(name 2)"
	fi

	# --- slots of a chassis ----------------------------------------------------------------------------
	inner=$(ports_of 2)
	like "$inner" '^[^,]+,[^,]+$' "$mode: it has two ports"
	check "$mode: the module goes" wait_for 10 rmmod gpufabric
	check "$mode: and comes, with a word on these" modprobe gpufabric "bare_ports=$inner"
	is "$(states "${inner%,*}" "${inner#*,}") $(of 2 '.flags | join(" ")')" "ready ready chassis" \
		"$mode: each GPU belongs to the nearest slot above it"
	is "$(gpuctl list | grep -c "cards=")" 0 "$mode: that is no card, and nobody asks"
	check "$mode: one is detached" gpuctl detach "${inner%,*}"
	is "$(states "${inner%,*}" "${inner#*,}") $(powered 2)" "off ready 1" "$mode: the other is as it was"
	check "$mode: it is attached" gpuctl attach "${inner%,*}"

	comes_back || {
		check "$mode: unload" unload
		return
	}

	# --- ports of a card are no slots, whoever names them -------------------------------------------------
	inner=$(ports_of 1)
	like "$inner" '^[^,]+,[^,]+$' "$mode: a card has two ports"
	check "$mode: the module goes" wait_for 10 rmmod gpufabric
	mark_log
	check "$mode: the module comes, with a word on these" modprobe gpufabric "bare_ports=$inner"
	check "$mode: the card goes" gpuctl detach "$(name 1)"
	check "$mode: and comes" gpuctl attach "$(name 1)"
	is "$(all_slots)" "$(names 0 5)" "$mode: they are no slots"
	is "$(log_since_mark | grep -oE '[^ ]+: bare_ports= names this port, but the port is part of the card' | cut -d' ' -f1 | sort | xargs)" \
		"${inner%,*}: ${inner#*,}:" "$mode: which the log says once of each"
	check "$mode: unload" unload
}

in_mode own
in_mode pciehp

# --- windows that are just large enough ----------------------------------------------------------
# A window is a multiple of half of the largest BAR in it, and each bridge has one: 96 GiB for
# a BAR of 64 GiB and a small one, and two of those for two GPUs. Or it is their sum, and nothing
# helps two GPUs.
added=/sys/kernel/config/gpufabric_sim/switches/a

describe()
{
	mkdir "$added" && echo 2 >"$added"/slots && echo 327680 >"$added"/window || return
	mkdir "$added"/0 && echo "l40s switch" >"$added"/0/model && echo 98304 >"$added"/0/window || return
	mkdir "$added"/1 && echo "l40s dual" >"$added"/1/model && echo 196608 >"$added"/1/window || return
	echo 1 >"$added"/enabled
}

needs() { gpuctl -j show "$1" | jq -r '.. | objects | select(.verdict_need) | "\(.verdict) \(.verdict_need / 1073741824)"'; }
judged() { [ -n "$(needs "$1")" ]; }

mode=own
check "tight: the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=1 gpus=0.0:none buses=4 latency_ms=20 ||
	bail_out "no simulator"
check "tight: a switch with such windows" describe
check "tight: the module loads" modprobe gpufabric
tight=("sim$(cat "$added/index")-0" "sim$(cat "$added/index")-1")
is "$(states "${tight[@]}")" "ready ready" "tight: both cards are ready"
check "tight: they are detached" gpuctl detach "${tight[@]}"
for slot in "${tight[@]}"; do
	check "tight: $slot is judged" wait_for 10 judged "$slot"
done
if [ $sums = no ]; then
	is "$(needs "${tight[0]}") $(needs "${tight[1]}")" "fits 96 fits 192" "tight: they are said to fit, with nothing to spare"
	check "tight: they are attached" gpuctl attach "${tight[@]}"
	is "$(states "${tight[@]}")" "ready ready" "tight: and are ready"
else
	is "$(needs "${tight[0]}")" "fits 64.03125" "tight: one is said to fit"
	check "tight: it is attached" gpuctl attach "${tight[0]}"
	# What of the other has not had an address so far is known when it has come.
	check_fails "tight: the other one is not" gpuctl attach --no-fit-check "${tight[1]}"
	is "$(states "${tight[@]}")" "ready fault" "tight: the one is ready"
	check "tight: clear" gpuctl clear "${tight[1]}"
	is "$(needs "${tight[1]}")" "cannot 192" "tight: the other one is said not to fit"
fi
check "tight: the module goes" wait_for 10 rmmod gpufabric
check "tight: the switch goes" rmdir "$added/0" "$added/1" "$added"
check "tight: the simulator goes" wait_for 10 rmmod gpufabric_sim

# --- ports that nobody drives ---------------------------------------------------------------------
mode=bare
check "bare: the modules load" load bare switches=1 slots=6 latency_ms=20 buses=4 gpus=0.0:l40s:switch,0.3:l40s ||
	bail_out "no modules"
is "$(gpuctl -j list | jq '.slots | length')" 6 "bare: ports inside a card are no slots either"
slot=$(gpuctl -j list | jq -r '.slots[0].slot')
is "$(states "$slot")" ready "bare: the GPU is ready"
check "bare: it is detached" gpuctl detach "$slot"
is "$(states "$slot")" off "bare: and off"
check "bare: it is attached" gpuctl attach "$slot"
is "$(states "$slot")" ready "bare: and ready, with its switch"
follow
check "bare: its link blinks" knob 0 surprise "blink 50"
check "bare: its bridges were reset, and nobody restores them" seen " slot-changed $slot ready fault"
unfollow
like "$(gpuctl list)" "^! $slot: fault \(reset\)" "bare: that is what is said"
check "bare: unload" unload
finish
