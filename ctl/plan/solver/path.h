/* SPDX-License-Identifier: GPL-2.0-only */
/* The cheapest way of one workload through time, at given prices. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_PATH_H
#define GPUCTL_PLAN_PATH_H

#include "plan/solver/model.h"

/**
 * struct path_input - what the others do to a workload
 * @use: added cost of a GPU: use[pool of the shape * intervals + interval]
 * @up: added cost of an attach: up[switch of the shape * intervals + interval]
 * @room: GPUs of a pool that it can have, as @use; NULL: no limit
 * @total: GPUs that it can have in each interval; NULL: no limit
 * @attach: GPUs that can be attached, as @up; NULL: no limit
 * @extra: added cost of what is missing, and reward of what is served, by interval
 * @lack: what its tenant lacks of its guarantee in each interval without it; NULL: what the model
 *   says of it alone
 */
struct path_input {
	const double *use, *up;
	const uint32_t *room, *total, *attach;
	const double *extra, *lack;
};

struct path;

struct path *path_new(const struct model *model);
void path_free(struct path *path);

/*
 * The cheapest way; @y gets it. INFINITY when there is none, which cannot be while it may have
 * nothing.
 */
double path_solve(struct path *path, const struct model_workload *w, const struct path_input *input,
		  uint32_t *y);

/* What @y costs at these prices, whether there is room for it or not. */
double path_value(const struct path *path, const struct model_workload *w,
		  const struct path_input *input, const uint32_t *y);

/* Cost of being in each configuration in an interval: fills @stay with shape->n numbers. */
void path_stay(struct path *path, const struct model_workload *w, const struct path_input *input,
	       size_t interval, double *stay);
/* Intervals times configurations that were looked at since the start: how much work was done. */
uint64_t path_work(const struct path *path);

#endif /* GPUCTL_PLAN_PATH_H */
