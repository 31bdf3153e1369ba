#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GPUs for guests: vfio-pci behind an IOMMU that QEMU emulates, and a process that opens
# container, group and device as a guest does:
#
#   root port without ACS -- x3130 upstream --+-- slot 10: display controller, in one group with
#                                             +-- slot 11: display controller
#   root port, slot 20: display controller with sound, in a group of their own
#
# The driver that the GPUs have otherwise is tests/failpoint/gf_aer.c.
#
# by kernel: vfio and the driver override have changed
# kernels: 6.1 6.12
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 300 -a "intel_iommu=on" -f build/selftests/gfclient -f build/selftests/gfvfio -f "build/failpoint/$FLAVOUR/gf_aer.ko" -q "-device intel-iommu,intremap=off,caching-mode=on -device pcie-root-port,id=rp1,chassis=1,slot=1,disable-acs=on -device x3130-upstream,id=up1,bus=rp1" -q "-device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10,power_controller_present=off -device xio3130-downstream,id=dn1,bus=up1,chassis=11,slot=11,power_controller_present=off -device secondary-vga,bus=dn0 -device secondary-vga,bus=dn1" -q "-device pcie-root-port,id=rp2,chassis=20,slot=20,power_controller_present=off -device secondary-vga,bus=rp2,addr=0.0,multifunction=on -device intel-hda,bus=rp2,addr=0.1"

# shellcheck disable=SC2317 # functions that check calls
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

devices=/sys/bus/pci/devices
driver_of() { basename "$(readlink "$devices/$1/driver" || echo none)"; }
of() { gpuctl -j show "$1" | jq -r "[.. | objects | .functions? // empty | .[] | $2] | map(tostring) | join(\" \")"; }
error() { { "$@" >/dev/null; } 2>&1; }
all_of() { local a all=; for a in $1; do all+=" $(driver_of "$a")"; done; echo "${all# }"; }
held() { grep -q '^held$' /tmp/guest; }

check "a driver for GPUs on this host" insmod "$TESTS/gf_aer.ko" || bail_out "no driver"
check "the module loads" modprobe gpufabric root_ports=1 || bail_out "no module"
is "$(states 10 11 20)" "ready ready ready" "all GPUs are ready"
functions=$(of 20 .address)
read -r gpu sound <<<"$functions"
is "$(all_of "$functions")" "gf_aer none" "that driver has the GPU"
group=$(of 20 .iommu_group | cut -d' ' -f1)
is "$(of 20 '.iommu_members | join(",")')" "$sound $gpu" "each is shown with the other of its group"

# --- nothing without vfio-pci -----------------------------------------------------------------
check "the GPU goes" gpuctl detach 20
like "$(error gpuctl attach --driver vfio-pci 20)" "^gpuctl: driver vfio-pci is not loaded, nothing was attached: modprobe vfio-pci" \
	"vfio-pci is not loaded: one line"
is "$(states 20)" off "and nothing is attached"
check "it is loaded" modprobe vfio-pci || bail_out "no vfio-pci"
# The IOMMU that is emulated here maps no interrupts.
modprobe vfio_iommu_type1
echo Y >/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts

# --- a guest -------------------------------------------------------------------------------------
check "attach for a guest" gpuctl attach --driver vfio-pci 20
is "$(states 20) $(all_of "$functions")" "ready vfio-pci vfio-pci" "vfio-pci has the GPU and its sound"
cp "$TESTS/gfvfio" /tmp/qemu-system-x86_64
mkfifo /tmp/end
/tmp/qemu-system-x86_64 -name guest=train-a "$group" "$gpu" </tmp/end >/tmp/guest 2>&1 &
guest=$!
exec 7>/tmp/end
check "a guest has it" wait_for 20 held || cat /tmp/guest
check_rc 4 "detach is refused meanwhile" gpuctl detach 20
like "$(error gpuctl detach 20)" "20 +$guest .*VM train-a +/dev/vfio/$group" "and names the guest"
is "$(states 20) $(driver_of "$gpu")" "ready vfio-pci" "nothing was changed"
exec 7>&-
wait $guest
check "the guest ends, and it is detached" gpuctl detach 20
check "a later attach says nothing of a driver" gpuctl attach 20
is "$(all_of "$functions") $(cat "$devices/$gpu/driver_override")" "gf_aer none (null)" "and has the driver of this host"
check "the GPU goes" gpuctl detach 20
check "compose for a guest takes none that this host uses" gpuctl compose --driver vfio-pci --gpus 1 guest
is "$(g compositions guest | cut -d' ' -f4) $(all_of "$functions")" "20 vfio-pci vfio-pci" "but the one that is off"
check "and gives it back" gpuctl release guest

# --- not isolated ---------------------------------------------------------------------------------
check "the GPU of slot 10 goes" gpuctl detach 10
neighbour=$(of 11 .address)
like "$(error gpuctl attach --driver vfio-pci 10)" "^gpuctl: 10 is not isolated: its IOMMU group also holds $neighbour, and a guest gets both or neither$" \
	"attach for a guest names who goes with it"
is "$(all_of "$(of 10 .address) $neighbour")" "vfio-pci gf_aer" "and leaves the neighbour alone"
check_fails "a guest cannot have it while the neighbour is in use" "$TESTS/gfvfio" "$(of 10 .iommu_group)" "$(of 10 .address)"
like "$(of 10 '.iommu_members | join(",")')" "$neighbour" "show names it, too"
check "the GPU goes" gpuctl detach 10
check "the module unloads" wait_for 10 rmmod gpufabric
finish
