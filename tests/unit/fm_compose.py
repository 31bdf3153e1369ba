#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl && make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager's composition service: blocks and systems are what zones are, in other words, and a manifest for several
systems is carried out whole or not at all. Hosts let go of GPUs, refuse them and are slow as they are told.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, Guest, Manager, Report, message, wait_for

PORTS = ("dn0", "dn1")
SERVICE = "/redfish/v1/CompositionService"
COMPOSE = SERVICE + "/Actions/CompositionService.Compose"
GPUS = ("gpu0", "gpu1", "gpu2", "gpu3")


def links(*names):
    return [{"@odata.id": f"{SERVICE}/ResourceBlocks/{name}"} for name in names]


def stanza(*names, system=None, kind="ComposeSystem", **more):
    """Of the blocks of these names; of a system by its block alone, unless it is named."""
    request = {"@odata.id": f"/redfish/v1/Systems/{system}"} if system else {}
    if kind == "ComposeSystem":
        request["Links"] = {"ResourceBlocks": links(*names)}
    return {"StanzaType": kind, "StanzaId": "s", "Request": {**request, **more}}


def manifest(*stanzas, how="Apply", **more):
    return {"RequestFormat": "Manifest", "RequestType": how, "Manifest": {"Stanzas": list(stanzas), **more}}


def of_system(document):
    return [link["@odata.id"].rsplit("/", 1)[-1] for link in document["Links"]["ResourceBlocks"]]


class Rack:
    """Two hosts that let go, four GPUs, an administrator."""

    def __init__(self, work):
        self.guests = {name: Guest(work, name, PORTS) for name in ("hosta", "hostb")}
        self.manager = Manager(work, {name: (one.path, PORTS) for name, one in self.guests.items()}, GPUS)
        self.manager.command("init", "--user", "admin")
        self.manager.command("passwd", "admin", stdin="correct horse\n")
        self.manager.start().ready()
        self.admin = self.manager.client(pem=os.path.join(self.manager.folder, "users/admin.pem"))
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")

    def there(self):
        return {name: set(one.there) for name, one in self.guests.items()}

    def empty(self):
        status, document, _ = self.admin.ask("POST", COMPOSE, manifest(
            *(stanza(system=name, kind="DecomposeSystem") for name in self.guests)))
        assert status == 200, (status, document)


def documents(rack):
    document = rack.a.get(SERVICE)[1]
    Report.same(document["Actions"]["#CompositionService.Compose"]["target"], COMPOSE, "the service has the action")
    names = [link["@odata.id"].rsplit("/", 1)[-1] for link in rack.a.get(SERVICE + "/ResourceBlocks")[1]["Members"]]
    Report.same(names, ["hosta", "hostb", *GPUS], "a block for each host and each GPU")
    zone = rack.a.get(SERVICE + "/ResourceZones/PCIe")[1]
    Report.same((zone["ZoneType"], of_system(zone)), ("ZoneOfResourceBlocks", names), "all go with each other")
    block = rack.a.get(SERVICE + "/ResourceBlocks/gpu0")[1]
    Report.same((block["ResourceBlockType"], block["CompositionStatus"]["CompositionState"], block["Links"]["ComputerSystems"]),
                (["Processor"], "Unused", []), "a free GPU")
    processor = rack.a.get(block["Processors"][0]["@odata.id"])[1]
    Report.same((processor["ProcessorType"], processor["ProcessorId"]), ("GPU", {"VendorId": "0x10DE"}), "is a processor")
    for path in ("/ResourceBlocks/x", "/ResourceBlocks/gpu0/Processors/gpu1", "/ResourceBlocks/hosta/Processors/hosta", "/ResourceZones/x"):
        Report.same(rack.a.get(SERVICE + path)[0], 404, f"nothing is at {path}")


def systems(rack):
    """PATCH of Links.ResourceBlocks."""
    def patch(client, host, *names, body=None, **headers):
        return client.ask("PATCH", f"/redfish/v1/Systems/{host}", {"Links": {"ResourceBlocks": links(*names)}} if body is None else body, **headers)

    names, etag = rack.a.blocks("hosta")
    Report.same(names, ["hosta"], "a system has its own block")
    Report.same(patch(rack.a, "hosta", "hosta", "gpu0")[0], 428, "PATCH without If-Match")
    Report.same(patch(rack.a, "hosta", "hosta", "gpu0", If_Match='"stale"')[0], 412, "with a stale one")
    Report.same(patch(rack.b, "hosta", "hosta", "gpu0", If_Match=etag)[0], 403, "by another host")
    status, document, _ = patch(rack.a, "hosta", "gpu0", If_Match=etag)
    Report.ok(status == 400 and "the block of hosta stays" in message(document), "without its own block", status, document)
    for what, body, wanted in (
            ("nothing to change", {}, "PropertyMissing"),
            ("what is fixed", {"PowerState": "Off"}, "PropertyNotWritable"),
            ("what nobody knows", {"Colour": 1}, "PropertyUnknown"),
            ("endpoints, which are a zone's", {"Links": {"Endpoints": links("hosta")}}, "PropertyNotWritable"),
            ("an endpoint as a block", {"Links": {"ResourceBlocks": [*links("hosta"), {"@odata.id": "/redfish/v1/Fabrics/PCIe/Endpoints/gpu0"}]}},
             "ResourceNotFound"),
            ("a block twice", {"Links": {"ResourceBlocks": links("hosta", "gpu0", "gpu0")}}, "PropertyValueConflict")):
        status, document, _ = patch(rack.a, "hosta", body=body, If_Match=etag)
        Report.same((status, document["error"]["code"].rsplit(".", 1)[-1]), (400, wanted), f"a body: {what}")
    Report.same((rack.a.blocks("hosta"), rack.there()["hosta"]), ((["hosta"], etag), set()), "nothing of all that changed it")
    status, document, headers = patch(rack.a, "hosta", body={"Links": {"ResourceBlocks": links("hosta", "gpu0", "gpu1")}, "Colour": 1}, If_Match=etag)
    Report.ok(status == 200 and of_system(document) == ["hosta", "gpu0", "gpu1"] and "Colour@Message.ExtendedInfo" in document,
              "PATCH binds, with a remark on the rest", status, document)
    Report.same((rack.guests["hosta"].there, set(rack.a.zone("hosta")[0])), ({"gpu0": "dn0", "gpu1": "dn1"}, {"gpu0", "gpu1"}),
                "GPUs are there, and in the zone")
    Report.same(patch(rack.a, "hosta", "hosta", If_Match=etag)[0], 412, "the tag before that is stale")
    block = rack.b.get(SERVICE + "/ResourceBlocks/gpu0")[1]
    Report.same((block["CompositionStatus"]["CompositionState"], block["Links"]["ComputerSystems"]),
                ("Composed", [{"@odata.id": "/redfish/v1/Systems/hosta"}]), "its block says where it is")
    status, document, _ = patch(rack.b, "hostb", "hostb", "gpu1", If_Match=rack.b.blocks("hostb")[1])
    Report.ok(status == 409 and message(document) == "gpu1 is in the zone of hosta", "another host does not get it", status, document)
    Report.same(patch(rack.a, "hosta", "hosta", If_Match=headers["ETag"])[0], 200, "and PATCH gives back")
    Report.same((rack.there()["hosta"], rack.a.zone("hosta")[0]), (set(), []), "all of it")


def bodies(rack):
    good = stanza("hosta", "gpu0")
    for what, body, wanted in (
            ("no JSON", "{", "MalformedJSON"),
            ("a member twice", '{"Manifest":{},"Manifest":{}}', "PropertyDuplicate"),
            ("nothing", {}, "ActionParameterMissing"),
            ("another format", {**manifest(good), "RequestFormat": "Plan"}, "ActionParameterNotSupported"),
            ("a reservation", {**manifest(good), "RequestType": "PreviewReserve"}, "ActionParameterNotSupported"),
            ("a parameter that nobody knows", {**manifest(good), "ReservationId": "1"}, "ActionParameterUnknown"),
            ("no manifest", {"RequestFormat": "Manifest", "RequestType": "Apply"}, "ActionParameterMissing"),
            ("a manifest that is none", {**manifest(good), "Manifest": []}, "PropertyValueTypeError"),
            ("no stanza", manifest(), "ActionParameterMissing"),
            ("stanzas that are none", {**manifest(good), "Manifest": {"Stanzas": [1]}}, "PropertyValueTypeError"),
            ("a stanza of another type", manifest(stanza("hosta", kind="RegisterResourceBlock")), "ActionParameterNotSupported"),
            ("expanded answers", manifest(good, Expand="All"), "ActionParameterNotSupported"),
            ("a member of the manifest that nobody knows", manifest(good, Colour=1), "PropertyUnknown"),
            ("a constraint", manifest(stanza("hosta", **{"Processors@Redfish.ResourceBlockLimits": {}})), "PropertyUnknown"),
            ("links of another kind", manifest({**good, "Request": {"Links": {"Chassis": []}}}), "PropertyUnknown"),
            ("no links", manifest({**good, "Request": {}}), "ActionParameterMissing"),
            ("no host at all", manifest(stanza("gpu0")), "PropertyValueError"),
            ("a host that is none", manifest(stanza("hosta", system="hostc")), "ResourceNotFound"),
            ("a block that is none", manifest(stanza("hosta", "gpu9")), "ResourceNotFound"),
            ("a system without its block", manifest(stanza("gpu0", system="hosta")), "PropertyValueError"),
            ("a block of another host", manifest(stanza("hostb", system="hosta")), "ResourceNotFound"),
            ("two hosts in one system", manifest(stanza("hosta", "hostb")), "ResourceNotFound"),
            ("two stanzas for one host", manifest(good, stanza("hosta")), "PropertyValueConflict"),
            ("to decompose nothing", manifest(stanza(kind="DecomposeSystem")), "ActionParameterMissing"),
            ("to decompose with blocks", manifest(stanza(kind="DecomposeSystem", system="hosta", Links={})), "PropertyUnknown"),
            ("65 stanzas", manifest(*[stanza("hosta")] * 65), "ActionParameterNotSupported")):
        status, document, _ = rack.admin.ask("POST", COMPOSE, body)
        Report.same((status, document["error"]["code"].rsplit(".", 1)[-1]), (400, wanted), f"a manifest: {what}")
    Report.same(rack.admin.ask("GET", COMPOSE)[0], 405, "the action is for POST alone")
    Report.same(rack.there(), {"hosta": set(), "hostb": set()}, "nothing of all that changed anything")


def compose(rack):
    both = (stanza("hosta", "gpu0", "gpu1"), stanza("hostb", "gpu2", system="hostb"))
    before = rack.a.blocks("hosta"), rack.b.blocks("hostb")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(*both, how="Preview", Description="two hosts"))
    answers = [of_system(one["Response"]) for one in document["Manifest"]["Stanzas"]] if status == 200 else document
    Report.same(answers, [["hosta", "gpu0", "gpu1"], ["hostb", "gpu2"]], "Preview says what would be")
    Report.same((rack.a.blocks("hosta"), rack.b.blocks("hostb"), rack.there()), (*before, {"hosta": set(), "hostb": set()}),
                "and changes nothing, not even a tag")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", *GPUS), how="Preview"))
    Report.ok(status == 409 and "no free port" in message(document), "Preview refuses what Apply would", status, document)
    Report.same(rack.a.ask("POST", COMPOSE, manifest(*both))[0], 403, "a host changes its own system alone")
    Report.same(rack.b.ask("POST", COMPOSE, manifest(stanza(system="hosta", kind="DecomposeSystem")))[0], 403, "and decomposes no other")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu0", **{"@odata.etag": '"stale"'})))
    Report.same(status, 412, "a stanza may say as of when: a stale tag")
    tag = rack.a.blocks("hosta")[1]
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu0", "gpu1", **{"@odata.etag": tag}), both[1]))
    answers = [of_system(one["Response"]) for one in document["Manifest"]["Stanzas"]] if status == 200 else document
    Report.same(answers, [["hosta", "gpu0", "gpu1"], ["hostb", "gpu2"]], "Apply for two hosts, and a tag that is good")
    Report.same(rack.there(), {"hosta": {"gpu0", "gpu1"}, "hostb": {"gpu2"}}, "all are there")
    Report.same((document["RequestType"], document["Manifest"]["Stanzas"][0]["StanzaId"]), ("Apply", "s"), "the answer is the manifest")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hostb", "gpu2", "gpu0"), stanza("hosta", "gpu1", "gpu3")))
    Report.ok(status == 409 and message(document) == "gpu0 is in the zone of hosta", "a GPU that another host still has", status, document)
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu1"), stanza("hostb", "gpu2", "gpu0")))
    Report.ok(status == 409 and rack.a.state("gpu0") == "Enabled", "refused as a whole: the other zone stays as it is", status, document)
    Report.same(rack.a.ask("POST", COMPOSE, manifest(stanza(system="hosta", kind="DecomposeSystem")))[0], 200, "DecomposeSystem by the host")
    Report.same(rack.there(), {"hosta": set(), "hostb": {"gpu2"}}, "gives all back")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta"), stanza("hostb", "gpu2")))
    Report.same(status, 200, "what is so already")
    rack.empty()


def all_or_none(rack):
    """One host refuses: the others put back what they have done."""
    rack.admin.set("hosta", ["gpu3"])
    rack.guests["hostb"].refuses.add("gpu2")
    rack.guests["hostb"].pause = 1
    answers = []
    asked = manifest(stanza("hosta", "gpu0", "gpu1"), stanza("hostb", "gpu2"))
    waiting = threading.Thread(target=lambda: answers.append(rack.admin.ask("POST", COMPOSE, asked)))
    waiting.start()
    wait_for(lambda: rack.there()["hosta"] == {"gpu0", "gpu1"}, "hosta has done its part")
    Report.ok(not answers and rack.a.state("gpu0") == "Starting", "one host is done and waits for the other")
    Report.same(rack.a.set("hosta", [])[0], 503, "nobody else changes its zone meanwhile")
    task = rack.a.get("/redfish/v1/TaskService/Tasks")[1]["Members"][-1]["@odata.id"]
    Report.same(rack.a.get(task)[1]["Name"], "Zones of 2 hosts", "it is one task")
    Report.same(rack.a.get(task.replace("Tasks/", "Tasks/0"))[0], 404, "no other number names it")
    waiting.join()
    status, document, _ = answers[0]
    Report.ok(status == 409 and "gpu2 is out of order" in message(document) and "put back" not in message(document), "the other refuses: none is done",
              status, document)
    Report.same((rack.there(), rack.a.zone("hosta")[0], rack.b.zone("hostb")[0]), ({"hosta": {"gpu3"}, "hostb": set()}, ["gpu3"], []),
                "what was unbound for it is back, what was bound is gone")
    Report.same([rack.a.state(name) for name in GPUS], ["StandbyOffline"] * 3 + ["Enabled"], "and free again")
    # both fail, each for a reason of its own
    rack.guests["hosta"].refuses.add("gpu0")
    status, document, _ = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu3", "gpu0"), stanza("hostb", "gpu2")))
    Report.ok(status == 409 and "gpu0 is out of order" in message(document) and "gpu2 is out of order" in message(document),
              "two reasons are both told", status, document)
    for guest in rack.guests.values():
        guest.refuses, guest.pause = set(), 0
    status, document, _ = rack.admin.ask("POST", COMPOSE, asked)
    Report.same((status, rack.there()), (200, {"hosta": {"gpu0", "gpu1"}, "hostb": {"gpu2"}}), "when nobody refuses it is done")
    rack.empty()


def client(rack):
    """gpuctl's own client, where it is told that a manager has blocks alone."""
    program = os.path.join(os.path.dirname(os.environ.get("GPUCTL", os.path.join(BUILD, "gpuctl"))), "fabric-redfish")
    authority, own = rack.manager.pem("hosta")
    path = os.path.join(rack.manager.folder, "client.conf")

    def ask(verb, *gpus):
        request = {"verb": verb, "file": path, **({"gpus": [{"gpu": name} for name in gpus]} if gpus else {})}
        said = subprocess.run([program], input=json.dumps(request), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return json.loads(said.stdout) if said.stdout else {"error": said.stderr}

    for way in ("blocks", "compose"):
        with open(path, "w", encoding="ascii") as file:
            file.write(f"driver = redfish\nurl = https://127.0.0.1:{rack.manager.port}\nhost = hosta\nca = {authority}\n"
                       f"certificate = {own}\nkey = {own}\nway = {way}\ntimeout = 20s\nports = 101=hosta/dn0 102=hosta/dn1\n")
        os.chmod(path, 0o600)
        os.chmod(own, 0o600)
        said = ask("inventory")
        Report.same(sorted(one["id"] for one in said["inventory"]["gpus"]) if "inventory" in said else said, list(GPUS),
                    f"fabric-redfish, way {way}: sees the GPUs and no hosts")
        said = ask("bind", "gpu0", "gpu1")
        Report.same((said.get("outcome"), rack.there()["hosta"]), ("done", {"gpu0", "gpu1"}), f"way {way}: binds", said)
        rack.admin.set("hostb", ["gpu2"])
        said = ask("unbind", "gpu0")
        Report.same((said.get("outcome"), rack.there()["hosta"]), ("done", {"gpu1"}), f"way {way}: gives one back", said)
        said = ask("bind", "gpu2")
        Report.same((said.get("outcome"), said.get("taker")), ("none", "hostb"), f"way {way}: says who has what it does not get", said)
        rack.empty()


def reload(rack, **changes):
    rack.manager.lines.clear()
    rack.manager.write(**changes)
    rack.manager.process.send_signal(signal.SIGHUP)
    rack.manager.said("reload: done")
    for name in ("hosta", "hostb"):
        rack.manager.said(rf"\b{name} answers")


def late(rack):
    """More than task_after: a task, of all hosts together."""
    reload(rack, task_after="1s")
    rack.guests["hostb"].pause = 3
    status, task, headers = rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu0"), stanza("hostb", "gpu2")))
    Report.ok(status == 202 and task["TaskState"] == "Running", "work of more than task_after is a task", status, task)
    rack.guests["hostb"].pause = 0
    task = rack.admin.follow(headers["Location"])
    Report.same((task["TaskState"], task["PercentComplete"], rack.there()), ("Completed", 100, {"hosta": {"gpu0"}, "hostb": {"gpu2"}}),
                "which ends when all are done")
    reload(rack)
    rack.empty()


def stops(rack):
    """The manager is told to end while one host waits for another; what it owes then is sent late."""
    Report.same(rack.manager.stop(), 0, "it ends cleanly without work")
    rack.manager.start(LD_PRELOAD=os.path.join(BUILD, "fm-test/slow-answers.so"), ASAN_OPTIONS="verify_asan_link_order=0").ready()
    rack.guests["hostb"].pause = 3
    answers = []

    def ask():
        try:
            answers.append(rack.admin.ask("POST", COMPOSE, manifest(stanza("hosta", "gpu0"), stanza("hostb", "gpu2")))[0])
        except (OSError, http.client.HTTPException):
            answers.append(0)

    waiting = threading.Thread(target=ask)
    waiting.start()
    wait_for(lambda: rack.there()["hosta"] == {"gpu0"}, "hosta has done its part")
    Report.same(rack.manager.stop(), 0, "it ends cleanly in the middle of a manifest")
    waiting.join()
    Report.same((answers, rack.there()), ([200], {"hosta": {"gpu0"}, "hostb": {"gpu2"}}), "when all of it is done")
    rack.guests["hostb"].pause = 0
    rack.manager.start().ready()
    Report.same([set(rack.a.zone(name)[0]) for name in rack.guests], list(rack.there().values()), "the next one finds what is there")
    rack.empty()


def main():
    with tempfile.TemporaryDirectory() as work:
        rack = Rack(work)
        try:
            for part in (documents, systems, bodies, compose, all_or_none, client, late, stops):
                print(f"# {part.__name__}")
                part(rack)
            Report.same(rack.manager.stop(), 0, "it ends cleanly")
        finally:
            if rack.manager.process.poll() is None:
                rack.manager.process.kill()
            for guest in rack.guests.values():
                guest.close()
            if Report.failed:
                print("# " + "\n# ".join(rack.manager.lines[-60:]))
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
