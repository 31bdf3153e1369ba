#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl run: the GPUs come and go with a command, however that or gpuctl ends; gpuctl env says
# what it finds. gpuctl reap: what nobody minds any more goes by the contract of every removal.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# vm: -t 240

# Functions are called by their names, through check; what commands do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/vm/lib.sh"

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

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "a command that ends by itself"
check "a command that succeeds" gpuctl run --gpus 2 -- sh -c 'env | grep ^GPUFABRIC >/tmp/env; gpuctl list >/tmp/list'
check "its GPUs are given back" all_back
is "$(grep -c ' ready ' /tmp/list)" 2 "it had them"
for line in 'GPUFABRIC_COMPOSITION=run-[0-9]+' 'GPUFABRIC_SLOTS=sim0-0 sim0-1' \
	'GPUFABRIC_ADDRESSES=10000:03:00.0 10000:04:00.0'; do
	check "it was told $line" grep -qxE "$line" /tmp/env
done
check_rc 7 "its exit status is that of gpuctl" gpuctl run --gpus 1 -- sh -c 'exit 7'
check "and its GPU is given back" all_back
check_rc 137 "so is the signal that killed it" gpuctl run --gpus 1 -- sh -c 'kill -9 $$'
check "and its GPU" all_back
error=$(gpuctl run --gpus 1 -- /nonexistent 2>&1 >/dev/null)
is $? 127 "a command that does not exist"
is "$error" "gpuctl: cannot run /nonexistent: No such file or directory" "is named"
check "and gives back what it never used" all_back
check "the composition has the name that was given" \
	gpuctl run --gpus 1 --name mine -- sh -c 'gpuctl show mine'
check "and is gone with it" all_back

note "with -j"
json=$(gpuctl -j run --gpus 2 --name mine -- sh -c 'echo hello; exit 5' 2>/tmp/said)
is $? 5 "its exit status is that of the command"
is "$(jq -r '[.name, (.slots | length), .slots[0].state, .status, .released] | join(" ")' <<<"$json")" \
	"mine 2 ready 5 true" "there is one document, of the GPUs as the command had them"
is "$(cat /tmp/said)" hello "the command's output goes to standard error"
check "and its GPUs are given back" all_back

note "requests"
check_rc 3 "what does not fit" gpuctl run --gpus 5 -- touch /tmp/ran
check_fails "runs nothing" test -e /tmp/ran
check_rc 2 "a command is needed" gpuctl run --gpus 1
check_rc 2 "and stands behind --" gpuctl run --gpus 1 true
like "$(gpuctl -n run --gpus 1 -- touch /tmp/ran)" "would get sim0-0; nothing was changed" "a dry run says what it would take"
check_fails "and runs nothing" test -e /tmp/ran

# in_run SIGNAL STATUS: a signal to gpuctl while its command runs.
in_run()
{
	local client

	rm -f /tmp/pid
	gpuctl run --gpus 2 --name "job$1" -- sh -c 'echo $$ >/tmp/pid; exec sleep 1000' >/tmp/out 2>&1 &
	client=$!
	wait_for 20 test -s /tmp/pid
	kill "-$1" "$client"
	wait "$client"
	is $? "$2" "SIG$1: the exit status"
	check "SIG$1: the command ends" wait_for 20 ended "$(cat /tmp/pid)"
}

ended()
{
	! kill -0 "$1"
}

note "a client that is ended"
in_run TERM 143
check "SIGTERM: the GPUs are given back" all_back
in_run INT 143
check "SIGINT: the GPUs are given back" all_back
in_run HUP 143
check "SIGHUP: the GPUs are given back" all_back
# Before the background begins: its file tells that gpuctl has begun.
rm -f /tmp/pid
(
	trap '' HUP
	exec gpuctl run --gpus 1 -- sh -c 'echo $$ >/tmp/pid; exec sleep 1000' >/dev/null 2>&1
) &
client=$!
wait_for 20 test -s /tmp/pid
# The last digit has the bit of SIGHUP.
check "a SIGHUP that is ignored, as by nohup, stays so" grep -q '^SigIgn:.*[13579bdf]$' "/proc/$client/status"
kill -TERM $client
wait $client
check "and the GPU is given back" all_back
# A terminal sends SIGINT to both; here the command has ended before gpuctl looks.
rm -f /tmp/pid
gpuctl run --gpus 1 -- sh -c 'echo $$ >/tmp/pid; exec sleep 1000' >/dev/null 2>&1 &
client=$!
is_zombie() { grep -q '^State:.*Z' "/proc/$1/status"; }
check "a command runs" wait_for 20 test -s /tmp/pid
kill -STOP "$client"
kill -INT "$client" "$(cat /tmp/pid)"
check "the terminal's SIGINT ends it" wait_for 20 is_zombie "$(cat /tmp/pid)"
kill -CONT "$client"
wait "$client"
is $? 130 "gpuctl ends as it did"
check "and the GPU is given back" all_back
in_run KILL 137
is "$(compositions)" jobKILL "SIGKILL: the composition stays"
check "SIGKILL: as an orphan" wait_for 10 is_orphaned jobKILL
like "$(gpuctl -n reap)" "jobKILL: its client is gone" "reap -n says what it would do"
is "$(compositions)" jobKILL "and does nothing"
check "reap takes it back" gpuctl reap
check "with its GPUs" all_back
is "$(gpuctl reap)" "nothing to reap" "then there is nothing to reap"

note "a client that is ended while its GPUs come"
composes() { gpuctl -j list | jq -e --arg name "$1" '.compositions[] | select(.name == $name)'; }
echo 3000 >/sys/module/gpufabric_sim/parameters/latency_ms
for signal in TERM INT; do
	rm -f /tmp/ran
	gpuctl run --gpus 2 --name "early$signal" -- touch /tmp/ran >/tmp/out 2>&1 &
	client=$!
	check "SIG$signal: the composition is begun" wait_for 20 composes "early$signal"
	kill "-$signal" $client
	wait $client
	is $? 1 "SIG$signal: the exit status"
	like "$(cat /tmp/out)" "gpuctl: interrupted: touch was not started" "SIG$signal: as is said"
	check_fails "SIG$signal: it was not" test -e /tmp/ran
	check "SIG$signal: the GPUs are given back" all_back
done
echo 5 >/sys/module/gpufabric_sim/parameters/latency_ms

note "a command that ignores SIGTERM"
rm -f /tmp/pid /tmp/told
gpuctl run --gpus 1 -- sh -c 'trap "echo >/tmp/told" TERM; echo $$ >/tmp/pid; while :; do sleep 1; done' \
	>/dev/null 2>&1 &
client=$!
wait_for 20 test -s /tmp/pid
kill -TERM $client
# Two signals that come before gpuctl has looked are one.
check "is told" wait_for 20 test -e /tmp/told
check_fails "goes on" ended "$(cat /tmp/pid)"
kill -TERM $client
wait $client
is $? 137 "until the second signal"
check "which gives the GPU back" all_back

note "what a command leaves behind"
# The shell opens the GPU: its child may begin after the shell's end.
check "a child that lets go in time" \
	gpuctl run --gpus 1 -- sh -c 'exec 3</dev/gpufabric-sim/$GPUFABRIC_SLOTS; sleep 2 & exit 0'
check "is waited for" all_back
error=$(gpuctl run --gpus 1 --wait 1s --name held -- \
	sh -c 'exec 3</dev/gpufabric-sim/$GPUFABRIC_SLOTS; setsid sleep 1000 >/dev/null 2>&1 & exit 0' 2>&1 >/dev/null)
is $? 4 "one that does not keeps its GPU"
like "$error" "sleep 1000" "and is listed"
like "$error" "composition held remains: gpuctl reap releases it" "what to do is said"
check "the composition is an orphan" wait_for 10 is_orphaned held
check_rc 4 "reap finds it busy" gpuctl reap
check "or asks it to end" gpuctl reap --signal TERM
check "then all is back" all_back

note "leases"
check "a composition for a second" gpuctl compose short --gpus 1 --for 1s
check "and one for long" gpuctl compose long --gpus 1 --for 8h
check "the first is reaped when its time is over" wait_for 20 sh -c 'gpuctl reap | grep -q "reaped short"'
is "$(compositions)" long "the other stays"
gpuctl release long >/dev/null
check "two for a second" gpuctl compose a --gpus 1 --for 1s
check "and a second one" gpuctl compose b --gpus 1 --for 1s
wait_for 20 sh -c '[ "$(gpuctl -n reap | grep -c "its lease is over")" = 2 ]'
is "$(gpuctl -j reap | jq -c '[.reaped, [.slots[].slot]]')" '[["a","b"],["sim0-0","sim0-1"]]' "one document tells of both"
check "two more" gpuctl compose a --gpus 1 --for 1s
check "for a second" gpuctl compose b --gpus 1 --for 1s
wait_for 20 sh -c '[ "$(gpuctl -n reap | grep -c "its lease is over")" = 2 ]'
mkdir -p /etc/gpuctl/hooks.d/pre-detach.d
cat >/etc/gpuctl/hooks.d/pre-detach.d/10-longer <<-'END'
	#!/bin/sh
	case $GPUFABRIC_COMPOSITION in
	a) gpuctl annotate b --for 8h ;;
	c) gpuctl annotate c --for 8h ;;
	esac
END
chmod 755 /etc/gpuctl/hooks.d/pre-detach.d/10-longer
is "$(gpuctl -j reap | jq -c .reaped)" '["a"]' "one whose lease was made longer meanwhile"
is "$(compositions)" b "stays"
check "one for a second" gpuctl compose c --gpus 1 --for 1s
wait_for 20 sh -c 'gpuctl -n reap | grep -q "its lease is over"'
check_rc 1 "one that gets a longer lease while it is reaped is not" gpuctl reap
like "$(cat "$check_log")" "c: .*composition has changed" "that is said"
is "$(compositions)" "b c" "it stays"
is "$(states_of "$(slots_of c)")" ready "and its GPU is no longer drained"
check "it is released by hand" gpuctl release c
rm -r /etc/gpuctl/hooks.d
check "until it is released" gpuctl release b

note "the environment for processes that others start"
check "two GPUs" gpuctl compose train --gpus 2
is "$(gpuctl env --format plain train)" \
	$'GPUFABRIC_COMPOSITION=train\nGPUFABRIC_SLOTS=sim0-0 sim0-1\nGPUFABRIC_ADDRESSES=10000:03:00.0 10000:04:00.0' "plain lines"
is "$(eval "$(gpuctl env train)" && echo "$GPUFABRIC_SLOTS")" "sim0-0 sim0-1" "a shell reads them"
is "$(gpuctl env --format null train | tr '\0' '\n')" "$(gpuctl env --format plain train)" "the same with NULs"
is "$(gpuctl -j env train | jq -r '.variables[] | .name + "=" + .value')" "$(gpuctl env --format plain train)" "and as JSON"
is "$(gpuctl env --slot sim0-1 --format plain)" \
	$'GPUFABRIC_COMPOSITION=train\nGPUFABRIC_SLOTS=sim0-1\nGPUFABRIC_ADDRESSES=10000:04:00.0' "for a process on one of them"
check_rc 2 "of a slot of no composition" gpuctl env --slot sim0-2
check_rc 2 "of a slot of another composition" gpuctl env --slot sim0-1 other
check_rc 2 "of nothing at all" gpuctl env
check_rc 2 "of one that does not exist" gpuctl env nobody
check_rc 2 "in no such format" gpuctl env --format yaml train
gpuctl release train >/dev/null
is "$(gpuctl run --gpus 1 --name mine -- sh -c 'gpuctl env --format plain mine; env | grep ^GPUFABRIC | sort -r' |
	grep ^GPUFABRIC | sort | uniq -c | awk '{ print $1 }' | xargs)" "2 2 2" "it is what gpuctl run sets"

note "jobs that have ended"
jobs()
{
	printf '%s\n' "$@" >/tmp/jobs
	# Made when these compositions were long there.
	touch -d "@$(($(date +%s) + 3600))" /tmp/jobs
	gpuctl reap --jobs-alive /tmp/jobs
}
check "a composition of job 7" gpuctl compose seven --gpus 1 --job 7
check "one of job 70" gpuctl compose seventy --gpus 1 --job 70
check "and one of no job" gpuctl compose admin --gpus 1
check_rc 2 "nothing from a pipe is no list of jobs" sh -c 'false | gpuctl reap --jobs-alive -'
check_rc 2 "nor is a list that ends early" jobs 7 70
is "$(compositions)" "admin seven seventy" "and nothing is released"
is "$(printf '%s\n' . | gpuctl reap --jobs-alive -)" "nothing to reap" "what was composed just now may be of a job that came later"
like "$(jobs 7 70 .)" "nothing to reap" "both jobs are alive"
like "$(jobs 7 .)" "seventy: its job has ended" "one has ended"
is "$(compositions)" "admin seven" "and gives its GPU back"
check "the other" jobs .
is "$(compositions)" admin "what is of no job stays"
check "it is released by hand" gpuctl release admin

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
