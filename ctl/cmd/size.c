// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl size: memory and GPUs of a model and a workload. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/size_hub.h"
#include "cmd/size_machines.h"
#include "cmd/size_options.h"
#include "size/config.h"
#include "size/estimate.h"
#include "size/kv.h"
#include "size/physics.h"

/* Kinds that are shown unless more are asked for. */
#define KINDS_SHOWN 12

static const struct ctl_option options[] = {
	{ "gpu", 'g', "GPU",
	  "only kinds of this name, such as h100 (may be repeated); with --fit h100:2" },
	{ "fit", 0, "WHAT",
	  "how large a batch, how long a context or how many layers fit on the GPUs of --gpu",
	  "batch context layers" },
	{ "all", 'a', NULL, "all kinds of the catalogue, also those that no slot can take" },
	{ "learn", 0, "LOG", "learn from a log of PyTorch, vLLM or llama.cpp; -n compares alone",
	  "@files" },
	{ "check", 0, "NAME", "compare with what the GPUs of this composition use",
	  "@compositions" },
	{ "smi", 0, "FILE", "for --check: nvidia-smi --query-gpu=pci.bus_id,memory.used as CSV" },
	{ "compare", 0, NULL, "what each method says, with its rule" },
	{ NULL },
};

static const struct out_column workload_columns[] = {
	{ "model", NULL, 0 },
	{ "parameters", NULL, 0 },
	{ "active_parameters", NULL, 0 },
	{ "vision_parameters", NULL, 0 },
	{ "mtp_parameters", NULL, 0 },
	{ "kv_bytes_per_token", NULL, 0 },
	{ "kv_windowed_layers", NULL, 0 },
	{ "state_bytes_per_sequence", NULL, 0 },
	{ "max_context", NULL, 0 },
	{ "task", NULL, 0 },
	{ "precision", NULL, 0 },
	{ "kv_precision", NULL, 0 },
	{ "context", NULL, 0 },
	{ "batch", NULL, 0 },
	{ "method", NULL, 0 },
	{ "rule", NULL, 0 },
	{ "engine", NULL, 0 },
	{ "engine_rows", NULL, 0 },
	{ "learned_logs", NULL, 0 },
	{ "total_bytes", NULL, 0 },
	{ "p95_bytes", NULL, 0 },
	{ "gpus", NULL, 0 },
	{ NULL, NULL, 0 },
};

static const struct out_column term_columns[] = {
	{ "name", "TERM", 0 },
	{ "bytes", "MEMORY", OUT_RIGHT },
	{ "formula", "FORMULA", 0 },
	{ "source", NULL, 0 },
	{ "calibrated", NULL, 0 },
	{ NULL, NULL, 0 },
};

static const struct out_column memory_columns[] = {
	{ "memory", "WHICH MEMORY", 0 },
	{ "p50_bytes", "P50", OUT_RIGHT },
	{ "p95_bytes", "P95", OUT_RIGHT },
	{ NULL, "SEEN AS", 0 },
	{ NULL, NULL, 0 },
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

/**
 * struct row - a kind of GPU and how many of it
 * @gpu: the kind
 * @fit: the answer
 * @error: why there is none, "" otherwise
 */
struct row {
	const struct cat_gpu *gpu;
	struct size_fit fit;
	struct fault error;
};

/* In GiB throughout, so that a column can be added up by eye. */
static void put_gib(struct out_table *t, const char *column, uint64_t bytes)
{
	char buf[UNITS_TEXT_MAX];

	out_cell(t, column, json_object_new_uint64(bytes), "%s",
		 units_gib(buf, bytes));
}

static const char *precision_words(const struct size_request *req)
{
	if (req->task == SIZE_QLORA)
		return req->precision->text;
	return req->precision->name;
}

/* What a token adds beyond every window, and what a sequence takes at any length. */
static void print_cache(struct out_table *t, const struct size_request *req)
{
	out_uint(t, "kv_bytes_per_token", kv_growing_bytes(req->model, req->kv));
	out_uint(t, "kv_windowed_layers", kv_windowed_layers(req->model));
	out_uint(t, "state_bytes_per_sequence", kv_state_bytes(req->model));
	if (req->model->max_context)
		out_uint(t, "max_context", req->model->max_context);
}

static void print_workload(struct ctl_ctx *ctx, const struct size_request *req,
			   const struct size_terms *terms)
{
	struct out_table *t = out_table(ctx->out, NULL, workload_columns,
					OUT_SINGLE);
	const struct model_params *p = &req->params;
	char count[UNITS_TEXT_MAX], active[UNITS_TEXT_MAX];
	struct text line = { 0 };

	out_row(t);
	out_str(t, "model", req->model ? req->model->id : NULL);
	out_uint(t, "parameters", p->total);
	out_uint(t, "active_parameters", p->active);
	if (p->vision)
		out_uint(t, "vision_parameters", p->vision);
	if (p->mtp)
		out_uint(t, "mtp_parameters", p->mtp);
	if (req->model)
		print_cache(t, req);
	out_str(t, "task", size_task_name(req->task));
	out_str(t, "precision", req->precision->name);
	if (req->task == SIZE_INFER)
		out_str(t, "kv_precision", req->kv->name);
	out_uint(t, "context", req->context);
	out_uint(t, "batch", req->batch);
	out_str(t, "method", req->method->name);
	out_str(t, "rule", req->method->rule);
	if (req->method->terms)
		out_uint(t, "total_bytes", terms->total);
	if (terms->p95) {
		out_str(t, "engine", req->engine->id);
		out_uint(t, "engine_rows", req->engine->fit[req->task].rows);
		out_uint(t, "learned_logs", req->engine->fit[req->task].learned);
		out_uint(t, "p95_bytes", terms->p95);
	}

	if (req->model)
		text_add(&line, "%s  ", req->model->name);
	text_add(&line, "%s parameters", units_count(count, p->total));
	if (p->active != p->total)
		text_add(&line, " (%s active)", units_count(active, p->active));
	text_add(&line, "  %s %s", size_task_name(req->task),
		 precision_words(req));
	if (req->model && req->method->terms)
		text_add(&line, ", %llu x %llu tokens%s",
			 (unsigned long long)req->batch,
			 (unsigned long long)req->context,
			 req->task == SIZE_INFER ? "" : " a GPU");
	if (req->method == &size_method_engine)
		text_add(&line, ", engine %s", req->engine->id);
	else
		text_add(&line, ", method %s", req->method->name);
	out_line(ctx->out, "%s", line.text);
	free(line.text);

	if (req->method->gpus) {
		struct fault f;
		double gpus;

		if (!req->method->gpus(req, NULL, &gpus, &f)) {
			out_real(t, "gpus", gpus, 2);
			out_line(ctx->out, "%s: %.1f GPUs", req->method->rule,
				 gpus);
		}
	}
}

static void print_terms(struct ctl_ctx *ctx, const struct size_request *req, const char *name,
			const struct size_terms *terms, const char *total)
{
	struct out_table *t = out_table(ctx->out, name, term_columns,
					OUT_TABLE);
	char buf[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < terms->n; i++) {
		out_row(t);
		out_str(t, "name", terms->term[i].name);
		put_gib(t, "bytes", terms->term[i].bytes);
		if (*terms->term[i].formula)
			out_str(t, "formula", terms->term[i].formula);
		else
			out_text(t, "formula", "%s", "");
		if (!terms->p95)
			continue;
		if (terms->term[i].part < SIZE_PARTS)
			out_str(t, "source",
				size_part_source(req, (enum size_part)terms->term[i].part));
		out_bool(t, "calibrated", terms->term[i].calibrated);
	}
	out_line(ctx->out, "total %s  %s", units_gib(buf, terms->total), total);
}

/* Three ways to ask how much memory is used give three answers. */
static void print_memories(struct ctl_ctx *ctx, const struct size_terms *terms)
{
	static const char *const seen[SIZE_MEMORIES] = {
		[MEMORY_ALLOCATED] = "torch.cuda.max_memory_allocated()",
		[MEMORY_RESERVED] = "torch.cuda.max_memory_reserved()",
		[MEMORY_DEVICE] = "nvidia-smi; fits is decided on its P95",
	};
	struct out_table *t;
	int i;

	if (!terms->p95)
		return;
	out_line(ctx->out, "%s", "");
	t = out_table(ctx->out, "memory", memory_columns, OUT_TABLE);
	for (i = 0; i < SIZE_MEMORIES; i++) {
		out_row(t);
		out_str(t, "memory", engine_memory_names[i]);
		put_gib(t, "p50_bytes", terms->memory[i][0]);
		put_gib(t, "p95_bytes", terms->memory[i][1]);
		out_text(t, "SEEN AS", "%s", seen[i]);
	}
}

/* What of the sum rests on formulas alone. */
static void print_calibration(struct ctl_ctx *ctx, const struct size_request *req,
			      const struct size_terms *terms)
{
	const struct engine_fit *fit = &req->engine->fit[req->task];
	struct text open = { 0 };
	size_t i;

	for (i = 0; i < terms->n; i++)
		if (!terms->term[i].calibrated && terms->term[i].part < SIZE_PARTS)
			text_join(&open, ", ", terms->term[i].name);
	if (!fit->rows)
		out_note(ctx->out, "remarks", "",
			 "engine %s: nothing measured for %s, so formulas alone and a wide interval",
			 req->engine->id, size_task_name(req->task));
	else
		out_note(ctx->out, "remarks", "",
			 "engine %s: corrected by %u measured rows of %u models; not calibrated: %s",
			 req->engine->id, fit->rows, fit->models, open.text ? open.text : "none");
	if (fit->learned)
		out_note(ctx->out, "remarks", "", "times %.3f, learned from %u logs of this host",
			 fit->p50, fit->learned);
	free(open.text);
}

/* A word that no family has: what the model was taken for. */
static void print_guess(struct ctl_ctx *ctx, const struct size_request *req,
			const struct size_stored *stored)
{
	const struct cat_family *family = stored->model.text_family;
	const char *id = family && strcmp(family->id, FAMILY_ROOT) ? family->id : NULL;
	struct text what = { 0 };

	if (strcmp(stored->unknown, SIZE_NAMELESS))
		text_add(&what, "architecture \"%s\" is not known", stored->unknown);
	else
		text_add(&what, "the file does not say its architecture");
	if (id)
		text_add(&what, ": read like %s, whose keys it has", id);
	else
		text_add(&what, ": read as a plain transformer by the usual keys");
	out_note(ctx->out, "remarks", "", "%s%s, the interval is wide", what.text,
		 req->exact_bytes ? ", weights are exact" : "");
	free(what.text);
}

/* What a file left open, and what of it is not in the sum. */
static void print_file(struct ctl_ctx *ctx, const struct size_request *req)
{
	const struct size_stored *stored = size_options_stored(req);
	char count[UNITS_TEXT_MAX];

	if (!stored)
		return;
	if (*stored->unknown)
		print_guess(ctx, req, stored);
	if (!req->model)
		out_note(ctx->out, "remarks", "", "there is no shape (%s): weights alone",
			 *stored->why ? stored->why : "the file has none");
	if (*stored->model.left_out)
		out_note(ctx->out, "remarks", "",
			 "%s of the file is not counted: no family says what it holds; the interval is wide",
			 stored->model.left_out);
	if (*stored->unclear)
		out_note(ctx->out, "remarks", "", "%s; the interval is wide", stored->unclear);
	if (*stored->kv && !strcmp(stored->kv, req->kv->name))
		out_note(ctx->out, "remarks", "", "the checkpoint asks for a KV cache in %s",
			 stored->kv);
	if (req->precision == size_precision_get("fp32") && !strcmp(stored->quant, "fp32"))
		out_note(ctx->out, "remarks", "",
			 "the checkpoint is in fp32; engines that serve it take 16 bits: --precision bf16");
	if (req->params.mtp)
		out_note(ctx->out, "remarks", "",
			 "%s parameters that predict further tokens are stored and not loaded: speculative decoding alone takes them",
			 units_count(count, req->params.mtp));
	if (stored->missing && stored->bytes)
		out_note(ctx->out, "remarks", "", "the file is not whole: %llu bytes are missing",
			 (unsigned long long)stored->missing);
}

/* Engines refuse such a context, or the model loses its thread. */
static void print_too_long(struct ctl_ctx *ctx, const struct size_request *req)
{
	char context[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (!req->model || !req->model->max_context || req->context <= req->model->max_context)
		return;
	out_note(ctx->out, "remarks", "",
		 "a context of %s tokens is beyond the %s that the model was made for",
		 units_grouped(context, req->context),
		 units_grouped(most, req->model->max_context));
}

/* A folder that is called as a model of the catalogue is. */
static void print_namesake(struct ctl_ctx *ctx, const struct catalogue *cat,
			   const struct size_request *req)
{
	const struct cat_model *namesake;
	struct fault ignored = { "" };

	if (!size_options_stored(req) || !req->model || size_hub_is_name(req->model->name) ||
	    cat_model_find(cat->models, cat->n_models, req->model->name, &namesake, &ignored))
		return;
	out_note(ctx->out, "remarks", "",
		 "%s is a path and also the model %s of the catalogue: the path was taken",
		 req->model->name, namesake->name);
}

/* What a reader must know to trust the number. */
static void print_remarks(struct ctl_ctx *ctx, const struct size_request *req,
			  const struct size_terms *terms)
{
	struct size_request thumb = *req;
	struct size_terms rule;
	char gib[UNITS_TEXT_MAX], gb[UNITS_TEXT_MAX];

	out_note(ctx->out, "remarks", "", "method %s: %s", req->method->name,
		 req->method->reading);
	if (req->method == &size_method_engine)
		print_calibration(ctx, req, terms);
	else if (req->method != &size_method_formula)
		return;
	if (!req->model)
		out_note(ctx->out, "remarks", "",
			 "%s left out: they need the shape of a model, name one instead of --params",
			 req->task == SIZE_INFER ? "KV cache and activations are"
						 : "activations and logits are");
	if (req->task != SIZE_INFER)
		return;
	thumb.method = &size_rules[0];
	size_need(&thumb, &rule);
	out_note(ctx->out, "remarks", "",
		 "the rule of thumb says %s, %s (%s); it leaves out the KV cache",
		 units_gib(gib, rule.total), units_gb(gb, rule.total),
		 thumb.method->rule);
}

static void print_fit(struct out_table *t, const struct size_request *req,
		      const struct row *row)
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
			put_gib(t, "bytes_per_gpu", fit->per_gpu);
	}
	if (fit->usable) {
		put_gib(t, "usable_bytes", fit->usable);
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
		text_join(&note, "; ", row->gpu->form == GPU_FORM_MODULE
			  ? "module, not for a slot" : "service, not for a slot");
	out_str(t, "note", note.text);
	free(note.text);
}

/*
 * Has it matrix units for 16 bits? All that multiply faster than this do; where nobody says
 * how fast, the width of the memory tells: decoding is bound by it.
 */
#define MATRIX_TFLOPS 40
#define WIDE_GBS 600

static bool is_made_for_models(const struct cat_gpu *gpu)
{
	double tflops, gbs = 0;

	if (cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &tflops) != GPU_UNKNOWN)
		return tflops >= MATRIX_TFLOPS;
	cat_gpu_fact(gpu, GPU_BANDWIDTH_GBS, &gbs);
	return gbs >= WIDE_GBS;
}

/*
 * What is made for models first, then the fewest GPUs and the least memory that does it; no
 * answer last.
 */
static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	unsigned int nx = x->fit.gpus, ny = y->fit.gpus;
	bool mx = nx && is_made_for_models(x->gpu), my = ny && is_made_for_models(y->gpu);

	if (mx != my)
		return mx ? -1 : 1;
	if (nx != ny)
		return !nx ? 1 : !ny ? -1 : nx < ny ? -1 : 1;
	if (x->fit.usable != y->fit.usable)
		return x->fit.usable < y->fit.usable ? -1 : 1;
	return strcmp(x->gpu->id, y->gpu->id);
}

static bool asked_for(const struct ctl_ctx *ctx, const struct cat_gpu *gpu)
{
	const char *name;
	size_t pos = 0;

	if (!ctl_flag(ctx, "gpu"))
		return ctl_flag(ctx, "all") || gpu->form == GPU_FORM_CARD;
	while ((name = ctl_opt_next(ctx, "gpu", &pos)))
		if (cat_gpu_answers(gpu, name))
			return true;
	return false;
}

static int check_names(struct ctl_ctx *ctx, const struct catalogue *cat)
{
	const struct cat_gpu *gpu;
	struct fault f = { "" };
	const char *name;
	size_t pos = 0;

	while ((name = ctl_opt_next(ctx, "gpu", &pos)))
		if (cat_gpu_find(cat->gpus, cat->n_gpus, name, &gpu, &f) ==
		    -ENOENT)
			return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", f.text);
	return CTL_DONE;
}

static size_t collect(struct ctl_ctx *ctx, const struct catalogue *cat,
		      const struct size_request *req, struct row *rows)
{
	size_t i, n = 0;

	for (i = 0; i < cat->n_gpus; i++) {
		struct row *row = &rows[n];

		if (!asked_for(ctx, &cat->gpus[i]))
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
		       const struct row *rows, size_t n)
{
	struct out_table *t = out_table(ctx->out, "fits", fit_columns,
					OUT_TABLE);
	bool all = ctl_flag(ctx, "all") || ctl_flag(ctx, "gpu");
	size_t i, fitting = 0;

	for (i = 0; i < n; i++) {
		fitting += rows[i].fit.gpus > 0;
		if (all || out_is_json(ctx->out) || i < KINDS_SHOWN)
			print_fit(t, req, &rows[i]);
	}
	if (!all && n > KINDS_SHOWN)
		out_line(ctx->out, "%zu more kinds of card with --all",
			 n - KINDS_SHOWN);
	return fitting;
}

/* One kind asked for: what each of its GPUs holds. */
static void print_each(struct ctl_ctx *ctx, const struct size_request *req,
		       const struct row *row)
{
	char buf[UNITS_TEXT_MAX];
	enum gpu_trust trust;
	struct size_request on;
	struct size_terms terms;
	char *total;

	if (row->fit.gpus < 2 || !req->method->terms)
		return;
	/* as it was judged: some engines prepare themselves by the GPU's memory */
	on = size_request_on(req, cat_gpu_memory_mib(row->gpu, &trust) << 20);
	req = &on;
	size_need_each(req, &row->fit.layout, &terms);
	out_line(ctx->out, "%s", "");
	out_line(ctx->out, "on each of %u %s", row->fit.gpus,
		 row->gpu->name);
	total = mem_printf("of %s", units_gib(buf, row->fit.usable));
	print_terms(ctx, req, "terms_per_gpu", &terms, total);
	free(total);
}

static int size_workload(struct ctl_ctx *ctx, const struct catalogue *cat,
			 const struct size_request *req)
{
	struct row *rows = mem_zalloc(cat->n_gpus, sizeof(*rows));
	struct size_terms terms;
	bool fits;
	size_t n;

	size_need(req, &terms);
	print_workload(ctx, req, &terms);
	if (req->method->terms) {
		print_terms(ctx, req, "terms", &terms, "on one GPU, were it large enough");
		print_memories(ctx, &terms);
		out_line(ctx->out, "%s", "");
	}
	if (size_machines_asked(ctx)) {
		free(rows);
		return size_machines_print(ctx, cat, req, asked_for);
	}
	n = collect(ctx, cat, req, rows);
	fits = print_fits(ctx, req, rows, n);
	if (n == 1)
		print_each(ctx, req, &rows[0]);
	out_line(ctx->out, "%s", "");
	print_file(ctx, req);
	print_too_long(ctx, req);
	print_namesake(ctx, cat, req);
	print_remarks(ctx, req, &terms);
	free(rows);
	if (!fits && ctl_flag(ctx, "gpu"))
		return ctl_fail(ctx, CTL_NO_FIT,
				"it fits on none of the kinds that were named, whatever the count: see NOTE");
	return CTL_DONE;
}

static void compare_one(struct out_table *t, const struct size_request *given,
			const struct size_method *method,
			const struct cat_gpu *gpu)
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
		put_gib(t, "total_bytes", terms.total);
		out_text(t, "GB", "%.1f", (double)terms.total / 1e9);
	} else if (!gpu && !method->gpus(&req, NULL, &gpus, &f)) {
		out_real(t, "gpus", gpus, 1);
	}
	if (gpu && !size_fit_gpu(&req, gpu, &fit, &f) && fit.gpus)
		out_uint(t, "gpus", fit.gpus);
	else if (gpu)
		out_str(t, "note", fit.why && !*f.text ? fit.why : f.text);
}

static int compare(struct ctl_ctx *ctx, const struct catalogue *cat,
		   const struct size_request *req)
{
	const struct size_method *const *m;
	const struct cat_gpu *gpu = NULL;
	const char *name = ctl_opt(ctx, "gpu");
	struct size_terms none = { 0 };
	struct fault f = { "" };
	struct out_table *t;

	if (name && cat_gpu_find(cat->gpus, cat->n_gpus, name, &gpu, &f))
		return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", f.text);
	print_workload(ctx, req, &none);
	if (gpu)
		out_line(ctx->out, "GPUS of %s", gpu->name);
	t = out_table(ctx->out, "methods", method_columns, OUT_TABLE);
	for (m = size_methods; *m; m++)
		if ((*m)->tasks & SIZE_TASK(req->task))
			compare_one(t, req, *m, gpu);
	out_line(ctx->out, "%s", "");
	for (m = size_methods; *m; m++)
		if ((*m)->tasks & SIZE_TASK(req->task))
			out_line(ctx->out, "%s: %s", (*m)->name,
				 (*m)->reading);
	return CTL_DONE;
}

/* Each of these is an answer of its own. */
static int check_modes(struct ctl_ctx *ctx)
{
	static const char *const modes[] = {
		"check", "learn", "table", "compare", "machines", "fit",
	};
	const char *first = NULL;
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!ctl_flag(ctx, modes[i]))
			continue;
		if (first)
			return ctl_fail(ctx, CTL_USAGE,
					"--%s and --%s exclude each other: ask twice", first,
					modes[i]);
		first = modes[i];
	}
	if (ctl_flag(ctx, "smi") && !ctl_flag(ctx, "check"))
		return ctl_fail(ctx, CTL_USAGE,
				"--smi is about --check NAME: add it, or leave --smi out");
	if (ctx->dry_run && !ctl_flag(ctx, "learn"))
		return ctl_fail(ctx, CTL_USAGE,
				"size changes nothing without --learn: leave -n out");
	return CTL_DONE;
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct size_request req;
	struct catalogue cat;
	struct fault f = { "" };
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = check_modes(ctx);
	if (ret)
		return ret;
	if (catalogue_load(&cat, ctx->data_dir, ctx->config_dir, &f))
		return ctl_fail(ctx, CTL_FAILED, "%s", f.text);
	ret = size_options_read_all(ctx, &cat, argc ? argv[0]
					      : ctl_flag(ctx, "table") && !size_options_given(ctx)
					      ? "llama-3.1-8b" : NULL, &req);
	if (!ret && !ctl_flag(ctx, "fit"))
		ret = check_names(ctx, &cat);
	if (!ret && size_machines_asked(ctx) && req.method != &size_method_engine &&
	    !ctl_flag(ctx, "table"))
		ret = ctl_fail(ctx, CTL_USAGE, "--machines knows times only with --method engine");
	if (!ret && size_machines_asked(ctx) && req.host_layers)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--machines knows no times of layers in the host's memory: leave --host-layers out");
	if (!ret && size_machines_asked(ctx) && !ctl_flag(ctx, "table"))
		ret = size_machines_check(ctx, &cat, &req);
	if (!ret && ctl_opt(ctx, "check"))
		ret = size_check(ctx, &req, ctl_opt(ctx, "check"));
	else if (!ret && ctl_opt(ctx, "learn"))
		ret = size_learn(ctx, &cat, &req, ctl_opt(ctx, "learn"));
	else if (!ret && ctl_flag(ctx, "table"))
		ret = size_table_print(ctx, &cat, &req);
	else if (!ret && ctl_flag(ctx, "fit"))
		ret = size_most_print(ctx, &cat, &req);
	else if (!ret && ctl_flag(ctx, "compare"))
		ret = compare(ctx, &cat, &req);
	else if (!ret)
		ret = size_workload(ctx, &cat, &req);
	catalogue_free(&cat);
	return ret;
}

const struct ctl_command cmd_size = {
	.name = "size",
	.group = CTL_SIZING,
	.args = "[MODEL]",
	.summary = "memory and GPUs of a model and a workload",
	.help =
		"MODEL is a name of the catalogue, a Hugging Face folder, a config.json, a safetensors file or index, or a\n"
		"GGUF file; gpuctl reads headers and no weights. hf:OWNER/NAME, with @REVISION or /FILE, is a model of\n"
		"the Hugging Face Hub. The output shows each term of the memory with its formula, and then how many GPUs\n"
		"of each kind hold the workload. P50 is the expected value; one run in twenty exceeds P95. A kind of GPU\n"
		"fits if P95 is at most the memory that its driver reports.\n"
		"--engine names the program that runs the model: profiles (gpuctl-catalogue(5)) were fitted to published\n"
		"measurements, and the remarks give their number. --machines lists arrangements with time, cost and\n"
		"energy. --ttft and --tpot exclude arrangements by a lower bound of their latency. --table prints the\n"
		"tables of common articles from computed figures. --method uses a rule of thumb, and --compare shows all\n"
		"rules side by side.\n"
		"The answer is the smallest number of GPUs that holds the workload, and compose takes the same number.\n"
		"A tensor parallel degree (TP) divides the heads and the MLP of the model; there are at most as many\n"
		"stages (PP) as layers. The attention of a mixture of experts may be data parallel: each of ADP groups\n"
		"has a copy of it and a share of the sequences, and EP GPUs share the experts. Among layouts with the\n"
		"same number of GPUs, those without ADP come first, and among these the one with the widest TP. Training\n"
		"shards its states over all GPUs (ZeRO-3, FSDP) and recomputes activations; there, TP and PP only reduce\n"
		"the number of GPUs. With --round pow2 the number of GPUs is a power of two.",
	.options = { options, size_machine_options, size_workload_options, size_fleet_options },
	.completes = "@models @hub @files",
	.run = run,
};
