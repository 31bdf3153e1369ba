#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many at once: composers that want the same GPUs, drains and detaches of the
# same slot, readers in the middle of it, and others who use the power file.
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#
# brief: slots of one kind
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# composer NUMBER SLOT...: leaves its result in /tmp/race/NUMBER.
composer()
{
	local number=$1
	shift

	read -r _ </tmp/start
	if g compose "c$number" "$@" 2>"/tmp/race/$number.error"; then
		echo won >"/tmp/race/$number"
	else
		cut -d: -f1 <"/tmp/race/$number.error" >"/tmp/race/$number"
	fi
}

# A gate that all wait at and that opens once for all of them.
gate_open()
{
	# Every reader has the pipe open when this can be written.
	exec {gate}<>/tmp/start
	printf '\n%.0s' {1..64} >&"$gate"
}

gate_close()
{
	exec {gate}>&-
}

race_begin()
{
	rm -rf /tmp/race /tmp/start
	mkdir /tmp/race
	mkfifo /tmp/start
}

# Every GPU is with at most one composition, and with whom it says it is.
claims_are_consistent()
{
	local name members slot

	g compositions | while read -r name _ _ members; do
		for slot in ${members//,/ }; do
			echo "$slot $name"
		done
	done | sort >/tmp/from-compositions
	g list | awk '$6 != "-" { print $1, $6 }' | sort >/tmp/from-slots
	diff /tmp/from-compositions /tmp/from-slots || return 1
	[ -z "$(cut -d' ' -f1 /tmp/from-compositions | uniq -d)" ]
}

release_all()
{
	local name

	g compositions | while read -r name _; do
		g release "$name" || return 1
	done
}

# Somebody reads all the time: the list is always whole.
reader()
{
	local lines

	while [ ! -e /tmp/race/stop ]; do
		lines=$(g list | wc -l)
		[ "$lines" = 8 ] || echo "$lines lines" >>/tmp/race/reader
	done
}

one_gpu_each()
{
	local i pids=()

	race_begin
	reader &
	for i in {0..15}; do
		composer "$i" "${all[i % 8]}" &
		pids+=($!)
	done
	gate_open
	wait "${pids[@]}"
	gate_close
	touch /tmp/race/stop
	wait
	is "$(cat /tmp/race/{0..15} | sort | uniq -c | xargs)" "8 EBUSY 8 won" \
		"$mode: sixteen want one of eight: eight win, eight are told that it is busy"
	for i in {0..7}; do
		is "$(cat "/tmp/race/$i" "/tmp/race/$((i + 8))" | sort | xargs)" "EBUSY won" \
			"$mode: GPU $i is given once"
	done
	is "$(states "${all[@]}")" "$(times 8 ready)" "$mode: all GPUs are ready"
	check "$mode: claims are consistent" claims_are_consistent
	is "$(cat /tmp/race/reader 2>/dev/null)" "" "$mode: who read meanwhile saw all slots each time"
	check "$mode: all are released" release_all
}

overlapping()
{
	local i pids=()

	race_begin
	for i in {0..15}; do
		composer "$i" "${all[i % 8]}" "${all[(i + 1) % 8]}" "${all[(i + 3) % 8]}" &
		pids+=($!)
	done
	gate_open
	wait "${pids[@]}"
	gate_close
	like "$(cat /tmp/race/{0..15} | sort | uniq -c | xargs)" "^1[45] EBUSY [12] won$" \
		"$mode: sixteen want three each that overlap: who does not get all gets nothing"
	check "$mode: claims are consistent" claims_are_consistent
	won=$(cat /tmp/race/{0..15} | grep -c won)
	is "$(lspci_gpus | wc -w)" "$((won * 3))" "$mode: the losers have attached nothing"
	check "$mode: all are released" release_all
	is "$(states "${all[@]}")" "$(times 8 off)" "$mode: all are off"
}

# Two that detach the same slot: both may drain, one of them wins.
two_detaches()
{
	local won=0 lost=0 first second

	for _ in 1 2 3; do
		g attach "${all[0]}" || return 1
		g detach "${all[0]}" 2>/tmp/first &
		first=$!
		g detach "${all[0]}" 2>/tmp/second &
		second=$!
		wait "$first" && won=$((won + 1))
		wait "$second" && won=$((won + 1))
		[ "$(g state "${all[0]}")" = off ] || return 1
		lost=$((lost + $(cat /tmp/first /tmp/second | grep -cE '^(EBUSY|ESTALE|ENODEV): ')))
	done
	echo "won $won lost $lost"
	# Who comes when all is over finds nothing to do, which is no failure.
	[ $((won + lost)) -eq 6 ] && [ "$won" -ge 3 ]
}

# One who is not us uses the power file while we attach and detach.
beside_the_power_file()
{
	local slot=${all[1]}

	for _ in 1 2 3 4; do
		{ echo 1 >"/sys/bus/pci/slots/$slot/power"; } 2>/dev/null &
		g attach "$slot" 2>/dev/null
		wait
		g wait "$slot" ready,fault,off || return 1
		{ echo 0 >"/sys/bus/pci/slots/$slot/power"; } 2>/dev/null &
		g detach "$slot" 2>/dev/null
		wait
		g wait "$slot" ready,fault,off,empty || return 1
		[ "$(g state "$slot")" != fault ] || g clear "$slot"
	done
	# A last look may be under way: an operation of ours comes after it.
	[ "$(g state "$slot")" = ready ] || g attach "$slot" || return 1
	[ "$(listed_gpus)" = "$(lspci_gpus)" ] && g detach "$slot" && [ "$(listed_gpus)" = "$(lspci_gpus)" ]
}

# Eight workers that attach, detach, compose and release what they like.
storm()
{
	local worker

	for worker in {1..8}; do
		(
			RANDOM=$worker
			for _ in {1..12}; do
				slot=${all[RANDOM % 8]}
				case $((RANDOM % 5)) in
				0) g attach "$slot" ;;
				1) g detach "$slot" ;;
				2) g compose "w$worker" "$slot" "${all[RANDOM % 8]}" ;;
				3) g release "w$worker" ;;
				4) g resize "w$worker" "+$slot" ;;
				esac
			done 2>/dev/null
			g release "w$worker" 2>/dev/null
		) &
	done
	wait
	# Drains of whoever failed went with their sockets.
	[ -z "$(g list | awk '$2 != "off" && $2 != "ready"')" ] || { g list; return 1; }
	[ "$(g status | sed 's/.*operations \([0-9]*\).*/\1/')" = 0 ]
}

for mode in $(brief pciehp "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=8 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"
	one_gpu_each
	overlapping
	check "$mode: two detach the same slot, one does it" two_detaches
	check "$mode: the power file may be used beside us" beside_the_power_file
	check "$mode: eight workers do what they like" storm
	check "$mode: claims are consistent after it" claims_are_consistent
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: lspci agrees after it"
	check "$mode: what is left is released" release_all
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
