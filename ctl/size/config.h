/* SPDX-License-Identifier: GPL-2.0-only */
/* The config.json of a Hugging Face model as a shape. */
#ifndef GPUCTL_SIZE_CONFIG_H
#define GPUCTL_SIZE_CONFIG_H

#include <json-c/json.h>

#include "catalogue/build.h"
#include "catalogue/model.h"

/* What an unknown word is called that is missing. */
#define SIZE_NAMELESS "(none)"

/* An object of @len bytes of @text; NULL with the reason in @f. json_object_put() frees it. */
struct json_object *size_config_object(const char *text, size_t len, struct fault *f);

/*
 * Fills @model from @config; size_model_drop() frees it. Errors name the field:
 * -EINVAL for what is wrong, -ENOENT for what is no language model at all. A
 * model_type that no family has is read like the family whose keys it has, and @unknown gets
 * it ("" otherwise). @tensor is called with @arg for each tensor, or NULL.
 */
int size_config_model(struct json_object *config, const struct cat_families *families,
		      struct cat_model *model, char unknown[64], tensor_fn tensor, void *arg,
		      struct fault *f);

/* Names a model that did not come from the catalogue, and checks its shape. */
int size_model_finish(struct cat_model *model, const char *name, struct fault *f);

void size_model_drop(struct cat_model *model);

#endif
