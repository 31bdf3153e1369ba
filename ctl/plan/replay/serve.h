/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Demand series served from one pool: who has how many GPUs in each minute. A
 * policy sees the demand of this minute and of those before; the offline one
 * sees all. Costs are in minutes of a GPU.
 */
#ifndef GPUCTL_PLAN_SERVE_H
#define GPUCTL_PLAN_SERVE_H

#include "plan/series.h"

/**
 * struct serve_rates - what is short, and what moves cost
 * @pool: GPUs
 * @attach: cost of attaching one; a GPU that is missing for a minute costs 1
 * @hold: cost of one that a tenant has and does not need, each minute
 */
struct serve_rates {
	uint32_t pool;
	double attach, hold;
};

/**
 * struct serve_score - of the minutes from the scored one on
 * @demand: GPU-minutes that were wanted, @unmet of them missing
 * @idle: GPU-minutes that somebody had and did not need
 * @attaches: GPUs
 * @days: scored
 * @cost: of all with the rates
 * @worst_unmet: largest unmet share of a tenant's demand, of tenant @worst
 */
struct serve_score {
	double demand, unmet, idle, attaches, days, cost;
	double worst_unmet;
	size_t worst;
};

/* Each fills @has[minute * tenants + tenant]. */
void serve_static(const struct series_set *set, int32_t *has);
/* Looks every @period minutes; keeps idle GPUs for @hold_min unless others need them. */
void serve_reactive(const struct series_set *set, const struct serve_rates *rates, uint32_t period,
		    uint32_t hold_min, int32_t *has);
/* Ours: keeps what is likely to be needed again soon, as past demand has it. */
void serve_ours(const struct series_set *set, const struct serve_rates *rates, int32_t *has);
/* Knows the future: gives up first what is needed last. */
void serve_offline(const struct series_set *set, const struct serve_rates *rates, int32_t *has);

/* Static quotas may be more than the pool; they are what tenants were promised. */
void serve_score(const struct series_set *set, const struct serve_rates *rates, const int32_t *has,
		 size_t from, struct serve_score *score);

/*
 * No plan costs less from minute @from on, whatever it begins with: prices of
 * GPU-minutes, improved over @sweeps sweeps; valid with any prices. @near is the cost of some plan.
 */
double serve_bound(const struct series_set *set, const struct serve_rates *rates, size_t from,
		   double near, unsigned int sweeps);

#endif
