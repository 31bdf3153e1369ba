/* SPDX-License-Identifier: GPL-2.0-only */
/* What attaching and detaching a GPU takes, as the module has measured it. Pure. */
#ifndef GPUCTL_PLAN_COSTS_H
#define GPUCTL_PLAN_COSTS_H

#include "plan/solver/instance.h"

/**
 * struct plan_costs - of steps that went well
 * @attaches: how many were measured
 * @detaches: how many were measured
 * @attach_s: sum of their seconds
 * @detach_s: sum of their seconds
 */
struct plan_costs {
	uint64_t attaches, detaches;
	double attach_s, detach_s;
};

/* One row of "gpuctl stats"; only the phase "total" of attach and detach counts. */
void plan_costs_add(struct plan_costs *costs, const char *operation, const char *phase,
		    uint64_t count, double microseconds);
/* What "gpuctl stats -j" wrote. 0 or -EINVAL with "file:line:column: reason". */
int plan_costs_read(struct plan_costs *costs, const char *file, const char *text, size_t len,
		    struct fault *fault);
/* All pools cost the means; what was not measured stays as it is. */
void plan_costs_apply(const struct plan_costs *costs, struct plan_instance *in);

#endif /* GPUCTL_PLAN_COSTS_H */
