#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shortens what the kernel's generator wrote: equal tables are one, what is said of an attribute is said once, commands
that differ by a row of a table have one hook, and an operation is a line.

usage: tools/gen-kernel.py FILE    a source or a header, rewritten in place
"""

import re
import sys
import textwrap

COLUMNS = 100


def merge(text, table):
    """Leave the first of tables with the same body, and have all others' users use it."""
    kept = {}
    renamed = {}

    def one(match):
        name, body = match.group("name"), match.group("body")
        if body not in kept:
            kept[body] = name
            return match.group(0)
        renamed[name] = kept[body]
        return ""

    text = table.sub(one, text)
    for old, new in renamed.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return text


def line_of(match):
    """A range on one line."""
    body = re.sub(r"\s+", " ", match.group("body")).strip(" ,")
    return f"static struct netlink_range_validation {match.group('name')} = {{ {body} }};\n"


def share(text):
    """Say once what an attribute has to be that more than one table has."""
    rules = {}
    for table in POLICY.finditer(text):
        for attr, rule in ENTRY.findall(table.group("body")):
            rules.setdefault(attr, []).append(rule)
    shared = {attr: found[0] for attr, found in rules.items() if len(found) > 1}
    if any(len(set(found)) > 1 for found in rules.values()):
        sys.exit("gen-kernel.py: an attribute is held to one thing here and to another there")

    def table(match):
        last, entries = re.fullmatch(r"\[GPUFABRIC_A_(\w+) \+ 1\] = \{\n(.*?)\n\};\n\n", match.group("body"), re.S).groups()
        entries = [attr if attr in shared else f"[GPUFABRIC_A_{attr}]\0=\0{rule}".replace(" ", "\0")
                   for attr, rule in ENTRY.findall(entries)]
        name = re.sub(r"^gpufabric_(\w+)_nl_policy$", r"\1", match.group("name"))
        lines = textwrap.wrap(f"POLICY({name}, {last}, {', '.join(entries)});", COLUMNS - 8, break_long_words=False)
        return "\n\t".join(lines).replace("\0", " ") + "\n"

    first = next(POLICY.finditer(text), None)
    if not first:
        return text
    defined = "".join(f"#define {attr} [GPUFABRIC_A_{attr}] = {rule}\n" for attr, rule in shared.items())
    return (text[:first.start()] + "/* Attributes that more than one command takes */\n" + defined + "\n" + NOTHING +
            MACRO + re.sub(r"\);\n(?=/\*)", ");\n\n", POLICY.sub(table, text[first.start():])))


def row(match):
    """An operation as a line of the table; there is one hook before those that need a capability."""
    fields = dict(re.findall(r"\.(\w+)\s*= ([^,]*),", match.group(1)))
    policy = re.sub(r"^gpufabric_(\w+)_nl_policy$", r"\1", fields.get("policy", "nothing"))
    hooks = ", ".join((["ADMIN"] if "pre_doit" in fields else []) +
                      [f".{hook}\0=\0{fields[hook]}" for hook in ("doit", "dumpit") if hook in fields])
    line = (f"OP({fields['cmd'].removeprefix('GPUFABRIC_CMD_')}, {policy}, "
            f"{fields['flags'].removeprefix('GENL_CMD_CAP_')}, {hooks}),")
    return "\t" + "\n\t   ".join(textwrap.wrap(line, COLUMNS - 8 - 3)).replace("\0", " ") + "\n"


def unwrap(match):
    """A prototype on one line, where it fits."""
    line = re.sub(r"\n\s+", " ", match.group(0))
    return line if len(line) <= COLUMNS else match.group(0)


RANGE = re.compile(r"(?P<comment>)static struct netlink_range_validation (?P<name>\w+) = \{(?P<body>.*?)\n\};\n\n", re.S)
POLICY = re.compile(r"(?P<comment>/\* GPUFABRIC_CMD_\w+ - \w+ \*/\n)static const struct nla_policy (?P<name>\w+)"
                    r"(?P<body>\[[^\n]* \+ 1\] = \{.*?\n\};\n\n)", re.S)

ENTRY = re.compile(r"\[GPUFABRIC_A_(\w+)\] = (.*),$", re.M)

NOTHING = """/* Of a command without attributes: without a policy it would take any */
static const struct nla_policy gpufabric_nothing_nl_policy[2] = { [1] = { .type = NLA_REJECT } };

"""

MACRO = r"""/* What a command takes */
#define POLICY(_name, _last, _attrs...)					\
	static const struct nla_policy					\
	gpufabric_##_name##_nl_policy[GPUFABRIC_A_##_last + 1] = { _attrs }

"""

TABLE = "/* Ops table for gpufabric */\nconst struct"
OP = r"""#define OP(_cmd, _policy, _cap, _hooks...) {				\
	.cmd = GPUFABRIC_CMD_##_cmd,					\
	.policy = gpufabric_##_policy##_nl_policy,			\
	.maxattr = ARRAY_SIZE(gpufabric_##_policy##_nl_policy) - 1,	\
	.flags = GENL_CMD_CAP_##_cap,					\
	_hooks								\
}

#define ADMIN .pre_doit = gpufabric_nl_admin_doit

"""

# The hook knows by the command what to do.
HOOKS = {
    r"\w+_get_doit": "get_doit",
    r"\w+_dumpit": "dumpit",
    r"(drain|drain_abort|clear|attach|detach|compose|resize|release)_doit": "change_doit",
}


def once(text, prototype):
    """Leave the first of prototypes that have become the same."""
    before, found, after = text.partition(prototype)
    return before + found + after.replace(prototype, "")


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = RANGE.sub(line_of, share(merge(merge(text, RANGE), POLICY)))
    text = text.replace("\n/* Common", "\n\n/* Common").replace("\n\n\n", "\n\n")
    for old, new in HOOKS.items():
        text = re.sub(rf"\bgpufabric_nl_{old}\b", f"gpufabric_nl_{new}", text)
    text = re.sub(r"\t\{\n(\t\t\.cmd.*?)\n\t\},\n", row, text, flags=re.S)
    text = text.replace(TABLE, OP + TABLE)
    text = re.sub(r"^int [^;]*\n[^;]*;$", unwrap, text, flags=re.M)
    for prototype in set(re.findall(r"^int [^;\n]*;\n", text, re.M)):
        text = once(text, prototype)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


main()
