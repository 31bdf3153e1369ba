#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Pods of one to four GPUs over a pool of eight, eight at a time, while the driver is killed again and again:

    tests/dra/storm.py PODS KILLS SEED

Each pod has its claim prepared, looks at what it has, and gives it back; a kubelet that asks while there is no
driver asks again. Prints the time from the allocation to the answer; exits with 1 if a pod had other GPUs than its own,
or anything is left.
"""

import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/unit")]
# pylint: disable=wrong-import-position
import dra
import grpc
from bench import Bench
from certificates import make_certificates

SLOTS = [f"sim0-{n}" for n in range(8)]


class Scheduler:
    """Gives free slots to claims."""

    def __init__(self):
        self.free, self.changed = list(SLOTS), threading.Condition()

    def take(self, count):
        with self.changed:
            while len(self.free) < count:
                self.changed.wait()
            taken, self.free = self.free[:count], self.free[count:]
            return taken

    def give(self, slots):
        with self.changed:
            self.free += slots
            self.changed.notify_all()


class Storm:
    """The pods, and who kills the driver."""

    def __init__(self, bench, pods, kills, seed):
        self.bench, self.scheduler, self.random = bench, Scheduler(), random.Random(seed)
        self.left = [(n, self.random.randint(1, 4)) for n in range(pods)]
        self.total, self.kills, self.ended = pods, kills, 0
        self.lock, self.step = threading.Lock(), threading.Condition()
        self.times, self.wrong, self.again = [], [], 0

    def until_good(self, ask, claim):
        """As the kubelet does: again until there is no error."""
        uid = claim["metadata"]["uid"]
        while True:
            try:
                result = ask(claim, timeout=20)[uid]
                if not result.error:
                    return result
            except grpc.RpcError:
                pass
            with self.lock:
                self.again += 1

    def pod(self, number, count):
        bench = self.bench
        slots = self.scheduler.take(count)
        claim = bench.cluster.claim(f"pod-{number}", slots)
        begun = time.monotonic()
        result = self.until_good(bench.kubelet.prepare, claim)
        self.times.append(time.monotonic() - begun)
        if [one.device_name for one in result.devices] != slots or bench.slots_of(claim) != sorted(slots):
            self.wrong.append((claim, slots, bench.slots_of(claim)))
        self.until_good(bench.kubelet.unprepare, claim)
        bench.cluster.drop(claim)
        self.scheduler.give(slots)

    def worker(self):
        while True:
            with self.lock:
                if not self.left:
                    return
                number, count = self.left.pop()
            self.pod(number, count)
            with self.step:
                self.ended += 1
                self.step.notify_all()

    def run(self):
        workers = [threading.Thread(target=self.worker, daemon=True) for _ in range(8)]
        for worker in workers:
            worker.start()
        for kill in range(self.kills):
            with self.step:
                while self.ended < (kill + 1) * self.total // (self.kills + 1):
                    self.step.wait()
            self.bench.stop(signal.SIGKILL)
            self.bench.start()
        for worker in workers:
            worker.join()


def main(pods, kills, seed):
    with tempfile.TemporaryDirectory() as work:
        state = os.path.join(work, "state")
        os.makedirs(state)
        dra.ledger(state, SLOTS)
        os.environ["STANDIN"] = state
        bench = Bench(work, make_certificates(work))
        storm = Storm(bench, pods, kills, seed)
        try:
            bench.start()
            storm.run()
            left = (bench.compositions(), bench.devices(), sorted(storm.scheduler.free) == SLOTS)
        finally:
            bench.close()
    times = sorted(storm.times)
    print(f"{storm.ended} pods ran, the driver was killed {kills} times, the kubelet asked {storm.again} times again")
    print(f"from allocation to answer: median {statistics.median(times):.2f} s, longest {times[-1]:.2f} s")
    print(f"wrong: {len(storm.wrong)}, left: {left[0] or left[1] or 'nothing'}")
    return 0 if storm.ended == pods and not storm.wrong and left == ({}, [], True) else 1


sys.exit(main(*(int(word) for word in sys.argv[1:])))
