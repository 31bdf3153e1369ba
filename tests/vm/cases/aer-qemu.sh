#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Errors of PCI Express on links of GPUs, as a switch that QEMU emulates reports them:
# one that is not fatal changes nothing; a fatal one makes the kernel reset
# what is below the port, which is waited out for as long as it takes: nothing
# is removed, and the GPU is what it was. Where nobody can recover a GPU it is lost,
# and said to be.
#
#   root port -- x3130 upstream --+-- slot 10: display controller, its driver recovers
#                                 +-- slot 11: display controller without a driver
#
# by kernel: the kernel's recovery
# in turn: one command after the other
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -Q -t 200 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_aer.ko" -q "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1" -q "-device xio3130-downstream,id=dn0,bus=up1,chassis=10,slot=10,power_controller_present=off -device xio3130-downstream,id=dn1,bus=up1,chassis=11,slot=11,power_controller_present=off -device secondary-vga,id=g0,bus=dn0 -device secondary-vga,id=g1,bus=dn1"

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/machine.sh"

DRIVER=/sys/module/gf_aer/parameters

inject() { machine human-monitor-command "{\"command-line\": \"pcie_aer_inject_error $1 $2\"}"; }
show() { gpuctl -j show "$1" | jq -r "[.slot | $2] | map(tostring) | join(\" \")"; }
whole() { show "$1" ".state, .generation, .flaps, .faults"; }
gpu_of() { gpuctl -j show "$1" | jq -r '[.. | objects | .functions? // empty | .[].address][0]'; }
there() { [ -e "/sys/bus/pci/devices/$1" ]; }
logged() { log_since_mark | grep -qE "$1"; }
held() { [ "$(cat "$DRIVER/held")" = "$1" ]; }
anew()
{
	gpuctl detach 11 && g wait 11 off && g attach 11 && g wait 11 ready
}
# Command and BARs.
registers() { for register in COMMAND BASE_ADDRESS_0.l BASE_ADDRESS_2.l; do setpci -s "$1" $register; done | xargs; }

check "the machine can be changed" machine_begin
check "a driver comes that recovers" insmod "$TESTS/gf_aer.ko" || bail_out "no driver"
check "the module loads" modprobe gpufabric poll_ms=100 lost_ms=5000 || bail_out "no module"
is "$(states 10 11)" "ready ready" "both GPUs are ready"
first=$(gpu_of 10)
second=$(gpu_of 11)
echo "$second" >/sys/bus/pci/devices/"$second"/driver/unbind
# As firmware does where errors are the operating system's.
for bridge in /sys/bus/pci/devices/*; do
	case $(cat "$bridge/class") in
	0x0604*) setpci -s "${bridge##*/}" COMMAND=100:100 BRIDGE_CONTROL=2:2 ;;
	esac
done

before=$(whole 10)
saved=$(registers "$first")
mark_log
check "an error that is not fatal" inject dn0 COMP_TIME
check "the kernel recovers from it" wait_for 20 logged "device recovery successful"
is "$(whole 10)" "$before" "nothing has happened to the GPU"

echo 1 >$DRIVER/hold
mark_log
check "a fatal error" inject dn0 DLP
check "the kernel is recovering the GPU from it" wait_for 20 held 1
is "$(whole 10)" "$before" "meanwhile nothing has happened to it"
echo 0 >$DRIVER/hold
check "the kernel has recovered" wait_for 20 logged "device recovery successful"
is "$(whole 10)" "$before" "nothing has happened to the GPU"
is "$(registers "$first")" "$saved" "its registers are as before"
check "it was never removed" there "$first"
# Until here a kernel that is late, on a busy machine, is not one that has given up.
echo 100 >/sys/module/gpufabric/parameters/lost_ms
mark_log
check "a fatal error of a GPU that nobody can recover" inject dn1 DLP
check "the kernel gives up" wait_for 20 logged "device recovery failed"
check "it is lost" g wait 11 lost
is "$(g list 11 | cut -d' ' -f2,3)" "lost error" "with the reason"
like "$(gpuctl list)" "^! 11: lost \(error\): no driver has recovered $second from an error" "which list says"
check "it was not removed" there "$second"
is "$(whole 10)" "$before" "nothing has happened to its neighbour"
check "it is cleared" g clear 11
check "but not taken for sound" g wait 11 fault
is "$(g list 11 | cut -d' ' -f2,3)" "fault error" "for the same reason"
check "detached and attached it is ready" anew
check "the module unloads" wait_for 10 rmmod gpufabric
finish
