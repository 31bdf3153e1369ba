# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after bed.sh and fm.sh: hosts whose slots and cards are our simulator's, and a manager
# with the driver "sim", which speaks to an agent in each host over a serial port.
#
#   sim_start NAME SLOTS       boots a host; slots are 100, 101, ... (ports 0.0, 0.1, ...)
#   sim_begin NAME SLOTS       its modules and its agent, once it answers
#   sim_agent NAME             the agent alone
#   cards_of NAME              GPUs whose cards the simulator of that host has
#   ready_of NAME              GPUs that gpufabric has ready there, by their serial numbers
#
# fm_start and fm_introduce are as in fm.sh.

# shellcheck disable=SC2004,SC2034,SC2154 # bed.sh and fm.sh declare what is theirs
: "${top:?}" "${build:?}" "${rack:?}"

sim_start()
{
	local name=$1

	rack_port[$name]=$((rack_next_port++))
	setsid "$top/tests/vm/run" -n -c 1 -m 768M -t "${RACK_LIMIT:-900}" -o "$rack/$name" -N "${rack_port[$name]}" -a 8250.nr_uarts=5 \
		-q "-chardev socket,id=agent,path=$rack/$name.agent,server=on,wait=off -device pci-serial,chardev=agent" \
		-f "$build/far:/tests/rack/far" -f "$build/sim-agent:/tests/rack/sim-agent" \
		-- "$top/tests/rack/host.sh" "$name" >"$rack/$name.log" 2>&1 </dev/null &
	rack_pid[$name]=$!
}

sim_begin()
{
	on "$1" "mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
		modprobe gpufabric_sim switches=1 slots=$2 gpus='*:none' && modprobe gpufabric" && sim_agent "$1"
}

# Starts the agent of a host, whose id is in /run/sim-agent.pid there.
sim_agent()
{
	# shellcheck disable=SC2016 # the guest expands it
	on "$1" 'setsid /tests/rack/sim-agent /dev/ttyS4 </dev/null >/dev/null 2>&1 & echo $! >/run/sim-agent.pid'
}

serial_of()
{
	printf '67670000%08x' "${1#gpu}"
}

# In place of those of fm.sh.
fm_lines=$'[switch]\ndriver = sim'
fm_socket=agent
fm_ports=0.
fm_gpu()
{
	printf 'card = h100-80\nserial = %s\npci = 6767:0001\nsubsystem = 10de:2331\nclass = 030200\n' "$(serial_of "$1")"
}

# Its slots are 100, 101, ... where the manager counts from 1.
fm_introduce()
{
	awk '/^ports = / { for (i = 3; i <= NF; i++) { split($i, part, "="); $i = 99 + part[1] "=" part[2] } } { print }' \
		"$fm_folder/hosts/$1.conf" | give "$1" /etc/gpuctl/fabric.d/rack.conf
}

gpus_from_serials()
{
	local serial all=''

	while read -r serial; do
		[[ $serial != 67670000* ]] || all+=" gpu$((16#${serial#67670000}))"
	done
	echo "${all# }"
}

cards_of()
{
	# shellcheck disable=SC2016 # the guest expands it
	on "$1" 'for slot in /sys/kernel/debug/gpufabric_sim/slot0.*; do read -r there <"$slot/presence"; [ "$there" = 0 ] || cat "$slot/serial"; done' |
		sort | gpus_from_serials
}

ready_of()
{
	on "$1" gpuctl -j list | jq -r '.slots[] | select(.state == "ready") | .serial // empty' | tr -d - | tr A-F a-f | sort | gpus_from_serials
}
