#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the rooms of the tool look downwards only?

    tests/rooms.py [DIRECTORY]      default: ctl

A file may include what is in its own room and in those before it in the list; so there is
no cycle between rooms, and what a room needs is read off the list. Files of the folder
itself (main.c) are above all rooms. Prints each include that climbs; exits with 1 then.
"""
import os
import re
import sys

# From the ground up. The only place that says the order.
ROOMS = (
    "base",            # texts, memory, files, programs: knows nothing of GPUs
    "cli",             # command lines, the context of a run, output
    "catalogue",       # kinds of GPUs, models, engines
    "module",          # what speaks to the kernel module
    "host",            # what this Linux says
    "session",         # module, identities and judge of one run
    "managers",        # what speaks to fabric managers
    "size",            # what a model needs
    "web",             # HTTPS requests, for the programs below
    "driver",          # what programs that speak to fabric managers have in common
    "redfish",         # a program of its own: fabric managers that speak Redfish
    "liqid",           # a program of its own: fabric managers that speak Liqid's REST
    "hub",             # a program of its own: models of the Hugging Face Hub
    "probe",           # a program of its own: what servers and NVML say of load
    "choose",          # which slots
    "op",              # operations: from the request to the last hook
    "publish",         # what others are told
    "plan/solver",     # the planner's search
    "plan",            # demand, moves and their execution
    "plan/replay",     # the laboratory of policies
    "sense",           # what workloads use: sensors, and the demand that follows
    "slurm",           # Slurm's configuration: reading and judging it
    "doctor",          # can this host do it
    "top",             # the live screen
    "cmd",             # one verb a file
    "tool",            # wires and unwinds
    "screen",          # a program of its own: gpuctl with a terminal to draw on
)

# What not every room above may know, with those that may.
PRIVATE = {
    "cli/given.h": ("cli", "cmd"),     # the words of a command line end in cmd
}


def includes(path):
    """The quoted includes of a file with their line numbers."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            found = re.match(r'#include "([^"]+)"', line)
            if found:
                yield number, found[1]


def faults(top):
    """What is wrong below a folder: a line for each."""
    for folder, _, names in sorted(os.walk(top)):
        room = os.path.relpath(folder, top)
        sources = sorted(name for name in names if name.endswith((".c", ".h")))
        if room != "." and sources and room not in ROOMS:
            yield f"{folder}: no room of the list in tests/rooms.py"
            continue
        for name in sources:
            path = os.path.join(folder, name)
            for number, other in includes(path):
                beside = os.path.exists(os.path.join(folder, other))
                if room == "." or (beside and other not in PRIVATE) or not os.path.exists(os.path.join(top, other)):
                    continue
                other_room = os.path.dirname(other)
                if other_room not in ROOMS:
                    yield f"{path}:{number}: {other} is in no room"
                elif room not in PRIVATE.get(other, (room,)):
                    yield f"{path}:{number}: {other} is for {' and '.join(PRIVATE[other])} alone"
                elif ROOMS.index(other_room) > ROOMS.index(room):
                    yield f"{path}:{number}: {room} may not know {other}, which is above it"


def main():
    found = list(faults(sys.argv[1] if len(sys.argv) > 1 else "ctl"))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
