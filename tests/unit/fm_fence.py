#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl && make -s -f tests/fm/fm.mk -j$(nproc)
"""
Who may say that a host is off: an administrator, from any host by gpuctl, and nobody else.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, TOP, Client, Guest, Manager, Report, message

PORTS = ("dn0", "dn1")
GPUCTL = os.environ.get("GPUCTL", os.path.join(BUILD, "gpuctl"))


class Site:
    """Hosts that let go of GPUs, a manager, an administrator, and the files of hosta for gpuctl."""

    def __init__(self, work, name, **options):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.guests = {host: Guest(self.folder, host, PORTS) for host in ("hosta", "hostb")}
        self.manager = Manager(self.folder, {host: (one.path, PORTS) for host, one in self.guests.items()}, ["gpu0", "gpu1"], **options)
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


def main():
    with tempfile.TemporaryDirectory(prefix="gpufabric-fence-") as work:
        for test in (evict,):
            test(work)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
