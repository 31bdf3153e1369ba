// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/solver/beam.c ctl/plan/solver/check.c ctl/plan/solver/dual.c ctl/plan/solver/exact.c ctl/plan/solver/flow.c ctl/plan/solver/grain.c ctl/plan/solver/group.c ctl/plan/solver/instance.c ctl/plan/solver/ledger.c ctl/plan/solver/model.c ctl/plan/solver/model_make.c ctl/plan/solver/path.c ctl/plan/solver/prices.c ctl/plan/solver/roster.c ctl/plan/solver/shape.c ctl/plan/solver/solve.c ctl/plan/solver/way.c ctl/base/fault.c ctl/base/text.c
/* Plans that are flows: the same as the best of all plans, tried one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/solver/exact.h"
#include "plan/solver/flow.h"
#include "tap.h"

#define SLOTS 3
#define RUNS 400

static uint32_t seed = 5;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void test_flow(void)
{
	struct flow f;
	double cost;
	size_t a;

	flow_init(&f, 4);
	flow_arc(&f, 0, 1, 2, 1);
	flow_arc(&f, 0, 2, 1, 2);
	a = flow_arc(&f, 1, 2, 1, -1);
	flow_arc(&f, 1, 3, 1, 3);
	flow_arc(&f, 2, 3, 2, 1);
	is_int((int)flow_send(&f, 0, 3, &cost), 3, "all that can go");
	is_near(cost, 1 - 1 + 1 + 2 + 1 + 1 + 3, 1e-9, "go as cheaply as can be");
	is_int((int)flow_on(&f, a), 1, "one over the arc that pays");
	flow_free(&f);
	flow_init(&f, 2);
	is_int((int)flow_send(&f, 0, 1, &cost), 0, "nothing goes where there is no way");
	flow_free(&f);
}

static void make(struct plan_instance *in)
{
	uint32_t kinds = 1 + any(2), n = 1 + any(2), i, t, now, need[SLOTS];

	memset(in, 0, sizeof(*in));
	in->interval_s = 10;
	in->n_intervals = SLOTS;
	in->energy_cost = any(2) ? 0.01 : 0;
	plan_add_switch(in, "s");
	for (i = 0; i < kinds; i++) {
		plan_add_kind(in, i ? "k1" : "k0");
		plan_add_pool(in, 0, i, 1 + any(3));
		in->kinds[i].busy_w = 20 + any(200);
		in->kinds[i].idle_w = any(20);
		in->kinds[i].wake_j = any(3) ? any(2000) : 0;
		in->pools[i].attach_s = any(12);
		in->pools[i].detach_s = any(6);
	}
	plan_add_host(in, "h");
	for (i = 0; i < n; i++) {
		uint32_t w = plan_add_workload(in, i ? "w1" : "w0"), kind = any(kinds);

		in->workloads[w].weight = 1 + any(3);
		in->workloads[w].load_s = any(2) ? any(8) : 0;
		for (t = 0; t < SLOTS; t++)
			need[t] = any(4);
		plan_add_choice(in, &in->workloads[w], kind, need);
		now = i ? 0 : any(in->pools[kind].gpus + 1);
		if (now)
			plan_add_now(&in->workloads[w], kind, now);
	}
}

static bool within(const struct model *m, const uint32_t *y)
{
	const struct plan_instance *in = m->in;
	uint32_t sum;
	size_t q, t, w;

	for (q = 0; q < in->n_pools; q++)
		for (t = 0; t < SLOTS; t++) {
			for (sum = 0, w = 0; w < in->n_workloads; w++)
				if (m->workloads[w].shape->pools[0].pool == q)
					sum += y[w * SLOTS + t];
			if (sum > in->pools[q].gpus)
				return false;
		}
	return true;
}

/* Every plan there is. */
static double best_of_all(const struct model *m)
{
	size_t n = m->in->n_workloads * SLOTS, i;
	uint32_t y[2 * SLOTS] = { 0 };
	struct plan_cost cost;
	double best = INFINITY;

	do {
		if (within(m, y)) {
			model_cost(m, y, NULL, &cost);
			best = fmin(best, cost.total);
		}
		for (i = 0; i < n && ++y[i] == m->workloads[i / SLOTS].shape->n; i++)
			y[i] = 0;
	} while (i < n);
	return best;
}

static void test_plans(void)
{
	unsigned int flows = 0, dear = 0, high = 0, low = 0, inexact = 0, over = 0, i;

	for (i = 0; i < RUNS; i++) {
		struct plan_instance in;
		struct plan_solution s;
		struct fault fault = { "" };
		struct model m = { 0 };
		uint32_t y[2 * SLOTS];
		double best, bound;

		make(&in);
		if (model_make(&m, &in, &fault) || !exact_possible(&m)) {
			model_free(&m);
			plan_instance_free(&in);
			continue;
		}
		flows++;
		best = best_of_all(&m);
		exact_plan(&m, y, &bound);
		over += !within(&m, y);
		high += bound > best;
		low += bound < best - 1e-6 * (1 + fabs(best));
		plan_solve(&in, NULL, &s, &fault);
		dear += fabs(s.cost.total - best) > 1e-6 * (1 + fabs(best));
		inexact += !s.exact;
		plan_solution_free(&s);
		model_free(&m);
		plan_instance_free(&in);
	}
	ok(flows > RUNS / 2, "%u of %d instances are flows", flows, RUNS);
	is_int((int)over, 0, "no plan has more GPUs than there are");
	is_int((int)dear, 0, "none costs more than the best");
	is_int((int)high, 0, "no bound is above it");
	is_int((int)low, 0, "nor further below it than rounding");
	is_int((int)inexact, 0, "and that is said");
	tap_counted("plan.flows", flows);
}

int main(void)
{
	test_flow();
	test_plans();
	return tap_done();
}
