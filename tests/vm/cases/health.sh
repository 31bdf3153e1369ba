#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an admin is told of slots that are not well: degraded links, flaps, repeated
# faults, cards of another kind than declared, a removal that hangs for long.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# in turn: one command after the other
# alone: a removal that hangs stays with the machine
# vm: -t 240 -e held-removal

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

# counted SLOT FIELD: a figure of the slot
counted()
{
	gpuctl -j show "$1" | jq ".slot.$2"
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric quarantine_after=2
check "the GPUs are known" gpuctl scan

note "a degraded link"
gpuctl -j watch --slot sim0-0 >/tmp/watch.json &
watch=$!
wait_for 20 grep -q snapshot-done /tmp/watch.json
echo "8GT x4" >"$SIM/slot0.0/link"
check "the GPU comes up all the same" gpuctl attach sim0-0
like "$(gpuctl list)" '^! sim0-0: link .*8 GT/s x4' "list warns, with what it is"
check "an event tells" wait_for 20 grep -q 'link-degraded' /tmp/watch.json
is "$(counted sim0-0 degradations)" 1 "it is counted"
like "$(gpuctl compose two --gpus 2 -n)" 'would get sim0-1 sim0-2' "a choice prefers whole links, though it is ready"
echo full >"$SIM/slot0.0/link"
check "with the cable mended" gpuctl detach sim0-0
check "it is attached again" gpuctl attach sim0-0
is "$(gpuctl list | grep -c '^! sim0-0')" 0 "and well"
kill "$watch"
wait "$watch"
check "detached" gpuctl detach sim0-0
echo "reserved x16" >"$SIM/slot0.0/link"
check "a link of a later speed than any that is known" gpuctl attach sim0-0
is "$(gpuctl list | grep -c '^! sim0-0') $(counted sim0-0 degradations)" "0 1" "is not called degraded"
is "$(gpuctl -j list | jq '.slots[0].link_speed')" 0 "nor is a speed made up"
echo full >"$SIM/slot0.0/link"
check "detached again" gpuctl detach sim0-0
check "and attached" gpuctl attach sim0-0

note "a link that flaps"
flaps=$(counted sim0-0 flaps)
echo flap >"$SIM/slot0.0/surprise"
check "is counted" wait_for 20 sh -c "[ \$(gpuctl -j show sim0-0 | jq .slot.flaps) -gt $flaps ]"
check "the GPU comes back" wait_for 20 is_state sim0-0 ready
gpuctl detach sim0-0 >/dev/null

note "repeated faults"
for i in 1 2; do
	echo link >"$SIM/slot0.1/fail"
	check_rc 7 "fault $i" gpuctl attach sim0-1
	[ "$i" = 2 ] || gpuctl clear sim0-1 >/dev/null
done
like "$(gpuctl list)" '^! sim0-1: in quarantine after 2 faults \(gpuctl clear sim0-1\)' "take the slot out of the pool"
like "$(gpuctl -n compose four --gpus 4 2>&1)" '1 in fault or quarantine' "compose says where it is"
check_rc 3 "and does not take it" gpuctl compose four --gpus 4
check "clear brings it back" gpuctl clear sim0-1
check "then it is taken" gpuctl compose four --gpus 4
is "$(counted sim0-1 faults)" 2 "its faults stay counted"
gpuctl release four >/dev/null

note "another kind than declared"
mkdir -p /etc/gpuctl/slots.d
check "the module unloads" wait_for 10 rmmod gpufabric
check "and is loaded anew" modprobe gpufabric
echo 'sim0-* 6767:0001/10de:2331' >/etc/gpuctl/slots.d/rack.conf
echo a100-80 >"$SIM/slot0.3/model"
like "$(gpuctl list)" 'sim0-3 .*declared' "the list says that it is hearsay"
check_rc 1 "a set with it fails" gpuctl compose four --gpu h100:4
like "$(gpuctl list)" '^! sim0-3: fault \(identity\)' "the slot says why"
is "$(gpuctl -j list | jq -r '[.slots[].state] | join(" ")')" "off off off fault" "all others are as they were"
is "$(gpuctl -j list | jq '.compositions | length')" 0 "and no claim is left"
echo h100-80 >"$SIM/slot0.3/model"
gpuctl clear sim0-3 >/dev/null
rm -r /etc/gpuctl/slots.d

note "a set that loses one"
check "a set" gpuctl compose pair --gpus 2 -x sim0-2 -x sim0-3
rm -f /tmp/watch.json
gpuctl -j watch --composition pair >/tmp/watch.json &
watch=$!
wait_for 20 grep -q snapshot-done /tmp/watch.json
echo remove >"$SIM/slot0.1/surprise"
check "is degraded" gpuctl watch until pair degraded --timeout 30s
is "$(states_of sim0-1)" lost "the slot is lost"
check "whoever watches the set is told of both" \
	wait_for 20 sh -c 'grep -q "\"state\":\"lost\"" /tmp/watch.json && grep -q "\"state\":\"degraded\"" /tmp/watch.json'
like "$(gpuctl list)" '^! sim0-1: lost' "list says what is missing"
kill "$watch"
wait "$watch"
check "it can be given back" gpuctl release pair
echo insert >"$SIM/slot0.1/surprise"
check "and with the card in again the slot is well" wait_for 20 is_state sim0-1 ready
gpuctl detach sim0-1 >/dev/null

note "a removal that hangs for long"
gpuctl attach sim0-2 sim0-3 >/dev/null
echo remove-block >"$SIM/slot0.2/driver"
check_rc 7 "ends by its deadline" gpuctl detach sim0-2 --timeout 1s
like "$(gpuctl list)" '^! sim0-2: stuck in detach: driver gpufabric-sim-gpu does not let go of [0-9a-f:.]+' "the slot says who is to blame"
like "$(gpuctl show sim0-2)" 'since' "and since when"
check "the rest can be read" gpuctl topo --pairs
check "and composed" gpuctl compose one --gpus 1
is "$(gpuctl -j show one | jq -r '.composition.slots[0]')" sim0-3 "of what is attached"
check "and released" gpuctl release one --keep
echo 20 >/proc/sys/kernel/hung_task_timeout_secs
check "long enough for the kernel to complain" wait_for 90 sh -c 'dmesg | grep -q "blocked for more than"'
rm -f /tmp/watch.json
gpuctl -j watch --slot sim0-2 >/tmp/watch.json &
watch=$!
wait_for 20 grep -q snapshot-done /tmp/watch.json
echo remove-release >"$SIM/slot0.2/driver"
check "when the driver lets go the slot recovers by itself" gpuctl watch until sim0-2 off --timeout 30s
check "and says so" wait_for 20 grep -q '"previous":"stuck"' /tmp/watch.json
kill "$watch"
wait "$watch"
like "$(gpuctl history sim0-2 | tail -n 1)" 'off' "so does the history"

gpuctl detach sim0-3 >/dev/null
check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
