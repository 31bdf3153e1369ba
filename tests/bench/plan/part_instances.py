#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The 20 fixed instances against what an exact solver found (reference.csv, made by highs.py).

Costs are compared without what every workload would cost if it were alone: that part no plan
changes, and it would make any plan look good. Each plan is checked by check.py, which knows
nothing but the instance and the written plan. The time is the least of three runs.
"""
import csv
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402
import instances  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("GPUFABRIC_BUILD", "build")


def reference():
    with open(os.path.join(HERE, "reference.csv"), encoding="ascii") as f:
        return {row["instance"]: row for row in csv.DictReader(row for row in f if row[0] != "#")}


def solve(path, plan_path):
    with open(plan_path, "w", encoding="utf-8") as f:
        subprocess.run([os.path.join(BUILD, "gpuctl"), "plan", "solve", "-j", path], stdout=f, check=True)
    timed = [json.loads(subprocess.run([os.path.join(BUILD, "plan-time"), path], stdout=subprocess.PIPE,
                                       check=True).stdout) for _ in range(3)]
    return timed[0], min(t["ms"] for t in timed)


def main():
    out = os.path.join(sys.argv[1], "instances")
    instances.write_all(out)
    known = reference()
    rows, feasible = [], 0
    print("%-12s %10s %10s %10s %10s %7s %7s %7s %7s" %
          ("instance", "cost", "exact's", "bound", "exact's", "cost", "bound", "gap", "ms"))
    for name, *_ in instances.FIXED:
        path, plan = os.path.join(out, name + ".json"), os.path.join(out, name + ".plan")
        ours, ms = solve(path, plan)
        wrong, _ = check.check(path, plan)
        for line in wrong:
            print(f"{name}: {line}")
        feasible += not wrong
        best, bound = float(known[name]["cost"]), float(known[name]["bound"])
        base = ours["base"]
        row = {"instance": name, "cost_ratio": (ours["cost"] - base) / (best - base),
               "bound_ratio": (ours["bound"] - base) / (bound - base), "ms": ms,
               "gap": 1 - (ours["bound"] - base) / (ours["cost"] - base),
               # the bound of either may not be above the plan of the other
               "valid": ours["bound"] <= best * (1 + 1e-7) and bound <= ours["cost"] * (1 + 1e-7),
               "solved": bound >= best - 1e-4 * abs(best),
               "true_ratio": (ours["cost"] - base) / (max(bound, ours["bound"]) - base)}
        rows.append(row)
        print("%-12s %10.0f %10.0f %10.0f %10.0f %7.4f %7.4f %7.4f %7.1f" %
              (name, ours["cost"], best, ours["bound"], bound, row["cost_ratio"], row["bound_ratio"],
               row["gap"], ms))
    costs, bounds = [r["cost_ratio"] for r in rows], [r["bound_ratio"] for r in rows]
    hard = [r["cost_ratio"] for r in rows if r["solved"]]
    figures = {"instances": len(rows), "feasible": feasible,
               "cost_mean": statistics.mean(costs), "cost_worst": max(costs),
               "solved_by_exact": len(hard), "solved_cost_mean": statistics.mean(hard),
               "solved_cost_worst": max(hard),
               "to_best_bound_mean": statistics.mean(r["true_ratio"] for r in rows),
               "bound_median": statistics.median(bounds), "bound_least": min(bounds),
               "bounds_valid": sum(r["valid"] for r in rows), "ms_most": max(r["ms"] for r in rows)}
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()}))
    sys.exit(feasible != len(rows) or not all(r["valid"] for r in rows))


if __name__ == "__main__":
    main()
