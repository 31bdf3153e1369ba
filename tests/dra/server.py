# SPDX-License-Identifier: GPL-2.0-only
"""
An API server in small: objects with uids and resourceVersions, conflicts, lists, watches, and a
history that ends, so that old versions are Gone. Whoever asks shows a token. What is written is
judged by the table of types_of_api.py. What an owner that is gone has is deleted.
"""

import copy
import http.server
import json
import os
import re
import ssl
import threading
import urllib.parse
import uuid

import types_of_api
from tap import Report

PATIENCE = 60 * int(os.environ.get("PATIENCE", "1"))

PATH = re.compile(r"/(?:api|apis/([a-z0-9.]+))/(v[a-z0-9]+)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?(?:/(status))?")


class Failure(Exception):
    """A Status object for the client."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code = code
        self.body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                     "message": message}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one(self):
        cluster = self.server.cluster
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        with cluster.lock:
            cluster.asked.append((self.command, self.path))
            cluster.changed.notify_all()
            if cluster.away:
                self.close_connection = True
                return
        try:
            if self.headers.get("Authorization") != f"Bearer {cluster.token}":
                raise Failure(401, "Unauthorized", "Unauthorized")
            where = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(where.query))
            cluster.permit(self.command, where.path, "watch" in query)
            if "watch" in query:
                self.watch(where.path, query)
                return
            code, answer = cluster.do(self.command, where.path, query, body, self.headers.get("Content-Type"))
        except Failure as failure:
            code, answer = failure.code, failure.body
        data = cluster.raw if cluster.raw is not None else json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # pylint: disable=invalid-name

    def chunk(self, event):
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def watch(self, path, query):
        cluster = self.server.cluster
        group, _, namespace, plural, _, _ = PATH.fullmatch(path).groups()
        at = int(query.get("resourceVersion", "0"))
        with cluster.lock:
            if at < cluster.oldest:
                raise Failure(410, "Expired", f"too old resource version: {at} ({cluster.oldest})")
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            with cluster.changed:
                mine = cluster.watches
                while not (news := [one for one in cluster.history if one[0] > at]) and mine == cluster.watches:
                    cluster.changed.wait()
                if at < cluster.oldest:
                    news = []
                    self.chunk({"type": "ERROR", "object": Failure(410, "Expired", "too old resource version").body})
                if mine != cluster.watches or at < cluster.oldest:
                    self.close_connection = True
                    return
            for version, kind, key, item in news:
                at = version
                if key[0] == (group or "") and key[1] == plural and namespace in (None, key[2]) and cluster.selected(item, query):
                    self.chunk({"type": kind, "object": item})


class Cluster:
    """The objects, and the server that has them; keys are (group, plural, namespace, name)."""

    def __init__(self, key, signed, token="a-token"):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.objects, self.history, self.asked = {}, [], []
        self.version, self.oldest = 1, 0
        self.token, self.away, self.raw, self.watches = token, False, None, 0
        self.versions = ["v1", "v1beta2", "v1beta1"]
        self.denied = set()
        self.invalid, self.no_taints = [], False
        # (verb, group, resource) that may be done, None for all, and those that were
        self.granted, self.used = None, set()
        # called with method and path before a change is made, to make another one in between
        self.before = None
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.cluster = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(signed, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.handle_error = lambda *_: None
        self.server, self.url = server, f"https://localhost:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def close(self):
        self.end_watches()
        self.server.shutdown()
        self.server.server_close()

    def note(self, kind, key, item):
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, kind, key, copy.deepcopy(item)))
        self.changed.notify_all()

    def end_watches(self):
        with self.changed:
            self.watches += 1
            self.changed.notify_all()

    def until(self, good, what):
        """Wait until the objects are so; each change is looked at."""
        with self.changed:
            while not good():
                if not self.changed.wait(PATIENCE):
                    return Report.ok(False, what, "it was waited for too long", self.objects)
        return Report.ok(True, what)

    def compact(self):
        """Forget the history: whoever watches from before is told that it is gone."""
        with self.lock:
            self.version += 1
            self.history.clear()
            self.oldest = self.version
            self.changed.notify_all()

    def permit(self, method, path, watch):
        found = PATH.fullmatch(path)
        if not found or self.granted is None:
            return
        verb = {"POST": "create", "PUT": "update", "DELETE": "delete"}.get(method)
        verb = verb or ("watch" if watch else "get" if found[5] else "list")
        right = (verb, found[1] or "", found[4])
        if right not in self.granted:
            raise Failure(403, "Forbidden", f"{found[4]} is forbidden: cannot {verb}")
        self.used.add(right)

    def do(self, method, path, query, body, content):
        if path == "/apis/resource.k8s.io":
            return 200, {"kind": "APIGroup", "name": "resource.k8s.io",
                         "versions": [{"groupVersion": f"resource.k8s.io/{one}", "version": one} for one in self.versions]}
        found = PATH.fullmatch(path)
        if not found:
            raise Failure(404, "NotFound", f"the server could not find {path}")
        group, version, namespace, plural, name, _ = found.groups()
        if group == "resource.k8s.io" and version not in self.versions:
            raise Failure(404, "NotFound", "the server could not find the requested resource")
        if (method, plural) in self.denied:
            raise Failure(403, "Forbidden", f"{plural} is forbidden: cannot {method}")
        if self.before and method != "GET":
            self.before(method, path)
        with self.lock:
            if method == "GET" and not name:
                return 200, self.list(group or "", plural, namespace, query)
            if method == "POST":
                name = body["metadata"].get("name") or body["metadata"]["generateName"] + uuid.uuid4().hex[:5]
            key = (group or "", plural, namespace, name)
            return getattr(self, method.lower())(key, body, content)

    def selected(self, item, query):
        """Is it one that a list or a watch with a fieldSelector has?"""
        wanted = [want.split("=", 1) for want in query.get("fieldSelector", "").split(",") if want]
        return all(self.field(item, path) == value for path, value in wanted)

    def list(self, group, plural, namespace, query):
        items = [copy.deepcopy(item) for key, item in self.objects.items()
                 if key[:2] == (group, plural) and namespace in (None, key[2]) and self.selected(item, query)]
        return {"kind": "List", "metadata": {"resourceVersion": str(self.version)}, "items": items}

    @staticmethod
    def field(item, path):
        for step in path.split("."):
            item = item.get(step, {}) if isinstance(item, dict) else {}
        return item if isinstance(item, str) else ""

    def must(self, key):
        if key not in self.objects:
            raise Failure(404, "NotFound", f'{key[1]}.{key[0]} "{key[3]}" not found')
        return self.objects[key]

    def admit(self, item):
        """Judge it, write quantities as they are written here, and drop what belongs to a feature that is off."""
        wrong = types_of_api.wrong(item)
        if wrong:
            self.invalid.append(wrong)
            raise Failure(422, "Invalid", wrong)
        for device in item["spec"].get("devices", ()) if item["kind"] == "ResourceSlice" else ():
            body = device.get("basic", device)
            for one in body.get("capacity", {}).values():
                one["value"] = types_of_api.canonical(one["value"])
            if self.no_taints:
                body.pop("taints", None)

    def get(self, key, _body=None, _content=None):
        return 200, copy.deepcopy(self.must(key))

    def post(self, key, body, _content=None):
        if key in self.objects:
            raise Failure(409, "AlreadyExists", f'{key[1]} "{key[3]}" already exists')
        body["metadata"].update(name=key[3], uid=body["metadata"].get("uid") or str(uuid.uuid4()), generation=1)
        if key[2]:
            body["metadata"]["namespace"] = key[2]
        self.admit(body)
        self.objects[key] = body
        self.note("ADDED", key, body)
        self.collect()
        return 201, copy.deepcopy(body)

    def put(self, key, body, _content=None):
        old = self.must(key)
        wanted = body["metadata"].get("resourceVersion")
        if wanted is not None and wanted != old["metadata"]["resourceVersion"]:
            raise Failure(409, "Conflict", f'Operation cannot be fulfilled on {key[1]} "{key[3]}": '
                          "the object has been modified; please apply your changes to the latest version and try again")
        body["metadata"].update(uid=old["metadata"]["uid"], name=key[3])
        self.admit(body)
        self.objects[key] = body
        self.note("MODIFIED", key, body)
        self.collect()
        return 200, copy.deepcopy(body)

    def delete(self, key, _body=None, _content=None):
        item = self.must(key)
        del self.objects[key]
        self.note("DELETED", key, item)
        self.collect()
        return 200, {"kind": "Status", "apiVersion": "v1", "status": "Success"}

    def collect(self):
        """Delete what has owners of which none is there any more."""
        uids = {item["metadata"]["uid"] for item in self.objects.values()}
        for key, item in list(self.objects.items()):
            owners = item["metadata"].get("ownerReferences")
            if owners and not any(one["uid"] in uids for one in owners):
                self.delete(key)

    # what tests do with it

    def node(self, name):
        """A Node, whose uid is returned."""
        with self.lock:
            body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            return self.post(("", "nodes", None, name), body)[1]["metadata"]["uid"]

    def claim(self, name, devices, pool="node-a", uid=None, config=None, request="gpus"):
        """A ResourceClaim that the scheduler has allocated; names of devices, or (request, device)."""
        results = [{"request": one[0] if isinstance(one, tuple) else request, "driver": "gpufabric.io", "pool": pool,
                    "device": one[1] if isinstance(one, tuple) else one} for one in devices]
        body = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"name": name, "namespace": "default", "uid": uid or str(uuid.uuid4())},
                "spec": {"devices": {"requests": [self.request(name) for name in sorted({one["request"] for one in results} or {request})]}},
                "status": {"allocation": {"devices": {"results": results, "config": config or []}}}}
        with self.lock:
            self.objects.pop(("resource.k8s.io", "resourceclaims", "default", name), None)
            return self.post(("resource.k8s.io", "resourceclaims", "default", name), body)[1]

    @staticmethod
    def request(name):
        """A request, or one with this alternative: REQUEST/ALTERNATIVE."""
        name, _, alternative = name.partition("/")
        if not alternative:
            return {"name": name, "exactly": {"deviceClassName": "gpufabric.io"}}
        return {"name": name, "firstAvailable": [{"name": alternative, "deviceClassName": "gpufabric.io"}]}

    def drop(self, claim):
        with self.lock:
            self.delete(("resource.k8s.io", "resourceclaims", "default", claim["metadata"]["name"]))

    def all(self, plural):
        with self.lock:
            return [copy.deepcopy(item) for key, item in self.objects.items() if key[1] == plural]
