# SPDX-License-Identifier: GPL-2.0-only
"""Hosts of the driver "sim" without a simulator: the real agent, with a stand-in for the module behind it (slots.c)."""

import contextlib
import fcntl
import os
import socket
import subprocess
import threading

from rig import BUILD, Manager

AGENT = os.path.join(BUILD, "fm-test/sim-agent")


def serial(number):
    return f"67670000{number:08x}"


def gpu_of(text):
    return f"gpu{int(text[8:], 16)}"


class Ledger:
    """All that comes and goes, in order; whoever changes something holds its lock."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "ledger")
        with open(self.path, "w", encoding="ascii"):
            pass

    @contextlib.contextmanager
    def held(self):
        with open(self.path + ".lock", "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def note(self, *words):
        with open(self.path, "a", encoding="ascii") as file:
            file.write(" ".join(words) + "\n")

    def lines(self):
        with open(self.path, encoding="ascii") as file:
            return [line.split() for line in file]


class Simulated:
    """A host: slots, and an agent that listens on a socket, one connection after the other."""

    def __init__(self, folder, name, slots, ledger):
        self.name, self.ledger = name, ledger
        self.path = os.path.join(folder, name + ".agent")
        self.slots = os.path.join(folder, "hosts", name)
        for number in range(slots):
            os.makedirs(os.path.join(self.slots, f"0.{number}"))
        self.ports = [f"0.{number}" for number in range(slots)]
        self.env = {**os.environ, "SLOTS": self.slots, "LEDGER": ledger.path}
        self.lock = threading.Lock()
        self.listener = self.agent = self.thread = None
        self.start()

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.thread = threading.Thread(target=self.serve, args=(self.listener,), daemon=True)
        self.thread.start()

    def serve(self, listener):
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            with link:
                with self.lock:
                    if listener is not self.listener:
                        return
                    self.agent = subprocess.Popen([AGENT], stdin=link, stdout=link, env=self.env)
            # what a connection has asked for is done before the next one is heard
            self.agent.wait()

    def stop(self):
        """The agent is gone, in the middle of a command, but not of what the module does as a whole; cards stay."""
        with self.lock:
            listener, self.listener = self.listener, None
            # a listener that somebody waits at is closed by this
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            if self.agent:
                with self.ledger.held():
                    self.agent.kill()
                    self.agent.wait()
        self.thread.join()

    def kill(self):
        """The host loses its power, and with it what was in its slots."""
        self.stop()
        with self.ledger.held():
            for port, card in self.cards().items():
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.slots, port, "power"))
                os.unlink(os.path.join(self.slots, port, "card"))
                self.ledger.note("lost", self.name, card)

    def cards(self):
        """Serial numbers of what is in its slots, by slot."""
        found = {}
        for port in self.ports:
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self.slots, port, "card"), encoding="ascii") as file:
                found[port] = file.read().strip()
        return found

    def devices(self):
        return {gpu_of(card): port for port, card in self.cards().items() if card}

    def power(self, port, on):
        path = os.path.join(self.slots, port, "power")
        if on:
            with open(path, "w", encoding="ascii"):
                pass
        else:
            os.unlink(path)

    def insert(self, port, card):
        """By hand, as a visitor of the machine room."""
        with open(os.path.join(self.slots, port, "card"), "w", encoding="ascii") as file:
            file.write(card + "\n")

    def pull(self, port):
        os.unlink(os.path.join(self.slots, port, "card"))


class SimManager(Manager):
    """The manager, with simulators as its switch."""

    def write(self, **changes):
        text = "[manager]\nlisten = 127.0.0.1:0\nbind_timeout = 60s\n" + changes.get("extra", self.extra) + "\n[switch]\ndriver = sim\n"
        for name, (path, ports) in changes.get("hosts", self.hosts).items():
            text += f"[host.{name}]\nagent = {path}\nports = {' '.join(ports)}\n{self.host_extra.get(name, '')}\n"
        for name in changes.get("gpus", self.gpus):
            text += (f"[gpu.{name}]\ncard = h100-80\nserial = {serial(int(name[3:]))}\npci = 6767:0001\nsubsystem = 10de:2331\n"
                     "class = 030200\n")
        with open(os.path.join(self.folder, "fm.conf"), "w", encoding="utf-8") as file:
            file.write(text)
