/* SPDX-License-Identifier: GPL-2.0-only */
/* How many parameters a model has, from its shape. */
#ifndef GPUCTL_SIZE_PARAMS_H
#define GPUCTL_SIZE_PARAMS_H

#include <stdint.h>

#include "catalogue/model.h"

/* @model must have been built: cat_model_build(). */
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
uint64_t model_lora_on(const struct cat_model *model, unsigned int rank, unsigned int targets);

/* Does the MLP multiply two branches (three matrices instead of two)? */
bool model_mlp_is_gated(const struct cat_model *model);

/* Inner width of the MLP that one token passes. */
uint64_t model_active_ffn(const struct cat_model *model);

#endif
