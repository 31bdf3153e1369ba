# SPDX-License-Identifier: GPL-2.0-only
"""
What a kubelet does to the driver, with the stand-in for gpuctl or with the real one: each scenario ends with
nothing composed. The node has six GPUs in slots that slots() names.
"""

import os
import signal
import subprocess

import grpc
from kubelet import for_container
from tap import Report, wait_for


def uid_of(claim):
    return claim["metadata"]["uid"]


def registration(bench, _slots):
    info = bench.kubelet.register()
    Report.same((info.type, info.name, list(info.supported_versions)),
                ("DRAPlugin", "gpufabric.io", ["v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"]), "the driver says who it is")
    bench.kubelet.register(good=False, error="no\nsuch thing")
    Report.ok(True, "it is told that the kubelet refused it")
    try:
        bench.kubelet.ask("NodeWatchResources", [], type(info), "v1", 60)
        Report.ok(False, "another method is not there")
    except grpc.RpcError as error:
        Report.same(error.code(), grpc.StatusCode.UNIMPLEMENTED, "another method is not there")
    Report.same(bench.kubelet.prepare(), {}, "no claims, no results")


def prepare_and_give_back(bench, slots, version):
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("train", slots[1:4])
    bench.asked("compose")
    result = kubelet.prepare(claim, version=version)
    Report.same(list(result), [uid_of(claim)], f"{version}: an answer for the claim alone")
    bench.prepared(claim, result[uid_of(claim)], slots[1:4], f"{version}: it has the slots that were allocated")
    again = kubelet.prepare(claim, version=version)
    bench.prepared(claim, again[uid_of(claim)], slots[1:4], f"{version}: the same once more")
    Report.same(len(bench.asked("compose")), 1, f"{version}: it was composed once")
    bench.given_back(claim, kubelet.unprepare(claim, version=version), f"{version}: it is given back")
    bench.given_back(claim, kubelet.unprepare(claim, version=version), f"{version}: once more, which is no error")
    cluster.drop(claim)
    bench.given_back(claim, kubelet.unprepare(claim, version=version), f"{version}: also when the claim is gone")


def allocated_anew(bench, slots):
    """The scheduler has allocated other GPUs to a claim whose first ones were never given back."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("moved", slots[:2])
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:2], "a claim is prepared")
    cluster.drop(claim)
    claim = cluster.claim("moved", slots[2:4], uid=uid_of(claim))
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "does not have slot", "with GPUs that are others' it is refused as long as it has the first ones")
    bench.given_back(claim, kubelet.unprepare(claim), "they are given back")
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "and then it has those that were allocated")
    bench.given_back(claim, kubelet.unprepare(claim), "which are given back")


def alternatives(bench, slots):
    """The scheduler chose an alternative of a request; containers name the request."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("either", slots[:2], request="gpu/few")
    result = kubelet.prepare(claim)[uid_of(claim)]
    bench.prepared(claim, result, slots[:2], "a claim with alternatives has what was chosen")
    Report.same(for_container(result, "gpu"), [f"gpufabric.io/gpu=claim-{uid_of(claim)}"], "for a container that names the request", result)
    bench.given_back(claim, kubelet.unprepare(claim), "and it is given back")
    claim = cluster.claim("both", [("gpu/few", slots[0]), ("more", slots[1])])
    result = kubelet.prepare(claim)[uid_of(claim)]
    Report.same((len(for_container(result, "gpu")), len(for_container(result, "more")), len(for_container(result))), (1, 1, 2),
                "and so for each request", result)
    bench.given_back(claim, kubelet.unprepare(claim), "and it is given back")


def several_claims(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    a, b, c = cluster.claim("a", slots[:2]), cluster.claim("b", slots[2:5]), cluster.claim("c", slots[5:])
    cluster.drop(c)
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(a, b, c))
    bench.reached()
    # one of the two is held: the other is not behind it
    other = Asking(lambda: {**kubelet.prepare(b), **kubelet.prepare(c)} if f"claim-{uid_of(b)}" in bench.compositions()
                   else {**kubelet.prepare(c)})
    bench.refused(other.result()[uid_of(c)], "does not exist any more", "a claim that is gone is an error of its own")
    bench.go()
    results = ask.result()
    bench.prepared(a, results[uid_of(a)], slots[:2], "of several claims the first is prepared")
    bench.prepared(b, results[uid_of(b)], slots[2:5], "and the second")
    bench.refused(results[uid_of(c)], f"claim default/{c['metadata']['name']} does not exist any more", "and the third is refused")
    answer = kubelet.unprepare(a, b)
    Report.ok(not any(one.error for one in answer.values()) and not bench.compositions(), "both are given back in one call", answer)


def two_at_once(bench, slots):
    """The scheduler gave the same slots to two claims: one has them, the other is told why not."""
    cluster, kubelet = bench.cluster, bench.kubelet
    a, b = cluster.claim("a", slots[:4]), cluster.claim("b", slots[:4])
    results = kubelet.prepare(a, b)
    good = [claim for claim in (a, b) if not results[uid_of(claim)].error]
    bad = [claim for claim in (a, b) if results[uid_of(claim)].error]
    if Report.ok(len(good) == 1 and len(bad) == 1, "of two claims for the same slots one is prepared", results):
        bench.prepared(good[0], results[uid_of(good[0])], slots[:4], "which has them")
        bench.refused(results[uid_of(bad[0])], "", "and one is refused in one line")
        kubelet.unprepare(good[0])
        result = kubelet.prepare(bad[0])[uid_of(bad[0])]
        bench.prepared(bad[0], result, slots[:4], "it is prepared when the other has ended")
        bench.given_back(bad[0], kubelet.unprepare(bad[0]), "and given back")


class Asking:
    """A call in a thread of its own."""

    def __init__(self, function):
        import threading  # pylint: disable=import-outside-toplevel
        self.value = self.failed = None

        def run():
            try:
                self.value = function()
            except grpc.RpcError as error:
                self.failed = error
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def result(self):
        self.thread.join()
        return self.value


def longer_than_the_kubelet_waits(bench, slots):
    """Started with --answer-within 0: every call is answered at once, as the kubelet's 45 s would be over."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("long", slots[:2])
    bench.stop()
    bench.start("--answer-within", "0")
    bench.hold("compose")
    bench.asked("compose")
    bench.refused(kubelet.prepare(claim, patient=False)[uid_of(claim)], "still being attached", "what takes long is answered: it is under way")
    bench.reached()
    bench.refused(kubelet.prepare(claim, patient=False)[uid_of(claim)], "still being attached", "and once more")
    bench.go()
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:2], "at last it is done")
    Report.same(len(bench.asked("compose")), 1, "and was composed once")
    bench.stop()
    bench.start()
    bench.hold("release")
    with_deadline = Asking(lambda: kubelet.unprepare(claim, timeout=6, patient=False))
    bench.reached()
    answer = with_deadline.result()
    Report.ok(answer and "still being given back" in answer[uid_of(claim)].error,
              "the driver answers before the kubelet's own deadline", answer, with_deadline.failed)
    bench.go()
    bench.given_back(claim, kubelet.unprepare(claim), "and finds it given back")


def a_failure_is_told_later(bench, slots):
    """Whoever asks next is told how it ended, though nobody was there when it did."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("late", slots[:2])
    bench.stop()
    bench.start("--answer-within", "0")
    bench.fail("compose", 3, "2 GPUs are asked for, 1 is free")
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "2 GPUs are asked for, 1 is free", "a failure after the answer is the next answer")
    bench.stop()
    bench.start()
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:2], "and then it is tried again")
    bench.given_back(claim, kubelet.unprepare(claim), "given back")


def ended_while_it_prepares(bench, slots):
    """Who is told to ask again waits for a minute or more; so a driver that is to end answers first."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("ended", slots[:2])
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(claim, patient=False))
    bench.reached()
    bench.driver.terminate()
    wait_for(lambda: not os.path.exists(kubelet.socket), "the driver ends")
    bench.go()
    bench.prepared(claim, ask.result()[uid_of(claim)], slots[:2], "a driver that is told to end prepares what is under way")
    Report.same(bench.driver.wait(), 0, "and ends")
    bench.start()
    bench.given_back(claim, kubelet.unprepare(claim), "the next one gives it back")


def killed_while_it_prepares(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("killed", slots[2:4])
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    bench.stop(signal.SIGKILL)
    ask.result()
    Report.ok(ask.failed is not None, "the driver is killed before it has composed: the kubelet's call fails")
    bench.start()
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "the next driver prepares it")
    bench.go()
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "and the old gpuctl changes nothing")
    bench.hold("cdi")
    ask = Asking(lambda: kubelet.unprepare(claim))
    bench.reached()
    bench.stop(signal.SIGKILL)
    bench.go()
    ask.result()
    bench.start()
    bench.given_back(claim, kubelet.unprepare(claim), "killed while it gives back: the next driver does")
    claim = cluster.claim("killed", slots[2:4])
    bench.hold("cdi")
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    bench.stop(signal.SIGKILL)
    bench.go()
    ask.result()
    bench.start()
    bench.asked("compose")
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "killed when it has composed: the next driver finds it")
    Report.same(bench.asked("compose"), [], "and does not compose again")
    bench.stop()
    bench.start()
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "ended and started again: the same")
    bench.given_back(claim, kubelet.unprepare(claim), "and it is given back")


def found_on_its_way(bench, slots):
    """The composition is there, and not yet whole: its end is awaited."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("way", slots[:2])
    bench.slow()
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    bench.stop(signal.SIGKILL)
    ask.result()
    bench.start()
    bench.hold("until")
    again = Asking(lambda: kubelet.prepare(claim))
    Report.same(bench.reached(), "until", "a composition on its way is waited for")
    bench.go("go.slow")
    bench.go()
    bench.prepared(claim, again.result()[uid_of(claim)], slots[:2], "by the next driver, which finds it whole")
    bench.given_back(claim, kubelet.unprepare(claim), "and gives it back")


def of_a_fabric(bench, slots):
    """GPUs that a fabric manager binds to the two ports of this node; names of devices are made of theirs."""
    cluster, kubelet = bench.cluster, bench.kubelet
    pool, names = "rack-0ce99e92", ["gpu1-64ae9e4c", "gpu3-66aea172"]
    claim = cluster.claim("fabric", names, pool=pool)
    bench.asked("fabric")
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    bench.stop(signal.SIGKILL)
    ask.result()
    bench.start()
    result = kubelet.prepare(claim)[uid_of(claim)]
    bench.go()
    Report.ok(not result.error and [one.pool_name for one in result.devices] == [pool, pool]
              and bench.slots_of(claim) == bench.ports, "GPUs of a fabric are bound, and composed", result)
    Report.same([line.split(" --")[0] for line in bench.asked("fabric")], ["fabric bind"], "in one run, also if the driver is killed after that")
    more = cluster.claim("more", ["gpu0-65ae9fdf"], pool=pool)
    bench.refused(kubelet.prepare(more)[uid_of(more)], "slot", "a node without a free port says that it has none")
    kubelet.unprepare(claim)
    bench.fail("compose", 3, "slot port-0: no room in the window")
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "no room in the window", "a claim that cannot be composed")
    Report.same([gpu["state"] for gpu in bench.inventory("--pool")["pool"]], ["free"] * 4, "gives what was bound for it back")
    claim = cluster.claim("fabric", [("a", names[0]), ("b", names[1])], pool=pool)
    result = kubelet.prepare(claim)[uid_of(claim)]
    Report.same([(list(one.request_names), list(one.cdi_device_ids)) for one in result.devices],
                [(["a"], [f"gpufabric.io/gpu={bench.ports[0]}"]), (["b"], [f"gpufabric.io/gpu={bench.ports[1]}"])],
                "two requests have a container device each", result.error)
    bench.given_back(claim, kubelet.unprepare(claim), "and they are given back")
    claim = cluster.claim("both", [slots[0], slots[1]])
    with cluster.lock:
        claim["status"]["allocation"]["devices"]["results"][1].update(pool=pool, device=names[0])
        cluster.put(("resource.k8s.io", "resourceclaims", "default", "both"), claim)
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "its GPUs are from several pools", "GPUs of two pools are refused")


def opaque(parameters, source="FromClaim"):
    return {"source": source, "opaque": {"driver": "gpufabric.io", "parameters": parameters}}


def parameters(bench, slots):
    """What claims and classes ask for besides GPUs."""
    cluster, kubelet = bench.cluster, bench.kubelet
    head = {"apiVersion": "gpufabric.io/v1", "kind": "GpuParameters"}
    others = {"source": "FromClaim", "opaque": {"driver": "other.io", "parameters": {"what": "ever"}}}
    claim = cluster.claim("odd", slots[:2], config=[opaque({**head, "tenant": "red", "peers": True}, "FromClass"),
                                                    opaque({**head, "driver": "vfio-pci"}), others])
    bench.asked("compose")
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:2], "a claim with parameters")
    Report.ok("--driver vfio-pci --tenant red --p2p required" in (words := bench.asked("compose"))[0], "which compose is given", words)
    bench.given_back(claim, kubelet.unprepare(claim), "and it is given back")
    two = [{**opaque({**head, "driver": "vfio-pci"}), "requests": [name]} for name in ("vm", "train")]
    for config, good in ((two, True), (two[:1], False)):
        claim = cluster.claim("two", slots[:2], config=config)
        with cluster.lock:
            for result, request in zip(claim["status"]["allocation"]["devices"]["results"], ("vm/large", "train")):
                result["request"] = request
            cluster.put(("resource.k8s.io", "resourceclaims", "default", "two"), claim)
        said = kubelet.prepare(claim)[uid_of(claim)]
        if good:
            Report.ok(not said.error and [device.device_name for device in said.devices] == slots[:2],
                      "requests that all have the same parameters", said)
            Report.ok("--driver vfio-pci" in (words := bench.asked("compose"))[0], "which compose is given", words)
            bench.given_back(claim, kubelet.unprepare(claim), "and they are given back")
        else:
            bench.refused(said, "its requests have different parameters", "refused: parameters for one request of two")
    for what, config, words in (
            ("a tenant in a claim", [opaque({**head, "tenant": "red"})], "tenant is for a DeviceClass"),
            ("an unknown parameter", [opaque({**head, "gpus": 3})], "unknown parameter gpus"),
            ("parameters of another version", [opaque({**head, "apiVersion": "x/v1"})], "are not of gpufabric.io/v1"),
            ("a name that is an option", [opaque({**head, "driver": "--force"})], "driver is not a name"),
            ("a word for a flag", [opaque({**head, "peers": "yes"})], "peers is not true or false"),
            ("two drivers", [opaque({**head, "driver": "a"}), opaque({**head, "driver": "b"})], "given twice with different values")):
        claim = cluster.claim("odd", slots[:1], config=config)
        bench.refused(kubelet.prepare(claim)[uid_of(claim)], words, f"refused: {what}")
    claim = cluster.claim("odd", slots[:1])
    with cluster.lock:
        claim["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
        cluster.put(("resource.k8s.io", "resourceclaims", "default", "odd"), claim)
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "wants admin access", "refused: admin access")


def without_nodes(bench, slots):
    """No container can use a GPU whose driver makes no device nodes, which is better said than found out."""
    cluster, kubelet = bench.cluster, bench.kubelet
    head = {"apiVersion": "gpufabric.io/v1", "kind": "GpuParameters"}
    claim = cluster.claim("bare", slots[:2], config=[opaque({**head, "driver": "pci-stub"})])
    for again in ("", ", and again"):
        result = kubelet.prepare(claim)[uid_of(claim)]
        bench.refused(result, "has no device node: its driver pci-stub has made none", f"GPUs without device nodes are not prepared{again}")
    Report.same(bench.devices(), [], "and are no container devices")
    bench.given_back(claim, kubelet.unprepare(claim), "they are given back")


def command_line(bench, _slots):
    """A second driver, and words that mean nothing."""
    for words, code, said in (
            (bench.words(), 4, "another gpufabric-dra has"), (bench.words("--answer-within", "-1"), 2, "is not a number of seconds"),
            (bench.words("--node", "Not/A/Name"), 2, "the name of this node is missing"), (bench.words("more"), 2, "there are no operands"),
            (bench.words("--plugins", "relative"), 2, "are absolute paths"), (bench.words("--server", "http://x"), 1, "is no https:// URL"),
            (bench.words("--namespace", "A B"), 2, "--namespace is no name")):
        result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        Report.ok(result.returncode == code and said in result.stderr and result.stderr.count("\n") == 1, f"exit code {code}: {said}", result)
    for word in ("--help", "--version"):
        result = subprocess.run([bench.words()[0], word], stdout=subprocess.PIPE, check=False)
        Report.ok(result.returncode == 0 and b"gpufabric-dra" in result.stdout, word)


def unprepared_while_it_prepares(bench, slots):
    """A pod is deleted: what is under way ends, then it is given back."""
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("deleted", slots[:2])
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    back = Asking(lambda: kubelet.unprepare(claim))
    bench.go()
    bench.prepared_or_not = ask.result()
    bench.given_back(claim, back.result(), "a claim that is given back while it is prepared is given back")
    claim = cluster.claim("deleted", slots[:2])
    bench.hold("compose")
    ask = Asking(lambda: kubelet.prepare(claim))
    bench.reached()
    cluster.drop(claim)
    bench.go()
    bench.refused(ask.result()[uid_of(claim)], "was deleted while its GPUs were attached: they were given back",
                  "a claim that is deleted meanwhile is said to be")
    Report.same(bench.compositions(), {}, "and keeps no GPU")
    bench.given_back(claim, kubelet.unprepare(claim), "to give it back is no error")


def stale_and_unknown(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("stale", slots[:1])
    new = cluster.claim("stale", slots[:1])
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "was deleted and made again", "a claim that was made anew is another one")
    bench.prepared(new, kubelet.prepare(new)[uid_of(new)], slots[:1], "which is prepared")
    bench.given_back(new, kubelet.unprepare(new), "and given back")
    unknown = {"metadata": {"namespace": "default", "name": "unknown", "uid": "0-0"}}
    bench.refused(kubelet.prepare(unknown)["0-0"], "claim default/unknown does not exist any more", "an unknown claim")
    for what, meta in (("a name that leads elsewhere", {"name": "../../secrets/x", "uid": "1-1"}),
                       ("a uid that is none", {"name": "x", "uid": "../x"}), ("no uid", {"name": "x", "uid": ""}),
                       ("a uid that is too long", {"name": "x", "uid": "a" * 58})):
        odd = {"metadata": {"namespace": "default", **meta}}
        asked = len(cluster.asked)
        result = kubelet.prepare(odd)[meta["uid"]]
        bench.refused(result, "", f"refused: {what}")
        Report.same([path for _, path in cluster.asked[asked:] if "secrets" in path], [], "and nothing else is asked for")
    for what, devices, words in (("a slot that is not there", ["nothing"], "has no slot for device nothing any more"),
                                 ("nothing allocated", [], "nothing is allocated to it")):
        claim = cluster.claim("odd", devices)
        bench.refused(kubelet.prepare(claim)[uid_of(claim)], words, what)
    claim = cluster.claim("odd", slots[:1], pool="elsewhere")
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "fabric manager elsewhere has no GPU", "a device of another pool")


def cannot_be_satisfied(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    holder, claim = cluster.claim("holder", slots[:3]), cluster.claim("claim", slots[2:4])
    kubelet.prepare(holder)
    result = kubelet.prepare(claim)[uid_of(claim)]
    bench.refused(result, "", "a claim whose slot another has is refused in one line")
    Report.ok(result.error and not bench.slots_of(claim), "and has nothing", result)
    kubelet.unprepare(holder)
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[2:4], "it is prepared when they are free")
    bench.fail("release", 4, "200 is busy, nothing was changed:\nSLOT  PID  USER  HOLDS\n200   158  root  /dev/x\n"
               "wait with --wait 60s, or stop them and try again")
    bench.refused(kubelet.unprepare(claim)[uid_of(claim)],
                  "200 is busy, nothing was changed: SLOT PID USER HOLDS; 200 158 root /dev/x; wait with --wait 60s, or stop them and try again",
                  "who holds a GPU is said when it cannot be given back")
    Report.ok(f"claim-{uid_of(claim)}" in bench.devices(), "and it is still a container device", bench.devices())
    bench.given_back(claim, kubelet.unprepare(claim), "until it can")


def server_is_away(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("away", slots[:1])
    cluster.away = True
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "the API server does not answer", "the API server is away")
    cluster.away = False
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:1], "and is there again")
    cluster.away = True
    bench.given_back(claim, kubelet.unprepare(claim), "to give back needs no API server")
    cluster.away = False
    cluster.token = "another"
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "the API server refuses: Unauthorized", "a token that is over")
    bench.write(bench.token, "another\n")
    bench.prepared(claim, kubelet.prepare(claim)[uid_of(claim)], slots[:1], "one that was renewed is read again")
    bench.given_back(claim, kubelet.unprepare(claim), "given back")
    cluster.denied.add(("GET", "resourceclaims"))
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "resourceclaims is forbidden", "what we may not read")
    cluster.denied.clear()


def answers_that_are_none(bench, slots):
    cluster, kubelet = bench.cluster, bench.kubelet
    claim = cluster.claim("raw", slots[:1])
    for what, raw in (("no JSON", b"<html>"), ("no object", b"[]"), ("no claim", b"{}"), ("nothing", b""),
                      ("too deep", b'{"a":' * 100 + b"1" + b"}" * 100)):
        cluster.raw = raw
        bench.refused(kubelet.prepare(claim)[uid_of(claim)], "", f"an answer that is {what}")
    cluster.raw = b'{"a":"' + b"x" * (9 << 20) + b'"}'
    bench.refused(kubelet.prepare(claim)[uid_of(claim)], "more than is read", "an answer that is too long")
    cluster.raw = None


def served(version):
    return lambda bench, slots: prepare_and_give_back(bench, slots, version)


# What the module has a part in. The others are about what the driver reads.
WITH_MODULE = (registration, served("v1"), several_claims, two_at_once, cannot_be_satisfied, stale_and_unknown, unprepared_while_it_prepares,
               longer_than_the_kubelet_waits, killed_while_it_prepares, without_nodes, server_is_away)
OTHERS = (served("v1beta1"), allocated_anew, alternatives, a_failure_is_told_later, ended_while_it_prepares, answers_that_are_none)
ALL = (*WITH_MODULE, *OTHERS)


def run(bench, slots, some):
    bench.start()
    for scenario in some:
        scenario(bench, slots)
        devices, inventory = bench.look()
        Report.same((bench.compositions(inventory), devices), ({}, []), "nothing is left of that")
    Report.same(bench.stop(), 0, "the driver ends when it is told to")
