// SPDX-License-Identifier: GPL-2.0-only
/*
 * The KV cache: two vectors (key, value) for each head, layer and token, or
 * one latent vector with latent attention.
 */
#include <stdio.h>

#include "kv.h"
#include "units.h"
#include "wide.h"

/* Numbers that one GPU keeps for one token in one layer. */
static uint64_t numbers_per_layer(const struct cat_model *m, unsigned int tp)
{
	if (m->kv_lora)
		return m->kv_lora + m->rope_dim;
	return 2 * ((m->kv_heads + tp - 1) / tp) * m->head_dim;
}

/* Layers that see the whole context. */
static uint64_t full_layers(const struct cat_model *m)
{
	if (!m->sliding_window)
		return m->layers;
	return m->full_attention_every ? m->layers / m->full_attention_every
				       : 0;
}

static uint64_t windowed_tokens(const struct cat_model *m, uint64_t context)
{
	return m->sliding_window && m->sliding_window < context
		? m->sliding_window : context;
}

uint64_t kv_bytes_per_token(const struct cat_model *m,
			    const struct size_precision *precision,
			    unsigned int tp)
{
	return size_bytes_of(m->layers * numbers_per_layer(m, tp),
			     precision->linear);
}

uint64_t kv_bytes(const struct cat_model *m,
		  const struct size_precision *precision, uint64_t context,
		  uint64_t batch, unsigned int tp)
{
	uint64_t full = full_layers(m);
	u128 tokens = (u128)full * context +
		      (u128)(m->layers - full) * windowed_tokens(m, context);

	return wide_saturate(wide_div_up(tokens * batch *
					 numbers_per_layer(m, tp) *
					 precision->linear, SIZE_BYTE));
}

void kv_formula(const struct cat_model *m,
		const struct size_precision *precision, uint64_t context,
		uint64_t batch, char *buf, size_t size)
{
	uint64_t full = full_layers(m);
	char tokens[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX], what[80];

	if (m->kv_lora)
		snprintf(what, sizeof(what), "(%llu + %llu)",
			 (unsigned long long)m->kv_lora,
			 (unsigned long long)m->rope_dim);
	else
		snprintf(what, sizeof(what), "2 x %llu heads x %llu",
			 (unsigned long long)m->kv_heads,
			 (unsigned long long)m->head_dim);
	units_grouped(tokens, wide_saturate((u128)context * batch));
	if (full == m->layers || windowed_tokens(m, context) == context) {
		snprintf(buf, size, "%llu layers x %s x %g B x %s tokens",
			 (unsigned long long)m->layers, what,
			 (double)precision->linear / (double)SIZE_BYTE, tokens);
		return;
	}
	units_grouped(window, wide_saturate((u128)batch *
					    windowed_tokens(m, context)));
	snprintf(buf, size,
		 "(%llu layers x %s + %llu layers x %s tokens) x %s x %g B",
		 (unsigned long long)full, tokens,
		 (unsigned long long)(m->layers - full), window, what,
		 (double)precision->linear / (double)SIZE_BYTE);
}
