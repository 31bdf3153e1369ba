#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A short run of each fuzz target: the committed corpus and a fixed number of
# inputs from a fixed seed. "make fuzz" is the long one.
#
# before: tests/fuzz/run -sb

set -euo pipefail

cd "$(dirname "$0")/../.."
exec tests/fuzz/run -s
