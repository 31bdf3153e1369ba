// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a step of inference
 *
 * Three kinds of engines. One keeps the tensors of the prompt's tokens as its
 * framework allocates them. One measures itself at start, with every sequence
 * that it is prepared for at the sampler, and leaves what it saw free (vLLM). One
 * plans a single buffer for the largest moment of a micro-batch (ggml).
 *
 * Notation: h hidden, f inner width of the MLP, a heads, V vocabulary, c cells of
 * the cache, u tokens of a micro-batch.
 */
#include <stdio.h>

#include "base/units.h"
#include "params.h"
#include "physics.h"
#include "step.h"

#define GIB_D ((double)(1ull << 30))

/* Bytes of a score and of what sampling makes of it, without a sampler of the engine's own. */
#define SCORE_BYTES 6

static double step_number(const struct size_request *req, enum engine_number n)
{
	return req->engine->number[n];
}

static bool large(const struct size_request *req)
{
	return (double)req->device >= step_number(req, ENGINE_LARGE_GIB) * GIB_D;
}

static double of_size(const struct size_request *req, enum engine_number small,
		      enum engine_number other)
{
	return large(req) && step_number(req, other) > 0 ? step_number(req, other) :
							   step_number(req, small);
}

/* An encoder writes nothing, so it has neither a cache nor a sampler. */
static bool encodes(const struct size_request *req)
{
	return req->model && !req->model->n_caches && !req->model->state_bytes;
}

double size_prompt(const struct size_request *req)
{
	double generated = req->generated ? (double)req->generated :
					    step_number(req, ENGINE_GENERATED);
	double prompt = (double)req->context - (encodes(req) ? 0 : generated);

	return prompt > 1 ? prompt : 1;
}

double size_chunk(const struct size_request *req, const struct size_layout *layout)
{
	double tokens = size_prompt(req) * (double)size_sequences(req, layout);
	double chunk = req->chunk ? (double)req->chunk :
				    of_size(req, ENGINE_PREFILL, ENGINE_PREFILL_LARGE);

	return chunk > 0 && tokens > chunk ? chunk : tokens;
}

double size_prepared(const struct size_request *req)
{
	return req->sequences ? (double)req->sequences :
				of_size(req, ENGINE_SEQUENCES, ENGINE_SEQUENCES_LARGE);
}

static double prefill_bytes(const struct size_request *req, const struct size_layout *layout)
{
	const struct cat_model *m = req->model;

	return size_chunk(req, layout) * (double)req->compute->linear / (double)SIZE_BYTE *
	       (4 * (double)m->hidden + 3 * (double)model_active_ffn(m) / layout->tp);
}

static double sampler_bytes(const struct size_request *req)
{
	if (encodes(req))
		return 0;
	return step_number(req, ENGINE_SAMPLER_BYTES) * size_prepared(req) *
	       (double)req->model->vocab;
}

/* --- ggml ------------------------------------------------------------------- */

/* A micro-batch is prepared whole, however short the prompts are. */
static double ubatch(const struct size_request *req)
{
	double cells = (double)req->context * (double)req->batch;
	double chunk = req->chunk ? (double)req->chunk : step_number(req, ENGINE_PREFILL);

	return chunk < cells ? chunk : cells;
}

/*
 * Attention of a micro-batch, everything in 32 bits: without flash attention a score
 * for each head and cell, and the mask; with it the mask in 32 and in 16 bits. Beside it
 * four vectors of the residual's width. As the planner of llama.cpp lays it out; exact on
 * logs of Llama, Phi, Granite and Qwen2 at 2,048 to 131,072 cells.
 */
static double attention_moment(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double cells = (double)req->context * (double)req->batch;
	double each = req->flash != 0 ? 1.5 : (double)m->heads + 1;

	return ubatch(req) * 4 * (each * cells + 4 * (double)m->hidden);
}

/* Scores of the whole micro-batch, and the vectors that they are made of. */
static double output_moment(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double vectors = m->experts ? 2 : 1;

	return ubatch(req) * 4 * ((double)m->vocab + vectors * (double)m->hidden);
}

static double buffer_bytes(const struct size_request *req)
{
	double attention = attention_moment(req), output = output_moment(req);

	return attention > output ? attention : output;
}

/* --- all --------------------------------------------------------------------- */

void size_step(const struct size_request *req, const struct size_layout *layout,
	       double *activations, double *logits)
{
	double sampler = sampler_bytes(req);

	*logits = 0;
	if (step_number(req, ENGINE_COMPUTE_BUFFER) > 0) {
		*activations = buffer_bytes(req);
		return;
	}
	*activations = prefill_bytes(req, layout);
	if (sampler > *activations)
		*activations = sampler;
	if (sampler <= 0 && !encodes(req))
		*logits = (double)size_sequences(req, layout) * (double)req->model->vocab /
			  layout->tp * SCORE_BYTES;
}

void size_step_formula(const struct size_request *req, const struct size_layout *layout, char *buf,
		       size_t size)
{
	const struct cat_model *m = req->model;
	unsigned long long h = m->hidden, v = m->vocab;
	char tokens[UNITS_TEXT_MAX], cells[UNITS_TEXT_MAX];

	if (step_number(req, ENGINE_COMPUTE_BUFFER) > 0 &&
	    attention_moment(req) > output_moment(req))
		snprintf(buf, size, "%s tokens x 4 B x (%s tokens x %g + 4 x %llu)",
			 units_grouped(tokens, (uint64_t)ubatch(req)),
			 units_grouped(cells, req->context * req->batch),
			 req->flash != 0 ? 1.5 : (double)m->heads + 1, h);
	else if (step_number(req, ENGINE_COMPUTE_BUFFER) > 0)
		snprintf(buf, size, "%s tokens x 4 B x (%llu entries + %s%llu)",
			 units_grouped(tokens, (uint64_t)ubatch(req)), v, m->experts ? "2 x " : "",
			 h);
	else if (sampler_bytes(req) > prefill_bytes(req, layout))
		snprintf(buf, size, "sampler: %s sequences x %llu entries x %g B",
			 units_grouped(tokens, (uint64_t)size_prepared(req)), v,
			 step_number(req, ENGINE_SAMPLER_BYTES));
	else
		snprintf(buf, size, "%s prompt tokens at a time x (4 x %llu + 3 x %llu) x %g B",
			 units_grouped(tokens, (uint64_t)size_chunk(req, layout)), h,
			 (unsigned long long)model_active_ffn(m),
			 (double)req->compute->linear / (double)SIZE_BYTE);
}
