#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Attach and detach, and what lspci says of it, in both modes:
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#   root port -- upstream -- 2 slots with an l40s each, on when the module comes
#
# by kernel: the slot driver and the PCI core bring cards up
# brief: one kind of slots on each kernel
# in turn: one command after the other
# before: tests/selftests/build
# vm: -f build/selftests/gfclient

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

for mode in $(modes); do
	check "$mode: the modules load" load "$mode" switches=2 slots=8 gpus=0.*:h100-80:off,1.0-1:l40s:on ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"
	is "$(states "${all[@]}")" "$(times 8 off)" "$mode: all are off"
	is "$(g state "$(name 1 1)")" ready "$mode: a GPU that was on is ready"
	is "$(g state "$(name 2 1)")" empty "$mode: a slot without a card is empty"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci at load"

	check "$mode: one is attached" g attach "${all[0]}"
	is "$(states "${all[0]}" "${all[1]}")" "ready off" "$mode: that one is ready, the next is still off"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci after one"
	address=$(g list "${all[0]}" | cut -d' ' -f7)
	is "$(basename "$(readlink "/sys/bus/pci/devices/$address/driver")")" gpufabric-sim-gpu \
		"$mode: its driver is bound"
	is "$(cat "/sys/bus/pci/slots/${all[0]}/power")" 1 "$mode: its slot has power"

	check "$mode: eight at once, one of them attached already" g attach "${all[@]}"
	is "$(states "${all[@]}")" "$(times 8 ready)" "$mode: all are ready"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci after eight"
	is "$(lspci_gpus | wc -w)" 10 "$mode: these are ten"
	unassigned=$(lspci -D -v -d 6767::0302 | grep -cE 'Memory at <(unassigned|ignored)>')
	is "$unassigned" 0 "$mode: every BAR has an address"

	check "$mode: eight are detached at once" g detach "${all[@]}"
	is "$(states "${all[@]}")" "$(times 8 off)" "$mode: all are off again"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci after the detach"
	is "$(cat "/sys/bus/pci/slots/${all[3]}/power")" 0 "$mode: a slot has no power"
	is "$(g history "${all[0]}" | cut -d' ' -f2,4,5 | xargs)" \
		"ready attach 0 ready attach 0 draining drain 0 off detach 0" "$mode: the history has it all"

	# Others may use the slot's power file beside us.
	echo 1 >"/sys/bus/pci/slots/${all[2]}/power"
	check "$mode: powered by its file, it is ready" g wait "${all[2]}" ready
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci after that"
	echo 0 >"/sys/bus/pci/slots/${all[2]}/power"
	check "$mode: powered off by its file, it is off and not lost" g wait "${all[2]}" off,lost,fault
	is "$(g state "${all[2]}")" off "$mode: it is off"

	check "$mode: removed by hand as a PCI device, it is no longer ready" g attach "${all[4]}"
	echo 1 >"/sys/bus/pci/devices/$(g list "${all[4]}" | cut -d' ' -f7)/remove"
	check "$mode: the slot's state follows" g wait "${all[4]}" off,lost
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci after a removal by hand"
	check "$mode: it can be attached again" g attach "${all[4]}"
	is "$(g state "${all[4]}")" ready "$mode: and is ready again"
	is "$(listed_gpus)" "$(lspci_gpus)" "$mode: the list has the GPUs of lspci at the end"

	# Its files being read, or a driver being bound by hand, a device is locked.
	g detach "${all[5]}" >/dev/null 2>&1
	knob 5 driver probe-fail
	knob 5 driver "bound-slow 500"
	gpuctl attach "${all[5]}" >/tmp/attach 2>&1 &
	attach=$!
	check "$mode: without a driver, an attach waits for one" g wait "${all[5]}" attached,checked,fault
	g list "${all[5]}" | cut -d" " -f7 >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
	check "$mode: which it sees even if the device is locked when that is announced" wait "$attach"
	is "$(g state "${all[5]}")" ready "$mode: the slot is ready"
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
