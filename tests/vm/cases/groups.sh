#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Groups of GPUs with links of their own, as the admin declares them: what is taken, who is
# at risk, and where that is shown. How choices compare is in unit/choose_test.c.
#
#   sim0-0 ... sim0-3  group nvl0    sim0-4, sim0-5  group nvl1    sim0-6, sim0-7  none
#
# in turn: one command after the other

. "$TESTS/vm/lib.sh"

slots_of() { gpuctl -j show "$1" | jq -r '.composition.slots | join(" ")'; }

modprobe gpufabric_sim mode=own switches=1 'gpus=*:h100-80'
check "the module loads" modprobe gpufabric
mkdir -p /etc/gpuctl/slots.d
printf 'sim0-[0-3] group=nvl0\nsim0-[45] group=nvl1\n' >/etc/gpuctl/slots.d/groups.conf
is "$(gpuctl -j list | jq -r '.slots | map(.group // "-") | join(" ")')" "nvl0 nvl0 nvl0 nvl0 nvl1 nvl1 - -" "list has them"
like "$(gpuctl list)" ' GROUP ' "in a column"
is "$(gpuctl -j show sim0-4 | jq -r .slot.group)" nvl1 "show"
is "$(gpuctl -j topo | jq -r '.switches[0].slots | map(.group // "-") | join(" ")')" "nvl0 nvl0 nvl0 nvl0 nvl1 nvl1 - -" "topo"
like "$(gpuctl -n compose pair --gpus 2)" 'sim0-4 sim0-5' "two are a pair"
like "$(gpuctl -n compose four --gpus 4)" 'whole group nvl0' "four are the four, which is said"
check "one" gpuctl compose one --gpus 1
is "$(slots_of one)" sim0-6 "is none of a group"
check "release" gpuctl release --keep one
like "$(gpuctl -n detach sim0-1)" 'also at risk, in the same group: nvl0: sim0-0, sim0-2, sim0-3$' "detach names the others of the group"
is "$(gpuctl -j -n detach sim0-1 sim0-4 | jq -r '.partners | join(" ")')" \
	"nvl0: sim0-0, sim0-2, sim0-3; nvl1: sim0-5" "of each group, in JSON too"
is "$(gpuctl -j -n detach sim0-4 sim0-5 sim0-6 | jq -r '.partners // "none"')" none "and nobody where it goes as a whole"
check "detach" gpuctl detach sim0-4
is "$(gpuctl -j -n detach sim0-5 | jq -r '.partners // "none"')" none "nor who is off already"
rm -r /etc/gpuctl/slots.d
check_rc 2 "all and a slot are too much" gpuctl detach --all sim0-1
check "a composition" gpuctl compose held --gpus 1
check_rc 4 "detach --all stops at one" gpuctl detach --all
check "--force goes on" gpuctl detach --all --force
is "$(gpuctl -j list | jq -r '.slots | map(.state) | unique | join(" ")')" off "and all GPUs are off"
check "a second time there is nothing to do" gpuctl detach --all
check "release" gpuctl release held
check "some come again" gpuctl attach sim0-0 sim0-1 sim0-2
echo remove-block >"$SIM/slot0.1/driver"
check_rc 7 "the driver of one does not let go" gpuctl detach --timeout 1s sim0-1
check "detach --all does not wait for it" gpuctl detach --all
is "$(gpuctl -j list | jq -r '.slots[:3] | map(.state) | join(" ")')" "off stuck off" "the others are off"
echo remove-release >"$SIM/slot0.1/driver"
check "it has come back" gpuctl watch until sim0-1 off --timeout 30s
check "unload" wait_for 10 rmmod gpufabric
finish
