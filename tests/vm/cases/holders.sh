#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who keeps a GPU: processes in namespaces of their own, and what has no file open.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each
#
# in turn: one command after the other
# vm: -t 180

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/vm/lib.sh"

hooks=/etc/gpuctl/hooks.d

device()
{
	echo "/sys/bus/pci/devices/$(gpuctl -j show "$1" | jq -r '.slot.functions[0].address')"
}

# The process that sleeps for so long.
asleep()
{
	grep -alzx '100[0]' /proc/[0-9]*/cmdline
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are ready" wait_for 20 sh -c '[ "$(gpuctl -j list | jq "[.slots[] | select(.state == \"ready\")] | length")" = 4 ]'

note "in a container's namespaces"
numbers=$(stat -c '%t %T' /dev/gpufabric-sim/sim0-0)
major=$((16#${numbers% *})) minor=$((16#${numbers#* }))
mkdir -p /tmp/container /sys/fs/cgroup/workload
unshare --mount --pid --fork sh -c "
	mount -t tmpfs none /tmp/container && mknod /tmp/container/gpu c $major $minor &&
	sleep 1000 </tmp/container/gpu & wait" &
wrapper=$!
check "a process holds the GPU under another name" wait_for 20 asleep
holder=$(asleep)
holder=${holder//[!0-9]/}
echo "$holder" >/sys/fs/cgroup/workload/cgroup.procs
check_fails "which is not to be seen from here" test -e /tmp/container/gpu
check_fails "its pid is another in there" grep -q "^NSpid:.*	$holder\$" "/proc/$holder/status"
error=$(gpuctl detach sim0-0 2>&1 >/dev/null)
is $? 4 "its GPU is busy"
like "$error" "sim0-0 +$holder +root +sleep 1000 +workload +/dev/gpufabric-sim/sim0-0" "it is listed with user, command, unit and node"
like "$error" 'also at risk: sim0-1, sim0-2, sim0-3 \(same driver\)' "GPUs of the same driver are named"
is "$(states_of sim0-0)" ready "nothing was changed"
check "another GPU can go" gpuctl detach sim0-1
check "it is asked to end, through its namespace" gpuctl detach sim0-0 --signal TERM
is "$(states_of sim0-0)" off "and lets go"
wait "$wrapper"

note "a driver that keeps a reference of its own"
gpu=$(device sim0-2)
check "persistence mode" sh -c "echo 1 >$gpu/persistence"
error=$(gpuctl detach sim0-2 2>&1 >/dev/null)
is $? 4 "no file is open, and the GPU is busy"
like "$error" "sim0-2 +- +- +- +kernel +gpufabric-sim-gpu counts 1 of its own on .* \(no open file\)" "it says why"
check_rc 4 "a signal helps nobody" gpuctl detach sim0-2 --signal TERM --wait 100ms
is "$(states_of sim0-2)" ready "and nothing was changed"

# What a vendor's hook does: off before a detach, on again when that does not happen.
mkdir -p $hooks/pre-detach.d
printf '%s\n' '#!/bin/sh' 'p=/sys/bus/pci/devices/$GPUFABRIC_ADDRESS/persistence' \
	'case $1 in' 'pre-detach) cat $p >/run/was-$GPUFABRIC_SLOT; echo 0 >$p ;;' \
	'abort-detach) cat /run/was-$GPUFABRIC_SLOT >$p ;;' 'esac' >$hooks/pre-detach.d/10-persistence
chmod 755 $hooks/pre-detach.d/10-persistence
sh -c 'exec sleep 1000' </dev/gpufabric-sim/sim0-2 &
process=$!
check_rc 4 "a process holds it as well" gpuctl detach sim0-2 --wait 100ms
is "$(cat "$gpu/persistence")" 1 "the hook's work was taken back"
kill "$process"
wait "$process" 2>/dev/null
check "without the process the hook is enough" gpuctl detach sim0-2
is "$(states_of sim0-2)" off "it goes"
rm -r $hooks

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
