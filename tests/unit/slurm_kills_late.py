#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""The later steps of slurm_kills.py: while the script runs, and while the GPUs are released."""

import sys

import slurm_kills

if __name__ == "__main__":
    sys.exit(slurm_kills.main(("run", "release")))
