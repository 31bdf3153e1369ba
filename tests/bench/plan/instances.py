#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Instances for the planner, made from numbers that are fixed by their seed.

    instances.py DIR           the 20 that are compared with an exact solver
    instances.py -s W T FILE   one of W workloads in T intervals, for scale

Demand of services follows the time of day, that of training comes in jobs. Pools are tighter
than the sum of what is wanted at its peaks; most instances have several switches.
"""
import json
import math
import os
import random
import sys

# name: workloads, intervals, GPUs, what is in it
FIXED = [
    ("elastic-1", 10, 24, 16, {}),
    ("elastic-2", 10, 24, 16, {"pools": 2}),
    ("elastic-3", 12, 24, 16, {"pools": 1, "hold": 3}),
    ("elastic-4", 12, 36, 24, {"pools": 3}),
    ("elastic-5", 16, 48, 32, {"pools": 2}),
    ("tenants-1", 10, 24, 16, {"tenants": 3}),
    ("tenants-2", 12, 24, 16, {"pools": 2, "tenants": 4, "limit": True}),
    ("kinds-1", 10, 24, 16, {"kinds": 2}),
    ("kinds-2", 12, 36, 24, {"kinds": 2, "pools": 2, "tenants": 3}),
    ("energy-1", 10, 24, 16, {"energy": True}),
    ("energy-2", 12, 24, 16, {"pools": 2, "energy": True, "gangs": 3}),
    ("attach-1", 10, 24, 16, {"pools": 2, "attach_max": 4}),
    ("hosts-1", 12, 24, 16, {"pools": 2, "hosts": 4, "lanes": True}),
    ("gangs-1", 10, 24, 16, {"gangs": 10}),
    ("gangs-2", 10, 24, 16, {"pools": 2, "gangs": 6}),
    ("gangs-3", 12, 24, 16, {"pools": 2, "gangs": 12, "hold": 2}),
    ("gangs-4", 12, 36, 24, {"pools": 3, "gangs": 8, "tenants": 3}),
    ("gangs-5", 16, 48, 32, {"pools": 2, "gangs": 16}),
    ("gangs-6", 16, 48, 32, {"pools": 4, "gangs": 10, "span": 2}),
    ("gangs-7", 16, 48, 32, {"pools": 2, "gangs": 8, "hosts": 4, "kinds": 2, "tenants": 4}),
]


def service(rng, intervals, peak):
    """Up and down with the day, with some noise."""
    phase = rng.uniform(0, 2 * math.pi)
    low = rng.uniform(0.1, 0.5)
    series = []
    for t in range(intervals):
        level = low + (1 - low) * (0.5 + 0.5 * math.sin(2 * math.pi * t / intervals * 1.5 + phase))
        series.append(max(0, round(peak * level + rng.gauss(0, 0.3))))
    return series


def jobs(rng, intervals, sizes):
    """Jobs with breaks between them."""
    series = []
    while len(series) < intervals:
        series += [0] * rng.randint(0, max(1, intervals // 6))
        series += [rng.choice(sizes)] * rng.randint(max(2, intervals // 12), max(3, intervals // 3))
    return series[:intervals]


def fabric(rng, gpus, how):
    """Kinds, switches, pools, hosts and links."""
    pools = how.get("pools", 1)
    kinds = [{"name": "large", "memory_gib": 80}]
    if how.get("kinds") == 2:
        kinds.append({"name": "small", "memory_gib": 40})
    if how.get("energy"):
        for kind in kinds:
            kind.update(busy_w=427, idle_w=68, off_w=0, wake_j=60000)
    instance = {"gpufabric_plan": 1, "interval_s": 600, "attach_s": 20, "detach_s": 10, "kinds": kinds}
    if how.get("energy"):
        instance["cost_per_kwh"] = 2000
    instance["switches"] = [{"name": "sw%d" % i} for i in range(pools)]
    if "attach_max" in how:
        for switch in instance["switches"]:
            switch["attach_max"] = how["attach_max"]
    instance["pools"] = []
    for i in range(pools):
        here = gpus // pools
        if len(kinds) == 2:
            small = here // 2
            instance["pools"].append({"switch": "sw%d" % i, "kind": "small", "gpus": small})
            here -= small
        instance["pools"].append({"switch": "sw%d" % i, "kind": "large", "gpus": here})
    hosts = how.get("hosts", 1)
    instance["hosts"] = [{"name": "host%d" % i} for i in range(hosts)]
    if hosts > 1:
        for host in instance["hosts"]:
            host["slots"] = 2 * gpus // hosts
        instance["links"] = []
        for i in range(hosts):
            for k in range(pools):
                link = {"host": "host%d" % i, "switch": "sw%d" % k,
                        "locality": round(0.02 * abs(i % pools - k), 3)}
                if how.get("lanes"):
                    link["lanes"] = 32
                instance["links"].append(link)
    return instance


def make(seed, workloads, intervals, gpus, how):
    rng = random.Random(seed)
    instance = fabric(rng, gpus, how)
    instance["intervals"] = intervals
    tenants = how.get("tenants", 0)
    if tenants:
        instance["tenants"] = []
        for i in range(tenants):
            tenant = {"name": "tenant%d" % i, "guarantee": gpus // (tenants + 1)}
            if how.get("limit"):
                tenant["limit"] = gpus // 2
            instance["tenants"].append(tenant)
    pool = max(p["gpus"] for p in instance["pools"])
    sizes = [s for s in (1, 2, 2, 4, 4, 6, 8) if s <= pool]
    instance["workloads"] = []
    for i in range(workloads):
        w = {"name": "w%d" % i, "weight": rng.choice([1, 1, 2, 3, 5]),
             "load_s": rng.choice([0, 20, 60, 120])}
        if i < how.get("gangs", 0):
            w["gang"] = True
            w["gpus"] = jobs(rng, intervals, [rng.choice(sizes)])
        elif rng.random() < 0.5:
            w["gpus"] = jobs(rng, intervals, sizes)
        else:
            w["gpus"] = service(rng, intervals, rng.randint(2, min(8, pool)))
        w["kinds"] = ["large"]
        if how.get("kinds") == 2:
            if rng.random() < 0.7:
                w["kinds"].append({"kind": "small", "speed": 0.5})
            elif rng.random() < 0.5:
                w["kinds"] = ["small"]
        if "hold" in how:
            w["hold"] = how["hold"]
        if "span" in how and rng.random() < 0.6:
            w["span"] = how["span"]
        if tenants:
            w["tenant"] = "tenant%d" % (i % tenants)
        if len(instance["hosts"]) > 1:
            w["host"] = "host%d" % (i % len(instance["hosts"]))
        if how.get("lanes"):
            w["lanes"] = rng.choice([2, 4, 8])
        instance["workloads"].append(w)
    return instance


def make_scale(seed, workloads, intervals):
    """Four pools that grow with the workloads; each workload can use two of them."""
    rng = random.Random(seed)
    instance = {"gpufabric_plan": 1, "interval_s": 600, "intervals": intervals, "attach_s": 20, "detach_s": 10,
                "kinds": [{"name": "large", "memory_gib": 80}], "switches": [], "pools": [],
                "hosts": [], "links": [], "workloads": []}
    for i in range(4):
        instance["switches"].append({"name": "sw%d" % i})
        instance["pools"].append({"switch": "sw%d" % i, "kind": "large", "gpus": workloads * 6 // 10})
        instance["hosts"].append({"name": "host%d" % i})
        for k in range(2):
            instance["links"].append({"host": "host%d" % i, "switch": "sw%d" % ((i + k) % 4)})
    for i in range(workloads):
        w = {"name": "w%d" % i, "weight": rng.choice([1, 1, 2, 3, 5]), "kinds": ["large"],
             "load_s": rng.choice([0, 20, 60, 120]), "host": "host%d" % (i % 4)}
        kind = rng.random()
        if kind < 0.2:
            w["gang"] = True
            w["gpus"] = jobs(rng, intervals, [rng.choice([1, 2, 4, 8])])
        elif kind < 0.6:
            w["gpus"] = jobs(rng, intervals, [1, 2, 2, 4, 4, 6, 8])
        else:
            w["gpus"] = service(rng, intervals, rng.randint(2, 8))
        instance["workloads"].append(w)
    return instance


def write(path, instance):
    with open(path, "w", encoding="ascii") as f:
        json.dump(instance, f)
        f.write("\n")


def write_all(directory):
    os.makedirs(directory, exist_ok=True)
    for seed, (name, workloads, intervals, gpus, how) in enumerate(FIXED):
        write(os.path.join(directory, name + ".json"), make(1000 + seed, workloads, intervals, gpus, how))


def main():
    if sys.argv[1:2] == ["-s"]:
        write(sys.argv[4], make_scale(int(sys.argv[2]), int(sys.argv[2]), int(sys.argv[3])))
        return
    write_all(sys.argv[1])


if __name__ == "__main__":
    main()
