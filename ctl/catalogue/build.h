/* SPDX-License-Identifier: GPL-2.0-only */
/* A model from its family and a file's facts: all tensors, caches and states counted. */
#ifndef GPUCTL_CATALOGUE_BUILD_H
#define GPUCTL_CATALOGUE_BUILD_H

#include "expr.h"
#include "family.h"
#include "model.h"

/* Where a tensor belongs. */
enum tensor_group {
	GROUP_TEXT,
	GROUP_EMBEDDING,
	GROUP_HEAD,
	GROUP_FINAL, /* behind the last layer */
	GROUP_VISION, /* and audio: encoders and projectors */
	GROUP_MTP, /* multi-token prediction: stored, loaded by few */
	TENSOR_GROUPS
};

/**
 * struct model_tensor - one tensor, or @copies of one
 * @name: as checkpoints name it: "model.layers.3.self_attn.q_proj"
 * @numbers: of one copy
 * @columns: of a matrix, which groups of quantization divide; 1 of a vector
 * @kept: norm, bias or router, which quantization leaves alone
 */
struct model_tensor {
	const char *name;
	enum tensor_group group;
	uint64_t numbers;
	uint64_t columns;
	uint64_t copies;
	bool kept;
};

typedef void (*tensor_fn)(void *arg, const struct model_tensor *tensor);

/**
 * struct model_plan - what a model is built from
 * @families: linked
 * @family: of the model
 * @facts: of its file; NULL for a model of the catalogue
 * @tensor: called for each tensor with @arg, or NULL
 */
struct model_plan {
	const struct cat_families *families;
	const struct cat_family *family;
	const struct expr_facts *facts;
	tensor_fn tensor;
	void *arg;
};

/*
 * Fills @model: numbers that it has are taken as given, the others come from
 * the family's formulas. -EINVAL or -ERANGE names the field that is missing or
 * wrong.
 */
int cat_model_build(const struct model_plan *plan, struct cat_model *model, struct fault *f);

#endif
