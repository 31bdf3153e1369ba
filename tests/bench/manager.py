#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
How a fabric manager grows: the same requests to a small fabric and to the largest one that fm.conf can describe.
Hosts are processes: the real agent of the driver "sim", with a stand-in for the simulator.

    manager.py FOLDER [HOSTS PORTS GPUS]...

Prints for each size the time of a bind, an unbind, and of what is read, p50 and p99. FOLDER is for its files.
"""

import json
import os
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, FABRIC
from simulated import Ledger, SimManager, Simulated

TURNS = 100
SIZES = ((4, 4, 4), (16, 64, 256), (64, 64, 1024))


def timed(times, function, *words):
    begin = time.monotonic()
    answer = function(*words)
    times.append((time.monotonic() - begin) * 1000)
    return answer


def say(what, times):
    times.sort()
    print(f"  {what:<44} p50 {times[len(times) // 2]:9.2f} ms   p99 {times[len(times) * 99 // 100]:9.2f} ms", flush=True)


def get(client, path):
    status, document, _ = client.get(path)
    assert status == 200, (path, status, document)
    return document


class Rack:
    """Hosts h0, h1, ... with as many slots each, and a manager."""

    def __init__(self, folder, hosts, ports, gpus):
        os.makedirs(folder)
        ledger = Ledger(folder)
        self.hosts = {f"h{number}": Simulated(folder, f"h{number}", ports, ledger) for number in range(hosts)}
        self.manager = SimManager(folder, {name: (one.path, one.ports) for name, one in self.hosts.items()},
                                  [f"gpu{number}" for number in range(gpus)], program=os.path.join(BUILD, "gpufabric-fm"))
        done = self.manager.command("init")
        assert done.returncode == 0, done.stderr
        begin = time.monotonic()
        self.manager.start().ready()
        print(f"  {'start, until all hosts have answered':<44} {time.monotonic() - begin:9.2f} s")
        self.client = self.manager.client("h0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.manager.stop()
        for one in self.hosts.values():
            one.stop()

    def moves(self):
        binds, unbinds = [], []
        for turn in range(TURNS):
            etag = self.client.zone("h0")[1]
            status, document, _ = timed(binds, self.client.set, "h0", [f"gpu{turn % len(self.manager.gpus)}"], etag)
            assert status == 200, document
            etag = self.client.zone("h0")[1]
            status, document, _ = timed(unbinds, self.client.set, "h0", [], etag)
            assert status == 200, document
        say("bind", binds)
        say("unbind", unbinds)

    def all_slots(self):
        """One request that fills a host: what the manager does with its lock held is most for this one."""
        binds, unbinds = [], []
        gpus = self.manager.gpus[:len(self.hosts["h0"].ports)]
        for _ in range(TURNS // 10):
            for times, want in ((binds, gpus), (unbinds, [])):
                etag = self.client.zone("h0")[1]
                status, document, _ = timed(times, self.client.set, "h0", want, etag)
                assert status == 200, document
        say(f"bind of {len(gpus)} GPUs", binds)
        say(f"unbind of {len(gpus)} GPUs", unbinds)

    def reads(self):
        for what, path in (("zone", f"{FABRIC}/Zones/h0"), ("endpoint", f"{FABRIC}/Endpoints/gpu0"),
                           ("list of endpoints", f"{FABRIC}/Endpoints"), ("list of zones", f"{FABRIC}/Zones"), ("system", "/redfish/v1/Systems/h0"),
                           ("metrics", "/metrics")):
            times = []
            for _ in range(TURNS // 4):
                timed(times, get, self.client, path)
            say(what, times)

    def inventory(self):
        """What "gpuctl fabric" waits for."""
        with open(os.path.join(self.manager.folder, "hosts/h0.conf"), encoding="ascii") as file:
            text = file.read().replace("https://localhost:8443", f"https://127.0.0.1:{self.manager.port}")
        conf = os.path.join(self.manager.folder, "PCIe.conf")
        with open(conf, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            lines = [f"url = https://127.0.0.1:{self.manager.port}" if line.startswith("url") else line for line in text.splitlines()]
            file.write("\n".join(lines) + "\n")
        times = []
        for _ in range(5):
            done = timed(times, lambda: subprocess.run([os.path.join(BUILD, "fabric-redfish")], text=True, stdout=subprocess.PIPE, check=False,
                                                       input=json.dumps({"verb": "inventory", "file": conf})))
            answer = json.loads(done.stdout)
            assert answer["exit"] == 0 and len(answer["inventory"]["gpus"]) == len(self.manager.gpus), done.stdout[:300]
        say("inventory of gpuctl", times)


def main():
    folder, *words = sys.argv[1:]
    numbers = [int(word) for word in words]
    for hosts, ports, gpus in [numbers[at:at + 3] for at in range(0, len(numbers), 3)] or SIZES:
        print(f"{hosts} hosts, {hosts * ports} ports, {gpus} GPUs:", flush=True)
        with Rack(os.path.join(folder, f"{hosts}-{ports}-{gpus}"), hosts, ports, gpus) as rack:
            rack.reads()
            rack.inventory()
            rack.moves()
            rack.all_slots()


if __name__ == "__main__":
    main()
