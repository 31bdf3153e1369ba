#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl save and restore: over an upgrade of the module, which leaves GPUs attached
# and in use; over a new start of everything; with slots and cards that are no longer
# what they were; and with files that are not what save wrote.
#
#   root port -- upstream -- sim0-0 ... sim0-5 with an h100-80 each, off
#
# in turn: one command after the other
# vm: -t 240

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

file=/var/lib/gpuctl/compositions.json
mkdir -p /var/lib

load()
{
	modprobe gpufabric_sim mode=own switches=1 latency_ms=5 "$@" && modprobe gpufabric
}

unload()
{
	wait_for 10 rmmod gpufabric && rmmod gpufabric_sim
}

# NAME=SLOT,SLOT... of each composition.
composed()
{
	gpuctl -j list | jq -r '[.compositions[] | "\(.name)=\(.slots | join(","))"] | sort | join(" ")'
}

fields()
{
	gpuctl -j show "$1" | jq -c "[.. | objects | select(has(\"tenant\")) | .tenant, .label, .job, .owner]"
}

check "the modules load" load slots=6 'gpus=*:h100-80:off' || bail_out "no modules"
check "the GPUs are known" gpuctl scan
check "a composition of two" gpuctl compose train --gpus 2 --tenant ml --label night --job 4711
check "and one of one, with a lease" gpuctl compose serve --gpus 1 --for 8h
before=$(composed)
fields=$(fields train)

note "the file"
check "what is composed is saved" gpuctl save
is "$(stat -c %a:%U $file)" 600:root "for root alone"
is "$(jq -r '[.gpufabric, (.compositions[] | .name)] | join(" ")' $file)" "1 serve train" "as JSON"
is "$(jq -c '.compositions[] | select(.name == "train").slots[0] | [.slot, .vendor, .subsystem_device, .serial]' $file)" \
	'["sim0-0",26471,9009,"6767010000000000"]' "with what tells whether GPUs are the same"
cp $file /tmp/good.json
is "$(gpuctl -n save)" "would write 2 compositions to $file" "a dry run says what it would do"
mkdir /tmp/small
mount -t tmpfs -o size=4k tmpfs /tmp/small
cp $file /tmp/small/saved.json
error=$(gpuctl save /tmp/small/saved.json 2>&1)
is $? 1 "a disk that is full is an error"
like "$error" "cannot write /tmp/small/saved.json: No space left on device" "that is named"
is "$(cmp $file /tmp/small/saved.json; ls -A /tmp/small)" saved.json "the old file stays, and nothing else"
check_fails "a directory that does not exist" gpuctl save /tmp/nosuch/file

note "an upgrade of the module"
exec 9</dev/gpufabric-sim/sim0-0
check "what exists already is left alone" gpuctl restore
is "$(composed)" "$before" "as it was"
check "claims end, GPUs stay" gpuctl release --keep train
check "both" gpuctl release --keep serve
check "the module goes" wait_for 10 rmmod gpufabric
check "and comes" modprobe gpufabric
like "$(gpuctl -n restore)" "would restore train" "a dry run says what it would do"
is "$(composed)" "" "and does nothing"
check "what was saved is restored" gpuctl restore
is "$(composed)" "$before" "with the same slots"
is "$(fields train)" "$fields" "for the same tenant, label, job and owner"
like "$(head -c 7 <&9)" h100-80 "the GPU that was in use all the time still is"
exec 9<&-
is "$(gpuctl history | grep -c ' attach ')" 0 "none was powered anew"

note "GPUs that somebody else has"
check "its claims end" gpuctl release train
check "both" gpuctl release serve
check "another composition has two of the three" gpuctl compose most --gpus 2
check_rc 4 "a dry run is refused" gpuctl -n restore
like "$(gpuctl -n restore 2>&1)" "(train|serve): .*the slot is claimed by a composition" "and says why"
check_rc 4 "as it is without -n" gpuctl restore
check_rc 1 "a dry run of compose, as the name is taken" gpuctl -n compose most --gpus 1
gpuctl release train >/dev/null 2>&1
gpuctl release serve >/dev/null 2>&1
check "all of that goes" gpuctl release most

note "a new start of everything"
check "all modules go" unload
check "and come" load slots=6 'gpus=*:h100-80:off'
check "what was saved is restored" gpuctl restore
is "$(composed)" "$before" "with the same slots, attached"
is "$(gpuctl -j list | jq '[.slots[] | select(.state == "ready")] | length')" 3 "and no others"

note "a fabric that is not what it was"
gpuctl release train >/dev/null
gpuctl release serve >/dev/null
check "all modules go" unload
check "and come with another GPU in a slot" load slots=6 'gpus=*:h100-80:off,0.1:l40s:off'
error=$(gpuctl restore 2>&1 >/dev/null)
is $? 1 "one cannot be restored"
like "$error" "train: its claims are given back: .*sim0-1" "it is named, with the slot"
like "$error" "1 of 2 compositions could not be restored" "and counted"
is "$(composed)" "serve=sim0-2" "the other is there"
is "$(gpuctl -j list | jq -r '.slots[0].state')" off "nothing is left of the one"
gpuctl release serve >/dev/null
check "all modules go" unload
check "and come with fewer slots" load slots=2 'gpus=*:h100-80:off'
like "$(gpuctl restore 2>&1 >/dev/null)" "serve: slot sim0-2 does not exist any more" "a slot that is gone is named"
is "$(composed)" "train=sim0-0,sim0-1" "the other composition is there"
gpuctl release train >/dev/null
check "another card of the same kind" sh -c "echo h100-80 >$SIM/slot0.1/model"
like "$(gpuctl restore 2>&1 >/dev/null)" "train: slot sim0-1 holds another GPU of that kind: serial 6767010100000001" \
	"is worth a warning"
gpuctl release train >/dev/null

note "leases"
jq '.compositions[].lease = 1000' /tmp/good.json >/tmp/over.json
like "$(gpuctl restore /tmp/over.json)" "train: its lease is over" "what is over is not restored"

year=$((365 * 24 * 3600))
now=$(date +%s)
jq --argjson now "$now" '.saved = $now * 1000 | .compositions = [.compositions[] | select(.name == "train") | .lease = ($now + 3600) * 1000]' \
	/tmp/good.json >/tmp/hour.json
date -s "@$((now - year))" >/dev/null
check "a clock that is a year late" gpuctl restore /tmp/hour.json
is "$(gpuctl -j show train | jq --argjson now "$(date +%s)" '.composition.lease / 1000 - $now | . > 3400 and . <= 3601')" true \
	"makes no lease of an hour longer"
gpuctl release train >/dev/null
date -s "@$((now + 7200))" >/dev/null
like "$(gpuctl restore /tmp/hour.json)" "train: its lease is over" "two hours later it is over"
date -s "@$now" >/dev/null

# refused "description" CONTENT REGEX: nothing comes of such a file.
refused()
{
	local error

	printf '%s' "$2" >/tmp/bad.json
	error=$(gpuctl restore /tmp/bad.json 2>&1)
	is $? 1 "$1 is refused"
	like "$error" "^gpuctl: /tmp/bad.json: $3" "$1: and why"
	is "$(composed)" "" "$1: nothing is composed"
}

note "files"
good=$(jq -c . /tmp/good.json)
refused "an empty file" "" "is corrupt: it ends too early"
refused "half a file" "${good:0:100}" "is corrupt: it ends too early"
refused "more than a file" "$good {}" "is corrupt"
refused "text" "hello" "is corrupt: it is not JSON"
refused "other JSON" '[1, 2]' "is not what gpuctl save writes"
refused "a file of a newer gpuctl" "${good/\"gpufabric\":1/\"gpufabric\":2}" \
	"was written by a newer gpuctl \(format 2, this one knows 1\)"
refused "a name that is none" "${good/\"train\"/\"tra in\"}" "a composition has no valid name"
refused "a composition without slots" '{"gpufabric":1,"compositions":[{"name":"a","slots":[]}]}' "a has 0 slots"
refused "a number out of range" '{"gpufabric":1,"compositions":[{"name":"a","slots":[{"slot":"sim0-0","vendor":70000}]}]}' \
	'"vendor" is out of range'
check_rc 1 "a file that is not there" gpuctl restore /tmp/nosuch.json

check "all modules go" unload
finish
