/* SPDX-License-Identifier: GPL-2.0-only */
/* The families that come with gpuctl, read once: targets run from the top of the tree. */
#ifndef TESTS_FUZZ_FAMILIES_H
#define TESTS_FUZZ_FAMILIES_H

#include "catalogue/catalogue.h"
#include "fuzz.h"

static inline const struct cat_families *fuzz_families(void)
{
	static struct catalogue catalogue;
	struct fault fault;

	if (!catalogue.families.n)
		must(!catalogue_load(&catalogue, "ctl/catalogue", NULL, &fault));
	return &catalogue.families;
}

#endif
