#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes down what the netlink spec promises to programs, a line each: numbers and
types of commands, attributes and values. tests/abi has the list only grow.

usage: gen-abi.py SPEC FILE"""
import sys

import yaml


def numbered(entries, start):
    """(number, entry) of each; one that has a number is where those after it go on."""
    for entry in entries:
        entry = {"name": entry} if isinstance(entry, str) else entry
        start = entry.get("value", start)
        yield start, entry
        start += 1


def definitions(spec):
    """Constants, values of enums, flags as the bits that they are."""
    for one in spec["definitions"]:
        if one["type"] == "const":
            yield f"const {one['name']} {one['value']}"
            continue
        for number, entry in numbered(one["entries"], one.get("value-start", 0)):
            if one["type"] == "flags":
                yield f"flag {one['name']} {entry['name']} {1 << number:#x}"
            else:
                yield f"value {one['name']} {entry['name']} {number}"


def attributes(spec):
    """Attributes with number and type; of a part of a set only that they are in it."""
    for aset in spec["attribute-sets"]:
        if "subset-of" in aset:
            yield from (f"part {aset['name']} of {aset['subset-of']} {a['name']}" for a in aset["attributes"])
            continue
        for number, attr in numbered(aset["attributes"], 1):
            kind = [attr["type"], attr.get("nested-attributes"), attr.get("enum"),
                    attr.get("enum-as-flags") and "flags", attr.get("multi-attr") and "list"]
            yield f"attribute {aset['name']} {attr['name']} {number} {' '.join(word for word in kind if word)}"


def commands(spec):
    """Commands with their numbers, and what goes with each."""
    for number, one in numbered(spec["operations"]["list"], 1):
        yield f"command {one['name']} {number} {one['attribute-set']}"
        for how in ("do", "dump"):
            for part, carried in one.get(how, {}).items():
                if part in ("request", "reply"):
                    yield from (f"{part} {one['name']} {how} {name}" for name in carried["attributes"])
        yield from (f"event {one['name']} {name}" for name in one.get("event", {}).get("attributes", []))


def main():
    """Command line."""
    with open(sys.argv[1], encoding="ascii") as file:
        spec = yaml.safe_load(file)
    groups = (f"group {group['name']}" for group in spec["mcast-groups"]["list"])
    with open(sys.argv[2], "w", encoding="ascii") as file:
        for line in (f"family {spec['name']}", *definitions(spec), *attributes(spec), *commands(spec), *groups):
            file.write(line + "\n")


if __name__ == "__main__":
    main()
