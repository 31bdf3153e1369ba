#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s slurm
"""
Jobs of Slurm with 1 to 8 GPUs over a pool that is too small for them, while jobs are cancelled and daemons are killed, at random:
Slurm's daemons, Prolog, Epilog, reap, the plugin and gpufabric-slurm-sync are the real ones; gpuctl is pool, a
stand-in. It needs no virtual machine, so it is for many jobs; the case slurm-storm has the module and the fence.

  storm.py [JOBS [CANCELS [KILLS [SEED [DAEMON,...]]]]]
"""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# pylint: disable=wrong-import-position
from rig import BUILD, TOP, Cluster, Report, in_namespaces, wait_for

RUN = "/run/gpufabric-slurm"
BIN = "/usr/local/bin"
PROGRAMS = "/usr/local/libexec/gpuctl/slurm"
SYNC = os.path.join(BUILD, "gpufabric-slurm-sync")
FOLDER = "/run/slurm-storm"
GPUS = 12
QUEUE = 12
AGAIN = 30
LIMIT = 150
NODES = ("n1", "n2")
DAEMONS = ("slurmctld", *NODES, "sync")
# What Slurm forgets when a daemon is killed it misses after BatchStartTimeout.
LINES = f"""Prolog={PROGRAMS}/prolog
Epilog={PROGRAMS}/epilog
EpilogSlurmctld={PROGRAMS}/epilog-slurmctld
HealthCheckProgram={PROGRAMS}/reap
HealthCheckInterval=20
PrologFlags=Alloc
BatchStartTimeout=20
SlurmdDebug=debug
PrologEpilogTimeout=600
PartitionName=main Nodes=n1,n2 Default=YES DefaultTime=60 MaxTime=120 State=UP
"""
PLUGINS = f"required {PROGRAMS}/spank_gpufabric.so\n"
# A line for each start: job, GPUs that it asked for, GPUs that it was told, and those of them that are its own.
SCRIPT = f"""#!/bin/bash
own=0
for slot in ${{GPUFABRIC_SLOTS-}}; do
	[ "$(cat {BIN}/gpuctl.d/slots/$slot)" != "slurm-$SLURM_JOB_ID" ] || own=$((own + 1))
done
read -ra slots <<<"${{GPUFABRIC_SLOTS-}}"
echo "$SLURM_JOB_ID $1 ${{#slots[@]}} $own" >>{BIN}/gpuctl.d/started
exec sleep "$2"
"""
# For whoever reads the logs.
CALLED = f"""#!/bin/bash
name=${{0##*/}}
[ "$name" = reap ] || echo "$(date +%T.%N) $name job $SLURM_JOB_ID node $SLURMD_NODENAME gpus '${{SLURM_JOB_GPUS-}}'" >>{BIN}/gpuctl.d/called
# slurmd does not tell a HealthCheckProgram of another place than /etc/slurm.
export SLURM_CONF=${{SLURM_CONF-{FOLDER}/slurm.conf}}
exec "{PROGRAMS}/real-$name" "$@"
"""


def install(folder):
    """The programs where they look for each other, in this namespace of mounts alone; what they say is in the folder."""
    for path in ("/run", "/usr/local"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", path], check=True)
    for path in (BIN, PROGRAMS):
        os.makedirs(path)
    for name in ("prolog", "epilog", "reap"):
        shutil.copy(os.path.join(BUILD, "slurm", name), os.path.join(PROGRAMS, "real-" + name))
        write_program(os.path.join(PROGRAMS, name), CALLED)
    with open(os.path.join(TOP, "slurm/epilog-slurmctld.sh"), encoding="utf-8") as file:
        write_program(os.path.join(PROGRAMS, "epilog-slurmctld"), file.read().replace("@sbin@", BIN))
    shutil.copy(SYNC, BIN)
    shutil.copy(os.path.join(TOP, "tests/slurm/pool"), os.path.join(BIN, "gpuctl"))
    os.makedirs(pool("made"))
    os.makedirs(pool("slots"))
    for slot in range(100, 100 + GPUS):
        write(pool(f"slots/{slot}"), "")
    write(pool("delay"), "0.2\n")
    shutil.copy(os.path.join(BUILD, "slurm/spank_gpufabric.so"), PROGRAMS)
    for name in ("events", "started", "called"):
        write(os.path.join(folder, name), "")
        os.symlink(os.path.join(folder, name), pool(name))
    os.symlink(folder, FOLDER)
    write_program(pool("job"), SCRIPT)
    os.makedirs("/run/gpufabric-slurm-sync")


def on_node(name):
    """A node is a machine of its own as far as its files and compositions go; the slots are those of one pool."""
    return ["unshare", "-m", "sh", "-c", f"mkdir -p {RUN} /run/{name} {pool('on')}/{name} && mount --bind /run/{name} {RUN} && "
            f"mount --bind {pool('on')}/{name} {pool('made')} && exec \"$@\"", name]


def pool(name):
    return os.path.join(BIN, "gpuctl.d", name)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_program(path, text):
    write(path, text)
    os.chmod(path, 0o755)


def lines(name):
    with open(pool(name), encoding="utf-8") as file:
        return [line.split() for line in file]


def taken():
    """Slots, and who has them."""
    found = {}
    for path in glob.glob(pool("slots/*")):
        with open(path, encoding="utf-8") as file:
            owner = file.read()
        if owner:
            found[os.path.basename(path)] = owner.strip()
    return found


class Storm:
    """What happens, in the order of one seed."""

    def __init__(self, cluster, seed, daemons):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.daemons = daemons
        self.submitted = self.cancelled = self.killed = self.taken_out = 0

    def start(self, name):
        if name == "slurmctld":
            self.cluster.start_controller()
        elif name == "sync":
            self.cluster.start("sync", [SYNC, "--local", f"h100:{GPUS}", "--interval=5s"])
        else:
            # As the unit of slurmd does.
            self.cluster.run(*on_node(name), os.path.join(PROGRAMS, "reap"), "--start", name)
            self.cluster.start(name, [*on_node(name), "slurmd", "-D", "-N", name])

    def submit(self, gpus):
        ask = [f"--gres=gpu:h100:{gpus}"] if gpus else []
        self.submitted += 1
        self.patiently("sbatch", "--parsable", "-o", "/dev/null", *ask, pool("job"), str(gpus), f"0.{self.random.randrange(10)}")

    def patiently(self, *words):
        """A controller that has just been killed does not answer at once."""
        wait_for(lambda: self.cluster.run(*words)[0] == 0, " ".join(words))

    def cancel(self):
        jobs = self.cluster.jobs()
        if jobs:
            self.cluster.run("scancel", self.random.choice(jobs))
            self.cancelled += 1

    def kill(self):
        name = self.random.choice(self.daemons)
        print(f"# {time.strftime('%H:%M:%S')} kills {name}", flush=True)
        self.cluster.end(name, signal.SIGKILL)
        self.start(name)
        self.killed += 1

    def mend(self):
        """
        Nodes that Slurm itself has taken out, and jobs that wait two minutes since they were queued again. In the second of
        its end slurmd would refuse a job, and slurmctld end it ("Job credential revoked").
        """
        for line in set(self.cluster.run("sinfo", "-h", "-N", "-t", "drain,drained,draining,down", "-o", "%N %E")[1].splitlines()):
            node, why = line.split(" ", 1)
            if not why.startswith("gpufabric:"):
                print(f"# {time.strftime('%H:%M:%S')} Slurm has taken {node} out: {why}", flush=True)
                self.taken_out += 1
                self.cluster.run("scontrol", "update", f"nodename={node}", "state=resume")
        # Not its StartTime, which is what backfill expects.
        for line in self.cluster.run("squeue", "-h", "-t", "PD", "-O", "JobID:12,EligibleTime:25,Reason:40")[1].splitlines():
            job, eligible, why = line.split(None, 2)
            if why.strip() == "BeginTime" and eligible > time.strftime("%FT%T", time.localtime(time.time() + 3)):
                self.cluster.run("scontrol", "update", f"jobid={job}", "starttime=now+2")

    def is_empty(self):
        self.mend()
        status, output, _ = self.cluster.run("squeue", "-h", "-o", "%A")
        return not status and not output

    def has_room(self):
        self.mend()
        return len(self.cluster.jobs()) < QUEUE

    def run(self, jobs, cancels, kills):
        for number in range(jobs):
            # So that kills meet jobs in all states, and not a queue that has just come.
            self.until(self.has_room, LIMIT)
            self.submit(1 + self.random.randrange(8))
            if number % 5 == 0:
                self.submit(0)
            if number * cancels // jobs > self.cancelled:
                self.cancel()
            if number * kills // jobs > self.killed:
                self.kill()
        while self.killed < kills:
            self.kill()
        while self.cancelled < cancels and self.cluster.jobs():
            self.cancel()

    def until(self, condition, limit):
        """As long as something happens. A node says which jobs it has every 20 pings, or when the configuration is read again."""
        last, state = time.monotonic(), None
        asked = last
        while not condition():
            now = (len(self.cluster.jobs()), len(lines("events")))
            if now != state:
                last, state = time.monotonic(), now
            if time.monotonic() - last > limit:
                return False
            if time.monotonic() - asked > AGAIN:
                self.cluster.run("scontrol", "reconfigure")
                asked = time.monotonic()
            time.sleep(0.4)
        return True


def files_here():
    found = []
    for path in glob.glob("/run/n[0-9]/*"):
        with open(path, encoding="utf-8") as file:
            if not file.read().startswith("ended "):
                found.append(path)
    return found


def judge(cluster, storm):
    Report.ok(storm.until(storm.is_empty, LIMIT), "the queue empties", *cluster.good("squeue", "-h", "-o", "%A %T %r %N").splitlines())
    try:
        wait_for(lambda: not taken(), "the pool")
    except TimeoutError:
        pass
    Report.same(taken(), {}, "the pool is whole")
    events = [line[0] for line in lines("events")]
    Report.same(events.count("added"), events.count("removed"), "as many releases as composes")
    Report.same([line for line in cluster.good("sinfo", "-h", "-R", "-o", "%E %N").splitlines() if line.startswith("gpufabric:")], [],
                "no node is drained by a Prolog or an Epilog")
    Report.same(cluster.used()["gf_h100"][1:], (0, 0), "no licence is used, nor reserved")
    Report.same([line for line in lines("started") if len(set(line[1:])) != 1], [], "no job started without its GPUs")
    try:
        wait_for(lambda: not files_here(), "the files")
    except TimeoutError:
        pass
    Report.same(files_here(), [], "no job is left on the nodes")
    print(f"# count storm-slurm.jobs {storm.submitted}")
    print(f"# count storm-slurm.starts {len(lines('started'))}")
    print(f"# count storm-slurm.composes {events.count('added')}")
    print(f"# count storm-slurm.releases {events.count('removed')}")
    print(f"# count storm-slurm.cancelled {storm.cancelled}")
    print(f"# count storm-slurm.kills {storm.killed}")
    print(f"# count storm-slurm.nodes.taken-out-by-slurm {storm.taken_out}")


def main():
    in_namespaces()
    jobs, cancels, kills, seed = map(int, (sys.argv[1:] + [60, 12, 6, 1][len(sys.argv) - 1:])[:4])
    daemons = sys.argv[5].split(",") if len(sys.argv) > 5 else DAEMONS
    folder = tempfile.mkdtemp(prefix="slurm-storm.")
    install(folder)
    with Cluster(folder, f"gf_h100:{GPUS}", {node: "gpu:h100:8" for node in NODES}, lines=LINES,
                 daemons=False, script=os.path.join(TOP, "slurm/job_submit.lua"),
                 plugins=PLUGINS) as cluster:
        storm = Storm(cluster, seed, daemons)
        for name in (*NODES, "sync"):
            storm.start(name)
        wait_for(lambda: all(cluster.node(node) == "IDLE" for node in NODES), "idle nodes")
        storm.run(jobs, cancels, kills)
        judge(cluster, storm)
        if Report.failed:
            print(f"# the logs are in {folder}")
    if not Report.failed:
        shutil.rmtree(folder)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
