#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GPUs follow demand: ten minutes of three tenants, on a clock of the case's own;
# GPUs that somebody holds stay, and a planner that is killed is gone on from. What moves
# cost is what the module measured, when that is asked for.
#
#   root port -- upstream -- sim0-0 ... sim0-3 and another switch with sim1-0 ... sim1-3,
#   an h100-80 each, off
#
# in turn: the planner moves one GPU after the other
# before: tests/selftests/build
# vm: -t 600 -f build/selftests/gfclient

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2317,SC2016

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

dir=/tmp/plan
hooks=/etc/gpuctl/hooks.d
planner=

# Slots of each of the three.
all_have()
{
	gpuctl -j list | jq -r '.compositions as $all | ["vision1", "speech1", "guests1"] |
		map(. as $name | [$all[] | select(.name == $name) | .slots[]] | length | tostring) | join(" ")'
}

# series NAME DEMAND...: minute by minute, from 0.
series()
{
	local name=$1 minute=0 gpus
	shift

	mkdir -p $dir/series
	{
		echo minute,quota_gpus,running_gpus,pending_gpus
		for gpus; do
			echo "$minute,4,0,$gpus"
			minute=$((minute + 1))
		done
	} >"$dir/series/$name.csv"
}

# demand HOLD: the three workloads; all of them may be behind both switches.
demand()
{
	cat >$dir/demand.json <<-END
		{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 3, "detach_s": 1,
		  "workloads": [
		    { "name": "vision1", "tenant": "vision", "span": 2, "hold": $1, "kinds": ["h100-pcie-80"] },
		    { "name": "speech1", "tenant": "speech", "span": 2, "hold": $1, "kinds": ["h100-pcie-80"] },
		    { "name": "guests1", "tenant": "guests", "span": 2, "hold": $1, "gang": true,
		      "kinds": ["h100-pcie-80"] } ] }
	END
}

# start_planner [OPTION...]
start_planner()
{
	rm -f $dir/clock
	mkfifo $dir/clock
	gpuctl plan run "$@" --clock $dir/clock $dir/demand.json $dir/series >$dir/out 2>$dir/err &
	planner=$!
	exec 7>$dir/clock
}

# The clock ends, and so does the planner.
stop_planner()
{
	exec 7>&-
	wait "$planner"
}

told()
{
	grep -q "^minute $1: " "$dir/out" || grep -q "minute $1: " "$dir/err"
}

tick()
{
	echo "$1" >&7
	wait_for 60 told "$1" || { cat $dir/out $dir/err; return 1; }
}

all_quiet()
{
	[[ $(g status) == *" operations 0 "* ]] &&
		[ -z "$(g list | awk '$2 != "off" && $2 != "ready"')" ]
}

# Whatever was under way has ended, and every GPU is in a composition, or in none and free.
at_rest()
{
	wait_for 30 all_quiet || { g status; g list; return 1; }
}

check "the modules load" load own switches=2 slots=4 latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "the GPUs are known" gpuctl scan
mkdir -p $dir /etc/gpuctl/tenants.d
cat >/etc/gpuctl/tenants.d/10.conf <<-'END'
	[vision]
	guarantee = 1

	[speech]
	limit = 6

	[guests]
END

note "a step, and its moves"
series vision1 4 4 2 2 2 1 1 4 4 6
series speech1 2 2 4 6 6 3 3 0 0 2
series guests1 0 0 0 0 0 4 4 4 4 0
demand 0
check "a step is planned" gpuctl plan step --minute 0 $dir/demand.json $dir/series
gpuctl -j plan step --minute 0 $dir/demand.json $dir/series >$dir/moves.json
is "$(jq -r '[.steps[] | .action + " " + .workload + " " + ([.to[].gpus] | add | tostring)] | join(", ")' $dir/moves.json)" \
	"compose vision1 4, compose speech1 2" "who needs GPUs gets them"
is "$(all_have)" "0 0 0" "a step moves nothing"
like "$(gpuctl -n plan apply $dir/moves.json)" "compose .*to be done" "nor does -n"
is "$(all_have)" "0 0 0" "indeed"
check "the moves are made" gpuctl plan apply $dir/moves.json
is "$(all_have)" "4 2 0" "everybody has what was planned"
like "$(gpuctl -j plan apply $dir/moves.json)" '"outcome": ?"done before"' "again there is nothing to do"
is "$(gpuctl -j plan step --minute 1 $dir/demand.json $dir/series | jq '.steps | length')" 0 "nor is there in the next minute"
gpuctl -j plan step --minute 4 $dir/demand.json $dir/series >$dir/later.json
is "$(jq -r '[.steps[].workload] | join(" ")' $dir/later.json)" "vision1 speech1" "later one gives what the other gets"
use_gpus vision1
check_rc 4 "GPUs that somebody has taken hold of since are not taken" gpuctl plan apply $dir/later.json
is "$(all_have)" "4 2 0" "and nothing has moved"
let_go
jq '.steps[0].host = "elsewhere"' $dir/moves.json >$dir/other.json
like "$(gpuctl plan apply $dir/other.json)" "elsewhere .*on another host" "what is for another host is said"
check "somebody else resizes it" gpuctl resize vision1 --gpus -1
check_rc 1 "a plan that the present does not fit is not gone on with" gpuctl plan apply $dir/moves.json
like "$(gpuctl plan apply $dir/moves.json 2>&1)" "vision1 has .* h100-pcie-80 behind .*: it was changed since the plan was made" "as it says"
for name in vision1 speech1; do
	check "$name is released" gpuctl release $name
done
jq '.workloads[0].kinds = ["l40s"]' $dir/demand.json >$dir/other.json
is "$(gpuctl -j plan step --minute 0 $dir/other.json $dir/series | jq -r '[.steps[].workload] | join(" ")')" speech1 \
	"who wants GPUs of which there are none is no obstacle to others"
jq '.workloads[0].kinds = ["l40t"]' $dir/demand.json >$dir/other.json
check_rc 2 "a kind that nobody knows is a mistake" gpuctl plan step --minute 0 $dir/other.json $dir/series

note "ten minutes"
start_planner
check "minute 0" tick 0
is "$(all_have)" "4 2 0" "GPUs are where they are needed"
check_rc 4 "there is one planner" gpuctl plan apply $dir/moves.json
check "minute 1" tick 1
is "$(all_have)" "4 2 0" "nothing moves without need"
use_gpus vision1
before=$(slots_of vision1 | xargs)
check "minute 2" tick 2
is "$(all_have)" "4 4 0" "what is free goes to who needs it"
check "minute 3" tick 3
is "$(all_have)" "4 4 0" "what is held does not"
is "$(slots_of vision1 | xargs)" "$before" "no held GPU has moved"
like "$(gpuctl -j plan step --minute 3 $dir/demand.json $dir/series | jq -c .kept)" '^1$' "as a step says"
let_go
check "minute 4" tick 4
is "$(all_have)" "2 6 0" "once it is let go it moves"
check "minute 5" tick 5
is "$(all_have)" "1 3 4" "a gang gets all that it needs"
check "minute 6" tick 6
is "$(all_have)" "1 3 4" "and keeps it"
check "minute 7" tick 7
is "$(all_have)" "4 0 4" "who needs none gives all of them back to who does"
check "minute 8" tick 8
check "minute 9" tick 9
is "$(all_have)" "6 2 0" "and so to the end"
check "the planner ends with its clock" stop_planner
is "$(cat $dir/err)" "" "without a complaint"
count plan.minutes 10

note "hysteresis"
series vision1 4 2 4 2 4 2
series speech1 4 6 4 6 4 6
series guests1 0 0 0 0 0 0
demand 4
start_planner
check "minute 0 again" tick 0
is "$(all_have)" "4 4 0" "a new beginning"
for minute in 1 2 3; do
	check "minute $minute" tick $minute
	is "$(all_have)" "4 4 0" "what came is held"
done
check "minute 5, the hold is over" tick 5
is "$(all_have)" "2 6 0" "then it goes"
check "it ends" stop_planner
demand 0

note "killed at each event of its moves"
series vision1 4 2
series speech1 4 6
series guests1 0 0
killed=0 finished=0 have=$(all_have)
for n in 0 1 2 3 4 5 6 7 8 10 12 16; do
	minute=$((n % 2))
	want=$([ $minute -eq 0 ] && echo "4 4 0" || echo "2 6 0")
	[ "$have" != "$want" ] || minute=$((1 - minute))
	want=$([ $minute -eq 0 ] && echo "4 4 0" || echo "2 6 0")
	follow
	start_planner
	echo $minute >&7
	left=$n
	while [ $left -gt 0 ] && seen .; do
		left=$((left - 1))
	done
	kill -9 $planner && killed=$((killed + 1))
	wait $planner 2>/dev/null
	exec 7>&-
	unfollow
	check "killed after $n events: all comes to rest" at_rest
	start_planner
	tick $minute || not_ok "killed after $n events: the next one goes on"
	stop_planner
	have=$(all_have)
	is "$have" "$want" "killed after $n events: and the next one ends it" && finished=$((finished + 1))
done
is $killed 12 "each was alive when it was killed"
count plan.kills $finished

note "a list of moves is killed at each hook, and applied again"
mkdir -p $hooks
hook()
{
	mkdir -p "$hooks/$1.d"
	cat >"$hooks/$1.d/10-kill" <<-'END'
		#!/bin/sh
		# the planner is killed at so many calls, of which some are made side by side
		exec 9</tmp/plan/left
		flock 9
		n=$(($(cat /tmp/plan/left) - 1))
		echo $n >/tmp/plan/left
		[ $n -ne 0 ] || kill -9 $PPID
	END
	chmod 755 "$hooks/$1.d/10-kill"
}
# Hooks that run side by side outlive a planner that one of them has killed, and count on.
calls_left()
{
	[ -e $dir/left ] || : >$dir/left
	(flock 9; echo "$1" >$dir/left) 9<$dir/left
}
for name in pre-attach post-attach pre-detach post-detach; do
	hook $name
done
calls=0
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	minute=1
	[ "$have" != "2 6 0" ] || minute=0
	want=$([ $minute -eq 0 ] && echo "4 4 0" || echo "2 6 0")
	calls_left 1000
	gpuctl -j plan step --minute $minute $dir/demand.json $dir/series >$dir/moves.json
	calls_left $n
	gpuctl plan apply $dir/moves.json >/dev/null 2>&1
	rc=$?
	calls_left 1000
	[ $rc -eq 137 ] && calls=$((calls + 1))
	check "hook $n: all comes to rest" at_rest
	check "hook $n: the list is gone on with" gpuctl plan apply $dir/moves.json
	have=$(all_have)
	is "$have" "$want" "hook $n: to its end"
	[ $rc -eq 137 ] || break
done
ok "$calls kills at hooks"
[ $calls -ge 4 ] || not_ok "hooks killed it $calls times"
count plan.hooks $calls
rm -r $hooks

for name in vision1 speech1 guests1; do
	gpuctl release $name >/dev/null 2>&1
done
check "the modules unload" unload

note "what moves cost"
# A step with measured costs, of the demand in this file.
measured()
{
	gpuctl -j plan step --costs from-stats --minute 0 "$1" $dir/series
}

# Seconds of an attach or a detach, all phases together, as stats has them.
mean()
{
	gpuctl -j stats | jq --arg o "$1" \
		'.stats[] | select(.operation == $o and .phase == "total") | .microseconds / .count / 1e6'
}

all_on()
{
	[ "$(states sim0-0 sim0-1 sim0-2 sim0-3)" = "$(times 4 ready)" ]
}

# Is this twice the other, but for what printing rounds?
is_twice()
{
	jq -n --argjson a "$1" --argjson b "$2" -e '($a - 2 * $b) | fabs < 0.0011'
}

series vision1 2 2
series speech1 0 0
series guests1 0 0
check "they load again, with GPUs that are on" load own switches=1 slots=4 latency_ms=50 'gpus=*:h100-80'
check "nobody has had to attach any" wait_for 20 all_on
is "$(measured $dir/demand.json | jq -c '[.cost == 6, .remarks]')" \
	'[true,["attach_s was not measured yet, so the value in the file is used","detach_s was not measured yet, so the value in the file is used"]]' \
	"two GPUs cost what the file says"
check "a GPU goes" gpuctl detach sim0-3
check "and comes" gpuctl attach sim0-3
measured $dir/demand.json >$dir/moves.json
is "$(jq -c .remarks $dir/moves.json)" \
	"$(printf '["attach_s %.3f: measured, mean of 1","detach_s %.3f: measured, mean of 1"]' "$(mean attach)" "$(mean detach)")" \
	"what was measured is said"
check "two GPUs cost that" is_twice "$(jq .cost $dir/moves.json)" "$(mean attach)"
check_fails "which is not what the file says" is_twice "$(jq .cost $dir/moves.json)" 3
jq --arg s "$(jq -r '.steps[0].to[0].switch' $dir/moves.json)" \
	'.pools = [{ switch: $s, kind: "h100-pcie-80", attach_s: 99, detach_s: 99 }]' $dir/demand.json >$dir/pools.json
is "$(gpuctl -j plan step --minute 0 $dir/pools.json $dir/series | jq '.cost == 198')" true "a pool of the file has its own"
check "but for what was measured" is_twice "$(measured $dir/pools.json | jq .cost)" "$(mean attach)"
check "such a list can be applied" gpuctl plan apply $dir/moves.json
is "$(all_have)" "2 0 0" "and is"
series vision1 4 4
start_planner --costs from-stats
check "a planner does it, too" tick 0
# Of the two that were given away one had been on since before the module was there.
like "$(cat $dir/out)" "^attach_s [0-9.]+: measured, mean of 2$" "and says so"
check "it ends with its clock" stop_planner
is "$(all_have)" "4 0 0" "its moves are made"
check "vision1 is released" gpuctl release vision1
check "the modules unload again" unload
finish
