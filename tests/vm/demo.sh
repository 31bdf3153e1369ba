#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of "make demo": three switches of eight slots each,
#
#   0: 8 x H200    1: 8 x H100    2: 4 x L40S, 4 x A100      all powered off
#
# and a composition each for an 8B, a 70B and a 405B model, which are then
# shown and released. Stops at the first command that fails.

set -euo pipefail

# Print a command as a user would type it, and run it.
show()
{
	printf '\n\033[1m$ %s\033[0m\n' "$*"
	"$@"
}

gpus="0.*:h200:off,1.*:h100-80:off,2.0-3:l40s:off,2.4-7:a100-80:off"
show modprobe gpufabric_sim switches=3 slots=8 "gpus=$gpus"
show modprobe gpufabric
show gpuctl scan
show gpuctl size llama-3.1-70b --task infer --precision bf16 --context 8192 --batch 16
show gpuctl compose serve405b --model llama-3.1-405b --task infer --precision bf16
show gpuctl compose serve70b --model llama-3.1-70b --task infer --precision bf16 --context 8192 --batch 16
show gpuctl compose serve8b --model llama-3.1-8b --task infer --precision bf16
show gpuctl list
show gpuctl topo

gpus_of()
{
	gpuctl -j show "$1" | jq -e .composition.gpus
}
line="demo: 8B on $(gpus_of serve8b), 70B on $(gpus_of serve70b), 405B on $(gpus_of serve405b) GPUs"

for name in serve8b serve70b serve405b; do
	show gpuctl release "$name"
done
show gpuctl list
[ "$(gpuctl -j list | jq '[.slots[] | select(.state != "off")] + .compositions | length')" = 0 ]
show rmmod gpufabric gpufabric_sim
echo "$line; all released" >/out/line
