#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl && make -s -f tests/dra/dra.mk && make -s -f tests/fm/fm.mk -j$(nproc)
"""
The driver for Kubernetes on two nodes with the pool of a real gpufabric-fm: it has the driver "sim" with its real agents, and
the program fabric-redfish speaks to it. In place of the module there are the ledgers of tests/dra/standin, one for each node.
"""

import json
import os
import re
import signal
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build"))
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests/fm"), os.path.join(TOP, "tests"), os.path.join(BUILD, "dra-test")]
os.environ.setdefault("DRA_DRIVER", os.path.join(BUILD, "dra-test/gpufabric-dra"))
os.environ["DRA_GPUCTL"] = os.path.join(TOP, "tests/dra/standin")
# pylint: disable=wrong-import-position
from bench import Bench
from certificates import make_certificates
from simulated import Ledger, SimManager, Simulated
from tap import Report

POOL, NODES, GPUS = "rack-0ce99e92", ("node-a", "node-b"), ["gpu0", "gpu1", "gpu2"]
SLICE = ("resource.k8s.io", "resourceslices", None, f"gpufabric-fabric-{POOL}-0")


class Rack:
    """Hosts with two empty slots each, and their manager."""

    def __init__(self, work):
        ledger = Ledger(work)
        self.hosts = {name: Simulated(work, name, 2, ledger) for name in NODES}
        self.manager = SimManager(work, {name: (one.path, one.ports) for name, one in self.hosts.items()}, GPUS)
        assert self.manager.command("init").returncode == 0
        self.manager.start().ready()

    def had(self):
        """Names of the GPUs in each host."""
        return {name: sorted(one.devices()) for name, one in self.hosts.items()}

    def close(self):
        self.manager.process.kill()
        for one in self.hosts.values():
            one.stop()


class Node(Bench):
    """A node with its driver; what the manager made for the host is the configuration of its gpuctl."""

    def __init__(self, work, rack, name, certificates, cluster=None):
        folder = os.path.join(work, f"of-{name}")
        self.config, self.state, self.rack = os.path.join(folder, "config"), os.path.join(folder, "state"), rack
        os.makedirs(os.path.join(self.config, "fabric.d"))
        os.makedirs(self.state)
        os.mkfifo(os.path.join(self.state, "changes"))
        self.file = os.path.join(self.config, "fabric.d/Rack.conf")
        super().__init__(folder, certificates, ["port-0", "port-1"], name, cluster)
        slots = [{"slot": port, "state": "empty", "switch": 1, "numa_node": 0, "gpu": "H100", "gpus": 1, "flags": []} for port in self.ports]
        self.write(os.path.join(self.state, "state.json"), json.dumps({"slots": slots, "compositions": {}, "pool": []}))
        self.environment.update(STANDIN=self.state, STANDIN_GPUCTL=os.path.join(BUILD, "gpuctl"), STANDIN_MANAGER=self.file,
                                GPUCTL_CONFIG_DIR=self.config, GPUCTL_DATA_DIR=os.path.join(TOP, "ctl/catalogue"))
        self.introduce()
        self.events = open(os.open(os.path.join(self.state, "changes"), os.O_RDWR), "w", encoding="ascii")

    def introduce(self):
        """The manager's file for this host, with where it listens now, and the names of its slots."""
        with open(os.path.join(self.rack.manager.folder, "hosts", f"{self.node}.conf"), encoding="utf-8") as file:
            text = re.sub(r"(?m)^url = .*", f"url = https://127.0.0.1:{self.rack.manager.port}", file.read())
        ports = " ".join(f"port-{n}={self.node}/0.{n}" for n in range(2))
        self.write(self.file, re.sub(r"(?m)^ports = .*", f"ports = {ports}", text))
        os.chmod(self.file, 0o600)

    def prepare(self, claim):
        return self.kubelet.prepare(claim)[claim["metadata"]["uid"]]

    def unprepare(self, claim):
        return self.kubelet.unprepare(claim)[claim["metadata"]["uid"]].error


def published(a, cluster):
    cluster.until(lambda: SLICE in cluster.objects, "the manager's GPUs are published")
    spec = cluster.objects[SLICE]["spec"]
    Report.same([(one["name"], one["attributes"]["kind"], one["capacity"]["memory"], one.get("taints")) for one in spec["devices"]],
                [(name, {"string": "h100-pcie-80"}, {"value": "81559Mi"}, None) for name in GPUS], "with kind and memory, for all of its nodes")
    Report.ok("nodeName" not in spec and spec["pool"]["name"] == POOL, "as a pool of its own", spec)
    Report.same(a.prepare(cluster.claim("none", ["gpu7"], pool=POOL)).error,
                f"fabric manager {POOL} has no GPU for device gpu7 any more", "a GPU that the manager does not have")


def two_nodes(a, b, rack, cluster):
    """Each has what was allocated to it, and no other."""
    first, second, third = (cluster.claim(name, gpus, pool=POOL) for name, gpus in (
        ("first", ["gpu0", "gpu1"]), ("second", ["gpu1"]), ("third", ["gpu2"])))
    result = a.prepare(first)
    Report.ok(not result.error and [one.device_name for one in result.devices] == ["gpu0", "gpu1"], "a claim for two is prepared", result)
    Report.same(rack.had(), {"node-a": ["gpu0", "gpu1"], "node-b": []}, "which the manager has put into the node")
    error = b.prepare(second).error
    Report.ok("gpu1" in error and "\n" not in error and rack.had()["node-b"] == [], "another node does not get one of them", error)
    Report.ok(not (result := b.prepare(third)).error and rack.had() == {"node-a": ["gpu0", "gpu1"], "node-b": ["gpu2"]}, "but its own", result)
    a.events.write("changed\n")
    a.events.flush()
    cluster.until(lambda: all("taints" in one for one in cluster.objects[SLICE]["spec"]["devices"]), "GPUs that are bound have a taint")
    Report.same((a.unprepare(first), rack.had()), ("", {"node-a": [], "node-b": ["gpu2"]}), "they are given back to the manager")
    Report.same((b.prepare(second).error, rack.had()), ("", {"node-a": [], "node-b": ["gpu1", "gpu2"]}), "then the other node has one")
    for claim in (second, third):
        Report.same(b.unprepare(claim), "", "given back")
    Report.same(rack.had(), {"node-a": [], "node-b": []}, "all of them")


def manager_dies(a, b, rack, cluster):
    claim = cluster.claim("later", ["gpu0"], pool=POOL)
    rack.manager.process.send_signal(signal.SIGKILL)
    rack.manager.process.wait()
    error = a.prepare(claim).error
    Report.ok(error and "\n" not in error and rack.had()["node-a"] == [], "a manager that is dead is said to be", error)
    rack.manager.start().ready()
    for node in (a, b):
        node.introduce()
    Report.same((a.prepare(claim).error, rack.had()["node-a"]), ("", ["gpu0"]), "when it is back, the claim is prepared")
    rack.manager.process.send_signal(signal.SIGKILL)
    rack.manager.process.wait()
    rack.manager.start().ready()
    a.introduce()
    result = a.prepare(claim)
    Report.ok(not result.error and [one.device_name for one in result.devices] == ["gpu0"], "and is found again after another restart", result)
    a.stop(signal.SIGKILL)
    a.start()
    Report.same((a.prepare(claim).error, rack.had()["node-a"]), ("", ["gpu0"]), "also by the next driver")
    Report.same((a.unprepare(claim), rack.had()), ("", {"node-a": [], "node-b": []}), "and given back")


def main():
    with tempfile.TemporaryDirectory() as work:
        rack, certificates = Rack(work), make_certificates(work)
        a = Node(work, rack, "node-a", certificates)
        b = Node(work, rack, "node-b", certificates, a.cluster)
        try:
            a.start()
            b.start()
            published(a, a.cluster)
            two_nodes(a, b, rack, a.cluster)
            manager_dies(a, b, rack, a.cluster)
            Report.same((a.stop(), b.stop()), (0, 0), "the drivers end")
            Report.same(a.cluster.invalid, [], "nothing that was sent was refused as invalid")
        finally:
            a.close()
            b.close()
            rack.close()
        for node in (a, b):
            with open(node.log, encoding="utf-8", errors="replace") as log:
                text = log.read()
            Report.ok("ERROR" not in text and "runtime error" not in text, f"{node.node}: the sanitizers found nothing", text)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
