#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sixty-four clients that compose and release at random, cards that are pulled and
# put in, and a module that is unloaded and loaded, all at the same time
# (tests/selftests/gfstorm.c); then attach and detach, over and over. "make storm" is
# the long run.
#
#   storms.sh [OPERATIONS [RELOADS [CYCLES]]]
#
#   root port -- upstream -- 16 slots with an h100-80 each, off
#
# brief: what is random, and cycles that are the same each time
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient -f build/selftests/gfstorm
# long: -t 7200

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"
. "$TESTS/vm/census.sh"

operations=${1:-$(brief 60 250)}
reloads=${2:-$(brief 3 5)}
# Of all slots together.
each=$((${3:-$(brief 48 160)} / 16))

storm()
{
	"$TESTS/gfstorm" -n "$operations" -r "$reloads" -m "$(modinfo -n gpufabric)"
}

parameters=(switches=1 slots=16 latency_ms=1 'gpus=*:h100-80:off')
check "the modules load" load own "${parameters[@]}" || bail_out "no modules"
read -ra all <<<"$(names 0 15)"
check "no slot has two owners at a time, and all come to rest" storm
cp "$check_log" /out/storm.log
grep '^# count ' /out/storm.log
is "$(states "${all[@]}")" "$(times 16 off)" "all are off"
is "$(g compositions)" "" "nothing is claimed"
like "$(g status)" " compositions 0 operations 0 " "nothing is under way"
check "the modules unload" unload || bail_out "the modules stay"

check "the modules load again" load own "${parameters[@]}" || bail_out "no modules"
check "$((each * 16)) cycles leave nothing behind" no_growth 5 "$each" "$((each * 16))" cycles && {
	count storms.cycles $((each * 16))
	note "memory: $(cat /tmp/census.memory)"
}
is "$(states "${all[@]}")" "$(times 16 off)" "all are off"
check "the modules unload" unload || bail_out "the modules stay"
is "$(find /sys -path '*gpufabric*' 2>/dev/null)" "" "sysfs has forgotten them"
check "the kernel has warned of nothing" untainted
finish
