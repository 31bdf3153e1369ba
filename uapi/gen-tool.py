#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Generates the tool's tables from the netlink spec: names of every enum and
flag, names and libnl policies of every attribute, names of every command.

usage: gen-tool.py SPEC OUTPUT-DIR"""
import sys
import yaml

TYPES = {"u8": "NLA_U8", "u32": "NLA_U32", "s32": "NLA_S32", "u64": "NLA_U64",
         "string": "NLA_STRING", "nest": "NLA_NESTED"}
HEAD = """/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by uapi/gen-tool.py. */
"""


def ident(*parts):
    return "_".join(p.replace("-", "_") for p in parts)


def macro(*parts):
    return ident(*parts).upper()


def entry_name(entry):
    return entry if isinstance(entry, str) else entry["name"]


def attr_prefix(aset):
    if "name-prefix" in aset:
        return macro(aset["name-prefix"].rstrip("-"))
    return macro("gpufabric-a", aset["name"])


def main():
    with open(sys.argv[1], encoding="ascii") as spec_file:
        spec = yaml.safe_load(spec_file)
    out = sys.argv[2]
    enums = [d for d in spec["definitions"] if d["type"] in ("enum", "flags")]
    sets = spec["attribute-sets"]
    ops = spec["operations"]["list"]

    header = ["/* SPDX-License-Identifier: GPL-2.0-only */\n", HEAD,
              "#ifndef GPUCTL_NETLINK_GEN_H\n#define GPUCTL_NETLINK_GEN_H\n\n",
              "#include <netlink/attr.h>\n\n#include \"linux/gpufabric.h\"\n\n",
              "/* Name of a value of an enum, or of a bit number of a flags type; NULL when unknown. */\n"]
    source = ["// SPDX-License-Identifier: GPL-2.0-only\n", HEAD,
              "#include <stddef.h>\n\n#include \"netlink_gen.h\"\n"]

    for enum in enums:
        func = ident("gfnl", enum["name"], "name")
        header.append(f"const char *{func}(unsigned int value);\n")
        table = ident(enum["name"], "names")
        source.append(f"\nstatic const char *const {table}[] = {{\n")
        for entry in enum["entries"]:
            source.append(f'\t"{entry_name(entry)}",\n')
        source.append("};\n")
        source.append(f"\nconst char *{func}(unsigned int value)\n{{\n"
                      f"\tif (value >= sizeof({table}) / sizeof({table}[0]))\n\t\treturn NULL;\n"
                      f"\treturn {table}[value];\n}}\n")

    header.append("\n/* Name of a command; NULL when unknown. */\n"
                  "const char *gfnl_command_name(unsigned int command);\n")
    source.append("\nstatic const char *const command_names[] = {\n")
    for op in ops:
        source.append(f'\t[{macro("gpufabric-cmd", op["name"])}] = "{op["name"]}",\n')
    source.append("};\n\nconst char *gfnl_command_name(unsigned int command)\n{\n"
                  "\tif (command >= sizeof(command_names) / sizeof(command_names[0]))\n\t\treturn NULL;\n"
                  "\treturn command_names[command];\n}\n")

    header.append("\n/* Policies for nla_parse(), one array a set of attributes, index 0 to its _MAX. */\n")
    for aset in sets:
        prefix = attr_prefix(aset)
        name = ident("gfnl", aset["name"], "policy")
        header.append(f"extern const struct nla_policy {name}[{prefix}_MAX + 1];\n")
        source.append(f"\nconst struct nla_policy {name}[{prefix}_MAX + 1] = {{\n")
        for attr in aset["attributes"]:
            if attr["type"] == "pad":
                continue
            source.append(f"\t[{prefix}_{macro(attr['name'])}] = {{ .type = {TYPES[attr['type']]} }},\n")
        source.append("};\n")

    header.append("\n/* Name of an attribute at the top of a message, for error texts; NULL when unknown. */\n"
                  "const char *gfnl_attr_name(unsigned int attr);\n")
    top = next(s for s in sets if s["name"] == "message")
    source.append("\nstatic const char *const message_names[] = {\n")
    for attr in top["attributes"]:
        source.append(f"\t[{attr_prefix(top)}_{macro(attr['name'])}] = \"{attr['name']}\",\n")
    source.append("};\n\nconst char *gfnl_attr_name(unsigned int attr)\n{\n"
                  "\tif (attr >= sizeof(message_names) / sizeof(message_names[0]))\n\t\treturn NULL;\n"
                  "\treturn message_names[attr];\n}\n")
    header.append("\n#endif /* GPUCTL_NETLINK_GEN_H */\n")

    for name, text in (("netlink_gen.h", header), ("netlink_gen.c", source)):
        with open(f"{out}/{name}", "w", encoding="ascii") as file:
            file.write("".join(text))


if __name__ == "__main__":
    main()
