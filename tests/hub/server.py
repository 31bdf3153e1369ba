# SPDX-License-Identifier: GPL-2.0-only
"""A Hub in small: folders as models, over TLS, with a log of what was asked and faults on demand."""

import hashlib
import http.server
import json
import os
import re
import ssl
import subprocess
import threading
import urllib.parse


def make_certificates(folder, name="ours"):
    """An authority and a certificate for this machine; paths of both, and of the key."""
    authority, key, signed = (os.path.join(folder, f"{name}-{part}.pem") for part in ("authority", "key", "signed"))
    request, own = os.path.join(folder, f"{name}.csr"), os.path.join(folder, f"{name}-authority.key")
    names = os.path.join(folder, f"{name}.names")
    with open(names, "w", encoding="utf-8") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")

    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new_key, "-keyout", own, "-out", authority, "-days", "2", "-subj", "/CN=test authority")
    openssl("req", *new_key, "-keyout", key, "-out", request, "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", request, "-CA", authority, "-CAkey", own, "-CAcreateserial", "-days", "2",
            "-extfile", names, "-out", signed)
    return authority, key, signed


def commit_of(repo, revision):
    return hashlib.sha1(f"{repo}@{revision}".encode()).hexdigest()


def uid_of(port, own):
    """Who has the socket that is connected from this port to our own."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if [int(fields[at].split(":")[1], 16) for at in (1, 2)] == [port, own]:
                return int(fields[7])
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        hub = self.server.hub
        with hub.lock:
            hub.asked.append({"server": self.server.role, "path": self.path, "headers": dict(self.headers),
                              "uid": uid_of(self.client_address[1], self.server.server_port)})

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)

    def write(self, body):
        with self.server.hub.lock:
            self.server.hub.sent += len(body)
        self.wfile.write(body)

    def do_GET(self):  # pylint: disable=invalid-name
        self.note()
        hub = self.server.hub
        path = urllib.parse.urlsplit(self.path).path
        try:
            for pattern, fault in list(hub.faults):
                if re.search(pattern, path):
                    fault(self)
                    return
            listing = re.fullmatch(r"/api/models/(.+)/revision/([^/]+)", path)
            file = re.fullmatch(r"(?:/lfs)?/([^/]+/[^/]+)/resolve/([0-9a-f]{40})/(.+)", path)
            if listing:
                self.list_model(listing[1], urllib.parse.unquote(listing[2]))
            elif file:
                self.send_part(file[1], urllib.parse.unquote(file[3]))
            else:
                self.send(404)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def list_model(self, repo, revision):
        hub = self.server.hub
        folder = os.path.join(hub.folder, repo)
        if not os.path.isdir(folder):
            self.send(401, b"Invalid username or password.", X_Error_Code="RepoNotFound")
            return
        if revision not in hub.revisions:
            self.send(404, b"", X_Error_Code="RevisionNotFound")
            return
        files = []
        for where, _, names in os.walk(folder):
            for name in names:
                whole = os.path.join(where, name)
                files.append({"rfilename": os.path.relpath(whole, folder), "blobId": "0" * 40})
                if not hub.without_sizes:
                    files[-1]["size"] = os.stat(whole).st_size
        answer = {"id": repo, "gated": False, "siblings": files, "sha": commit_of(repo, revision)}
        self.send(200, json.dumps(answer).encode(), Content_Type="application/json")

    def send_part(self, repo, name):
        hub = self.server.hub
        # large files are on another server, which wants no token
        if self.server.role == "hub" and hub.lfs and name.endswith((".safetensors", ".gguf")):
            self.send(302, Location=f"{hub.lfs}/lfs{self.path}", X_Linked_Size="1")
            return
        try:
            with open(os.path.join(hub.folder, repo, name), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if asked and not hub.without_ranges:
                    first, last = int(asked[1]), min(int(asked[2]), size - 1)
                    file.seek(first)
                    self.send(206, file.read(last - first + 1), Content_Range=f"bytes {first}-{last}/{size}")
                    return
                self.send(200, b"", Content_Length=str(size))
                while part := file.read(1 << 16):
                    self.write(part)
        except FileNotFoundError:
            self.send(404, X_Error_Code="EntryNotFound")


class Hub:
    """Two servers: the Hub, by the name localhost, and by its address where large files are."""

    def __init__(self, folder, key, signed, tls=True):
        self.folder = folder
        self.lock = threading.Lock()
        self.asked, self.faults, self.sent = [], [], 0
        self.revisions = {"main", "v2", "refs/pr/1"}
        self.without_sizes = self.without_ranges = False
        self.servers = [self.start(role, key, signed, tls) for role in ("hub", "large")]
        ports = [server.server_port for server in self.servers]
        scheme = "https" if tls else "http"
        self.endpoint, self.lfs = f"{scheme}://localhost:{ports[0]}", f"{scheme}://127.0.0.1:{ports[1]}"

    def start(self, role, key, signed, tls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.hub, server.role = self, role
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(signed, key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def clear(self):
        with self.lock:
            self.asked, self.faults, self.sent = [], [], 0
        self.without_sizes = self.without_ranges = False

    def paths(self, role=None):
        with self.lock:
            return [one["path"] for one in self.asked if role in (None, one["server"])]

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
