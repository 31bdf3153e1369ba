#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What gpuctl doctor advises is true: on a host whose kernel has made the windows of a
# switch too small, a GPU is refused; booted with the parameters that doctor gave, the
# same attach succeeds, and doctor is content. The first of the two boots is made by
# "before", this script with "first" does it.
#
#   root port -- upstream --+-- slot 100: l40s, in use         bridges are sized by the kernel,
#                           +-- slot 101, 102: h100-80, off    ports redirect peer-to-peer
#                           +-- slot 103: empty
#
# in turn: one command after the other
# before: tests/vm/run -n -t 240 -k "$FLAVOUR" -o "build/doctor/$FLAVOUR" -- tests/vm/cases/doctor.sh first >/dev/null
# vm: -t 300 -a "$(cat build/doctor/$FLAVOUR/out/parameters)" -f build/doctor/$FLAVOUR/output.log:/tests/first.tap

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# look: have doctor look anew; its exit code.
look()
{
	gpuctl -j doctor >/tmp/doctor.json
}

# finding CHECK LEVEL FIELD: of the first one that is so, when it looked last.
finding()
{
	jq -r --arg check "$1" --arg level "$2" --arg field "$3" \
		'[.findings[] | select(.check == $check and .level == $level)][0][$field]' /tmp/doctor.json
}

state_is()
{
	gpuctl -j list | jq -e --arg slot "$1" --arg state "$2" '.slots[] | select(.slot == $slot).state == $state'
}

# What doctor wants on the kernel's command line, in one line.
parameters()
{
	jq -r '[.findings[].parameter // empty] | unique | join(" ")' /tmp/doctor.json
}

# A tree of this host says the same as this host.
copy_says_the_same()
{
	rm -rf /tmp/copy
	gpuctl doctor --record /tmp/copy && diff <(gpuctl doctor) <(gpuctl doctor --sysfs /tmp/copy)
}

# The bridge of a card in slot 103, and whether the kernel has a bus number for what is behind it.
bridge_has_come() { ls -d /sys/bus/pci/devices/10000:02:03.0/1*:*:00.0/class; }
bridge_has_number()
{
	cat /sys/bus/pci/devices/10000:02:03.0/1*:*:00.0/secondary_bus_number
	[ "$(cat /sys/bus/pci/devices/10000:02:03.0/1*:*:00.0/secondary_bus_number)" -gt 0 ]
}

# Each parameter of the list is on the command line.
given()
{
	local word

	for word in $(cat /out/parameters 2>/dev/null || sed -n 's/^# parameters //p' "$TESTS/first.tap" | tr -d '\r'); do
		grep -qF -- "$word" /proc/cmdline || return 1
	done
}

check "the modules load" load pciehp bridges=kernel switches=1 slots=4 window_gib=1024 latency_ms=1 acs=1 \
	'gpus=0.0:l40s,0.1-2:h100-80:off,0.3:none' || bail_out "no modules"
wait_for 30 state_is 100 ready
wait_for 30 state_is 102 off

if [ "${1-}" = first ]; then
	check_rc 1 "doctor fails" look
	like "$(finding windows FAIL reason)" "^slots 101, 102, 103: H200 NVL needs a window of (384|256\.0) GiB, 10000:01:00.0 can give it 96 GiB; .*pinned .* 10000:02:00.0$" \
		"for want of windows, with who pins them"
	like "$(finding windows FAIL parameter)" "^pci=hpmmioprefsize=[0-9]+G$" "and has a parameter"
	like "$(finding acs warn reason)" "^slots 100, 101, 102, 103: access control redirects" "it warns of access control"
	like "$(finding buses note parameter)" "^pci=assign-busses,hpbussize=[0-9]+$" "bus numbers are counted"
	check_rc 3 "an attach is refused for want of room" gpuctl attach 101
	check "the slot is cleared" gpuctl clear 101
	knob 3 surprise "insert h100-80 bridge"
	check "a card with a bridge comes" wait_for 30 bridge_has_come
	check_fails "and finds no bus number" bridge_has_number
	check "a recorded tree says the same" copy_says_the_same
	parameters >/out/parameters

	# The kernel's log is lost in time; the journal has it, here a program that pretends to be its.
	check "the kernel has complained of nothing" untainted
	dmesg >/tmp/journal
	check "not in its log either" "$TESTS/vm/klog" -f "$FLAVOUR" /tmp/journal
	dmesg -c >/dev/null
	echo "gpufabric-test: what was before is lost" >/dev/kmsg
	look
	like "$(finding windows FAIL remedy)" "no longer says whether firmware or the kernel has set" "a log without its beginning is no basis"
	printf '#!/bin/sh\ncat /tmp/journal\n' >/usr/bin/journalctl
	chmod 755 /usr/bin/journalctl
	look
	is "$(parameters)" "$(cat /out/parameters)" "the journal is one"
	note "parameters $(parameters)"
	check "there are parameters to boot with" test -s /out/parameters
	finish
fi

is "$(grep -c '^ok' "$TESTS/first.tap") $(grep -c '^not ok' "$TESTS/first.tap")" \
	"$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$TESTS/first.tap") 0" "every check of the first boot held"
check "this boot has its parameters" given
check "doctor is content" look
is "$(finding windows ok reason)" "10000:01:00.0: room for H200 NVL in 4 of 4 slots" "there is room in all slots"
is "$(finding acs ok reason)" "no port of a slot redirects peer-to-peer" "no port redirects"
like "$(finding buses ok reason)" "^each slot has [0-9]+ bus numbers" "there are bus numbers"
check "the same attach succeeds" gpuctl attach 101
check "so does the next" gpuctl attach 102
knob 3 surprise "insert h200"
check "the largest card is ready in the empty slot" wait_for 30 state_is 103 ready
check "it is detached" gpuctl detach 103
check "and pulled" knob 3 surprise remove
# There is nothing behind the simulator's.
knob 3 surprise "insert h100-80 bridge"
check "a card with a bridge comes" wait_for 30 bridge_has_come
check "and finds a bus number" wait_for 10 bridge_has_number
check "a recorded tree says the same" copy_says_the_same

# What blocks a detach is seen beforehand.
gpu=$(gpuctl -j list | jq -r '.slots[] | select(.slot == "100").address')
[ -e "/sys/bus/pci/devices/$gpu/persistence" ] || gpu=$(gpuctl -j topo | jq -r '.switches[].slots[] | select(.slot == "100").address')
echo 1 >"/sys/bus/pci/devices/$gpu/persistence"
look
like "$(finding holders warn reason)" "^slot 100: a detach is refused: gpufabric-sim-gpu counts 1" "doctor tells of persistence"
check_rc 4 "the detach is refused" gpuctl detach 100
echo 0 >"/sys/bus/pci/devices/$gpu/persistence"
look
is "$(finding holders warn reason)" null "and not once it is off"

check "the modules unload" unload
finish
