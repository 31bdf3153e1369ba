#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager with a fake PAX switch: GPUs that move, two who want the same one, a manager that dies
at the worst moment, and a switch that refuses, hangs, lies, cuts its answers short and loses its power.
"""

import contextlib
import http.client
import os
import signal
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from pax import BIND, BIND_BIND, BIND_UNBIND, DUMP, DUMP_PART, DUMP_START, EVENTS, PAX_ID, Function, Pax, Switch
from rig import Manager, Report, message, wait_for

HOSTS = {"hosta": "0/8", "hostb": "1/16"}
GPUS = {"gpu0": "endpoint = 0/24", "gpu1": "pdfid = 0x0201", "gpu2": "endpoint = 1/40"}
A0, A1, B0, B1 = (0, 8, 0), (0, 8, 1), (1, 16, 0), (1, 16, 1)


def switches():
    """Two switches, a host at each. gpu0 has two functions, gpu1 is behind a switch with another device."""
    return {0: Switch({8: 2}, {24: [[Function(0x0101), Function(0x0102, (0x10de, 0x22ba, 0, 0), 0x040300), Function(0x0110, kind=0)]],
                               28: [[Function(0x0201, (0x1002, 0x74a1, 0x1002, 0x74a1), 0x120000)], [Function(0x0202)]],
                               32: []}),
            1: Switch({16: 2, 20: 1}, {40: [[Function(0x0301)]]})}


class PaxManager(Manager):
    """Its configuration is that of a PAX."""
    device, timeout, keys = "", "20s", {}

    def write(self, **changes):
        text = f"[manager]\nlisten = 127.0.0.1:0\nbind_timeout = {changes.get('timeout', self.timeout)}\n"
        text += f"[switch]\ndriver = switchtec\ndevice = {changes.get('device', self.device)}\n"
        for name, at in changes.get("hosts", self.hosts).items():
            text += f"[host.{name}]\nupstream = {at}\nports = 0 1\n"
        for name, at in changes.get("gpus", self.gpus).items():
            text += f"[gpu.{name}]\n{at}\n{self.keys.get(name, '')}\n"
        with open(os.path.join(self.folder, "fm.conf"), "w", encoding="utf-8") as file:
            file.write(text)


class Fabric:
    """A fake switch and a manager."""

    def __init__(self, work, name, timeout="20s", keys=None, environment=None, ready=True, **options):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.pax = Pax(os.path.join(self.folder, "pax"), switches(), **options)
        self.manager = self.make(timeout, keys or {})
        assert self.manager.command("init").returncode == 0
        self.manager.start(**environment or {})
        if ready:
            self.manager.ready()
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")

    def make(self, timeout, keys):
        kind = type("Configured", (PaxManager,), {"device": "unix:" + self.pax.path, "timeout": timeout, "keys": keys})
        return kind(self.folder, HOSTS, GPUS)

    def answers(self):
        """All hosts do, again."""
        wait_for(lambda: all(self.a.get(f"/redfish/v1/Systems/{host}")[1]["Status"]["State"] == "Enabled" for host in HOSTS), "all answer")

    def kill(self):
        self.manager.process.kill()
        self.manager.process.wait()

    def end(self, what):
        Report.same(self.manager.stop(), 0, f"{what}: it ends cleanly")
        if Report.failed:
            print("# " + "\n# ".join(self.manager.lines))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.manager.process.poll() is None:
            self.manager.process.kill()
        self.pax.close()


def later(function, *words):
    """Runs it beside the test; its answer is in the list that is returned, once the thread has ended."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function(*words)))
    thread.start()
    return thread, answers


def ask_in_vain(client, host, gpus):
    """Of a manager that dies meanwhile."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        client.set(host, gpus)


def gpus_move(work):
    with Fabric(work, "move") as fabric:
        a, b, pax = fabric.a, fabric.b, fabric.pax
        identity = a.endpoint("gpu0")["ConnectedEntities"][0]["EntityPciId"]
        Report.same((identity["VendorId"], identity["DeviceId"], identity["SubsystemId"], identity["ClassCode"]),
                    ("0x10DE", "0x2331", "0x1626", "0x030200"), "what a GPU is comes from the switch")
        Report.same(a.endpoint("gpu1")["ConnectedEntities"][0]["EntityPciId"]["DeviceId"], "0x74A1", "also behind a switch in a port")
        status, zone, headers = a.set("hosta", ["gpu0"])
        Report.ok(status == 200 and zone["@odata.etag"] == headers["ETag"], "a GPU comes", status, zone)
        Report.same(pax.history, [("bind", A0, (0x0101, 0x0102))], "all its physical functions by one command")
        Report.same(pax.bound(), {0x0101: A0, 0x0102: A0}, "and they are in the port")
        where = a.endpoint("gpu0")["Links"]["ConnectedPorts"]
        Report.ok(where[0]["@odata.id"].endswith("/Switches/hosta/Ports/0"), "the endpoint says where", where)
        status, document, _ = b.set("hostb", ["gpu0"])
        Report.ok(status == 409 and message(document) == "gpu0 is in the zone of hosta", "nobody else gets it", status, document)
        Report.same(b.set("hostb", ["gpu1", "gpu2"], ports={"gpu1": "hostb/1"})[0], 200, "a host at the other switch, two GPUs at once")
        Report.same({pdfid: place for pdfid, place in pax.bound().items() if pdfid > 0x0200}, {0x0201: B1, 0x0301: B0}, "a wish for a port is obeyed")
        pax.history.clear()
        Report.same(a.set("hosta", [])[0], 200, "a GPU goes")
        Report.same(pax.history, [("unbind", A0, (0x0101,)), ("unbind", A0, (0x0102,))], "each function by its id, option 0")
        Report.same(b.set("hostb", ["gpu0", "gpu2"])[0], 200, "one leaves for another one")
        Report.same(pax.bound(), {0x0101: B1, 0x0102: B1, 0x0301: B0}, "in the port that was freed")
        fabric.end("moves")


def unbinds_whole(work):
    with Fabric(work, "whole", one_by_one=False, events=False) as fabric:
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a switch that unbinds all functions with the first one")
        Report.same((fabric.a.set("hosta", [])[0], fabric.pax.bound()), (200, {}), "is asked once")
        Report.same([entry[0] for entry in fabric.pax.history], ["bind", "unbind"], "and not for what has gone")
        wait_for(lambda: EVENTS in [code for code, _ in fabric.pax.asked], "events are asked for")
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a switch that knows no events answers all the same")
        Report.ok(not [line for line in fabric.manager.lines if "does not answer" in line], "at all times", fabric.manager.lines)
        fabric.end("unbinds whole")


def two_want_one(work):
    with Fabric(work, "race") as fabric:
        for turn in range(5):
            asked = [later(client.set, host, ["gpu0"]) for host, client in (("hosta", fabric.a), ("hostb", fabric.b))]
            for thread, _ in asked:
                thread.join()
            statuses = sorted(answers[0][0] for _, answers in asked)
            Report.same(statuses, [200, 409], f"turn {turn + 1}: exactly one gets it")
            owner = "hosta" if fabric.a.zone("hosta")[0] else "hostb"
            Report.same(fabric.pax.bound()[0x0101], {"hosta": A0, "hostb": B0}[owner], f"turn {turn + 1}: it has it")
            Report.same(fabric.manager.client(owner).set(owner, [])[0], 200, f"turn {turn + 1}: it gives it back")
        asked = [later(fabric.a.set, "hosta", ["gpu0"]), later(fabric.b.set, "hostb", ["gpu1", "gpu2"])]
        for thread, _ in asked:
            thread.join()
        Report.same([answers[0][0] for _, answers in asked], [200, 200], "who wants another one gets it at the same time")
        fabric.end("two want one")


def refusals(work):
    with Fabric(work, "refuse", keys={"gpu2": "pci = 10de:2330"}) as fabric:
        a, b, pax = fabric.a, fabric.b, fabric.pax
        pax.fault("refuse", BIND, BIND_BIND)
        status, document, _ = a.set("hosta", ["gpu0"])
        Report.ok(status == 409 and "refuses command 0x84 with code 0x640012" in message(document), "a taken port: the switch says so", document)
        Report.same((pax.bound(), a.zone("hosta")[0]), ({}, []), "and all is as it was")
        Report.same(a.set("hosta", ["gpu0"])[0], 200, "it can be asked for again")
        pax.fault("refuse", BIND, BIND_UNBIND, back=0x64010)
        status, document, _ = a.set("hosta", [])
        Report.ok(status == 409 and "0x64010" in message(document), "an unbind that is refused", document)
        Report.same(a.zone("hosta")[0], ["gpu0"], "keeps its GPU")
        pax.change(0x0202, A1)
        wait_for(lambda: "no free port" in str(message(a.set("hosta", ["gpu0", "gpu1"])[1])), "somebody else's device takes the other port")
        Report.ok(True, "somebody else's device takes the other port: no port is free")
        pax.change(0x0201, (1, 20, 0))
        wait_for(lambda: "has it bound to port 0 of host 1/20" in str(message(b.set("hostb", ["gpu1"])[1])), "a GPU in a host that is none of ours")
        Report.ok(True, "a GPU in a host that fm.conf does not have is not taken from it")
        status, document, _ = b.set("hostb", ["gpu2"])
        Report.ok(status == 409 and "the switch has 10de:2331 there, which are not the ids of fm.conf" in message(document),
                  "a card that is not the one of fm.conf is not given to anybody", document)
        Report.same([entry for entry in pax.history if entry[1] != A0], [], "and the switch was not asked for any of that")
        fabric.end("refusals")


def halves(work):
    """Of a GPU with two functions."""
    with Fabric(work, "halves") as fabric:
        a, pax = fabric.a, fabric.pax
        whole = pax.bind

        def half(payload):
            whole(payload[:4] + struct.pack("<HH", 0x0101, 0) + bytes(28))
            return 0x640012, b""
        pax.bind = half
        status, document, _ = a.set("hosta", ["gpu0"])
        Report.ok(status == 503 and "0x640012" in message(document), "a bind that is refused, and half done", status, document)
        wait_for(lambda: a.state("gpu0") == "Enabled", "it is looked at")
        Report.same((a.zone("hosta")[0], pax.bound()), (["gpu0"], {0x0101: A0}), "the GPU is its host's")
        Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409, "and nobody else's")
        Report.same((a.set("hosta", [])[0], pax.bound()), (200, {}), "and can be given back")
        pax.bind = whole
        a.set("hosta", ["gpu0"])
        pax.fault("refuse", BIND, BIND_UNBIND, skip=1, back=0x64010)
        status, document, _ = a.set("hosta", [])
        Report.ok(status == 503 and "0x64010" in message(document), "an unbind that is refused half-way", status, document)
        wait_for(lambda: a.state("gpu0") == "Enabled", "it is looked at")
        Report.same((a.zone("hosta")[0], pax.bound()), (["gpu0"], {0x0102: A0}), "leaves the GPU with its host")
        Report.same((a.set("hosta", [])[0], pax.bound()), (200, {}), "until it is asked for again")
        fabric.end("halves")


def taken_meanwhile(work):
    """Without events nobody knows before the bind."""
    with Fabric(work, "meanwhile", events=False) as fabric:
        for function in fabric.pax.functions():
            if function.pdfid == 0x0202:
                function.bound = A0
        status, document, _ = fabric.a.set("hosta", ["gpu0"], ports={"gpu0": "hosta/0"})
        Report.ok(status == 409 and "another device in port 0" in message(document), "a port that was taken meanwhile", document)
        Report.same(fabric.pax.history, [], "is seen before the switch is asked")
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "and the other one is taken from then on")
        Report.same(fabric.pax.bound()[0x0101], A1, "which is where the GPU is")
        ports = fabric.pax.switches[1].hosts.pop(16)
        status, document, _ = fabric.b.set("hostb", ["gpu2"])
        Report.ok(status == 409 and "the switch has no host at 1/16" in message(document), "a host that is not there", document)
        fabric.pax.switches[1].hosts[16] = ports
        fabric.pax.switches[1].endpoints[40] = []
        status, document, _ = fabric.b.set("hostb", ["gpu2"])
        Report.ok(status == 409 and "does not have such a device" in message(document), "a GPU that is not there", document)
        fabric.end("taken meanwhile")


def manager_dies(work):
    """Whatever was done when it died is what is there, and what the next one says."""
    for place, wanted in (("before-gfms-bind", []), ("gfms-bind", ["gpu0"]), ("after-gfms-bind", ["gpu0"]), ("gfms-unbind", [])):
        unbind = place == "gfms-unbind"
        with Fabric(work, "die-" + place, environment={} if unbind else {"GPUFABRIC_FM_DIE": place}) as fabric:
            if unbind:
                fabric.a.set("hosta", ["gpu1"])
                fabric.manager.stop()
                fabric.manager.start(GPUFABRIC_FM_DIE=place).ready()
            ask_in_vain(fabric.a, "hosta", [] if unbind else ["gpu0"])
            Report.same(fabric.manager.process.wait(), -signal.SIGKILL, f"the manager is killed: {place}")
            wait_for(fabric.pax.work.empty, "the switch has nothing to do")
            fabric.manager.start().ready()
            Report.same(fabric.a.zone("hosta")[0], wanted, f"{place}: the next one knows what is there")
            Report.same(sorted(fabric.pax.bound()), [0x0101, 0x0102] if wanted else [], f"{place}: and that is there")
            Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409 if wanted else 200, f"{place}: it is free where it is free")
            fabric.end(place)


def manager_dies_while_it_hangs(work):
    with Fabric(work, "die-hang", timeout="2s") as fabric:
        fault = fabric.pax.fault("hang", BIND, BIND_BIND, done=False)
        thread, _ = later(ask_in_vain, fabric.a, "hosta", ["gpu0"])
        fault.met.wait()
        fabric.kill()
        thread.join()
        fabric.manager.start()
        fabric.manager.said("hosta does not answer")
        Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409, "killed while a bind waits in the switch: the next one gives the GPU to nobody")
        fault.release()
        fabric.manager.ready()
        Report.same((fabric.a.zone("hosta")[0], fabric.pax.bound()[0x0101]), (["gpu0"], A0), "it sees the bind when the switch has carried it out")
        Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409, "and nobody else gets the GPU")
        fabric.end("killed while it hangs")


def switch_hangs(work):
    for done in (True, False):
        with Fabric(work, f"hang-{done}", timeout="1500ms") as fabric:
            what = "a bind that hangs" + ("" if done else " before it is carried out")
            Report.same(fabric.b.set("hostb", ["gpu1"])[0], 200, f"{what}: a GPU comes before")
            fault = fabric.pax.fault("hang", BIND, BIND_BIND, done=done)
            status, document, _ = fabric.a.set("hosta", ["gpu0"])
            Report.ok(status in (409, 503) and "has not answered in time" in message(document), f"{what} is given up", status, document)
            Report.same(fabric.a.state("gpu0"), "UnavailableOffline", f"{what}: nobody knows")
            Report.same(fabric.b.set("hostb", ["gpu1", "gpu0"])[0], 409, f"{what}: so nobody gets it")
            Report.same(fabric.a.zone("hosta")[0], ["gpu0"], f"{what}: it stays with its host")
            asked = len(fabric.pax.asked)
            fault.release()
            wait_for(lambda: fabric.a.state("gpu0") == "Enabled", "it is known")
            Report.same((fabric.a.zone("hosta")[0], fabric.pax.bound()[0x0101]), (["gpu0"], A0), f"{what}: known as soon as it answers")
            Report.ok(BIND not in [code for code, _ in fabric.pax.asked[asked:]], f"{what}: nothing is sent twice")
            wait_for(lambda: fabric.a.set("hosta", [])[0] == 200, "hosta answers")
            # The other host may have waited too long for the switch as well.
            Report.ok(wait_for(lambda: fabric.b.set("hostb", ["gpu1", "gpu0"])[0] == 200, "hostb answers"), f"{what}: and it can move again")
            seen = len(fabric.manager.lines)
            fault = fabric.pax.fault("hang", EVENTS)
            fabric.manager.said("hostb does not answer", seen)
            Report.same(fabric.b.set("hostb", [])[0], 503, f"{what}: a switch that hangs takes no requests")
            fault.release()
            wait_for(lambda: fabric.b.set("hostb", [])[0] == 200, "hostb answers")
            fabric.end(what)


def late_answer_in_time(work):
    """The outcome is known before the request has to be answered."""
    for what, wanted in (("hang", 200), ("refused", 409)):
        with Fabric(work, "late-" + what, timeout="2s") as fabric:
            fault = fabric.pax.fault("hang", BIND, BIND_BIND, done=False)
            if wanted == 409:
                fabric.pax.bind = lambda payload: (0x640012, b"")
            thread, answers = later(fabric.a.set, "hosta", ["gpu0"])
            fault.met.wait()
            threading.Timer(3, fault.release).start()
            thread.join()
            status, document, _ = answers[0]
            Report.same(status, wanted, f"an answer after its time, {what}: the database decides")
            Report.same(fabric.a.zone("hosta")[0], ["gpu0"] if wanted == 200 else [], f"{what}: and the zone says it")
            if wanted == 409:
                Report.same(fabric.a.state("gpu0"), "StandbyOffline", "refused: it is free")
            Report.ok(wanted == 200 or "has not answered in time" in message(document), f"{what}: the reason is said", document)
            fabric.end(what)


def answers_are_short(work):
    with Fabric(work, "short") as fabric:
        pax, manager = fabric.pax, fabric.manager
        pax.fault("short", BIND, BIND_BIND, size=2)
        Report.same((fabric.a.set("hosta", ["gpu0"])[0], pax.bound()[0x0101]), (200, A0), "half a return code: the database says that it is bound")
        pax.fault("short", BIND, BIND_UNBIND, size=3)
        Report.same((fabric.a.set("hosta", [])[0], pax.bound()), (200, {}), "of an unbind, too")
        pax.fault("short", BIND, BIND_BIND, size=3)
        pax.fault("short", DUMP, DUMP_PART, size=700)
        Report.same((fabric.a.set("hosta", ["gpu0"])[0], pax.faults), (200, []), "and a database that is cut short is read again")
        for code, start, size in ((DUMP, DUMP_START, 8), (DUMP, DUMP_PART, 700), (PAX_ID, b"", 4), (EVENTS, b"", 100)):
            seen = len(manager.lines)
            pax.fault("short", code, start, size=size)
            pax.change(0x0202, None)
            manager.said("does not answer: .*bytes of answer instead of", seen)
            fabric.answers()
            Report.same(fabric.a.zone("hosta")[0], ["gpu0"], f"{size} bytes of command 0x{code:x}: nothing is lost")
        fabric.end("short answers")


def patched(at, form, *values):
    """The answer with other numbers from byte @at of its data on."""
    def change(answer):
        raw = bytearray(answer)
        struct.pack_into(form, raw, 4 + at, *values)
        return bytes(raw)
    return change


def lies(work):
    with Fabric(work, "lies", timeout="5s") as fabric:
        pax, manager = fabric.pax, fabric.manager
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a GPU comes before")
        # the parser's own test has more of them; data of a part begins at 12
        for start, change, what in ((DUMP_START, patched(0, "<I", 40), "half of a database"),
                                    (DUMP_START, patched(0, "<I", 0xffffffff), "one of 16 GiB"),
                                    (DUMP_PART, patched(4, "<I", 0x40000001), "a part of 4 GiB"),
                                    (DUMP_PART, patched(13, "<B", 5), "another switch"),
                                    (DUMP_PART, patched(12 + 80 + 4, "<I", 0xfffffff0), "a section without an end")):
            seen = len(manager.lines)
            pax.fault("lie", DUMP, start, change=change)
            pax.change(0x0202, None)
            said = manager.said("does not answer: (.*)", seen)[1]
            Report.ok("GFMS database" in said, f"{what}: {said}", said)
            fabric.answers()
        pax.fault("lie", EVENTS, change=patched(0, "<HHH", 1, 0, 0xffff))
        manager.said("GFMS events: the length of one is wrong")
        wait_for(lambda: fabric.b.set("hostb", ["gpu1"])[0] == 200, "hostb answers again")
        Report.same((fabric.a.zone("hosta")[0], fabric.b.zone("hostb")[0]), (["gpu0"], ["gpu1"]), "nothing is lost by lies")
        fabric.end("lies")


def loses_power(work):
    with Fabric(work, "power", timeout="5s") as fabric:
        a, pax = fabric.a, fabric.pax
        pax.fault("power", BIND, BIND_BIND, done=True)
        Report.same((a.set("hosta", ["gpu0"])[0], pax.bound()[0x0101]), (200, A0), "power is lost after a bind was carried out: it is bound")
        pax.fault("power", BIND, BIND_UNBIND, done=True)
        Report.same((a.set("hosta", [])[0], pax.bound()), (200, {}), "and after an unbind")
        pax.fault("power", BIND, BIND_BIND, done=False)
        status, document, _ = a.set("hosta", ["gpu0"])
        Report.ok(status == 409 and "the device has gone" in message(document), "power is lost before: it is not bound", status, document)
        Report.same((a.zone("hosta")[0], a.state("gpu0")), ([], "StandbyOffline"), "and free")
        Report.same(a.set("hosta", ["gpu0"])[0], 200, "a GPU is there when")
        pax.fault("power", EVENTS, forget=True)
        begun = time.monotonic()
        fabric.manager.said("gpu0 is no longer in a port of hosta and stays in its zone")
        Report.ok(time.monotonic() - begun < 25, "a switch that is back is looked at by all, before it is time to look again")
        Report.same((a.zone("hosta")[0], a.state("gpu0")), (["gpu0"], "StandbyOffline"), "a switch forgets all: the GPU stays its host's")
        Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409, "and nobody else's")
        Report.same(a.set("hosta", ["gpu0"], ports={"gpu0": "hosta/1"})[0], 200, "which gets it back at the port that it names")
        Report.same(pax.bound()[0x0101], A1, "where it is")
        fabric.end("power")


def others_change(work):
    """Another program binds and unbinds, a dump of it is left open, and the switch is slow to do as it says."""
    with Fabric(work, "others", late=0.4) as fabric:
        a, pax = fabric.a, fabric.pax
        pax.switches[0].dumping = b"left open by a program that was killed"
        Report.same((a.set("hosta", ["gpu1"])[0], pax.bound()), (200, {0x0201: A0}), "a bind that comes after its answer is waited for")
        seen, begun = len(fabric.manager.lines), time.monotonic()
        pax.change(0x0201, None)
        fabric.manager.said("gpu1 is no longer in a port of hosta", seen)
        Report.ok(time.monotonic() - begun < 25, "an event is heard before it is time to look again")
        Report.same(a.zone("hosta")[0], ["gpu1"], "another program unbinds: the GPU stays in the zone")
        pax.change(0x0301, B1)
        fabric.manager.said("hostb has gpu2")
        Report.same(fabric.b.zone("hostb")[0], ["gpu2"], "another program binds: it is its host's")
        pax.change(0x0201, B0)
        fabric.manager.said("gpu1 is in hostb and in another host")
        Report.same(a.endpoint("gpu1")["Status"], {"State": "Disabled", "Health": "Critical"}, "to another host than its owner: in fault")
        fabric.end("others")


def reloads(work):
    with Fabric(work, "reload") as fabric:
        manager = fabric.manager
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a GPU comes before the reload")
        for changes, why in (({"gpus": {**GPUS, "gpu0": "endpoint = 0/28"}}, "gpu0 is in the zone of hosta"),
                             ({"hosts": {**HOSTS, "hosta": "0/9"}}, "cannot get another upstream"),
                             ({"device": f"unix:{fabric.pax.path}2"}, "cannot get another upstream"),
                             ({"device": "unix:/" + "nonsense" * 20}, "device must be a path")):
            manager.write(**changes)
            manager.process.send_signal(signal.SIGHUP)
            manager.said(f"reload: .*{why}.*; the configuration stays as it was")
            manager.lines.clear()
        Report.ok(True, "a host or a GPU in use does not become another one")
        manager.write(gpus={**GPUS, "gpu2": "pdfid = 0x0301"}, timeout="9s")
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: done")
        Report.same(fabric.a.zone("hosta")[0], ["gpu0"], "who has what outlives a reload")
        wait_for(lambda: fabric.b.set("hostb", ["gpu2"])[0] == 200, "hostb answers again")
        fabric.end("reloads")


def wrong_nodes(work):
    """Configured by mistake: what they say is no answer, and the right one is taken as soon as it is configured."""
    with Fabric(work, "nodes") as fabric:
        manager = fabric.manager
        plain = os.path.join(fabric.folder, "plain")
        with open(plain, "wb"):
            pass
        for path, why in (("/dev/null", "the device has gone"), (plain, "is not a character device"), ("/nowhere", "No such file or directory")):
            manager.write(device=path)
            manager.process.send_signal(signal.SIGHUP)
            manager.said(f"hosta does not answer: {path}.*{why}")
            Report.same(fabric.a.set("hosta", ["gpu0"])[0], 409, f"{path}: {why}")
            wait_for(lambda: manager.command("evict", "hosta").returncode == manager.command("evict", "hostb").returncode == 0, "evict")
            manager.write()
            manager.process.send_signal(signal.SIGHUP)
            manager.lines.clear()
            manager.ready()
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "the right device again")
        fabric.end("wrong nodes")


def same_device(work):
    with Fabric(work, "same", ready=False) as fabric:
        fabric.manager.ready()
        fabric.manager.write(gpus={**GPUS, "gpu3": "pdfid = 0x0102"})
        fabric.manager.process.send_signal(signal.SIGHUP)
        fabric.manager.said("does not answer: gpu0 and gpu3 are the same device")
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 503, "two names for one device: nobody gets it")
        fabric.end("the same device")


def main():
    with tempfile.TemporaryDirectory() as work:
        parts = (gpus_move, unbinds_whole, two_want_one, refusals, halves, taken_meanwhile, manager_dies, manager_dies_while_it_hangs, switch_hangs,
                 late_answer_in_time, answers_are_short, lies, loses_power, others_change, reloads, wrong_nodes, same_device)
        for part in parts:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                print(f"# {part.__name__}")
                part(work)
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
