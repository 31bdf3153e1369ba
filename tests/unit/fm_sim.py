#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager's driver "sim" with its real agent, and a stand-in for the module behind that: cards that move
from host to host, agents that refuse, die and talk nonsense, and a manager that dies at the worst moment.
"""

import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import Report, message, wait_for
from simulated import AGENT, Ledger, SimManager, Simulated, serial


class Fabric:
    """Two hosts of two slots, three GPUs, a manager."""

    def __init__(self, work, name, **options):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.ledger = Ledger(self.folder)
        self.hosts = {host: Simulated(self.folder, host, 2, self.ledger) for host in ("hosta", "hostb")}
        self.manager = SimManager(self.folder, {host: (one.path, one.ports) for host, one in self.hosts.items()},
                                  ["gpu0", "gpu1", "gpu2"], **options)
        assert self.manager.command("init").returncode == 0
        self.manager.start().ready()
        self.a, self.b = self.manager.client("hosta"), self.manager.client("hostb")

    def devices(self):
        return {host: one.devices() for host, one in self.hosts.items()}

    def end(self, what):
        Report.same(self.manager.stop(), 0, f"{what}: it ends cleanly")
        owner, twice = {}, []
        for order, host, card in self.ledger.lines():
            if order == "put" and owner.get(card):
                twice.append((card, owner[card], host))
            owner[card] = host if order == "put" else None
        Report.same(twice, [], f"{what}: no card was in two hosts")
        if Report.failed:
            print("# " + "\n# ".join(self.manager.lines))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.manager.process.poll() is None:
            self.manager.process.kill()
        for one in self.hosts.values():
            if one.listener:
                one.stop()


def agent_alone(work):
    """The agent's answers, line by line."""
    folder = os.path.join(work, "alone")
    ledger = Ledger(work)
    host = Simulated(folder, "host", 2, ledger)
    host.stop()
    card, other = serial(1), serial(2)
    for said, wanted, what in (
            ("1 hello 1 .", ["1 done"], "the version that it speaks"),
            ("1 hello 2 .", ["1 refused version 1 is spoken here"], "another one"),
            ("2 look .", ["2 done"], "nothing is there"),
            (f"3 put 0.1 {card} h100-80 .", ["3 done"], "a card comes"),
            ("4 look .", [f"4 card 0.1 {card}", "4 done"], "it is there"),
            (f"5 put 0.0 {card} h100-80 .", ["5 refused the card is in slot 0.1 already"], "no card is in two slots"),
            (f"5 put 0.1 {other} h100-80 .", ["5 refused slot 0.1 has another card"], "no slot has two cards"),
            (f"5 put 0.7 {other} h100-80 .", ["5 refused the simulator has no slot 0.7"], "a slot that is not there"),
            (f"6 put 0.0 {other} h1", ["6 refused no whole command"], "a command that was cut short"),
            (f"6 put 0.0 {other} $(id) .", ["6 refused no serial number, or no card"], "a card that is none"),
            (f"6 put 0.0 {other[:9]} h200 .", ["6 refused no serial number, or no card"], "a serial number that is none"),
            (f"6 put 0.0 {other} .", ["6 refused put SLOT SERIAL CARD"], "no card at all"),
            ("7 dance .", ["7 refused there is no such command"], "no such command"),
            ("x look .", [], "a line without a number"),
            ("\n\n8 look .", [f"8 card 0.1 {card}", "8 done"], "empty lines"),
            (f"9 put 0.0 {other} {'h100-80 ' * 80} .\n9 look .", ["9 refused no whole command", f"9 card 0.1 {card}", "9 done"],
             "a line that is too long"),
            (f"{' ' * 512}9 put 0.0 {other} h100-80 .", [], "whose end is no command"),
            (f"9 put 0.0 {other} {'h ' * 40}.", ["9 refused no whole command"], "a line of too many words"),
            (f"9 put {'0' * 65} {other} h100-80 .", ["9 refused a word is too long"], "a word that is too long"),
            (f"9 put 0.0 {other} h100-80 .\0", ["9 refused no whole command"], "a byte that is no text"),
            (f"9 put 0.0 {'0' * 16} h100-80 .", ["9 refused no serial number, or no card"], "a serial number that no card has"),
            ("9 .", ["9 refused there is no such command"], "no words"),
            ("9", ["9 refused no whole command"], "a number alone")):
        done = subprocess.run([AGENT], input=said + "\n", stdout=subprocess.PIPE, text=True, check=False, env=host.env)
        Report.same((done.stdout.splitlines(), done.returncode), (wanted, 0), f"agent: {what}")
    half = subprocess.run([AGENT], input=f"9 put 0.0 {other} h100-80 .", stdout=subprocess.PIPE, text=True, check=False, env=host.env)
    Report.same((half.stdout, half.returncode), ("", 0), "agent: a line without its end")
    Report.same(host.devices(), {"gpu1": "0.1"}, "agent: what it refused it has not done")
    host.power("0.1", True)
    for on, wanted in ((True, "9 refused slot 0.1 has power: the host has not let go of the card\n"), (False, "9 done\n")):
        if not on:
            host.power("0.1", False)
        done = subprocess.run([AGENT], input=f"9 pull {card} .\n", stdout=subprocess.PIPE, text=True, check=False, env=host.env)
        Report.same((done.stdout, host.devices()), (wanted, {"gpu1": "0.1"} if on else {}), f"agent: a pull with power {'on' if on else 'off'}")
    Report.same(subprocess.run([AGENT, "-s", "x"], stderr=subprocess.DEVNULL, check=False).returncode, 2, "agent: it has no options")


def agent_ends(work):
    """A serial port, and others who go away."""
    host = Simulated(os.path.join(work, "ends"), "host", 2, Ledger(work))
    host.stop()
    master, slave = pty.openpty()
    with subprocess.Popen([AGENT, os.ttyname(slave)], stdin=subprocess.DEVNULL, env=host.env) as agent:
        wait_for(lambda: not termios.tcgetattr(slave)[3] & termios.ECHO, "the port is raw")
        os.write(master, f"1 put 0.1 {serial(1)} h100-80 .\n2 look .\n".encode())
        wanted, said = f"1 done\n2 card 0.1 {serial(1)}\n2 done\n", ""
        while len(said) < len(wanted):
            said += os.read(master, 4096).decode()
        Report.same(said, wanted, "agent: a serial port echoes nothing and changes nothing")
        os.close(slave)
        os.close(master)
        Report.same(agent.wait(), 0, "agent: the port hangs up")
    end, other = os.pipe()
    os.close(end)
    with open(other, "wb") as pipe:
        done = subprocess.run([AGENT], input=b"1 look .\n2 look .\n", stdout=pipe, check=False, env=host.env)
    Report.same(done.returncode, 0, "agent: nobody reads its answers")
    done = subprocess.run([AGENT, os.path.join(work, "none")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    Report.ok(done.returncode == 1 and "No such file" in done.stderr, "agent: a port that is not there", done.stderr)


def moves(work):
    with Fabric(work, "moves") as fabric:
        a, b = fabric.a, fabric.b
        Report.same(a.set("hosta", ["gpu0", "gpu1"], ports={"gpu0": "hosta/0.1"})[0], 200, "two cards come")
        Report.same(fabric.devices(), {"hosta": {"gpu0": "0.1", "gpu1": "0.0"}, "hostb": {}}, "into the slots of their ports")
        status, document, _ = b.set("hostb", ["gpu1"])
        Report.ok(status == 409 and "gpu1 is in the zone of hosta" in message(document), "another host does not get one of them", document)
        fabric.hosts["hosta"].power("0.0", True)
        status, document, _ = a.set("hosta", ["gpu0"])
        Report.ok(status == 409 and "slot 0.0 has power: the host has not let go of the card" in message(document),
                  "a slot that has power keeps its card", document)
        Report.same((a.zone("hosta")[0], fabric.devices()["hosta"]), (["gpu0", "gpu1"], {"gpu0": "0.1", "gpu1": "0.0"}), "all is as it was")
        fabric.hosts["hosta"].power("0.0", False)
        Report.same(a.set("hosta", ["gpu0"])[0], 200, "without power it goes")
        Report.same(b.set("hostb", ["gpu1"])[0], 200, "and comes to the other host")
        Report.same(fabric.devices(), {"hosta": {"gpu0": "0.1"}, "hostb": {"gpu1": "0.0"}}, "each has one")
        status, document, _ = b.set("hostb", ["gpu1", "gpu2"], ports={"gpu2": "hostb/0.0"})
        Report.ok(status == 409 and "port 0.0 of hostb is not free" in message(document), "a port that is taken", document)
        with open(os.path.join(fabric.hosts["hostb"].slots, "refuses"), "w", encoding="ascii"):
            pass
        status, document, _ = b.set("hostb", ["gpu2"], ports={"gpu2": "hostb/0.1"})
        Report.ok(status == 409 and "the simulator does not take the card: it is broken" in message(document), "a simulator that refuses", document)
        Report.ok("gpu1 could not be put back" in message(document) and b.zone("hostb")[0] == ["gpu1"] and fabric.devices()["hostb"] == {},
                  "what could not be put back is said", document)
        os.unlink(os.path.join(fabric.hosts["hostb"].slots, "refuses"))
        Report.same(b.set("hostb", ["gpu1", "gpu2"])[0], 200, "then it takes two")
        fabric.end("moves")


def agents_die(work):
    with Fabric(work, "die") as fabric:
        a, b, manager = fabric.a, fabric.b, fabric.manager
        Report.same(a.set("hosta", ["gpu0"])[0], 200, "a host has a card")
        fabric.hosts["hosta"].stop()
        manager.said("hosta does not answer")
        status, document, _ = b.set("hostb", ["gpu0"])
        Report.ok(status == 409 and "zone of hosta" in message(document), "without its agent it keeps it", document)
        fabric.hosts["hosta"].start()
        manager.said("hosta answers", len(manager.lines))
        Report.same((a.zone("hosta")[0], a.state("gpu0")), (["gpu0"], "Enabled"), "and has it when the agent is back")
        fabric.hosts["hosta"].kill()
        manager.said("hosta does not answer", len(manager.lines) - 1)
        Report.same(b.set("hostb", ["gpu0"])[0], 409, "a host that has lost its power keeps it as long as nobody knows")
        wait_for(lambda: manager.command("evict", "hosta").returncode == 0, "an admin says that it is off")
        Report.same(b.set("hostb", ["gpu0"])[0], 200, "then it is free")
        fabric.hosts["hosta"].start()
        manager.said("hosta answers", len(manager.lines))
        Report.same(a.set("hosta", ["gpu1"])[0], 200, "the host is back, and gets another")
        fabric.end("agents that die")


def manager_dies(work):
    for place, there in (("before-put", False), ("after-put", True)):
        with Fabric(work, place) as fabric:
            manager = fabric.manager
            manager.stop()
            manager.start(GPUFABRIC_FM_DIE=place).ready()
            try:
                fabric.a.set("hosta", ["gpu0"])
                died = False
            except OSError:
                died = True
            Report.ok(died and manager.process.wait() == -signal.SIGKILL, f"killed {place}")
            manager.start().ready()
            Report.same((fabric.devices()["hosta"], fabric.a.zone("hosta")[0]), ({"gpu0": "0.0"}, ["gpu0"]) if there else ({}, []),
                        f"killed {place}: the next one finds what is there")
            Report.same(fabric.b.set("hostb", ["gpu0"])[0], 409 if there else 200, f"killed {place}: and nobody gets that")
            fabric.end(f"killed {place}")
    with Fabric(work, "pull") as fabric:
        manager = fabric.manager
        Report.same(fabric.a.set("hosta", ["gpu0"])[0], 200, "a card is there")
        manager.stop()
        manager.start(GPUFABRIC_FM_DIE="after-pull").ready()
        try:
            fabric.a.set("hosta", [])
        except OSError:
            pass
        manager.process.wait()
        manager.start().ready()
        Report.same((fabric.devices()["hosta"], fabric.b.set("hostb", ["gpu0"])[0]), ({}, 200), "killed after a pull: it is free")
        fabric.end("killed after a pull")


def strangers(work):
    with Fabric(work, "strangers") as fabric:
        a, manager = fabric.a, fabric.manager
        fabric.hosts["hosta"].insert("0.0", "ffff000000000001")
        fabric.hosts["hosta"].stop()
        manager.said("hosta does not answer")
        fabric.hosts["hosta"].start()
        manager.said("hosta answers", len(manager.lines))
        Report.same(a.set("hosta", ["gpu0"])[0], 200, "a GPU comes")
        Report.same(fabric.hosts["hosta"].devices().get("gpu0"), "0.1", "beside a card that is none of the pool's")
        status, document, _ = a.set("hosta", ["gpu0", "gpu1"])
        Report.ok(status == 409 and "hosta has no free port for gpu1" in message(document), "whose port is not free", document)
        Report.same(manager.stop(), 0, "it stops")
        fabric.hosts["hostb"].insert("0.0", serial(0))
        manager.start().ready()
        manager.said("gpu0 is in .* and in another host")
        Report.same(a.endpoint("gpu0")["Status"]["Health"], "Critical", "a serial number that is in two hosts is in fault")
        manager.stop()
        fabric.hosts["hostb"].insert("0.1", serial(0))
        manager.start()
        manager.said("hostb does not answer: gpu0 is in two slots of hostb")
        Report.ok(True, "a host whose agent says the same twice is not believed")


def nonsense(work):
    """What an agent can say that is no answer: the host does not answer, and the manager lives."""
    folder = os.path.join(work, "nonsense")
    os.makedirs(folder)
    path = os.path.join(folder, "agent")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(4)
    answers = [b"x" * 100000, b"{0} nonsense\n", b"old 1\n3 done\n{0} done\n{1} card 0.0\n", b"{0} done\n" + b"{1} card 9.9 67670000000000aa\n" * 5000,
               b"{0} done\n{1} refused I cannot look\n", b"{0} refused another version\n", b"{0} done\n17 done\n", b"old\nhalf a line {0}\n\r\n{0} done\n{1} done\n"]
    served = []

    def serve():
        for answer in answers:
            link, _ = listener.accept()
            with link, link.makefile("rb") as file:
                first = next(line for line in file if line.strip()).split()[0]
                served.append(answer)
                try:
                    link.sendall(answer.replace(b"{0}", first).replace(b"{1}", b"%d" % (int(first) + 1)))
                    # until the manager has read, and closes or asks for more
                    while file.readline():
                        if answer is answers[-1]:
                            wait_for(lambda: manager.process.poll() is not None, "the end")
                except OSError:
                    pass

    manager = SimManager(folder, {"hosta": (path, ["0.0"])}, ["gpu0"], extra="")
    manager.command("init")
    threading.Thread(target=serve, daemon=True).start()
    with open(os.path.join(manager.folder, "fm.conf"), encoding="utf-8") as file:
        text = file.read().replace("bind_timeout = 60s", "bind_timeout = 2s")
    with open(os.path.join(manager.folder, "fm.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    manager.start()
    manager.said("hosta does not answer")
    manager.said("hosta answers")
    Report.same(len(served), len(answers), "nonsense of all kinds is no answer; a good one after lines of somebody else is")
    Report.same(manager.client("hosta").zone("hosta")[0], [], "and the host has nothing")
    Report.same(manager.stop(), 0, "nonsense: it ends cleanly")


def main():
    with tempfile.TemporaryDirectory() as work:
        for test in (agent_alone, agent_ends, moves, agents_die, manager_dies, strangers, nonsense):
            print(f"# {test.__name__}")
            test(work)
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
