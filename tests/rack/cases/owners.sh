#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two hosts take GPUs of one pool from each other, by gpuctl, gpufabric-fm and pciehp: a
# GPU is in one host or in none, whoever fails.

# shellcheck disable=SC2154,SC2016,SC2317 # tests/rack/all sets $top, $build, $rack; guests expand; wait_for calls
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"

state()
{
	on "$1" gpuctl -j list | jq -r ".slots[] | select(.slot == \"$2\") | .state"
}

rack_start a 3
rack_start b 3
check "host a boots" rack_await a || bail_out "no host"
check "host b boots" rack_await b || bail_out "no host"
check "the manager starts" fm_start a:3 b:3 -- gpu0 gpu1 || bail_out "no manager"
"$top/tests/rack/ledger" "$rack" "$fm_url" "a=${rack_port[a]}" "b=${rack_port[b]}" -- gpu0 gpu1 >"$rack/ledger.out" 2>&1 &
ledger=$!
rack_others+=("$ledger")
for host in a b; do
	check "$host: the module loads" on $host modprobe gpufabric
	check "$host: it is told of the manager" fm_introduce $host
done
like "$(on a gpuctl fabric)" 'gpu0 .*free' "a host sees what is free"

# --- one GPU moves from host to host --------------------------------------------------------
check "a takes a GPU" on a gpuctl attach 101
is "$(gpus_of a) $(state a 101)" "gpu0 ready" "QEMU and the module agree that it is there"
like "$(on b gpuctl fabric)" 'gpu0 .* a( |$)' "b sees who has it"
check "b takes the other" on b gpuctl attach 102
is "$(gpus_of b) $(state b 102)" "gpu1 ready" "which is there"
status=0
said=$(on b gpuctl attach 101) || status=$?
is "$status" 3 "a third is refused"
like "$said" 'none .*free|no GPU .*free|free' "with the reason"
check "a gives its GPU back" on a gpuctl detach 101
is "$(gpus_of a)$(in_zone a)" "" "nobody says that it has one"
check "b takes it" on b gpuctl attach 101
is "$(gpus_of b)" "gpu0 gpu1" "both are in b"
check "b gives both back" on b gpuctl detach 101 102
is "$(gpus_of b)$(in_zone b)" "" "the pool is whole"

# --- all or none ------------------------------------------------------------------------------
check "a takes one" on a gpuctl attach 103
status=0
said=$(on b gpuctl attach 101 102) || status=$?
is "$status" 3 "b asks two where one is free"
is "$(gpus_of b)$(in_zone b)" "" "and has none"
check "b takes the one" on b gpuctl attach 101
check "b gives it back" on b gpuctl detach 101

# --- both at once -----------------------------------------------------------------------------
on a gpuctl attach 101 >"$rack/a.try" 2>&1 &
one=$!
on b gpuctl attach 101 >"$rack/b.try" 2>&1 &
other=$!
won=0
wait "$one" && won=$((won + 1))
wait "$other" && won=$((won + 1))
is "$won" 1 "two ask for the last one at once: one has it" || sed 's/^/#   /' "$rack/a.try" "$rack/b.try"
for host in a b; do
	on $host 'gpuctl detach 101 103' >/dev/null || on $host 'gpuctl detach 101; gpuctl detach 103' >/dev/null
done
is "$(gpus_of a)$(gpus_of b)$(in_zone a)$(in_zone b)" "" "all is given back"

# --- the manager dies -------------------------------------------------------------------------
check "a has one" on a gpuctl attach 101
fm_stop KILL
status=0
said=$(on b gpuctl attach 101) || status=$?
check_fails "b gets none from a dead manager" test "$status" -eq 0
is "$(state a 101)" ready "a's GPU is not touched"
check "the manager comes back" fm_run
is "$(in_zone a)" gpu0 "and knows from the fabric who has what"
check "b takes the other" on b gpuctl attach 101
is "$(gpus_of a) $(gpus_of b)" "gpu0 gpu1" "each has one"

# --- a host dies ------------------------------------------------------------------------------
rack_cut a
status=0
said=$(on b gpuctl attach 102) || status=$?
is "$status" 3 "what a dead host had is not free"
check "the admin says that it is off" "$build/gpufabric-fm" -c "$fm_folder" -r "$fm_folder/run" evict a
check "b takes what it had" on b gpuctl attach 102
is "$(gpus_of b)" "gpu0 gpu1" "and has both"
kill "$ledger"
check "no GPU was twice, none was lost, by QEMU, the manager and the modules" wait "$ledger"
sed 's/^/# /' "$rack/ledger.out"
check "b gives both back" on b gpuctl detach 101 102
fm_stop TERM
rack_end b
finish
