#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Switches and slots that are added and removed at run time, through configfs,
# while gpufabric looks at them and while it works with them.
#
#   root port -- upstream -- 2 slots with an h100-80 each, off       (parameters)
#   root port -- upstream -- 4 slots: h100-80 and l40s audio, off; a100-80; empty
#
# and for domains that several of them share: 2 slots each, an h100-80 in the first
#
# in turn: one switch after the other
# brief: slots of one kind
# alone: it fills the kernel's log, and reads it often
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

SWITCHES=/sys/kernel/config/gpufabric_sim/switches
DEVICES=/sys/bus/pci/devices
CYCLES=8

set_to() { echo "$2" >"$SWITCHES/$1"; }
get() { cat "$SWITCHES/$1"; }
make() { mkdir "$SWITCHES/$1"; }
unmake() { rmdir "$SWITCHES/$1"; }
listed() { gpuctl list | grep -q "^$1 "; }
gone() { [ ! -e "$1" ]; }
in_domain() { find "$DEVICES/" -name "$1:*" | wc -l; }
# Slots that the added switch has in the inventory.
added_slots() { g list | grep -cE '^(sim[1-8]-|[2-9][0-9][0-9] )'; }
added_are() { [ "$(added_slots)" = "$1" ]; }

# describe NAME: the switch of the drawing.
describe()
{
	make "$1" && set_to "$1/slots" 4 || return 1
	make "$1/0" && set_to "$1/0/model" h100-80 && set_to "$1/0/off" 1 || return 1
	make "$1/1" && set_to "$1/1/model" "l40s audio" && set_to "$1/1/off" 1 || return 1
	make "$1/2" && set_to "$1/2/model" a100-80
}

# What is refused says so, and changes nothing.
refusals()
{
	check "$mode: a directory makes a switch" make b
	is "$(get b/index) $(get b/slots) $(get b/enabled) $(get b/domain)" "1 8 0 none" "$mode: with a number of its own, not on a bus"
	check_fails "$mode: a switch without slots is refused" set_to b/slots 0
	check_fails "$mode: one with too many is" set_to b/slots 101
	for word in x -1 +1 01 8; do
		check_fails "$mode: slot \"$word\" is refused" make "b/$word"
	done
	check "$mode: a slot of eight" make b/7
	check_fails "$mode: fewer than a directory speaks of are refused" set_to b/slots 7
	for word in h100 "l40s loud" "none audio" "l40s  audio" ""; do
		check_fails "$mode: model \"$word\" is refused" set_to b/7/model "$word"
	done
	is "$(get b/7/model) $(get b/7/off)" "none 0" "$mode: and changes nothing"
	check_fails "$mode: a switch with slots cannot be removed" unmake b
	unmake b/7
	local i
	for ((i = 0; i < 15; i++)); do
		make "more$i"
	done
	check_fails "$mode: there is room for sixteen" make more15
	check_fails "$mode: the module stays while there are directories" rmmod gpufabric_sim
	rmdir "$SWITCHES"/more*
	check "$mode: a switch that was never enabled is removed" unmake b
}

added()
{
	check "$mode: a switch is described" describe a
	set_to a/enabled 1
	is "$?" 0 "$mode: and enabled"
	is "$(get a/domain)" 10001 "$mode: it has a domain of its own"
	check "$mode: all its slots appear" wait_for 10 added_are 4
	check "$mode: also in gpuctl's list" listed "${new[3]}"
	check "$mode: the GPU that was on is ready" g wait "${new[2]}" ready
	is "$(states "${new[@]}")" "off off ready empty" "$mode: the others are as described"
	check_fails "$mode: what is enabled keeps its number of slots" set_to a/slots 5
	check_fails "$mode: and what it began with" set_to a/0/off 0
	check_fails "$mode: a slot that it does not have" make a/4

	check "$mode: a GPU is attached" g attach "${new[0]}"
	like "$(lspci_gpus)" "10001:03:00.0" "$mode: lspci has it"
	like "$(cat "/dev/gpufabric-sim/${new[0]}")" "^h100-80 " "$mode: its device can be read"
	check "$mode: it is detached" g detach "${new[0]}"
	check "$mode: a card is put into the empty slot" make a/3
	check "$mode: by its model" set_to a/3/model mi300x
	check "$mode: which its slot driver powers" g wait "${new[3]}" ready
	check_fails "$mode: a second one does not fit" set_to a/3/model l40s
	is "$(get a/3/model)" mi300x "$mode: the slot says what is in it"
	check "$mode: it is pulled" set_to a/3/model none
	check "$mode: which is a loss" g wait "${new[3]}" lost
	check "$mode: that can be cleared" g clear "${new[3]}"
	check "$mode: removing a slot's directory pulls its card" unmake a/2
	check "$mode: too" g wait "${new[2]}" lost
	is "$(get a/enabled)" 1 "$mode: the switch stays"
}

# A GPU at a port that nobody can turn off is none of ours.
beside()
{
	make b && set_to b/slots 3 && make b/0 && set_to b/0/model h100-80 && make b/1 &&
		set_to b/1/model l40s
	is "$(get b/0/hotplug)" 1 "$mode: ports have a hot-plug controller"
	check "$mode: unless told otherwise" set_to b/1/hotplug 0
	set_to b/enabled 1
	check "$mode: slots beside such a port" wait_for 10 added_are 2
	check "$mode: have their GPU" g wait "${new[0]}" ready
	check_fails "$mode: and keep their controller" set_to b/0/hotplug 0
	check_fails "$mode: the port itself is no slot" g state "${new[1]}"
	is "$(lspci_gpus)" "10001:03:00.0 10001:04:00.0" "$mode: lspci has both GPUs"
	is "$(listed_gpus)" 10001:03:00.0 "$mode: we list that of the slot"
	rmdir "$SWITCHES"/b/? "$SWITCHES/b"
	check "$mode: the switch is removed" wait_for 10 added_are 0
	is "$(lspci_gpus)" "" "$mode: with all GPUs"
}

# window ADDRESS: size of the prefetchable window of a bridge
window()
{
	lspci -D -v -s "$1" | sed -nE 's/.*Prefetchable memory behind bridge:.*\[size=([0-9A-Z]+)\].*/\1/p'
}

# bus ADDRESS: which buses are below a bridge
bus()
{
	echo "$(<"$DEVICES/$1/secondary_bus_number") $(<"$DEVICES/$1/subordinate_bus_number")"
}

roots() { find "$DEVICES/" -name '10001:00:*' | sed 's|.*/||' | sort | xargs; }
# The name that slot 0 of the switch in directory $1 has.
first_of() { name 0 "$(get "$1/index")"; }

# pair NAME: a switch with two slots, in the domain of the first
pair()
{
	make "$1" && set_to "$1/slots" 2 && make "$1/0" && set_to "$1/0/model" h100-80 &&
		set_to "$1/0/off" 1 && set_to "$1/host" 3
}

# Switches that share a domain come and go one by one.
shared()
{
	local sw
	for sw in a b c; do
		check "$mode: a switch that shares a domain" pair "$sw"
	done
	is "$(get a/host) $(get a/window_gib) $(get a/bridges)" "3 512 firmware" "$mode: says what it will be like"
	check "$mode: one with smaller windows" set_to b/window_gib 256
	for word in 0 3 16384 x; do
		check_fails "$mode: windows of \"$word\" are refused" set_to b/window_gib "$word"
	done
	check_fails "$mode: a domain that there cannot be" set_to b/host 16
	check_fails "$mode: bridges that nobody sizes" set_to b/bridges nobody
	set_to a/enabled 1 && set_to b/enabled 1 && set_to c/enabled 1
	is "$? $(get a/domain) $(get b/domain) $(get c/domain)" "0 10001 10001 10001" "$mode: they are in one domain"
	is "$(roots)" "10001:00:00.0 10001:00:01.0 10001:00:02.0" "$mode: each below a root port"
	is "$(bus 10001:00:00.0), $(bus 10001:00:01.0), $(bus 10001:00:02.0)" "1 4, 5 8, 9 12" "$mode: with buses of its own"
	is "$(window 10001:00:00.0) $(window 10001:00:01.0)" "1T 512G" "$mode: and windows as it was told"
	check_fails "$mode: which cannot be changed now" set_to b/window_gib 1024
	check_fails "$mode: nor the domain" set_to b/host 4
	check "$mode: their slots appear" wait_for 10 added_are 6
	for sw in a b c; do
		check "$mode: the GPU in $sw is attached" g attach "$(first_of "$sw")"
	done
	is "$(lspci_gpus)" "10001:03:00.0 10001:07:00.0 10001:0b:00.0" "$mode: lspci has all three"
	set_to b/enabled 0
	is "$?" 0 "$mode: the one in the middle is taken away"
	is "$(roots)" "10001:00:00.0 10001:00:02.0" "$mode: with its root port alone"
	check "$mode: its slots leave the list" wait_for 10 added_are 4
	is "$(states "$(first_of a)" "$(first_of c)")" "ready ready" "$mode: the others have not noticed"
	check "$mode: a larger one does not need to fit there" set_to b/slots 5
	check "$mode: it comes back" set_to b/enabled 1
	is "$(bus 10001:00:01.0)" "13 19" "$mode: behind the others"
	check "$mode: with all its slots" wait_for 10 added_are 9
	check "$mode: its GPU is attached" g attach "$(first_of b)"
	# The kernel makes windows for what it finds.
	pair d && set_to d/0/off 0 && set_to d/bridges kernel
	check_fails "$mode: one whose bridges the kernel sizes does not go with them" set_to d/enabled 1
	is "$(get d/enabled) $(get d/domain)" "0 none" "$mode: and stays away"
	check "$mode: it may have a domain with others like it" set_to d/host 5
	pair e && set_to e/0/off 0 && set_to e/bridges kernel && set_to e/host 5
	set_to d/enabled 1 && set_to e/enabled 1
	is "$? $(get d/domain) $(get e/domain)" "0 10002 10002" "$mode: two of them in a domain"
	check "$mode: their slots appear" wait_for 10 added_are 13
	for sw in d e; do
		check "$mode: the GPU in $sw is ready" g wait "$(first_of "$sw")" ready
	done
	pair f && set_to f/host 6 && set_to f/slots 100 && pair g && set_to g/host 6 && set_to g/slots 100 &&
		pair h && set_to h/host 6 && set_to h/slots 100
	set_to f/enabled 1 && set_to g/enabled 1
	is "$?" 0 "$mode: two switches of 100 slots fit into a domain"
	check_fails "$mode: three do not" set_to h/enabled 1
	rmdir "$SWITCHES"/[a-h]/? "$SWITCHES"/[a-h]
	check "$mode: all are removed" wait_for 10 added_are 0
	is "$(in_domain 10001) $(in_domain 10002) $(in_domain 10003)" "0 0 0" "$mode: with their domains"
}

# Goes with all that is attached and claimed in it; the others do not notice.
removed()
{
	check "$mode: a set across both switches" g compose pair "${all[0]}" "${new[0]}"
	exec 9<"/dev/gpufabric-sim/${new[0]}"
	set_to a/enabled 0
	is "$?" 0 "$mode: the switch is taken away"
	check_fails "$mode: who has its GPU open is told" cat <&9
	is "$(in_domain 10001)" 0 "$mode: its devices are gone"
	check "$mode: its slots leave the list" wait_for 10 added_are 0
	like "$(g compositions)" "^pair degraded" "$mode: the set is degraded"
	is "$(states "${all[@]}")" "ready off" "$mode: the other switch has not noticed"
	check "$mode: the set is released" g release pair
	gone "$SIM/switch1" && gone "$SIM/slot1.0"
	is "$?" 0 "$mode: its knobs are gone"
	is "$(get a/0/model) $(get a/domain)" "h100-80 none" "$mode: its description stays"

	set_to a/enabled 1
	check "$mode: enabled again it is there" wait_for 10 added_are 4
	check_fails "$mode: who had the GPU open still has none" cat <&9
	exec 9<&-
	check "$mode: a GPU is attached" g attach "${new[0]}"
	rmdir "$SWITCHES"/a/?
	check "$mode: all cards are pulled" g wait "${new[0]}" lost
	check "$mode: the directory of an enabled switch is removed" unmake a
	check "$mode: and the switch with it" wait_for 10 added_are 0
}

# Someone who does not know that the switch comes and goes.
insist()
{
	while [ ! -e /tmp/enough ]; do
		g attach "$1"
		g detach "$1"
	done >/dev/null 2>&1
}

under_load()
{
	local i pids=() slot
	rm -f /tmp/enough
	check "$mode: a switch is described" describe a
	for slot in "${new[@]:0:2}" "${all[1]}"; do
		insist "$slot" &
		pids+=($!)
	done
	for ((i = 0; i < CYCLES; i++)); do
		set_to a/enabled 1 || break
		# Half of the time there is enough of it to begin something.
		((i % 2)) || wait_for 10 added_are 4
		set_to a/enabled 0 || break
		wait_for 10 added_are 0
	done
	is "$i" "$CYCLES" "$mode: it came and went while its GPUs were attached"
	count "configfs.cycles" "$i"
	touch /tmp/enough
	wait "${pids[@]}"
	check "$mode: it leaves no slot" wait_for 10 added_are 0
	set_to a/enabled 1
	check "$mode: it is enabled" wait_for 10 added_are 4
	check "$mode: its slot comes to rest" g wait "${new[0]}" off
	check "$mode: and works" g attach "${new[0]}"
	check "$mode: so does the other switch" g attach "${all[0]}"
	rmdir "$SWITCHES"/a/?
	check "$mode: it is removed" unmake a
	check "$mode: and is gone" wait_for 10 added_are 0
}

for mode in $(brief own "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=2 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 1)"
	new=()
	for i in 0 1 2 3; do
		new+=("$(name "$i" 1)")
	done
	refusals
	beside
	shared
	added
	removed
	under_load
	check "$mode: the modules unload" unload || bail_out "the modules stay"
	is "$(find /sys/bus/pci/slots/ $DEVICES/ -name 'sim*' -o -name '1000?:*' | wc -l)" 0 "$mode: no device and no slot is left"
	gone "$SWITCHES" && gone "$SIM" && gone /dev/gpufabric-sim
	is "$?" 0 "$mode: no file is left"
done
finish
