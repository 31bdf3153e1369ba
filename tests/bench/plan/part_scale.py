#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Time and gap as the number of workloads grows, in 144 intervals; one core. The exponent is the
slope of log(time) over log(workloads).
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402
import instances  # noqa: E402

SIZES = (100, 316, 1000, 3162, 10000)
BUILD = os.environ.get("GPUFABRIC_BUILD", "build")


def main():
    out = os.path.join(sys.argv[1], "scale")
    os.makedirs(out, exist_ok=True)
    rows = []
    print("%9s %9s %9s %8s" % ("workloads", "seconds", "gap", "sweeps"))
    for size in SIZES:
        path = os.path.join(out, "%d.json" % size)
        instances.write(path, instances.make_scale(size, size, 144))
        timed = json.loads(subprocess.run([os.path.join(BUILD, "plan-time"), path],
                                          stdout=subprocess.PIPE, check=True).stdout)
        base = timed["base"]
        gap = 1 - (timed["bound"] - base) / max(1e-9, timed["cost"] - base)
        rows.append((size, timed["ms"] / 1000, gap, timed["gap"]))
        print("%9d %9.2f %9.4f %8d" % (size, timed["ms"] / 1000, gap, timed["sweeps"]))
    path, plan = os.path.join(out, "100.json"), os.path.join(out, "100.plan")
    with open(plan, "w", encoding="utf-8") as f:
        subprocess.run([os.path.join(BUILD, "gpuctl"), "plan", "solve", "-j", path], stdout=f, check=True)
    wrong, _ = check.check(path, plan)
    for line in wrong:
        print(line)
    x = [math.log(r[0]) for r in rows]
    y = [math.log(r[1]) for r in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    exponent = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
    figures = {"exponent": exponent, "gap_most": max(r[2] for r in rows), "gap_of_cost_most": max(r[3] for r in rows)}
    figures.update({"seconds_%d" % r[0]: r[1] for r in rows})
    print(json.dumps({k: round(v, 4) for k, v in figures.items()}))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
