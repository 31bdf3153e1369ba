#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Unloading: refused while an operation runs, while one is stuck and while a
# composition lives; clean afterwards; GPUs stay attached over it. A driver that does
# not let go of its GPU. And work that is asked for at the very moment.
#
#   root port -- upstream -- 4 slots with an h100-80 each, off
#
#   unload.sh [ROUNDS]     that it is loaded and unloaded (4)
#
# by kernel: references on the PCI core differ
# brief: one kind of slots on each kernel
# in turn: one command after the other
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 240 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"
# long: -t 3000

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

rounds=${1:-4}
point=/sys/module/gf_delay/parameters
gpus=/sys/bus/pci/drivers/gpufabric-sim-gpu

hold_up() { insmod "$TESTS/gf_delay.ko" "$@" && echo 1 >"$point/armed"; }
is_held_up() { grep -qx 1 "$point/held"; }
waits_in() { grep -q "$2" "/proc/$1/stack"; }
# Nobody has the module, and it looks at nothing by itself.
is_quiet() { echo 0 >/sys/module/gpufabric/parameters/poll_ms && grep -qx 0 /sys/module/gpufabric/refcnt; }

while_an_operation_runs()
{
	knob 0 driver "probe-slow 1500"
	follow
	g attach "${all[0]}" &
	check "$mode: an attach begins" seen "slot-changed ${all[0]} off attaching"
	check_fails "$mode: unloading is refused while it runs" rmmod gpufabric
	check "$mode: the attach goes on" seen "operation-done"
	unfollow
	check "$mode: and ends well" wait $!
	is "$(g state "${all[0]}")" ready "$mode: the GPU is ready"
}

while_a_composition_lives()
{
	check "$mode: a composition" g compose alive "${all[0]}"
	check_fails "$mode: unloading is refused while it lives" rmmod gpufabric
	like "$(g compositions)" "^alive active" "$mode: and leaves it as it is"
	check "$mode: kept apart from its composition" g -k release alive
}

# An upgrade: the GPU stays, its user does not notice.
over_a_gpu_in_use()
{
	local user address

	exec {user}<"/dev/gpufabric-sim/${all[0]}"
	address=$(g list "${all[0]}" | cut -d' ' -f7)
	mark_log
	check "$mode: it unloads with a GPU attached" wait_for 10 rmmod gpufabric
	is "$(lspci_gpus)" "$address" "$mode: the GPU stays"
	check "$mode: and its user can still use it" read -r -u "$user" _
	check_fails "$mode: no device of ours is left" test -e /sys/class/gpufabric
	is "$(log_since_mark | grep -c 'gpufabric:\|gpufabric slot')" 0 "$mode: that is no event for the log"
	check "$mode: loaded again" modprobe gpufabric
	is "$(g list "${all[0]}" | cut -d' ' -f2,3,7,8)" "ready none $address gpufabric-sim-gpu" \
		"$mode: the GPU is adopted as it is"
	exec {user}<&-
	is "$(log_since_mark | grep -c "pci.*$address")" 0 "$mode: it was not power-cycled"
	is "$(g history)" "" "$mode: the history begins anew"
	check "$mode: and the GPU can be detached" g detach "${all[0]}"
}

# A driver that never lets go: its slot is stuck and keeps the module, all else goes on.
while_one_is_stuck()
{
	check "$mode: three are attached" g attach "${all[@]:0:3}"
	knob 0 driver remove-block
	check_fails "$mode: the detach of a GPU that is held passes its deadline" g -t 300 detach "${all[0]}"
	is "$(g list "${all[0]}" | cut -d' ' -f2,3)" "stuck timeout" "$mode: the slot is stuck"
	like "$(g text "${all[0]}")" "timeout of $(g list "${all[0]}" | cut -d' ' -f7), driver gpufabric-sim-gpu" \
		"$mode: and names the function and the driver"
	like "$(g history "${all[0]}" | tail -n 1)" "^${all[0]} stuck timeout detach -110 ." \
		"$mode: so does the history"
	check_fails "$mode: unloading is refused" rmmod gpufabric

	check "$mode: reads answer" g list
	is "$(g list | wc -l)" 4 "$mode: with all slots"
	check "$mode: other GPUs can be composed" g compose others "${all[1]}" "${all[2]}"
	check "$mode: and released" g -k release others
	check "$mode: another slot can be attached" g attach "${all[3]}"
	check_fails "$mode: a stuck slot cannot be used" g attach "${all[0]}"
	check_fails "$mode: nor cleared" g clear "${all[0]}"

	mark_log
	knob 0 driver remove-release
	check "$mode: let go, the slot recovers by itself" g wait "${all[0]}" off
	like "$(log_since_mark)" "${all[0]}: the operation that was stuck has returned" "$mode: the log says so"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: lspci agrees"
	check "$mode: it works as ever" g attach "${all[0]}"
	check "$mode: all are detached" g detach "${all[@]}"
}

# From 6.10 on work that is being cancelled is not queued again, and its queueing does not tell.
while_a_slot_is_looked_at()
{
	local address binder remover

	check "$mode: a GPU is attached" g attach "${all[0]}"
	address=$(g list "${all[0]}" | cut -d' ' -f7)
	check "$mode: then nothing is under way" wait_for 10 is_quiet
	echo "$address" >"$gpus"/unbind
	knob 0 driver "probe-slow 5000"
	check "$mode: a look can be held up" hold_up function=queue_delayed_work_on caller=refresh_run \
		spare=gf_rescan_lock ms=15000
	echo "$address" >"$gpus"/bind &
	binder=$!
	check "$mode: while the GPU's driver is bound, a look at the slot asks for another" wait_for 10 is_held_up
	rmmod gpufabric &
	remover=$!
	check "$mode: the module waits for the look" wait_for 10 waits_in $remover "cancel_[a-z_]*work"
	echo 1 >"$point/go_on"
	check "$mode: and goes" wait $remover
	rmmod gf_delay
	wait $binder
	check "$mode: it is loaded" modprobe gpufabric
	check "$mode: and the GPU detached" g detach "${all[0]}"
}

# Who asks for a scan finds that there are none any more, or is waited for.
while_a_scan_is_asked_for()
{
	local port remover asker

	port=$(basename "$(readlink -f "/sys/bus/pci/devices/$(gpuctl -j list | jq -r '.slots[0].port')/..")")
	check "$mode: nothing is under way" wait_for 10 is_quiet
	check "$mode: a request for a scan can be held up" hold_up function=queue_work_on caller=bus_event ms=5000
	echo "$port" >/sys/bus/pci/drivers/pcieport/unbind &
	asker=$!
	check "$mode: it is, as the switch loses its driver" wait_for 10 is_held_up
	rmmod gpufabric &
	remover=$!
	# Where nobody waits for who asks, the module comes as far as this, without a slot.
	wait_for 3 waits_in $remover bus_unregister_notifier >/dev/null
	echo 1 >"$point/go_on"
	check "$mode: the module goes" wait $remover
	wait $asker
	rmmod gf_delay
	echo "$port" >/sys/bus/pci/drivers/pcieport/bind
	check "$mode: it is loaded again" modprobe gpufabric
	is "$(g list | cut -d' ' -f2 | xargs)" "off off off off" "$mode: with its slots"
}

lists_nothing() { [ -z "$(g list)" ]; }
counts_nothing() { [[ "$(g status)" = *" switches 0 slots 0 "* ]]; }

simulator_goes_first()
{
	check "$mode: the whole fabric goes" rmmod gpufabric_sim
	check "$mode: no slot is left" wait_for 10 lists_nothing
	check "$mode: and no switch" wait_for 10 counts_nothing
	modprobe gpufabric_sim mode="$mode" switches=1 slots=4 'gpus=*:h100-80:off'
	check "$mode: a fabric that comes is found" wait_for 10 g state "${all[3]}"
}

many_times()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		rmmod gpufabric && modprobe gpufabric || return 1
		[ "$(g list | wc -l)" = 4 ] || return 1
		g -n attach "${all[i % 4]}" || return 1
		g wait "${all[i % 4]}" ready && g detach "${all[i % 4]}" || return 1
		wait_for 10 rmmod gpufabric && modprobe gpufabric || return 1
	done
}

for mode in $(modes); do
	check "$mode: the modules load" load "$mode" switches=1 slots=4 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 3)"
	while_an_operation_runs
	while_a_composition_lives
	over_a_gpu_in_use
	while_one_is_stuck
	# On a debug kernel the module comes no further while a processor is held up: lockdep waits for it.
	[[ ${FLAVOUR-} = debug-* ]] || while_a_slot_is_looked_at
	while_a_scan_is_asked_for
	simulator_goes_first
	check "$mode: loaded and unloaded many times" many_times
	check "$mode: the modules unload" unload || bail_out "the modules stay"
	check_fails "$mode: nothing is left in sysfs" test -e /sys/class/gpufabric
done
finish
