#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
What pods see of the driver in a real cluster (tests/dra/cluster): manifests as gpuctl and docs/kubernetes.md have
them, pods that want more than there is, slow and failing GPUs, and many pods while driver and kubelet are killed.
"""

import argparse
import glob
import json
import math
import os
import random
import re
import signal
import statistics
import sys
import threading
import time
from datetime import datetime, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "../unit")]
# pylint: disable=wrong-import-position
import dra
import yaml
from cluster import BUILD, GATE, IMAGE, KUBELET, NODE, STATE, TOP, Api, Node, Refused, place
from manifests import objects
from tap import Report

SLOTS = [f"sim0-{n}" for n in range(8)]
PODS, CLAIMS = "/api/v1/namespaces/default/pods", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
SLICES, EVENTS = "/apis/resource.k8s.io/v1/resourceslices", "/api/v1/namespaces/default/events"
DRIVERS = "/api/v1/namespaces/gpufabric/pods"
STRICT = "fieldValidation=Strict"


def phase(name, *wanted):
    return lambda items: name in items and items[name]["status"].get("phase") in wanted and items[name]


def gone(name):
    return lambda items: name not in items


def examples():
    """Manifests of docs/kubernetes.md."""
    with open(os.path.join(TOP, "docs/kubernetes.md"), encoding="utf-8") as file:
        return [one for block in re.findall(r"```yaml\n(.*?)```", file.read(), re.S) for one in yaml.safe_load_all(block)]


def healths(pod):
    """Health and message of what containers of the pod have, by the pod's status."""
    return [(one["health"], one.get("message")) for container in (pod or {}).get("status", {}).get("containerStatuses", ())
            for resource in container.get("allocatedResourcesStatus", ()) for one in resource["resources"]]


class Cases:
    """One cluster, and the node's ledger and gate."""

    def __init__(self, node, options):
        self.node, self.api, self.options = node, node.api(), options
        self.state, self.gate = node.inside(STATE), node.inside(GATE)

    # what is there

    def ledger(self):
        with open(os.path.join(self.state, "state.json"), encoding="utf-8") as file:
            return json.load(file)

    def whole(self):
        ledger = self.ledger()
        return not ledger["compositions"] and not any(slot.get("composition") for slot in ledger["slots"])

    def devices(self):
        """Devices that are published for the node, by name."""
        return {one["name"]: one for item in self.api.ask("GET", SLICES)["items"] for one in item["spec"].get("devices", ())}

    def published(self, count, what):
        good = self.api.until(SLICES, lambda items: sum(len(item["spec"].get("devices", ())) for item in items.values()
                                                        if "nodeName" in item["spec"]) == count)
        Report.ok(good, what, self.devices())

    def driver_ready(self):
        return self.api.until(DRIVERS, lambda items: any(
            all(one["ready"] for one in item["status"].get("containerStatuses", ())) and item["status"].get("containerStatuses")
            for item in items.values()))

    # the gate, as in bench.py

    def hold(self, verb):
        with open(os.path.join(self.gate, f"hold.{verb}"), "w", encoding="ascii"):
            pass

    def fail(self, verb, code, message):
        path = os.path.join(self.gate, f"fail.{verb}")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{code} {message}\n")
        os.rename(path + ".new", path)

    def reached(self):
        with open(os.path.join(self.gate, "reached"), encoding="ascii") as pipe:
            return pipe.readline().strip()

    def go(self):
        with open(os.path.join(self.gate, "go"), "w", encoding="ascii") as pipe:
            pipe.write("go\n")

    # pods

    def pod(self, name, template, command="ls /dev/gpu-*", request=None, restart="Never"):
        claim = {"name": "gpus", **({"request": request} if request else {})}
        self.api.ask("POST", PODS, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "restartPolicy": restart, "terminationGracePeriodSeconds": 1,
                "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": template}],
                "containers": [{"name": "main", "image": IMAGE, "command": ["/bin/sh", "-c", command],
                                "resources": {"claims": [claim]}}]}})

    def template(self, name, devices):
        self.api.ask("POST", f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates?{STRICT}", {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name},
            "spec": {"spec": {"devices": devices}}})

    def counted(self, count):
        name = f"gpus-{count}"
        if not self.api.there(f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates/{name}"):
            self.template(name, {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpufabric.io", "count": count}}]})
        return name

    def drop(self, name):
        try:
            self.api.ask("DELETE", f"{PODS}/{name}")
        except Refused as refused:
            if refused.code != 404:
                raise

    def ended(self, *names):
        for name in names:
            self.drop(name)
        self.api.until(PODS, lambda items: not set(names) & set(items))
        self.api.until(CLAIMS, lambda items: not items)
        Report.ok(self.whole(), "and the pool is whole", self.ledger())

    def output(self, name, container="main"):
        """Lines of a container, with the time of each."""
        found, uid = [], (self.api.there(f"{PODS}/{name}") or {"metadata": {}})["metadata"].get("uid")
        for path in glob.glob(self.node.inside(f"/var/log/pods/default_{name}_{uid}/{container}/*.log")):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    when, _, _, text = line.rstrip("\n").split(" ", 3)
                    found.append((text, seconds(when)))
        return found

    def event(self, name, words):
        found = self.api.until(EVENTS, lambda items: next((item for item in items.values() if item["involvedObject"]["name"] == name
                                                           and words in item.get("message", "")), None))
        Report.ok(found, f"an event of pod {name}: {words}", found or self.events(name))
        if found:
            print(f"# {found['reason']}: {found['message']}")
        return found

    def events(self, name):
        return [(item["reason"], item.get("message")) for item in self.api.ask("GET", EVENTS)["items"]
                if item["involvedObject"]["name"] == name]

    def is_pending(self, name):
        found = self.api.until(PODS, lambda items: next((
            condition for condition in items.get(name, {"status": {}})["status"].get("conditions", ())
            if condition["type"] == "PodScheduled" and condition["status"] == "False"), None))
        Report.ok(found, f"pod {name} waits: {found and found.get('message')}")

    # cases

    def install(self):
        """What gpuctl kubernetes install prints, word for word but for the image; the driver runs with its own account."""
        for one in objects("install", "--image", IMAGE):
            path = place(one)
            answer = self.api.ask("POST", f"{path}?{STRICT}", one)
            Report.ok(answer["metadata"]["name"] == one["metadata"]["name"], f"{one['kind']} {one['metadata']['name']} is taken")
        self.api.ask("PATCH", f"/api/v1/nodes/{NODE}", {"metadata": {"labels": {"gpufabric.io/slots": "8"}}}, "application/merge-patch+json")
        if not Report.ok(self.driver_ready(), "its pod runs"):
            print(json.dumps([item["status"] for item in self.api.ask("GET", DRIVERS)["items"]], indent=1))
            print(json.dumps([(item["reason"], item["message"]) for item in
                              self.api.ask("GET", "/api/v1/namespaces/gpufabric/events")["items"]], indent=1))
            return
        self.published(len(SLOTS), "the node's slots are published")

    def documented(self):
        """Manifests of docs/kubernetes.md, and claims that gpuctl prints, are taken as they are."""
        for one in examples() + objects("claim", "llama-3.1-70b", "--gpu", "h100-pcie-80"):
            try:
                self.api.ask("POST", f"{place(one)}?{STRICT}&dryRun=All", one)
                said = None
            except Refused as refused:
                said = str(refused)
            Report.same(said, None, f"{one['kind']} {one['metadata']['name']} is taken")

    def run_as_documented(self):
        """Manifests of docs/kubernetes.md run, with other images: a job, a pod, two containers that share a claim."""
        for one in examples():
            spec = one["spec"]["template"]["spec"] if one["kind"] == "Job" else one["spec"]
            for container in spec.get("containers", ()):
                container.update(image=IMAGE, command=["/bin/sh", "-c", "ls /dev/gpu-*"])
                spec.update(restartPolicy="Never")
            self.api.ask("POST", f"{place(one)}?{STRICT}", one)
        ran = self.api.until(PODS, lambda items: len(items) == 3 and items if all(
            item["status"].get("phase") in ("Succeeded", "Failed") for item in items.values()) else None)
        had = {(name.split("-")[0], container["name"]): [text for text, _ in self.output(name, container["name"])]
               for name, item in (ran or {}).items() for container in item["spec"]["containers"]}
        Report.same({where: len(lines) for where, lines in had.items()},
                    {("training", "train"): 8, ("inference", "serve"): 1, ("pair", "serve"): 2, ("pair", "watch"): 2}, "each container has its GPUs")
        Report.ok(had.get(("pair", "serve")) == had.get(("pair", "watch")), "those that share a claim have the same ones", had)
        self.api.ask("DELETE", "/apis/batch/v1/namespaces/default/jobs/training?propagationPolicy=Foreground")
        self.drop("pair")
        self.api.ask("DELETE", f"{CLAIMS}/shared")
        self.ended("inference", "pair")

    def waits_for_its_turn(self):
        """K1: two pods want five of eight."""
        template = self.counted(5)
        self.pod("a", template, "ls /dev/gpu-*; sleep 100000")
        Report.ok(self.api.until(PODS, phase("a", "Running")), "pod a runs")
        self.pod("b", template, "ls /dev/gpu-*; sleep 100000")
        self.is_pending("b")
        self.drop("a")
        Report.ok(self.api.until(PODS, phase("b", "Running")), "pod b runs when a has ended")
        self.ended("a", "b")

    def keeps_until_given_back(self):
        """K2: as long as GPUs are being given back, nobody else has them."""
        self.pod("a", self.counted(8), "sleep 100000")
        self.api.until(PODS, phase("a", "Running"))
        self.pod("b", self.counted(1))
        self.is_pending("b")
        self.hold("release")
        self.drop("a")
        Report.same(self.reached(), "release", "the GPUs of a are being given back")
        claims = [item["metadata"]["name"] for item in self.api.ask("GET", CLAIMS)["items"] if "allocation" in item.get("status", {})]
        Report.ok(len(claims) == 1 and claims[0].startswith("a-") and not self.output("b"), "meanwhile they are a's, and b waits", claims)
        self.go()
        Report.ok(self.api.until(PODS, phase("b", "Succeeded")), "b has one when they are back")
        self.ended("a", "b")

    def says_why(self):
        """K3: the event says what gpuctl said, and the kubelet asks again."""
        self.fail("compose", 3, "2 GPUs are asked for, and slot sim0-1 does not answer")
        self.pod("a", self.counted(2))
        self.event("a", "2 GPUs are asked for, and slot sim0-1 does not answer")
        Report.ok(self.api.until(PODS, phase("a", "Succeeded")), "then it runs")
        self.ended("a")

    def takes_long(self):
        """K4: longer than the kubelet waits."""
        self.hold("compose")
        self.pod("a", self.counted(2))
        Report.same(self.reached(), "compose", "GPUs are being attached")
        self.event("a", "its GPUs are still being attached")
        self.go()
        Report.ok(self.api.until(PODS, phase("a", "Succeeded")), "then it runs")
        self.ended("a")

    def deleted_meanwhile(self):
        """K5: the pod is deleted while its GPUs are being attached."""
        self.hold("compose")
        self.pod("a", self.counted(2))
        self.reached()
        self.drop("a")
        self.go()
        self.ended("a")

    def one_of_several(self):
        """The first alternative that can be had, for a container that names the request."""
        self.template("first", {"requests": [{"name": "gpu", "firstAvailable": [
            {"name": "many", "deviceClassName": "gpufabric.io", "count": 9}, {"name": "few", "deviceClassName": "gpufabric.io", "count": 2}]}],
            "config": [{"requests": ["gpu/many"], "opaque": {"driver": "gpufabric.io", "parameters": {
                "apiVersion": "gpufabric.io/v1", "kind": "GpuParameters", "driver": "vfio-pci"}}}]})
        self.pod("a", "first", "ls /dev/gpu-*", request="gpu")
        done = self.api.until(PODS, phase("a", "Succeeded", "Failed"))
        Report.ok(done and done["status"]["phase"] == "Succeeded" and len(self.output("a")) == 2, "a container has its alternative's GPUs",
                  self.output("a"), self.events("a"))
        with open(os.path.join(self.gate, "log"), encoding="utf-8") as file:
            asked = [line for line in file if line.startswith("compose")][-1]
        Report.ok("vfio-pci" not in asked, "without what another alternative asks for", asked)
        self.ended("a")

    def unknown_gpu(self):
        """A GPU of a kind that is not known is one that claims by kind do not get, and harms no other."""
        self.change(lambda slots: slots[0].update(gpu_id=None, gpu="unknown GPU", memory=0))
        self.api.until(SLICES, lambda items: any("h100-pcie-80" not in json.dumps(one) for item in items.values() for one in item["spec"]["devices"]))
        self.template("by-kind", {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpufabric.io", "count": 7, "selectors": [
            {"cel": {"expression": 'device.attributes["gpufabric.io"].kind == "h100-pcie-80"'}},
            {"cel": {"expression": 'device.capacity["gpufabric.io"].memory.compareTo(quantity("40Gi")) >= 0'}}]}}]})
        self.pod("a", "by-kind")
        done = self.api.until(PODS, lambda items: phase("a", "Succeeded", "Failed")(items) or next((
            condition for condition in items.get("a", {"status": {}})["status"].get("conditions", ())
            if condition["type"] == "PodScheduled" and condition["status"] == "False"), None))
        Report.ok(done and done.get("status", {}) and "phase" in (done["status"] if isinstance(done["status"], dict) else {}),
                  "seven of seven that are known are had", done)
        self.ended("a")
        self.change(lambda slots: slots[0].update(gpu_id="h100-pcie-80", gpu="H100", memory=80 << 30))

    def change(self, how):
        """The node's slots, and whoever watches them is told."""
        ledger = self.ledger()
        how(ledger["slots"])
        path = os.path.join(self.state, "state.json")
        with open(path + ".test", "w", encoding="utf-8") as file:
            json.dump(ledger, file)
        os.rename(path + ".test", path)
        with open(os.path.join(self.state, "changes"), "w", encoding="ascii") as pipe:
            pipe.write("changed\n")

    def tainted(self):
        """Who has no toleration does not get a GPU in quarantine; who has one does."""
        self.change(lambda slots: slots[0].update(flags=["quarantined"]))
        kept = self.api.until(SLICES, lambda items: [one["taints"] for item in items.values() for one in item["spec"]["devices"] if "taints" in one])
        Report.ok(kept and kept[0][0]["key"] == "gpufabric.io/quarantined", "a GPU in quarantine has a taint", kept)
        self.pod("a", self.counted(8))
        self.is_pending("a")
        self.template("tolerant", {"requests": [{"name": "gpus", "exactly": {
            "deviceClassName": "gpufabric.io", "count": 8, "tolerations": [{"key": "gpufabric.io/quarantined", "operator": "Exists"}]}}]})
        self.pod("b", "tolerant")
        Report.ok(self.api.until(PODS, phase("b", "Succeeded")), "a claim that tolerates it has all")
        self.change(lambda slots: slots[0].update(flags=[]))
        Report.ok(self.api.until(PODS, phase("a", "Succeeded")), "and the other one when it is over")
        self.ended("a", "b")

    def rights(self):
        """What the account of the driver may do, and no more."""
        token = self.node.account_token("gpufabric", "gpufabric-dra")
        api = Api(self.node.authority, token)
        for method, path in (("GET", "/api/v1/namespaces/default/secrets"), ("GET", PODS), ("DELETE", f"{CLAIMS}/x"),
                             ("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")):
            try:
                api.ask(method, path)
                code = 200
            except Refused as refused:
                code = refused.code
            Report.same(code, 403, f"the driver may not {method} {path}")

    def health(self):
        """A pod's status has the health of its GPUs."""
        self.pod("a", self.counted(8), "sleep 100000")
        for flags, health, message in ([], "Healthy", None), (["quarantined"], "Unhealthy", "slot sim0-0 is in quarantine"), ([], "Healthy", None):
            self.change(lambda slots, flags=flags: slots[0].update(flags=flags))
            kept = self.api.until(PODS, lambda items, wanted=(health, message): [one for one in healths(items.get("a")) if one == wanted])
            Report.ok(kept, f"it is {health}: {message}", healths(self.api.there(f"{PODS}/a")))
        self.ended("a")

    def of_a_fabric(self):
        """GPUs of a fabric manager are for nodes at its ports, which they are bound to while a pod has them."""
        pools = self.api.until(SLICES, lambda items: [item["spec"] for item in items.values() if "nodeSelector" in item["spec"]])
        pool = pools[0]["pool"]["name"] if pools else "none"
        Report.same([len(one["devices"]) for one in pools or ()], [4], "the pool of the manager is published", pools)

        def wants(name, count):
            self.template(name, {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpufabric.io", "count": count, "selectors": [
                {"cel": {"expression": 'has(device.attributes["gpufabric.io"].gpu)'}}]}}]})
            return name

        def ports(number):
            self.api.ask("PATCH", f"/api/v1/nodes/{NODE}", {"metadata": {"labels": {f"gpufabric.io/fabric.{pool}": number}}}, "application/merge-patch+json")

        self.pod("a", wants("fabric-2", 2))
        self.is_pending("a")
        ports("2")
        Report.ok(self.api.until(PODS, phase("a", "Succeeded")), "a pod that wants two runs when a node has the label")
        Report.same(sorted(text for text, _ in self.output("a")), ["/dev/gpu-port-0", "/dev/gpu-port-1"], "and had those in the slots that they were bound to")
        self.ended("a")
        self.pod("b", wants("fabric-3", 3))
        self.event("b", "empty slots are needed")
        self.ended("b")
        Report.same([gpu["state"] for gpu in self.ledger()["pool"]], ["free"] * 4, "and the manager's pool is whole")
        ports(None)

    def forgotten(self):
        """Slices that somebody deletes, or the kubelet when it starts, come again; a changed one is put right."""
        name = f"gpufabric-node-{NODE}-0"
        self.api.ask("DELETE", f"{SLICES}/{name}")
        self.published(len(SLOTS), "a slice that was deleted comes again")
        self.api.ask("PATCH", f"{SLICES}/{name}", {"spec": {"devices": []}}, "application/merge-patch+json")
        self.published(len(SLOTS), "one that was changed is put right")
        self.node.kill("kubelet")
        self.node.start_kubelet()
        self.pod("a", self.counted(8))
        Report.ok(self.api.until(PODS, phase("a", "Succeeded")), "a pod runs after the kubelet has started again")
        self.published(len(SLOTS), "and the slots are published")
        self.ended("a")

    def storm(self):
        """Pods of one to four GPUs while driver and kubelet are killed."""
        Storm(self).run()


class Storm:
    """Follows claims and pods; kills when enough pods have ended."""

    def __init__(self, cases):
        self.cases, self.api, self.options = cases, cases.api, cases.options
        self.allocated, self.times, self.changed = {}, {}, threading.Condition()
        self.phases = {}
        choose = random.Random(self.options.seed)
        self.counts = {f"pod-{n}": choose.randint(1, 4) for n in range(self.options.pods)}

    def claims(self):
        for kind, item in self.api.events(CLAIMS):
            if kind not in ("ADDED", "MODIFIED") or "allocation" not in item.get("status", {}):
                continue
            pod = item["metadata"]["ownerReferences"][0]["name"]
            uid = item["metadata"]["uid"]
            if pod not in self.allocated:
                self.allocated[pod] = (sorted(one["device"] for one in item["status"]["allocation"]["devices"]["results"]), uid, time.time())

    def pods(self):
        for kind, item in self.api.events(PODS):
            if item and kind != "DELETED":
                with self.changed:
                    self.phases[item["metadata"]["name"]] = item["status"].get("phase")
                    self.changed.notify_all()

    def done(self):
        return sum(phase in ("Succeeded", "Failed") for phase in self.phases.values())

    def run(self):
        cases, options = self.cases, self.options
        for what in (self.claims, self.pods):
            threading.Thread(target=what, daemon=True).start()
        begun = time.time()
        for name, count in self.counts.items():
            # A container that is being started when the kubelet is killed has failed, whatever it is.
            cases.pod(name, cases.counted(count), restart="OnFailure")
        killed = 0
        for kill in range(options.kills):
            with self.changed:
                while self.done() < (kill + 1) * options.pods // (options.kills + 1):
                    if not self.changed.wait(600):
                        break
            for pid in cases.node.pids("gpufabric-dra"):
                os.kill(pid, signal.SIGKILL)
                killed += 1
            cases.node.kill("kubelet")
            cases.node.start_kubelet()
        with self.changed:
            while self.done() < options.pods:
                if not self.changed.wait(600):
                    break
        took = time.time() - begun
        self.judge(killed, took)

    def judge(self, killed, took):
        cases = self.cases
        good = [name for name, phase in self.phases.items() if phase == "Succeeded" and name in self.counts]
        Report.ok(len(good) == len(self.counts), f"{len(self.counts)} pods ran, {took:.0f} s", self.phases)
        wrong, starts = [], []
        for name in good:
            lines = cases.output(name)
            had = sorted(text.removeprefix("/dev/gpu-") for text, _ in lines)
            if name not in self.allocated or had != self.allocated[name][0] or len(had) != self.counts[name]:
                wrong.append((name, had, self.allocated.get(name)))
            elif lines:
                starts.append((name, lines[0][1]))
        Report.same(wrong, [], "each had the GPUs that were allocated to it, and no others")
        Report.same(killed, self.options.kills, "the driver was killed as often as was asked for, and the kubelet as often")
        calls = self.calls()
        whole = {self.allocated[name][1]: start - self.allocated[name][2] for name, start in starts}
        ours = {uid: calls[uid] for uid in whole if uid in calls}
        print(f"# from allocation to the container's first line: {spread(whole.values())}")
        print(f"# of that in NodePrepareResources, which is the driver's part: {spread(ours.values())}")
        print(f"# and in the kubelet and the container runtime: {spread(whole[uid] - ours[uid] for uid in ours)}")
        cases.ended(*self.counts)
        cases.published(len(SLOTS), "and all slots are published")

    def calls(self):
        """How long the call took that prepared a claim, by the kubelet's log."""
        begun, took = {}, {}
        with open(os.path.join(self.cases.node.out, "kubelet.log"), encoding="utf-8", errors="replace") as log:
            for line in log:
                found = re.search(r"I\d{4} (\d\d:\d\d:\d\d\.\d+)", line)
                if not found or "NodePrepareResources rpc" not in line:
                    continue
                hours, minutes, rest = found[1].split(":")
                when = int(hours) * 3600 + int(minutes) * 60 + float(rest)
                for uid in re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", line):
                    if '"Calling' in line:
                        begun[uid] = when
                    elif uid in begun and "error:" not in line and re.search(r" err=(null|<nil>)", line):
                        took.setdefault(uid, when - begun[uid])
        return took


def seconds(text):
    whole, rest = text.split(".")
    return datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp() + float("0." + re.match(r"\d+", rest)[0])


def spread(values):
    values = sorted(values)
    if not values:
        return "nothing was measured"
    within = [values[math.ceil(len(values) * percent / 100) - 1] for percent in (90, 99)]
    return (f"median {statistics.median(values):.2f} s, 90 % within {within[0]:.2f} s, 99 % within {within[1]:.2f} s, "
            f"longest {values[-1]:.2f} s ({len(values)} pods)")


ALL = ("install", "documented", "run_as_documented", "rights", "health", "waits_for_its_turn", "keeps_until_given_back", "says_why",
       "takes_long", "deleted_meanwhile", "one_of_several", "unknown_gpu", "tainted", "of_a_fabric", "forgotten", "storm")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("-p", "--pods", type=int, default=100)
    parser.add_argument("-k", "--kills", type=int, default=10)
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-g", "--gates", action="append", default=[], help="further option of all parts of the control plane")
    parser.add_argument("cases", nargs="*", default=[])
    options = parser.parse_args()
    node = Node(options.folder, os.path.join(BUILD, "out/cluster"))
    node.mounts()
    try:
        for folder in (STATE, GATE, "/run/cdi"):
            os.makedirs(node.inside(folder))
        dra.ledger(node.inside(STATE), SLOTS)
        for name in (f"{GATE}/reached", f"{GATE}/go", f"{STATE}/changes"):
            os.mkfifo(node.inside(name))
        node.certificates()
        node.control_plane(options.gates)
        node.runtime()
        node.ready()
        node.write("/etc/kubernetes/kubelet.yaml", json.dumps(KUBELET))
        node.start_kubelet()
        cases = Cases(node, options)
        Report.ok(cases.api.until("/api/v1/nodes", lambda items: NODE in items and any(
            one["type"] == "Ready" and one["status"] == "True" for one in items[NODE]["status"].get("conditions", ()))), "the node is ready")
        cases.api.until("/api/v1/namespaces/default/serviceaccounts", lambda items: "default" in items)
        for name in options.cases or ALL:
            print(f"# {name}: {(getattr(Cases, name).__doc__ or '').strip().splitlines()[0]}", flush=True)
            getattr(cases, name)()
            sys.stdout.flush()
    finally:
        node.close()
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
