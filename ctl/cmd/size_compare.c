// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl size compare: what each method says of a workload, with its rule. */
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "cmd/size_options.h"
#include "cmd/size_print.h"
#include "size/estimate.h"

static const struct ctl_option options[] = {
	{ "gpu", 'g', "GPU", "count GPUs of this kind, such as h100" },
	{ NULL },
};

static const struct out_column method_columns[] = {
	{ "method", "METHOD", 0 },
	{ "total_bytes", "TOTAL", OUT_RIGHT },
	{ NULL, "GB", OUT_RIGHT },
	{ "gpus", "GPUS", OUT_RIGHT | OUT_OPTIONAL },
	{ "rule", "RULE", 0 },
	{ "reading", NULL, 0 },
	{ "note", "NOTE", OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static void compare_one(struct out_table *t, const struct size_request *given,
			const struct size_method *method, const struct cat_gpu *gpu)
{
	struct size_request req = *given;
	struct size_terms terms;
	struct size_fit fit;
	struct fault f = { "" };
	double gpus;

	req.method = method;
	out_row(t);
	out_str(t, "method", method->name);
	out_str(t, "rule", method->rule);
	out_str(t, "reading", method->reading);
	if (size_request_check(&req, &f)) {
		out_str(t, "note", f.text);
		return;
	}
	if (method->terms) {
		size_need(&req, &terms);
		size_put_gib(t, "total_bytes", terms.total);
		out_text(t, "GB", "%.1f", (double)terms.total / 1e9);
	} else if (!gpu && !method->gpus(&req, NULL, &gpus, &f)) {
		out_real(t, "gpus", gpus, 1);
	}
	if (gpu && !size_fit_gpu(&req, gpu, &fit, &f) && fit.gpus)
		out_uint(t, "gpus", fit.gpus);
	else if (gpu)
		out_str(t, "note", fit.why && !*f.text ? fit.why : f.text);
}

static int compare(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		   const char *word)
{
	const struct size_method *const *m;
	const struct cat_gpu *gpu = NULL;
	const char *name = ctl_opt(ctx, "gpu");
	struct size_terms none = { 0 };
	struct fault f = { "" };
	struct out_table *t;

	(void)word;
	if (name && cat_gpu_find(cat->gpus, cat->n_gpus, name, &gpu, &f))
		return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", f.text);
	size_print_workload(ctx, req, &none);
	if (gpu)
		out_line(ctx->out, "GPUS of %s", gpu->name);
	t = out_table(ctx->out, "methods", method_columns, OUT_TABLE);
	for (m = size_methods; *m; m++)
		if ((*m)->tasks & SIZE_TASK(req->task))
			compare_one(t, req, *m, gpu);
	out_line(ctx->out, "%s", "");
	for (m = size_methods; *m; m++)
		if ((*m)->tasks & SIZE_TASK(req->task))
			out_line(ctx->out, "%s: %s", (*m)->name, (*m)->reading);
	return CTL_DONE;
}

static int size_compare_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 0, 1);

	return ret ? ret : size_verb_run(ctx, NULL, argv[0], SIZE_READ_EVERY, compare);
}

const struct ctl_command cmd_size_compare = {
	.name = "size compare",
	.args = "[MODEL]",
	.summary = "what each method and rule of thumb says of the memory",
	.options = { options, size_workload_options, size_fleet_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = SIZE_MODELS,
	.run = size_compare_run,
};
