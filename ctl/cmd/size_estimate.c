// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl size estimate: memory of a model and a workload, and how many GPUs hold it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "cmd/size_options.h"
#include "cmd/size_print.h"
#include "size/estimate.h"

/* Kinds that are shown unless more are asked for. */
#define KINDS_SHOWN 12

static const struct ctl_option options[] = {
	{ "fit", 0, "WHAT",
	  "largest batch or context, or number of layers, that fits on --gpu KIND:COUNT",
	  "batch context layers" },
	{ NULL },
};

static const struct out_column fit_columns[] = {
	{ "gpu", NULL, 0 },
	{ "gpu_name", "FITS ON", 0 },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "tensor_parallel", "TP", OUT_RIGHT | OUT_OPTIONAL },
	{ "pipeline_parallel", "PP", OUT_RIGHT | OUT_OPTIONAL },
	{ "attention_data_parallel", "ADP", OUT_RIGHT | OUT_OPTIONAL },
	{ "expert_parallel", "EP", OUT_RIGHT | OUT_OPTIONAL },
	{ "bytes_per_gpu", "PER GPU", OUT_RIGHT | OUT_OPTIONAL },
	{ "usable_bytes", "OF", OUT_RIGHT | OUT_OPTIONAL },
	{ "memory_source", NULL, 0 },
	{ "hot_plug", NULL, 0 },
	{ "note", "NOTE", OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static void print_fit(struct out_table *t, const struct size_request *req,
		      const struct size_row *row)
{
	const struct size_fit *fit = &row->fit;
	bool card = row->gpu->form == GPU_FORM_CARD;
	struct text note = { 0 };

	out_row(t);
	out_str(t, "gpu", row->gpu->id);
	out_str(t, "gpu_name", row->gpu->name);
	out_bool(t, "hot_plug", card);
	if (fit->gpus) {
		out_uint(t, "gpus", fit->gpus);
		/* without a shape nobody knows how it can be split */
		if (req->model && fit->layout.tp > 1)
			out_uint(t, "tensor_parallel", fit->layout.tp);
		if (req->model && fit->layout.pp > 1)
			out_uint(t, "pipeline_parallel", fit->layout.pp);
		if (fit->layout.adp > 1) {
			out_uint(t, "attention_data_parallel", fit->layout.adp);
			out_uint(t, "expert_parallel", fit->layout.tp * fit->layout.adp);
		}
		if (fit->per_gpu)
			size_put_gib(t, "bytes_per_gpu", fit->per_gpu);
	}
	if (fit->usable) {
		size_put_gib(t, "usable_bytes", fit->usable);
		out_str(t, "memory_source", cat_gpu_trust_name(fit->trust));
		if (fit->trust == GPU_ASSUMED)
			text_join(&note, "; ", "memory assumed");
		else if (fit->trust == GPU_FROM_LABEL)
			text_join(&note, "; ", "memory from the label");
	}
	if (*row->error.text)
		text_join(&note, "; ", row->error.text);
	else if (fit->why)
		text_join(&note, "; ", fit->why);
	if (!card)
		text_join(&note, "; ",
			  row->gpu->form == GPU_FORM_MODULE ? "module, not for a slot" :
							      "service, not for a slot");
	out_str(t, "note", note.text);
	free(note.text);
}

/*
 * What is made for models first, then the fewest GPUs, of these the ones whose memory is known
 * for sure, and the least memory that does it; no answer last.
 */
static int by_count(const void *a, const void *b)
{
	const struct size_row *x = a, *y = b;
	unsigned int nx = x->fit.gpus, ny = y->fit.gpus;
	bool mx = cat_gpu_for_models(x->gpu), my = cat_gpu_for_models(y->gpu);
	bool lx = x->fit.trust == GPU_FROM_LABEL, ly = y->fit.trust == GPU_FROM_LABEL;

	/* where it does not fit, the largest is the nearest to an answer */
	if (!nx != !ny)
		return !nx ? 1 : -1;
	if (mx != my)
		return mx ? -1 : 1;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	if (!nx && x->fit.usable != y->fit.usable)
		return x->fit.usable > y->fit.usable ? -1 : 1;
	if (lx != ly)
		return lx ? 1 : -1;
	if (x->fit.usable != y->fit.usable)
		return x->fit.usable < y->fit.usable ? -1 : 1;
	return strcmp(x->gpu->id, y->gpu->id);
}

size_t size_rows(struct ctl_ctx *ctx, const struct catalogue *cat, const struct size_request *req,
		 struct size_row *rows)
{
	size_t i, n = 0;

	for (i = 0; i < cat->n_gpus; i++) {
		struct size_row *row = &rows[n];

		if (!size_kind_asked(ctx, &cat->gpus[i]))
			continue;
		memset(row, 0, sizeof(*row));
		row->gpu = &cat->gpus[i];
		size_fit_gpu(req, row->gpu, &row->fit, &row->error);
		/* a product that cannot be judged is of interest to who named it */
		if (*row->error.text && !ctl_flag(ctx, "gpu"))
			continue;
		n++;
	}
	qsort(rows, n, sizeof(*rows), by_count);
	return n;
}

/* Prints the kinds; returns whether any fits. */
static bool print_fits(struct ctl_ctx *ctx, const struct size_request *req,
		       const struct size_row *rows, size_t n)
{
	struct out_table *t = out_table(ctx->out, "fits", fit_columns, OUT_TABLE);
	bool all = ctl_flag(ctx, "all") || ctl_flag(ctx, "gpu");
	size_t i, fitting = 0;

	for (i = 0; i < n; i++) {
		fitting += rows[i].fit.gpus > 0;
		if (all || out_is_json(ctx->out) || i < KINDS_SHOWN)
			print_fit(t, req, &rows[i]);
	}
	if (!all && n > KINDS_SHOWN)
		out_line(ctx->out, "%zu more kinds of card with --all", n - KINDS_SHOWN);
	return fitting;
}

/* One kind asked for: what each of its GPUs holds. */
static void print_each(struct ctl_ctx *ctx, const struct size_request *req,
		       const struct size_row *row)
{
	char buf[UNITS_TEXT_MAX], p95[UNITS_TEXT_MAX];
	struct size_request on;
	struct size_terms terms;
	char *total;

	if (row->fit.gpus < 2 || !req->method->terms)
		return;
	/* as it was judged: some engines prepare themselves by the GPU */
	on = size_request_for(req, row->gpu);
	req = &on;
	size_need_each(req, &row->fit.layout, &terms);
	out_line(ctx->out, "%s", "");
	out_line(ctx->out, "on each of %u %s", row->fit.gpus, row->gpu->name);
	total = mem_printf("of %s; P95 %s", units_gib(buf, row->fit.usable),
			   units_gib(p95, row->fit.per_gpu));
	size_print_terms(ctx, req, "terms_per_gpu", &terms, total);
	free(total);
}

static int estimate(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		    const char *word)
{
	struct size_terms terms;
	struct size_row *rows;
	bool fits;
	size_t n;
	int ret;

	(void)word;
	if (ctl_opt(ctx, "fit"))
		return size_fit(ctx, cat, req, ctl_opt(ctx, "fit"));
	ret = size_check_kinds(ctx, cat);
	if (ret)
		return ret;
	rows = mem_zalloc(cat->n_gpus, sizeof(*rows));
	size_print_need(ctx, req, &terms);
	n = size_rows(ctx, cat, req, rows);
	fits = print_fits(ctx, req, rows, n);
	if (n == 1)
		print_each(ctx, req, &rows[0]);
	out_line(ctx->out, "%s", "");
	size_print_remarks(ctx, cat, req, &terms);
	free(rows);
	if (!fits && ctl_flag(ctx, "gpu"))
		return ctl_fail(ctx, CTL_NO_FIT,
				"the workload fits on no number of the named GPUs: see NOTE");
	return CTL_DONE;
}

static int size_estimate_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 0, 1);

	return ret ? ret : size_verb_run(ctx, NULL, argv[0], SIZE_READ_COUNT, estimate);
}

const struct ctl_command cmd_size_estimate = {
	.name = "size estimate",
	.args = "[MODEL]",
	.summary = "memory of a workload, and how many GPUs of each kind hold it",
	.options = { options, size_kind_options, size_workload_options, size_fleet_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = SIZE_MODELS,
	.run = size_estimate_run,
};
