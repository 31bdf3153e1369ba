/* SPDX-License-Identifier: GPL-2.0-only */
/* The cheapest ways of a few workloads together. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_GROUP_H
#define GPUCTL_PLAN_GROUP_H

#include "plan/solver/ledger.h"

#define GROUP_MAX 10

struct group;

struct group *group_new(const struct model *model);
void group_free(struct group *group);

/* Can this one be in a group at all? */
bool group_possible(const struct group *group, const struct model_workload *w);
/*
 * Take some of @n workloads that are not in the ledger, by what it leaves them: @in has their
 * views of it. Returns how many of the first fit in one table.
 */
size_t group_take(struct group *group, const struct model_workload *const *w,
		  const struct path_input *in, size_t n, struct path *path);
/*
 * The cheapest ways of those that were taken through what the others in @ledger left; the plans
 * go to @y, one behind the other. False when none was found.
 */
bool group_solve(struct group *group, const struct ledger *ledger, struct path *path, uint32_t *y);
/* Cells that were looked at since the start. */
uint64_t group_work(const struct group *group);

#endif /* GPUCTL_PLAN_GROUP_H */
