#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""
What waits for Slurm's own clocks, minutes in all: a Prolog of 40 seconds, a job that is queued again for two minutes, and a node
that dies and is noticed after SlurmdTimeout. Slurm's own daemons, and a stand-in for gpuctl.
"""

import contextlib
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

# pylint: disable=wrong-import-position
from rig import PATIENCE, TOP, Cluster, Report, in_namespaces, wait_for
from storm import LINES, PLUGINS, Storm, files_here, install, lines, pool, taken, write

CLOCKS = LINES.replace("n1,n2", "n1").replace("BatchStartTimeout=20", "BatchStartTimeout=600")


def submit(cluster, gpus, length="0"):
    write(pool("started"), "")
    return cluster.good("sbatch", "--parsable", "-o", "/dev/null", f"--gres=gpu:h100:{gpus}", pool("job"), str(gpus), length).strip()


def starts():
    return [tuple(map(int, line[1:])) for line in lines("started")]


def until(condition, what):
    """For what takes minutes by itself."""
    for _ in range(4):
        with contextlib.suppress(TimeoutError):
            return wait_for(condition, what)
    raise TimeoutError(f"{what}, after {4 * PATIENCE} s")


def state(cluster, job):
    return cluster.job(job)["JobState"], cluster.job(job)["Reason"]


def is_over(cluster, job):
    return cluster.job(job)["JobState"] in ("COMPLETED", "FAILED") and not taken() and not files_here()


def prolog_of_40_seconds(cluster):
    write(pool("delay"), "40\n")
    job = submit(cluster, 2)
    wait_for(taken, "its GPUs")
    write(pool("delay"), "0.2\n")
    Report.same(state(cluster, job), ("RUNNING", "Prolog"), "while the Prolog works, the job runs for Slurm")
    Report.same(starts(), [], "and its script does not")
    until(lambda: is_over(cluster, job), "the end of the job")
    Report.same((cluster.job(job)["JobState"], starts()), ("COMPLETED", [(2, 2, 2)]), "after 40 seconds it starts with its GPUs")
    Report.same(cluster.node("n1"), "IDLE", "the node stays in service")


def queued_again(cluster):
    gpuctl = os.path.join("/usr/local/bin", "gpuctl")
    subprocess.run([gpuctl, "compose", "other", "--gpus", "10"], check=True)
    job = submit(cluster, 4)
    until(lambda: state(cluster, job) == ("PENDING", "BeginTime"), "the job in the queue")
    Report.same(starts(), [], "a job for which GPUs are missing is queued again, and did not start")
    wait_for(lambda: cluster.node("n1") == "IDLE", "an idle node")
    subprocess.run([gpuctl, "release", "other"], check=True)
    until(lambda: is_over(cluster, job), "the end of the job")
    Report.same((cluster.job(job)["JobState"], starts()), ("COMPLETED", [(4, 4, 4)]), "after two minutes it starts by itself")


def steps_die():
    """The processes of Slurm that have a step, of this namespace alone, and the jobs below them."""
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            if file.read().strip() in ("slurmstepd", "sleep"):
                os.kill(int(path.split("/")[2]), signal.SIGKILL)


def node_dies(cluster, storm):
    job = submit(cluster, 3, "1000")
    wait_for(starts, "its script")
    cluster.end("n1", signal.SIGKILL)
    steps_die()
    until(lambda: cluster.node("n1").startswith("DOWN"), "SlurmdTimeout")
    wait_for(lambda: cluster.job(job)["JobState"] == "PENDING", "the job in the queue")
    Report.same((cluster.used()["gf_h100"][1], set(taken().values())), (0, {f"slurm-{job}"}), "its licences are free, and the node has its GPUs")
    cluster.good("scontrol", "hold", job)
    storm.start("n1")
    wait_for(lambda: not taken(), "the GPUs")
    Report.same((taken(), files_here()), ({}, []), "when the node returns, it gives them back")
    wait_for(lambda: cluster.node("n1") == "IDLE", "an idle node")
    write(pool("started"), "")
    cluster.good("scontrol", "release", job)
    until(starts, "its script")
    Report.same(starts(), [(3, 3, 3)], "and the job starts there again with its GPUs")
    cluster.good("scancel", job)
    wait_for(lambda: not taken(), "the GPUs")
    Report.same(cluster.node("n1").split("+")[0], "IDLE", "the node stays in service")


def main():
    in_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        with Cluster(folder, "gf_h100:12", {"n1": "gpu:h100:8"}, lines=CLOCKS, plugins=PLUGINS, daemons=False,
                     script=os.path.join(TOP, "slurm/job_submit.lua")) as cluster:
            storm = Storm(cluster, 0, ())
            storm.start("n1")
            prolog_of_40_seconds(cluster)
            queued_again(cluster)
            node_dies(cluster, storm)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
