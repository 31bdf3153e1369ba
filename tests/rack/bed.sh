# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the cases of tests/rack/cases, which run on the machine that tests are
# started on, outside of the hosts. A host of the rack is a VM with a switch of QEMU, into
# whose slots devices come from outside: whoever owns the switch speaks to $rack/NAME.qmp.
#
#   rack_start NAME SLOTS      boots a host with slots 101, 102, ... (ports dn0, dn1, ...)
#   rack_start_system NAME SLOTS DISK    the same with a Debian of tests/system/run -d DISK, and a
#                              network between such hosts, which rack_hosts has to name before
#   rack_await NAME            until it does what it is told
#   on NAME COMMAND...         run there; output and status are those of the command
#   gpus_of NAME               ids of the pool's devices that QEMU has in that host
#   rack_cut NAME              the host is dead, without a word
#   rack_end NAME...           an orderly end, with a look at the kernel's log
#
# The functions of tests/vm/lib.sh print the results. All of it is in a network of
# its own (tests/rack/all): nothing leaves it, and ports are free.

: "${top:?}" "${build:?}" "${rack:?}"
# shellcheck source=tests/vm/lib.sh
. "$top/tests/vm/lib.sh"
# shellcheck disable=SC2034 # lib.sh reads it
check_log=$rack/check.log

declare -A rack_port=() rack_pid=()
rack_next_port=2301

# A slot whose device needs no larger window than an empty slot has from the firmware.
rack_ports()
{
	local i out="-device pcie-root-port,id=rp1,chassis=1,slot=1 -device x3130-upstream,id=up1,bus=rp1"

	for ((i = 0; i < $1; i++)); do
		out+=" -device xio3130-downstream,id=dn$i,bus=up1,chassis=$((101 + i)),slot=$((101 + i))"
	done
	echo "$out"
}

# The test has a monitor of its own beside the manager's: two may ask.
rack_start()
{
	local name=$1 slots=$2

	rack_port[$name]=$((rack_next_port++))
	setsid "$top/tests/vm/run" -n -c 1 -m 768M -t "${RACK_LIMIT:-900}" -o "$rack/$name" -N "${rack_port[$name]}" \
		-q "-qmp unix:$rack/$name.qmp,server=on,wait=off -qmp unix:$rack/$name.look,server=on,wait=off" \
		-q "$(rack_ports "$slots")" \
		-f "$build/far:/tests/rack/far" -- "$top/tests/rack/host.sh" "$name" >"$rack/$name.log" 2>&1 </dev/null &
	rack_pid[$name]=$!
}

# Names of the hosts with a network between them, two for now: a cable of UDP on this machine.
rack_hosts=()
rack_cable=2390

rack_start_system()
{
	local name=$1 slots=$2 disk=$3 i here there words=() others=()

	for ((i = 0; i < ${#rack_hosts[@]}; i++)); do
		words=("${rack_hosts[i]}" "10.88.0.$((i + 1))")
		if [ "${rack_hosts[i]}" = "$name" ]; then
			here=$i
			others=("${words[@]}" "${others[@]}")
		else
			there=$i
			others+=("${words[@]}")
		fi
	done
	rack_port[$name]=$((rack_next_port++))
	setsid "$top/tests/system/run" -n -c 1 -m 1G -t "${RACK_LIMIT:-900}" -d "$disk" -o "$rack/$name" -l e1000 -a net.ifnames=0 \
		-q "-qmp unix:$rack/$name.qmp,server=on,wait=off -qmp unix:$rack/$name.look,server=on,wait=off" \
		-q "-netdev user,id=net0,hostfwd=tcp:127.0.0.1:${rack_port[$name]}-:23 -device e1000,netdev=net0" \
		-q "-netdev socket,id=net1,udp=127.0.0.1:$((rack_cable + there)),localaddr=127.0.0.1:$((rack_cable + here))" \
		-q "-device e1000,netdev=net1,mac=52:54:00:88:00:0$((here + 1)) -pidfile $rack/$name.pid" \
		-q "$(rack_ports "$slots")" \
		-f "$build/far:/tests/rack/far" -- "$top/tests/system/rack-host.sh" "${others[@]}" \
		>"$rack/$name.log" 2>&1 </dev/null &
	rack_pid[$name]=$!
}

# on NAME COMMAND...: 255 when the host did not answer within $ON_LIMIT s.
on()
{
	local port=${rack_port[$1]} status=0
	shift

	timeout "${ON_LIMIT:-120}" "$build/far" run "$port" bash -c "$*" 2>&1 || status=$?
	[[ $status != 12[45] ]] || return 255
	return "$status"
}

rack_answers()
{
	on "$1" true
}

rack_await()
{
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		kill -0 "${rack_pid[$1]}" 2>/dev/null || return 1
		! ON_LIMIT=5 rack_answers "$1" || return 0
		nap 1000
	done
	return 1
}

# What QEMU has there that is no part of the bed.
gpus_of()
{
	"$top/tests/rack/qmp" "$rack/$1.look" qom-list '{"path": "/machine/peripheral"}' |
		jq -r '[.[].name | select(test("^gpu"))] | sort | join(" ")'
}

rack_cut()
{
	kill -9 "$(cat "$rack/$1/pid")"
	wait "${rack_pid[$1]}" 2>/dev/null || :
	unset "rack_pid[$1]"
}

rack_end()
{
	local name

	for name in "$@"; do
		on "$name" 'echo end >/run/rack-end' || :
	done
	for name in "$@"; do
		check "$name: the host ends in order, and its kernel has no complaint" wait "${rack_pid[$name]}" ||
			tail -n 20 "$rack/$name.log" | sed 's/^/#   /'
		unset "rack_pid[$name]"
	done
}

# Ids of other processes that are to end with the case, whatever its end.
rack_others=()

rack_clean()
{
	local name

	[ ${#rack_others[@]} -eq 0 ] || kill -CONT "${rack_others[@]}" 2>/dev/null
	[ ${#rack_others[@]} -eq 0 ] || kill "${rack_others[@]}" 2>/dev/null
	for name in "${!rack_pid[@]}"; do
		cat "$rack/$name/pid" "$rack/$name.pid" 2>/dev/null | xargs -r kill 2>/dev/null
		wait "${rack_pid[$name]}" 2>/dev/null
	done
}
trap rack_clean EXIT
