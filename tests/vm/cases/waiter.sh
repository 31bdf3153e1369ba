#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whoever asks pciehp for something waits in memory that pciehp frees when its
# port goes. A detach of ours is held up as it wakes there, and meanwhile the
# switch that the port is part of is removed: that must wait for us. Without the
# lock that kmod/backend_slot.c takes, KASAN reports a use after free.
#
#   root port, slot 8000 -- upstream -- slots 100 ... 103 with an h100-80 each
#
# kernels: debug-6.1 debug-6.12
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 120 -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"

# Functions are called by their names, through wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

point=/sys/module/gf_delay/parameters

held()
{
	[ "$(cat "$point/held")" = "$1" ]
}

has_gone()
{
	[ ! -e "/sys/bus/pci/slots/$1" ]
}

no_slot()
{
	! g list "$1"
}

is_ready()
{
	[ "$(g state "$1")" = ready ]
}

# The switch goes while a request of ours to a slot behind it wakes up late. Its last
# slot is the first that a removal comes to.
wake_late()
{
	local function=$1 n=$2 asked
	shift 2

	printf '%s' "$function" >"$point/caller"
	echo 1 >"$point/armed"
	g "$@" 103 >/tmp/request 2>&1 &
	asked=$!
	check "$*: the request is held up as it wakes" wait_for 20 held "$n"
	check "$*: meanwhile its switch is removed" sh -c 'echo 0 >/sys/bus/pci/slots/8000/power'
	check "$*: the slots behind it are gone" wait_for 20 has_gone 103
	check "$*: for us, too" wait_for 20 no_slot 103
	wait "$asked"
	note "$*: status $?, $(cat /tmp/request)"
}

mode=pciehp
check "the simulator loads" modprobe gpufabric_sim mode=pciehp uplink=1 switches=1 slots=4 'gpus=*:h100-80' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "tasks can be held up" insmod "$TESTS/gf_delay.ko" ms=3000 || bail_out "no delay"
check "a GPU is ready" wait_for 20 is_ready 103

wake_late pciehp_sysfs_disable_slot 1 -f detach
check "the switch comes back" sh -c 'echo 1 >/sys/bus/pci/slots/8000/power'
# All of them: when it goes again, pciehp has to be done with each.
for slot in 100 101 102 103; do
	check "with the GPU of slot $slot" wait_for 30 is_ready $slot
done
check "one is detached" g -f detach 103
wake_late pciehp_sysfs_enable_slot 2 attach
count waiter.held 2

check "the modules unload" unload
check "so does the delay" rmmod gf_delay
finish
