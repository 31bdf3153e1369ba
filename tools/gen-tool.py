#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Generates what the tool knows of the protocol from the netlink spec: names of
every enum, flag, command and attribute, and the objects: a struct for each set
of attributes with the table by which module/object.c reads and frees it.

usage: gen-tool.py SPEC OUTPUT-DIR"""
import sys
import textwrap

import yaml

NUMBERS = {"u32": "uint32_t", "u64": "uint64_t", "uint": "uint64_t",
           "s32": "int32_t", "s64": "int64_t", "sint": "int64_t"}
# Names that C does not take, or that say less there.
C_NAMES = {"switch": "sw", "event": "kind"}
# The word that the tool makes of a nest, in a member of its own (module/state.h).
WORDS = {"condition": "state", "previous": "was"}
# Objects that belong to another and come by dumps of their own: the tool keeps them in it.
PARTS = {"slot": {"function": "function", "need": "need"},
         "composition": {"membership": "member"}}
# What the tables are made of.
MACROS = r"""
#define NUMBER(sign, type, member) { .kind = (sign), .width = sizeof(((struct type *)0)->member), \
	.at = offsetof(struct type, member), .has = offsetof(struct type, has.member) }
#define UNSIGNED(type, member) NUMBER(OBJECT_UNSIGNED, type, member)
#define SIGNED(type, member) NUMBER(OBJECT_SIGNED, type, member)
#define STRING(type, member) { .kind = OBJECT_STRING, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, has.member) }
#define BINARY(type, member) { .kind = OBJECT_BINARY, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member) }
#define NEST(type, member, item) { .kind = OBJECT_NEST, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, has.member), .nested = &(item##_object) }
#define OWNED(type, member, item) { .kind = OBJECT_OWNED, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member), .nested = &(item##_object) }
#define LIST(type, member, item) { .kind = OBJECT_LIST, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member), .nested = &(item##_object) }
"""
NOTE = "/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by tools/gen-tool.py. */\n"


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


def named(kind, name, table, values):
    """Declaration and definition of a function that looks a number up in a list of names."""
    declaration = f"const char *{ident('gfnl', name, 'name')}(unsigned int {kind})"
    size = f"sizeof({table}) / sizeof({table}[0])"
    rows = "".join(f"\t{value},\n" for value in values)
    return declaration + ";\n", (
        f"\nstatic const char *const {table}[] = {{\n{rows}}};\n"
        f"\n{declaration}\n{{\n\tif ({kind} >= {size})\n\t\treturn NULL;\n\treturn {table}[{kind}];\n}}\n")


def names(spec):
    """The same for all names: (header, source)."""
    declarations, definitions = [], []

    def add(comment, *lookup):
        header, source = named(*lookup)
        declarations.append(comment + header)
        definitions.append(source)

    comment = "/* Name of a value of an enum, or of a bit number of a flags type; NULL when unknown. */\n"
    for enum in spec["definitions"]:
        if enum["type"] in ("enum", "flags"):
            add(comment, "value", enum["name"], ident(enum["name"], "names"),
                [f'"{entry_name(entry)}"' for entry in enum["entries"]])
            comment = ""
    add("\n/* Name of a command; NULL when unknown. */\n", "command", "command", "command_names",
        [f'[{macro("gpufabric-cmd", op["name"])}] = "{op["name"]}"' for op in spec["operations"]["list"]])
    top = message(spec)
    add("\n/* Name of an attribute at the top of a message, for error texts; NULL when unknown. */\n",
        "attr", "attr", "message_names",
        [f'[{attr_prefix(top)}_{macro(a["name"])}] = "{a["name"]}"' for a in top["attributes"]])
    return "".join(declarations), "".join(definitions)


def message(spec):
    return next(s for s in spec["attribute-sets"] if s["name"] == "message")


def answers(spec):
    """What each reply and each event carries."""
    for op in spec["operations"]["list"]:
        for part in (op.get("do", {}).get("reply"), op.get("dump", {}).get("reply"), op.get("event")):
            yield part["attributes"] if part else []


def members(spec, aset):
    """[(member of the struct, attribute)] of a set; at the top only what ever comes."""
    carried = {name for answer in answers(spec) for name in answer}
    found = []
    for attr in aset["attributes"]:
        if aset["name"] == "message" and attr["name"] not in carried:
            continue
        name = ident(C_NAMES.get(attr["name"], attr["name"]))
        found.append((name + "s" if attr.get("multi-attr") else name, attr))
    return found


def declared(member, attr):
    """Its declaration in a struct."""
    if attr["type"] == "nest":
        nested = f"struct {ident('gf', attr['nested-attributes'])}"
        return f"{nested} *{member};\n\tsize_t n_{member};" if attr.get("multi-attr") else f"{nested} {member};"
    if attr["type"] == "binary":
        return f"uint8_t *{member};\n\tsize_t n_{member};"
    return f"char *{member};" if attr["type"] == "string" else f"{NUMBERS[attr['type']]} {member};"


def placed(struct, member, attr):
    """Its row in a table."""
    if attr["type"] == "nest":
        kind = "LIST" if attr.get("multi-attr") else "NEST"
        return f"{kind}({struct}, {member}, {ident('gf', attr['nested-attributes'])})"
    if attr["type"] == "binary":
        return f"BINARY({struct}, {member})"
    kind = "STRING" if attr["type"] == "string" else "SIGNED" if attr["type"][0] == "s" else "UNSIGNED"
    return f"{kind}({struct}, {member})"


def owned(parts):
    """Members of a struct that hold its parts; attributes have the names first."""
    return [f"{field}s" for field in parts.values()]


def wrapped(text, first, rest):
    return textwrap.fill(" ".join(text.split()), 84, initial_indent=first, subsequent_indent=rest) + "\n"


def structure(spec, aset):
    """A struct with its comment, and the functions that go with it."""
    name = ident("gf", aset["name"])
    fields = members(spec, aset)
    # What a reply carries beside the number of the last event that it includes.
    dated = any({"sequence", aset["name"]} <= set(answer) for answer in answers(spec))
    dated = dated and "sequence" not in (member for member, _ in fields)
    docs = [wrapped(f"@{member}: {attr['doc']}", " * ", " *\t") for member, attr in fields if "doc" in attr]
    docs += [" * @sequence: Number of the last event that this includes.\n",
             " * @instance: The load of the module that this is of.\n"] if dated else []
    words = [(WORDS[member], member) for member, attr in fields
             if attr.get("nested-attributes") == "condition"]
    docs += [f" * @{word}: enum gf_state of @{member}\n" for word, member in words]
    parts = PARTS.get(aset["name"], {})
    docs += [f" * @{field}: objects that come by themselves\n" for field in owned(parts)]
    docs += [f" * @loaded: {'inventory' if 'inventory' in dict(fields) else 'generation'} of which these are, 0 for none\n",
             " * @ahead: read for them, so that older events are still to come\n"] if parts else []
    docs += [" * @has: which attributes came\n"]
    single = ", ".join(member for member, attr in fields
                       if not attr.get("multi-attr") and attr["type"] != "binary")
    return (f"\n/**\n * struct {name} - attributes of the set {aset['name']}\n{''.join(docs)} */\nstruct {name} {{\n"
            + "".join(f"\t{declared(member, attr)}\n" for member, attr in fields)
            + ("\tuint64_t sequence, instance;\n" if dated else "")
            + "".join(f"\tuint32_t {word};\n" for word, _ in words)
            + "".join(f"\tstruct {ident('gf', part)} *{field};\n\tsize_t n_{field};\n"
                      for part, field in zip(parts, owned(parts)))
            + ("\tuint32_t loaded;\n\tbool ahead;\n" if parts else "")
            + "\tstruct {\n" + wrapped(f"bool {single};", "\t\t", "\t\t     ") + "\t} has;\n};\n"
            + f"\nextern const struct object {name}_object;\n"
            + f"\nstatic inline int {name}_parse(const void *attrs, size_t len, struct {name} *to)\n"
            + f"{{\n\treturn object_parse(&{name}_object, attrs, len, to);\n}}\n"
            + f"\nstatic inline void {name}_free(struct {name} *from)\n"
            + f"{{\n\tobject_free(&{name}_object, from);\n}}\n")


def is_owner(spec, attr):
    """Does a member hold memory of its own?"""
    if attr["type"] != "nest":
        return attr["type"] in ("binary", "string")
    aset = next(s for s in spec["attribute-sets"] if s["name"] == attr["nested-attributes"])
    return (attr.get("multi-attr", False) or bool(PARTS.get(aset["name"])) or
            any(is_owner(spec, inner) for _, inner in members(spec, aset)))


def table(spec, aset):
    """The table of a struct, and which of its rows have something to free."""
    name = ident("gf", aset["name"])
    fields = ident(aset["name"], "fields")
    owners = ident(aset["name"], "owners")
    parts = PARTS.get(aset["name"], {})
    rows = [f"{attr_prefix(aset)}_{macro(attr['name'])}" for _, attr in members(spec, aset) if is_owner(spec, attr)]
    rows += [f"{attr_prefix(aset)}_MAX + {i + 1}" for i in range(len(parts))]
    return (f"\nstatic const struct object_field {fields}[] = {{\n"
            + "".join(f"\t[{attr_prefix(aset)}_{macro(attr['name'])}] = {placed(name, member, attr)},\n"
                      for member, attr in members(spec, aset))
            # Behind all numbers that can come.
            + "".join(f"\t[{attr_prefix(aset)}_MAX + {i + 1}] = OWNED({name}, {field}, {ident('gf', part)}),\n"
                      for i, (part, field) in enumerate(zip(parts, owned(parts))))
            + "};\n"
            + (f"\nstatic const uint16_t {owners}[] = {{\n" + "".join(f"\t{row},\n" for row in rows) + "};\n"
               if rows else "")
            + f"\nconst struct object {name}_object = {{\n\t.fields = {fields},\n"
            + f"\t.n_fields = sizeof({fields}) / sizeof({fields}[0]),\n"
            + (f"\t.owners = {owners},\n\t.n_owners = sizeof({owners}) / sizeof({owners}[0]),\n" if rows else "")
            + f"\t.size = sizeof(struct {name}),\n}};\n")


def main():
    with open(sys.argv[1], encoding="ascii") as spec_file:
        spec = yaml.safe_load(spec_file)
    # A part of a set is read as the whole.
    whole = {s["name"]: s.get("subset-of", s["name"]) for s in spec["attribute-sets"]}
    sets = [s for s in spec["attribute-sets"] if "subset-of" not in s]
    for attr in (attr for aset in sets for attr in aset["attributes"]):
        if "nested-attributes" in attr:
            attr["nested-attributes"] = whole[attr["nested-attributes"]]
    declarations, definitions = names(spec)
    header = ("/* SPDX-License-Identifier: GPL-2.0-only */\n" + NOTE
              + "#ifndef GPUCTL_NETLINK_GEN_H\n#define GPUCTL_NETLINK_GEN_H\n"
              + "\n#include \"module/object.h\"\n#include \"linux/gpufabric.h\"\n\n" + declarations
              + "".join(structure(spec, aset) for aset in sets)
              + "\n#endif /* GPUCTL_NETLINK_GEN_H */\n")
    source = ("// SPDX-License-Identifier: GPL-2.0-only\n" + NOTE + "#include \"module/netlink_gen.h\"\n" + definitions + MACROS
              + "".join(table(spec, aset) for aset in sets))
    for name, text in (("netlink_gen.h", header), ("netlink_gen.c", source)):
        with open(f"{sys.argv[2]}/{name}", "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
