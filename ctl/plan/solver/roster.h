/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans that keep all limits, made and improved. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_ROSTER_H
#define GPUCTL_PLAN_ROSTER_H

#include "plan/solver/group.h"

/**
 * struct roster - a plan in the making
 * @model: of what
 * @ledger: what all workloads take
 * @path: shared with others
 * @views: memory for each of a group's view of the ledger
 * @group: memory for a group
 * @own: what each cost when it was put in, with what its tenant lacked then
 * @y: the plan
 * @try: memory for the way of one workload
 * @old: memory for the ways of a few
 * @used: memory for the GPUs of a pool
 */
struct roster {
	const struct model *model;
	struct ledger *ledger, *views[GROUP_MAX];
	struct path *path;
	struct group *group;
	double *own;
	uint32_t *y, *try, *old, *used;
	uint32_t *on;
};

void roster_init(struct roster *roster, const struct model *model, struct path *path);
void roster_free(struct roster *roster);

/* Take a workload out; what the rest costs less without it. */
double roster_remove(struct roster *roster, size_t w);
/* Put it back with this plan, for which there is room; what the whole costs more. */
double roster_put(struct roster *roster, size_t w, const uint32_t *y);
/* Put it back in the way that is cheapest for it, at @price (by row and interval, or NULL). */
double roster_insert(struct roster *roster, size_t w, const double *price);
/* Out and in again, where that is cheaper; by how much the cost fell. */
double roster_again(struct roster *roster, size_t w);
/* Some at a time, as well as they can be together; by how much the cost fell. */
double roster_group(struct roster *roster, const size_t *members, size_t n);
/* A new plan: one after the other in this @order, each with what the earlier ones left. */
void roster_all(struct roster *roster, const size_t *order, const double *price);
/* Start again from plan @y. */
void roster_set(struct roster *roster, const uint32_t *y);

#endif /* GPUCTL_PLAN_ROSTER_H */
