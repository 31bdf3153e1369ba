#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compositions of two hosts from one pool; a manager that hangs, and one that is gone in the
# middle of a request.

# shellcheck disable=SC2154,SC2016,SC2317 # tests/rack/all sets $top, $build, $rack; guests expand; wait_for calls
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"

members()
{
	on "$1" gpuctl -j list | jq -r --arg name "$2" '[.slots[] | select(.composition == $name) | .slot] | length'
}

# said STATUS COMMAND...: the output is in $said, for what has to end so.
ends()
{
	local status=0 want=$1
	shift

	said=$("$@") || status=$?
	[ "$status" -eq "$want" ] || echo "status $status: $said"
	[ "$status" -eq "$want" ]
}

is_whole()
{
	[ -z "$(gpus_of a)$(gpus_of b)$(in_zone a)$(in_zone b)" ]
}

is_ready()
{
	[ "$(on "$1" gpuctl -j list | jq -r --arg slot "$2" '.slots[] | select(.slot == $slot) | .state')" = ready ]
}

has_none()
{
	[ -z "$(gpus_of "$1")" ]
}

has_one()
{
	[ "$(gpus_of "$1" | wc -w)" -eq 1 ]
}

has_gpu()
{
	[ -n "$(gpus_of "$1")" ]
}

rack_start a 3
rack_start b 3
check "host a boots" rack_await a || bail_out "no host"
check "host b boots" rack_await b || bail_out "no host"
check "the manager starts" fm_start a:3 b:3 -- gpu0 gpu1 gpu2 || bail_out "no manager"
"$top/tests/rack/ledger" "$rack" "$fm_url" "a=${rack_port[a]}" "b=${rack_port[b]}" -- gpu0 gpu1 gpu2 >"$rack/ledger.out" 2>&1 &
ledger=$!
rack_others+=("$ledger")
for host in a b; do
	check "$host: the module loads" on $host modprobe gpufabric
	check "$host: it is told of the manager" fm_introduce $host
done

# --- compositions take what is missing from the pool -----------------------------------------
check "a composes two GPUs of the pool" on a gpuctl compose train --gpus 2
is "$(members a train) $(gpus_of a)" "2 gpu0 gpu1" "which QEMU has there"
check "b asks two and is told what is free" ends 3 on b gpuctl compose serve --gpus 2
like "$said" 'free' "with the reason"
is "$(gpus_of b)$(in_zone b)" "" "b has none"
check "b composes one" on b gpuctl compose serve --gpus 1
check "a gives one back" on a gpuctl resize train --gpus -1
wait_for 20 has_one a || :
is "$(members a train) $(gpus_of a | wc -w) $(in_zone a | wc -w)" "1 1 1" "everybody agrees on that"
check "b releases, and composes two" on b 'gpuctl release serve && gpuctl compose serve --gpus 2'
is "$(members b serve) $(gpus_of b | wc -w)" "2 2" "one of them is what a gave back"
check "a asks for one more, and none is free" ends 3 on a gpuctl resize train --gpus +1
like "$said" 'free' "with the reason"
is "$(members a train) $(gpus_of a | wc -w)" "1 1" "and keeps what it had"
check "b gives one back" on b gpuctl resize serve --gpus -1
check "a would get it" on a gpuctl resize train --gpus 2 -n
is "$(members a train)" 1 "which changes nothing"
check "a grows by it" on a gpuctl resize train --gpus 2
is "$(members a train) $(gpus_of a | wc -w)" "2 2" "it is there"
check "and shrinks again" on a gpuctl resize train --gpus 1
check "a keeps its GPU attached" on a gpuctl release train --keep
is "$(gpus_of a | wc -w) $(in_zone a | wc -w)" "1 1" "and bound"
check "a composes what it has, and asks nobody" on a gpuctl compose again --gpus 1
check "a releases that" on a gpuctl release again
check "b releases its own" on b gpuctl release serve
check "the pool is whole" is_whole

# --- two requests of one host at once -----------------------------------------------------------
on a gpuctl attach 101 >"$rack/a.try" 2>&1 &
waits=$!
check "one of two requests at once for two slots has its GPU" on a gpuctl attach 102
check "the other one as well" wait "$waits" || sed 's/^/#   /' "$rack/a.try"
is "$(gpus_of a | wc -w) $(in_zone a | wc -w)" "2 2" "they are two GPUs"
check "both go back" on a gpuctl detach 101 102
kill -STOP "$fm_pid"
on a gpuctl attach 101 >"$rack/a.try" 2>&1 &
waits=$!
wait_for 20 on a 'pidof fabric-redfish' || :
check "a second request for the same slot is refused" ends 4 on a 'gpuctl attach 101 2>&1'
like "$said" 'slot 101: another request is bringing or removing its GPU' "with the reason"
kill -CONT "$fm_pid"
check "the first one has its GPU" wait "$waits" || sed 's/^/#   /' "$rack/a.try"
is "$(gpus_of a | wc -w) $(in_zone a | wc -w)" "1 1" "and nobody gave it back"
check "it goes back" on a gpuctl detach 101
check "a GPU is bound, which pciehp powers" on a gpuctl fabric bind any:1
check "it is ready" wait_for 60 is_ready a 101
check "somebody powers the slot off" on a 'echo 0 >/sys/bus/pci/slots/101/power'
check "QEMU takes the GPU out" wait_for 30 has_none a
is "$(in_zone a | wc -w)" 1 "it is bound still"
check "detach of a slot that is off gives it back" on a gpuctl detach 101
check "the pool is whole" is_whole

# --- a manager that hangs ---------------------------------------------------------------------
check "a has a GPU" on a gpuctl attach 101
kill -STOP "$fm_pid"
on a gpuctl attach 102 >"$rack/a.try" 2>&1 &
waits=$!
check "while one request waits for the manager others go on" on a 'gpuctl list && gpuctl compose here --gpus 1 && gpuctl release here --keep'
kill -CONT "$fm_pid"
check "the one that waited has its GPU" wait "$waits" || sed 's/^/#   /' "$rack/a.try"
check "and gives both back" on a gpuctl detach 101 102
check "the pool is whole" is_whole

# --- a manager that is gone in the middle -----------------------------------------------------
kill -STOP "$fm_pid"
on a gpuctl attach 101 >"$rack/a.try" 2>&1 &
waits=$!
wait_for 20 on a 'pidof fabric-redfish' || :
fm_stop KILL
check "it comes back" fm_run
wait "$waits" && on a gpuctl detach 101 >/dev/null
check "whatever was said, the pool is whole afterwards" wait_for 30 is_whole || sed 's/^/#   /' "$rack/a.try"

# --- a gpuctl that is killed ------------------------------------------------------------------
on a gpuctl attach 101 >"$rack/a.try" 2>&1 &
waits=$!
wait_for 60 has_gpu a || :
on a 'kill -9 $(pidof gpuctl)' >/dev/null || :
wait "$waits" || :
check "the GPU is attached, by pciehp, which nobody has to ask" wait_for 60 is_ready a 101
like "$(on a gpuctl reap)" '^nothing to reap$' "which is not unused for long"
check "the admin has less patience" on a "sed -i '/^driver/a return_after = 1s' /etc/gpuctl/fabric.d/rack.conf"
like "$(on a 'sleep 1; gpuctl reap -n')" 'would detach 101' "it would be given back then"
is "$(gpus_of a | wc -w)" 1 "which changes nothing"
like "$(on a gpuctl reap)" 'detached and given back: 101' "and it is"
check "the pool is whole" wait_for 30 is_whole
check "a composes one" on a gpuctl compose job --gpus 1
like "$(on a 'sleep 1; gpuctl reap')" '^nothing to reap$' "what a composition has stays"
check "it is released" on a gpuctl release job

# --- reap beside a request that is on its way ---------------------------------------------------
kill -STOP "$fm_pid"
on a gpuctl attach 102 >"$rack/a.try" 2>&1 &
waits=$!
wait_for 20 on a 'pidof fabric-redfish' || :
on a gpuctl reap >"$rack/a.reap" 2>&1 &
reaps=$!
nap 1000
kill -CONT "$fm_pid"
check "the request has its GPU" wait "$waits" || sed 's/^/#   /' "$rack/a.try"
wait "$reaps" || :
is "$(gpus_of a | wc -w)" 1 "whatever reap saw" || sed 's/^/#   /' "$rack/a.reap"
check "it is given back" on a gpuctl detach 102
check "the pool is whole" wait_for 30 is_whole

kill "$ledger"
check "no GPU was twice, none was lost, by QEMU, the manager and the modules" wait "$ledger"
sed 's/^/# /' "$rack/ledger.out"
fm_stop TERM
rack_end a b
finish
