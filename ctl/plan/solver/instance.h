/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to be planned, and the plan. Pure: structures go in, structures come out; files are
 * read by plan/file.h. gpuctl-plan(5) has the words for the fields, solver/model.c the formulas.
 *
 * Units: seconds; watts and joules; a cost of 1 is one GPU missing for one second to a workload
 * of weight 1. Time is cut into intervals of equal length; interval -1 is now.
 */
#ifndef GPUCTL_PLAN_INSTANCE_H
#define GPUCTL_PLAN_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Nobody, no limit. */
#define PLAN_NONE UINT32_MAX

/* What an instance may have at most; above it a number is a mistake, and is refused. */
#define PLAN_INTERVALS_MAX 10000
#define PLAN_WORKLOADS_MAX 1000000
#define PLAN_GPUS_MAX 100000
#define PLAN_SWITCHES_MAX 10000
#define PLAN_WEIGHT_MAX 1e6
#define PLAN_SECONDS_MAX 1e7

/**
 * struct plan_kind - a kind of GPU
 * @name: as in the catalogue, or any name
 * @memory_gib: memory of one that a workload can use, 0 where that is not known
 * @busy_w: watts while a workload holds it
 * @idle_w: watts while it is powered and nobody holds it
 * @off_w: watts while it is off
 * @wake_j: joules that switching it on takes
 */
struct plan_kind {
	char *name;
	double memory_gib;
	double busy_w, idle_w, off_w, wake_j;
};

/**
 * struct plan_switch - GPUs come and go behind it
 * @name: of the switch
 * @attach_max: GPUs that are attached behind it in one interval at most, or PLAN_NONE
 */
struct plan_switch {
	char *name;
	uint32_t attach_max;
};

/**
 * struct plan_pool - GPUs of one kind behind one switch; none differs from another
 * @sw: index of the switch
 * @kind: index of the kind
 * @gpus: how many
 * @on: how many are powered now
 * @attach_s: cost of attaching one, in seconds of a GPU
 * @detach_s: cost of draining and detaching one
 */
struct plan_pool {
	uint32_t sw, kind;
	uint32_t gpus, on;
	double attach_s, detach_s;
};

/**
 * struct plan_host - a host
 * @name: of the host
 * @slots: GPUs that it can have at most, or PLAN_NONE
 */
struct plan_host {
	char *name;
	uint32_t slots;
};

/**
 * struct plan_link - the uplink from a switch to a host
 * @host: index of the host
 * @sw: index of the switch
 * @lanes: lanes that GPUs of this host behind this switch share, or PLAN_NONE
 * @locality: cost of each second of each GPU that is used over it
 *
 * A workload can have GPUs behind the switches that its host has a link to. An instance
 * without any links connects all hosts to all switches.
 */
struct plan_link {
	uint32_t host, sw;
	uint32_t lanes;
	double locality;
};

/**
 * struct plan_tenant - a share of the GPUs
 * @name: of the tenant
 * @guarantee: GPUs that it has when it needs them; others borrow what it does not need
 * @limit: GPUs that it never has more than, or PLAN_NONE
 */
struct plan_tenant {
	char *name;
	uint32_t guarantee, limit;
};

/**
 * struct plan_choice - a kind of GPU that a workload can use
 * @kind: index of the kind
 * @need: GPUs of this kind that it needs in each interval
 */
struct plan_choice {
	uint32_t kind;
	uint32_t *need;
};

/**
 * struct plan_held - GPUs of one pool
 * @pool: index of the pool
 * @gpus: how many
 */
struct plan_held {
	uint32_t pool, gpus;
};

/**
 * struct plan_workload - somebody who needs GPUs
 * @name: of the workload
 * @host: index of its host
 * @tenant: index of its tenant, or PLAN_NONE
 * @gang: useless with fewer than it needs: it has all of them, or none; others are slowed
 *   down in proportion
 * @hold: after an attach it keeps exactly what it has for so many intervals, the one of the
 *   attach counted; 0 and 1: no hold
 * @span: switches that its GPUs at one time may be behind, 1 to 4
 * @lanes: lanes of the uplink that each of its GPUs takes
 * @weight: cost of one missing GPU a second, GPUs counted as those of the first choice
 * @load_s: seconds that each of its GPUs is lost for after an attach, beyond the pool's own
 * @choices: kinds that it can use, one at a time, each kind once; at least one
 * @n_choices: how many
 * @now: what it has in interval -1, of one kind
 * @n_now: how many entries
 * @keep: intervals from the first one in which it keeps exactly what it has now
 */
struct plan_workload {
	char *name;
	uint32_t host, tenant;
	bool gang;
	uint32_t hold, span, lanes, keep;
	double weight, load_s;
	struct plan_choice *choices;
	size_t n_choices;
	struct plan_held *now;
	size_t n_now;
};

/**
 * struct plan_instance - all that a plan is made from
 * @interval_s: length of an interval in seconds
 * @n_intervals: how many there are
 * @energy_cost: cost of a joule; 0: energy does not count
 * @deficit_weight: cost a second of each GPU that a tenant lacks of its guarantee while it
 *   needs it, beyond what its workloads lose
 * @kinds: of GPUs
 * @n_kinds: how many
 * @switches: all of them
 * @n_switches: how many
 * @pools: at most one for each switch and kind
 * @n_pools: how many
 * @hosts: all of them; at least one
 * @n_hosts: how many
 * @links: from switches to hosts; none: all to all
 * @n_links: how many
 * @tenants: may be none
 * @n_tenants: how many
 * @workloads: all of them
 * @n_workloads: how many
 *
 * All zero is an empty instance. Everything it points to is its own, each array and each name
 * by itself from malloc(); plan_instance_free() frees it.
 */
struct plan_instance {
	double interval_s;
	size_t n_intervals;
	double energy_cost, deficit_weight;
	struct plan_kind *kinds;
	size_t n_kinds;
	struct plan_switch *switches;
	size_t n_switches;
	struct plan_pool *pools;
	size_t n_pools;
	struct plan_host *hosts;
	size_t n_hosts;
	struct plan_link *links;
	size_t n_links;
	struct plan_tenant *tenants;
	size_t n_tenants;
	struct plan_workload *workloads;
	size_t n_workloads;
};

/* Each appends one with the fields that nearly all share; the index is returned. */
uint32_t plan_add_kind(struct plan_instance *in, const char *name);
uint32_t plan_add_switch(struct plan_instance *in, const char *name);
uint32_t plan_add_pool(struct plan_instance *in, uint32_t sw, uint32_t kind, uint32_t gpus);
uint32_t plan_add_host(struct plan_instance *in, const char *name);
/* The pointer of this and of plan_add_choice() is valid until the next is added. */
struct plan_link *plan_add_link(struct plan_instance *in, uint32_t host, uint32_t sw);
uint32_t plan_add_tenant(struct plan_instance *in, const char *name);
uint32_t plan_add_workload(struct plan_instance *in, const char *name);
/* @need holds n_intervals numbers and is copied; NULL: zeros. Set n_intervals before. */
struct plan_choice *plan_add_choice(const struct plan_instance *in, struct plan_workload *w,
				    uint32_t kind, const uint32_t *need);
void plan_add_now(struct plan_workload *w, uint32_t pool, uint32_t gpus);
void plan_instance_free(struct plan_instance *in);

/* Is everything in range, does every index exist, is interval -1 possible? 0 or -EINVAL. */
int plan_check(const struct plan_instance *in, struct fault *fault);

/**
 * struct plan_cost - what a plan costs, or a bound of it
 * @missing: GPUs that workloads lack
 * @deficit: GPUs that tenants lack of their guarantees
 * @attach: attaching, with load_s
 * @detach: draining and detaching
 * @locality: use over uplinks that cost
 * @energy: busy, idle and off
 * @wake: switching on
 * @total: their sum
 */
struct plan_cost {
	double missing, deficit, attach, detach, locality, energy, wake;
	double total;
};

struct plan_prices;

/**
 * struct plan_options - how hard to try; all zero is the default
 * @sweeps: price sweeps at most, 0: by the size of the instance
 * @effort: improvement of the plan, in units of one pass over all workloads; 0: by the size
 * @warm: prices to begin with, or NULL
 * @keep: where the final prices are left for the next time, or NULL
 *
 * Nothing depends on the clock: the same instance and options give the same plan.
 */
struct plan_options {
	unsigned int sweeps;
	unsigned int effort;
	const struct plan_prices *warm;
	struct plan_prices **keep;
};

/* Prices by names of switches, hosts and tenants: they outlive the instance. */
void plan_prices_free(struct plan_prices *prices);
/* Let @intervals pass: what was the price of interval n is that of interval n - @intervals. */
void plan_prices_shift(struct plan_prices *prices, size_t intervals);

/**
 * struct plan_config - something that a workload can have at one time
 * @n: pools
 * @held: the pools with their counts; NULL where @n is 0
 */
struct plan_config {
	size_t n;
	const struct plan_held *held;
};

struct plan_shapes;

/**
 * struct plan_solution - a plan with its cost and how good it is
 * @n_workloads: of the instance
 * @n_intervals: of the instance
 * @n_pools: of the instance
 * @y: what each workload has: y[workload * n_intervals + interval], read by plan_config_at()
 * @on: GPUs that are powered: on[pool * n_intervals + interval]
 * @cost: of this plan
 * @bound: no plan costs less; proved, not estimated
 * @base: what every workload would cost if it were alone: no plan costs less than this
 *   either, so cost - base is what planning can change
 * @exact: this is the best plan: bound and cost are the same but for rounding
 * @sweeps: price sweeps that were made
 * @shapes: what @y counts in; private
 */
struct plan_solution {
	size_t n_workloads, n_intervals, n_pools;
	uint32_t *y;
	uint32_t *on;
	struct plan_cost cost;
	double bound, base;
	bool exact;
	unsigned int sweeps;
	struct plan_shapes *shapes;
};

/*
 * Plan. 0; -EINVAL with @fault for an instance that plan_check() refuses or that is too large.
 * The solution is independent of the instance afterwards; free it in either case.
 */
int plan_solve(const struct plan_instance *in, const struct plan_options *options,
	       struct plan_solution *solution, struct fault *fault);
void plan_solution_free(struct plan_solution *solution);

/* What a workload has in an interval; valid as long as the solution. */
struct plan_config plan_config_at(const struct plan_solution *solution, size_t workload,
				  size_t interval);
/* GPUs of one pool, and of all pools, that it has in an interval. */
uint32_t plan_gpus_of(const struct plan_solution *solution, size_t workload, size_t interval,
		      size_t pool);
uint32_t plan_gpus(const struct plan_solution *solution, size_t workload, size_t interval);
/* 1 - bound / cost: at most so much of the cost could be saved; 0 where both are 0. */
double plan_gap(const struct plan_solution *solution);

#endif /* GPUCTL_PLAN_INSTANCE_H */
