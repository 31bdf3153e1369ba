#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# alone: it fills the kernel's log, and reads it often
# by kernel: the simulator meets another PCI core
# brief: one kind of slots on each kernel
# vm: -t 240 -m 2G
#
# The simulator by itself, without gpufabric: its three modes, its faults, its
# companion driver, thousands of slots, and that it leaves nothing behind.
#
#   root port 10000:00:00.0 - switch 0 - 10000:02:00.0 ... 07.0 - GPU 10000:03:00.0 ... 0a:00.0
#   root port 10000:00:01.0 - switch 1 - 10000:0c:00.0 ... 07.0 - GPU 10000:0d:00.0 ... 14:00.0

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"

SLOTS=/sys/bus/pci/slots
DEVICES=/sys/bus/pci/devices
LATENCY=/sys/module/gpufabric_sim/parameters/latency_ms

power() { echo "$2" >"$SLOTS/$1/power"; }
knob() { echo "$3" >"$SIM/slot$1/$2"; }
slots_are() { [ "$(find "$SLOTS"/*/ -name power | wc -l)" = "$1" ]; }
state() { cat "$SIM/slot$1/state"; }
state_is() { [[ $(state "$1") == *"$2"* ]]; }
gpus() { grep -lsx 0x030200 $DEVICES/100*/class | wc -l; }
gone() { [ ! -e "$1" ]; }
# A card takes a moment to answer when its link is up.
finds() { echo 1 >"$DEVICES/$1/rescan" && [ -n "$(find "$DEVICES/$1/" -mindepth 1 -maxdepth 1 -name '100*:00.0')" ]; }
power_fault_logged() { dmesg | grep -q "pciehp: Slot(100): Power fault"; }
# How often a slot of mode=own has lost its link since mark_log.
flapped() { [ "$(log_since_mark | grep -c "slot sim0-1: link down")" = "$1" ]; }
driver_of() { basename "$(readlink "$DEVICES/$1/driver" || echo none)"; }
# Start and flags of a BAR, as three words.
bar() { sed -n "$(($2 + 1))p" "$DEVICES/$1/resource"; }

# The same order to many slots at the same time; succeeds if all do.
power_all()
{
	local value=$1 slot pids=() bad=0
	shift

	for slot; do
		power "$slot" "$value" 2>/dev/null &
		pids+=($!)
	done
	for slot in "${pids[@]}"; do
		wait "$slot" || bad=1
	done
	return "$bad"
}

# load "description" PARAMETER...
load()
{
	check "$1" modprobe gpufabric_sim "${@:2}" || bail_out "no simulator"
}

# unload "description": and nothing is left.
unload()
{
	check "$1" rmmod gpufabric_sim
	is "$(find $SLOTS/ $DEVICES/ -name 'sim*' -o -name '1000?:*' | wc -l)" 0 "$1: no device and no slot is left"
	gone "$SIM" && gone /dev/gpufabric-sim
	is $? 0 "$1: no file is left"
}

note "parameters"
while read -r params; do
	mark_log
	# shellcheck disable=SC2086 # several parameters
	check_fails "$params is refused" modprobe gpufabric_sim $params
	like "$(log_since_mark)" "gpufabric_sim: ${params%%=*}=" "and the log says why"
done <<'END'
mode=pciehp2
gpus=0.0:h100
gpus=0.8:l40s
gpus=2.0:l40s
slots=254
switches=0
domains=3
window_gib=3
latency_ms=-2
node=9999
bridges=none
uplink=1 mode=own
switches=90 slots=10
END
mark_log
modprobe gpufabric_sim gpus=0.0:l40s,0.1:l4 2>/dev/null
like "$(log_since_mark)" 'item 2 "0.1:l4": there is no such model' "the log names the item that is wrong"

note "mode=own"
load "mode=own loads" mode=own gpus='0.*:h100-80:off,1.0:mi300x,1.1:l40s:audio'
is "$(find $SLOTS/ -name 'sim*' | wc -l)" 16 "16 slots"
is "$(gpus)" 2 "GPUs that are on at the start are there"
is "$(driver_of 10000:0d:00.0)" gpufabric-sim-gpu "the companion driver has one"
like "$(bar 10000:0d:00.0 0)" '^0x0000140000000000 0x0000143fffffffff ' "its BAR is where firmware put it"
is "$(cat $DEVICES/10000:0e:00.1/driver_override)/$(driver_of 10000:0e:00.1)" gpufabric-sim-none/none "nothing can bind to the audio function"
is "$(cat $SLOTS/sim0-0/adapter)$(cat $SLOTS/sim0-0/power)" 10 "an occupied slot that is off"
is "$(cat $SLOTS/sim1-7/adapter)$(cat $SLOTS/sim1-7/power)" 00 "an empty slot"
check_fails "an empty slot cannot be powered" power sim1-7 1

check "a slot is powered" power sim0-0 1
check_fails "not twice" power sim0-0 1
is "$(cat $DEVICES/10000:03:00.0/driver_override)" gpufabric-sim-gpu "the GPU has a driver override"
is "$(cat $DEVICES/10000:03:00.0/subsystem_vendor):$(cat $DEVICES/10000:03:00.0/subsystem_device)" 0x10de:0x2331 "and the imitated ids as subsystem"
like "$(bar 10000:03:00.0 1)" '^0x0000100000000000 0x0000101fffffffff ' "its BAR of 128 GiB is assigned"
is "$(cat $DEVICES/10000:03:00.0/current_link_speed) $(cat $DEVICES/10000:03:00.0/current_link_width)" "32.0 GT/s PCIe 16" "its link is full"
setpci -s 10000:03:00.0 COMMAND=0x7:0x7
is "$(setpci -s 10000:03:00.0 COMMAND)" 0004 "its memory cannot be enabled"
first=$(cat /dev/gpufabric-sim/sim0-0)
is "$first" "h100-80 6767010000000000" "its device says model and serial"
check "a slot is turned off" power sim0-0 0
check_fails "not twice" power sim0-0 0
check "the GPU is gone" gone $DEVICES/10000:03:00.0

mapfile -t slots < <(basename -a $SLOTS/sim0-*)
for round in 1 2 3; do
	check "8 slots on at the same time, round $round" power_all 1 "${slots[@]}"
	is "$(gpus)" 10 "all GPUs are there"
	check "8 slots off at the same time, round $round" power_all 0 "${slots[@]}"
done
is "$(gpus)" 2 "all GPUs are gone"

note "mode=own: faults"
for fault in power link presence enumerate; do
	knob 0.1 fail $fault
	check_fails "fault $fault: the attach fails" power sim0-1 1
	check "fault $fault: the slot is off" state_is 0.1 "power off, link down, fault none"
	[ "$fault" != presence ] || knob 0.1 surprise insert
	[ "$fault" = presence ] || power sim0-1 1
	check "fault $fault: only once" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
	power sim0-1 0
done
knob 0.1 fail "power 2"
check_fails "a fault can come twice" power sim0-1 1
check_fails "twice" power sim0-1 1
check "and no more" power sim0-1 1
power sim0-1 0
knob 0.1 fail "link@2 2"
is "$(cat "$SIM"/slot0.1/fail)" "link@2 2" "a fault can wait for the second operation"
check "so the first goes well" power sim0-1 1
power sim0-1 0
check_fails "the second does not" power sim0-1 1
check_fails "nor the third" power sim0-1 1
check "the fourth does" power sim0-1 1
power sim0-1 0
for wrong in link@0 link@ @2 "link 0" bar6; do
	check_fails "fault \"$wrong\" is refused" knob 0.1 fail "$wrong"
done
knob 0.1 fail bar
check "fault bar: the slot is on all the same" power sim0-1 1
like "$(bar 10000:04:00.0 1)" '^0x0000000000000000 ' "but the BAR has no address"
power sim0-1 0
for number in 0 1 2 3 4 5; do
	knob 0.1 fail bar$number
	mark_log
	power sim0-1 1
	# A register that is the second half of a BAR breaks that one.
	[ $number = 2 ] || [ $number = 4 ] || which=$number
	like "$(log_since_mark)" "10000:04:00.0: BAR ${which}[ :].*(no space|can't assign)" "fault bar$number: no room for BAR $which"
	power sim0-1 0
done
knob 0.1 bar_bytes $((1 << 43))
check "a BAR larger than the window: the slot is on" power sim0-1 1
like "$(bar 10000:04:00.0 1)" '^0x0000000000000000 ' "but the BAR has no address"
power sim0-1 0
check_fails "a BAR of no power of two is refused" knob 0.1 bar_bytes 3145728
knob 0.1 link "16GT x8"
power sim0-1 1
is "$(cat $DEVICES/10000:04:00.0/current_link_speed) $(cat $DEVICES/10000:04:00.0/current_link_width)" "16.0 GT/s PCIe 8" "a link can train degraded"
like "$(bar 10000:04:00.0 1)" '^0x0000108000000000 ' "and the BAR fits again"
check_fails "what is powered cannot be swapped" knob 0.1 model l40s
power sim0-1 0
knob 0.1 link "slow 60000"
check_fails "a link that trains too slowly is given up" power sim0-1 1
check "and the slot is off" state_is 0.1 "power off, link down"
knob 0.1 link full
knob 0.1 model "l40s bridge"
is "$(cat "$SIM"/slot0.1/model)" "l40s bridge" "a GPU behind a bridge of its card"
mark_log
power sim0-1 1
is "$(cat $DEVICES/10000:04:00.0/class)" 0x060400 "all that is found is the bridge"
like "$(log_since_mark)" "No bus number available" "which has no bus number to give"
power sim0-1 0
knob 0.1 model mi300x
power sim0-1 1
is "$(cat $DEVICES/10000:04:00.0/subsystem_device) $(cat "$SIM"/slot0.1/serial)" "0x74a1 6767050200000001" "another GPU, with a serial of its own"
check_fails "nonsense is refused" knob 0.1 fail smoke
check_fails "nonsense is refused" knob 0.1 surprise explode

note "mode=own: surprises"
knob 0.1 surprise remove
check "a GPU that is pulled out goes" wait_for 10 gone $DEVICES/10000:04:00.0
check "its slot is off and empty" wait_for 10 state_is 0.1 "empty, power off"
check_fails "it cannot be pulled out twice" knob 0.1 surprise remove
knob 0.1 surprise insert
check "put back it comes up by itself" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
is "$(cat "$SIM"/slot0.1/serial)" 6767050200000001 "as the same GPU"
mark_log
knob 0.1 surprise flap
check "a link that flaps" wait_for 10 flapped 1
check "is up again" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
mark_log
knob 0.1 surprise "flap 3"
check "and one that flaps three times" wait_for 10 flapped 3
check "comes back" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
check_fails "no number of times is none" knob 0.1 surprise "flap 0"
knob 0.1 surprise power-fault
check "a GPU whose power fails goes" wait_for 10 flapped 4
check "and comes back when its slot driver has cycled it" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
knob 0.1 surprise button
check "the attention button turns its slot off" wait_for 10 state_is 0.1 "power off"
check_fails "power that is off cannot fail" knob 0.1 surprise power-fault
knob 0.1 surprise button
check "and on" wait_for 10 test -e /dev/gpufabric-sim/sim0-1
echo 60000 >$LATENCY
power_all 1 sim0-2 &
wait_for 10 state_is 0.2 training
knob 0.2 surprise remove
wait $!
is $? 1 "a GPU is pulled out in the middle of an attach, which fails"
check "and leaves the slot off" state_is 0.2 "empty, power off, link down"
echo 10 >$LATENCY
knob 0.2 surprise "insert l40s audio"
check "a different one is put in" wait_for 10 test -e $DEVICES/10000:05:00.1
is "$(cat "$SIM"/slot0.2/model)" "l40s audio" "and is seen"

note "the companion driver"
power sim0-3 1
exec 9</dev/gpufabric-sim/sim0-3
check_fails "an open GPU pins the module" rmmod gpufabric_sim
check "but not the GPU" power sim0-3 0
check_fails "reading fails when it is gone" cat <&9
exec 9<&-
knob 0.3 driver "probe-fail"
power sim0-3 1
is "$(driver_of 10000:06:00.0)" none "a probe can be refused"
power sim0-3 0
power sim0-3 1
is "$(driver_of 10000:06:00.0)" gpufabric-sim-gpu "once"
knob 0.3 driver remove-block
power sim0-3 0 &
wait_for 10 grep -q remove-block "$SIM/slot0.3/driver"
check "a removal that is held does not end" test -e $DEVICES/10000:06:00.0
knob 0.3 driver remove-release
wait $!
is $? 0 "until it is released"
power sim0-3 1
exec 9</dev/gpufabric-sim/sim0-3
knob 0.3 driver remove-wait-close
power sim0-3 0 9<&- &
wait_for 10 grep -q remove-wait-close "$SIM/slot0.3/driver"
check "a removal that waits for users does not end" test -e $DEVICES/10000:06:00.0
exec 9<&-
wait $!
is $? 0 "until the last has gone"

note "a switch that goes and comes"
# A scan of a switch is one of windows as well. Linux 7.3 takes those of empty ports away, and does not
# find room for several large BARs that had room before: so one GPU is there, and no other.
for slot in sim0-{0..7}; do
	[ "$(cat "$SLOTS/$slot/power")" = 0 ] || power "$slot" 0
done
power sim0-3 1
echo 1 >$DEVICES/10000:01:00.0/remove
check "its slots go" wait_for 10 gone $SLOTS/sim0-0
is "$(find $SLOTS/ -name 'sim*' | wc -l)" 8 "the others stay"
echo 1 >/sys/bus/pci/rescan
check "they come back" wait_for 10 slots_are 16
power sim0-3 1
like "$(bar 10000:06:00.0 1)" '^0x00001[0-9a-f]*000 ' "and work"
echo remove >"$SIM/switch0/surprise"
is "$(setpci -s 10000:01:00.0 VENDOR_ID 2>/dev/null)" ffff "a switch that is pulled out does not answer"
check "unload with it missing" rmmod gpufabric_sim
gone $SLOTS/sim1-0
is $? 0 "no slot is left"

note "removals that are held do not hold the module"
load "mode=own loads again" mode=own gpus='*:h100-80,0.1:l40s' acs=1 node=0 latency_ms=0
is "$(cat /dev/gpufabric-sim/sim0-0)" "$first" "a GPU has the same serial after a reload"
like "$(lspci -s 10000:02:00.0 -vv)" 'ACSCtl:.*ReqRedir\+ CmpltRedir\+' "ports redirect if they are told to"
if [ -e $DEVICES/0000:00:00.0/numa_node ]; then
	is "$(cat $DEVICES/10000:03:00.0/numa_node)" 0 "a domain can be on a NUMA node"
fi
echo remove-block >"$SIM/slot0.0/driver"
unload "unload with all GPUs attached, one of them held"

note "mode=bare"
load "mode=bare loads" mode=bare gpus='0.0:h100-80:off,0.1:h100-80'
is "$(find $SLOTS/ -name 'sim*' | wc -l) $(gpus)" "0 1" "no slots, and the GPU whose link is enabled"
setpci -s 10000:02:00.0 CAP_EXP+10.w=0:10
check "enabling a link trains it" wait_for 10 state_is 0.0 "link up"
check "and the card answers" wait_for 10 finds 10000:02:00.0
is "$(driver_of 10000:03:00.0)" gpufabric-sim-gpu "so a rescan finds the GPU"
echo 1 >$DEVICES/10000:03:00.0/remove
setpci -s 10000:02:00.0 CAP_EXP+10.w=10:10
check "disabling a link takes it down" state_is 0.0 "power off, link down"
knob 0.2 surprise "insert a100-40"
check "a card put into an empty slot trains" wait_for 10 state_is 0.2 "link up"
unload "mode=bare unloads"

note "mode=pciehp"
load "mode=pciehp loads" mode=pciehp gpus='0.*:h100-80:off,1.0:l40s'
is "$(readlink $SLOTS/100/module | sed 's#.*/##') $(find $SLOTS/ -name '[12]0[0-9]' | wc -l)" "pciehp 16" "pciehp has 16 slots"
is "$(gpus)" 1 "slots that are off stay off"
mapfile -t slots < <(basename -a $SLOTS/10*)
check "8 slots on at the same time" power_all 1 "${slots[@]}"
is "$(gpus)" 9 "all GPUs are there"
check "8 slots off at the same time" power_all 0 "${slots[@]}"
number=0
for fault in power link presence enumerate bar; do
	knob 0.$number fail $fault
	number=$((number + 1))
done
for number in 0 1 2 3 4; do
	{
		power 10$number 1
		echo $? >/tmp/rc.$number
	} 2>/dev/null &
done
wait
is "$(cat /tmp/rc.?| tr '\n' ' ')" "1 1 1 1 0 " "power, link, presence and enumerate fail, bar does not"
for number in 0 1 2 3; do
	check "slot 10$number is off after it" state_is 0.$number "power off, link down"
done
is "$(cat $SLOTS/102/adapter)" 0 "the card that went is gone"
like "$(bar 10000:07:00.0 1)" '^0x0000000000000000 ' "the BAR has no address"
like "$(lspci -s 10000:02:00.0 -vv)" 'SltSta:.*PowerFlt\+' "the power fault shows in the port"
power_all 1 100 101 103
is $? 0 "faults come once"

knob 0.0 surprise remove
knob 0.1 surprise flap
check "a GPU that is pulled out goes" wait_for 10 gone $DEVICES/10000:03:00.0
check "pciehp turns its slot off" wait_for 10 state_is 0.0 "empty, power off"
knob 0.0 surprise insert
check "put back it comes up by itself" wait_for 10 test -e /dev/gpufabric-sim/100
check_fails "there is no attention button unless one is asked for" knob 0.0 surprise button
knob 0.0 surprise power-fault
check "power that fails shows in the port" wait_for 10 power_fault_logged
check "pciehp cycles it, and the GPU comes back" wait_for 10 state_is 0.0 "power on, link up, fault none"
check "a GPU whose link flapped comes back" wait_for 10 test -e /dev/gpufabric-sim/101
echo 60000 >$LATENCY
power 105 1 2>/dev/null &
wait_for 10 state_is 0.5 training
knob 0.5 surprise remove
wait $!
is $? 1 "a GPU is pulled out in the middle of an attach, which fails"
check "and leaves the slot off" wait_for 10 state_is 0.5 "empty, power off, link down"
unload "mode=pciehp unloads with GPUs attached"
load "mode=pciehp loads again" gpus='0.*:h100-80:off' latency_ms=900
power_all 1 "${slots[@]}" &
wait_for 10 state_is 0.7 training
unload "unload in the middle of 8 attaches"
wait

note "mode=pciehp with switches in slots"
load "mode=pciehp uplink=1 loads" uplink=1 gpus='0.0-1:h100-80:off'
check "a whole switch is turned off" power 8000 0
check "its slots are gone" gone $SLOTS/100
check "it is turned on" power 8000 1
# Both of them: who takes a switch away while pciehp is busy in a slot of it hangs the kernel's pciehp.
check "pciehp powers what is in its slots" wait_for 10 test -e /dev/gpufabric-sim/100
check "all of them" wait_for 10 test -e /dev/gpufabric-sim/101
echo remove >"$SIM/switch0/surprise"
check "a switch that is pulled out goes with all its GPUs" wait_for 20 gone $DEVICES/10000:01:00.0
check "and its slot is turned off" wait_for 10 grep -q "power off" "$SIM/switch0/state"
echo insert >"$SIM/switch0/surprise"
check "put back it comes up" wait_for 10 test -e /dev/gpufabric-sim/100
unload "it unloads"

note "ports without a controller beside ports with one"
for mode in $(modes); do
	load "mode=$mode with both loads" mode="$mode" switches=1 slots=4 \
		gpus='0.0:l40s,0.1:l40s:nohp,0.2:l40s:off:nohp,0.3:none:nohp'
	is "$(find $SLOTS/ -name 'sim*' -o -name '[12]0[0-9]' | wc -l)" 1 "mode=$mode: only those with one have a slot"
	is "$(gpus)" 2 "mode=$mode: GPUs that are on are there"
	like "$(lspci -s 10000:02:00.0 -vv)" "SltCap:.*HotPlug$([ "$mode" = pciehp ] && echo '\+' || echo -)" "mode=$mode: a port with one"
	like "$(lspci -s 10000:02:01.0 -vv)" 'SltCap:.*HotPlug-' "mode=$mode: a port without"
	setpci -s 10000:02:02.0 CAP_EXP+10.w=0:10
	check "mode=$mode: enabling its link trains it" wait_for 10 state_is 0.2 "link up"
	knob 0.3 surprise "insert a100-40"
	check "mode=$mode: so does a card put in" wait_for 10 state_is 0.3 "link up"
	check "mode=$mode: a rescan finds one" wait_for 10 finds 10000:02:02.0
	check "mode=$mode: and the other" wait_for 10 finds 10000:02:03.0
	is "$(driver_of 10000:05:00.0) $(driver_of 10000:06:00.0)" "gpufabric-sim-gpu gpufabric-sim-gpu" "mode=$mode: with their driver"
	check_fails "mode=$mode: there is no attention button" knob 0.1 surprise button
	knob 0.1 surprise remove
	check "mode=$mode: nobody answers when a card is pulled" test -e $DEVICES/10000:04:00.0
	unload "mode=$mode unloads"
done

note "bridges that firmware has not touched"
load "bridges=kernel loads" mode=own bridges=kernel gpus='*:l40s'
is "$(gpus)" 16 "all GPUs are found"
unload "it unloads"

# A debug kernel takes minutes for as many, and their number is not the kernel's.
count=17
[[ $FLAVOUR != debug* ]] && ! elsewhere || count=3
note "thousands"
level=$(cat /proc/sys/kernel/printk)
echo 1 >/proc/sys/kernel/printk
load "$count switches with 241 slots each" mode=own switches=$count slots=241 latency_ms=0 knobs=0 gpus='*:h100-80:off'
is "$(find $SLOTS/ -name 'sim*' | wc -l)" $((count * 241)) "all slots are there"
is "$(find $DEVICES/ -name '100??:00:00.0' | wc -l)" "$count" "in as many domains"
mapfile -t slots < <(basename -a $SLOTS/sim[12]-23*)
check "some of them are powered" power_all 1 "${slots[@]}"
is "$(gpus)" "$(find $SLOTS/ -name 'sim[12]-23*' | wc -l)" "and have their GPUs"
unload "all of them unload"
echo "$level" >/proc/sys/kernel/printk

finish
