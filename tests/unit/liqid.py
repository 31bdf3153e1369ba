#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
The program that speaks to Liqid's directors against a fake one (tests/liqid): what is connected to whom after
everything that can go wrong on the way, that nothing is left in edit mode, and that what is said of it is true.
"""

import functools
import json
import os
import signal
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(TOP, "tests/redfish"), os.path.join(TOP, "tests/liqid")]
# pylint: disable=wrong-import-position
import director as ld
import manager as fm
from bench import Bench, Report

# The requests of a change, in their order.
STEPS = ("/fabric/edit$", "/relate/gpu$", "/fabric/reprogram$")
OURS = {"gpu0": "hosta", "gpu1": "hosta"}


def fault_at(bench, step, what, method="POST", times=1):
    bench.manager.fault(method, step, what, times)


def bind(bench, what, code, outcome, owners, text=None, verb="bind", gpus=("gpu0", "gpu1")):
    """One request, judged by what is connected, and that nothing is left behind."""
    said = bench.ask(verb, *gpus)
    Report.same((said["exit"], said.get("outcome"), bench.owners()), (code, outcome, owners), what, said)
    if outcome != "unknown":
        Report.ok(bench.manager.untouched(), f"{what}: nothing is left", bench.manager.edits, bench.manager.gpus)
    if text:
        Report.ok(text in said.get("error", "") and "\n" not in said["error"], f"{what}: is said", said)
    return said


def inventories(bench):
    director = bench.manager
    director.give("gpu1", "hosta")
    director.give("gpu2", "hostb")
    director.gpus["gpu3"]["group"] = 2
    said = bench.ask("inventory")
    gpus = {one["id"]: one for one in said["inventory"]["gpus"]}
    Report.same([(name, one["state"], one.get("host"), one.get("why")) for name, one in gpus.items()],
                [("gpu0", "free", None, None), ("gpu1", "bound", "hosta", None), ("gpu2", "bound", "hostb", None),
                 ("gpu3", "unusable", None, "in group other"), ("gpu4", "unusable", None, "in no group"),
                 ("gpu5", "unusable", None, "in no group")], "GPUs alone, with who has them")
    Report.same((gpus["gpu0"]["vendor"], gpus["gpu0"]["device"]), (0x10de, 0x2331), "and their ids")
    director.edit_by("admin")
    Report.same({one["id"]: one["state"] for one in bench.ask("inventory")["inventory"]["gpus"]}["gpu1"], "changing",
                "what is edited may not be connected")
    director.end_edit()
    rows = json.loads(bench.gpuctl("-j", "fabric").stdout)
    Report.same((rows["managers"][0]["driver"], {one["gpu"]: one["kind"] for one in rows["pool"]}["gpu0"]), ("liqid", "h100-pcie-80"),
                "gpuctl fabric lists them", rows)
    bench.conf(host="nobody")
    Report.ok("has no machine nobody" in bench.ask("inventory")["error"], "a machine that is not there")
    bench.conf()


def changes(bench):
    director = bench.manager
    said = bind(bench, "two are bound", 0, "done", OURS)
    Report.same({one["id"]: one["state"] for one in said["inventory"]["gpus"]}["gpu1"], "bound", "and listed as such")
    posted = [one[1].removeprefix(ld.API) for one in director.asked if one[0] != "GET"]
    Report.same(posted, ["/fabric/edit", "/relate/gpu", "/relate/gpu", "/fabric/reprogram"], "in one edit")
    said = bind(bench, "what this host has already is taken", 3, "none", OURS, "gpu0 belongs to host hosta")
    Report.same((said["taken"], said["taker"]), ("gpu0", "hosta"), "by itself")
    bind(bench, "one goes back", 0, "done", {"gpu0": "hosta"}, verb="unbind", gpus=("gpu1",))
    bind(bench, "both go back, of which one has", 0, "done", {}, verb="unbind")
    bind(bench, "there is nothing to give back", 0, "done", {}, verb="unbind")
    director.give("gpu1", "hostb")
    said = bind(bench, "all or none", 3, "none", {"gpu1": "hostb"}, "gpu1 belongs to host hostb")
    Report.same((said["taken"], said["taker"]), ("gpu1", "hostb"), "and who has it")
    bind(bench, "a GPU of no group", 3, "none", {"gpu1": "hostb"}, "gpu4 cannot be used: in no group", gpus=("gpu4",))
    bind(bench, "a GPU that is not there", 2, "none", {"gpu1": "hostb"}, "has no GPU gpu9", gpus=("gpu9",))
    director.clear()
    director.slow = 4
    bind(bench, "a reprogram that goes on behind its answer", 0, "done", OURS)
    director.clear()
    bench.conf(p2p="on")
    bind(bench, "p2p is turned on", 0, "done", OURS)
    Report.same((director.machines["hosta"]["p2p"], director.machines["hostb"]["p2p"]), ("on", "off"), "for this machine")
    bind(bench, "and is left on", 0, "done", {"gpu0": "hosta"}, verb="unbind", gpus=("gpu1",))
    bind(bench, "once", 0, "done", OURS, gpus=("gpu1",))
    Report.same(director.count("POST", "p2p$"), 1, "asked for")
    director.clear()
    fault_at(bench, "/machine/p2p$", fm.status(400))
    bind(bench, "p2p is refused", 1, "done", OURS, "p2p could not be turned on")
    bench.conf()


def steps(bench, verb, step):
    """Every step is refused, does not answer, or answers what nobody can read: all or none, and nothing is left."""
    director = bench.manager
    before, after = ({}, OURS) if verb == "bind" else (OURS, {})

    def again(what, fault, outcome="none", times=1):
        director.clear()
        for gpu in before:
            director.give(gpu, "hosta")
        fault_at(bench, step, fault, "DELETE" if "relate" in step and verb == "unbind" else "POST", times)
        said = bench.ask(verb, "gpu0", "gpu1")
        Report.same((said["exit"] > 0, said["outcome"], bench.owners(), director.untouched()),
                    (outcome != "done", outcome, before if outcome == "none" else after, True), f"{verb}: {step} {what}: {outcome}", said, director.edits)

    again("has a code", fm.raw(ld.envelope(None, 5, "as the test wants it")), times=99)
    again("has a status", fm.status(400), times=99)
    if step == STEPS[2]:
        bench.conf(timeout="5s")
    again("is cut before it", fm.cut_before)
    again("has 500", fm.status(500))
    again("is cut behind it", fm.cut_after, "done" if step == STEPS[2] else "none")
    if step != STEPS[2]:
        again("has no JSON", fm.raw(b"<html>"))
        again("has no envelope", fm.raw(b"{}"))


def refusals(bench):
    director = bench.manager
    director.clear()
    director.refuse = {"gpu1"}
    bind(bench, "the second one is refused", 1, "none", {}, "gpu1 cannot be related")
    director.clear()

    def snatched(handler):
        director.give("gpu1", "hostb")
        handler.serve()
    fault_at(bench, STEPS[1], snatched)
    said = bind(bench, "somebody else takes one meanwhile", 3, "none", {"gpu1": "hostb"}, "gpu1 belongs to host hostb")
    Report.same((said["taken"], said["taker"]), ("gpu1", "hostb"), "which is said")
    director.clear()
    fault_at(bench, "/fabric/edit/cancel$", fm.status(503), times=2)
    fault_at(bench, STEPS[1], fm.status(400))
    bind(bench, "a cancel that fails is repeated", 1, "none", {})


def hangs(bench, step):
    director = bench.manager
    bench.conf(timeout="5s")
    for done in (True, False):
        director.clear()
        stop = threading.Event()
        fault_at(bench, step, fm.hang(stop, done))
        made = done and step == STEPS[2]
        bind(bench, f"{step} hangs, {'made' if done else 'not made'}", 0 if made else 7, "done" if made else "none", OURS if made else {})
        stop.set()


def unknown(bench):
    director = bench.manager
    bench.conf(timeout="5s")
    fault_at(bench, STEPS[2], lambda handler: (fault_at(bench, "", fm.status(500), "GET", 999), fm.cut_after(handler)))
    bind(bench, "a director that cannot be asked any more", 1, "unknown", OURS, "is not known")
    director.clear()
    director.slow = 20

    def later(handler):
        handler.server.manager.change(handler)
        handler.cut()
    fault_at(bench, STEPS[2], later)
    bench.conf(timeout="20s")
    bind(bench, "as long as the reprogram is pending it is waited for", 0, "done", OURS)
    director.clear()
    fault_at(bench, STEPS[0], fm.late_after(1.5))
    bind(bench, "edit mode that begins when nobody waits for it any more", 1, "none", {})
    bench.conf()


def locks(bench):
    """Edit mode of somebody else, and of a program that was killed."""
    director = bench.manager
    director.clear()
    director.edit_by("admin")
    threading.Timer(1.5, director.end_edit).start()
    bind(bench, "somebody else's edit is waited for", 0, "done", OURS)
    director.clear()
    director.edit_by("admin")
    bench.conf(timeout="5s")
    said = bench.ask("bind", "gpu0")
    Report.same((said["exit"], said["outcome"], bench.owners(), list(director.edits)), (4, "none", {}, ["hosta"]), "but not for ever, nor ended", said)
    Report.ok("machine hosta is being changed by admin since 2026" in said["error"] and "\n" not in said["error"], "which is said in a line", said)
    Report.same([one[1] for one in director.asked if one[0] != "GET"], [], "nothing was asked for")
    bench.conf()
    director.clear()
    fault_at(bench, STEPS[0], lambda handler: (director.edit_by("admin"), threading.Timer(1.5, director.end_edit).start(), handler.serve()))
    bind(bench, "somebody who is faster is waited for", 0, "done", OURS)
    director.clear()

    def unseen(handler):
        fault_at(bench, "", fm.status(500), "GET", 3)
        fm.status(500)(handler)
    fault_at(bench, STEPS[0], lambda handler: (director.edit_by("admin"), unseen(handler)))
    said = bench.ask("bind", "gpu0")
    Report.same((said["exit"], said["outcome"], list(director.edits), director.count("POST", "cancel$")), (1, "none", ["hosta"], 0),
                "nor ended while nobody can read whose it is", said)
    director.clear()
    fault_at(bench, STEPS[1], unseen)
    bind(bench, "our own is ended without reading whose it is", 1, "none", {})
    Report.same(director.count("POST", "cancel$"), 1, "once")


def killed(bench, step):
    """A program that is killed at this step."""
    director = bench.manager
    for done in (True, False):
        director.clear()
        director.hanging.clear()
        stop = threading.Event()
        fault_at(bench, step, fm.hang(stop, done))
        program = bench.start("bind", "gpu0", "gpu1")
        director.hanging.wait(60)
        program.kill()
        bench.end(program)
        stop.set()
        made = done and step == STEPS[2]
        if made:
            bind(bench, f"killed at {step}, made", 3, "none", OURS)
        else:
            bind(bench, f"killed at {step}, {'made' if done else 'not made'}: the next request clears up", 0, "done", OURS)


def together(bench):
    """Requests of one host wait for each other."""
    director = bench.manager
    director.clear()
    fault_at(bench, STEPS[2], lambda handler: (threading.Event().wait(1), handler.serve()), times=9)
    programs = [bench.start("bind", gpu) for gpu in ("gpu0", "gpu1", "gpu2")]
    ends = [bench.end(program)["exit"] for program in programs]
    Report.same((ends, bench.owners()), ([0, 0, 0], {**OURS, "gpu2": "hosta"}), "requests of one host wait for each other")


def signals(bench, name):
    director = bench.manager
    bench.conf(timeout="6s")
    for step in STEPS:
        director.clear()
        director.hanging.clear()
        stop = threading.Event()
        fault_at(bench, step, fm.hang(stop, True))
        program = bench.start("bind", "gpu0", "gpu1")
        director.hanging.wait(60)
        program.send_signal(getattr(signal, name))
        said = bench.end(program)
        stop.set()
        made = step == STEPS[2]
        Report.same((said["exit"], said["outcome"], bench.owners(), director.untouched()),
                    (1, "done" if made else "none", OURS if made else {}, True), f"{name} at {step}: is known", said)
        Report.ok("interrupted" in said["error"], f"{name} at {step}: is said", said)


def logins(bench):
    director = bench.manager
    director.clear()
    bench.conf(credentials=bench.credentials("wrong"))
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 5 and "401" in said["error"] and "wrong" not in json.dumps(said), "a wrong password", said)
    bench.conf(credentials=bench.credentials(mode=0o640))
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 5 and "users other than root may read" in said["error"], "a password that others can read", said)
    bench.conf(credentials=bench.credentials(), ca=director.clients["hosta"][0])
    said = bench.ask("inventory")
    Report.ok(said["exit"] == 5 and "no certificate that this host trusts" in said["error"], "a director that nobody vouches for", said)
    for keys, text in (({"way": "zone"}, "way is for driver = redfish"), ({"ports": "101=sw0/dn0"}, "write names of slots alone"),
                       ({"url": director.url.replace("https", "http")}, "write https://")):
        bench.conf(**keys)
        said = bench.gpuctl("fabric")
        Report.ok(said.returncode == 1 and text in said.stderr, text, said)
    bench.conf()


def hostile(bench):
    director = bench.manager

    def look(what, text, path, body):
        director.clear()
        director.fault("GET", path, fm.raw(body))
        said = bench.ask("inventory")
        Report.ok(said["exit"] == 1 and text in said["error"] and "\n" not in said["error"], what, said)

    look("no envelope", "no response with a code", "/status$", b"{}")
    look("no list", "the answer has no data", "/status$", ld.envelope({"a": 1}))
    look("a code with words that play", "code 7: as ?[2J", "/status$", ld.envelope(None, 7, "as \x1b[2J"))
    look("a name that plays", "not of A-Z", "/status$", ld.envelope([{"type": "GpuDeviceStatus", "name": "a\x1b[2J"}]))
    look("a name twice", "is there twice", "/status$", ld.envelope([{"device_type": "gpu", "name": "a"}] * 2))
    look("a machine without numbers", "has no fabr_id", "/machine", ld.envelope([{"mach_name": "hosta", "mach_id": "x"}]))
    look("a group that is gone", "has no group 1", "/group$", ld.envelope([]))
    look("too much", "sent more than 4 MiB", "/status$", b'{"x":"' + b"a" * (5 << 20) + b'"}')
    look("too deep", "JSON that is too deep", "/status$", b'{"x":' + b"[" * 100 + b"]" * 100 + b"}")
    director.clear()
    director.fault("GET", "/status$", fm.status(302, Location="https://127.0.0.1:1/x"))
    Report.ok("redirects to another host" in bench.ask("inventory")["error"], "a redirection is not followed")
    Report.ok(all(fm.PASSWORD not in json.dumps(one[:3]) for one in director.asked), "no password but where it belongs")


def bench_of(work):
    os.makedirs(work)
    bench = Bench(work, ld.Director(work), "liqid", {"ports": "101 102 103", "credentials": os.path.join(work, "login")}, certified=False)
    bench.credentials()
    return bench


def alone(name, part, bench):
    """A part with a director of its own, beside the others: most of the time is spent waiting."""
    begun = time.monotonic()
    try:
        part(bench)
    except Exception as error:  # pylint: disable=broad-except
        Report.ok(False, f"{name} goes through", error)
    bench.manager.close()
    Report.say(f"# {name}: {time.monotonic() - begun:.0f} s")


def main():
    parts = {"inventories": inventories, "changes": changes, "refusals": refusals, "unknown": unknown, "locks": locks, "together": together,
             "SIGTERM": lambda bench: signals(bench, "SIGTERM"), "SIGINT": lambda bench: signals(bench, "SIGINT"),
             "logins": logins, "hostile": hostile}
    for number, step in enumerate(STEPS):
        parts[f"hangs{number}"] = functools.partial(hangs, step=step)
        parts[f"killed{number}"] = functools.partial(killed, step=step)
        for verb in ("bind", "unbind"):
            parts[f"{verb}{number}"] = functools.partial(steps, verb=verb, step=step)
    with tempfile.TemporaryDirectory() as work:
        benches = {name: bench_of(os.path.join(work, name)) for name in parts if name in sys.argv or len(sys.argv) < 2}
        threads = [threading.Thread(target=alone, args=(name, parts[name], bench)) for name, bench in benches.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"1..{Report.count}")
    sys.exit(1 if Report.failed else 0)


if __name__ == "__main__":
    main()
