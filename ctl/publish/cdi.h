/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs as container runtimes ask for them: the Container Device Interface. */
#ifndef GPUCTL_CDI_H
#define GPUCTL_CDI_H

#include <stdbool.h>

#include "host/gpunodes.h"

#define CDI_KIND "gpufabric.io/gpu"
#define CDI_DIRECTORY "/var/run/cdi"
#define CDI_FILE "gpufabric.json"

/* May a device be called so? The first letters of names are what versions differ in. */
bool cdi_name_valid(const char *name);

/*
 * The specification: a device for each composition that is active with all of
 * its GPUs ready, and one for each GPU that is ready, without those that have no device node. Without any device there is
 * none: NULL. The caller frees.
 */
char *cdi_print(const struct gf_fabric *fabric, const struct places *places,
		const struct vendors *vendors);

/*
 * Does the specification lack @name, or one of its GPUs? Then the reason says which slot, and why. A GPU
 * without a node of its own is one that no container can use, and a name may be none for a device.
 */
bool cdi_lacks(const struct gf_fabric *fabric, const struct places *places,
	       const struct vendors *vendors, const char *name, struct fault *fault);

/*
 * The specification without some devices; NULL when none is left. 0 or a
 * negative errno with the reason. @removed counts the names that were there.
 */
int cdi_without(const char *text, size_t len, const char *const *names, size_t n, char **result,
		size_t *removed, struct fault *fault);

/*
 * What goes with @name: the slots of a composition, the composition of a slot,
 * and @name itself. The array is newly allocated, its strings are borrowed.
 */
const char **cdi_together(const struct gf_fabric *fabric, const char *name, size_t *n);

#endif /* GPUCTL_CDI_H */
