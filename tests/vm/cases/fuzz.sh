#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages to the netlink family that no reasonable client sends, among those
# that it does: tests/netlink-fuzz. "make fuzz-netlink" is the long run.
#
#   fuzz.sh [-s SEED] [-n MESSAGES]
#
#   root port -- upstream -- 4 slots with an h100-80 each, off
#             -- upstream -- 3 slots with an l40s each, on, and an empty one
#
# in turn: one command after the other
# before: tests/netlink-fuzz/build
# vm: -t 200 -f build/netlink-fuzz/gffuzz
# long: -k debug-6.1 -t 7200 -a "kmemleak=off no_debug_objects"
#
# The long run is for what KASAN, UBSAN and lockdep see. Who looks for leaks and at the
# life of timers and works costs half of its time, and does so in
# "tests/vm/debug fuzz".

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

arguments=(-s 1 -n 20000)
[ $# -eq 0 ] || arguments=("$@")

sent()
{
	"$TESTS/gffuzz" -s "$1" -n 300
}

check "the simulator loads" modprobe gpufabric_sim mode=own switches=2 slots=4 latency_ms=0 \
	'gpus=0.*:h100-80:off,1.*:l40s:on,1.3:none' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric || bail_out "no module"
check "a first run" sent 3 || bail_out "the rest would say nothing"
first=$(grep '^# sent ' "$check_log")
check "another one" sent 3 || bail_out "the rest would say nothing"
is "$(grep '^# sent ' "$check_log")" "$first" "sends the same with the same seed"
check "one with another seed" sent 4 || bail_out "the rest would say nothing"
cp "$check_log" /tmp/other
check_fails "sends something else" grep -q "^$first" /tmp/other
check "every message is answered as it should be" "$TESTS/gffuzz" "${arguments[@]}" ||
	bail_out "the rest would say nothing"
cp "$check_log" /out/fuzz.log
grep -E '^# (count .*|seed [0-9]+)$' /out/fuzz.log
note "note netlink-fuzz.seed $(sed -n 's/^# seed //p' /out/fuzz.log)"
check "gpufabric unloads" wait_for 10 rmmod gpufabric
check "the simulator unloads" wait_for 10 rmmod gpufabric_sim
check "the kernel has warned of nothing" untainted
if [ -e /proc/lockdep_stats ]; then
	is "$(awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats)" 1 "lockdep saw it all"
fi
finish
