// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the verbs of gpuctl size print alike: the workload, the terms of its memory, and what a
 * reader has to know to trust them.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/out.h"
#include "cmd/size_hub.h"
#include "cmd/size_options.h"
#include "cmd/size_print.h"
#include "size/config.h"
#include "size/estimate.h"
#include "size/kv.h"
#include "size/physics.h"

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
	{ "name", "TERM", 0 }, { "bytes", "MEMORY", OUT_RIGHT }, { "formula", "FORMULA", 0 },
	{ "source", NULL, 0 }, { "calibrated", NULL, 0 },	 { NULL, NULL, 0 },
};

static const struct out_column memory_columns[] = {
	{ "memory", "WHICH MEMORY", 0 },
	{ "p50_bytes", "P50", OUT_RIGHT },
	{ "p95_bytes", "P95", OUT_RIGHT },
	{ NULL, "SEEN AS", 0 },
	{ NULL, NULL, 0 },
};

void size_put_gib(struct out_table *t, const char *column, uint64_t bytes)
{
	char buf[UNITS_TEXT_MAX];

	out_cell(t, column, json_object_new_uint64(bytes), "%s", units_gib(buf, bytes));
}

/* A file without a shape has a name all the same. */
static const char *called(const struct size_request *req)
{
	const struct size_stored *stored = size_options_stored(req);

	return stored && *stored->called ? stored->called : NULL;
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

void size_print_workload(struct ctl_ctx *ctx, const struct size_request *req,
			 const struct size_terms *terms)
{
	struct out_table *t = out_table(ctx->out, NULL, workload_columns, OUT_SINGLE);
	const struct model_params *p = &req->params;
	char count[UNITS_TEXT_MAX], active[UNITS_TEXT_MAX];
	struct text line = { 0 };

	out_row(t);
	out_str(t, "model", req->model ? req->model->id : called(req));
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

	if (req->model || called(req))
		text_add(&line, "%s  ", req->model ? req->model->name : called(req));
	text_add(&line, "%s parameters", units_count(count, p->total));
	if (p->active != p->total)
		text_add(&line, " (%s active)", units_count(active, p->active));
	text_add(&line, "  %s %s", size_task_name(req->task), req->precision->name);
	if (req->model && req->method->terms)
		text_add(&line, ", %llu x %llu tokens%s", (unsigned long long)req->batch,
			 (unsigned long long)req->context, req->task == SIZE_INFER ? "" : " a GPU");
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
			out_line(ctx->out, "%s: %.1f GPUs", req->method->rule, gpus);
		}
	}
}

void size_print_terms(struct ctl_ctx *ctx, const struct size_request *req, const char *name,
		      const struct size_terms *terms, const char *total)
{
	struct out_table *t = out_table(ctx->out, name, term_columns, OUT_TABLE);
	char buf[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < terms->n; i++) {
		out_row(t);
		out_str(t, "name", terms->term[i].name);
		size_put_gib(t, "bytes", terms->term[i].bytes);
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
		[MEMORY_DEVICE] = "nvidia-smi; its P95 decides what fits",
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
		size_put_gib(t, "p50_bytes", terms->memory[i][0]);
		size_put_gib(t, "p95_bytes", terms->memory[i][1]);
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
			 "engine %s: nothing was measured for %s; the estimate is from formulas alone, with a wide interval, and its P95 decides what fits",
			 req->engine->id, size_task_name(req->task));
	else
		out_note(ctx->out, "remarks", "",
			 "engine %s: corrected by %u measurements of %u models; not calibrated: %s",
			 req->engine->id, fit->rows, fit->models, open.text ? open.text : "none");
	if (fit->learned)
		out_note(ctx->out, "remarks", "",
			 "multiplied by %.3f, learned from %u logs of this host", fit->p50,
			 fit->learned);
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
		text_add(&what, ": read like %s%s", id,
			 family_own_text(family, "guess") ? ", whose keys it has" : "");
	else
		text_add(&what, ": read as a plain transformer by the usual keys");
	out_note(ctx->out, "remarks", "", "%s%s, the interval is wide", what.text,
		 req->exact_bytes ? ", weights are exact" : "");
	free(what.text);
}

/* Experts without a width of their own: what was taken for it. */
static void print_expert_width(struct ctl_ctx *ctx, const struct size_request *req)
{
	const struct cat_model *m = req->model;
	struct text how = { 0 };

	if (m->moe_ffn == m->ffn)
		text_add(&how, "as wide as an MLP, %llu", (unsigned long long)m->ffn);
	else
		text_add(&how,
			 "%llu wide, so that those a token visits are as wide together as an MLP, %llu",
			 (unsigned long long)m->moe_ffn, (unsigned long long)m->ffn);
	out_note(ctx->out, "remarks", "",
		 "the file does not say the width of an expert (moe_intermediate_size): each of %llu is taken to be %s; the interval is wide%s",
		 (unsigned long long)m->experts, how.text,
		 req->exact_bytes ? ", weights are exact" : "");
	free(how.text);
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
		out_note(ctx->out, "remarks", "",
			 "the shape of the model is unknown (%s): only weights are counted",
			 *stored->why ? stored->why : "the file has none");
	if (*stored->model.left_out)
		out_note(ctx->out, "remarks", "",
			 "%s of the file is not counted: no model family describes its contents; the interval is wide",
			 stored->model.left_out);
	if (*stored->model.short_list)
		out_note(ctx->out, "remarks", "",
			 "%s has fewer entries than the model has layers: the rest is guessed, the interval is wide",
			 stored->model.short_list);
	if (req->model && req->model->moe_ffn_guessed)
		print_expert_width(ctx, req);
	if (*stored->unclear)
		out_note(ctx->out, "remarks", "", "%s; the interval is wide", stored->unclear);
	if (*stored->kv && !strcmp(stored->kv, req->kv->name))
		out_note(ctx->out, "remarks", "", "the checkpoint asks for a KV cache in %s",
			 stored->kv);
	if (req->precision == size_precision_get("fp32") && !strcmp(stored->quant, "fp32"))
		out_note(ctx->out, "remarks", "",
			 "the checkpoint is in fp32; engines serve it in 16 bits: --precision bf16");
	if (!stored->served && req->task == SIZE_INFER)
		out_note(ctx->out, "remarks", "",
			 "%s is a format of %s alone, and no profile knows the buffers of that engine",
			 stored->quant, *stored->quant == 'e' ? "ExLlama" : "MLX");
	if (req->task == SIZE_QLORA && !strcmp(stored->quant, "fp8") &&
	    req->precision->plain < 8 * SIZE_BIT)
		out_note(ctx->out, "remarks", "",
			 "the checkpoint is in fp8; QLoRA quantizes weights in 16 bits to %s",
			 req->precision->name);
	if (req->params.mtp)
		out_note(ctx->out, "remarks", "",
			 "%s parameters for the prediction of further tokens are stored and not loaded: only speculative decoding uses them",
			 units_count(count, req->params.mtp));
	if (stored->missing && stored->bytes)
		out_note(ctx->out, "remarks", "", "the file is incomplete: %llu bytes are missing",
			 (unsigned long long)stored->missing);
}

/* Engines refuse such a context, or the model loses its thread. */
static void print_too_long(struct ctl_ctx *ctx, const struct size_request *req)
{
	char context[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (!req->model || !req->model->max_context || req->context <= req->model->max_context)
		return;
	out_note(ctx->out, "remarks", "",
		 "a context of %s tokens is longer than the %s that the model was made for",
		 units_grouped(context, req->context),
		 units_grouped(most, req->model->max_context));
}

/* A folder that is called as a model of the catalogue is. */
static void print_namesake(struct ctl_ctx *ctx, const struct catalogue *cat,
			   const struct size_request *req)
{
	const struct size_stored *stored = size_options_stored(req);
	const struct cat_model *namesake;
	struct fault ignored = { "" };

	if (!stored || !stored->bare || !req->model ||
	    cat_model_find(cat->models, cat->n_models, req->model->name, &namesake, &ignored))
		return;
	out_note(ctx->out, "remarks", "",
		 "%s is a path and also the model %s of the catalogue: the path was taken",
		 req->model->name, namesake->name);
}

/* What is multiplied in 8 bits is kept in more. */
static void print_fp8_training(struct ctl_ctx *ctx, const struct size_request *req)
{
	if (req->task == SIZE_TRAIN && req->precision->plain < 16 * SIZE_BIT)
		out_note(ctx->out, "remarks", "",
			 "training in %s multiplies in 8 bits; weights, gradients and states take as much as with bf16",
			 req->precision->name);
}

/* Which matrices get adapters is the engine's way, and not all models have such. */
static void print_adapters(struct ctl_ctx *ctx, const struct size_request *req)
{
	if (!req->model || (req->task != SIZE_LORA && req->task != SIZE_QLORA))
		return;
	if (!(size_trained(req) > 0))
		out_note(ctx->out, "remarks", "",
			 "no matrix of this model gets an adapter: there is neither attention nor an MLP");
	else if (req->model->experts && req->targets & TARGET_MLP)
		out_note(ctx->out, "remarks", "",
			 "adapters are on attention only: engines that also adapt experts need more memory");
}

static void print_method(struct ctl_ctx *ctx, const struct size_request *req,
			 const struct size_terms *terms)
{
	struct size_request thumb = *req;
	struct size_terms rule;
	char gib[UNITS_TEXT_MAX], gb[UNITS_TEXT_MAX];

	/* of what was measured nothing is said where nothing was */
	if (req->method != &size_method_engine || req->engine->fit[req->task].rows)
		out_note(ctx->out, "remarks", "", "method %s: %s", req->method->name,
			 req->method->reading);
	if (req->method == &size_method_engine)
		print_calibration(ctx, req, terms);
	else if (req->method != &size_method_formula)
		return;
	if (!req->model)
		out_note(ctx->out, "remarks", "",
			 "%s left out: they need the shape of a model, name one instead of --params",
			 req->task == SIZE_INFER ? "KV cache and activations are" :
						   "activations and logits are");
	if (req->task != SIZE_INFER)
		return;
	thumb.method = &size_rules[0];
	size_need(&thumb, &rule);
	out_note(ctx->out, "remarks", "",
		 "the rule of thumb says %s, %s (%s); it leaves out the KV cache",
		 units_gib(gib, rule.total), units_gb(gb, rule.total), thumb.method->rule);
}

/* Some engines prepare for more on a large GPU, so that a larger one holds more of the same. */
static void print_prepared(struct ctl_ctx *ctx, const struct size_request *req)
{
	const double *number = req->engine->number;
	struct size_request large = size_request_on(req, (uint64_t)number[ENGINE_LARGE_GIB] << 30);
	const struct size_layout one = { .gpus = 1, .tp = 1, .pp = 1 };
	char gib[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];
	struct size_physics here, there;

	if (req->method != &size_method_engine || req->task != SIZE_INFER || !req->model ||
	    req->sequences || !(number[ENGINE_SEQUENCES_LARGE] > number[ENGINE_SEQUENCES]))
		return;
	size_physics(req, &one, &here);
	size_physics(&large, &one, &there);
	if (there.part[PART_ACTIVATIONS] <= here.part[PART_ACTIVATIONS])
		return;
	out_note(ctx->out, "remarks", "",
		 "on GPUs with %g GiB or more %s prepares for %s sequences, and activations are %s (--sequences)",
		 number[ENGINE_LARGE_GIB], req->engine->id,
		 units_grouped(count, (uint64_t)number[ENGINE_SEQUENCES_LARGE]),
		 units_gib(gib, (uint64_t)there.part[PART_ACTIVATIONS]));
}

void size_print_doubts(struct ctl_ctx *ctx, const struct size_request *req)
{
	print_file(ctx, req);
	print_too_long(ctx, req);
}

void size_print_remarks(struct ctl_ctx *ctx, const struct catalogue *cat,
			const struct size_request *req, const struct size_terms *terms)
{
	size_print_doubts(ctx, req);
	print_namesake(ctx, cat, req);
	print_prepared(ctx, req);
	print_fp8_training(ctx, req);
	print_adapters(ctx, req);
	print_method(ctx, req, terms);
}

void size_print_need(struct ctl_ctx *ctx, const struct size_request *req, struct size_terms *terms)
{
	size_need(req, terms);
	size_print_workload(ctx, req, terms);
	if (!req->method->terms)
		return;
	size_print_terms(ctx, req, "terms", terms, "if one GPU held all of it");
	print_memories(ctx, terms);
	out_line(ctx->out, "%s", "");
}
