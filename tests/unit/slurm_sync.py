#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl build/gpufabric-slurm-sync && make -s -f tests/fm/fm.mk -j$(nproc)
"""
gpufabric-slurm-sync with Slurm's own daemons and a stand-in for gpuctl that prints a pool: the reservation of licences is
what the pool lacks, whatever ends and starts again, and no job that runs loses anything. Then with the real gpuctl, the
fabric manager, and its events.
"""

import importlib.util
import json
import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "slurm"))
# pylint: disable=wrong-import-position
from rig import BUILD, TOP, Cluster, Report, in_namespaces, wait_for

PROGRAM = os.path.join(BUILD, "gpufabric-slurm-sync")
SCRIPT = os.path.join(TOP, "slurm/job_submit.lua")
GPUCTL = """#!/bin/sh
echo "$@" >>{folder}/asked
[ ! -e {folder}/down ] || {{ echo "gpuctl: fabric manager rack: cannot reach it" >&2; exit 1; }}
[ "$*" != "-j list" ] || exec cat {folder}/slots.json
exec cat {folder}/pool.json
"""
# The daemon is to look when this prints a line; it ends when it is told to.
LISTENER = """#!/bin/sh
echo connected
exec cat {folder}/events
"""
LINES = """EpilogSlurmctld={folder}/epilog-slurmctld
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP
"""
# What the script that slurmctld runs finds in the place of the daemon.
WAKER = """#!/bin/sh
touch {folder}/woken
exec {program} "$@" --socket={folder}/wake
"""


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def write_epilog(folder):
    """slurmctld wants it to be there when it starts."""
    with open(os.path.join(TOP, "slurm/epilog-slurmctld.sh"), encoding="utf-8") as file:
        write_program(os.path.join(folder, "epilog-slurmctld"), file.read().replace("@sbin@", os.path.join(folder, "bin")))


class Pool:
    """What gpuctl fabric list prints, and the events of the fabric manager."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = os.path.join(cluster.folder, "bin")
        os.makedirs(self.folder)
        for name, text in (("gpuctl", GPUCTL), ("listener", LISTENER), ("gpufabric-slurm-sync", WAKER)):
            write_program(os.path.join(self.folder, name), text.format(folder=self.folder, program=PROGRAM))
        os.mkfifo(os.path.join(self.folder, "events"))
        self.events = None
        cluster.environment["PATH"] = self.folder + ":" + cluster.environment["PATH"]

    def write(self, *gpus):
        """GPUs as (kind, state, host)."""
        rows = [{"gpu": f"gpu{number}", "kind": kind, "state": state, "host": host}
                for number, (kind, state, host) in enumerate(gpus)]
        with open(os.path.join(self.folder, "new"), "w", encoding="utf-8") as file:
            json.dump({"pool": rows, "managers": []}, file)
        os.rename(os.path.join(self.folder, "new"), os.path.join(self.folder, "pool.json"))

    def slots(self, *states):
        """What gpuctl list prints on a node, all of one kind."""
        rows = [{"gpu_id": "h100-pcie-80", "state": state, "flags": []} for state in states]
        with open(os.path.join(self.folder, "slots.json"), "w", encoding="utf-8") as file:
            json.dump({"slots": rows}, file)

    def event(self):
        """A line of the listener; the first one waits until there is one."""
        if not self.events:
            self.events = open(os.path.join(self.folder, "events"), "w", encoding="utf-8")
        self.events.write("id: 1\n")
        self.events.flush()

    def down(self, is_down):
        path = os.path.join(self.folder, "down")
        if is_down:
            with open(path, "w", encoding="utf-8"):
                pass
        else:
            os.unlink(path)

    def asked(self):
        with open(os.path.join(self.folder, "asked"), encoding="utf-8") as file:
            return len(file.readlines())


def h100(*states):
    return [("h100-pcie-80", *(state if isinstance(state, tuple) else (state, None))) for state in states]


def reserved(cluster, name="gf_away"):
    found = cluster.reservations().get(name)
    return found["Licenses"] if found else None


def start(cluster, *words):
    return cluster.start("sync", [PROGRAM, "--interval=1d", f"--socket={cluster.folder}/bin/wake", *words])


def job(cluster, count, nodes=1):
    return int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", f"--gpus=h100:{count}", f"-N{nodes}", "--wrap=sleep 300"))


def once(cluster, pool):
    """One look at a time."""
    epilog = os.path.join(cluster.folder, "epilog-slurmctld")
    Report.same((cluster.run(epilog)[0], os.path.exists(f"{pool.folder}/woken")), (0, False), "the end of a job without GPUs wakes nobody")
    pool.write(*h100(*["free"] * 6))
    Report.same(cluster.run(PROGRAM, "--once")[0], 0, "a whole pool")
    Report.same(reserved(cluster), None, "needs no reservation")
    pool.write(*h100(*["free"] * 4, ("elsewhere", "stranger"), "unusable"))
    status, _, errors = cluster.run(PROGRAM, "-n")
    Report.ok(status == 0 and "away from Slurm: gf_h100:2" in errors and reserved(cluster) is None, "--dry-run says it", errors)
    cluster.good(PROGRAM, "--once")
    Report.same(reserved(cluster), "gf_h100:2", "GPUs of a stranger and unusable ones are reserved")
    found = cluster.reservations()["gf_away"]
    Report.same((found["Users"], found["NodeCnt"], found["Flags"]), ("root", "0", "IGNORE_JOBS,ANY_NODES"), "as licences alone")
    cluster.good(PROGRAM, "--once")
    Report.same(reserved(cluster), "gf_h100:2", "a second time nothing changes")
    pool.write(*h100(*["free"] * 5))
    cluster.good(PROGRAM, "--once")
    Report.same(reserved(cluster), "gf_h100:1", "one that is gone altogether counts, too")
    cluster.good(PROGRAM, "--once", "--local=h100:1")
    Report.same(reserved(cluster), None, "unless no manager has it")
    pool.write(*h100(*["free"] * 4, ("elsewhere", "n1"), ("elsewhere", "rack-2")))
    cluster.good(PROGRAM, "--once")
    Report.same(reserved(cluster), "gf_h100:1", "a GPU at a node is there")
    cluster.good(PROGRAM, "--once", "--node=rack-2=n2")
    Report.same(reserved(cluster), None, "also where the manager calls it otherwise")
    pool.write()
    cluster.good(PROGRAM, "--once", "--reservation=other")
    Report.same((reserved(cluster), reserved(cluster, "other")), (None, "gf_h100:6"), "another name")
    number = job(cluster, 1)
    wait_for(lambda: cluster.job(number)["Reason"] == "Licenses", "the job waits for licences")
    Report.ok(True, "a pool that is all away: jobs wait for licences")
    cluster.good("scancel", str(number))
    pool.write(*h100(*["free"] * 6))
    cluster.good(PROGRAM, "--once", "--reservation=other")
    for words, what in ((("--interval=0s",), "an interval"), (("--local=h100",), "a number of GPUs"), (("--node=x",), "a host"),
                        (("--reservation=a b",), "a name"), (("x",), "an operand"), (("--listen= ",), "a listener")):
        Report.same(cluster.run(PROGRAM, *words)[0], 2, f"wrong usage: {what}")
    Report.same(cluster.run(PROGRAM, "--help")[0], 0, "--help")


def reported(cluster, pool):
    """GPUs that only their node knows to be unusable."""
    def extra(node="n1"):
        return re.search(r"^ *Extra=(.*)$", cluster.good("scontrol", "show", "node", node) + "\nExtra=", re.M).group(1)

    pool.write(*h100(*["free"] * 4, ("elsewhere", "n1"), ("elsewhere", "n1")))
    cluster.good("scontrol", "update", "nodename=n1", "extra=rack 3")
    pool.slots("ready", "fault", "off")
    Report.same(cluster.run(PROGRAM, "-n", "--report=n1")[0], 0, "a dry run")
    Report.same(extra(), "rack 3", "changes nothing")
    cluster.good(PROGRAM, "--report=n1")
    Report.same(extra(), "rack 3;gpufabric:h100-pcie-80:1", "a node tells of a slot in fault")
    cluster.good(PROGRAM, "--once")
    Report.same(reserved(cluster), "gf_h100:1", "which is away, whatever stands before it")
    cluster.good("scontrol", "update", "nodename=n1", "extra=rack=3")
    cluster.good(PROGRAM, "--report=n1")
    cluster.good(PROGRAM, "--once")
    Report.same((extra(), reserved(cluster)), ("rack=3;gpufabric:h100-pcie-80:1", "gf_h100:1"), "its GPU is away")
    pool.slots("ready", "ready", "off")
    cluster.good(PROGRAM, "--report=n1")
    cluster.good(PROGRAM, "--once")
    Report.same((extra(), reserved(cluster)), ("rack=3", None), "until it is well")
    Report.same(cluster.run(PROGRAM, "--report=nowhere")[0], 1, "a node that is not there")
    Report.same(cluster.run(PROGRAM, "--report=a b")[0], 2, "no name of a node")


def running(cluster, pool):
    """Jobs that run while GPUs go and come; events."""
    pool.write(*h100(*["free"] * 6))
    start(cluster, f"--listen={pool.folder}/listener")
    pool.event()
    first = job(cluster, 4)
    cluster.until_running(first)
    pool.write(*h100("free", "free", *[("elsewhere", "n1")] * 4))
    pool.event()
    second = job(cluster, 2)
    cluster.until_running(second)
    Report.same((reserved(cluster), cluster.used()["gf_h100"][:2]), (None, (6, 6)), "what jobs have is there")
    pool.write(*h100(("elsewhere", "stranger"), "unusable", *[("elsewhere", "n1")] * 4))
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:2", "the event is heard")
    Report.same((cluster.job(first)["JobState"], cluster.licences(first), cluster.job(second)["JobState"]),
                ("RUNNING", {"gf_h100": 4}, "RUNNING"), "an event: GPUs are away, more than are free, and no job loses anything")
    third = job(cluster, 2)
    wait_for(lambda: cluster.job(third)["Reason"] == "Licenses", "the third job waits")
    cluster.good("scancel", str(second))
    wait_for(lambda: cluster.used()["gf_h100"][1] == 4, "the second job is over")
    # Slurm has looked at it again when a later job has run.
    other = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--wrap=true"))
    wait_for(lambda: cluster.job(other)["JobState"] == "COMPLETED", "a job without GPUs runs")
    Report.same(cluster.job(third)["JobState"], "PENDING", "what a job gives back is not there, so the next one waits")
    pool.write(*h100("free", "free", *[("elsewhere", "n1")] * 4))
    pool.event()
    cluster.until_running(third)
    Report.same(reserved(cluster), None, "the pool is whole again, and the job that waited runs")
    cluster.good("scancel", str(first), str(third))
    wait_for(lambda: cluster.used()["gf_h100"][1] == 0, "no licence is used")


def dead_node(cluster, pool):
    """No event, and no Epilog: EpilogSlurmctld has the daemon look."""
    pool.write(*h100(*["free"] * 4, *[("elsewhere", "n1")] * 2))
    pool.event()
    number = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--gpus=h100:2", "-w", "n1", "--wrap=sleep 300"))
    cluster.until_running(number)
    Report.same(reserved(cluster), None, "GPUs of a job are there")
    cluster.end("n1", signal.SIGKILL)
    cluster.good("scontrol", "update", "nodename=n1", "state=down", "reason=dead")
    wait_for(lambda: reserved(cluster) == "gf_h100:2", "its GPUs are away")
    Report.ok(True, "when its node dies, they are away at once")
    cluster.good("scancel", str(number))
    cluster.start_node("n1")
    wait_for(lambda: cluster.node("n1") == "IDLE", "n1 is back")
    pool.event()
    wait_for(lambda: reserved(cluster) is None, "its GPUs are there")
    Report.ok(True, "until it is back")


def faults(cluster, pool):
    pool.write(*h100(*["free"] * 3))
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:3", "three are away")
    pool.down(True)
    pool.write(*h100(*["free"] * 6))
    before = pool.asked()
    pool.event()
    wait_for(lambda: pool.asked() > before, "it was asked")
    Report.same(reserved(cluster), "gf_h100:3", "a manager that does not answer changes nothing")
    pool.down(False)
    cluster.running["sync"].send_signal(signal.SIGHUP)
    wait_for(lambda: reserved(cluster) is None, "the reservation is gone")
    Report.ok(True, "SIGHUP has it look")
    pool.write(*h100(*["free"] * 2))
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:4", "four are away")
    cluster.end("slurmctld")
    pool.write(*h100(*["free"] * 5))
    pool.event()
    cluster.start_controller()
    Report.same(reserved(cluster) in ("gf_h100:4", "gf_h100:1"), True, "slurmctld that starts again has the reservation")
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:1", "it is changed")
    killed = cluster.running.pop("sync")
    with open(f"/proc/{killed.pid}/task/{killed.pid}/children", encoding="ascii") as file:
        listeners = file.read().split()
    killed.kill()
    killed.wait()
    # systemd ends them with it. One that is left would take an event from the next one.
    for listener in listeners:
        os.kill(int(listener), signal.SIGKILL)
    pool.events.close()
    pool.events = None
    pool.write(*h100(*["free"] * 2, ("elsewhere", "n2")))
    start(cluster, f"--listen={pool.folder}/listener")
    wait_for(lambda: reserved(cluster) == "gf_h100:3", "the next daemon finds it")
    Report.ok(True, "a daemon that was killed leaves it to the next one")
    cluster.good("scontrol", "update", "nodename=n2", "state=down", "reason=dead")
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:4", "its GPUs are away")
    Report.ok(True, "GPUs of a dead node are away")
    cluster.good("scontrol", "update", "nodename=n2", "state=resume")
    Report.same(cluster.run(PROGRAM, "--wake", f"--socket={pool.folder}/wake", user="nobody")[0], 0, "anybody can wake the daemon")
    wait_for(lambda: reserved(cluster) == "gf_h100:3", "its GPUs are there")
    Report.ok(True, "until it is back")
    cluster.good("scontrol", "delete", "reservationname=gf_away")
    pool.event()
    wait_for(lambda: reserved(cluster) == "gf_h100:3", "the reservation is back")
    Report.ok(True, "a reservation that somebody deletes is made again")
    cluster.end("sync")
    Report.same(cluster.run(PROGRAM, "--wake", f"--socket={pool.folder}/wake")[0], 1, "nobody is woken when it does not run")
    Report.same(reserved(cluster), "gf_h100:3", "it stays when the daemon is stopped")
    said = cluster.output("sync")
    Report.same(len(re.findall("cannot reach it", said)), 1, "a fault is said once", said)


def fabric(cluster, _):
    """The fabric manager, an account that may only read, and events by curl."""
    spec = importlib.util.spec_from_file_location("fm_rig", os.path.join(TOP, "tests/fm/rig.py"))
    fm_rig = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fm_rig)
    folder = os.path.join(cluster.folder, "fabric")
    os.makedirs(os.path.join(folder, "config/fabric.d"))
    ports = ("dn0", "dn1")
    guests = {host: fm_rig.Guest(folder, host, ports) for host in ("hosta", "stranger")}
    manager = fm_rig.Manager(folder, {host: (guest.path, ports) for host, guest in guests.items()},
                             [f"gpu{number}" for number in range(4)])
    assert manager.command("init", "--user", "watcher").returncode == 0
    assert manager.command("passwd", "watcher", "--role", "ReadOnly", stdin="of eleven words\n").returncode == 0
    manager.start().ready()
    user, url = os.path.join(manager.folder, "users/watcher.pem"), f"https://127.0.0.1:{manager.port}"
    for name, text in (
            ("login", "user = watcher\npassword = of eleven words\n"),
            ("config/fabric.d/rack.conf", f"driver = redfish\nurl = {url}\nhost = hosta\nca = {manager.folder}/ca.crt\n"
                                          f"certificate = {user}\nkey = {user}\ncredentials = {folder}/login\n"),
            ("curl", f'url = "{url}/redfish/v1/EventService/SSE"\ncacert = "{manager.folder}/ca.crt"\ncert = "{user}"\n'
                     'user = "watcher:of eleven words"\nno-buffer\nsilent\n')):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(folder, name), 0o600)
    cluster.environment.update(GPUCTL_CONFIG_DIR=os.path.join(folder, "config"), GPUCTL_LIBEXEC_DIR=BUILD,
                               PATH=BUILD + ":" + cluster.environment["PATH"])
    Report.same(cluster.run(PROGRAM, "--once", "--node=hosta=n1", "--local=h100:2")[0], 0, "the manager is asked")
    Report.same(reserved(cluster), None, "and has all GPUs")
    start(cluster, f"--listen=curl -K {folder}/curl", "--node=hosta=n1", "--local=h100:2")
    Report.same(manager.client("stranger").set("stranger", ["gpu0", "gpu1"])[0], 200, "a host that is no node takes two")
    wait_for(lambda: reserved(cluster) == "gf_h100:2", "the event of a bind")
    Report.same(manager.client("hosta").set("hosta", ["gpu2"])[0], 200, "a node takes one")
    Report.same(manager.client("stranger").set("stranger", ["gpu1"])[0], 200, "the other host gives one back")
    wait_for(lambda: reserved(cluster) == "gf_h100:1", "the event of an unbind")
    Report.ok(True, "events of the fabric manager change the reservation")
    manager.stop()
    wait_for(lambda: "has ended" in cluster.output("sync"), "the listener has ended")
    Report.same(reserved(cluster), "gf_h100:1", "a manager that is stopped changes nothing")
    cluster.end("sync")
    for guest in guests.values():
        guest.close()


def main():
    in_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        write_epilog(folder)
        with Cluster(folder, "gf_h100:6,matlab:2", {"n1": "gpu:h100:4", "n2": "gpu:h100:4"}, LINES.format(folder=folder),
                     script=SCRIPT) as cluster:
            pool = Pool(cluster)
            for part in (once, reported, running, dead_node, faults, fabric):
                print(f"# {part.__name__}")
                try:
                    part(cluster, pool)
                except TimeoutError:
                    print("# " + cluster.output("sync").replace("\n", "\n# "), cluster.reservations())
                    raise
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
