/* SPDX-License-Identifier: GPL-2.0-only */
/* The config.json of a Hugging Face model as a shape. */
#ifndef GPUCTL_SIZE_CONFIG_H
#define GPUCTL_SIZE_CONFIG_H

#include "catalogue/model.h"

/*
 * Fills @model from @len bytes of @text; cat_model_drop() frees it. @quant is
 * the format of its quantization_config in our words, "" without one. Errors
 * name the field: -EINVAL for what is wrong, -ENOTSUP for an architecture that
 * is not known.
 */
int size_config_parse(const char *text, size_t len, struct cat_model *model, char quant[16],
		      struct fault *f);

/* Names a model that did not come from the catalogue, and checks its shape. */
int size_model_finish(struct cat_model *model, const char *name, struct fault *f);

void size_model_drop(struct cat_model *model);

/* Is a file's word for an architecture known? "llama", "qwen2", "phi3", ... */
bool size_config_arch(const char *word, enum model_arch *arch);

#endif
