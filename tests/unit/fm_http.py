#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
The fabric manager's HTTPS: who gets in, who may do what, what is said to bad requests, and what clients
who mean no good can do. One host, whose machine is a QEMU without a guest.
"""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import FABRIC, Client, Manager, Qemu, Report, message, wait_for

PORTS = ("dn0", "dn1")
ZONE = f"{FABRIC}/Zones/hosta"
SESSIONS = "/redfish/v1/SessionService/Sessions"


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificate(work, name, authority, common_name, days="30", purpose="clientAuth", kind="host"):
    """A certificate with its key, signed by somebody's authority (a file with both)."""
    request, key, signed, extra = (os.path.join(work, f"{name}.{end}") for end in ("csr", "key", "crt", "ext"))
    with open(extra, "w", encoding="ascii") as file:
        file.write(f"extendedKeyUsage={purpose}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request, "-subj",
            f"/CN={common_name}/OU={kind}")
    openssl("x509", "-req", "-in", request, "-CA", authority, "-CAkey", authority, "-CAcreateserial", "-days", days, "-extfile", extra,
            "-out", signed)
    path = os.path.join(work, f"{name}.pem")
    with open(path, "wb") as file:
        for part in (signed, key):
            with open(part, "rb") as source:
                shutil.copyfileobj(source, file)
    return path


def refused(client, path="/redfish/v1/Systems"):
    """True when not even TLS comes about."""
    try:
        client.get(path)
        return False
    except (ssl.SSLError, OSError):
        return True


def certificates(manager, work):
    Report.ok(refused(Client(manager)), "no certificate, no connection")
    other = os.path.join(work, "other.pem")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", other + ".key", "-out",
            other + ".crt", "-days", "2", "-subj", "/CN=gpufabric-fm")
    with open(other, "wb") as file:
        for end in (".crt", ".key"):
            with open(other + end, "rb") as source:
                shutil.copyfileobj(source, file)
    authority = os.path.join(manager.folder, "ca.pem")
    Report.ok(refused(Client(manager, pem=certificate(work, "wrong", other, "hosta"))), "nor by another authority's of the same name")
    Report.ok(refused(Client(manager, pem=certificate(work, "old", authority, "hosta", days="-1"))), "nor by one that has expired")
    Report.ok(refused(Client(manager, pem=certificate(work, "server", authority, "hosta", purpose="serverAuth"))),
              "nor by one that is for servers")
    shutil.copy(os.path.join(manager.folder, "server.pem"), os.path.join(work, "own.pem"))
    Report.ok(refused(Client(manager, pem=os.path.join(work, "own.pem"))), "nor by the server's own")
    status, document, headers = Client(manager, pem=certificate(work, "nobody", authority, "nobody")).get("/redfish/v1/Systems")
    Report.ok(status == 401 and headers["WWW-Authenticate"].startswith("Basic"), "a good one of nobody who is known", status, document)
    Report.same(Client(manager, pem=certificate(work, "good", authority, "hosta")).get("/redfish/v1/Systems")[0], 200, "a host's own")
    Report.same(Client(manager, pem=certificate(work, "kind", authority, "hosta", kind="user")).get("/redfish/v1/Systems")[0], 401,
                "but not one that was made for a user")
    old = ssl.create_default_context(cafile=os.path.join(manager.folder, "ca.crt"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    client = manager.client("hosta")
    client.context = old
    Report.ok(refused(client), "TLS 1.1 is not spoken")
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        client = manager.client("hosta")
        client.context.minimum_version = client.context.maximum_version = version
        Report.same(client.get("/redfish/v1")[0], 200, f"{version.name} is")
        client.context = ssl.create_default_context(cafile=os.path.join(manager.folder, "ca.crt"))
        client.context.minimum_version = client.context.maximum_version = version
        Report.ok(refused(client), f"{version.name}: not without a certificate")


def documents(manager):
    """Every link leads somewhere; what Redfish wants of HTTP."""
    host = manager.client("hosta")
    seen, todo = {}, ["/redfish/v1"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        status, document, headers = host.get(path)
        seen[path] = status
        if status != 200 or headers["OData-Version"] != "4.0":
            Report.ok(False, f"{path} is there", status, document)
            continue

        def links(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key == "@odata.id" and isinstance(inner, str):
                        todo.append(inner.rstrip("/"))
                    links(inner)
            elif isinstance(value, list):
                for inner in value:
                    links(inner)

        links(document)
    Report.ok(len(seen) > 20 and set(seen.values()) == {200}, "every link leads to something", seen)
    for path in ("/redfish", "/redfish/v1/odata", "/redfish/v1/$metadata", "/redfish/v1/"):
        Report.same(host.get(path)[0], 200, f"{path} is there")
    Report.same(host.get("/redfish/v1/$metadata")[2]["Content-Type"], "application/xml;charset=utf-8", "the metadata is XML")
    for path in ("/index.html", "/redfish/v2", "/redfish/v1/x", f"{FABRIC}x", f"{FABRIC}/Zones/x", f"{FABRIC}/Zones//hosta", f"{FABRIC}/Endpoints/../Zones",
                 "/redfish/v1/TaskService/Tasks/1", "/redfish/v1/" + "a/" * 40, "/redfish/v1/Systems/%2e", f"{FABRIC}/Zones/hosta/x",
                 "/redfish/v1/Systems/hosta%00x", "/redfish/v1/%ff"):
        status, document, _ = host.get(path)
        Report.ok(status in (400, 404) and (status == 400 or message(document)), f"nothing is at {path[:40]}", status, document)
    Report.same(host.get("/redfish/v1/" + "a" * 600)[0], 414, "a path that is too long")
    status, document, headers = host.ask("HEAD", ZONE)
    Report.ok(status == 200 and document == b"" and headers["ETag"] == host.zone("hosta")[1], "HEAD is GET without a body", headers)
    Report.same(host.get(ZONE, If_None_Match=headers["ETag"])[0], 304, "If-None-Match")
    status, document, headers = host.ask("DELETE", ZONE)
    Report.ok(status == 405 and headers["Allow"] == "GET, HEAD, PATCH", "405 says what is allowed", status, headers.get("Allow"))
    status, document, headers = host.ask("GET", ZONE + "/Actions/Zone.AddEndpoint")
    Report.ok(status == 405 and headers["Allow"] == "POST", "an action is for POST alone", status, headers.get("Allow"))
    Report.same(host.ask("PUT", "/redfish/v1/Systems", "{}")[0], 405, "PUT is for nothing")
    for method in ("TRACE", "OPTIONS", "FOO", "get", "M" * 300):
        for path in (ZONE, "/redfish/v1", "/redfish/v1/x"):
            status, document, _ = host.ask(method, path)
            Report.ok(status == 501 and method[:20] in message(document), f"{method[:10]} {path}: no resource has it", status, document)
    for path, methods in (("/redfish/v1", "GET, HEAD"), (ZONE, "GET, HEAD, PATCH"), (SESSIONS, "GET, HEAD, POST")):
        for method in ("GET", "HEAD"):
            Report.same(host.ask(method, path)[2]["Allow"], methods, f"{method} {path} says what is allowed")
            link = host.ask(method, path)[2].get("Link", "")
            Report.ok(re.fullmatch(r"<http://redfish.dmtf.org/schemas/v1/\w+(\.v\d+_\d+_\d+)?\.json>; rel=describedby", link),
                      f"{method} {path} says where its schema is", link)
    Report.same(host.get("/redfish")[1], {"v1": "/redfish/v1/"}, "/redfish has the versions alone")
    Report.same(host.get(ZONE, OData_Version="3.0")[0], 412, "another OData")
    Report.same(host.get(ZONE + "?$filter=a")[0], 501, "query parameters with $ that nobody knows")
    Report.same(host.get(ZONE + "?x=1")[0], 200, "others are left alone")


def bodies(manager):
    host = manager.client("hosta")
    etag = host.zone("hosta")[1]
    own = {"@odata.id": f"{FABRIC}/Endpoints/hosta"}
    gpu = {"@odata.id": f"{FABRIC}/Endpoints/gpu0"}

    def patch(body, **headers):
        status, document, _ = host.ask("PATCH", ZONE, body, **{"If_Match": etag, **headers})
        key = document["error"]["code"].rsplit(".", 1)[-1] if isinstance(document, dict) and "error" in document else ""
        return status, key

    for what, body, wanted in (
            ("nothing", "", (400, "MalformedJSON")),
            ("no JSON", "{", (400, "MalformedJSON")),
            ("a list", "[]", (400, "MalformedJSON")),
            ("two documents", "{}{}", (400, "MalformedJSON")),
            ("single quotes", "{'Links':{}}", (400, "MalformedJSON")),
            ("a NUL", b'{"Links":{"Endpoints":[]}}\0', (400, "MalformedJSON")),
            ("no UTF-8", b'{"Links":"\xff"}', (400, "MalformedJSON")),
            ("deep", "{\"a\":" * 50 + "1" + "}" * 50, (400, "MalformedJSON")),
            ("a member twice", '{"Links":{"Endpoints":[]},"Links":{"Endpoints":[]}}', (400, "PropertyDuplicate")),
            ("an inner member twice", '{"Links":{"Endpoints":[],"Endpo\\u0069nts":[]}}', (400, "PropertyDuplicate")),
            ("nothing to change", "{}", (400, "PropertyMissing")),
            ("only what nobody knows", '{"Colour":"red"}', (400, "PropertyUnknown")),
            ("only what is fixed", '{"Name":"x"}', (400, "PropertyNotWritable")),
            ("links that are none", '{"Links":[]}', (400, "PropertyValueTypeError")),
            ("endpoints that are none", '{"Links":{"Endpoints":{}}}', (400, "PropertyValueTypeError")),
            ("a link that is none", '{"Links":{"Endpoints":["x"]}}', (400, "PropertyValueTypeError")),
            ("a link with more", {"Links": {"Endpoints": [own, {**gpu, "x": 1}]}}, (400, "PropertyValueTypeError")),
            ("the host itself left out", {"Links": {"Endpoints": [gpu]}}, (400, "PropertyValueError")),
            ("a GPU twice", {"Links": {"Endpoints": [own, gpu, gpu]}}, (400, "PropertyValueConflict")),
            ("a GPU that is none", {"Links": {"Endpoints": [own, {"@odata.id": f"{FABRIC}/Endpoints/gpu9"}]}}, (400, "ResourceNotFound")),
            ("a URI of elsewhere", {"Links": {"Endpoints": [own, {"@odata.id": "/etc/passwd"}]}}, (400, "ResourceNotFound")),
            ("wishes that are none", {"Links": {"Endpoints": [own]}, "Oem": {"GPUFabric": {"Ports": [1]}}}, (400, "PropertyValueTypeError")),
            ("a port that is none", {"Links": {"Endpoints": [own, gpu]}, "Oem": {"GPUFabric": {"Ports": [{"Endpoint": gpu, "Port": own}]}}},
             (400, "ResourceNotFound")),
            ("300 links", {"Links": {"Endpoints": [own] * 300}}, (400, "PropertyValueTypeError"))):
        Report.same(patch(body), wanted, f"a body: {what}")
    Report.same(patch(b" " * 70000), (413, "PayloadTooLarge"), "a body that is too big")
    Report.same(patch(b"{" + b" " * 65000 + b"}"), (400, "PropertyMissing"), "and one that just is not")
    link = socket.create_connection(("127.0.0.1", manager.port))
    with host.context.wrap_socket(link, server_hostname="127.0.0.1") as stream:
        stream.sendall(f"PATCH {ZONE} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        said = b""
        try:
            for _ in range(40):
                stream.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            stream.sendall(b"0\r\n\r\n")
            said = stream.recv(64)
        except OSError:
            pass
    Report.ok(b" 413 " in said, "in chunks, too", said)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application", "json", "text/json; application/json", ""):
        status, document, _ = host.ask("PATCH", ZONE, "{}", If_Match=etag, Content_Type=kind)
        Report.ok(status == 415 and "application/json" in message(document), f"a body of the kind {kind}", status, document)
        Report.same(Client(manager, pem=manager.pem("hosta")[1]).ask("POST", SESSIONS, "{}", Content_Type=kind)[0], 415, f"a login of the kind {kind}")
    for kind in ("application/json;charset=utf-8", "Application/JSON ; charset=UTF-8", "application/json"):
        Report.same(patch("{}", Content_Type=kind), (400, "PropertyMissing"), f"{kind} is read")
    Report.same(host.ask("GET", ZONE, "x", Content_Type="text/plain")[0], 200, "the body of a GET is left alone, whatever it is")
    status, document, _ = host.ask("PATCH", ZONE, {"Links": {"Endpoints": [own]}})
    Report.ok(status == 428 and "If-Match" in message(document), "without If-Match", status, document)
    Report.same(patch({"Links": {"Endpoints": [own]}}, If_Match='"stale"'), (412, "PreconditionFailed"), "with a stale one")
    many = {"Links": {"Endpoints": [own]}, **{f"Unknown{i}": 1 for i in range(3000)}}
    status, document, _ = host.ask("PATCH", ZONE, many, If_Match="*")
    Report.ok(status == 200 and len(json.dumps(document)) < 16384, "members that nobody knows are remarked on, not all of them",
              status, len(json.dumps(document)))
    etag = host.zone("hosta")[1]
    Report.same(host.zone("hosta"), ([], etag), "nothing of all that changed the zone")
    status, document, _ = host.ask("PATCH", ZONE, {"Links": {"Endpoints": [own, gpu], "Colour": 1}, "Name": "x"}, If_Match=etag)
    Report.ok(status == 200 and "Colour@Message.ExtendedInfo" in document and "Name@Message.ExtendedInfo" in document,
              "what cannot be changed beside what can: done, with a remark", status, document)
    Report.same(host.ask("PATCH", ZONE, {"Links": {"Endpoints": [own]}}, If_Match=etag)[0], 412, "the tag before that is stale")
    long = "k" * 199 + "é"
    status, document, _ = host.ask("PATCH", ZONE, json.dumps({"Links": {"Endpoints": [own, gpu]}, long: 1}, ensure_ascii=False).encode(), If_Match="*")
    Report.ok(status == 200 and isinstance(document, dict) and long[:199] + "?@Message.ExtendedInfo" in document,
              "a remark on a name that is cut inside a letter is JSON", status, document)


def act(client, path, body):
    """Status and document of an action; one that takes long is a task, which is followed to its end."""
    status, document, headers = client.ask("POST", path, body)
    if status != 202:
        return status, document
    done = client.follow(headers["Location"])
    return (204, b"") if done["TaskState"] == "Completed" else (409, done)


def actions(manager):
    host = manager.client("hosta")
    add, remove = ZONE + "/Actions/Zone.AddEndpoint", ZONE + "/Actions/Zone.RemoveEndpoint"
    gpu = {"@odata.id": f"{FABRIC}/Endpoints/gpu1"}
    tag = host.endpoint("gpu1")["@odata.etag"]
    status, document, _ = host.ask("POST", add, {"Endpoint": gpu, "ZoneETag": '"stale"'})
    Report.same(status, 428, "AddEndpoint: a stale tag of the zone")
    Report.same(host.ask("POST", add, {"Endpoint": gpu, "EndpointETag": '"stale"'})[0], 428, "of the endpoint")
    Report.same(host.ask("POST", add, {"Endpoint": gpu, "Colour": 1})[0], 400, "a parameter that nobody knows")
    Report.same(host.ask("POST", add, {})[0], 400, "no parameter")
    Report.same(host.ask("POST", ZONE + "x/Actions/Zone.AddEndpoint", {"Endpoint": gpu})[0], 404, "a zone that is not there")
    port = {"@odata.id": f"{FABRIC}/Switches/hosta/Ports/dn1"}
    Report.same(act(host, add, {"Endpoint": gpu, "EndpointETag": tag, "ZoneETag": host.zone("hosta")[1],
                                "Oem": {"GPUFabric": {"Port": port}}}), (204, b""), "with good ones")
    Report.same(host.endpoint("gpu1")["Links"]["ConnectedPorts"], [port], "it is in the port that was wished for")
    Report.same(host.get(f"{FABRIC}/Switches/hosta/Ports/dn1")[1]["Links"]["AssociatedEndpoints"], [gpu], "which says so")
    Report.same(host.ask("POST", remove, {"Endpoint": {"@odata.id": f"{FABRIC}/Endpoints/gpu2"}})[0], 400, "RemoveEndpoint of another")
    # Its task says so, where the answer could not wait for that.
    status, document = act(host, remove, {"Endpoint": gpu})
    Report.ok(status == 409 and "has not let go" in str(document), "RemoveEndpoint: the guest has to let go", status, document)


def accounts(manager):
    for user, role, secret in (("admin", "Administrator", "correct horse"), ("reader", "ReadOnly", "battery staple"), ("hosta", "Host", "host's own one")):
        said = manager.command("passwd", user, "--role", role, stdin=secret + "\n")
        Report.same((said.returncode, said.stderr), (0, ""), f"passwd {user}")
    said = manager.command("passwd", "hosta", "--role", "Administrator", stdin="long enough\n")
    Report.ok(said.returncode == 1 and "hosta is a host of" in said.stderr, "the name of a host is no other account's", said)
    Report.same(manager.command("passwd", "x", stdin="short\n").returncode, 1, "a password that is too short")
    Report.same(os.stat(os.path.join(manager.folder, "passwords")).st_mode & 0o777, 0o600, "the file is secret")
    with open(os.path.join(manager.folder, "passwords"), encoding="ascii") as file:
        text = file.read()
    Report.ok("correct horse" not in text and text.count(":$y$") == 3, "and has hashes by yescrypt")
    admin = manager.client(user="admin", password="correct horse")
    reader = manager.client(user="reader", password="battery staple")
    Report.same(admin.get("/redfish/v1/Systems")[0], 200, "basic authentication")
    Report.same(Client(manager).get("/redfish/v1/Systems")[0], 401, "nobody sees the hosts")
    Report.same([Client(manager).get(path)[0] for path in ("/redfish", "/redfish/v1", "/redfish/v1/odata", "/redfish/v1/$metadata")], [200] * 4,
                "and anybody the roots")
    Report.same(Client(manager).ask("PATCH", ZONE, "{}")[0], 401, "nobody changes anything")
    Report.same(reader.set("hosta", [])[0], 403, "who may only read does not change a zone")
    Report.same(manager.client(user="hosta", password="host's own one").set("hosta", ["gpu0", "gpu1"])[0], 200, "a host by its password")
    status, document, headers = Client(manager).ask("POST", SESSIONS, {"UserName": "reader", "Password": "battery staple"})
    token, place = headers["X-Auth-Token"], headers["Location"]
    Report.ok(status == 201 and token and document["UserName"] == "reader" and document["Password"] is None, "a session", status, document)
    session = Client(manager, token=token)
    Report.same(session.get("/redfish/v1/Systems")[0], 200, "its token is enough")
    Report.same(session.get(place)[1]["UserName"], "reader", "it sees itself")
    where, _, number = place.rpartition("/")
    for other in ("0" + number, "+" + number, "-" + number, "%20" + number, number + "%20", number + ".0", hex(int(number)), "0x" + number):
        for method in ("GET", "DELETE"):
            Report.same(session.ask(method, f"{where}/{other}")[0], 404, f"{method} of a session: {other} is another name")
    Report.same(session.get("/redfish/v1/AccountService/Accounts")[1]["Members@odata.count"], 1, "and its own account alone")
    Report.same(admin.get("/redfish/v1/AccountService/Accounts")[1]["Members@odata.count"], 3, "an administrator sees all")
    _, _, headers = Client(manager).ask("POST", SESSIONS, {"UserName": "admin", "Password": "correct horse"})
    Report.same(session.ask("DELETE", headers["Location"])[0], 404, "nobody ends the session of somebody else")
    Report.same(session.ask("DELETE", place)[0], 204, "its own can be ended")
    Report.same(session.get("/redfish/v1/Systems")[0], 401, "and is no more")
    Report.same(Client(manager, token="0" * 32).get("/redfish/v1/Systems")[0], 401, "a made-up token")
    Report.same(manager.client("hosta", token="0" * 32).get("/redfish/v1/Systems")[0], 401, "even with a certificate")
    Report.same(Client(manager).ask("POST", SESSIONS, {"UserName": "reader"})[0], 400, "a login without a password")
    status, _, headers = Client(manager).ask("POST", SESSIONS, {"UserName": "reader", "Password": "battery staple"})
    session = Client(manager, token=headers["X-Auth-Token"])
    Report.same(session.get("/redfish/v1/Systems")[0], 200, "a session of somebody who is then removed")
    manager.command("passwd", "reader", stdin="another one\n")
    Report.same(session.get("/redfish/v1/Systems")[0], 401, "a password that is changed ends its sessions")
    manager.command("passwd", "reader", stdin="battery staple\n")
    _, _, headers = Client(manager).ask("POST", SESSIONS, {"UserName": "reader", "Password": "battery staple"})
    session = Client(manager, token=headers["X-Auth-Token"])
    Report.same(manager.command("passwd", "reader", "--delete").returncode, 0, "passwd --delete")
    Report.same((session.get("/redfish/v1/Systems")[0], reader.get("/redfish/v1/Systems")[0]), (401, 401), "is over at once")


def peers(manager, work):
    """Clients that others wrote."""
    where = f"https://127.0.0.1:{manager.port}"
    said = subprocess.run(["curl", "-sS", "--cacert", os.path.join(manager.folder, "ca.crt"), "-u", "admin:correct horse", where + ZONE],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    Report.ok(said.returncode == 0 and '"ZoneType":"ZoneOfEndpoints"' in said.stdout, "curl with the authority and a password", said)
    own = os.path.join(manager.folder, "hosta.own.pem")
    said = subprocess.run(["curl", "-sS", "--cacert", os.path.join(manager.folder, "ca.crt"), "--cert", own, "--key", own, where + ZONE],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    Report.ok(said.returncode == 0 and '"Id":"hosta"' in said.stdout, "curl with a host's certificate", said)
    said = subprocess.run(["redfishtool", "-r", f"127.0.0.1:{manager.port}", "-u", "admin", "-p", "correct horse", "-A", "Session", "-S", "Always",
                           "raw", "GET", "/redfish/v1/Systems/hosta"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    Report.ok(said.returncode == 0 and '"HostName": "hosta"' in said.stdout, "redfishtool with a session", said)
    script = os.path.join(work, "peer.py")
    with open(script, "w", encoding="ascii") as file:
        file.write("import sys, sushy\n"
                   "from sushy.resources.fabric import fabric\n"
                   "root = sushy.Sushy(sys.argv[1], username='admin', password='correct horse', verify=sys.argv[2])\n"
                   "print([path.rsplit('/', 1)[-1] for path in root.get_system_collection().members_identities])\n"
                   "for one in root.get_fabric_collection().get_members():\n"
                   "    print(one.identity, sorted(e.identity for e in one.endpoints.get_members()))\n")
    trusted = os.path.join(manager.folder, "ca.crt")
    said = subprocess.run(["/usr/bin/python3", script, where, trusted], env={**os.environ, "REQUESTS_CA_BUNDLE": trusted},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    Report.same(said.stdout, "['hosta']\nPCIe ['gpu0', 'gpu1', 'gpu2', 'hosta']\n", "sushy reads systems, fabrics and endpoints")
    if said.returncode:
        print("# " + said.stderr.replace("\n", "\n# "))


def crowds(manager):
    def one(number):
        client = manager.client(user="admin", password="correct horse") if number % 2 else manager.client("hosta")
        found = [client.get(path)[0] for path in ("/redfish/v1", ZONE, f"{FABRIC}/Endpoints/gpu0")]
        found.append(client.set("hosta", ["gpu0", "gpu1"])[0])
        return found

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(one, range(64)))
    wrong = [found for found in answers if found[:3] != [200] * 3 or found[3] not in (200, 412, 503)]
    Report.same(wrong, [], "64 clients at once get answers")


def dribblers(manager):
    """Connections that never become a request are closed; others are served meanwhile."""
    host = manager.client("hosta")
    links = [socket.create_connection(("127.0.0.1", manager.port)) for _ in range(20)]
    streams = [host.context.wrap_socket(socket.create_connection(("127.0.0.1", manager.port)), server_hostname="127.0.0.1") for _ in range(4)]
    Report.same(host.get(ZONE)[0], 200, "silent connections keep nobody out")
    for number, stream in enumerate(streams):
        stream.sendall(b"GET /redfish/v1 HTTP/1.1\r\nX: " if number % 2 else
                       f"PATCH {ZONE} HTTP/1.1\r\nHost: x\r\nIf-Match: *\r\nContent-Length: 60000\r\n\r\n".encode())
        stream.settimeout(0.1)
    end = time.monotonic() + 60
    alive = set(streams)
    while alive and time.monotonic() < end:
        for stream in list(alive):
            try:
                stream.sendall(b"x")
                if stream.recv(1) == b"":
                    alive.remove(stream)
            except TimeoutError:
                pass
            except OSError:
                alive.remove(stream)
    Report.ok(not alive, "a header or a body that dribbles for longer than request_timeout ends the connection")
    closed = 0
    for link in links:
        link.settimeout(60)
        try:
            closed += link.recv(1) == b""
        except ConnectionError:
            closed += 1
    Report.same(closed, len(links), "so does silence before TLS")
    for stream in [*links, *streams]:
        stream.close()


def guesses(manager):
    wrong = manager.client(user="hosta", password="not this one")
    statuses = []
    while len(statuses) < 10 and 429 not in statuses:
        status, document, headers = wrong.get("/redfish/v1/Systems")
        statuses.append(status)
    # who was removed before has failed from the same address, perhaps within the same minute
    Report.ok(statuses in ([401] * 5 + [429], [401] * 4 + [429]), "five wrong passwords", statuses)
    Report.ok(status == 429 and int(headers["Retry-After"]) > 0, "then one has to wait", status, document)
    right = manager.client(user="hosta", password="host's own one")
    Report.same(right.get("/redfish/v1/Systems")[0], 429, "with the right one, too")
    Report.same(manager.client("hosta").get("/redfish/v1/Systems")[0], 200, "who has a certificate does not")
    Report.ok(any('login of "hosta" from 127.0.0.1: wrong' in line for line in manager.lines), "the journal has it")
    Report.ok(not any("not this one" in line for line in manager.lines), "without the password")


def main():
    with tempfile.TemporaryDirectory() as work:
        qemu = Qemu(work, "hosta", PORTS)
        manager = Manager(work, {"hosta": (qemu.path, PORTS)}, ["gpu0", "gpu1", "gpu2"])
        manager.command("init")
        manager.start().ready()
        try:
            print("# certificates are needed")
            certificates(manager, work)
            documents(manager)
            bodies(manager)
            actions(manager)
            Report.same(manager.stop(), 0, "it ends cleanly")
            print("# certificates are optional")
            manager.write(extra="client_certificates = optional")
            manager.start().ready()
            accounts(manager)
            peers(manager, work)
            crowds(manager)
            # Only now: on a busy machine a crowd needs longer.
            manager.write(extra="client_certificates = optional\nrequest_timeout = 2s")
            manager.process.send_signal(signal.SIGHUP)
            manager.said("reload: done")
            dribblers(manager)
            guesses(manager)
            Report.same(manager.stop(), 0, "it ends cleanly")
        finally:
            if manager.process.poll() is None:
                manager.process.kill()
            qemu.close()
            if Report.failed:
                print("# " + "\n# ".join(manager.lines[-60:]))
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
