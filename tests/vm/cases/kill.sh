#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A client that is killed, at each event of what it asked for: the module sees it
# through or takes it back, nothing hangs, and the list tells the truth.
#
#   root port -- upstream -- 4 slots with an h100-80 each, off
#
#   kill.sh [ROUNDS]     at random (6, of pciehp's a third)
#
# brief: slots of the simulator's own kind
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient
# long: -t 3000

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

rounds=${1:-6}

# killed AFTER COMMAND...: kill -9 the client after so many events since the
# first of its operation; 0 kills it as soon as it runs.
killed()
{
	local after=$1 client
	shift

	"$TESTS/gfclient" "$@" </dev/null >/dev/null 2>&1 &
	client=$!
	if [ "$after" -gt 0 ]; then
		seen 'operation-started' || return 1
		while [ "$((after -= 1))" -gt 0 ]; do
			seen '.' || return 1
		done
	fi
	kill -9 "$client" 2>/dev/null
	wait "$client" 2>/dev/null
	return 0
}

# No operation is under way any more, and everything agrees.
at_rest()
{
	local listed state

	wait_for 20 no_operation && listed=$(g list) || return 1
	while read -r _ state _; do
		[ "$state" = off ] || [ "$state" = ready ] || { echo "$listed"; return 1; }
	done <<<"$listed"
	[ "$(listed_gpus)" = "$(lspci_gpus)" ]
}

no_operation()
{
	[[ $(g status) == *" operations 0 "* ]]
}

# A composition is there whole or not at all.
whole_or_not()
{
	local listed composition state count=0 ready=0

	listed=$(g list) || return 1
	while read -r _ state _ _ _ composition _; do
		[ "$composition" = "$1" ] || continue
		count=$((count + 1))
		[ "$state" != ready ] || ready=$((ready + 1))
	done <<<"$listed"
	if composition=$(g compositions "$1" 2>/dev/null); then
		[[ $composition == *" active "* ]] && [ "$count" -eq "$2" ] && [ "$ready" -eq "$2" ]
	else
		[ "$count" -eq 0 ]
	fi
}

one_compose()
{
	local after=$1
	shift

	follow
	killed "$after" "$@" compose victim "${all[@]}" || { unfollow; return 1; }
	unfollow
	at_rest && whole_or_not victim 4 || return 1
	if g compositions victim >/dev/null 2>&1; then
		g release victim
	else
		detach_all
	fi
	at_rest && [ "$(states "${all[@]}")" = "$(times 4 off)" ]
}

detach_all()
{
	local slot

	for slot in "${all[@]}"; do
		[ "$(g state "$slot")" != ready ] || g detach "$slot" || return 1
	done
}

composing()
{
	local after points=(0 1 2 3 5 7 9 11 13 15)

	# One operation, four slots with three changes each, the end. A detach
	# takes a second in mode=pciehp.
	[ "$mode" = own ] || points=(0 3 8 14)
	for after in "${points[@]}"; do
		check "$mode: compose, killed after $after events" one_compose "$after"
	done
	for after in 2 8; do
		knob 3 fail power
		check "$mode: compose that fails, killed after $after events" one_failing_compose "$after"
	done
}

one_failing_compose()
{
	follow
	killed "$1" compose victim "${all[@]}" || { unfollow; return 1; }
	unfollow
	wait_for 20 no_operation && ! g compositions victim 2>/dev/null || return 1
	[ "$(states "${all[@]}")" = "off off off fault" ] || { g list; return 1; }
	g clear "${all[3]}"
	[ -z "$(g list | awk '$6 != "-"')" ] && [ "$(lspci_gpus)" = "" ]
}

# Bound to its client: orphaned, and still whole.
bound()
{
	local after

	for after in 2 10; do
		follow
		killed "$after" -b compose victim "${all[@]}" || { unfollow; return 1; }
		unfollow
		at_rest && whole_or_not victim 4 || return 1
		[ "$(g compositions victim | cut -d' ' -f3)" = bound,orphaned ] || return 1
		g release victim || return 1
	done
}

releasing()
{
	local after

	for after in 0 1 3 6; do
		g compose victim "${all[@]}" || return 1
		follow
		killed "$after" release victim || { unfollow; return 1; }
		unfollow
		at_rest || return 1
		# Either it was accepted and is over, or the drains went with the client.
		if g compositions victim >/dev/null 2>&1; then
			whole_or_not victim 4 && g release victim || return 1
		fi
		[ "$(states "${all[@]}")" = "$(times 4 off)" ] || return 1
	done
}

draining()
{
	local client

	g attach "${all[0]}" || return 1
	mkfifo /tmp/hold
	follow
	"$TESTS/gfclient" -t 600000 drain "${all[0]}" </tmp/hold >/dev/null &
	client=$!
	exec {hold}>/tmp/hold
	seen "slot-changed ${all[0]} ready draining" || return 1
	kill -9 "$client"
	seen "slot-changed ${all[0]} draining ready" || return 1
	unfollow
	exec {hold}>&-
	wait "$client" 2>/dev/null
	rm /tmp/hold
	g detach "${all[0]}"
}

# Whenever it comes: the time is not of the test's choosing.
at_random()
{
	local i client

	RANDOM=4711
	[ "$mode" = own ] || rounds=$(((rounds + 2) / 3))
	for ((i = 0; i < rounds; i++)); do
		"$TESTS/gfclient" compose victim "${all[@]}" >/dev/null 2>&1 &
		client=$!
		for ((spin = RANDOM % 3000; spin > 0; spin--)); do :; done
		kill -9 "$client" 2>/dev/null
		wait "$client" 2>/dev/null
		at_rest && whole_or_not victim 4 || return 1
		g compositions victim >/dev/null 2>&1 || continue
		"$TESTS/gfclient" release victim >/dev/null 2>&1 &
		client=$!
		for ((spin = RANDOM % 3000; spin > 0; spin--)); do :; done
		kill -9 "$client" 2>/dev/null
		wait "$client" 2>/dev/null
		at_rest && whole_or_not victim 4 || return 1
		! g compositions victim >/dev/null 2>&1 || g release victim || return 1
	done
}

for mode in $(brief pciehp "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=4 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 3)"
	composing
	check "$mode: a bound composition is orphaned, and whole" bound
	check "$mode: release, killed here and there" releasing
	check "$mode: a drain ends with its client" draining
	check "$mode: killed at random" at_random
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
