/* SPDX-License-Identifier: GPL-2.0-only */
/* Number formats of weights and of the KV cache, and what weights take. */
#ifndef GPUCTL_SIZE_WEIGHTS_H
#define GPUCTL_SIZE_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "params.h"

/* Bits are held in ten-thousandths: 4.156 bits are 41560. */
#define SIZE_BIT 10000ull
#define SIZE_BYTE (8 * SIZE_BIT)

/**
 * struct size_precision - a number format
 * @name: what users type
 * @linear: bits of a weight in the blocks, with its share of the scales
 * @rest: bits of embeddings, norms and routers
 * @plain: bits that the name promises; the rules of thumb use these
 * @kv: can a KV cache be kept in it?
 * @text: what it is
 */
struct size_precision {
	const char *name;
	uint32_t linear;
	uint32_t rest;
	uint32_t plain;
	bool kv;
	const char *text;
};

/* Ends with a NULL name. */
extern const struct size_precision size_precisions[];

/* -ENOENT with the known names in the text. */
int size_precision_find(const char *name, const struct size_precision **out, struct fault *f);

/* The format that the name of a checkpoint says: Qwen3-8B-AWQ; NULL: none. */
const struct size_precision *size_precision_of_name(const char *name);

/* The one of that name, which must exist. */
const struct size_precision *size_precision_get(const char *name);

/* Bytes of @n numbers of @bits ten-thousandths of a bit, rounded up. */
uint64_t size_bytes_of(uint64_t n, uint64_t bits);

/* Bytes of all weights. */
uint64_t size_weight_bytes(const struct model_params *params,
			   const struct size_precision *precision);

/* "70,553,706,496 x 2 B" or "68,451,... x 4.156 bits + 2,102,... x 16 bits" */
void size_weight_formula(const struct model_params *params, const struct size_precision *precision,
			 char *buf, size_t size);

#endif
