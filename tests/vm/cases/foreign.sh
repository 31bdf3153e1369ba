#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 180 -f build/selftests/gfclient
#
# Cards that are no GPUs sit in slots, too, and are in use: they are shown as what they
# are, and nothing that anybody asks of the module takes their power.
#
#   root port -- upstream --+-- slot 0: drive
#                           +-- slot 1: network adapter, up to 31 virtual functions
#                           +-- slot 2: GPU
#                           +-- slot 3: empty
#                           +-- slot 4: drive, without power

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

powered() { cat "$SIM/slot0.$1/power"; }
shown() { gpuctl list | grep "^$1 " | grep -oEw "other|ready|empty|off|fault"; }
in_json() { gpuctl -j list | jq -r ".slots[] | select(.slot == \"$1\") | .state"; }
shows() { [ "$(shown "$1")" = "$2" ]; }

# untouched SLOT "what was done": the card has its power, its device and its driver.
untouched()
{
	is "$(powered "$1") $(basename "$(readlink -f "/sys/bus/pci/devices/${cards[$1]}/driver")")" \
		"1 gpufabric-sim-gpu" "$mode: $2: the card stays as it is"
}

in_mode()
{
	local slot

	mode=$1
	note "mode=$mode"
	check "$mode: the modules load" load "$mode" switches=1 slots=5 latency_ms=20 \
		gpus=0.0:nvme,0.1:nic:sriov,0.2:l40s,0.4:nvme:off || bail_out "no modules"
	cards=(10000:03:00.0 10000:04:00.0)
	is "$(lspci -n -s "${cards[0]}" | cut -d' ' -f2) $(lspci -n -s "${cards[1]}" | cut -d' ' -f2)" "0108: 0200:" \
		"$mode: they are a drive and a network adapter"
	for slot in 0 1; do
		is "$(shown "$(name $slot)") $(in_json "$(name $slot)")" "other other" "$mode: slot $slot holds another card"
	done
	is "$(shown "$(name 2)") $(shown "$(name 3)")" "ready empty" "$mode: beside a GPU and an empty slot"

	# --- whatever is asked ----------------------------------------------------------------------
	for slot in 0 1; do
		check_fails "$mode: attach is refused" gpuctl attach "$(name $slot)"
		untouched $slot "attach"
		check_fails "$mode: so is drain" g drain "$(name $slot)"
		# There is no GPU to detach: that is no failure.
		gpuctl detach "$(name $slot)"
		gpuctl detach --force "$(name $slot)"
		untouched $slot "detach"
		check_fails "$mode: compose" g compose mine "$(name $slot)" "$(name 2)"
		check_fails "$mode: clear" g clear "$(name $slot)"
		untouched $slot "compose"
	done
	check_fails "$mode: two GPUs cannot be had" gpuctl compose two --gpus 2
	check "$mode: one can" gpuctl compose one --gpus 1
	is "$(gpuctl -j list | jq -r '[.slots[] | select(.composition == "one") | .slot] | join(" ")')" "$(name 2)" \
		"$mode: the GPU is in it"
	check "$mode: it is released" gpuctl release one
	check_rc 1 "$mode: a scan finds that the one without power is no GPU" gpuctl scan
	for slot in 0 1; do
		untouched $slot "scan"
	done
	check "$mode: the GPU is attached" gpuctl attach "$(name 2)"
	check "$mode: what was found is cleared" gpuctl clear "$(name 4)"

	# --- one that was found without power ----------------------------------------------------------
	check_fails "$mode: what turns out to be no GPU is not attached" gpuctl attach "$(name 4)"
	is "$(powered 4)" 0 "$mode: it has no power, as before"
	check "$mode: clear" gpuctl clear "$(name 4)"
	check "$mode: it is off" wait_for 20 shows "$(name 4)" off
	echo 1 >"/sys/bus/pci/slots/$(name 4)/power"
	check "$mode: somebody else powers it: it is shown" wait_for 20 shows "$(name 4)" other
	echo 0 >"/sys/bus/pci/slots/$(name 4)/power"
	check "$mode: and takes its power: it is off again" wait_for 20 shows "$(name 4)" off

	# --- they come and go --------------------------------------------------------------------------
	check "$mode: somebody puts a network adapter in" knob 3 surprise "insert nic"
	check "$mode: it is shown" wait_for 20 shows "$(name 3)" other
	is "$(powered 3)" 1 "$mode: and has power"
	check "$mode: somebody pulls it out" knob 3 surprise remove
	check "$mode: the slot is empty" wait_for 20 shows "$(name 3)" empty
	check "$mode: and takes a GPU" knob 3 surprise "insert l40s"
	check "$mode: that is ready" wait_for 20 shows "$(name 3)" ready
	for slot in 0 1; do
		untouched $slot "all of it"
	done
	check "$mode: unload" unload
}

in_mode own
in_mode pciehp
finish
