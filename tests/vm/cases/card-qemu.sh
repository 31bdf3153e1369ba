#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A card with a switch of its own, and a chassis, of devices that somebody else emulates. All
# ports have a slot of pciehp, those inside the card, too:
#
#   root port -- x3130 upstream --+-- slot 10: card -- x3130 upstream -- port "slot 11" -- display controller
#                                 +-- slot 12: chassis -- x3130 upstream --+-- slot 13: display controller
#                                 |                                        +-- slot 14: display controller
#                                 +-- slot 15: display controller
#
# by kernel: the real slot driver on ports of QEMU
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1 -device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10,power_controller_present=off -device xio3130-downstream,id=dn2,bus=up1,chassis=12,slot=12,power_controller_present=off -device xio3130-downstream,id=dn5,bus=up1,chassis=15,slot=15,power_controller_present=off" -q "-device x3130-upstream,id=up2,bus=dn0 -device xio3130-downstream,id=dn1,bus=up2,chassis=11,slot=11,power_controller_present=off -device secondary-vga,vgamem_mb=1,bus=dn1" -q "-device x3130-upstream,id=up3,bus=dn2 -device xio3130-downstream,id=dn3,bus=up3,chassis=13,slot=13,power_controller_present=off -device xio3130-downstream,id=dn4,bus=up3,chassis=14,slot=14,power_controller_present=off -device secondary-vga,vgamem_mb=1,bus=dn3 -device secondary-vga,vgamem_mb=1,bus=dn4" -q "-device secondary-vga,vgamem_mb=1,bus=dn5"

# shellcheck disable=SC2317 # functions that check calls
# states asks for all slots.
# shellcheck disable=SC2119
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

all_slots() { gpuctl -j list | jq -r '[.slots[].slot] | sort | join(" ")'; }
of() { gpuctl -j list | jq -r ".slots[] | select(.slot == \"$1\") | $2"; }
inner_driver() { basename "$(readlink -f "/sys/bus/pci/devices/$(of 10 .address)/../driver")"; }

check "the module loads" modprobe gpufabric || bail_out "no module"
is "$(all_slots)" "10 12 13 14 15" "the port inside the card is no slot"
is "$(states 10 12 13 14 15)" "ready other ready ready ready" "the card's GPU is ready"
is "$(of 12 '.flags | join(" ")')" "chassis" "the chassis is said to be one"
is "$(gpuctl -j list | jq -r '[.slots[].address // empty] | sort | join(" ")')" \
	"$(lspci -D -n -d ::0380 | cut -d' ' -f1 | sort | xargs)" "the GPUs are those of lspci"

check_fails "attach of the chassis is refused" gpuctl attach 12
gpuctl detach --force 12
is "$(states 13 14)" "ready ready" "what is in it stays"

follow
check "the card is detached" gpuctl detach 10
check "that was told" seen ' slot-changed 10 detaching off'
is "$(states 10 13 14 15)" "off ready ready ready" "it is off, and nothing else"
check "it is attached" gpuctl attach 10
is "$(states 10)" ready "it is ready"
unfollow
is "$(all_slots) $(inner_driver)" "10 12 13 14 15 pcieport" "with its port, which is no slot still"

for i in 1 2 3; do
	check "$i: all GPUs go" gpuctl detach 10 13 14 15
	check "$i: and come" gpuctl attach 10 13 14 15
done
is "$(states 10 12 13 14 15)" "ready other ready ready ready" "all is as before"

check "compose" g compose pair 10 13
check "release" gpuctl release pair
check "the module unloads" wait_for 10 rmmod gpufabric
check "and comes again" modprobe gpufabric
is "$(all_slots)" "10 12 13 14 15" "to the same slots"
is "$(states 10 13)" "off off" "what it left off is off"
check "both are attached" gpuctl attach 10 13
is "$(all_slots) $(states 10 12 13 14 15)" "10 12 13 14 15 ready other ready ready ready" "and all are ready"

# --- nobody has the slot above the card any more -----------------------------------------------------
service=$(basename "$(echo "/sys/bus/pci/devices/$(of 10 .port)/"*:pcie?04)")
pciehp=/sys/bus/pci_express/drivers/pciehp
listed() { [ "$(all_slots)" = "$*" ]; }
echo "$service" >$pciehp/unbind
check "pciehp leaves the slot of the card: the port inside is one" wait_for 20 listed 11 12 13 14 15
is "$(states 11)" ready "with the GPU in it"
check "the module goes" wait_for 10 rmmod gpufabric
echo "$service" >$pciehp/bind
check "pciehp has the slot again, and the module comes" modprobe gpufabric
is "$(all_slots) $(states 10)" "10 12 13 14 15 ready" "all is as before"

# --- the admin says that the chassis is a card: it goes with the slots of pciehp inside -------------
port=$(of 12 .port)
check "the module goes" wait_for 10 rmmod gpufabric
check "and comes, with a word on slot 12" modprobe gpufabric "cards=$port"
is "$(all_slots) $(states 12) $(of 12 .gpus)" "10 12 15 ready 2" "it holds a card with two GPUs"
for i in 1 2 3; do
	check "$i: the card is detached" gpuctl detach 12
	is "$(states 10 12 15)" "ready off ready" "$i: it is off, and nothing else"
	check "$i: and attached" gpuctl attach 12
	is "$(states 12) $(of 12 .gpus)" "ready 2" "$i: with both GPUs"
done
check "the module unloads" wait_for 10 rmmod gpufabric
finish
