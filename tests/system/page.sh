# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by cases that run the commands of docs/slurm.md, word for word.
#
#   page_machine SLOTS      what a network, cards and packages would give
#   page_commands NAME      those between <!-- NAME --> and its end, into the array commands
#   page_run COMMAND        runs it as one check, and shows what it printed
#   page_all NAME           all of them; srun waits for an idle node, sacctmgr for its daemons

page=$TESTS/slurm.md
said=/tmp/said

node_idle()
{
	[ "$(sinfo -h -o %T)" = idle ]
}

daemons_answer()
{
	sacctmgr -n show cluster >/dev/null 2>&1 && scontrol ping | grep -q "is UP"
}

page_machine()
{
	ip addr add 10.77.0.1/32 dev lo
	echo "10.77.0.1 $(hostname -s)" >>/etc/hosts
	ln -s /usr/local/share/gpuctl /usr/share/gpuctl
	# An emulated machine is slower.
	mkdir -p /run/systemd/system/slurmctld.service.d
	printf '[Service]\nEnvironment=GPUFABRIC_SIZE_LIMIT=60\n' >/run/systemd/system/slurmctld.service.d/slow.conf
	systemctl daemon-reload
	mkdir -p /etc/slurm
	modprobe gpufabric_sim mode=pciehp switches=1 slots="$1" 'gpus=*:h100-80:off' latency_ms=5 || bail_out "no simulator"
}

page_commands()
{
	mapfile -t commands < <(sed -n "/<!-- $1 -->/,/<!-- end of $1 -->/s/^    //p" "$page")
}

page_run()
{
	note "$1"
	bash -c "$1" >$said 2>&1 </dev/null
	is $? 0 "it succeeds"
	sed 's/^/#   /' $said
}

page_all()
{
	local command

	page_commands "$1"
	[ "${#commands[@]}" -gt 0 ] || bail_out "$page has no $1"
	for command in "${commands[@]}"; do
		# A reader is slower than slurmd.
		[[ $command != srun* ]] || check "the node is idle" wait_for 60 node_idle
		[[ $command != sacctmgr* ]] || check "the daemons answer" wait_for 60 daemons_answer
		page_run "$command"
	done
}
