// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the estimate as terms
 *
 * The method that knows engines: each part with its formula in the numbers of
 * the workload, where the formula is from, and whether rows were measured that
 * could correct it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/units.h"
#include "base/wide.h"
#include "estimate.h"
#include "kv.h"
#include "physics.h"
#include "step.h"

/**
 * struct optimizer - what an optimizer keeps
 * @name: what users type
 * @bytes: of states per parameter, beside weight and gradient
 * @bytes16: the same where they are kept in 16 bits
 */
struct optimizer {
	const char *name;
	double bytes;
	double bytes16;
};

static const struct optimizer optimizers[SIZE_OPTIMIZERS] = {
	[OPTIMIZER_ADAMW] = { "adamw", 8, 4 },
	[OPTIMIZER_ADAMW_8BIT] = { "adamw-8bit", 2, 2 },
	/* rows and columns instead of a matrix: less than a hundredth */
	[OPTIMIZER_ADAFACTOR] = { "adafactor", 0.05, 0.05 },
	[OPTIMIZER_SGD] = { "sgd", 4, 2 },
	[OPTIMIZER_LION] = { "lion", 4, 2 },
	[OPTIMIZER_MUON] = { "muon", 4, 2 },
};

double size_optimizer_bytes(enum size_optimizer optimizer, bool pure16)
{
	return pure16 ? optimizers[optimizer].bytes16 : optimizers[optimizer].bytes;
}

const char *size_optimizer_name(enum size_optimizer optimizer)
{
	return optimizers[optimizer].name;
}

int size_optimizer_find(const char *name, enum size_optimizer *out, struct fault *f)
{
	int i;

	for (i = 0; i < SIZE_OPTIMIZERS; i++) {
		if (!strcasecmp(name, optimizers[i].name)) {
			*out = (enum size_optimizer)i;
			return 0;
		}
	}
	fault_set(f, ENOENT, "no optimizer is called \"%.40s\"; known are", name);
	for (i = 0; i < SIZE_OPTIMIZERS; i++)
		fault_add(f, " %s", optimizers[i].name);
	return -ENOENT;
}

static double explain_number(const struct size_request *req, enum engine_number n)
{
	return req->engine->number[n];
}

/* What a layer keeps of a token, as layer_bytes() has it. */
static void layer_formula(const struct size_request *req, char *buf, size_t size)
{
	const struct cat_model *m = req->model;
	unsigned long long h = m->hidden, f = model_active_ffn(m);
	bool compiled = req->compile == 1;
	double q, kv;

	size_widths(m, &q, &kv);
	if (model_mlp_is_gated(m))
		snprintf(buf, size, "%d x %llu + %d x %.0f + 4 x %.0f + %d x %llu B",
			 compiled ? 10 : 16, h, compiled ? 2 : 4, q, kv, compiled ? 6 : 8, f);
	else
		snprintf(buf, size, "%d x %llu + 4 x %llu%s B", req->flash ? 12 : 18, h, f,
			 req->flash ? "" : " + 5 x heads x tokens");
	if (m->experts)
		snprintf(buf + strlen(buf), size - strlen(buf), ", for experts 4 x %llu x %llu B",
			 (unsigned long long)m->active_experts, h);
}

static void activation_formula(const struct size_request *req, const struct size_layout *layout,
			       char *buf, size_t size)
{
	static const char *const how[] = { "all kept", "scores recomputed", "recomputed",
					   "recomputed from the host's memory" };
	unsigned long long batch = req->micro_batch ? req->micro_batch : req->batch;
	char layer[96];

	if (req->task == SIZE_INFER) {
		size_step_formula(req, layout, buf, size);
		return;
	}
	layer_formula(req, layer, sizeof(layer));
	snprintf(buf, size, "%llu x %llu tokens x %llu layers, %s; a layer: %s", batch,
		 (unsigned long long)req->context,
		 (unsigned long long)(req->model->layers / layout->pp), how[size_recompute(req)],
		 layer);
}

/* Scores of tokens, and in training what the loss makes of them. */
static void logits_formula(const struct size_request *req, char *buf, size_t size)
{
	unsigned long long batch = req->micro_batch ? req->micro_batch : req->batch;
	char tokens[UNITS_TEXT_MAX];

	if (req->task == SIZE_INFER)
		snprintf(buf, size, "%llu x %llu entries x 6 B, last tokens",
			 (unsigned long long)req->batch, (unsigned long long)req->model->vocab);
	else
		snprintf(buf, size, "%s tokens x %llu entries x %.3g B",
			 units_grouped(tokens, batch * req->context),
			 (unsigned long long)req->model->vocab,
			 size_loss_bytes(req) / (double)req->model->vocab);
}

/* Of training: how many bytes a parameter takes in this part. */
static void trained_text(const struct size_request *req, const struct size_layout *layout,
			 enum size_part part, char *buf, size_t size)
{
	double n = size_trained(req), more;
	struct size_physics p;
	char text[UNITS_TEXT_MAX];

	size_physics(req, layout, &p);
	snprintf(buf, size, "%s x %.4g B", units_grouped(text, (uint64_t)n), p.part[part] / n);
	if (part != PART_OPTIMIZER)
		return;
	more = p.part[part] / n - size_optimizer_bytes(req->optimizer, req->pure16);
	snprintf(buf + strlen(buf), size - strlen(buf), ", %sstates of %s",
		 more > 4.5 ? "fp32 copy and gradients, " :
		 more > 1   ? "fp32 copy, " :
			      "",
		 size_optimizer_name(req->optimizer));
}

/* Of the weights of a model that sees or hears, what its encoders take. */
static double vision_share(const struct size_request *req)
{
	const struct model_params *p = &req->params;
	double linear = req->exact_bytes ? 1 : (double)req->precision->linear;
	double rest = req->exact_bytes ? 1 : (double)req->precision->rest;

	if (!p->vision || req->task != SIZE_INFER)
		return 0;
	return (double)p->vision * rest /
	       ((double)p->linear * linear + (double)(p->total - p->linear) * rest);
}

/* What of the weights is not on GPUs. */
static void weight_host_text(const struct size_request *req, char *buf, size_t size)
{
	size_t n = strlen(buf);

	if (!req->model || req->task != SIZE_INFER)
		return;
	if (req->host_layers)
		snprintf(buf + n, size - n, ", of %llu layers %llu",
			 (unsigned long long)req->model->layers,
			 (unsigned long long)(req->model->layers - req->host_layers));
	else if (explain_number(req, ENGINE_HOST_EMBEDDING) > 0 && !req->model->tied)
		snprintf(buf + n, size - n, ", without the input table");
}

/* Encoders have a row of their own in the table of inference. */
static void text_weight_formula(const struct size_request *req, char *buf, size_t size)
{
	struct size_precision precision = *req->precision;
	struct model_params text = req->params;
	size_t n;

	if (vision_share(req) > 0)
		text.total -= text.vision;
	if (req->task == SIZE_QLORA && explain_number(req, ENGINE_UPCAST) > 0)
		precision.rest = 32 * SIZE_BIT;
	size_weight_formula(&text, &precision, buf, size);
	n = strlen(buf);
	if (req->task != SIZE_INFER)
		snprintf(buf + n, size - n, " + adapters");
}

static void weight_text(const struct size_request *req, const struct size_layout *layout, char *buf,
			size_t size)
{
	char n[UNITS_TEXT_MAX];

	if (req->task == SIZE_TRAIN)
		trained_text(req, layout, PART_WEIGHTS, buf, size);
	else if (req->exact_bytes)
		snprintf(buf, size, "%s B%s, as the headers of the file say",
			 units_grouped(n, req->exact_bytes),
			 vision_share(req) > 0 ? " with encoders" : "");
	else
		text_weight_formula(req, buf, size);
	weight_host_text(req, buf, size);
}

static double own_gib(const struct size_request *req)
{
	return size_own_buffers(req) / (double)(1ull << 30);
}

/* Of training: what is not there with this layout is not named. */
static void working_text(const struct size_request *req, const struct size_layout *layout,
			 char *buf, size_t size)
{
	unsigned int zero = size_zero_stage(req, layout);
	struct text what = { 0 };

	if (own_gib(req) > 0)
		text_add(&what, "%.3g GiB of the engine's own", own_gib(req));
	if (zero >= 3)
		text_join(&what, ", ", "gathered blocks");
	if (zero && explain_number(req, ENGINE_BUCKETS) > 0)
		text_join(&what, ", ", "buckets of gradients");
	if (size_frozen_gradients(req, layout))
		text_join(&what, ", ", "gradients of frozen weights");
	if (req->task == SIZE_QLORA && explain_number(req, ENGINE_DEQUANTIZED) > 0)
		text_join(&what, ", ", "the largest quantized matrix in 16 bits");
	if (explain_number(req, ENGINE_STEP_BYTES) > 0)
		text_join(&what, ", ", "the optimizer's step beyond activations");
	snprintf(buf, size, "%s", what.text ? what.text : "");
	free(what.text);
}

static void buffer_text(const struct size_request *req, const struct size_layout *layout, char *buf,
			size_t size)
{
	double copies = req->precision->linear < 16 * SIZE_BIT ?
				explain_number(req, ENGINE_DEQUANTIZED) :
				0;
	char own[32] = "";

	if (own_gib(req) > 0)
		snprintf(own, sizeof(own), "%.3g GiB + ", own_gib(req));
	if (req->task == SIZE_INFER && copies > 0)
		snprintf(buf, size, "%sthe largest quantized matrix in 16 bits%s", own,
			 copies > 1 ? ", twice" : "");
	else if (req->task == SIZE_INFER)
		snprintf(buf, size, "%.3g GiB of the engine's own", own_gib(req));
	else
		working_text(req, layout, buf, size);
}

void size_part_formula(const struct size_request *req, const struct size_layout *layout,
		       enum size_part part, char *buf, size_t size)
{
	*buf = '\0';
	switch (part) {
	case PART_WEIGHTS:
		weight_text(req, layout, buf, size);
		break;
	case PART_GRADIENTS:
	case PART_OPTIMIZER:
		trained_text(req, layout, part, buf, size);
		break;
	case PART_ACTIVATIONS:
		if (req->model)
			activation_formula(req, layout, buf, size);
		break;
	case PART_LOGITS:
		if (req->model)
			logits_formula(req, buf, size);
		break;
	case PART_KV:
		if (req->model)
			kv_formula(req->model, req->kv, req->context, req->batch, buf, size);
		break;
	case PART_BUFFERS:
		buffer_text(req, layout, buf, size);
		break;
	default:
		snprintf(buf, size, "context %g GiB%s", explain_number(req, ENGINE_CONTEXT),
			 layout->gpus > 1 ? ", collectives" : "");
	}
}

const char *size_part_source(const struct size_request *req, enum size_part part)
{
	static const char *const sources[SIZE_PARTS] = {
		[PART_WEIGHTS] = "the model's shape",
		[PART_GRADIENTS] = "Rajbhandari 2020 (ZeRO)",
		[PART_OPTIMIZER] = "Rajbhandari 2020 (ZeRO)",
		[PART_ACTIVATIONS] = "Korthikanti 2022",
		[PART_LOGITS] = "cross entropy in PyTorch",
		[PART_KV] = "the model's shape",
		[PART_BUFFERS] = "the engine's policy",
		[PART_FRAMEWORK] = "measured contexts",
	};

	if (part == PART_WEIGHTS && req->exact_bytes)
		return "the file's headers";
	if (part == PART_ACTIVATIONS && req->task == SIZE_INFER &&
	    (explain_number(req, ENGINE_COMPUTE_BUFFER) > 0 ||
	     explain_number(req, ENGINE_SAMPLER_BYTES) > 0))
		return "logs of the engine";
	return sources[part];
}

static uint64_t explain_whole(double bytes)
{
	return bytes >= 1.8e19 ? UINT64_MAX : (uint64_t)bytes;
}

#define VISION_TERM "encoders"

static void engine_terms(const struct size_request *req, const struct size_layout *layout,
			 struct size_terms *terms)
{
	const struct engine_fit *fit = &req->engine->fit[req->task];
	struct size_estimate e;
	double vision;
	size_t j;
	int i;

	size_estimate(req, layout, &e);
	vision = e.part[PART_WEIGHTS] * vision_share(req);
	e.part[PART_WEIGHTS] -= vision;
	for (i = 0; i < SIZE_PARTS; i++) {
		struct size_term *term;

		if (e.part[i] < 1)
			continue;
		term = &terms->term[terms->n++];
		term->name = engine_part_names[i];
		term->part = i;
		term->bytes = explain_whole(e.part[i]);
		term->calibrated = fit->known & 1u << i;
		term->formula[0] = '\0';
		if (i == PART_WEIGHTS && vision >= 1) {
			terms->term[terms->n] = *term;
			terms->term[terms->n].name = VISION_TERM;
			terms->term[terms->n++].bytes = explain_whole(vision);
		}
	}
	terms->term[terms->n].name = "allocator";
	terms->term[terms->n].part = SIZE_PARTS;
	terms->term[terms->n].calibrated = false;
	terms->term[terms->n].formula[0] = '\0';
	terms->term[terms->n++].bytes =
		explain_whole(e.memory[MEMORY_RESERVED] - e.memory[MEMORY_ALLOCATED]);
	for (j = 0; j < terms->n; j++)
		terms->total = add_saturate(terms->total, terms->term[j].bytes);
	terms->p95 = explain_whole(e.p95[MEMORY_DEVICE]);
	for (i = 0; i < SIZE_MEMORIES; i++) {
		terms->memory[i][0] = explain_whole(e.memory[i]);
		terms->memory[i][1] = explain_whole(e.p95[i]);
	}
	terms->memory[MEMORY_DEVICE][0] = terms->total;
}

void size_explain(const struct size_request *req, const struct size_layout *layout,
		  struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];
	size_t i;

	if (req->method != &size_method_engine)
		return;
	for (i = 0; i < terms->n; i++) {
		struct size_term *term = &terms->term[i];

		if (!strcmp(term->name, VISION_TERM))
			snprintf(term->formula, sizeof(term->formula),
				 "%s parameters of images or sound, of the weights",
				 units_grouped(n, req->params.vision));
		else if (term->part < SIZE_PARTS)
			size_part_formula(req, layout, (enum size_part)term->part, term->formula,
					  sizeof(term->formula));
		else
			snprintf(term->formula, sizeof(term->formula),
				 "reserved over allocated: %g",
				 explain_number(req, ENGINE_RESERVE));
	}
}

const struct size_method size_method_engine = {
	.name = "engine",
	.rule = "each part by its formula, corrected by the engine's profile",
	.reading =
		"P50 and P95 from measurements with the engine, if there are any; P95 decides what fits",
	.tasks = SIZE_ALL_TASKS,
	.terms = engine_terms,
};
