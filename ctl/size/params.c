// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of a model from its shape. All families are the same transformer
 * with other choices of norms, biases and MLP; the table says which, and only
 * latent attention (DeepSeek) has an attention of its own. Every published
 * count in the catalogue comes out to the last parameter.
 */
#include "params.h"
#include "wide.h"

/**
 * struct family - what a family adds to the plain transformer
 * @gated: three MLP matrices instead of two
 * @bias_qkv: biases on query, key and value
 * @bias_all: biases on every matrix of a block
 * @norms: norms in a block; 0: cat_model.layer_norms says
 * @norm_vectors: 1 for RMSNorm, 2 for LayerNorm (weight and bias)
 * @qk_norm: norms of head_dim on queries and keys
 * @head_bias: a bias on the output matrix
 * @embedding_norm: a norm behind the embedding
 */
struct family {
	bool gated;
	bool bias_qkv;
	bool bias_all;
	unsigned int norms;
	unsigned int norm_vectors;
	bool qk_norm;
	bool head_bias;
	bool embedding_norm;
};

static const struct family families[MODEL_ARCHS] = {
	[MODEL_LLAMA] = { .gated = true, .norms = 2, .norm_vectors = 1 },
	[MODEL_QWEN2] = { .gated = true, .bias_qkv = true, .norms = 2,
			  .norm_vectors = 1 },
	[MODEL_QWEN3] = { .gated = true, .norms = 2, .norm_vectors = 1,
			  .qk_norm = true },
	[MODEL_QWEN3_MOE] = { .gated = true, .norms = 2, .norm_vectors = 1,
			      .qk_norm = true },
	[MODEL_MIXTRAL] = { .gated = true, .norms = 2, .norm_vectors = 1 },
	[MODEL_GEMMA2] = { .gated = true, .norms = 4, .norm_vectors = 1 },
	[MODEL_GEMMA3] = { .gated = true, .norms = 4, .norm_vectors = 1,
			   .qk_norm = true },
	[MODEL_DEEPSEEK] = { .gated = true, .norms = 2, .norm_vectors = 1 },
	[MODEL_GPT2] = { .bias_all = true, .norms = 2, .norm_vectors = 2 },
	[MODEL_OPT] = { .bias_all = true, .norms = 2, .norm_vectors = 2 },
	[MODEL_BLOOM] = { .bias_all = true, .norms = 2, .norm_vectors = 2,
			  .embedding_norm = true },
	[MODEL_GPT_NEOX] = { .bias_all = true, .norms = 2, .norm_vectors = 2 },
	[MODEL_MPT] = { .norms = 2, .norm_vectors = 1 },
	[MODEL_FALCON] = { .norms = 0, .norm_vectors = 2 },
	[MODEL_PHI] = { .bias_all = true, .norms = 1, .norm_vectors = 2,
			.head_bias = true },
};

static uint64_t attention(const struct cat_model *m)
{
	uint64_t h = m->hidden, a = m->heads;
	uint64_t query;

	if (m->arch != MODEL_DEEPSEEK)
		return 2 * h * m->head_dim * (a + m->kv_heads);

	query = m->nope_dim + m->rope_dim;
	query = m->q_lora ? h * m->q_lora + m->q_lora * a * query
			  : h * a * query;
	return query + h * (m->kv_lora + m->rope_dim) +
	       m->kv_lora * a * (m->nope_dim + m->value_dim) +
	       a * m->value_dim * h;
}

static uint64_t mlp(const struct cat_model *m, uint64_t width)
{
	return (families[m->arch].gated ? 3 : 2) * m->hidden * width;
}

/* Norms and biases of a block. */
static uint64_t vectors(const struct cat_model *m)
{
	const struct family *fam = &families[m->arch];
	uint64_t norms = fam->norms ? fam->norms : m->layer_norms;
	uint64_t n = norms * fam->norm_vectors * m->hidden;

	if (fam->bias_qkv || fam->bias_all)
		n += (m->heads + 2 * m->kv_heads) * m->head_dim;
	if (fam->bias_all)
		n += m->hidden + m->ffn + m->hidden;
	if (fam->qk_norm)
		n += 2 * m->head_dim;
	if (m->arch == MODEL_DEEPSEEK)
		n += m->q_lora + m->kv_lora;
	return n;
}

/* The MLP of a block with experts, @visited of them counted. */
static u128 experts(const struct cat_model *m, uint64_t visited)
{
	return (u128)(visited + m->shared_experts) * mlp(m, m->moe_ffn);
}

void model_params(const struct cat_model *m, struct model_params *out)
{
	const struct family *fam = &families[m->arch];
	uint64_t dense = m->experts ? m->dense_layers : m->layers;
	uint64_t sparse = m->layers - dense;
	uint64_t router = m->hidden * m->experts;
	u128 idle = experts(m, m->experts) - experts(m, m->active_experts);
	u128 linear, small, block;

	linear = (u128)m->layers * attention(m) + (u128)dense * mlp(m, m->ffn) +
		 (u128)sparse * experts(m, m->experts);
	small = (u128)m->layers * vectors(m) + (u128)sparse * router +
		fam->norm_vectors * m->hidden;
	if (fam->embedding_norm)
		small += fam->norm_vectors * m->hidden;
	if (fam->head_bias)
		small += m->vocab;
	block = sparse ? experts(m, m->experts) + router : (u128)mlp(m, m->ffn);
	block += attention(m) + vectors(m);

	out->linear = wide_saturate(linear);
	out->small = wide_saturate(small);
	out->embedding = (m->vocab + m->positions) * m->hidden;
	out->head = m->tied ? 0 : m->vocab * m->hidden;
	out->block = wide_saturate(block);
	out->total = wide_saturate(linear + small + out->embedding + out->head);
	out->active = wide_saturate(linear - sparse * idle + small +
				    out->embedding + out->head);
}

uint64_t model_lora_params(const struct cat_model *m, unsigned int rank)
{
	return model_lora_on(m, rank, ~0u);
}

uint64_t model_lora_on(const struct cat_model *m, unsigned int rank,
		       unsigned int targets)
{
	uint64_t h = m->hidden, a = m->heads;
	uint64_t q = a * m->head_dim, kv = m->kv_heads * m->head_dim;
	uint64_t sides;	/* rows and columns of all adapted matrices */

	if (m->arch == MODEL_DEEPSEEK && !(targets & 15)) {
		sides = 0;
	} else if (m->arch == MODEL_DEEPSEEK) {
		q = a * (m->nope_dim + m->rope_dim);
		sides = m->q_lora ? h + m->q_lora + m->q_lora + q : h + q;
		sides += h + m->kv_lora + m->rope_dim;
		sides += m->kv_lora + a * (m->nope_dim + m->value_dim);
		sides += a * m->value_dim + h;
	} else {
		sides = (targets & 1 ? h + q : 0) + (targets & 2 ? h + kv : 0) +
			(targets & 4 ? h + kv : 0) + (targets & 8 ? q + h : 0);
	}
	if (!m->experts && targets & 16)
		sides += (families[m->arch].gated ? 3 : 2) * (h + m->ffn);
	return wide_saturate((u128)rank * m->layers * sides);
}

bool model_mlp_is_gated(const struct cat_model *m)
{
	return families[m->arch].gated;
}

uint64_t model_active_ffn(const struct cat_model *m)
{
	uint64_t width = (m->active_experts + m->shared_experts) * m->moe_ffn;

	/* the first dense blocks of a mixture may be the wider ones */
	return m->experts && (!m->dense_layers || width > m->ffn) ? width
								   : m->ffn;
}
