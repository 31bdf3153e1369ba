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
 * @level: how much better the search hopes to become next
 * @patience: steps towards a level that is not reached, 0: as many as are good with time
 * @slope: memory: by how much each row is overdrawn
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
	double bound, base, level;
	unsigned int patience;
	double *slope;
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
/* Take them where they prove more than the best so far. */
void dual_try(struct dual *dual, const double *price);
/*
 * Let each price by itself follow what its row lacks, with steps that shrink when it swings:
 * soon near good prices where there are many workloads.
 */
void dual_settle(struct dual *dual, const double *from, unsigned int sweeps);
/* Look for better ones; @target: cost of some plan. */
void dual_ascend(struct dual *dual, unsigned int sweeps, double target);

#endif /* GPUCTL_PLAN_DUAL_H */
