#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Links of GPUs in use go down for 50 to 2,000 ms, and buses are reset, at random and in
# all slots at a time. On ports without a slot driver no function ever leaves the bus.
# pciehp removes a card whose link drops, and brings it back: just as often as it does
# without gpufabric. "make storm-links" is the long run.
#
#   links.sh [BLINKS [RESETS [SEED]]]      in all; which they are follows from SEED
#
#   root port -- upstream -- 8 slots with an l40s each
#
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient
# long: -t 7000

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317,SC2119

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

slots=8
blinks=$(((${1:-8} + slots - 1) / slots))
resets=$(((${2:-8} + slots - 1) / slots))
seed=${3:-1}
DEVICES=/sys/bus/pci/devices
bars="BASE_ADDRESS_1 BASE_ADDRESS_2 BASE_ADDRESS_3 BASE_ADDRESS_4"

gpu() { printf '%s/10000:%02x:00.0' "$DEVICES" $(($1 + 3)); }
address() { printf '10000:%02x:00.0' $(($1 + 3)); }
slot_of() { if [ "$mode" = bare ]; then printf '10000:02:%02x.0' "$1"; else name "$1"; fi; }
answers() { [ "$(setpci -s "$(address "$1")" VENDOR_ID)" = 6767 ]; }
has_driver() { [ -e "$(gpu "$1")/driver" ]; }
# What sysfs calls it this time: another number once it was removed.
incarnation() { stat -c %i "$(gpu "$1")" 2>/dev/null || echo none; }
is_anew() { [ "$(incarnation "$1")" != none ] && [ "$(incarnation "$1")" != "$2" ] && has_driver "$1"; }
removals() { log_since_mark | grep -c 'pciehp.*Link Down'; }
rests() { [ "$(states)" = "$(times "$slots" ready)" ]; }
operations() { g status | sed 's/.* operations \([0-9]*\) .*/\1/'; }

# As a driver does that knows of the loss.
restore()
{
	wait_for 30 answers "$1" || return
	# shellcheck disable=SC2086 # several registers
	setpci -s "$(address "$1")" $2
}

# What is to happen to slot N, a line each: "blink MS" or "reset", in an order of its own.
orders()
{
	local i

	RANDOM=$((seed * 64 + $1))
	{
		for ((i = 0; i < blinks; i++)); do
			echo "$RANDOM blink $((50 + RANDOM % 1951))"
		done
		for ((i = 0; i < resets; i++)); do
			echo "$RANDOM reset"
		done
	} | sort -n | cut -d' ' -f2-
}

reset()
{
	echo 1 >"$(gpu "$1")/reset"
}

# Its registers come back, because somebody has saved them.
disturb_bare()
{
	local n=$1 saved='' register order

	for register in $bars; do
		saved+=" $register=$(setpci -s "$(address "$n")" "$register.l")"
	done
	saved+=" COMMAND=$(setpci -s "$(address "$n")" COMMAND)"
	while read -r order; do
		if [ "$order" = reset ]; then
			reset "$n"
		else
			knob "$n" surprise "$order" && restore "$n" "$saved"
		fi || return
	done < <(orders "$n")
}

# Its functions go and come back, with the slot driver's help.
disturb_pciehp()
{
	local n=$1 order before

	while read -r order; do
		before=$(incarnation "$n")
		if [ "$order" = reset ]; then
			reset "$n"
		else
			knob "$n" surprise "$order" && wait_for 60 is_anew "$n" "$before"
		fi || return
		[ ! -e /sys/module/gpufabric ] || wait_for 60 in_state "$n" || return
	done < <(orders "$n")
}

in_state() { [ "$(g state "$(slot_of "$1")")" = ready ]; }

# All slots at a time.
disturb()
{
	local n pids=() pid rc=0

	for ((n = 0; n < slots; n++)); do
		"disturb_$mode" "$n" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	return "$rc"
}

# A removal that hangs holds pci_rescan_remove_lock until it is told to go on.
listing_under_lock()
{
	local rc=0 pid

	knob 7 driver remove-block
	echo 1 >"$(gpu 7)/remove" &
	pid=$!
	wait_for 30 sh -c "grep -l pci_stop_and_remove_bus_device_locked /proc/$pid/stack" || rc=1
	timeout 60 gpuctl list >/dev/null || rc=1
	knob 7 driver remove-release
	wait "$pid"
	return "$rc"
}

note "ports without a slot driver: $((blinks * slots)) blinks, $((resets * slots)) resets"
check "bare: the modules load" load bare switches=1 slots=$slots 'gpus=*:l40s' latency_ms=20 || bail_out "no modules"
# Who restores the registers may be late here.
echo 600000 >/sys/module/gpufabric/parameters/lost_ms
check "bare: all are ready" wait_for 60 rests
incarnations=$(for ((n = 0; n < slots; n++)); do incarnation "$n"; done)
for ((n = 0; n < slots; n++)); do
	exec {fd}<"/dev/gpufabric-sim/sim0-$n"
	fds+=("$fd")
done
check "bare: all are disturbed" disturb
is "$(for ((n = 0; n < slots; n++)); do incarnation "$n"; done)" "$incarnations" "bare: no function has left the bus"
check "bare: all are ready" wait_for 60 rests
is "$(operations)" 0 "bare: nobody is at work"
for fd in "${fds[@]}"; do
	exec {fd}<&-
done
check "bare: a listing ends while somebody holds the PCI core's lock" listing_under_lock
check "bare: the modules unload" unload || bail_out "the modules stay"
count links.bare $(((blinks + resets) * slots))

mode=pciehp
note "pciehp without gpufabric, the same"
check "pciehp: the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=$slots 'gpus=*:l40s' latency_ms=20 ||
	bail_out "no simulator"
for ((n = 0; n < slots; n++)); do
	check "pciehp: slot $n has a driver" wait_for 60 has_driver "$n"
done
mark_log
check "pciehp: all are disturbed" disturb
alone=$(removals)
is "$alone" $((blinks * slots)) "pciehp: each blink is a removal"
check "pciehp: the simulator unloads" wait_for 10 rmmod gpufabric_sim

note "pciehp with gpufabric, the same"
check "pciehp: the modules load" load pciehp switches=1 slots=$slots 'gpus=*:l40s' latency_ms=20 || bail_out "no modules"
check "pciehp: all are ready" wait_for 60 rests
read -ra all <<<"$(names 0 $((slots - 1)))"
check "pciehp: they are composed" g compose job "${all[@]}"
"$TESTS/gfclient" events end >/tmp/events < <(sleep infinity) &
listener=$!
wait_for 30 grep -q ' start$' /tmp/events
mark_log
check "pciehp: all are disturbed" disturb
is "$(removals)" "$alone" "pciehp: there are as many removals as without it"
check "pciehp: all are ready" wait_for 60 rests
check "pciehp: the composition is whole" wait_for 30 sh -c "$TESTS/gfclient compositions | grep -q '^job active'"
for kind in degraded active; do
	check "pciehp: it was told $kind" wait_for 30 grep -q "composition-changed job $kind" /tmp/events
done
kill $listener
is "$(operations)" 0 "pciehp: nobody is at work"
check "pciehp: the composition is released" g -f release job
check "pciehp: the modules unload" unload || bail_out "the modules stay"
count links.pciehp $(((blinks + resets) * slots * 2))
finish
