#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/dra/dra.mk
"""
The driver for Kubernetes against a kubelet and an API server of tests/dra, with a stand-in for
gpuctl. The case dra of the rack runs the same with the real one, module and simulator.
"""

import json
import os
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "dra-test")
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests"), BUILD]
os.environ.setdefault("DRA_DRIVER", os.path.join(BUILD, "gpufabric-dra"))
os.environ["DRA_GPUCTL"] = os.path.join(TOP, "tests/dra/standin")
# pylint: disable=wrong-import-position
import scenarios
from bench import Bench
from certificates import make_certificates
from tap import Report

SLOTS = [f"sim0-{n}" for n in range(6)]
PORTS = ["port-0", "port-1"]


def ledger(folder, names=tuple(SLOTS)):
    slots = [{"slot": name, "state": "off", "gpu_id": "h100-pcie-80", "gpu": "H100", "memory": 80 << 30, "gpus": 1,
              "switch": 1, "numa_node": 0, "link_speed": 0, "link_width": 0, "flags": []} for name in names]
    slots += [{"slot": name, "state": "empty", "switch": 1, "numa_node": 0, "flags": []} for name in PORTS]
    pool = [{"gpu": f"GPU{n}", "kind": "h100-pcie-80", "state": "free", "manager": "Rack"} for n in range(4)]
    with open(os.path.join(folder, "state.json"), "w", encoding="utf-8") as file:
        json.dump({"slots": slots, "compositions": {}, "pool": pool}, file)


def managers_unasked(bench, slots):
    """While they are not needed nobody asks fabric managers: they may be slow, or not there."""
    unasked = os.path.join(os.environ["STANDIN"], "unasked")
    claim = bench.cluster.claim("own", slots[:2])
    bench.write(unasked, "")
    result = bench.kubelet.prepare(claim)[scenarios.uid_of(claim)]
    os.unlink(unasked)
    bench.prepared(claim, result, slots[:2], "a claim for slots of the node asks no manager")
    bench.given_back(claim, bench.kubelet.unprepare(claim), "and is given back")
    claim = bench.cluster.claim("pool", ["gpu1-64ae9e4c"], pool="rack-0ce99e92")
    bench.hold("compose")
    ask = scenarios.Asking(lambda: bench.kubelet.prepare(claim))
    bench.reached()
    bench.write(unasked, "")
    bench.go()
    result = ask.result()[scenarios.uid_of(claim)]
    os.unlink(unasked)
    Report.ok(not result.error and [list(one.cdi_device_ids) for one in result.devices] == [["gpufabric.io/gpu=claim-" + scenarios.uid_of(claim)]],
              "a claim for a manager's GPU asks no manager once it is composed", result)
    bench.given_back(claim, bench.kubelet.unprepare(claim), "and is given back")


def main():
    with tempfile.TemporaryDirectory() as work:
        state = os.path.join(work, "state")
        os.makedirs(state)
        ledger(state)
        os.environ["STANDIN"] = state
        bench = Bench(work, make_certificates(work), PORTS)
        try:
            scenarios.run(bench, SLOTS, (*scenarios.ALL, scenarios.found_on_its_way, scenarios.of_a_fabric, managers_unasked,
                                         scenarios.parameters, scenarios.command_line))
        finally:
            bench.close()
        return bench.end()


if __name__ == "__main__":
    sys.exit(main())
