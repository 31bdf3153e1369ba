#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the self tests of the protocol (selftests.sh) cannot see: that the module
# comes when its family is asked for, that it tells the same as gpuctl and sysfs,
# and that a device in a slot which is no GPU is left alone. That one is QEMU's:
#
#   root port -- x3130 upstream --+-- downstream, slot 20: a test device
#                                 +-- downstream, slot 21: empty
#   (simulated) root port -- upstream -- 4 slots with an h100-80 each, off
#
# in turn: one command after the other
# before: tests/selftests/build
# vm: -f build/selftests/gfclient -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1 -device xio3130-downstream,id=dn0,bus=up1,chassis=20,slot=20,power_controller_present=off -device xio3130-downstream,id=dn1,bus=up1,chassis=21,slot=21,power_controller_present=off -device pci-testdev,id=t0,bus=dn0"

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

nobody()
{
	busybox su -s /bin/bash nobody -c "$*"
}

check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=4 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check_fails "the module is not loaded" test -e /sys/module/gpufabric
check "asking for its family brings it" g status
check "it is loaded" test -e /sys/module/gpufabric
check "six slots are listed" test "$(g list | wc -l)" -eq 6
is "$(g status | grep -o 'version [^ ]*')" "version $(modinfo -F version gpufabric)" "the version is modinfo's"
instance=$(g status | grep -o 'instance .*')
is "$(g status | grep -o 'instance .*')" "$instance" "one load of the module is one instance"
check "the module unloads" wait_for 10 rmmod gpufabric
check "somebody without privileges may bring it, too" nobody "$TESTS/gfclient" status
check "it is loaded" test -e /sys/module/gpufabric
check_fails "another load is another instance" test "$(g status | grep -o 'instance .*')" = "$instance"

device=$(cat /sys/bus/pci/slots/20/address).0
like "$(g list 20)" "^20 other none " "the slot with a test device holds something else"
like "$(g attach 20 2>&1)" "^EMEDIUMTYPE: the slot holds a device that is not a GPU, so requests are refused$" \
	"it cannot be attached"
like "$(g compose x sim0-0 20 2>&1)" "^EMEDIUMTYPE: " "nor composed"
like "$(g drain 20 2>&1)" "^EMEDIUMTYPE: " "nor drained"
like "$(g detach 20=1 2>&1)" "^EMEDIUMTYPE: " "nor detached"
check "the test device is still there" test -e "/sys/bus/pci/devices/$device"
is "$(g state sim0-0)" off "and what was named beside it was not touched"

# Three ways to say the same.
check "two are attached, one of them composed" g compose same sim0-0
check "and one not" g attach sim0-1
for dir in /sys/class/gpufabric/slot*; do
	[[ $dir != *gpu ]] || continue
	sed -nE 's/^GPUFABRIC_(SLOT|OCCUPANCY|POWER|ACTIVITY|HEALTH)=//p' "$dir/uevent" | xargs
done | sort >/tmp/sysfs
while read -r name _; do
	gpuctl -j show "$name" | jq -r '.slot | "\(.slot) \(.occupancy) \(.power) \(.activity) \(.health)"'
done </tmp/sysfs >/tmp/shown
check "sysfs says the same of each slot as is shown" diff /tmp/sysfs /tmp/shown
g list | cut -d' ' -f1,2 | sort >/tmp/client
gpuctl -j list >/tmp/list.json
jq -r '.slots[] | .slot + " " + .state' /tmp/list.json | sort >/tmp/gpuctl
check "gpuctl has, too" diff /tmp/gpuctl /tmp/client
is "$(jq -r '.compositions[].name' /tmp/list.json)" "$(g compositions | cut -d' ' -f1)" \
	"and the compositions"
check "release" g release same
check "detach" g detach sim0-1
check "the modules unload" unload
finish
