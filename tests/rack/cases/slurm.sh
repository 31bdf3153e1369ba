#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Slurm on two hosts that share a pool of eight GPUs: jobs of 8, 4 and 4 GPUs queue for it. The
# daemons are real, each host has slots for all GPUs, and gpufabric-fm gives them to the hosts.
#
# long: two systems with systemd and Slurm
# before: tests/system/image slurm; make -s slurm

# shellcheck disable=SC2154,SC2016,SC2317 # tests/rack/all sets $top, $build, $rack; guests expand; wait_for calls
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"

SLOW=$((SLOW * 3))
gpus=(gpu0 gpu1 gpu2 gpu3 gpu4 gpu5 gpu6 gpu7)

# Lines of one host's NodeName, with its address and what slurmd finds of its processor.
node_line()
{
	on "$1" "gpuctl slurm config --file slurm.conf | sed -n \"s/^NodeName=.*/& NodeAddr=$2 \$(slurmd -C | sed -n '1s/^NodeName=[^ ]* //p')/p\""
}

# slurm.conf, the same on both: what gpuctl prints, the lines of both nodes, and what a site adds.
slurm_conf()
{
	on a gpuctl slurm config --file slurm.conf | grep -v '^NodeName='
	node_line a 10.88.0.1
	node_line b 10.88.0.2
	cat <<-'END'
		ClusterName=gpus
		SlurmctldHost=a(10.88.0.1)
		SlurmUser=slurm
		StateSaveLocation=/var/lib/slurm/slurmctld
		SlurmdTimeout=600
		PartitionName=main Nodes=ALL Default=YES
	END
}

configure()
{
	local host=$1

	on "$host" "ln -sfn /usr/local/share/gpuctl /usr/share/gpuctl; mkdir -p /etc/slurm
		ln -sf /usr/share/gpuctl/slurm/job_submit.lua /etc/slurm/job_submit.lua
		gpuctl slurm config --file plugstack.conf >/etc/slurm/plugstack.conf
		printf 'CgroupPlugin=cgroup/v2\nConstrainDevices=yes\n' >/etc/slurm/cgroup.conf" || return
	give "$host" /etc/slurm/slurm.conf <"$rack/slurm.conf" || return
	give "$host" /etc/slurm/gres.conf <"$rack/gres.conf" || return
	on "$host" 'chmod 644 /etc/slurm/*.conf'
}

nodes_are()
{
	[ "$(on a sinfo -h -N -o %T | sort | xargs)" = "$1" ]
}

# submit GPUS: a job that holds its GPUs until finish; prints its id.
submit()
{
	on a "sbatch --parsable --gpus=demo-80:$1 -o /dev/null --wrap 'touch /tmp/runs.\$SLURM_JOB_ID; until [ -e /tmp/go.\$SLURM_JOB_ID ]; do sleep 1; done'"
}

finish_job()
{
	local host

	for host in a b; do
		on "$host" touch "/tmp/go.$1"
	done
	wait_for 120 job_is "$1" COMPLETED
}

job_is()
{
	on a scontrol show job "$1" | grep -q "JobState=$2 "
}

reason_is()
{
	on a squeue -h -j "$1" -o %r | grep -qx "$2"
}

# The host that job $1 runs on, as Slurm says.
host_of()
{
	on a squeue -h -j "$1" -o %N
}

# Slurm calls a job running before its Prolog has ended.
script_runs()
{
	local host

	host=$(host_of "$1")
	[ -n "$host" ] && on "$host" test -e "/tmp/runs.$1"
}

composed()
{
	on "$1" gpuctl -j list | jq -r "[.compositions[] | select(.name == \"slurm-$2\") | .slots[]] | length"
}

licences_used()
{
	on a scontrol -o show licenses | sed -n 's/^LicenseName=gf_demo-80 .*Used=\([0-9]*\).*/\1/p'
}

pool_is_whole()
{
	[ "$(gpus_of a)$(gpus_of b)$(in_zone a)$(in_zone b)" = "" ]
}

rack_hosts=(a b)
rack_start_system a 8 slurm
rack_start_system b 8 slurm
check "host a boots" rack_await a || bail_out "no host"
check "host b boots" rack_await b || bail_out "no host"
check "they reach each other" on a 'for i in 1 2 3 4 5; do (: </dev/tcp/10.88.0.2/22) 2>&1 | grep -q refused && exit 0; sleep 1; done; exit 1'
check "the manager starts" fm_start a:8 b:8 -- "${gpus[@]}" || bail_out "no manager"
"$top/tests/rack/ledger" "$rack" "$fm_url" a b -- "${gpus[@]}" >"$rack/ledger.out" 2>&1 &
ledger=$!
rack_others+=("$ledger")
for host in a b; do
	check "$host: the module loads" on $host modprobe gpufabric
	check "$host: it is told of the manager" fm_introduce $host
	fm_name_gpus $host
done

slurm_conf >"$rack/slurm.conf"
for host in a b; do on $host gpuctl slurm config --file gres.conf; done >"$rack/gres.conf"
like "$(cat "$rack/slurm.conf")" '^Licenses=gf_demo-80:8$' "the licences are the pool's"
is "$(grep -cE '^NodeName=(a|b) .*Gres=gpu:demo-80:8' "$rack/slurm.conf")" 2 "each host has slots for all of it"
for host in a b; do
	check "$host: Slurm is configured" configure $host
done
check "a: the controller starts" on a systemctl restart munge slurmctld slurmd
check "b: its daemon starts" on b systemctl restart munge slurmd
like "$(on a gpuctl slurm check)" "nothing is missing" "gpuctl misses nothing"
check "both nodes are idle" wait_for 120 nodes_are "idle idle" || bail_out "no Slurm"

# --- 8, 4 and 4 of 8 ---------------------------------------------------------------------------
first=$(submit 8)
check "a job of 8 GPUs runs" wait_for 120 script_runs "$first"
host=$(host_of "$first")
other=$([ "$host" = b ] && echo a || echo b)
is "$(gpus_of "$host")" "${gpus[*]}" "all GPUs are in its host"
is "$(composed "$host" "$first")" 8 "in its composition"
is "$(licences_used)" 8 "it has all licences"
second=$(submit 4)
third=$(submit 4)
check "one of 4 waits for the pool" wait_for 60 reason_is "$second" Licenses
check "so does another one" wait_for 60 reason_is "$third" Licenses
is "$(on "$other" gpuctl -j list | jq '.compositions | length')" 0 "the other host has none"
check "the first ends" finish_job "$first"
check "the second runs" wait_for 120 script_runs "$second"
check "and the third beside it" wait_for 120 script_runs "$third"
is "$(printf '%s\n' "$(host_of "$second")" "$(host_of "$third")" | sort | xargs)" "a b" "each on a host"
is "$(composed "$(host_of "$second")" "$second") $(composed "$(host_of "$third")" "$third")" "4 4" "with 4 GPUs each"
is "$(gpus_of a | wc -w) $(gpus_of b | wc -w)" "4 4" "which QEMU has there"
is "$(gpus_of a; gpus_of b)" "$(printf '%s\n' "$(in_zone a)" "$(in_zone b)")" "and the manager gave"
check "both end" finish_job "$second"
check "one after the other" finish_job "$third"
check "the pool is whole" wait_for 60 pool_is_whole
is "$(licences_used)" 0 "no licence is used"
check "and the nodes are idle" wait_for 60 nodes_are "idle idle"
is "$(on a sinfo -h -R)" "" "none was drained"

kill "$ledger"
check "no GPU was in two hosts at a time" wait "$ledger" || sed 's/^/#   /' "$rack/ledger.out"
fm_stop TERM
rack_end a b
finish
