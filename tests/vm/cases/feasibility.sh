#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether a GPU fits is said before it is powered, and what is said is what the
# kernel then does: on random switches (tests/selftests/gffit.c).
#
#   feasibility.sh [TOPOLOGIES [SEED]]
#
#   host bridge -- root port -- upstream -- 2 to 6 slots with windows of random sizes
#
# before: tests/selftests/build
# vm: -t 300 -m 1G -f build/selftests/gfclient -f build/selftests/gffit
# long: -t 3000

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

topologies=${1:-100}
seed=${2:-20261121}

check "configfs is there" mountpoint -q /sys/kernel/config || bail_out "no configfs"
check "the modules load" load own switches=1 slots=1 latency_ms=1 'gpus=*:none' || bail_out "no modules"
echo 100 >/sys/module/gpufabric/parameters/poll_ms
fit()
{
	"$TESTS/gffit" "$topologies" "$seed"
}
check "what is said of $topologies random switches is what the kernel does" fit
cp "$check_log" /out/fit.log
grep '^# ' "$check_log"
check "the modules unload" unload
finish
