#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# slurmctld or slurmd is killed while a job's GPUs are composed and while it runs, and a node dies whose
# job comes back to it: nothing leaks, and no job runs without its GPUs.
#
#   root port -- upstream -- 100 ... 103 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 900 -m 1536M

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/slurm.sh
. "$TESTS/system/slurm.sh"

SLOW=$((SLOW * 2))

# kill_daemon UNIT: the process alone, as if it had crashed, and start it again.
kill_daemon()
{
	state_saved || return
	systemctl kill --kill-who=main -s KILL "$1"
	wait_for 20 is_dead "$1" || return
	systemctl start "$1"
}

# What slurmctld has not saved it starts a second time when it comes back, and drains the node that refuses
# ("Duplicate jobid").
state_saved()
{
	touch /run/before
	scontrol update jobid="$job" comment=saved
	wait_for 60 test /var/spool/slurmctld/job_state -nt /run/before
}

is_dead()
{
	[ "$(systemctl is-active "$1")" != active ]
}

# Everything on the node that a job has, and slurmd.
node_dies()
{
	local group

	systemctl kill --kill-who=main -s KILL slurmd-test@n1
	pkill -KILL -x slurmstepd
	for group in /sys/fs/cgroup/system.slice/*slurmstepd.scope/job_*; do
		echo 1 >"$group/cgroup.kill"
	done
	wait_for 20 is_dead slurmd-test@n1
	scontrol update nodename=n1 state=down reason=test
}

node_returns()
{
	systemctl start slurmd-test@n1
	scontrol update nodename=n1 state=resume
}

# Either it runs with its GPUs, or it has none and does not run.
is_whole()
{
	if script_started "$1" && job_state_is "$1" RUNNING; then
		[ "$(members "slurm-$1")" = "$2" ]
	else
		gone "slurm-$1" && ! job_state_is "$1" "RUNNING\|COMPLETING"
	fi
}

script_started()
{
	[ -p "$jobs/orders.$1" ]
}

# A job whose GPUs are being composed.
composing()
{
	hold_hook attach
	job=$(submit 2 hold)
	check "$1: compose has begun" wait_for 60 test -e /run/attach.begun
}

# Whatever became of the job, nothing of it stays. A slurmctld that has just come back takes a job that is
# cancelled for ended before it has heard of its node, which goes on with it for minutes: so it ends by itself.
cleared()
{
	if script_started "$job"; then
		echo end >"$jobs/orders.$job"
	else
		scancel "$job"
	fi
	check "$1: nothing is left" wait_for 120 all_back
	check "$1: the node is idle" become_idle
	rm -f "$jobs"/*
}

slurm_up 4 n1:4

note "during compose"
composing slurmctld
check "slurmctld: it is killed, and comes back" kill_daemon slurmctld-test
free_hook
check "slurmctld: the job runs" script_runs "$job"
is "$(members "slurm-$job")" 2 "slurmctld: with its GPUs"
cleared slurmctld
composing slurmd
check "slurmd: it is killed, and comes back" kill_daemon slurmd-test@n1
free_hook
check "slurmd: the job has its GPUs and runs, or neither" wait_for 120 is_whole "$job" 2
cleared slurmd

note "while the job runs"
job=$(submit 2 hold)
check "a job runs" script_runs "$job"
check "slurmctld is killed, and comes back" kill_daemon slurmctld-test
check "slurmd is killed, and comes back" kill_daemon slurmd-test@n1
check "the job runs on" wait_for 60 job_state_is "$job" RUNNING
is "$(members "slurm-$job")" 2 "with its GPUs"
is "$(opens "$job" "$(variable "$job" GPUFABRIC_SLOTS | cut -d' ' -f1)")" opened "which it can open"
note "a step of a job whose GPUs are gone"
check "its composition is ended" gpuctl release --force "slurm-$job"
output=$(as_alice srun -D /tmp --jobid="$job" --overlap true 2>&1)
check_fails "a step does not start" test $? -eq 0
like "$output" "job $job does not have its GPUs on this node" "its task says why"
check_fails "and the node is not at fault" grep execve <<<"$output"
cleared running

note "a node dies, and the job comes back to it"
echo SlurmdDebug=debug >>$conf/slurm.conf
check "slurmd says more" scontrol reconfigure
job=$(submit 2 hold)
check "a job runs" script_runs "$job"
rm "$jobs/orders.$job" "$jobs/env.$job"
check "the node dies" node_dies
check "its job is queued again" wait_for 60 job_state_is "$job" PENDING
is "$(members "slurm-$job")" 2 "the node holds its GPUs still"
check "the node returns" node_returns
check "it can have jobs" become_idle
# Slurm waits two minutes before a job that was queued again starts. Without that wait it takes the end of the first
# start for that of the second one: no Epilog runs then, and the node counts the job for ever.
check "the job's first start is over there" wait_for 60 grep -q "JobId=$job: sent epilog complete" /var/log/slurm/slurmd.n1.log
check "the job may start" scontrol update jobid="$job" starttime=now
check "it runs again" script_runs "$job"
is "$(members "slurm-$job")" 2 "with as many GPUs"
cleared returned

finish
