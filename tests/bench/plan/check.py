#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Does a plan keep every limit, and does it cost what it says?

    check.py INSTANCE PLAN [INSTANCE PLAN...]     PLAN as `gpuctl plan solve -j` writes it

Reads the two files and knows nothing of how plans are made. Prints what is wrong, a line for
each, and fails; or "ok COST" for each plan.
"""
import json
import math
import sys

NONE = None


class Instance:
    """An instance with everything said that a file may leave out."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            d = json.load(f)
        self.intervals, self.interval_s = d["intervals"], d["interval_s"]
        self.joule = d.get("cost_per_kwh", 0) / 3.6e6
        self.kinds = {}
        for kind in d.get("kinds", []):
            off = kind.get("off_w", 0)
            idle = kind.get("idle_w", off)
            self.kinds[kind["name"]] = {"memory": kind.get("memory_gib", 0), "off": off, "idle": idle,
                                        "busy": kind.get("busy_w", idle), "wake": kind.get("wake_j", 0)}
        self.attach_max = {s["name"]: s.get("attach_max", math.inf) for s in d.get("switches", [])}
        self.pools = {}
        for p in d.get("pools", []):
            self.pools[p["switch"], p["kind"]] = {
                "gpus": p["gpus"], "on": p.get("on", p["gpus"]),
                "attach": p.get("attach_s", d.get("attach_s", 0)),
                "detach": p.get("detach_s", d.get("detach_s", 0))}
        self.hosts = {h["name"]: h.get("slots", math.inf) for h in d["hosts"]}
        self.links = {(k["host"], k["switch"]): (k.get("lanes", math.inf), k.get("locality", 0))
                      for k in d.get("links", [])}
        self.tenants = {t["name"]: (t.get("guarantee", 0), t.get("limit", math.inf))
                        for t in d.get("tenants", [])}
        self.workloads = {w["name"]: self.workload(w) for w in d.get("workloads", [])}
        weights = [w["weight"] for w in self.workloads.values()]
        self.deficit = d.get("deficit_weight", min(1e6, 10 * max(weights, default=0)))

    def workload(self, w):
        demand = w.get("gpus", w.get("memory_gib"))
        if not isinstance(demand, list):
            demand = [demand] * self.intervals
        needs = {}
        for kind in w["kinds"]:
            if isinstance(kind, str):
                kind = {"kind": kind}
            each = self.kinds[kind["kind"]]["memory"] if "memory_gib" in w else kind.get("speed", 1)
            needs[kind["kind"]] = [math.ceil(n / each - 1e-9) for n in demand]
        first = next(iter(needs.values()))
        now = {(p["switch"], p["kind"]): p["gpus"] for p in w.get("now", [])}
        return {"host": w.get("host", next(iter(self.hosts))), "tenant": w.get("tenant"),
                "gang": w.get("gang", False), "hold": w.get("hold", 0), "span": w.get("span", 1),
                "lanes": w.get("lanes", 0), "keep": w.get("keep", 0), "weight": w.get("weight", 1),
                "load": w.get("load_s", 0), "needs": needs, "first": first, "now": now}

    def linked(self, host, switch):
        return not self.links or (host, switch) in self.links

    def wanted(self, tenant, t):
        """What a tenant is guaranteed, as far as it needs it."""
        need = sum(w["first"][t] for w in self.workloads.values() if w["tenant"] == tenant)
        return min(need, self.tenants[tenant][0])


def read_plan(instance, path):
    """What each workload has in each interval, and what is on."""
    with open(path, encoding="utf-8") as f:
        plan = json.load(f)
    use = {name: [{} for _ in range(instance.intervals)] for name in instance.workloads}
    for row in plan["use"]:
        for t in range(row["first_interval"], row["last_interval"] + 1):
            pool = row["switch"], row["kind"]
            assert pool not in use[row["workload"]][t], "a pool twice"
            use[row["workload"]][t][pool] = row["gpus"]
    on = {pool: [p["gpus"]] * instance.intervals for pool, p in instance.pools.items()}
    for row in plan.get("power", []):
        for t in range(row["first_interval"], row["last_interval"] + 1):
            on[row["switch"], row["kind"]][t] = row["on"]
    return plan, use, on


def moved(before, after):
    """GPUs that come, by pool, and GPUs that go."""
    come = {p: n - before.get(p, 0) for p, n in after.items() if n > before.get(p, 0)}
    go = {p: n - after.get(p, 0) for p, n in before.items() if n > after.get(p, 0)}
    return come, go


def check_workload(instance, name, w, use, wrong):
    before, held_until = w["now"], w["keep"]
    for t, has in enumerate(use):
        total = sum(has.values())
        if t < w["keep"]:
            if has != w["now"]:
                wrong.append(f"{name} does not keep what it has in interval {t}")
            continue
        if len({kind for _, kind in has}) > 1 or any(kind not in w["needs"] for _, kind in has):
            wrong.append(f"{name} has kinds {list(has)} in interval {t}")
            continue
        if len(has) > w["span"]:
            wrong.append(f"{name} is behind {len(has)} switches in interval {t}")
        for (switch, kind), n in has.items():
            if n <= 0 or not instance.linked(w["host"], switch) and n > w["now"].get((switch, kind), 0):
                wrong.append(f"{name} has {n} behind {switch} in interval {t}")
        if w["gang"] and total:
            kind = next(iter(has))[1]
            if total < w["needs"][kind][t]:
                wrong.append(f"gang {name} has {total} of {w['needs'][kind][t]} in interval {t}")
        come, go = moved(before, has)
        if (come or go) and t < held_until:
            wrong.append(f"{name} moves in interval {t}, which is in its hold")
        if come:
            held_until = t + max(1, w["hold"])
        before = has


def check_limits(instance, use, on, wrong):
    def at_most(what, t, n, most):
        if n > most:
            wrong.append(f"{what}: {n} of {most} in interval {t}")

    for t in range(instance.intervals):
        pools, hosts, links, tenants, attaches = {}, {}, {}, {}, {}

        def count(table, key, n):
            table[key] = table.get(key, 0) + n

        for name, w in instance.workloads.items():
            has = use[name][t]
            for pool, n in has.items():
                count(pools, pool, n)
                count(links, (w["host"], pool[0]), n * w["lanes"])
            count(hosts, w["host"], sum(has.values()))
            count(tenants, w["tenant"], sum(has.values()))
            come, _ = moved(use[name][t - 1] if t else w["now"], has)
            for (switch, _), n in come.items():
                count(attaches, switch, n)
        for pool, n in pools.items():
            at_most(f"pool {pool}", t, n, on[pool][t])
            at_most(f"power of {pool}", t, on[pool][t], instance.pools[pool]["gpus"])
        for host, n in hosts.items():
            at_most(f"host {host}", t, n, instance.hosts[host])
        for link, n in links.items():
            at_most(f"link {link}", t, n, instance.links.get(link, (math.inf, 0))[0])
        for tenant, n in tenants.items():
            if tenant is not None:
                at_most(f"tenant {tenant}", t, n, instance.tenants[tenant][1])
        for switch, n in attaches.items():
            at_most(f"attaches behind {switch}", t, n, instance.attach_max[switch])


def missing(w, has, t):
    """What a workload lacks, in GPUs of its first choice."""
    first = w["first"][t]
    total = sum(has.values())
    need = w["needs"][next(iter(has))[1]][t] if has else first
    if total >= need:
        return 0
    return first * (1 if w["gang"] else 1 - total / need)


def cost(instance, use, on):
    """What the plan costs, added up anew."""
    interval_s, total = instance.interval_s, 0
    for name, w in instance.workloads.items():
        before = w["now"]
        for t, has in enumerate(use[name]):
            total += w["weight"] * interval_s * missing(w, has, t)
            come, go = moved(before, has)
            total += sum(n * (instance.pools[p]["attach"] + w["weight"] * w["load"]) for p, n in come.items())
            total += sum(n * instance.pools[p]["detach"] for p, n in go.items())
            for (switch, kind), n in has.items():
                if instance.links:
                    total += n * interval_s * instance.links.get((w["host"], switch), (0, 0))[1]
                total += n * interval_s * instance.joule * (instance.kinds[kind]["busy"] - instance.kinds[kind]["idle"])
            before = has
    for pool, p in instance.pools.items():
        kind, before = instance.kinds[pool[1]], p["on"]
        for n in on[pool] if instance.joule else []:
            total += interval_s * instance.joule * (n * kind["idle"] + (p["gpus"] - n) * kind["off"])
            total += max(0, n - before) * kind["wake"] * instance.joule
            before = n
    for tenant in instance.tenants:
        for t in range(instance.intervals):
            served = sum(w["first"][t] - missing(w, use[name][t], t)
                         for name, w in instance.workloads.items() if w["tenant"] == tenant)
            total += instance.deficit * interval_s * max(0, instance.wanted(tenant, t) - served)
    return total


def check(instance_path, plan_path):
    instance = Instance(instance_path)
    plan, use, on = read_plan(instance, plan_path)
    wrong = []
    for name, w in instance.workloads.items():
        check_workload(instance, name, w, use[name], wrong)
    check_limits(instance, use, on, wrong)
    real = cost(instance, use, on)
    if abs(real - plan["cost"]) > 1e-6 * (1 + abs(real)):
        wrong.append(f"costs {real}, not {plan['cost']}")
    if plan["bound"] > real + 1e-6 * (1 + abs(real)):
        wrong.append(f"costs {real}, below the bound of {plan['bound']}")
    return wrong, real


def main():
    bad = False
    for instance, plan in zip(sys.argv[1::2], sys.argv[2::2]):
        wrong, real = check(instance, plan)
        for line in wrong[:20]:
            print(f"{plan}: {line}")
        if not wrong:
            print(f"ok {real:.3f}")
        bad = bad or bool(wrong)
    sys.exit(bad)


if __name__ == "__main__":
    main()
