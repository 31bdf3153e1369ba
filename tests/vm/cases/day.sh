#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A recorded day: gpuctl plan run follows the demand of four workloads minute by minute, and what the day costs (GPUs
# that were missing, and attaches) is at most 5 % more than what plan replay gives for the same minutes.
#
#   root port -- upstream -- sim0-0 ... sim0-11 with an h100-80 each, off
#
# Arguments: MINUTES of the day (default 60), and the SPEED at which they pass: 60 is a minute in a second; 0, the
# default, is as fast as the planner goes. "make day" runs a whole one. It does not depend on the kernel; one
# that only the long check has keeps it out of the short one.
#
# in turn: the planner moves one GPU after the other
# before: python3 tests/bench/plan/made_day.py build/plan-day ${SEED:-1}
# kernels: 6.12
# vm: -t 900 -f build/plan-day
# long: -k 6.12 -t ${LIMIT:-7200}

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

minutes=${1:-60}
speed=${2:-0}
dir=/tmp/plan
names="east north south west"
pool=12
warm=1440 # minutes; both know the day before

# Number of GPUs of each, in the order of the names.
all_have()
{
	gpuctl -j list | jq -r '.compositions as $all | ["east", "north", "south", "west"] |
		map(. as $name | [$all[] | select(.name == $name) | .slots[]] | length | tostring) | join(" ")'
}

told()
{
	grep -q "^minute $1: " "$dir/out" || grep -q "minute $1: " "$dir/err"
}

# Waits for the planner, and for the minute to pass.
tick()
{
	local left

	echo "$1" >&7
	wait_for 120 told "$1" || { cat "$dir/out" "$dir/err"; return 1; }
	echo "$1 $(all_have)" >>$dir/has
	if [ "$speed" -gt 0 ]; then
		left=$((begin + ($1 - warm + 1) * 60000000 / speed - ${EPOCHREALTIME/./}))
		[ $left -le 0 ] || sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"
	fi
}

check "the modules load" load own switches=1 slots=$pool latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "the GPUs are known" gpuctl scan
mkdir -p $dir/series
for name in $names; do
	head -n $((1 + warm + minutes)) "/tests/plan-day/$name.csv" >"$dir/series/$name.csv"
done
# As the replay has it by default: an attach costs as much as half a minute without the GPU.
cat >$dir/demand.json <<-'END'
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 30, "detach_s": 0,
	  "workloads": [
	    { "name": "east", "kinds": ["h100-pcie-80"] }, { "name": "north", "kinds": ["h100-pcie-80"] },
	    { "name": "south", "kinds": ["h100-pcie-80"] }, { "name": "west", "kinds": ["h100-pcie-80"] } ] }
END
mkfifo $dir/clock
gpuctl plan run --clock $dir/clock $dir/demand.json $dir/series >$dir/out 2>$dir/err &
planner=$!
exec 7>$dir/clock
begin=${EPOCHREALTIME/./}
failed_at=
for ((minute = warm; minute < warm + minutes; minute++)); do
	tick $minute || { failed_at=$minute; break; }
done
is "$failed_at" "" "the planner makes a step in each of $minutes minutes"
note "$minutes minutes took $(((${EPOCHREALTIME/./} - begin) / 1000000)) s"
exec 7>&-
wait $planner
is "$(cat $dir/err)" "" "without a complaint"

# GPU minutes that were missing, and attaches; the first minute gives everybody what it begins with.
paste -d ' ' $dir/has <(for name in $names; do
	tail -n +$((2 + warm)) "$dir/series/$name.csv" | awk -F , '{ print $3 + $4 }' >"$dir/wanted-$name"
	echo "$dir/wanted-$name"
done | xargs paste -d ' ') >$dir/both
cost=$(awk '{
	for (i = 0; i < 4; i++) {
		has = $(2 + i); wants = $(6 + i)
		missing += wants > has ? wants - has : 0
		attaches += NR > 1 && has > before[i] ? has - before[i] : 0
		before[i] = has
	}
} END { printf "%.1f %d %d", missing + attaches / 2, missing, attaches }' $dir/both)
read -r cost missing attaches <<<"$cost"
gpuctl plan replay -j --pool $pool --warm 1d $dir/series/{east,north,south,west}.csv >$dir/replay.json
ours=$(jq '.policies[] | select(.policy == "ours") | .cost_gpu_minutes' $dir/replay.json)
bound=$(jq '.policies[] | select(.policy == "bound") | .cost_gpu_minutes' $dir/replay.json)
note "cost $cost ($missing GPU minutes missing, $attaches attaches), replay $ours, bound $bound"
# The replay begins the day with all GPUs attached to somebody, this with none.
check "it costs at most 5 % more than the replay" awk -v a="$cost" -v b="$ours" -v begin=$((pool / 2)) \
	'BEGIN { exit !(a <= 1.05 * b + begin) }'
check "and no less than is possible" awk -v a="$cost" -v b="$bound" 'BEGIN { exit !(a > b - 0.1) }'
count plan.day "$minutes"
for name in $names; do
	gpuctl release "$name" >/dev/null 2>&1
done
check "the modules unload" unload
finish
