#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The core of everything on a switch that somebody else emulates, whose devices
# come and go from outside, as a fabric manager assigns them:
#
#   root port -- x3130 upstream --+-- slot 10: display controller     ports without power control: a device
#                                 +-- slot 11: display controller     that is powered off stays in its slot
#                                 +-- slot 12: empty
#                                 +-- slot 13: display controller     with power control: QEMU takes it out
#                                 +-- slot 14: empty                  when it is powered off
#                                 +-- slot 16: empty
#                                 +-- slot 10 of another chassis: display controller, called 10-1
#   root port, slot 15: no GPU, 32 GiB BAR
#
# by kernel: the real slot driver on ports of QEMU
# in turn: one command after the other
# before: tests/selftests/build
# vm: -Q -t 240 -f build/selftests/gfclient -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1" -q "-device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10,power_controller_present=off -device xio3130-downstream,id=dn1,bus=up1,chassis=11,slot=11,power_controller_present=off -device xio3130-downstream,id=dn2,bus=up1,chassis=12,slot=12,power_controller_present=off" -q "-device xio3130-downstream,id=dn3,bus=up1,chassis=13,slot=13 -device xio3130-downstream,id=dn4,bus=up1,chassis=14,slot=14 -device xio3130-downstream,id=dn6,bus=up1,chassis=16,slot=16 -device xio3130-downstream,id=dn7,bus=up1,chassis=20,slot=10,power_controller_present=off" -q "-device pcie-root-port,id=rp2,chassis=2,slot=15 -device secondary-vga,id=g0,bus=dn0 -device secondary-vga,id=g1,bus=dn1 -device secondary-vga,id=g3,bus=dn3 -device secondary-vga,id=g7,bus=dn7 -device pci-testdev,id=g5,bus=rp2,membar=32G"

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/machine.sh"

state()
{
	states "$1"
}

# shellcheck disable=SC2317 # wait_for calls it
in_state()
{
	[ "$(states "$1")" = "$2" ]
}

plug()
{
	machine device_add "{\"driver\": \"secondary-vga\", \"id\": \"$1\", \"bus\": \"$2\", \"vgamem_mb\": ${3:-1}}"
}

check "the machine can be changed" machine_begin
check "the module loads" modprobe gpufabric || bail_out "no module"
is "$(state 10) $(state 11) $(state 12) $(state 13) $(state 14)" "ready ready empty ready empty" "what was there at boot is ready"
is "$(listed_gpus)" "$(lspci -D -n -d ::0380 | cut -d' ' -f1 | xargs)" "the GPUs are those of lspci"
check_fails "a slot with what is not a GPU is none of ours" gpuctl show 15

# --- without power control: detach and attach find the same device ----------------------------
follow
check "detach two" gpuctl detach 10 11
is "$(state 10) $(state 11)" "off off" "both are off"
check "the detach was told" seen ' slot-changed 1[01] detaching off'
check "attach both" gpuctl attach 10 11
is "$(state 10) $(state 11)" "ready ready" "both are back"
unfollow
check "detach again" gpuctl detach 10 11

check "compose of both" g compose pair 10 11
is "$(gpuctl -j list | jq -r '[.slots[] | select(.composition == "pair") | .slot] | join(" ")')" "10 11" "they are claimed"
check_rc 4 "a claimed GPU is not detached" gpuctl detach 10

# --- its slot driver goes and comes back: it is still whose it was ----------------------------------
pciehp=/sys/bus/pci_express/drivers/pciehp
pair() { gpuctl -j list | jq -r '.compositions[] | [.name, .state, (.slots | sort[])] | join(" ")'; }
# shellcheck disable=SC2317 # wait_for calls it
pair_is() { [ "$(pair)" = "pair $*" ]; }
# shellcheck disable=SC2317 # wait_for calls it
is_gone() { ! gpuctl show "$1" >/dev/null 2>&1; }
service_of() { basename "$(echo "/sys/bus/pci/devices/$(gpuctl -j list | jq -r --arg slot "$1" '.slots[] | select(.slot == $slot) | .port')/"*:pcie?04)"; }
service=$(service_of 10)
echo "$service" >$pciehp/unbind
check "the slot goes with pciehp" wait_for 20 is_gone 10
check "the composition is told" wait_for 20 pair_is degraded 10 11
echo "$service" >$pciehp/bind
check "it comes with it" wait_for 20 in_state 10 ready
is "$(pair)" "pair active 10 11" "and is the composition's"
check_rc 4 "nobody else gets it" gpuctl detach 10
for i in 1 2 3 4 5; do
	echo "$service" >$pciehp/unbind
	echo "$service" >$pciehp/bind
	check "$i: also when it comes back at once" wait_for 20 in_state 10 ready
	check "$i: it is the composition's" wait_for 20 pair_is active 10 11
done
check "release" gpuctl release pair
is "$(state 10) $(state 11)" "off off" "and both are off"

# --- two slots of one number exchange their names -------------------------------------------------
check "one is attached" gpuctl attach 10
check "both slots with the number 10 are composed" g compose pair 10 10-1
other=$(service_of 10-1)
for first in "$other" "$service"; do
	echo "$service" >$pciehp/unbind
	echo "$other" >$pciehp/unbind
	check "$first: both go" wait_for 20 is_gone 10-1
	check "$first: both" wait_for 20 is_gone 10
	echo "$first" >$pciehp/bind
	check "$first: one comes, as 10" wait_for 20 in_state 10 ready
	is "$(service_of 10)" "$first" "$first: it is this one"
	echo "$service $other" | tr ' ' '\n' | grep -vx "$first" >$pciehp/bind
	check "$first: then the other" wait_for 20 in_state 10-1 ready
	is "$(pair)" "pair active 10 10-1" "$first: both are still the composition's"
done
check "they are released" gpuctl release pair
is "$(state 10) $(state 10-1)" "off off" "and both are off"
echo 1 >/sys/bus/pci/rescan
check "somebody scans the bus, and what stayed in its slot is there" wait_for 30 in_state 10 ready
check "so is the other" wait_for 30 in_state 11 ready
check "both are detached" gpuctl detach 10 11
is "$(state 10) $(state 11)" "off off" "and off, though their slot driver took them for off"

# --- assigned from outside ----------------------------------------------------------------------
check "somebody adds a GPU to slot 12" plug g2 dn2
check "it becomes ready without anybody asking" wait_for 30 in_state 12 ready
check "somebody adds a GPU to slot 14" plug g4 dn4
check "so does this one" wait_for 30 in_state 14 ready
check "compose with what has come" g compose new 12 14
check "release it" gpuctl release new
check "a port with power control gives its device back" machine_said DEVICE_DELETED g4
check "the slot is empty" wait_for 30 in_state 14 empty
is "$(state 12)" off "the other keeps it"
check "the fabric assigns it again" plug g4 dn4
check "and it is ready" wait_for 30 in_state 14 ready

# --- one that does not fit: neighbours that are in use keep the switch's windows as they are --------
check "a device goes to a slot whose windows are too small" plug big dn6 64
check "that is a fault" wait_for 30 in_state 16 fault
like "$(gpuctl list)" '^! 16: fault \(resources\): BAR 0 ' "and the BAR is named as its cause"
check "clear it" gpuctl clear 16
is "$(state 12) $(state 14)" "off ready" "nobody else was touched"

# --- taken from outside -------------------------------------------------------------------------
check "attach what stayed" gpuctl attach 12
check "somebody asks for slot 13's GPU back" machine device_del '{"id": "g3"}'
check "the kernel gives it back" machine_said DEVICE_DELETED g3
check "slot 13 is empty" wait_for 30 in_state 13 empty
check_rc 1 "an empty slot cannot be attached" gpuctl attach 13
is "$(state 12) $(state 14)" "ready ready" "the others are untouched"

# --- taken while it is part of a composition ----------------------------------------------------
check "compose" g compose hurt 12 14
check "somebody asks for a member back" machine device_del '{"id": "g4"}'
check "it goes" machine_said DEVICE_DELETED g4
check "its slot shows it" wait_for 30 in_state 14 empty
like "$(gpuctl -j list | jq -r '.compositions[] | "\(.name) \(.state)"')" '^hurt degraded$' "the composition is degraded"
check "it can be released" gpuctl release hurt
is "$(gpuctl -j list | jq '.compositions | length')" 0 "and is gone"

check "the module unloads" wait_for 10 rmmod gpufabric
finish
