#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once on slots that pciehp drives:
#
#   switch 0: slots 100 ... 107, H100, off
#   switch 1: slots 200 ... 203, L40S, on
#
# "stress-pciehp.sh ROUNDS" for more than one.
#
# brief: workers of the same kind
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/gfclient
# long: -k debug-6.1 -t 2400
# kernels: debug-6.1 debug-6.12

export MODE=pciehp
. "$TESTS/vm/stress.sh"
