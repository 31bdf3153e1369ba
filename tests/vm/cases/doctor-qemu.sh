#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What gpuctl doctor advises is true on a switch whose windows firmware has set, SeaBIOS here.
# For a large GPU no parameter of the kernel helps, and doctor says so; none that there is
# does. For a small one the kernel has to be told to forget firmware's windows: booted with
# the parameter that doctor gave, the device that was refused gets its addresses. The first
# two of the three boots are made by "before": this script with "first" and with "none".
#
#   root port -- x3130 upstream --+-- slot 10: display controller, in use
#                                 +-- slot 11, 12: empty
#
# before: run=(tests/vm/run -n -Q -t 240 -k "$FLAVOUR" -q "$(cat tests/vm/switch.qemu)") out=build/doctor-qemu/$FLAVOUR
# before: "${run[@]}" -o "$out-first" -- tests/vm/cases/doctor-qemu.sh first >/dev/null
# before: "${run[@]}" -o "$out-none" -a "pci=realloc,assign-busses,hpmmiosize=256M,hpmmioprefsize=512G,$(cut -d, -f2- "$out-first/out/parameter")" -- tests/vm/cases/doctor-qemu.sh none >/dev/null
# vm: -Q -t 300 -q "$(cat tests/vm/switch.qemu)" -a "$(cat build/doctor-qemu/$FLAVOUR-first/out/parameter)" -f build/doctor-qemu/$FLAVOUR-first/output.log:/tests/first.tap -f build/doctor-qemu/$FLAVOUR-none/output.log:/tests/none.tap

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/machine.sh"

MIB=$((1 << 20))

# look GPU: have doctor look anew, for that one; its exit code.
look()
{
	gpuctl -j doctor --gpu "$1" >/tmp/doctor.json
}

# finding CHECK LEVEL FIELD: of the first one that is so, when it looked last.
finding()
{
	jq -r --arg check "$1" --arg level "$2" --arg field "$3" \
		'[.findings[] | select(.check == $check and .level == $level)][0][$field]' /tmp/doctor.json
}

# A device with a 64-bit prefetchable BAR of so many MiB comes to slot 12.
plug()
{
	machine device_add "{\"driver\": \"pci-testdev\", \"id\": \"new\", \"bus\": \"dn2\", \"membar\": $(($1 * MIB))}"
}

# The one below slot 12's port, without its directory.
newcomer()
{
	basename "$(dirname "$(grep -l 0x00ff00 /sys/bus/pci/devices/0000:0[2-9]:*/class | head -n 1)")"
}

# Its large BAR is the third; the bridges above it are named in the kernel's log when done.
has_come() { [ "$(newcomer)" != . ] && dmesg | grep -q "$(newcomer): .*BAR 2.*: \(assigned\|failed to assign\)"; }

# An unset resource has no place: it begins at 0.
has_address()
{
	local start end flags

	read -r start end flags < <(sed -n 3p "/sys/bus/pci/devices/$(newcomer)/resource")
	echo "$start $end $flags"
	[ $((start)) -gt 0 ] && [ $((flags & 0x20000000)) -eq 0 ]
}

held()
{
	is "$(grep -c '^ok' "$1") $(grep -c '^not ok' "$1")" "$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$1") 0" "$2"
}

check "the machine can be changed" machine_begin
check "the module loads" modprobe gpufabric || bail_out "no module"

case ${1-} in
first)
	check_rc 1 "doctor fails" look h200-nvl
	like "$(finding windows FAIL remedy)" "^no kernel parameter helps, because the host bridge has .*: let firmware reserve it.*, or put a card into each slot before the host boots$" \
		"and says that no parameter helps for a large GPU, and what does"
	is "$(finding windows FAIL parameter)" null "and gives none"
	look t4
	like "$(finding windows FAIL parameter)" "^pci=hpmmioprefsize=512M,resource_alignment=20@0000:00:[0-9a-f]{2}\.0;.*20@0000:02:02\.0$" \
		"for a small one the bridges are named whose windows are to be forgotten"
	check "a device of the small one's size comes" plug 256
	wait_for 60 has_come
	check_fails "and gets no address" has_address
	finding windows FAIL parameter >/out/parameter
	finish
	;;
none)
	like "$(cat /proc/cmdline)" "hpmmioprefsize=512G.*resource_alignment=" "all parameters that there are were given"
	check_rc 1 "doctor fails" look h200-nvl
	like "$(finding windows FAIL remedy)" "^no kernel parameter helps" "and still says that none helps"
	check "a device of a large GPU's size comes" plug $((128 << 10))
	wait_for 60 has_come
	check_fails "and gets no address" has_address
	finish
	;;
esac

held "$TESTS/first.tap" "every check of the first boot held"
held "$TESTS/none.tap" "and of the one with all parameters"
look t4
like "$(finding windows ok reason)" "room for T4 in 3 of 3 slots" "with the parameter there is room"
check "the same device comes" plug 256
wait_for 60 has_come
check "and has an address" has_address
finish
