#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The corpus of the target netlink: messages with every attribute of the spec.

  tests/fuzz/netlink_seed.py DIRECTORY

One file for each kind of object: whole, with lists of two, with attributes of
a size that the spec does not have, and cut. Little-endian.
"""
import pathlib
import struct
import sys

import yaml

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = yaml.safe_load((TOP / "uapi/netlink/specs/gpufabric.yaml").read_text())
SETS = {s["name"]: s for s in SPEC["attribute-sets"]}
# A part of a set is written as the whole.
SETS.update({name: SETS[s["subset-of"]] for name, s in SETS.items() if "subset-of" in s})
FORMATS = {"u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q", "uint": "<I", "s32": "<i", "s64": "<q"}
NESTED = 0x8000
EVENT, SLOT, OTHER = 0, 1, 2


def attribute(number, body):
    """One attribute with its padding."""
    length = 4 + len(body)
    return struct.pack("<HH", length, number) + body + b"\0" * (-length % 4)


def body_of(attr, depth, odd):
    """What an attribute holds; odd ones have a size that is not theirs."""
    kind = attr["type"]
    if kind == "nest":
        return members(attr["nested-attributes"], depth + 1, odd)
    if kind in FORMATS:
        return struct.pack(FORMATS[kind], 3)[:-1 if odd else None]
    if kind == "string":
        return b"sim0-1" + (b"" if odd else b"\0")
    if kind == "flag":
        return b""
    return b"\1\2\3\4"


def members(name, depth=0, odd=False, only=None):
    """All attributes of a set; what may come several times comes twice."""
    data = b""
    for number, attr in enumerate(SETS[name]["attributes"], 1):
        number = attr.get("value", number)
        if depth > 4 or (only and attr["name"] not in only):
            continue
        times = 2 if attr.get("multi-attr") else 1
        flag = NESTED if attr["type"] == "nest" else 0
        data += attribute(number | flag, body_of(attr, depth, odd)) * times
    return data


def message(what, body):
    """As the target takes it."""
    return struct.pack("<BH", what, len(body)) + body


def main():
    """Write them."""
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    top = "message"
    seeds = {}
    for name in ("slot", "switch", "composition", "operation"):
        seeds[f"event-{name}"] = message(EVENT, members(
            top, only=("sequence", "time", "event", "previous", name)))
    seeds["slot"] = message(SLOT, members("slot"))
    seeds["slot-odd"] = message(SLOT, members("slot", odd=True))
    seeds["slot-cut"] = message(SLOT, members("slot"))[:77]
    for name in ("switch", "composition", "history", "stats", "status"):
        seeds[name] = message(OTHER, members(name))
    seeds["several"] = seeds["slot"] + seeds["event-slot"] + seeds["event-composition"]
    for name, data in seeds.items():
        (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
