#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""How many lines ran: what gcov counted in several runs, added up.

  tests/coverage.py DATA NOTES [-l FILE...]
  tests/coverage.py DATA NOTES -w FILE

DATA holds a directory for each run, with .gcda files below the absolute path
of their object. NOTES is the directory of the tool's objects, whose .gcno files
say which lines there are at all. Prints per directory and file, with -l the
lines of these files that never ran. -w writes which cases ran each line of the module, as JSON, from
which tests/mutants chooses.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
PARTS = ("ctl", "kmod")


def name_of(path, directory):
    """A source's name in the tree, None when it is none of ours."""
    full = os.path.normpath(os.path.join(directory, path))
    # Modules are built in a copy of the tree.
    tail = full.rpartition("/src/")[2] if "/src/kmod/" in full else os.path.relpath(full, TOP)
    if tail.split("/")[0] not in PARTS or not (TOP / tail).exists() or tail.endswith("netlink_gen.c"):
        return None
    return tail


def gcov(files, lines, functions=None):
    """Add to @lines what some files say; they lie beside their notes.

    @functions gets the name of the function that each line is in.
    """
    for start in range(0, len(files), 40):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *files[start:start + 40]],
                              cwd=files[0].parent, capture_output=True, text=True, check=False)
        for text in done.stdout.splitlines():
            if not text.startswith("{"):
                continue
            answer = json.loads(text)
            for source in answer["files"]:
                name = name_of(source["file"], answer["current_working_directory"])
                if not name:
                    continue
                for line in source["lines"]:
                    lines[name][line["line_number"]] += line["count"]
                    if functions is not None:
                        functions[name][line["line_number"]] = line.get("function_name", "")


def read_run(run, work, lines, functions=None):
    """One run: every .gcda that has notes."""
    files = []
    for data in sorted(run.rglob("*.gcda")):
        notes = pathlib.Path("/", data.relative_to(run)).with_suffix(".gcno")
        if not notes.exists():
            continue
        at = work / str(len(files))
        at.mkdir()
        shutil.copy(data, at / data.name)
        shutil.copy(notes, at / notes.name)
        files.append(at / data.name)
    # A directory each, as equal names would meet otherwise.
    for path in files:
        gcov([path], lines, functions)
    return len(files)


def percent(hit, of):
    """For people."""
    return f"{100 * hit / of:5.1f} %" if of else "    - "


def report(lines, by_file):
    """Directories, their files when asked for, and the whole."""
    totals = collections.defaultdict(lambda: [0, 0])
    for name, counts in sorted(lines.items()):
        hit = sum(1 for count in counts.values() if count)
        whole = "module" if name.startswith("kmod/") and not name.startswith("kmod/sim/") else \
            "simulator" if name.startswith("kmod/") else "tool"
        for key in {os.path.dirname(name) + "/", whole} | ({name} if by_file else set()):
            totals[key][0] += hit
            totals[key][1] += len(counts)
    wholes = ("module", "simulator", "tool")
    for key in sorted(totals, key=lambda key: (key in wholes, key)):
        if key in wholes:
            continue
        hit, of = totals[key]
        indent = "  " if not key.endswith("/") else ""
        print(f"{percent(hit, of)}  {hit:5} of {of:5}  {indent}{key}")
    for key in wholes:
        if key in totals:
            hit, of = totals[key]
            print(f"{percent(hit, of)}  {hit:5} of {of:5}  the {key}")
    return {key: totals[key] for key in wholes if key in totals}


def uncovered(lines, wanted):
    """Lines that never ran, as they stand."""
    for name in wanted:
        text = (TOP / name).read_text().splitlines()
        for number, count in sorted(lines.get(name, {}).items()):
            if not count:
                print(f"{name}:{number}: {text[number - 1]}")


def who_ran(data):
    """Which cases ran each line of the module, and how long they took.

    A line goes by its function and its text: numbers change with every edit.
    """
    ran = collections.defaultdict(lambda: collections.defaultdict(set))
    seconds = {}
    for run in sorted(data.iterdir()):
        if (run / "seconds").exists():
            seconds[run.name] = int((run / "seconds").read_text())
        lines = collections.defaultdict(collections.Counter)
        functions = collections.defaultdict(dict)
        with tempfile.TemporaryDirectory() as work:
            read_run(run.resolve(), pathlib.Path(work), lines, functions)
        for name, counts in lines.items():
            if not name.startswith("kmod/"):
                continue
            text = (TOP / name).read_text().splitlines()
            for number, count in counts.items():
                cases = ran[name][f"{functions[name][number]}\t{text[number - 1].strip()}"]
                if count:
                    cases.add(run.name)
    return {"seconds": seconds,
            "ran": {name: {key: sorted(of) for key, of in keys.items()} for name, keys in ran.items()}}


def main():
    """Add up, report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("notes", type=pathlib.Path)
    parser.add_argument("-l", dest="list", nargs="*", default=[])
    parser.add_argument("-f", dest="by_file", action="store_true")
    parser.add_argument("-j", dest="json", type=pathlib.Path)
    parser.add_argument("-w", dest="who", type=pathlib.Path)
    options = parser.parse_args()
    if options.who:
        options.who.write_text(json.dumps(who_ran(options.data)) + "\n")
        return
    lines = collections.defaultdict(collections.Counter)
    for notes in sorted(options.notes.resolve().rglob("*.gcno")):
        with tempfile.TemporaryDirectory() as work:
            shutil.copy(notes, work)
            gcov([pathlib.Path(work, notes.name)], lines)
    for run in sorted(options.data.iterdir()):
        with tempfile.TemporaryDirectory() as work:
            read_run(run.resolve(), pathlib.Path(work), lines)
    if options.list:
        uncovered(lines, options.list)
        return
    totals = report(lines, options.by_file)
    if options.json:
        options.json.write_text(json.dumps(
            {key: {"lines": of, "run": hit} for key, (hit, of) in totals.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
