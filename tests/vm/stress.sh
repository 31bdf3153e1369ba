# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many clients, readers and accidents at once; sourced by the stress cases with
# $MODE set. What a request gets that races with others is not judged. But all
# must end, nothing may stay claimed, stuck or half-done, the modules must
# unload, and the kernel must have nothing to say: see tests/vm/klog. Most workers and whoever
# looks in between are the small test client, which starts no programs: a kernel that watches
# itself takes a second to start gpuctl. So they do $often times what gpuctl does once.

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
exec 3>&1	# checks keep the output of what they run

: "${MODE:?own or pciehp}" "${ROUNDS:=${1:-1}}"
# Slots that have workers of their own, of switch 0 and of both.
read -ra busy <<<"$(brief "0 1 2 3" "0 1 2 3 4 5 6 7")"
read -ra crowded <<<"$(brief "0 1" "0 1 2 3")"
often=$((ROUNDS * 3))

# try_knob SWITCH SLOT FILE TEXT: refused when it makes no sense at the moment.
try_knob()
{
	echo "$4" >"$SIM/slot$1.$2/$3" 2>/dev/null || true
}

group=()
workers=()
log=/tmp/stress.log
: >"$log"

# start COMMAND...: in the background; join waits for it.
start()
{
	{ "$@" || echo "$* ended with status $?"; } >>"$log" 2>&1 &
	group+=($!)
}

# worker LINE: one of the crowd that join lets loose; see tests/selftests/crowd.h.
worker()
{
	workers+=("$1")
}

crowd()
{
	local IFS=$'\n'

	g crowd "$often" <<<"${workers[*]}" >>"$log" 2>&1
}

# join "description": all that was started, and the crowd, came to its end, and well.
join()
{
	local rc=0

	crowd || rc=$?
	wait "${group[@]}"
	group=()
	workers=()
	is "$rc $(grep 'ended with status' "$log")" "0 " "$1" || tail -n 40 "$log" | sed 's/^/#   /'
	: >"$log"
}

repeat()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		"$@" || return
	done
}

any()
{
	"$@" || true
}

# attach_detach SLOT [any]: a worker's line.
attach_detach()
{
	worker "${2-} attach $1 ; ${2-} detach $1"
}

# There may be no free GPU at the moment (3), or another took it first (4).
compose_release()
{
	local name=$1 rc=0
	shift

	gpuctl compose "$name" "$@" || rc=$?
	case $rc in
	0) gpuctl release "$name" ;;
	3|4) ;;
	*) return "$rc" ;;
	esac
}

# Behind the module's back, as an administrator would.
power_on_off()
{
	worker "write /sys/bus/pci/slots/$1/power 1 ; write /sys/bus/pci/slots/$1/power 0"
}

# surprise SWITCH SLOT
surprise()
{
	local knob=$SIM/slot$1.$2/surprise

	worker "write $knob remove ; write $knob insert a100-80 ; write $knob flap"
}

# One failure in the middle of whatever comes next.
fail_next()
{
	local slot fault line=''

	slot=$(name "$2" "$1")
	for fault in power link presence enumerate bar; do
		line+="write $SIM/slot$1.$2/fail $fault ; any attach $slot ; any detach $slot ; any clear $slot ; "
	done
	worker "$line"
}

look()
{
	gpuctl -j list >/dev/null || return
	# Slots may go while they are read.
	cat /sys/class/gpufabric/*/uevent >/dev/null 2>&1 || true
}

# Refused while somebody reads from the module.
reload()
{
	wait_for 30 rmmod gpufabric && modprobe gpufabric
}

settled()
{
	local file events

	for file in /sys/class/gpufabric/*/uevent; do
		read -r -d '' events <"$file" || [ -n "$events" ] || return 1
		[[ $events != *GPUFABRIC_ACTIVITY=* || $events = *GPUFABRIC_ACTIVITY=none* ]] || return 1
	done
}

# all_slots LINE STATE...: what a crowd is to do with each slot that is in one of these; SLOT
# is its name.
all_slots()
{
	local line=$1 listed slot state text=''
	shift

	listed=$(g list) || return
	while read -r slot state _; do
		[[ " $* " != *" $state "* ]] || text+=${line//SLOT/$slot}$'\n'
	done <<<"$listed"
	[ -z "$text" ] || g crowd 1 <<<"$text"
}

# Every slot with a card, without a fault, and off.
reset_slots()
{
	local n

	for n in 0 1 2 3 4 5 6 7; do
		try_knob 0 "$n" fail none
		try_knob 0 "$n" surprise "insert h100-80"
	done
	for n in 0 1 2 3; do
		try_knob 1 "$n" surprise "insert l40s"
	done
	wait_for 60 settled
	all_slots "any clear SLOT" fault lost
	all_slots "any -f detach SLOT" ready fault lost
} >/dev/null 2>&1

# The number of slots in each state, those first that all end in.
all_states()
{
	local listed state text=''
	local -A number=()

	listed=$(g list) || return
	while read -r _ state _; do
		number[$state]=$((${number[$state]-0} + 1))
	done <<<"$listed"
	for state in empty off "${!number[@]}"; do
		[[ " $text" == *" $state "* ]] || text+="$state ${number[$state]-0} "
	done
	echo "${text% }"
}

# What could not be released while somebody else had its slots in their hands can be now.
release_left()
{
	local listed name rc=0

	listed=$(g compositions) || return
	[ -n "$listed" ] || return 0
	while read -r name _; do
		gpuctl show "$name" | sed 's/^/# left: /' >&3
		gpuctl release "$name" || rc=1
	done <<<"$listed"
	return "$rc"
}

# A card that was just put in may be noticed after its slot was looked at.
brought_back()
{
	reset_slots
	[ "$(all_states)" = "empty 4 off 12" ]
}

# After each part: nothing is left of it.
at_rest()
{
	check "$1: all slots come to rest" wait_for 60 settled
	check "$1: a composition that is left can be released" release_left
	check "$1: all slots can be brought back" wait_for 3 brought_back
	is "$(g compositions; echo $?)" 0 "$1: no composition is left"
}

mode=$MODE
check "the simulator loads" modprobe gpufabric_sim "mode=$MODE" switches=2 slots=8 \
	'gpus=0.*:h100-80:off,1.0-3:l40s:on' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric || bail_out "no module"
gpuctl watch >/tmp/watch 2>&1 &
watcher=$!

for n in "${busy[@]}"; do
	attach_detach "$(name "$n")"
done
start repeat look
join "slots attach and detach in parallel"

for name in $(brief c "a b c"); do
	start repeat compose_release "$name" --gpus 3
done
worker "try compose d $(names 0 2) ; release d"
worker "try compose e $(names 2 5) ; release e"
start repeat look
join "compositions compete"
at_rest "after compositions"

for n in "${crowded[@]}"; do
	power_on_off "$(name "$n")"
	attach_detach "$(name "$n")" any
done
start repeat any compose_release a --gpus 2
join "somebody else uses the power files"
at_rest "after power files"

for n in "${crowded[@]}"; do
	surprise 0 "$n"
	attach_detach "$(name "$n")" any
	surprise 1 "$n"
done
start repeat any compose_release a --gpus 4
start repeat any compose_release b --gpu l40s:2
start repeat look
join "cards go and come"
at_rest "after surprises"

for n in 0 1; do
	fail_next 0 $n
done
for n in 2 3; do
	try_knob 0 $n fail power
done
start any compose_release a --gpus 8
start any compose_release b --gpus 4
join "attaches fail"
at_rest "after failures"

# The driver of a GPU does not let go.
slot=$(name 0)
check "attach a GPU with a driver" gpuctl attach "$slot"
try_knob 0 0 driver remove-block
check_rc 7 "a detach that hangs is given up" gpuctl detach --timeout 1s "$slot"
check_fails "gpufabric stays while that hangs" rmmod gpufabric
try_knob 0 0 driver remove-release
at_rest "after a stuck detach"

for n in "${crowded[@]}"; do
	surprise 0 "$n"
	power_on_off "$(name "$n" 1)"
done
start repeat any look
start repeat reload
join "gpufabric is reloaded meanwhile"
at_rest "after reloads"

kill "$watcher" 2>/dev/null
check "gpufabric unloads" rmmod gpufabric
check "the simulator unloads" rmmod gpufabric_sim
if [ -e /proc/lockdep_stats ]; then
	is "$(awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats)" 1 \
		"lockdep saw it all"
fi
finish
