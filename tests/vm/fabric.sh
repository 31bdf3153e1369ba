# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by cases that drive a simulated fabric with the test
# client (tests/selftests/gfclient.c), which they bring along:
#
#   # before: tests/selftests/build
#   # vm: -f build/selftests/gfclient
#
#   load MODE [PARAMETERS]   both modules; MODE is own, pciehp or bare
#   unload                   both, as soon as the last operation is over
#   name N [SWITCH]          the name of a slot in this mode
#   names FIRST LAST         several of switch 0
#   knob N FILE ORDER        of the simulator, slot N of switch 0
#   states SLOT...           their states in one line
#   follow; seen REGEX; unfollow    listen to events; wait for one that matches;
#                            each is looked at once, in order

g()
{
	"$TESTS/gfclient" "$@"
}

mode=own

load()
{
	local bare=()

	mode=$1
	shift
	[ "$mode" != bare ] || bare=(bare_ports=all)
	modprobe gpufabric_sim mode="$mode" "$@" && modprobe gpufabric "${bare[@]}"
}

# An operation holds the module a moment longer than its last event.
unload()
{
	wait_for 10 rmmod gpufabric && wait_for 10 rmmod gpufabric_sim && return
	cat /proc/modules
	g list
	g compositions
	return 1
}

name()
{
	if [ "$mode" = pciehp ]; then
		echo $(((${2:-0} + 1) * 100 + $1))
	else
		echo "sim${2:-0}-$1"
	fi
}

names()
{
	local i

	for ((i = $1; i < $2; i++)); do
		printf '%s ' "$(name "$i")"
	done
	name "$2"
}

knob()
{
	echo "$3" >"$SIM/slot0.$1/$2"
}

states()
{
	local listed state text='' rc=0

	listed=$(g list "$@") || rc=$?
	while read -r _ state _; do
		text+=" $state"
	done <<<"$listed"
	echo "${text# }"
	return "$rc"
}

# The same word so often, as states prints it.
times()
{
	local i text=

	for ((i = 0; i < $1; i++)); do
		text+=" $2"
	done
	echo "${text# }"
}

# Addresses of the simulated GPUs that the PCI core knows, and that we list.
lspci_gpus()
{
	local listed address found=

	listed=$(lspci -D -n -d 6767::0302 | sort)
	while read -r address _; do
		found+=" $address"
	done <<<"$listed"
	echo "${found# }"
}

listed_gpus()
{
	local listed address found=

	listed=$(g list) || return
	while read -r _ _ _ _ _ _ address _; do
		[ "${address:--}" = - ] || found+=$address$'\n'
	done <<<"$listed"
	found=$(sort <<<"${found%$'\n'}")
	echo "${found//$'\n'/ }"
}

# Events since follow are kept until seen asks for them.
follow()
{
	coproc EVENTS { exec "$TESTS/gfclient" events end; }
	seen ' start$'
}

seen()
{
	local line

	while IFS= read -r -t $((30 * SLOW)) line <&"${EVENTS[0]}"; do
		[[ ! $line =~ $1 ]] || return 0
	done
	echo "no event matched $1" >&2
	return 1
}

unfollow()
{
	local in=${EVENTS[1]} pid=$EVENTS_PID

	exec {in}>&-
	wait "$pid"
}
