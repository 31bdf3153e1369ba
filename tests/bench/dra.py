#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
What the driver for Kubernetes costs while nothing happens, beside an empty gRPC server: memory and
wake-ups of both, for the same time.

    tests/bench/dra.py SECONDS
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")))
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests/unit"), os.path.join(TOP, "tests"), os.path.join(BUILD, "dra-test")]
os.environ["DRA_DRIVER"] = os.path.join(BUILD, "gpufabric-dra")
# pylint: disable=wrong-import-position
import dra_publish


def memory(pid):
    """KiB that only this process has, and all that it has."""
    fields = {}
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in list(file)[1:]:
            name, value = line.split()[:2]
            fields[name.rstrip(":")] = int(value)
    return fields["Private_Clean"] + fields["Private_Dirty"], fields["Rss"]


def wakeups(pid):
    """How often any of its threads began to run."""
    count = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as file:
            count += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    return count


def main(seconds):
    with tempfile.TemporaryDirectory() as work:
        bench = dra_publish.Published(work)
        empty = subprocess.Popen([os.path.join(BUILD, "bench/dra_empty"), os.path.join(work, "empty.sock")], stdout=subprocess.PIPE)
        try:
            empty.stdout.readline()
            bench.start()
            bench.cluster.until(bench.slice, "published")
            # what its own writes have it look at once more
            time.sleep(5)
            pids = {"driver": bench.driver.pid, "empty": empty.pid}
            before = {name: wakeups(pid) for name, pid in pids.items()}
            time.sleep(seconds)
            result = {"seconds": seconds}
            for name, pid in pids.items():
                own, whole = memory(pid)
                result[name] = {"wakeups": wakeups(pid) - before[name], "private_kib": own, "rss_kib": whole}
                print(f"{name:8}{result[name]['wakeups']:6} wake-ups in {seconds} s {own:8} KiB of its own {whole:8} KiB in all")
        finally:
            empty.send_signal(signal.SIGTERM)
            empty.wait()
            bench.close()
    with open(os.path.join(BUILD, "bench-dra.json"), "w", encoding="ascii") as file:
        json.dump(result, file)


main(int(sys.argv[1]))
