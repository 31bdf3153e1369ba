#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Forecasts of demand an hour ahead against naive and Holt-Winters ones; see traces.py."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traces  # noqa: E402

FORECAST = os.path.join(os.environ.get("GPUFABRIC_BUILD", "build"), "plan-forecast")
POOL = "100000"


def main():
    if not os.environ.get("TRACES"):
        print("no forecasts: made traces are shorter than the week they learn from")
        print("{}")
        return
    found = traces.find(os.path.join(sys.argv[1], "forecast"))
    figures = {}
    for name in ("demand", "jobs"):
        done = subprocess.run([FORECAST, POOL, *found[name]], stdout=subprocess.PIPE, check=True)
        row = json.loads(done.stdout)
        met = row["ratio"] <= 0.95 and 0.87 <= row["coverage"] <= 0.93
        print("%-7s pinball %8.3f naive %8.3f holt-winters %8.3f ratio %.4f <= 0.95, coverage %.3f %s" % (
            name, row["pinball"], row["naive"], row["holt_winters"], row["ratio"], row["coverage"],
            "met" if met else "MISSED"))
        figures.update({"%s_%s" % (name, key): value for key, value in row.items()})
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
