# SPDX-License-Identifier: GPL-2.0-only
"""What gpuctl kubernetes prints, as objects."""

import os
import subprocess

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPUCTL = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "gpuctl")
ENVIRONMENT = dict(os.environ, GPUCTL_DATA_DIR=os.path.join(TOP, "ctl/catalogue"), GPUCTL_CONFIG_DIR="/etc/gpuctl")


def gpuctl(*words):
    return subprocess.run([GPUCTL, *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def objects(*words):
    return list(yaml.safe_load_all(gpuctl("kubernetes", *words).stdout))


def rights():
    """(verb, group, resource) that the roles give."""
    return {(verb, group, resource) for one in objects("install") if one["kind"] in ("ClusterRole", "Role")
            for rule in one["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
            for verb in rule["verbs"]}
