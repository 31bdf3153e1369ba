# SPDX-License-Identifier: GPL-2.0-only
"""A fabric for tests: QEMU processes without a guest as hosts, a manager in front of them, and clients."""

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
# pylint: disable=wrong-import-position,unused-import
from tap import PATIENCE, Report, wait_for
# pylint: enable=unused-import

BUILD = os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build"))
PROGRAM = os.environ.get("GPUFABRIC_FM", os.path.join(BUILD, "fm-test/gpufabric-fm"))
FABRIC = "/redfish/v1/Fabrics/PCIe"


class Qemu:
    """A machine that never runs: devices come and, as nobody lets go of them, stay."""

    def __init__(self, folder, name, ports=("dn0", "dn1")):
        self.path = os.path.join(folder, name + ".qmp")
        self.log = open(os.path.join(folder, name + ".qemu"), "wb")
        self.words = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-m", "32", "-display", "none", "-nodefaults",
                      "-S", "-qmp", f"unix:{self.path},server=on,wait=off", "-qmp", f"unix:{self.path}2,server=on,wait=off"]
        for number, port in enumerate(ports, 1):
            self.words += ["-device", f"pcie-root-port,id={port},chassis={number},slot={number}"]
        self.process = None
        self.start()

    def start(self):
        for path in (self.path, self.path + "2"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_for(lambda: os.path.exists(self.path + "2"), self.path)

    def ask(self, command, **arguments):
        """By its second socket: what is there, seen from beside the manager."""
        def connect():
            found = socket.socket(socket.AF_UNIX)
            try:
                found.connect(self.path + "2")
                return found
            except OSError:
                found.close()
                return None

        with wait_for(connect, self.path) as link, link.makefile("rw") as file:
            file.readline()
            for number, (name, words) in enumerate((("qmp_capabilities", {}), (command, arguments))):
                file.write(json.dumps({"execute": name, "arguments": words, "id": number}) + "\n")
                file.flush()
                while True:
                    answer = json.loads(file.readline())
                    if answer.get("id") == number:
                        break
        return answer

    def devices(self):
        """Names of devices on the ports of the machine, with their port."""
        found = {}
        for item in self.ask("qom-list", path="/machine/peripheral")["return"]:
            if item["type"].startswith("child<") and "pcie-root-port" not in item["type"]:
                bus = self.ask("qom-get", path="/machine/peripheral/" + item["name"], property="parent_bus")
                found[item["name"]] = bus["return"].rsplit("/", 1)[-1]
        return found

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        elif self.process.returncode != -9:
            with open(self.log.name, encoding="utf-8", errors="replace") as file:
                print(f"# QEMU has ended with {self.process.returncode}: {file.read()[-400:]!r}")
        self.log.close()


class Gate:
    """Holds what comes until it is opened."""

    def __init__(self):
        self.held, self.opened = False, threading.Event()


class Guest:
    """Looks like a QEMU whose guest lets go of devices; it refuses and is slow as it is told."""

    def __init__(self, folder, name, ports=("dn0", "dn1")):
        self.path, self.ports = os.path.join(folder, name + ".qmp"), ports
        self.there, self.refuses, self.pause = {}, set(), 0
        self.gate = None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.link = None
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, command, words):
        """What it returns, or an error, and an event after it."""
        name = words.get("path", "").rsplit("/", 1)[-1]
        if command == "qom-list":
            return [{"name": one, "type": "child<secondary-vga>"} for one in self.there], None
        if command == "qom-get" and name in self.there:
            return "/machine/peripheral/" + self.there[name] if words["property"] == "parent_bus" else "secondary-vga", None
        if command == "device_add":
            time.sleep(self.pause)
            if self.gate:
                self.gate.held = True
                self.gate.opened.wait()
            if words["id"] in self.refuses:
                raise ValueError(f"{words['id']} is out of order")
            self.there[words["id"]] = words["bus"]
        if command == "device_del":
            time.sleep(self.pause)
            if words["id"] not in self.there:
                raise ValueError(f"Device '{words['id']}' not found")
            del self.there[words["id"]]
            return {}, {"event": "DEVICE_DELETED", "data": {"device": words["id"], "path": "/machine/peripheral/" + words["id"]}}
        if command == "qom-get":
            raise ValueError(f"no {name}")
        return [] if command == "query-pci" else {}, None

    def pull(self, name):
        """Powers the slot off by itself."""
        del self.there[name]
        event = {"event": "DEVICE_DELETED", "data": {"device": name, "path": "/machine/peripheral/" + name}}
        self.link.sendall(json.dumps(event).encode() + b"\n")

    def serve(self):
        while True:
            try:
                self.link, _ = self.listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), self.link, self.link.makefile("rw") as file:
                file.write('{"QMP":{}}\n')
                file.flush()
                for line in file:
                    asked = json.loads(line)
                    try:
                        value, event = self.answer(asked["execute"], asked.get("arguments", {}))
                        said = [{"return": value, "id": asked["id"]}, event]
                    except ValueError as error:
                        said = [{"error": {"class": "GenericError", "desc": str(error)}, "id": asked["id"]}]
                    file.write("".join(json.dumps(one) + "\n" for one in said if one))
                    file.flush()

    def close(self):
        """Nobody listens there any more, as after a crash."""
        self.listener.close()
        if self.link:
            with contextlib.suppress(OSError):
                self.link.shutdown(socket.SHUT_RDWR)


class Manager:
    """gpufabric-fm with a folder of its own."""

    def __init__(self, folder, hosts, gpus, extra="", host_extra=None, program=PROGRAM):
        self.folder = os.path.join(folder, "etc")
        self.run = os.path.join(folder, "run")
        self.state = os.path.join(folder, "state")
        self.hosts, self.gpus, self.extra, self.host_extra = hosts, gpus, extra, host_extra or {}
        self.program, self.process, self.port, self.lines = program, None, None, []
        self.listen = "127.0.0.1:0"
        self.lock, self.parts = threading.Lock(), {}
        os.makedirs(self.folder, exist_ok=True)
        self.write()

    def write(self, **changes):
        # A change is answered when it has ended, however busy this machine is, where a test wants no task.
        late, patience = changes.get("task_after", "5min"), changes.get("bind_timeout", "60s")
        text = f"[manager]\nlisten = {self.listen}\nunbind_timeout = 1s\nbind_timeout = {patience}\ntask_after = {late}\n" + changes.get("extra", self.extra) + "\n"
        for name, (path, ports) in changes.get("hosts", self.hosts).items():
            text += f"[host.{name}]\nqmp = {path}\nports = {' '.join(ports)}\n{self.host_extra.get(name, '')}\n"
        for name in changes.get("gpus", self.gpus):
            text += f"[gpu.{name}]\ndevice = secondary-vga,vgamem_mb=16\npci = 10de:2331\nclass = 030200\n"
        with open(os.path.join(self.folder, "fm.conf"), "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, *words, stdin=""):
        return subprocess.run([self.program, "-c", self.folder, "-r", self.run, "-s", self.state, *words], input=stdin, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def start(self, **environment):
        self.lines = []
        self.process = subprocess.Popen([self.program, "-c", self.folder, "-r", self.run, "-s", self.state, "run"], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()
        line = self.said(r"listens on https://.*:(\d+),")
        self.port = int(line[1])
        return self

    def read(self, process):
        for line in process.stderr:
            self.lines.append(line.rstrip("\n"))

    def said(self, pattern, after=0):
        """The first line that has this, as a match; waits for it."""
        def look():
            for line in self.lines[after:]:
                found = re.search(pattern, line)
                if found:
                    return found
            if self.process.poll() is not None:
                raise RuntimeError(f"the manager has ended ({self.process.returncode}): {self.lines}")
            return None
        return wait_for(look, pattern)

    def ready(self):
        """All hosts were asked."""
        for name in self.hosts:
            self.said(rf"\b{name} answers")
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE) if self.process else None

    def pem(self, host):
        """The parts of a host's file, as files: authority, certificate with key. Made once."""
        with self.lock:
            if host not in self.parts:
                self.parts[host] = self.split(host)
            return self.parts[host]

    def split(self, host):
        with open(os.path.join(self.folder, "hosts", host + ".conf"), encoding="ascii") as file:
            blocks = re.findall(r"-----BEGIN .*?-----END [A-Z ]+-----\n", file.read(), re.S)
        paths = []
        for name, text in (("ca", blocks[0]), ("own", blocks[1] + blocks[2])):
            paths.append(os.path.join(self.folder, f"{host}.{name}.pem"))
            with open(paths[-1], "w", encoding="ascii") as file:
                file.write(text)
        return paths

    def client(self, host=None, **options):
        return Client(self, host, **options)


class Client:
    """One account; a connection for each request."""

    def __init__(self, manager, host=None, user=None, password=None, token=None, pem=None):
        self.manager, self.headers = manager, {}
        self.context = ssl.create_default_context(cafile=os.path.join(manager.folder, "ca.crt"))
        if host:
            self.context.load_cert_chain(manager.pem(host)[1])
        if pem:
            self.context.load_cert_chain(pem)
        if user:
            self.headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        if token:
            self.headers["X-Auth-Token"] = token

    def ask(self, method, path, body=None, **headers):
        """Status, document or text, headers."""
        link = http.client.HTTPSConnection("127.0.0.1", self.manager.port, context=self.context, timeout=PATIENCE)
        try:
            text = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            link.request(method, path, text, {**self.headers, "Content-Type": "application/json", **named})
            answer = link.getresponse()
            raw = answer.read()
            try:
                document = json.loads(raw)
            except ValueError:
                document = raw
            return answer.status, document, answer.headers
        finally:
            link.close()

    def certificate(self):
        """What the server shows."""
        with socket.create_connection(("127.0.0.1", self.manager.port), PATIENCE) as link:
            with self.context.wrap_socket(link, server_hostname="127.0.0.1") as stream:
                return stream.getpeercert(True)

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def zone(self, host):
        """Names of its GPUs, and its tag."""
        status, document, headers = self.get(f"{FABRIC}/Zones/{host}")
        assert status == 200, (status, document)
        names = [link["@odata.id"].rsplit("/", 1)[-1] for link in document["Links"]["Endpoints"]]
        return [name for name in names if name != host], headers["ETag"]

    def endpoint(self, name):
        status, document, _ = self.get(f"{FABRIC}/Endpoints/{name}")
        assert status == 200, (status, document)
        return document

    def state(self, name):
        return self.endpoint(name)["Status"]["State"]

    def set(self, host, gpus, etag=None, ports=None, follow=True):
        """The zone is to have these; a task is followed to its end, which is told as if it had been waited for."""
        body = {"Links": {"Endpoints": [{"@odata.id": f"{FABRIC}/Endpoints/{name}"} for name in [host, *gpus]]}}
        if ports:
            body["Oem"] = {"GPUFabric": {"Ports": [
                {"Endpoint": {"@odata.id": f"{FABRIC}/Endpoints/{gpu}"},
                 "Port": {"@odata.id": f"{FABRIC}/Switches/{port.split('/')[0]}/Ports/{port.split('/')[1]}"}}
                for gpu, port in ports.items()]}}
        answer = self.ask("PATCH", f"{FABRIC}/Zones/{host}", body, If_Match=etag or self.zone(host)[1])
        for _ in range(20):
            # The manager has changed the zone since it was read, after what happened to a switch: clients read it again.
            if etag or answer[0] != 412:
                break
            answer = self.ask("PATCH", f"{FABRIC}/Zones/{host}", body, If_Match=self.zone(host)[1])
        if answer[0] != 202 or not follow:
            return answer
        task = self.follow(answer[2]["Location"])
        if task["TaskState"] == "Completed":
            return self.get(f"{FABRIC}/Zones/{host}")
        return 409, {"error": {"message": task["Messages"][0]["Message"]}}, answer[2]

    def blocks(self, host):
        """Names of the resource blocks of a system, and its tag."""
        status, document, headers = self.get(f"/redfish/v1/Systems/{host}")
        assert status == 200, (status, document)
        return [link["@odata.id"].rsplit("/", 1)[-1] for link in document["Links"]["ResourceBlocks"]], headers["ETag"]

    def follow(self, path):
        """The task when it has ended."""
        def look():
            task = self.get(path)[1]
            return task if task["TaskState"] != "Running" else None
        return wait_for(look, path)


class Listener:
    """A client that listens to events."""

    def __init__(self, client, small=False, **headers):
        self.events, self.seen, self.over = [], None, False
        self.reader = None
        self.link = http.client.HTTPSConnection("127.0.0.1", client.manager.port, context=client.context, timeout=PATIENCE)
        if small:
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.connect(("127.0.0.1", client.manager.port))
            self.link.sock = client.context.wrap_socket(plain, server_hostname="127.0.0.1")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.link.request("GET", "/redfish/v1/EventService/SSE", headers={**client.headers, "Accept": "text/event-stream", **named})
        self.answer = self.link.getresponse()
        self.status, self.type = self.answer.status, self.answer.headers["Content-Type"]
        if self.status == 200 and not small:
            self.reader = threading.Thread(target=self.read, daemon=True)
            self.reader.start()

    def read(self):
        try:
            for line in self.answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    self.seen = value
                elif name == "data":
                    self.events.append(json.loads(value))
        except (OSError, ValueError, http.client.HTTPException):
            pass
        self.over = True

    def said(self):
        """Names of the messages, with their arguments."""
        records = [record for event in list(self.events) for record in event["Events"]]
        return [(record["MessageId"].rsplit(".", 1)[-1], *record["MessageArgs"]) for record in records]

    def hears(self, *message):
        """Waits for one, and takes it away."""
        wait_for(lambda: message in self.said(), message)
        return self.events.pop(self.said().index(message))

    def close(self):
        with contextlib.suppress(OSError):
            if self.link.sock:
                self.link.sock.shutdown(socket.SHUT_RDWR)
        if self.reader:
            self.reader.join()
        self.link.close()


def message(document):
    return document["error"]["message"] if isinstance(document, dict) and "error" in document else document
