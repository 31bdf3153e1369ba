// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl slurm resize
 *
 * Slurm counts the licences of a running job as it is told, and does not look whether they are
 * there. So a job that grows takes its licences first, and gives them back if they were more than
 * there are, or if its GPUs do not come; a job that shrinks gives GPUs, then licences. The gres
 * of the node, its slots, stay as they are. Then the fences of its steps, and the job is told.
 */
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/fence.h"
#include "cmd/options.h"
#include "cmd/request.h"
#include "module/nl.h"
#include "op/resize.h"
#include "op/settle.h"
#include "session/session.h"
#include "slurm/licences.h"

#define SLURM_MS 60000
#define SLURM_OUTPUT_MAX (1u << 20)
/* One for each slurmd of the machine. */
#define STEPS "/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_%s/step_*"

/**
 * struct slurm_resize - a run
 * @job: its id, as it was typed
 * @name: of its composition
 * @number: of GPUs on this host after it
 * @had: before it
 * @licences: of the job, of all its nodes, before it
 */
struct slurm_resize {
	const char *job;
	char *name;
	unsigned int number, had;
	struct licence_job licences;
};

/* What a program of Slurm prints; NULL when it failed, which was said then. Caller frees. */
static char *slurm_ask(struct ctl_ctx *ctx, const char *const *words)
{
	const struct program_limits limits = { .timeout_ms = SLURM_MS };
	/* Slurm of a site may be anywhere in the path. */
	const char *argv[10] = { "/usr/bin/env" };
	struct program program = { .argv = (char *const *)argv,
				   .env = environ,
				   .output_max = SLURM_OUTPUT_MAX };
	char *text = NULL, *why;
	size_t n;

	for (n = 0; words[n] && n + 2 < sizeof(argv) / sizeof(argv[0]); n++)
		argv[n + 1] = words[n];
	programs_run(&program, 1, &limits);
	if (program_succeeded(&program)) {
		text = program.output ? program.output : mem_strdup("");
		program.output = NULL;
	} else {
		why = program_complaint(&program, &limits);
		ctl_fail(ctx, CTL_FAILED, "%s: %s", words[0], why);
		free(why);
	}
	program_free(&program);
	return text;
}

static int licences_set(struct ctl_ctx *ctx, const struct slurm_resize *run, unsigned int count)
{
	char *list = licence_job_text(&run->licences, count);
	char *what = mem_printf("licenses=%s", list),
	     *which = mem_printf("jobid=%s", run->licences.address);
	const char *words[5] = { "scontrol", "update", which, what };
	char *text = slurm_ask(ctx, words);
	int ret = text ? CTL_DONE : CTL_FAILED;

	free(text);
	free(which);
	free(what);
	free(list);
	return ret;
}

static int licences_read(struct ctl_ctx *ctx, struct slurm_resize *run)
{
	const char *words[7] = { "squeue", "-h", "-j", run->job, "-o", LICENCE_JOB_FORMAT };
	char *text = slurm_ask(ctx, words);
	struct fault fault = { "" };
	int ret = CTL_FAILED;

	if (text && licence_job_read(text, run->job, &run->licences, &fault))
		ret = ctl_fail(ctx, CTL_FAILED, "job %s: %s", run->job, fault.text);
	else if (text)
		ret = CTL_DONE;
	free(text);
	return ret;
}

/* Are there @more licences than are used? */
static int licences_left(struct ctl_ctx *ctx, const struct slurm_resize *run, unsigned int more)
{
	const char *words[5] = { "scontrol", "-o", "show", "licenses" };
	char *text = slurm_ask(ctx, words);
	long long left = 0;
	int ret = CTL_DONE;

	if (!text)
		return CTL_FAILED;
	if (!licence_left(text, run->licences.kind, &left))
		ret = ctl_fail(ctx, CTL_FAILED, "Slurm has no licence gf_%s", run->licences.kind);
	else if (left < (long long)more)
		ret = ctl_fail(ctx, CTL_NO_FIT,
			       "%u more %s: the pool has %lld that no job has, and that are not away",
			       more, run->licences.kind, left < 0 ? 0 : left);
	free(text);
	return ret;
}

/*
 * Of all nodes after the run. A job of one node has as many licences as GPUs, and what a run that
 * could not reach Slurm has left is set right; of several nodes only the difference is known.
 */
static unsigned int licences_wanted(const struct slurm_resize *run)
{
	if (run->licences.nodes == 1)
		return run->number;
	return run->licences.count + run->number - run->had;
}

/* Somebody else may have taken them between the look and this. */
static int licences_take(struct ctl_ctx *ctx, const struct slurm_resize *run, unsigned int more)
{
	int ret = licences_left(ctx, run, more);

	if (!ret)
		ret = licences_set(ctx, run, run->licences.count + more);
	if (ret)
		return ret;
	ret = licences_left(ctx, run, 0);
	if (ret)
		licences_set(ctx, run, run->licences.count);
	return ret;
}

/* Steps that begin after this are fenced by the plugin, which asks for the same GPUs. */
static int fences_set(struct ctl_ctx *ctx, const struct slurm_resize *run)
{
	char *pattern = mem_printf(STEPS, run->job);
	struct fence_made made;
	glob_t steps = { 0 };
	int ret = CTL_DONE;
	size_t i;

	glob(pattern, 0, NULL, &steps);
	for (i = 0; i < steps.gl_pathc && !ret; i++) {
		ret = fence_around(ctx, steps.gl_pathv[i], run->name, &made);
		/* A step that has just ended needs none. */
		if (ret && access(steps.gl_pathv[i], F_OK))
			ret = CTL_DONE;
	}
	globfree(&steps);
	free(pattern);
	return ret;
}

/* Of the job on this host, after a resize that failed or was interrupted; UINT_MAX: not known. */
static unsigned int gpus_now(struct ctl_ctx *ctx, struct session *session,
			     const struct slurm_resize *run)
{
	struct gf_composition *composition;
	char *cause = ctx->error;
	bool known;

	ctx->error = NULL;
	gfc_drop_signals();
	known = !session_refresh(session) && !session_composition(session, run->name, &composition);
	free(ctx->error);
	ctx->error = cause;
	return known ? (unsigned int)composition->n_members : UINT_MAX;
}

static int gpus_set(struct ctl_ctx *ctx, struct session *session, const struct op_terms *terms,
		    const struct slurm_resize *run)
{
	struct gpu_request none = GPU_REQUEST_NONE;
	const struct resize_request request = { .name = run->name,
						.gpus = &none,
						.number = (long)run->number };
	const unsigned int had = run->licences.count, wanted = licences_wanted(run);
	unsigned int now = run->number;
	int ret = CTL_DONE, err;

	if (wanted > had)
		ret = ctx->dry_run ? licences_left(ctx, run, wanted - had) :
				     licences_take(ctx, run, wanted - had);
	if (!ret && run->number != run->had) {
		ret = resize(session, terms, &request);
		if (ret && !ctx->dry_run)
			now = gpus_now(ctx, session, run);
		/* With fewer licences than GPUs it could not be resized any more. */
		if (wanted > had && now <= run->had)
			licences_set(ctx, run, had);
	}
	/* What has gone has gone, though gpuctl was interrupted meanwhile. */
	if (ctx->dry_run || (ret && (now != run->number || wanted >= had)))
		return ret;
	/* What was given back may be another job's now, whatever Slurm says of the licences. */
	err = fences_set(ctx, run);
	ret = ret ? ret : err;
	err = wanted < had ? licences_set(ctx, run, wanted) : CTL_DONE;
	return ret ? ret : err;
}

/* Every task of the job is told, those on other hosts as well. */
static void job_told(struct ctl_ctx *ctx, const struct slurm_resize *run)
{
	char host[HOST_NAME_MAX + 1] = "";
	char *message;
	const char *words[5] = { "scontrol", "notify", run->job };

	gethostname(host, HOST_NAME_MAX);
	message = mem_printf("gpufabric: %u GPUs instead of %u on %s: gpuctl env", run->number,
			     run->had, host);
	words[3] = message;
	free(slurm_ask(ctx, words));
	free(message);
}

static int slurm_resize_read(struct ctl_ctx *ctx, char **argv, struct slurm_resize *run)
{
	uint64_t id, number;

	if (!text_number(argv[0], UINT32_MAX, &id) || !id)
		return ctl_fail(ctx, CTL_USAGE, "%s: this is no number of a job", argv[0]);
	if (!text_number(argv[1], GPUFABRIC_MEMBERS_MAX, &number) || !number)
		return ctl_fail(ctx, CTL_USAGE,
				"%s: write the number of GPUs that the job is to have on this host",
				argv[1]);
	run->job = argv[0];
	run->name = mem_printf("slurm-%u", (unsigned int)id);
	run->number = (unsigned int)number;
	return CTL_DONE;
}

static int slurm_resize_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct slurm_resize run = { .job = NULL };
	struct gf_composition *composition;
	struct session session;
	struct op_terms terms;
	int ret = ctl_operands(ctx, argc, 2, 2);

	if (!ret)
		ret = slurm_resize_read(ctx, argv, &run);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret) {
		free(run.name);
		return ret;
	}
	ret = settle_composition(&session, run.name, false, terms.wait_ms);
	if (!ret)
		ret = session_composition(&session, run.name, &composition);
	if (!ret) {
		run.had = (unsigned int)composition->n_members;
		ret = licences_read(ctx, &run);
	}
	if (!ret && run.licences.count < run.had)
		ret = ctl_fail(ctx, CTL_FAILED, "job %s has %u licences and %u GPUs on this host",
			       run.job, run.licences.count, run.had);
	if (!ret)
		ret = gpus_set(ctx, &session, &terms, &run);
	if (!ret && !ctx->dry_run && run.number != run.had)
		job_told(ctx, &run);
	licence_job_free(&run.licences);
	session_close(&session);
	free(run.name);
	return ret;
}

const struct ctl_command cmd_slurm_resize = {
	.name = "slurm resize",
	.args = "JOB COUNT",
	.summary = "give a running job more GPUs on this host, or fewer",
	.help = "The job gets COUNT GPUs on this host. gpuctl first takes the licences of the pool that the job lacks; if\n"
		"the pool has too few, the exit code is 3 and nothing was changed. A process that holds a GPU stops\n"
		"its removal. Then the fences of the job's steps allow the new GPUs, and scontrol notify tells the\n"
		"job; gpuctl env has its new environment. Slurm still counts the slots that the job was started with.\n"
		"If gpuctl was interrupted while a job of one node grows, or Slurm did not take back its licences, the\n"
		"next gpuctl slurm resize sets fences and licences, also with the same COUNT; it does not tell the job.",
	.options = { remove_options, session_options },
	.run = slurm_resize_run,
};
