#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The host sleeps with GPUs in use, as deep as the kernel's own test levels go
# (/sys/power/pm_test): nobody reads a port from the moment it is suspended until
# it is resumed, a GPU that was ready is ready afterwards, and was nothing else
# meanwhile; its composition is the same. Before that what is under way is awaited,
# and what is asked for is refused; what does not come to its end keeps the host awake.
#
#   a switch with slots 0 ... 3: an l40s in use, another, one that is off, none
#
# Ports may sleep (pcie_port_pm=force), and when the host sleeps deeply the simulator
# takes all power away at the level platform and below.
#
# by kernel: what sleeps when, and who wakes it
# brief: one kind of slots on each kernel
# alone: the host sleeps, and everybody in it
# kernels: 6.1 6.12
# before: tests/selftests/build
# vm: -t 400 -a pcie_port_pm=force -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

PARAMETERS=/sys/module/gpufabric/parameters
DELAY=/sys/module/suspend/parameters/pm_test_delay
# Never, as far as this case goes.
LONG=600000

gpu() { printf '10000:%02x:00.0' $(($1 + 3)); }
slot_of() { if [ "$mode" = bare ]; then printf '10000:02:%02x.0' "$1"; else name "$1"; fi; }
is_state() { [ "$(g state "$1")" = "$2" ]; }
show() { gpuctl -j show "$1" | jq -r "[.slot | $2] | map(tostring) | join(\" \")"; }
# What must be as before: its state, and whether it was anything else meanwhile.
whole() { show "$(slot_of "$1")" ".state, .generation, .flaps, .faults"; }
composed() { gpuctl -j list | jq -c '[.compositions[] | [.name, .state, .slots, .id]]'; }
register() { setpci -s "$(gpu "$1")" "$2"; }
# What the kernel saves of a card, and what nobody has told it of.
saved() { echo "$(register "$1" BASE_ADDRESS_1.l) $(register "$1" BASE_ADDRESS_2.l) $(register "$1" CAP_EXP+8.w)"; }
unsaved() { register "$1" CAP_MSI+2.w; }
answers() { [ "$(register "$1" VENDOR_ID)" = 6767 ]; }
forget() { for file in "$SIM"/{slot0.*,switch0}/sleep; do echo forget >"$file"; done; }
disturbed() { cat "$SIM"/{slot0.*,switch0}/sleep | awk '{ n += $NF } END { print n }'; }
# Somebody asks the host to sleep: asks STATE LEVEL
asks() { echo "$2" >/sys/power/pm_test && timeout 100 sh -c "echo $1 >/sys/power/state"; }
# The same words for everybody who wants to change something.
refused() { [[ $(g clear "$(slot_of 0)" 2>&1) == "EBUSY: the system is going to sleep, try again when it is awake" ]]; }
taken() { ! refused; }
logged()
{
	local log

	# A reader that has found it would end the writer, and with it the pipe.
	log=$(log_since_mark)
	grep -qE "$1" <<<"$log"
}

# sleeps STATE LEVEL MSI SECONDS: as deep as that, for so long, and back; MSI is what nobody saves
# afterwards
sleeps()
{
	local before registers

	echo "$4" >$DELAY
	setpci -s "$(gpu 0)" CAP_EXP+8.w=2810 CAP_MSI+2.w=81
	before=$(whole 0)
	registers=$(saved 0)
	forget
	check "$mode: $1, $2: the host sleeps" asks "$1" "$2" || return
	is "$(disturbed)" 0 "$mode: $1, $2: nobody disturbed anybody's sleep"
	check "$mode: $1, $2: requests are taken again" wait_for 10 taken
	is "$(saved 0) $(unsaved 0)" "$registers $3" "$mode: $1, $2: the card has what the kernel saved of it"
	like "$before" "^ready " "$mode: $1, $2: the GPU was ready"
	is "$(whole 0)" "$before" "$mode: $1, $2: it is, and has not been anything else"
	check "$mode: $1, $2: its user is well" test "$(wc -c <"/dev/gpufabric-sim/$(name 0)")" -gt 0
}

levels()
{
	# The processor computes while it sleeps: where nobody runs, a moment is as good as a second.
	sleeps mem freezer 0081 0
	sleeps mem devices 0081 1
	sleeps mem platform 0080 1
	sleeps mem core 0080 0
	sleeps freeze freezer 0081 0
	sleeps freeze platform 0081 1
	sleeps disk devices 0081 1
	echo 0 >$DELAY
}

# A detach whose driver does not let go until somebody says so.
begin_detach()
{
	knob 1 driver remove-block
	g -t $LONG detach "$(slot_of 1)" >/tmp/detach 2>&1 &
	detach=$!
	check "$mode: a detach is under way" wait_for 10 is_state "$(slot_of 1)" detaching
}

awaited()
{
	begin_detach
	asks mem devices &
	asker=$!
	check "$mode: the host wants to sleep: requests are refused" wait_for 10 refused
	check_rc 4 "$mode: gpuctl is told so" gpuctl attach "$(slot_of 2)"
	like "$(cat "$check_log")" "the system is going to sleep" "$mode: in these words"
	knob 1 driver remove-release
	check "$mode: the detach comes to its end" wait $detach
	check "$mode: then the host sleeps" wait $asker
	check "$mode: requests are taken again" wait_for 10 taken
}

# What never ends: the lock of a device that it holds would hang the host on its way.
kept_awake()
{
	begin_detach
	mark_log
	check_fails "$mode: a detach that does not end keeps the host awake" asks mem devices
	check "$mode: the log names it" logged "gpufabric slot.*: the system cannot sleep: operation [0-9]+ has not ended detach of slot $(slot_of 1)"
	check "$mode: requests are taken again" wait_for 10 taken
	knob 1 driver remove-release
	check "$mode: the detach comes to its end" wait $detach
}

# Nobody has seen a GPU while the host slept, so that time does not count.
not_lost()
{
	local before

	before=$(whole 0)
	echo 6 >$DELAY
	echo 5000 >$PARAMETERS/lost_ms
	knob 0 surprise "blink $LONG"
	check "$mode: the link of a GPU is down while the host sleeps" asks mem freezer
	echo $LONG >$PARAMETERS/lost_ms
	is "$(whole 0)" "$before" "$mode: that is no loss"
}

like "$(cat /sys/power/mem_sleep)" "\[deep\]" "the host can sleep deeply"
# Where the kernel waits for five seconds by counting, those are a processor's, and a busy host may
# need half a minute for them.
echo 60 >/proc/sys/kernel/watchdog_thresh
for each in $(modes) $(not_on_others bare); do
	# pciehp turns on a slot with a card when it resumes the port.
	gpus=0.0-1:l40s,0.2:l40s:off,0.3:none
	[ "$each" != pciehp ] || gpus=0.0-1:l40s,0.2-3:none
	check "$each: the modules load" load "$each" switches=1 slots=4 gpus="$gpus" latency_ms=20 ||
		bail_out "no modules"
	echo 100 >$PARAMETERS/poll_ms
	check "$mode: a GPU is ready" g wait "$(slot_of 0)" ready
	exec 8<"/dev/gpufabric-sim/$(name 0)"
	check "$mode: it is composed" g compose held "$(slot_of 0)"
	compositions=$(composed)
	like "$compositions" '"held","active"' "$mode: and held"
	levels
	is "$(composed)" "$compositions" "$mode: the compositions are the same afterwards"
	check "$mode: it is released, and stays" g -k release held
	awaited
	if [ "$mode" != pciehp ]; then
		is "$(g state "$(slot_of 1)")" off "$mode: what was detached is off"
		check "$mode: and can be attached" g attach "$(slot_of 1)"
	else
		check "$mode: what was detached is on again, as pciehp has it" g wait "$(slot_of 1)" ready
	fi
	kept_awake
	[ "$mode" != bare ] || not_lost
	exec 8<&-
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
echo none >/sys/power/pm_test
finish
