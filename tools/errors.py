#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every refusal of the module, from its source, with the tests that provoke it.

  tools/errors.py [-t TREE] -o FILE   the table, a document (uapi/errors.md)
  tools/errors.py [-t TREE]           TAP: each refusal has a test, or fails

A refusal is a place that gives a request an errno and a text (extended ack).
Which commands lead there follows from which functions mention which. A test
provokes a refusal when it expects that errno with that text from one of those
commands: the same sentence at two places needs two tests.
"""
import argparse
import collections
import pathlib
import re
import sys

# What no client can bring about, and why the code is there all the same.
UNREACHABLE = {
    "the slot is changing state, try again":
        "a slot changes its state only while an operation is under way on it, and that is refused first",
}

# What gives a request a text; whether it comes back as a value, or the errno is beside it.
REFUSING = re.compile(r"\b(NL_SET_ERR_MSG\w*|GENL_SET_ERR_MSG\w*|NL_SET_BAD_ATTR\w*|gf_refuse|"
                      r"refuse)\s*\(|\*why\s*=(?!=)|->_msg\s*=(?!=)")
# Those that hand on the text of their caller.
HANDS_ON = {"refuse", "gf_refuse", "gf_pick_judge"}

Refusal = collections.namedtuple("Refusal", "file function errno text commands")
Expectation = collections.namedtuple("Expectation", "errno text commands where")


class Unreadable(Exception):
    """Source that is not written as this program knows it."""


def without_comments(text):
    """The same text with comments blanked; offsets stay."""
    def blank(match):
        found = match.group(0)
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*',
                  blank, text, flags=re.S)


def closing(text, opening):
    """Offset of the bracket that closes the one at @opening."""
    depth = 0
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[()\[\]{}]').finditer(text, opening):
        found = match.group(0)
        if found in ("(", "[", "{"):
            depth += 1
        elif found in (")", "]", "}"):
            depth -= 1
            if not depth:
                return match.start()
    raise Unreadable("a bracket is not closed")


def arguments(text, opening):
    """The arguments between the bracket at @opening and its end."""
    parts, start, depth = [], opening + 1, 0
    end = closing(text, opening)
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[()\[\]{},]').finditer(
            text, opening + 1, end):
        found = match.group(0)
        if found in ("(", "[", "{"):
            depth += 1
        elif found in (")", "]", "}"):
            depth -= 1
        elif found == "," and not depth:
            parts.append(text[start:match.start()].strip())
            start = match.end()
    parts.append(text[start:end].strip())
    return parts


def literal(expression):
    """The text of a string literal, or None."""
    pieces = re.fullmatch(r'\s*((?:"(?:\\.|[^"\\\n])*"\s*)+)', expression)
    if not pieces:
        return None
    return "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', pieces.group(1))).replace('\\"', '"')


def functions(text):
    """(name, body) of each function, by its brace in the first column."""
    for match in re.finditer(r"^(?!static (?:const )?struct \w+ \w+ ?=)([A-Za-z_][^;{}=#\"]*?)\n\{", text, re.M):
        head = match.group(1)
        macro = re.match(r"(TEST\w*|FIXTURE\w*)\((.*)\)\s*$", head, re.S)
        if macro:
            name = re.sub(r"\s*,\s*", ".", macro.group(2))
        else:
            found = re.search(r"(\w+)\s*\(", head)
            if not found:
                continue
            name = found.group(1)
        brace = match.end() - 1
        yield name, text[brace:closing(text, brace) + 1]


def errno_beside(body, start, end):
    """The errno that a refusal without one of its own is followed by."""
    found = re.match(r"\s*;\s*(?:\}\s*)?(?:return|\w+ =)\s*(?:ERR_PTR\()?-(E[A-Z0-9]+)\)?\s*;", body[end:])
    if not found:
        raise Unreadable(f"no errno follows: {' '.join(body[start:end].split())}")
    return found.group(1)


def refusals_of(name, body):
    """(errno, text) of each refusal in a function."""
    for match in REFUSING.finditer(body):
        if match.group(0).endswith("("):
            opening = match.end() - 1
            end = closing(body, opening) + 1
            given = arguments(body, opening)
            text = literal(given[-1])
        else:
            end = body.index(";", match.end())
            given = [body[match.end():end]]
            text = literal(given[0])
        if text is None:
            if name in HANDS_ON:
                continue
            raise Unreadable(f"not a constant text: {' '.join(body[match.start():end].split())}")
        if "%" in text:
            raise Unreadable(f"a text with a format is in no table: {text}")
        errno = next((part[1:] for part in given if re.fullmatch(r"-E[A-Z0-9]+", part)), None)
        yield errno or errno_beside(body, match.start(), end), text


def mentions(body, names):
    """Functions that a body calls or passes on; a comparison is neither."""
    body = re.sub(r"[=!]=\s*\w+", "", body)
    return {word for word in re.findall(r"\b[a-z_]\w*", body) if word in names}


def read_module(tree):
    """All refusals, in the order of the source."""
    bodies, where = {}, {}
    hooks, rows = {}, {}
    for path in sorted((tree / "kmod").glob("*.c")):
        text = without_comments(path.read_text())
        hooks.update(re.findall(r"\bOP\((\w+),[^()]*\.doit = (\w+)\)", text))
        # What a hook does for one of its commands stands in a table.
        for command, row in re.findall(r"\[GPUFABRIC_CMD_(\w+)\] = \{([^{}]*)\}", text):
            rows[command] = rows.get(command, "") + row
        for name, body in functions(text):
            # Helpers of the same name in two files would hide one another.
            if name in bodies and any(list(refusals_of(name, one)) for one in (body, bodies[name])):
                raise Unreadable(f"{path.name}: {name} is a name that another file has too")
            bodies[name] = body
            where[name] = path.name
    calls = {name: mentions(body, bodies) for name, body in bodies.items()}
    commands = collections.defaultdict(set)
    changing = set()
    for command, hook in hooks.items():
        if not command.endswith("_GET"):
            changing.add(command)
        todo = [hook, *mentions(rows.get(command, ""), bodies)]
        while todo:
            at = todo.pop()
            if command not in commands[at]:
                commands[at].add(command)
                todo += calls[at]
    # The one judge that stands before all that change something.
    commands["gpufabric_nl_admin_doit"] = changing
    found = []
    for name, body in bodies.items():
        for errno, text in refusals_of(name, body):
            if not commands[name]:
                raise Unreadable(f"{where[name]}: no command leads to {name}")
            found.append(Refusal(where[name], name, errno, text, frozenset(commands[name])))
    return found


def constants(text):
    """Texts that a test gives a name."""
    named = dict(re.findall(r'^#define (\w+) "((?:\\.|[^"\\\n])*)"$', text, re.M))
    named.update(re.findall(r'\bchar (\w+)\[\] = "((?:\\.|[^"\\\n])*)";', text))
    return named


def commands_in(text, helpers):
    """Commands that an expression names, itself or through a helper."""
    found = set(re.findall(r"\bGPUFABRIC_CMD_([A-Z_]+)\b", text))
    for name in re.findall(r"\b([a-z_]\w*)\s*\(", text):
        found |= helpers.get(name, set())
    return found


def read_selftests(tree):
    """What the self tests expect to be refused."""
    shared = {}
    folder = tree / "tests" / "selftests"
    for path in sorted(folder.glob("*.c")):
        if path.name.endswith("_test.c"):
            continue
        for name, body in functions(without_comments(path.read_text())):
            shared[name] = commands_in(body, {})
    for path in sorted(folder.glob("*_test.c")):
        text = without_comments(path.read_text())
        named = constants(text)  # of the file; those of a function come first
        helpers = dict(shared)
        for name, body in functions(text):
            helpers[name] = commands_in(body, shared)
        for name, body in functions(text):
            for match in re.finditer(r"\bEXPECT_REFUSED\s*\(", body):
                given = arguments(body, match.end() - 1)
                text_of = literal(given[-1]) or constants(body).get(given[-1]) or named.get(given[-1])
                if len(given) != 3 or not text_of:
                    raise Unreadable(f"{path.name}: {' '.join(body[match.start():][:80].split())}")
                commands = commands_in(given[0], helpers) or commands_in(body, helpers)
                if not commands:
                    commands = commands_in(text, {})
                yield Expectation(given[1], text_of, commands, f"{path.stem} {name}")


def read_cases(tree):
    """The cases of the virtual machines, whole."""
    return [(f"vm/cases/{path.name}", path.read_text())
            for path in sorted((tree / "tests" / "vm" / "cases").glob("*.sh"))]


def provoked_by(refusal, expectations, cases):
    """The tests of a refusal, those first that see the errno."""
    tests = [one.where for one in expectations
             if (one.errno, one.text) == (refusal.errno, refusal.text) and one.commands & refusal.commands]
    # A case names one of the commands beside the text, on one line or the two around.
    for name, text in cases:
        lines = text.splitlines()
        for i, line in enumerate(lines):
            near = " ".join(lines[max(i - 1, 0):i + 2]).replace("-", "_").upper()
            if refusal.text in line and any(re.search(rf"\b{c.removesuffix('_GET')}\b", near) for c in refusal.commands):
                tests.append(name)
                break
    return list(dict.fromkeys(tests))


def document(refusals, tests):
    """The table, as it is published."""
    lines = [
        "<!-- Generated by tools/errors.py from kmod/*.c: do not edit, run make gen. -->",
        "# Refusals",
        "",
        "A request is carried out whole or refused whole. A refusal is an errno with a text (extended ack) that says why",
        "and what to do about it; the attribute that it is about comes with it where there is one. This is every one that the",
        "module has. The kernel's own come before them: an attribute that the policy does not allow, a family that is not",
        "there. *provoked by* names tests that bring it about and compare errno and text, at most three: a test of",
        "`tests/selftests`, or a script in `tests/`.",
        "",
        "| errno | text | commands | where | provoked by |",
        "| --- | --- | --- | --- | --- |",
    ]
    for refusal in refusals:
        by = ", ".join(f"`{test}`" for test in tests[refusal][:3])
        if not by:
            by = f"nothing: {UNREACHABLE[refusal.text]}" if refusal.text in UNREACHABLE else "**no test**"
        names = ", ".join(sorted(command.lower().replace("_", "-") for command in refusal.commands))
        lines.append(f"| {refusal.errno} | {refusal.text} | {names} | `{refusal.file}` `{refusal.function}` | {by} |")
    return "\n".join(lines) + "\n"


def report(refusals, tests):
    """TAP: a line for each refusal. Returns how many have failed."""
    failed = 0
    provoked = 0
    for number, refusal in enumerate(refusals, 1):
        what = f"{refusal.errno} from {refusal.file} {refusal.function}: {refusal.text}"
        if tests[refusal] and refusal.text in UNREACHABLE:
            failed += 1
            print(f"not ok {number} - {what}\n#   can be provoked after all, by {tests[refusal][0]}")
        elif tests[refusal]:
            provoked += 1
            print(f"ok {number} - {what}")
        elif refusal.text in UNREACHABLE:
            print(f"ok {number} - {what} # SKIP cannot be provoked")
        else:
            failed += 1
            print(f"not ok {number} - {what}\n#   no test expects this of "
                  f"{', '.join(sorted(refusal.commands))}")
    print(f"# count errors.module {len(refusals)}")
    print(f"# count errors.provoked {provoked}")
    print(f"1..{len(refusals)}")
    return failed


def main():
    """Read, then write the table or judge it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", dest="tree", default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("-o", dest="output")
    options = parser.parse_args()
    tree = pathlib.Path(options.tree)
    try:
        refusals = list(dict.fromkeys(read_module(tree)))
        expectations = list(read_selftests(tree))
    except Unreadable as error:
        sys.exit(f"errors: {error}")
    cases = read_cases(tree)
    tests = {refusal: provoked_by(refusal, expectations, cases) for refusal in refusals}
    if options.output:
        pathlib.Path(options.output).write_text(document(refusals, tests))
    else:
        sys.exit(1 if report(refusals, tests) or not refusals else 0)


if __name__ == "__main__":
    main()
