// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl size table
 *
 * Three tables that articles print from rules of thumb, here from computed
 * figures: what the weights and the workload of 8B, 70B and 400B models need
 * at 4 to 32 bits, on how many GPUs, and what those cost an hour.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "size/estimate.h"

static const struct ctl_option options[] = {
	{ "price", 0, "PRICE", "price of a GPU-hour: print costs, too" },
	{ NULL },
};

static const char *const models[] = { "llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b" };
static const char *const formats[] = { "int4", "int8", "fp8", "bf16", "fp32" };
static const char *const kinds[] = {
	"l4",	       "l40s",	       "a100-pcie-80",	      "h100-pcie-80",
	"h100-nvl-94", "h200-nvl-141", "rtx-pro-6000-server",
};

#define MODELS 3
#define FORMATS 5
#define KINDS 7

static const struct out_column memory_columns[] = {
	{ "model", "MEMORY (P95)", 0 },
	{ "format", "FORMAT", 0 },
	{ "weight_bytes", "WEIGHTS", OUT_RIGHT },
	{ "p50_bytes", "P50", OUT_RIGHT },
	{ "p95_bytes", "P95", OUT_RIGHT },
	{ "rule_bytes", "RULE OF THUMB", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

/* One column a format, behind the kind of GPU; @title says what the cells are. */
#define FORMAT_COLUMNS(title)                                                                      \
	{                                                                                          \
		{ "gpu", title, 0 }, { "model", "MODEL", 0 }, { "int4", "INT4", OUT_RIGHT },       \
			{ "int8", "INT8", OUT_RIGHT }, { "fp8", "FP8", OUT_RIGHT },                \
			{ "bf16", "BF16", OUT_RIGHT }, { "fp32", "FP32", OUT_RIGHT },              \
			{ NULL, NULL, 0 },                                                         \
	}

static const struct out_column count_columns[] = FORMAT_COLUMNS("GPUS");
static const struct out_column cost_columns[] = FORMAT_COLUMNS("COST AN HOUR");

/* The workload that was asked for, of another model in another format. */
static bool variant(struct catalogue *cat, const struct size_request *req, const char *model,
		    const char *format, const struct size_method *method, struct size_request *out)
{
	struct fault f = { "" };

	*out = *req;
	out->precision = size_precision_get(format);
	out->compute = NULL;
	out->kv = NULL;
	out->method = method;
	out->given_params = 0;
	out->exact_bytes = 0;
	out->table_bytes = 0;
	if (catalogue_model(cat, model, &out->model, &f))
		return false;
	return !size_request_check(out, &f);
}

static void table_put(struct out_table *t, const char *column, uint64_t bytes)
{
	char buf[UNITS_TEXT_MAX];

	out_cell(t, column, json_object_new_uint64(bytes), "%s", units_gib(buf, bytes));
}

static void memory(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req)
{
	struct out_table *t = out_table(ctx->out, "memory", memory_columns, OUT_TABLE);
	struct size_request r;
	struct size_terms terms;
	int m, f;

	for (m = 0; m < MODELS; m++) {
		for (f = 0; f < FORMATS; f++) {
			if (!variant(cat, req, models[m], formats[f], &size_method_engine, &r))
				continue;
			out_row(t);
			out_str(t, "model", r.model->name);
			out_str(t, "format", formats[f]);
			size_need(&r, &terms);
			table_put(t, "weight_bytes", size_weight_bytes(&r.params, r.precision));
			table_put(t, "p50_bytes", terms.total);
			table_put(t, "p95_bytes", terms.p95);
			if (variant(cat, req, models[m], formats[f], &size_rules[0], &r)) {
				size_need(&r, &terms);
				table_put(t, "rule_bytes", terms.total);
			}
		}
	}
}

/* Counts, or with a price what they cost. */
static void counts(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		   double price)
{
	struct out_table *t =
		price > 0 ? out_table(ctx->out, "cost_per_hour", cost_columns, OUT_TABLE) :
			    out_table(ctx->out, "gpus", count_columns, OUT_TABLE);
	const struct cat_gpu *gpu;
	struct size_request r;
	struct size_fit fit;
	struct fault fault = { "" };
	int k, m, f;

	for (k = 0; k < KINDS; k++) {
		if (cat_gpu_find(cat->gpus, cat->n_gpus, kinds[k], &gpu, &fault))
			continue;
		for (m = 0; m < MODELS; m++) {
			out_row(t);
			out_str(t, "gpu", gpu->name);
			out_str(t, "model", models[m]);
			for (f = 0; f < FORMATS; f++) {
				if (!variant(cat, req, models[m], formats[f], &size_method_engine,
					     &r) ||
				    size_fit_gpu(&r, gpu, &fit, &fault) || !fit.gpus)
					continue;
				if (price > 0)
					out_real(t, formats[f], price * fit.gpus, 2);
				else
					out_uint(t, formats[f], fit.gpus);
			}
		}
	}
}

static int table(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		 const char *price_word)
{
	struct fault f = { "" };
	double price = 0;

	if (price_word && conf_decimal(price_word, 0.0001, 1e6, &price, &f))
		return ctl_fail(ctx, CTL_USAGE, "--price: %s", f.text);
	out_line(ctx->out, "%s, %llu x %llu tokens, engine %s", size_task_name(req->task),
		 (unsigned long long)req->batch, (unsigned long long)req->context, req->engine->id);
	memory(ctx, cat, req);
	counts(ctx, cat, req, 0);
	if (price > 0)
		counts(ctx, cat, req, price);
	else
		out_line(ctx->out, "--price adds the cost of an hour");
	return CTL_DONE;
}

static int size_table_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 0, 0);

	(void)argv;
	if (!ret && (ctl_opt(ctx, "model") || ctl_opt(ctx, "params")))
		ret = ctl_fail(ctx, CTL_USAGE,
			       "the tables have models of their own: leave --model and --params out");
	return ret ? ret :
		     size_verb_run(ctx, ctl_opt(ctx, "price"), models[0], SIZE_READ_MEMORY, table);
}

const struct ctl_command cmd_size_table = {
	.name = "size table",
	.args = "",
	.summary = "memory, GPUs and cost of 8B, 70B and 400B models at 4 to 32 bits",
	.help = "These are the tables of common articles, from computed figures.",
	.options = { options, size_workload_options },
	.flags = CTL_NO_DRY_RUN,
	.run = size_table_run,
};
