#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""
Jobs for which slurmd runs no Prolog: one whose id it has known, since a slurmctld that was killed gives ids for the second time. Here
the configuration has no Prolog, and the plugin has it run: Slurm's own daemons, and a stand-in for gpuctl.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "slurm"))
# pylint: disable=wrong-import-position
from rig import TOP, Cluster, Report, in_namespaces, wait_for
from storm import LINES, PLUGINS, install, lines, pool, taken


def starts():
    """What the scripts of jobs had since the last time: GPUs that were asked for, told, and their own."""
    wait_for(lambda: not taken(), "the GPUs go")
    found = [tuple(map(int, line[1:])) for line in lines("started")]
    with open(pool("started"), "w", encoding="utf-8"):
        return found


def batch(cluster, gpus):
    ask = [f"--gres=gpu:h100:{gpus}"] if gpus else []
    job = cluster.good("sbatch", "--parsable", "-o", "/dev/null", *ask, pool("job"), str(gpus), "0").strip()
    wait_for(lambda: cluster.job(job)["JobState"] in ("COMPLETED", "FAILED"), f"job {job} ends")
    return starts()


def main():
    in_namespaces()
    without = "".join(line + "\n" for line in LINES.replace("n1,n2", "n1").splitlines() if not line.startswith("Prolog="))
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        with Cluster(folder, "gf_h100:4", {"n1": "gpu:h100:4"}, lines=without, plugins=PLUGINS,
                     script=os.path.join(TOP, "slurm/job_submit.lua")) as cluster:
            Report.same(batch(cluster, 3), [(3, 3, 3)], "a batch job starts with its GPUs")
            Report.same(batch(cluster, 0), [(0, 0, 0)], "one without GPUs without any")
            cluster.good("srun", "--gres=gpu:h100:2", pool("job"), "2", "0")
            Report.same(starts(), [(2, 2, 2)], "a job of srun starts with its GPUs")
            cluster.good("srun", "-n2", "--gres=gpu:h100:4", pool("job"), "4", "0")
            Report.same(starts(), [(4, 4, 4)] * 2, "and so do both of its tasks")
            Report.same([line[2] for line in lines("called") if line[1] == "prolog" and line[7] != "'unknown'"], [], "slurmd has run no Prolog")
            Report.ok(wait_for(lambda: cluster.node("n1") == "IDLE", "an idle node"), "the node stays in service")
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
