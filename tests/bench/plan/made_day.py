#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two days of demand of four workloads that share a dozen GPUs, by the seeded generator of made.py.

    tests/bench/plan/made_day.py FOLDER [SEED]

Writes FOLDER/NAME.csv as made.py does. Jobs are shorter than there, so that GPUs move all day; at times
all are in use.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made  # noqa: E402

# As QUOTAS and DEMAND_DURATIONS of made.py, for a pool of 12 GPUs.
QUOTAS = {
    "north": (5, 1.2, {1: 0.8, 2: 0.2}),
    "south": (6, 2.2, {1: 0.6, 2: 0.3, 4: 0.1}),
    "east": (3, 0.6, {1: 1}),
    "west": (6, 2.6, {1: 0.5, 2: 0.3, 4: 0.2}),
}
DURATIONS = (5, 20, 60, 206, 1500, 5000, 20000, 40000)


def main():
    folder = sys.argv[1]
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    made.DEMAND_DURATIONS = DURATIONS
    os.makedirs(folder, exist_ok=True)
    for name, about in QUOTAS.items():
        made.write(os.path.join(folder, name + ".csv"),
                   ("minute", "quota_gpus", "running_gpus", "pending_gpus"), made.demand(rng, *about))


if __name__ == "__main__":
    main()
