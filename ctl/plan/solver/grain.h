/* SPDX-License-Identifier: GPL-2.0-only */
/* What costs are whole multiples of. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_GRAIN_H
#define GPUCTL_PLAN_GRAIN_H

#include "plan/solver/model.h"

/*
 * Every plan costs model->off and a whole multiple of this; 0 where nothing is known. Of
 * @model, costs and shapes of workloads and power of pools have to be there.
 */
double grain_of(const struct model *model);

/* What a plan costs at least whose cost is not below @bound. */
double grain_up(const struct model *model, double bound);

#endif /* GPUCTL_PLAN_GRAIN_H */
