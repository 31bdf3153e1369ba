#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
gpuctl size hf:OWNER/NAME against a Hub in small (tests/hub): that it says what the same folder
on disk gives, what it asks for, who is told the token, and what it says of every fault.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/hub"), os.path.join(TOP, "tests")]
# pylint: disable=wrong-import-position
import models
import server
from tap import Report

GPUCTL = os.environ.get("GPUCTL", os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "gpuctl"))
TOKEN = "hf_abcdefghijklmnop"
ROOT = os.geteuid() == 0


class Bench:
    """A Hub, a home, and gpuctl between them."""

    def __init__(self, work):
        self.work = work
        self.folder = os.path.join(work, "hub")
        self.home = os.path.join(work, "home")
        os.makedirs(self.home)
        models.make(self.folder)
        self.authority, self.key, self.signed = server.make_certificates(work)
        self.hub = server.Hub(self.folder, self.key, self.signed)
        self.cache = os.path.join(self.home, ".cache/gpuctl/hub", self.hub.endpoint[8:].replace(":", "%3A"))

    def environment(self, **changes):
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "HF_ENDPOINT": self.hub.endpoint,
               "SSL_CERT_FILE": self.authority, "GPUCTL_DATA_DIR": os.path.join(TOP, "ctl/catalogue"),
               "GPUCTL_CONFIG_DIR": "/nowhere", "no_proxy": "*"}
        env.update(changes)
        return {name: value for name, value in env.items() if value is not None}

    def run(self, *words, **changes):
        return subprocess.run([GPUCTL, *words], env=self.environment(**changes), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)

    def fresh(self):
        shutil.rmtree(os.path.join(self.home, ".cache"), ignore_errors=True)
        self.hub.clear()

    def files(self):
        """Names of files that were asked for."""
        found = [re.search(r"/resolve/[0-9a-f]{40}/(.*)", path) for path in self.hub.paths("hub")]
        return [one[1] for one in found if one]

    def entries(self, repo):
        folder = os.path.join(self.cache, repo.replace("/", "--"))
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def same_as_folder(bench, repo, file=""):
    """The same words as of the folder on disk, but for the name."""
    bench.fresh()
    local = os.path.join(bench.folder, repo) + file
    name = os.path.basename(local)
    for words in ((), ("-j",)):
        far = bench.run(*words, "size", f"hf:{repo}{file}", "--gpu", "h100-pcie-80")
        near = bench.run(*words, "size", local, "--gpu", "h100-pcie-80")
        there, here = (one.stdout.replace(text, "NAME") for one, text in ((far, f"hf:{repo}{file}"), (near, name)))
        Report.ok(far.returncode == 0 and there == here and here,
                  f"{repo}{file}: as the folder on disk {' '.join(words)}", far.returncode, far.stderr, there, here)


def models_are_sized(bench):
    hub = bench.hub
    same_as_folder(bench, "test/sharded")
    Report.same(sorted(set(bench.files())), ["config.json", "model.safetensors.index.json"],
                "an index with its sum: no shard is asked for")
    Report.same(len(hub.paths()), 4, "each file once, and the listing for each of two runs")
    same_as_folder(bench, "test/no-sum")
    Report.same(len([name for name in set(bench.files()) if name.endswith(".safetensors")]), 3,
                "an index without a sum: the headers of its shards")
    size = os.stat(os.path.join(bench.folder, "test/no-sum/model-00001-of-00003.safetensors")).st_size
    Report.ok(hub.sent < size / 100, "of weights next to nothing is sent", hub.sent, size)
    same_as_folder(bench, "test/awq4")
    same_as_folder(bench, "test/single")
    Report.ok("hf_quant_config.json" in bench.files(), "the file of a quantizer is read", bench.files())
    Report.same(bench.files().count("model.safetensors"), 4, "and a header of 700 kB in four pieces, each twice as long")
    same_as_folder(bench, "test/config")
    same_as_folder(bench, "test/pipeline")
    Report.same(sorted(name for name in set(bench.files()) if name.endswith(".safetensors")),
                ["unet/diffusion_pytorch_model.safetensors", "vae/diffusion_pytorch_model.safetensors"],
                "of a pipeline the models that it loads, one copy of each")
    same_as_folder(bench, "test/ggufs", "/b-q8_0.gguf")
    Report.same(set(bench.files()), {"b-q8_0.gguf"}, "a GGUF file by its name, and no other")
    same_as_folder(bench, "test/part", "/m-00001-of-00003.gguf")
    said = bench.run("size", "hf:test/part")
    Report.ok("1 of 3 parts are here: the weights of the others are not counted" in said.stdout, "a part of a model is said to be one", said)
    same_as_folder(bench, "test/parts", "/m-00002-of-00002.gguf")
    said = bench.run("size", "hf:test/parts")
    Report.ok(said.returncode == 0 and "parts are here" not in said.stdout and "16,451,104 B" in said.stdout,
              "the parts of a model are one model", said)
    bench.fresh()
    said = bench.run("size", "hf:test/one-gguf")
    Report.ok(said.returncode == 0 and "hf:test/one-gguf" in said.stdout, "the only GGUF file needs no name", said)
    said = bench.run("size", "hf:test/ggufs")
    Report.ok(said.returncode == 2 and "has 2 GGUF files: name one, such as hf:test/ggufs/a-q8_0.gguf" in said.stderr,
              "several need one", said)
    said = bench.run("size", "hf:test/nothing")
    Report.ok(said.returncode == 2 and "neither a config.json nor safetensors nor GGUF" in said.stderr,
              "a model without anything to size", said)
    said = bench.run("size", "hf:test/ggufs/c.gguf")
    Report.ok(said.returncode == 2 and "file c.gguf" in said.stderr, "a file that is not there", said)
    said = bench.run("size", "compare", "--model", "hf:test/sharded")
    Report.ok(said.returncode == 0 and "hf:test/sharded" in said.stdout, "--model takes it, too", said)
    for name in ("hf:", "hf:a/../b", "hf:/a", "hf:a/b/", "hf:a/b/../c", "hf:a b/c", "hf:-a/b", "hf:a--b/c", "hf:a/b@", "hf:a/b@..",
                 "hf:a/b@x y", "hf:a/b/.hidden", "hf:" + "a" * 200):
        said = bench.run("size", name)
        Report.ok(said.returncode == 2 and "is not a model of the Hub" in said.stderr, f"no name: {name[:40]}", said)


def servers_differ(bench):
    hub = bench.hub
    for what, change in (("a listing without sizes", {"without_sizes": True}), ("a server without ranges", {"without_ranges": True}),
                         ("neither", {"without_sizes": True, "without_ranges": True})):
        for repo in ("test/single", "test/no-sum"):
            bench.fresh()
            for name, value in change.items():
                setattr(hub, name, value)
            said = bench.run("-j", "size", f"hf:{repo}")
            near = bench.run("-j", "size", os.path.join(bench.folder, repo))
            Report.ok(said.returncode == 0 and
                      said.stdout.replace(f"hf:{repo}", "NAME") == near.stdout.replace(os.path.basename(repo), "NAME"),
                      f"{what}: {repo}", said.returncode, said.stderr)
        sizes = sum(os.stat(os.path.join(bench.folder, "test/no-sum", name)).st_size
                    for name in os.listdir(os.path.join(bench.folder, "test/no-sum")))
        Report.ok(hub.sent < sizes / 20, f"{what}: cut off early", hub.sent, sizes)


def cache_is_used(bench):
    hub = bench.hub
    bench.fresh()
    first = bench.run("size", "hf:test/no-sum")
    hub.clear()
    again = bench.run("size", "hf:test/no-sum")
    Report.same((again.returncode, again.stdout), (0, first.stdout), "a second run says the same")
    Report.same(len(hub.paths()), 1, "and asks for the commit alone")
    sha = server.commit_of("test/no-sum", "main")
    hub.clear()
    again = bench.run("size", f"hf:test/no-sum@{sha}")
    Report.same((again.returncode, hub.paths()), (0, []), "of a commit that is there nothing is asked")
    offline = bench.run("size", "hf:test/no-sum", HF_HUB_OFFLINE="1")
    Report.same((offline.returncode, offline.stdout, hub.paths()), (0, first.stdout, []), "offline it comes from the cache")
    other = bench.run("size", "hf:test/sharded", HF_HUB_OFFLINE="1")
    Report.ok(other.returncode == 1 and "is not in the cache: run the command once without it" in other.stderr and not hub.paths(),
              "and what is not there is said", other)
    said = bench.run("size", "hf:test/no-sum@v2")
    Report.ok(said.returncode == 0 and server.commit_of("test/no-sum", "v2") in bench.entries("test/no-sum"),
              "another revision is another entry", said, bench.entries("test/no-sum"))
    said = bench.run("size", "hf:test/no-sum@refs/pr/1")
    Report.ok(said.returncode == 0 and "ref--refs%2Fpr%2F1" in bench.entries("test/no-sum"), "a revision with slashes",
              said, bench.entries("test/no-sum"))
    folder = os.path.join(bench.cache, "test--no-sum")
    taken = sum(os.stat(os.path.join(where, name)).st_blocks * 512 for where, _, names in os.walk(os.path.join(folder, sha)) for name in names)
    long = sum(os.stat(os.path.join(where, name)).st_size for where, _, names in os.walk(os.path.join(folder, sha)) for name in names)
    Report.ok(long > 1e9 and taken < 4e6, "files are as long as the Hub's and take no room", long, taken)
    modes = {os.stat(os.path.join(where, name)).st_mode & 0o077 | os.stat(os.path.join(where, name)).st_uid ^ os.geteuid()
             for where, folders, names in os.walk(bench.cache) for name in folders + names}
    Report.same(modes, {0}, "all of it is ours, and nobody else's to read")
    with open(os.path.join(folder, sha, ".complete"), "w", encoding="ascii") as mark:
        mark.write("another version")
    hub.clear()
    said = bench.run("size", "hf:test/no-sum")
    Report.ok(said.returncode == 0 and len(hub.paths()) > 1, "what another version brought is brought anew", said, hub.paths())


def cache_is_safe(bench):
    hub = bench.hub
    bench.fresh()
    folder = os.path.join(bench.cache, "test--no-sum")
    os.makedirs(os.path.join(folder, ".new-0123/unet"), mode=0o700)
    models.write(folder, ".new-0123/unet/a", b"x")
    said = bench.run("size", "hf:test/no-sum")
    Report.ok(said.returncode == 0 and not [name for name in bench.entries("test/no-sum") if name.startswith(".new")],
              "what a run left that was killed is removed", said, bench.entries("test/no-sum"))
    bench.fresh()
    hub.faults = [("00002-of", lambda handler: handler.send(500))]
    said = bench.run("size", "hf:test/no-sum")
    Report.same((said.returncode, bench.entries("test/no-sum")), (1, [".lock"]), "a fault on the way leaves nothing")
    bench.fresh()
    runs = [subprocess.Popen([GPUCTL, "size", "hf:test/no-sum"], env=bench.environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for _ in range(4)]
    said = {(run.communicate()[0], run.returncode) for run in runs}
    Report.ok(len(said) == 1 and {one[1] for one in said} == {0}, "four runs at a time agree", said)
    asked = [name for name in bench.files() if name.endswith(".safetensors")]
    Report.same(sorted(asked), sorted(set(asked)), "and one of them asks")
    elsewhere = os.path.join(bench.work, "elsewhere")
    said = bench.run("size", "hf:test/config", XDG_CACHE_HOME=os.path.join(elsewhere, "made"))
    Report.ok(said.returncode == 0 and os.path.isdir(os.path.join(elsewhere, "made/gpuctl/hub")), "XDG_CACHE_HOME is made", said)
    os.chmod(folder, 0o777)
    said = bench.run("size", "hf:test/no-sum")
    Report.ok(said.returncode == 5 and "others may write there" in said.stderr, "a cache that others may write is not used", said)
    os.chmod(folder, 0o700)


def ends_with_its_caller(bench):
    """Who asked is gone: so are the programs that asked for it."""
    hub, begun, over = bench.hub, threading.Event(), threading.Event()

    def drip(handler):
        begun.set()
        try:
            slowly(handler)
        finally:
            over.set()

    bench.fresh()
    hub.faults = [("/api/", drip)]
    run = subprocess.Popen([GPUCTL, "size", "hf:test/sharded"], env=bench.environment(), stdout=subprocess.DEVNULL)
    begun.wait()
    run.kill()
    run.wait()
    Report.ok(over.wait(60), "a gpuctl that is killed takes along what it has started")
    hub.clear()
    said = bench.run("size", "hf:test/sharded")
    Report.ok(said.returncode == 0 and not [name for name in bench.entries("test/sharded") if name.startswith(".new")],
              "and the next run goes on as if nothing had been", said, bench.entries("test/sharded"))


def token_stays(bench):
    hub = bench.hub
    bench.fresh()
    said = bench.run("size", "hf:test/no-sum", HF_TOKEN=TOKEN)
    sent = {(one["server"], one["headers"].get("Authorization")) for one in hub.asked}
    Report.same(said.returncode, 0, "with a token")
    Report.same(sent, {("hub", f"Bearer {TOKEN}"), ("large", None)}, "the Hub gets it, and where it leads to does not")
    Report.ok(len(hub.paths("large")) == 3, "large files came from another server", hub.paths("large"))
    bench.fresh()
    hub.faults = [("/api/models/old/name/", lambda handler: handler.send(307, Location=handler.path.replace("old/name", "test/sharded"))),
                  ("^/old/name/", lambda handler: handler.send(307, Location=handler.path.replace("old/name", "test/sharded")))]
    said = bench.run("size", "hf:old/name", HF_TOKEN=TOKEN)
    Report.ok(said.returncode == 0 and {one["headers"].get("Authorization") for one in hub.asked} == {f"Bearer {TOKEN}"},
              "a model that was renamed is found, and the same server gets the token", said)
    path = models.write(bench.home, ".cache/huggingface/token", f"{TOKEN}\n".encode())

    def header_of(**changes):
        hub.clear()
        result = bench.run("size", "hf:test/config", **changes)
        return result, {one["headers"].get("Authorization") for one in hub.asked}

    os.chmod(path, 0o600)
    said, sent = header_of()
    Report.ok(sent == {f"Bearer {TOKEN}"} and not said.stderr, "the token of the Hub's own client is taken", said, sent)
    os.chmod(path, 0o644)
    said, sent = header_of()
    Report.ok(sent == {f"Bearer {TOKEN}"} and "others may read the token in" in said.stderr, "that others may read it is said", said, sent)
    for variable, where in (("HF_TOKEN_PATH", "x/secret"), ("HF_HOME", "y/token"), ("XDG_CACHE_HOME", "z/huggingface/token")):
        other = models.write(bench.work, where, b"hf_other")
        os.chmod(other, 0o600)
        value = {"HF_TOKEN_PATH": other, "HF_HOME": os.path.dirname(other),
                 "XDG_CACHE_HOME": os.path.dirname(os.path.dirname(other))}[variable]
        said, sent = header_of(**{variable: value})
        Report.ok(sent == {"Bearer hf_other"}, f"{variable} names it", said, sent)
    said, sent = header_of(HF_TOKEN="a b")
    Report.ok(said.returncode == 2 and not sent and "HF_TOKEN is not a token" in said.stderr, "a token with blanks", said)
    said, sent = header_of(HF_TOKEN="a\r\nX-Injected: yes")
    Report.ok(said.returncode == 2 and not sent, "a token that would be two headers", said)
    said, sent = header_of(HF_TOKEN_PATH="/nowhere/token")
    Report.ok(said.returncode == 1 and not sent and "/nowhere/token: No such file" in said.stderr, "a token that is not there", said)
    said, sent = header_of(HF_TOKEN_PATH="/dev/zero")
    Report.ok(said.returncode in (1, 5) and not sent, "a token that is no file", said)
    if ROOT:
        os.chown(path, 12345, 12345)
        said, sent = header_of()
        Report.ok(said.returncode == 5 and not sent and "belongs to another user" in said.stderr and TOKEN not in said.stderr,
                  "another user's token is not read", said, sent)
        os.chown(path, 0, 0)
        os.chown(bench.home, 12345, 12345)
        hub.clear()
        said = bench.run("size", "hf:test/config", HF_HUB_OFFLINE="1")
        Report.ok(said.returncode == 1 and "is not in the cache" in said.stderr, "another user's home is left alone", said)
        os.chown(bench.home, 0, 0)
        said = bench.run("size", "hf:test/config", HF_HUB_OFFLINE="1")
        Report.ok(said.returncode == 0, "and one's own is not", said)
    os.unlink(path)


def outputs_below(pid):
    """Of the last of the processes that each have started the next: what its outputs are."""
    started = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                started[int(file.read().rpartition(")")[2].split()[1])] = int(name)
        except OSError:
            pass
    while pid in started:
        pid = started[pid]
    return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (1, 2)]


def rights_are_few(bench):
    bench.fresh()
    said = bench.run("size", "hf:test/no-sum")
    users = {one["uid"] for one in bench.hub.asked}
    Report.ok(said.returncode == 0 and users == {65534 if ROOT else os.geteuid()}, "root does not speak to the network", said, users)
    if ROOT:
        asked, looked = threading.Event(), threading.Event()
        bench.fresh()
        bench.hub.faults = [("/api/", lambda handler: (asked.set(), looked.wait(60), handler.send(503)))]
        run = subprocess.Popen([GPUCTL, "size", "hf:test/no-sum"], env=bench.environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        asked.wait(60)
        outputs = outputs_below(run.pid)
        looked.set()
        error = run.communicate()[1]
        Report.ok(outputs == ["/dev/null"] * 2 and "an internal error (503)" in error,
                  "who speaks to the network has no output that gpuctl believes", outputs, error)
        bench.hub.clear()
    linked = [subprocess.run(["ldd", path], stdout=subprocess.PIPE, text=True, check=True).stdout
              for path in (GPUCTL, os.path.join(os.path.dirname(GPUCTL), "hub"))]
    Report.same(["libcurl" in text for text in linked], [False, True], "gpuctl is not linked with libcurl, hub is")


def body(size):
    def fault(handler):
        handler.send(200, b"", Content_Length=str(size))
        try:
            while True:
                handler.write(b" " * 65536)
        except OSError:
            handler.close_connection = True
    return fault


def slowly(handler):
    """As fast as is allowed, and without end."""
    handler.send(200, b"", Content_Length=str(1 << 40))
    while not handler.server.hub.release.wait(0.05):
        handler.write(b" " * 100)


def listing(*files, sha="a" * 40):
    text = json.dumps({"sha": sha, "siblings": [{"rfilename": name, "size": size} for name, size in files]})
    return lambda handler: handler.send(200, text.encode())


def faults_are_said(bench):
    hub = bench.hub

    def says(pattern, fault, status, words, what, repo="test/sharded", **changes):
        bench.fresh()
        hub.faults = [(pattern, fault)]
        result = bench.run("size", f"hf:{repo}", **changes)
        error = result.stderr
        Report.ok(result.returncode == status and re.search(words, error) and error.count("\n") == 1 and not result.stdout and
                  TOKEN not in error, what, result.returncode, error, result.stdout[:100])
        Report.ok(not [name for name in bench.entries(repo) if name != ".lock"], f"{what}: nothing is left", bench.entries(repo))

    def status(code, text=b"", **headers):
        return lambda handler: handler.send(code, text, **headers)

    api, config = "/api/", "config.json$"
    says("^/never", None, 5, "localhost:[0-9]+ has no model test/unknown, .*check the name, or set HF_TOKEN", "no such model", "test/unknown")
    says("^/never", None, 2, "has no model test/unknown, .*this token", "no such model with a token", "test/unknown", HF_TOKEN=TOKEN)
    says("^/never", None, 2, "has no revision v9", "no such revision", "test/sharded@v9")
    says(api, status(401, b"no"), 5, "set HF_TOKEN", "401")
    says(api, status(401, b"no"), 5, "rejects the token", "401 with a token", HF_TOKEN=TOKEN)
    says(api, status(403), 5, "does not let .* read test/sharded \\(403\\): give the token", "403", HF_TOKEN=TOKEN)
    says(api, status(404), 2, "has no model test/sharded at main", "404")
    says(config, status(401, X_Error_Code="GatedRepo"), 5,
         "gated: accept its terms at https://localhost:[0-9]+/test/sharded, then set HF_TOKEN", "gated")
    says(config, status(403, X_Error_Code="GatedRepo"), 5, "gated: .* token of that account", "gated with a token", HF_TOKEN=TOKEN)
    says(config, status(404, X_Error_Code="EntryNotFound"), 2, "has no file config.json", "a file that the listing has is gone")
    says(api, status(429, Retry_After="30"), 1, "limits requests .* in 30 s", "429 with a time")
    says(api, status(429), 1, "limits requests .* later", "429 without")
    says(api, status(503), 1, "an internal error \\(503\\)", "503")
    says(api, status(418), 1, "status 418", "another status")
    says(api, status(200, b"<html>"), 1, "not the listing of a model", "a page instead of a listing")
    says(api, status(200, b'{"sha": "x"}'), 1, "names no commit", "a listing without a commit")
    says(api, listing(("../../evil.json", 3)), 1, "whose name is not safe", "a name that leads out")
    says(api, listing(("/etc/evil.json", 3)), 1, "whose name is not safe", "an absolute name")
    says(api, listing(("a/../../evil.json", 3)), 1, "whose name is not safe", "a name that leads out further down")
    says(api, listing(("config.json", 3), ("config.json", 3)), 1, "twice", "a name twice")
    says(api, listing(("config.json", 1 << 60)), 1, "says that config.json has", "a file larger than any")
    says(api, listing(*((f"{i}.json", 1) for i in range(10001))), 1, "more than 10000 files", "too many files")
    says(api, body(1 << 40), 1, "reading the listing has stopped", "a listing without end")
    Report.ok(hub.sent < 64 << 20, "and is cut off", hub.sent)
    says(config, lambda handler: handler.send(206, b"x" * 10, Content_Range="bytes 5-14/100"), 1, "other bytes of config.json", "another range")
    says(config, lambda handler: handler.send(206, b"x" * 99, Content_Range="bytes 0-98/99"), 1, "another size of config.json than the listing", "another length")
    says(config, status(302, Location="http://example.com/x"), 1, "not https://", "a redirection without encryption")
    says(config, status(302, Location="file:///etc/passwd"), 1, "not https://", "a redirection to a file")
    says(config, lambda handler: handler.send(302, Location=handler.path), 1, "more than 5 times", "redirections without end")
    says(api, lambda handler: handler.server.hub.release.wait(), 7, "GPUCTL_HUB_TIMEOUT", "a server that does not answer",
         GPUCTL_HUB_TIMEOUT="1s")
    says(api, slowly, 7, "GPUCTL_HUB_TIMEOUT", "one that never comes to an end", GPUCTL_HUB_TIMEOUT="1s")
    says("^/never", None, 1, "has no certificate that this host trusts", "a certificate that nobody knows", SSL_CERT_FILE=None)
    says("^/never", None, 1, "SSL_CERT_FILE: /nowhere: No such file", "authorities that are not there", SSL_CERT_FILE="/nowhere")
    says("^/never", None, 2, "write https://", "an endpoint without encryption", HF_ENDPOINT="http://example.com")
    says("^/never", None, 2, "HF_ENDPOINT is not a plain", "an endpoint with a password", HF_ENDPOINT="https://a:b@example.com")
    says("^/never", None, 1, "cannot reach localhost:1 ", "nobody there", HF_ENDPOINT="https://localhost:1")
    says("^/never", None, 1, "cannot reach no.such.host.invalid", "no such host", HF_ENDPOINT="https://no.such.host.invalid")
    says("^/never", None, 2, "GPUCTL_HUB_TIMEOUT", "a time that is none", GPUCTL_HUB_TIMEOUT="soon")


def headers_are_bounded(bench):
    """Files whose own numbers would have everything read."""
    hub, folder = bench.hub, os.path.join(bench.folder, "test/huge")
    path = models.write(folder, "model.safetensors", (90 << 20).to_bytes(8, "little") + b"{" + b" " * 100)
    os.truncate(path, 1 << 40)
    bench.fresh()
    said = bench.run("size", "hf:test/huge")
    Report.ok(said.returncode == 2 and hub.sent < 1 << 20, "a header that is no JSON ends at once", said, hub.sent)
    with open(path, "r+b") as file:
        file.write((101 * 1000 * 1000).to_bytes(8, "little"))
    bench.fresh()
    said = bench.run("size", "hf:test/huge")
    Report.ok(said.returncode == 2 and "beyond the format" in said.stderr and hub.sent < 1 << 20, "a header beyond the format's limit", said, hub.sent)
    shutil.rmtree(folder)
    folder = os.path.join(bench.folder, "test/long")
    path = models.write(folder, "long.gguf", b"GGUF\3\0\0\0" + (1).to_bytes(8, "little") * 2 + (1 << 39).to_bytes(8, "little"))
    os.truncate(path, 1 << 40)
    bench.fresh()
    said = bench.run("size", "hf:test/long")
    Report.ok(said.returncode == 1 and "only up to 128 MiB" in said.stderr and hub.sent < 2 << 20,
              "a GGUF string of half a terabyte", said, hub.sent)
    shutil.rmtree(folder)


def plain_loopback(bench):
    plain = server.Hub(bench.folder, None, None, tls=False)
    said = bench.run("size", "hf:test/no-sum", HF_ENDPOINT=plain.endpoint)
    Report.ok(said.returncode == 0 and plain.paths("large"), "this machine may be asked without encryption", said)
    proxy = server.Hub(bench.folder, None, None, tls=False)
    for name in ("http_proxy", "all_proxy"):
        bench.fresh()
        plain.clear()
        said = bench.run("size", "hf:test/no-sum", HF_ENDPOINT=plain.endpoint, HF_TOKEN=TOKEN, no_proxy=None, **{name: proxy.endpoint})
        Report.ok(said.returncode == 0 and plain.paths("large") and not proxy.asked, f"and by no proxy, {name}", said, proxy.asked)
    proxy.close()
    plain.close()


def main():
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(work)
        bench.hub.release = threading.Event()
        for part in (models_are_sized, servers_differ, cache_is_used, cache_is_safe, ends_with_its_caller, token_stays, rights_are_few,
                     faults_are_said, headers_are_bounded, plain_loopback):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(bench)
        bench.hub.release.set()
        bench.hub.close()
    print(f"1..{Report.count}")
    return Report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
