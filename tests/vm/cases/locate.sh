#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A slot's indicator, its latch and a power fault, as somebody sees them who stands in
# front of the rack, with each way to drive a slot.
#
# by kernel: pciehp works the indicators
# in turn: one command after the other
# vm: -t 120

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

show() { gpuctl -j show "$1" | jq -r "[.slot | $2] | map(tostring) | join(\" \")"; }
panel() { show "$1" ".indicator, .latch, .power_fault"; }
error_of() { { "$@" >/dev/null; } 2>&1; }
# Attention Indicator Control of Slot Control: 01 on, 10 blinking, 11 off.
register() { printf '%x' $((0x$(setpci -s "$1" CAP_EXP+18.w) >> 6 & 3)); }
knob() { echo "$2" >"$SIM/slot0.$1/surprise"; }
unload() { wait_for 10 rmmod gpufabric && wait_for 10 rmmod gpufabric_sim; }
as_nobody() { su nobody -s /bin/bash -c "$*"; }

modprobe gpufabric_sim switches=1 slots=4 latch=1 'gpus=0.0-1:l40s,0.2:l40s:off'
check "pciehp: the module loads" modprobe gpufabric
is "$(panel 100)" "off closed false" "pciehp: all three are shown"
is "$(gpuctl show 100 | sed -nE 's/^(indicator|latch|power fault) +//p' | xargs)" "off closed no" "in words, too"
is "$(gpuctl -j locate 100 | jq -r '.slots[0] | [.slot, .before, .indicator] | join(" ")')" "100 off blink" "it blinks"
is "$(register 10000:02:00.0)" 2 "in the port's register"
is "$(show 100 .indicator) $(show 101 .indicator)" "blink off" "and no other does"
check "-n blinks nowhere" gpuctl -n locate 100 101
is "$(show 101 .indicator)" off "really"
check "several slots" gpuctl locate 100 101
is "$(show 101 .indicator)" blink "both of them"
check "--off" gpuctl locate --off 100 101
is "$(register 10000:02:00.0) $(show 101 .indicator)" "3 off" "ends it"
is "$(show 100 .state)" ready "which the GPU does not notice"
check_rc 2 "a slot that is not there" gpuctl locate 199
check_rc 5 "it takes root" as_nobody gpuctl locate 100
like "$(error_of as_nobody gpuctl locate 100)" "^gpuctl: only root can read and set the indicator of slot 100: run gpuctl as root$" "as is said"
is "$(as_nobody gpuctl -j show 100 | jq -r '.slot | [.indicator, .latch, .power_fault] | map(tostring) | join(" ")')" \
	"off closed null" "everybody sees the lamp and the latch"
knob 3 "latch open"
is "$(show 103 .latch)" open "a latch is opened"
knob 3 "latch close"
is "$(show 103 .latch)" closed "and closed"
# pciehp turns a slot off whose power has failed, and tries once more if a card is there.
echo "power 2" >"$SIM/slot0.2/fail"
check_fails "power fails at each try" gpuctl attach 102
is "$(show 102 ".indicator, .power_fault")" "on true" "a power fault turns the indicator on, and stays in the port"
echo "none" >"$SIM/slot0.2/fail"
check "clear" gpuctl clear 102
check "power does not fail" gpuctl attach 102
is "$(show 102 ".indicator, .power_fault")" "off false" "both are over"
check "pciehp: it unloads" unload

modprobe gpufabric_sim switches=1 slots=2 mode=bare 'gpus=0.0:l40s,0.1:l40s'
check "bare: the module loads" modprobe gpufabric bare_ports=all
check_rc 1 "bare: nobody can blink there" gpuctl locate 10000:02:00.0
like "$(error_of gpuctl locate 10000:02:00.0)" \
	'^gpuctl: slot 10000:02:00.0 has no slot driver, and so no indicator: its port is 10000:02:00.0$' "and why"
check "bare: it unloads" unload

modprobe gpufabric_sim switches=1 slots=2 mode=own 'gpus=*:l40s'
check "own: the module loads" modprobe gpufabric
check_rc 1 "a slot driver without indicators" gpuctl locate sim0-0
like "$(error_of gpuctl locate sim0-0)" '^gpuctl: slot sim0-0 has no attention indicator: its port is 10000:02:00.0$' "is named"
is "$(panel sim0-0)" "null null null" "show does not have what is not there"
check "own: it unloads" unload

finish
