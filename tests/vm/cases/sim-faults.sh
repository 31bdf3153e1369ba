#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every fault of the simulator in every operation of gpufabric: afterwards the
# slot comes to rest, can be used again, and no other slot has noticed.
#
#   switch 0: one slot for each fault, h100-80, off      sim0-0 ... sim0-21
#             and one that is ready all the time         sim0-22
#   switch 1: a partner for each, for sets of two        sim1-0 ... sim1-22
#
# All faults of an operation happen at the same time. One that keeps the PCI core
# waiting comes alone, and so does a switch that goes with all its slots.
#
# brief: slots of one kind
# alone: it fills the kernel's log, and reads it often
# before: tests/selftests/build
# vm: -t 300 -m 2G -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

SWITCHES=/sys/kernel/config/gpufabric_sim/switches
REST=empty,off,ready,fault,lost
OPERATIONS="attach detach compose resize release idle"
# pciehp takes a second to turn a slot off, and no part in the rest.
PCIEHP_OPERATIONS="attach detach resize"

# Armed before the operation begins.
ARMED="power link presence enumerate bar bar0 bar1 bar2 bar3 bar4 bar5 bar-bytes slow probe-fail probe-slow"
# Strike while it is under way.
STRIKING="remove flap power-fault button"
# Another card than before: in its place already where the slot is off, else put
# there while the operation is under way.
OTHER="swap bridge"
# An attach with one of these cannot end well.
FATAL="power link presence enumerate bar bar0 bar1 bar2 bar3 bar4 bar5 bar-bytes slow probe-fail bridge"

pairs=0

present() { [ "$(<"$SIM/slot0.$1/presence")" = 1 ]; }
powered() { [ "$(<"$SIM/slot0.$1/power")" = 1 ]; }
unpowered() { ! powered "$1"; }
is_one_of() { [[ " $2 " == *" $1 "* ]]; }

powers_on() { is_one_of "$1" "attach compose resize"; }

arm()
{
	case $2 in
	bar-bytes) knob "$1" bar_bytes $((1 << 43)) ;;
	# Longer than anybody waits, on a host that is busy as well.
	slow) knob "$1" link "slow 60000" ;;
	probe-fail) knob "$1" driver probe-fail ;;
	probe-slow) knob "$1" driver "probe-slow 100" ;;
	swap) knob "$1" model l40s ;;
	bridge) knob "$1" model "h100-80 bridge" ;;
	*) knob "$1" fail "$2" ;;
	esac
}

# Some can only happen to a link that is up; an operation may end before it is.
strike()
{
	case $2 in
	remove) knob "$1" surprise remove ;;
	flap) wait_for 1 knob "$1" surprise "flap 3" ;;
	power-fault) wait_for 1 knob "$1" surprise power-fault ;;
	button) [ "$mode" != own ] || knob "$1" surprise button ;;
	swap) knob "$1" surprise remove && knob "$1" surprise "insert l40s" ;;
	bridge) knob "$1" surprise remove && knob "$1" surprise "insert h100-80 bridge" ;;
	esac
}

# What comes before operation $1 of fault $2.
prepare()
{
	case $1 in
	detach | idle) g attach "${all[$2]}" ;;
	release) g compose "set$2" "${all[$2]}" "${partner[$2]}" ;;
	resize) g compose "set$2" "${partner[$2]}" ;;
	esac
}

operate()
{
	case $1 in
	attach) g -d 2500 attach "${all[$2]}" ;;
	detach) g detach "${all[$2]}" ;;
	compose) g -d 2500 compose "set$2" "${all[$2]}" "${partner[$2]}" ;;
	resize) g -d 2500 resize "set$2" "+${all[$2]}" ;;
	release) g release "set$2" ;;
	esac
}

# The set of fault $1, if it came to be and still is.
release()
{
	local error
	error=$(g release "set$1" 2>&1 >/dev/null) && return
	echo "$error"
	[[ $error == ENOENT:* ]]
}

# Brings the card of slot $1 up and down again. pciehp turns a slot on by itself when
# its link comes up, so this may have to be tried again; a detach that succeeds has
# waited for all that pciehp had to do.
use()
{
	local slot=${all[$1]}

	g wait "$slot" "$REST" || return 1
	case $(g state "$slot") in
	fault | lost) g clear "$slot" || return 1 ;;
	esac
	if ! present "$1"; then
		g wait "$slot" empty && knob "$1" surprise "insert h100-80" && g wait "$slot" ready || return 1
	fi
	# The module goes by the BARs that it saw last, be it those of a fault.
	g -h attach "$slot" && g detach "$slot" && [ "$(g state "$slot")" = off ]
}

# Whatever is in slot $1 and was done to it: an h100-80, off, claimed by nobody.
recover()
{
	local slot=${all[$1]}
	knob "$1" fail none
	knob "$1" link full
	knob "$1" bar_bytes 0
	knob "$1" driver none
	# A set with a card in it that is no GPU is not released: it goes first.
	if [ "$(<"$SIM/slot0.$1/model")" != h100-80 ]; then
		! present "$1" || knob "$1" surprise remove || return 1
		g wait "$slot" empty,lost,fault || return 1
		wait_for 10 unpowered "$1" || return 1
	fi
	case $op in
	compose | resize | release) release "$1" || return 1 ;;
	esac
	wait_for 30 use "$1" || use "$1"
}

# together COMMAND [ARG]: for each fault at the same time; status in /tmp/rc.N, what
# it said in /tmp/said.N.
together()
{
	local i pids=()

	for i in "${!faults[@]}"; do
		{
			"$@" "$i" >"/tmp/said.$i" 2>&1
			echo "$?" >"/tmp/rc.$i"
		} &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# went N "description": how it ended for fault N.
went()
{
	check "$2" test "$(<"/tmp/rc.$1")" = 0 || sed 's/^/#   /' "/tmp/said.$1"
}

one_operation()
{
	local op=$1 i fault armed=$ARMED striking=$STRIKING
	if powers_on "$op"; then
		armed+=" $OTHER"
	else
		striking+=" $OTHER"
	fi
	together prepare "$op"
	is "$(sort -u /tmp/rc.*)" 0 "$mode: before $op all is well"
	for i in "${!faults[@]}"; do
		! is_one_of "${faults[i]}" "$armed" || arm "$i" "${faults[i]}"
	done
	together operate "$op" &
	for i in "${!faults[@]}"; do
		! is_one_of "${faults[i]}" "$striking" || strike "$i" "${faults[i]}" 2>/dev/null
	done
	wait $!
	for i in "${!faults[@]}"; do
		fault=${faults[i]}
		# A bridge that comes when the operation has ended is another device in its slot.
		check "$mode: $op, $fault: the slot comes to rest" g wait "${all[i]}" "$REST,other"
		if powers_on "$op" && is_one_of "$fault" "$FATAL"; then
			is "$(<"/tmp/rc.$i") $(<"$SIM/slot0.$i/power")" "1 0" "$mode: $op, $fault: it failed and left no power on"
		fi
		pairs=$((pairs + 1))
	done
	together recover
	for i in "${!faults[@]}"; do
		went "$i" "$mode: $op, ${faults[i]}: the slot can be used again"
	done
	is "$(g compositions)" "" "$mode: after $op there is no set"
	is "$(states "${all[@]}" "${partner[@]}")" "$(times $((2 * number)) off)" "$mode: after $op all slots are off"
	is "$(g list "$calm")" "$before" "$mode: after $op the slot beside them is as it was"
	is "$(lspci_gpus)" "$calm_address" "$mode: after $op there is no other GPU"
}

# A driver that does not let go holds up everybody; the operation ends all the same.
held()
{
	local op=$1
	prepare "$op" 0
	knob 0 driver remove-block
	case $op in
	detach) g -t 500 detach "${all[0]}" ;;
	release) g -t 500 release set0 ;;
	esac >/dev/null 2>&1
	is "$?" 1 "$mode: $op, remove-block: it fails"
	is "$(g state "${all[0]}")" stuck "$mode: $op, remove-block: the slot is stuck"
	knob 0 driver remove-release
	check "$mode: $op, remove-block: let go it comes to rest" g wait "${all[0]}" off
	check "$mode: $op, remove-block: the slot can be used again" recover 0
	pairs=$((pairs + 1))
}

# Takes the switch away in the middle of an operation.
vanish()
{
	local op=$1
	set -- "$mode: $op, vanish"
	check "$1: the switch is there" wait_for 10 g wait "${partner[0]}" off
	check "$1: with both slots" wait_for 10 g wait "${all[0]}" off
	check "$1: before it all is well" prepare "$op" 0
	follow
	operate "$op" 0 >/dev/null 2>&1 &
	[ "$op" = idle ] || seen "slot-changed ${all[0]} "
	echo 0 >"$SWITCHES/v/enabled"
	unfollow
	wait $!
	check "$1: its slot leaves the list" wait_for 10 no_slot "${all[0]}"
	g release set0 >/dev/null 2>&1
	is "$(g compositions)" "" "$1: no set is left"
	is "$(g list "$calm")" "$before" "$1: the slot of another switch is as it was"
	echo 1 >"$SWITCHES/v/enabled"
	pairs=$((pairs + 1))
}

no_slot() { ! g state "$1"; }

vanishing()
{
	local all=("$(name 0 2)") partner=("$(name 1 2)")

	mkdir "$SWITCHES/v" "$SWITCHES"/v/{0,1}
	for i in 0 1; do
		echo h100-80 >"$SWITCHES/v/$i/model"
		echo 1 >"$SWITCHES/v/$i/off"
	done
	echo 1 >"$SWITCHES/v/enabled"
	for op in $operations; do
		vanish "$op"
	done
	check "$mode: vanish: the slot can be used again" wait_for 10 g attach "${all[0]}"
	rmdir "$SWITCHES"/v/? "$SWITCHES/v"
	check "$mode: vanish: the switch is removed" wait_for 10 no_slot "${all[0]}"
}

# pciehp waits five seconds for a second press of the attention button.
pressing()
{
	local slot
	check "$mode: button: the modules load" load "$mode" switches=1 slots=2 button=1 'gpus=*:h100-80:off'
	slot=$(name 0)
	check "$mode: button: pressed" knob 0 surprise button
	check "$mode: button: the GPU comes" g wait "$slot" ready
	check "$mode: button: the modules unload" unload
}

operations=$OPERATIONS
read -ra faults <<<"$ARMED $STRIKING $OTHER"
number=${#faults[@]}
for mode in $(brief pciehp "own pciehp"); do
	[ "$mode" = own ] || operations=$PCIEHP_OPERATIONS
	# All windows together do not hold the BAR of bar-bytes.
	check "$mode: the modules load" load "$mode" switches=2 slots=$((number + 1)) latency_ms=50 window_gib=256 \
		'gpus=*:h100-80:off' || bail_out "no modules"
	# Three faults in a row are nothing strange here.
	echo 0 >/sys/module/gpufabric/parameters/quarantine_after
	read -ra all <<<"$(names 0 $((number - 1)))"
	partner=()
	for ((i = 0; i < number; i++)); do
		partner+=("$(name "$i" 1)")
	done
	calm=$(name "$number")
	check "$mode: one slot is ready all the time" g attach "$calm"
	before=$(g list "$calm")
	calm_address=$(lspci_gpus)

	for op in $operations; do
		one_operation "$op"
	done
	held detach
	held release
	vanishing
	check "$mode: the slot that was ready all the time still is" g detach "$calm"
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
pressing
count faults.operations "$pairs"
finish
