// SPDX-License-Identifier: GPL-2.0-only
// sources: slurm/gres.c slurm/options.c slurm/step.c ctl/base/text.c
// packages: json-c
/* What Prolog and plugin make of what Slurm, users and gpuctl say. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/gres.h"
#include "slurm/options.h"
#include "slurm/step.h"
#include "tap.h"

/* "h100:2 a100:1", "-" where it is no such list. */
static const char *gres(const char *text)
{
	static char out[1024];
	struct gres_gpus kinds[GRES_KINDS_MAX];
	int n = gres_read(text, kinds), i;
	size_t len = 0;

	if (n < 0)
		return "-";
	*out = '\0';
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s:%u", i ? " " : "",
					kinds[i].kind, kinds[i].count);
	return out;
}

static void test_gres(void)
{
	char many[64 * GRES_KINDS_MAX] = "";
	int i;

	is_str(gres("gpu:h100:2(IDX:0-1)"), "h100:2", "one kind");
	is_str(gres("gpu:h100:2(IDX:0,3),gpu:a100:1(IDX:4)"), "h100:2 a100:1",
	       "two, with commas in brackets");
	is_str(gres("gpu:2(IDX:0-1)"), ":2", "no kind");
	is_str(gres("gpu"), ":1", "one of any");
	is_str(gres("gpu:h100"), "h100:1", "one of a kind");
	is_str(gres("gpu:h100:4(S:0-1)"), "h100:4", "of a node, with sockets");
	is_str(gres("shard:h100:2,gpu:h100:1,mps:100"), "h100:1", "other gres are passed over");
	is_str(gres("gpux:3"), "", "also one whose name begins like it");
	is_str(gres("gpu:h100:1,gpu:h100:2"), "h100:3", "a kind that is said twice");
	is_str(gres("gpu:h100:0"), "", "none of a kind");
	is_str(gres(""), "", "nothing");
	is_str(gres(NULL), "", "not even a text");
	is_str(gres("gpu:h100:x"), "-", "no number");
	is_str(gres("gpu:h100:-1"), "-", "a negative one");
	is_str(gres("gpu:--same-switch:1"), "-", "a kind that would be an option");
	is_str(gres("gpu:h100;reboot:1"), "-", "a kind with other signs");
	is_str(gres("gpu:h100:1)"), "-", "a bracket too many");
	for (i = 0; i <= GRES_KINDS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "gpu:k%d:1,", i);
	is_str(gres(many), "-", "more kinds than there can be");
}

static void test_holds(void)
{
	const struct gres_gpus two[] = { { "h100", 2 }, { "a100", 1 } }, any[] = { { "", 3 } };

	ok(gres_holds("gpu:h100:4,gpu:a100:1", two, 2), "a node that has enough");
	ok(!gres_holds("gpu:h100:4", two, 2), "one that lacks a kind");
	ok(!gres_holds("gpu:h100:1,gpu:a100:1", two, 2), "one that has too few");
	ok(gres_holds("gpu:h100:2,gpu:a100:1", any, 1), "any kind will do");
	ok(!gres_holds("(null)", two, 2), "one without");
}

static void test_licences(void)
{
	ok(gres_licences("matlab:2,gf_h100:4,gf_l40s", "h100") == 4, "licences of a kind");
	ok(gres_licences("matlab:2,gf_h100:4,gf_l40s", "l40s") == 1, "also one without a number");
	ok(gres_licences("matlab:2,gf_h100:4,gf_l40s", "") == 5, "of any kind");
	ok(!gres_licences("matlab:2,gf_h100:0", "h100"), "none of a kind");
	ok(!gres_licences("gf_h100-nvl:1", "h100") && !gres_licences("gf_h100:1", "h100-nvl"),
	   "kinds that begin alike are others");
	ok(!gres_licences("matlab:2,h100:1", "h100") && !gres_licences("matlab:2", ""), "licences of something else");
	ok(!gres_licences("", "") && !gres_licences(NULL, "h100"), "nothing");
	ok(gres_covered(4, 2, 1) == 2, "slots without a licence have no GPU");
	ok(gres_covered(4, 4, 1) == 4 && gres_covered(4, 6, 1) == 4, "others have one each");
	ok(gres_covered(2, 4, 2) == 2 && gres_covered(4, 3, 2) == 4, "on several nodes all slots have one");
}

static void test_names(void)
{
	char tenant[GRES_KIND_MAX];

	gres_tenant("physics", 1000, tenant);
	is_str(tenant, "physics", "an account");
	gres_tenant("1st project", 1000, tenant);
	is_str(tenant, "uid-1000", "one that no tenant can be called");
	gres_tenant(NULL, 1000, tenant);
	is_str(tenant, "uid-1000", "none");
	ok(gres_lease(60) == 4200, "an hour, and what follows it");
	ok(!gres_lease(0xffffffff) && !gres_lease(0xfffffffe), "no limit, no lease");
}

static void test_options(void)
{
	const char *values[WORKLOAD_OPTIONS] = { [WORKLOAD_MODEL] = "/models/x",
						 [WORKLOAD_TASK] = "train" };
	const char *argv[WORKLOAD_ARGS_MAX];
	char *counts;

	workload_args(values, argv);
	is_str(argv[3], "/models/x", "the model");
	ok(!strcmp(argv[4], "--task") && !strcmp(argv[5], "train") && !argv[6], "and its task");
	ok(workload_is_local("hf:a/b") && workload_is_local("./m") && workload_is_local("m/") &&
		   !workload_is_local("llama-3.1-70b"),
	   "what is sized here");
	ok(!workload_value_valid("") && !workload_value_valid("--gpu") &&
		   !workload_value_valid("a\nb") && workload_value_valid("a b;c"),
	   "values of options");
	counts = workload_counts(
		"{\"fits\":[{\"gpu\":\"h100-80\",\"gpus\":3},{\"gpu\":\"l4\",\"gpus\":0},{\"gpu\":\"l40s\",\"gpus\":4}]}");
	is_str(counts, "h100-80:3,l40s:4", "what fits");
	free(counts);
	ok(!workload_counts("{\"fits\":[]}") && !workload_counts("{") && !workload_counts("[1]"),
	   "nothing fits, or nothing was said");
}

static void test_step(void)
{
	struct step_environment environment;
	char *path;

	step_environment_read("A=1\nB=x=y\nnone\n=z\nC=", &environment);
	ok(environment.n == 3 && !strcmp(environment.names[1], "B") &&
		   !strcmp(environment.values[1], "x=y") && !*environment.values[2],
	   "lines of variables");
	step_environment_free(&environment);
	step_environment_read(NULL, &environment);
	ok(!environment.n, "no lines");
	path = step_cgroup("0::/system.slice/slurmstepd.scope/job_7/step_batch/slurm\n");
	is_str(path, "/system.slice/slurmstepd.scope/job_7/step_batch", "the cgroup of a step");
	free(path);
	path = step_cgroup("0::/system.slice/n1_slurmstepd.scope/job_7/step_0/user/task_0\n");
	is_str(path, "/system.slice/n1_slurmstepd.scope/job_7/step_0", "of a task");
	free(path);
	ok(!step_cgroup("0::/system.slice/slurmd.service\n"), "of slurmd there is none");
	ok(!step_cgroup("4:devices:/slurm/uid_0/job_7/step_0\n"), "in version 1 there is none");
	ok(!step_cgroup("0::/x/job_7\n") && !step_cgroup("0::"), "nor where there is no step");
}

int main(void)
{
	test_gres();
	test_holds();
	test_licences();
	test_names();
	test_options();
	test_step();
	return tap_done();
}
