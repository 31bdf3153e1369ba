#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A client that the kernel's own ynl makes from the spec drives the family: see
# tests/ynl/ynl_test.c.
#
#   switch 0: sim0-0 ... sim0-3   h100-80, off
#
# by kernel: generic netlink has changed between kernels
# in turn: one command after the other
# before: tests/ynl/build
# vm: -f build/ynl/ynl_test

. "$TESTS/vm/lib.sh"

modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
modprobe gpufabric || bail_out "no module"
exec /tests/ynl_test
