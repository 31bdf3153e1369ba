#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Jobs of Slurm get GPUs: the real daemons, Prolog, Epilog and plugin, the module and simulated
# GPUs. Two nodes are two slurmd on this machine, so a job takes only one of them here.
#
#   root port -- upstream -- 100 ... 105 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 600 -m 1536M
# check: what Slurm and the fabric do together, and nothing else shows

# Functions are called by their names, through check; what jobs do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/slurm.sh
. "$TESTS/system/slurm.sh"

SLOW=$((SLOW * 3))

slurm_up 6 n1:4 n2:4

note "4, 4 and 2 of 6"
first=$(submit 4 hold -A physics)
check "a job of 4 GPUs starts" job_is "$first" RUNNING
check "its batch script runs" script_runs "$first"
is "$(members "slurm-$first")" 4 "it has 4 GPUs"
is "$(composition "slurm-$first" '[.job, .tenant, .label] | join(" ")')" "$first physics alice" \
	"in the name of its account and user"
check "and a lease as long as its time limit" has_lease "slurm-$first" 60 71
is "$(variable "$first" GPUFABRIC_SLOTS | wc -w)" 4 "its script knows its slots"
is "$(variable "$first" GPUFABRIC_COMPOSITION)" "slurm-$first" "and its composition"
is "$(variable "$first" CUDA_VISIBLE_DEVICES)" "" "and no numbers of slots for those of GPUs"
second=$(submit 4 hold)
# Its name is the user's, and says what it likes.
third=$(submit 2 hold -J 'x Licenses=gf_h100:6 NumNodes=2')
check "one of 2 runs beside it" script_runs "$third"
is "$(members "slurm-$third")" 2 "with 2 GPUs"
is "$(composition "slurm-$third" .tenant)" "uid-$(id -u alice)" "in the name of its user, having no account"
is "$(reason "$second")" Licenses "another one of 4 waits for the pool"
finish_job "$first"
check "when the first ends, the second runs" script_runs "$second"
check_fails "the first has no GPUs any more" gpuctl show "slurm-$first"
is "$(members "slurm-$second")" 4 "and the second has 4"

note "a job that asks for no GPU"
plain=$(submit 0 hold)
check "it runs" script_runs "$plain"
is "$(variable "$plain" GPUFABRIC_SLOTS)" "" "without any"

note "the fence"
mine=$(variable "$second" GPUFABRIC_SLOTS | cut -d' ' -f1)
theirs=$(variable "$third" GPUFABRIC_SLOTS | cut -d' ' -f1)
is "$(opens "$second" "$mine")" opened "a job opens its GPU"
is "$(opens "$second" "$theirs")" "Operation not permitted" "and none of another job"
is "$(opens "$third" "$theirs")" opened "which opens it"
is "$(opens "$plain" "$mine")" "Operation not permitted" "a job without GPUs opens none"
finish_job "$second"
check "its GPUs go" wait_for 60 gone "slurm-$second"
check "a GPU that is attached later" gpuctl compose later --gpus 1
later=$(composition later '.slots[0]')
is "$(opens "$third" "$later")" "Operation not permitted" "is none of theirs"
check "it goes again" gpuctl release later

note "a job grows and shrinks"
check_rc 3 "to more GPUs than the pool has left it cannot grow" gpuctl slurm resize "$third" 7
is "$(licences "$third")" gf_h100:2 "and keeps its licences"
check "it grows" gpuctl slurm resize "$third" 4
is "$(members "slurm-$third")" 4 "to 4 GPUs"
is "$(licences "$third")" gf_h100:4 "and 4 licences"
new=$(composition "slurm-$third" '.slots[]' | grep -vxF "$(variable "$third" GPUFABRIC_SLOTS | tr ' ' '\n')" | head -n 1)
is "$(opens "$third" "$new")" opened "a process that ran before opens a new one"
like "$(cat "$jobs/output.$third")" "4 GPUs instead of 2 on $(hostname):" "and was told"
check "a run that could not reach Slurm leaves a licence" scontrol update jobid="$third" licenses=gf_h100:5
check "the next one" gpuctl slurm resize "$third" 4
is "$(members "slurm-$third") $(licences "$third")" "4 gf_h100:4" "gives it back"
drivers() { local file; for file in "$SIM"/slot0.*/driver; do echo "$1" >"$file"; done; }
has_members() { [ "$(members "slurm-$third")" = "$1" ]; }
drivers "probe-slow 3000"
gpuctl slurm resize "$third" 5 2>/tmp/resize.error &
resize=$!
check "it is to grow again" wait_for 60 has_members 5
kill -INT "$resize"
check_rc 1 "gpuctl is interrupted" wait "$resize"
like "$(cat /tmp/resize.error)" "interrupted: the resize continues" "and says that the module goes on"
is "$(licences "$third")" gf_h100:5 "the licence of the GPU that comes stays"
drivers none
has_come() { [ "$(composition "slurm-$third" .state)" = active ]; }
check "which does come" wait_for 60 has_come
check "the next one" gpuctl slurm resize "$third" 5
is "$(members "slurm-$third") $(licences "$third")" "5 gf_h100:5" "finds it there"
check "it shrinks" gpuctl slurm resize "$third" 1
is "$(members "slurm-$third")" 1 "to one GPU"
is "$(licences "$third")" gf_h100:1 "and one licence"
finish_job "$third"
finish_job "$plain"

note "a task of an array grows"
none_left() { [ "$(gpuctl -j list | jq '.compositions | length')" = 0 ]; }
job=$(submit 1 hold --array=1-2)
tasks_run() { [ "$(squeue -h -r -j "$job" -t running | wc -l)" = 2 ]; }
check "two tasks run" wait_for 60 tasks_run
check "the composition of one is there" wait_for 60 gpuctl show "slurm-$job"
check "it grows" gpuctl slurm resize "$job" 2
is "$(members "slurm-$job")" 2 "to 2 GPUs"
is "$(squeue -h -r -j "$job" -o %W | sort | xargs)" "gf_h100:1 gf_h100:2" "and the other keeps its licences"
check "they are cancelled" scancel "$job"
check "their GPUs go" wait_for 60 none_left

note "cancelled while it runs"
job=$(submit 2 hold)
check "a job runs" script_runs "$job"
check "it is cancelled" scancel "$job"
check "its GPUs go" wait_for 60 gone "slurm-$job"
check "the nodes are idle" become_idle

note "cancelled while its GPUs are composed"
hold_hook attach
job=$(submit 2 hold)
check "compose has begun" wait_for 60 test -e /run/attach.begun
check "it is cancelled" scancel "$job"
check "it is on its way out" wait_for 60 job_state_is "$job" "COMPLETING\|CANCELLED"
free_hook
check "nothing is left of it" wait_for 60 all_back
check "the nodes are idle" become_idle
check "and its script never ran" test ! -e "$jobs/env.$job"

note "too few GPUs: nobody's fault"
for slot in 0 1 2; do
	echo remove >"$SIM/slot0.$slot/surprise"
done
check "three GPUs are pulled" wait_for 20 empty_slots 3
job=$(submit 4 hold)
check "a batch job is queued again" wait_for 120 job_excludes "$job"
excluded=$(scontrol show job "$job" | sed -n 's/.*ExcNodeList=\([^ ]*\).*/\1/p')
check "no node is drained" become_idle
output=$(runuser -u alice -- srun --gres=gpu:h100:4 -L gf_h100:4 true 2>&1)
check_fails "srun ends" test $? -eq 0
like "$output" "gpufabric: n[12]: " "with the reason"
check "no node is drained for it" become_idle
check "and no GPU is left behind" all_back
for slot in 0 1 2; do
	echo "insert h100-80" >"$SIM/slot0.$slot/surprise"
done
check "they are back" wait_for 20 empty_slots 0
gpuctl scan >/dev/null
check "the job may try again" scontrol update jobid="$job" starttime=now
check "and runs on the other node" script_runs "$job"
is "$(squeue -h -j "$job" -o %N)" "$(other_node "$excluded")" "which is not the one that could not have it"
finish_job "$job"
check "its GPUs go" wait_for 60 all_back

note "a fault of the host"
for slot in 0 1 2 3 4 5; do
	echo link >"$SIM/slot0.$slot/fail"
done
job=$(submit 1 hold)
check "a node is drained" wait_for 120 some_node_drained
like "$(sinfo -h -R -o '%E|%N')" "^gpufabric: .*\|n[12]" "with the reason"
check "its job is queued again" wait_for 60 job_state_is "$job" PENDING
check "and cancelled" scancel "$job"
finish
