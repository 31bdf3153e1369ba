#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A composition of eight of which the fifth fails: nothing of it is left but the
# fault and its history. For every way in which a GPU can fail, in both modes.
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#
# brief: slots of the simulator's own kind
# in turn: one composition after the other
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

fifth=4

# A card that was not seen is not there any more.
put_back()
{
	[ "$(g state "${all[fifth]}")" = empty ] || return 0
	knob $fifth surprise insert
	g wait "${all[fifth]}" ready && g detach "${all[fifth]}"
}

# The module goes by the BARs that it saw last: here those of a card that is gone.
seen_anew()
{
	check "$mode: the fifth is seen as it is" g -h attach "${all[fifth]}"
	check "$mode: and off again" g detach "${all[fifth]}"
}

# fails "what" ERRNO CAUSE [OPTION...]: the composition fails that way, and then
# everything is as before.
fails()
{
	local what="$mode: $1" want_errno=$2 want_cause=$3 error
	shift 3

	error=$(g "$@" compose all "${all[@]}" 2>&1 >/dev/null)
	is "$?" 1 "$what: compose fails"
	like "$error" "^($want_errno): slot ${all[fifth]}: $want_cause" "$what: the error names the slot"
	is "$(states "${rest[@]}")" "$(times 7 off)" "$what: the seven others are off again"
	like "$(g list "${all[fifth]}" | cut -d' ' -f2,3)" "^fault $want_cause$" "$what: the fifth says why"
	like "$(gpuctl -j show "${all[fifth]}" | jq -r .slot.text)" '.{20}' "$what: and in words"
	is "$(g list | awk '$6 != "-"')" "" "$what: no slot is claimed"
	is "$(g compositions)" "" "$what: there is no composition"
	is "$(lspci_gpus)" "" "$what: no GPU is left behind"
	like "$(g history "${all[fifth]}" | tail -n 1)" "^${all[fifth]} fault $want_cause compose -[0-9]+ ." \
		"$what: the history has the fault"
	like "$(g history "${all[0]}" | tail -n 1)" "^${all[0]} off none compose 0" \
		"$what: the history has the way back"
	check "$what: the fault is cleared" g clear "${all[fifth]}"
	put_back
	is "$(states "${all[@]}")" "$(times 8 off)" "$what: all are off"
}

for mode in $(brief pciehp "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=8 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"
	rest=("${all[@]:0:fifth}" "${all[@]:fifth+1}")

	knob $fifth fail power
	fails "no power" "(EIO|ENODEV)" "(link|power)"
	knob $fifth fail link
	fails "no link" "(EIO|ETIMEDOUT)" "link"
	knob $fifth fail presence
	fails "card not seen" "(EIO|ENODEV)" "(presence|link)"
	knob $fifth fail enumerate
	fails "no answer" "(EIO|ENODEV)" "(enumerate|presence|link)"
	knob $fifth fail bar
	fails "no address for a BAR" "ENOSPC" "resources"
	like "$(gpuctl attach "${all[fifth]}" 2>&1)" "no room for the GPU: slot ${all[fifth]}" "$mode: gpuctl does not ask for it again"
	seen_anew
	knob $fifth bar_bytes $((1 << 42))
	fails "a BAR larger than the window" "ENOSPC" "resources"
	seen_anew
	knob $fifth driver probe-fail
	fails "no driver in time" "ETIMEDOUT" "driver" -d 500
	knob $fifth model l40s
	fails "another GPU than expected" "EMEDIUMTYPE" "identity" -e 6767:1:10de:2331
	knob $fifth model h100-80

	check "$mode: without a fault they are composed" g -e 6767:1:10de:2331 -d 10000 compose all "${all[@]}"
	is "$(states "${all[@]}")" "$(times 8 ready)" "$mode: all are ready"
	check "$mode: and released" g release all
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
