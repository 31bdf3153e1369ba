#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of "make bench": what it costs to take back a composition of 16 whose last
# GPU does not answer after power-on, when the others are there,
#
#   rollback   gpuctl compose that fails, less the time after which the last one had failed
#   release    gpuctl release of one that succeeded
#
# pciehp drives the ports, and waits for a GPU that does not answer.

set -euo pipefail

rounds=${1:-5}
slots=16

now_us()
{
	local t=$EPOCHREALTIME
	echo $((10#${t/./}))
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# took EXIT-CODE COMMAND...: microseconds
took()
{
	local want=$1 start rc=0
	shift

	start=$(now_us)
	"$@" >/tmp/out 2>/tmp/err || rc=$?
	echo $(($(now_us) - start))
	[ "$rc" -eq "$want" ] || { echo "bench: $* ended with $rc" >&2; cat /tmp/out /tmp/err >&2; exit 1; }
}

modprobe gpufabric_sim mode=pciehp switches=1 slots=$slots 'gpus=*.*:h100-80:off'
modprobe gpufabric
gpuctl scan >/dev/null
for ((i = 0; i < rounds; i++)); do
	took 0 gpuctl compose all --gpus $slots >>/tmp/compose
	took 0 gpuctl release all >>/tmp/release
	echo enumerate >"/sys/kernel/debug/gpufabric_sim/slot0.$((slots - 1))/fail"
	all=$(took 1 gpuctl -j compose all --gpus $slots)
	waited=$(jq '[.slots[] | select(.state == "fault") | .durations.total] | max' /tmp/out)
	echo "$all" >>/tmp/failed
	echo $((all - waited)) >>/tmp/rollback
	gpuctl clear "$((100 + slots - 1))" >/dev/null
	[ "$(gpuctl -j list | jq '[.slots[] | select(.state == "off")] | length')" = $slots ]
done
jq -n --argjson n $slots --argjson r "$rounds" --argjson c "$(median </tmp/compose)" \
	--argjson f "$(median </tmp/failed)" --argjson l "$(median </tmp/release)" \
	--argjson b "$(median </tmp/rollback)" \
	'{gpus: $n, rounds: $r, compose_us: $c, failed_us: $f, rollback_us: $b, release_us: $l,
	  rollback_to_release: ($b / $l)}' >/out/bench-rollback.json
jq -r '"compose \(.compose_us / 1000) ms, failed \(.failed_us / 1000) ms, of that roll-back \(.rollback_us / 1000) ms, release \(.release_us / 1000) ms: rollback / release \(.rollback_to_release * 100 | round / 100)"' /out/bench-rollback.json
