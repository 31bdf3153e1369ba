/* SPDX-License-Identifier: GPL-2.0-only */
/* The best plan where it is a flow of GPUs through time. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_EXACT_H
#define GPUCTL_PLAN_EXACT_H

#include "plan/solver/model.h"

/*
 * Does nothing tie GPUs together, and is the network small enough? Each workload uses one pool,
 * in any number, changes at any time, and nothing but the pools is short.
 */
bool exact_possible(const struct model *model);
/* The best plan, and a bound which is its cost but for rounding. */
void exact_plan(const struct model *model, uint32_t *y, double *bound);

#endif /* GPUCTL_PLAN_EXACT_H */
