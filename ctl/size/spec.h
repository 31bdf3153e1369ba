/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload as a file: a JSON object whose fields are the options' names. */
#ifndef GPUCTL_SIZE_SPEC_H
#define GPUCTL_SIZE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define SPEC_ITEMS_MAX 64
#define SPEC_VALUE_MAX 256

/**
 * struct size_spec - what such a file says
 * @item: its fields, @n of them, values as on a command line
 */
struct size_spec {
	struct {
		char key[32];
		char value[SPEC_VALUE_MAX];
	} item[SPEC_ITEMS_MAX];
	size_t n;
};

/* Strings, numbers and booleans alone, each as its word. -EINVAL names the field. */
int spec_parse(const char *text, size_t len, struct size_spec *spec, struct fault *f);

int spec_read(const char *path, struct size_spec *spec, struct fault *f);

/* NULL if the file does not say. */
const char *spec_get(const struct size_spec *spec, const char *key);

#endif
