#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# by kernel: how "all devices" is written differs
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 120 -f build/selftests/gfclient
#
# A slot driver registers its slot for a device number, or for all devices on the
# bus, which kernels write differently: 0xfe, 0xfeff, 0xff. What is in the slot does
# not depend on it.

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# The number as the PCI core has it: the slot's address ends with it, unless it
# stands for the bus.
registered()
{
	cat /sys/bus/pci/slots/sim0-0/address
}

mark_log
check_fails "a number that no kernel has is refused" modprobe gpufabric_sim mode=own slot_number=0x10000
like "$(log_since_mark)" "gpufabric_sim: slot_number=" "and the log says why"

for number in 0 0xfe 0xff 0xfeff; do
	if ! modprobe gpufabric_sim mode=own slot_number=$number switches=1 slots=3 \
		gpus=0.0:l40s:audio,0.1:l40s:off; then
		# Where the number has 8 bits.
		is "$number" 0xfeff "$number: is refused"
		continue
	fi
	note "$number: address $(registered)"
	check "$number: the module loads" modprobe gpufabric || bail_out "no module"
	is "$(states sim0-0 sim0-1 sim0-2)" "ready off empty" "$number: what is in the slots is found"
	is "$(listed_gpus)" "$(lspci_gpus)" "$number: the GPU is that of lspci"
	is "$(gpuctl -j show sim0-0 | jq '[.. | objects | .functions? // empty | .[]] | length')" 2 "$number: both functions belong to it"
	check "$number: an attach ends well" g attach sim0-1
	is "$(states sim0-1)" ready "$number: its GPU is ready"
	is "$(listed_gpus)" "$(lspci_gpus)" "$number: both GPUs are those of lspci"
	check "$number: the other is detached" gpuctl detach sim0-0
	is "$(states sim0-0 sim0-1)" "off ready" "$number: that one is off"
	check "$number: unload" unload
done
finish
