# SPDX-License-Identifier: GPL-2.0-only
"""
A cluster of one node, of programs that somebody else has built. It is started in namespaces of its own
(tests/dra/cluster). The node's gpuctl is tests/dra/standin behind tests/dra/gate.
"""

import contextlib
import glob
import hashlib
import http.client
import io
import json
import os
import shutil
import signal
import ssl
import subprocess
import tarfile
import threading

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build"))
NODE, SERVICE, ADDRESS = "node-a", "10.96.0.1", "10.0.0.1"
IMAGE, PAUSE = "gpufabric-dra:test", "gpufabric-pause:test"
USERS = {"admin": ("admin", "system:masters"), "scheduler": ("system:kube-scheduler", ""),
         "controllers": ("system:kube-controller-manager", ""), "kubelet": (f"system:node:{NODE}", "system:nodes")}
STATE, GATE = "/run/gpufabric-test/state", "/run/gpufabric-test/gate"
PATIENCE = 120 * int(os.environ.get("PATIENCE", "1"))

CONTAINERD = """version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'docker.io/library/gpufabric-pause:test'
[plugins.'io.containerd.cri.v1.runtime']
  enable_cdi = true
  restrict_oom_score_adj = true
  cdi_spec_dirs = ['/etc/cdi', '/var/run/cdi']
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['/usr/lib/cni']
  conf_dir = '/etc/cni/net.d'
"""
NETWORK = {"cniVersion": "1.0.0", "name": "pods", "plugins": [
    {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}],
                                                                     "ranges": [[{"subnet": "10.244.0.0/24"}]]}}]}
KUBELET = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs",
           "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failCgroupV1": False, "failSwapOn": False, "oomScoreAdj": 0,
           "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock", "makeIPTablesUtilChains": False,
           "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
           "authorization": {"mode": "AlwaysAllow"}, "localStorageCapacityIsolation": False, "resolvConf": "",
           "evictionHard": {"memory.available": "1Mi"}, "imageGCHighThresholdPercent": 100,
           # A driver that was killed is there again after a second, and not after ten.
           "crashLoopBackOff": {"maxContainerRestartPeriod": "1s"}}
# Namespaces that say nothing of themselves are strict.
ADMISSION = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [
    {"name": "PodSecurity", "configuration": {
        "apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "enforce-version": "latest"}, "exemptions": {}}}]}


def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def libraries(*programs):
    """What these programs load, and themselves."""
    found = set(programs)
    for program in programs:
        for line in subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            found.update(word for word in line.split() if word.startswith("/"))
    return sorted(found)


class Refused(Exception):
    """What the API server says."""

    def __init__(self, code, status):
        super().__init__(f"{code}: {status}")
        self.code, self.status = code, status


class Api:
    """The API server, for one user."""

    def __init__(self, authority, token):
        self.context, self.token = ssl.create_default_context(cafile=authority), token

    def open(self, method, path, body=None, content="application/json"):
        connection = http.client.HTTPSConnection(SERVICE, context=self.context)
        connection.request(method, path, body=json.dumps(body) if body is not None else None,
                           headers={"Authorization": f"Bearer {self.token}", "Content-Type": content})
        return connection, connection.getresponse()

    def ask(self, method, path, body=None, content="application/json"):
        connection, response = self.open(method, path, body, content)
        text = response.read()
        connection.close()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text.decode(errors="replace")
        if response.status >= 300:
            raise Refused(response.status, answer.get("message") if isinstance(answer, dict) else answer)
        return answer

    def there(self, path):
        try:
            return self.ask("GET", path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def events(self, path):
        """(type, object) of a list, then of all that changes."""
        whole = self.ask("GET", path)
        for item in whole["items"]:
            yield "ADDED", item
        yield "LISTED", None
        _, response = self.open("GET", f"{path}{'&' if '?' in path else '?'}watch=1&resourceVersion={whole['metadata']['resourceVersion']}")
        for line in response:
            event = json.loads(line)
            yield event["type"], event["object"]

    def until(self, path, good):
        """Follow a list until good(items by name) has an answer, which is returned; None if it took too long."""
        items, answer, over = {}, None, threading.Event()

        def follow():
            nonlocal answer
            listed = False
            for kind, item in self.events(path):
                listed = listed or kind == "LISTED"
                if item:
                    items.pop(item["metadata"]["name"], None)
                    if kind != "DELETED":
                        items[item["metadata"]["name"]] = item
                answer = good(items) if listed else None
                if answer or over.is_set():
                    over.set()
                    return
        threading.Thread(target=follow, daemon=True).start()
        if not over.wait(PATIENCE):
            over.set()
        return answer


def place(manifest):
    """Where objects like this one are made."""
    group = manifest["apiVersion"]
    kind = manifest["kind"].lower()
    plural = kind + ("es" if kind.endswith("s") else "s")
    namespace = manifest["metadata"].get("namespace")
    everywhere = ("namespace", "clusterrole", "clusterrolebinding", "deviceclass", "resourceslice", "priorityclass")
    inside = "" if kind in everywhere else f"/namespaces/{namespace or 'default'}"
    return f"/{'apis/' + group if '/' in group else 'api/' + group}{inside}/{plural}"


PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "containerd", "containerd-shim-runc-v2",
            "ctr", "runc")
PLACES = ("usr/sbin", "usr/bin", "sbin", "bin", "out")


class Node:
    """The folder, and what runs in it."""

    def __init__(self, root, out):
        self.root, self.out, self.running = os.path.realpath(root), out, {}
        missing = [name for name in PROGRAMS if not any(os.path.exists(os.path.join(self.root, place, name)) for place in PLACES)]
        if missing:
            raise SystemExit(f"{root} has no {', '.join(missing)}: it is a root file system with Kubernetes, see tests/README.md")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        self.authority = None
        self.tokens = {name: hashlib.sha256(os.urandom(32)).hexdigest() for name in USERS}

    def inside(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.inside(path)), exist_ok=True)
        with open(self.inside(path), "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else yaml.safe_dump(text))
        return path

    def mounts(self):
        run("mount", "--bind", self.root, self.root)
        run("mount", "-t", "proc", "proc", self.inside("proc"))
        for name in ("sys", "dev"):
            run("mount", "--rbind", f"/{name}", self.inside(name))
        for name in ("run", "tmp", "etc/cni", "etc/cdi", "etc/kubernetes", "var/lib/kubelet", "var/lib/containerd", "var/lib/etcd", "var/log"):
            os.makedirs(self.inside(name), exist_ok=True)
            run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", self.inside(name))
        run("ip", "link", "set", "lo", "up")
        for address in (SERVICE, ADDRESS):
            run("ip", "address", "add", f"{address}/32", "dev", "lo")
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1\n")

    def certificates(self):
        folder = self.inside("etc/kubernetes")
        with open(os.path.join(folder, "names"), "w", encoding="ascii") as file:
            file.write(f"subjectAltName=IP:{SERVICE},IP:127.0.0.1\n")
        new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        for words in (("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.crt", "-days", "30", "-subj", "/CN=test authority"),
                      ("req", *new, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=kube-apiserver"),
                      ("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
                       "-extfile", "names", "-out", "server.crt"),
                      ("genrsa", "-out", "accounts.key", "2048")):
            subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.authority = os.path.join(folder, "ca.crt")
        self.write("/etc/kubernetes/tokens", "".join(
            f'{self.tokens[name]},{user},{name},"{groups}"\n' for name, (user, groups) in USERS.items()))
        for name in USERS:
            self.write(f"/etc/kubernetes/{name}.conf", {
                "apiVersion": "v1", "kind": "Config", "current-context": "here",
                "clusters": [{"name": "here", "cluster": {"server": f"https://{SERVICE}", "certificate-authority": "/etc/kubernetes/ca.crt"}}],
                "contexts": [{"name": "here", "context": {"cluster": "here", "user": name}}],
                "users": [{"name": name, "user": {"token": self.tokens[name]}}]})

    def start(self, name, *words):
        with open(os.path.join(self.out, f"{name}.log"), "ab") as log:
            self.running[name] = subprocess.Popen(
                ["chroot", self.root, "/usr/bin/env", "-i", "PATH=" + ":".join(f"/{place}" for place in PLACES), "HOME=/root", name, *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def kill(self, name):
        self.running[name].send_signal(signal.SIGKILL)
        self.running.pop(name).wait()

    def start_kubelet(self):
        self.start("kubelet", "--config", "/etc/kubernetes/kubelet.yaml", "--kubeconfig", "/etc/kubernetes/kubelet.conf",
                   "--hostname-override", NODE, "--node-ip", ADDRESS, "-v", "4")

    def control_plane(self, gates):
        self.start("etcd", "--data-dir", "/var/lib/etcd", "--unsafe-no-fsync")
        self.start("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--secure-port=443", f"--advertise-address={ADDRESS}",
                   "--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
                   "--tls-cert-file=/etc/kubernetes/server.crt", "--tls-private-key-file=/etc/kubernetes/server.key",
                   "--token-auth-file=/etc/kubernetes/tokens", "--authorization-mode=Node,RBAC",
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=/etc/kubernetes/accounts.key",
                   "--service-account-signing-key-file=/etc/kubernetes/accounts.key", "--allow-privileged=true",
                   "--enable-admission-plugins=NodeRestriction",
                   f"--admission-control-config-file={self.write('/etc/kubernetes/admission.yaml', ADMISSION)}", *gates)
        self.start("kube-controller-manager", "--kubeconfig=/etc/kubernetes/controllers.conf", "--leader-elect=false",
                   "--service-account-private-key-file=/etc/kubernetes/accounts.key", "--root-ca-file=/etc/kubernetes/ca.crt",
                   "--use-service-account-credentials=true", "--bind-address=127.0.0.1", *gates)
        self.start("kube-scheduler", "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=false", "--bind-address=127.0.0.1",
                   "-v=4", *gates)

    def api(self, name="admin"):
        return Api(self.authority, self.tokens[name])

    def ready(self):
        """The API server is there; it is asked until it is."""
        watch = threading.Event()
        for _ in range(PATIENCE * 2):
            try:
                if self.api().ask("GET", "/readyz") == "ok":
                    return
            except (OSError, Refused):
                pass
            if self.running["kube-apiserver"].poll() is not None:
                break
            watch.wait(0.5)
        raise SystemExit(f"the API server does not start: {self.out}/kube-apiserver.log")

    def runtime(self):
        self.write("/etc/cni/net.d/10-pods.conflist", json.dumps(NETWORK))
        self.start("containerd", "--config", self.write("/run/containerd.toml", CONTAINERD))
        archive = self.inside("tmp/images.tar")
        self.images(archive)
        words = ["chroot", self.root, "ctr", "-n", "k8s.io", "--connect-timeout", "60s", "images", "import", "/tmp/images.tar"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        os.remove(archive)

    def layer(self):
        """A file system for the driver and for pods: programs of this machine, and what they load."""
        driver, python, stored = os.path.join(BUILD, "gpufabric-dra"), os.path.realpath("/usr/bin/python3"), io.BytesIO()
        stdlib = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"], stdout=subprocess.PIPE,
                                text=True, check=True).stdout.strip()
        with tarfile.open(fileobj=stored, mode="w") as tar:
            for path in libraries(driver, python, "/bin/bash"):
                if path != driver:
                    tar.add(os.path.realpath(path), arcname=path)
            tar.add(driver, arcname="/usr/bin/gpufabric-dra")
            tar.add(stdlib, arcname=stdlib, filter=lambda one: None if "/test" in one.name or "__pycache__" in one.name else one)
            tar.add(os.path.join(HERE, "standin"), arcname="/usr/bin/standin")
            tar.add(os.path.join(HERE, "gate"), arcname="/usr/local/bin/gpuctl")
            tar.add(shutil.which("busybox"), arcname="/bin/busybox")
            links = {f"/bin/{name}": "busybox" for name in ("sh", "mv", "rm", "ls", "sleep", "cat", "true", "tail")}
            for name, target in {**links, "/usr/bin/python3": python, "/var/run": "/run"}.items():
                one = tarfile.TarInfo(name.lstrip("/"))
                one.type, one.linkname, one.mode = tarfile.SYMTYPE, target, 0o777
                tar.addfile(one)
        return stored.getvalue()

    def images(self, path):
        layer = self.layer()
        digest = hashlib.sha256(layer).hexdigest()
        manifest = []
        with tarfile.open(path, "w") as tar:
            def add(name, data):
                one = tarfile.TarInfo(name)
                one.size = len(data)
                tar.addfile(one, io.BytesIO(data))
            add(f"{digest}.tar", layer)
            for tag, command in ((IMAGE, ["/bin/sh"]), (PAUSE, ["/bin/tail", "-f", "/dev/null"])):
                config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
                                     "config": {"Cmd": command, "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", f"STANDIN={STATE}",
                                                                        f"GATE={GATE}", "REAL_GPUCTL=/usr/bin/standin"]}}).encode()
                name = f"{hashlib.sha256(config).hexdigest()}.json"
                add(name, config)
                manifest.append({"Config": name, "RepoTags": [f"docker.io/library/{tag}"], "Layers": [f"{digest}.tar"]})
            add("manifest.json", json.dumps(manifest).encode())

    def pids(self, program):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    if file.read().strip() == program[:15]:
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def account_token(self, namespace, name):
        answer = self.api().ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        return answer["status"]["token"]

    def close(self):
        for name in list(self.running):
            self.kill(name)
        # All that is left in this namespace, which ends with us, and their groups, which do not.
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            while True:
                try:
                    os.wait()
                except ChildProcessError:
                    break
        for top in glob.glob("/sys/fs/cgroup/k8s.io") + glob.glob("/sys/fs/cgroup/*/k8s.io"):
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass
