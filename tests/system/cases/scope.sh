#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl run where systemd is in charge: the command has a scope of its own, and what
# it leaves behind ends with it, however the command or gpuctl ends.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# system: -t 300

# Functions are called by their names, through check; what commands do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"

SLOW=$((SLOW * 2))

compositions()
{
	gpuctl -j list | jq -r '[.compositions[].name] | join(" ")'
}

off()
{
	gpuctl -j list | jq '[.slots[] | select(.state == "off")] | length'
}

all_back()
{
	[ "$(compositions)/$(off)" = /4 ]
}

is_orphaned()
{
	gpuctl -j show "$1" | grep -q orphaned
}

ended()
{
	! kill -0 "$(cat "$1")"
}

# No scope of ours, whether running or failed.
no_scope()
{
	[ -z "$(systemctl list-units --all --no-legend 'gpufabric-run-*')" ]
}

# A child of the command that no signal to a process group or a session reaches: it
# leaves both, and its parent is init. KIND: holds the GPU, ignores SIGTERM, or is idle.
cat >/root/daemon <<'END'
#!/bin/bash
case $1 in
holds) setsid bash -c 'echo $$ >/root/daemon.pid; exec sleep 1000' </dev/gpufabric-sim/"${GPUFABRIC_SLOTS%% *}" >/dev/null 2>&1 & ;;
stubborn) setsid bash -c 'trap "" TERM; echo $$ >/root/daemon.pid; while :; do sleep 1; done' \
	</dev/gpufabric-sim/"${GPUFABRIC_SLOTS%% *}" >/dev/null 2>&1 & ;;
idle) setsid bash -c 'echo $$ >/root/daemon.pid; exec sleep 1000' </dev/null >/dev/null 2>&1 & ;;
esac
while [ ! -s /root/daemon.pid ]; do sleep 0.05; done
END
chmod 755 /root/daemon

is "$(systemctl is-system-running)" running "everything of the system has started"
check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "a command that ends by itself"
cd /usr/lib || exit 1
output=$(echo word | gpuctl run --gpus 2 --name plain -- sh -c '
	cat /proc/self/cgroup >/root/cgroup; pwd >/root/pwd; env >/root/env
	systemctl show -p ActiveState,TimeoutStopUSec gpufabric-run-plain.scope >/root/show; cat' 2>&1)
is $? 0 "a command that succeeds"
like "$output" '^word$' "has our input and our output"
is "$(grep -c scope <<<"$output")" 0 "to which systemd adds nothing"
is "$(cat /root/cgroup)" "0::/system.slice/gpufabric-run-plain.scope" "runs in its scope"
is "$(xargs </root/show)" "TimeoutStopUSec=5s ActiveState=active" "which systemd knows"
is "$(cat /root/pwd)" /usr/lib "in our directory"
like "$(cat /root/env)" '^GPUFABRIC_SLOTS=sim0-0 sim0-1$' "and knows its GPUs"
cd /tests || exit 1
check "its GPUs are given back" all_back
check "the scope is gone" wait_for 20 no_scope
check_rc 7 "its exit status is that of gpuctl" gpuctl run --gpus 1 -- sh -c 'exit 7'
check_rc 137 "so is the signal that killed it" gpuctl run --gpus 1 -- sh -c 'kill -9 $$'
error=$(gpuctl run --gpus 1 -- nosuchcommand 2>&1 >/dev/null)
is $? 127 "a command that does not exist"
is "$error" "gpuctl: cannot run nosuchcommand: No such file or directory" "is named"
error=$(gpuctl run --gpus 1 -- /etc/passwd 2>&1 >/dev/null)
is $? 126 "one that may not be run"
is "$error" "gpuctl: cannot run /etc/passwd: Permission denied" "as well"
is "$(gpuctl -j run --gpus 1 --name json -- sh -c 'cat /proc/self/cgroup' 2>/root/cgroup | jq -c '.status, .released' | xargs)" \
	"0 true" "with -j there is one document"
is "$(cat /root/cgroup)" "0::/system.slice/gpufabric-run-json.scope" "about a command in its scope"
check "all GPUs are given back" all_back
check "and no scope is left" wait_for 20 no_scope

note "what a command leaves behind"
for kind in holds stubborn idle; do
	rm -f /root/daemon.pid
	check_rc 3 "$kind: the exit status is the command's" \
		gpuctl run --gpus 2 --name "left-$kind" -- sh -c "/root/daemon $kind; exit 3"
	check "$kind: it is gone" ended /root/daemon.pid
	check "$kind: the GPUs are given back" all_back
	check "$kind: the scope is gone" wait_for 20 no_scope
done

# in_run SIGNAL STATUS: a signal to gpuctl while its command runs, and a daemon of that.
in_run()
{
	local client

	rm -f /root/pid /root/daemon.pid
	gpuctl run --gpus 2 --name "job$1" -- sh -c "/root/daemon holds; echo \$\$ >/root/pid; exec sleep 1000" >/dev/null 2>&1 &
	client=$!
	wait_for 30 test -s /root/pid || bail_out "the command does not start"
	is "$(ps -o ppid= -p "$(cat /root/pid)" | xargs)" "$client" "SIG$1: the command is a child of gpuctl"
	kill "-$1" "$client"
	wait "$client" 2>/dev/null
	is $? "$2" "SIG$1: the exit status"
	check "SIG$1: the command ends" wait_for 20 ended /root/pid
}

note "a client that is ended"
for signal in TERM:143 INT:143; do
	in_run "${signal%:*}" "${signal#*:}"
	check "SIG${signal%:*}: what it left ends" ended /root/daemon.pid
	check "SIG${signal%:*}: the GPUs are given back" all_back
	check "SIG${signal%:*}: the scope is gone" wait_for 20 no_scope
done
in_run KILL 137
is "$(compositions)" jobKILL "SIGKILL: the composition stays"
check "SIGKILL: as an orphan" wait_for 20 is_orphaned jobKILL
error=$(gpuctl reap 2>&1 >/dev/null)
is $? 4 "SIGKILL: reap finds a GPU busy"
like "$error" "sleep 1000 .*gpufabric-run-jobKILL.scope" "SIGKILL: and says in which scope its holder is"
check "SIGKILL: that can be stopped" systemctl stop gpufabric-run-jobKILL.scope
check "SIGKILL: then reap takes all back" gpuctl reap
check "SIGKILL: really" all_back

note "who holds a GPU, and a name that is in use"
gpuctl run --gpus 1 --name holder -- sh -c 'echo >/root/ready; exec sleep 1000 </dev/gpufabric-sim/$GPUFABRIC_SLOTS' >/dev/null 2>&1 &
client=$!
wait_for 30 test -e /root/ready || bail_out "the command does not start"
like "$(gpuctl release holder 2>&1)" "sleep 1000 .*gpufabric-run-holder.scope" "a holder is listed with its scope"
kill -KILL $client
wait $client 2>/dev/null
check "its command ends" wait_for 20 no_scope
check "it is an orphan" wait_for 20 is_orphaned holder
check "and reap takes it back" gpuctl reap
check "with its GPU" all_back
rm -f /root/daemon.pid
gpuctl run --gpus 1 --name again -- sh -c '/root/daemon idle; exec sleep 1000' >/dev/null 2>&1 &
client=$!
wait_for 30 test -s /root/daemon.pid || bail_out "the command does not start"
kill -KILL $client
wait $client 2>/dev/null
wait_for 20 is_orphaned again
check "a killed run can be reaped while its scope has something left" gpuctl reap
check "which holds no GPU" all_back
check "the name can be used again" gpuctl run --gpus 1 --name again -- sh -c 'cat /proc/self/cgroup >/root/cgroup'
like "$(cat /root/cgroup)" '^0::/system.slice/gpufabric-run-again-[0-9]+\.scope$' "in a scope with another name"
check_fails "what is not its own it leaves alone" ended /root/daemon.pid
check "until it is stopped by hand" systemctl stop gpufabric-run-again.scope

note "where systemd is not in charge"
check "a command runs all the same" unshare --mount sh -c '
	mount -t tmpfs none /run/systemd && exec gpuctl run --gpus 1 -- cp /proc/self/cgroup /root/cgroup'
is "$(cat /root/cgroup)" "$(cat /proc/self/cgroup)" "where we are"
check "all GPUs are given back" all_back
check "no scope is left" wait_for 20 no_scope
is "$(systemctl --failed --no-legend)" "" "and nothing has failed"
check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
