#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager's events: what is told of which change, who may listen, how many, and what becomes of those who do not
read. Hosts let go of GPUs as they are told.
"""

import os
import re
import signal
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import FABRIC, Client, Guest, Listener, Manager, Report, wait_for

PORTS = ("dn0", "dn1", "dn2", "dn3")
SERVICE = "/redfish/v1/EventService"
SESSIONS = "/redfish/v1/SessionService/Sessions"
GPUS = ("gpu0", "gpu1", "gpu2", "gpu3")


class Rack:
    """Two hosts that let go, four GPUs, an administrator who has a password alone."""

    def __init__(self, work):
        self.guests = {name: Guest(work, name, PORTS) for name in ("hosta", "hostb")}
        self.manager = Manager(work, {name: (one.path, PORTS) for name, one in self.guests.items()}, GPUS,
                               "client_certificates = optional\nconnections_per_address = 200")
        self.manager.command("init")
        for user, role in (("admin", "Administrator"), ("reader", "ReadOnly"), ("other", "ReadOnly")):
            self.manager.command("passwd", user, "--role", role, stdin="correct horse\n")
        self.manager.start().ready()
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")
        self.admin, self.reader, self.other = (self.manager.client(user=name, password="correct horse")
                                               for name in ("admin", "reader", "other"))

    def count(self):
        return self.admin.get(SERVICE + "/Subscriptions")[1]["Members@odata.count"]

    def nobody(self):
        """Those who have left are found out sooner or later."""
        wait_for(lambda: self.count() == 0, "nobody listens")


def registries(rack):
    """What events are made of."""
    files = [link["@odata.id"] for link in rack.a.get("/redfish/v1/Registries")[1]["Members"]]
    found = {path.rsplit("/", 1)[-1]: rack.a.get(path)[1]["Location"][0] for path in files}
    Report.same({name: sorted(place) for name, place in found.items()},
                {"GPUFabric.1.0": ["Language", "Uri"], "Base.1.18": ["Language", "PublicationUri"]},
                "our registry is here, DMTF's is where DMTF has it")
    registry = rack.a.get(found["GPUFabric.1.0"]["Uri"])[1]
    wrong = [name for name, one in registry["Messages"].items()
             if one["NumberOfArgs"] != len(set(re.findall(r"%\d", one["Message"]))) or one["NumberOfArgs"] != len(one["ArgDescriptions"])]
    Report.ok(len(registry["Messages"]) >= 10 and not wrong, "each message has the arguments that it says", wrong)
    Report.same([rack.a.get(f"/redfish/v1/Registries/{name}")[0] for name in ("x", "Base.1.18/Registry")], [404, 404], "and nothing else")
    Report.same(Client(rack.manager).get("/redfish/v1/Registries")[0], 401, "for those who may read")
    return registry


def changes(rack, registry):
    """Each change of a zone, once."""
    listener = Listener(rack.b)
    Report.same((listener.status, listener.type), (200, "text/event-stream"), "who has an account may listen")
    Report.same(rack.a.set("hosta", ["gpu0", "gpu1"])[0], 200, "a zone changes")
    event = listener.hears("GPUAdded", "gpu0", "hosta")
    record = event["Events"][0]
    wanted = registry["Messages"]["GPUAdded"]
    Report.same((record["MessageId"], record["Message"], record["MessageSeverity"]),
                (registry["Id"].rsplit(".", 1)[0] + ".GPUAdded", wanted["Message"].replace("%1", "gpu0").replace("%2", "hosta"),
                 wanted["MessageSeverity"]), "it is told with a message of the registry")
    Report.same(record["OriginOfCondition"], {"@odata.id": f"{FABRIC}/Zones/hosta"}, "and the zone")
    Report.ok(event["@odata.type"].startswith("#Event.") and event["Id"] == record["EventId"], "as an event of Redfish", event)
    listener.hears("GPUAdded", "gpu1", "hosta")
    Report.same(rack.a.set("hosta", ["gpu0"])[0], 200, "a GPU goes back")
    listener.hears("GPURemoved", "gpu1", "hosta")
    rack.guests["hosta"].pull("gpu0")
    listener.hears("GPUOff", "gpu0", "hosta")
    Report.same(rack.a.set("hosta", ["gpu0"], ports={"gpu0": "hosta/dn2"})[0], 200, "a slot that was powered off is asked for")
    listener.hears("GPUOn", "gpu0", "hosta")
    Report.same(listener.said(), [], "nothing is told twice")
    rack.guests["hostb"].refuses.add("gpu2")
    rack.guests["hostb"].pause = 1
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(rack.b.set("hostb", ["gpu2", "gpu3"])[0]))
    waiting.start()
    wait_for(lambda: rack.a.state("gpu2") == "Starting", "the bind has begun")
    rack.a.set("hosta", ["gpu0", "gpu1"])
    listener.hears("GPUAdded", "gpu1", "hosta")
    waiting.join()
    Report.same((answers, listener.said()), ([409], []), "a request fails: of GPUs that were on their way nothing is told")
    rack.guests["hostb"].refuses.clear()
    rack.guests["hostb"].pause = 0
    Report.same(rack.b.set("hostb", ["gpu3"])[0], 200, "another one does not")
    listener.hears("GPUAdded", "gpu3", "hostb")
    Report.same(rack.admin.ask("POST", "/redfish/v1/CompositionService/Actions/CompositionService.Compose", {
        "RequestFormat": "Manifest", "RequestType": "Apply", "Manifest": {"Stanzas": [
            {"StanzaType": "DecomposeSystem", "Request": {"@odata.id": f"/redfish/v1/Systems/{name}"}} for name in rack.guests]}})[0], 200,
                "a manifest")
    for name, host in (("gpu0", "hosta"), ("gpu1", "hosta"), ("gpu3", "hostb")):
        listener.hears("GPURemoved", name, host)
    Report.same(listener.said(), [], "is told of for each host, and nothing else")
    return listener


def misses(rack, listener):
    """Who comes back."""
    seen = listener.seen
    listener.close()
    rack.a.set("hosta", ["gpu0"])
    back = Listener(rack.b, Last_Event_ID=seen)
    back.hears("GPUAdded", "gpu0", "hosta")
    Report.ok(True, "who comes back with the last number is told what was missed")
    back.close()
    for number, what in (("1", "who comes too late"), (str(int(seen) + 10 ** 9), "and who was told by a run whose clock was ahead")):
        late = Listener(rack.b, Last_Event_ID=number)
        late.hears("EventsLost")
        rack.a.set("hosta", ["gpu0", "gpu1"])
        late.hears("GPUAdded", "gpu1", "hosta")
        Report.same(late.said(), [], what + " is told so, and what comes from then on")
        rack.a.set("hosta", ["gpu0"])
        late.close()
    for number in ("x", "-1", "99999999999999999999"):
        fresh = Listener(rack.b, Last_Event_ID=number)
        rack.a.set("hosta", [])
        fresh.hears("GPURemoved", "gpu0", "hosta")
        Report.same(fresh.said(), [], f"a number that is none: from now on ({number})")
        rack.a.set("hosta", ["gpu0"])
        fresh.close()
    rack.a.set("hosta", [])
    rack.nobody()
    Report.ok(True, "who has left is no listener any more")


def access(rack):
    """Who may listen, and for how long."""
    Report.same(Listener(Client(rack.manager)).status, 401, "nobody may not listen")
    Report.same(Listener(rack.manager.client(user="reader", password="wrong horse")).status, 401, "nor who has a wrong password")
    Report.same(rack.a.ask("POST", SERVICE + "/SSE", "{}")[0], 405, "it is for GET")
    _, _, headers = Client(rack.manager).ask("POST", SESSIONS, {"UserName": "reader", "Password": "correct horse"})
    session = Client(rack.manager, token=headers["X-Auth-Token"])
    listener, mine = Listener(session), Listener(rack.b)
    paths = [link["@odata.id"] for link in session.get(SERVICE + "/Subscriptions")[1]["Members"]]
    Report.ok(len(paths) == 1 and rack.count() == 2, "one sees oneself, an administrator all", paths)
    document = session.get(paths[0])[1]
    Report.same((document["SubscriptionType"], document["Protocol"]), ("SSE", "Redfish"), "as a subscription")
    Report.same((rack.b.get(paths[0])[0], rack.b.ask("DELETE", paths[0])[0]), (404, 404), "of others there is nothing to see or to end")
    where, _, number = rack.b.get(SERVICE + "/Subscriptions")[1]["Members"][0]["@odata.id"].rpartition("/")
    for other in ("0" + number, hex(int(number))):
        for method in ("GET", "DELETE"):
            Report.same(rack.admin.ask(method, f"{where}/{other}")[0], 404, f"{method}: {other} names no listener")
    Report.same(rack.admin.ask("DELETE", f"{where}/{number}")[0], 204, "an administrator ends it")
    wait_for(lambda: mine.over, "the connection has ended")
    Report.ok(not listener.over, "and no other")
    session.ask("DELETE", headers["Location"])
    wait_for(lambda: listener.over, "the session's listener has ended")
    Report.ok(True, "who listens in a session is sent away when it ends")
    listener = Listener(rack.reader)
    Report.same(listener.status, 200, "a listener with a password")
    rack.manager.command("passwd", "reader", "--role", "ReadOnly", stdin="another horse\n")
    wait_for(lambda: listener.over, "the reader's listener has ended")
    Report.ok(True, "is sent away when the password is another")
    rack.manager.command("passwd", "reader", "--role", "ReadOnly", stdin="correct horse\n")
    rack.nobody()


def bounds(rack):
    """How many, in all and of one account."""
    listeners = [Listener(rack.reader) for _ in range(9)]
    Report.same([one.status for one in listeners], [200] * 8 + [503], "an account has at most 8 listeners")
    Report.same(listeners[8].answer.headers["Retry-After"], "30", "and is told when to come again")
    for client in (rack.a, rack.b, rack.admin):
        listeners += [Listener(client) for _ in range(8)]
    Report.same(([one.status for one in listeners].count(200), Listener(rack.other).status), (32, 503), "and there are at most 32")
    Report.same(rack.a.get(f"{FABRIC}/Zones/hosta")[0], 200, "others are served all the same")
    rack.a.set("hosta", ["gpu0"])
    for one in listeners[:8] + listeners[9:]:
        one.hears("GPUAdded", "gpu0", "hosta")
    Report.ok(True, "all of them hear of a change")
    for one in listeners:
        one.close()
    rack.nobody()
    one = Listener(rack.other)
    Report.same(one.status, 200, "when they have left there is room again")
    one.close()
    rack.a.set("hosta", [])


def slow(rack):
    """Somebody who does not read is dropped, and holds up nobody."""
    rack.nobody()
    dull, keen = Listener(rack.b, small=True), Listener(rack.a)
    changed = 0
    while rack.count() == 2 and changed < 4000:
        for gpus in (GPUS, ()):
            changed += 4
            assert rack.admin.set("hosta", gpus)[0] == 200
    Report.ok(256 < changed < 4000 and not keen.over, "who does not read is dropped", changed)
    wait_for(lambda: len(keen.said()) == changed, "all events")
    Report.same(keen.said()[:4] + keen.said()[-4:], [("GPUAdded", name, "hosta") for name in GPUS] + [("GPURemoved", name, "hosta") for name in GPUS],
                "who reads misses nothing")
    numbers = [int(event["Id"]) for event in keen.events]
    Report.same(numbers, list(range(numbers[0], numbers[0] + changed)), "in their order")
    wait_for(lambda: rack.count() == 1, "the dull one has left")
    dull.close()
    keen.close()


def hosts(rack):
    """Hosts that go and come."""
    listener = Listener(rack.b)
    rack.a.set("hosta", ["gpu0"])
    listener.hears("GPUAdded", "gpu0", "hosta")
    rack.manager.write(extra="client_certificates = optional\nsession_timeout = 10min")
    rack.manager.process.send_signal(signal.SIGHUP)
    rack.manager.said("reload: done")
    listener.hears("HostAnswers", "hosta")
    Report.ok(not listener.over, "a reload keeps listeners")
    rack.guests["hosta"].close()
    listener.hears("HostSilent", "hosta")
    wait_for(lambda: rack.manager.command("evict", "hosta").returncode == 0, "evict")
    listener.hears("HostOff", "hosta")
    listener.hears("GPURemoved", "gpu0", "hosta")
    Report.ok(True, "a host that is silent, and one that is off, with what it had")
    return listener


def started_again(rack, before):
    """URIs of listeners of an earlier run are nobody's: numbers go on to rise."""
    rack.manager.start().said("hostb answers")
    listener = Listener(rack.manager.client("hostb"))
    after = rack.manager.client(user="admin", password="correct horse").get(SERVICE + "/Subscriptions")[1]["Members"]
    numbers = [[int(link["@odata.id"].rsplit("/", 1)[-1]) for link in links] for links in (before, after)]
    Report.ok(numbers[0] and numbers[1] and max(numbers[0]) < min(numbers[1]), "a listener has a number that none had before a restart", numbers)
    listener.close()


def main():
    with tempfile.TemporaryDirectory() as work:
        rack = Rack(work)
        try:
            print("# registries, changes")
            misses(rack, changes(rack, registries(rack)))
            for part in (access, bounds, slow):
                print(f"# {part.__name__}")
                part(rack)
            print("# hosts")
            listener = hosts(rack)
            before = rack.admin.get(SERVICE + "/Subscriptions")[1]["Members"]
            Report.same(rack.manager.stop(), 0, "it ends cleanly while somebody listens")
            wait_for(lambda: listener.over, "the end")
            started_again(rack, before)
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
