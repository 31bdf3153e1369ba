#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Slots of ACPI's slot driver, which is what QEMU's virtual machines have by default. It
# frees its slots when their bridge goes, and no lock of ours keeps it from that: so
# they are listed, and nobody drives them. The last part has an operation enter
# the slot driver, if it is let, and takes the switch away meanwhile: the slab's
# debugging sees what is used after it was freed.
#
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 240 -a slub_debug=FZPU -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko" -q "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=on" -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1 -device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10 -device xio3130-downstream,id=dn1,bus=up1,chassis=11,slot=11 -device pcie-root-port,id=rp2,chassis=2,slot=2 -device secondary-vga,id=g0,bus=dn0 -device secondary-vga,id=g1,bus=rp2"

# shellcheck disable=SC2317 # functions that check calls
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

slots=/sys/bus/pci/slots
point=/sys/module/gf_delay/parameters

# The slot whose card, or whose empty bus, has this address.
slot_at()
{
	local slot

	for slot in "$slots"/*; do
		[ "$(cat "$slot/address")" != "$1" ] || basename "$slot"
	done
}

power()
{
	cat "$slots/$1/power"
}

flags()
{
	gpuctl list -j | jq -r --arg slot "$1" '.slots[] | select(.slot == $slot) | .flags | join(" ")'
}

state()
{
	gpuctl list -j | jq -r --arg slot "$1" '.slots[] | select(.slot == $slot) | .state'
}

in_state()
{
	[ "$(state "$1")" = "$2" ]
}

full=$(slot_at 0000:03:00)
empty=$(slot_at 0000:04:00)
root=$(slot_at 0000:05:00)
# Where the kernel has no link to the module of a driver that came before that.
linked=$(for slot in "$slots"/*; do basename "$(readlink "$slot/module" || echo none)"; done | sort -u)
like "$linked" "^(acpiphp|none)$" "ACPI's slot driver has all slots"
like "$(dmesg)" "acpiphp: Slot \[$full\] registered" "as it says"
check "the module loads" modprobe gpufabric root_ports=1 || bail_out "no module"

note "they are listed"
is "$(state "$full") $(state "$empty") $(state "$root")" "ready empty ready" "as the PCI core sees them"
like "$(flags "$full")" "unmanaged" "and unmanaged"
like "$(flags "$empty")" "unmanaged" "also the empty one"
is "$(gpuctl show "$full" -j | jq -r .slot.slot_driver)" acpiphp "with the name of their driver"
like "$(gpuctl list)" "! $full, $empty, $root: listed only, as slot driver acpiphp .*gpuctl doctor" "and a list says where to look"
like "$(gpuctl doctor)" "which (acpiphp|another slot driver) drives and gpufabric only lists" "the doctor says what it is about"
like "$(gpuctl doctor)" "acpi-pci-hotplug-with-bridge-support=off" "and what a virtual machine needs"

note "and left alone"
check_rc 1 "one is not detached" gpuctl detach "$full"
like "$(cat "$check_log")" "acpiphp" "by reason of its driver"
check_rc 1 "nor by force" gpuctl detach "$full" --force
check_fails "the module itself refuses" g drain "$full"
like "$(cat "$check_log")" "EOPNOTSUPP" "and says what it is"
check_rc 1 "one is not attached" gpuctl attach "$empty"
check_fails "the module itself refuses" g attach "$empty"
like "$(cat "$check_log")" "EOPNOTSUPP" "and says what it is"
check_rc 3 "no composition gets one" gpuctl compose all --gpus 1
check_fails "nor when it is named" g compose all "$full"
like "$(cat "$check_log")" "EOPNOTSUPP" "and says what it is"
is "$(power "$full") $(power "$root")" "1 1" "nobody touched their power"

note "others work them"
echo 0 >"$slots/$full/power"
check "one that is powered off is empty" wait_for 10 in_state "$full" empty
is "$(gpuctl list -j | jq -r '[.slots[] | select(.state == "fault" or .state == "lost")] | length')" 0 "and nothing is lost"

note "a switch that goes"
held_or_over() { grep -q 1 "$point/held" || ! kill -0 "$job" 2>/dev/null; }
check "tasks can be held up" insmod "$TESTS/gf_delay.ko" function=acpiphp_disable_slot caller=slot_set ms=5000 ||
	bail_out "no gf_delay"
echo 1 >$point/armed
echo 1 >$point/armed
g detach "$root" >/tmp/detach 2>&1 &
job=$!
wait_for 20 held_or_over
echo 1 >/sys/bus/pci/devices/0000:00:02.0/remove
wait $job
is "$(cat $point/held)" 0 "nobody was in the slot driver when its slot was freed"
check "the slot goes with its port" wait_for 10 in_state "$root" ""
rmmod gf_delay
check "the module unloads" wait_for 10 rmmod gpufabric
finish
