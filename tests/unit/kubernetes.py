#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl dra
"""
gpuctl kubernetes: templates for claims have the number that gpuctl size gives, and the manifests go together with
the driver's command line, with each other, and with those of docs/kubernetes.md.
"""

import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests/dra"), os.path.join(TOP, "tests")]
# pylint: disable=wrong-import-position
import yaml
from manifests import gpuctl, objects
from tap import Report
from types_of_api import wrong

DRIVER = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "gpufabric-dra")


def claims():
    for model, words in (("llama-3.1-70b", ("--gpu", "h100-pcie-80")), ("llama-3.1-8b", ("--gpu", "h200-nvl")),
                         ("llama-3.1-70b", ())):
        template = objects("claim", model, *words)[0]
        rows = json.loads(gpuctl("-j", "size", model, *words).stdout)["fits"]
        request = template["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        Report.same(wrong(template), None, f"{model} {' '.join(words)}: a template as the API has it", template)
        Report.same((request["count"], request["selectors"][0]["cel"]["expression"]),
                    (rows[0]["gpus"], f'device.attributes["gpufabric.io"].kind == "{rows[0]["gpu"]}"'),
                    "with the number and kind that gpuctl size has first")
        Report.ok(f"{model} on {rows[0]['gpus']} x {rows[0]['gpu_name']}" in gpuctl("kubernetes", "claim", model, *words).stdout.splitlines()[0],
                  "and a comment that says how it came about")
        as_json = json.loads(gpuctl("-j", "kubernetes", "claim", model, *words).stdout)["claim"]
        Report.same((list(yaml.safe_load_all(as_json["manifest"])), as_json["gpus"]), ([template], rows[0]["gpus"]), "JSON has the same")
    Report.same(objects("claim", "llama-3.1-8b", "--name", "my model!")[0]["metadata"]["name"], "my-model", "a name is made one")
    said = gpuctl("kubernetes", "claim", "--params", "4000B", "--gpu", "a40")
    Report.ok(said.returncode == 3 and "a claim can have 32" in said.stderr, "more than a claim can have", said)
    said = gpuctl("kubernetes", "claim", "no-such-model")
    Report.ok(said.returncode == 2 and said.stdout == "", "an unknown model", said)
    Report.same(objects("claim", "llama-3.1-8b", "--name", "x: {y}\n- z")[0]["metadata"]["name"], "x-y-z", "no name is more than a name")


def install():
    all_of_it = {one["kind"]: one for one in objects("install", "-o", "yaml")}
    Report.same(sorted(all_of_it), ["ClusterRole", "ClusterRoleBinding", "DaemonSet", "DeviceClass", "Namespace", "Role",
                                    "RoleBinding", "ServiceAccount"], "all that the driver needs")
    Report.same(wrong(all_of_it["DeviceClass"]), None, "a DeviceClass as the API has it")
    pod = all_of_it["DaemonSet"]["spec"]["template"]["spec"]
    driver = pod["containers"][0]
    needs_host = pod.get("hostPID") or any("hostPath" in volume for volume in pod["volumes"])
    Report.same(needs_host and all_of_it["Namespace"]["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce"), "privileged",
                "a cluster whose default for pods is stricter takes them")
    Report.ok("hostNetwork" not in pod and "privileged" not in driver["securityContext"], "no host network, not privileged", pod)
    Report.same(all_of_it["DaemonSet"]["spec"]["selector"]["matchLabels"],
                all_of_it["DaemonSet"]["spec"]["template"]["metadata"]["labels"], "the DaemonSet finds its pods")
    said = subprocess.run([DRIVER, "--node", "n", *driver["command"][1:], "--server", "http://x", "--ca", "/x", "--token", "/x"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, PATH=os.path.dirname(DRIVER)))
    Report.ok(said.returncode == 1 and "no https:// URL" in said.stderr, "the driver takes this command line", said)
    ends_in = driver.get("terminationMessagePath", "/dev/termination-log")
    Report.same([mount["mountPath"] for mount in driver["volumeMounts"] if mount.get("readOnly") and ends_in.startswith(mount["mountPath"] + "/")],
                [], "the file for its last words is in no volume that cannot be written, where it could not be made")
    Report.same({mount["name"] for mount in driver["volumeMounts"]}, {volume["name"] for volume in pod["volumes"]},
                "each volume is mounted")
    text = gpuctl("kubernetes", "install", "--namespace", "other", "--image", "registry/dra:1", "--kubelet-dir", "/data/kubelet").stdout
    Report.ok("{" not in re.sub(r"#.*", "", text) and "namespace: other" in text and "image: registry/dra:1" in text
              and "/data/kubelet/plugins_registry" in text and "/var/lib/kubelet" not in text, "options are in it", text)
    for words in (("--kubelet-dir", "relative"), ("--image", "a\nb: c"), ("--namespace", ""), ("--image", "{x}"), ("-o", "json")):
        said = gpuctl("kubernetes", "install", *words)
        Report.ok(said.returncode == 2 and not said.stdout, f"refused: {words}", said)


def documented():
    """The objects of docs/kubernetes.md are as the API has them, and ask for what is there."""
    with open(os.path.join(TOP, "docs/kubernetes.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
    found = [one for block in blocks for one in yaml.safe_load_all(block)]
    kinds = [one["kind"] for one in found]
    Report.ok(kinds.count("Pod") >= 2 and "ResourceClaimTemplate" in kinds, "the page has examples", kinds)
    for one in found:
        Report.same(wrong(one), None, f"{one['kind']} {one['metadata']['name']} is as the API has it", one)
    names = {one["metadata"]["name"] for one in found}
    for pod in (one for one in found if one["kind"] in ("Pod", "Job")):
        spec = pod["spec"] if pod["kind"] == "Pod" else pod["spec"]["template"]["spec"]
        wanted = {claim["name"]: claim.get("resourceClaimTemplateName") or claim["resourceClaimName"] for claim in spec["resourceClaims"]}
        used = {claim["name"] for container in spec["containers"] for claim in container["resources"]["claims"]}
        Report.ok(set(wanted.values()) <= names and used == set(wanted), f"{pod['metadata']['name']} asks for what is there", wanted, used)


def main():
    claims()
    install()
    documented()
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
