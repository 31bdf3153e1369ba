/* SPDX-License-Identifier: GPL-2.0-only */
/* What workloads take of the rows, what that leaves and costs. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_LEDGER_H
#define GPUCTL_PLAN_LEDGER_H

#include "plan/solver/path.h"

/**
 * struct ledger - sums by row and interval, and memory for one workload's view of them
 * @model: whose rows they are
 * @load: what is taken: load[row * intervals + interval]
 * @reserved: what workloads that are not in it keep, as @load
 * @use: memory for struct path_input
 * @up: the same
 * @room: the same
 * @total: the same
 * @attach: the same
 * @lack: the same
 */
struct ledger {
	const struct model *model;
	double *load, *reserved;
	double *use, *up, *lack;
	uint32_t *room, *total, *attach;
};

struct ledger *ledger_new(const struct model *model);
/* Memory for a workload's view alone: nothing can be added to it. */
struct ledger *ledger_view(const struct model *model);
void ledger_free(struct ledger *ledger);
void ledger_clear(struct ledger *ledger);
/* Add what a workload takes with plan @y, @times times (1 or -1). */
void ledger_add(struct ledger *ledger, const struct model_workload *w, const uint32_t *y,
		int times);

/* While a workload is not in the ledger, hold free what it keeps; @times is 1 or -1. */
void ledger_reserve(struct ledger *ledger, const struct model_workload *w, int times);

/* Point @input to @prices by row and interval, as this workload sees them; NULL: no prices. */
void ledger_price(struct ledger *ledger, const struct model_workload *w, const double *prices,
		  struct path_input *input);
/* Point @input to what is left for a workload that is not in the ledger; memory is @view's. */
void ledger_room(const struct ledger *ledger, struct ledger *view, const struct model_workload *w,
		 struct path_input *input);
/* Is there room for all that is in the ledger? */
bool ledger_holds(const struct ledger *ledger);

#endif /* GPUCTL_PLAN_LEDGER_H */
