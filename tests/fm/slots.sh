# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For fm/sim-agent -s: slots of a stand-in for the simulator, which are folders of $SLOTS with a
# file "card" (a serial number) where there is one, and a file "power" where it is on. $LEDGER
# has a line for all that comes and goes in all hosts, in order, for its lock is held meanwhile.

slots_list()
{
	local path

	for path in "$SLOTS"/*/; do
		path=${path%/}
		echo "${path##*/}"
	done
}

slot_read()
{
	serial='' power=0
	# shellcheck disable=SC2034 # sim-agent reads it
	[ ! -e "$SLOTS/$1/power" ] || power=1
	[ ! -e "$SLOTS/$1/card" ] || read -r serial <"$SLOTS/$1/card"
}

# slot_change ORDER SLOT SERIAL
slot_change()
{
	(
		flock 9
		case $1 in
		put)
			[ ! -e "$SLOTS/$2/card" ] || { echo "slot: it is taken" >&2 && exit 1; }
			[ ! -e "$SLOTS/refuses" ] || { echo "slot: it is broken" >&2 && exit 1; }
			echo "$3" >"$SLOTS/$2/card" ;;
		pull)
			[ ! -e "$SLOTS/$2/power" ] || { echo "slot: it has power" >&2 && exit 1; }
			rm "$SLOTS/$2/card" || exit ;;
		esac
		echo "$1 ${SLOTS##*/} $3" >>"$LEDGER"
	) 9>>"$LEDGER.lock"
}

slot_put()
{
	slot_change put "$1" "$2"
}

slot_pull()
{
	local serial

	read -r serial <"$SLOTS/$1/card" || return
	slot_change pull "$1" "$serial"
}
