// SPDX-License-Identifier: GPL-2.0-only
/*
 * The KV cache: two vectors (key, value) for each head, layer and token, or
 * one latent vector with latent attention; and what does not grow with the
 * tokens: states of linear attention, Mamba and short convolutions.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/wide.h"
#include "kv.h"

/* Numbers that one of @tp GPUs keeps for one token in one layer. */
static uint64_t numbers_per_layer(const struct model_cache *c, unsigned int tp)
{
	return (c->heads + tp - 1) / tp * c->width;
}

static uint64_t cached_tokens(const struct model_cache *c, uint64_t context)
{
	return c->window && c->window < context ? c->window : context;
}

uint64_t kv_bytes_per_token(const struct cat_model *m, const struct size_precision *precision,
			    unsigned int tp)
{
	uint64_t numbers = 0;
	size_t i;

	for (i = 0; i < m->n_caches; i++)
		numbers += m->cache[i].layers * numbers_per_layer(&m->cache[i], tp);
	return size_bytes_of(numbers, precision->linear);
}

uint64_t kv_growing_bytes(const struct cat_model *m, const struct size_precision *precision)
{
	uint64_t numbers = 0;
	size_t i;

	for (i = 0; i < m->n_caches; i++)
		if (!m->cache[i].window)
			numbers += m->cache[i].layers * numbers_per_layer(&m->cache[i], 1);
	return size_bytes_of(numbers, precision->linear);
}

uint64_t kv_windowed_layers(const struct cat_model *m)
{
	uint64_t layers = 0;
	size_t i;

	for (i = 0; i < m->n_caches; i++)
		layers += m->cache[i].window ? m->cache[i].layers : 0;
	return layers;
}

uint64_t kv_state_bytes(const struct cat_model *m)
{
	return m->state_bytes;
}

uint64_t kv_bytes(const struct cat_model *m, const struct size_precision *precision,
		  uint64_t context, uint64_t batch, unsigned int tp)
{
	u128 numbers = 0, other;
	size_t i;

	for (i = 0; i < m->n_caches; i++)
		numbers += (u128)m->cache[i].layers * cached_tokens(&m->cache[i], context) *
			   numbers_per_layer(&m->cache[i], tp);
	/* states are split by their heads, an index is on every GPU whole */
	other = (u128)batch * (m->state_bytes / tp + (u128)m->index_bytes * context);
	return wide_saturate(wide_div_up(numbers * batch * precision->linear, SIZE_BYTE) + other);
}

/* "2 x 8 heads x 128", or the latent's "(512 + 64)" */
static const char *width_text(const struct cat_model *m, const struct model_cache *c, char buf[80])
{
	if (m->kv_lora && c->heads == 1 && c->width == m->kv_lora + m->rope_dim)
		snprintf(buf, 80, "(%llu + %llu)", (unsigned long long)m->kv_lora,
			 (unsigned long long)m->rope_dim);
	else if (c->width % 2)
		snprintf(buf, 80, "%llu heads x %llu", (unsigned long long)c->heads,
			 (unsigned long long)c->width);
	else
		snprintf(buf, 80, "2 x %llu heads x %llu", (unsigned long long)c->heads,
			 (unsigned long long)c->width / 2);
	return buf;
}

/* All layers keep as much of a token; some may keep fewer tokens. */
static bool same_width(const struct cat_model *m)
{
	size_t i;

	for (i = 1; i < m->n_caches; i++)
		if (m->cache[i].heads != m->cache[0].heads ||
		    m->cache[i].width != m->cache[0].width)
			return false;
	return m->n_caches > 0 && m->n_caches <= 2;
}

static void same_width_text(const struct cat_model *m, const struct size_precision *precision,
			    uint64_t context, uint64_t batch, char *buf, size_t size)
{
	const struct model_cache *full = &m->cache[0], *less = &m->cache[m->n_caches - 1];
	char tokens[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX], what[80];
	double bytes = (double)precision->linear / (double)SIZE_BYTE;
	unsigned long long layers = full->layers + (less != full ? less->layers : 0);

	if (full->window) {
		full = less;
		less = &m->cache[0];
	}
	width_text(m, full, what);
	units_grouped(tokens, wide_saturate((u128)context * batch));
	if (cached_tokens(less, context) == context) {
		snprintf(buf, size, "%llu layers x %s x %.4g B x %s tokens", layers, what, bytes,
			 tokens);
		return;
	}
	units_grouped(window, wide_saturate((u128)batch * cached_tokens(less, context)));
	if (less == full)
		snprintf(buf, size, "%llu layers x %s x %.4g B x %s tokens of the window", layers,
			 what, bytes, window);
	else
		snprintf(buf, size, "(%llu layers x %s + %llu layers x %s tokens) x %s x %.4g B",
			 (unsigned long long)full->layers, tokens, (unsigned long long)less->layers,
			 window, what, bytes);
}

static void append(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

void kv_formula(const struct cat_model *m, const struct size_precision *precision, uint64_t context,
		uint64_t batch, char *buf, size_t size)
{
	char tokens[UNITS_TEXT_MAX], what[80];
	size_t i;

	*buf = '\0';
	if (same_width(m))
		same_width_text(m, precision, context, batch, buf, size);
	for (i = 0; !same_width(m) && i < m->n_caches; i++)
		append(buf, size, "%s%llu layers x %s x %s tokens", i ? " + " : "(",
		       (unsigned long long)m->cache[i].layers, width_text(m, &m->cache[i], what),
		       units_grouped(tokens, wide_saturate((u128)batch *
							   cached_tokens(&m->cache[i], context))));
	if (!same_width(m) && m->n_caches)
		append(buf, size, ") x %.4g B", (double)precision->linear / (double)SIZE_BYTE);
	if (m->index_bytes)
		append(buf, size, " + %llu B of index a token", (unsigned long long)m->index_bytes);
	if (m->state_bytes)
		append(buf, size, "%s%s B of state a sequence", *buf ? " + " : "",
		       units_grouped(tokens, m->state_bytes));
	if (!*buf)
		snprintf(buf, size, "an encoder keeps nothing");
}
