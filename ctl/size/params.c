// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of a model. They were counted when it was built from its family's
 * formulas (catalogue/build.c); here is what is derived from them.
 */
#include "base/wide.h"
#include "params.h"

void model_params(const struct cat_model *m, struct model_params *out)
{
	*out = m->params;
}

uint64_t model_lora_params(const struct cat_model *m, unsigned int rank)
{
	return model_lora_on(m, rank, ~0u);
}

uint64_t model_lora_on(const struct cat_model *m, unsigned int rank, unsigned int targets)
{
	uint64_t sides = 0; /* rows and columns of all adapted matrices */
	int i;

	for (i = LORA_QUERY; i <= LORA_OUTPUT; i++)
		sides += targets & 1u << i ? m->lora_sides[i] : 0;
	if (targets & 15)
		sides += m->lora_sides[LORA_LATENT];
	if (targets & 16 && !m->experts)
		sides += m->lora_sides[LORA_MLP];
	return wide_saturate((u128)rank * sides);
}

bool model_mlp_is_gated(const struct cat_model *m)
{
	return m->gated;
}

uint64_t model_active_ffn(const struct cat_model *m)
{
	uint64_t width = (m->active_experts + m->shared_experts) * m->moe_ffn;

	/* the first dense blocks of a mixture may be the wider ones */
	return m->experts && (!m->dense_layers || width > m->ffn) ? width : m->ffn;
}
