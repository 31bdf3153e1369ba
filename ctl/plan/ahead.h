/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instances whose demand is not given but forecast, and whose present is that of the module:
 * what a step is planned from. Pure; gpuctl-plan(5) has the words.
 */
#ifndef GPUCTL_PLAN_AHEAD_H
#define GPUCTL_PLAN_AHEAD_H

#include "plan/series.h"
#include "plan/solver/instance.h"

/* Older demand than so many slots does not count: it has to be gone through each time. */
#define AHEAD_HISTORY 1440
/* With less than this nothing is learned: demand stays what it is. */
#define AHEAD_LEARN 120

/**
 * struct plan_set - what one composition of this host has
 * @name: of the composition
 * @tenant: that it counts for, NULL for none
 * @has: GPUs by pool; more pools or kinds than a workload may have are possible
 * @held: of each of @has, GPUs that somebody holds now
 * @n: entries of both
 * @age: minutes since it last got a GPU
 * @busy: the module is changing it now, or it has lost a GPU: nothing is planned with it
 */
struct plan_set {
	char *name, *tenant;
	struct plan_held *has;
	uint32_t *held;
	size_t n;
	uint32_t age;
	bool busy;
};

/**
 * struct plan_asked - what is known of a workload beside the instance
 * @now: what it asks for now, in GPUs of its first kind or GiB
 * @peak: the most that it is expected to ask for
 * @how: by what way of forecasting; NULL where demand was given
 * @set: its composition, NULL where there is none
 * @left: why it is left as it is; NULL where it is planned
 */
struct plan_asked {
	double now, peak;
	const char *how;
	const struct plan_set *set;
	const char *left;
};

/**
 * struct plan_ahead - what a step is planned from beside the file
 * @has_state: the instance holds this host's GPUs already: host 0, and the first
 *   @n_pools pools
 * @tenants_rule: each workload of this host has to say its tenant
 * @sets: compositions of this host
 * @n_sets: how many
 * @n_pools: pools of this host
 * @minute: that slot 0 begins with
 * @series: demand so far by workload, each a set of one
 * @n_series: how many
 * @quantile: of the forecasts
 * @asked: filled by reading: of each workload
 */
struct plan_ahead {
	bool has_state, tenants_rule;
	struct plan_set *sets;
	size_t n_sets, n_pools;
	uint64_t minute;
	const struct series_set *series;
	size_t n_series;
	double quantile;
	struct plan_asked *asked;
};

/* Frees @sets and @asked; series are the caller's. */
void plan_ahead_free(struct plan_ahead *ahead);

/*
 * As plan_read(), with demand that may be forecast, onto what @in holds already. @in and
 * @ahead are to be freed in either case.
 */
int plan_read_onto(struct plan_instance *in, struct plan_ahead *ahead, const char *file,
		   const char *text, size_t len, struct fault *fault);

/**
 * struct plan_phase - demand that is known to come
 * @minute: from then on
 * @gpus: so much
 */
struct plan_phase {
	uint64_t minute;
	double gpus;
};

/**
 * struct plan_past - what a forecast is made from
 * @values: demand so far, one a slot, the last is now
 * @n: how many
 * @phases: sorted by minute
 * @n_phases: how many
 */
struct plan_past {
	double *values;
	size_t n;
	struct plan_phase *phases;
	size_t n_phases;
};

/*
 * Demand of @n_slots slots of @slot_min minutes from @minute on; says by which way. Never more
 * than was ever asked for, or is known to come.
 */
const char *plan_forecast(const struct plan_past *past, uint64_t minute, double slot_min,
			  double quantile, size_t n_slots, double *demand);

/* Series of minutes, up to @minute, as one value a slot of @slot_min: the most in it. */
void plan_past_series(struct plan_past *past, const struct series_set *series, uint64_t minute,
		      unsigned int slot_min);

/* Slots until the first of the sorted @epochs that is not before @minute; 0 after the last. */
uint32_t plan_until_epoch(const uint64_t *epochs, size_t n, uint64_t minute, double slot_min,
			  uint32_t n_slots);

#endif /* GPUCTL_PLAN_AHEAD_H */
