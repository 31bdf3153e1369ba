/* SPDX-License-Identifier: GPL-2.0-only */
/* Prices that outlive an instance. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_PRICES_H
#define GPUCTL_PLAN_PRICES_H

#include "plan/solver/model.h"

/* Keep @price, by row and interval of the model. */
struct plan_prices *plan_prices_make(const struct model *model, const double *price);
/* What was kept, for the rows of another model; rows that are new cost nothing. */
void plan_prices_get(const struct plan_prices *prices, const struct model *model, double *price);

#endif /* GPUCTL_PLAN_PRICES_H */
