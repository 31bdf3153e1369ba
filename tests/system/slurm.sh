# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by cases about Slurm: its daemons, as many nodes as wanted on this machine.
#
#   slurm_up GPUS NODE:SLOTS...   all of it, with that number of simulated GPUs
#   submit GPUS hold|SCRIPT [ARGS]  a batch job of alice; prints its id. hold: until finish_job
#   finish_job ID                 has its script end, and waits for that
#   script_runs ID                waits for the script
#   variable ID NAME              in the environment of its script
#   opens ID SLOT                 opened, or why not: a process of the job opens the GPU's node

conf=/etc/slurm
jobs=/tmp/jobs

as_alice()
{
	runuser -u alice -- "$@"
}

write_conf()
{
	local gpus=$1 node name slots port=17001 first=0 program=/usr/local/libexec/gpuctl/slurm
	shift

	mkdir -p $conf /var/log/slurm /var/spool/slurmctld
	chown slurm: /var/log/slurm /var/spool/slurmctld
	cat >$conf/slurm.conf <<-END
		ClusterName=gf
		SlurmctldHost=gpufabric-vm(127.0.0.1)
		AuthType=auth/munge
		SlurmUser=slurm
		StateSaveLocation=/var/spool/slurmctld
		SlurmdSpoolDir=/var/spool/slurmd.%n
		SlurmctldPidFile=/run/slurmctld.pid
		SlurmdPidFile=/run/slurmd.%n.pid
		SlurmctldLogFile=/var/log/slurm/slurmctld.log
		SlurmdLogFile=/var/log/slurm/slurmd.%n.log
		ProctrackType=proctrack/cgroup
		TaskPlugin=task/cgroup
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		MpiDefault=none
		ReturnToService=2
		SlurmdTimeout=300
		InactiveLimit=0
		KillWait=5
		SchedulerParameters=nohold_on_prolog_fail,batch_sched_delay=0,sched_min_interval=0,bf_interval=5
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		GresTypes=gpu
		Licenses=gf_h100:$gpus
		Prolog=$program/prolog
		Epilog=$program/epilog
		HealthCheckProgram=$program/reap
		HealthCheckInterval=20
		PrologFlags=Alloc
		BatchStartTimeout=600
		PrologEpilogTimeout=600
		SlurmdParameters=config_overrides
		PartitionName=main Nodes=ALL Default=YES DefaultTime=60 MaxTime=120 State=UP
	END
	for node; do
		name=${node%:*}
		slots=${node#*:}
		echo "NodeName=$name NodeHostname=gpufabric-vm NodeAddr=127.0.0.1 Port=$port CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:h100:$slots State=UNKNOWN"
		port=$((port + 1))
	done >>$conf/slurm.conf
	# Both are this host, and may name the same slots.
	for node; do
		slots=${node#*:}
		[ $((first + slots)) -le "$gpus" ] || first=$((gpus - slots))
		echo "NodeName=${node%:*} Name=gpu Type=h100 File=/dev/gpufabric/[$((100 + first))-$((99 + first + slots))]"
		first=$((first + slots))
	done >$conf/gres.conf
	printf 'CgroupPlugin=cgroup/v2\nConstrainDevices=yes\n' >$conf/cgroup.conf
	echo "required spank_gpufabric.so" >$conf/plugstack.conf
	write_units $program
}

# As Debian's own, but for several slurmd on one machine, with the package's drop-in.
write_units()
{
	cat >/run/systemd/system/slurmctld-test.service <<-END
		[Service]
		User=slurm
		ExecStart=slurmctld -D
	END
	cat >/run/systemd/system/slurmd-test@.service <<-END
		[Service]
		ExecStartPre=-$1/reap --start %i
		ExecStart=slurmd -D -N %i
		KillMode=process
		Delegate=yes
		LimitMEMLOCK=infinity
	END
	systemctl daemon-reload
}

nodes_are()
{
	[ "$(sinfo -h -N -o %T | sort -u | xargs)" = "$1" ] || {
		sinfo -N -o '%N %T %E'
		return 1
	}
}

nodes_idle()
{
	nodes_are idle
}

# Nodes that do not become idle say why, and are taken back into service: the rest of a case is
# about other things.
become_idle()
{
	! wait_for 60 nodes_idle || return 0
	nodes_idle
	journalctl -q -n 20 -o cat -t gpufabric-prolog -t gpufabric-epilog -t gpufabric-reap
	sinfo -h -N -t drain -o %N | xargs -I{} scontrol update nodename={} state=resume
	return 1
}

slurm_up()
{
	local node

	# Slurm looks names up only where there is an address beside that of the loopback.
	ip addr add 10.77.0.1/32 dev lo
	modprobe gpufabric_sim mode=pciehp switches=1 slots="$1" 'gpus=*:h100-80:off' latency_ms=5 || bail_out "no simulator"
	modprobe gpufabric || bail_out "no module"
	gpuctl scan >/dev/null || bail_out "the GPUs are not known"
	useradd alice
	mkdir -p $jobs
	chown alice $jobs
	write_conf "$@"
	systemctl start munge slurmctld-test || bail_out "no munge or slurmctld"
	shift
	for node; do
		systemctl start "slurmd-test@${node%:*}" || bail_out "no slurmd"
	done
	check "Slurm runs" become_idle || bail_out "no Slurm"
}

# What is to be read when a case fails.
keep_logs()
{
	cp -r /var/log/slurm /out/
	scontrol show job -d >/out/slurm/jobs 2>&1
}
trap keep_logs EXIT

# A script that writes its environment down, opens what it is told, and ends when it is told.
cat >/tmp/hold.sh <<'END'
#!/bin/bash
cd /tmp/jobs || exit 1
env >"env.$SLURM_JOB_ID.new"
mv "env.$SLURM_JOB_ID.new" "env.$SLURM_JOB_ID"
mkfifo "orders.$SLURM_JOB_ID"
while read -r order path <"orders.$SLURM_JOB_ID"; do
	[ "$order" != end ] || break
	if (: <"$path") 2>"why.$SLURM_JOB_ID"; then answer=opened; else answer=$(sed 's/.*: //' "why.$SLURM_JOB_ID"); fi
	echo "$answer" >"answer.$SLURM_JOB_ID.new"
	mv "answer.$SLURM_JOB_ID.new" "answer.$SLURM_JOB_ID"
done
rm "orders.$SLURM_JOB_ID"
END
chmod 755 /tmp/hold.sh

submit()
{
	local gpus=$1 script=$2 ask=()
	shift 2

	[ "$script" != hold ] || script=/tmp/hold.sh
	[ "$gpus" = 0 ] || ask=(--gres="gpu:h100:$gpus" -L "gf_h100:$gpus")
	as_alice sbatch --parsable -D /tmp -o "$jobs/output.%j" "${ask[@]}" "$@" "$script"
}

job_state()
{
	squeue -h -t all -j "$1" -o %T
}

job_state_is()
{
	job_state "$1" | grep -qx "$2"
}

job_is()
{
	wait_for 60 job_state_is "$1" "$2" || {
		scontrol show job -d "$1"
		return 1
	}
}

script_runs()
{
	wait_for 60 test -p "$jobs/orders.$1" || {
		scontrol show job -d "$1"
		cat "$jobs/output.$1"
		return 1
	}
}

variable()
{
	sed -n "s/^$2=//p" "$jobs/env.$1"
}

opens()
{
	rm -f "$jobs/answer.$1"
	# As drivers of GPUs have it.
	chmod 666 "/dev/gpufabric-sim/$2"
	echo "open /dev/gpufabric-sim/$2" >"$jobs/orders.$1"
	wait_for 30 test -e "$jobs/answer.$1"
	cat "$jobs/answer.$1"
}

finish_job()
{
	echo end >"$jobs/orders.$1"
	wait_for 60 job_state_is "$1" COMPLETED
}

reason()
{
	squeue -h -j "$1" -o %r
}

# composition NAME FILTER: by jq.
composition()
{
	gpuctl -j list | jq -r --arg name "$1" ".compositions[] | select(.name == \$name) | $2"
}

licences()
{
	squeue -h -j "$1" -o %W
}

members()
{
	composition "$1" '.slots | length'
}

gone()
{
	! gpuctl show "$1" >/dev/null 2>&1
}

# No composition, and no GPU that is on or changes.
all_back()
{
	[ "$(gpuctl -j list | jq -r '"\(.compositions | length) \([.slots[].state] | map(select(. != "off" and . != "empty")) | length)"')" = "0 0" ] || {
		gpuctl list
		return 1
	}
}

empty_slots()
{
	[ "$(gpuctl -j list | jq '[.slots[] | select(.state == "empty")] | length')" = "$1" ]
}

# has_lease NAME FROM TO: in minutes from now.
has_lease()
{
	local left

	left=$((($(composition "$1" .lease) / 1000 - $(date +%s)) / 60))
	echo "$left minutes"
	[ "$left" -ge "$2" ] && [ "$left" -le "$3" ]
}

# hold_hook attach|detach: gpuctl stops there until free_hook, whatever the limits of hooks are.
hold_hook()
{
	local hooks=/etc/gpuctl/hooks.d/pre-$1.d

	mkdir -p "$hooks"
	rm -rf "/run/$1.begun" "/run/$1.held"
	# One of the hooks, which there are for each slot. Another one may begin after free_hook.
	cat >"$hooks/10-hold" <<-END
		#!/bin/sh
		mkdir /run/$1.held || exit 0
		kill -STOP \$PPID
		touch /run/$1.begun
	END
	chmod 755 "$hooks/10-hold"
}

free_hook()
{
	pkill -CONT -x gpuctl
}

job_excludes()
{
	scontrol show job "$1" | grep -q 'ExcNodeList=n'
}

other_node()
{
	if [ "$1" = n1 ]; then echo n2; else echo n1; fi
}

some_node_drained()
{
	sinfo -h -N -o %T | grep -q drained
}
