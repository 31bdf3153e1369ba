// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default method: every tensor that must be there, by its formula, and an
 * allowance for the framework that is named as such. Nothing is fitted; where
 * the literature gives a range the upper end is taken, so that "fits" errs on
 * the safe side.
 *
 * Inference is spread by tensor and then pipeline parallelism. Training shards
 * its states over all GPUs (ZeRO-3, FSDP) and recomputes activations, so that
 * any number of GPUs will do.
 */
#include <stdio.h>

#include "base/units.h"
#include "base/wide.h"
#include "estimate.h"
#include "kv.h"
#include "physics.h"

/* Tokens that an engine prefills at a time; longer prompts come in chunks. */
#define PREFILL_TOKENS 8192

/* CUDA context of a recent PyTorch, and NCCL's buffers at the first barrier. */
#define CONTEXT_BYTES (GIB * 92 / 100)
#define NCCL_BYTES (GIB * 3 / 2)

/* Reserved over allocated memory of torch's allocator at fixed shapes. */
#define ALLOCATOR_PERCENT 5

/* AdamW with 16-bit weights and an fp32 copy, or all in fp32. */
#define STATE_BYTES 16

/* Logits, their gradient and the loss, per token and vocabulary entry. */
#define LOSS_BYTES 14

/* Without a model: rank 16 on all linear layers of a 7B to 70B model. */
#define LORA_PER_MILLE 6

static uint64_t share(uint64_t bytes, unsigned int by)
{
	return wide_saturate(wide_div_up(bytes, by));
}

static void add_framework(const struct size_layout *layout, struct size_terms *terms)
{
	uint64_t bytes = CONTEXT_BYTES;

	if (layout->gpus > 1)
		bytes += NCCL_BYTES;
	size_term_add(terms, "framework", bytes,
		      "allowance a GPU: CUDA context 0.92 GiB, with several GPUs NCCL 1.5 GiB more");
}

/* Matrices of the experts that groups of data-parallel attention leave to each other. */
static uint64_t experts_elsewhere(const struct cat_model *m, unsigned int adp)
{
	return m->params.experts - wide_saturate(wide_div_up(m->params.experts, adp));
}

/* Weights on the fullest stage of a pipeline: embedding or head, not both. */
static uint64_t stage_weights(const struct size_request *req, const struct size_layout *layout)
{
	struct model_params part = req->params;
	const struct cat_model *m = req->model;
	unsigned int pp = layout->pp;
	uint64_t layers;

	if (layout->adp > 1) {
		part.linear -= experts_elsewhere(m, layout->adp);
		part.total = part.linear + part.small + part.embedding + part.head + part.vision;
	}
	if (pp == 1 || !m)
		return share(size_weight_bytes(&part, req->precision), pp);
	layers = share(m->layers, pp);
	part.linear = wide_saturate(wide_div_up((u128)part.linear * layers, m->layers));
	part.small = wide_saturate(wide_div_up((u128)part.small * layers, m->layers));
	part.total = part.linear + part.small + part.embedding + part.vision;
	return size_weight_bytes(&part, req->precision);
}

static void add_kv(const struct size_request *req, const struct size_layout *layout,
		   struct size_terms *terms)
{
	const struct cat_model *m = req->model;
	uint64_t bytes =
		kv_bytes(m, req->kv, req->context, size_sequences(req, layout), layout->tp);
	char formula[SIZE_FORMULA_MAX];
	u128 whole = bytes;

	if (layout->pp > 1)
		bytes = wide_saturate(wide_div_up(whole * share(m->layers, layout->pp), m->layers));
	kv_formula(m, req->kv, req->context, req->batch, formula, sizeof(formula));
	size_term_add(terms, "KV cache", bytes, "%s", formula);
}

/* Working set of a prefill, and the logits of the sequences. */
static void add_prefill(const struct size_request *req, const struct size_layout *layout,
			struct size_terms *terms)
{
	const struct cat_model *m = req->model;
	uint64_t tokens = req->context < PREFILL_TOKENS ? req->context : PREFILL_TOKENS;
	uint64_t ffn = model_active_ffn(m);
	u128 bytes = (u128)tokens * 2 * (4 * m->hidden + share(3 * ffn, layout->tp)) +
		     (u128)size_sequences(req, layout) * share(m->vocab, layout->tp) * 6;

	size_term_add(terms, "activations", wide_saturate(bytes),
		      "%llu tokens x (4 x %llu + 3 x %llu) x 2 B + %llu x %llu x 6 B",
		      (unsigned long long)tokens, (unsigned long long)m->hidden,
		      (unsigned long long)ffn, (unsigned long long)req->batch,
		      (unsigned long long)m->vocab);
}

static void infer_terms(const struct size_request *req, const struct size_layout *layout,
			struct size_terms *terms)
{
	char formula[SIZE_FORMULA_MAX];

	size_weight_formula(&req->params, req->precision, formula, sizeof(formula));
	size_term_add(terms, "weights", share(stage_weights(req, layout), layout->tp), "%s",
		      formula);
	if (req->model) {
		add_kv(req, layout, terms);
		add_prefill(req, layout, terms);
	}
	add_framework(layout, terms);
}

static void add_states(const struct size_request *req, const struct size_layout *layout,
		       struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];
	const char *what = req->precision->plain == 32 * SIZE_BIT ?
				   "weights 4, gradients 4, Adam 8" :
				   "weights 2, gradients 2, fp32 copy 4, Adam 8";
	u128 bytes = wide_div_up((u128)req->params.total * STATE_BYTES, layout->gpus);

	size_term_add(terms, "states", wide_saturate(bytes), "%s x %d B: %s",
		      units_grouped(n, req->params.total), STATE_BYTES, what);
}

static void add_adapters(const struct size_request *req, const struct size_layout *layout,
			 struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];
	uint64_t params;
	u128 bytes;

	if (req->model)
		params = model_lora_params(req->model, req->rank);
	else
		params = wide_saturate((u128)req->params.total * LORA_PER_MILLE / 1000);
	bytes = wide_div_up((u128)params * STATE_BYTES, layout->gpus);
	if (req->model)
		size_term_add(terms, "adapters", wide_saturate(bytes),
			      "%s x %d B: rank %u on the linear layers, with gradients and Adam",
			      units_grouped(n, params), STATE_BYTES, req->rank);
	else
		size_term_add(terms, "adapters", wide_saturate(bytes),
			      "%s x %d B: 0.6 %% of the parameters, as rank 16 has on a 7B to 70B model",
			      units_grouped(n, params), STATE_BYTES);
}

/* Frozen weights of LoRA; quantized ones keep embeddings and norms in fp32. */
static void add_frozen(const struct size_request *req, const struct size_layout *layout,
		       struct size_terms *terms)
{
	struct size_precision precision = *req->precision;
	char formula[SIZE_FORMULA_MAX];

	if (req->task == SIZE_QLORA)
		precision.rest = 32 * SIZE_BIT;
	size_weight_formula(&req->params, &precision, formula, sizeof(formula));
	size_term_add(terms, "frozen weights",
		      share(size_weight_bytes(&req->params, &precision), layout->gpus), "%s",
		      formula);
	if (req->task == SIZE_QLORA && req->model)
		size_term_add(terms, "dequantized", wide_saturate((u128)req->params.block * 2),
			      "one block at a time, 2 B a parameter");
}

/* Checkpoints of every layer, and one layer worked on again in full. */
static void add_activations(const struct size_request *req, struct size_terms *terms)
{
	const struct cat_model *m = req->model;
	uint64_t h = m->hidden;
	u128 tokens = (u128)req->context * req->batch;
	uint64_t kv = m->kv_lora ? m->heads * (m->nope_dim + m->rope_dim) :
				   m->kv_heads * m->head_dim;
	uint64_t layer = model_mlp_is_gated(m) ? 20 * h + 4 * kv + 8 * model_active_ffn(m) : 34 * h;
	char n[UNITS_TEXT_MAX];

	units_grouped(n, wide_saturate(tokens));
	size_term_add(terms, "activations",
		      wide_saturate(tokens * 2 * h * m->layers +
				    wide_div_up(tokens * layer * 13, 10)),
		      "%s tokens x (2 x %llu x %llu layers + 1.3 x %llu B of one layer), recomputed",
		      n, (unsigned long long)h, (unsigned long long)m->layers,
		      (unsigned long long)layer);
	size_term_add(terms, "logits, loss", wide_saturate(tokens * m->vocab * LOSS_BYTES),
		      "%s tokens x %llu x %d B", n, (unsigned long long)m->vocab, LOSS_BYTES);
}

static void train_terms(const struct size_request *req, const struct size_layout *layout,
			struct size_terms *terms)
{
	if (req->task == SIZE_TRAIN) {
		add_states(req, layout, terms);
	} else {
		add_frozen(req, layout, terms);
		add_adapters(req, layout, terms);
	}
	if (req->model && layout->gpus > 1)
		size_term_add(terms, "gathered",
			      wide_saturate((u128)req->params.block *
					    (req->task == SIZE_TRAIN ? 8 : 4)),
			      "two blocks gathered, one reduced in fp32");
	if (req->model)
		add_activations(req, terms);
	size_term_add(terms, "allocator",
		      wide_saturate((u128)terms->total * ALLOCATOR_PERCENT / 100),
		      "%d %% of the above, reserved over allocated at fixed shapes",
		      ALLOCATOR_PERCENT);
	add_framework(layout, terms);
}

static void formula_terms(const struct size_request *req, const struct size_layout *layout,
			  struct size_terms *terms)
{
	if (req->task == SIZE_INFER)
		infer_terms(req, layout, terms);
	else
		train_terms(req, layout, terms);
}

const struct size_method size_method_formula = {
	.name = "formula",
	.rule = "weights or states + KV cache or activations + framework",
	.reading = "each tensor by its formula, an allowance for the framework; nothing fitted",
	.tasks = SIZE_ALL_TASKS,
	.terms = formula_terms,
};
