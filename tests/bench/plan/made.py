#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traces made by a seeded generator, for tests and for the benchmark without TRACES.

    tests/bench/plan/made.py FOLDER [SEED]

Writes FOLDER/jobs.csv (submit_s,duration_s,gpus,tenant: three days of 12 tenants) and
FOLDER/demand/*.csv (minute,quota_gpus,running_gpus,pending_gpus: two days of four tenants).
The same seed gives the same files.

The statistics are those of public traces, not their rows. Jobs: how many each of the twelve
largest virtual clusters of Philly submits, how many GPUs they are for, how long jobs of each
width run, the hours of the day, and that four of five follow another one of the same tenant
within 30 s (Jeon et al., ATC'19; weeks 2 to 6). Demand: quotas and loads of four tenants of
Helios' Earth (Hu et al., SC'21), whose GPU jobs run for 206 s at the median and 6,652 s on
average, queued first come, first served on the tenant's own quota.
"""
import bisect
import csv
import os
import random
import sys

DAY = 86400
JOBS_DAYS, DEMAND_DAYS = 3, 2
# The traces begin at midnight of a Tuesday of the second week.
JOBS_BEGIN = 22 * DAY
JOBS_A_DAY = 1294

# Arrivals in each hour of the day, relative to the mean.
HOURS = (0.71, 0.93, 0.62, 0.63, 0.57, 0.65, 0.92, 0.44, 0.46, 1.03, 0.93, 1.02,
         1.10, 1.29, 1.28, 1.56, 1.34, 0.31, 0.87, 1.41, 2.32, 1.53, 1.25, 0.84)

# How many jobs come in one sweep, on average, where many jobs are alike and where they are
# not, and how far they are apart at most.
SWEEP, FEW, SWEEP_APART_S = 4.7, 1.3, 30

# Share of all jobs, and of its jobs how many are for so many GPUs.
TENANTS = {
    "sweeps": (0.575, {1: 1}),
    "search": (0.139, {1: 0.99, 4: 0.01}),
    "pairs": (0.127, {1: 0.91, 2: 0.09}),
    "speech": (0.105, {1: 0.95, 4: 0.03, 8: 0.02}),
    "ads": (0.013, {1: 0.64, 2: 0.26, 4: 0.10}),
    "maps": (0.011, {1: 0.83, 2: 0.02, 4: 0.15}),
    "vision": (0.010, {1: 0.34, 2: 0.05, 4: 0.25, 8: 0.31, 16: 0.05}),
    "shop": (0.006, {1: 1}),
    "robots": (0.006, {1: 0.19, 4: 0.47, 8: 0.34}),
    "language": (0.004, {1: 0.10, 4: 0.04, 8: 0.75, 32: 0.11}),
    "games": (0.003, {1: 0.70, 4: 0.26, 8: 0.04}),
    "chips": (0.001, {1: 0.25, 8: 0.75}),
}

# Seconds that are not passed by the shares of SHARES, by number of GPUs.
SHARES = (0, 0.10, 0.25, 0.50, 0.75, 0.90, 0.99, 1)
DURATIONS = {
    1: (1, 66, 349, 1565, 2833, 6738, 86796, 3116958),
    2: (2, 11, 14, 19, 44707, 219249, 942695, 2582803),
    4: (19, 159, 2094, 34276, 113306, 240818, 1339690, 2750674),
    8: (17, 431, 4712, 90869, 221874, 490311, 2010727, 4628226),
    16: (32, 108, 259, 42596, 350667, 511238, 657879, 657880),
    32: (46944, 47159, 48179, 53301, 56631, 64338, 104218, 104219),
}

# Quota in GPUs, mean demand in GPUs, and widths of jobs.
QUOTAS = {
    "north": (48, 20, {1: 0.7, 4: 0.2, 8: 0.1}),
    "south": (48, 36, {1: 0.5, 4: 0.2, 8: 0.3}),
    "east": (16, 8, {1: 0.8, 4: 0.2}),
    "west": (56, 44, {1: 0.4, 8: 0.4, 16: 0.2}),
}
DEMAND_DURATIONS = (5, 20, 60, 206, 1500, 13000, 110000, 250000)


def drawn(rng, table):
    """One of the keys of {key: share}."""
    return rng.choices(list(table), list(table.values()))[0]


def duration(rng, seconds):
    """By the inverse of the distribution; between two of its points on a logarithmic scale."""
    share = rng.random()
    i = min(bisect.bisect(SHARES, share), len(SHARES) - 1)
    part = (share - SHARES[i - 1]) / (SHARES[i] - SHARES[i - 1])
    return max(1, round(seconds[i - 1] * (seconds[i] / seconds[i - 1]) ** part))


def arrivals(rng, a_day, days, sweep):
    """Seconds at which jobs come: sweeps by a Poisson process that follows the hours."""
    most = max(HOURS)
    at = 0.0
    while True:
        at += rng.expovariate(a_day / sweep * most / DAY)
        if at >= days * DAY:
            return
        if rng.random() * most > HOURS[int(at % DAY) // 3600]:
            continue
        job = at
        while job < days * DAY:
            yield int(job)
            if rng.random() < 1 / sweep:
                break
            job += rng.random() * SWEEP_APART_S


def jobs(rng):
    rows = []
    for tenant, (share, widths) in TENANTS.items():
        last, width = -DAY, 1
        sweep = SWEEP if share > 0.1 else FEW
        for at in arrivals(rng, JOBS_A_DAY * share, JOBS_DAYS, sweep):
            # A sweep is for one number of GPUs.
            if at - last > SWEEP_APART_S:
                width = drawn(rng, widths)
            last = at
            rows.append((JOBS_BEGIN + at, duration(rng, DURATIONS[width]), width, tenant))
    return sorted(rows)


def demand(rng, quota, mean, widths):
    """Minutes of one tenant whose jobs wait in one queue for its quota."""
    minutes = DEMAND_DAYS * DAY // 60
    length = sum(duration(rng, DEMAND_DURATIONS) for _ in range(20000)) / 20000
    width = sum(gpus * share for gpus, share in widths.items())
    coming = sorted(arrivals(rng, mean * DAY / (length * width), DEMAND_DAYS, FEW))
    queue, running = [], []
    for minute in range(minutes):
        while coming and coming[0] < (minute + 1) * 60:
            coming.pop(0)
            queue.append((drawn(rng, widths), duration(rng, DEMAND_DURATIONS)))
        running = [(end, gpus) for end, gpus in running if end > minute * 60]
        while queue and sum(gpus for _, gpus in running) + queue[0][0] <= quota:
            gpus, seconds = queue.pop(0)
            running.append((minute * 60 + seconds, gpus))
        yield minute, quota, sum(gpus for _, gpus in running), sum(gpus for gpus, _ in queue)


def write(path, columns, rows):
    with open(path, "w", encoding="ascii", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def make(folder, seed=1):
    """Both kinds of traces below folder."""
    rng = random.Random(seed)
    os.makedirs(os.path.join(folder, "demand"), exist_ok=True)
    write(os.path.join(folder, "jobs.csv"), ("submit_s", "duration_s", "gpus", "tenant"), jobs(rng))
    for tenant, about in QUOTAS.items():
        write(os.path.join(folder, "demand", tenant + ".csv"),
              ("minute", "quota_gpus", "running_gpus", "pending_gpus"), demand(rng, *about))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
