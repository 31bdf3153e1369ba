#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once on slots that the simulator drives itself: no lock of
# another slot driver is involved, so lockdep judges ours alone.
#
#   switch 0: slots sim0-0 ... sim0-7, H100, off
#   switch 1: slots sim1-0 ... sim1-3, L40S, on
#
# "stress-own.sh ROUNDS" for more than one.
#
# brief: workers of the same kind
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient
# long: -k debug-6.1 -t 2400
# kernels: debug-6.1 debug-6.12

export MODE=own
. "$TESTS/vm/stress.sh"
