/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a step is planned from, made in steps over one instance: the inventory of this host
 * (plan/planned.h), the demand file on top of it, what compositions have, the forecast of
 * demand, and measured costs (plan/costs.h). Pure; gpuctl-plan(5) has the words.
 */
#ifndef GPUCTL_PLAN_AHEAD_H
#define GPUCTL_PLAN_AHEAD_H

#include "plan/series.h"
#include "plan/solver/instance.h"

/* Number of past intervals that a forecast looks at: it goes through all of them each time. */
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
 * @patience: minutes for which a move waits for its next boundary; 0: it can be moved now
 * @busy: the module is changing it now, or it has lost a GPU: nothing is planned with it
 * @refused: it was told to let go of GPUs, and did not
 */
struct plan_set {
	char *name, *tenant;
	struct plan_held *has;
	uint32_t *held;
	size_t n;
	uint32_t age, patience;
	bool busy, refused;
};

/**
 * struct plan_phase - demand that is known to come
 * @minute: when it begins
 * @gpus: GPUs from then on
 */
struct plan_phase {
	uint64_t minute;
	double gpus;
};

/**
 * struct plan_past - what a forecast is made from
 * @values: demand so far, one value for each interval, the last is now; owned
 * @n: number of @values
 * @phases: sorted by minute; owned
 * @n_phases: number of @phases
 */
struct plan_past {
	double *values;
	size_t n;
	struct plan_phase *phases;
	size_t n_phases;
};

/**
 * struct plan_asked - what is known of a workload beside the instance
 * @demand: in each interval, in GPUs of speed 1 or GiB; NULL: to be forecast; owned
 * @each: of each choice, what one GPU gives of that demand; owned
 * @past: what the forecast is made from
 * @epochs: minutes at which it can be moved, sorted; owned
 * @n_epochs: number of @epochs
 * @now: demand of the first interval
 * @peak: highest demand of all intervals
 * @how: by what way of forecasting; NULL where demand was given
 * @set: its composition, NULL where there is none
 * @left: why it is left as it is; NULL where it is planned
 */
struct plan_asked {
	double *demand, *each;
	struct plan_past past;
	uint64_t *epochs;
	size_t n_epochs;
	double now, peak;
	const char *how;
	const struct plan_set *set;
	const char *left;
};

/**
 * struct plan_ahead - what a step is planned from beside the instance
 * @has_state: the instance has this host's inventory: host 0, and the first @n_pools pools
 * @tenants_rule: each workload of this host has to say its tenant
 * @given: no demand is forecast: each workload says what it needs in each interval
 * @sets: compositions of this host; the pools do not count their GPUs
 * @n_sets: number of @sets
 * @failed: workloads of this host whose last move failed just now; the names are the caller's
 * @n_failed: number of @failed
 * @n_pools: pools of this host
 * @n_switches: switches of this host
 * @minute: that interval 0 begins with
 * @series: demand so far by workload, each a set of one
 * @n_series: number of @series
 * @quantile: of the forecasts
 * @file: name of the demand file, for faults
 * @text: of the demand file, @len bytes; the caller's
 * @len: number of bytes
 * @asked: of each workload
 * @n_asked: number of @asked
 */
struct plan_ahead {
	bool has_state, tenants_rule, given;
	struct plan_set *sets;
	const char **failed;
	size_t n_sets, n_failed, n_pools, n_switches;
	uint64_t minute;
	const struct series_set *series;
	size_t n_series;
	double quantile;
	const char *file, *text;
	size_t len;
	struct plan_asked *asked;
	size_t n_asked;
};

/* Frees @sets and @asked; series are the caller's. */
void plan_ahead_free(struct plan_ahead *ahead);

/*
 * The steps in their order: parse, merge, forecast, plan_check(). As plan_read(), onto what @in
 * holds already. @in and @ahead are to be freed in either case; @text is needed until then.
 */
int plan_read_onto(struct plan_instance *in, struct plan_ahead *ahead, const char *file,
		   const char *text, size_t len, struct fault *fault);

/* Parse the demand file into both: names are those of the file and of what @in holds. */
int plan_parse(struct plan_instance *in, struct plan_ahead *ahead, const char *file,
	       const char *text, size_t len, struct fault *fault);
/* What compositions have becomes what workloads have; what is nobody's is not planned with. */
int plan_state_merge(struct plan_instance *in, struct plan_ahead *ahead, struct fault *fault);
/* Demand of each workload, from what it was, and GPUs of each kind that it needs for it. */
int plan_demand_forecast(struct plan_instance *in, struct plan_ahead *ahead, struct fault *fault);

/* Refuse a workload of the demand file; -EINVAL with "file:line:column: reason". */
int plan_workload_refuse(const struct plan_ahead *ahead, size_t workload, struct fault *fault,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Demand of @n_intervals intervals of @interval_min minutes from @minute on; says by which way.
 * Never more than was ever asked for, or is known to come.
 */
const char *plan_forecast(const struct plan_past *past, uint64_t minute, double interval_min,
			  double quantile, size_t n_intervals, double *demand);

/*
 * Series of minutes, up to @minute, as one value for each interval of @interval_min minutes: the
 * highest in it.
 */
void plan_past_series(struct plan_past *past, const struct series_set *series, uint64_t minute,
		      unsigned int interval_min);

/* Intervals until the first of the sorted @epochs that is not before @minute; 0 after the last. */
uint32_t plan_until_epoch(const uint64_t *epochs, size_t n, uint64_t minute, double interval_min,
			  uint32_t n_intervals);

#endif /* GPUCTL_PLAN_AHEAD_H */
