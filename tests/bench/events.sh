#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of "make bench": how long after the kernel has bound a hot-plugged GPU to its
# driver its readers are told,
#
#   watch   gpuctl watch, that the slot is ready
#   udev    udevadm monitor, the event of udevd for that bind
#
# Zero is the kernel's own uevent of the bind. The GPU is powered by its slot's power
# file, so that neither side knows of it beforehand; pciehp drives the port.

set -euo pipefail

rounds=${1:-20}
power=/sys/bus/pci/slots/100/power

wait_lines()
{
	local i n

	for ((i = 0; i < 600; i++)); do
		n=$(grep -c -- "$2" "$3" || true)
		[ "${n:-0}" -lt "$1" ] || return 0
		sleep 0.05
	done
	echo "bench: no $1 times \"$2\" in $3" >&2
	tail -n 5 "$3" >&2
	exit 1
}

modprobe gpufabric_sim mode=pciehp switches=1 slots=4 'gpus=*.*:h100-80:off'
modprobe gpufabric
/usr/lib/systemd/systemd-udevd --daemon
udevadm settle
: >/tmp/udev
: >/tmp/watch
udevadm monitor --kernel --udev --subsystem-match=pci | /tests/stamp >/tmp/udev &
gpuctl -j watch --slot 100 --kind slot-changed | /tests/stamp >/tmp/watch &
wait_lines 1 'UDEV - the event' /tmp/udev
wait_lines 1 snapshot-done /tmp/watch
for ((i = 1; i <= rounds; i++)); do
	echo 1 >$power
	wait_lines "$i" '"state":"ready"' /tmp/watch
	wait_lines "$i" ' UDEV .* bind ' /tmp/udev
	echo 0 >$power
	wait_lines "$i" ' UDEV .* unbind ' /tmp/udev
	wait_lines "$i" '"state":"off"' /tmp/watch
	udevadm settle
done

# column FILE PATTERN: when each came
column()
{
	grep -- "$2" "$1" | awk '{ print $1 }'
}

paste <(column /tmp/udev ' KERNEL.* bind ') <(column /tmp/watch '"state":"ready"') \
	<(column /tmp/udev ' UDEV .* bind ') >/out/events.tsv
median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
w=$(awk '{ printf "%.6f\n", $2 - $1 }' /out/events.tsv | median)
u=$(awk '{ printf "%.6f\n", $3 - $1 }' /out/events.tsv | median)
jq -n --argjson n "$rounds" --argjson w "$w" --argjson u "$u" \
	'{rounds: $n, watch_s: $w, udev_s: $u, watch_to_udev: (if $w > 0 then $w / $u else 0 end)}' >/out/bench-events.json
jq -r '"watch \(.watch_s * 1000) ms, udev \(.udev_s * 1000) ms: ratio \(.watch_to_udev * 100 | round / 100)"' /out/bench-events.json
