# A fake Liqid director, written from the description of its REST interface, version 2.5, and from nothing else.
# SPDX-License-Identifier: GPL-2.0-only
"""Machines that are edited and reprogrammed, over TLS, with a log of requests and faults on demand."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "redfish"))
from manager import PASSWORD, Server  # pylint: disable=wrong-import-position,unused-import

API = "/liqid/api/v2"


class Refused(Exception):
    """Nothing was changed: a status of HTTP, a code of the envelope, and words."""
    def __init__(self, text, status=200, code=17):
        super().__init__(text)
        self.status, self.code = status, code


def envelope(data, code=0, text=None):
    return {"response": {"code": code, "errors": [{"code": code, "message": text, "type": "error"}] if text else None, "data": data}}


class Director(Server):
    """Machines hosta and hostb of group 1, hostc of group 2, and six GPUs, of which gpu4 and gpu5 are in no group."""

    def __init__(self, folder):
        self.machines = {name: {"mach_id": number, "mach_name": name, "grp_id": group, "fabr_id": 1, "p2p": "off", "comp_name": f"pcpu{number}",
                                "connection_history": []}
                         for number, (name, group) in enumerate((("hosta", 1), ("hostb", 1), ("hostc", 2)), 1)}
        self.groups = [{"grp_id": 1, "group_name": "pool", "fabr_id": 1, "pod_id": -1},
                       {"grp_id": 2, "group_name": "other", "fabr_id": 1, "pod_id": -1}]
        # machine: related; connected: electrically, which a reprogram alone changes
        self.gpus = {f"gpu{i}": {"group": 1 if i < 4 else None, "machine": None, "connected": None} for i in range(6)}
        self.edits, self.slow, self.refuse = {}, 0, set()
        super().__init__(folder)

    # --- what tests do

    def clear(self):
        with self.lock:
            self.asked, self.faults, self.edits, self.slow, self.refuse = [], [], {}, 0, set()
            for number, gpu in enumerate(self.gpus.values()):
                gpu.update(group=1 if number < 4 else None, machine=None, connected=None)
            for machine in self.machines.values():
                machine["p2p"] = "off"

    def give(self, gpu, host):
        """As somebody else would do it."""
        with self.lock:
            self.gpus[gpu].update(machine=host, connected=host)

    def edit_by(self, user, host="hosta"):
        with self.lock:
            self.edits[host] = {"user": user, "before": {}, "looks": None}

    def end_edit(self, host="hosta"):
        with self.lock:
            self.edits.pop(host, None)

    def owners(self):
        with self.lock:
            return {name: gpu["connected"] for name, gpu in self.gpus.items() if gpu["connected"]}

    def untouched(self):
        """Nobody edits, and nothing is related that is not connected."""
        with self.lock:
            return not self.edits and all(gpu["machine"] == gpu["connected"] for gpu in self.gpus.values())

    # --- lists

    def status(self):
        gpus = [{"type": "GpuDeviceStatus", "device_type": "gpu", "name": name, "dev_id": f"0x{i + 16:x}", "vid": "0x10de", "did": "0x2331",
                 "fabr_id": 1, "fabr_gid": "0x1", "port_gid": f"0x{i:x}", "device_state": "online", "lanes": 16,
                 "location": {"rack": 0, "shelf": 0, "node": 1}} for i, name in enumerate(self.gpus)]
        return [{"type": "ComputeDeviceStatus", "device_type": "comp", "name": "pcpu1", "vid": "0x8086", "did": "0x1"}, *gpus]

    def predevice(self):
        rows = []
        for name, gpu in self.gpus.items():
            if gpu["group"]:
                machine = self.machines.get(gpu["machine"], {})
                rows.append({"name": name, "dev_type": "gpu", "grp_id": gpu["group"], "gname": self.groups[gpu["group"] - 1]["group_name"],
                             "mach_id": str(machine.get("mach_id", "n/a")), "mname": machine.get("mach_name", "n/a"), "lanes": 16})
        return rows

    def pending(self, number):
        for name, edit in self.edits.items():
            if self.machines[name]["mach_id"] != number:
                continue
            if edit["looks"] is not None:
                edit["looks"] -= 1
                if edit["looks"] < 0:
                    self.connect(name)
                    return []
            return [{"command": "fabric", "commandId": 1, "credentials": edit["user"], "start": "2026-01-01T00:00:00",
                     "options": {"fid": 1, "cid": 1, "mid": number}}]
        return []

    def get(self, path):
        base, _, query = path.partition("?")
        if base == f"{API}/machine":
            name = query.partition("=")[2]
            return [machine for machine in self.machines.values() if not name or machine["mach_name"] == name]
        found = re.fullmatch(rf"{API}/state/1/(\d+)/(\d+)", base)
        if found:
            return self.pending(int(found[2]))
        lists = {f"{API}/group": lambda: self.groups, f"{API}/status": self.status, f"{API}/predevice": self.predevice}
        if base not in lists:
            raise Refused(f"nothing at {base}", 404)
        return lists[base]()

    # --- changes

    def connect(self, name):
        del self.edits[name]
        for gpu in self.gpus.values():
            if name in (gpu["machine"], gpu["connected"]):
                gpu["connected"] = gpu["machine"]

    def machine_of(self, body):
        name = body.get("mach_name")
        if name not in self.machines or body.get("mach_id") != self.machines[name]["mach_id"] or body.get("grp_id") != self.machines[name]["grp_id"]:
            raise Refused("Invalid Machine instance", 400)
        return name

    def relate(self, command, body):
        name = self.machine_of(body["machine"])
        device = body["groupDeviceRelator"]["deviceStatus"]
        gpu = self.gpus[device["name"]]
        if name not in self.edits or self.edits[name]["looks"] is not None:
            raise Refused("the machine is not in edit mode")
        if device["name"] in self.refuse or body["groupDeviceRelator"]["group"]["grp_id"] != gpu["group"]:
            raise Refused(f"{device['name']} cannot be related")
        if gpu["machine"] != (None if command == "POST" else name):
            raise Refused(f"{device['name']} is in use", 400)
        self.edits[name]["before"].setdefault(device["name"], gpu["machine"])
        gpu["machine"] = name if command == "POST" else None

    def change(self, handler):
        """What a request does; the list that is answered."""
        body, path, user = json.loads(handler.body), handler.path.removeprefix(API), handler.who()
        if path == "/relate/gpu":
            self.relate(handler.command, body)
            return 200, envelope([body]), {}
        name = self.machine_of(body)
        edit = self.edits.get(name)
        if path == "/fabric/edit":
            if edit:
                raise Refused("the machine is in edit mode", 400)
            self.edits[name] = {"user": user, "before": {}, "looks": None}
        elif path == "/fabric/edit/cancel":
            if not edit or edit["looks"] is not None:
                raise Refused("the machine is not in edit mode", 400)
            for gpu, before in edit["before"].items():
                self.gpus[gpu]["machine"] = before
            del self.edits[name]
        elif path == "/fabric/reprogram":
            if not edit or edit["looks"] is not None:
                raise Refused("the machine is not in edit mode", 400)
            if self.slow:
                edit["looks"] = self.slow
            else:
                self.connect(name)
        elif path == "/machine/p2p":
            self.machines[name]["p2p"] = body["p2p"]
        else:
            raise Refused(f"nothing at {path}", 404)
        return 200, envelope([self.machines[name]]), {}

    def reply(self, handler):
        try:
            if not handler.who():
                raise Refused("who are you?", 401)
            if handler.command == "GET":
                return 200, envelope(self.get(handler.path)), {}
            return self.change(handler)
        except Refused as refused:
            return refused.status, envelope(None, refused.code, str(refused)), {}
