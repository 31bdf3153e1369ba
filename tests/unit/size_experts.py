#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
Models with experts whose file does not say how wide an expert is: the width is taken out
of published configurations, and what is made of them is held against the whole file.
"""

import json
import os
import subprocess
import sys
import tempfile

from size_models import TOP, read_models

GPUCTL = os.path.join(TOP, "build/gpuctl")
WIDTH = "moe_intermediate_size"


def estimate(folder, name, config):
    path = os.path.join(folder, name)
    os.makedirs(path)
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    said = subprocess.run([GPUCTL, "--json", "size", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return json.loads(said.stdout) if not said.returncode else None


def part_with_width(config):
    """The part of the file that has experts beside dense layers, by their two widths."""
    for part in (config, config.get("text_config"), config.get("language_config")):
        if part and isinstance(part.get(WIDTH), int) and part.get("intermediate_size"):
            return part
    return None


def device(said, key):
    return next(row[key + "_bytes"] for row in said["memory"] if row["memory"] == "device")


def remarks(said):
    return [text for text in said["remarks"] if "width of an expert" in text]


class Checks:
    def __init__(self):
        self.count = self.failed = 0

    def ok(self, good, text):
        self.count += 1
        self.failed += not good
        print("ok" if good else "not ok", self.count, "-", text)


def published(checks, folder):
    judged = exact = 0
    for name, config in read_models().items():
        part = part_with_width(config)
        whole = estimate(folder, name, config) if part else None
        if not whole:
            continue
        del part[WIDTH]
        said = estimate(folder, name + "-without", config)
        if not said or not remarks(said):
            continue
        ratio = said["parameters"] / whole["parameters"]
        judged += 1
        exact += abs(ratio - 1) < 0.05
        if not 0.4 < ratio < 2 or device(said, "p95") < device(whole, "p50"):
            checks.ok(False, f"{name}: {ratio:.2f} of its parameters")
        if remarks(whole):
            checks.ok(False, f"{name} says how wide its experts are")
    checks.ok(judged > 15, f"{judged} models without the width of their experts")
    checks.ok(exact > 0.55 * judged, f"{exact} of them are within 5 % all the same")


def single(checks, folder):
    """Where the one width is that of an expert, nothing is guessed."""
    config = {"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
              "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
              "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2}
    said = estimate(folder, "mixtral", config)
    checks.ok(said["parameters"] == 46702792704 and not remarks(said), "Mixtral has one width")
    said = estimate(folder, "unknown", dict(config, model_type="nobodys"))
    checks.ok(said["parameters"] == 46702792704 and len(remarks(said)) == 1,
              "few experts of an unknown model are as wide as its MLP, which is said")
    said = estimate(folder, "many", dict(config, model_type="nobodys", num_local_experts=64,
                                         num_experts_per_tok=8))
    checks.ok(said["parameters"] < 60e9 and "1792 wide" in remarks(said)[0],
              "those that a token visits of many are as wide together")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        published(checks, folder)
        single(checks, folder)
    print(f"1..{checks.count}")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
