#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# in turn: one reset after the other
# alone: it fills the kernel's log, and reads it often
# vm: -t 240
#
# What the simulator's links do to the cards, without gpufabric: a link that goes
# down resets what is behind it, however short, and so does a bus reset; who has not
# saved the registers has lost them. A card can be late, and can stop answering.
#
#   root port 10000:00:00.0 - upstream 10000:01:00.0 - 10000:02:00.0 ... 03.0 - GPU 10000:03:00.0 ... 06:00.0

# shellcheck disable=SC2317 # functions that check and wait_for call
. "$TESTS/vm/lib.sh"

DEVICES=/sys/bus/pci/devices
root=10000:00:00.0
upstream=10000:01:00.0
port=10000:02:00.0
gpu=10000:03:00.0
# Long enough that what is to be seen meanwhile is seen; ended by hand.
LONG=600000

knob() { echo "$2" >"$SIM/slot0.0/$1"; }
state_is() { [[ $(cat "$SIM/slot0.0/state") == *"$1"* ]]; }
register() { setpci -s "$1" "$2"; }
answers() { [ "$(register "$gpu" VENDOR_ID.l)" != ffffffff ]; }
silent() { ! answers; }
held() { [ -e "$DEVICES/$gpu" ] && ! grep -q "^0x0000000000000000 " <(sed -n 2p "$DEVICES/$gpu/resource"); }
link_down_logged() { log_since_mark | grep -qE "(Slot\(100\): Link Down|slot sim0-0: link down)"; }
# What software writes to a card: Command, its large BAR, MSI, Device Control.
registers()
{
	echo "$(register $gpu COMMAND) $(register $gpu BASE_ADDRESS_2.l) $(register $gpu CAP_MSI+2.w) $(register $gpu CAP_EXP+8.w)"
}
# As after a reset; the first word of Device Control depends on nobody.
WIPED="0000 00000000 0080 0000"

# Some of it by hand, as drivers do.
write_registers()
{
	setpci -s $gpu COMMAND=0404 CAP_MSI+2.w=81 CAP_EXP+8.w=2810
	before=$(registers)
}

# With nobody who would answer a link that goes down.
blinks()
{
	write_registers
	like "$before" "^0404 0000[0-9a-f]{4} 0081 2810$" "$mode: registers are written"
	knob surprise "blink $LONG"
	check "$mode: a link blinks" state_is "link training"
	is "$(register $gpu VENDOR_ID.l) $(register $gpu COMMAND)" "ffffffff ffff" "$mode: meanwhile the card does not answer"
	setpci -s $gpu COMMAND=0404
	check "$mode: its functions stay where they are" held
	knob link full
	check "$mode: the link comes up" wait_for 10 state_is "link up"
	check "$mode: and the card answers" wait_for 10 answers
	is "$(registers)" "$WIPED" "$mode: it has forgotten everything"
	is "$(register $gpu VENDOR_ID.l)" "$identity" "$mode: except who it is"
	for ms in 1 50 500; do
		write_registers
		knob surprise "blink $ms"
		check "$mode: a blink of $ms ms ends by itself" wait_for 10 answers
		is "$(register $gpu COMMAND)" 0000 "$mode: and wipes the card as well"
	done
	check_fails "$mode: a blink of no time is none" knob surprise "blink 0"
	check_fails "$mode: nor is one without a time" knob surprise blink

	setpci -s $port BRIDGE_CONTROL=40:40
	check "$mode: while a bus is reset its link is down" state_is "link down"
	check "$mode: and the card does not answer" silent
	setpci -s $port BRIDGE_CONTROL=0:40
	check "$mode: then it trains anew" wait_for 10 state_is "link up"
	check "$mode: and the card answers" wait_for 10 answers
	is "$(register $gpu COMMAND)" 0000 "$mode: with nothing in its registers"
}

# The kernel saves the card's registers and restores them.
resets()
{
	is "$(cat $DEVICES/$gpu/reset_method)" bus "$mode: the card can be reset by its bus alone"
	echo 1 >$DEVICES/$port/rescan
	# Whoever was wiped above is what the kernel saves.
	write_registers
	mark_log
	for slow in 0 300; do
		knob link "slow $slow"
		knob link "late $slow"
		setpci -s $gpu CAP_MSI+2.w=81
		check "$mode: a reset, the link and the card take $slow ms more" sh -c "echo 1 >$DEVICES/$gpu/reset"
		# Nobody has told the kernel that MSI is on, so it does not restore that.
		is "$(registers)" "${before/0081/0080}" "$mode: what the kernel saved is there again, the rest is not"
		check_fails "$mode: nobody takes it for a loss of the link" link_down_logged
		check "$mode: the card stays" held
	done
	knob link full
}

silence()
{
	write_registers
	knob surprise fall-off
	is "$(register $gpu VENDOR_ID.l)" ffffffff "$mode: a card falls off its bus"
	check "$mode: its link is up" state_is "link up, fault none, silent"
	setpci -s $gpu COMMAND=0
	check "$mode: its functions stay where they are" held
	knob surprise come-back
	is "$(registers)" "$before" "$mode: when it is back it has lost nothing, and missed what was written"
	mark_log
	check_fails "$mode: nobody has noticed" link_down_logged
}

late()
{
	knob link "late $LONG"
	knob surprise "blink 1"
	check "$mode: a card is late" wait_for 10 state_is "link up"
	check "$mode: it does not answer though its link is up" silent
	knob surprise come-back
	check "$mode: until it does" answers
	knob link full
}

# A whole switch loses its link: its bridges have no bus numbers then.
whole_switch()
{
	local buses below

	buses=$(register $upstream PRIMARY_BUS.l)
	below=$(register $port PRIMARY_BUS.l)
	echo "blink 200" >"$SIM/switch0/surprise"
	is "$(register $upstream VENDOR_ID.l)" ffffffff "$mode: a switch whose link is down does not answer"
	is "$(register $port VENDOR_ID.l)" ffffffff "$mode: nor do its ports"
	wait_for 10 sh -c "[ \$(setpci -s $upstream VENDOR_ID.l) != ffffffff ]"
	is "$(register $upstream PRIMARY_BUS.l)" 00000000 "$mode: when it is up it has no bus numbers"
	is "$(register $port VENDOR_ID.l)" ffffffff "$mode: and forwards nothing"
	setpci -s $upstream PRIMARY_BUS.l="$buses"
	is "$(register $port PRIMARY_BUS.l)" 00000000 "$mode: nor has its port, once somebody has restored them"
	check "$mode: which forwards nothing either" silent
	setpci -s $port PRIMARY_BUS.l="$below"
	check "$mode: until they are restored" wait_for 10 answers
	setpci -s $root BRIDGE_CONTROL=40:40
	setpci -s $root BRIDGE_CONTROL=0:40
	wait_for 10 sh -c "[ \$(setpci -s $upstream VENDOR_ID.l) != ffffffff ]"
	is "$(register $upstream PRIMARY_BUS.l)" 00000000 "$mode: a bus reset above does the same"
}

# The slot driver answers a link that goes down: the card goes, and comes back.
answered()
{
	for order in "blink 1" "blink 400"; do
		mark_log
		knob surprise "$order"
		check "$mode: $order: the slot driver sees the link go down" wait_for 10 link_down_logged
		check "$mode: $order: and brings the card back" wait_for 10 state_is "power on, link up"
		check "$mode: $order: with addresses" wait_for 10 test -e "/dev/gpufabric-sim/$1"
	done
	mark_log
	setpci -s $port BRIDGE_CONTROL=40:40
	setpci -s $port BRIDGE_CONTROL=0:40
	check "$mode: so does a bus reset that nobody has announced to it" wait_for 10 link_down_logged
	check "$mode: the card comes back" wait_for 10 test -e "/dev/gpufabric-sim/$1"
	check "$mode: with its link up" wait_for 10 state_is "power on, link up"
	knob link "late 300"
	echo 0 >"/sys/bus/pci/slots/$1/power"
	check "$mode: a card that is late is powered" sh -c "echo 1 >/sys/bus/pci/slots/$1/power"
	check "$mode: and found" test -e "/dev/gpufabric-sim/$1"
	knob link full
}

for mode in bare own pciehp; do
	check "$mode: the simulator loads" modprobe gpufabric_sim mode=$mode switches=1 slots=4 'gpus=*:l40s' ||
		bail_out "no simulator"
	identity=$(register $gpu VENDOR_ID.l)
	case $mode in
	bare)
		resets
		late
		silence
		blinks
		whole_switch
		;;
	own)
		resets
		silence
		answered sim0-0
		;;
	pciehp)
		resets
		silence
		answered 100
		;;
	esac
	check "$mode: the simulator unloads" rmmod gpufabric_sim || bail_out "the simulator stays"
done
finish
