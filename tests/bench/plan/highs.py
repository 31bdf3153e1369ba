#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The same instances by an exact solver: HiGHS, through scipy.

    highs.py [-t SECONDS] INSTANCE.json... >reference.csv

One line for each: name, the best cost that was found, the bound that was proved, seconds. The
mixed-integer program is written down here anew, from the words of gpuctl-plan(5).
"""
import itertools
import os
import sys
import time

import numpy
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import Instance, missing, moved  # noqa: E402


class Program:
    """Variables and rows, as they come."""

    def __init__(self):
        self.cost, self.upper, self.whole = [], [], []
        self.rows, self.columns, self.values, self.low, self.high = [], [], [], [], []

    def variable(self, cost, upper, whole):
        self.cost.append(cost)
        self.upper.append(upper)
        self.whole.append(1 if whole else 0)
        return len(self.cost) - 1

    def row(self, terms, low, high):
        for variable, value in terms:
            self.rows.append(len(self.low))
            self.columns.append(variable)
            self.values.append(value)
        self.low.append(low)
        self.high.append(high)

    def solve(self, seconds):
        matrix = csr_matrix((self.values, (self.rows, self.columns)), (len(self.low), len(self.cost)))
        return milp(numpy.array(self.cost), integrality=numpy.array(self.whole),
                    bounds=Bounds(0, numpy.array(self.upper)),
                    constraints=LinearConstraint(matrix, self.low, self.high),
                    options={"time_limit": seconds, "mip_rel_gap": 0})


def configurations(instance, w):
    """All that a workload could have at some time: dictionaries of pools."""
    found = [{}]
    for kind, needs in w["needs"].items():
        most = min(max(needs), instance.hosts[w["host"]])
        if w["tenant"] is not None:
            most = min(most, instance.tenants[w["tenant"]][1])
        pools = [p for p in instance.pools if p[1] == kind and instance.linked(w["host"], p[0])]
        for n in range(1, w["span"] + 1):
            for some in itertools.combinations(pools, n):
                counts = [range(1, min(instance.pools[p]["gpus"], most) + 1) for p in some]
                for c in itertools.product(*counts):
                    now = sum(n for p, n in w["now"].items() if p[1] == kind)
                    if sum(c) <= max(most, now) and (not w["gang"] or sum(c) in needs or sum(c) == now):
                        found.append(dict(zip(some, c)))
    if w["now"] and w["now"] not in found:
        found.append(w["now"])
    return found


def add_workload(program, instance, w, limits, attaches):
    """Choice of a configuration in each interval, and the moves between them."""
    intervals, interval_s, configs = instance.intervals, instance.interval_s, configurations(instance, w)
    pools = sorted({p for c in configs for p in c})
    change = [None] * intervals
    come = [None] * intervals
    before = None
    for t in range(intervals):
        y = []
        for c in configs:
            cost = w["weight"] * interval_s * missing(w, c, t)
            allowed = c == w["now"] if t < w["keep"] else \
                not c or not w["gang"] or sum(c.values()) >= w["needs"][next(iter(c))[1]][t]
            for (switch, kind), n in c.items():
                cost += n * interval_s * instance.links.get((w["host"], switch), (0, 0))[1]
                cost += n * interval_s * instance.joule * (instance.kinds[kind]["busy"] - instance.kinds[kind]["idle"])
            y.append(program.variable(cost, 1 if allowed else 0, True))
        program.row([(v, 1) for v in y], 1, 1)
        for v, c in zip(y, configs):
            for pool, n in c.items():
                limits.setdefault(("pool", pool, t), []).append((v, n))
                limits.setdefault(("link", (w["host"], pool[0]), t), []).append((v, n * w["lanes"]))
            if c:
                limits.setdefault(("host", w["host"], t), []).append((v, sum(c.values())))
                limits.setdefault(("tenant", w["tenant"], t), []).append((v, sum(c.values())))
            served = w["first"][t] - missing(w, c, t)
            if served:
                limits.setdefault(("served", w["tenant"], t), []).append((v, served))
        for pool in pools:
            a = program.variable(instance.pools[pool]["attach"] + w["weight"] * w["load"], numpy.inf, False)
            b = program.variable(instance.pools[pool]["detach"], numpy.inf, False)
            terms = [(v, c.get(pool, 0)) for v, c in zip(y, configs) if c.get(pool)]
            old = w["now"].get(pool, 0)
            if before:
                terms += [(v, -c[pool]) for v, c in zip(before, configs) if c.get(pool)]
                old = 0
            program.row(terms + [(a, -1), (b, 1)], old, old)
            attaches.setdefault((pool[0], t), []).append((a, 1))
        if w["hold"] > 1:
            add_hold(program, w, configs, y, before, change, come, t)
        before = y


def add_hold(program, w, configs, y, before, change, come, t):
    """Nothing changes for hold intervals once something came."""
    change[t] = program.variable(0, 1, True)
    come[t] = program.variable(0, 1, True)
    for i, c in enumerate(configs):
        # whoever is in c now and was not before has changed
        if before:
            program.row([(y[i], 1), (before[i], -1), (change[t], -1)], -numpy.inf, 0)
        elif c != w["now"]:
            program.row([(y[i], 1), (change[t], -1)], -numpy.inf, 0)
    for i, c in enumerate(configs):
        # entering c from something that has less of a pool is an attach
        if before:
            smaller = [before[k] for k, d in enumerate(configs) if moved(d, c)[0]]
            program.row([(y[i], 1), (come[t], -1)] + [(v, 1) for v in smaller], -numpy.inf, 1)
        elif moved(w["now"], c)[0]:
            program.row([(y[i], 1), (come[t], -1)], -numpy.inf, 0)
    window = [(come[k], 1) for k in range(max(0, t - w["hold"] + 1), t)]
    program.row([(change[t], 1)] + window, -numpy.inf, 1)
    program.row([(come[t], 1)] + window, -numpy.inf, 1)


def add_limits(program, instance, limits, attaches):
    most = {"host": instance.hosts, "link": {k: v[0] for k, v in instance.links.items()},
            "tenant": {k: v[1] for k, v in instance.tenants.items()}}
    for (what, which, t), terms in limits.items():
        if what not in ("pool", "served") and most[what].get(which, numpy.inf) < numpy.inf:
            program.row(terms, -numpy.inf, most[what][which])
        if what == "served" and which is not None:
            want = instance.wanted(which, t)
            d = program.variable(instance.deficit * instance.interval_s, numpy.inf, False)
            program.row(terms + [(d, 1)], want, numpy.inf)
    for (switch, t), terms in attaches.items():
        if instance.attach_max[switch] < numpy.inf:
            program.row(terms, -numpy.inf, instance.attach_max[switch])
    for pool, p in instance.pools.items():
        kind, before = instance.kinds[pool[1]], None
        for t in range(instance.intervals):
            on = program.variable((kind["idle"] - kind["off"]) * instance.interval_s * instance.joule,
                                  p["gpus"], bool(instance.joule))
            wake = program.variable(kind["wake"] * instance.joule, numpy.inf, False)
            program.row(limits.get(("pool", pool, t), []) + [(on, -1)], -numpy.inf, 0)
            terms = [(on, 1), (wake, -1)] + ([(before, -1)] if before is not None else [])
            program.row(terms, -numpy.inf, p["on"] if before is None else 0)
            before = on


def constant(instance):
    return sum(instance.kinds[pool[1]]["off"] * p["gpus"] for pool, p in instance.pools.items()) * \
        instance.intervals * instance.interval_s * instance.joule


def main():
    names, seconds = sys.argv[1:], 60
    if names[0] == "-t":
        seconds, names = float(names[1]), names[2:]
    print("instance,cost,bound,seconds", flush=True)
    for name in names:
        instance = Instance(name)
        program, limits, attaches = Program(), {}, {}
        for w in instance.workloads.values():
            add_workload(program, instance, w, limits, attaches)
        add_limits(program, instance, limits, attaches)
        start = time.monotonic()
        result = program.solve(seconds)
        took = time.monotonic() - start
        fixed = constant(instance)
        best = result.fun + fixed if result.fun is not None else float("nan")
        print("%s,%.6f,%.6f,%.1f" % (os.path.basename(name).removesuffix(".json"), best,
                                     result.mip_dual_bound + fixed, took), flush=True)


if __name__ == "__main__":
    main()
