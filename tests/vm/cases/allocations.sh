#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every allocation that the modules make fails once: while they load, while
# they answer, in their workers. Whatever fails then fails as a whole, and
# afterwards all is well. memory.sh takes memory away at random instead.
#
#   one switch: 4 slots, H100, off; the last one fails to power on
#
# What the PCI core allocates on the way is spared: it does not survive that, and
# is not what is tested. Debian's 6.12 has no should_failslab() to hook.
#
# brief: of the simulator each seventeenth allocation, of loading the module each fifth
# in turn: one allocation after the other fails
# kernels: 6.1 debug-6.1
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 600 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_failpoint.ko"

# Functions are called by their names, through walk and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

point=/sys/module/gf_failpoint/parameters
limit=$((10 * ${SLOW:-1}))

failed()
{
	local count

	read -r count <"$point/failed"
	echo "$count"
}

# load_sim [SLOTS]
load_sim()
{
	try modprobe gpufabric_sim mode=own switches=1 slots="${1:-4}" latency_ms=1 'gpus=*:h100-80:off'
}

# Each may fail, or be told that an event got lost; none may hang. In a walk each begins
# with an allocation to come that fails.
walking=
try()
{
	[ -z "$walking" ] || echo 1 >$point/armed
	timeout -k 5 "$limit" "$@"
}

unloaded()
{
	[ ! -e "/sys/module/$1" ] || rmmod "$1"
}

load_unload()
{
	try modprobe gpufabric && try "$TESTS/gfclient" list
	wait_for 10 unloaded gpufabric
}

# What it allocates when there is something to do for the first time.
first_work()
{
	try modprobe gpufabric && try "$TESTS/gfclient" attach "${all[0]}"
	try "$TESTS/gfclient" history
	try "$TESTS/gfclient" -f detach "${all[0]}"
	wait_for 10 unloaded gpufabric
}

# What it allocates for one slot it allocates for each.
load_unload_sim()
{
	load_sim 1
	wait_for 10 unloaded gpufabric_sim
}

# Whoever is told that there was no memory for a request finds nothing changed. Nor is a
# card powered when there is none to find out whom that would harm.
refused_whole()
{
	local slot=${all[0]} before

	before=$(failed)
	try "$TESTS/gfclient" attach "$slot" 2>/tmp/refused
	if [ "$(failed)" != "$before" ]; then
		echo "$(cat "$point/last"): $(g state "$slot"), $(cut -d: -f1 </tmp/refused)" >>/tmp/attaches
	fi
	if grep -q "^ENOMEM: Cannot allocate" /tmp/refused && [ "$(g state "$slot")" != off ]; then
		echo "$(cat "$point/last"): refused, and $(g state "$slot")" >>/tmp/halves
	fi
}

# Without memory to take the drivers off first, a detach leaves them to nobody else: a
# slot driver would wait for them with the PCI core's lock held.
detached_whole()
{
	local slot=${all[0]} before

	echo 0 >"$point/armed"
	g attach "$slot"
	before=$(failed)
	try "$TESTS/gfclient" detach "$slot" 2>/tmp/detached
	if [ "$(failed)" != "$before" ]; then
		echo "$(cat "$point/last"): $(g state "$slot"), $(cut -d: -f1 </tmp/detached)" >>/tmp/detaches
	fi
}

# Everything that a client can ask for, and what comes without being asked.
requests()
{
	try "$TESTS/gfclient" attach "${all[0]}"
	try "$TESTS/gfclient" list
	try "$TESTS/gfclient" status
	try "$TESTS/gfclient" compose walk "${all[1]}" "${all[2]}"
	try "$TESTS/gfclient" compositions
	try "$TESTS/gfclient" resize walk "+${all[3]}"
	try "$TESTS/gfclient" resize walk "-${all[2]}"
	try "$TESTS/gfclient" release walk
	try "$TESTS/gfclient" -r reason detach "${all[0]}"
	try "$TESTS/gfclient" churn 1 "${all[0]}" "${all[1]}" "${all[3]}"
	try "$TESTS/gfclient" history
	try gpuctl stats
	cat /sys/class/gpufabric/slot1/uevent
	knob 0 surprise remove
	knob 0 surprise "insert h100-80"
}

settled()
{
	local file events

	for file in /sys/class/gpufabric/*/uevent; do
		events=$(<"$file") && [[ $events = *GPUFABRIC_ACTIVITY=none* ]] || return 1
	done
}

# Nearly always they are: then two looks are all it takes.
all_off()
{
	local slot compositions

	settled && compositions=$(g compositions) || return 1
	[ "$(states "${all[@]}")" != "off off off off" ] || [ -n "$compositions" ] || return 0
	g release walk
	g release churn
	for slot in "${all[@]}"; do
		g clear "$slot"
		g -f detach "$slot"
	done
	[ "$(states "${all[@]}")" = "off off off off" ] && [ "$(g compositions | wc -l)" -eq 0 ]
}

# Work queues are on a list of the kernel's own, so kmemleak does not report a lost one: all
# that "modprobe" has made successfully are taken down by it or by "rmmod".
trace=/sys/kernel/tracing
watch_queues()
{
	# shellcheck disable=SC2016 # for the kernel
	echo 'r:queues/made alloc_workqueue queue=$retval' >>"$trace/kprobe_events" &&
		echo 'p:queues/gone destroy_workqueue' >>"$trace/kprobe_events" &&
		echo 'queue != 0' >"$trace/events/queues/made/filter" &&
		echo 1 >"$trace/events/queues/enable"
}

# queues made|gone
queues()
{
	grep -cE "^ *(modprobe|rmmod)-.* $1: " "$trace/trace"
}

forget_queues()
{
	echo 0 >"$trace/events/queues/enable"
	echo >"$trace/kprobe_events"
}

# walk "description" AFTER COMMAND...: again and again, until nothing fails any
# more for the first time; AFTER must hold each time.
walk()
{
	local desc=$1 after=$2 before first
	shift 2

	first=$(failed)
	while :; do
		before=$(failed)
		walking=y
		echo 1 >$point/armed
		"$@" >/tmp/walk.log 2>&1
		echo 0 >$point/armed
		walking=
		if ! wait_for 20 "$after"; then
			not_ok "$desc: after want of memory in $(cat $point/last)"
			tail -n 20 /tmp/walk.log | sed 's/^/#   /'
			g list | sed 's/^/#   /'
			return 1
		fi
		[ "$(failed)" != "$before" ] || break
	done
	check "$desc: $(($(failed) - first)) allocations failed, one after the other" test "$(failed)" -gt "$first"
}

check "allocations can be made to fail" insmod "$TESTS/gf_failpoint.ko" || bail_out "no fail point"

printf "[gpufabric_sim]" >$point/target
brief 17 1 >$point/every
walk "the simulator loads" true load_unload_sim
check "the simulator is loaded" load_sim || bail_out "no simulator"
knob 3 fail "power 1000000"

printf "[gpufabric]" >$point/target
brief 5 1 >$point/every
check "work queues can be counted" watch_queues
walk "gpufabric loads" true load_unload
made=$(queues made)
check "work queues were made" [ "$made" -gt 0 ]
is "$(queues gone)" "$made" "and all of them taken down"
count allocations.queues "$made"
forget_queues
echo 1 >$point/every
check "gpufabric is loaded" modprobe gpufabric || bail_out "no module"
read -ra all <<<"$(names 0 3)"
check "it can be unloaded" wait_for 10 unloaded gpufabric
check "gpufabric is loaded for requests alone" modprobe gpufabric
walk "requests are carried out or refused" all_off refused_whole
is "$(cat /tmp/halves 2>/dev/null)" "" "what was refused was not begun"
is "$(grep -cE '^(gf_guard|load_of)[^ ]*\+.*: off, ENOMEM$' /tmp/attaches)" 1 \
	"without memory to find out whom it harms, no card comes"
walk "detaches are carried out or given up" all_off detached_whole
is "$(grep -cE '^(gf_unbind|hold)\+.*: fault, ENOMEM$' /tmp/detaches)" 3 \
	"without memory to unbind its drivers first, and to keep others away, no card goes"
check "it is unloaded again" wait_for 10 unloaded gpufabric
walk "gpufabric works for the first time" true first_work
check "gpufabric is loaded again" modprobe gpufabric
mkfifo /tmp/listen
"$TESTS/gfclient" events end </tmp/listen >/dev/null 2>&1 &
exec 8>/tmp/listen

walk "gpufabric works" all_off requests
printf "[gpufabric_sim]" >$point/target
brief 17 1 >$point/every
walk "the simulator works" all_off requests

exec 8>&-
knob 3 fail none
requests >/tmp/walk.log 2>&1
check "all slots are as they were" wait_for 20 all_off
for slot in "${all[@]}"; do
	check "slot $slot attaches" g attach "$slot"
done
count allocations.failed "$(failed)"
note "the last one: $(cat $point/last)"
check "the modules unload" unload
check "so does the fail point" rmmod gf_failpoint
finish
