#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
job_submit.lua in Slurm's own daemons: however a job asks for GPUs, the licences that it takes are the GPUs that Slurm
gives it, or it is refused with the reason. unit/slurm_submit.sh has the cases that need no Slurm.
"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "slurm"))
# pylint: disable=wrong-import-position
from rig import BUILD, TOP, Cluster, Report, in_namespaces, wait_for

SCRIPT = os.path.join(TOP, "slurm/job_submit.lua")
USER = "nobody"
POOL = ("h100", "l40s")

# Options of sbatch, and the GPUs that they come to.
TAKEN = {
    "--gres=gpu:h100:2": 2, "--gres=gpu:2": 2, "--gres=gpu": 1, "--gres=gpu:h100": 1, "--gres=gpu:h100:2 -N2": 4,
    "--gres=gpu:h100:1 -n8 --ntasks-per-node=4": 2, "--gres=gpu:h100:1 -w n1,n2": 2, "--gres=gpu:h100:1 -w n[1-3]": 3,
    "--gres=gpu:h100:1,gpu:h100:2": 2, "--gres=gpu:1 -n4 --spread-job": 1, "--gres=gpu:2 --mem-per-gpu=10": 2,
    "--gres=gpu:1 -N2 --gpus-per-task=1": 2,
    "--gpus=h100:6": 6, "--gpus=6 -N2": 6, "--gpus=7 -N2-3": 7, "--gpus=6 --ntasks-per-gpu=1": 6, "--gpus=5 -N3": 5,
    "--gpus=8 -n4": 8, "--gpus=2 --cpus-per-gpu=2": 2, "--gpus=h100:2 --cpus-per-gpu=2": 2, "--gpus=2 --overcommit -n20": 2,
    "--gpus-per-node=2 -N2": 4, "--gpus-per-node=h100:2 --gpus=h100:6": 6, "--gpus-per-node=3 -N4": 12,
    "--gpus-per-task=1 -n5": 5, "--gpus-per-task=h100:2 -n3": 6, "--gpus-per-task=1 -N2": 2, "--gpus-per-task=1 -N2 -n1": 1,
    "--gpus-per-task=1 -N2 --ntasks-per-node=2": 4, "--gpus-per-task=1 --gpus=4": 4,
    "--gpus-per-socket=1 --sockets-per-node=2": 2, "--gpus-per-socket=2 --sockets-per-node=1": 2,
    "--gpus-per-socket=1 --sockets-per-node=2 -N2": 4, "--ntasks-per-gpu=2 -n4": 2, "--ntasks-per-gpu=1 -N2": 2,
    "--gpus=2 -L gf_h100:1": 2, "--gpus=2 -L matlab:1,gf_h100:9": 2, "-L gf_h100:2": 0, "--gpus=0": 0, "--gres=none": 0, "-N2": 0,
}
# Options, and words of the reason. Some are refused by Slurm itself.
REFUSED = {
    "--gres=gpu:h100:1 -N1-3": "say one number (-N 1)", "--exclusive --gpus=1": "whole nodes", "--exclusive": "whole nodes",
    "--gres=gpu:a100:1": "no GPU is called a100 here", "--gres=gpu:h100:65": "no node has more than 64 slots",
    "--gpus=257": "the pool has 256", "--gpus-per-task=2": "", "--gpus-per-socket=1": "", "--gres=gpu:h100:1K": "the pool has 256",
}
# The same where the pool has two kinds, and a node GPUs of its own.
TAKEN_OF_TWO = {"--gres=gpu:h100:1,gpu:l40s:2 -N2": 6, "--gpus=l40s:3": 3, "--gpus-per-task=h100:1,l40s:1 -n2": 4,
                "--gres=gpu:v100:2": 0, "--gpus=v100:1": 0}
# These would not run beside the others.
WAITING = {"-p own --exclusive": {}, "--exclusive -w n3": {}, "--exclusive=user --gpus=h100:1": {"gf_h100": 1}, "-p own --gpus=v100:4": {}}
REFUSED_OF_TWO = {"--gres=gpu:1": "gpu:KIND:COUNT, where KIND is one of: h100 l40s v100", "--gpus=2": "say which GPUs",
                  "--gpus-per-task=1 -n2": "say which GPUs", "--ntasks-per-gpu=1 -n2": "say which GPUs",
                  "--exclusive -w n1": "whole nodes", "-p whole": "whole nodes"}


def gpus_given(cluster, number):
    """What Slurm gave the job, by kind: all tasks of the kinds' slots on all nodes."""
    text = cluster.good("scontrol", "show", "job", "-d", str(number))
    found = {}
    for kind, count in re.findall(r"gpu:([a-z0-9]+):(\d+)", " ".join(re.findall(r"JOB_GRES=(\S*)", text))):
        if kind in POOL:
            found["gf_" + kind] = found.get("gf_" + kind, 0) + int(count)
    return found


def each_way(cluster, taken_ways, refused_ways):
    jobs = {}
    for options in taken_ways:
        status, output, errors = cluster.run("sbatch", "--parsable", "-o", "/dev/null", *options.split(), "--wrap=sleep 300",
                                             user=USER)
        if status:
            Report.ok(False, f"sbatch {options}", errors)
        else:
            jobs[options] = int(output)
    for options, number in jobs.items():
        cluster.until_running(number)
        given, taken = gpus_given(cluster, number), cluster.licences(number)
        Report.ok(given == taken and sum(taken.values()) == taken_ways[options],
                  f"sbatch {options}", given, taken, taken_ways[options])
    Report.same(sum(one[1] for name, one in cluster.used().items() if name.startswith("gf_")), sum(taken_ways.values()),
                "Slurm counts them all")
    cluster.good("scancel", "-u", USER)
    wait_for(lambda: not cluster.jobs(), "no job is left")
    for options, reason in refused_ways.items():
        number, errors = cluster.submit(*options.split(), user=USER)
        Report.ok(number is None and reason in errors, f"sbatch {options} is refused", errors)
        if number:
            cluster.good("scancel", str(number))


def other_ways(cluster):
    for options, licences in WAITING.items():
        number, errors = cluster.submit(*options.split(), user=USER)
        Report.ok(number and cluster.licences(number) == licences, f"sbatch {options}", errors)
    number, _ = cluster.submit("--exclusive", "-w", "n3", user=USER)
    cluster.run("scontrol", "update", f"jobid={number}", "reqnodelist=n1", user=USER)
    Report.ok(cluster.job(number)["ReqNodeList"] == "n3" and "change of a job refused: whole nodes" in cluster.log(),
              "a job that waits for whole nodes cannot have nodes with slots later", cluster.job(number), cluster.log()[-300:])
    cluster.good("scancel", "-u", USER)
    show = ("sh", "-c", "scontrol show job $SLURM_JOB_ID | grep -o ' Licenses=[^ ]*'")
    Report.same(cluster.good("srun", "--gpus=h100:3", "-n1", *show, user=USER).split(), ["Licenses=gf_h100:3"], "srun --gpus")
    Report.same(cluster.good("srun", "-N2", "--gres=gpu:h100:2", *show, user=USER).split(), ["Licenses=gf_h100:4"] * 2, "srun --gres")
    Report.same(cluster.good("salloc", "--gpus=h100:5", *show, user=USER).split(), ["Licenses=gf_h100:5"], "salloc --gpus")
    status, _, errors = cluster.run("salloc", "--gres=gpu:l40s:1", "-N1-2", "true", user=USER)
    Report.ok(status and "say one number" in errors, "salloc is refused, too", errors)
    lines = cluster.good("srun", "--gpus=h100:2", *show, ":", "--gpus=l40s:1", *show, user=USER).split()
    Report.same(sorted(set(lines)), ["Licenses=gf_h100:2", "Licenses=gf_l40s:1"], "components of a heterogeneous job")
    number, _ = cluster.submit("--gpus=h100:2", "--array=1-3", user=USER)
    cluster.good("scontrol", "release", str(number))
    wait_for(lambda: cluster.used()["gf_h100"][1] in (0, 6) and cluster.good("squeue", "-h", "-t", "PD", "-o", "%A") == "", "array")
    tasks = re.findall(r"Licenses=(\S+)", cluster.good("scontrol", "show", "job", str(number)))
    Report.same(tasks, ["gf_h100:2"] * 3, "tasks of an array take them each")


def changes(cluster):
    number, _ = cluster.submit("--gres=gpu:h100:2", "-L", "matlab:1", user=USER)

    def update(*words, user=USER):
        cluster.run("scontrol", "update", f"jobid={number}", *words, user=user)
        return cluster.job(number)["Licenses"]

    for words, licences, what in (
            (("gres=gpu:h100:3",), "matlab:1,gf_h100:3", "more GPUs"),
            (("numnodes=2",), "matlab:1,gf_h100:6", "more nodes"),
            (("numnodes=1",), "matlab:1,gf_h100:3", "fewer nodes"),
            (("numnodes=1-2",), "matlab:1,gf_h100:3", "a range of nodes is refused"),
            (("licenses=gf_h100:1",), "gf_h100:3", "forged licences"),
            (("licenses=matlab:2",), "matlab:2,gf_h100:3", "no licences of the pool"),
            (("gres=gpu:a100:1",), "matlab:2,gf_h100:3", "GPUs that are nowhere"),
            (("gres=",), "matlab:2,gf_h100:0", "no GPUs any more"),
            (("tresperjob=gres:gpu:l40s:4",), "matlab:2,gf_h100:0,gf_l40s:4", "GPUs of another kind")):
        Report.same(update(*words), licences, f"scontrol update: {what}", cluster.log()[-300:])
    number, _ = cluster.submit("--gpus-per-task=h100:2", "-n2", user=USER)
    Report.same(update("numtasks=3"), "gf_h100:6", "scontrol update: more tasks")
    number = int(cluster.good("sbatch", "--parsable", "-o", "/dev/null", "--gpus=h100:4", "--wrap=sleep 300", user=USER))
    cluster.until_running(number)
    Report.same(update("licenses="), "gf_h100:4", "a job that runs keeps its licences")
    Report.same(update("licenses=gf_h100:1"), "gf_h100:4", "all of them")
    Report.same(update("licenses=gf_h100:3", user=None), "gf_h100:3", "until root counts them anew")
    cluster.good("scancel", "-u", USER)


def models(cluster):
    """There is no plugin here: jobs have its variables as if there were one, by the script that asks for them."""
    status, output, errors = cluster.run("sbatch", "-H", "--parsable", "-o", "/dev/null", "--comment=llama-3.1-70b",
                                         "--wrap=true", user=USER)
    number = int(output) if not status else 0
    Report.ok(number and "llama-3.1-70b (infer) needs" in errors, "a line says what a model needs", errors)
    Report.ok(cluster.licences(number).get("gf_h100", 0) + cluster.licences(number).get("gf_l40s", 0) > 1,
              "and the job takes as many", cluster.licences(number))
    status, output, errors = cluster.run("sbatch", "-H", "--comment=no-such-model", "--wrap=true", user=USER)
    Report.ok(status and 'no model is called "no-such-model"' in errors, "a model that is not in the catalogue is refused", errors)


# As a site has it with a script of its own: the plugin's variables are read from the comment.
SITE = """
dofile("{script}")
function slurm_job_submit(desc, part_list, uid)
	local model = desc.comment
	return gpufabric.submit(setmetatable({{}}, {{
		__index = function(_, key)
			if key == "spank_job_env" and model then return {{ "GPUFABRIC_MODEL=" .. model }} end
			return desc[key]
		end,
		__newindex = function(_, key, value) desc[key] = value end }}), part_list, uid)
end
return slurm.SUCCESS
"""


def main():
    in_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, "config/tenants.d"))
        environment = {"GPUCTL": os.path.join(BUILD, "gpuctl"), "GPUCTL_CONFIG_DIR": os.path.join(folder, "config")}
        with Cluster(os.path.join(folder, "one"), "gf_h100:256,matlab:99", {f"n{number}": "gpu:h100:64" for number in range(1, 5)},
                     script=SCRIPT, environment=environment) as cluster:
            each_way(cluster, TAKEN, REFUSED)
        nodes = {"n1": "gpu:h100:24,gpu:l40s:8", "n2": "gpu:h100:24,gpu:l40s:8", "n3": "gpu:v100:4"}
        lines = ("PartitionName=main Nodes=n[1-3] Default=YES State=UP\nPartitionName=own Nodes=n3 State=UP OverSubscribe=EXCLUSIVE\n"
                 "PartitionName=whole Nodes=n[1-2] State=UP OverSubscribe=EXCLUSIVE\n")
        with Cluster(os.path.join(folder, "two"), "gf_h100:48,gf_l40s:16,matlab:9", nodes, lines=lines, script=SCRIPT,
                     environment=environment) as cluster:
            each_way(cluster, TAKEN_OF_TWO, REFUSED_OF_TWO)
            other_ways(cluster)
            changes(cluster)
            # A script of the site's own beside slurm.conf, which calls ours.
            os.unlink(os.path.join(folder, "two/job_submit.lua"))
            cluster.write("job_submit.lua", SITE.format(script=SCRIPT))
            models(cluster)
            if Report.failed:
                print("# " + cluster.log()[-3000:].replace("\n", "\n# "))
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
