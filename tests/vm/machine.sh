# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by cases that change the machine they run on, as a fabric
# manager outside of the host would: they have "# vm: -Q", which makes QEMU's
# monitor a serial port.
#
#   machine_begin                          once, before anything else
#   machine device_add '{"driver": ...}'   a command of QMP, its arguments in JSON
#   machine_said EVENT ID                  wait until the monitor has told it

machine_events=()
machine_id=0

# The monitor greets whoever opens the port, and what the port echoed before it was
# told not to is no command that the monitor understands: the byte that no
# JSON has makes it begin anew.
machine_begin()
{
	local tries

	stty -F /dev/ttyS4 raw -echo && exec 7<>/dev/ttyS4 || return
	for ((tries = 0; tries < 5; tries++)); do
		printf '\xff\n' >&7
		! machine qmp_capabilities "{}" 5 || return 0
	done
	return 1
}

# machine COMMAND [ARGUMENTS [SECONDS]]: the answer is known by its id, others are not ours.
machine()
{
	local line arguments=${2:-"{}"} seconds=${3:-30}

	machine_id=$((machine_id + 1))
	printf '{"execute": "%s", "arguments": %s, "id": %d}\n' "$1" "$arguments" "$machine_id" >&7
	while IFS= read -r -t "$seconds" line <&7; do
		case $line in
		*'"event"'*) machine_events+=("$line") ;;
		*"\"id\": $machine_id,"* | *"\"id\": $machine_id}"*)
			[[ $line == *'"error"'* ]] || return 0
			echo "$1: $line"
			return 1
			;;
		esac
	done
	echo "$1: the monitor does not answer"
	return 1
}

machine_said()
{
	local line i

	for i in "${!machine_events[@]}"; do
		line=${machine_events[i]}
		if [[ $line == *"\"$1\""*"\"$2\""* || $line == *"\"$2\""*"\"$1\""* ]]; then
			unset "machine_events[i]"
			return 0
		fi
	done
	while IFS= read -r -t 30 line <&7; do
		[[ $line != *"\"$1\""*"\"$2\""* && $line != *"\"$2\""*"\"$1\""* ]] || return 0
		[[ $line != *'"event"'* ]] || machine_events+=("$line")
	done
	echo "no $1 of $2"
	return 1
}
