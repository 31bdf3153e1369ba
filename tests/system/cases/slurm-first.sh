#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands of docs/slurm.md, word for word: from the packages to the first job.
#
#   root port -- upstream -- 100 ... 102 with an h100-80 each, off
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 600 -m 1536M -f docs/slurm.md

# What jobs do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/page.sh
. "$TESTS/system/page.sh"

all_back()
{
	[ "$(gpuctl -j list | jq '.compositions | length')" = 0 ]
}

page_machine 3
page_all "first job"
is "${#commands[@]}" 10 "there are ten commands"
like "$(cat "$said")" "slurm-1" "the job sees its GPU"
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
