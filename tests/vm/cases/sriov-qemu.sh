#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual functions come and go on a card that QEMU emulates, in a slot of pciehp, by
# its driver alone (without pci_rescan_remove_lock) and by sriov_numvfs, while the
# module comes, looks and goes:
#
#   root port -- x3130 upstream --+-- slot 10: NVMe controller, up to 31 virtual functions
#                                 +-- slot 11: display controller
#
# Once the module is held up as it looks, with all virtual functions coming meanwhile; then
# both as often as they like. Where the module writes beyond what it has allocated, slub_debug says so. See the
# case sriov for GPUs that have virtual functions. "sriov-qemu.sh ROUNDS" for more.
#
# by kernel: kernels differ in what they lock for virtual functions
# brief: rounds that are the same each time
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 240 -m 1536M -a slub_debug=FZPU -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_vfs.ko" -f "build/failpoint/$FLAVOUR/gf_delay.ko" -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1 -device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10,power_controller_present=off -device xio3130-downstream,id=dn1,bus=up1,chassis=11,slot=11,power_controller_present=off" -q "-device nvme-subsys,id=subsys -device nvme,serial=1,subsys=subsys,bus=dn0,sriov_max_vfs=31,sriov_vq_flexible=62,sriov_vi_flexible=31,max_ioqpairs=64,msix_qsize=32 -device secondary-vga,bus=dn1"
# long: -t 3000

# shellcheck disable=SC2317 # functions that check calls
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

rounds=${1:-$(brief 2 10)}
vfs=31
sound="BUG |overwritten|general protection|Oops|KASAN"

check "the driver loads" insmod "$TESTS/gf_vfs.ko" || bail_out "no driver"
PF=$(lspci -D -n -d 1b36:0010 | head -1 | cut -d' ' -f1)
is "$(cat "/sys/bus/pci/devices/$PF/sriov_totalvfs")" $vfs "the card can have $vfs virtual functions"

by_driver() { echo "$1" >/sys/module/gf_vfs/parameters/vfs; }
by_sysfs() { echo "$1" >"/sys/bus/pci/devices/$PF/sriov_numvfs"; }
there() { find "/sys/bus/pci/devices/$PF/" -name 'virtfn*' | wc -l; }
listed() { gpuctl -j show 10 | jq '[.. | objects | .functions? // empty | .[]] | length'; }

# Comes, looks and goes, over and over: each time it looks at each slot.
looks()
{
	while [ ! -e /tmp/enough ]; do
		modprobe gpufabric && g list >/dev/null && wait_for 10 rmmod gpufabric || return
	done
}

storm()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		"$1" "$vfs" && "$1" 0 || return
		# A kernel that has complained cannot be trusted to go on.
		if dmesg | grep -E "$sound"; then
			echo "after $i rounds"
			return 1
		fi
	done
	count "sriov.$1" "$rounds"
}

# --- the virtual functions are none of the slot's --------------------------------------------
check "the module loads" modprobe gpufabric || bail_out "no module"
is "$(listed)" 1 "the card has one function"
for how in by_driver by_sysfs; do
	check "$how: all virtual functions" "$how" $vfs
	is "$(there)" $vfs "$how: they are there"
	is "$(listed)" 1 "$how: the slot holds one function still"
	check "$how: none" "$how" 0
done
is "$(states 11)" ready "the neighbour is ready"
check "the module unloads" wait_for 10 rmmod gpufabric

# --- all of them come while the module looks ------------------------------------------------------
point=/sys/module/gf_delay/parameters
held() { [ "$(cat "$point/held")" = "$1" ]; }

check "tasks can be held up" insmod "$TESTS/gf_delay.ko" function=pci_rebar_get_possible_sizes caller=gf_snapshot_take ms=3000 ||
	bail_out "no delay"
echo 1 >$point/armed
modprobe gpufabric &
loader=$!
check "the module is held up as it looks" wait_for 20 held 1
check "meanwhile all virtual functions come" by_driver $vfs
check "the module has loaded" wait $loader
is "$(listed)" 1 "the slot holds one function"
like "$(dmesg | grep -E "$sound")" '^$' "nothing was written where it does not belong" ||
	bail_out "the kernel is broken"
by_driver 0
check "the module unloads" wait_for 10 rmmod gpufabric
rmmod gf_delay

# --- while somebody looks -----------------------------------------------------------------------
for how in by_driver by_sysfs; do
	rm -f /tmp/enough
	looks &
	looker=$!
	check "$how: $rounds times on and off, while the module comes, looks and goes" storm "$how" ||
		{ dmesg | grep -E -A40 "$sound" | head -n 80; bail_out "the kernel is broken"; }
	touch /tmp/enough
	check "$how: the module could always look" wait $looker
done

check "the module loads" modprobe gpufabric
by_driver $vfs
is "$(listed)" 1 "the slot is as it was"
check "the driver goes, with all virtual functions" rmmod gf_vfs
is "$(states 11)" ready "so is its neighbour"
check "the module unloads" wait_for 10 rmmod gpufabric
finish
