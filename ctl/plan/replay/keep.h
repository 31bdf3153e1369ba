/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the policies for demand series share: give to who needs, take from who
 * does not. They differ in what they let go of by themselves, and from whom
 * they take first.
 */
#ifndef GPUCTL_PLAN_KEEP_H
#define GPUCTL_PLAN_KEEP_H

#include "serve.h"

struct keep;

/**
 * struct keep_policy - the differences
 * @worth: of the last GPU that a tenant has beyond its need: the smallest is taken
 *   first, below 0 it is let go of at once
 * @learn: called each minute before anything else; may be NULL
 * @fair: who needs what it is guaranteed gets it back from those who have more than that; what
 *   is left goes to who has missed the largest share of its demand
 */
struct keep_policy {
	double (*worth)(const struct keep *k, size_t tenant);
	void (*learn)(struct keep *k);
	bool fair;
};

/**
 * struct keep - a pool in one minute
 * @t: the minute
 * @has: of each tenant
 * @most: largest demand of each tenant in the series; sizes tables, decides nothing
 * @needed: minute in which each tenant last needed so many GPUs: needed[tenant][n - 1]
 * @guarantee: of each tenant: its quota, scaled to the pool if all quotas are more than that
 * @wanted: GPU-minutes of each tenant until now, @missed of them not met
 * @total: sum of @has
 * @data: the policy's own
 */
struct keep {
	const struct series_set *set;
	const struct serve_rates *rates;
	const struct keep_policy *policy;
	size_t t;
	int32_t *has;
	int32_t *most;
	int64_t **needed;
	int32_t *guarantee;
	double *wanted, *missed;
	int64_t total;
	void *data;
};

/* Runs the series, looking every @period minutes. */
void keep_run(const struct series_set *set, const struct serve_rates *rates,
	      const struct keep_policy *policy, uint32_t period, void *data, int32_t *has);

static inline int32_t keep_demand(const struct keep *k, size_t tenant)
{
	return k->set->of[tenant].demand[k->t];
}

#endif
