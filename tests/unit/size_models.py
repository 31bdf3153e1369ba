#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s build/size-models gpuctl
"""
Models of today: configurations are written from a table of facts, and what is made of
them is held against published parameters, bytes of checkpoints, and caches.
"""

import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(TOP, "tests/data/models")
# whose words no family has: what they are is read from their keys
STRANGERS = ["Ministral-3-3B-around-its-text-model", "Qwen3-ASR-under-a-new-word", "grok-2"]


def put(config, path, value):
    *outer, last = path.split(".")
    for name in outer:
        config = config.setdefault(name, {})
    config[last] = value


def read_models():
    configs = {}
    with open(os.path.join(DATA, "facts.tsv"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            model, path, value = line.rstrip("\n").split("\t")
            put(configs.setdefault(model, {}), path, json.loads(value))
    return configs


def write_models(folder):
    configs = read_models()
    for model, config in configs.items():
        os.makedirs(os.path.join(folder, model))
        with open(os.path.join(folder, model, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
    with open(os.path.join(DATA, "models.csv"), encoding="utf-8") as file:
        table = file.read()
    with open(os.path.join(folder, "models.csv"), "w", encoding="utf-8") as file:
        file.write(table)
    return len(configs)


def strangers(folder):
    """Models whose architecture is said not to be known."""
    found = []
    for model in sorted(read_models()):
        said = subprocess.run([os.path.join(TOP, "build/gpuctl"), "--json", "size",
                               os.path.join(folder, model)],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        if any("is not known" in text for text in json.loads(said)["remarks"]):
            found.append(model)
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        written = write_models(folder)
        unknown = strangers(folder)
        said = subprocess.run([os.path.join(TOP, "build/size-models"), folder,
                               os.path.join(TOP, "ctl/catalogue")],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = said.splitlines()
    last = json.loads(lines[-1])
    for line in lines:
        if "WRONG" in line or "refused" in line or line.startswith("    "):
            print("#", line)
    checks = [(last["of"] == written, f"{written} models"),
              (last["sized"] == written, "all are sized"),
              (last["params_within_1pct"] == written, "parameters within 1 %"),
              (last["kv_exact"] == written, "caches, windows and states to the byte"),
              (unknown == STRANGERS, f"not known by their words: {', '.join(unknown)}"),
              (lines[-2].startswith("weights within 1 %: 11 of the 11"), lines[-2])]
    for number, (good, text) in enumerate(checks, 1):
        print("ok" if good else "not ok", number, "-", text)
    print(f"# count size.models {written}")
    print(f"1..{len(checks)}")
    return not all(good for good, _ in checks)


if __name__ == "__main__":
    sys.exit(main())
