# SPDX-License-Identifier: GPL-2.0-only
"""
A Slurm for tests: munged, slurmctld and a slurmd for each node, in a network and a process namespace of their own
and in a folder of their own, so that nothing of the machine is touched and nothing outlives the test.
"""

import contextlib
import os
import pwd
import re
import signal
import socket
import stat
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
# pylint: disable=wrong-import-position,unused-import
from tap import PATIENCE, Report, wait_for
# pylint: enable=unused-import

BUILD = os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build"))
PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol")

SLURM_CONF = """
ClusterName=gf
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=60
InactiveLimit=0
KillWait=2
MinJobAge=600
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,nohold_on_prolog_fail,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
DefMemPerCPU=1
SlurmdParameters=config_overrides
GresTypes=gpu
PlugStackConfig={folder}/plugstack.conf
JobSubmitPlugins=lua
"""


def be_init():
    """The first process of a namespace collects what daemons leave when they are killed; the test is its child."""
    child = os.fork()
    if not child:
        return
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 255)


def in_namespaces():
    """Runs the calling script again in namespaces of its own. Its end ends all that it started there."""
    if os.environ.get("SLURM_RIG") == "inside":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # Without an address but 127.0.0.1 Slurm resolves no name.
        subprocess.run(["ip", "address", "add", "10.99.0.1/32", "dev", "lo"], check=True)
        be_init()
        return
    for program in PROGRAMS:
        if not any(os.access(os.path.join(path, program), os.X_OK) for path in (os.environ["PATH"] + ":/usr/sbin").split(":")):
            print(f"1..0 # SKIP {program} is not installed")
            sys.exit(0)
    spaces = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() or subprocess.run(spaces + ["true"], capture_output=True, check=False).returncode:
        print("1..0 # SKIP nobody but root makes namespaces, and not everywhere")
        sys.exit(0)
    os.environ["PATH"] += ":/usr/sbin"
    os.environ["SLURM_RIG"] = "inside"
    os.execvp("unshare", spaces + [sys.executable] + sys.argv)


def fields_of(text):
    """What scontrol prints of an object: KEY=VALUE."""
    return dict(re.findall(r"(\S+?)=(\S*)", text))


class Cluster:
    """One controller; nodes n1, n2, ... with slots."""

    # pylint: disable=too-many-arguments
    def __init__(self, folder, licences, nodes, lines="", daemons=True, environment=None, script=None, plugins=""):
        """nodes: {"n1": "gpu:h100:4", ...}, with "" for none; daemons: start a slurmd for each."""
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.nodes = nodes
        self.environment = dict(os.environ, SLURM_CONF=os.path.join(folder, "slurm.conf"), **(environment or {}))
        self.running = {}
        os.makedirs(os.path.join(folder, "munge"), exist_ok=True)
        for name in ("state", *("spool." + node for node in nodes)):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        conf = SLURM_CONF.format(folder=folder, host=self.host)
        if licences:
            conf += f"Licenses={licences}\n"
        gres = "AutoDetect=off\n"
        for number, (node, slots) in enumerate(nodes.items()):
            conf += (f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={17001 + number} CPUs=128 Boards=1 "
                     f"SocketsPerBoard=2 CoresPerSocket=64 ThreadsPerCore=1 RealMemory=4000 State=UNKNOWN"
                     + (f" Gres={slots}" if slots else "") + "\n")
            for item in filter(None, slots.split(",")):
                _, kind, count = item.split(":")
                for slot in range(int(count)):
                    path = os.path.join(folder, "dev", f"{node}-{kind}-{slot}")
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    self.make_slot(path, number * 64 + slot)
                    gres += f"NodeName={node} Name=gpu Type={kind} File={path}\n"
        conf += lines or f"PartitionName=main Nodes={','.join(nodes)} Default=YES MaxTime=60 State=UP\n"
        self.write("slurm.conf", conf)
        self.write("gres.conf", gres)
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        self.write("plugstack.conf", plugins)
        if script:
            os.symlink(script, os.path.join(folder, "job_submit.lua"))
        with open(os.path.join(folder, "munge", "key"), "wb") as file:
            file.write(os.urandom(128))
        os.chmod(os.path.join(folder, "munge", "key"), 0o600)
        os.chmod(folder, 0o755)
        self.start("munged", ["munged", "--foreground", "--force", "--num-threads=4"]
                   + [f"--{what}={folder}/munge/{what[:-5]}" for what in ("key-file", "pid-file", "log-file", "seed-file")]
                   + [f"--socket={folder}/munge/socket"])
        wait_for(lambda: os.path.exists(f"{folder}/munge/socket"), "munge")
        self.start_controller("-i")
        if daemons:
            for node in nodes:
                self.start_node(node)
            wait_for(lambda: all(self.node(node) == "IDLE" for node in nodes), "idle nodes")

    @staticmethod
    def make_slot(path, number):
        """Slurm tells a Prolog of slots that are devices alone; where nobody may make one it is a file."""
        try:
            # A number for experiments, which no driver has.
            os.mknod(path, stat.S_IFCHR, os.makedev(240, number))
        except PermissionError:
            with open(path, "w", encoding="utf-8"):
                pass

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, name, words):
        with open(os.path.join(self.folder, name + ".out"), "ab") as output:
            self.running[name] = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                                  stderr=output)
        return self.running[name]

    def start_controller(self, *words):
        self.start("slurmctld", ["slurmctld", "-D", *words])
        wait_for(lambda: self.run("scontrol", "ping")[1].count("is UP"), "slurmctld")

    def start_node(self, node):
        self.start(node, ["slurmd", "-D", "-N", node])

    def end(self, name, number=signal.SIGTERM):
        process = self.running.pop(name)
        process.send_signal(number)
        process.wait(PATIENCE)

    def run(self, *words, user=None):
        """Exit status, output, errors."""
        done = subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=PATIENCE, cwd="/tmp", user=user,
                              group=pwd.getpwnam(user).pw_gid if user else None, extra_groups=[] if user else None)
        return done.returncode, done.stdout, done.stderr

    def good(self, *words, user=None):
        status, output, errors = self.run(*words, user=user)
        if status:
            raise RuntimeError(f"{' '.join(words)}: {errors}{output}")
        return output

    def node(self, name):
        return fields_of(self.run("scontrol", "show", "node", name)[1]).get("State", "")

    def why(self):
        """Reasons of nodes out of service, and the end of the controller's log, for a report."""
        return [self.run("sinfo", "-N", "-o", "%N %T %E")[1], *self.log().splitlines()[-20:]]

    def job(self, number):
        return fields_of(self.run("scontrol", "show", "job", str(number))[1])

    def until_running(self, number):
        try:
            wait_for(lambda: self.job(number)["JobState"] == "RUNNING", f"job {number} runs")
        except TimeoutError:
            print("# " + self.good("squeue", "-o", "%i %t %r %W %D %b"))
            raise

    def jobs(self):
        return self.good("squeue", "-h", "-o", "%A").split()

    def submit(self, *words, user=None):
        """Of a batch job that waits: its number, or None, and what was said."""
        status, output, errors = self.run("sbatch", "-H", "-o", "/dev/null", *words, "--wrap=true", user=user)
        found = re.search(r"Submitted batch job (\d+)", output)
        return (int(found.group(1)) if found and not status else None), errors

    def licences(self, number):
        """Those of the pool that a job takes, as a dict."""
        text = self.job(number).get("Licenses", "")
        return {item.split(":")[0]: int(item.split(":")[1]) for item in text.split(",") if item.startswith("gf_")}

    def reservations(self):
        text = self.good("scontrol", "-o", "show", "reservation")
        return {found["ReservationName"]: found for found in map(fields_of, text.splitlines()) if "ReservationName" in found}

    def used(self):
        """Licences by name: (total, used, reserved)."""
        found = {}
        for line in self.good("scontrol", "-o", "show", "licenses").splitlines():
            one = fields_of(line)
            if "LicenseName" in one:
                found[one["LicenseName"]] = tuple(int(one.get(key, 0)) for key in ("Total", "Used", "Reserved"))
        return found

    def close(self):
        with contextlib.suppress(Exception):
            self.run("scancel", "-u", "root")
        for name in list(self.running):
            if self.running[name].poll() is None:
                with contextlib.suppress(Exception):
                    self.end(name)
        for name in list(self.running):
            self.running[name].kill()

    def log(self, name="slurmctld"):
        with open(os.path.join(self.folder, name + ".log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def output(self, name):
        """What a program has printed that start() has started."""
        with open(os.path.join(self.folder, name + ".out"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
