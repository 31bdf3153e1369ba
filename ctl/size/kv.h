/* SPDX-License-Identifier: GPL-2.0-only */
/* What the keys and values of past tokens take. */
#ifndef GPUCTL_SIZE_KV_H
#define GPUCTL_SIZE_KV_H

#include <stddef.h>
#include <stdint.h>

#include "catalogue/model.h"
#include "weights.h"

/*
 * Bytes of one token in all layers on one of @tp GPUs, windows left aside.
 * A GPU holds ceil(kv_heads / tp) heads, so with more GPUs than heads each
 * head is there several times; the latent of DeepSeek is on every GPU whole.
 */
uint64_t kv_bytes_per_token(const struct cat_model *model, const struct size_precision *precision,
			    unsigned int tp);

/*
 * Bytes of @batch sequences of @context tokens on one of @tp GPUs, all layers.
 * Windowed layers hold min(context, window) tokens of a sequence.
 */
uint64_t kv_bytes(const struct cat_model *model, const struct size_precision *precision,
		  uint64_t context, uint64_t batch, unsigned int tp);

/* Bytes that one token adds beyond every window, in all layers. */
uint64_t kv_growing_bytes(const struct cat_model *model, const struct size_precision *precision);

/* Layers that keep a window of tokens alone. */
uint64_t kv_windowed_layers(const struct cat_model *model);

/* Bytes that a sequence takes whatever its length: states of linear attention and the like. */
uint64_t kv_state_bytes(const struct cat_model *model);

/* The same as text: "80 layers x 2 x 8 heads x 128 x 2 B x 131,072 tokens". */
void kv_formula(const struct cat_model *model, const struct size_precision *precision,
		uint64_t context, uint64_t batch, char *buf, size_t size);

#endif
