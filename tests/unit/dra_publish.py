#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl && make -s -f tests/dra/dra.mk
"""
What the driver for Kubernetes publishes: slices of a node's slots and of a fabric manager's GPUs, at an API
server of tests/dra that judges them, changes them meanwhile, forgets and goes away.
"""

import json
import os
import signal
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "dra-test")
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests"), BUILD]
os.environ.setdefault("DRA_DRIVER", os.path.join(BUILD, "gpufabric-dra"))
os.environ["DRA_GPUCTL"] = os.path.join(TOP, "tests/dra/standin")
# pylint: disable=wrong-import-position
from bench import Bench
from certificates import make_certificates
from tap import Report
import manifests

MINE = "gpufabric-node-node-a-0"
RACK = "gpufabric-fabric-rack-0ce99e92-0"


def slot(name, **more):
    return {"slot": name, "state": "off", "gpu_id": "h100-pcie-80", "gpu": "H100 PCIe 80GB", "memory": 81559 << 20, "gpus": 1,
            "switch": 3, "numa_node": 1, "link_speed": 0, "link_width": 0, "flags": [], **more}


def owned(uid):
    return [{"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": uid, "controller": True}]


class Published(Bench):
    """The bench, and what is published."""

    def __init__(self, work):
        self.state = os.path.join(work, "state")
        os.makedirs(self.state)
        os.mkfifo(os.path.join(self.state, "changes"))
        os.environ["STANDIN"] = self.state
        self.ledger([slot(f"sim0-{n}") for n in range(6)])
        super().__init__(work, make_certificates(work))
        self.events = open(os.open(os.path.join(self.state, "changes"), os.O_RDWR), "w", encoding="ascii")

    def ledger(self, slots, pool=()):
        self.write(os.path.join(self.state, "state.json"), json.dumps({"slots": slots, "compositions": {}, "pool": list(pool)}))

    def change(self, slots, pool=()):
        self.ledger(slots, pool)
        self.events.write('{"event": "slot-changed"}\n')
        self.events.flush()

    def slice(self, name=MINE):
        return self.cluster.objects.get(("resource.k8s.io", "resourceslices", None, name))

    def bodies(self, name=MINE):
        """Devices of a slice by their names."""
        return {one["name"]: one.get("basic", one) for one in (self.slice(name) or {"spec": {}})["spec"].get("devices", ())}

    def owners(self, name=MINE):
        return (self.slice(name) or {"metadata": {}})["metadata"].get("ownerReferences")

    def taints(self, name=MINE):
        return {device: [(one["key"], one.get("value"), one["effect"]) for one in body["taints"]]
                for device, body in self.bodies(name).items() if "taints" in body}


def slots_of_a_node(bench):
    cluster = bench.cluster
    bench.start()
    cluster.until(bench.slice, "the slots of a node are published")
    spec = bench.slice()["spec"]
    Report.same((spec["driver"], spec["nodeName"], spec["pool"]),
                ("gpufabric.io", "node-a", {"name": "node-a", "generation": 1, "resourceSliceCount": 1}), "as its own pool")
    body = bench.bodies()["sim0-1"]
    Report.same((body["attributes"], body["capacity"]),
                ({"kind": {"string": "h100-pcie-80"}, "model": {"string": "H100 PCIe 80GB"}, "slot": {"string": "sim0-1"},
                  "switch": {"int": 3}, "numaNode": {"int": 1}, "gpus": {"int": 1}},
                 {"memory": {"value": "81559Mi"}, "bar": {"value": "128Gi"}}), "with attributes and capacity")
    Report.same(len(bench.bodies()), 6, "all six")
    Report.same(bench.owners(), owned(bench.uid), "the Node owns the slice")
    for _ in range(2):
        bench.hold("list")
        bench.change([slot(f"sim0-{n}") for n in range(6)])
        bench.reached()
        bench.go()
    Report.same(bench.slice()["spec"]["pool"]["generation"], 1, "what the API server writes in its own way is not written again")
    bench.change([slot("sim0-0", state="ready", link_speed=16000, link_width=16), slot("sim0-1", state="draining"),
                  slot("sim0-2", state="empty"), slot("sim0-3", flags=["unmanaged"]), slot("0000:05:00.0"),
                  slot("sim0-5", gpu=None), slot("sim0-6", gpu_id=None, gpu="Some GPU", memory=0)])
    cluster.until(lambda: bench.slice()["spec"]["pool"]["generation"] == 2, "a change of the fabric is a new generation")
    Report.same(sorted(bench.bodies()), ["0000-05-00-0-8cde821a", "sim0-0", "sim0-6"],
                "without what is on its way out, gone or not ours")
    Report.same((bench.bodies()["sim0-6"]["attributes"]["kind"], bench.bodies()["sim0-6"]["capacity"]),
                ({"string": "unknown"}, {"memory": {"value": "0"}, "bar": {"value": "0"}}),
                "a GPU that is not known has what selectors ask for, which would fail without it")
    Report.same(bench.bodies()["sim0-0"]["attributes"]["linkSpeed"], {"int": 16000}, "a link that is up is an attribute")
    bench.change([slot("sim0-0"), slot("sim0-1")])
    cluster.until(lambda: "sim0-1" in bench.bodies(), "slots come back")
    Report.same(bench.bodies()["sim0-0"]["attributes"].get("linkWidth"), {"int": 16}, "a link that is down is what it was")


def who_must_not_be_had(bench):
    cluster = bench.cluster
    slots = [slot("a", flags=["quarantined"]), slot("b", state="fault"), slot("c", composition="slurm.17"),
             slot("d", composition="claim-1"), slot("e", verdict="fits"), slot("f", verdict="cannot")]
    bench.change(slots)
    cluster.until(lambda: len(bench.taints()) == 4, "quarantine, faults, no room, and what others have are taints")
    Report.same(bench.taints(), {"a": [("gpufabric.io/quarantined", None, "NoSchedule")],
                                 "b": [("gpufabric.io/unhealthy", "fault", "NoSchedule")],
                                 "c": [("gpufabric.io/foreign", "slurm.17", "NoSchedule")],
                                 "f": [("gpufabric.io/no-window", None, "NoSchedule")]}, "with what is known of each")
    bench.change([slot("a"), *slots[1:]])
    cluster.until(lambda: "a" not in bench.taints(), "a taint that is over is taken away")
    with cluster.lock:
        cluster.no_taints = True
    bench.change(slots)
    cluster.until(lambda: sorted(bench.bodies()) == ["d", "e"], "a server that drops taints is not told of such GPUs")
    Report.same(bench.stop(), 0, "the driver ends")
    with cluster.lock:
        cluster.no_taints = False
    bench.start()
    cluster.until(lambda: len(bench.taints()) == 4, "one that starts again finds out whether taints are kept")


def health_of_devices(bench):
    """What the kubelet is told of devices, for the status of pods that have them."""
    cluster = bench.cluster
    bench.change([slot("a"), slot("b", state="ready"), slot("c", state="draining"), slot("d", state="empty"), slot("e", flags=["unmanaged"])])
    bench.watch = watch = bench.kubelet.health("v1alpha1")
    newer = bench.kubelet.health()
    for one, version in ((watch, "v1alpha1"), (newer, "v1")):
        one.until(lambda one=one: sorted(one.devices) == [("node-a", "a"), ("node-a", "b"), ("node-a", "c")] and not one.bad(),
                  f"{version}: the kubelet is told that devices are healthy")
    bad = {("node-a", "a"): ("UNHEALTHY", "slot a is in quarantine"), ("node-a", "b"): ("UNHEALTHY", "slot b is in fault: link"),
           ("node-a", "c"): ("UNHEALTHY", "slot c is lost"), ("node-a", "d"): ("UNHEALTHY", "slot d is empty")}
    bench.change([slot("a", flags=["quarantined"]), slot("b", state="fault", cause="link"), slot("c", state="lost"),
                  slot("d", state="empty", composition="claim-1")])
    for one in (watch, newer):
        one.until(lambda one=one: one.bad() == bad, "and of quarantine, faults, and GPUs that are gone")
    newer.close()
    Report.same(newer.ended.name, "CANCELLED", "a kubelet that ends its watch")
    bench.fail("list", 6, "the module gpufabric is not loaded")
    bench.hold("list")
    bench.change([slot("a"), slot("b")])
    watch.until(lambda: set(watch.devices.values()) == {("UNKNOWN", "the module gpufabric is not loaded")}, "nothing is known while gpuctl fails")
    bench.reached()
    bench.go()
    watch.until(lambda: sorted(watch.devices) == [("node-a", "a"), ("node-a", "b")] and not watch.bad(), "until it does not")
    with cluster.lock:
        cluster.away = True
    cluster.end_watches()
    bench.change([slot("a"), slot("b", state="lost")])
    watch.until(lambda: ("node-a", "b") in watch.bad(), "it is told while there is no API server, too")
    with cluster.lock:
        cluster.away = False
    gpus = [{"gpu": "GPU2", "kind": "h100-pcie-80", "state": "bound", "host": "a", "manager": "side", "slot": "port-0"}]
    ours = slot("port-0", state="lost", composition="claim-1")
    bench.change([ours], gpus)
    name = ("side", "gpu2-67aea305")
    watch.until(lambda: watch.devices == {name: ("UNHEALTHY", "slot port-0 is lost")}, "a fabric manager's GPU is a device of its pool")
    bench.write(os.path.join(bench.state, "silent"), "")
    bench.change([{**ours, "state": "ready"}])
    watch.until(lambda: watch.devices == {name: ("HEALTHY", "")}, "also while the manager does not answer")
    os.remove(os.path.join(bench.state, "silent"))


def watched_on(bench):
    """The kubelet forgets what it is not told again."""
    lists, before = bench.watch.lists, bench.watch.devices
    bench.watch.until(lambda: bench.watch.lists > lists and bench.watch.devices == before, "the same is told again, and again")


def what_others_do(bench):
    cluster = bench.cluster
    key = ("resource.k8s.io", "resourceslices", None, MINE)
    bench.change([slot("a"), slot("b")])
    cluster.until(lambda: sorted(bench.bodies()) == ["a", "b"] and not bench.taints(), "two slots")
    with cluster.lock:
        cluster.delete(key)
    cluster.until(bench.slice, "a slice that somebody deletes comes back")
    meddled = []

    def meddle(method, path):
        if method == "PUT" and path.endswith(MINE) and not meddled:
            meddled.append(path)
            cluster.put(key, {**cluster.get(key)[1], "metadata": {"name": MINE, "labels": {"a": "b"}}})

    cluster.before = meddle
    bench.change([slot("a"), slot("b"), slot("c")])
    cluster.until(lambda: len(bench.bodies()) == 3, "a conflict is another attempt")
    Report.ok(meddled, "which there was")
    cluster.before = None
    asked = len(cluster.asked)
    cluster.compact()
    cluster.end_watches()
    with cluster.lock:
        cluster.delete(key)
    cluster.until(bench.slice, "after a watch whose version is gone it is watched anew")
    cluster.until(lambda: any("watch=1" in path and int(path.rpartition("=")[2]) >= cluster.oldest
                              for _, path in cluster.asked[asked:]), "from a new version")
    with cluster.lock:
        cluster.away = True
    cluster.end_watches()
    bench.change([slot("a")])
    with cluster.lock:
        cluster.away = False
    cluster.until(lambda: sorted(bench.bodies()) == ["a"], "what changed while the server was away is told later")


def more_than_a_slice(bench):
    cluster = bench.cluster
    bench.change([slot(f"s{n}") for n in range(70)])
    second = MINE[:-1] + "1"
    cluster.until(lambda: len(bench.bodies()) == 64 and len(bench.bodies(second)) == 6, "seventy slots are two slices")
    pools = [bench.slice(name)["spec"]["pool"] for name in (MINE, second)]
    Report.ok(pools[0] == pools[1] and pools[0]["resourceSliceCount"] == 2, "of one generation", pools)
    bench.change([slot("a")])
    cluster.until(lambda: not bench.slice(second) and len(bench.bodies()) == 1, "and one is removed again")


def node_goes(bench):
    """Slices go with the Node that owns them; a Node of the same name is another one."""
    cluster = bench.cluster
    mine = ("resource.k8s.io", "resourceslices", None, MINE)
    with cluster.lock:
        old = cluster.get(mine)[1]
        del old["metadata"]["ownerReferences"]
        cluster.put(mine, old)
    cluster.until(lambda: bench.owners() == owned(bench.uid), "a slice without an owner gets the Node as its owner")
    with cluster.lock:
        cluster.delete(("", "nodes", None, "node-a"))
        asked = len(cluster.asked)
    cluster.until(lambda: len([path for _, path in cluster.asked[asked:] if path.endswith("/nodes/node-a")]) > 1,
                  "a driver whose Node is gone asks for it again")
    Report.ok(not bench.slice(), "and has published nothing for it")
    bench.uid = cluster.node("node-a")
    cluster.until(lambda: bench.owners() == owned(bench.uid), "what is published then belongs to the new one")


def pool_of_a_fabric(bench):
    cluster = bench.cluster
    lease = ("coordination.k8s.io", "leases", "kube-system", "gpufabric-dra-rack-0ce99e92")
    ours = slot("port-0", composition="claim-1")
    gpus = [{"gpu": f"GPU{n}", "kind": "h100-pcie-80", "state": "free", "manager": "Rack"} for n in range(3)]
    gpus[1].update(state="elsewhere", host="b")
    gpus[2].update(state="bound", host="a", slot="port-0")
    bench.change([slot("a"), ours], gpus)
    cluster.until(lambda: bench.slice(RACK), "GPUs of a fabric manager are a pool")
    Report.same(bench.owners(RACK), None, "which no Node owns")
    spec = bench.slice(RACK)["spec"]
    Report.same(spec["nodeSelector"], {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "gpufabric.io/fabric.rack-0ce99e92", "operator": "Exists"}]}]}, "for the nodes that are at it")
    Report.same((sorted(bench.bodies(RACK)), bench.taints(RACK)), (["gpu0-65ae9fdf", "gpu1-64ae9e4c", "gpu2-67aea305"], {
        "gpu1-64ae9e4c": [("gpufabric.io/foreign", "elsewhere", "NoSchedule")],
        "gpu2-67aea305": [("gpufabric.io/foreign", "bound", "NoSchedule")]}), "those that are bound are not for others")
    Report.same(bench.bodies(RACK)["gpu0-65ae9fdf"]["capacity"], {"memory": {"value": "81559Mi"}, "bar": {"value": "128Gi"}},
                "with what the catalogue has of their kind")
    cluster.until(lambda: sorted(bench.bodies()) == ["a"], "a slot with one is no device of the node besides")
    Report.same(cluster.objects[lease]["spec"]["holderIdentity"], "node-a", "by the node that has the lease")
    renewed = cluster.objects[lease]["metadata"]["resourceVersion"]
    cluster.until(lambda: cluster.objects[lease]["metadata"]["resourceVersion"] != renewed, "which it renews")
    with cluster.lock:
        other = cluster.get(lease)[1]
        other["spec"]["holderIdentity"] = "node-b"
        cluster.put(lease, other)
    bench.change([slot("a"), slot("b"), ours], gpus)
    cluster.until(lambda: "b" in bench.bodies(), "another node has the lease")
    # what was being written when it took it has been written by now
    with cluster.lock:
        cluster.delete(("resource.k8s.io", "resourceslices", None, RACK))
    bench.change([slot("a"), slot("b"), slot("d"), ours], gpus)
    cluster.until(lambda: "d" in bench.bodies(), "and the fabric changes again")
    Report.ok(not bench.slice(RACK), "then this one publishes its own slots alone")
    cluster.until(lambda: bench.slice(RACK), "until the other does not renew it")
    Report.same((cluster.objects[lease]["spec"]["holderIdentity"], cluster.objects[lease]["spec"]["leaseTransitions"]),
                ("node-a", 1), "and this one has it")
    renewed = cluster.objects[lease]["metadata"]["resourceVersion"]
    cluster.until(lambda: cluster.objects[lease]["metadata"]["resourceVersion"] != renewed, "and renews it, though nothing changes")
    bench.write(os.path.join(bench.state, "silent"), "")
    bench.change([slot("a"), slot("b"), slot("c")])
    bench.hold("list")
    bench.reached()
    bench.go()
    bench.hold("list")
    bench.reached()
    Report.ok(sorted(bench.bodies(RACK)) == ["gpu0-65ae9fdf", "gpu1-64ae9e4c", "gpu2-67aea305"] and "c" not in bench.bodies(),
              "a manager that does not answer changes nothing")
    bench.go()
    bench.change([slot("a"), slot("b"), slot("c")], [{"gpu": "GPU7", "kind": "h100-pcie-80", "state": "free", "manager": "Other"}])
    cluster.until(lambda: [one for one in cluster.all("resourceslices") if one["spec"]["pool"]["name"].startswith("other-")],
                  "but the pool of another one, which does, is published")
    Report.ok(len(bench.bodies(RACK)) == 3 and "c" not in bench.bodies(), "and nothing else")
    os.remove(os.path.join(bench.state, "silent"))
    bench.change([slot("a"), slot("b"), slot("c")])
    cluster.until(lambda: "c" in bench.bodies(), "until it answers")


def long_names(bench):
    """A manager's name as long as it may be: the label of its nodes is one, too."""
    gpus = [{"gpu": "GPU0", "kind": "h100-pcie-80", "state": "free", "manager": "m" * 64}]
    bench.change([slot("a")], gpus)
    found = []
    bench.cluster.until(lambda: bench.cluster.invalid or found.extend(
        one for one in bench.cluster.all("resourceslices") if "m" * 47 in one["spec"]["pool"]["name"]) or found, "a pool with a long name")
    Report.ok(found, "is taken by the API server", bench.cluster.invalid)
    bench.change([slot("a")])


def older_servers(bench):
    cluster = bench.cluster
    for version, nested in (("v1beta2", False), ("v1beta1", True)):
        bench.stop(signal.SIGTERM)
        with cluster.lock:
            cluster.objects.clear()
            bench.uid = cluster.node("node-a")
            cluster.versions = [version]
        bench.change([slot("a", flags=["quarantined"])])
        bench.start("--lease", "3")
        cluster.until(bench.slice, f"a server that has {version} alone")
        one = bench.slice()["spec"]["devices"][0]
        Report.ok(("basic" in one) == nested and bench.taints() and bench.slice()["apiVersion"] == f"resource.k8s.io/{version}",
                  f"has devices as {version} has them", one)


def main():
    with tempfile.TemporaryDirectory() as work:
        bench = Published(work)
        bench.cluster.granted = manifests.rights()
        try:
            for part in (slots_of_a_node, who_must_not_be_had, health_of_devices, what_others_do, more_than_a_slice, node_goes, watched_on):
                part(bench)
            Report.same(bench.stop(), 0, "the driver ends while it is watched")
            bench.watch.until(lambda: bench.watch.ended, "and so does the watch")
            Report.same(bench.watch.ended.name, "UNAVAILABLE", "with a reason")
            bench.watch.close()
            bench.start("--lease", "3")
            for part in (pool_of_a_fabric, long_names, older_servers):
                part(bench)
            claim = bench.cluster.claim("a", ["a"])
            Report.same(bench.kubelet.prepare(claim)[claim["metadata"]["uid"]].error, "", "a claim is prepared")
            Report.same(bench.stop(), 0, "the driver ends when it is told to")
            Report.same(bench.cluster.used, bench.cluster.granted, "it has the rights that it uses, and no others")
            Report.same(bench.cluster.invalid, [], "nothing that was sent was refused as invalid")
        finally:
            bench.close()
        return bench.end()


if __name__ == "__main__":
    sys.exit(main())
