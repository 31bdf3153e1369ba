# SPDX-License-Identifier: GPL-2.0-only
"""
The driver between a kubelet and an API server, with gpuctl behind a gate (tests/dra/gate) where
a test stops it. Environment: DRA_DRIVER and DRA_GPUCTL are the programs, and DRA_NETWORK is the
network namespace of gpuctl, if it is another one than ours.
"""

import json
import os
import signal
import subprocess

from kubelet import Kubelet
from server import Cluster
from tap import Report

HERE = os.path.dirname(os.path.abspath(__file__))


class Bench:
    """Everything in one folder; the driver can be killed and started again."""

    def __init__(self, work, certificates, ports=(), node="node-a", cluster=None):
        self.work, self.ports, self.node = work, list(ports), node
        self.authority, key, signed = certificates
        self.plugins, self.registry, self.gate, self.cdi = (os.path.join(work, name)
                                                            for name in ("plugins", "registry", "gate", "cdi"))
        for folder in (self.registry, self.gate, self.cdi):
            os.makedirs(folder)
        for name in ("reached", "go", "go.slow"):
            os.mkfifo(os.path.join(self.gate, name))
        self.token = os.path.join(work, "token")
        self.write(self.token, "a-token\n")
        self.cluster = cluster or Cluster(key, signed)
        self.uid = self.cluster.node(node)
        self.kubelet = Kubelet(self.registry)
        self.environment = dict(os.environ, GATE=self.gate, REAL_GPUCTL=os.environ["DRA_GPUCTL"])
        self.driver = None
        self.log = os.path.join(work, "log")

    @staticmethod
    def write(path, text):
        # whole at once, as the kubelet renews a token
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def words(self, *more):
        network = os.environ.get("DRA_NETWORK")
        more = (*more, "--network", network) if network else more
        return [os.environ["DRA_DRIVER"], "--node", self.node, "--plugins", self.plugins, "--registry", self.registry,
                "--cdi", self.cdi, "--gpuctl", os.path.join(HERE, "gate"), "--server", self.cluster.url,
                "--ca", self.authority, "--token", self.token, *more]

    def start(self, *more):
        with open(self.log, "ab") as log:
            self.driver = subprocess.Popen(self.words(*more), env=self.environment, stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log)
        return self.kubelet.register()

    def stop(self, how=signal.SIGTERM):
        self.driver.send_signal(how)
        code = self.driver.wait()
        self.driver = None
        return code

    def close(self):
        if self.driver:
            self.stop(signal.SIGKILL)
        self.cluster.close()

    def end(self):
        """Checks the log of the driver; returns the exit code of the test."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            text = log.read()
        Report.ok("ERROR" not in text and "runtime error" not in text, "the sanitizers found nothing", text)
        return Report.end()

    # the gate

    def hold(self, verb):
        self.write(os.path.join(self.gate, f"hold.{verb}"), "")

    def fail(self, verb, code, message=""):
        self.write(os.path.join(self.gate, f"fail.{verb}"), f"{code} {message}\n")

    def slow(self):
        """The next composition of the stand-in is held while it is on its way."""
        self.write(os.path.join(self.environment["STANDIN"], "slow"), "")

    def reached(self):
        """Wait until a run of gpuctl has come to where it is held; its verb."""
        with open(os.path.join(self.gate, "reached"), encoding="ascii") as pipe:
            return pipe.readline().strip()

    def go(self, pipe="go"):
        with open(os.path.join(self.gate, pipe), "w", encoding="ascii") as file:
            file.write("go\n")

    def asked(self, verb):
        """Command lines of gpuctl with this verb, since the last time."""
        path = os.path.join(self.gate, "log")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
        os.remove(path)
        return [line for line in lines if line.removeprefix("-j ").split()[0] == verb]

    # what is there

    def gpuctl(self, *words):
        network = os.environ.get("DRA_NETWORK")
        there = ["nsenter", f"--net={network}", "--"] if network else []
        return subprocess.run([*there, os.environ["DRA_GPUCTL"], *words], env=self.environment, check=True,
                              stdout=subprocess.PIPE).stdout

    def inventory(self, *options):
        return json.loads(self.gpuctl("-j", "list", *options))

    def compositions(self, inventory=None):
        return {one["name"]: one["state"] for one in (inventory or self.inventory())["compositions"]}

    def slots_of(self, claim, inventory=None):
        name = "claim-" + claim["metadata"]["uid"]
        return sorted(slot["slot"] for slot in (inventory or self.inventory())["slots"] if slot.get("composition") == name)

    def document(self):
        path = os.path.join(self.cdi, "gpufabric.json")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def names_in(document):
        return sorted(device["name"] for device in json.loads(document)["devices"]) if document else []

    def devices(self):
        """Names of container devices."""
        return self.names_in(self.document())

    def look(self):
        """Names of container devices, and the inventory."""
        return self.devices(), self.inventory()

    # what is checked in one line

    def prepared(self, claim, result, slots, what):
        uid = claim["metadata"]["uid"]
        ids = [name for device in result.devices for name in device.cdi_device_ids]
        devices, inventory = self.look()
        own = self.slots_of(claim, inventory)
        Report.ok(not result.error and [device.device_name for device in result.devices] == slots
                  and ids == [f"gpufabric.io/gpu=claim-{uid}"] and f"claim-{uid}" in devices
                  and own == sorted(slots), what, result, devices, own)

    def refused(self, result, words, what):
        Report.ok(words in result.error and "\n" not in result.error and not getattr(result, "devices", ()), what, result)

    def given_back(self, claim, answer, what):
        uid, (devices, inventory) = claim["metadata"]["uid"], self.look()
        compositions = self.compositions(inventory)
        Report.ok(list(answer) == [uid] and not answer[uid].error and f"claim-{uid}" not in devices
                  and f"claim-{uid}" not in compositions, what, answer, devices, compositions)
