#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ports and GPUs that sleep while the host is awake (runtime power management):
# the module neither wakes nor judges them, nor reads their registers, however
# often it looks; not even when it comes. When they are awake again all is as before.
# And a module that is told never to look does not look.
#
#   slot 0: l40s with audio, in use    1: l40s, may sleep    2: l40s, off    3: none
#   slot 4: card with two l40s, each with audio, behind a switch: one in use, one may sleep
#
# Ports sleep where nothing below them is awake (pcie_port_pm=force); those of slots 1
# and 2 lose their power then (D3cold). Ports without a hot-plug controller tell of no card
# that comes: the module keeps them awake as long as it is there.
#
# by kernel: what sleeps when, and who wakes it
# brief: one kind of slots on each kernel
# kernels: 6.1 6.12
# before: tests/selftests/build
# vm: -t 200 -a pcie_port_pm=force -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

DEVICES=/sys/bus/pci/devices
PARAMETERS=/sys/module/gpufabric/parameters
TRACING=/sys/kernel/tracing

gpu() { printf '10000:%02x:00.0' $(($1 + 3)); }
slot_of() { if [ "$mode" = bare ]; then printf '10000:02:%02x.0' "$1"; else name "$1"; fi; }
show() { gpuctl -j show "$1" | jq -r "[.slot | $2] | map(tostring) | join(\" \")"; }
whole() { show "$(slot_of "$1")" ".state, .generation, .flaps, .faults"; }
sleeper() { cat "$SIM/slot0.$1/sleep"; }
sleeps_as() { [[ $(sleeper "$1") == "$2"* ]]; }
link_is() { [[ $(cat "$SIM/slot0.$1/state") == *"link $2"* ]]; }
state_is() { [ "$(g state "$(slot_of "$1")")" = "$2" ]; }
may_sleep() { echo "$2" >"$DEVICES/$(gpu "$1")/power/control"; }
suspended() { [ "$(cat "$DEVICES/$1/power/runtime_status")" = suspended ]; }
functions() { [ "$(gpuctl -j show "$(slot_of "$1")" | jq '[.. | objects | .functions? // empty | .[]] | length')" = "$2" ]; }
has_driver() { gpuctl -j show "$(slot_of "$1")" | jq -e --arg gpu "$(gpu "$1")" '[.. | objects | .functions? // empty | .[] | select(.address == $gpu and .driver)] | length == 1' >/dev/null; }
has_no_driver() { ! has_driver "$1"; }
forget() { for file in "$SIM"/{slot0.*,switch0}/sleep; do echo forget >"$file"; done; }
saved() { for register in BASE_ADDRESS_1.l BASE_ADDRESS_2.l COMMAND; do setpci -s "$(gpu "$1")" $register; done | xargs; }

# How often a function of the module has run in a worker since they were counted.
begin_count()
{
	echo 0 >$TRACING/tracing_on
	: >$TRACING/trace
	echo 1 >$TRACING/events/workqueue/workqueue_execute_start/enable
	echo 1 >$TRACING/tracing_on
}
ran() { grep -c "workqueue_execute_start: .* function $1\b" $TRACING/trace; }
ran_often() { [ "$(ran "$1")" -ge "$2" ]; }
looked() { begin_count; wait_for 30 ran_often scan_run 10; }

# Nobody has touched what slept, and nobody has woken it.
undisturbed()
{
	is "$(sed -nE 's/.*, (woken [0-9]+, disturbed [0-9]+)$/\1/p' "$SIM"/{slot0."$1",switch0}/sleep | sort -u)" \
		"woken 0, disturbed 0" "$mode: $2"
}

# So that gpuctl looks whether there is room for what is in the slot that is off.
declare_off()
{
	mkdir -p /etc/gpuctl/slots.d /etc/gpuctl/gpus.d
	printf '[l40s]\nbar1_mib = 65536\n' >/etc/gpuctl/gpus.d/asleep.conf
	echo "$(slot_of 2) 6767:0004/10de:26b9" >/etc/gpuctl/slots.d/asleep.conf
}

# A GPU that nobody uses sleeps, and its port has no power.
gpu_sleeps()
{
	local before registers as="D3cold asleep"

	[ "$mode" != bare ] || as=D0
	before=$(whole 1)
	registers=$(saved 1)
	knob 1 sleep cold
	may_sleep 1 auto
	check "$mode: a GPU sleeps" wait_for 10 suspended "$(gpu 1)"
	check "$mode: its port is $as" wait_for 10 sleeps_as 1 "$as"
	forget
	check "$mode: the module looks at its slots" looked
	declare_off
	check "$mode: gpuctl lists the slots" gpuctl list
	check "$mode: it shows one that is off" gpuctl show "$(slot_of 2)"
	check "$mode: it judges an attach of that" gpuctl -n attach "$(slot_of 2)"
	rm -r /etc/gpuctl/slots.d
	check "$mode: the GPU sleeps as before" suspended "$(gpu 1)"
	check "$mode: so does the port" sleeps_as 1 "$as"
	undisturbed 1 "nobody has touched or woken it"
	is "$(whole 1)" "$before" "$mode: to the module nothing has happened"
	may_sleep 1 on
	check "$mode: the GPU is awake again" wait_for 10 sleeps_as 1 D0
	check "$mode: the module looks at its slots" looked
	is "$(whole 1)" "$before" "$mode: the GPU is what it was"
	is "$(saved 1)" "$registers" "$mode: with all that was in its registers"
}

# Of a card's two GPUs one sleeps, and the other one is in use: a loss is seen all the same.
# When nothing else of the second is left, what sleeps behind its bridge is not read.
half_sleeps()
{
	local before first second bridge

	read -r first second <<<"$(lspci_gpus | grep -oE '[^ ]+ [^ ]+$')"
	bridge=$(basename "$(readlink -f "$DEVICES/$second/..")")
	before=$(whole 4)
	echo auto >"$DEVICES/$second/power/control"
	echo auto >"$DEVICES/${second%0}1/power/control"
	check "$mode: one of a card's GPUs sleeps" wait_for 10 suspended "$second"
	check "$mode: and the bridge that leads to it" wait_for 10 suspended "$bridge"
	check_fails "$mode: the other one does not" suspended "$first"
	forget
	check "$mode: the module looks at its slots" looked
	undisturbed 4 "nobody has touched or woken what sleeps"
	is "$(whole 4)" "$before" "$mode: to the module nothing has happened"
	echo 500 >$PARAMETERS/lost_ms
	knob 4 surprise fall-off
	check "$mode: the card falls off the bus: it is lost, as the other GPU shows" wait_for 10 state_is 4 lost
	knob 4 surprise come-back
	check "$mode: and comes back" wait_for 10 state_is 4 ready
	check "$mode: the one that sleeps still does" suspended "$second"
	undisturbed 4 "it was left in peace"
	echo 3000 >$PARAMETERS/lost_ms
	echo 1 >"$DEVICES/$second/remove"
	check "$mode: without that GPU its audio sleeps" wait_for 10 suspended "${second%0}1"
	check "$mode: behind its bridge" wait_for 10 suspended "$bridge"
	check "$mode: the module has seen it go" wait_for 10 functions 4 6
	forget
	echo 1 >"$DEVICES/${first%0}1/remove"
	check "$mode: the module looks at the card" wait_for 10 functions 4 5
	undisturbed 4 "what sleeps behind a bridge is not read"
}

# A fabric manager assigns a GPU to a port that nothing was below, and tells nobody.
gpu_is_assigned()
{
	knob 3 surprise "insert l40s"
	check "$mode: a GPU that comes to an empty port is seen" wait_for 10 state_is 3 off
	check "$mode: and attached" g attach "$(slot_of 3)"
	check "$mode: its GPU is ready" state_is 3 ready
	check "$mode: and detached" g detach "$(slot_of 3)"
	knob 3 surprise remove
	check "$mode: the module goes" wait_for 10 rmmod gpufabric
	check "$mode: the port sleeps again" wait_for 10 sleeps_as 3 "D3hot asleep"
	check "$mode: so does the one without power" wait_for 10 sleeps_as 2 "D3cold asleep"
}

# Without the module.
turn_off()
{
	if [ "$mode" = bare ]; then
		echo 1 >"$DEVICES/$(gpu "$1")/remove" && setpci -s "$(slot_of "$1")" CAP_EXP+10.w=10:10
	else
		echo 0 >"/sys/bus/pci/slots/$(slot_of "$1")/power"
	fi
}

# The module comes to a switch that sleeps: it takes it as it is, but for the ports that it keeps awake.
module_comes()
{
	check "$mode: a slot without a card sleeps" wait_for 10 sleeps_as 3 "D3hot asleep"
	check "$mode: so does one that is off, without power" wait_for 10 sleeps_as 2 "D3cold asleep"
	forget
	check "$mode: the module comes" modprobe gpufabric poll_ms=100 bare_ports=all
	check "$mode: it looks at its slots" looked
	if [ "$mode" = bare ]; then
		check "$mode: the port without power has some" sleeps_as 2 D0
		check "$mode: the slot without a card is awake" sleeps_as 3 D0
	else
		check "$mode: the slot without power sleeps as before" sleeps_as 2 "D3cold asleep"
		undisturbed 2 "nobody has touched or woken it"
	fi
	check "$mode: its link is down" link_is 2 down
	is "$(g state "$(slot_of 2)")" off "$mode: and there may be a card in it"
}

# What a card had is known although its audio sleeps when it is looked at.
audio_sleeps()
{
	local audio

	audio=$(gpu 0)
	audio=${audio%0}1
	echo auto >"$DEVICES/$audio/power/control"
	check "$mode: a GPU's audio sleeps" wait_for 10 suspended "$audio"
	check "$mode: the GPU has a driver" has_driver 0
	gpu 0 >"$DEVICES/$(gpu 0)/driver/unbind"
	check "$mode: the module sees the driver go" wait_for 10 has_no_driver 0
	check "$mode: the audio still sleeps" suspended "$audio"
	check "$mode: the card is detached" g detach "$(slot_of 0)"
	like "$(g need "$(slot_of 0)")" "^[0-9]+ align" "$mode: what it had is known"
}

never_looks()
{
	echo 0 >$PARAMETERS/poll_ms
	begin_count
	sleep 2
	# One that was under way may have asked for a last scan.
	begin_count
	sleep 2
	is "$(ran poll_run) $(ran scan_run)" "0 0" "poll_ms=0: it never looks"
	echo 100 >$PARAMETERS/poll_ms
	check "poll_ms=100: it looks again" wait_for 30 ran_often scan_run 3
	for ms in 1 99 60001 often; do
		check_fails "poll_ms=$ms is refused" sh -c "echo $ms >$PARAMETERS/poll_ms"
	done
	is "$(cat $PARAMETERS/poll_ms)" 100 "and what was there stays"
}

for mode in $(modes) $(not_on_others bare); do
	check "$mode: the simulator loads" modprobe gpufabric_sim mode="$mode" switches=1 slots=5 latency_ms=20 \
		'gpus=0.0:l40s:audio,0.1-2:l40s,0.3:none,0.4:l40s:dual:audio' || bail_out "no simulator"
	knob 2 sleep cold
	check "$mode: slot 2 is turned off" turn_off 2
	module_comes
	check "$mode: a GPU is ready" g wait "$(slot_of 1)" ready
	exec 8<"/dev/gpufabric-sim/$(name 0)" 9<"/dev/gpufabric-sim/$(name 4)"
	gpu_sleeps
	half_sleeps
	exec 8<&- 9<&-
	if [ "$mode" = own ]; then
		never_looks
		audio_sleeps
		check "$mode: a slot that sleeps without power can be attached" g attach "$(slot_of 2)"
		check "$mode: its GPU is ready" state_is 2 ready
	fi
	if [ "$mode" = bare ]; then
		gpu_is_assigned
		check "$mode: gpufabric loads again" modprobe gpufabric
	fi
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
