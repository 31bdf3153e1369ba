#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GPUs that have virtual functions. Their driver makes these come and go when it likes to,
# without pci_rescan_remove_lock. They are none of the slot's functions, nobody is told of
# them, and looking at the slot meanwhile does no harm:
#
#   root port -- upstream --+-- slot 0: GPU, up to 31 virtual functions, and audio
#                           +-- slots 1, 2, 3: GPU, up to 31 virtual functions
#
# A driver that leaves them when it is unbound leaves nothing in memory. Who takes them away
# then has not locked their GPU: error recovery takes that lock inside one that this takes.
#
# Once the module is held up as it looks, and all of them come meanwhile; then both go on as
# often as they like. Where something is written beyond its memory, slub_debug says so.
# "sriov.sh ROUNDS" for more: 167 are 1,002 times in three slots and two modes. See the case sriov-qemu for a card that others emulate.
#
# brief: rounds that are the same each time
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 300 -m 1536M -a slub_debug=FZPU -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"
# long: -t 3000

# shellcheck disable=SC2317 # functions that check calls
# states asks for all slots.
# shellcheck disable=SC2119

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/census.sh"

rounds=${1:-$(brief 2 4)}
vfs=31
sound="BUG |overwritten|general protection|Oops|KASAN"
point=/sys/module/gf_delay/parameters
driver=/sys/bus/pci/drivers/gpufabric-sim-gpu

held() { [ "$(cat "$point/held")" = "$1" ]; }
quiet() { like "$(dmesg | grep -E "$sound")" '^$' "$1" || bail_out "the kernel is broken"; }
there_at() { find /sys/bus/pci/devices/ -name "${gpus[$1]%0}*" | wc -l; }
there() { find "/sys/bus/pci/devices/${gpus[$1]}/" -name 'virtfn*' | wc -l; }
listed() { gpuctl -j show "$(name "$1")" | jq '[.. | objects | .functions? // empty | .[]] | length'; }
by_sysfs() { echo "$2" >"/sys/bus/pci/devices/${gpus[$1]}/sriov_numvfs"; }
told() { grep -c " $(name "$1") " /tmp/events; }
is_told() { [ "$(told "$1")" -gt 0 ]; }

# As long as a device is locked its driver cannot be read, and the slot is looked at
# again and again.
looked_at()
{
	while [ ! -e /tmp/enough ]; do
		echo "${gpus[1]}" >$driver/unbind || return
		knob 1 driver "bound-slow 3000"
		echo "${gpus[1]}" >$driver/bind || return
	done
}

lists()
{
	while [ ! -e /tmp/enough ]; do
		g list >/dev/null || return
	done
}

# Slot 1 has no driver at times, and then no virtual functions. Whatever the kernel complains of
# taints it, and its log is long.
storm()
{
	local slot=$1 i before now

	read -r before </proc/sys/kernel/tainted
	for ((i = 0; i < rounds; i++)); do
		knob "$slot" driver "vfs $vfs" 2>/dev/null || [ "$slot" = 1 ] || return
		knob "$slot" driver "vfs 0" 2>/dev/null || [ "$slot" = 1 ] || return
		read -r now </proc/sys/kernel/tainted
		[ "$now" = "$before" ] || return
	done
}

# What they are part of is freed when they are.
left_behind()
{
	local i

	for ((i = 0; i < $1; i++)); do
		knob 3 driver "vfs 2" && knob 3 driver remove-keep-vfs || return
		g detach "$(name 3)" && [ "$(there_at 3)" = 0 ] && g attach "$(name 3)" || return
	done
}

# Who looks for a driver locks the device.
lock_is_free()
{
	local pid

	insmod "$TESTS/gf_delay.ko" function=pci_disable_sriov caller=gf_unbind ms=15000 || bail_out "no delay"
	knob 3 driver "vfs 2" && knob 3 driver remove-keep-vfs
	echo 1 >$point/armed
	g detach "$(name 3)" &
	pid=$!
	check "$mode: they are about to be taken away" wait_for 20 held 1
	echo "${gpus[3]}" >/sys/bus/pci/drivers_probe
	is "$(there 3)" 2 "$mode: before they are, another has had the lock of their GPU"
	echo 1 >$point/go_on
	check "$mode: the GPU is detached" wait $pid
	check "$mode: and attached" g attach "$(name 3)"
	rmmod gf_delay
}

in_mode()
{
	local slot pids=() pid bad=0

	mode=$1
	note "mode=$mode"
	check "$mode: the simulator loads" modprobe gpufabric_sim mode="$mode" switches=1 slots=4 latency_ms=20 \
		gpus=0.0:l40s:sriov:audio,0.1-3:l40s:sriov || bail_out "no simulator"
	read -ra gpus <<<"$(lspci_gpus)"

	# --- all of them come while the module looks --------------------------------------------
	check "$mode: tasks can be held up" insmod "$TESTS/gf_delay.ko" function=pci_rebar_get_possible_sizes \
		caller=gf_snapshot_take ms=3000 || bail_out "no delay"
	echo 1 >$point/armed
	modprobe gpufabric &
	pid=$!
	check "$mode: the module is held up as it looks at slot 0" wait_for 20 held 1
	check "$mode: meanwhile all virtual functions come there" knob 0 driver "vfs $vfs"
	check "$mode: the module has loaded" wait "$pid"
	quiet "$mode: nothing was written where it does not belong"
	rmmod gf_delay
	is "$(states)" "ready ready ready ready" "$mode: the GPUs are ready"
	is "$(there 0)" $vfs "$mode: the virtual functions are there"
	is "$(listed 0)" 2 "$mode: the slot has the functions that it had"
	check "$mode: its driver takes them away" knob 0 driver "vfs 0"

	# --- nobody is told of them ---------------------------------------------------------------
	rm -f /tmp/listen
	mkfifo /tmp/listen
	g events end </tmp/listen >/tmp/events &
	pid=$!
	exec 8>/tmp/listen
	check "$mode: somebody listens" wait_for 10 grep -q ' start$' /tmp/events
	check "$mode: sriov_numvfs makes them" by_sysfs 2 $vfs
	is "$(there 2)" $vfs "$mode: they are there"
	is "$(listed 2)" 1 "$mode: the slot has one function"
	check "$mode: and takes them away" by_sysfs 2 0
	check "$mode: the driver makes and takes them" storm 2
	check "$mode: something that is told" g drain "$(name 3)"
	check "$mode: is heard" wait_for 10 is_told 3
	is "$(told 2)" 0 "$mode: what happened before was not told"
	exec 8>&-
	check "$mode: nobody listens any more" wait "$pid"

	# --- as often as they like -----------------------------------------------------------------
	rm -f /tmp/enough
	for slot in 0 1 2; do
		storm $slot &
		pids+=($!)
	done
	lists &
	pids+=($!)
	looked_at &
	pids+=($!)
	for pid in "${pids[@]:0:3}"; do
		wait "$pid" || bad=1
	done
	touch /tmp/enough
	for pid in "${pids[@]:3}"; do
		wait "$pid" || bad=1
	done
	is $bad 0 "$mode: $rounds times on and off in 3 slots, beside listings and looks"
	quiet "$mode: the kernel has nothing to complain about"
	count "sriov.$mode" $((3 * rounds))

	# --- the GPU goes, and they with it ---------------------------------------------------------
	knob 0 driver "vfs $vfs"
	is "$(gpuctl -j show "$(name 0)" | jq -r '.slot.virtual_functions | "\(length) \(.[0].function)"')" \
		"$vfs ${gpus[0]}" "$mode: show lists them, with what they are part of"
	check_rc 4 "$mode: a GPU that has some is busy" gpuctl detach "$(name 0)"
	check "$mode: it is detached all the same" gpuctl detach --force "$(name 0)"
	check "$mode: and attached" gpuctl attach "$(name 0)"
	is "$(there 0) $(listed 0)" "0 2" "$mode: without virtual functions"
	knob 2 driver "vfs $vfs"
	follow
	check "$mode: a GPU that has some is pulled out" knob 2 surprise remove
	check "$mode: it is lost" seen " slot-changed $(name 2) .*lost"
	check "$mode: it is put back" knob 2 surprise insert
	check "$mode: it is ready" seen " slot-changed $(name 2) .*ready"
	unfollow
	is "$(states)" "ready ready ready ready" "$mode: all GPUs are ready"

	# --- a driver that leaves them ---------------------------------------------------------------
	if [ "$mode" = own ]; then
		check "$mode: a driver leaves them when it is unbound: nothing is left" no_growth 2 10 10 left_behind
	else
		check "$mode: a driver leaves them when it is unbound: the GPU goes and comes" left_behind 1
	fi
	is "$(there 3) $(listed 3)" "0 1" "$mode: and has none"
	lock_is_free
	check "$mode: unload" unload
}

in_mode own
in_mode pciehp
finish
