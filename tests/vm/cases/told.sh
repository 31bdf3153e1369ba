#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a workload is told of its GPUs, by the hook resize: before they go and after they came. Workers that let
# go, one that refuses, hooks that hang or fail: the holders decide.
#
#   root port -- upstream -- sim0-0 ... sim0-3, an h100-80 each, off
#
# in turn: one request after the other

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2317,SC2016

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

hooks=/etc/gpuctl/hooks.d/resize.d
log=/tmp/told
# Each of the hooks may take this long, and so long may holders take after them.
export GPUCTL_HOOK_TIMEOUT=2s

# hook NAME, and its lines on standard input
hook()
{
	{ echo '#!/bin/bash'; cat; } >"$hooks/$1"
	chmod 755 "$hooks/$1"
}

# Slots of a composition, in order.
sorted()
{
	slots_of "$1" | sort | xargs
}

# What was told since this was last asked.
told()
{
	cat $log
	: >$log
}

# Somebody who opens the GPU of a slot; the hook ends those who are in /tmp/workers.
begin_worker()
{
	# shellcheck disable=SC2217 # held open
	sleep 1000 <"/dev/gpufabric-sim/$1" &
	echo $! >"/tmp/workers/$1"
}

end_worker()
{
	local pid

	pid=$(cat "/tmp/workers/$1" "/tmp/stubborn/$1" 2>/dev/null)
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm -f "/tmp/workers/$1" "/tmp/stubborn/$1"
}

check "the modules load" load own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "the GPUs are known" gpuctl scan
mkdir -p $hooks /tmp/workers /tmp/stubborn
: >$log
hook 10-log <<'END'
echo "$* [$GPUFABRIC_COMPOSITION $GPUFABRIC_GPUS]" >>/tmp/told
END
hook 20-workers <<'END'
[ "$1" = shrink ] || exit 0
shift
for slot; do
	[ ! -e "/tmp/workers/$slot" ] || kill "$(cat "/tmp/workers/$slot")"
done
END

note "GPUs that come and go"
check "a composition of two" gpuctl compose job --gpus 2
slots=$(sorted job)
is "$(told)" "grow $slots [job 2]" "its workload hears of them"
check "a third" gpuctl resize job --gpus +1
third=$(comm -13 <(echo "$slots" | tr ' ' '\n') <(sorted job | tr ' ' '\n'))
is "$(told)" "grow $third [job 3]" "once it has come"
begin_worker "$third"
like "$(gpuctl -n resize job --remove "$third" 2>&1)" "busy" "-n says who holds it"
is "$(told)" "" "and tells nobody"
check "it goes, though a worker held it" gpuctl resize job --remove "$third"
wait "$(cat "/tmp/workers/$third")" 2>/dev/null
rm "/tmp/workers/$third"
is "$(told)" "shrink $third [job 2]" "for that the worker was told"
is "$(sorted job)" "$slots" "the others stay"
like "$(gpuctl -n resize job --remove "${slots%% *}")" "would run $hooks/10-log" "-n says which programs would run"

note "a worker that refuses"
read -r first second <<<"$slots"
check "two more" gpuctl resize job --gpus +2
slots=$(sorted job)
told >/dev/null
begin_worker "$first"
begin_worker "$second"
mv "/tmp/workers/$second" /tmp/stubborn/
check_rc 4 "what is held at the deadline stays" gpuctl resize job --remove "$first" --remove "$second"
wait "$(cat "/tmp/workers/$first")" 2>/dev/null
rm "/tmp/workers/$first"
is "$(sorted job)" "$slots" "with the GPU that was let go of"
is "$(told | xargs -d '\n')" "shrink $first $second [job 2] grow $first $second [job 4]" "the workload is told that it has both"
is "$(gpuctl -j list | jq '[.slots[] | select(.state == "draining")] | length')" 0 "nothing drains any more"
check_rc 4 "a longer time is heeded, too" gpuctl resize job --remove "$second" --wait 3s
like "$(told | xargs -d '\n')" "shrink $second .job 3. grow $second .job 4." "and told"
gpuctl resize job --remove "$second" --wait 60s >/tmp/output 2>&1 &
request=$!
check "a request waits for a worker" wait_for 20 test -s $log
check "which has its slot" wait_for 20 is_state "$second" draining
check_rc 4 "another one for the same GPU is refused" gpuctl release job
is "$(told)" "shrink $second [job 3]" "and tells nobody"
kill -HUP $request
wait $request
is $? 1 "the terminal of the first goes"
like "$(cat /tmp/output)" "interrupted: nothing was changed" "which ends it"
is "$(told)" "grow $second [job 4]" "as any other end does: the workload is told that it has its GPU"
check "by force it goes" gpuctl resize job --remove "$second" --force
is "$(told)" "shrink $second [job 3]" "which is told as well"
end_worker "$second"

note "hooks that hang or fail"
hook 05-hangs <<'END'
[ "$1" = grow ] || exec sleep 1000
END
like "$(gpuctl resize job --remove "$first" 2>&1)" "05-hangs shrink: no end within 2.* s" "a hook that hangs is named"
is "$(told)" "shrink $first [job 2]" "the next one runs"
is "$(sorted job | wc -w)" 2 "and a GPU that nobody holds goes"
like "$(pgrep -x -f 'sleep 1000' | wc -l)" '^0$' "nothing of the hook is left"
hook 05-hangs <<'END'
exit 1
END
slots=$(sorted job)
like "$(gpuctl resize job --remove "${slots%% *}" 2>&1)" "05-hangs shrink: status 1" "so is one that fails"
is "$(sorted job)" "${slots##* }" "and the GPU goes"
told >/dev/null
rm $hooks/05-hangs
chmod 777 $hooks/10-log
check_rc 5 "a hook that anybody may write is not run" gpuctl resize job --gpus +1
is "$(told)" "" "nor is another"
chmod 755 $hooks/10-log

note "the end"
check "a worker works" begin_worker "${slots##* }"
check "the composition is released" gpuctl release job
wait "$(cat "/tmp/workers/${slots##* }")" 2>/dev/null
is "$(told)" "shrink ${slots##* } [job 0]" "its worker was told"
check "slots that are nobody's" gpuctl attach sim0-0
check "go" gpuctl detach sim0-0
is "$(told)" "" "and nobody is told of them"
note "the planner"
dir=/tmp/plan
mkdir -p $dir
cat >$dir/plan.json <<-END
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 3, "detach_s": 1,
	  "workloads": [
	    { "name": "job", "span": 2, "kinds": ["h100-pcie-80"] },
	    { "name": "other", "span": 2, "weight": 2, "kinds": ["h100-pcie-80"] } ] }
END
printf '%s\n' minute,quota_gpus,running_gpus,pending_gpus 0,4,0,4 1,4,0,2 2,4,0,2 3,4,0,2 4,4,0,2 >$dir/job.csv
printf '%s\n' minute,quota_gpus,running_gpus,pending_gpus 0,4,0,0 1,4,0,2 2,4,0,3 3,4,0,3 4,4,0,3 >$dir/other.csv
# plan MINUTE...
plan() { printf '%s\n' "$@" | gpuctl plan run --clock - $dir/plan.json $dir >$dir/out 2>$dir/err || cat $dir/out $dir/err; }
plan 0
is "$(sorted job | wc -w)" 4 "a workload has all that it asks for"
for slot in $(sorted job); do
	begin_worker "$slot"
done
plan 1
is "$(sorted job | wc -w) $(sorted other | wc -w)" "2 2" "the planner moves GPUs that are held, since their workload can be told"
for slot in $(sorted other); do
	wait "$(cat "/tmp/workers/$slot")" 2>/dev/null
	rm "/tmp/workers/$slot"
done
for slot in $(sorted job); do
	mv "/tmp/workers/$slot" /tmp/stubborn/
done
told >/dev/null
plan 2 3 4
is "$(sorted job | wc -w) $(sorted other | wc -w)" "2 2" "from who refuses it takes none"
is "$(cut -d ' ' -f 1 $log | xargs)" "shrink grow" "and does not ask again in the next minutes"
like "$(cat $dir/err)" "minute 2: .*busy" "which is a warning"
for slot in $(sorted job); do
	end_worker "$slot"
done
check "both are released" eval "gpuctl release job && gpuctl release other"
rm -rf $dir
rm -rf $hooks /tmp/workers /tmp/stubborn $log
check "the modules unload" unload
finish
