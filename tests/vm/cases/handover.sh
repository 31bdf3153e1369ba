#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A GPU goes from one tenant to another: what the first has left in its memory is gone
# by then, because its slot was powered off and on or because the GPU was reset; where
# neither can be, the other tenant does not get it.
#
#   root port -- upstream -- sim0-0, sim0-1     h100, off, with power control
#                            10000:02:02.0      l40s, no controller, with a reset by its bus
#                            10000:02:03.0      a100, no controller, its resets are turned off
#
# and a slot of pciehp.
#
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 400 -f build/selftests/gfclient

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
DEVICES=/sys/bus/pci/devices
bare=10000:02:02.0
stubborn=10000:02:03.0

address() { gpuctl -j show "$1" | jq -r '.slot.functions[0].address // empty'; }
memory() { cat "$DEVICES/$(address "$1")/memory"; }
contents() { gpuctl -j show "$1" | jq -r '.slot | [.contents, .former, .former_tenant] | map(. // "-") | join(" ")'; }
state() { gpuctl -j show "$1" | jq -r .slot.state; }
is_ready() { [ "$(state "$1")" = ready ]; }
attaches() { gpuctl -j show "$1" | jq -r .slot.attaches; }

# leave SLOT TEXT: a workload leaves something behind.
leave() { echo "$2" >"$DEVICES/$(address "$1")/memory"; }

# no_reset SLOT: its GPU has no reset that the kernel knows.
no_reset() { echo >"$DEVICES/$(address "$1")/reset_method"; }

# refused TEXT COMMAND...: does not fit, for this reason.
refused()
{
	local text=$1 error
	shift

	error=$("$@" 2>&1 >/dev/null)
	is $? 3 "$(printf '%s ' "${@:2}")does not fit"
	like "$error" "$text" "and it is said why"
}

check "the simulator loads" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 \
	'gpus=0.0:h100-80:off,0.1:h100-80:off,0.2:l40s:nohp,0.3:a100-80:nohp' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric bare_ports=all || bail_out "no module"
check "the GPUs are known" gpuctl scan
one=(--gpu h100:1 --exclude sim0-1)

note "the memory of a GPU outlives who had it"
check "red gets a GPU" gpuctl compose r1 "${one[@]}" --tenant red
leave sim0-0 "weights of red"
check "and gives it back attached" gpuctl release --keep r1
is "$(memory sim0-0)" "weights of red" "what it has left is there"
is "$(contents sim0-0)" "former r1 red" "show says whose it was"
like "$(gpuctl show sim0-0)" "contents +may hold data of tenant red \(r1\)" "in words, too"

note "the same tenant"
n=$(attaches sim0-0)
check "red gets it again" gpuctl compose r2 "${one[@]}" --tenant red
is "$(memory sim0-0) $(attaches sim0-0)" "weights of red $n" "as it was, without a power-cycle"
check "and keeps it on" gpuctl release --keep r2

note "another tenant: a power-cycle"
like "$(gpuctl -n compose b1 "${one[@]}" --tenant blue)" "would power-cycle sim0-0, which may hold data of tenant red \(r2\)" "-n says what would be done"
is "$(gpuctl -jn compose b1 "${one[@]}" --tenant blue | jq -r '.would[0]')" "power-cycle sim0-0, which may hold data of tenant red (r2)" "in JSON, too"
is "$(memory sim0-0)" "weights of red" "and does nothing"
exec 7<"/dev/gpufabric-sim/sim0-0"
check_rc 4 "somebody of red still has it open" gpuctl compose b1 "${one[@]}" --tenant blue
check "blue has another one" gpuctl compose b0 --gpu h100:1 --exclude sim0-0 --tenant blue
check_rc 4 "force is about blue's own GPUs" gpuctl resize b0 --gpus +1 --force
check_rc 4 "and so is a signal" gpuctl run "${one[@]}" --tenant blue --wait 1s --signal KILL -- true
check "it goes" gpuctl release b0
exec 7<&-
is "$(memory sim0-0) $(gpuctl -j list | jq '.compositions | length')" "weights of red 0" "and nothing was changed"
like "$(gpuctl compose b1 "${one[@]}" --tenant blue)" "power-cycled sim0-0, which may have held data of tenant red \(r2\)" "blue gets it after a power-cycle"
is "$(memory sim0-0)" "" "and nothing of red's"
leave sim0-0 "weights of blue"
check "blue gives it back, powered off" gpuctl release b1
is "$(contents sim0-0)" "power-cycled - -" "show says that it is clean"
like "$(gpuctl show sim0-0)" "contents +clean since it was without power" "in words, too"
check "red gets it" gpuctl compose r3 "${one[@]}" --tenant red
is "$(memory sim0-0)" "" "without anything of blue's"
check "and keeps it on" gpuctl release --keep r3

note "a tenant and nobody's"
leave sim0-0 "weights of red"
check "without a tenant it is somebody else's" gpuctl compose n1 "${one[@]}"
is "$(memory sim0-0)" "" "and clean"
leave sim0-0 "nobody's"
check "it stays on" gpuctl release --keep n1
check "nobody gets it again" gpuctl compose n2 "${one[@]}"
is "$(memory sim0-0)" "nobody's" "as it was"
check "it stays on" gpuctl release --keep n2

note "clean ones first"
like "$(gpuctl compose b2 --gpu h100:1 --tenant blue)" "ready" "blue has two to choose from"
is "$(slots_of b2)" sim0-1 "and gets the one that nobody had"
is "$(memory sim0-0)" "nobody's" "the other one stays as it is"
check "a resize takes the other one" gpuctl resize b2 --gpus +1
is "$(memory sim0-0)" "" "and it is clean"
check "both go back" gpuctl release b2

note "run"
check "red leaves a GPU on" gpuctl compose r4 "${one[@]}" --tenant red
leave sim0-0 "weights of red"
check "as before" gpuctl release --keep r4
# shellcheck disable=SC2016 # the shell of the command
check "a command of blue's has it" gpuctl run "${one[@]}" --tenant blue -- \
	sh -c 'cat "/sys/bus/pci/devices/$GPUFABRIC_ADDRESSES/memory" >/tmp/found'
is "$(cat /tmp/found)" "" "and finds nothing"

note "restore"
check "red has a GPU" gpuctl compose r5 "${one[@]}" --tenant red
leave sim0-0 "weights of red"
check "it is saved" gpuctl save /tmp/red
check "and left on" gpuctl release --keep r5
check "restore gives it back" gpuctl restore /tmp/red
is "$(memory sim0-0)" "weights of red" "as it was"
check "it is left on again" gpuctl release --keep r5
check "blue has it meanwhile" gpuctl compose b3 "${one[@]}" --tenant blue
leave sim0-0 "weights of blue"
check "and leaves it on" gpuctl release --keep b3
like "$(gpuctl -n restore /tmp/red)" "would power-cycle sim0-0, which may hold data of tenant blue" "-n says that it is blue's"
check "restore gives it to red" gpuctl restore /tmp/red
is "$(memory sim0-0)" "" "without anything of blue's"

note "an upgrade"
leave sim0-0 "weights of red"
check "red's is left on" gpuctl release --keep r5
check "the module goes" wait_for 10 rmmod gpufabric
check "and comes" modprobe gpufabric bare_ports=all
wait_for 10 gpuctl show $stubborn
is "$(contents sim0-0)" "unknown - -" "it does not know what is in a GPU that it finds"
check "restore adopts it" gpuctl restore /tmp/red
is "$(memory sim0-0)" "weights of red" "as it was: a job may be running"
check "it is left on" gpuctl release --keep r5
check "the module goes again" wait_for 10 rmmod gpufabric
check "and comes" modprobe gpufabric bare_ports=all
wait_for 10 gpuctl show $stubborn
check "blue gets it" gpuctl compose b4 "${one[@]}" --tenant blue
is "$(memory sim0-0)" "" "clean, whoever had it"
check "and gives it back" gpuctl release b4

note "without power control: a reset"
check "red gets the GPU of a bare port" gpuctl compose r6 --gpu l40s:1 --tenant red
leave $bare "weights of red"
check "and gives it back attached" gpuctl release --keep r6
like "$(gpuctl -n compose b5 --gpu l40s:1 --tenant blue)" "would reset $bare, which may hold data of tenant red" "-n says what would be done"
like "$(gpuctl compose b5 --gpu l40s:1 --tenant blue)" "reset $bare, which may have held data of tenant red" "blue gets it after a reset"
is "$(memory $bare)" "" "and nothing of red's"
is "$(gpuctl -j show $bare | jq -r '.slot.functions[0].driver')" gpufabric-sim-gpu "with its driver"
leave $bare "weights of blue"
check "blue's is detached" gpuctl release b5
is "$(state $bare) $(contents $bare)" "off former b5 blue" "a link that is down takes no power away"
check "red's request attaches and resets it" gpuctl compose r7 --gpu l40s:1 --tenant red
is "$(memory $bare)" "" "and finds nothing of blue's"
check "it is given back" gpuctl release --keep r7
echo remove-block >"$SIM/slot0.2/driver"
gpuctl compose b6 --gpu l40s:1 --tenant blue >/tmp/drained 2>&1 &
client=$!
is_drained() { [ "$(state "$bare")" = draining ]; }
check "its driver does not let go while it is drained for blue" wait_for 60 is_drained
ends=$(gpuctl -j show $bare | jq '.slot.drain_deadline / 1000 | floor')
check "which lasts longer than the search for holders, for the reset" [ $((ends - $(date +%s))) -gt 32 ]
check "somebody ends that" "$TESTS/gfclient" undrain $bare
echo remove-release >"$SIM/slot0.2/driver"
wait $client
is $? 1 "a GPU that others could have during its reset is not taken for clean"
like "$(cat /tmp/drained)" "slot $bare: its drain ended while its GPU was reset: try again" "and that is said"
is "$(contents $bare)" "former r7 red" "it is red's"
echo none >"$SIM/slot0.2/driver"
like "$(gpuctl compose b6 --gpu l40s:1 --tenant blue >/dev/null; gpuctl release --keep b6; gpuctl show $bare)" \
	"contents +may hold data of tenant blue \(b6\)" "then it is blue's"

note "neither"
no_reset $stubborn
check "red gets a GPU that cannot be reset" gpuctl compose r8 --gpu a100:1 --tenant red --dirty
leave $stubborn "weights of red"
check "and gives it back" gpuctl release --keep r8
refused "1 that may hold data of another tenant, with neither power control nor reset \(--dirty\)" gpuctl compose b7 --gpu a100:1 --tenant blue
refused "--dirty" gpuctl -n compose b7 --gpu a100:1 --tenant blue
check "red gets it again" gpuctl compose r9 --gpu a100:1 --tenant red
check "and gives it back" gpuctl release --keep r9
check "--dirty gives it to blue" gpuctl compose b7 --gpu a100:1 --tenant blue --dirty
is "$(memory $stubborn)" "weights of red" "as it is"
check "it is blue's" gpuctl release --keep b7
is "$(contents $stubborn)" "former b7 blue" "and shown so"

note "who may see it"
others=$(busybox su -s /bin/bash nobody -c "gpuctl show $stubborn")
like "$others" "contents +may hold data of composition b7$" "others see no tenant"

note "what comes to nothing"
check "the GPUs are known" gpuctl scan
check "red leaves a GPU on" gpuctl compose r10 "${one[@]}" --tenant red
leave sim0-0 "weights of red"
check "as before" gpuctl release --keep r10
echo link >"$SIM/slot0.1/fail"
check_fails "blue takes it as it is, and another one, which fails" gpuctl compose b8 --gpu h100:2 --tenant blue --dirty
is "$(contents sim0-0)" "former r10 red" "blue never had it: it is red's still"

note "a card that does not show is not without power"
driver=/sys/bus/pci/drivers/gpufabric-sim-gpu
bound() { gpuctl -j show "$1" | jq -r '.slot.functions[0].driver // "none"'; }
in_driver() { [ "$(bound "$1")" = "$2" ]; }
# looked_at SLOT: the module looks at a slot whose GPU changes its driver.
looked_at()
{
	local at
	at=$(address "$1")
	echo "$at" >"$driver/unbind" && wait_for 10 in_driver "$1" none &&
		echo "$at" >"$driver/bind" && wait_for 10 in_driver "$1" gpufabric-sim-gpu
}
surprise() { echo "$2" >"$SIM/slot$1/surprise"; }
check "the GPUs are known" gpuctl scan
check "one is not detected any more" surprise 0.0 hide
check "and looked at" looked_at sim0-0
is "$(state sim0-0) $(contents sim0-0)" "ready former r10 red" "it is red's still"
is "$(memory sim0-0)" "weights of red" "with what red has left"
check "it is detected again" surprise 0.0 show
check "and looked at" looked_at sim0-0
is "$(contents sim0-0)" "former r10 red" "nothing is forgotten"
check "blue gets it" gpuctl compose b9 "${one[@]}" --tenant blue
is "$(memory sim0-0)" "" "after a power-cycle"
check "and gives it back" gpuctl release b9

note "a power-cycle that is interrupted"
own_folder /etc/gpuctl && chmod 755 /etc/gpuctl
mkdir -p /etc/gpuctl/hooks.d/post-detach.d
cat >/etc/gpuctl/hooks.d/post-detach.d/10-gone <<'HOOK'
#!/bin/sh
echo "$1 $GPUFABRIC_SLOT" >>/tmp/gone
HOOK
chmod 755 /etc/gpuctl/hooks.d/post-detach.d/10-gone
is_at() { [ "$(state "$1")" = "$2" ]; }
check "red leaves a GPU on" gpuctl compose r12 "${one[@]}" --tenant red
check "as before" gpuctl release --keep r12
echo remove-block >"$SIM/slot0.0/driver"
gpuctl compose b12 "${one[@]}" --tenant blue >/dev/null 2>/tmp/error &
client=$!
check "it is on its way to blue" wait_for 20 is_at sim0-0 detaching
kill -INT "$client"
check "that is interrupted" wait_for 20 grep -q "waits until the detach has ended" /tmp/error
echo remove-release >"$SIM/slot0.0/driver"
wait "$client"
is $? 1 "it ends when the GPU is off"
like "$(cat /tmp/error)" "interrupted: the detach has ended" "and says so"
is "$(cat /tmp/gone) $(state sim0-0)" "post-detach sim0-0 off" "hooks have been told"
is "$(gpuctl -j list | jq -c '[.compositions[].name]')" "[]" "and blue has nothing"
umount /etc/gpuctl

note "a link that goes down"
echo 600000 >/sys/module/gpufabric/parameters/lost_ms
check "the link of a bare port goes down" surprise 0.2 "blink 600000"
check "and its slot is looked at" looked_at $bare
is "$(contents $bare)" "former b6 blue" "what its GPU holds is known as before"
echo full >"$SIM/slot0.2/link"
check "red leaves a GPU on" gpuctl compose r11 "${one[@]}" --tenant red
check "as before" gpuctl release --keep r11
gone() { [ "$(state sim0-0)" != ready ]; }
check "it is not detected any more" surprise 0.0 hide
echo 1 >"$DEVICES/$(address sim0-0)/remove"
check "and somebody removes its functions" wait_for 10 gone
is "$(contents sim0-0)" "unknown - -" "it has power still, so nothing says that it is clean"
check "it is detected again" surprise 0.0 show

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim

note "pciehp"
check "the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=1 'gpus=*:h100-80'
check "gpufabric loads" modprobe gpufabric
check "red gets a GPU that was on" gpuctl compose r1 --gpus 1 --tenant red
leave 100 "weights of red"
check "and gives it back attached" gpuctl release --keep r1
check "blue gets it" gpuctl compose b1 --gpus 1 --tenant blue
is "$(memory 100)" "" "after a power-cycle"
check "and gives it back" gpuctl release b1
is "$(contents 100)" "power-cycled - -" "clean"
echo 1 >/sys/bus/pci/slots/100/power
check "somebody else powers it on" wait_for 10 [ -e "/dev/gpufabric-sim/100" ]
check "which the module sees" wait_for 10 is_ready 100
is "$(contents 100)" "power-cycled - -" "it stays so"
check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
