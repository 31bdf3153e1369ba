/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that were given, by their names. Only commands ask for them: what is below
 * gets structures, so that whoever else wants the same thing need not type anything.
 */
#ifndef GPUCTL_GIVEN_H
#define GPUCTL_GIVEN_H

#include "cli/ctl.h"

/* Last value of an option, NULL when it was not given; "" for a flag. */
const char *ctl_opt(const struct ctl_ctx *ctx, const char *name);

/* True when the option was given. */
bool ctl_flag(const struct ctl_ctx *ctx, const char *name);

/* Values of an option that may be repeated: start with *@pos = 0, ends with NULL. */
const char *ctl_opt_next(const struct ctl_ctx *ctx, const char *name, size_t *pos);

#endif /* GPUCTL_GIVEN_H */
