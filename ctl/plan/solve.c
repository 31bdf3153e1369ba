// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: planning
 *
 * Prices first: they bound the cost from below and say what is scarce when. Then a plan that
 * keeps the limits, led by them, and improved as long as the effort lasts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "plan/dual.h"
#include "plan/roster.h"

struct plan_shapes {
	struct shape *list;
	const struct shape **of;
};

/**
 * struct solver - one run
 * @model: of the instance
 * @path: memory for ways
 * @dual: the bound
 * @roster: the plan
 * @order: in which workloads come
 * @best: the best plan so far
 * @best_cost: what it costs
 * @price: memory for prices
 * @saved: memory for the plans of a group
 * @random: state of the numbers that choose; the same in each run
 */
struct solver {
	struct model model;
	struct path *path;
	struct dual dual;
	struct roster roster;
	size_t *order;
	uint32_t *best;
	double best_cost;
	double *price;
	uint32_t *saved;
	uint64_t random;
};

static uint64_t next_random(struct solver *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static double cost_of(const struct solver *s, const uint32_t *y)
{
	struct plan_cost cost;

	model_cost(&s->model, y, NULL, &cost);
	return cost.total;
}

static void remember(struct solver *s)
{
	const struct plan_instance *in = s->model.in;
	double cost = cost_of(s, s->roster.y);

	if (cost >= s->best_cost)
		return;
	s->best_cost = cost;
	memcpy(s->best, s->roster.y, in->n_workloads * in->n_slots * sizeof(*s->best));
}

static void construct(struct solver *s, const double *price)
{
	size_t n = s->model.in->n_workloads, i;
	unsigned int pass;

	roster_all(&s->roster, s->order, price);
	for (pass = 0; pass < 6; pass++) {
		double fell = 0;

		for (i = 0; i < n; i++)
			fell += roster_again(&s->roster, s->order[i]);
		if (fell <= 0)
			break;
	}
	remember(s);
}

static const struct solver *sorted;

static int by_density(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double dx = sorted->model.workloads[x].scale, dy = sorted->model.workloads[y].scale;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x > y) - (x < y);
}

/* Cost and bound are the same: nothing is left to do. */
static bool is_best(const struct solver *s)
{
	return s->best_cost - s->dual.bound <= MODEL_ROUNDING * (1 + fabs(s->best_cost));
}

static void finish(struct solver *s, struct plan_solution *solution)
{
	const struct plan_instance *in = s->model.in;
	size_t w;

	solution->n_workloads = in->n_workloads;
	solution->n_slots = in->n_slots;
	solution->n_pools = in->n_pools;
	solution->y = s->best;
	s->best = NULL;
	solution->on = mem_zalloc(in->n_pools * in->n_slots + 1, sizeof(*solution->on));
	model_cost(&s->model, solution->y, solution->on, &solution->cost);
	solution->bound = s->dual.bound;
	solution->base = s->dual.base;
	solution->exact = is_best(s);
	solution->sweeps = s->dual.sweeps;
	solution->shapes = mem_zalloc(1, sizeof(*solution->shapes));
	solution->shapes->list = s->model.shapes;
	s->model.shapes = NULL;
	solution->shapes->of = mem_zalloc(in->n_workloads + 1, sizeof(*solution->shapes->of));
	for (w = 0; w < in->n_workloads; w++)
		solution->shapes->of[w] = s->model.workloads[w].shape;
}

#define GROUP_MAX 6

/* Some workloads out and in again, in another order and led by prices: a jump. */
static void jump(struct solver *s, double *total, double heat)
{
	size_t n = s->model.in->n_workloads, slots = s->model.in->n_slots, k, i, m;
	size_t group[GROUP_MAX];
	static const double leads[] = { 0, 0, 0.5, 1, 1 };
	double before = 0, after = 0, lead = leads[next_random(s) % 5], fell;
	double *price = NULL;

	m = 2 + next_random(s) % (GROUP_MAX - 1);
	if (m > n)
		m = n;
	for (k = 0; k < m; k++) {
		do {
			group[k] = next_random(s) % n;
			for (i = 0; i < k && group[i] != group[k];)
				i++;
		} while (i < k);
		memcpy(s->saved + k * slots, s->roster.y + group[k] * slots,
		       slots * sizeof(*s->saved));
	}
	if (lead > 0) {
		price = s->price;
		for (i = 0; i < s->dual.n; i++)
			price[i] = lead * s->dual.price[i];
	}
	for (k = 0; k < m; k++)
		before += roster_remove(&s->roster, group[k]);
	for (k = 0; k < m; k++)
		after += roster_insert(&s->roster, group[k], price);
	for (i = 0; i < 3; i++) {
		for (fell = 0, k = 0; k < m; k++)
			fell += roster_again(&s->roster, group[k]);
		after -= fell;
		if (fell <= 0)
			break;
	}
	if (after <= before + heat) {
		*total += after - before;
		if (*total < s->best_cost * (1 - MODEL_ROUNDING))
			remember(s);
		return;
	}
	for (k = 0; k < m; k++)
		roster_remove(&s->roster, group[k]);
	for (k = 0; k < m; k++)
		roster_put(&s->roster, group[k], s->saved + k * slots);
}

static void improve(struct solver *s, unsigned int jumps)
{
	double total;
	unsigned int i;

	roster_set(&s->roster, s->best);
	total = s->best_cost;
	for (i = 0; i < jumps && !is_best(s); i++) {
		double heat = (double)(jumps - i) / jumps;

		jump(s, &total, 0.003 * heat * heat * (s->best_cost - s->dual.base) *
		     (double)(next_random(s) % 1000) / 1000);
	}
}

static void search(struct solver *s, const struct plan_options *options)
{
	size_t n = s->model.in->n_workloads, i;
	unsigned int sweeps = options->sweeps ? options->sweeps : 200;
	double *price = mem_zalloc(s->dual.n + 1, sizeof(*price));

	for (i = 0; i < n; i++)
		s->order[i] = i;
	sorted = s;
	qsort(s->order, n, sizeof(*s->order), by_density);
	s->dual.base = dual_value(&s->dual, price);
	s->dual.bound = s->dual.base;
	dual_guess(&s->dual, price);
	construct(s, price);
	dual_try(&s->dual, price);
	for (i = 0; i < 10 && !is_best(s); i++) {
		dual_ascend(&s->dual, sweeps / 10, s->best_cost);
		construct(s, s->dual.price);
	}
	if (n > 1)
		improve(s, options->effort ? options->effort * 10 : 500);
	free(price);
}

int plan_solve(const struct plan_instance *in, const struct plan_options *options,
	       struct plan_solution *solution, struct fault *fault)
{
	static const struct plan_options defaults;
	struct solver s = { .best_cost = INFINITY, .random = 88172645463325252ull };
	int err;

	memset(solution, 0, sizeof(*solution));
	err = plan_check(in, fault);
	if (err)
		return err;
	err = model_make(&s.model, in, fault);
	if (err) {
		model_free(&s.model);
		return err;
	}
	s.path = path_new(&s.model);
	dual_init(&s.dual, &s.model, s.path);
	roster_init(&s.roster, &s.model, s.path);
	s.order = mem_zalloc(in->n_workloads + 1, sizeof(*s.order));
	s.best = mem_zalloc(in->n_workloads * in->n_slots + 1, sizeof(*s.best));
	s.price = mem_zalloc(s.dual.n + 1, sizeof(*s.price));
	s.saved = mem_zalloc(GROUP_MAX * in->n_slots, sizeof(*s.saved));
	search(&s, options ? options : &defaults);
	finish(&s, solution);
	free(s.order);
	free(s.best);
	free(s.price);
	free(s.saved);
	roster_free(&s.roster);
	dual_free(&s.dual);
	path_free(s.path);
	model_free(&s.model);
	return 0;
}

void plan_solution_free(struct plan_solution *solution)
{
	if (solution->shapes) {
		while (solution->shapes->list) {
			struct shape *s = solution->shapes->list;

			solution->shapes->list = s->next;
			shape_free(s);
		}
		free(solution->shapes->of);
		free(solution->shapes);
	}
	free(solution->y);
	free(solution->on);
	memset(solution, 0, sizeof(*solution));
}

struct plan_config plan_config_at(const struct plan_solution *solution, size_t workload,
				  size_t slot)
{
	const struct shape *s = solution->shapes->of[workload];
	uint32_t c = solution->y[workload * solution->n_slots + slot];

	return (struct plan_config){ s->configs[c].n,
				     s->configs[c].n ? s->held + c * SHAPE_SPAN_MAX : NULL };
}

uint32_t plan_gpus_of(const struct plan_solution *solution, size_t workload, size_t slot,
		      size_t pool)
{
	struct plan_config config = plan_config_at(solution, workload, slot);
	size_t i;

	for (i = 0; i < config.n; i++)
		if (config.held[i].pool == pool)
			return config.held[i].gpus;
	return 0;
}

uint32_t plan_gpus(const struct plan_solution *solution, size_t workload, size_t slot)
{
	const struct shape *s = solution->shapes->of[workload];

	return s->configs[solution->y[workload * solution->n_slots + slot]].total;
}

double plan_gap(const struct plan_solution *solution)
{
	if (solution->cost.total <= solution->bound || solution->cost.total <= 0)
		return 0;
	return 1 - solution->bound / solution->cost.total;
}
