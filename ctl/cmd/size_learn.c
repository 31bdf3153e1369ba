// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl size learn
 *
 * A log says what was used; the quotient with the estimate goes into a profile
 * of this host, engines.d/learned.conf below the configuration, where later
 * estimates find it. One log more counts as one observation beside the profile
 * itself, so that a single odd run cannot bend it. With -n it is compared and not stored.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "size/estimate.h"
#include "size/log.h"
#include "size/physics.h"

#define LOG_MAX (64u << 20)

/* A quotient beyond this is another workload, not another machine. */
#define FACTOR_MAX 4

static const struct out_column columns[] = {
	{ "memory", "MEMORY", 0 },
	{ "measured_bytes", "MEASURED", OUT_RIGHT },
	{ "estimate_bytes", "ESTIMATE", OUT_RIGHT },
	{ "off_percent", "OFF", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static const struct out_column learned_columns[] = {
	{ "engine", NULL, 0 }, { "task", NULL, 0 },   { "factor", NULL, 0 },
	{ "logs", NULL, 0 },   { "stored", NULL, 0 }, { NULL, NULL, 0 },
};

static int read_log(struct ctl_ctx *ctx, const char *path, struct size_log *log)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t n;

	if (!file)
		return ctl_fail(ctx, CTL_USAGE, "%s: %s", path, strerror(errno));
	text = mem_zalloc(LOG_MAX, 1);
	n = fread(text, 1, LOG_MAX, file);
	fclose(file);
	size_log_parse(text, n, log);
	free(text);
	if (!log->lines)
		return ctl_fail(ctx, CTL_USAGE,
				"%s has no memory line of PyTorch, vLLM or llama.cpp", path);
	return CTL_DONE;
}

static void learn_put(struct out_table *t, const char *what, double measured, double estimate)
{
	if (measured <= 0)
		return;
	out_row(t);
	out_str(t, "memory", what);
	out_bytes(t, "measured_bytes", (uint64_t)measured);
	out_bytes(t, "estimate_bytes", (uint64_t)estimate);
	out_real(t, "off_percent", 100 * (estimate / measured - 1), 1);
}

/* A log is of one GPU: of the layout that the workload names. */
static struct size_layout log_layout(const struct size_request *req)
{
	struct size_layout layout = {
		.tp = req->tp ? req->tp : 1,
		.pp = req->pp ? req->pp : 1,
		.cp = req->cp,
	};

	layout.gpus = layout.tp * layout.pp;
	if (req->task != SIZE_INFER)
		layout.gpus *= (req->dp ? req->dp : 1) * (req->cp ? req->cp : 1);
	return layout;
}

/* Prints the comparison; returns measured over estimate of what counts most. */
static double learn_compare(struct ctl_ctx *ctx, const struct size_request *req,
			    const struct size_log *log)
{
	const struct size_layout layout = log_layout(req);
	struct out_table *t = out_table(ctx->out, "learned", columns, OUT_TABLE);
	double measured, estimate, work;
	struct size_estimate e;

	size_estimate(req, &layout, &e);
	work = e.part[PART_ACTIVATIONS] + e.part[PART_LOGITS] + e.part[PART_BUFFERS];
	learn_put(t, "allocated", log->allocated, e.memory[MEMORY_ALLOCATED]);
	learn_put(t, "reserved", log->reserved, e.memory[MEMORY_RESERVED]);
	learn_put(t, "weights", log->weights, e.part[PART_WEIGHTS]);
	learn_put(t, "KV cache", log->kv, e.part[PART_KV]);
	learn_put(t, "activations and buffers", log->work, work);
	if (log->allocated > 0)
		return log->allocated / e.memory[MEMORY_ALLOCATED];
	if (log->reserved > 0)
		return log->reserved / e.memory[MEMORY_RESERVED];
	measured = log->weights + log->kv + log->work;
	estimate = (log->weights > 0 ? e.part[PART_WEIGHTS] : 0) +
		   (log->kv > 0 ? e.part[PART_KV] : 0) + (log->work > 0 ? work : 0);
	return estimate > 0 ? measured / estimate : 0;
}

static char *learned_text(const struct catalogue *cat)
{
	struct text text = { 0 };
	size_t i;
	int task;

	text_add(&text, "# Learned by gpuctl size learn; remove to forget.\n");
	for (i = 0; i < cat->n_engines; i++) {
		for (task = 0; task < SIZE_TASKS; task++) {
			const struct engine_fit *fit = &cat->engines[i].fit[task];

			if (fit->learned)
				text_add(&text, "\n[%s.%s]\nlearned = %u\np50 = %.6f\n",
					 cat->engines[i].id, size_task_name((enum size_task)task),
					 fit->learned, fit->p50);
		}
	}
	return text.text;
}

/* The whole file anew, and into its place at once. */
static int store(struct ctl_ctx *ctx, const struct catalogue *cat)
{
	char *dir = mem_printf("%s/engines.d", ctx->config_dir);
	char *path = mem_printf("%s/learned.conf", dir), *text = learned_text(cat);
	int err, ret = CTL_DONE;

	mkdir(ctx->config_dir, 0755);
	mkdir(dir, 0755);
	err = replace_file(path, text, 0644);
	if (err)
		ret = ctl_fail(ctx, err == -EACCES ? CTL_DENIED : CTL_FAILED,
			       "%s cannot be written: %s", path, replace_error(err));
	else
		out_line(ctx->out, "stored in %s", path);
	free(dir);
	free(path);
	free(text);
	return ret;
}

static void say_learned(struct ctl_ctx *ctx, const struct size_request *req,
			const struct engine_fit *fit)
{
	struct out_table *t = out_table(ctx->out, NULL, learned_columns, OUT_SINGLE);

	out_str(t, "engine", req->engine->id);
	out_str(t, "task", size_task_name(req->task));
	out_real(t, "factor", fit->p50, 4);
	out_uint(t, "logs", fit->learned);
	out_bool(t, "stored", !ctx->dry_run);
	out_line(ctx->out, "engine %s, %s: estimates %stimes %.3f from now on, after %u log%s",
		 req->engine->id, size_task_name(req->task), ctx->dry_run ? "would be " : "",
		 fit->p50, fit->learned, fit->learned == 1 ? "" : "s");
}

static int learn(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		 const char *path)
{
	struct engine_fit *fit;
	struct size_log log;
	double factor, sum;
	size_t i;
	int ret;

	for (i = 0; i < cat->n_engines && req->engine != &cat->engines[i]; i++)
		;
	if (i == cat->n_engines)
		return ctl_fail(ctx, CTL_USAGE,
				"the engine that wrote the log is missing: add --engine");
	ret = read_log(ctx, path, &log);
	if (ret)
		return ret;
	factor = learn_compare(ctx, req, &log);
	if (factor < 1. / FACTOR_MAX || factor > FACTOR_MAX)
		return ctl_fail(ctx, CTL_FAILED,
				"the log is %.2f times the estimate: is it of this workload? nothing was learned",
				factor);
	fit = &cat->engines[i].fit[req->task];
	/* what was learned so far, beside one observation of the profile itself */
	sum = log1p(fit->p50 - 1) * (fit->learned + 1);
	sum += log1p(factor * fit->p50 - 1);
	fit->learned++;
	fit->p50 = exp(sum / (fit->learned + 1));
	say_learned(ctx, req, fit);
	if (ctx->dry_run) {
		out_line(ctx->out, "nothing was stored");
		return CTL_DONE;
	}
	return store(ctx, cat);
}

static int size_learn_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 1, 2);

	return ret ? ret : size_verb_run(ctx, argv[0], argv[1], SIZE_READ_MEMORY, learn);
}

const struct ctl_command cmd_size_learn = {
	.name = "size learn",
	.args = "LOG [MODEL]",
	.summary = "compare the estimate with a log, and learn from the log",
	.help = "LOG is a log of PyTorch, vLLM or llama.cpp. gpuctl writes its findings to engines.d/learned.conf of the\n"
		"configuration, and later estimates of that engine use it. -n compares and stores nothing.",
	.options = { size_workload_options },
	.completes = "@files, " SIZE_MODELS,
	.run = size_learn_run,
};
