// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl size --fit
 *
 * The question the other way round: not how many GPUs a workload needs, but how many
 * sequences, how long ones, or how many layers of the model the GPUs that there are hold.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/size.h"
#include "cmd/size_print.h"
#include "size/estimate.h"
#include "size/limit.h"

#define MIB (1ull << 20)

/* @key and @title: of what is looked for. */
#define MOST_COLUMNS(key, title)                                                                   \
	{                                                                                          \
		{ "gpu", NULL, 0 }, { "gpu_name", "ON", 0 }, { "gpus", "GPUS", OUT_RIGHT },        \
			{ key, title, OUT_RIGHT },                                                 \
			{ "tensor_parallel", "TP", OUT_RIGHT | OUT_OPTIONAL },                     \
			{ "pipeline_parallel", "PP", OUT_RIGHT | OUT_OPTIONAL },                   \
			{ "attention_data_parallel", "ADP", OUT_RIGHT | OUT_OPTIONAL },            \
			{ "bytes_per_gpu", "PER GPU", OUT_RIGHT | OUT_OPTIONAL },                  \
			{ "usable_bytes", "OF", OUT_RIGHT }, { "note", "NOTE", OUT_OPTIONAL },     \
			{ NULL, NULL, 0 },                                                         \
	}

static const struct out_column batch_columns[] = MOST_COLUMNS("batch", "SEQUENCES");
static const struct out_column context_columns[] = MOST_COLUMNS("context", "TOKENS");
static const struct out_column layer_columns[] = MOST_COLUMNS("layers", "LAYERS");

/* In the order of enum size_most_of. */
static const struct {
	const char *word;
	const char *option;
	const char *one;
	const struct out_column *columns;
} kinds[] = {
	[MOST_BATCH] = { "batch", "batch", "sequence", batch_columns },
	[MOST_CONTEXT] = { "context", "context", "token", context_columns },
	[MOST_LAYERS] = { "layers", "host-layers", "layer", layer_columns },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct asked - a value of --gpu
 * @name: of the kind
 * @count: of GPUs
 */
struct asked {
	char name[64];
	unsigned int count;
};

/* "h100", "h100:2" */
static int asked_read(struct ctl_ctx *ctx, const char *value, struct asked *asked)
{
	const char *colon = strrchr(value, ':');
	size_t len = colon ? (size_t)(colon - value) : strlen(value);
	unsigned long long count = 1;
	struct fault f = { "" };

	if (len >= sizeof(asked->name))
		return ctl_fail(ctx, CTL_USAGE, "--gpu: no GPU has a name of %zu letters", len);
	memcpy(asked->name, value, len);
	asked->name[len] = '\0';
	if (colon && conf_whole(colon + 1, 1, SIZE_GPUS_MAX, &count, &f))
		return ctl_fail(ctx, CTL_USAGE, "--gpu %s: %s", value, f.text);
	asked->count = (unsigned int)count;
	return CTL_DONE;
}

static void put_most(struct out_table *t, enum size_most_of what, uint64_t most)
{
	char buf[UNITS_TEXT_MAX];

	out_cell(t, kinds[what].word, json_object_new_uint64(most), "%s", units_grouped(buf, most));
}

static void put_bytes(struct out_table *t, const char *column, uint64_t bytes)
{
	char buf[UNITS_TEXT_MAX];

	out_cell(t, column, json_object_new_uint64(bytes), "%s", units_gib(buf, bytes));
}

/* Returns whether anything fits. */
static bool most_print(struct out_table *t, const struct size_request *req,
		       const struct cat_gpu *gpu, unsigned int gpus, enum size_most_of what)
{
	const struct size_request on = size_request_for(req, gpu);
	struct size_choice at;
	const struct size_layout *layout = &at.fit.layout;
	uint64_t most = size_most(&on, on.device, gpus, what, &at);

	out_row(t);
	out_str(t, "gpu", gpu->id);
	out_str(t, "gpu_name", gpu->name);
	out_uint(t, "gpus", gpus);
	put_most(t, what, most);
	if (most && layout->tp > 1)
		out_uint(t, "tensor_parallel", layout->tp);
	if (most && layout->pp > 1)
		out_uint(t, "pipeline_parallel", layout->pp);
	if (most && layout->adp > 1)
		out_uint(t, "attention_data_parallel", layout->adp);
	if (most)
		put_bytes(t, "bytes_per_gpu", at.fit.per_gpu);
	put_bytes(t, "usable_bytes", at.fit.usable);
	if (!most)
		out_str(t, "note", "not even one");
	else if (what == MOST_CONTEXT && most == req->model->max_context)
		out_str(t, "note", "the model's maximum");
	else if (what == MOST_LAYERS && most == req->model->layers)
		out_str(t, "note", "all of them");
	else if (what == MOST_LAYERS)
		out_strf(t, "note", "of %llu layers: --n-gpu-layers %llu",
			 (unsigned long long)req->model->layers, (unsigned long long)most);
	return most;
}

static int most_of_kind(struct ctl_ctx *ctx, const struct catalogue *cat,
			const struct size_request *req, const struct asked *asked,
			struct out_table *t, enum size_most_of what, bool *fits)
{
	struct fault f = { "" };
	const struct cat_gpu *gpu;
	size_t i;

	if (cat_gpu_find(cat->gpus, cat->n_gpus, asked->name, &gpu, &f) == -ENOENT)
		return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", f.text);
	for (i = 0; i < cat->n_gpus; i++)
		if (cat_gpu_answers(&cat->gpus[i], asked->name))
			*fits |= most_print(t, req, &cat->gpus[i], asked->count, what);
	return CTL_DONE;
}

static int most_check(struct ctl_ctx *ctx, const struct size_request *req, const char *word,
		      enum size_most_of *what)
{
	size_t i;

	for (i = 0; i < KINDS && strcmp(word, kinds[i].word); i++)
		;
	if (i == KINDS)
		return ctl_fail(ctx, CTL_USAGE, "--fit is batch, context or layers, not \"%s\"",
				word);
	*what = (enum size_most_of)i;
	if (!ctl_flag(ctx, "gpu"))
		return ctl_fail(ctx, CTL_USAGE,
				"--fit needs GPUs: add --gpu KIND:COUNT, such as --gpu h100:2");
	if (!req->model)
		return ctl_fail(ctx, CTL_USAGE, "--fit needs the shape of a model: name one");
	if (!req->method->terms)
		return ctl_fail(ctx, CTL_USAGE, "--method %s does not compute memory",
				req->method->name);
	if (*what == MOST_LAYERS && !(req->engine->number[ENGINE_HOST_EMBEDDING] > 0))
		return ctl_fail(ctx, CTL_USAGE,
				"--fit layers: engine %s keeps all layers on GPUs: use --engine llama.cpp",
				req->engine->id);
	if (ctl_opt(ctx, kinds[i].option))
		return ctl_fail(ctx, CTL_USAGE,
				"--fit computes what --%s gives: leave one of them out",
				kinds[i].option);
	return CTL_DONE;
}

/* What the numbers are about. */
static void head_print(struct ctl_ctx *ctx, const struct size_request *req, enum size_most_of what)
{
	unsigned long long batch = req->batch, context = req->context;
	struct text line = { 0 };

	text_add(&line, "%s  %s %s, ", req->model->name, size_task_name(req->task),
		 req->precision->name);
	if (what == MOST_BATCH)
		text_add(&line, "sequences of %llu tokens", context);
	else if (what == MOST_CONTEXT)
		text_add(&line, "%llu sequence%s", batch, batch > 1 ? "s" : "");
	else
		text_add(&line, "%llu x %llu tokens", batch, context);
	if (req->method == &size_method_engine)
		text_add(&line, ", engine %s; P95 decides what fits", req->engine->id);
	else
		text_add(&line, ", method %s", req->method->name);
	out_line(ctx->out, "%s", line.text);
	free(line.text);
}

int size_fit(struct ctl_ctx *ctx, const struct catalogue *cat, const struct size_request *req,
	     const char *word)
{
	enum size_most_of what = MOST_BATCH;
	struct out_table *t;
	struct asked asked;
	const char *value;
	bool fits = false;
	size_t pos = 0;
	int ret;

	ret = most_check(ctx, req, word, &what);
	if (ret)
		return ret;
	head_print(ctx, req, what);
	t = out_table(ctx->out, "most", kinds[what].columns, OUT_TABLE);
	while (!ret && (value = ctl_opt_next(ctx, "gpu", &pos))) {
		ret = asked_read(ctx, value, &asked);
		if (!ret)
			ret = most_of_kind(ctx, cat, req, &asked, t, what, &fits);
	}
	if (!ret)
		size_print_doubts(ctx, req);
	if (!ret && !fits)
		ret = ctl_fail(ctx, CTL_NO_FIT, "not even one %s fits on these GPUs",
			       kinds[what].one);
	return ret;
}
