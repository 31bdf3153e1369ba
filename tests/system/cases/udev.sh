#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What udev itself says of our rules, by udevadm test with the system's other rules
# around them, for each kind of device and each event; what systemd then makes of the
# devices; and that being asked again at any time changes nothing.
#
#   simulated switch --+-- slot sim0-0: H100 80GB, on
#                      +-- slot sim0-1: L40S, off
#                      +-- slot sim0-2: empty
#
# system: -t 480

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"

rules=/etc/udev/rules.d/60-gpufabric.rules
class=/sys/class/gpufabric
asked=0

# The class device of a slot by its name.
slot()
{
	local events

	# That of its GPU ends in "!gpu".
	events=$(grep -lxF "GPUFABRIC_SLOT=$1" "$class"/slot*[0-9]/uevent)
	echo "${events%/uevent}"
}

# ask ACTION DEVICE: properties go to /tmp/said, what udev did for them to /tmp/done.
ask()
{
	asked=$((asked + 1))
	udevadm test --action="$1" "$2" >/tmp/said 2>/tmp/done
}

said()
{
	sed -n "s/^$1=//p" /tmp/said
}

# Lines about a rule when it was read begin with its file; those about what it did say for
# which device.
complaints()
{
	grep -E "^$1:|$1:[0-9]+.*([Ff]ail|[Ii]nvalid|[Uu]nknown|[Ii]gnor|[Cc]annot|[Cc]ould not)|gpuctl.*(failed|timeout|\(err\))" /tmp/done
}

# understood ACTION DEVICE "what it is"
understood()
{
	check "$3: $1 is gone through" ask "$1" "$2"
	is "$(complaints $rules)" "" "$3: nothing to complain of"
	is "$(grep -c "^Reading rules file: $rules$" /tmp/done)" 1 "$3: by our rules"
	# Loading drivers is the system's own.
	is "$(grep "^run: " /tmp/said | grep -v "^run: 'kmod load")" "" "$3: and no program runs afterwards"
}

# All, as the names that a device has besides its own are hidden else.
device_units()
{
	systemctl list-units --all --type=device --no-legend --plain --full | sed -n 's/^\(gpufabric-gpu-[^ ]*\) .* active .*/\1/p' |
		paste -s -d ' '
}

attached_units()
{
	systemctl list-units --no-legend --plain --full 'gpufabric-attached@*' | grep -c ' active '
}

# follows NUMBER DEVICES: so many units, for these devices
follows()
{
	[ "$(attached_units)" = "$1" ] && [ "$(device_units)" = "$2" ]
}

# All that is known of our devices; their numbers of events are their own.
known()
{
	local device

	for device in "$class"/* /sys/class/gpufabric_sim_gpu/* "/sys/bus/pci/devices/$address"; do
		echo "$device"
		udevadm info --query=property --path="$device" | grep -vE '^(SEQNUM|USEC_INITIALIZED|CURRENT_TAGS|TAGS)=' | sort
	done
}

check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=3 \
	'gpus=0.0:h100-80:on,0.1:l40s:off' || bail_out "no simulator"
check "the hardware database is compiled" systemd-hwdb update
check "the module loads" modprobe gpufabric
first=$(slot sim0-0)
check "its GPU has a device" wait_for 30 test -e "$first!gpu"
check "udev has seen it" udevadm settle
address=$(udevadm info --query=property --path="$first!gpu" | sed -n 's/^GPUFABRIC_ADDRESS=//p')
pci=/sys/bus/pci/devices/$address
check "it is on the bus" test -e "$pci/class" || bail_out "no GPU"

note "a slot"
for action in add change remove; do
	understood $action "$first" "a slot"
done
ask change "$first"
is "$(said ID_GPUFABRIC_SLOT) $(said ID_GPUFABRIC_OCCUPANCY)" "sim0-0 gpu" "it has a name and a GPU"
is "$(said SYSTEMD_WANTS)" "" "and starts nothing"
understood add "$(slot sim0-2)" "an empty slot"
is "$(said ID_GPUFABRIC_SLOT) $(said ID_GPUFABRIC_OCCUPANCY)" "sim0-2 empty" "the same of it"

note "the GPU in it"
for action in change remove add; do
	understood $action "$first!gpu" "a GPU"
done
is "$(said ID_GPUFABRIC_SLOT) $(said ID_GPUFABRIC_STATE) $(said ID_GPUFABRIC_COMPOSITION)" "sim0-0 ready " \
	"it has a slot, a state, no composition"
is "$(said ID_GPUFABRIC_MODEL) $(said ID_GPUFABRIC_MEMORY)" "H100 PCIe (sim) $((81559 << 20))" "a model, memory"
is "$(said SYSTEMD_ALIAS) $(said SYSTEMD_WANTS)" "/gpufabric/gpu/sim0-0 gpufabric-attached@.service" "and a unit"
is "$(grep -c "Process '.*gpuctl udev' succeeded" /tmp/done)" 1 "one program was asked, once"

note "its PCI device"
for action in change bind unbind remove add; do
	understood $action "$pci" "a PCI device"
done
is "$(said ID_GPUFABRIC_SLOT) $(said ID_GPUFABRIC_MODEL) $(said ID_GPUFABRIC_MEMORY)" \
	"sim0-0 H100 PCIe (sim) $((81559 << 20))" "the same properties"
is "$(said ID_GPUFABRIC_KIND)" "$(systemd-hwdb query "$(cat "$pci/modalias")" | sed -n 's/^ID_GPUFABRIC_KIND=//p')" \
	"its kind is that of the database"
understood add "/sys/bus/pci/devices/$(sed -n 's/^GPUFABRIC_PORT=//p' "$first/uevent")" "a port"
is "$(grep -c '^ID_GPUFABRIC' /tmp/said)" 0 "of which nothing is said"

note "what else there is"
understood add "/sys/class/gpufabric_sim_gpu/gpufabric-sim!sim0-0" "a simulated GPU's node"
is "$(said ID_GPUFABRIC_SIMULATED)" 1 "is said to be simulated"
understood add /sys/module/gpufabric "the module"
is "$(said SYSTEMD_WANTS)" gpufabric.target "brings its target"
understood add /sys/module/gpufabric_sim "another module"
is "$(said SYSTEMD_WANTS)" "" "brings nothing"

note "a composition"
check "of the GPU" gpuctl compose one --gpus 1 --exclude sim0-1
check "udev has seen it" udevadm settle
ask change "$first"
is "$(said ID_GPUFABRIC_COMPOSITION)" one "its slot has it"
ask change "$first!gpu"
is "$(said ID_GPUFABRIC_COMPOSITION)" one "and the GPU"

note "everything once more, as at a boot"
known >/tmp/before
ours=(--subsystem-match=gpufabric --subsystem-match=gpufabric_sim_gpu --subsystem-match=pci)
check "all events again" udevadm trigger --action=add --settle "${ours[@]}"
check "all as changes" udevadm trigger --settle "${ours[@]}"
known >/tmp/after
check "nothing is known otherwise" diff /tmp/before /tmp/after
check "nothing was left out" test "$(grep -c '^ID_GPUFABRIC' /tmp/after)" -gt 10

note "what systemd makes of it"
one='gpufabric-gpu-sim0\x2d0.device'
two="$one gpufabric-gpu-sim0\\x2d1.device"
is "$(attached_units) $(device_units)" "1 $one" "a unit follows the GPU"
check "another GPU comes" gpuctl attach sim0-1
check "so does a unit, for its device" wait_for 30 follows 2 "$two"
check "it goes" gpuctl detach sim0-1
check "with both" wait_for 30 follows 1 "$one"
is "$(systemd-analyze --man=no verify /etc/systemd/system/gpufabric* 2>&1)" "" "it has no complaint about any unit"
is "$(systemctl --failed --no-legend)" "" "nothing has failed"
is "$(journalctl -q -b -u systemd-udevd -p warning | grep -i gpu)" "" "nor has udevd complained"

note "that a mistake is seen"
broken=/etc/udev/rules.d/61-broken.rules
printf 'SUBSYSTEM=="gpufabric", COLOUR="red"\nSUBSYSTEM=="gpufabric", IMPORT{program}="/bin/false"\n' >$broken
ask add "$first!gpu"
like "$(complaints $broken)" "61-broken.rules:1 Invalid key" "in a rule"
printf 'SUBSYSTEM=="gpufabric", IMPORT{program}="/nowhere/gpuctl udev"\n' >$broken
ask add "$first!gpu"
like "$(complaints $broken)" "nowhere/gpuctl" "in what it runs"
rm $broken
ask add "$first!gpu"
is "$(complaints $broken)" "" "and none without it"
count udev.asked $asked

check "the composition is released" gpuctl release one
check "the module unloads" wait_for 20 rmmod gpufabric
finish
