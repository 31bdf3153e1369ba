# A fake of a Switchtec PAX switch, for tests: no hardware has ever answered what this says.
# SPDX-License-Identifier: GPL-2.0-only
"""
It behaves like the device of Linux's driver on a socket of packets: a command is one packet, its
answer another one, and commands of all connections are carried out one after the other, also
those of a connection that was closed meanwhile. It has a GFMS database of one or more switches,
and faults: see Fault.
"""

import contextlib
import os
import queue
import socket
import struct
import threading

DATA = 1024
TAKEN = 0x640012        # a port that is taken
PARAMETER = 0x64006     # a parameter is wrong
BUSY = 0x64002          # a dump that was begun is not finished
UNKNOWN = 0x64005       # no such command
DUMP, BIND, EVENTS, PAX_ID = 0x83, 0x84, 0x89, 0x81
DUMP_START, DUMP_PART = b"\1\0\0\0\1", b"\1\0\0\0\2"
BIND_BIND, BIND_UNBIND = b"\1", b"\2"
LOCAL = 0x1f


class Function:
    """A function of a device. One without a bit 0 in kind is virtual."""

    def __init__(self, pdfid, pci=(0x10de, 0x2331, 0x10de, 0x1626), class_code=0x030200, kind=1):
        self.pdfid, self.pci, self.class_code, self.kind = pdfid, pci, class_code, kind
        self.bound = None        # (host's switch, host's port, logical port)

    def pack(self, number):
        bound = (1, *self.bound) if self.bound else (0, 0, 0, 0)
        return struct.pack("<HHBBHBBBBHHHH", number, self.pdfid, self.kind, 0, 0, *bound, *self.pci) + \
            self.class_code.to_bytes(3, "little") + b"\x06" + bytes(12)


class Switch:
    """@hosts: numbers of logical ports by physical port; @endpoints: lists of devices, which are lists of functions."""

    def __init__(self, hosts, endpoints):
        self.hosts, self.endpoints, self.dumping = hosts, endpoints, None


class Fault:
    """
    What goes wrong with the next command of @code (that begins with @start), after @skip of them. Each waits for
    the one before it.
    refuse   it is not carried out, the answer is @code_back
    hang     carried out (unless not @done) and answered after release(); nothing else happens before
    short    the answer has @size bytes
    lie      the answer is what @change makes of it
    power    all connections end; carried out if @done; @forget: nothing is bound any more
    """

    def __init__(self, what, code, start=b"", skip=0, done=True, **more):
        self.what, self.code, self.start, self.skip, self.done, self.more = what, code, start, skip, done, more
        self.met, self.go = threading.Event(), threading.Event()

    def release(self):
        self.go.set()

    def fits(self, code, payload):
        if code != self.code or not payload.startswith(self.start):
            return False
        self.skip -= 1
        return self.skip < 0


class Pax:
    """@local: index of the switch that the device belongs to."""

    def __init__(self, path, switches, local=0, late=0, one_by_one=True, events=True):
        self.path, self.switches, self.local, self.late = path, switches, local, late
        self.one_by_one, self.has_events = one_by_one, events
        self.faults, self.events, self.history, self.asked = [], [], [], []
        self.work, self.links, self.lock = queue.Queue(), set(), threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(16)
        for target in (self.accept, self.carry_out):
            threading.Thread(target=target, daemon=True).start()

    def close(self):
        for fault in self.faults:
            fault.release()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
        os.unlink(self.path)

    def fault(self, *words, **more):
        self.faults.append(Fault(*words, **more))
        return self.faults[-1]

    # what a test looks at and changes from beside the manager

    def functions(self):
        for switch in self.switches.values():
            for devices in switch.endpoints.values():
                for device in devices:
                    yield from device

    def bound(self):
        """Ports by id of the functions in them."""
        return {function.pdfid: function.bound for function in self.functions() if function.bound}

    def change(self, pdfid, bound):
        """As if another program had done it."""
        with self.lock:
            for function in self.functions():
                if function.pdfid == pdfid:
                    function.bound = bound
            self.tell(6 if bound else 7, bytes(6))

    def tell(self, code, data):
        self.events.append(struct.pack("<HBB", 4 + len(data), code, self.local) + data)

    # connections

    def accept(self):
        while True:
            try:
                link = self.listener.accept()[0]
            except OSError:
                return
            self.links.add(link)
            threading.Thread(target=self.receive, args=(link,), daemon=True).start()

    def receive(self, link):
        while True:
            try:
                packet = link.recv(4 + DATA)
            except OSError:
                packet = b""
            if not packet:
                self.links.discard(link)
                link.close()
                return
            self.work.put((link, packet))

    def cut(self):
        """What was asked and not carried out is forgotten with the connections."""
        with contextlib.suppress(queue.Empty):
            while True:
                self.work.get_nowait()
        for link in list(self.links):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def carry_out(self):
        while True:
            link, packet = self.work.get()
            number, = struct.unpack_from("<I", packet)
            code, pax, payload = number & 0xffff, number >> 18, packet[4:]
            self.asked.append((code, payload))
            if self.faults and self.faults[0].fits(code, payload):
                answer = self.go_wrong(self.faults.pop(0), code, pax, payload)
            else:
                answer = self.answer(code, pax, payload)
            if answer is not None:
                with contextlib.suppress(OSError):
                    link.send(answer)

    def answer(self, code, pax, payload):
        """The return code, and data of the full size, as the driver hands it over."""
        with self.lock:
            back, data = self.do(code, self.local if pax == LOCAL else pax, payload)
        return struct.pack("<I", back) + data + b"\xff" * (DATA - len(data))

    def go_wrong(self, fault, code, pax, payload):
        answer = None
        fault.met.set()
        if fault.what == "refuse":
            return struct.pack("<I", fault.more.get("back", TAKEN)) + b"\xff" * DATA
        if fault.done:
            answer = self.answer(code, pax, payload)
        if fault.what == "hang":
            fault.go.wait()
            return answer or self.answer(code, pax, payload)
        if fault.what == "short":
            return answer[:fault.more["size"]]
        if fault.what == "lie":
            return fault.more["change"](answer)
        if fault.more.get("forget"):
            for function in self.functions():
                function.bound = None
        self.cut()
        return None

    # commands

    def do(self, code, pax, payload):
        if code == PAX_ID:
            return 0, bytes([self.local])
        if pax not in self.switches:
            return PARAMETER, b""
        if code == DUMP and payload[0] == 1:
            return self.dump(pax, payload)
        if code == BIND and payload[0] == 1:
            return self.bind(payload)
        if code == BIND and payload[0] == 2:
            return self.unbind(payload)
        if code == EVENTS and self.has_events:
            return self.list_events(payload)
        return UNKNOWN, b""

    def dump(self, pax, payload):
        switch, step = self.switches[pax], struct.unpack_from("<I", payload, 4)[0]
        if step == 1:
            if switch.dumping:
                return BUSY, b""
            switch.dumping = self.database(pax)
            return 0, struct.pack("<II", len(switch.dumping) // 4, len(self.switches))
        if step == 3:
            switch.dumping = None
            return 0, b""
        offset, = struct.unpack_from("<I", payload, 8)
        if not switch.dumping or offset * 4 >= len(switch.dumping):
            return PARAMETER, b""
        data = switch.dumping[offset * 4:offset * 4 + DATA - 12]
        return 0, struct.pack("<III", offset, 3 + len(data) // 4, 0) + data

    def database(self, pax):
        switch = self.switches[pax]
        ports = b"".join(self.port(phys, devices) for phys, devices in switch.endpoints.items())
        hosts = b"".join(self.host(pax, number, phys, count) for number, (phys, count) in enumerate(switch.hosts.items()))
        count = sum(len(devices) for devices in switch.endpoints.values())
        general = struct.pack("<BBHHH", 52, len(switch.hosts), count, count, 0) + bytes(60)
        return b"".join(struct.pack("<BBHII", kind, pax, 0, 3 + len(body) // 4, 0) + body
                        for kind, body in ((2, general), (3, hosts), (5, ports)))

    def host(self, pax, number, phys, count):
        table = [[(log, 0, 0xffff) for log in range(count)] for _ in range(8)]
        for function in self.functions():
            if function.bound and function.bound[:2] == (pax, phys):
                log = function.bound[2]
                row = next(row for row in table if not row[log][1])
                row[log] = (log, 1, function.pdfid)
        return struct.pack("<BBHHH", number, phys, 0x100 + phys, count, 0) + \
            b"".join(struct.pack("<BBH", *entry) for row in table for entry in row)

    @staticmethod
    def port(phys, devices):
        body = b""
        for device in devices:
            body += struct.pack("<HHI", len(device), 0, 2 + 9 * len(device))
            body += b"".join(function.pack(number) for number, function in enumerate(device))
        if len(devices) > 1:     # behind a switch with two functions of its own
            body = struct.pack("<HHI", 2, 0, 2 + 18) + bytes(72) + body
        kind = 2 if not devices else 0 if len(devices) == 1 else 1
        return struct.pack("<BBHI", kind, phys, len(devices), 2 + len(body) // 4) + body

    def place(self, payload):
        """The port that a request names, and whether there is one."""
        place = tuple(payload[1:4])
        switch = self.switches.get(place[0])
        return place, switch and place[2] < switch.hosts.get(place[1], 0)

    def bind(self, payload):
        place, good = self.place(payload)
        wanted = []
        for at in range(4, 36, 4):
            pdfid, more, reserved = struct.unpack_from("<HBB", payload, at)
            wanted += [function for function in self.functions() if function.pdfid == pdfid]
            if reserved or len(wanted) != at // 4:
                return PARAMETER, b""
            if not more:
                break
        if not good or len(payload) != 36 or any(payload[4 + 4 * len(wanted):]):
            return PARAMETER, b""
        if place in self.bound().values() or any(function.bound for function in wanted):
            return TAKEN, b""
        self.history.append(("bind", place, tuple(function.pdfid for function in wanted)))

        def put():
            for function in wanted:
                function.bound = place
        if self.late:
            threading.Timer(self.late, put).start()
        else:
            put()
        self.tell(6, struct.pack("<BBBBH", *place, 0, wanted[0].pdfid))
        return 0, bytes(4)

    def unbind(self, payload):
        place, _ = self.place(payload)
        pdfid, option, reserved = struct.unpack_from("<HBB", payload, 4)
        found = [function for function in self.functions() if function.bound == place]
        if len(payload) != 8 or option or reserved or pdfid not in [function.pdfid for function in found]:
            return PARAMETER, b""
        self.history.append(("unbind", place, (pdfid,)))
        for function in found:
            if function.pdfid == pdfid or not self.one_by_one:
                function.bound = None
        self.tell(7, struct.pack("<BBBBH", *place, 0, pdfid))
        return 0, bytes(4)

    def list_events(self, payload):
        told = self.events[:min(struct.unpack_from("<H", payload, 2)[0], 4)]
        self.events = self.events[len(told):]
        return 0, struct.pack("<HH", len(told), len(self.events)) + b"".join(told)
