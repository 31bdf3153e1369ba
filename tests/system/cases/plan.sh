#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The planner as the service that it is installed as: GPUs follow what workloads ask for,
# minute by minute; killed in the middle of a move it is started anew and goes on, and a
# stop waits for the end of one. The clock is set forward to have minutes pass.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# system: -t 480

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"

unit=gpufabric-plan.service
demand=/var/lib/gpuctl/demand
hooks=/etc/gpuctl/hooks.d
metrics=/var/lib/prometheus/node-exporter/gpufabric.prom

has()
{
	gpuctl -j list | jq --arg c "$1" '[.compositions[] | select(.name == $c) | .slots[]] | length'
}

have()
{
	[ "$(has vision1) $(has speech1)" = "$1" ]
}

property()
{
	systemctl show -p "$1" --value $unit
}

property_is()
{
	[ "$(property "$1")" = "$2" ]
}

# ask GPUS GPUS: what both asked for in each minute of the last few, and of those to come.
ask()
{
	local now name gpus=$1 minute

	now=$(($(date +%s) / 60))
	for name in vision1 speech1; do
		{
			echo minute,quota_gpus,running_gpus,pending_gpus
			for ((minute = now - 3; minute < now + 30; minute++)); do
				echo "$minute,4,$gpus,0"
			done
		} >$demand/new
		mv $demand/new $demand/$name.csv
		gpus=$2
	done
}

# The clock goes forward to this second of a minute.
set_second()
{
	local now to

	now=$(date +%s)
	to=$((now / 60 * 60 + $1))
	[ $to -ge "$now" ] || to=$((to + 60))
	date -s "@$to" >/dev/null
}

exposure()
{
	systemd-analyze --no-pager security "$1" | sed -nE 's/.* exposure level for [^ ]+: ([0-9.]+) .*/\1/p'
}

is_at_most()
{
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a <= b) }'
}

# What it said itself.
journal()
{
	journalctl -q -o cat -u $unit _COMM=gpuctl
}

target_is()
{
	[ "$(systemctl is-active gpufabric.target)" = "$1" ]
}

steps_made()
{
	[ "$(journal | grep -c '^minute ')" -ge "$1" ]
}

step_in_metrics()
{
	sed -n 's/^gpufabric_plan_timestamp_seconds //p' $metrics
}

is_written_later()
{
	[ "$(step_in_metrics)" != "$written" ]
}

# Nothing that follows could go well.
give_up()
{
	note "$(journalctl -q -o cat -n 30 -u $unit)"
	bail_out "$*"
}

# Detaches wait while there is /run/hold; who was told of their end is written down.
make_hooks()
{
	mkdir -p $hooks/pre-detach.d $hooks/post-detach.d
	cat >$hooks/pre-detach.d/50-hold <<-'END'
		#!/bin/sh
		[ ! -e /run/hold ] || echo "$1" >>/run/held
		while [ -e /run/hold ]; do sleep 0.1; done
	END
	cat >$hooks/post-detach.d/50-tell <<-'END'
		#!/bin/sh
		echo "$GPUFABRIC_SLOT" >>/run/told
	END
	chmod 755 $hooks/*/50-*
}

is "$(systemctl is-system-running)" running "everything of the system has started"
check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "its target comes" wait_for 30 target_is active
check "the GPUs are known" gpuctl scan

note "with nothing to go by"
check "a start without a file" systemctl start $unit
is "$(property ConditionResult) $(property ActiveState)" "no inactive" "is none"
mkdir /etc/gpuctl
cat >/etc/gpuctl/plan.json <<-'END'
	{ "gpufabric_plan": 1, "intervals": 10, "interval_s": 60, "attach_s": 1, "detach_s": 1,
	  "workloads": [
	    { "name": "vision1", "kinds": [ "h100-pcie-80" ] },
	    { "name": "speech1", "kinds": [ "h100-pcie-80" ] } ] }
END
check "a start without a word of demand" systemctl start $unit
check "fails" wait_for 30 property_is ActiveState failed
is "$(property ExecMainStatus) $(property NRestarts)" "2 0" "for good"
like "$(journal)" 'plan.json:3:5: workload vision1 needs .*vision1.csv$' "and the journal says what is missing"
is "$(stat -c '%a %U' $demand)" "755 root" "where that belongs is made"

note "GPUs follow demand"
mkdir -p ${metrics%/*}
systemctl start gpufabric-metrics.service
check "metrics are written" test -e $metrics
check_fails "with no word of the planner" grep -q '^gpufabric_plan_' $metrics
mkdir -p /etc/systemd/system/gpufabric-measured.service.wants
ln -s "$(systemctl show -p FragmentPath --value gpufabric-metrics.service)" /etc/systemd/system/gpufabric-measured.service.wants/
systemctl daemon-reload
ask 3 1
set_second 45
check "the planner is wanted" systemctl enable --now $unit
check "who asks for GPUs gets them" wait_for 20 have "3 1" || give_up "the planner does nothing"
check "a step is in the metrics, although nothing measures demand" wait_for 30 grep -q '^gpufabric_plan_timestamp_seconds' $metrics
written=$(step_in_metrics)
set_second 58
check "and the next one, without a change of a GPU" wait_for 60 is_written_later
make_hooks
: >/run/hold
ask 1 3
check "in the next minute they begin to move" wait_for 60 test -s /run/held || give_up "nothing moves"
check "the planner is killed then" kill -9 "$(property MainPID)"
rm /run/hold
set_second 15
check "it is to be started anew" wait_for 20 property_is SubState auto-restart
is "$(have "3 1" && echo yes)" yes "nothing has moved"
others=$(exposure gpufabric-restore.service)
mine=$(exposure $unit)
note "$unit: exposure $mine"
check "it is exposed by no more than others that call hooks: $others" is_at_most "$mine" "$others"
check "it was" wait_for 45 property_is NRestarts 1
check "and they move" wait_for 20 have "1 3"
journal >/out/said
like "$(cat /out/said)" "1 +gpufabric-vm +vision1 +resize .* done +needs 1 GPU, has 3" "the journal has it"

note "a stop in the middle of a move"
: >/run/hold
rm -f /run/held /run/told
ask 3 1
check "they begin to move again" wait_for 60 test -s /run/held || give_up "nothing moves"
check "a stop" systemctl stop --no-block $unit
check "waits for the move" wait_for 20 property_is SubState stop-sigterm
rm /run/hold
check "is over" wait_for 30 property_is ActiveState inactive
is "$(property Result) $(property ExecMainStatus)" "success 0" "is clean"
is "$(xargs </run/held)" "pre-detach pre-detach" "nobody was told that it was given up"
is "$(wc -l </run/told)" 2 "all were told of its end"
check "nothing else has moved" have "1 1"
like "$(journal | tail -n 1)" "vision1 +resize .* not reached" "as the journal says"

note "with the module it goes, and it comes"
for name in vision1 speech1; do
	check "$name is released" gpuctl release $name
done
check "the module unloads" wait_for 20 rmmod gpufabric
steps=$(journal | grep -c '^minute ')
check "so does its target" wait_for 20 target_is inactive
check "it loads" modprobe gpufabric
check "the planner comes with it" wait_for 30 property_is ActiveState active || give_up "it does not start"
check "and makes a step, although no GPU is known yet" wait_for 30 steps_made $((steps + 1))
check "the module unloads" wait_for 20 rmmod gpufabric
check "the planner goes with it" wait_for 30 property_is ActiveState inactive
is "$(property Result)" success "which is no failure"
is "$(systemctl --failed --no-legend)" "" "nothing has failed"
check "the simulator unloads" wait_for 20 rmmod gpufabric_sim
finish
