/* SPDX-License-Identifier: GPL-2.0-only */
/* Prices of what workloads share, and the bound that follows from them. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_DUAL_H
#define GPUCTL_PLAN_DUAL_H

#include "plan/solver/ledger.h"

/**
 * struct dual - a search for good prices
 * @model: whose
 * @ledger: for loads of the workloads' own ways
 * @path: shared with others
 * @n: rows times intervals
 * @price: the best so far, by row and interval
 * @bound: what they prove
 * @base: what no prices prove: each workload alone
 * @at: those that are tried next
 * @slope: memory: by how much each row is overdrawn
 * @pull: the mean of that over the last sweeps
 * @swing: the mean of its square
 * @scale: cost of a missing GPU an interval, on average: what prices are measured by
 * @planned: sweeps, by which the steps shrink
 * @done: how many of those
 * @y: memory: the ways at the last prices that were tried
 * @ways: cost of each workload's way at those
 * @sweeps: how many were made
 */
struct dual {
	const struct model *model;
	struct ledger *ledger;
	struct path *path;
	size_t n;
	double *price;
	double bound, base;
	double *at, *slope, *pull, *swing;
	double scale;
	unsigned int planned, done;
	uint32_t *y;
	double *ways;
	unsigned int sweeps;
};

void dual_init(struct dual *dual, const struct model *model, struct path *path);
void dual_free(struct dual *dual);
/* What @price proves; fills @slope and @y. */
double dual_value(struct dual *dual, const double *price);
/* Prices where each workload asks for what it needs, by weight: a beginning. */
void dual_guess(struct dual *dual, double *price);
/* Begin a search of @planned sweeps with @price. */
void dual_begin(struct dual *dual, const double *price, unsigned int planned);
/* Go on with so many of them; @target: cost of some plan, no bound can be above it. */
void dual_ascend(struct dual *dual, unsigned int sweeps, double target);

#endif /* GPUCTL_PLAN_DUAL_H */
