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
 * @soft: deficits cost less for a while, and the bound says nothing
 * @price: memory for prices
 * @alone: what each workload would cost alone
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
	bool soft;
	double *price, *alone;
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
	return !s->soft && s->best_cost - s->dual.bound <= MODEL_ROUNDING * (1 + fabs(s->best_cost));
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

#define JUMP_MAX 6
/* How much worse a jump may be at first, as a part of what planning can change. */
#define HEAT 0.003

/* One that lost much against being alone, more often than others. */
static size_t pick(struct solver *s)
{
	size_t n = s->model.in->n_workloads, w;
	double all = 0, at;

	if (next_random(s) % 3 == 0)
		return next_random(s) % n;
	for (w = 0; w < n; w++)
		all += fmax(0, s->roster.own[w] - s->alone[w]);
	at = all * (double)(next_random(s) % 1000000) / 1000000;
	for (w = 0; w + 1 < n && at >= 0; w++) {
		at -= fmax(0, s->roster.own[w] - s->alone[w]);
		if (at < 0)
			break;
	}
	return w;
}

/* Some workloads out and in again, in another order and led by prices: a jump. */
static void jump(struct solver *s, double *total, double heat)
{
	size_t n = s->model.in->n_workloads, slots = s->model.in->n_slots, k, i, m;
	size_t group[JUMP_MAX];
	static const double leads[] = { 0, 0, 0.5, 1, 1 };
	double before = 0, after = 0, lead = leads[next_random(s) % 5], fell;
	double *price = NULL;

	m = 2 + next_random(s) % (JUMP_MAX - 1);
	if (m > n)
		m = n;
	for (k = 0; k < m; k++) {
		do {
			group[k] = k ? next_random(s) % n : pick(s);
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

/* Someone who is short, and others, as many as fit in one table. */
static size_t gather(struct solver *s, size_t *members, size_t most)
{
	size_t n = s->model.in->n_workloads, cells = 1, m = 0, tries, i, w, more;

	for (tries = 0; tries < 3 * most && m < most; tries++) {
		w = m ? next_random(s) % n : pick(s);
		for (i = 0; i < m && members[i] != w;)
			i++;
		if (i < m || !group_possible(s->roster.group, &s->model.workloads[w]))
			continue;
		more = group_join(s->roster.group, &s->model.workloads[w], cells);
		if (!more)
			continue;
		cells = more;
		members[m++] = w;
	}
	return m;
}

static uint64_t work_done(const struct solver *s)
{
	return path_work(s->path) + group_work(s->roster.group) / 4;
}

/* Jumps and groups in turns from plan @s->best until the work is done. */
static void improve(struct solver *s, uint64_t work)
{
	size_t members[GROUP_MAX], m;
	uint64_t start = work_done(s), done = 0;
	double total = s->best_cost;

	roster_set(&s->roster, s->best);
	while (done < work && !is_best(s)) {
		double cold = 1 - (double)done / (double)work;

		if (next_random(s) % 2) {
			m = gather(s, members, 2 + next_random(s) % (GROUP_MAX - 1));
			if (m > 1)
				total -= roster_group(&s->roster, members, m);
			if (total < s->best_cost * (1 - MODEL_ROUNDING))
				remember(s);
		} else {
			jump(s, &total, HEAT * cold * cold * (s->best_cost - s->dual.base) *
			     (double)(next_random(s) % 1000) / 1000);
		}
		done = work_done(s) - start;
		/* Groups of nobody do no work: no endless loop. */
		work -= work > 100 ? 100 : work;
	}
}

/* What a deficit costs for a while. */
static void set_deficit(struct solver *s, double part)
{
	struct model *model = &s->model;
	size_t w;

	model->deficit = part * model->in->deficit_weight * model->in->slot_s;
	for (w = 0; w < model->in->n_workloads; w++)
		model->workloads[w].deficit = model->deficit;
}

/*
 * A deficit costs so much that a plan with one is a pit: whatever leads out of it passes
 * others that are as deep. Where it costs less for a while the search walks across.
 */
static void improve_softly(struct solver *s, uint64_t work)
{
	static const double parts[] = { 0.05, 0.2, 1 };
	size_t n = s->model.in->n_workloads * s->model.in->n_slots, i;
	struct plan_cost cost;
	uint32_t *y;

	model_cost(&s->model, s->best, NULL, &cost);
	if (cost.deficit <= 0) {
		improve(s, work);
		return;
	}
	y = mem_zalloc(n + 1, sizeof(*y));
	memcpy(y, s->best, n * sizeof(*y));
	for (i = 0; i < 3; i++) {
		set_deficit(s, parts[i]);
		s->soft = i < 2;
		s->best_cost = cost_of(s, s->best);
		if (i == 2 && cost.total < s->best_cost) {
			memcpy(s->best, y, n * sizeof(*y));
			s->best_cost = cost.total;
		}
		improve(s, work / 3);
	}
	free(y);
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
	memcpy(s->alone, s->dual.ways, n * sizeof(*s->alone));
	dual_guess(&s->dual, price);
	construct(s, price);
	dual_try(&s->dual, price);
	for (i = 0; i < 10 && !is_best(s); i++) {
		dual_ascend(&s->dual, sweeps / 10, s->best_cost);
		construct(s, s->dual.price);
	}
	if (n > 1)
		improve_softly(s, options->effort ? options->effort * 10000 : 4000000);
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
	s.alone = mem_zalloc(in->n_workloads + 1, sizeof(*s.alone));
	s.price = mem_zalloc(s.dual.n + 1, sizeof(*s.price));
	s.saved = mem_zalloc(JUMP_MAX * in->n_slots, sizeof(*s.saved));
	search(&s, options ? options : &defaults);
	finish(&s, solution);
	free(s.order);
	free(s.best);
	free(s.price);
	free(s.alone);
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
