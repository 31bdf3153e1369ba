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
        comment, name, body = match.group("comment") or "", match.group("name"), match.group("body")
        if body not in kept:
            kept[body] = (name, [comment])
            return match.group(0)
        renamed[name] = kept[body][0]
        kept[body][1].append(comment)
        return ""

    text = table.sub(one, text)
    for old, new in renamed.items():
        text = re.sub(rf"\b{old}\b", new, text)
    for _, comments in kept.values():
        if len(comments) > 1 and comments[0]:
            users = ", ".join(re.sub(r"^/\* (.*) \*/\n$", r"\1", c) for c in comments)
            lines = textwrap.wrap(users, COLUMNS - 3)
            text = text.replace(comments[0], "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n")
    return text


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
        head, entries, end = re.fullmatch(r"(\[.*? \+ 1\] = \{\n)(.*?)(\n\};\n\n)", match.group("body"), re.S).groups()
        entries = [attr if attr in shared else f"[GPUFABRIC_A_{attr}]\0=\0{rule}".replace(" ", "\0")
                   for attr, rule in ENTRY.findall(entries)]
        lines = textwrap.wrap(", ".join(entries) + ",", COLUMNS - 8, break_long_words=False)
        body = "\n".join(f"\t{line}" for line in lines).replace("\0", " ")
        return f"{match.group('comment')}static const struct nla_policy {match.group('name')}{head}{body}{end}"

    first = next(POLICY.finditer(text), None)
    if not first:
        return text
    defined = "".join(f"#define {attr} [GPUFABRIC_A_{attr}] = {rule}\n" for attr, rule in shared.items())
    return (text[:first.start()] + "/* Attributes that more than one command takes */\n" + defined + "\n" + NOTHING +
            POLICY.sub(table, text[first.start():]))


def row(match):
    """An operation as a line of the table."""
    fields = dict(re.findall(r"\.(\w+)\s*= ([^,]*),", match.group(1)))
    policy = re.sub(r"^gpufabric_(\w+)_nl_policy$", r"\1", fields.get("policy", "nothing"))
    hooks = ", ".join(f".{hook}\0=\0{fields[hook]}" for hook in ("pre_doit", "doit", "dumpit") if hook in fields)
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

TABLE = "/* Ops table for gpufabric */\nconst struct"
OP = r"""#define OP(_cmd, _policy, _cap, _hooks...) {				\
	.cmd = GPUFABRIC_CMD_##_cmd,					\
	.policy = gpufabric_##_policy##_nl_policy,			\
	.maxattr = ARRAY_SIZE(gpufabric_##_policy##_nl_policy) - 1,	\
	.flags = GENL_CMD_CAP_##_cap,					\
	_hooks								\
}

"""

# The hook knows by the command what to do.
HOOKS = {
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
    text = share(merge(merge(text, RANGE), POLICY))
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
