#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table of the netlink fuzzer, from the spec: every attribute with its
type and limits, every command with the attributes that it takes.

usage: table.py SPEC >table.c        what it fills is described in table.h"""
import re
import sys

import yaml

KINDS = {"u8": "U8", "u32": "U32", "s32": "S32", "u64": "U64", "uint": "UINT",
         "string": "STRING", "binary": "BINARY", "nest": "NEST"}
TOP = {"u8": 0xff, "u32": 0xffffffff, "s32": 0xffffffff, "u64": 0xffffffffffffffff,
       "uint": 0xffffffffffffffff}
# How the spec says that an attribute is not for everyone.
PRIVATE = re.compile(r"only (for readers )?with CAP_SYS_ADMIN", re.IGNORECASE)


def macro(*parts):
    """Name of a constant of the header."""
    return "_".join(parts).replace("-", "_").upper()


def prefix_of(aset):
    """What the constants of a set of attributes begin with."""
    if "prefix" in aset:
        return aset["prefix"]
    return macro(aset["name-prefix"].rstrip("-")) if "name-prefix" in aset else macro("gpufabric-a", aset["name"])


def whole(sets):
    """Each set with what it takes over from the one that it is a part of."""
    by_name = {s["name"]: s for s in sets}
    for aset in sets:
        if "subset-of" in aset:
            parent = by_name[aset["subset-of"]]
            theirs = {a["name"]: a for a in parent["attributes"]}
            aset["attributes"] = [{**theirs[a["name"]], **a} for a in aset["attributes"]]
            aset["prefix"] = prefix_of(parent)
    return sets


class Spec:
    """The spec, with what it says by name looked up."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            spec = yaml.safe_load(file)
        self.definitions = {d["name"]: d for d in spec["definitions"]}
        self.sets = whole(spec["attribute-sets"])
        self.operations = spec["operations"]["list"]

    def number(self, value):
        """A limit, which may be the name of a constant."""
        return self.definitions[value]["value"] if isinstance(value, str) else value

    def limits(self, attr):
        """Least and greatest value, or greatest length of a string or of bytes."""
        checks = attr.get("checks", {})
        if attr["type"] in ("string", "binary"):
            return 0, self.number(checks.get("max-len", 0))
        least, most = 0, TOP.get(attr["type"], 0)
        if "enum" in attr:
            count = len(self.definitions[attr["enum"]]["entries"])
            most = (1 << count) - 1 if attr.get("enum-as-flags") else count - 1
        return self.number(checks.get("min", least)), self.number(checks.get("max", most))


def print_set(spec, aset):
    """One set of attributes, indexed by their types."""
    name, prefix = macro(aset["name"]).lower(), prefix_of(aset)
    print(f"\nstatic const struct fuzz_attr {name}_attrs[{prefix}_MAX + 1] = {{")
    for attr in aset["attributes"]:
        least, most = spec.limits(attr)
        fields = [f'"{attr["name"]}"', f"FUZZ_{KINDS[attr['type']]}", f".min = {least}ULL", f".max = {most}ULL"]
        if "nested-attributes" in attr:
            fields.append(f".nested = &{macro(attr['nested-attributes']).lower()}_set")
        if PRIVATE.search(attr.get("doc", "")):
            fields.append(".private = true")
        print(f"\t[{prefix}_{macro(attr['name'])}] = {{ {', '.join(fields)} }},")
    print("};")
    print(f"\nstatic const struct fuzz_set {name}_set = {{\n"
          f'\t"{aset["name"]}", {name}_attrs, {prefix}_MAX,\n}};')


def print_commands(spec):
    """What can be asked for; events cannot."""
    print("\nconst struct fuzz_command fuzz_commands[] = {")
    for operation in spec.operations:
        if "do" not in operation and "dump" not in operation:
            continue
        names = {a: None for way in ("do", "dump") for a in operation.get(way, {}).get("request", {}).get("attributes", [])}
        takes = [f"1ULL << {macro('gpufabric-a', a)}" for a in names]
        print(f'\t{{ "{operation["name"]}", {macro("gpufabric-cmd", operation["name"])}, '
              f'.reads = {str(operation["name"].endswith("-get")).lower()}, '
              f'.does = {str("do" in operation).lower()}, .dumps = {str("dump" in operation).lower()},\n\t  .takes = {" | ".join(takes) or 0} }},')
    print("};\n\nconst unsigned int fuzz_n_commands = sizeof(fuzz_commands) / sizeof(fuzz_commands[0]);")


def main():
    """Write the table."""
    spec = Spec(sys.argv[1])
    print("// SPDX-License-Identifier: GPL-2.0-only\n"
          "/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by tests/netlink-fuzz/table.py. */\n"
          "#include <linux/gpufabric.h>\n\n#include \"table.h\"\n")
    # A set may be there for a part of it alone.
    met = {"message"} | {a.get("nested-attributes") for aset in spec.sets for a in aset["attributes"]}
    sets = [aset for aset in spec.sets if aset["name"] in met]
    for aset in sets:
        print(f"static const struct fuzz_set {macro(aset['name']).lower()}_set;")
    for aset in sets:
        print_set(spec, aset)
    print("\nconst struct fuzz_set *const fuzz_message = &message_set;")
    print_commands(spec)


if __name__ == "__main__":
    main()
