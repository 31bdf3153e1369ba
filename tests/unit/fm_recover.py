#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
A manager that is killed in the middle of a request of several steps: the next one undoes what was done, at every place where it can
die, also while it undoes.
"""

import contextlib
import http.client
import json
import os
import signal
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, Client, Gate, Guest, Manager, Report, message, wait_for

PORTS = ("dn0", "dn1")
GPUS = ("gpu0", "gpu1", "gpu2", "gpu3")
SERVICE = "/redfish/v1/CompositionService"
COMPOSE = SERVICE + "/Actions/CompositionService.Compose"


def manifest(**zones):
    stanzas = [{"StanzaType": "ComposeSystem", "StanzaId": host, "Request": {
        "@odata.id": f"/redfish/v1/Systems/{host}",
        "Links": {"ResourceBlocks": [{"@odata.id": f"{SERVICE}/ResourceBlocks/{name}"} for name in (host, *gpus)]}}}
        for host, gpus in zones.items()]
    return {"RequestFormat": "Manifest", "RequestType": "Apply", "Manifest": {"Stanzas": stanzas}}


class Site:
    """Two hosts that let go; hosta has gpu3."""

    def __init__(self, work, name):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.guests = {host: Guest(self.folder, host, PORTS) for host in ("hosta", "hostb")}
        self.manager = Manager(self.folder, {host: (one.path, PORTS) for host, one in self.guests.items()}, GPUS)
        self.manager.command("init", "--user", "admin")
        self.manager.command("passwd", "admin", stdin="correct horse\n")
        self.manager.start().ready()
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")
        self.admin = Client(self.manager, pem=os.path.join(self.manager.folder, "users/admin.pem"))
        assert self.a.set("hosta", ["gpu3"])[0] == 200

    def there(self):
        return {name: dict(one.there) for name, one in self.guests.items()}

    def intents(self):
        return [name for name in os.listdir(self.manager.state) if name.startswith("intent-")]

    def fails(self):
        """A manager whose disk fails as long as the file exists whose name is returned."""
        path = os.path.join(self.folder, "fails")
        self.manager.stop()
        self.manager.start(LD_PRELOAD=os.path.join(BUILD, "fm-test/failing-disk.so"), ASAN_OPTIONS="verify_asan_link_order=0", FAILING_DISK=path)
        self.manager.ready()
        return path

    def again(self, die=None):
        """Another manager, which perhaps dies."""
        self.manager.stop()
        self.manager.start(**({"GPUFABRIC_FM_DIE": die} if die else {}))

    def dies(self, die):
        """Another manager, which dies while it undoes, perhaps before it listens."""
        try:
            self.again(die)
        except RuntimeError:
            pass
        return self.manager.process.wait() == -signal.SIGKILL

    def killed(self, ask):
        """What was asked for is not answered, as the manager dies of it."""
        try:
            answer = ask()
        except (OSError, ValueError):
            answer = None
        return answer is None and self.manager.process.wait() == -signal.SIGKILL

    def settle(self):
        self.manager.ready()
        wait_for(lambda: not self.intents(), "nothing is left to undo")
        for host, client in (("hosta", self.a), ("hostb", self.b)):
            wait_for(lambda h=host, c=client: c.set(h, c.zone(h)[0])[0] == 200, f"{host} takes requests")

    def end(self):
        Report.same(self.manager.stop(), 0, "it ends cleanly")
        for guest in self.guests.values():
            guest.close()


def several_hosts(work):
    """GPUs leave one host and come to two."""
    for die in ("intent-written", "device_del", "device_add", "step-done:1", "step-done:2", "step-done:3", "step-done:4", "intent-removed"):
        site = Site(work, "hosts-" + die.replace(":", "-"))
        before = site.there()
        site.again(die)
        site.manager.ready()
        Report.ok(site.killed(lambda s=site: s.admin.ask("POST", COMPOSE, manifest(hosta=("gpu0", "gpu1"), hostb=("gpu2",)))),
                  f"killed at {die}, in a manifest for two hosts")
        if die == "intent-removed":
            Report.same(site.intents(), [], "all was done, and the next start is told nothing")
            site.again()
            site.settle()
            Report.same({host: set(gpus) for host, gpus in site.there().items()}, {"hosta": {"gpu0", "gpu1"}, "hostb": {"gpu2"}},
                        "so it leaves all as it is")
        else:
            site.again()
            site.settle()
            Report.same(site.there(), before, f"{die}: the next one undoes it, each GPU in its port", site.manager.lines)
            Report.same((site.a.zone("hosta")[0], site.b.zone("hostb")[0]), (["gpu3"], []), "and says so")
            Report.same([site.a.state(name) for name in GPUS], ["StandbyOffline"] * 3 + ["Enabled"], "what was brought is free again")
            status, _, headers = site.admin.ask("POST", COMPOSE, manifest(hosta=("gpu0", "gpu1"), hostb=("gpu2",)))
            if status == 202:
                status = 200 if site.admin.follow(headers["Location"])["TaskState"] == "Completed" else status
            Report.same(status, 200, "it can be asked for once more")
        site.end()


def two_gpus(work):
    """One zone, two GPUs; the next manager dies while it undoes, and so does the one after that."""
    site = Site(work, "two")
    before = site.there()
    site.again("step-done:2")
    site.manager.ready()
    Report.ok(site.killed(lambda: site.b.set("hostb", ["gpu0", "gpu1"])), "killed when both have come")
    Report.same(set(site.there()["hostb"]), {"gpu0", "gpu1"}, "they are there, and nobody was told")
    Report.ok(site.dies("device_del"), "the next one dies while it undoes")
    Report.ok(site.dies("undo-done"), "and one more")
    site.again()
    site.settle()
    Report.same(site.there(), before, "the last one finds nothing left to undo, or undoes that", site.manager.lines)
    Report.same(site.b.set("hostb", ["gpu0", "gpu1"])[0], 200, "they can be had")
    site.end()


def stopped_twice(work):
    """A manager that is told twice to stop ends in the middle of a request; that is not worse than to be killed."""
    site = Site(work, "stopped")
    # However long this machine takes until it is told to stop.
    site.manager.write(bind_timeout="10min")
    site.again()
    site.manager.ready()
    before = site.there()
    gate = site.guests["hostb"].gate = Gate()

    def ask():
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            site.admin.ask("POST", COMPOSE, manifest(hosta=("gpu0", "gpu1"), hostb=("gpu2",)))

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: gate.held and set(site.there()["hosta"]) == {"gpu0", "gpu1"}, "hosta has what it is to have, and hostb is at it")
    site.manager.process.send_signal(signal.SIGTERM)
    wait_for(lambda: site.b.set("hostb", [])[0] == 503, "it takes no requests any more")
    site.manager.process.send_signal(signal.SIGTERM)
    Report.same(site.manager.process.wait(), 0, "the manager has ended")
    asking.join()
    gate.opened.set()
    site.guests["hostb"].gate = None
    lines = site.manager.lines
    site.manager.start()
    site.settle()
    Report.same(site.there(), before, "the next one undoes what was done", lines, site.manager.lines)
    site.end()


def host_is_gone(work):
    """A host that does not come back: its part waits for it, or is void when the host is off."""
    site = Site(work, "gone")
    site.again("step-done:4")
    site.manager.ready()
    Report.ok(site.killed(lambda: site.admin.ask("POST", COMPOSE, manifest(hosta=("gpu0", "gpu1"), hostb=("gpu2",)))), "killed when all was done")
    os.unlink(site.guests["hostb"].path)
    site.again()
    site.manager.said("hosta answers")
    wait_for(lambda: set(site.there()["hosta"]) == {"gpu3"}, "the host that answers is as before")
    site.manager.said("hostb does not answer")
    wait_for(lambda: site.a.set("hosta", ["gpu3"])[0] == 200, "it takes requests again")
    status, document, _ = site.a.set("hosta", ["gpu3", "gpu2"])
    Report.ok(status in (409, 503), "the GPU of the host that does not answer is not given away", status, document)
    with open(os.path.join(site.manager.state, site.intents()[0]), encoding="ascii") as file:
        Report.same(file.read(), "bind hostb gpu2 dn0\n", "what is left to undo is the other host's part")
    after = len(site.manager.lines)
    site.manager.process.send_signal(signal.SIGHUP)
    site.manager.said("reload: done", after)
    Report.same(len(site.intents()), 1, "a reload does not forget it")
    wait_for(lambda: site.manager.command("evict", "hostb").returncode == 0, "an admin says that it is off")
    wait_for(lambda: not site.intents(), "then there is nothing to undo")
    wait_for(lambda: site.a.set("hosta", ["gpu3", "gpu2"])[0] == 200, "and its GPU is free")
    Report.ok(True, "a host that is off has nothing to undo, and its GPU is free")
    site.end()


class Away:
    """Something else is in the place of the folder of notes."""

    def __init__(self, site):
        self.state, self.away = site.manager.state, site.manager.state + ".away"
        os.rename(self.state, self.away)
        with open(self.state, "w", encoding="ascii"):
            pass

    def over(self):
        os.unlink(self.state)
        os.rename(self.away, self.state)

    def intents(self):
        return [name for name in os.listdir(self.away) if name.startswith("intent-")]


def left(site, *lines):
    """The manager has died; its note has these."""
    site.manager.process.kill()
    site.manager.process.wait()
    with open(os.path.join(site.manager.state, "intent-" + "0" * 19 + "7"), "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for line in lines))


def refused_reload(site):
    after = len(site.manager.lines)
    site.manager.process.send_signal(signal.SIGHUP)
    site.manager.said("reload: .*; the configuration stays as it was", after)
    return site.manager.process.poll() is None


def undone_stays(work):
    """Undone, and the note cannot be written: a host that took requests would lose their GPUs to the next undoing."""
    site = Site(work, "undone")
    site.manager.write(bind_timeout="10min")
    del site.guests["hosta"].there["gpu3"]
    left(site, "unbind hosta gpu3 dn0", "unbind hosta gpu2 dn1", "bind hostb gpu0 dn0")
    gate = site.guests["hosta"].gate = Gate()
    site.manager.start()
    wait_for(lambda: gate.held, "it is being undone")
    wait_for(lambda: site.b.set("hostb", [])[0] == 200, "the other host, where nothing is to be undone, takes requests")
    away = Away(site)
    site.guests["hosta"].gate = None
    gate.opened.set()
    wait_for(lambda: set(site.there()["hosta"]) == {"gpu2", "gpu3"}, "it is undone")
    site.manager.said("hosta takes no requests before that is mended")
    status, document, _ = site.a.set("hosta", ["gpu2"])
    Report.ok(status == 503 and set(site.there()["hosta"]) == {"gpu2", "gpu3"}, "the host takes no requests", status, message(document))
    Report.ok(refused_reload(site), "a reload is refused")
    site.manager.stop()
    away.over()
    Report.same(len(site.intents()), 1, "the note is for the next start, which can stop meanwhile")
    site.again()
    site.settle()
    Report.same(set(site.there()["hosta"]), {"gpu2", "gpu3"}, "it is undone once")
    site.end()


def off_stays(work):
    """Void, as the host is off, and the note cannot be written."""
    site = Site(work, "off")
    left(site, "bind hostb gpu0 dn0", "bind hostb gpu1 dn1")
    path, site.guests["hostb"].path = site.guests["hostb"].path, site.guests["hostb"].path + ".away"
    os.rename(path, site.guests["hostb"].path)
    site.manager.start()
    site.manager.said("hostb does not answer")
    away = Away(site)
    wait_for(lambda: site.manager.command("evict", "hostb").returncode == 0, "an admin says that it is off")
    Report.same(len(away.intents()), 1, "its note is there")
    Report.ok(refused_reload(site), "so a reload is refused")
    os.rename(site.guests["hostb"].path, path)
    site.guests["hostb"].path = path
    after = len(site.manager.lines)
    Report.same(site.b.set("hostb", ["gpu0"])[0], 503, "the host is back, and takes no requests")
    away.over()
    wait_for(lambda: not site.intents(), "the note goes as soon as it can")
    site.manager.said("hostb answers", after)
    wait_for(lambda: site.b.set("hostb", ["gpu0", "gpu1"])[0] == 200, "then it takes requests")
    site.manager.process.kill()
    site.manager.process.wait()
    site.again()
    site.settle()
    Report.same(set(site.there()["hostb"]), {"gpu0", "gpu1"}, "which nobody undoes")
    site.end()


def bad_files(work):
    site = Site(work, "bad")
    site.manager.stop()
    path = os.path.join(site.manager.state, "intent-" + "0" * 19 + "7")
    for text in ("bind hosta gpu0", "bind hosta gpu0 dn0", "tie hosta gpu0 dn0\n", "bind hosta gpu0\n", "bind hosta gpu0 dn0 x\n", "bind ../a gpu0 dn0\n", "\n"):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        said = site.manager.command("run")
        Report.ok(said.returncode == 1 and path in said.stderr, f"a file that is not understood is not passed over: {text!r}", said)
    with open(path, "w", encoding="ascii") as file:
        file.write("bind hostx gpu0 dn0\nbind hosta gpu9 dn0\n")
    site.manager.start().ready()
    site.manager.said("gpu0 of hostx was under way and stays as it is")
    Report.same(site.intents(), [], "and is forgotten, so that it takes nothing when its host is in fm.conf again")
    Report.same(site.a.set("hosta", ["gpu0"])[0], 200, "what is not in fm.conf any more holds nothing up")
    status, document, _ = site.a.set("hosta", ["gpu1", "gpu2"])
    Report.ok(status == 200, "and a request of several steps has a number of its own", status, message(document))
    site.end()


def not_noted(work):
    """A request of several steps that cannot be noted is not begun."""
    site = Site(work, "full")
    before = site.there()
    os.rename(site.manager.state, site.manager.state + ".away")
    status, document, _ = site.b.set("hostb", ["gpu0", "gpu1"])
    Report.ok(status == 409 and "intent-" in message(document) and site.there() == before, "nothing is done that could not be undone", status,
              json.dumps(document))
    Report.same(site.b.set("hostb", ["gpu0"])[0], 200, "a single step needs no note")
    os.rename(site.manager.state + ".away", site.manager.state)
    Report.same(site.b.set("hostb", ["gpu0", "gpu1"])[0], 200, "it works again")
    Report.same((site.a.set("hosta", ["gpu2", "gpu3"])[0], site.intents()), (200, []), "nothing is left behind")
    site.end()


def half_noted(work):
    """A note that is there although its writer was told that it failed: nobody undoes what another request has done since."""
    site = Site(work, "half")
    fails = site.fails()
    with open(fails, "w", encoding="ascii"):
        pass
    before = site.there()
    status, document, _ = site.b.set("hostb", ["gpu0", "gpu1"])
    Report.ok(status == 409 and "intent-" in message(document) and site.there() == before, "what cannot be noted is not begun", status, document)
    Report.same(site.intents(), [], "and has no note")
    Report.same((site.b.set("hostb", ["gpu0"])[0], site.a.set("hosta", ["gpu3", "gpu1"])[0]), (200, 200), "single steps need none")
    os.unlink(fails)
    site.manager.said("the note of a request that is over is removed")
    done = site.there()
    site.manager.process.kill()
    site.manager.process.wait()
    site.again()
    site.settle()
    Report.same(site.there(), done, "the next manager leaves all as it is", site.manager.lines)
    site.end()


def begun(site):
    """A request of two steps that its host holds up: what lets it go on, who waits for the answer, and the answer."""
    gate = site.guests["hostb"].gate = Gate()
    answers = []
    asking = threading.Thread(target=lambda: answers.append(site.b.set("hostb", ["gpu0", "gpu1"])[0]))
    asking.start()
    wait_for(lambda: gate.held, "it has begun")
    return gate, asking, answers


def folder_away(work):
    """The folder of notes is away when a request ends, and comes back with the request's note."""
    site = Site(work, "away")
    site.manager.write(bind_timeout="10min")
    site.again()
    site.manager.ready()
    gate, asking, answers = begun(site)
    away = site.manager.state + ".away"
    os.rename(site.manager.state, away)
    site.guests["hostb"].gate = None
    gate.opened.set()
    asking.join()
    Report.same(answers, [200], "a request is done while the folder of its note is away")
    os.rename(away, site.manager.state)
    site.manager.said("the note of a request that is over is removed")
    Report.same(site.intents(), [], "the note goes when the folder is back")
    site.end()


def many_stay(work):
    """Notes of many requests that cannot be removed, before a reload and after it."""
    site = Site(work, "many")
    away = site.manager.state + ".away"
    os.rename(site.manager.state, away)
    Report.same([site.b.set("hostb", ["gpu0", "gpu1"])[0] for _ in range(5)], [409] * 5, "without the folder nothing is begun")
    after = len(site.manager.lines)
    site.manager.process.send_signal(signal.SIGHUP)
    site.manager.said("reload: done", after)
    Report.same([site.b.set("hostb", ["gpu0", "gpu1"])[0] for _ in range(5)], [409] * 5, "nor after a reload")
    os.rename(away, site.manager.state)
    wait_for(lambda: site.b.set("hostb", ["gpu0", "gpu1"])[0] == 200, "the folder is back")
    site.end()


def note_stays(work):
    """A note that cannot be removed is one of a request that is over: nobody undoes that, and it goes as soon as it can."""
    site = Site(work, "stays")
    site.manager.write(bind_timeout="10min")
    site.again()
    site.manager.ready()
    gate, asking, answers = begun(site)
    away = site.manager.state + ".away"
    os.rename(site.manager.state, away)
    with open(site.manager.state, "w", encoding="ascii"):
        pass
    site.guests["hostb"].gate = None
    gate.opened.set()
    asking.join()
    Report.same(answers, [200], "the request is done")
    after = len(site.manager.lines)
    site.manager.process.send_signal(signal.SIGHUP)
    site.manager.said("reload: .*; the configuration stays as it was", after)
    Report.ok(site.manager.process.poll() is None, "a reload does not go on without what is to be undone")
    os.unlink(site.manager.state)
    os.rename(away, site.manager.state)
    wait_for(lambda: not site.intents(), "the note goes")
    Report.same((site.there()["hostb"].keys(), site.b.zone("hostb")[0]), ({"gpu0", "gpu1"}, ["gpu0", "gpu1"]), "all is as it was asked for")
    site.end()


def main():
    with tempfile.TemporaryDirectory(prefix="gpufabric-recover-") as work:
        for test in (several_hosts, two_gpus, stopped_twice, host_is_gone, undone_stays, off_stays, bad_files, not_noted, half_noted,
                     folder_away, many_stay, note_stays):
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                print(f"# {test.__name__}")
                test(work)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
