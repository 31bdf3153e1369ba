/* SPDX-License-Identifier: GPL-2.0-only */
/* How many parameters a model has, from its shape. */
#ifndef GPUCTL_SIZE_PARAMS_H
#define GPUCTL_SIZE_PARAMS_H

#include <stdint.h>

#include "catalogue/model.h"

/**
 * struct model_params - parameters, by what is done with them
 * @total: all
 * @active: those that one token visits; @total for a dense model
 * @linear: matrices of the blocks, which quantization shrinks
 * @small: norms, biases and routers, which it does not
 * @embedding: input table, with learned positions
 * @head: output matrix where it is a tensor of its own
 * @block: all tensors of the largest block
 *
 * @total is @linear + @small + @embedding + @head.
 */
struct model_params {
	uint64_t total;
	uint64_t active;
	uint64_t linear;
	uint64_t small;
	uint64_t embedding;
	uint64_t head;
	uint64_t block;
};

/* @model must have passed cat_model_complete(). */
void model_params(const struct cat_model *model, struct model_params *out);

/*
 * Parameters of LoRA adapters of @rank on all linear layers of the attention
 * and the MLP; of the attention alone in a mixture of experts.
 */
uint64_t model_lora_params(const struct cat_model *model, unsigned int rank);

/*
 * The same on the layers of @targets alone: 1 query, 2 key, 4 value, 8 output
 * of the attention, 16 MLP. Latent attention is adapted as a whole by any of
 * the first four; the MLP of experts is not adapted.
 */
uint64_t model_lora_on(const struct cat_model *model, unsigned int rank,
		       unsigned int targets);

/* Does the MLP multiply two branches (three matrices instead of two)? */
bool model_mlp_is_gated(const struct cat_model *model);

/* Inner width of the MLP that one token passes. */
uint64_t model_active_ffn(const struct cat_model *model);

#endif
