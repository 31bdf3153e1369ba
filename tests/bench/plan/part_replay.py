#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Replays of jobs and of demand, ours next to the usual policies and the bound; see traces.py."""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traces  # noqa: E402

GPUCTL = os.path.join(os.environ.get("GPUFABRIC_BUILD", "build"), "gpuctl")


def replay(files, pool, warm, *more):
    done = subprocess.run([GPUCTL, "plan", "replay", "-j", "--pool", str(pool), "--warm", warm,
                           *more, *files], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def show(title, result, columns):
    print(title)
    print("  %-12s" % "" + "".join("%14s" % name for name, _ in columns))
    for row in result["policies"]:
        cells = ["%14.4f" % row[key] if key in row else "%14s" % "-" for _, key in columns]
        print("  %-12s" % row["policy"] + "".join(cells))


def judge(rows, bars):
    """Prints which bars are met; each is a name, a figure and what it may be at most."""
    for name, value, most in bars:
        rows[name] = round(value, 4)
        print("  %-44s %8.4f <= %.2f %s" % (name, value, most, "met" if value <= most else "MISSED"))


def jobs(files, pools, warm, figures):
    most = {768: 1.00, 640: 0.97, 576: 0.93}
    for pool in pools:
        result = replay(files, pool, warm, "--equal-jct")
        show("jobs, %d GPUs" % pool, result, (
            ("JCT/run", "jct_over_duration"), ("JCT/bound", "jct_over_bound"),
            ("/greedy", "jct_over_greedy"), ("wide/EASY", "wide_over_easy"),
            ("makespan", "makespan_over_bound"), ("tenant", "worst_tenant_over_static"),
            ("Jain", "jain_index"),
            ("used", "utilisation"), ("attaches/d", "attaches_day")))
        ours = next(r for r in result["policies"] if r["policy"] == "ours")
        name = "jobs_%d_" % pool
        # Made traces have other pools, and are too short for this bar.
        bars = [(name + "jct_over_greedy", ours["jct_over_greedy"], most.get(pool, math.inf)),
                (name + "makespan_over_bound", ours["makespan_over_bound"], 1.02),
                (name + "wide_over_easy", ours["wide_over_easy"], 1.10)]
        if "worst_tenant_over_static" in ours:
            # No schedule is below the bound, so nobody is asked for less than 2 % above it.
            bound = next(r for r in result["policies"] if r["policy"] == "bound")
            figures[name + "worst_tenant_bound"] = bound["worst_tenant_over_static"]
            bars.append((name + "worst_tenant", ours["worst_tenant_over_static"],
                         max(1.05, 1.02 * bound["worst_tenant_over_static"])))
        judge(figures, bars)
        figures[name + "jain"] = ours.get("jain_index")
        figures[name + "jct_over_bound"] = ours["jct_over_bound"]
        figures[name + "equal_jct"] = result["trace"].get("equal_jct_ratio")


def demand(files, pools, warm, figures):
    for pool, most in zip(pools, (1.10, 1.20)):
        result = replay(files, pool, warm)
        show("demand, %d GPUs" % pool, result, (
            ("cost/bound", "cost_over_bound"), ("unmet", "unmet"), ("attaches/d", "attaches_day"),
            ("/optimum", "attaches_over_optimum"), ("kWh/GPUh", "kwh_per_gpu_hour")))
        ours = next(r for r in result["policies"] if r["policy"] == "ours")
        name = "demand_%d_" % pool
        judge(figures, [(name + "cost_over_bound", ours["cost_over_bound"], most),
                        (name + "attaches_over_optimum", ours["attaches_over_optimum"], 1.5)])
        for row in result["policies"]:
            if row["policy"] != "ours" and row["policy"] != "bound":
                figures[name + row["policy"] + "_over_bound"] = row["cost_over_bound"]


def main():
    found = traces.find(os.path.join(sys.argv[1], "replay"))
    figures = {}
    jobs(found["jobs"], found["job_pools"], found["warm"], figures)
    demand(found["demand"], found["demand_pools"], found["warm"], figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
