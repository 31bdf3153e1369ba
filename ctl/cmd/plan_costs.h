/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module measured of attaches and detaches, for verbs of "plan" with --costs. */
#ifndef GPUCTL_CMD_PLAN_COSTS_H
#define GPUCTL_CMD_PLAN_COSTS_H

#include "cli/ctl.h"
#include "module/nl.h"
#include "plan/costs.h"

/* Ask the module. */
int plan_costs_here(struct gfc *client, struct plan_costs *costs);

/* Put them in the place of those in the file, and say which are measured. */
void plan_costs_use(struct ctl_ctx *ctx, const struct plan_costs *costs, struct plan_instance *in);

#endif /* GPUCTL_CMD_PLAN_COSTS_H */
