#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether a GPU fits is said before it is powered, and what is said is what the
# kernel then does: on random switches (tests/selftests/gffit.c). Who asks without
# gpuctl harms nobody either.
#
#   feasibility.sh [TOPOLOGIES [SEED]]
#
#   host bridge -- root port -- upstream -- 2 to 6 slots with windows of random sizes
#
# brief: random switches
# by kernel: what fits is the PCI core's to say
# before: tests/selftests/build; tests/failpoint/build "$FLAVOUR"
# vm: -t 300 -m 1G -f build/selftests/gfclient -f build/selftests/gffit -f "build/failpoint/$FLAVOUR/gf_delay.ko"
# long: -t 3000

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

topologies=${1:-$(brief 24 100)}
seed=${2:-20261121}
SWITCHES=/sys/kernel/config/gpufabric_sim/switches
DEVICES=/sys/bus/pci/devices
GIB=$((1 << 30))
point=/sys/module/gf_delay/parameters

check "the modules load" load own switches=1 slots=1 latency_ms=1 'gpus=*:none' || bail_out "no modules"
check "switches can be added" [ -d $SWITCHES ] || bail_out "no configfs"
echo 100 >/sys/module/gpufabric/parameters/poll_ms

# Its slots are sim1-0 to sim1-2. The ports have no windows: the kernel sizes them. The last
# one has one where $preset says how many MiB; the switch has $total of them.
preset=
total=65536
make_switch()
{
	local i

	mkdir $SWITCHES/a || return 1
	echo 3 >$SWITCHES/a/slots
	echo $total >$SWITCHES/a/window
	for i in 0 1 2; do
		mkdir "$SWITCHES/a/$i"
		echo l40s >"$SWITCHES/a/$i/model"
		echo 1 >"$SWITCHES/a/$i/off"
		echo none >"$SWITCHES/a/$i/window"
	done
	[ -z "$preset" ] || echo "$preset" >"$SWITCHES/a/2/window"
	echo 1 >$SWITCHES/a/enabled
	g wait sim1-0 off && g wait sim1-1 off && g wait sim1-2 off
}

remove_switch()
{
	echo 0 >"$SWITCHES/a/enabled"
	rmdir "$SWITCHES"/a/? "$SWITCHES/a"
}

# What the card in a slot has as its large BAR at the next power-on, in GiB.
bar() { echo $(($2 * GIB)) >"$SIM/slot1.$1/bar_bytes"; }
knob_of() { echo "$3" >"$SIM/slot1.$1/$2"; }
# Each port is looked at again until the kernel is done with it, so any may be the last.
appeared() { wait_for 30 g list sim1-0 && wait_for 30 g list sim1-1 && wait_for 30 g list sim1-2; }
bars() { head -n 6 "$DEVICES/$(g list "$1" | cut -d' ' -f7)/resource"; }
# Once the windows were looked at since the last change.
is_the_same() { [ "$(bars sim1-0)" = "$before" ]; }
# As long as anybody holds a slot, a new one of that name would get another.
no_slot()
{
	local i

	for i in 0 1 2; do
		! g list "sim1-$i" && [ ! -e "/sys/bus/pci/slots/sim1-$i" ] || return 1
	done
}

verdict_is() { [ "$(gpuctl -j show "$1" | jq -r '.. | objects | .verdict? // empty' | head -n 1)" = "$2" ]; }
# What nobody has seen is what the admin says, here of cards with 16 and 32 GiB.
declare_cards()
{
	local gib

	mkdir -p /etc/gpuctl/slots.d /etc/gpuctl/gpus.d
	for gib in 16 32; do
		printf '[fit%d]\nname = Fit %d\nvendor = nvidia\nform = pcie-card\npci = 10de:ff%d\nmemory_mib = %d\nbar1_mib = %d\nsource = this test\n' \
			$gib $gib $gib $((gib * 1024)) $((gib * 1024))
	done >/etc/gpuctl/gpus.d/fit.conf
	printf '%s\n' "$@" >/etc/gpuctl/slots.d/fit.conf
}
held() { [ "$(cat "$point/held")" = "$1" ]; }
refused() { error=$("$@" 2>&1 >/dev/null); }

total=49152
make_switch >/dev/null 2>&1
total=65536
check "a switch with 48 GiB for three slots is there" appeared
wait_for 30 g wait sim1-2 off
bar 0 16
check "a GPU of 16 GiB is attached" gpuctl attach sim1-0
before=$(bars sim1-0)

# The window for two BARs is sized up to half of the larger one, or aligned to it, so one with
# 32 GiB is too many by any rule.
declare_cards "sim1-1 fit16" "sim1-2 fit32"
refused gpuctl attach sim1-2
is "$?" 3 "gpuctl attach ends with exit code 3"
like "$error" "no room for the GPU: slot sim1-2: the GPU needs a window of [0-9.]+ [MG]iB and .*:01:00.0 can give it [0-9.]+ [MG]iB: boot" \
	"attach is refused with what it needs, what there is, where and what helps"
is "$(g state sim1-2)" off "nothing was powered"
is "$(bars sim1-0)" "$before" "the GPU beside it has its addresses"
refused gpuctl -n attach sim1-2
is "$?" 3 "so is a request that is only tried"
refused gpuctl compose big --gpus 2 --exclude sim1-1
is "$?" 3 "compose is refused"
check "the GPU that is there is composed" gpuctl compose one --gpus 1 --exclude sim1-1
refused gpuctl resize one --gpus 2 --exclude sim1-1
is "$?" 3 "resize is refused"
check "and released as it is" gpuctl release --keep one
declare_cards "sim1-1 fit16" "sim1-2 fit16"
check "one more of 16 GiB would be accepted" gpuctl -n attach sim1-1
refused gpuctl -n attach sim1-1 sim1-2
is "$?" 3 "two more in one request are not"
like "$error" "no room for the GPU: slot sim1-2" "which is said of the second"
check "without the check two would be accepted" gpuctl -n attach --no-fit-check sim1-1 sim1-2
# What is declared of a GPU counts while that is on its way, too.
printf '[l40s]\nbar1_mib = 16384\n' >/etc/gpuctl/gpus.d/fit.conf
printf 'sim1-%d 6767:0004/10de:26b9\n' 1 2 >/etc/gpuctl/slots.d/fit.conf
bar 1 16
bar 2 16
insmod "$TESTS/gf_delay.ko" function=pci_assign_unassigned_bridge_resources ms=15000 armed=1 || bail_out "no delay"
gpuctl attach sim1-1 >/dev/null 2>&1 &
first=$!
check "one of them is there, and has no addresses yet" wait_for 20 held 1
refused gpuctl attach sim1-2
is "$?" 3 "the other one is refused"
echo 1 >$point/go_on
wait "$first"
is "$?" 0 "the first comes"
is "$(bars sim1-0)" "$before" "the GPU that was there has its addresses"
rmmod gf_delay
check "the first goes again" gpuctl detach sim1-1
rm -r /etc/gpuctl/slots.d /etc/gpuctl/gpus.d
check "of a GPU that nobody knows nothing is said" gpuctl -n attach sim1-2

# What the module has seen of a card goes before.
check "the GPU is detached" gpuctl detach sim1-0
like "$(g need sim1-0)" "^[0-9]+ align" "what its card had is known"
check "its verdict is that it fits where it was" verdict_is sim1-0 fits
like "$(gpuctl show sim1-0)" "address space +fits: needs" "show says so"
bar 0 16
check "it is attached again" gpuctl attach sim1-0
before=$(bars sim1-0)

# Why all of this: the kernel that tries takes the neighbour's addresses away.
bar 2 32
check_fails "forced, the attach fails" gpuctl attach --no-fit-check sim1-2
like "$(g list sim1-2)" "^sim1-2 fault resources" "for want of resources"
check_fails "and the GPU beside it has lost its addresses" is_the_same
check "the slot is cleared" gpuctl clear sim1-2
check "the verdict is now known from what was seen" verdict_is sim1-2 cannot
like "$(gpuctl show sim1-2)" "because +the GPU needs a window of" "show says why"
like "$(gpuctl list)" "! sim1-2: needs .* of address space" "list warns of it"
gpuctl attach sim1-2 >/dev/null 2>&1
is "$?" 3 "gpuctl attach ends with exit code 3"
check "the switch is taken away" remove_switch
check "and its slots are gone" wait_for 30 no_slot

# Windows are given one after the other, as it was judged, and who fails holds nobody up.
make_switch >/dev/null 2>&1
check "another switch is there" appeared
wait_for 30 g wait sim1-2 off
bar 1 8
bar 2 16
knob_of 1 fail link
check_fails "of two that come in turn the first fails" g -o attach sim1-1 sim1-2
is "$(g state sim1-1) $(g state sim1-2)" "fault off" "the second is given back"
check "the first is cleared" g clear sim1-1
bar 1 8
bar 2 16
check "then both come" g attach sim1-1 sim1-2
is "$(g state sim1-1) $(g state sim1-2)" "ready ready" "and are ready"
check "this switch is taken away as well" remove_switch
check "with its slots" wait_for 30 no_slot

# What was judged is judged anew when somebody else was faster: here a hook that comes between.
make_switch >/dev/null 2>&1
check "a third switch is there" appeared
wait_for 30 g wait sim1-2 off
bar 0 16
bar 1 16
mkdir -p /etc/gpuctl/slots.d /etc/gpuctl/gpus.d /etc/gpuctl/hooks.d/pre-attach.d
printf '[l40s]\nbar1_mib = 16384\n' >/etc/gpuctl/gpus.d/fit.conf
echo 'sim1-1 6767:0004/10de:26b9' >/etc/gpuctl/slots.d/fit.conf
cat >/etc/gpuctl/hooks.d/pre-attach.d/10-faster <<EOF
#!/bin/sh
[ "\$1" = pre-attach ] || exit 0
echo tried >>/tmp/tries
[ "\$(wc -l </tmp/tries)" -gt 1 ] || exec "$TESTS/gfclient" attach sim1-0
EOF
chmod +x /etc/gpuctl/hooks.d/pre-attach.d/10-faster
rm -f /tmp/tries
check "a GPU is attached although another came first" gpuctl attach sim1-1
is "$(wc -l </tmp/tries)" 2 "at the second try"
is "$(g state sim1-0) $(g state sim1-1)" "ready ready" "both are ready"
check "it is detached" gpuctl detach sim1-1
check "so is the other" gpuctl detach sim1-0
check "this switch is taken away" remove_switch
check "with all its slots" wait_for 30 no_slot
make_switch >/dev/null 2>&1
check "a fourth switch is there" appeared
wait_for 30 g wait sim1-2 off
cat >/etc/gpuctl/hooks.d/pre-attach.d/10-faster <<EOF
#!/bin/sh
[ "\$1" = pre-attach ] || exit 0
echo tried >>/tmp/tries
echo $((8 * GIB)) >"$SIM/slot1.0/bar_bytes"
"$TESTS/gfclient" attach sim1-0 && "$TESTS/gfclient" detach sim1-0
EOF
rm -f /tmp/tries
error=$(gpuctl attach sim1-1 2>&1 >/dev/null)
is "$? $(wc -l </tmp/tries)" "4 5" "while others come all the time it ends with exit code 4 after five tries"
like "$error" "stale" "and says why"
is "$(g state sim1-1)" off "nothing was powered for it"
rm -r /etc/gpuctl/slots.d /etc/gpuctl/gpus.d
check "the fourth switch is taken away" remove_switch
check "with its slots, too" wait_for 30 no_slot

# No check of what fits is no claim of others' slots, and who powers a member again harms nobody.
preset=1024
make_switch >/dev/null 2>&1
preset=
check "a fifth switch is there" appeared
wait_for 30 g wait sim1-2 off
bar 0 16
echo $((512 << 20)) >"$SIM/slot1.2/bar_bytes"
check "a GPU of 16 GiB is attached" g attach sim1-0
before=$(bars sim1-0)
check "one of 512 MiB, to a port with a window, is composed" g compose pair sim1-2
check "and powered off as a member" g -f detach sim1-2
bar 2 64
check_fails "with 64 GiB it fails" g -f attach sim1-2
like "$(g list sim1-2)" "^sim1-2 fault resources" "for want of resources"
check "the slot is cleared" g clear sim1-2
check "the GPU beside it has its addresses" is_the_same
for _ in 1 2 3; do
	error=$(g -f attach sim1-2 2>&1)
	like "$error" ": window$" "what was seen is not powered again, be it a member: no window"
done
is "$(g state sim1-2)" off "that is no fault of the slot, however often: nothing was powered"
check "the GPU beside it has its addresses still" is_the_same
check "the composition is released" g -k release pair
check "the GPU beside it goes" g detach sim1-0
check_fails "with nobody beside it that is not tried either" g attach sim1-2
bar 0 16
check "so the switch has its window, and the GPU comes again" g attach sim1-0
cat >/etc/gpuctl/hooks.d/pre-attach.d/10-faster <<EOF
#!/bin/sh
[ "\$1" = pre-attach ] || exit 0
echo $((8 * GIB)) >"$SIM/slot1.1/bar_bytes"
exec "$TESTS/gfclient" compose thief sim1-1
EOF
error=$(gpuctl attach --no-fit-check sim1-1 2>&1 >/dev/null)
is "$?" 4 "who is late is refused, whatever fits"
like "$error" "claimed" "as the slot is claimed"
rm -r /etc/gpuctl/hooks.d
check "that composition is released" g -k release thief
check "the fifth switch is taken away" remove_switch
check "with its last slot" wait_for 30 no_slot

fit() { "$TESTS/gffit" "$topologies" "$seed"; }
# As many requests of programs that know nothing of windows.
raw() { "$TESTS/gffit" raw "$topologies" "$seed"; }
# Without the guard there is something to be spared from; among a dozen there may be nothing.
forced() { "$TESTS/gffit" forced "$((topologies > 40 ? topologies / 2 : 20))" "$seed"; }
# Groups that go in one order alone.
for topology in 771 887; do
	check "the GPUs of topology $topology come in the order that was judged" "$TESTS/gffit" 1 1 "$topology"
done

check "what is said of $topologies random switches is what the kernel does" fit
cp "$check_log" /out/fit.log
grep '^# ' "$check_log"
check "requests without gpuctl harm no neighbour" raw
cat "$check_log" >>/out/fit.log
grep '^# ' "$check_log"
check "with force they do" forced
for left in "$SWITCHES"/f?; do
	[ ! -d "$left" ] || { echo 0 >"$left/enabled"; rmdir "$left"/? "$left"; }
done
check "the modules unload" unload
finish
