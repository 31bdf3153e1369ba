#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Hooks for resize.d that come with gpuctl: vllm with a stand-in that speaks the server's interface for elastic
expert parallelism, signal with processes that want one and others that do not, worker with a stand-in for
systemctl, and horovod with two hosts and a stand-in for the loop that discovers hosts.
"""

import http.server
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests")]
# pylint: disable=wrong-import-position
from tap import Report

# A program that says that it was told, or how it ended.
WORKER = """
import os, signal, sys
told = []
if sys.argv[1] == "catches":
    signal.signal(signal.SIGUSR1, lambda *_: told.append("told"))
print("ready", flush=True)
signal.sigwait({signal.SIGTERM}) if sys.argv[1] != "catches" else sys.stdin.readline()
print(*told, flush=True)
"""


class Server(http.server.BaseHTTPRequestHandler):
    """POST /scale_elastic_ep as vLLM has it: it answers when it has scaled, and meanwhile with 503."""
    ranks = 4
    busy = 0
    asked = []

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Server.asked.append(self.path)
        if self.path != "/scale_elastic_ep" or self.headers["Content-Type"] != "application/json":
            self.answer(404)
        elif Server.busy:
            Server.busy -= 1
            self.answer(503)
        else:
            words = json.loads(body)
            size, drain = words.get("new_data_parallel_size"), words.get("drain_timeout")
            if not (isinstance(size, int) and 0 < size <= 8 and isinstance(drain, int) and drain > 0):
                self.answer(400)
                return
            Server.ranks = size
            self.answer(200)

    def answer(self, status):
        body = b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "here"

    def log_message(self, *_):
        pass


def hook(name, conf, *words, composition="serve", gpus=4, path=""):
    """Started as gpuctl does, with no other environment."""
    env = {"PATH": path + "/usr/sbin:/usr/bin:/sbin:/bin", "GPUCTL_CONFIG_DIR": conf, "GPUFABRIC_COMPOSITION": composition,
           "GPUFABRIC_GPUS": str(gpus)}
    done = subprocess.run([os.path.join(TOP, "ctl/hooks", name), *words], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    return done.returncode, done.stdout.strip()


def vllm(conf):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as closed, open(os.path.join(conf, "vllm.conf"), "w", encoding="utf-8") as file:
        closed.bind(("127.0.0.1", 0))
        file.write(f"# composition address GPUs seconds\nserve http://127.0.0.1:{server.server_address[1]} 2 30\n"
                   f"plain http://127.0.0.1:{server.server_address[1]}\n"
                   f"early http://127.0.0.1:{closed.getsockname()[1]}\nwrong http://127.0.0.1:1 two\n"
                   f"lost http://127.0.0.1:{server.server_address[1]}/elsewhere\n")
        file.flush()
        Report.same(hook("vllm", conf, "shrink", "3-1", "3-2", gpus=6), (0, ""), "a server is told to shrink")
        Report.same(Server.ranks, 3, "to GPUs by those of a rank")
        Report.same(hook("vllm", conf, "grow", "3-1", gpus=7), (0, ""), "seven GPUs are no more")
        Report.same(Server.ranks, 3, "than three ranks of two")
        Server.busy = 2
        Report.same(hook("vllm", conf, "grow", "3-1", gpus=8), (0, ""), "a server that scales is asked again")
        Report.same((Server.ranks, Server.busy), (4, 0), "until it has done so")
        Report.same(hook("vllm", conf, "grow", "3-1", composition="plain", gpus=5), (0, ""), "a rank may have one GPU")
        Report.same(Server.ranks, 5, "as it does where nothing else is said")
        found = hook("vllm", conf, "grow", "3-1", composition="plain", gpus=9)
        Report.ok(found[0] == 1 and "status 400" in found[1], "a refusal is named", found)
        found = hook("vllm", conf, "grow", "3-1", composition="lost")
        Report.ok(found[0] == 1 and "status 404" in found[1], "so is a wrong address", found)
        found = hook("vllm", conf, "shrink", "3-1", gpus=1)
        Report.ok(found[0] == 1 and "at least one rank" in found[1], "no server has half a rank", found)
        found = hook("vllm", conf, "shrink", "3-1", composition="wrong")
        Report.ok(found[0] == 1 and "whole numbers" in found[1], "a mistake in the file is named", found)
        asked = len(Server.asked)
        Report.same(hook("vllm", conf, "grow", "3-1", composition="early")[0], 0, "a server that is not up is no failure")
        Report.same(hook("vllm", conf, "grow", "3-1", composition="other"), (0, ""), "nor is a composition without one")
        Report.same(len(Server.asked), asked, "for which nobody is asked")
    server.shutdown()


def worker(how, **env):
    process = subprocess.Popen([sys.executable, "-c", WORKER, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={"PATH": os.environ["PATH"], **env})
    process.stdout.readline()
    return process


def signals(conf):
    name = f"unit-{os.getpid()}"
    wish = {"GPUFABRIC_RESIZE": "signal:USR1"}
    wants = worker("catches", GPUFABRIC_COMPOSITION=name, **wish)
    other = worker("catches", GPUFABRIC_COMPOSITION="another", **wish)
    quiet = worker("catches", GPUFABRIC_COMPOSITION=name)
    deaf = worker("dies", GPUFABRIC_COMPOSITION=name, **wish)
    odd = worker("catches", GPUFABRIC_COMPOSITION=name, GPUFABRIC_RESIZE="signal:NONE")
    code, text = hook("signal", conf, "shrink", "3-1", composition=name)
    Report.ok(code == 0 and f"process {odd.pid}: GPUFABRIC_RESIZE=signal:NONE: no such signal" in text,
              "a signal that there is not is named", code, text)
    said = [process.communicate("\n")[0].strip() for process in (wants, other, quiet, odd)]
    Report.same(said, ["told", "", "", ""], "who wants it is signalled, and nobody else")
    Report.same(deaf.poll(), None, "nor is who would end by it")
    deaf.kill()
    deaf.communicate()


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def workers(conf):
    """Units are started and stopped; systemctl is a stand-in that writes down what it is asked."""
    said = os.path.join(conf, "said")
    put(os.path.join(conf, "bin/systemctl"), f'#!/bin/sh\necho "$*" >>{said}\n[ "$1" != stop ] || [ "$2" != '
        'gpufabric-worker@odd.service ]\n', 0o755)
    put(os.path.join(conf, "workers.d/train"), "#!/bin/sh\n", 0o755)
    put(os.path.join(conf, "workers.d/off"), "#!/bin/sh\n")

    def asked(*words, **more):
        put(said, "")
        code = hook("worker", conf, *words, path=os.path.join(conf, "bin:"), **more)[0]
        with open(said, encoding="utf-8") as file:
            return code, file.read().splitlines()

    units = "gpufabric-worker@3-1.service gpufabric-worker@3-2.service"
    Report.same(asked("grow", "3-1", "3-2", composition="train"), (0, [f"start {units}"]), "GPUs that come get workers")
    Report.same(asked("shrink", "3-1", "3-2", composition="train"), (0, [f"stop {units}", f"reset-failed {units}"]),
                "those of GPUs that go are stopped, and have not failed")
    Report.same(asked("grow", "3-1", composition="other"), (0, []), "a composition without a program has no workers")
    Report.same(asked("grow", "3-1", composition="off"), (0, []), "nor has one whose program may not be run")
    Report.same(asked("shrink", "3-1", composition="other"),
                (0, ["stop gpufabric-worker@3-1.service", "reset-failed gpufabric-worker@3-1.service"]),
                "a worker whose program has been removed is stopped all the same")
    Report.ok(asked("shrink", "odd", composition="train")[0] != 0, "a worker that cannot be stopped is a failure")


class Ranks:
    """Horovod's driver: asks the script for hosts, and keeps as many ranks of each as it is told; the last ones go."""

    def __init__(self, conf):
        self.conf = conf
        self.ranks = {}

    def look(self):
        code, text = hook("horovod", self.conf, "hosts", "train")
        if code:
            return text
        hosts = {line.split(":")[0]: int(line.split(":")[1]) for line in text.splitlines()}
        self.ranks = {host: list(range(n)) for host, n in hosts.items()}
        return self.ranks


def horovod(conf):
    other = os.path.join(conf, "other")
    shared = os.path.join(conf, "shared")
    for folder, host in ((conf, "node1"), (other, "node2")):
        put(os.path.join(folder, "horovod.conf"), f"# composition folder host\ntrain {shared} {host}\nalone {shared}/alone\n")
    driver = Ranks(conf)
    Report.same(driver.look(), {}, "before any GPU has come there are no hosts")
    Report.same(hook("horovod", conf, "grow", "3-1", "3-2", composition="train", gpus=2), (0, ""), "two GPUs come")
    Report.same(hook("horovod", other, "grow", "7", composition="train", gpus=1), (0, ""), "and one on another host")
    Report.same(driver.look(), {"node1": [0, 1], "node2": [0]}, "Horovod sees both hosts, and starts ranks")
    Report.same(hook("horovod", conf, "shrink", "3-2", composition="train", gpus=1), (0, ""), "one is to go")
    Report.same(driver.look(), {"node1": [0], "node2": [0]}, "the last rank of its host ends")
    Report.same(hook("horovod", conf, "grow", "3-2", composition="train", gpus=2), (0, ""), "it stays, as somebody held it")
    Report.same(driver.look(), {"node1": [0, 1], "node2": [0]}, "so a rank starts again")
    Report.same(hook("horovod", other, "shrink", "7", composition="train", gpus=0), (0, ""), "a host without GPUs")
    Report.same(driver.look(), {"node1": [0, 1]}, "is none")
    Report.same(sorted(os.listdir(shared)), ["node1.hosts"], "and leaves no file")
    hook("horovod", conf, "grow", "3-1", composition="alone", gpus=3)
    Report.same(hook("horovod", conf, "hosts", "alone"), (0, f"{os.uname().nodename}:3"), "a host has its own name")
    Report.same(hook("horovod", conf, "grow", "3-1", composition="serve"), (0, ""), "other compositions are not Horovod's")
    found = hook("horovod", conf, "hosts", "serve")
    Report.ok(found[0] == 1 and "no line for composition serve" in found[1], "and are not to be discovered", found)
    Report.same(hook("horovod", conf)[0], 2, "it needs a word")
    links(conf, shared)


def links(conf, shared):
    """The hook is root's, and users write in the folder."""
    victim = os.path.join(conf, "victim")
    elsewhere = os.path.join(conf, "elsewhere")
    put(victim, "root's\n")
    os.mkdir(elsewhere)
    os.symlink(victim, os.path.join(shared, ".node1"))
    os.remove(os.path.join(shared, "node1.hosts"))
    os.symlink(elsewhere, os.path.join(shared, "node1.hosts"))
    Report.same(hook("horovod", conf, "grow", "3-1", composition="train", gpus=1), (0, ""), "links of users in the folder")
    with open(victim, encoding="utf-8") as file:
        Report.same(file.read(), "root's\n", "are not followed to a file")
    Report.same(os.listdir(elsewhere), [], "nor to a folder")
    written = os.lstat(os.path.join(shared, "node1.hosts"))
    Report.same((stat.S_ISREG(written.st_mode), stat.S_IMODE(written.st_mode)), (True, 0o644), "everybody can read the file")
    Report.same(sorted(os.listdir(shared)), [".node1", "alone", "node1.hosts"], "and no other one is left")
    os.remove(os.path.join(shared, "node1.hosts"))
    os.mkdir(os.path.join(shared, "node1.hosts"))
    Report.same(hook("horovod", conf, "grow", "3-1", composition="train", gpus=1)[0], 1, "a folder in its place is an error")
    Report.same(sorted(os.listdir(shared)), [".node1", "alone", "node1.hosts"], "after which no file is left either")


def main():
    with tempfile.TemporaryDirectory() as conf:
        vllm(conf)
        signals(conf)
    with tempfile.TemporaryDirectory() as conf:
        workers(conf)
        horovod(conf)
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
