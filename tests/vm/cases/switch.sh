#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hot-plug within hot-plug: a whole switch sits in a slot of a root port. pciehp
# hangs for ever when a switch is removed while a slot behind it is powered on
# (deadlock.sh), so we never remove one: not when asked to while an attach behind
# it is under way, not at rest, and not to clean up after an attach of our own,
# which is when pciehp powers all that is behind the switch.
#
#   root port, slot 8000 -- upstream -- slots 100 ... 103 with an h100-80 each, off
#
# before: tests/selftests/build
# vm: -t 120 -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

latency()
{
	echo "$1" >/sys/module/gpufabric_sim/parameters/latency_ms
}

# Each way to ask for the removal of a switch, and what is answered.
refuse_all()
{
	local text="^EMEDIUMTYPE: the slot holds a device that is not a GPU, so requests are refused$"

	like "$(g drain 8000 2>&1 </dev/null)" "$text" "$1: the switch cannot be drained"
	like "$(g -f detach 8000=1 2>&1)" "$text" "$1: nor detached by force"
	like "$(g attach 8000 2>&1)" "$text" "$1: nor attached"
	like "$(g compose x 8000 2>&1)" "$text" "$1: nor composed"
}

is_state()
{
	[ "$(g state "$1")" = "$2" ]
}

power()
{
	echo "$2" >"/sys/bus/pci/slots/$1/power"
}

mode=pciehp
check "the simulator loads" modprobe gpufabric_sim mode=pciehp uplink=1 switches=1 slots=4 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads, with slots of root ports" modprobe gpufabric root_ports=1
like "$(g list 8000)" "^8000 other " "the slot with the switch is listed, as not ours"

latency 800
follow
g attach 103 2>/tmp/error &
check "an attach behind the switch begins" seen "slot-changed 103 off attaching"
refuse_all "while a link trains"
check "the attach goes on" seen "operation-done"
unfollow
check "and ends well" wait $!
latency 20
is "$(states 8000 100 103 | cut -d' ' -f2-)" "off ready" "the GPU is ready"

follow
g detach 103 &
check "a detach behind the switch begins" seen "slot-changed 103 draining detaching"
refuse_all "while a GPU goes"
check "the detach goes on" seen "operation-done"
unfollow
check "and ends well" wait $!

follow
check "somebody turns the whole switch off" power 8000 0
check "its slots go" seen "switch-removed"
unfollow
check "the slot of the switch is off" wait_for 10 is_state 8000 off

# Four links train at once, while we see what it is that we have attached.
latency 800
like "$(g attach 8000 2>&1)" "^EMEDIUMTYPE: slot 8000: chassis" "what was attached is no GPU"
for slot in 100 101 102 103; do
	check "slot $slot behind it is found" wait_for 20 g state $slot
	check "and comes up, as pciehp wants it" g wait $slot ready
done
latency 20
like "$(g list 8000)" "^8000 fault chassis " "the switch stays, in fault"
check "that can be cleared" g clear 8000
refuse_all "at rest"
check "a GPU behind it can be detached" g detach 100
check "and attached" g attach 100
is "$(g list 100 101 102 103 | cut -d' ' -f7 | xargs)" "$(lspci_gpus)" "lspci agrees"
check "all are detached" g detach 100 101 102 103
check "the modules unload" unload
finish
