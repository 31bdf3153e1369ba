#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Composition follows use: what the simulator's clients do becomes demand, and the planner gives it GPUs.
# A step of load up and down, a sensor that dies, one that lies.
#
#   root port -- upstream -- sim0-0 ... sim0-2 and another switch with sim1-0 ... sim1-2,
#   an h100-80 each, off
#
# in turn: the planner moves one GPU after the other

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

dir=/tmp/demand
# Where others look for it.
series=/var/lib/gpuctl/demand
minute=0

count_of()
{
	slots_of "$1" | wc -l
}

address_of()
{
	gpuctl -j show "$1" | jq -r '[.. | objects | .functions? // empty | .[].address][0]'
}

# keep_busy NAME PERCENT: of all its GPUs
keep_busy()
{
	local slot

	for slot in $(slots_of "$1"); do
		echo "$2" >"/sys/bus/pci/devices/$(address_of "$slot")/busy"
	done
}

# The next minute; what gpuctl prints is in $dir/out and $dir/err.
measure()
{
	minute=$((minute + 1))
	gpuctl -j demand --minute "$minute" --folder "$series" >$dir/out 2>$dir/err
}

# measured NAME FIELD
measured()
{
	jq -r --arg w "$1" ".demand[] | select(.workload == \$w) | .$2" $dir/out
}

plan()
{
	gpuctl -j plan step --minute "$minute" "$dir/plan.json" "$series" >"$dir/moves.json" &&
		gpuctl plan apply "$dir/moves.json"
}

check "the modules load" load own switches=2 slots=3 latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "the GPUs are known" gpuctl scan
mkdir -p $dir $series /etc/gpuctl/workloads.d
cat >$dir/plan.json <<-END
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 3, "detach_s": 1,
	  "workloads": [
	    { "name": "serve", "span": 2, "kinds": ["h100-pcie-80"] },
	    { "name": "batch", "span": 2, "kinds": ["h100-pcie-80"] } ] }
END
cat >/etc/gpuctl/workloads.d/serve <<-END
	sensor = fdinfo
	target = 40
	min = 2
	max = 6
	quantum = 2
	samples = 2
	hold = 5min
END
cat >/etc/gpuctl/workloads.d/batch <<-END
	sensor = amdgpu busy
	target = 50
	queue = command /bin/cat $dir/queue
	max = 2
	samples = 1
END
echo 0 >$dir/queue

note "the simulator's counters"
check "a GPU" gpuctl attach sim0-0
address=$(address_of sim0-0)
busy=/sys/bus/pci/devices/$address/busy
check "it can be told how busy it is" eval "echo 70 >$busy"
is "$(cat "$busy")" 70 "and says so"
check_fails "101 percent are not possible" eval "echo 101 >$busy"
check_fails "a word is no number" eval "echo much >$busy"
check "it can be told what memory is used" eval "echo 512 >${busy%busy}used"
check_fails "more than the counter can take is refused" eval "echo 4194304 >${busy%busy}used"
is "$(cat "${busy%busy}gpu_busy_percent" "${busy%busy}mem_info_vram_used" | xargs)" "0 0" "without a client it is idle"
exec 5</dev/gpufabric-sim/sim0-0
is "$(cat "${busy%busy}gpu_busy_percent" "${busy%busy}mem_info_vram_used" | xargs)" "70 536870912" "with one it is not"
info=$(cat /proc/$$/fdinfo/5)
like "$info" "drm-pdev:	$address" "a client says whose it is"
like "$info" "drm-resident-vram:	524288 KiB" "and what memory it uses"
used() { sed -n 's/^drm-engine-compute:\t\([0-9]*\) ns/\1/p' "/proc/$$/fdinfo/$1"; }
before=$(used 5)
grows() { [ "$(used 5)" -gt "$before" ]; }
check "its time grows" wait_for 10 grows
exec 6</dev/gpufabric-sim/sim0-0
is "$(sed -n 's/^drm-client-id:\t//p' /proc/$$/fdinfo/5 /proc/$$/fdinfo/6 | sort -u | wc -l)" 2 "clients have numbers of their own"
like "$(cat /proc/$$/fdinfo/6)" "drm-resident-vram:	262144 KiB" "two share the memory"
exec 6<&-
echo 0 >"$busy"
before=$(used 5)
is "$(used 5)" "$before" "an idle one's time stands still"
check "the GPU goes by force" gpuctl detach --force sim0-0
is "$(grep -c drm-pdev /proc/$$/fdinfo/5)" 0 "what is left of its client names no GPU"
exec 5<&-

note "what is measured"
check "a first minute" measure
is "$(measured serve demand)" 2 "without GPUs the minimum is asked for"
is "$(measured batch demand)" 0 "or nothing"
is "$(tail -n 1 $series/serve.csv)" "1,6,0,2" "it is in the series that the planner reads"
check "the planner gives it" plan
is "$(count_of serve)" 2 "as it does with any other demand"
use_gpus serve
keep_busy serve 90
check "a minute under load" measure
is "$(measured serve demand)" 2 "one is not enough"
like "$(measured serve why)" "for 1 of 2 minutes" "as it says"
check "nothing is recorded with -n" gpuctl -n demand --minute 3 --folder $series
is "$(tail -n 1 $series/serve.csv)" "2,6,2,0" "indeed"
check "a second one" measure
is "$(measured serve demand)" 6 "demand follows: 2 * 90 / 40, and up to the quantum"
like "$(measured serve load)" '^[4-9][0-9]' "the load is what the clients used"
is "$(tail -n 1 $series/serve.csv)" "3,6,2,4" "what it has not yet is pending"
before=$(gpuctl -j list | jq -c .compositions)
check "a step" gpuctl plan step --minute 3 $dir/plan.json $series
is "$(gpuctl -j list | jq -c .compositions)" "$before" "only observes"
check "the planner gives it more" plan
is "$(count_of serve)" 6 "all of it"
check "the same minute again" gpuctl demand --minute 3 --folder $series
is "$(grep -c '^3,' $series/serve.csv)" 1 "is recorded once"
mkdir -p $dir/back
for at in 100 101 102 101; do
	gpuctl demand --minute $at --folder $dir/back >/dev/null 2>$dir/err
done
is "$(tail -n 2 $dir/back/serve.csv | cut -d, -f1 | xargs)" "100 101" "a clock that is set back goes on from there"
is "$(grep '^gpuctl: serve: ' $dir/err)" \
	"gpuctl: serve: its series ended with minute 102, which is later than now: 2 minutes from 101 on left out" "and it is said"
gpuctl demand --minute 102 --folder $dir/back >/dev/null 2>$dir/err
check_fails "once" grep later $dir/err

note "a step down"
let_go
for _ in 1 2 3 4; do
	measure
done
is "$(measured serve demand)" 6 "not within the hold after it grew"
like "$(measured serve why)" "2 would be needed, but it grew at minute 3: held for 1 more" "as it says"
check "after it" measure
is "$(measured serve demand)" 2 "it falls to the minimum"

note "a queue"
echo 4 >$dir/queue
check "something waits" measure
is "$(measured batch demand)" 1 "who has nothing gets a GPU"
check "the planner gives it" plan
is "$(count_of serve) $(count_of batch)" "5 1" "one of who no longer needs it"

note "who shows it"
gpuctl -j top >$dir/top
is "$(jq -r '.compositions[] | select(.name == "batch") | "\(.demand) \(.reason)"' $dir/top)" "1 changed" "top has the demand, and why"
like "$(gpuctl top)" "COMPOSITION .* LOAD .*TARGET .*DEMAND .*WHY" "for people as well"
like "$(gpuctl metrics)" 'gpufabric_workload_demand_gpus{workload="batch"} 1' "so do metrics"
like "$(gpuctl metrics)" 'gpufabric_workload_reason{workload="batch",reason="changed"} 1' "with the reason"

note "sensors that are dead or lie"
rm $dir/queue
check "a dead sensor is no failure" measure
is "$(measured batch demand)" 1 "demand stays"
like "$(cat $dir/err)" "batch: sensor command /bin/cat $dir/queue is dead: .*; its demand stays 1" "and it is named"
is "$(tail -n 1 $series/batch.csv)" "10,2,1,0" "the series goes on"
for value in nan -3 words; do
	echo $value >$dir/queue
	measure
	is "$(measured batch demand)" 1 "so it does for $value"
	like "$(measured batch 'faults[0]')" "sensor command /bin/cat" "which is named"
done
mv /etc/gpuctl/workloads.d/batch /etc/gpuctl/workloads.d/batch.conf
check_rc 2 "a file that is called wrongly is a mistake" measure
like "$(cat $dir/err)" "a file is called as its workload" "as it says"
is "$(measured serve demand)" 2 "which keeps no other from being measured"
rm /etc/gpuctl/workloads.d/batch.conf
chmod 666 /etc/gpuctl/workloads.d/serve
check_rc 5 "a file that anybody may write is not read" measure
check_rc 2 "a workload without a file" gpuctl demand --folder $series none
chmod 644 /etc/gpuctl/workloads.d/serve

gpuctl release serve >/dev/null
gpuctl release batch >/dev/null
rm -rf $dir $series /etc/gpuctl/workloads.d
check "the modules unload" unload
finish
