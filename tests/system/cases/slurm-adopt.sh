#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A job without any step but the extern one, as salloc makes it with PrologFlags=Contain; pam_slurm_adopt puts those who come by
# ssh into that step. They can open the job's GPUs and no other.
#
#   root port -- upstream -- 100 ... 103 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 600 -m 1536M

# Functions are called by their names, through check.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/slurm.sh
. "$TESTS/system/slurm.sh"

SLOW=$((SLOW * 2))

# Where pam_slurm_adopt has slurmstepd put a process: in a leaf, because no other cgroup takes one.
extern_cgroup()
{
	find /sys/fs/cgroup/system.slice -path "*/job_$1/step_extern/user/task_*/cgroup.procs" | head -n 1
}

has_extern()
{
	[ -n "$(extern_cgroup "$1")" ]
}

# extern_opens ID SLOT: opened, or why not.
extern_opens()
{
	local procs

	procs=$(extern_cgroup "$1")
	chmod 666 "/dev/gpufabric-sim/$2"
	(
		echo "$BASHPID" >"$procs" || exit
		exec runuser -u alice -- bash -c '(: <"$0") 2>&1 && echo opened' "/dev/gpufabric-sim/$2"
	) | sed 's/.*: //'
}

slurm_up 4 n1:4
sed -i 's/^PrologFlags=.*/PrologFlags=Alloc,Contain/' $conf/slurm.conf
check "slurmctld has an extern step for each job" systemctl restart slurmctld-test
check "and so has slurmd" systemctl restart slurmd-test@n1
check "the node is there" become_idle

as_alice salloc --no-shell --gres=gpu:h100:2 -L gf_h100:2 2>/tmp/salloc
job=$(sed -n 's/.*Granted job allocation //p' /tmp/salloc)
check "a job of salloc has its extern step" wait_for 60 has_extern "$job" || { cat /tmp/salloc; find /sys/fs/cgroup/system.slice -name "step_*"; }
is "$(members "slurm-$job")" 2 "it has 2 GPUs"
check "somebody else has one" gpuctl compose other --gpus 1
mine=$(composition "slurm-$job" '.slots[0]')
theirs=$(composition other '.slots[0]')
is "$(extern_opens "$job" "$mine")" opened "who is adopted opens the job's GPU"
is "$(extern_opens "$job" "$theirs")" "Operation not permitted" "and not that of somebody else"
check "the job is cancelled" scancel "$job"
check "its GPUs go" wait_for 60 gone "slurm-$job"
check "the other GPU is given back" gpuctl release other
check "nothing is left" wait_for 60 all_back
check "the node is idle" become_idle
finish
