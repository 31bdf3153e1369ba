#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Downstream Port Containment: a port that is told of a fatal error takes its link down and
# keeps it down until software clears that. Where the kernel does, the GPU is recovered
# like from any error: nothing is removed, and it is what it was. Where nobody does,
# the GPU is lost with that reason, no attach can bring it back, and doctor says what can.
#
#   10000:02:00.0, 01.0: ports with a GPU each, with pciehp and then without a slot driver
#
# by kernel: the kernel's recovery
# in turn: one command after the other
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 200 -a pcie_ports=dpc-native -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_aer.ko"

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

SERVICES=/sys/bus/pci_express/drivers/dpc
DRIVER=/sys/module/gf_aer/parameters

port() { echo "10000:02:0$1.0"; }
gpu() { echo "10000:0$(($1 + 3)):00.0"; }
show() { gpuctl -j show "$1" | jq -r "[.slot | $2] | map(tostring) | join(\" \")"; }
whole() { show "$1" ".state, .generation, .faults"; }
cause() { show "$1" '.state, (.cause // "none")'; }
there() { [ -e "/sys/bus/pci/devices/$(gpu "$1")" ]; }
removed() { ! there "$1"; }
logged() { log_since_mark | grep -qE "$1"; }
held() { [ "$(cat "$DRIVER/held")" = "$1" ]; }
contains() { [ $((0x$(setpci -s "$(port "$1")" ECAP_DPC+8.w) & 1)) = 1 ]; }
clear() { setpci -s "$(port "$1")" ECAP_DPC+8.w=1; }
# As firmware does, or the kernel's driver: errors that are fatal are contained.
enable() { setpci -s "$(port "$1")" ECAP_DPC+6.w=1:1; }
answers() { [ "$(setpci -s "$(gpu "$1")" VENDOR_ID)" = 6767 ]; }
registers()
{
	for register in COMMAND BASE_ADDRESS_1.l BASE_ADDRESS_2.l BASE_ADDRESS_3.l BASE_ADDRESS_4.l; do
		setpci -s "$(gpu "$1")" $register
	done | xargs
}
restore()
{
	wait_for 10 answers "$1"
	# shellcheck disable=SC2086 # a word for each register
	set -- "$1" $2
	setpci -s "$(gpu "$1")" BASE_ADDRESS_1.l="$3" BASE_ADDRESS_2.l="$4" BASE_ADDRESS_3.l="$5" \
		BASE_ADDRESS_4.l="$6" COMMAND="$2"
}
unserved()
{
	local service

	for service in "$SERVICES/$(port "$1")":*; do
		echo "${service##*/}" >"$SERVICES/unbind" || return
	done
}
# pciehp can be at it, and can have powered the slot again meanwhile.
again()
{
	gpuctl clear "$other" >/dev/null 2>&1
	error=$(gpuctl attach "$other" 2>&1)
}
advice() { gpuctl doctor 2>/dev/null | grep -A 3 containment; }

check "a driver comes that recovers" insmod "$TESTS/gf_aer.ko" || bail_out "no driver"
check "simulator and module load" load pciehp switches=1 slots=2 || bail_out "no module"
slot=$(name 0)
other=$(name 1)
check "a GPU is attached with that driver" gpuctl attach --driver gf_aer "$slot"
check "it is ready" g wait "$slot" ready
check "the other one as well" g attach "$other"

before=$(whole "$slot")
saved=$(registers 0)
mark_log
echo 1 >$DRIVER/hold
check "the port contains a fatal error" knob 0 surprise contain
check "the kernel is recovering the GPU" wait_for 20 held 1
is "$(whole "$slot")" "$before" "meanwhile nothing has happened to it"
echo 0 >$DRIVER/hold
check "the kernel has recovered it" wait_for 20 logged "device recovery successful"
check_fails "the port contains nothing now" contains 0
is "$(whole "$slot")" "$before" "nothing has happened to the GPU"
is "$(registers 0)" "$saved" "its registers are as before"
check "it was never removed" there 0
is "$(advice)" "" "doctor has nothing to say of it"

check "the kernel's driver leaves the other port" unserved 1
check "errors are contained without a driver for that" enable 1
check "the port of the other contains one" knob 1 surprise contain
check "its GPU is lost" g wait "$other" lost
is "$(cause "$other")" "lost containment" "with the reason"
like "$(gpuctl list)" "^! $other: lost \(containment\): the port contains an error of its card \(DPC\)" "which list says"
like "$(advice)" "slot $other: port $(port 1) contains an error" "doctor names the port"
like "$(advice)" "setpci -s $(port 1) ECAP_DPC\+8.w=1" "and what clears it"
check "pciehp removes it" wait_for 20 removed 1
is "$(cause "$other")" "lost containment" "which it was already"
check_fails "an attach cannot bring it back" again
like "$error" "slot $other: the port contains an error of its card" "for the same reason"
is "$(show "$other" '.cause')" containment "which the slot keeps"
check "the error is cleared as doctor says" clear 1
check "then it can be attached" wait_for 20 again
is "$(cause "$other")" "ready none" "it is ready"
is "$(whole "$slot")" "$before" "its neighbour is what it was"
check "both modules unload" unload

check "ports without a slot driver" load bare switches=1 slots=2 || bail_out "no module"
echo 300 >/sys/module/gpufabric/parameters/lost_ms
slot=$(port 0)
check "a GPU is attached" g attach "$slot"
saved=$(registers 0)
check_fails "nothing is contained that nobody enabled" knob 0 surprise contain
check "errors are contained" enable 0
check "the port contains one" knob 0 surprise contain
check "its GPU is lost" g wait "$slot" lost
is "$(cause "$slot")" "lost containment" "with the reason"
check "it stays where it is" there 0
echo 600000 >/sys/module/gpufabric/parameters/lost_ms
clear 0
check "the link is up, and the registers are restored" restore 0 "$saved"
check "it is what it was" g wait "$slot" ready
is "$(cause "$slot")" "ready none" "and well"
check "both modules unload" unload
finish
