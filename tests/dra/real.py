#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Scenarios with the real gpuctl, module and simulator in a host of the rack, where DRA_FAR runs programs. Arguments: "all", or "some" for
what the module has a part in; slots that a manager has, and those of the host.
"""

import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("build", os.path.join(TOP, "build")), "dra-test")
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests"), BUILD]
# pylint: disable=wrong-import-position
import scenarios
from bench import Bench
from certificates import make_certificates
from tap import Report


class FarBench(Bench):
    """Container devices are in the host as well."""

    def far(self, *words):
        there = ["nsenter", f"--net={os.environ['DRA_NETWORK']}", "--"]
        done = subprocess.run([*there, *os.environ["DRA_FAR"].split(), *words], check=False, stdout=subprocess.PIPE)
        # A file may be missing; a host that does not answer is no empty one.
        if done.returncode == 125:
            raise RuntimeError("the host does not answer")
        return done.stdout

    def document(self):
        return self.far("cat", os.path.join(self.cdi, "gpufabric.json"))

    def look(self):
        """Both from one run of a program there: a host starts few of them a second."""
        said = self.far("sh", "-c", f"gpuctl -j list && cat {self.cdi}/gpufabric.json 2>/dev/null").decode()
        inventory, end = json.JSONDecoder().raw_decode(said)
        return self.names_in(said[end:].strip()), inventory


def publishes(bench, slots):
    """What the module says of slots is published, and changes as they do."""
    cluster, key = bench.cluster, ("resource.k8s.io", "resourceslices", None, "gpufabric-node-node-a-0")

    def devices():
        return {one["name"]: one for one in cluster.objects.get(key, {"spec": {"devices": ()}})["spec"]["devices"]}

    cluster.until(lambda: sorted(devices()) == sorted(slots), "the slots are published")
    one = devices()[slots[0]]
    Report.ok(one["attributes"]["kind"] == {"string": "h100-pcie-80"} and one["capacity"]["memory"]["value"].endswith("Mi")
              and "taints" not in one, "with their kind and memory", one)
    watch = bench.kubelet.health()
    watch.until(lambda: {("node-a", name) for name in slots} <= set(watch.devices) and not watch.bad(), "the kubelet is told that they are healthy")
    watch.close()
    verdicts = {slot.get("verdict") for slot in bench.inventory()["slots"] if slot["slot"] in slots and slot["state"] == "off"}
    Report.ok(verdicts and verdicts <= {"fits", "fits-after-reassignment"}, "and the room for each was judged", verdicts)
    bench.gpuctl("compose", "by-hand", "--gpus", "1", *(word for name in (*slots[1:], *bench.ports) for word in ("--exclude", name)))
    cluster.until(lambda: [taint["value"] for taint in devices()[slots[0]].get("taints", ())] == ["by-hand"],
                  "a GPU that somebody else composes has a taint")
    bench.gpuctl("release", "by-hand")
    cluster.until(lambda: slots[0] in devices() and "taints" not in devices()[slots[0]], "until it is released")
    Report.same(cluster.invalid, [], "nothing that was sent was refused as invalid")


def main(which, ports, slots):
    with tempfile.TemporaryDirectory() as work:
        bench = FarBench(work, make_certificates(work), ports)
        bench.far("mkdir", "-p", bench.cdi)
        try:
            some = scenarios.ALL if which == "all" else scenarios.WITH_MODULE
            scenarios.run(bench, slots, (*some, scenarios.of_a_fabric, publishes))
        finally:
            bench.close()
            with open(bench.log, encoding="utf-8", errors="replace") as log:
                for line in log:
                    print("#", line.rstrip())
    return Report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2].split(","), sys.argv[3:]))
