#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of "make bench": many slots (mode=own, without power),
#
#   list    gpuctl list
#   json    gpuctl -j list
#   lspci   lspci -vmm, and every file of /sys/bus/pci/slots
#
# and what gpufabric.ko takes of the memory for each slot.

set -euo pipefail

# shellcheck source=tests/vm/census.sh
. "$TESTS/vm/census.sh"

rounds=${1:-5}
per_switch=32

now_us()
{
	local t=$EPOCHREALTIME
	echo $((10#${t/./}))
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

list()
{
	gpuctl list
}

json()
{
	gpuctl -j list
}

walk()
{
	lspci -vmm
	cat /sys/bus/pci/slots/*/*
}

took()
{
	local start end i

	for ((i = 0; i < rounds; i++)); do
		start=$(now_us)
		"$1" >/tmp/out 2>&1 || true
		end=$(now_us)
		echo $((end - start))
	done | median
}

# What is in use and cannot be given back, in KiB; the lowest of some readings.
used()
{
	local i

	for ((i = 0; i < 5; i++)); do
		objects >/tmp/objects
		kernel_memory
	done | sort -n | head -n 1
}

printf '%6s %9s %9s %9s %11s %11s %12s\n' slots list/ms json/ms lspci/ms list/lspci json/lspci "KiB a slot"
rows=
for slots in 64 256 1024 4096; do
	modprobe gpufabric_sim mode=own switches=$((slots / per_switch)) slots=$per_switch 'gpus=*.*:h100-80:off' latency_ms=0
	# What the first load leaves in the kernel's caches is not the module's.
	modprobe gpufabric
	gpuctl -j list >/tmp/out
	rmmod gpufabric
	before=$(used)
	modprobe gpufabric
	n=$(gpuctl -j list | jq '.slots | length')
	[ "$n" = "$slots" ] || { echo "bench: $n slots, not $slots" >&2; exit 1; }
	after=$(used)
	row=$(jq -nc --argjson n "$slots" --argjson l "$(took list)" --argjson j "$(took json)" --argjson w "$(took walk)" \
		--argjson k "$((after - before))" \
		'{slots: $n, list_us: $l, json_us: $j, lspci_us: $w, list_to_lspci: ($l / $w), json_to_lspci: ($j / $w),
		  kib: $k, kib_a_slot: ($k / $n)}')
	jq -r '[.slots, .list_us / 1000, .json_us / 1000, .lspci_us / 1000, .list_to_lspci, .json_to_lspci, .kib_a_slot] | @tsv' <<<"$row" |
		awk '{ printf "%6d %9.1f %9.1f %9.1f %11.3f %11.3f %12.2f\n", $1, $2, $3, $4, $5, $6, $7 }'
	rows+=${rows:+,}$row
	rmmod gpufabric
	rmmod gpufabric_sim
done
jq . >/out/bench-scale.json <<<"[$rows]"
jq -r '"exponent of list from 256 to 4,096 slots: \(((.[3].list_us / .[1].list_us) | log) / (16 | log) * 100 | round / 100)"' /out/bench-scale.json
