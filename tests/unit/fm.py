#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager with real QEMU processes as hosts: GPUs that move, two who want the same one, a guest that
does not let go, hosts that die, and a manager that dies at the worst moment.
"""

import http.client
import json
import os
import signal
import socket
import stat
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import FABRIC, Manager, Qemu, Report, message, wait_for

PORTS = ("dn0", "dn1")


class Fabric:
    """Two hosts, two GPUs, a manager."""

    def __init__(self, work, name, **options):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.qemu = {host: Qemu(self.folder, host, PORTS) for host in ("hosta", "hostb")}
        self.manager = Manager(self.folder, {host: (one.path, PORTS) for host, one in self.qemu.items()},
                               ["gpu0", "gpu1"], **options)
        assert self.manager.command("init").returncode == 0
        self.manager.start(**options.get("environment", {})).ready()
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")

    def devices(self):
        return {host: one.devices() for host, one in self.qemu.items() if one.process.poll() is None}

    def pull(self, host, gpu):
        """As a guest does that powers its slot off. Without one QEMU has to be asked for a reset."""
        self.qemu[host].ask("device_del", id=gpu)
        self.qemu[host].ask("system_reset")
        self.qemu[host].ask("cont")
        wait_for(lambda: gpu not in self.qemu[host].devices(), f"{gpu} is gone")
        self.qemu[host].ask("stop")

    def end(self, what, status=0):
        Report.same(self.manager.stop(), status, f"{what}: it ends cleanly")
        for one in self.qemu.values():
            one.close()
        if Report.failed:
            print("# " + "\n# ".join(self.manager.lines))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.manager.process.poll() is None:
            self.manager.process.kill()
        for one in self.qemu.values():
            one.close()


def init_makes_files(work):
    folder = os.path.join(work, "init")
    manager = Manager(folder, {"hosta": ("/run/a", PORTS)}, ["gpu0"])
    said = manager.command("run")
    Report.ok(said.returncode == 1 and "make it with gpufabric-fm init" in said.stderr, "without a certificate it does not start", said)
    Report.ok(manager.command("init", "--name", "manager.example", "--name", "10.1.2.3").returncode == 0, "init")
    secret = {name: stat.S_IMODE(os.stat(os.path.join(manager.folder, name)).st_mode)
              for name in ("ca.pem", "server.pem", "hosts/hosta.conf", "ca.crt")}
    Report.same(secret, {"ca.pem": 0o600, "server.pem": 0o600, "hosts/hosta.conf": 0o600, "ca.crt": 0o644}, "keys are secret")
    with open(os.path.join(manager.folder, "hosts/hosta.conf"), encoding="ascii") as file:
        text = file.read()
    for line in ("driver = redfish", "url = https://manager.example:0", "host = hosta", "ca = inline", "key = inline",
                 "ports = 1=hosta/dn0 2=hosta/dn1"):
        Report.ok(line + "\n" in text, f"the host's file has: {line}", text)
    Report.ok(text.index("\nca =") < text.index("\ncertificate =") and text.count("BEGIN CERTIFICATE") == 2,
              "certificates stand in the order of their keys", text)
    said = manager.command("init", "--host", "hostc", "--user", "admin")
    Report.ok(said.returncode == 0 and sorted(os.listdir(os.path.join(manager.folder, "hosts"))) == ["hosta.conf", "hostc.conf"],
              "a host that comes later", said)
    with open(os.path.join(manager.folder, "hosts/hosta.conf"), encoding="ascii") as file:
        Report.same(file.read(), text, "nothing is written over")
    Report.ok(manager.command("init", "--user", "hosta").returncode == 1, "no certificate of a user is that of a host")
    authority = os.path.join(manager.folder, "ca.pem")
    os.rename(authority, authority + ".away")
    said = manager.command("init", "--host", "hostd")
    Report.ok(said.returncode == 1 and "put the key of the authority back" in said.stderr and not os.path.exists(authority),
              "no second authority is made", said)
    os.rename(authority + ".away", authority)
    manager.write(hosts={"rack1-node07-of-the-second-row": ("/run/c", [f"dn{i}" for i in range(64)])})
    Report.ok(manager.command("init", "--host", "rack1-node07-of-the-second-row").returncode == 0, "a host with 64 ports")
    with open(os.path.join(manager.folder, "hosts/rack1-node07-of-the-second-row.conf"), encoding="ascii") as file:
        lines = file.read().splitlines()
    Report.same((max(len(line) for line in lines) <= 1024, sum(line.count("=rack1") for line in lines if "ports" in line)), (True, 64),
                "its lines are as long as gpuctl reads them")
    manager.write()
    said = manager.command("check")
    Report.ok(said.returncode == 0 and "1 hosts, 1 GPUs: good" in said.stdout, "check", said)


def gpus_move(work):
    with Fabric(work, "move") as fabric:
        a, b = fabric.a, fabric.b
        status, zone, headers = a.set("hosta", ["gpu0"])
        Report.ok(status == 200 and zone["@odata.etag"] == headers["ETag"], "a GPU comes", status, zone)
        Report.same(fabric.devices(), {"hosta": {"gpu0": "dn0"}, "hostb": {}}, "and is where it should be")
        where = a.endpoint("gpu0")["Links"]
        Report.ok(where["ConnectedPorts"][0]["@odata.id"].endswith("/Switches/hosta/Ports/dn0") and
                  where["Zones"][0]["@odata.id"].endswith("/Zones/hosta"), "the endpoint says where", where)
        status, document, _ = b.set("hostb", ["gpu0"])
        Report.ok(status == 409 and message(document) == "gpu0 is in the zone of hosta", "nobody else gets it", status, document)
        status, document, _ = b.set("hostb", ["gpu1"], ports={"gpu1": "hosta/dn1"})
        Report.ok(status == 400 and "is not one of hostb" in message(document), "nor a port of another host", status, document)
        status, _, _ = b.set("hostb", ["gpu1"], ports={"gpu1": "hostb/dn1"})
        Report.same((status, fabric.devices()["hostb"]), (200, {"gpu1": "dn1"}), "a wish for a port is obeyed")
        status, document, _ = b.set("hostb", ["gpu1"], ports={"gpu1": "hostb/dn0"})
        Report.ok(status == 409 and "gpu1 is in port dn1" in message(document), "what is there does not move", status, document)
        status, document, _ = b.set("hosta", [])
        Report.ok(status == 403, "a host changes its own zone alone", status, document)
        etag = a.zone("hosta")[1]
        fabric.pull("hosta", "gpu0")
        fabric.manager.said("hosta has powered off the slot of gpu0")
        where = a.endpoint("gpu0")
        Report.ok(where["Links"]["ConnectedPorts"][0]["@odata.id"].endswith("/hosta/Ports/dn0") and a.zone("hosta")[0] == ["gpu0"] and
                  where["Status"]["State"] == "StandbyOffline",
                  "a slot that was powered off: still in the zone, and its owner finds it by the port", where)
        Report.same(b.set("hostb", ["gpu0", "gpu1"])[0], 409, "so nobody else gets it")
        status, document, _ = a.set("hosta", ["gpu0"], etag)
        Report.same((status, fabric.devices()["hosta"]), (200, {}), "it stays off when the same zone is asked for")
        status, document, _ = a.set("hosta", ["gpu0"], etag, {"gpu0": "hosta/dn0"})
        Report.same((status, fabric.devices()["hosta"]), (200, {"gpu0": "dn0"}), "asked for at its port, it comes again")
        fabric.pull("hosta", "gpu0")
        fabric.manager.said("hosta has powered off the slot of gpu0", len(fabric.manager.lines) - 1)
        Report.same(a.set("hosta", [])[0], 200, "given back, it is free")
        Report.same(b.set("hostb", ["gpu0", "gpu1"])[0], 200, "and the other host's")
        Report.same(fabric.devices(), {"hosta": {}, "hostb": {"gpu0": "dn0", "gpu1": "dn1"}}, "where it should be")
        status, document, _ = a.set("hosta", ["gpu0"])
        Report.ok(status == 409 and "zone of hostb" in message(document), "and no longer the first one's", document)
        fabric.end("moves")


def guest_keeps(work):
    """Nobody lets go in a machine that does not run."""
    with Fabric(work, "keep") as fabric:
        a, b = fabric.a, fabric.b
        Report.same(a.set("hosta", ["gpu0", "gpu1"])[0], 200, "two GPUs at once")
        text = a.get("/metrics")[1].decode()
        Report.ok('gpufabric_fm_steps_total{step="bind",end="done"} 2\n' in text and
                  'gpufabric_fm_step_seconds_count{step="bind"} 2\n' in text, "binds and their durations are counted", text)
        status, document, _ = a.set("hosta", ["gpu1"])
        Report.ok(status == 409 and "hosta has not let go of gpu0 within 1 s" in message(document), "a guest that keeps its GPU",
                  status, document)
        Report.same((a.zone("hosta")[0], fabric.devices()["hosta"]), (["gpu0", "gpu1"], {"gpu0": "dn0", "gpu1": "dn1"}),
                    "keeps it: all is as it was")
        Report.same(b.set("hostb", ["gpu0"])[0], 409, "and nobody else gets it")
        status, document, _ = a.set("hosta", ["gpu1"])
        Report.same(status, 409, "the second time, too")
        fabric.qemu["hosta"].ask("system_reset")
        fabric.qemu["hosta"].ask("cont")
        wait_for(lambda: a.endpoint("gpu0")["Status"]["State"] == "StandbyOffline", "gpu0 is no longer in its port")
        fabric.qemu["hosta"].ask("stop")
        Report.same(a.set("hosta", ["gpu1"])[0], 200, "when the guest has let go at last, it can be given back")
        Report.same(b.set("hostb", ["gpu0"])[0], 200, "and is free")
        Report.same(a.set("hosta", ["gpu1"])[0], 200, "hostb has it")
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(a.set("hosta", [])))
        waiting.start()
        wait_for(lambda: a.state("gpu1") == "Starting", "an unbind has begun")
        fabric.manager.process.send_signal(signal.SIGTERM)
        waiting.join()
        status, document, _ = answers[0]
        Report.ok(status == 409 and "has not let go of gpu1 within 1 s" in message(document),
                  "a manager that is told to stop finishes what is under way", status, document)
        Report.same(fabric.manager.process.wait(), 0, "and ends")
        fabric.manager.start().ready()
        Report.same((a.zone("hosta")[0], b.zone("hostb")[0]), (["gpu1"], ["gpu0"]), "all is as it was")
        status, text, headers = a.get("/metrics")
        said = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
        Report.same((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"), "metrics")
        Report.same([said[f"gpufabric_fm_{name}"] for name in ('gpus{state="bound"}', 'host_gpus{host="hostb"}', 'host_up{host="hosta"}')],
                    ["2", "1", "1"], "what is where")
        Report.same(b.set("hostb", ["gpu0", "gpu1"])[0], 409, "one that is refused")
        text = a.get("/metrics")[1].decode()
        Report.ok('gpufabric_fm_refused_total{reason="in-use"} 1\n' in text, "is counted", text)
        try:
            status = fabric.manager.client().get("/metrics")[0]
        except (OSError, http.client.HTTPException):
            status = 401  # a certificate is required, and the connection ends without one
        Report.same(status, 401, "nobody reads that without an account")
        fabric.end("a guest that keeps its GPU")


def all_or_none(work):
    with Fabric(work, "none") as fabric:
        fabric.qemu["hosta"].ask("device_add", driver="secondary-vga", id="stranger", bus="dn1", vgamem_mb=16)
        wait_for(lambda: "stranger" in fabric.devices()["hosta"], "the stranger")
        status, document, _ = fabric.a.set("hosta", ["gpu0", "gpu1"])
        Report.ok(status in (409, 503), "two were asked for, one port is taken by somebody else", status, document)
        # QEMU finds the port taken; the guest does not let go of the first one any more
        stuck = "gpu1: " in message(document) and "; gpu0 could not be put back: hosta has not let go of gpu0" in message(document)
        Report.ok(stuck or "no free port for gpu1" in message(document), "what could not be put back is said", document)
        Report.same(set(fabric.a.zone("hosta")[0]), set(fabric.devices()["hosta"]) - {"stranger"}, "the zone says what is there")
        status, document, _ = fabric.b.set("hostb", ["gpu1", "gpu0"])
        Report.same(status, 409 if fabric.a.zone("hosta")[0] else 200, "and what is there nobody else gets")
        status, document, _ = fabric.a.set("hosta", [*fabric.a.zone("hosta")[0], "gpu1"])
        Report.ok(status == 409 and "hosta has no free port for gpu1" in message(document), "known by now: no port is free", document)
        fabric.end("all or none")


def two_want_one(work):
    with Fabric(work, "race") as fabric:
        for turn in range(5):
            answers = {}

            def want(host, client):
                answers[host] = client.set(host, ["gpu0"])[0]

            threads = [threading.Thread(target=want, args=pair) for pair in (("hosta", fabric.a), ("hostb", fabric.b))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            winner = [host for host, status in answers.items() if status == 200]
            Report.ok(len(winner) == 1 and sorted(answers.values()) == [200, 409], f"turn {turn + 1}: exactly one gets it", answers)
            Report.same([host for host, found in fabric.devices().items() if found], winner, f"turn {turn + 1}: it has it")
            fabric.pull(winner[0], "gpu0")
            Report.same(fabric.manager.client(winner[0]).set(winner[0], [])[0], 200, f"turn {turn + 1}: it gives it back")
        # the same zone twice, with the same tag
        etag = fabric.a.zone("hosta")[1]
        answers = []
        threads = [threading.Thread(target=lambda gpu=gpu: answers.append(fabric.a.set("hosta", [gpu], etag)[0]))
                   for gpu in ("gpu0", "gpu1")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        Report.ok(sorted(answers) in ([200, 412], [200, 503]), "of two who saw the same zone one changes it", answers)
        fabric.end("two want one")


def hosts_die(work):
    with Fabric(work, "die", host_extra={"hostb": "fence = qmp-gone"}) as fabric:
        a, b, manager = fabric.a, fabric.b, fabric.manager
        Report.same((a.set("hosta", ["gpu0"])[0], b.set("hostb", ["gpu1"])[0]), (200, 200), "each has one")
        said = manager.command("evict", "hosta")
        Report.ok(said.returncode == 1 and "hosta answers, so it is not off" in said.stderr, "a host that answers is not evicted", said)
        fabric.qemu["hosta"].kill()
        manager.said("hosta does not answer")
        status, document, _ = b.set("hostb", ["gpu1", "gpu0"])
        Report.ok(status == 409 and "zone of hosta" in message(document), "a dead host keeps its GPU, as long as nobody knows", document)
        Report.same(a.state("gpu0"), "UnavailableOffline", "which is said")
        status, document, headers = a.set("hosta", [])
        Report.ok(status == 503 and headers["Retry-After"], "it cannot even give it back", status, document)
        said = manager.command("evict", "hosta")
        Report.ok(said.returncode == 0, "an admin says that it is off", said)
        Report.same(b.set("hostb", ["gpu1", "gpu0"])[0], 200, "then it is free")
        Report.ok(manager.command("evict", "nobody").returncode == 1, "a host that is not there")
        fabric.qemu["hostb"].kill()
        manager.said("hostb is off, by its closed QMP socket")
        Report.same(b.zone("hostb")[0], [], "qmp-gone: a socket that nobody listens at is enough")
        fabric.qemu["hosta"].start()
        manager.said("hosta answers", len(manager.lines))
        Report.same(a.set("hosta", ["gpu0", "gpu1"])[0], 200, "a host that is back gets GPUs")
        fabric.end("hosts that die")


def fence_program(work):
    program = os.path.join(work, "fence")
    with open(program, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n[ \"$1\" = \"$GPUFABRIC_HOST\" ] && [ -e \"$(dirname \"$0\")/off-$1\" ] && exit 0\necho still on\nexit 3\n")
    os.chmod(program, 0o755)
    with Fabric(work, "fence-program", host_extra={"hosta": f"fence = {program}"}) as fabric:
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a host with a fence program has a GPU")
        with open(os.path.join(work, "off-hosta"), "w", encoding="ascii"):
            pass
        fabric.qemu["hosta"].kill()
        fabric.manager.said("hosta is off, by .*fence")
        Report.same(fabric.b.set("hostb", ["gpu0"])[0], 200, "the program confirms that it is off, and its GPU is free")
        fabric.end("a fence program")


def manager_dies(work):
    with Fabric(work, "restart") as fabric:
        manager = fabric.manager
        Report.same(fabric.b.set("hostb", ["gpu1"])[0], 200, "a GPU comes before the restart")
        manager.stop()
        manager.start(GPUFABRIC_FM_DIE="device_add").ready()
        Report.same((fabric.b.zone("hostb")[0], fabric.a.zone("hosta")[0]), (["gpu1"], []), "after a restart it is known who has what")
        try:
            fabric.a.set("hosta", ["gpu0"])
            died = False
        except OSError:
            died = True
        Report.ok(died and manager.process.wait() == -signal.SIGKILL, "killed between device_add and its answer")
        manager.start().ready()
        here = fabric.devices()["hosta"]
        Report.same(fabric.a.zone("hosta")[0], sorted(here), "the next one finds what is there")
        status = fabric.b.set("hostb", ["gpu1", "gpu0"])[0]
        Report.same(status, 409 if here else 200, "and what is there nobody else gets")
        manager.stop()
        fabric.qemu["hosta"].kill()
        manager.start()
        manager.said("hosta does not answer")
        manager.said("hostb answers")
        if here:
            Report.same(fabric.a.state("gpu0"), "UnavailableOffline", "a GPU that was found nowhere, while a host does not answer")
            status, document, _ = fabric.b.set("hostb", ["gpu1", "gpu0"])
            Report.ok(status == 409 and "may be in hosta, which does not answer" in message(document), "is nobody's", document)
        Report.ok(manager.command("evict", "hosta").returncode == 0, "until an admin says that the host is off")
        Report.same(fabric.b.set("hostb", ["gpu1", "gpu0"])[0], 200, "then it is free")
        other = manager.command("run")
        Report.ok(other.returncode == 4 and "another gpufabric-fm is running" in other.stderr, "there is one manager at a time", other)
        fabric.end("a manager that dies")


class Script:
    """Looks like a QEMU that still has memory of a device that has left, three looks long."""

    def __init__(self, path):
        self.path, self.asked, self.looks = path, [], 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, command):
        if command == "query-pci":
            port = {"slot": 3, "function": 1, "qdev_id": "dn0", "pci_bridge": {"bus": {}}}
            return [{"bus": 0, "devices": [{"slot": 2, "function": 0, "qdev_id": "up", "pci_bridge": {"devices": [port]}}]}]
        if command == "human-monitor-command":
            self.looks += 1
            return "pc.ram\n" + ("0000:00:02.0:03.1:00.0/vga.vram\n" if self.looks < 4 else "0000:00:02.0:00.0/vga.vram\n")
        return [] if command == "qom-list" else {}

    def serve(self):
        link, _ = self.listener.accept()
        with link.makefile("rw") as file:
            file.write('{"QMP":{}}\n')
            file.flush()
            for line in file:
                asked = json.loads(line)
                self.asked.append(asked["execute"])
                file.write(json.dumps({"return": self.answer(asked["execute"]), "id": asked["id"]}) + "\n")
                file.flush()


def memory_stays(work):
    folder = os.path.join(work, "memory")
    os.makedirs(folder)
    script = Script(os.path.join(folder, "a.qmp"))
    manager = Manager(folder, {"hosta": (script.path, ["dn0"])}, ["gpu0"])
    manager.command("init")
    manager.start().ready()
    Report.same(manager.client("hosta").set("hosta", ["gpu0"])[0], 200, "a port whose last device still has memory")
    Report.same(script.asked[script.asked.index("query-pci"):script.asked.index("device_add") + 1],
                ["query-pci", *["human-monitor-command"] * 4, "device_add"], "gets the next one when QEMU is done with it")
    Report.same(manager.stop(), 0, "memory that stays: it ends cleanly")


def twice(work):
    with Fabric(work, "twice") as fabric:
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a GPU is in one host")
        fabric.manager.stop()
        fabric.qemu["hostb"].ask("device_add", driver="secondary-vga", id="gpu0", bus="dn0", vgamem_mb=16)
        fabric.manager.start().ready()
        fabric.manager.said("gpu0 is in .* and in another host")
        Report.same(fabric.a.endpoint("gpu0")["Status"], {"State": "Disabled", "Health": "Critical"}, "in two, it is in fault")
        owner = fabric.a.endpoint("gpu0")["Links"]["Zones"][0]["@odata.id"].rsplit("/", 1)[-1]
        Report.same(fabric.manager.client(owner).set(owner, [])[0], 409, "and stays where it is")
        fabric.end("a GPU in two hosts")


def reloads(work):
    with Fabric(work, "reload") as fabric:
        manager = fabric.manager
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a GPU comes before the reload")
        fabric.pull("hosta", "gpu0")
        manager.said("powered off the slot")
        manager.write(gpus=["gpu0", "gpu1", "gpu2"])
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: done")
        Report.same(fabric.a.zone("hosta")[0], ["gpu0"], "who has what outlives a reload, even what is in no port")
        where = fabric.a.endpoint("gpu0")["Links"]["ConnectedPorts"]
        Report.ok(where and where[0]["@odata.id"].endswith("/hosta/Ports/dn0"), "and so does the port by which its owner finds it", where)
        Report.same(wait_for(lambda: fabric.b.set("hostb", ["gpu2"])[0] in (200,), "hostb answers again"), True, "a GPU that is new")
        manager.write(gpus=["gpu0", "gpu1"])
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: gpu2 is in the zone of hostb: remove it from there first; the configuration stays as it was")
        Report.same(fabric.b.endpoint("gpu2")["Status"]["State"], "Enabled", "a GPU in use is not taken out of the configuration")
        manager.write(extra="nonsense = 1")
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: .*nonsense.*; the configuration stays as it was")
        Report.same(fabric.a.zone("hosta")[0], ["gpu0"], "a bad configuration leaves the old one in force")
        server = os.path.join(manager.folder, "server.pem")
        manager.write(gpus=["gpu0", "gpu1", "gpu2"])
        with open(server, "w", encoding="ascii") as file:
            file.write("nonsense\n")
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: .*server.pem: it must have a certificate with its key.*; the configuration stays as it was")
        old = fabric.a.certificate()
        Report.ok(old, "a bad certificate leaves the old one in force")
        os.unlink(server)
        manager.command("init")
        seen = len(manager.lines)
        manager.process.send_signal(signal.SIGHUP)
        manager.said("reload: done", seen)
        Report.ok(fabric.a.certificate() not in (None, old), "a new one is shown to whoever comes next")
        fabric.end("reloads")


def hung_host(work):
    """A host that answers nothing holds up nobody but itself."""
    with Fabric(work, "hung") as fabric:
        qemu = fabric.qemu["hostb"].process
        qemu.send_signal(signal.SIGSTOP)
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(fabric.b.set("hostb", ["gpu1"])[0]))
        waiting.start()
        wait_for(lambda: fabric.a.state("gpu1") == "Starting", "the bind has begun")
        Report.same(fabric.a.get(f"{FABRIC}/Zones/hostb")[0], 200, "a host hangs: its zone can be read")
        fabric.manager.process.send_signal(signal.SIGHUP)
        fabric.manager.said("reload: waiting until no request is under way")
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "and another host gets a GPU, also while a reload waits")
        Report.same(fabric.a.set("hosta", ["gpu0", "gpu1"])[0], 409, "though not the one that is on its way")
        qemu.send_signal(signal.SIGCONT)
        waiting.join()
        fabric.manager.said("reload: done")
        Report.same((answers, fabric.devices()["hostb"]), ([200], {"gpu1": "dn0"}), "it goes on: its request is done")
        Report.same(fabric.a.zone("hostb")[0], ["gpu1"], "and known after the reload")
        fabric.end("a host that hangs")


def put_back(fabric):
    """gpu0 has left when gpu1 cannot come."""
    qemu = fabric.qemu["hosta"]
    qemu.ask("device_add", driver="secondary-vga", id="stranger", bus="dn1", vgamem_mb=16)
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(fabric.a.set("hosta", ["gpu1"], ports={"gpu1": "hosta/dn1"})))
    waiting.start()
    wait_for(lambda: fabric.a.state("gpu0") == "Starting", "the unbind has begun")
    # The manager may not have asked QEMU yet, and a reset completes only what was asked before.
    qemu.ask("device_del", id="gpu0")
    qemu.ask("system_reset")
    qemu.ask("cont")
    waiting.join()
    qemu.ask("stop")
    status, document, _ = answers[0]
    Report.ok(status == 409 and message(document).startswith("gpu1: ") and "put back" not in message(document),
              "one left for another, which cannot come", status, document)
    Report.same((fabric.a.zone("hosta")[0], qemu.devices()), (["gpu0"], {"gpu0": "dn0", "stranger": "dn1"}), "it is put back")
    Report.same(fabric.a.state("gpu1"), "StandbyOffline", "and the other one is free")


def slow_work(work):
    """Longer than task_after: a task."""
    with Fabric(work, "slow") as fabric:
        fabric.manager.write(extra="", task_after="2s")
        path = os.path.join(fabric.manager.folder, "fm.conf")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace("unbind_timeout = 1s", "unbind_timeout = 5s"))
        fabric.manager.process.send_signal(signal.SIGHUP)
        fabric.manager.said("reload: done")
        wait_for(lambda: fabric.a.set("hosta", ["gpu0"])[0] == 200, "hosta answers again")
        put_back(fabric)
        etag = fabric.a.zone("hosta")[1]
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(fabric.a.set("hosta", [], etag, follow=False)))
        waiting.start()
        wait_for(lambda: fabric.a.state("gpu0") == "Starting", "the unbind has begun")
        status, _, headers = fabric.a.set("hosta", ["gpu0"])
        Report.ok(status == 503 and headers["Retry-After"], "one request at a time for a zone", status)
        Report.same(fabric.b.set("hostb", ["gpu1"])[0], 200, "another host's goes on meanwhile")
        waiting.join()
        status, task, headers = answers[0]
        Report.ok(status == 202 and headers["Location"] == task["@odata.id"] and task["TaskState"] == "Running",
                  "work of more than task_after is a task", status, task)
        done = fabric.a.follow(headers["Location"])
        Report.ok(done["TaskState"] == "Exception" and "has not let go" in done["Messages"][0]["Message"], "which says how it ended", done)
        Report.same(fabric.a.zone("hosta")[0], ["gpu0"], "and all is as it was")
        waiting = threading.Thread(target=lambda: answers.append(fabric.a.set("hosta", [], follow=False)))
        waiting.start()
        wait_for(lambda: fabric.a.state("gpu0") == "Starting", "the next unbind has begun")
        fabric.qemu["hosta"].kill()
        waiting.join()
        status, document, _ = answers[1]
        Report.ok(status == 503 and "QEMU has closed the connection" in message(document), "the host dies meanwhile", status, document)
        Report.same(fabric.a.state("gpu0"), "UnavailableOffline", "nobody knows whether it has let go")
        Report.same(fabric.b.set("hostb", ["gpu1", "gpu0"])[0], 409, "so nobody else gets it")
        wait_for(lambda: fabric.manager.command("evict", "hosta").returncode == 0, "evict")
        Report.same(fabric.b.set("hostb", ["gpu1", "gpu0"])[0], 200, "until an admin says that the host is off")
        fabric.end("slow work")


def main():
    with tempfile.TemporaryDirectory() as work:
        parts = (init_makes_files, gpus_move, guest_keeps, all_or_none, two_want_one, hosts_die, fence_program, manager_dies,
                 memory_stays, twice, reloads, hung_host, slow_work)
        for part in parts:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                print(f"# {part.__name__}")
                part(work)
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
