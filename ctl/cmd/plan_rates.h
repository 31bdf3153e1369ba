/* SPDX-License-Identifier: GPL-2.0-only */
/* What energy is computed from, as options that verbs of "plan" share. */
#ifndef GPUCTL_CMD_PLAN_RATES_H
#define GPUCTL_CMD_PLAN_RATES_H

#include "cli/ctl.h"
#include "plan/energy.h"

extern const struct ctl_option plan_rates_options[];

/* The options over the defaults; CTL_USAGE for a number out of range. */
int plan_rates(struct ctl_ctx *ctx, struct energy_rates *rates);
/* A number given as an option; what is not given stays. */
int plan_rates_number(struct ctl_ctx *ctx, const char *name, double min, double max, double *out);
/* Where the watts are from: given, or those of an H100. */
const char *plan_rates_basis(struct ctl_ctx *ctx);

#endif /* GPUCTL_CMD_PLAN_RATES_H */
