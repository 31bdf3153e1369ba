#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Four hosts take GPUs of one pool from each other while clients, hosts and the manager are killed: "make storm-rack".

    storm.py MOVES SEED LIMIT       $STORM_OUT is a folder for what is left of it

Manager, agents, the program that speaks Redfish and gpuctl's code for pools are the real ones. Hosts are processes, and
their modules a stand-in (tests/fm/slots.c): see mover.c. Three views are compared: slots of the hosts, in the
order of what happened there; what modules have on; and the manager's zones.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import BUILD, PATIENCE, TOP, wait_for
from simulated import Ledger, SimManager, Simulated

HOSTS = ("hosta", "hostb", "hostc", "hostd")
SLOTS, LANES = 4, 2
GPUS = [f"gpu{number}" for number in range(10)]
PORT = 8443
CLIENT_KILLS = 0.05
EVENT_EVERY = 25        # moves, from one death of a host or the manager to the next, on average


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0


class Storm:
    """All of it."""

    def __init__(self, folder, moves, seed, limit):
        self.folder, self.wanted, self.seed = folder, moves, seed
        self.end = time.monotonic() + limit
        self.lock = threading.Lock()
        self.moves = self.requests = self.refused = self.failed = 0
        self.kills = {"client": 0, "agent": 0, "host": 0, "manager": 0}
        self.spent = {"moved": [], "manager": []}
        self.wrong, self.looks, self.answers = [], 0, 0
        self.over = threading.Event()
        self.ledger = Ledger(folder)
        self.hosts = {name: Simulated(folder, name, SLOTS, self.ledger) for name in HOSTS}
        self.dead, self.clients = set(), {name: set() for name in HOSTS}
        fence = os.path.join(folder, "fence")
        with open(fence, "w", encoding="ascii") as file:
            file.write("#!/bin/bash\n# Is the host off? Whoever has switched it off says so.\n"
                       f"for ((i = 0; i < 50; i++)); do [ -e {folder}/off-$1 ] && exit 0; sleep 0.1; done\nexit 1\n")
        os.chmod(fence, 0o755)
        self.manager = SimManager(folder, {name: (host.path, host.ports) for name, host in self.hosts.items()}, GPUS,
                                  extra="names = 127.0.0.1", host_extra={name: f"fence = {fence}" for name in HOSTS},
                                  program=os.path.join(BUILD, "gpufabric-fm"))
        self.settle_conf()
        if self.manager.command("init").returncode:
            raise RuntimeError("no certificates")
        self.manager.start().ready()
        for name in HOSTS:
            self.introduce(name)

    def settle_conf(self):
        path = os.path.join(self.manager.folder, "fm.conf")
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("127.0.0.1:0", f"127.0.0.1:{PORT}").replace("bind_timeout = 60s", "bind_timeout = 20s")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def introduce(self, name):
        """The host's file for gpuctl: slots are called as ports are."""
        with open(os.path.join(self.manager.folder, "hosts", name + ".conf"), encoding="ascii") as file:
            text = re.sub(rf"\b\d+={name}/", lambda found: "@" + found[0].split("=")[1], file.read())
        text = re.sub(rf"@{name}/([0-9.]+)", rf"\1={name}/\1", text)
        os.makedirs(os.path.join(self.folder, "clients", name, "fabric.d"))
        path = os.path.join(self.folder, "clients", name, "fabric.d", "rack.conf")
        with open(path, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)

    def is_done(self):
        return self.over.is_set() or self.moves >= self.wanted or time.monotonic() > self.end

    def mover(self, name, verb, slots, kill_after=None, group=True):
        """A client on that host; its exit status, or None when it was killed."""
        host = self.hosts[name]
        with self.lock:
            if name in self.dead:
                return None
            client = subprocess.Popen([os.path.join(BUILD, "rack-mover"), os.path.join(self.folder, "clients", name),
                                       os.path.join(TOP, "ctl/catalogue"), BUILD, host.slots, self.ledger.path, verb, *slots],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      start_new_session=True)
            self.clients[name].add(client)
        killed = False
        try:
            said, error = client.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            killed = True
            with self.lock:
                self.kills["client"] += 1
            # alone, so that the program which it has started goes on, or with that
            if group:
                os.killpg(client.pid, signal.SIGKILL)
            else:
                client.kill()
            said, error = "", ""
            client.wait()
            client.stdout.close()
            client.stderr.close()
        with self.lock:
            self.clients[name].discard(client)
            for line in said.splitlines():
                key, _, value = line.partition(" ")
                if key in self.spent and value.isdigit():
                    self.spent[key].append(int(value))
        if client.returncode and not killed and client.returncode > 0:
            self.remark(f"{name}: {verb} {' '.join(slots)}: {client.returncode}: {error.strip()}")
        return None if killed or client.returncode < 0 else client.returncode

    def remark(self, text):
        with open(os.path.join(self.folder, "remarks"), "a", encoding="utf-8") as file:
            file.write(text + "\n")

    def give(self, name, slots):
        """Until it is done, the host is dead, or it never ends: what is left then is counted at the end."""
        until = time.monotonic() + PATIENCE
        while name not in self.dead and self.mover(name, "give", slots) != 0 and time.monotonic() < until:
            time.sleep(0.2)

    def lane(self, name, number):
        """One user of a host, with slots of its own."""
        rng = random.Random(f"{self.seed}-{name}-{number}")
        own = [f"0.{slot}" for slot in range(SLOTS) if slot % LANES == number]
        while not self.is_done():
            if name in self.dead:
                time.sleep(0.1)
                continue
            slots = rng.sample(own, rng.randint(1, len(own)))
            kill = rng.uniform(0.02, 0.6) if rng.random() < CLIENT_KILLS else None
            status = self.mover(name, "take", slots, kill, rng.random() < 0.5)
            with self.lock:
                self.requests += 1
                self.moves += len(slots) if status == 0 else 0
                self.refused += status == 3
                self.failed += status not in (0, 3, None)
            if status == 3:
                time.sleep(rng.uniform(0.05, 0.3))
                continue
            time.sleep(rng.uniform(0, 0.2))
            self.give(name, own if status else slots)

    def kill_host(self, name, rng):
        flag = os.path.join(self.folder, "off-" + name)
        with self.lock:
            self.dead.add(name)
            for client in self.clients[name]:
                os.killpg(client.pid, signal.SIGKILL)
            self.kills["host"] += 1
        self.hosts[name].kill()
        with open(flag, "w", encoding="ascii"):
            pass
        time.sleep(rng.uniform(0.2, 3))
        os.unlink(flag)
        self.hosts[name].start()
        with self.lock:
            self.dead.discard(name)

    def kill_agent(self, name, rng):
        """The host goes on, and does not answer."""
        self.hosts[name].stop()
        with self.lock:
            self.kills["agent"] += 1
        time.sleep(rng.uniform(0.5, 4))
        self.hosts[name].start()

    def kill_manager(self, rng):
        self.manager.process.kill()
        self.manager.process.wait()
        with self.lock:
            self.kills["manager"] += 1
        time.sleep(rng.uniform(0, 1))
        self.manager.start()

    def deaths(self):
        rng = random.Random(f"{self.seed}-deaths")
        at = 0
        while not self.is_done():
            at += rng.randint(EVENT_EVERY // 2, EVENT_EVERY * 3 // 2)
            what, name = rng.choice(("host", "agent", "manager")), rng.choice(HOSTS)
            while self.moves < at and not self.is_done():
                time.sleep(0.05)
            if self.is_done():
                return
            if what == "manager":
                self.kill_manager(rng)
            elif what == "agent":
                self.kill_agent(name, rng)
            else:
                self.kill_host(name, rng)

    def zones(self):
        """Zones of each GPU by the manager; None while it does not answer."""
        try:
            client = self.manager.client(HOSTS[0])
            return {gpu: [link["@odata.id"].rsplit("/", 1)[-1] for link in client.endpoint(gpu)["Links"].get("Zones", [])] for gpu in GPUS}
        except (OSError, AssertionError, ValueError, KeyError):
            return None

    def watch(self):
        """The manager's view once a second: no GPU in two zones, none missing."""
        while not self.over.wait(1):
            zones = self.zones()
            self.looks += 1
            self.answers += zones is not None
            for gpu, found in (zones or {}).items():
                if len(found) > 1:
                    self.wrong.append(f"the manager has {gpu} in {found}")

    def judge(self):
        """Two owners of a card, by slots and by modules, in the order of what happened."""
        has, on = {}, {}
        for order, host, card in self.ledger.lines():
            if order == "put" and has.get(card):
                self.wrong.append(f"{card} came to {host} while {has[card]} had it")
            if order in ("pull", "on") and has.get(card) != host:
                self.wrong.append(f"{order} of {card} in {host}, and {has.get(card)} had it")
            if order == "on" and on.get(card):
                self.wrong.append(f"{card} was on in {host} while it was on in {on[card]}")
            if order == "pull" and on.get(card):
                self.wrong.append(f"{card} was pulled out of {host} while it was on")
            if order == "put":
                has[card] = host
            elif order in ("pull", "lost"):
                has[card] = on[card] = None
            else:
                on[card] = host if order == "on" else None

    def leaks(self):
        """GPUs that are not free when all has been given back; what gpuctl reap is for is done here first."""
        def is_whole():
            for name in HOSTS:
                self.mover(name, "give", self.hosts[name].ports)
            zones = self.zones()
            left = [host.devices() for host in self.hosts.values() if host.devices()]
            return zones is not None and not left and not any(zones.values())
        try:
            wait_for(is_whole, "the pool is whole")
        except TimeoutError:
            zones = self.zones() or {}
            left = {gpu for host in self.hosts.values() for gpu in host.devices()} | {gpu for gpu in GPUS if zones.get(gpu, ["?"])}
            return sorted(left)
        # and all can be taken: free is not only said
        done = self.manager.client(HOSTS[0]).set(HOSTS[0], GPUS[:SLOTS])[0]
        return [] if done == 200 else [f"a free GPU could not be taken: {done}"]

    def run(self):
        begun = time.monotonic()
        watch = threading.Thread(target=self.watch)
        watch.start()
        threads = [threading.Thread(target=self.lane, args=(name, number)) for name in HOSTS for number in range(LANES)]
        threads.append(threading.Thread(target=self.deaths))
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(10)
                if thread.is_alive():
                    print(f"# {time.monotonic() - begun:.0f} s: {self.moves} moves, {self.requests} requests, {self.kills}", flush=True)
        leaks = self.leaks()
        self.over.set()
        watch.join()
        self.judge()
        self.manager.stop()
        for host in self.hosts.values():
            host.stop()
        doubles = len(self.wrong)
        for text in (*self.wrong, *(f"leak: {leak}" for leak in leaks)):
            print("# " + text)
        print(f"# hosts are processes with the real agent, and a stand-in for the modules; {len(HOSTS)} hosts, {len(GPUS)} GPUs, seed {self.seed}")
        print(f"# requests {self.requests}, refused because nothing was free {self.refused}, failed {self.failed}; "
              f"killed: {', '.join(f'{number} {what}s' for what, number in self.kills.items())}")
        print(f"# the manager was looked at {self.looks} times and answered {self.answers} times; {len(self.ledger.lines())} lines of the ledger")
        for key, what in (("moved", "a move, from the request until the slot has power"), ("manager", "the manager's part, with its client program")):
            print(f"# {what}: p50 {percentile(self.spent[key], .5)} ms, p99 {percentile(self.spent[key], .99)} ms, {len(self.spent[key])} times")
        for name, value in (("moves", self.moves), ("kills", sum(self.kills.values())), ("doubles", doubles), ("leaks", len(leaks))):
            print(f"# count rack.storm.{name} {value}")
        good = not doubles and not leaks and self.moves >= self.wanted and self.answers
        print(f"storm-rack: {self.moves} moves between {len(HOSTS)} hosts, {sum(self.kills.values())} kills, {doubles} double owners, {len(leaks)} leaks, "
              f"p50 {percentile(self.spent['moved'], .5)} ms, p99 {percentile(self.spent['moved'], .99)} ms"
              f"{'' if good else ': FAILED'}")
        return 0 if good else 1


def main():
    moves, seed, limit = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        storm = Storm(folder, moves, seed, limit)
        try:
            status = storm.run()
        finally:
            if storm.manager.process.poll() is None:
                storm.manager.process.kill()
            for name in ("remarks", "ledger"):
                if os.path.exists(os.path.join(folder, name)):
                    shutil.copy(os.path.join(folder, name), os.environ["STORM_OUT"])
    sys.exit(status)


if __name__ == "__main__":
    main()
