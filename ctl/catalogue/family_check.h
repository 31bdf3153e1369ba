/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of families that people write: what is no formula is said where it stands. */
#ifndef GPUCTL_CATALOGUE_FAMILY_CHECK_H
#define GPUCTL_CATALOGUE_FAMILY_CHECK_H

#include "family.h"

/* Is @value what a line with this key can be? No name is looked up yet. */
int family_check_line(const char *key, const char *value, struct fault *f);

/* Have all names in its own lines a meaning? @family is linked. */
int family_check_names(const struct cat_family *family, struct fault *f);

#endif
