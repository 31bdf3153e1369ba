#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checksums of C files and shell scripts with all that they include from this tree.

    tests/checksums.py FILE...

Prints what sha256sum prints, but a file's sum changes with its headers, too: what a tool
has found about a file holds until then. Includes are looked for as `cc -I. -Iuapi -Ictl`
and `shellcheck -P SCRIPTDIR -P . -P tests` do from the top; those that are not in the tree
belong to the tool's own version.
"""
import functools
import hashlib
import os
import re
import sys

C_FOLDERS = (".", "uapi", "ctl")
C_INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
SHELL_FOLDERS = (".", "tests")
# A variable at the beginning of a path is left out, as shellcheck does.
SHELL_INCLUDE = re.compile(rb'^\s*(?:# shellcheck source=|\.\s+)"?(?:\$\w+/)?([\w./-]+)', re.M)


@functools.cache
def text(path):
    with open(path, "rb") as file:
        return file.read()


@functools.cache
def included(path):
    """The files of the tree that a file names itself."""
    in_c = path.endswith((".c", ".h"))
    found = []
    for name in (C_INCLUDE if in_c else SHELL_INCLUDE).findall(text(path)):
        for folder in (os.path.dirname(path) or ".", *(C_FOLDERS if in_c else SHELL_FOLDERS)):
            candidate = os.path.normpath(os.path.join(folder, name.decode()))
            if os.path.isfile(candidate):
                found.append(candidate)
                break
    return tuple(found)


def closure(path):
    seen = set()
    wanted = [os.path.normpath(path)]
    while wanted:
        path = wanted.pop()
        if path not in seen:
            seen.add(path)
            wanted.extend(included(path))
    return sorted(seen)


def checksum(path):
    digest = hashlib.sha256()
    for part in closure(path):
        digest.update(f"{part}\0{len(text(part))}\0".encode())
        digest.update(text(part))
    return digest.hexdigest()


for name in sys.argv[1:]:
    print(f"{checksum(name)}  {name}")
