#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What udev makes of slots and GPUs: a real udevd with our rules and the hwdb,
# compiled here.
#
#   simulated switch --+-- slot sim0-0: H100 80GB, on
#                      +-- slot sim0-1: L40S, off
#                      +-- slot sim0-2: empty
#
# in turn: one event after the other
# vm: -t 120

. "$TESTS/vm/lib.sh"

gpus=/sys/class/gpufabric
monitor=/tmp/monitor

# property DEVICE NAME
property()
{
	udevadm info --query=property --path="$1" | sed -n "s/^$2=//p"
}

# The class device of a slot by its name.
slot()
{
	local events

	# That of its GPU ends in "!gpu".
	events=$(grep -lxF "GPUFABRIC_SLOT=$1" "$gpus"/slot*[0-9]/uevent)
	echo "${events%/uevent}"
}

is_gone() { [ -z "$(slot "$1")" ]; }

# Properties of one event: seen ACTION DEVPATH-PART
seen()
{
	awk -v RS= -v action="ACTION=$1" -v part="$2" \
		'index($0, action "\n") && index($0, part)' "$monitor"
}

is_of() { [ "$(property "$second" ID_GPUFABRIC_COMPOSITION)" = "$1" ]; }
is_seen() { [ -n "$(seen "$@")" ]; }

check "the hwdb compiles without a word" test -z "$(systemd-hwdb --strict update 2>&1)"
check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=3 \
	'gpus=0.0:h100-80:on,0.1:l40s:off'
check "the module loads" modprobe gpufabric
check "udevd starts" start_udev

note "at the start"
first=$(slot sim0-0)
second=$(slot sim0-1)
wait_for 30 test -e "$first!gpu"
settle
is "$(property "$first" GPUFABRIC_SLOT)" sim0-0 "a slot knows its name"
is "$(property "$first" GPUFABRIC_GPU)" "" "and is no GPU itself"
is "$(property "$first" ID_GPUFABRIC_SLOT)" sim0-0 "under the name that GPUs have it, too"
is "$(property "$second" ID_GPUFABRIC_OCCUPANCY) $(property "$second" ID_GPUFABRIC_POWER)" "unknown off" \
	"and what is in it, as far as anybody can know"
check "the GPU of a slot that is on has a device" test -e "$first!gpu"
check_fails "that of a slot that is off has none" test -e "$second!gpu"

port=$(property "$first" GPUFABRIC_PORT)
is "$(readlink -f "$first/port")" "$(readlink -f "/sys/bus/pci/devices/$port")" "a slot has a link to its port"
is "$(readlink -f "/sys/bus/pci/devices/$port/gpufabric")" "$(readlink -f "$first")" "and the port one to the slot"

note "the nodes of slots"
node=/dev/gpufabric/sim0-0
empty=/dev/gpufabric/sim0-2
check "a slot has a node" test -c "$node"
is "$((0x$(stat -c %t "$node"))):$((0x$(stat -c %T "$node")))" "$(cat "$first/dev")" "with its numbers"
check "an empty slot has one" test -c "$empty"
is "$(stat -c %a "$node")" 600 "it is root's"
like "$( (exec 9<"$node") 2>&1)" 'No such device or address' "nobody can open it"
is "$(stat -c '%t:%T' /dev/gpufabric/sim0-* | sort -u | wc -l)" 3 "no two have the same numbers"

note "the GPU's device"
gpu=$first!gpu
is "$(property "$gpu" GPUFABRIC_SLOT)" sim0-0 "knows its slot"
is "$(property "$gpu" GPUFABRIC_GPU)" 1 "is a GPU to rules"
like "$(property "$gpu" TAGS)" ':systemd:' "is a unit for systemd"
is "$(property "$gpu" SYSTEMD_ALIAS)" /gpufabric/gpu/sim0-0 "under a name that can be foreseen"
address=$(property "$gpu" GPUFABRIC_ADDRESS)
like "$address" '^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.0$' "knows its PCI address"
is "$(property "$gpu" ID_GPUFABRIC_KIND)" h100-pcie-80 "the catalogue knows it"
is "$(property "$gpu" ID_GPUFABRIC_MODEL)" "H100 PCIe (sim)" "as simulated"
is "$(property "$gpu" ID_GPUFABRIC_SLOT)" sim0-0 "its slot"
is "$(property "$gpu" ID_GPUFABRIC_STATE)" ready "its state"
is "$(property "$gpu" ID_GPUFABRIC_MEMORY)" $((81559 << 20)) "its memory, which gpuctl says"
is "$(property "$gpu" SYSTEMD_WANTS)" gpufabric-attached@.service "what systemd starts for it"

note "the PCI device"
pci=/sys/bus/pci/devices/$address
is "$(property "$pci" ID_GPUFABRIC_MODEL)" "H100 PCIe (sim)" "its model"
is "$(property "$pci" ID_GPUFABRIC_SIMULATED)" 1 "is simulated"
is "$(property "$pci" ID_GPUFABRIC_MEMORY_MIB)" 81559 "its memory"
is "$(property "$pci" ID_GPUFABRIC_DRIVER)" gpufabric-sim-gpu "its driver"
is "$(property "$pci" ID_GPUFABRIC_GPU)" 1 "its class"
is "$(property "$pci" ID_GPUFABRIC_SLOT)" sim0-0 "its slot"
is "$(property "$pci" ID_GPUFABRIC_STATE)" "" "no state, which would not be kept up to date"
bridge=/sys/bus/pci/devices/$(property "$first" GPUFABRIC_PORT)
is "$(property "$bridge" ID_GPUFABRIC_GPU)$(property "$bridge" ID_GPUFABRIC_KIND)" "" \
	"a port of the switch is no GPU"
is "$(property "/sys/class/gpufabric_sim_gpu/gpufabric-sim!sim0-0" ID_GPUFABRIC_SIMULATED)" 1 \
	"its node is simulated, too"

note "coming and going"
udevadm monitor --udev --property --subsystem-match=gpufabric --subsystem-match=pci >"$monitor" &
watcher=$!
wait_for 10 grep -q 'UDEV - the event' "$monitor"

check "a GPU attaches" gpuctl attach sim0-1
check "its device came" wait_for 10 test -e "$second!gpu"
settle
is "$(property "$second!gpu" ID_GPUFABRIC_MODEL)" "L40S (sim)" "with what the catalogue knows"
wait_for 10 is_seen add "$(basename "$second")!gpu"
like "$(seen add "$(basename "$second")!gpu")" '^SYSTEMD_ALIAS=/gpufabric/gpu/sim0-1$' \
	"listeners were told, with its properties"

check "it joins a composition" gpuctl compose one --gpus 2
check "its slot says which" wait_for 10 is_of one
is "$(gpuctl udev "$(readlink -f "$second!gpu")" | sed -n 's/^ID_GPUFABRIC_COMPOSITION=//p')" one \
	"gpuctl says so of the GPU"
check "it is released" gpuctl release --keep one
check "its slot is free" wait_for 10 is_of ""

address=$(property "$second!gpu" GPUFABRIC_ADDRESS)
check "it detaches" gpuctl detach sim0-1
check_fails "its device went" test -e "$second!gpu"
wait_for 10 is_seen remove "/$address"
gone=$(seen remove "$(basename "$second")!gpu")
like "$gone" '^GPUFABRIC_GPU=1$' "listeners can still tell that it was a GPU"
like "$gone" '^GPUFABRIC_SLOT=sim0-1$' "and in which slot"
like "$(seen remove "/$address")" '^ID_GPUFABRIC_GPU=1$' "so they can by the PCI device"
like "$(seen unbind "/$address")" '^ID_GPUFABRIC_KIND=l40s$' "which is known without its driver"
like "$(seen remove "/$address")" '^ID_GPUFABRIC_KIND=l40s$' "and when it is gone"
check "the GPU's device went before the PCI device" [ "$(sed -n 's/^SEQNUM=//p' <<<"$gone")" -lt \
	"$(seen remove "/$address" | sed -n 's/^SEQNUM=//p')" ]

kill "$watcher"
wait "$watcher" 2>/dev/null
like "$(udevadm control --ping 2>&1; echo $?)" '^0$' "udevd is well"
check "the module unloads" wait_for 10 rmmod gpufabric
check_fails "and takes its devices along" test -e "$first"
check_fails "and its nodes" test -e "$node"
check_fails "and the links of ports" test -L "/sys/bus/pci/devices/$port/gpufabric"

note "a switch goes"
check "the module loads again" modprobe gpufabric
is "$(readlink -f "/sys/bus/pci/devices/$port/gpufabric")" "$(readlink -f "$(slot sim0-0)")" "its ports are linked again"
upstream=$(dirname "$(readlink -f "/sys/bus/pci/devices/$port")")
check "somebody removes the switch" tee "$upstream/remove" <<<1
check "its slots go" wait_for 30 is_gone sim0-0
check "the module unloads again" rmmod gpufabric
finish
