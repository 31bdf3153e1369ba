# SPDX-License-Identifier: GPL-2.0-only
"""
Scenarios with the real gpuctl, module and simulator: all, or what the module has a part in ("some"); slots that a manager has, and
those of the host, are the other arguments.
"""

import os
import sys
import tempfile

import scenarios
from bench import Bench
from tap import Report


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
    here = os.path.dirname(os.path.abspath(__file__))
    certificates = [os.path.join(here, name) for name in ("ca.crt", "server.key", "server.crt")]
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(work, certificates, ports)
        try:
            some = scenarios.ALL if which == "all" else scenarios.WITH_MODULE
            scenarios.run(bench, slots, (*some, scenarios.of_a_fabric, publishes))
        finally:
            bench.close()
            with open(bench.log, encoding="utf-8", errors="replace") as log:
                for line in log:
                    print("#", line.rstrip())
    return Report.end()


sys.exit(main(sys.argv[1], sys.argv[2].split(","), sys.argv[3:]))
