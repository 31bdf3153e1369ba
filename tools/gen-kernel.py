#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shortens what the kernel's generator wrote: equal tables are one, dumps have one hook, and lines are filled.

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


def fill(match):
    """An operation on as many lines as it needs."""
    fields = [re.sub(r"\s+", " ", field.strip()) for field in match.group(1).strip().rstrip(",").split(",\n")]
    # Tabs count 8.
    lines = textwrap.wrap(", ".join(f.replace(" ", "\0") for f in fields), COLUMNS - 8 - 5, break_long_words=False)
    return "\t{ " + "\n\t  ".join(lines).replace("\0", " ") + " },\n"


def unwrap(match):
    """A prototype on one line, where it fits."""
    line = re.sub(r"\n\s+", " ", match.group(0))
    return line if len(line) <= COLUMNS else match.group(0)


RANGE = re.compile(r"(?P<comment>)static struct netlink_range_validation (?P<name>\w+) = \{(?P<body>.*?)\n\};\n\n", re.S)
POLICY = re.compile(r"(?P<comment>/\* GPUFABRIC_CMD_\w+ - \w+ \*/\n)static const struct nla_policy (?P<name>\w+)"
                    r"(?P<body>\[[^\n]* \+ 1\] = \{.*?\n\};\n\n)", re.S)

DUMPIT = "int gpufabric_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb);\n"


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = merge(merge(text, RANGE), POLICY)
    # One hook knows by the command what to dump.
    text = re.sub(r"\bgpufabric_nl_\w+_dumpit\b", "gpufabric_nl_dumpit", text)
    text = re.sub(r"\t\{\n(\t\t\.cmd.*?)\n\t\},\n", fill, text, flags=re.S)
    text = re.sub(r"^int [^;]*\n[^;]*;$", unwrap, text, flags=re.M)
    before, prototype, after = text.partition(DUMPIT)
    text = before + prototype + after.replace(DUMPIT, "")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


main()
