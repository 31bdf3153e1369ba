# SPDX-License-Identifier: GPL-2.0-only
"""A fabric manager in small: zones, systems and blocks over TLS, with a log of requests and faults on demand."""

import base64
import copy
import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hub"))
from server import make_certificates  # pylint: disable=wrong-import-position

TOP = "/redfish/v1"
FABRIC = f"{TOP}/Fabrics/PCIe"
ZONES, ENDPOINTS, SWITCHES = (f"{FABRIC}/{name}" for name in ("Zones", "Endpoints", "Switches"))
SESSIONS = f"{TOP}/SessionService/Sessions"
SYSTEMS, TASKS = f"{TOP}/Systems", f"{TOP}/TaskService/Tasks"
COMPOSITION = f"{TOP}/CompositionService"
PASSWORD = "open sesame"


def client_certificate(folder, authority_name, host):
    """A certificate for a host, by an authority of make_certificates(); paths of it and of its key."""
    authority = os.path.join(folder, f"{authority_name}-authority")
    key, request, signed = (os.path.join(folder, f"{host}{end}") for end in (".key", ".csr", ".pem"))

    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={host}")
    openssl("x509", "-req", "-in", request, "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial",
            "-days", "2", "-out", signed)
    os.chmod(key, 0o600)
    return signed, key


def link(path):
    return {"@odata.id": path}


class Refused(Exception):
    def __init__(self, status, text, identity="Base.1.0.GeneralError"):
        super().__init__(text)
        self.status = status
        self.body = {"error": {"code": identity, "message": "see @Message.ExtendedInfo",
                               "@Message.ExtendedInfo": [{"MessageId": identity, "Message": text}]}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, **headers):
        text = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def cut(self):
        """No answer, and no connection."""
        self.close_connection = True
        self.connection.shutdown(2)

    def who(self):
        """The account that asks."""
        manager = self.server.manager
        token, login = self.headers.get("X-Auth-Token"), self.headers.get("Authorization", "")
        if token:
            return manager.sessions.get(token)
        if login.startswith("Basic "):
            user, _, password = base64.b64decode(login[6:]).decode().partition(":")
            return user if password == PASSWORD else None
        certificate = self.connection.getpeercert()
        names = [value for part in (certificate or {}).get("subject", ()) for name, value in part if name == "commonName"]
        return names[0] if names else None

    def handle_one(self):
        manager = self.server.manager
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with manager.lock:
            manager.asked.append((self.command, self.path, self.body, dict(self.headers)))
            fault = manager.take_fault(self.command, self.path)
        try:
            if fault:
                fault(self)
            else:
                self.serve()
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError, OSError):
            self.close_connection = True

    def serve(self):
        """As a manager would."""
        manager = self.server.manager
        try:
            with manager.lock:
                reply = manager.reply(self)
        except Refused as refused:
            self.answer(refused.status, refused.body)
            return
        self.answer(*reply[:2], **reply[2])

    do_GET = do_PATCH = do_POST = do_DELETE = handle_one


class Server:
    """TLS, a log of requests, and faults; reply() and change() of a class that is one are told the handler."""

    def __init__(self, folder):
        self.lock = threading.RLock()
        self.authority, self.key, self.signed = make_certificates(folder)
        self.clients = {host: client_certificate(folder, "ours", host) for host in ("hosta", "hostb")}
        self.asked, self.faults, self.sessions, self.tasks = [], [], {}, {}
        self.hanging = threading.Event()
        # No new connection gets as far as TLS.
        self.away = False
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.manager = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.signed, self.key)
        context.load_verify_locations(self.authority)
        context.verify_mode = ssl.CERT_OPTIONAL
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.handle_error = lambda *_: None
        self.server.verify_request = lambda *_: not self.away
        self.url = f"https://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    # --- what tests do

    def fault(self, method, pattern, what, times=1):
        with self.lock:
            self.faults.append([method, pattern, what, times])

    def take_fault(self, method, path):
        for one in self.faults:
            if one[0] == method and re.search(one[1], path) and one[3]:
                one[3] -= 1
                return one[2]
        return None

    def count(self, method, pattern=""):
        with self.lock:
            return len([one for one in self.asked if one[0] == method and re.search(pattern, one[1])])

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Manager(Server):
    """Hosts hosta and hostb with four ports each, and GPUs."""

    def __init__(self, folder, gpus=6, pages=0):
        self.pages = pages
        # Levels of $expand=., 0 for a manager without; what of an expanded member is left out.
        self.expand, self.omits = 0, ()
        self.etags = {"hosta": 1, "hostb": 1}
        self.etags_off = False
        self.token = 0
        self.gpus = {f"gpu{i}": {"zone": None, "port": None, "state": "StandbyOffline", "health": "OK",
                                 "device": "0x2331" if i < 4 else "0x26b5"} for i in range(gpus)}
        super().__init__(folder)

    def clear(self):
        with self.lock:
            self.asked, self.faults, self.tasks = [], [], {}
            for gpu in self.gpus.values():
                gpu.update(zone=None, port=None, state="StandbyOffline", health="OK")

    def give(self, gpu, host, port=None):
        """As somebody else would do it."""
        with self.lock:
            self.gpus[gpu].update(zone=host, port=port, state="Enabled")
            self.etags[host] += 1

    def owners(self):
        return {name: gpu["zone"] for name, gpu in self.gpus.items() if gpu["zone"]}

    # --- resources

    @staticmethod
    def ports_of(host):
        first = 0 if host == "hosta" else 4
        return [f"{SWITCHES}/sw0/Ports/dn{first + i}" for i in range(4)]

    def collection(self, path, members):
        base, _, query = path.partition("?")
        first = int(query.partition("=")[2] or 0)
        body = {"@odata.id": base, "Name": "collection", "Members@odata.count": len(members)}
        size = self.pages or len(members) or 1
        body["Members"] = [link(f"{base}/{name}") for name in members[first:first + size]]
        if first + size < len(members):
            body["Members@odata.nextLink"] = f"{base}?from={first + size}"
        return 200, body, {}

    def zone(self, host):
        members = [link(f"{ENDPOINTS}/{host}")]
        members += [link(f"{ENDPOINTS}/{name}") for name, gpu in self.gpus.items() if gpu["zone"] == host]
        return 200, {"@odata.id": f"{ZONES}/{host}", "Id": host, "ZoneType": "ZoneOfEndpoints",
                     "Links": {"Endpoints": members}}, {} if self.etags_off else {"ETag": f'"z{self.etags[host]}"'}

    def endpoint(self, name):
        if name in self.etags:
            return 200, {"@odata.id": f"{ENDPOINTS}/{name}", "Id": name, "ConnectedEntities": [
                {"EntityRole": "Initiator", "EntityType": "RootComplex"}], "Links": {"Zones": [link(f"{ZONES}/{name}")]},
                         "Status": {"State": "Enabled", "Health": "OK"}}, {}
        gpu = self.gpus.get(name)
        if not gpu:
            raise Refused(404, f"no endpoint {name}")
        links = {"Zones": [link(f"{ZONES}/{gpu['zone']}")] if gpu["zone"] else [],
                 "ConnectedPorts": [link(gpu["port"])] if gpu["port"] else []}
        return 200, {"@odata.id": f"{ENDPOINTS}/{name}", "Id": name, "EndpointProtocol": "PCIe", "ConnectedEntities": [
            {"EntityRole": "Target", "EntityType": "Processor", "Identifiers": [{"DurableName": f"SN-{name}"}],
             "EntityPciId": {"VendorId": "0x10DE", "DeviceId": gpu["device"], "SubsystemVendorId": "0x10DE",
                             "SubsystemId": "0x1626", "ClassCode": "0x030200"}}],
            "Links": links, "Status": {"State": gpu["state"], "Health": gpu["health"]}}, {"ETag": f'"e{gpu["zone"]}"'}

    def port(self, path):
        host = "hosta" if path in self.ports_of("hosta") else "hostb" if path in self.ports_of("hostb") else None
        if not host:
            raise Refused(404, "no such port")
        there = [name for name, gpu in self.gpus.items() if gpu["port"] == path]
        return 200, {"@odata.id": path, "Id": path.rpartition("/")[2], "PortType": "DownstreamPort",
                     "LinkState": "Enabled", "Links": {"AssociatedEndpoints": [link(f"{ENDPOINTS}/{one}") for one in there]},
                     "Oem": {"GPUFabric": {"Host": host}}}, {}

    def system(self, host):
        blocks = [link(f"{COMPOSITION}/ResourceBlocks/{name}") for name, gpu in self.gpus.items() if gpu["zone"] == host]
        blocks.insert(0, link(f"{COMPOSITION}/ResourceBlocks/cpu-{host}"))
        return 200, {"@odata.id": f"{SYSTEMS}/{host}", "Id": host, "Links": {"ResourceBlocks": blocks}}, {
            "ETag": f'"z{self.etags[host]}"'}

    def block(self, name):
        if name.startswith("cpu-"):
            return 200, {"@odata.id": f"{COMPOSITION}/ResourceBlocks/{name}", "Id": name}, {}
        gpu = self.gpus.get(name)
        if not gpu:
            raise Refused(404, f"no block {name}")
        systems = [link(f"{SYSTEMS}/{gpu['zone']}")] if gpu["zone"] else []
        return 200, {"@odata.id": f"{COMPOSITION}/ResourceBlocks/{name}", "Id": name,
                     "CompositionStatus": {"CompositionState": "Composed" if systems else "Unused"},
                     "Processors": [link(f"{COMPOSITION}/ResourceBlocks/{name}/Processors/1")],
                     "Links": {"ComputerSystems": systems}}, {}

    def expanded(self, path, levels):
        """What a link leads to, in its place."""
        _, body, headers = self.get(path)
        body = {key: value for key, value in body.items() if key not in self.omits}
        if "ETag" in headers:
            body["@odata.etag"] = headers["ETag"]
        return self.fill(body, levels - 1)

    def fill(self, body, levels):
        for key, value in body.items():
            if levels and key != "Links" and isinstance(value, list):
                body[key] = [self.expanded(one["@odata.id"], levels) if isinstance(one, dict) and set(one) == {"@odata.id"} else one
                             for one in value]
        return body

    def get(self, path):
        base, _, query = path.partition("?")
        asked = re.fullmatch(r"\$expand=\.(?:\(\$levels=(\d)\))?(?:&(from=\d+))?", query)
        if "$" in query and not (asked and int(asked[1] or 1) <= self.expand):
            raise Refused(501, "no such query")
        if asked:
            status, body, headers = self.get(base + ("?" + asked[2] if asked[2] else ""))
            if "Members@odata.nextLink" in body:
                body["Members@odata.nextLink"] = body["Members@odata.nextLink"].replace("?", f"?{query.partition('&')[0]}&")
            return status, self.fill(body, int(asked[1] or 1)), headers
        if base in (TOP, TOP + "/"):
            return 200, {"@odata.id": TOP, "Id": "Root", "ProtocolFeaturesSupported": {"ExpandQuery": {
                "NoLinks": self.expand > 0, "Levels": self.expand > 1, **({"MaxLevels": self.expand} if self.expand > 1 else {})}}}, {}
        name = base.rpartition("/")[2]
        names = {f"{TOP}/Fabrics": ["PCIe"], ZONES: list(self.etags), ENDPOINTS: [*self.etags, *self.gpus],
                 SYSTEMS: list(self.etags), f"{COMPOSITION}/ResourceBlocks": ["cpu-hosta", "cpu-hostb", *self.gpus],
                 f"{SWITCHES}/sw0/Ports": [one.rpartition("/")[2] for host in self.etags for one in self.ports_of(host)]}
        if base in names:
            return self.collection(path, names[base])
        if base == FABRIC:
            return 200, {"@odata.id": FABRIC, "Id": "PCIe", "Zones": link(ZONES), "Endpoints": link(ENDPOINTS),
                         "Switches": link(SWITCHES)}, {}
        if base.startswith(f"{ZONES}/") and name in self.etags:
            return self.zone(name)
        if base.startswith(f"{SYSTEMS}/") and name in self.etags:
            return self.system(name)
        if base.startswith(f"{ENDPOINTS}/"):
            return self.endpoint(name)
        if base.startswith(f"{SWITCHES}/"):
            return self.port(base)
        if base.endswith("/Processors/1"):
            return 200, {"@odata.id": base, "Id": "1", "ProcessorType": "GPU", "Manufacturer": "NVIDIA", "Model": "H100 NVL", "SerialNumber": "1"}, {}
        if base.startswith(f"{COMPOSITION}/ResourceBlocks/"):
            return self.block(name)
        if base.startswith(f"{TASKS}/") and name in self.tasks:
            state, left = self.tasks[name]
            self.tasks[name][1] = left - 1
            now = state if left <= 0 else "Running"
            return 200, {"Id": name, "TaskState": now, "Messages": [{"Message": "the link did not train"}]
                         if now == "Exception" else []}, {}
        raise Refused(404, f"nothing at {base}")

    # --- changes

    def free_port(self, host, wished):
        used = [gpu["port"] for gpu in self.gpus.values()]
        for port in [wished] if wished else self.ports_of(host):
            if port not in used and port in self.ports_of(host):
                return port
        raise Refused(409, "no free port")

    def set_zone(self, host, names, wishes):
        """All or none."""
        before = copy.deepcopy(self.gpus)
        try:
            for name in names:
                if name not in self.gpus:
                    raise Refused(400, f"no endpoint {name}")
                gpu = self.gpus[name]
                if gpu["zone"] not in (None, host):
                    raise Refused(409, f"{name} is in use by {gpu['zone']}", "Base.1.0.ResourceInUse")
                if gpu["zone"] is None:
                    gpu.update(zone=host, port=self.free_port(host, wishes.get(name)), state="Enabled")
            for name, gpu in self.gpus.items():
                if gpu["zone"] == host and name not in names:
                    gpu.update(zone=None, port=None, state="StandbyOffline")
        except Refused:
            self.gpus = before
            raise
        self.etags[host] += 1

    def change(self, handler):
        body = json.loads(handler.body or "{}")
        path = handler.path

        def last(one):
            return one["@odata.id"].rpartition("/")[2]

        if path == f"{COMPOSITION}/Actions/CompositionService.Compose":
            stanza = body["Manifest"]["Stanzas"][0]
            host = last(stanza["Request"])
            if stanza["Request"].get("@odata.etag", f'"z{self.etags[host]}"') != f'"z{self.etags[host]}"':
                raise Refused(412, "changed meanwhile", "Base.1.0.PreconditionFailed")
            names = [last(one) for one in stanza["Request"]["Links"]["ResourceBlocks"]]
            self.set_zone(host, [name for name in names if not name.startswith("cpu-")], {})
            return 200, body, {}
        action = re.fullmatch(rf"{ZONES}/(\w+)/Actions/Zone\.(Add|Remove)Endpoint", path)
        if action:
            host, name = action[1], last(body["Endpoint"])
            now = [one for one, gpu in self.gpus.items() if gpu["zone"] == host]
            if body.get("ZoneETag") != f'"z{self.etags[host]}"':
                raise Refused(428, "the zone is another", "Base.1.0.PreconditionFailed")
            wished = body.get("Oem", {}).get("GPUFabric", {}).get("Port", {}).get("@odata.id")
            self.set_zone(host, now + [name] if action[2] == "Add" else [one for one in now if one != name], {name: wished})
            return 204, None, {}
        host = path.rpartition("/")[2]
        match = handler.headers.get("If-Match")
        if not match and not self.etags_off:
            raise Refused(428, "If-Match is needed")
        if not self.etags_off and match != f'"z{self.etags[host]}"':
            raise Refused(412, "changed meanwhile", "Base.1.0.PreconditionFailed")
        if path.startswith(f"{ZONES}/"):
            names = [last(one) for one in body["Links"]["Endpoints"]]
            if host not in names:
                raise Refused(400, "the host's own endpoint is missing")
            wishes = {last(one["Endpoint"]): one["Port"]["@odata.id"]
                      for one in body.get("Oem", {}).get("GPUFabric", {}).get("Ports", [])}
            self.set_zone(host, [name for name in names if name != host], wishes)
            return self.zone(host)
        names = [last(one) for one in body["Links"]["ResourceBlocks"]]
        self.set_zone(host, [name for name in names if not name.startswith("cpu-")], {})
        return self.system(host)

    def reply(self, handler):
        path = handler.path
        if path == SESSIONS and handler.command == "POST":
            body = json.loads(handler.body)
            if body.get("Password") != PASSWORD:
                raise Refused(401, "who are you?")
            self.token += 1
            token = f"token{self.token}"
            self.sessions[token] = body["UserName"]
            return 201, {"Id": str(self.token)}, {"X-Auth-Token": token, "Location": f"{SESSIONS}/{self.token}"}
        host = handler.who()
        if not host:
            raise Refused(401, "who are you?")
        if handler.command == "DELETE" and path.startswith(f"{SESSIONS}/"):
            self.sessions.pop(f"token{path.rpartition('/')[2]}", None)
            return 204, None, {}
        if handler.command == "GET":
            return self.get(path)
        if "hostb" in path and host != "hostb":
            raise Refused(403, "not your zone")
        return self.change(handler)


# --- faults

def status(code, **headers):
    return lambda handler: handler.answer(code, {"error": {"code": "x", "message": "as the test wants it"}}, **headers)


def cut_before(handler):
    handler.cut()


def cut_after(handler):
    """The change is made, and nobody hears of it."""
    manager = handler.server.manager
    with manager.lock:
        manager.change(handler)
    handler.cut()


def late_after(seconds):
    """The connection ends first, and some time later the change is made."""
    def do(handler):
        manager = handler.server.manager

        def later():
            time.sleep(seconds)
            with manager.lock:
                manager.change(handler)
        threading.Thread(target=later, daemon=True).start()
        handler.cut()
    return do


def hang(event, change=False):
    """No answer until the event; the change may be made before or after that."""
    def do(handler):
        manager = handler.server.manager
        if change:
            with manager.lock:
                manager.change(handler)
        manager.hanging.set()
        event.wait(60)
        handler.cut()
    return do


def hang_in_body(event):
    def do(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"Id":')
        handler.wfile.flush()
        event.wait(60)
        handler.cut()
    return do


def task(state, looks=2, change=True):
    """202 with a task that ends as @state."""
    def do(handler):
        manager = handler.server.manager
        with manager.lock:
            if change:
                manager.change(handler)
            manager.tasks["7"] = [state, looks]
        handler.answer(202, {"Id": "7", "TaskState": "New"}, Location=f"{TASKS}/7")
    return do


def taken_by(gpu, host):
    """Somebody else was faster."""
    def do(handler):
        handler.server.manager.give(gpu, host)
        handler.serve()
    return do


def raw(body, code=200):
    return lambda handler: handler.answer(code, body)
