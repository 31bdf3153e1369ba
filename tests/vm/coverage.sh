#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a case in the guest and brings back which lines ran, of gpuctl and of the
# modules, below /out/gcov by the paths of their objects. See tests/coverage.
#
#   tests/vm/coverage.sh CASE

set -uo pipefail

mkdir -p /out/gcov
chmod 1777 /out/gcov
export GCOV_PREFIX=/out/gcov SLOW=${SLOW:-2}

bash "$TESTS/vm/cases/$1.sh"
rc=$?

# Counters of a module outlive it. The files have no size before they are read.
cd /sys/kernel/debug/gcov || exit 1
find . -name '*.gcda' | while IFS= read -r file; do
	mkdir -p "/out/gcov/$(dirname "$file")"
	cat "$file" >"/out/gcov/$file"
done
exit "$rc"
