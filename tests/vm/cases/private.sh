#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What somebody without privileges can do and see: everything about GPUs, nothing
# about who uses them and where they are in memory. See permission_test.c for
# the protocol; this is about files, devices and tools.
#
#   root port -- upstream -- 2 slots with an h100-80 each, one attached
#
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -f build/selftests/gfclient -f "build/failpoint/$FLAVOUR/gf_delay.ko"

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

nobody()
{
	busybox su -s /bin/bash nobody -c "$*"
}

listen()
{
	rm -f /tmp/heard
	nobody "$TESTS/gfclient" overhear </tmp/overhear >/tmp/heard &
	exec 8>/tmp/overhear
	check "somebody listens to everything" wait_for 20 grep -q start /tmp/heard
}

# Groups have numbers that anybody can join while no family has them, and hear what is
# said before ours is there, or when it is no longer there.
mkfifo /tmp/overhear
listen
check "the modules load" load own switches=1 slots=2 'gpus=*:h100-80' || bail_out "no modules"
check "and have something to say" g wait sim0-1 ready
check "and unload" unload
exec 8>&-
wait
is "$(sed 1d /tmp/heard | grep -c '^0 ')" 0 "nothing was said before there was a family"

check "the modules load" load own switches=1 slots=2 'gpus=*:h100-80:off' || bail_out "no modules"
insmod "$TESTS/gf_delay.ko" function=gf_inventory_stop ms=3000 || not_ok "no task can be held up"
echo 1 >/sys/module/gf_delay/parameters/armed
rmmod gpufabric &
check "the module goes, and its slots are still there" wait_for 20 grep -qx 1 /sys/module/gf_delay/parameters/held
listen
check "it is gone" wait_for 20 test ! -e /sys/module/gpufabric
exec 8>&-
wait
is "$(sed 1d /tmp/heard)" "" "nothing was said since there was no family"
rmmod gf_delay
check "the module loads" modprobe gpufabric
check "a GPU is attached, for a reason" g -r sesame attach sim0-0
check "and composed" g -r sesame compose mine sim0-0
is "$(nobody id -u)" 65534 "there is somebody without privileges"

client=$TESTS/gfclient
is "$(nobody "$client" list)" "$(g list)" "who sees the same list"
is "$(nobody "$client" compositions)" "$(g compositions)" "and the same compositions"
like "$(nobody "$client" history sim0-0)" "^sim0-0 ready none attach 0" "and what happened"
for command in "attach sim0-1" "detach sim0-0=1" "drain sim0-0" "clear sim0-0" "compose x sim0-1" \
	       "resize mine +sim0-1" "-k release mine" "undrain sim0-0"; do
	like "$(nobody "$client" "$command" 2>&1)" "^EPERM: changing the fabric needs CAP_SYS_ADMIN, run as root$" \
		"who is refused: $command"
done
is "$(states sim0-0 sim0-1)" "ready off" "nothing has changed"
like "$(g compositions)" "^mine active" "nor has the composition"

if command -v gpuctl >/dev/null; then
	like "$(nobody gpuctl list)" "sim0-0 .*ready" "gpuctl list works"
	check_rc 5 "gpuctl attach is not permitted" nobody gpuctl attach sim0-1
	is "$(nobody gpuctl history sim0-0 2>&1 | grep -c sesame)" 0 "gpuctl history does not tell the reason"
fi

# Files: what they have to see, and nothing that they could write.
like "$(nobody cat /sys/class/gpufabric/slot1/uevent)" "^GPUFABRIC_OCCUPANCY=gpu$" "what is in a slot is in sysfs"
like "$(nobody cat "/sys/class/gpufabric/slot1/slot1!gpu/uevent")" "^GPUFABRIC_ADDRESS=10000:03:00.0$" "and the address"
is "$(find /sys/class/gpufabric/*/ /sys/module/gpufabric/ -type f -perm /022 2>/dev/null)" "" \
	"no file of ours can be written by others"
is "$(grep -rsl sesame /sys/class/gpufabric/*/ /sys/module/gpufabric/ /proc/modules 2>/dev/null)" "" \
	"no file tells the reason"
is "$(dmesg | grep -c sesame)" 0 "nor does the log"
check_fails "debugfs is closed" nobody ls "$SIM"
check_fails "traces are closed" nobody cat /sys/kernel/tracing/trace
check_fails "the slot's power file cannot be written" nobody "echo 0 >/sys/bus/pci/slots/sim0-0/power"
is "$(g state sim0-0)" ready "the GPU is still there"

# A process that listens is not told who, either; a uevent is for everyone.
nobody "$client" events 14 >/tmp/events 2>&1 &
wait_for 10 grep -q start /tmp/events
g -r sesame attach sim0-1
g -r sesame detach sim0-1
wait
like "$(cat /tmp/events)" "slot-changed sim0-1 attached ready" "who may listen"
is "$(grep -c sesame /tmp/events)" 0 "and hears nothing of the reason"
check "release" g release mine
check "the modules unload" unload
finish
