#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hooks: programs of the admin before and after GPUs come and go. What they are
# told, in which order they run, what one that fails, hangs or is not trusted
# does to the request; how a fabric's tool brings a card to an empty slot.
#
#   root port -- upstream -- sim0-0 ... sim0-5 with an h100-80 each, off; sim0-6, sim0-7 empty
#
# in turn: hooks run one after the other
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/vm/lib.sh"

hooks=/etc/gpuctl/hooks.d
log=/tmp/hooks.log

# hook NAME PROGRAM [COMMAND...]: writes what it is told to the log, then does that.
hook()
{
	local dir=$hooks/$1.d name=$2
	shift 2

	mkdir -p "$dir"
	{
		echo '#!/bin/sh'
		echo 'echo "${0##*/} $1 ${GPUFABRIC_SLOT-$2} $(ls /sys/class/gpufabric | wc -l)" >>'$log
		echo "$*"
	} >"$dir/$name"
	chmod 755 "$dir/$name"
}

no_hooks()
{
	rm -rf $hooks
	: >$log
}

ran()
{
	cut -d' ' -f1-3 $log | xargs -d '\n' | sed 's/ $//'
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=8 'gpus=*:h100-80:off,0.6-7:none' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan
no_hooks

note "order and environment"
hook pre-attach 10-first
hook pre-attach 20-second
hook post-attach 10-after
hook pre-detach 10-stop 'env >/tmp/hook.env'
hook post-detach 10-gone
# Neither is a program to run: a package manager's leftover, and one switched off.
hook pre-detach 10-stop.dpkg-old
hook pre-detach 05-off
chmod -x $hooks/pre-detach.d/05-off
check "an attach" gpuctl attach sim0-0
is "$(ran)" "10-first pre-attach sim0-0 20-second pre-attach sim0-0 10-after post-attach sim0-0" \
	"calls what is before it in order of names, then what is after it"
: >$log
check "one that has nothing to do" gpuctl attach sim0-0
is "$(ran)" "" "calls nobody"
check "a detach" gpuctl detach --reason "by hand" sim0-0
is "$(ran)" "10-stop pre-detach sim0-0 10-gone post-detach sim0-0" "calls what is before and after it"
for line in GPUFABRIC_SLOT=sim0-0 GPUFABRIC_ADDRESS=10000:03:00.0 GPUFABRIC_FUNCTIONS=10000:03:00.0 \
	GPUFABRIC_DRIVER=gpufabric-sim-gpu GPUFABRIC_PORT=10000:02:00.0 GPUFABRIC_STATE=draining \
	"GPUFABRIC_REASON=by hand" GPUFABRIC_VENDOR=6767 GPUFABRIC_SUBSYSTEM_DEVICE=2331; do
	check "a hook is told $line" grep -qxF "${line/=draining/=ready}" /tmp/hook.env
done
check_fails "and nothing of our own environment" grep -q '^HOME=' /tmp/hook.env

note "several slots"
: >$log
check "a composition" gpuctl compose two --gpus 2
is "$(sort $log | grep -c 10-first)$(grep -c 10-after $log)" 22 "calls them for each slot"
: >$log
check "is released" gpuctl release two
is "$(grep -c 'pre-detach' $log)$(grep -c 'post-detach' $log)" 22 "and calls them for each"
check "slots of a resize" gpuctl compose two --gpus 1
: >$log
check "that adds" gpuctl resize two --gpus +1
check "and gives back" gpuctl resize two --gpus -1
is "$(grep -c pre-attach $log) $(grep -c post-attach $log) $(grep -c pre-detach $log) $(grep -c post-detach $log)" \
	"2 1 1 1" "call theirs"
gpuctl release two >/dev/null

note "a dry run"
: >$log
like "$(gpuctl -n attach sim0-0)" "would run $hooks/pre-attach.d/10-first" "names the hooks"
is "$(ran)" "" "and calls none"

note "a look into slots"
no_hooks
hook pre-detach 10-stop
hook post-detach 10-start
hook unassign 10-back
check "one slot is looked into" gpuctl scan --all
like "$(ran)" "^(10-stop pre-detach sim0-[0-5] ){6}(10-start post-detach sim0-[0-5] ){5}10-start post-detach sim0-[0-5]$" \
	"what was stopped for it is started again, and no card is given back"
no_hooks

note "a hook that fails"
no_hooks
check "a GPU" gpuctl attach sim0-0
hook pre-detach 10-stop
hook pre-detach 20-refuse 'echo "no way: $GPUFABRIC_SLOT is precious" >&2; exit 3'
hook pre-detach 30-never
error=$(gpuctl detach sim0-0 2>&1)
is $? 1 "stops the detach"
like "$error" "^gpuctl: slot sim0-0: hook $hooks/pre-detach.d/20-refuse pre-detach: status 3: no way: sim0-0 is precious$" \
	"is named, with its last words"
is "$(states_of sim0-0)" ready "the GPU stays"
is "$(ran)" "10-stop pre-detach sim0-0 20-refuse pre-detach sim0-0 20-refuse abort-detach sim0-0 10-stop abort-detach sim0-0" \
	"what was done is taken back, last first"
check "not with --force" gpuctl detach --force sim0-0
is "$(states_of sim0-0)" off "then the GPU goes"

no_hooks
hook pre-attach 10-refuse 'exit 1'
check_rc 1 "a pre-attach hook stops an attach" gpuctl attach sim0-0
is "$(states_of sim0-0)" off "the slot is as before"
is "$(ran)" "10-refuse pre-attach sim0-0 10-refuse abort-attach sim0-0" "and it is told so"
check_rc 1 "and a composition" gpuctl compose x --gpus 1
is "$(gpuctl -j list | jq '.compositions | length')" 0 "of which nothing is left"

no_hooks
hook post-attach 10-late 'exit 9'
error=$(gpuctl attach sim0-0 2>&1 >/dev/null)
is $? 0 "a hook that fails afterwards does not undo an attach"
like "$error" "slot sim0-0: hook .*10-late post-attach: status 9$" "but is reported"

note "a hook that hangs"
no_hooks
export GPUCTL_HOOK_TIMEOUT=1s
hook pre-detach 10-hang 'trap "" TERM; echo $$ >/tmp/hang; sleep 1000 & wait; sleep 1000'
error=$(gpuctl detach sim0-0 2>&1)
is $? 7 "ends the detach by its deadline"
like "$error" "10-hang pre-detach: no end within 1.0* s" "and says so"
is "$(states_of sim0-0)" ready "the GPU stays"
check_fails "nothing of it is left" kill -0 "$(cat /tmp/hang)"
check_fails "nor of what it started" grep -aqzx '100[0]' /proc/[0-9]*/cmdline
export GPUCTL_HOOK_TIMEOUT=soon
check_rc 2 "a time that is none is refused" gpuctl detach sim0-0
unset GPUCTL_HOOK_TIMEOUT

rm -f /tmp/hang
hook pre-detach 10-hang '[ "$1" = pre-detach ] || { echo so; sleep 0.2; : >/tmp/undone; exit; }; echo $$ >/tmp/hang; sleep 1000'
gpuctl detach sim0-0 >/dev/null 2>/tmp/error &
client=$!
wait_for 20 test -s /tmp/hang
kill -INT $client
wait $client
is $? 1 "ends with its client that is interrupted"
check "the GPU stays" is_state sim0-0 ready
check_fails "nothing of the hook is left" kill -0 "$(cat /tmp/hang)"
check "it has been told to the end that this is over" test -e /tmp/undone

note "a request that is interrupted when it was accepted"
no_hooks
hook post-detach 10-gone
blocks()
{
	echo remove-block >"$SIM/slot0.0/driver"
	gpuctl detach sim0-0 >/tmp/output 2>/tmp/error &
	client=$!
	wait_for 20 is_state sim0-0 detaching
	kill -INT "$client"
	wait_for 20 grep -q "waits until the detach has ended" /tmp/error
}
check "a detach is interrupted, and goes on" blocks
echo remove-release >"$SIM/slot0.0/driver"
wait "$client"
is $? 1 "it ends with its client"
like "$(cat /tmp/error)" "interrupted: the detach has ended" "which says so"
is "$(ran)" "10-gone post-detach sim0-0" "and has run what comes after it"
is "$(states_of sim0-0)" off "the GPU is off"
no_hooks
hook post-detach 10-gone
check "it is attached" gpuctl attach sim0-0
check "a detach is interrupted" blocks
kill -INT "$client"
wait "$client"
is $? 1 "and again: its client ends"
like "$(cat /tmp/error)" "interrupted: the detach continues, see gpuctl show sim0-0" "which says that it goes on"
echo remove-release >"$SIM/slot0.0/driver"
check "it does" wait_for 20 is_state sim0-0 off
is "$(ran)" "" "nobody runs what comes after it"
no_hooks
both_are_due() { [ "$(gpuctl -n reap | grep -c "its lease is over")" = 2 ]; }
check "a composition for a second" gpuctl compose one --gpus 1 --for 1s
check "and another one" gpuctl compose two --gpus 1 --for 1s
check "both are due" wait_for 20 both_are_due
first=$(slots_of one)
echo remove-block >"$SIM/slot0.${first#sim0-}/driver"
gpuctl reap >/dev/null 2>/tmp/error &
client=$!
wait_for 20 is_state "$first" detaching
kill -TERM "$client"
check "a reap is interrupted" wait_for 20 grep -q "waits until the release has ended" /tmp/error
echo remove-release >"$SIM/slot0.${first#sim0-}/driver"
wait "$client"
is $? 1 "it ends"
is "$(gpuctl -j list | jq -r '[.compositions[].name] | join(" ")')" two "and begins nothing else"
check "that is released" gpuctl release two
check "a GPU is attached" gpuctl attach sim0-0

note "a hook that is interrupted"
# started COMMAND...: in the background, once the hook has begun.
started()
{
	rm -f /tmp/hang /tmp/undone
	"$@" >/dev/null 2>/tmp/error &
	client=$!
	wait_for 20 test -s /tmp/hang
}
no_hooks
hook pre-detach 10-hang '[ "$1" = pre-detach ] || { : >/tmp/undone; exit; }; echo $$ >/tmp/hang; sleep 1000'
check "a forced detach runs a hook that hangs" started gpuctl detach --force sim0-0
kill -INT "$client"
wait "$client"
is $? 1 "the signal ends the request"
like "$(cat /tmp/error)" "interrupted: nothing was changed" "before it was made"
is "$(states_of sim0-0)" ready "the GPU stays"
check "the hook is told" test -e /tmp/undone
no_hooks
check "a composition" gpuctl compose one --gpus 1
slot=$(slots_of one)
hook resize 10-hang '[ "$1" = shrink ] || { echo "$1" >/tmp/undone; exit; }; echo $$ >/tmp/hang; sleep 1000'
check "its release tells a workload that hangs" started gpuctl release one
kill -TERM "$client"
wait "$client"
is $? 1 "the signal ends the request"
is "$(gpuctl -j list | jq -r '.compositions[].name') $(states_of "$slot") $(cat /tmp/undone)" "one ready grow" \
	"the composition stays, and the workload is told"
no_hooks
mkfifo /tmp/go
hook post-detach 10-slow 'trap : TERM; echo $$ >/tmp/hang; read go </tmp/go; : >/tmp/undone'
check "a release has gone through, a hook is late" started gpuctl release one
# As timeout(1) and systemd do it.
kill -INT "$client"
kill -HUP "$client"
check "a signal comes, or two at once" timeout 20 sh -c 'echo go >/tmp/go'
wait "$client"
is $? 0 "it is as done as it was"
check "and the hook has run to its end" test -e /tmp/undone
check "it is attached" gpuctl attach "$slot"
no_hooks
hook post-detach 10-slow 'echo $$ >/tmp/hang; read go </tmp/go; : >/tmp/undone'
check "a detach, and the hook is late" started gpuctl detach "$slot"
kill -INT "$client"
hook_ended() { ! kill -TERM "$client" || ! kill -0 "$(cat /tmp/hang)"; }
check "another one, well after the first, ends the hook" wait_for 20 hook_ended
wait "$client"
check_fails "before it has done what it does" test -e /tmp/undone
like "$(cat /tmp/error)" "slot $slot: hook .*10-slow post-detach: interrupted" "and that is said"

note "a request that fails after it was interrupted"
no_hooks
hook pre-attach 10-first
hook post-attach 10-after
echo "slow 60000" >"$SIM/slot0.1/link"
gpuctl attach --timeout 3s sim0-1 >/dev/null 2>/tmp/error &
client=$!
check "an attach takes its time" wait_for 20 is_state sim0-1 attaching
kill -INT "$client"
check "it is interrupted, and awaited" wait_for 20 grep -q "waits until the attach has ended" /tmp/error
wait "$client"
like "$(ran)" "^10-first pre-attach sim0-1 10-first abort-attach sim0-1$" "what the hook did is taken back"
echo full >"$SIM/slot0.1/link"
check "the slot is cleared" gpuctl clear sim0-1

note "two that change one composition"
no_hooks
check "a composition" gpuctl compose one --gpus 1
for n in 0 1 2 3 4 5; do
	echo "slow 60000" >"$SIM/slot0.$n/link"
done
gpuctl resize one --gpus +1 >/dev/null 2>&1 &
client=$!
changing() { [[ $(gpuctl list --noheadings -o state) == *attaching* ]]; }
check "one adds a GPU" wait_for 20 changing
hook pre-attach 10-first
error=$(gpuctl resize one --gpus +1 2>&1)
is $? 4 "the other one is refused"
like "$error" "operation" "by what goes on"
is "$(grep -c " pre-attach " $log)" 1 "and has tried once"
for n in 0 1 2 3 4 5; do
	echo full >"$SIM/slot0.$n/link"
done
wait "$client"
no_hooks
check "it is released" gpuctl release one
check "a GPU is attached" gpuctl attach sim0-0

note "hooks that others may write"
no_hooks
hook pre-detach 10-stop
for mode in 775 757; do
	chmod $mode $hooks/pre-detach.d/10-stop
	error=$(gpuctl detach sim0-0 2>&1)
	is $? 5 "mode $mode is refused"
	like "$error" "users other than root may write $hooks/pre-detach.d/10-stop: chown root, chmod go-w" "the reason is given"
done
chmod 755 $hooks/pre-detach.d/10-stop
chmod 777 $hooks
check_rc 5 "so is one in a directory that others may write" gpuctl detach sim0-0
chmod 755 $hooks
chown 1000 $hooks/pre-detach.d/10-stop
check_rc 5 "or that belongs to another" gpuctl detach --force sim0-0
is "$(ran) $(states_of sim0-0)" " ready" "none was run, the GPU stays"
chown 0 $hooks/pre-detach.d/10-stop
mkdir -m 777 /tmp/open
mv $hooks/pre-detach.d/10-stop /tmp/open/stop
ln -s /tmp/open/stop $hooks/pre-detach.d/10-stop
check_rc 5 "or that a link leads to where others may write" gpuctl detach sim0-0

note "a holder that comes between the two looks"
no_hooks
# It is a sleep only when it has begun to run that program; until then it is the hook's own shell.
hook pre-detach 10-open 'exec 9</dev/gpufabric-sim/sim0-0; sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/holder
until grep -qx sleep "/proc/$!/comm"; do :; done'
error=$(gpuctl detach sim0-0 2>&1)
is $? 4 "is found"
like "$error" "sleep 1000" "and listed"
is "$(states_of sim0-0)" ready "the GPU stays"
no_hooks
error=$(gpuctl detach --signal XYZ sim0-0 2>&1)
is $? 2 "a signal that does not exist is refused"
like "$(gpuctl detach --signal TERM sim0-0)" "^sim0-0: sent signal 15 to sleep 1000 \(pid $(cat /tmp/holder)\)$" \
	"a holder can be asked by a signal"
is "$(states_of sim0-0)" off "then the GPU goes"

note "a drain that somebody else ends"
no_hooks
check "a GPU is attached" gpuctl attach sim0-0
hook pre-detach 10-undrain '[ "$1" != pre-detach ] || /tests/gfclient undrain sim0-0'
error=$(gpuctl detach sim0-0 2>&1)
is $? 1 "its GPU is not detached"
like "$error" "^gpuctl: sim0-0: a drain ended before its time" "and that is said"
is "$(states_of sim0-0)" ready "it stays"
no_hooks
check "it goes when nobody does" gpuctl detach sim0-0

note "a fabric that brings cards"
error=$(gpuctl attach sim0-6 2>&1)
is $? 1 "without a hook an empty slot stays empty" || echo "#   $error"
hook assign 50-fabric "echo 'insert h100-80' >$SIM/slot0.\${2#sim0-}/surprise; env >/tmp/hook.env"
hook unassign 50-fabric "echo remove >$SIM/slot0.\${2#sim0-}/surprise"
check "with one its card is brought" gpuctl attach --reason job sim0-6
is "$(states_of sim0-6)" ready "and attached"
is "$(ran)" "50-fabric assign sim0-6" "by the hook"
is "$(grep -c -e '^GPUFABRIC_PORTS=10000:02:06.0$' -e '^GPUFABRIC_REASON=job$' /tmp/hook.env)" 2 \
	"which is told of the port and the reason"
: >$log
check "a detach" gpuctl detach sim0-6
is "$(ran)" "50-fabric unassign sim0-6" "gives it back to the fabric"
check "and the slot is empty" wait_for 10 is_state sim0-6 empty
: >$log
hook assign 50-fabric true
check_rc 7 "a card that does not come is waited for, bounded" gpuctl attach --timeout 1s sim0-7
is "$(ran)" "50-fabric assign sim0-7 50-fabric unassign sim0-7" "and given back"

note "hooks that come with gpuctl"
shipped=/usr/local/share/gpuctl/hooks
no_hooks
for name in assign unassign; do
	mkdir -p $hooks/$name.d
	ln -s $shipped/fabric $hooks/$name.d/50-fabric
done
cat >/etc/gpuctl/fabric.sh <<END
assign() { echo "\$*" >/tmp/fabric.log; for slot; do echo "insert l40s" >$SIM/slot0.\${slot#sim0-}/surprise; done; }
unassign() { for slot; do echo remove >$SIM/slot0.\${slot#sim0-}/surprise; done; }
END
check "fabric: cards are brought" gpuctl attach sim0-6 sim0-7
is "$(cat "$SIM/slot0.6/model" "$SIM/slot0.7/model" | xargs)" "l40s l40s" "fabric: by the function in fabric.sh"
is "$(cat /tmp/fabric.log)" "sim0-6 sim0-7" "fabric: that is called once"
check "fabric: and taken" gpuctl detach sim0-6 sim0-7
check "fabric: back" wait_for 10 is_state sim0-6 empty
check "fabric: both" wait_for 10 is_state sim0-7 empty

no_hooks
for name in assign unassign; do
	mkdir -p $hooks/$name.d
	ln -s $shipped/switchtec $hooks/$name.d/50-switchtec
done
# Stands in for the vendor's tool, which needs the vendor's switch.
mkdir -p /usr/local/sbin
cat >/usr/local/sbin/switchtec <<END
#!/bin/sh
echo "\$*" >>/tmp/switchtec.log
case \$2 in
gfms-bind) echo "insert h100-80" >$SIM/slot0.7/surprise ;;
gfms-unbind) echo remove >$SIM/slot0.7/surprise ;;
esac
END
chmod 755 /usr/local/sbin/switchtec
echo "sim0-7 /dev/switchtec0 0 24 1 0x0f01" >/etc/gpuctl/switchtec.conf
check "switchtec: a card is bound" gpuctl attach sim0-7
check "switchtec: and unbound" gpuctl detach sim0-7
check "switchtec: which empties the slot" wait_for 10 is_state sim0-7 empty
is "$(cat /tmp/switchtec.log)" "fabric gfms-bind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=24 --log_port_id=1 --pdfid=0x0f01
fabric gfms-unbind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=24 --log_port_id=1" "switchtec: as its tool wants to be called"
echo "sim0-7 /dev/switchtec0 0" >/etc/gpuctl/switchtec.conf
error=$(gpuctl attach sim0-7 2>&1)
like "$error" "switchtec.conf: slot sim0-7: needs 6 words and has 3" "switchtec: a line that is wrong is named"
like "$error" "^given back to the fabric: sim0-7$" "switchtec: and nothing stays bound"

# The same for NVIDIA's tool, called as gpuctl calls its hooks.
cat >/usr/local/sbin/nvidia-smi <<'END'
#!/bin/sh
echo "$*" >>/tmp/smi.log
case $* in
*query-gpu*) echo "GPU-1, $(cat /tmp/persistence)" ;;
*"-pm 0") echo Disabled >/tmp/persistence ;;
*"-pm 1") echo Enabled >/tmp/persistence ;;
esac
END
chmod 755 /usr/local/sbin/nvidia-smi
echo Enabled >/tmp/persistence
nvidia() { env -i PATH="$PATH:/usr/local/sbin" GPUFABRIC_VENDOR="$1" GPUFABRIC_ADDRESS=0000:41:00.0 "$shipped/nvidia" "$2"; }
check "nvidia: lets go" nvidia 10de pre-detach
is "$(cat /tmp/persistence)" Disabled "nvidia: persistence mode is off"
like "$(tail -n 1 /tmp/smi.log)" "^drain -p 0000:41:00.0 -m 1$" "nvidia: no new work is taken"
check "nvidia: takes hold again" nvidia 10de abort-detach
is "$(cat /tmp/persistence)" Enabled "nvidia: as it was before"
: >/tmp/smi.log
check "nvidia: another vendor's GPU" nvidia 1002 pre-detach
is "$(cat /tmp/smi.log)" "" "nvidia: is none of its business"

no_hooks
check "all is given back" gpuctl detach sim0-1
hook pre-attach 10-unload 'for i in 1 2 3 4 5 6 7 8 9; do rmmod gpufabric && exit; sleep 1; done'
error=$(gpuctl attach sim0-1 2>&1 >/dev/null)
is "$?" 6 "a module that is unloaded meanwhile: exit code 6"
like "$error" '^gpuctl: .*: module gpufabric was unloaded$' "in these words"
check "it stays so" test ! -e /sys/module/gpufabric
check "the simulator unloads" rmmod gpufabric_sim
finish
