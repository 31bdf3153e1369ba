// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/solver/beam.c ctl/plan/solver/check.c ctl/plan/solver/dual.c ctl/plan/solver/grain.c ctl/plan/solver/instance.c ctl/plan/solver/ledger.c ctl/plan/solver/model.c ctl/plan/solver/model_make.c ctl/plan/solver/path.c ctl/plan/solver/shape.c ctl/plan/solver/way.c ctl/base/fault.c ctl/base/text.c
/*
 * The search over all workloads at once: what it says that its plans cost is what they cost, they
 * keep all limits, with room for all nodes it finds the best, and changes leave alone what they
 * may not touch and never make a plan worse.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/solver/beam.h"
#include "plan/solver/dual.h"
#include "plan_random.h"
#include "plan_rules.h"
#include "tap.h"

#define INSTANCES 1500
#define ROUNDS 6

static struct model model;
static struct path *path;
static struct dual dual;
static struct beam *beam;
static struct plan_instance in;
static uint32_t use[RULES_USE_MAX];
static uint32_t y[16 * 32], before[16 * 32];
static unsigned int searched, complete, improved, impossible;

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

/* Plan @y by the rules; what it breaks, or NULL and what it costs. */
static const char *judge(double *cost)
{
	const char *why = NULL;
	size_t w, t, i;

	memset(use, 0, sizeof(use));
	for (w = 0; w < in.n_workloads; w++)
		for (t = 0; t < in.n_intervals; t++) {
			const struct shape *s = model.workloads[w].shape;
			const struct shape_config *c = &s->configs[y[w * in.n_intervals + t]];

			for (i = 0; i < c->n; i++)
				*rules_at(&in, use, w, t, s->pools[c->pool[i]].pool) = c->gpus[i];
		}
	*cost = rules_cost_shared(&in, use, NULL);
	for (w = 0; w < in.n_workloads && !why; w++) {
		why = rules_workload(&in, use, w);
		*cost += rules_cost_alone(&in, use, w);
	}
	return why ? why : rules_limits(&in, use);
}

/* Prices that mean nothing much, and what they prove. */
static double price(double *prices)
{
	size_t intervals = in.n_intervals, i;

	for (i = 0; i < dual.n; i++)
		prices[i] = one_in(2) ? 0 : below(200) * in.interval_s / 10;
	for (i = 0; i < dual.n; i++)
		if (model.rows[i / intervals].kind == ROW_GUARANTEE && prices[i] > model.deficit)
			prices[i] = model.deficit;
	return dual_value(&dual, prices);
}

static const char *change(double *cost)
{
	size_t from = below((uint32_t)in.n_intervals), to = from + below((uint32_t)in.n_intervals + 1), w, t;
	bool is_free[16];
	double gain, now;
	const char *why;

	for (w = 0; w < in.n_workloads; w++)
		is_free[w] = one_in(2);
	memcpy(before, y, sizeof(y));
	gain = beam_improve(beam, y, is_free, from, to, 1 + below(20));
	why = judge(&now);
	if (why)
		return why;
	if (gain < 0 || !near(*cost - gain, now))
		return "a change gains something else than it says";
	improved += gain > 0;
	*cost = now;
	for (w = 0; w < in.n_workloads; w++)
		for (t = 0; t < in.n_intervals; t++)
			if ((!is_free[w] || t < from || t >= to) &&
			    y[w * in.n_intervals + t] != before[w * in.n_intervals + t])
				return "a change touches what it may not";
	return NULL;
}

static const char *try_one(const double *prices, double bound)
{
	double best = INFINITY, cost, found;
	const char *why = NULL;
	unsigned int i;
	bool all;

	beam_price(beam, prices, bound);
	found = beam_search(beam, INFINITY, 1 + below(4), y, &all);
	if (found < INFINITY) {
		searched++;
		why = judge(&cost);
		if (!why && !near(found, cost))
			why = "a plan costs something else than is said";
		for (i = 0; i < ROUNDS && !why; i++)
			why = change(&cost);
		best = cost;
	}
	if (why)
		return why;
	/* Nothing is cheaper than the best of all; what is found must not be dearer than what was. */
	found = beam_search(beam, INFINITY, 3000, y, &all);
	if (!all)
		return NULL;
	complete++;
	why = judge(&cost);
	if (!why && !near(found, cost))
		why = "the best plan costs something else than is said";
	if (!why && cost > best + 1e-6 * (1 + fabs(best)))
		why = "the best of all is not the best";
	if (!why && cost < bound - 1e-6 * (1 + fabs(bound)))
		why = "a plan is below the bound";
	if (!why && beam_search(beam, cost - 1e-6 * (1 + fabs(cost)), 3000, y, &all) < INFINITY)
		why = "something is found that is not below the best";
	return why;
}

static const char *try_instance(void)
{
	struct fault fault = { "" };
	const char *why = NULL;
	double *prices;

	random_plan(&in, 1 + below(4), 1 + below(4), 1 + below(3));
	if (model_make(&model, &in, &fault)) {
		model_free(&model);
		return NULL;
	}
	path = path_new(&model);
	dual_init(&dual, &model, path);
	beam = beam_new(&model, path);
	prices = calloc(dual.n + 1, sizeof(*prices));
	if (beam)
		why = try_one(prices, price(prices));
	else
		impossible++;
	free(prices);
	beam_free(beam);
	dual_free(&dual);
	path_free(path);
	model_free(&model);
	return why;
}

int main(void)
{
	unsigned int i, bad = 0;

	for (i = 0; i < INSTANCES && bad < 5; i++) {
		const char *why = try_instance();

		plan_instance_free(&in);
		if (why) {
			printf("# instance %u: %s\n", i, why);
			bad++;
		}
	}
	printf("# searched %u, complete %u, improved %u, impossible %u\n", searched, complete, improved,
	       impossible);
	is_int((int)bad, 0, "all plans are what they are said to be");
	ok(searched > INSTANCES / 4, "most instances were searched");
	ok(complete > INSTANCES / 4, "most of them whole");
	ok(improved > INSTANCES / 20, "changes made plans better");
	ok(impossible > 0 && impossible < INSTANCES / 2, "some are not for this search");
	return tap_done();
}
