#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Four hundred attach and detach cycles, eight slots in parallel, and a hundred turns of
# everything else that allocates: what is in use afterwards was in use before.
#
#   leaks.sh [TURNS]     compositions that are made, resized, rolled back and released (100)
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#
# brief: cycles that are the same each time, slots of one kind
# in turn: one request after the other; those of eight slots are one
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient
# long: -t 3000

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/census.sh"

# churn COUNT: so often the rest of what allocates: compositions, roll-backs,
# refusals, drains that end with their client, dumps.
churn()
{
	g churn "$1" "${all[0]}" "${all[1]}" "${all[2]}"
}

turns=${1:-$(brief 24 100)}
warm_up=$(brief 12 25)
cycles=$(brief 10 25)
for mode in $(brief own "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=8 latency_ms=5 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"
	check "$mode: $((8 * cycles)) cycles leave nothing behind" no_growth "$warm_up" "$cycles" $((8 * cycles)) cycles &&
		count leaks.cycles $((8 * cycles))
	if [ "$mode" = own ]; then
		knob 2 fail "power 1000000"
		check "$mode: nor does anything else" no_growth "$turns" "$turns" "$turns" churn &&
			count leaks.turns "$turns"
		knob 2 fail none
	fi
	# A cycle of pciehp's takes a second, and most caches are warm by now.
	warm_up=4
	is "$(states "${all[@]}")" "$(times 8 off)" "$mode: all are off"
	check "$mode: the modules unload" unload || bail_out "the modules stay"
	is "$(find /sys -path '*gpufabric*' 2>/dev/null)" "" "$mode: sysfs has forgotten them"
done
finish
