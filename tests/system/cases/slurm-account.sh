#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What slurmdbd with MariaDB records of jobs with GPUs, and limits of accounts: set up by the commands of
# docs/slurm.md, word for word.
#
#   root port -- upstream -- 100 ... 107 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 900 -m 1536M -f docs/slurm.md

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/slurm.sh
. "$TESTS/system/slurm.sh"
# shellcheck source=tests/system/page.sh
. "$TESTS/system/page.sh"

SLOW=$((SLOW * 3))

# recorded JOB FIELD: what sacct has of it.
recorded()
{
	sacct -X -n -P -j "$1" -o "$2"
}

recorded_is()
{
	[ "$(recorded "$1" "$2")" = "$3" ] || {
		sacct -X -P -j "$1" -o JobID,State,Account,ReqTRES,AllocTRES
		return 1
	}
}

# has_gpus JOB COUNT: as GPUs and as licences.
has_gpus()
{
	local tres

	tres=,$(recorded "$1" AllocTRES),
	echo "$tres"
	[[ $tres == *,gres/gpu=$2,* && $tres == *,license/gf_h100=$2,* ]]
}

asked_of_red()
{
	submit 0 hold -A red "$@"
}

reason_is()
{
	[ "$(reason "$1")" = "$2" ]
}

useradd alice
mkdir -p $jobs
chown alice $jobs
page_machine 8
page_all "first job"
page_all accounting
check "slurmctld runs with it" wait_for 60 node_idle || bail_out "no Slurm"
is "$(gpuctl slurm check 2>&1 | grep Accounting)" "" "gpuctl slurm check misses nothing about accounting"

note "what is recorded"
first=$(asked_of_red --gpus=h100:4)
check "a job of 4 GPUs runs" script_runs "$first" || bail_out "no job"
is "$(members "slurm-$first")" 4 "with its GPUs"
is "$(composition "slurm-$first" .tenant)" red "of the account's tenant"
check "sacct has 4 GPUs and licences of it" wait_for 60 has_gpus "$first" 4

note "limits"
second=$(asked_of_red --gpus=h100:4)
check "a job that would exceed the account's limit waits for it" wait_for 60 reason_is "$second" AssocGrpLicense
output=$(asked_of_red --gpus=h100:7 2>&1)
check_fails "one that is larger than the limit is refused" test $? -eq 0
like "$output" "error: AssocGrpLicense" "with the reason"
like "$output" "violates accounting/QOS policy" "in words, too"
output=$(submit 0 hold --gpus=h100:1 -A blue 2>&1)
check_fails "and another account than one's own" test $? -eq 0
like "$output" "Invalid account" "with the reason"
check "an account has a limit for each job" sacctmgr -i modify account red set MaxTRES=license/gf_h100=4
output=$(asked_of_red --gpus=h100:5 2>&1)
check_fails "a job that is larger is refused" test $? -eq 0
like "$output" "AssocMaxLicensePerJob" "with the reason"

note "a job that shrinks and grows"
check "it shrinks" gpuctl slurm resize "$first" 1
check "it grows" gpuctl slurm resize "$first" 2
is "$(licences "$first")" gf_h100:2 "Slurm has its licences"
check "sacct and limits go on with what it was started with" has_gpus "$first" 4
check "so another job of the account still waits" reason_is "$second" AssocGrpLicense

note "slurmdbd is away"
systemctl stop slurmdbd
check "the job ends" finish_job "$first"
check "the next one starts" script_runs "$second"
is "$(members "slurm-$second")" 4 "with its GPUs"
systemctl start slurmdbd
check "what happened meanwhile is recorded: an end" wait_for 120 recorded_is "$first" State COMPLETED
check "and a start" wait_for 60 has_gpus "$second" 4
check "the second job ends" finish_job "$second"
check "and that is recorded" wait_for 60 recorded_is "$second" "State,Account" "COMPLETED|red"
check "all GPUs are back" wait_for 60 all_back
finish
