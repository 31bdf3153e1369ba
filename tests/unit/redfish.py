#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
The program that speaks to fabric managers against one in small (tests/redfish): what is bound to whom after
everything that can go wrong on the way, and that what it says of it is true.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/redfish"), os.path.join(TOP, "tests")]
# pylint: disable=wrong-import-position
import manager as fm
from bench import GPUCTL, Bench, Report



def inventories(bench):
    manager = bench.manager
    manager.give("gpu1", "hosta", fm.SWITCHES + "/sw0/Ports/dn1")
    manager.give("gpu2", "hostb", fm.SWITCHES + "/sw0/Ports/dn4")
    manager.gpus["gpu3"].update(state="Absent", health="Critical")
    manager.gpus["gpu4"].update(state="Starting")
    said = bench.ask("inventory")
    Report.same(said["exit"], 0, "the inventory is read", said)
    gpus = {one["id"]: one for one in said["inventory"]["gpus"]}
    Report.same(sorted(gpus), [f"gpu{i}" for i in range(6)], "GPUs alone, no hosts")
    Report.same([gpus[f"gpu{i}"]["state"] for i in range(5)], ["free", "bound", "bound", "unusable", "changing"], "with their states")
    Report.same((gpus["gpu1"]["host"], gpus["gpu1"]["port"]), ("hosta", "sw0/dn1"), "who has it, and where")
    Report.same((gpus["gpu0"]["vendor"], gpus["gpu0"]["device"], gpus["gpu0"]["serial"]), (0x10de, 0x2331, "SN-gpu0"), "ids and serial")
    Report.same([(one["port"], one.get("host"), one["missing"]) for one in said["inventory"]["ports"]],
                [(f"sw0/dn{i}", "hosta", False) for i in range(3)], "and the ports of the configuration")
    manager.pages = 2
    Report.same(len(bench.ask("inventory")["inventory"]["gpus"]), 6, "collections in pages")
    manager.pages = 0
    text = bench.gpuctl("fabric")
    Report.ok(text.returncode == 0 and "hostb" in text.stdout and "102" in text.stdout, "gpuctl fabric lists them", text)
    table = json.loads(bench.gpuctl("-j", "fabric").stdout)
    rows = {one["gpu"]: one for one in table["pool"]}
    Report.same((rows["gpu1"]["slot"], rows["gpu1"]["state"], rows["gpu0"]["kind"]), ("102", "bound", "h100-pcie-80"),
                "in JSON, with slot and kind", rows["gpu0"])
    Report.same([(one["manager"], one["gpus"], one["free"]) for one in table["managers"]], [("rack1", 6, 2)], "and the managers")
    bench.conf(kinds="10de:2331=l40s")
    rows = {one["gpu"]: one for one in json.loads(bench.gpuctl("-j", "fabric").stdout)["pool"]}
    Report.same(rows["gpu0"]["kind"], "l40s", "the configuration can say what they are")
    bench.conf(host="hostc")
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 1 and "has no zone hostc" in said["error"], "a host that the manager does not know", said)
    bench.conf(fabric="other")
    Report.ok("does not exist (404)" in bench.ask("inventory")["error"], "a fabric that is not there")
    bench.conf()


def expands(bench):
    """A manager that has $expand is asked less, and the same is known of it."""
    manager = bench.manager
    manager.clear()
    manager.give("gpu1", "hosta", fm.SWITCHES + "/sw0/Ports/dn1")
    manager.give("gpu2", "hostb", fm.SWITCHES + "/sw0/Ports/dn4")
    manager.gpus["gpu3"].update(state="Absent", health="Critical")
    for way, own in (("zone", "Endpoints/|Ports/"), ("blocks", "Blocks/gpu")):
        bench.conf(way=way)

        def look(what, each=None):
            before = len(manager.asked)
            said = bench.ask("inventory")
            with manager.lock:
                asked = [one[1] for one in manager.asked[before:]]
            if each is not None:
                Report.same(len([one for one in asked if re.search(own, one)]), each, f"{way}: {what}: requests for one resource", asked)
            return said

        single = 8 + 3 if way == "zone" else 2 * 6
        plain = look("a manager without $expand", single)
        for pages in (0, 2):
            manager.pages = pages
            for levels, each in ((1, 0 if way == "zone" else 6), (2, 0), (6, 0)):
                manager.expand = levels
                Report.same(look(f"{levels} levels, pages of {pages}", each), plain, f"{way}: the same is known with {levels} levels, pages of {pages}")
        manager.pages = 0
        for omits in (("Status", "CompositionStatus"), ("Links",), ("ConnectedEntities", "Processors"), ("Id",), ("LinkState", "ProcessorType")):
            manager.omits = omits
            Report.same(look("a member that is not whole"), plain, f"{way}: what is left out is asked for: {omits[0]}")
        manager.omits = ()
        for code in (404, 501, 507):
            manager.fault("GET", r"expand", fm.status(code), 9)
            Report.same(look("says that it can"), plain, f"{way}: one that says that it can, and answers {code}")
            manager.faults.clear()
        manager.fault("GET", r"expand", fm.raw(b'{"x":"' + b"a" * (5 << 20) + b'"}'), 9)
        Report.same(look("too much"), plain, f"{way}: one that sends too much at once")
        manager.faults.clear()
        for body in (b"<html>", {"Members": {}}, {"Members": [{"@odata.id": "/x", "Id": "x"}]}):
            manager.fault("GET", r"expand", fm.raw(body), 9)
            Report.same(look("nonsense"), plain, f"{way}: one that sends nonsense: {body}")
            manager.faults.clear()
        for body in (b"", b"<html>", {}, {"ProtocolFeaturesSupported": []}, {"ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": "yes"}}},
                     {"ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": True, "Levels": True, "MaxLevels": -3}}}):
            manager.fault("GET", "v1/$", fm.raw(body))
            Report.same(look("a root"), plain, f"{way}: a root that says {body}")
        manager.fault("GET", "v1/$", fm.status(404))
        Report.same(look("no root", single), plain, f"{way}: no root at all")
        manager.expand = 0
        manager.faults.clear()
    bench.conf()


def changes(bench):
    manager = bench.manager
    for way in ("zone", "actions", "blocks", "compose"):
        manager.clear()
        bench.conf(way=way)
        manager.give("gpu5", "hosta", fm.SWITCHES + "/sw0/Ports/dn3")
        wished = ("gpu0@sw0/dn1", "gpu1@sw0/dn0")
        said = bench.ask("bind", *wished)
        Report.same((said["exit"], said.get("outcome")), (0, "done"), f"{way}: two are bound", said)
        Report.same(bench.owners(), {"gpu0": "hosta", "gpu1": "hosta", "gpu5": "hosta"}, f"{way}: what was there stays")
        if way in ("zone", "actions"):
            Report.same({one["id"]: one["port"] for one in said["inventory"]["gpus"]}, {"gpu0": "sw0/dn1", "gpu1": "sw0/dn0"},
                        f"{way}: at the ports that were wished for")
        changed = manager.count("PATCH") + manager.count("POST")
        said = bench.ask("bind", *wished)
        Report.same((said["exit"], said["outcome"], said.get("taken"), said.get("taker")), (3, "none", "gpu0", "hosta"),
                    f"{way}: what another request of this host has is taken", said)
        Report.same(manager.count("PATCH") + manager.count("POST"), changed, f"{way}: which changes nothing")
        said = bench.ask("unbind", "gpu0", "gpu1")
        Report.same((said["exit"], said.get("outcome"), bench.owners()), (0, "done", {"gpu5": "hosta"}), f"{way}: they go back", said)
        manager.give("gpu1", "hostb")
        said = bench.ask("bind", *wished)
        Report.same((said["exit"], said["outcome"], said["taken"], said["taker"], bench.owners().get("gpu0")),
                    (3, "none", "gpu1", "hostb", None), f"{way}: all or none", said)
        Report.ok("gpu1 belongs to host hostb" in said["error"], f"{way}: who has it is said", said)
    manager.clear()
    bench.conf()
    said = bench.ask("bind", "gpu9")
    Report.ok(said["exit"] == 2 and "no GPU gpu9" in said["error"], "a GPU that is not there", said)
    manager.gpus["gpu0"].update(state="Absent")
    said = bench.ask("bind", "gpu0")
    Report.ok(said["exit"] == 3 and "cannot be used: Absent" in said["error"], "a GPU that cannot be used", said)


def logins(bench):
    manager = bench.manager
    manager.clear()
    bench.conf(certified=False, credentials=bench.credentials())
    Report.same(bench.ask("bind", "gpu0")["exit"], 0, "a session")
    Report.same((manager.count("POST", "Sessions$"), manager.count("DELETE", "Sessions/"), manager.sessions), (1, 1, {}),
                "one, which is ended")
    manager.clear()
    manager.fault("POST", "Sessions$", fm.status(503, Retry_After="1"), 2)
    said = bench.ask("bind", "gpu0")
    Report.same((said["exit"], manager.count("POST", "Sessions$"), bench.owners()), (0, 3, {"gpu0": "hosta"}),
                "a login that has to wait", said)
    manager.clear()
    manager.fault("PATCH", "Zones", lambda handler: (manager.sessions.clear(), handler.serve()))
    said = bench.ask("bind", "gpu0")
    Report.same((said["exit"], manager.count("POST", "Sessions$"), bench.owners()), (0, 2, {"gpu0": "hosta"}),
                "a session that ended is replaced", said)
    manager.clear()
    manager.fault("GET", "", fm.status(401), 100)
    said = bench.ask("inventory")
    Report.same((said["exit"], manager.count("POST", "Sessions$")), (5, 2), "but once", said)
    manager.clear()
    bench.conf(certified=False, credentials=bench.credentials("wrong"))
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 5 and "401" in said["error"], "a wrong password", said)
    Report.ok("wrong" not in json.dumps(said), "is not said")
    manager.clear()
    bench.conf(certified=False, credentials=bench.credentials(), login="basic")
    said = bench.ask("bind", "gpu1")
    Report.same((said["exit"], manager.count("POST", "Sessions$"), bench.owners()), (0, 0, {"gpu1": "hosta"}), "basic", said)
    bench.conf(certified=False, credentials=bench.credentials(mode=0o644))
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 5 and "users other than root may read" in said["error"], "a password that others can read", said)
    manager.clear()
    pem = "".join(open(path, encoding="utf-8").read() for path in (manager.authority, bench.certificate, bench.key))
    bench.conf(ca="inline", certificate="inline", key="inline", blocks=pem)
    said = bench.ask("bind", "gpu2")
    Report.same((said["exit"], bench.owners()), (0, {"gpu2": "hosta"}), "PEM blocks in the file itself", said)
    bench.conf(mode=0o640, ca="inline", certificate="inline", key="inline", blocks=pem)
    said = bench.gpuctl("fabric")
    Report.ok(said.returncode == 5 and "users other than root may read" in said.stderr, "which nobody else can read then", said)
    bench.conf(mode=0o622)
    said = bench.gpuctl("fabric")
    Report.ok(said.returncode == 5 and "users other than root may write" in said.stderr, "nor write", said)
    bench.conf(certificate=manager.clients["hostb"][0], key=manager.clients["hostb"][1])
    manager.fault("PATCH", "Zones/hosta", fm.status(403))
    said = bench.ask("bind", "gpu0")
    Report.ok(said["exit"] == 5 and "not permitted (403)" in said["error"], "what is not ours to change", said)
    bench.conf()


def refusals(bench):
    manager = bench.manager

    def bind(what, outcome, code, owners, *faults, text=None, gpus=("gpu0",)):
        manager.clear()
        for fault in faults:
            manager.fault(*fault)
        said = bench.ask("bind", *gpus)
        Report.same((said["exit"], said.get("outcome"), bench.owners()), (code, outcome, owners), what, said)
        if text:
            Report.ok(text in said.get("error", ""), f"{what}: is said", said)
        return said

    ours = {"gpu0": "hosta"}
    bind("412 once: read again", "done", 0, ours, ("PATCH", "Zones", fm.status(412)))
    bind("428 once", "done", 0, ours, ("PATCH", "Zones", fm.status(428)))
    bind("412 for ever", "none", 4, {}, ("PATCH", "Zones", fm.status(412), 99), text="status 412")
    Report.ok(manager.count("PATCH") < 10, "is bounded", manager.count("PATCH"))
    bind("412, and the GPU is gone meanwhile", "none", 3, {"gpu0": "hostb"},
         ("PATCH", "Zones", lambda handler: (manager.give("gpu0", "hostb"), fm.status(412)(handler))), text="belongs to host hostb")
    bind("409: somebody was faster", "none", 3, {"gpu0": "hostb"}, ("PATCH", "Zones", fm.taken_by("gpu0", "hostb")),
         text="belongs to host hostb")
    bind("409 for another reason", "none", 4, {}, ("PATCH", "Zones", fm.status(409)), text="as the test wants it")
    bind("503 and Retry-After", "done", 0, ours, ("PATCH", "Zones", fm.status(503, Retry_After="1"), 2))
    bind("429 while reading", "done", 0, ours, ("GET", "Zones", fm.status(429, Retry_After="1")))
    behind = (lambda handler: (manager.change(handler), fm.status(503, Retry_After="1")(handler)))
    bind("503 behind the change", "done", 0, ours, ("PATCH", "Zones", behind))
    Report.same(manager.count("PATCH"), 1, "which is seen and not asked for twice")
    late = (lambda handler: (manager.change(handler), fm.status(503, Retry_After="3000")(handler)))
    bind("503 behind the change, and nobody may ask again", "done", 0, ours, ("PATCH", "Zones", late))
    said = bind("503 for longer than we have", "none", 7, {}, ("PATCH", "Zones", fm.status(503, Retry_After="3000"), 9),
                text="says to try again in")
    Report.same(manager.count("PATCH"), 1, "is not waited for", said)
    bind("a task", "done", 0, ours, ("PATCH", "Zones", fm.task("Completed")))
    bind("a task that fails", "none", 1, {}, ("PATCH", "Zones", fm.task("Exception", change=False)), text="the link did not train")
    bind("400", "none", 1, {}, ("PATCH", "Zones", fm.status(400)), text="status 400")
    bind("a redirection of a change", "none", 1, {}, ("PATCH", "Zones", fm.status(307, Location="https://127.0.0.1:1/redfish/v1/x")))
    said = bind("it says done, and is not", "unknown", 1, {}, ("PATCH", "Zones", fm.raw(b"{}")), text="does not show it")

    def behind_inventory(handler):
        threading.Timer(1.5, lambda: manager.give("gpu0", "hosta")).start()
        fm.raw(b"{}")(handler)
    bind("it says done, and shows it later", "done", 0, ours, ("PATCH", "Zones", behind_inventory))


def unknown(bench):
    """Answers that do not come: what is said afterwards is what is true."""
    manager = bench.manager

    def bind(what, outcome, code, owners, fault, verb="bind", before=None):
        manager.clear()
        if before:
            before()
        manager.fault(*fault)
        said = bench.ask(verb, "gpu0")
        Report.same((said["exit"], said.get("outcome"), bench.owners()), (code, outcome, owners), what, said)
        return said

    ours = {"gpu0": "hosta"}
    for way in ("zone", "actions"):
        bench.conf(way=way)
        pattern = ("PATCH", "Zones") if way == "zone" else ("POST", "Actions")
        bind(f"{way}: cut after the change", "done", 0, ours, (*pattern, fm.cut_after))
        Report.same(manager.count(*pattern), 1, f"{way}: which is not asked for twice")
        bind(f"{way}: cut before it: asked again", "done", 0, ours, (*pattern, fm.cut_before))
        bind(f"{way}: cut, and made later", "done", 0, ours, (*pattern, fm.late_after(1.5)))
        Report.same(manager.count(*pattern), 1, f"{way}: waited for")
        bind(f"{way}: 500 after the change", "done", 0, ours,
             (*pattern, lambda handler: (manager.change(handler), fm.status(500)(handler))))
        bind(f"{way}: 500 instead of it: asked again", "done", 0, ours, (*pattern, fm.status(500)))
        bind(f"{way}: unbind, cut after it", "done", 0, {}, (*pattern, fm.cut_after), "unbind",
             lambda: manager.give("gpu0", "hosta", fm.SWITCHES + "/sw0/Ports/dn0"))
    bench.conf(timeout="2s")
    for done, outcome, code in ((True, "done", 0), (False, "unknown", 7)):
        stop = threading.Event()
        said = bind(f"no answer in time, {'made' if done else 'not made'}", outcome, code, ours if done else {},
                    ("PATCH", "Zones", fm.hang(stop, done)))
        stop.set()
        if not done:
            Report.ok("does not answer in time" in said["error"] and "is not known" in said["error"], "is said", said)
    said = bind("a task that is not over in time", "unknown", 7, {}, ("PATCH", "Zones", fm.task("Completed", 10**6, False)))
    Report.same(manager.count("PATCH"), 1, "which is not asked for twice", said)
    bind("202 without a task, and nothing to see", "unknown", 7, {}, ("PATCH", "Zones", lambda handler: handler.answer(202, None)))
    stop = threading.Event()
    said = bind("an answer that stops in its body", "none", 7, {}, ("GET", "Zones/", fm.hang_in_body(stop)))
    stop.set()
    bench.conf()
    manager.clear()
    manager.fault("PATCH", "Zones", lambda handler: (manager.gpus["gpu0"].update(zone="hosta", state="Starting"), handler.cut()))
    threading.Timer(2, lambda: manager.give("gpu0", "hosta")).start()
    said = bench.ask("bind", "gpu0")
    Report.same((said["exit"], said["outcome"], bench.owners()), (0, "done", ours), "as long as it is starting it is waited for", said)
    bench.conf(way="actions")
    manager.clear()
    manager.fault("POST", "Actions", lambda handler: (manager.fault("POST", "Actions", fm.status(409)), handler.serve()))
    said = bench.ask("bind", "gpu0", "gpu1")
    Report.same((said["exit"], said["outcome"], bench.owners()), (4, "partly", ours), "a part of it is said to be one", said)
    manager.clear()

    def gone(handler):
        manager.away = True
        manager.fault("GET", "", fm.cut_before, 999)
        threading.Timer(1, returned).start()
        handler.serve()

    def returned():
        manager.faults.clear()
        manager.away = False
    manager.fault("POST", "Actions", lambda handler: (manager.fault("GET", "Endpoints/gpu1", gone), handler.serve()))
    said = bench.ask("bind", "gpu0", "gpu1")
    Report.same((said["exit"], said["outcome"], bench.owners()), (1, "partly", ours),
                "also when the manager cannot be asked for a while behind it", said)
    bench.conf()


def restarted(bench):
    """A manager that has just started does not know yet which host has a GPU."""
    manager = bench.manager
    port = fm.SWITCHES + "/sw0/Ports/dn0"

    def forget(handler=None):
        manager.gpus["gpu0"].update(zone=None, port=None, state="UnavailableOffline")
        if handler:
            handler.cut()

    def ask(what, verb, owners, seen):
        manager.fault("PATCH", "Zones", forget)
        threading.Timer(4.5, seen).start()
        said = bench.ask(verb, "gpu0")
        Report.same((said["exit"], said["outcome"], bench.owners()), (0, "done", owners), what, said)

    manager.clear()
    ask("a bind that was made before a restart", "bind", {"gpu0": "hosta"}, lambda: manager.give("gpu0", "hosta", port))
    manager.clear()
    manager.give("gpu0", "hosta", port)
    ask("an unbind that was not", "unbind", {}, lambda: manager.give("gpu0", "hosta", port))
    manager.clear()
    forget()
    threading.Timer(1, lambda: manager.give("gpu0", "hosta", port)).start()
    said = bench.ask("unbind", "gpu0")
    Report.same((said["exit"], bench.owners()), (0, {}), "what is not known is not given back yet", said)


def vanished(bench):
    """What shows no GPU any more, or another one, was not given back by that."""
    manager = bench.manager

    def unbind(what, pattern, where, body):
        def blinded(handler):
            manager.fault("GET", where, fm.raw(body))
            fm.status(412)(handler)
        manager.clear()
        manager.give("gpu0", "hosta", fm.SWITCHES + "/sw0/Ports/dn0")
        manager.fault("PATCH", pattern, blinded)
        said = bench.ask("unbind", "gpu0")
        Report.same((said["exit"], said.get("outcome"), bench.owners()), (1, "none", {"gpu0": "hosta"}), what, said)
        Report.ok("gpu0 does not show GPU gpu0 any more" in said.get("error", ""), f"{what}: is said", said)

    zone, host = manager.endpoint("gpu0")[1], manager.endpoint("hosta")[1]
    block = manager.block("gpu0")[1]
    unbind("an endpoint without entities", "Zones", "Endpoints/gpu0$", {**zone, "ConnectedEntities": []})
    unbind("an endpoint of a host", "Zones", "Endpoints/gpu0$", {**zone, "ConnectedEntities": host["ConnectedEntities"]})
    unbind("an endpoint with another Id", "Zones", "Endpoints/gpu0$", {**zone, "Id": "gpu9"})
    bench.conf(way="blocks")
    unbind("a block without processors", "Systems", "ResourceBlocks/gpu0$", {**block, "Processors": []})
    unbind("a block with another Id", "Systems", "ResourceBlocks/gpu0$", {**block, "Id": "gpu9"})
    bench.conf()


def at_once(bench):
    """A whole list without a precondition: requests of one host do not undo each other."""
    manager = bench.manager
    for keys in ({"way": "compose"}, {}):
        bench.conf(**keys)
        manager.clear()
        manager.etags_off = not keys
        manager.fault("POST" if keys else "PATCH", "", lambda handler: (time.sleep(1), handler.serve()), 9)
        programs = [bench.start("bind", gpu) for gpu in ("gpu0", "gpu1", "gpu2")]
        ends = [bench.end(program)["exit"] for program in programs]
        Report.same((ends, sorted(bench.owners())), ([0, 0, 0], ["gpu0", "gpu1", "gpu2"]),
                    f"three at once, {keys.get('way', 'zones without ETags')}")
    manager.etags_off = False
    bench.conf()


def together(bench):
    """Other requests of this host: what they have is theirs."""
    manager = bench.manager
    port = fm.SWITCHES + "/sw0/Ports/dn"

    def bind(what, *faults, gpu="gpu0@sw0/dn1"):
        for fault in faults:
            manager.fault(*fault)
        changed = manager.count("PATCH") + manager.count("POST")
        said = bench.ask("bind", gpu)
        Report.same((said["exit"], said["outcome"], said.get("taken"), said.get("taker"), bench.owners()),
                    (3, "none", "gpu0", "hosta", {"gpu0": "hosta"}), what, said)
        Report.same(manager.gpus["gpu0"]["port"], port + "0", f"{what}: it stays where it is")
        return manager.count("PATCH") + manager.count("POST") - changed

    for way, pattern in (("zone", ("PATCH", "Zones")), ("blocks", ("PATCH", "Systems")), ("compose", ("POST", "Compose"))):
        bench.conf(way=way)
        manager.clear()
        manager.fault(*pattern, lambda handler: (manager.give("gpu5", "hosta", port + "2"), handler.serve()))
        said = bench.ask("bind", "gpu1")
        Report.same((said["exit"], bench.owners()), (0, {"gpu1": "hosta", "gpu5": "hosta"}),
                    f"{way}: what another request binds meanwhile is not given back", said)
    for way in ("zone", "actions"):
        pattern = ("PATCH", "Zones") if way == "zone" else ("POST", "Actions")
        bench.conf(way=way)
        manager.clear()
        manager.give("gpu0", "hosta", port + "0")
        Report.same(bind(f"{way}: a GPU that another request has bound elsewhere"), 0, f"{way}: nothing is asked for")
        Report.same(bind(f"{way}: even at the port that is wished for", gpu="gpu0@sw0/dn0"), 0, f"{way}: nothing is asked for")
        manager.clear()
        bind(f"{way}: one that it binds meanwhile", (*pattern, lambda handler: (manager.give("gpu0", "hosta", port + "0"),
                                                                               fm.status(412)(handler))))
        manager.clear()
        bind(f"{way}: one that it binds while ours is lost", (*pattern, lambda handler: (manager.give("gpu0", "hosta", port + "0"),
                                                                                        handler.cut())))
    bench.conf()

    def starting(handler):
        manager.give("gpu0", "hostb")
        manager.gpus["gpu0"]["state"] = "Starting"
        fm.status(409)(handler)
    manager.clear()
    manager.fault("PATCH", "Zones", starting)
    said = bench.ask("bind", "gpu0@sw0/dn1")
    Report.same((said["exit"], said["outcome"], said.get("taker")), (3, "none", "hostb"),
                "one that another host has and that is still starting is known to be taken", said)


def files(bench):
    """A file that cannot be used keeps no other from being used."""
    bad = os.path.join(bench.folder, "zzz.conf")
    bench.manager.clear()
    with open(bad, "w", encoding="utf-8") as file:
        file.write("oops\n")
    said = bench.gpuctl("fabric")
    Report.ok(said.returncode == 1 and "zzz.conf:1" in said.stderr and "gpu0" in said.stdout,
              "a file in error: it is said, and the other manager is listed", said)
    with open(bad, "w", encoding="utf-8") as file:
        file.write(open(bench.file, encoding="utf-8").read())
    said = bench.gpuctl("fabric")
    Report.ok(said.returncode == 1 and "slot 101 is in" in said.stderr and "gpu0" not in said.stdout,
              "of two files that share a slot none is used", said)
    os.unlink(bad)
    if os.geteuid():
        os.chmod(bench.file, 0)
        said = bench.gpuctl("fabric")
    else:
        for folder in (bench.work, bench.config, bench.folder):
            os.chmod(folder, 0o755)
        env = {"PATH": os.environ["PATH"], "GPUCTL_CONFIG_DIR": bench.config,
               "GPUCTL_DATA_DIR": os.path.join(TOP, "ctl/catalogue")}
        said = subprocess.run([GPUCTL, "fabric"], env=env, user=65534, group=65534, extra_groups=[], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
    Report.ok(said.returncode == 5 and "run gpuctl as root" in said.stderr, "a file that we cannot read", said)
    bench.conf()


def signals(bench):
    manager = bench.manager
    for name in ("SIGTERM", "SIGINT"):
        for done, outcome in ((True, "done"), (False, "unknown")):
            manager.clear()
            manager.hanging.clear()
            stop = threading.Event()
            manager.fault("PATCH", "Zones", fm.hang(stop, done))
            program = bench.start("bind", "gpu0")
            manager.hanging.wait(30)
            program.send_signal(getattr(signal, name))
            said = bench.end(program)
            stop.set()
            Report.same((said["exit"], said["outcome"], bench.owners()), (1, outcome, {"gpu0": "hosta"} if done else {}),
                        f"{name} while a change is under way that is {'' if done else 'not '}made: is known", said)
            Report.ok("interrupted" in said["error"], "and said", said)


def hostile(bench):
    manager = bench.manager
    other = fm.Manager(os.path.join(bench.work, "other"))

    def look(what, text, *faults, code=1):
        manager.clear()
        for fault in faults:
            manager.fault(*fault)
        said = bench.ask("inventory")
        Report.ok(said["exit"] == code and text in said["error"] and "\n" not in said["error"], what, said)

    look("too much", "sent more than 4 MiB", ("GET", "Zones/", fm.raw(b'{"x":"' + b"a" * (5 << 20) + b'"}')))
    look("too deep", "JSON that is too deep", ("GET", "Zones/", fm.raw(b'{"x":' + b"[" * 100 + b"]" * 100 + b"}")))
    look("no JSON", "text that is not JSON", ("GET", "Zones/", fm.raw(b"<html>")))
    look("no object", "JSON that is not an object", ("GET", "Zones/", fm.raw(b"[]")))
    look("cut off", "JSON that ends too early", ("GET", "Zones/", fm.raw(b'{"Id":')))
    look("wrong types", "has no Members", ("GET", "Zones$", fm.raw({"Members": {"a": 1}})))
    look("a member that is none", "member 0 has no path", ("GET", "Zones$", fm.raw({"Members": ["x"]})))
    look("a member elsewhere", "member 0 has no path", ("GET", "Zones$", fm.raw({"Members": [fm.link("https://evil/redfish/v1")]})))
    look("a member above", "member 0 has no path", ("GET", "Zones$", fm.raw({"Members": [fm.link("/redfish/v1/../../x")]})))
    look("an Id that plays", "has no Id", ("GET", "Endpoints/gpu0", fm.raw({"Id": "a\x1b[2J"})))
    look("pages in a loop", "more than 100 pages",
         ("GET", "Zones", fm.raw({"Members": [], "Members@odata.nextLink": fm.ZONES + "?page=1"}), 1000))
    look("a page elsewhere", "leads to another host", ("GET", "Zones$", fm.raw({"Members": [], "Members@odata.nextLink": other.url})))
    look("a redirection to another host", "redirects to another host",
         ("GET", "Zones$", fm.status(302, Location=other.url + fm.ZONES)))
    Report.same(other.asked, [], "which is not asked")
    look("a redirection in a circle", "more than 3 redirections", ("GET", "Zones", fm.status(302, Location=fm.ZONES), 99))
    manager.clear()
    manager.fault("GET", "Zones$", fm.status(302, Location=manager.url + fm.ZONES))
    Report.same(bench.ask("inventory")["exit"], 0, "one to the same host is followed")
    look("words that play with a terminal", "as ?[2J it is",
         ("GET", "Zones$", lambda handler: handler.answer(400, {"error": {"message": "as \x1b[2J it is"}})))
    bench.conf(ca=other.authority)
    look("a certificate of somebody else", "has no certificate that this host trusts", code=5)
    bench.conf(url=manager.url.replace("localhost", "other.localhost"))
    look("a name that is not in the certificate", "has no certificate that this host trusts", code=5)
    bench.conf(url="https://localhost:1")
    look("nobody there", "cannot reach https://localhost:1")
    said = bench.gpuctl("fabric")
    Report.ok(said.returncode == 1 and "cannot reach" in said.stderr and "rack1" in said.stdout, "gpuctl says it, and lists the rest", said)
    bench.conf()
    Report.ok(all(fm.PASSWORD not in json.dumps(one[:2]) for one in manager.asked), "no password in any address")
    for words, text in (("", "the file is empty"), ("{}", "verb"), ('{"verb":"bind"}', "file is missing"),
                        ('{"verb":"bind","file":"/x"}', "gpus"), ('{"verb":"fly","file":"/x"}', "verb"),
                        ('{"verb":"bind","file":"/x","gpus":[{"gpu":"a b"}]}', "Id")):
        program = subprocess.run([bench.program], input=words, stdout=subprocess.PIPE, text=True, check=False)
        Report.ok(program.returncode == 2 and text in json.loads(program.stdout)["error"], f"no request: {words}", program)
    other.close()


def main():
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(os.path.join(work, "other"))
        bench = Bench(work, fm.Manager(work), "redfish", {"ports": "101=sw0/dn0 102=sw0/dn1 103=sw0/dn2"})
        for part in (inventories, expands, changes, logins, refusals, unknown, restarted, vanished, together, at_once, files, signals, hostile):
            part(bench)
            bench.manager.clear()
        bench.manager.close()
    print(f"1..{Report.count}")
    sys.exit(1 if Report.failed else 0)


if __name__ == "__main__":
    main()
