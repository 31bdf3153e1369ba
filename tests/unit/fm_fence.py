#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl && make -s -f tests/fm/fm.mk -j$(nproc)
"""
Who may say that a host is off: an administrator, from any host by gpuctl, and a lease that is over, which the host
itself has asked for; nobody else, and never time alone.
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, FABRIC, PATIENCE, TOP, Client, Guest, Manager, Report, message, wait_for

PORTS = ("dn0", "dn1")
GPUCTL = os.environ.get("GPUCTL", os.path.join(BUILD, "gpuctl"))


class Site:
    """Hosts that let go of GPUs, a manager, an administrator, and the files of hosta for gpuctl."""

    def __init__(self, work, name, manager=Manager, **options):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.guests = {host: Guest(self.folder, host, PORTS) for host in ("hosta", "hostb")}
        self.manager = manager(self.folder, {host: (one.path, PORTS) for host, one in self.guests.items()}, ["gpu0", "gpu1"], **options)
        self.manager.command("init", "--user", "admin")
        self.manager.command("passwd", "admin", stdin="correct horse\n")
        self.manager.start().ready()
        self.admin = Client(self.manager, pem=os.path.join(self.manager.folder, "users/admin.pem"))
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")
        self.config = os.path.join(self.folder, "gpuctl")
        os.makedirs(os.path.join(self.config, "fabric.d"))
        self.conf()

    def secret(self, path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def conf(self):
        authority, own = self.manager.pem("hosta")
        os.chmod(own, 0o600)
        self.secret(os.path.join(self.config, "fabric.d/rack1.conf"),
                    f"driver = redfish\nurl = https://127.0.0.1:{self.manager.port}\nhost = hosta\nca = {authority}\n"
                    f"certificate = {own}\nkey = {own}\ntimeout = 20s\nports = 101=hosta/dn0 102=hosta/dn1\n")

    def gpuctl(self, *words):
        env = {"PATH": os.environ["PATH"], "GPUCTL_CONFIG_DIR": self.config, "GPUCTL_DATA_DIR": os.path.join(TOP, "ctl/catalogue")}
        return subprocess.run([GPUCTL, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def program(self, verb):
        """What gpuctl starts; as hosta."""
        program = os.path.join(os.path.dirname(GPUCTL), "fabric-redfish")
        asked = json.dumps({"verb": verb, "file": os.path.join(self.config, "fabric.d/rack1.conf"), "timeout": 20000})
        said = subprocess.run([program], input=asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return json.loads(said.stdout)

    def lose(self, host):
        after = len(self.manager.lines)
        self.guests[host].close()
        self.manager.said(f"{host} does not answer", after)

    def end(self, what):
        Report.same(self.manager.stop(), 0, f"{what}: it ends cleanly")
        for guest in self.guests.values():
            guest.close()
        if Report.failed:
            print("# " + "\n# ".join(self.manager.lines))


def evict(work):
    site = Site(work, "evict")
    Report.same(site.b.set("hostb", ["gpu0"])[0], 200, "hostb has a GPU")
    login = site.secret(os.path.join(site.folder, "login"), "user = admin\npassword = correct horse\n")
    said = site.gpuctl("fabric", "evict", "hostb", "--credentials", login)
    Report.ok(said.returncode == 4 and "hostb answers, so it is not off" in said.stderr, "a host that answers is not evicted", said)
    site.lose("hostb")
    target = site.a.get("/redfish/v1/Systems/hostb")[1]["Actions"]["Oem"]["#GPUFabric.Evict"]["target"]
    status, document, _ = site.a.ask("POST", target, {})
    Report.ok(status == 403 and "only an administrator may" in message(document), "not by another host", status, document)
    Report.same(site.b.ask("POST", target, {})[0], 403, "nor by itself")
    said = site.gpuctl("fabric", "evict", "hostb")
    Report.ok(said.returncode == 5 and "not permitted" in said.stderr, "gpuctl says so with the host's own certificate", said)
    Report.same(site.a.set("hosta", ["gpu0"])[0], 409, "it still has its GPU")
    said = site.gpuctl("-n", "fabric", "evict", "hostb", "--credentials", login)
    Report.ok(said.returncode == 0 and "would evict hostb" in said.stdout and site.a.set("hosta", ["gpu0"])[0] == 409, "-n changes nothing", said)
    os.chmod(login, 0o644)
    said = site.gpuctl("fabric", "evict", "hostb", "--credentials", login)
    Report.ok(said.returncode == 5 and login in said.stderr, "a password that others can read is refused", said)
    os.chmod(login, 0o600)
    Report.same(site.admin.ask("POST", target, {"Force": True})[0], 400, "a parameter that nobody knows")
    Report.same(site.admin.ask("POST", target.replace("hostb", "hostx"), {})[0], 404, "a host that is not there")
    said = site.gpuctl("fabric", "evict", "hostx", "--credentials", login)
    Report.ok(said.returncode == 2 and "has no host hostx" in said.stderr, "gpuctl says so as well", said)
    said = site.gpuctl("fabric", "evict", "hostb", "--credentials", login)
    Report.ok(said.returncode == 0 and "evicted: hostb" in said.stdout, "gpuctl fabric evict, by an administrator", said)
    Report.ok(site.manager.said("evict hostb: done"), "which is in the journal")
    Report.same(site.a.set("hosta", ["gpu0"])[0], 200, "its GPU is free")
    for words, why in ((("evict",), "HOST"), (("evict", "../x"), "no name of a host"), (("evict", "hostb", "-c", "x"), "no path from /"),
                       (("evict", "hostb", "-m", "rack2"), "no fabric manager rack2")):
        said = site.gpuctl("fabric", *words)
        Report.ok(said.returncode == 2 and why in said.stderr, f"wrong words: {' '.join(words)}", said)
    site.end("evict")


def hanging(work):
    """A program that does not end holds up neither a reload nor the end."""
    program, begun = os.path.join(work, "hanging"), os.path.join(work, "begun")
    with open(program, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\ntrap '' TERM\necho $1 >>{begun}\nsleep 1000\n")
    os.chmod(program, 0o755)
    site = Site(work, "hanging-site", host_extra={"hostb": f"fence = {program}"})
    manager = site.manager
    site.lose("hostb")
    wait_for(lambda: os.path.exists(begun), "the program is asked")
    os.unlink(begun)
    after = len(manager.lines)
    manager.process.send_signal(signal.SIGHUP)
    manager.said("reload: done", after)
    Report.ok(manager.said("does not confirm that hostb is off: interrupted", after), "a reload cuts it")
    wait_for(lambda: os.path.exists(begun), "the program is asked again")
    after = len(manager.lines)
    site.end("hanging")
    Report.ok(any("does not confirm that hostb is off: interrupted" in line for line in manager.lines[after:]), "the end cuts it as well", manager.lines[after:])


class Unread(Manager):
    """Nobody reads what it says, for a while."""

    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.heard = threading.Event()
        self.heard.set()

    def read(self, process):
        for line in process.stderr:
            self.lines.append(line.rstrip("\n"))
            self.heard.wait()

    def fill(self):
        self.heard.clear()
        pipe = os.open(f"/proc/{self.process.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
        # Its reader may take some more before it stops.
        for _ in range(20):
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(pipe, b"x\n")
            time.sleep(0.05)
        os.close(pipe)


def unread(work):
    """A journal that takes nothing holds up the host of which something is said, and no readers."""
    site = Site(work, "unread", manager=Unread)
    guest = site.guests["hosta"]
    site.manager.fill()
    guest.there["gpu0"] = "dn0"
    # More events than the manager keeps: it looks at the host.
    guest.link.sendall(b'{"event": "DEVICE_DELETED", "data": {"device": "x", "path": "/machine/peripheral/x"}}\n' * 500)
    time.sleep(2)
    link = http.client.HTTPSConnection("127.0.0.1", site.manager.port, context=site.b.context, timeout=10)
    try:
        link.request("GET", f"{FABRIC}/Endpoints/gpu0")
        state = json.loads(link.getresponse().read())["Status"]["State"]
    except OSError as error:
        state = str(error)
    link.close()
    Report.same(state, "Enabled", "what was found in a host can be read before it is said")
    site.manager.heard.set()
    site.manager.said("hosta has gpu0")
    site.end("unread")


RENEW = "/redfish/v1/Systems/{}/Actions/Oem/GPUFabric.RenewLease"


def leases(work):
    site = Site(work, "leases", host_extra={"hosta": "fence = lease\nlease = 5s", "hostb": "fence = lease\nlease = 5s"})
    manager, a, b = site.manager, site.a, site.b
    file = os.path.join(manager.state, "leases")
    Report.same((a.set("hosta", ["gpu0"])[0], b.set("hostb", ["gpu1"])[0]), (200, 200), "each host has a GPU")
    Report.ok("#GPUFabric.RenewLease" in a.get("/redfish/v1/Systems/hosta")[1]["Actions"]["Oem"], "its system says that it has a lease")
    Report.same(b.ask("POST", RENEW.format("hosta"), {})[0], 403, "another host does not renew it")
    Report.same(site.admin.ask("POST", RENEW.format("hosta"), {})[0], 403, "nor an administrator: only its service knows that it runs")
    for body in ({"Release": 1}, {"Seconds": 9}, "[]"):
        Report.same(a.ask("POST", RENEW.format("hosta"), body)[0], 400, f"a body that is none: {body}")
    Report.ok(not os.path.exists(file), "nothing of that was a lease")
    status, document, _ = b.ask("POST", RENEW.format("hostb"), {})
    Report.same((status, document), (200, {"Milliseconds": 5000}), "a host renews its own, and is told for how long")
    with open(file, encoding="ascii") as stream:
        Report.same(stream.read(), "hostb 5000\n", "what a restart has to know is on disk before it is told")
    site.lose("hosta")
    site.lose("hostb")
    Report.same(a.set("hosta", ["gpu1"])[0], 503, "a host that does not answer keeps its GPU as long as its lease")
    manager.said("hostb is off, by its lease, which is over")
    Report.same(b.endpoint("gpu1")["Status"]["State"], "StandbyOffline", "then it is free")
    status, document, headers = b.ask("POST", RENEW.format("hostb"))
    Report.ok(status == 503 and headers["Retry-After"] and "hostb is off" in message(document), "and the lease is not renewed any more", status, document)
    Report.same(b.endpoint("gpu0")["Status"]["State"], "UnavailableOffline", "of the other one, which never had a lease, time says nothing")
    wait_for(lambda: not os.path.getsize(file), "a host that is off has no lease any more")
    after = len(manager.lines)
    os.unlink(site.guests["hostb"].path)
    site.guests["hostb"] = Guest(site.folder, "hostb", PORTS)
    manager.said("hostb answers", after)
    Report.same(b.ask("POST", RENEW.format("hostb"))[0], 200, "a host that is back has one again")
    site.end("leases")


def slow_end(work):
    """The end does not wait for passwords that nobody has begun to check, and does nothing for whoever asks after the last answer."""
    site = Site(work, "slow", host_extra={"hosta": "fence = lease\nlease = 5s"})
    manager, answers = site.manager, []
    manager.stop()
    manager.start(LD_PRELOAD=os.path.join(BUILD, "fm-test/slow-end.so"), ASAN_OPTIONS="verify_asan_link_order=0").ready()

    def login():
        try:
            answers.append(site.admin.ask("POST", "/redfish/v1/SessionService/Sessions", {"UserName": "admin", "Password": "correct horse"})[0])
        except (OSError, http.client.HTTPException):
            answers.append(0)

    threads = [threading.Thread(target=login) for _ in range(4)]
    threads[0].start()
    manager.said("a hash begins")
    for thread in threads[1:]:
        thread.start()
    time.sleep(0.5)
    manager.process.send_signal(signal.SIGTERM)
    manager.said("the end of connections begins")
    for thread in threads:
        thread.join()
    Report.same(sorted(answers), [201, 503, 503, 503], "who waits to be checked is told that the manager ends")
    try:
        status = site.a.ask("POST", RENEW.format("hosta"))[0]
    except (OSError, http.client.HTTPException):
        status = None
    Report.same((status, os.path.exists(os.path.join(manager.state, "leases"))), (None, False), "who asks after the last answer gets none, and nothing is done")
    site.end("slow end")


def leases_outlive(work):
    """A restart of the manager neither forgets a lease nor makes one shorter, also when fm.conf has a shorter one meanwhile."""
    site = Site(work, "outlive", host_extra={"hosta": "fence = lease\nlease = 8s", "hostb": "fence = lease\nlease = 1h"})
    manager, a, b = site.manager, site.a, site.b
    Report.same((a.set("hosta", ["gpu0"])[0], b.set("hostb", ["gpu1"])[0]), (200, 200), "each host has a GPU")
    Report.same((a.ask("POST", RENEW.format("hosta"))[0], b.ask("POST", RENEW.format("hostb"))[0]), (200, 200), "and a lease")
    manager.process.kill()
    manager.process.wait()
    manager.host_extra["hostb"] = manager.host_extra["hosta"] = "fence = lease\nlease = 5s"
    manager.write()
    manager.start().ready()
    Report.same(a.ask("POST", RENEW.format("hosta"))[1], {"Milliseconds": 5000}, "a lease that is shorter now")
    with open(os.path.join(manager.state, "leases"), encoding="ascii") as stream:
        Report.same(sorted(stream.read().split("\n")), ["", "hosta 8000", "hostb 3600000"], "is still known as it was")
    after = len(manager.lines)
    site.lose("hosta")
    site.lose("hostb")
    manager.said("hosta is off, by its lease, which is over", after)
    Report.same(a.endpoint("gpu0")["Status"]["State"], "StandbyOffline", "a lease that was granted before the restart ends, too")
    Report.same(a.endpoint("gpu1")["Status"]["State"], "UnavailableOffline", "and the longer one goes on")
    manager.host_extra["hostb"] = ""
    manager.write()
    after = len(manager.lines)
    manager.process.send_signal(signal.SIGHUP)
    manager.said("reload: done", after)
    with open(os.path.join(manager.state, "leases"), encoding="ascii") as stream:
        Report.same(stream.read(), "", "without fence = lease there is none", manager.lines)
    with open(os.path.join(manager.state, "leases"), "w", encoding="ascii") as stream:
        stream.write("hosta soon\n")
    site.manager.stop()
    said = manager.command("run")
    Report.ok(said.returncode == 1 and "is no lease of a host" in said.stderr, "a file that is not understood is not passed over", said)


def leases_lapse(work):
    """The switch answers, and the host cannot renew: what it has powered off is free, what it has is its own."""
    site = Site(work, "lapse", host_extra={"hosta": "fence = lease\nlease = 5s"})
    manager, a, b = site.manager, site.a, site.b
    Report.same(a.set("hosta", ["gpu0", "gpu1"])[0], 200, "a host has two GPUs")
    Report.same(a.ask("POST", RENEW.format("hosta"))[0], 200, "and a lease")
    site.guests["hosta"].pull("gpu0")
    manager.said("hosta has powered off the slot of gpu0")
    Report.same(b.set("hostb", ["gpu0"])[0], 409, "a GPU whose slot is off stays its own")
    manager.said("the lease of hosta is over")
    Report.same(b.set("hostb", ["gpu0"])[0], 200, "until the lease is over")
    Report.same(b.set("hostb", ["gpu0", "gpu1"])[0], 409, "what is still in it stays its own")
    Report.same(site.program("renew"), {"exit": 0, "lease": 5000}, "it renews again, by gpuctl's own program")
    with open(os.path.join(manager.state, "leases"), encoding="ascii") as stream:
        Report.same(stream.read(), "hosta 5000\n", "which is noted")
    Report.same(site.program("release"), {"exit": 0}, "and gives the lease up")
    with open(os.path.join(manager.state, "leases"), encoding="ascii") as stream:
        Report.same(stream.read(), "", "which is noted as well")
    Report.same(a.ask("POST", RENEW.format("hosta"))[0], 200, "and once more")
    status, document, _ = a.ask("POST", RENEW.format("hosta"), {"Release": True})
    Report.same((status, document), (200, {"Milliseconds": 0}), "it gives the lease up")
    with open(os.path.join(manager.state, "leases"), encoding="ascii") as stream:
        Report.same(stream.read(), "", "which is noted")
    manager.host_extra = {}
    manager.write()
    after = len(manager.lines)
    manager.process.send_signal(signal.SIGHUP)
    manager.said("reload: done", after)
    Report.same(site.program("renew"), {"exit": 0}, "gpuctl's program says that there is no lease where the manager gives none")
    Report.same(b.ask("POST", RENEW.format("hostb"))[0], 404, "a host without fence = lease has none")
    site.end("leases that lapse")


def watched(work):
    """What systemd is told: a service that hangs has to be killed while there is time for the next one to detach GPUs."""
    site = Site(work, "watched", host_extra={"hosta": "fence = lease\nlease = 40s"})
    path = os.path.join(work, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path)
        heard.settimeout(PATIENCE)
        env = {"PATH": os.environ["PATH"], "GPUCTL_CONFIG_DIR": site.config, "GPUCTL_DATA_DIR": os.path.join(TOP, "ctl/catalogue"), "NOTIFY_SOCKET": path}
        service = subprocess.Popen([GPUCTL, "fabric", "lease", "--no-reboot", "rack1"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = []
        while "READY=1" not in said:
            said += heard.recv(4096).decode().split("\n")
        times = [int(one.partition("=")[2]) for one in said if one.startswith("WATCHDOG_USEC=")]
        Report.same(times[-1:], [10000000], "the watchdog has a quarter of the lease", said)
        service.send_signal(signal.SIGTERM)
        out, errors = service.communicate(timeout=PATIENCE)
        Report.ok(service.returncode == 0 and "this host has a lease" in out, "and the lease is given up at the end", out, errors)
    site.end("watched")


def revoked(work):
    """One key is not believed any more, without a new authority."""
    site = Site(work, "revoked")
    manager = site.manager
    other = manager.client("hostb")
    link = http.client.HTTPSConnection("127.0.0.1", manager.port, context=site.a.context, timeout=100)
    link.request("GET", "/redfish/v1/Systems")
    Report.same(link.getresponse().read() != b"" and link.sock is not None, True, "a connection that stays")
    said = manager.command("revoke", "hosta")
    Report.same((said.returncode, said.stderr), (0, ""), "revoke")
    Report.same(os.path.exists(os.path.join(manager.folder, "hosts/hosta.conf")), False, "the file with the key is gone")
    Report.same(site.a.get("/redfish/v1/Systems")[0], 200, "the running manager believes it until it is told")
    after = len(manager.lines)
    manager.process.send_signal(signal.SIGHUP)
    manager.said("reload: done", after)
    try:
        status = site.a.get("/redfish/v1/Systems")[0]
    except (ssl.SSLError, OSError):
        status = None
    Report.same(status, None, "then not even TLS comes about")
    link.request("GET", "/redfish/v1/Systems")
    Report.same(link.getresponse().status, 401, "nor is it believed on a connection that was there")
    link.close()
    Report.same(other.get("/redfish/v1/Systems")[0], 200, "others are as they were")
    Report.same(manager.command("init").returncode, 0, "init makes another key for the host")
    manager.parts.clear()
    Report.same(manager.client("hosta").get("/redfish/v1/Systems")[0], 200, "which is believed, with the same authority")
    Report.same(manager.command("revoke", "admin").returncode, 0, "a user's key")
    said = manager.command("revoke", "hostx")
    Report.ok(said.returncode == 1 and "so the key is not known" in said.stderr, "one that is not there", said)
    Report.same(manager.command("revoke", "../hosta").returncode, 1, "a name that is none")
    with open(os.path.join(manager.folder, "revoked"), encoding="ascii") as stream:
        Report.same([line.split()[1] for line in stream], ["hosta", "admin"], "the list says who they were")
    with open(os.path.join(manager.folder, "revoked"), "a", encoding="ascii") as stream:
        stream.write("0123 hostb\n")
    after = len(manager.lines)
    manager.process.send_signal(signal.SIGHUP)
    manager.said("is no revoked key; the configuration stays as it was", after)
    Report.same(manager.command("check").returncode, 1, "a list that is not understood is not passed over")
    site.end("revoke")


def main():
    with tempfile.TemporaryDirectory(prefix="gpufabric-fence-") as work:
        for test in (evict, hanging, unread, leases, slow_end, leases_outlive, leases_lapse, watched, revoked):
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                test(work)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
