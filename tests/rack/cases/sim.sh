#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cards of our simulator move between two hosts: gpufabric-fm's driver "sim" with an agent in each
# host. What the simulators have, what the manager says and what the modules say is one thing.

# shellcheck disable=SC2154,SC2016,SC2317 # tests/rack/all sets $top, $build, $rack; guests expand; wait_for calls
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"
# shellcheck source=tests/rack/sim.sh
. "$top/tests/rack/sim.sh"

# views HOST: by the simulator, the manager, the module.
views()
{
	echo "$(cards_of "$1") / $(in_zone "$1") / $(ready_of "$1")"
}

# in_views WORDS...: the same thrice
in_views()
{
	echo "$* / $* / $*"
}

zone_is()
{
	[ "$(in_zone "$1")" = "$2" ]
}

pool_is_free()
{
	[ "$(on a gpuctl -j fabric | jq '[.pool[] | select(.state == "free")] | length')" -eq 3 ]
}

sim_start a 3
sim_start b 3
check "host a boots" rack_await a || bail_out "no host"
check "host b boots" rack_await b || bail_out "no host"
for host in a b; do
	check "$host: modules and agent" sim_begin $host 3 || bail_out "no simulator"
done
check "the manager starts" fm_start a:3 b:3 -- gpu0 gpu1 gpu2 || bail_out "no manager"
for host in a b; do
	check "$host: it is told of the manager" fm_introduce $host
done
check "both agents answer" wait_for 60 pool_is_free || bail_out "no agents"

check "a composes 150 GiB: two GPUs of the pool" on a gpuctl compose train --memory 150G
is "$(views a)" "$(in_views gpu0 gpu1)" "a: by its simulator, the manager and the module"
status=0
on b gpuctl compose serve --memory 150G >/dev/null 2>&1 || status=$?
is "$status" 3 "b asks for as much where one is free"
is "$(views b)" "$(in_views)" "and has none"
check "b composes one" on b gpuctl compose serve --gpus 1
is "$(views b)" "$(in_views gpu2)" "b: everybody agrees"
check "a gives back" on a gpuctl release train
is "$(views a)" "$(in_views)" "a has none"
check "b grows to three" on b gpuctl resize serve --gpus 3
is "$(views b)" "$(in_views gpu0 gpu1 gpu2)" "the same cards are in b now"

fm_stop KILL
on b 'kill -9 "$(cat /run/sim-agent.pid)"'
check "manager and agent are killed; the manager comes back" fm_run
is "$(on a gpuctl -j fabric | jq -r '[.pool[] | select(.state == "free")] | length')" 0 "nothing is free while an agent does not answer"
sim_agent b
check "it knows from the simulators who has what" wait_for 60 zone_is b "gpu0 gpu1 gpu2"
check "b lets one go" on b gpuctl resize serve --gpus 2
check "a takes it" on a gpuctl attach 102
is "$(views a | wc -w)" 5 "it is one in each view"

on a dmesg >"$rack/a.dmesg"
rack_cut a
status=0
on b gpuctl resize serve --gpus 3 >/dev/null 2>&1 || status=$?
is "$status" 3 "what a dead host had is not free"
check "the admin says that it is off" wait_for 60 "$build/gpufabric-fm" -c "$fm_folder" -r "$fm_folder/run" evict a
check "b takes it" on b gpuctl resize serve --gpus 3
is "$(views b)" "$(in_views gpu0 gpu1 gpu2)" "and has all"
check "b releases" on b gpuctl release serve
is "$(views b)" "$(in_views)" "the pool is whole"
fm_stop TERM
rack_end b
check "a: its kernel had no complaint" "$top/tests/vm/klog" -f "${KERNEL:-6.1}" "$rack/a.dmesg"
finish
