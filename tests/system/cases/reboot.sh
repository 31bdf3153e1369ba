#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compositions over a reboot of the whole system: saved, brought back with the same
# slots, tenant, label, job and what is left of the lease; then, after a power cut, on
# a fabric that has lost a slot and a card. The kernel's own pciehp drives the slots, and
# finds the GPUs with power at each boot.
#
#   root port -- upstream -- 100 ... 105 with an h100-80 each
#
# system: -t 300

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"

file=/var/lib/gpuctl/compositions.json
kept=/root/kept.json

# at_boot SLOTS GPUS: what the simulator is when systemd loads the modules.
at_boot()
{
	echo "options gpufabric_sim mode=pciehp switches=1 slots=$1 gpus=$2" >/etc/modprobe.d/gpufabric.conf
	printf 'gpufabric_sim\ngpufabric\n' >/etc/modules-load.d/gpufabric.conf
	sync /etc/modprobe.d/gpufabric.conf /etc/modules-load.d/gpufabric.conf
}

# NAME=SLOT,SLOT... of each composition.
composed()
{
	gpuctl -j list | jq -r '[.compositions[] | "\(.name)=\(.slots | join(","))"] | sort | join(" ")'
}

ready()
{
	gpuctl -j list | jq '[.slots[] | select(.state == "ready")] | length'
}

all_ready()
{
	[ "$(ready)" = "$1" ]
}

# What a saved file says of the compositions, their leases and its own time apart.
terms()
{
	jq -S -c '[.compositions[] | del(.lease)] | sort_by(.name)' "$1"
}

lease()
{
	jq -r --arg name "$2" '.compositions[] | select(.name == $name).lease' "$1"
}

is_past()
{
	[ "$(date +%s%3N)" -gt "$1" ]
}

first_boot()
{
	at_boot 6 '*:h100-80'
	check "systemd loads the modules" systemctl restart systemd-modules-load || bail_out "no modules"
	check "the GPUs are ready" wait_for 30 all_ready 6
	check "a composition of two" gpuctl compose train --gpus 2 --tenant ml --label night --job 4711
	check "one with a lease" gpuctl compose serve --gpus 1 --for 8h --tenant web
	check "one without anything" gpuctl compose plain --gpus 1
	check "one that is soon over" gpuctl compose short --gpus 1 --for 1s
	check "one on the last slot" gpuctl compose last --gpus 1
	is "$(composed)" "last=105 plain=103 serve=102 short=104 train=100,101" "each has its slots"
	check "they are saved" gpuctl save
	cp "$file" "$kept"
	boot_again
}

# A saved file is the whole truth about compositions, so it is what is compared.
restored_as_kept()
{
	check "what is there now is saved elsewhere" gpuctl save /root/now.json
	is "$(terms /root/now.json)" "$(jq -c 'del(.compositions[] | select(.name == "short"))' "$kept" |
		terms /dev/stdin)" "the same slots, GPUs, tenants, labels, jobs and owners"
}

second_boot()
{
	local ends left

	check "systemd has loaded the modules" systemctl is-active systemd-modules-load
	check "the GPUs are ready again" wait_for 30 all_ready 6
	is "$(composed)" "" "nothing is composed"
	check "the file is what it was" cmp "$file" "$kept"
	# As if the system had been off for so long.
	date -s '+1 hour' >/dev/null
	check "the short lease is over" wait_for 30 is_past "$(lease "$kept" short)"
	check "what was saved is restored" gpuctl restore
	is "$(composed)" "last=105 plain=103 serve=102 train=100,101" "but for what was over"
	restored_as_kept
	ends=$(lease "$kept" serve)
	left=$((($(lease /root/now.json serve) - ends) / 1000))
	check "the lease ends when it would have ended" [ "$left" -ge -600 -a "$left" -le 600 ]
	note "the lease moved by $left s; an hour would be a lease that began anew"
	is "$(gpuctl history | grep -c ' attach ')" 0 "no GPU was powered anew"
	check "a second restore changes nothing" gpuctl restore
	is "$(composed)" "last=105 plain=103 serve=102 train=100,101" "nothing at all"
	check "all is saved again" gpuctl save
	at_boot 5 '*:h100-80,0.2:none'
	boot_again cut
}

third_boot()
{
	local error rc=0

	check "the file is whole after the power cut" jq -e '.compositions | length == 4' "$file"
	check "the GPUs that are left are ready" wait_for 30 all_ready 4
	error=$(gpuctl restore 2>&1 >/root/restored) || rc=$?
	is $rc 1 "not all can be restored"
	like "$error" "last: slot 105 does not exist any more" "the slot that is gone is named"
	like "$error" "serve: .*102" "so is the one that is empty"
	like "$error" "2 of 4 compositions could not be restored" "they are counted"
	is "$(composed)" "plain=103 train=100,101" "the rest is restored"
	is "$(sort /root/restored | xargs)" "restored plain restored train" "and named"
	is "$(gpuctl -j show train | jq -c '[.. | objects | select(has("tenant")) | .tenant, .label, .job]')" \
		'["ml","night","4711"]' "with all that it had"
	check "and can be released" gpuctl release train
	finish
}

case $PHASE in
1) first_boot ;;
2) second_boot ;;
3) third_boot ;;
esac
