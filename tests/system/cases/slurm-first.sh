#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands of docs/slurm.md, word for word: from the packages to the first job.
#
#   root port -- upstream -- 100 ... 102 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 600 -m 1536M -f docs/slurm.md
# check: the page is right

# What jobs do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"

page=$TESTS/slurm.md
said=/tmp/said

all_back()
{
	[ "$(gpuctl -j list | jq '.compositions | length')" = 0 ]
}

node_idle()
{
	[ "$(sinfo -h -o %T)" = idle ]
}

# What a network and a card would give, and the places of the packages.
ip addr add 10.77.0.1/32 dev lo
echo "10.77.0.1 $(hostname -s)" >>/etc/hosts
ln -s /usr/local/share/gpuctl /usr/share/gpuctl
# An emulated machine is slower.
mkdir -p /run/systemd/system/slurmctld.service.d
printf '[Service]\nEnvironment=GPUFABRIC_SIZE_LIMIT=60\n' >/run/systemd/system/slurmctld.service.d/slow.conf
systemctl daemon-reload
mkdir -p /etc/slurm
modprobe gpufabric_sim mode=pciehp switches=1 slots=3 'gpus=*:h100-80:off' latency_ms=5 || bail_out "no simulator"

mapfile -t commands < <(sed -n '/<!-- first job -->/,/<!-- end of first job -->/s/^    //p' "$page")
is "${#commands[@]}" 10 "there are ten commands"
for command in "${commands[@]}"; do
	note "$command"
	# A reader is slower than slurmd.
	[[ $command != srun* ]] || check "the node is idle" wait_for 60 node_idle
	bash -c "$command" >$said 2>&1 </dev/null
	is $? 0 "it succeeds"
	sed 's/^/#   /' $said
done
like "$(cat $said)" "slurm-1" "the job sees its GPU"
check "and gives it back" wait_for 60 all_back
is "$(sinfo -h -R)" "" "no node is drained" || bail_out "no node for the rest"

# What a reader tries next.
output=$(srun --gpus=4 true 2>&1)
like "$output" "gpufabric: 4 h100, and the pool has 3" "more than there are is refused with the reason"
output=$(srun --gpufabric-model=llama-3.1-70b sh -c 'echo $GPUFABRIC_SLOTS | wc -w' 2>&1)
like "$output" "^srun: gpufabric: llama-3.1-70b .infer. needs .* GiB: 3 h100, counted as h100-pcie-80" "a model is sized, and a line says how"
is "$(tail -n 1 <<<"$output")" 3 "and gets its GPUs"
is "$(srun --gpus=2 sh -c "scontrol show job \$SLURM_JOB_ID | grep -o 'Licenses=[^ ]*'")" "Licenses=gf_h100:2" "licences are counted"
finish
