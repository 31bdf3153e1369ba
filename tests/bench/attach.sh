#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of "make bench": how long it takes to attach 1, 8 and 16
# GPUs behind one switch whose ports the kernel's own pciehp drives,
#
#   serial     a shell that writes 1 to one slot's power file after the other
#   parallel   the same with & and wait
#   gpuctl     one gpuctl attach
#
# The two shells run with gpufabric.ko unloaded, so that they pay for nothing
# of ours. All take turns, and the medians of one run are compared: the
# ratios mean something on a noisy machine, the milliseconds do not.

set -euo pipefail

rounds=${1:-5}
slots=16
powers=(/sys/bus/pci/slots/1{00..15}/power)
names=()

now_us()
{
	local t=$EPOCHREALTIME
	echo $((10#${t/./}))
}

power_off_all()
{
	local file
	for file in "${powers[@]}"; do
		[ "$(cat "$file")" = 0 ] || echo 0 >"$file" &
	done
	wait
}

serial()
{
	local i
	for ((i = 0; i < $1; i++)); do
		echo 1 >"${powers[i]}"
	done
}

parallel()
{
	local i
	for ((i = 0; i < $1; i++)); do
		echo 1 >"${powers[i]}" &
	done
	wait
}

with_gpuctl()
{
	gpuctl attach "${names[@]:0:$1}" >/dev/null
}

# Microseconds of one call; what was attached is checked, and powered off.
measure()
{
	local how=$1 count=$2 start end attached
	# On a host the module is there long before: what its first look costs is not an attach's.
	[[ $how != with_* ]] || { modprobe gpufabric && gpuctl list >/dev/null; }
	start=$(now_us)
	"$how" "$count"
	end=$(now_us)
	attached=$(cat "${powers[@]}" | grep -c 1 || true)
	if [ "$attached" -ne "$count" ]; then
		echo "bench: $how attached $attached of $count" >&2
		exit 1
	fi
	[[ $how != with_* ]] || rmmod gpufabric
	power_off_all
	echo $((end - start))
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

modprobe gpufabric_sim mode=pciehp switches=1 slots=$slots 'gpus=*.*:h100-80:off'
for ((i = 0; i < slots; i++)); do
	names+=($((100 + i)))
done

printf '%5s %10s %12s %10s %16s %14s\n' GPUs serial/ms parallel/ms gpuctl/ms gpuctl/parallel gpuctl/serial
json=
for count in 1 8 16; do
	declare -A times=([serial]='' [parallel]='' [with_gpuctl]='')
	for ((round = 0; round < rounds; round++)); do
		for how in serial parallel with_gpuctl; do
			times[$how]+="$(measure "$how" "$count")"$'\n'
		done
	done
	row=$(jq -nc --argjson n "$count" --argjson r "$rounds" \
		--argjson s "$(median <<<"${times[serial]%$'\n'}")" \
		--argjson p "$(median <<<"${times[parallel]%$'\n'}")" \
		--argjson g "$(median <<<"${times[with_gpuctl]%$'\n'}")" \
		'{gpus: $n, rounds: $r, serial_us: $s, parallel_us: $p, gpuctl_us: $g,
		  gpuctl_to_parallel: ($g / $p), gpuctl_to_serial: ($g / $s)}')
	jq -r '[.gpus, .serial_us / 1000, .parallel_us / 1000, .gpuctl_us / 1000,
		.gpuctl_to_parallel, .gpuctl_to_serial] | @tsv' <<<"$row" |
		awk '{ printf "%5d %10.0f %12.0f %10.0f %16.2f %14.2f\n", $1, $2, $3, $4, $5, $6 }'
	json+=${json:+,}$row
done
printf '[%s]\n' "$json" | jq . >/out/bench-attach.json
