#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Workloads that announce boundaries are moved at them, others before them, and a wait for one ends; the planner
# says why nothing moved, in its steps, in top and in metrics.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# in turn: the planner moves one GPU after the other
# vm: -t 600

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

dir=/tmp/plan
boundaries=/run/gpuctl-boundaries
planner=

# Number of slots of each of the three.
all_have()
{
	gpuctl -j list | jq -r '.compositions as $all | ["train", "batch", "serve"] |
		map(. as $name | [$all[] | select(.name == $name) | .slots[]] | length | tostring) | join(" ")'
}

have()
{
	[ "$(all_have)" = "$1" ]
}

# Its last boundary was so many minutes ago.
was_at_boundary()
{
	touch -d "@$(($(date +%s) - $1 * 60))" $boundaries/train
}

# series NAME DEMAND...: minute by minute, from minute $first.
first=0
series()
{
	local name=$1 minute=$first gpus
	shift

	{
		echo minute,quota_gpus,running_gpus,pending_gpus
		for gpus; do
			echo "$minute,4,0,$gpus"
			minute=$((minute + 1))
		done
	} >"$dir/new"
	mv "$dir/new" "$dir/series/$name.csv"
}

start_planner()
{
	rm -f $dir/clock
	mkfifo $dir/clock
	gpuctl plan run "$@" --clock $dir/clock $dir/demand.json $dir/series >$dir/out 2>$dir/err &
	planner=$!
	exec 7>$dir/clock
}

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
	wait_for 60 told "$1" || { cat "$dir/out" "$dir/err"; return 1; }
}

# Why a workload was not moved, as the planner wrote down last.
reason()
{
	jq -r --arg w "$1" '.put_off[] | select(.workload == $w) | .reason' /run/gpuctl-plan.json
}

# The planner has written down what it said of minute $1.
written()
{
	[ "$(jq .minute /run/gpuctl-plan.json)" = "$1" ]
}

# A minute has more than one step.
stepped_twice()
{
	[ -n "$(sed -nE 's/^minute ([0-9]+): .*/\1/p' "$dir"/out | uniq -d)" ]
}

# Steps of the planner since its start, also those that failed; a minute may begin meanwhile.
few_steps()
{
	sleep 10
	[ "$(grep -c '^minute \|^gpuctl.*: minute ' "$1")" -le 2 ]
}

check "the modules load" load own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "the GPUs are known" gpuctl scan
mkdir -p $dir/series
cat >$dir/demand.json <<-'END'
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 3, "detach_s": 1,
	  "workloads": [
	    { "name": "train", "weight": 0.5, "kinds": ["h100-pcie-80"] },
	    { "name": "batch", "weight": 1, "kinds": ["h100-pcie-80"] },
	    { "name": "serve", "weight": 4, "kinds": ["h100-pcie-80"] } ] }
END
check_rc 2 "nothing to say is a mistake" gpuctl notify
check_rc 2 "so is no name" gpuctl notify --boundary ../etc
check "with -n nothing is announced" gpuctl -n notify --boundary train
check_fails "indeed" test -e $boundaries/train

note "others are moved first, and moves wait for a boundary"
series train 2 2 2 2 2
series batch 2 2 2 2 2
series serve 0 0 1 1 1
start_planner --boundary-wait 3min
check "minute 0" tick 0
is "$(all_have)" "2 2 0" "both have what they need"
check "train announces boundaries" gpuctl notify --boundary train
check "minute 1" tick 1
check "minute 2" tick 2
is "$(all_have)" "2 1 1" "a GPU that is needed comes from who announces none, who could use it more"
check "a boundary is announced, by a line" eval "echo epoch 12 >>$boundaries/train"
check "minute 3" tick 3
is "$(all_have)" "1 2 1" "then train gives one"
check "minute 4" tick 4
is "$(all_have)" "1 2 1" "and no more"
check "the planner ends" stop_planner
is "$(cat $dir/err)" "" "without a complaint"
for name in train batch serve; do
	gpuctl release $name >/dev/null
done

note "a wait ends"
series train 4 4 4 4 4 4 4 4 4 4 4 4
series batch 0 0 0 0 0 0 0 0 0 0 0 0
series serve 0 2 2 2 2 2 2 2 2 2 2 2
# A planner that begins takes a boundary of just now for one that it was told of.
was_at_boundary 2
start_planner --boundary-wait 3min
check "minute 0" tick 0
is "$(all_have)" "4 0 0" "train has all"
check "nothing new is announced: minute 1" tick 1
check "it is written down" wait_for 30 written 1
is "$(reason train)" boundary "train is waited for"
for name in top metrics; do
	gpuctl $name >"$dir/$name" || not_ok "$name"
done
like "$(cat $dir/top)" "it waits for its next boundary, at most 3 min more" "top says so"
like "$(cat $dir/metrics)" '^gpufabric_plan_put_off.workload="train",reason="boundary". 1$' "and so do metrics"
check "minute 2" tick 2
check "minute 3" tick 3
is "$(all_have)" "4 0 0" "nothing has moved"
check "minute 4: the wait is over" tick 4
is "$(all_have)" "2 0 2" "it moves"
check "the planner ends" stop_planner
check_fails "who is not waited for is not named" grep -q '"boundary"' /run/gpuctl-plan.json
check "all is released" eval "gpuctl release train && gpuctl release serve"

note "a step alone"
check "four GPUs" gpuctl compose train --gpus 4
was_at_boundary 2
step()
{
	gpuctl -j plan step --minute 1 "$@" $dir/demand.json $dir/series
}
is "$(step | jq -c '[(.steps | length), [.put_off[] | select(.workload == "train") | .reason]]')" '[0,["boundary"]]' \
	"waits for a boundary"
is "$(step --boundary-wait 0 | jq -r '.steps[0].workload')" train "unless it is told not to"
is "$(step --boundary-wait 1min | jq -r '.steps[0].workload')" train "or the last one is longer ago than that"
check "one is announced" gpuctl notify --boundary train
is "$(step | jq -r '.steps[0].workload')" train "then it moves"
rm $boundaries/train
is "$(step | jq -r '.steps[0].workload')" train "as who announces none"
check_rc 2 "a time that is none" step --boundary-wait soon

note "an announcement is heard at once"
# A minute that is waited for would move it as well, at the next full minute.
gpuctl notify --boundary train
was_at_boundary 5
first=$(($(date +%s) / 60 - 3))
series train 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4
series batch 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
series serve 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
gpuctl plan run $dir/demand.json $dir/series >$dir/out 2>$dir/err &
planner=$!
check "a planner by the time of day waits" wait_for 60 grep -q "put off: it waits for its next boundary" $dir/out
for _ in 1 2 3 4 5; do
	gpuctl notify --boundary train
	wait_for 90 have "2 0 2" || break
	! wait_for 10 stepped_twice || break
	# It came with a full minute: once more.
	kill $planner
	wait $planner 2>/dev/null
	gpuctl resize train --gpus 4 >/dev/null 2>&1 || { gpuctl release serve && gpuctl resize train --gpus 4; } >/dev/null
	was_at_boundary 5
	gpuctl plan run $dir/demand.json $dir/series >$dir/out 2>$dir/err &
	planner=$!
	wait_for 60 grep -q "put off: it waits for its next boundary" $dir/out
done
check "it makes another step in the same minute" stepped_twice
is "$(all_have)" "2 0 2" "and moves"
kill $planner
wait $planner 2>/dev/null
check "all is released" eval "gpuctl release train && gpuctl release serve"

note "the clock is set back while a boundary is awaited"
check "train has four GPUs" gpuctl compose train --gpus 4
was_at_boundary 5
gpuctl plan run --boundary-wait 1min $dir/demand.json $dir/series >$dir/out 2>$dir/err &
planner=$!
check "a planner by the time of day waits" wait_for 60 grep -q "put off: it waits for its next boundary" $dir/out
first=$((first - 60))
series train 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4
series batch 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
series serve 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
date -s "@$(($(date +%s) - 3600))" >/dev/null
check "it moves after a minute, not after an hour" wait_for 180 have "2 0 2"
kill $planner
wait $planner 2>/dev/null
date -s "@$(($(date +%s) + 3600))" >/dev/null
first=$((first + 60))
series train 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4
series batch 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
series serve 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
check "all is released" eval "gpuctl release train && gpuctl release serve"

note "nothing announces the end of an epoch, and a step that failed is not made anew at once"
minute=$(($(date +%s) / 60))
cat >$dir/epoch.json <<-END
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60,
	  "workloads": [ { "name": "late", "kinds": ["h100-pcie-80"], "history": [2],
	                   "epochs": [$((minute - 1)), $((minute + 100))] } ] }
END
gpuctl plan run $dir/epoch.json >$dir/out 2>$dir/err &
planner=$!
check "a workload without a composition waits for the end of its epoch" \
	wait_for 60 grep -q "late *put off: needs 2, has 0, which it keeps" $dir/out
check "there is one step a minute" few_steps $dir/out
kill $planner
wait $planner 2>/dev/null
check "train has four GPUs again" gpuctl compose train --gpus 4
was_at_boundary 5
gpuctl plan run $dir/demand.json $dir/series >$dir/out 2>$dir/err &
planner=$!
check "its boundary is awaited" wait_for 60 grep -q "put off: it waits for its next boundary" $dir/out
mv $dir/demand.json $dir/gone.json
check "it is announced while the demand cannot be read" gpuctl notify --boundary train
check "which is said" wait_for 60 grep -q demand.json $dir/err
check "once a minute" few_steps $dir/err
mv $dir/gone.json $dir/demand.json
kill $planner
wait $planner 2>/dev/null
check "train is released" gpuctl release train
rm -rf $dir $boundaries /run/gpuctl-plan.json
check "the modules unload" unload
finish
