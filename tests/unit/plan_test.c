// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/solver/beam.c ctl/plan/solver/check.c ctl/plan/solver/dual.c ctl/plan/solver/exact.c ctl/plan/solver/flow.c ctl/plan/solver/grain.c ctl/plan/solver/group.c ctl/plan/solver/instance.c ctl/plan/solver/ledger.c ctl/plan/solver/model.c ctl/plan/solver/model_make.c ctl/plan/solver/path.c ctl/plan/solver/prices.c ctl/plan/solver/roster.c ctl/plan/solver/shape.c ctl/plan/solver/solve.c ctl/plan/solver/way.c ctl/base/fault.c ctl/base/text.c
/*
 * Plans of small random instances against all plans that there are, enumerated here from the
 * words of gpuctl-plan(5): what a plan costs is what is added up here, none costs less than the
 * best of all, and no bound is above that. Larger ones are checked for what must never happen.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/solver/instance.h"
#include "plan_random.h"
#include "plan_rules.h"
#include "tap.h"

#define TINY 5000
#define LARGER 150
#define COMBINATIONS_MAX 30000
#define PATHS_MAX 400

/* --- all plans --------------------------------------------------------------- */

/**
 * struct choice_set - all that one workload could do
 * @configs: counts by pool
 * @n: configurations
 * @path: ways through time, as indices of configurations
 * @cost: of each way, as far as it is the workload's alone
 * @n_paths: how many
 */
struct choice_set {
	uint32_t configs[64][RULES_POOLS];
	size_t n;
	uint8_t path[PATHS_MAX][8];
	double cost[PATHS_MAX];
	size_t n_paths;
};

static struct choice_set sets[4];
static uint32_t trial[RULES_USE_MAX];
static double best_cost;

static bool list_configs(const struct plan_instance *in, size_t w, struct choice_set *set)
{
	uint32_t counts[RULES_POOLS] = { 0 };
	size_t q;

	set->n = 0;
	for (;;) {
		if (rules_config(in, w, counts)) {
			if (set->n == 64)
				return false;
			memcpy(set->configs[set->n++], counts, sizeof(counts));
		}
		for (q = 0; q < in->n_pools && counts[q] == in->pools[q].gpus; q++)
			counts[q] = 0;
		if (q == in->n_pools)
			return true;
		counts[q]++;
	}
}

static bool list_paths(const struct plan_instance *in, size_t w, struct choice_set *set)
{
	uint8_t at[8] = { 0 };
	size_t t, q;

	set->n_paths = 0;
	for (;;) {
		for (t = 0; t < in->n_intervals; t++)
			for (q = 0; q < in->n_pools; q++)
				*rules_at(in, trial, w, t, q) = set->configs[at[t]][q];
		if (!rules_workload(in, trial, w)) {
			if (set->n_paths == PATHS_MAX)
				return false;
			memcpy(set->path[set->n_paths], at, sizeof(at));
			set->cost[set->n_paths++] = rules_cost_alone(in, trial, w);
		}
		for (t = 0; t < in->n_intervals && at[t] + 1u == set->n; t++)
			at[t] = 0;
		if (t == in->n_intervals)
			return true;
		at[t]++;
	}
}

static void try_all(const struct plan_instance *in, size_t w, double cost)
{
	struct choice_set *set = &sets[w];
	size_t p, t, q;

	if (w == in->n_workloads) {
		if (rules_limits(in, trial))
			return;
		cost += rules_cost_shared(in, trial, NULL);
		if (cost < best_cost)
			best_cost = cost;
		return;
	}
	for (p = 0; p < set->n_paths; p++) {
		for (t = 0; t < in->n_intervals; t++)
			for (q = 0; q < in->n_pools; q++)
				*rules_at(in, trial, w, t, q) = set->configs[set->path[p][t]][q];
		try_all(in, w + 1, cost + set->cost[p]);
	}
}

static bool enumerate(const struct plan_instance *in)
{
	double combinations = 1;
	size_t w;

	for (w = 0; w < in->n_workloads; w++) {
		if (!list_configs(in, w, &sets[w]) ||
		    pow((double)sets[w].n, (double)in->n_intervals) > 5000 ||
		    !list_paths(in, w, &sets[w]))
			return false;
		combinations *= (double)sets[w].n_paths;
	}
	if (combinations > COMBINATIONS_MAX)
		return false;
	best_cost = INFINITY;
	try_all(in, 0, 0);
	return best_cost < INFINITY;
}

static uint32_t solved[RULES_USE_MAX];

static void take(const struct plan_instance *in, const struct plan_solution *s)
{
	size_t w, t, q;

	for (w = 0; w < in->n_workloads; w++)
		for (t = 0; t < in->n_intervals; t++)
			for (q = 0; q < in->n_pools; q++)
				*rules_at(in, solved, w, t, q) = plan_gpus_of(s, w, t, q);
}

static double cost_of(const struct plan_instance *in, const struct plan_solution *s)
{
	double cost = rules_cost_shared(in, solved, s->on);
	size_t w;

	for (w = 0; w < in->n_workloads; w++)
		cost += rules_cost_alone(in, solved, w);
	return cost;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-7 * (1 + fabs(a) + fabs(b));
}

/* What must hold of any plan; says what does not. */
static const char *broken(const struct plan_instance *in, const struct plan_solution *s)
{
	const char *why = NULL;
	size_t w;

	take(in, s);
	for (w = 0; w < in->n_workloads && !why; w++)
		why = rules_workload(in, solved, w);
	if (!why)
		why = rules_limits(in, solved);
	if (!why && !near(cost_of(in, s), s->cost.total))
		why = "the cost is another";
	if (!why && s->bound > s->cost.total + 1e-7 * (1 + fabs(s->cost.total)))
		why = "the bound is above the cost";
	return why;
}

static void test_tiny(void)
{
	struct plan_options how = { .effort = 10 };
	size_t done = 0, best = 0, tries = 0, bad = 0, exact = 0;
	double gap = 0;

	while (done < TINY && tries++ < 10 * TINY && bad < 5) {
		struct plan_instance in;
		struct plan_solution s;
		struct fault fault = { "" };
		const char *why;
		double room;

		random_plan(&in, 1 + below(3), 1 + below(3), 1 + below(3));
		if (!enumerate(&in)) {
			plan_instance_free(&in);
			continue;
		}
		if (plan_solve(&in, &how, &s, &fault)) {
			ok(false, "instance %zu: %s", tries, fault.text);
			bad++;
		} else {
			room = 1e-7 * (1 + fabs(best_cost));
			why = broken(&in, &s);
			if (!why && s.cost.total < best_cost - room)
				why = "it costs less than the best of all";
			if (!why && s.bound > best_cost + room)
				why = "the bound is above the best of all";
			if (!why && s.exact && s.cost.total > best_cost + room)
				why = "it is not the best, but says so";
			if (why) {
				ok(false, "instance %zu: %s: cost %g bound %g best %g", tries, why,
				   s.cost.total, s.bound, best_cost);
				bad++;
			}
			best += s.cost.total <= best_cost + room;
			exact += s.exact;
			if (best_cost > 0)
				gap += (s.cost.total - best_cost) / best_cost;
		}
		plan_solution_free(&s);
		plan_instance_free(&in);
		done++;
	}
	ok(done == TINY && !bad, "%zu tiny instances against all plans", done);
	ok(best >= done * 98 / 100, "%zu of them are planned best, %zu say so", best, exact);
	printf("# mean distance %.6f\n", gap / (double)done);
	tap_counted("plan.tiny", done);
	tap_counted("plan.tiny_best", best);
}

static void test_larger(void)
{
	size_t i, bad = 0;

	for (i = 0; i < LARGER && bad < 5; i++) {
		struct plan_options quick = { .effort = 3 };
		struct plan_instance in;
		struct plan_solution s, again;
		struct fault fault = { "" };
		const char *why = NULL;

		random_plan(&in, 3 + below(8), 6 + below(14), 4 + below(5));
		if (plan_solve(&in, &quick, &s, &fault)) {
			ok(false, "larger %zu: %s", i, fault.text);
			plan_instance_free(&in);
			bad++;
			continue;
		}
		plan_solve(&in, &quick, &again, &fault);
		why = broken(&in, &s);
		if (!why && (memcmp(s.y, again.y, s.n_workloads * s.n_intervals * sizeof(*s.y)) ||
			     s.bound != again.bound))
			why = "another plan the second time";
		if (why) {
			ok(false, "larger %zu: %s", i, why);
			bad++;
		}
		plan_solution_free(&s);
		plan_solution_free(&again);
		plan_instance_free(&in);
	}
	ok(i == LARGER && !bad, "%zu larger instances keep every limit, twice the same", i);
}

/*
 * Guarantees that can all be kept are kept, whoever borrows at whatever weight, and however little
 * the search may do: most are planned in a hurry.
 */
static void test_guarantees(void)
{
	const struct plan_options quick = { .effort = 3 };
	size_t i, t, w, bad = 0;

	for (i = 0; i < 60; i++) {
		struct plan_instance in = { .interval_s = 60, .n_intervals = 12, .deficit_weight = 100 };
		struct plan_solution s;
		struct fault fault = { "" };
		uint32_t need[12];

		plan_add_kind(&in, "k");
		plan_add_switch(&in, "s");
		plan_add_host(&in, "h");
		plan_add_pool(&in, 0, 0, 12);
		for (w = 0; w < 6; w++) {
			if (w < 3) {
				plan_add_tenant(&in, "t");
				in.tenants[w].guarantee = 4;
			}
			plan_add_workload(&in, "w");
			in.workloads[w].tenant = (uint32_t)w % 3;
			in.workloads[w].weight = 1 + below(9);
			in.workloads[w].load_s = below(20);
			for (t = 0; t < 12; t++)
				need[t] = below(7);
			plan_add_choice(&in, &in.workloads[w], 0, need);
		}
		if (plan_solve(&in, i % 6 ? &quick : NULL, &s, &fault) || s.cost.deficit > 0)
			bad++;
		plan_solution_free(&s);
		plan_instance_free(&in);
	}
	is_int((intmax_t)bad, 0, "guarantees that can be kept are kept");
}

/*
 * Moves of 3 and 1 and GPUs that are missing for 60 seconds: costs are whole numbers, and a
 * bound that prices bring close to one proves it.
 */
static void test_grain(void)
{
	static const uint32_t needs[3][10] = {
		{ 1, 1, 4, 4, 6, 6, 6, 6, 6, 6 },
		{ 3, 3, 0, 0, 2, 2, 2, 2, 2, 2 },
		{ 4, 4, 4, 4, 0, 0, 0, 0, 0, 0 },
	};
	struct plan_instance in = { .interval_s = 60, .n_intervals = 10 };
	struct plan_solution s;
	struct fault fault = { "" };
	size_t i;

	plan_add_kind(&in, "k");
	plan_add_host(&in, "h");
	for (i = 0; i < 2; i++) {
		plan_add_switch(&in, "s");
		plan_add_pool(&in, (uint32_t)i, 0, 4);
		in.pools[i].attach_s = 3;
		in.pools[i].detach_s = 1;
	}
	for (i = 0; i < 3; i++) {
		plan_add_workload(&in, "w");
		in.workloads[i].span = 2;
		plan_add_choice(&in, &in.workloads[i], 0, needs[i]);
	}
	in.workloads[2].gang = true;
	plan_add_now(&in.workloads[0], 0, 2);
	plan_add_now(&in.workloads[1], 1, 4);
	plan_add_now(&in.workloads[1], 0, 2);
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "costs that are whole numbers");
	ok(s.exact && !plan_gap(&s), "a plan of %g is the best, at least %g is needed", s.cost.total,
	   s.bound);
	plan_solution_free(&s);
	/* Halves are whole numbers of something smaller. */
	in.workloads[0].weight = 1.5;
	in.pools[0].attach_s = 2.25;
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "costs with a fraction");
	ok(s.exact && !plan_gap(&s), "a plan of %g is the best, at least %g is needed", s.cost.total,
	   s.bound);
	plan_solution_free(&s);
	/* What has nothing in common with the rest leaves the bound as it was proved. */
	in.pools[0].attach_s = sqrt(2);
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "costs that have nothing in common");
	ok(s.bound <= s.cost.total, "a plan of %g, at least %g is needed", s.cost.total, s.bound);
	plan_solution_free(&s);
	plan_instance_free(&in);
}

/* Demand that comes in jobs, of workloads of which each can use two of four pools. */
static void contested(struct plan_instance *in)
{
	uint32_t need[72], i, k;
	size_t t;

	*in = (struct plan_instance){ .interval_s = 600, .n_intervals = 72 };
	random_state = 88172645463325252ull;
	plan_add_kind(in, "k");
	for (i = 0; i < 4; i++) {
		plan_add_switch(in, "s");
		plan_add_pool(in, i, 0, 24);
		in->pools[i].attach_s = 20;
		in->pools[i].detach_s = 10;
		plan_add_host(in, "h");
	}
	for (i = 0; i < 4; i++)
		for (k = 0; k < 2; k++)
			plan_add_link(in, i, (i + k) % 4);
	for (i = 0; i < 40; i++) {
		struct plan_workload *w;

		plan_add_workload(in, "w");
		w = &in->workloads[i];
		w->host = i % 4;
		w->weight = 1 + below(5);
		w->load_s = below(120);
		w->gang = one_in(5);
		need[0] = 1 + below(8);
		for (t = 1; t < in->n_intervals; t++)
			need[t] = !one_in(8) ? need[t - 1] :
				  w->gang    ? need[0] * below(2) :
					       below(9);
		plan_add_choice(in, w, 0, need);
	}
}

/* Where nearly everything is short in every interval, prices have far to go. */
static void test_bound(void)
{
	struct plan_instance in;
	struct plan_solution s;
	struct fault fault = { "" };
	double gap;

	contested(&in);
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "a contested instance is planned");
	gap = 1 - (s.bound - s.base) / (s.cost.total - s.base);
	ok(gap < 0.12, "the gap is %.4f of what planning can change", gap);
	plan_solution_free(&s);
	plan_instance_free(&in);
}

static void refuses(struct plan_instance *in, const char *why)
{
	struct plan_solution s;
	struct fault fault = { "" };

	is_int(plan_solve(in, NULL, &s, &fault), -EINVAL, "refused");
	ok(!strcmp(fault.text, why), "%s, not: %s", why, fault.text);
	plan_solution_free(&s);
}

static void test_refusals(void)
{
	struct plan_instance in = { .interval_s = 60, .n_intervals = 2 };
	struct plan_solution s;
	struct fault fault = { "" };
	uint32_t need[2] = { 2, 2 };

	refuses(&in, "there are no hosts");
	plan_add_host(&in, "h");
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "nothing at all is planned");
	ok(!s.cost.total && !plan_gap(&s), "and costs nothing");
	plan_solution_free(&s);
	plan_add_kind(&in, "k");
	plan_add_switch(&in, "s");
	plan_add_pool(&in, 0, 0, 3);
	plan_add_workload(&in, "w");
	refuses(&in, "workload w: no kind that it can use");
	plan_add_choice(&in, &in.workloads[0], 0, need);
	in.workloads[0].weight = -1;
	refuses(&in, "workload w: weight or load_s out of range");
	in.workloads[0].weight = NAN;
	refuses(&in, "workload w: weight or load_s out of range");
	in.workloads[0].weight = 1;
	plan_add_workload(&in, "v");
	plan_add_choice(&in, &in.workloads[1], 0, need);
	plan_add_now(&in.workloads[0], 0, 2);
	plan_add_now(&in.workloads[1], 0, 2);
	in.workloads[0].keep = 1;
	in.workloads[1].keep = 1;
	refuses(&in, "workloads with keep hold 4 GPUs of a pool, the limit is 3");
	in.workloads[1].keep = 0;
	is_int(plan_solve(&in, NULL, &s, &fault), 0, "what is not kept may be taken away");
	is_int(plan_gpus(&s, 0, 0), 2, "from another");
	plan_solution_free(&s);
	plan_instance_free(&in);
}

int main(void)
{
	test_refusals();
	test_guarantees();
	test_grain();
	test_tiny();
	test_larger();
	test_bound();
	return tap_done();
}
