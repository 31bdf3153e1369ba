#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""
The files of jobs on a node: Prolog and reap with Slurm's own controller and a stand-in for gpuctl. What reap has given back, or
an Epilog that had no lock, is no job of this node any more, so that nobody asks the controller for it. A job that the controller
does not have on this node is no fault of the node.
"""

import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "slurm"))
# pylint: disable=wrong-import-position
from rig import BUILD, TOP, Cluster, Report, in_namespaces, wait_for

RUN = "/run/gpufabric-slurm"
REQUEST_JOB_INFO_SINGLE = 2021
BIN = "/usr/local/bin"


class Node:
    """Node n1: what its slurmd would run, in a namespace where /run and the place of gpuctl are empty."""

    def __init__(self, cluster):
        self.cluster = cluster
        for folder in ("/run", BIN):
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        self.gpuctl = os.path.join(BIN, "gpuctl")
        self.folder = self.gpuctl + ".d"
        shutil.copy(os.path.join(TOP, "tests/slurm/gpuctl"), self.gpuctl)
        os.makedirs(self.gpuctl + ".d/made")

    def call(self, program, job=None, words=()):
        environment = dict(self.cluster.environment, SLURMD_NODENAME="n1")
        if job:
            environment.update(SLURM_JOB_ID=str(job), SLURM_JOB_GPUS="0")
        return subprocess.run([os.path.join(BUILD, "slurm", program), *words], env=environment, check=False, timeout=100).returncode

    def before(self, verb, script):
        """What the stand-in runs first for this verb; "" for nothing."""
        path = f"{self.gpuctl}.d/{verb}"
        if script:
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(path, 0o755)
        else:
            os.unlink(path)

    def asked(self, verb):
        """How often since the last time."""
        with open(self.gpuctl + ".d/asked", "r+", encoding="utf-8") as file:
            count = sum(line.split()[0] == verb for line in file)
            file.truncate(0)
        return count

    def lease(self):
        """The changes of leases since the last time: composition, and minutes, or None for no lease."""
        with open(self.gpuctl + ".d/asked", "r+", encoding="utf-8") as file:
            found = [line.split() for line in file if line.startswith("annotate")]
            file.truncate(0)
        return [(words[1], round(int(words[3][:-1]) / 60) if words[2] == "--for" else None) for words in found]

    def made(self):
        return sorted(os.listdir(self.gpuctl + ".d/made"), key=lambda name: int(name.split("-")[1]))

    @staticmethod
    def file(job):
        with open(f"{RUN}/{job}", encoding="utf-8") as file:
            return file.readline().strip()


def job_with_gpus(cluster, node):
    """A job that runs, and has its GPUs."""
    job = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--gres=gpu:h100:1", "--wrap=sleep 600"))
    cluster.until_running(job)
    Report.same(node.call("prolog", job), 0, f"the Prolog of job {job}")
    Report.same([oct(os.stat(path).st_mode & 0o777) for path in (RUN, f"{RUN}/{job}")], ["0o700", "0o600"], "its file is root's alone")
    return job


def end(cluster, job):
    """As on a node that is not there: no Epilog."""
    seen = []

    def ended():
        state = cluster.job(job)["JobState"]
        if state not in seen:
            seen.append(state)
        # One whose start has failed meanwhile is in the queue again.
        if state in ("PENDING", "RUNNING"):
            cluster.run("scancel", str(job))
        return state == "CANCELLED"

    cluster.good("scancel", str(job))
    try:
        wait_for(ended, "it ends")
    except TimeoutError as error:
        raise TimeoutError(f"job {job} was {', '.join(seen)}") from error


def leases(cluster, node, first, second):
    """They follow the time limits of jobs."""
    node.lease()
    Report.same((node.call("reap"), node.lease()), (0, []), "a lease is left alone while the time limit is what it was")
    cluster.good("scontrol", "update", f"jobid={first}", "timelimit=240")
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{first}", 250)]), "a longer time limit is a longer lease")
    Report.same((node.call("reap"), node.lease()), (0, []), "once")
    cluster.good("scontrol", "update", f"jobid={first}", "timelimit=UNLIMITED")
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{first}", None)]), "without a limit there is none")
    cluster.good("scontrol", "update", f"jobid={first}", "timelimit=60")
    node.before("annotate", "exit 1")
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{first}", 70)]), "one that could not be changed")
    node.before("annotate", "")
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{first}", 70)]), "is changed the next time")
    cluster.good("scontrol", "suspend", str(second))
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{second}", None)]), "that of a job which is stopped does not end")
    cluster.good("scontrol", "resume", str(second))
    Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{second}", 70)]), "until it goes on")


def check_begun(cluster, node):
    """A health check whose gpuctl reap has begun, and goes on when there is node.folder/go."""
    job = job_with_gpus(cluster, node)
    end(cluster, job)
    for name in ("begun", "go"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{node.folder}/{name}")
    node.before("reap", f"touch {node.folder}/begun\nuntil [ -e {node.folder}/go ]; do sleep 0.1; done\n")
    check = subprocess.Popen([os.path.join(BUILD, "slurm/reap")], env=dict(cluster.environment, SLURMD_NODENAME="n1"),
                             process_group=0)
    wait_for(lambda: os.path.exists(f"{node.folder}/begun"), "gpuctl reap")
    return job, check


def takes_long(cluster, node):
    """To give GPUs back takes longer than slurmd lets a health check run."""
    job, check = check_begun(cluster, node)
    os.killpg(check.pid, signal.SIGKILL)
    check.wait()
    subprocess.run(["touch", f"{node.folder}/go"], check=True)
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: (node.made(), node.file(job)) == ([], "ended n1"), "its end")
    Report.same((node.made(), node.file(job)), ([], "ended n1"), "what a check has begun goes on when slurmd has killed the check")
    job, check = check_begun(cluster, node)
    node.asked("reap")
    Report.same((node.call("reap"), node.asked("reap")), (0, 0), "while GPUs are given back, the next health check leaves it alone")
    subprocess.run(["touch", f"{node.folder}/go"], check=True)
    Report.same((check.wait(), node.file(job)), (0, "ended n1"), "the first one does it")
    node.before("reap", "")


def over_time(cluster, node):
    """A job that may go on after its time limit has its GPUs as long. The partition's word holds, else the cluster's."""
    for partition, minutes in (("main", 70), ("late", 75), ("open", None)):
        job = int(cluster.good("sbatch", "--parsable", "-p", partition, "-o", "/dev/null", "--gres=gpu:h100:1", "--wrap=sleep 600"))
        cluster.until_running(job)
        node.asked("compose")
        status = node.call("prolog", job)
        with open(node.gpuctl + ".d/asked", encoding="utf-8") as file:
            lease = re.search(r"--for (\d+)s", file.read())
        Report.same((status, lease and int(lease.group(1)) / 60), (0, minutes), f"the lease of a job of the partition {partition}")
        node.lease()
        Report.same((node.call("reap"), node.lease()), (0, [(f"slurm-{job}", minutes)]), "and at the next health check")
        end(cluster, job)
        node.call("epilog", job)


def stray(cluster, node):
    """Starts that a slurmctld has forgotten when it was killed: of no job any more, and of one that waits again."""
    waiting, _ = cluster.submit("--gres=gpu:h100:1")
    for job, what in ((4000, "does not know"), (waiting, "does not have here")):
        Report.same((node.call("prolog", job), node.made(), node.file(job)), (0, [], "ended n1"),
                    f"a job that the controller {what} gets no GPUs")
        Report.same(cluster.node("n1"), "IDLE", "and the node stays in service", *cluster.why())
        node.call("epilog", job)
    Report.same((node.made(), node.call("prolog", waiting)), ([], 0), "nor the second time", *cluster.why())
    end(cluster, waiting)


def runs(cluster):
    job = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--gres=gpu:h100:1", "--wrap=sleep 600"))
    cluster.until_running(job)
    return job


def cut_off(cluster, node):
    """A slurmctld that is killed while it answers."""
    job = runs(cluster)
    cluster.end("slurmctld")
    with socket.create_server(("127.0.0.1", 16817)) as server, concurrent.futures.ThreadPoolExecutor() as pool:
        result = pool.submit(node.call, "prolog", job)
        server.settimeout(100)
        # Before that it asks something else. The header begins with version, flags and type.
        kind = None
        while kind != REQUEST_JOB_INFO_SINGLE:
            with server.accept()[0] as connection, connection.makefile("rb") as request:
                kind = int.from_bytes(request.read(int.from_bytes(request.read(4), "big"))[4:6], "big")
        server.close()
        cluster.start_controller()
        Report.same((result.result(), node.made()), (0, [f"slurm-{job}"]), "a Prolog whose question is cut off asks again")
    end(cluster, job)
    node.call("epilog", job)


def waits_already(cluster, node):
    """A job that is queued again while its Prolog learns that it cannot have its GPUs."""
    job = runs(cluster)
    scontrol = f"SLURM_CONF={cluster.folder}/slurm.conf scontrol"
    node.before("compose", f"{scontrol} requeue {job}\nuntil {scontrol} show job {job} | grep -q JobState=PENDING; do sleep 0.1; done\nexit 3\n")
    Report.same((node.call("prolog", job), cluster.job(job)["JobState"]), (0, "PENDING"), "a job that waits already is not ended")
    node.before("compose", "")
    cluster.good("scancel", str(job))


def other_slots(cluster, node):
    """Slots that nobody has counted are none of the pool's GPUs: they are the node's own, or a job has got them with a whole node."""
    job = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--gres=gpu:v100:1", "--wrap=sleep 600"))
    cluster.until_running(job)
    node.asked("compose")
    Report.same((node.call("prolog", job), node.asked("compose"), os.path.exists(f"{RUN}/{job}")), (0, 0, False),
                "GPUs of a kind that has no licence are not composed", *cluster.why())
    end(cluster, job)
    job = runs(cluster)
    cluster.good("scontrol", "update", f"jobid={job}", "licenses=gf_h100:0")
    Report.same((node.call("prolog", job), node.asked("compose"), node.file(job)), (0, 0, "ended n1"),
                "nor those of a job that has slots and no licence", *cluster.why())
    wait_for(lambda: cluster.job(job)["JobState"] == "CANCELLED", "its end")
    Report.same(cluster.node("n1").split("+")[0], "IDLE", "that job ends, and the node stays in service", *cluster.why())
    node.call("epilog", job)


LINES = """OverTimeLimit=5
PartitionName=main Nodes=n1 Default=YES MaxTime=60 State=UP OverTimeLimit=0
PartitionName=late Nodes=n1 MaxTime=60 State=UP
PartitionName=open Nodes=n1 MaxTime=60 State=UP OverTimeLimit=UNLIMITED
"""


def main():
    in_namespaces()
    with tempfile.TemporaryDirectory() as folder, Cluster(folder, "gf_h100:4", {"n1": "gpu:h100:4,gpu:v100:1"}, LINES,
                                                                    script=os.path.join(TOP, "slurm/job_submit.lua")) as cluster:
        node = Node(cluster)
        Report.same((node.call("reap"), os.path.exists(node.gpuctl + ".d/asked")), (0, False), "a node without jobs asks for nothing")
        stray(cluster, node)
        cut_off(cluster, node)
        waits_already(cluster, node)
        other_slots(cluster, node)
        over_time(cluster, node)
        takes_long(cluster, node)
        first, second = job_with_gpus(cluster, node), job_with_gpus(cluster, node)
        Report.same((node.made(), node.file(first)), ([f"slurm-{first}", f"slurm-{second}"], "n1"), "both have their files")
        node.asked("compose")
        Report.same((node.call("reap"), node.asked("reap")), (0, 1), "reap asks while jobs are here")
        Report.same((node.made(), node.file(first)), ([f"slurm-{first}", f"slurm-{second}"], "n1"), "and leaves those that run")
        leases(cluster, node, first, second)
        end(cluster, first)
        node.before("reap", "exit 1")
        Report.same((node.call("reap"), node.file(first)), (1, "n1"), "what could not be given back stays a job of this node")
        node.before("reap", f"touch -d '1 hour' {RUN}/{first}")
        Report.same((node.call("reap"), node.file(first)), (0, "n1"), "so does one whose Prolog has run again meanwhile")
        node.before("reap", "")
        Report.same((node.call("reap"), node.made(), node.file(first)), (0, [f"slurm-{second}"], "ended n1"), "what reap gave back has ended")
        Report.same(node.file(second), "n1", "and the other one has not")
        end(cluster, second)
        subprocess.run([node.gpuctl, "release", f"slurm-{second}"], check=True)
        Report.same((node.call("reap"), node.file(second)), (0, "ended n1"), "and what an Epilog without the lock left has ended, too")
        node.asked("reap")
        Report.same((node.call("reap"), node.asked("reap")), (0, 0), "nobody asks for them any more")
        third = job_with_gpus(cluster, node)
        end(cluster, third)
        Report.same((node.call("reap", words=("--start", "n1")), node.file(third), node.made()), (0, "ended n1", []), "the same when slurmd starts")
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
