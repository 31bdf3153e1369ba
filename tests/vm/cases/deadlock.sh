#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pciehp hangs for ever when a switch is removed while a slot behind it is being
# powered on: who removes holds the PCI core's lock and waits for the slot's
# thread, and that waits for the lock. No module of ours takes part. Somebody does
# that here with the power files. Then an operation of ours is stuck by its
# deadline and names who holds the lock; reads answer; unloading is refused.
# Nothing can mend it, so this VM is thrown away.
#
#   root port, slot 8000 -- upstream -- slots 100 ... 103 with an h100-80 each, off
#   root port, slot 8001 -- upstream -- slots 200 ... 203, the same
#
# alone: it leaves a machine that can only be switched off
# by kernel: it is the slot driver that dead-locks
# kernels: 6.1 6.12
# before: tests/selftests/build
# vm: -t 120 -e hung-tasks -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# Tasks that will never be woken are in the way of an orderly end.
touch /run/cut-power

# The number of the task that a text accuses.
accused()
{
	sed -nE 's/.* (irq\/[^ ]+) \(pid ([0-9]+)\) is .*/\2/p' <<<"$1"
}

hangs()
{
	grep -q "^State:.*D" "/proc/$1/status"
}

powered()
{
	[ "$(cat "$SIM/slot0.3/power")" = 1 ]
}

mode=pciehp
check "the simulator loads" modprobe gpufabric_sim mode=pciehp uplink=1 switches=2 slots=4 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
echo 5 >/proc/sys/kernel/hung_task_timeout_secs
check "a GPU is ready before it all" g attach 201

# The last slot is the first that a removal comes to.
echo 900 >/sys/module/gpufabric_sim/parameters/latency_ms
echo 1 >/sys/bus/pci/slots/103/power &
child=$!
check "somebody powers a slot on, its link trains" wait_for 10 powered
echo 0 >/sys/bus/pci/slots/8000/power &
parent=$!
check "the one who powered the slot hangs" wait_for 20 hangs "$child"
check "so does the one who powered off its switch" wait_for 20 hangs "$parent"

# Behind the other switch, which has nothing to do with it but the lock.
mark_log
error=$(g -t 3000 attach 200 2>&1)
like "$error" "^ETIMEDOUT: slot 200: timeout; " \
	"an attach passes its deadline"
is "$(g list 200 | cut -d' ' -f2,3)" "stuck timeout" "its slot is stuck"
text=$(g text 200)
like "$text" "irq/.* \(pid [0-9]+\) is unbinding 1[0-9]+:..:03\.0$" \
	"and says who holds the lock, and where"
holder=$(accused "$text")
check "that task hangs" hangs "$holder"
like "$(cat "/proc/$holder/stack")" "pciehp_unconfigure_device" "in the removal of the switch"
like "$(log_since_mark)" "gpufabric.*200: timeout" "the log says so, too"
like "$(g history 200 | tail -n 1)" "^200 stuck timeout attach -110 " "so does the history"

like "$(g -t 3000 detach 201 2>&1)" "^ETIMEDOUT: slot 201: timeout of 1" \
	"a detach gets stuck as well"
is "$(g state 201)" stuck "it says so"

is "$(g list | wc -l)" 8 "reads answer: all slots"
like "$(g status)" " operations 0 " "no operation is waited for"
check "history" g history
check "gpuctl lists them" gpuctl list
check "another slot can still be asked about" g -c attach 202
check "sysfs answers" cat /sys/class/gpufabric/slot*/uevent
check_fails "what is stuck cannot be used" g attach 200
check_fails "nor cleared" g clear 200
check_fails "unloading is refused" rmmod gpufabric
check "it is still there and answers" g status
check "the kernel itself complains of the tasks" wait_for 30 \
	eval 'dmesg | grep -q "task irq/.* blocked for more than"'
check "the one who holds the lock has not come back" hangs "$holder"
finish
