#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver that a request chooses is the only one that binds, to the GPU and to what is
# beside it on its device, and to nothing else:
#
#   root port -- upstream --+-- slot 0: GPU with sound
#                           +-- slot 1: GPU, at first in use by its own driver
#                           +-- slot 2: GPU behind a switch of its card
#                           +-- slot 3: GPU
#
# by kernel: the driver override has moved
# in turn: one command after the other
# kernels: 6.1 6.12
# before: tests/selftests/build
# vm: -t 400 -f build/selftests/gfclient

# shellcheck disable=SC2317 # functions that check calls
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

devices=/sys/bus/pci/devices
# ADDRESS: its driver, "none" without one.
driver_of() { basename "$(readlink "$devices/$1/driver" || echo none)"; }
override_of() { cat "$devices/$1/driver_override"; }
functions_of() { gpuctl -j show "$1" | jq -r '[.. | objects | .functions? // empty | .[] | select(.class[0:2] != "06") | .address] | join(" ")'; }
# SLOT: the drivers of its functions, bridges left out.
drivers() { local a all=; for a in $(functions_of "$1"); do all+=" $(driver_of "$a")"; done; echo "${all# }"; }
overrides() { local a all=; for a in $(functions_of "$1"); do all+=" $(override_of "$a")"; done; echo "${all# }"; }
is_there() { g state "$1" >/dev/null 2>&1; }
no_slot() { ! is_there "$1"; }
error() { { "$@" >/dev/null; } 2>&1; }
own=gpufabric-sim-gpu

# What the tool makes of it, which is the same in each mode.
compositions()
{
	like "$(error gpuctl compose --driver pci-stub --gpus 4 job)" "2 attached with another driver" "$mode: compose leaves them out"
	check "$mode: compose with a driver" gpuctl compose --driver pci-stub --gpus 2 job
	is "$(g compositions job | cut -d' ' -f4)" "$(name 0),$(name 2)" "$mode: it has the GPU that had it, and one that was off"
	is "$(drivers "$(name 0)") $(drivers "$(name 2)")" "pci-stub pci-stub pci-stub" "$mode: with that driver"
	check "$mode: its claim ends" gpuctl release --keep job
	is "$(drivers "$(name 0)") $(overrides "$(name 0)")" "pci-stub pci-stub pci-stub pci-stub" "$mode: the GPUs stay as they were"
	check "$mode: another holds one" gpuctl compose --driver $own --gpus 1 host
	check "$mode: two are detached" gpuctl detach "$(name 0)" "$(name 2)"
	check "$mode: it grows by one with a driver" gpuctl resize --driver pci-stub --gpus +1 host
	is "$(gpuctl -j list | jq '[.slots[] | select(.driver == "pci-stub")] | length')" 1 "$mode: that has it"
	check "$mode: it ends" gpuctl release host
	check "$mode: a command is run with a GPU of a driver" gpuctl run --driver pci-stub --gpus 1 -- true
}

# What stays after an attach that failed, here as nobody can power it off, is anybody's.
stays_after_failure()
{
	local gpu

	check "$mode: there is a driver that does not bind" g -D no-such-driver -d $((5000 * SLOW)) -n attach "$(name 3)"
	check "$mode: which is waited for" g wait "$(name 3)" attached
	gpu=$(functions_of "$(name 3)")
	is "$(override_of "$gpu")" no-such-driver "$mode: no other may bind"
	knob 3 slot_driver 0
	check "$mode: meanwhile the slot driver leaves" wait_for 30 no_slot "$(name 3)"
	is "$(override_of "$gpu")" "(null)" "$mode: the GPU is still there, and any driver may bind"
	knob 3 slot_driver 1
	check "$mode: the slot driver comes back" wait_for 20 is_there "$(name 3)"
	g detach "$(name 3)"
}

in_mode()
{
	mode=$1
	# Who is told first of a card is who was loaded first.
	[ "$mode" = own ] || modprobe gpufabric
	check "$mode: the modules load" load "$mode" switches=1 slots=4 latency_ms=20 \
		gpus=0.0:l40s:audio:off,0.1:l40s,0.2:l40s:switch:off,0.3:l40s:off || bail_out "no modules"

	# --- one that is not there ---------------------------------------------------------------
	like "$(error gpuctl attach --driver pci-stub "$(name 0)")" \
		"^gpuctl: driver pci-stub is not loaded, nothing was attached: modprobe pci-stub" "$mode: a driver that is not loaded: one line"
	check_rc 1 "$mode: compose says so, too" gpuctl compose --driver pci-stub --gpus 1 job
	is "$(states "$(name 0)") $(g compositions)" "off " "$mode: nothing was attached"
	check_rc 1 "$mode: no file outside is a driver" gpuctl attach --driver ../devices "$(name 0)"
	check "$mode: it is loaded" modprobe pci-stub

	# --- it binds, and no other ----------------------------------------------------------------
	check "$mode: attach with a driver" gpuctl attach --driver pci-stub "$(name 0)"
	is "$(states "$(name 0)") $(drivers "$(name 0)")" "ready pci-stub pci-stub" "$mode: it has the GPU, and its sound"
	is "$(overrides "$(name 0)")" "pci-stub pci-stub" "$mode: which are kept for it"
	check "$mode: the same again changes nothing" gpuctl attach --driver pci-stub "$(name 0)"
	check "$mode: the GPU goes" gpuctl detach "$(name 0)"
	check "$mode: and comes without a word on its driver" gpuctl attach "$(name 0)"
	is "$(drivers "$(name 0)") $(overrides "$(name 0)")" "$own none $own gpufabric-sim-none" "$mode: to its own, with no trace of the other"
	check "$mode: the GPU goes" gpuctl detach "$(name 0)"
	check "$mode: behind a switch of the card" gpuctl attach --driver pci-stub "$(name 2)"
	is "$(drivers "$(name 2)")" "pci-stub" "$mode: it has the GPU there"
	is "$(grep -lx pci-stub "$devices"/*/driver_override)" "$devices/$(functions_of "$(name 2)")/driver_override" \
		"$mode: and nothing else on the host"
	check "$mode: the driver of the GPUs itself, by name" gpuctl attach --driver $own "$(name 3)"
	is "$(drivers "$(name 3)")" "$own" "$mode: it has the GPU"

	# --- GPUs that are there already ---------------------------------------------------------------
	check_rc 4 "$mode: a GPU in use is not given to another driver" gpuctl attach --driver pci-stub "$(name 1)"
	is "$(drivers "$(name 1)") $(overrides "$(name 1)")" "$own $own" "$mode: it keeps its own"
	[ "$mode" != own ] || compositions
	g detach "$(name 0)" "$(name 1)" "$(name 2)" "$(name 3)" 2>/dev/null

	# --- one that does not bind -----------------------------------------------------------------------
	knob 3 driver probe-fail
	check_fails "$mode: a driver that does not bind" g -D $own -d 300 attach "$(name 3)"
	is "$(g list "$(name 3)" | cut -d' ' -f2,3)" "fault driver" "$mode: is a fault"
	like "$(g text "$(name 3)")" "^driver, driver $own" "$mode: which names it"
	check "$mode: nothing is left of the GPU" test -z "$(functions_of "$(name 3)")"
	g clear "$(name 3)"
	check_fails "$mode: a driver that there is not" g -D no-such-driver -d 300 attach "$(name 3)"
	is "$(g list "$(name 3)" | cut -d' ' -f2,3)" "fault driver" "$mode: is one, too: no other has bound"
	g clear "$(name 3)"
	[ "$mode" != own ] || stays_after_failure
	check "$mode: afterwards its own binds" g -d 5000 attach "$(name 3)"
	is "$(drivers "$(name 3)")" "$own" "$mode: as before"

	check "$mode: unload" unload
	rmmod pci-stub
}

in_mode own
in_mode pciehp
finish
