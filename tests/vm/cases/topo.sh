#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl topo: the tree, which GPUs are peers and why, and the pictures.
#
#   root port 10000:00:00.0 -- switch 0 -- sim0-0 ... sim0-3 with an h100-80 each
#   root port 10000:00:01.0 -- switch 1 -- sim1-0 ... sim1-3, the same
#   root port 10001:00:00.0 -- switch 2 -- sim2-0 ... sim2-3, the same, another host bridge
#
# in turn: one command after the other
# vm: -t 180

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

load()
{
	modprobe gpufabric_sim mode=own switches=3 slots=4 domains=2 latency_ms=5 'gpus=*:h100-80' "$@" && modprobe gpufabric
}

unload()
{
	wait_for 10 rmmod gpufabric && rmmod gpufabric_sim
}

# peers FROM TO: verdict and reason
peers()
{
	gpuctl -j topo --pairs | jq -r --arg from "$1" --arg to "$2" \
		'.pairs[] | select(.from == $from and .to == $to) | "\(.p2p): \(.reason)"'
}

check "the modules load" load || bail_out "no modules"
is "$(gpuctl -j topo | jq '[.switches[] | .slots | length] | add')" 12 "all slots are in the tree"
is "$(gpuctl -j topo --pairs | jq '.pairs | length')" 66 "and all pairs"
is "$(peers sim0-0 sim0-1)" "yes: forwarded by the switch, no ACS redirect" "two GPUs of a switch"
is "$(peers sim0-0 sim1-0)" "slow: through the root complex" "of two switches at one host bridge"
is "$(peers sim0-0 sim2-0)" "no: between two host bridges" "at two host bridges"
check "ACS of one port is turned on" setpci -s 10000:02:01.0 ECAP_ACS+6.w=c:c
is "$(peers sim0-0 sim0-1)" "slow: the ACS of port 10000:02:01.0 redirects to the root complex" "its GPU is no near peer"
is "$(peers sim0-0 sim0-2)" "yes: forwarded by the switch, no ACS redirect" "others still are"
is "$(su nobody -s /bin/bash -c "gpuctl -j topo --pairs" | jq -r '.pairs[0].p2p')" unknown \
	"who may not read the configuration is told so"

note "near peers required"
others=()
for slot in sim{1,2}-{0..3}; do
	others+=(--exclude "$slot")
done
like "$(gpuctl -n compose near --gpus 3 --p2p required "${others[@]}")" 'would get sim0-0 sim0-2 sim0-3;' "those without a redirect"
is "$(gpuctl compose near --gpus 4 --p2p required "${others[@]}" 2>&1)" \
	"gpuctl: asked 4, free 4: 4 H100 PCIe (sim); near peers are at most 3 (gpuctl topo --pairs); not free: 8 excluded" \
	"what there is"
check_rc 3 "does not fit" gpuctl compose near --gpus 4 --p2p required "${others[@]}"
check_rc 2 "another word than required" gpuctl compose near --gpus 2 --p2p slow
check_rc 5 "who may not read the configuration" su nobody -s /bin/bash -c "gpuctl -n compose near --gpus 2 --p2p required"
check "two" gpuctl compose near --gpus 2 --p2p required "${others[@]}" --exclude sim0-0
like "$(gpuctl -n resize near --gpus +1 --p2p required)" 'would add sim0-0' "one more, near those"
check_rc 3 "two more there are not" gpuctl resize near --gpus +2 --p2p required
check "they are released" gpuctl release near

note "pictures"
check "a composition" gpuctl compose train70b --gpus 2
check "SVG" gpuctl topo --svg /out/topo.svg
is "$(head -c 4 /out/topo.svg)$(tail -n 1 /out/topo.svg)" "<svg</svg>" "is a whole document"
is "$(grep -c '>sim[0-9]-[0-9]<' /out/topo.svg)" 12 "with a box for each slot"
is "$(grep -c 'train70b, ready' /out/topo.svg)" 2 "and what is composed"
is "$(gpuctl topo --svg - | cmp - /out/topo.svg && echo same)" same "goes to standard output as well"
check "DOT" gpuctl topo --dot /out/topo.dot
is "$(grep -c -- ' -- ' /out/topo.dot)" 12 "has an edge for each slot"
check_rc 1 "a file that cannot be written" gpuctl topo --svg /nosuch/file.svg
check_rc 1 "a disk that is full" gpuctl topo --svg /dev/full
check "the composition ends" gpuctl release train70b
check "the modules unload" unload

note "ACS everywhere"
check "the modules load" load acs=1
like "$(peers sim1-0 sim1-3)" "^slow: the ACS of port 10000:0[0-9a-f]:0[03].0 redirects" "no two GPUs are near peers"
check "the modules unload" unload
finish
