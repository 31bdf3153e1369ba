#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""
slurmctld or slurmd ends or is killed, and comes back, in each step of a job: while its GPUs are composed, between the Prolog and
the script, while that runs, while its GPUs are released; or its user cancels it. Nothing leaks, and no job runs without its
GPUs. Slurm's own daemons, and a stand-in for gpuctl; the case slurm-kills of system/ has the module.
"""

import contextlib
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "slurm"))
# pylint: disable=wrong-import-position
from rig import TOP, Cluster, Report, in_namespaces, wait_for
from storm import LINES, PLUGINS, Storm, files_here, install, lines, pool, taken, write, write_program

# What is held, for the job to be in that step.
STEPS = {"compose": "compose", "start": "env", "run": None, "release": "release"}
WAYS = {"ends": signal.SIGTERM, "is killed": signal.SIGKILL}
# Runs until it may end.
SCRIPT = """
until [ -e {go} ]; do
	sleep 0.1
done
"""


def starts():
    return [tuple(map(int, line[1:])) for line in lines("started")]


def saved(cluster, other):
    """What it has not saved a slurmctld that is killed forgets, see storm.py. By a change of another job."""
    path = os.path.join(cluster.folder, "state/job_state")
    before = time.time()
    cluster.good("scontrol", "update", f"jobid={other}", "comment=saved")
    wait_for(lambda: os.path.exists(path) and os.path.getmtime(path) > before, "the state of slurmctld")


def brought_to(cluster, step, gpus=2):
    """A job in that step."""
    verb = STEPS[step]
    write(pool("started"), "")
    for name in ("go", f"held-{verb}"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(pool(name))
    if verb:
        write(pool(f"hold-{verb}"), "")
    job = cluster.good("sbatch", "--parsable", "-o", "/dev/null", f"--gres=gpu:h100:{gpus}", pool("waits"), str(gpus), "0").strip()
    if step in ("run", "release"):
        wait_for(starts, "its script")
    if step == "release":
        write(pool("go"), "")
    if verb:
        wait_for(lambda: os.path.exists(pool(f"held-{verb}")), f"gpuctl {verb}")
    return job


def goes_on(step):
    if STEPS[step]:
        os.unlink(pool(f"hold-{STEPS[step]}"))
    write(pool("go"), "")


def one(cluster, storm, other, step, daemon, way, beside=""):
    what = f"{step}: {daemon} {way}{beside}"
    job = brought_to(cluster, step)
    if daemon == "slurmctld":
        saved(cluster, other)
    if WAYS[way] == signal.SIGKILL:
        cluster.end(daemon, signal.SIGKILL)
        goes_on(step)
    else:
        # slurmd waits for a Prolog and an Epilog.
        cluster.running[daemon].terminate()
        goes_on(step)
        cluster.end(daemon)
    storm.start(daemon)

    def is_over():
        storm.mend()
        # slurmctld asks once a minute for the end of a job whose Epilog slurmd has lost, and when nodes register.
        if cluster.job(job).get("JobState") == "COMPLETING":
            cluster.run("scontrol", "reconfigure")
        return cluster.job(job).get("JobState") in ("COMPLETED", "FAILED") and not taken() and not files_here() \
            and cluster.node("n1") == "IDLE"
    try:
        wait_for(is_over, "its end")
    except TimeoutError:
        pass
    Report.same((cluster.job(job)["JobState"], taken(), files_here(), cluster.node("n1")), ("COMPLETED", {}, [], "IDLE"),
                f"{what}: the job ends, and nothing is left", cluster.run("sinfo", "-h", "-R", "-o", "%E %N")[1])
    Report.same(set(starts()), {(2, 2, 2)}, f"{what}: it ran with its GPUs")


def cancelled(cluster):
    """Its GPUs cannot be composed, and meanwhile its user has cancelled it: it is not queued again."""
    job = brought_to(cluster, "compose")
    slots = pool("slots")
    for slot in os.listdir(slots):
        write(os.path.join(slots, slot), "another\n")
    cluster.good("scancel", job)
    goes_on("compose")
    Report.same(ended(cluster, job, "IDLE"), ("CANCELLED", "IDLE"),
                "a job that is cancelled before the pool turns out to be short is not queued again")
    for slot in os.listdir(slots):
        write(os.path.join(slots, slot), "")


def cancelled_at_fault(cluster):
    """The same where the node is at fault, which is drained all the same."""
    job = brought_to(cluster, "compose")
    write(pool("broken"), "")
    cluster.good("scancel", job)
    goes_on("compose")
    Report.same(ended(cluster, job, "IDLE+DRAIN"), ("CANCELLED", "IDLE+DRAIN"),
                "a job that is cancelled before its GPUs fail to come is not queued again, and the node is drained")
    Report.same(cluster.good("sinfo", "-h", "-R", "-o", "%E").strip(), "gpufabric: no link after power-on", "with the reason")
    os.unlink(pool("broken"))
    cluster.good("scontrol", "update", "nodename=n1", "state=resume")
    wait_for(lambda: cluster.node("n1") == "IDLE", "the node")


def ended(cluster, job, node):
    """What became of a job and its node, when the job is over and that is the node's state."""
    def state():
        return cluster.job(job).get("JobState"), cluster.node("n1")
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: state()[0] in ("CANCELLED", "PENDING") and state()[1] == node, "its end")
    return state()


def shrunk(cluster, storm):
    """Slurm keeps the licences of a job that has given GPUs back, and gives it all slots once more when it is queued again."""
    job = brought_to(cluster, "run", 4)
    cluster.good("scontrol", "update", f"jobid={job}", "licenses=gf_h100:2")
    cluster.good("scontrol", "requeue", job)

    def is_again():
        storm.mend()
        return len(starts()) > 1
    with contextlib.suppress(TimeoutError):
        wait_for(is_again, "its second start")
    Report.same((starts(), len(taken())), ([(4, 4, 4), (4, 2, 2)], 2),
                "a job that has shrunk and is queued again has as many GPUs as licences", cluster.job(job))
    goes_on("run")
    wait_for(lambda: cluster.job(job).get("JobState") == "COMPLETED" and not taken(), "its end")


def main(steps):
    in_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        with open(pool("job"), encoding="utf-8") as file:
            write_program(pool("waits"), file.read().replace('exec sleep "$2"\n', SCRIPT.format(go=pool("go"))))
        with Cluster(folder, "gf_h100:4", {"n1": "gpu:h100:4"}, lines=LINES.replace("n1,n2", "n1"), plugins=PLUGINS, daemons=False,
                     script=os.path.join(TOP, "slurm/job_submit.lua")) as cluster:
            storm = Storm(cluster, 0, ())
            storm.start("n1")
            other = cluster.good("sbatch", "--parsable", "-H", "-o", "/dev/null", "--wrap=true").strip()
            for step in steps:
                for daemon in ("slurmctld", "n1"):
                    for way in WAYS:
                        one(cluster, storm, other, step, daemon, way)
            if "compose" in steps:
                write(pool("busy"), "")
                one(cluster, storm, other, "compose", "n1", "is killed", ", something looks at GPUs that have just come")
                os.unlink(pool("busy"))
                cancelled(cluster)
                cancelled_at_fault(cluster)
                shrunk(cluster, storm)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ("compose", "start")))
