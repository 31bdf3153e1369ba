/* SPDX-License-Identifier: GPL-2.0-only */
/* Why an operation failed, or what befell a slot, in words. */
#ifndef GPUCTL_FAILURE_H
#define GPUCTL_FAILURE_H

#include "module/netlink_gen.h"
#include "base/text.h"

/*
 * One sentence that says what happened and, where there is something to do, what. Returns
 * memory for free(), NULL when the module has nothing to say.
 */
char *failure_text(const struct gf_failure *failure);
/* The same after @before at the end of @text; nothing where there is nothing to say. */
void failure_add(struct text *text, const char *before, const struct gf_failure *failure);

#endif /* GPUCTL_FAILURE_H */
