// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: planning
 *
 * Prices first: they bound the cost from below and say what is scarce when. Then a plan that
 * keeps the limits, led by them: one workload after the other (solver/roster.c), then all of them
 * together (solver/beam.c). It is improved as long as the effort lasts, by moves of which each
 * finds something else for a few workloads, or for all in a few intervals.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/beam.h"
#include "plan/solver/dual.h"
#include "plan/solver/exact.h"
#include "plan/solver/grain.h"
#include "plan/solver/prices.h"
#include "plan/solver/roster.h"

#define JUMP_MAX 6
/* How much worse a jump may be at first, as a part of what planning can change. */
#define HEAT 0.003
/* Workloads pay a little less than the price: who is indifferent takes what there is. */
#define LEAD 0.95
/* Work for prices, of instances whose sweep is small or large, for plans, and sweeps of any. */
#define DUAL_WORK 1200000
#define DUAL_WORK_LARGE 60000000
#define SMALL 300000
#define PLAN_WORK 2700000
#define SWEEPS_MIN 40
#define SWEEPS_MAX 200
/* A state of all workloads takes as long as so many of one; states of all that are looked at. */
#define BEAM_WORK 3
#define BEAM_STATES 800000
/* So many plans at a time, of all workloads at first, or of some. */
#define WIDTH_ALL 50
#define WIDTH_SOME 30
/* How many those are at most. */
#define SOME_MAX 6
/* Percent of the moves: for who lacks something; of the others wide ones; of the rest groups. */
#define MOVES_DEFICIT 70
#define MOVES_WIDE 15
#define MOVES_GROUP 80

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
 * @alone: what each workload would cost alone
 * @saved: memory for the plans of a group
 * @beam: for all at once; NULL where that cannot be
 * @plan: memory for a plan of all
 * @is_free: memory: who may change
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
	double *price, *alone;
	uint32_t *saved;
	struct beam *beam;
	uint32_t *plan;
	bool *is_free;
	uint64_t random;
};

static uint64_t next_random(struct solver *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static double solve_cost_of(const struct solver *s, const uint32_t *y)
{
	struct plan_cost cost;

	model_cost(&s->model, y, NULL, &cost);
	return cost.total;
}

static void solve_remember(struct solver *s)
{
	const struct plan_instance *in = s->model.in;
	double cost = solve_cost_of(s, s->roster.y);

	if (cost >= s->best_cost)
		return;
	s->best_cost = cost;
	memcpy(s->best, s->roster.y, in->n_workloads * in->n_intervals * sizeof(*s->best));
}

static void construct(struct solver *s, const double *price)
{
	size_t n = s->model.in->n_workloads, i;
	unsigned int pass;

	for (i = 0; i < s->dual.n; i++)
		s->price[i] = LEAD * price[i];
	roster_all(&s->roster, s->order, s->price);
	for (pass = 0; pass < 6; pass++) {
		double fell = 0;

		/* Who got least first: others would hold on to what they need later. */
		for (i = n; i-- > 0;)
			fell += roster_again(&s->roster, s->order[i]);
		if (fell <= 0)
			break;
	}
	solve_remember(s);
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

/* No plan can cost less: nothing is left to do. */
static bool is_best(const struct solver *s)
{
	return s->best_cost - grain_up(&s->model, s->dual.bound) <=
	       MODEL_ROUNDING * (1 + fabs(s->dual.bound));
}

static void solve_finish(struct solver *s, struct plan_solution *solution)
{
	const struct plan_instance *in = s->model.in;
	size_t w;

	solution->n_workloads = in->n_workloads;
	solution->n_intervals = in->n_intervals;
	solution->n_pools = in->n_pools;
	solution->y = s->best;
	s->best = NULL;
	solution->on = mem_zalloc(in->n_pools * in->n_intervals + 1, sizeof(*solution->on));
	model_cost(&s->model, solution->y, solution->on, &solution->cost);
	solution->bound = grain_up(&s->model, s->dual.bound);
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

/* One that lost much against being alone, more often than others. */
static size_t solve_pick(struct solver *s)
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
	size_t n = s->model.in->n_workloads, intervals = s->model.in->n_intervals, k, i, m;
	size_t group[JUMP_MAX];
	static const double leads[] = { 0, 0, 0.5, 1, 1 };
	double before = 0, after = 0, lead = leads[next_random(s) % 5], fell;
	double *price = NULL;

	m = 2 + next_random(s) % (JUMP_MAX - 1);
	if (m > n)
		m = n;
	for (k = 0; k < m; k++) {
		do {
			group[k] = k ? next_random(s) % n : solve_pick(s);
			for (i = 0; i < k && group[i] != group[k];)
				i++;
		} while (i < k);
		memcpy(s->saved + k * intervals, s->roster.y + group[k] * intervals,
		       intervals * sizeof(*s->saved));
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
		return;
	}
	for (k = 0; k < m; k++)
		roster_remove(&s->roster, group[k]);
	for (k = 0; k < m; k++)
		roster_put(&s->roster, group[k], s->saved + k * intervals);
}

/* An interval in which some tenant is below its guarantee; returns the row, or n_rows. */
static size_t find_deficit(struct solver *s, size_t *interval)
{
	size_t intervals = s->model.in->n_intervals, r, t, seen = 0, found = s->model.n_rows;

	for (r = 0; r < s->model.n_rows; r++) {
		const struct model_row *row = &s->model.rows[r];

		for (t = 0; t < intervals && row->kind == ROW_GUARANTEE; t++) {
			if (row->want[t] - s->roster.ledger->load[r * intervals + t] < 0.001 ||
			    next_random(s) % ++seen)
				continue;
			found = r;
			*interval = t;
		}
	}
	return found;
}

static bool shares_pool(const struct model_workload *a, const struct model_workload *b,
			uint32_t config)
{
	const struct shape_config *c = &b->shape->configs[config];
	size_t i, k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < a->shape->n_pools; k++)
			if (a->shape->pools[k].pool == b->shape->pools[c->pool[i]].pool)
				return true;
	return false;
}

/* One whose tenant lacks something, and some who have GPUs that it could use then. */
static size_t gather_for_deficit(struct solver *s, size_t *members, size_t most)
{
	size_t n = s->model.in->n_workloads, intervals = s->model.in->n_intervals, interval = 0,
	       m = 0, i, w;
	size_t row = find_deficit(s, &interval), begin = next_random(s) % n;

	if (row == s->model.n_rows)
		return 0;
	for (i = 0; i < n && !m; i++) {
		w = (begin + i) % n;
		if (s->model.workloads[w].row_guarantee == row &&
		    group_possible(s->roster.group, &s->model.workloads[w]) &&
		    model_served(&s->model.workloads[w], interval,
				 s->roster.y[w * intervals + interval]) <
			    s->model.workloads[w].w->choices[0].need[interval])
			members[m++] = w;
	}
	begin = next_random(s) % n;
	for (i = 0; i < n && m && m < most; i++) {
		w = (begin + i) % n;
		if (w != members[0] && group_possible(s->roster.group, &s->model.workloads[w]) &&
		    shares_pool(&s->model.workloads[members[0]], &s->model.workloads[w],
				s->roster.y[w * intervals + interval]))
			members[m++] = w;
	}
	return m;
}

/* Someone who is short, and others. */
static size_t gather(struct solver *s, size_t *members, size_t most)
{
	size_t n = s->model.in->n_workloads, m = 0, tries, i, w;

	for (tries = 0; tries < 3 * most && m < most; tries++) {
		w = m ? next_random(s) % n : solve_pick(s);
		for (i = 0; i < m && members[i] != w;)
			i++;
		if (i == m && group_possible(s->roster.group, &s->model.workloads[w]))
			members[m++] = w;
	}
	return m;
}

/* A few workloads over all intervals, or all of them in a few, among many plans at a time. */
static void move_wide(struct solver *s, double *total)
{
	size_t n = s->model.in->n_workloads, intervals = s->model.in->n_intervals, from = 0,
	       to = intervals, m;
	bool all = next_random(s) % 2;
	size_t members[GROUP_MAX];
	double gain;

	memset(s->is_free, all, n * sizeof(*s->is_free));
	if (all) {
		m = 1 + intervals / 12 + next_random(s) % (1 + intervals / 6);
		from = next_random(s) % intervals;
		if (next_random(s) % 2)
			find_deficit(s, &from);
		to = from + m;
		from -= from < m ? from : m;
	} else {
		m = next_random(s) % 2 ? gather_for_deficit(s, members, SOME_MAX) : 0;
		if (!m)
			m = gather(s, members, 3 + next_random(s) % (SOME_MAX - 2));
		while (m-- > 0)
			s->is_free[members[m]] = true;
	}
	memcpy(s->plan, s->roster.y, n * intervals * sizeof(*s->plan));
	gain = beam_improve(s->beam, s->plan, s->is_free, from, to, WIDTH_SOME);
	if (gain <= 0)
		return;
	roster_set(&s->roster, s->plan);
	*total -= gain;
}

static uint64_t work_done(const struct solver *s)
{
	return path_work(s->path) + group_work(s->roster.group) / 4 +
	       (s->beam ? beam_work(s->beam) * BEAM_WORK : 0);
}

static bool percent(struct solver *s, unsigned int of)
{
	return next_random(s) % 100 < of;
}

/* One change of the plan, by chance of one sort or another; jumps may cost up to @heat. */
static void solve_move(struct solver *s, double *total, double heat)
{
	size_t members[GROUP_MAX], most = 2 + next_random(s) % (GROUP_MAX - 1), m;

	m = percent(s, MOVES_DEFICIT) ? gather_for_deficit(s, members, most) : 0;
	if (m < 2 && s->beam && percent(s, MOVES_WIDE)) {
		move_wide(s, total);
		return;
	}
	if (m < 2 && !percent(s, MOVES_GROUP)) {
		jump(s, total, heat * (double)(next_random(s) % 1000) / 1000);
		return;
	}
	if (m < 2)
		m = gather(s, members, most);
	if (m > 1)
		*total -= roster_group(&s->roster, members, m);
}

/* Changes of plan @s->best until the work is done. */
static void improve(struct solver *s, uint64_t work)
{
	uint64_t start = work_done(s), done = 0;
	double total = s->best_cost;

	roster_set(&s->roster, s->best);
	while (done < work && !is_best(s)) {
		double cold = 1 - (double)done / (double)work;

		solve_move(s, &total, HEAT * cold * cold * (s->best_cost - s->dual.base));
		if (total < s->best_cost * (1 - MODEL_ROUNDING))
			solve_remember(s);
		done = work_done(s) - start;
		/* Groups of nobody do no work: no endless loop. */
		work -= work > 100 ? 100 : work;
	}
}

/* All at once, led by the best prices: more plans at a time, as long as that is little work. */
static void search_wide(struct solver *s)
{
	const struct plan_instance *in = s->model.in;
	uint64_t start = beam_work(s->beam), spent = 0;
	bool all = false;
	size_t width;
	double cost;

	beam_price(s->beam, s->dual.price, s->dual.bound);
	/* The next takes three times what the last took. */
	for (width = WIDTH_ALL; !all && 4 * spent <= BEAM_STATES; width *= 3) {
		cost = beam_search(s->beam, s->best_cost, width, s->plan, &all);
		spent = beam_work(s->beam) - start;
		if (cost >= s->best_cost)
			continue;
		memcpy(s->best, s->plan, in->n_workloads * in->n_intervals * sizeof(*s->best));
		s->best_cost = solve_cost_of(s, s->best);
	}
}

static void best_flow(struct solver *s)
{
	double bound;

	exact_plan(&s->model, s->best, &bound);
	s->best_cost = solve_cost_of(s, s->best);
	if (bound > s->dual.bound)
		s->dual.bound = bound;
}

/* By how much @done is more than was @planned, @most at most. */
static uint64_t overdrawn(uint64_t done, uint64_t planned, uint64_t most)
{
	uint64_t over = done > planned ? done - planned : 0;

	return over < most ? over : most;
}

/*
 * Work is counted, not timed, so that a plan does not depend on the machine: intervals times
 * configurations. Small instances get what takes some 50 ms, large ones some looks at each
 * workload.
 */
static void solve_search(struct solver *s, const struct plan_options *options)
{
	size_t n = s->model.in->n_workloads, i, rounds;
	double *price = mem_zalloc(s->dual.n + 1, sizeof(*price));
	uint64_t sweep, sweeps, work;

	for (i = 0; i < n; i++)
		s->order[i] = i;
	sorted = s;
	qsort(s->order, n, sizeof(*s->order), by_density);
	s->dual.base = dual_value(&s->dual, price);
	s->dual.bound = s->dual.base;
	memcpy(s->alone, s->dual.ways, n * sizeof(*s->alone));
	sweep = path_work(s->path) + 1;
	sweeps = (sweep < SMALL ? DUAL_WORK : DUAL_WORK_LARGE) / sweep;
	sweeps = sweeps < SWEEPS_MIN ? SWEEPS_MIN : sweeps > SWEEPS_MAX ? SWEEPS_MAX : sweeps;
	work = sweep > PLAN_WORK ? sweep : PLAN_WORK;
	if (exact_possible(&s->model)) {
		best_flow(s);
		free(price);
		return;
	}
	if (options->sweeps)
		sweeps = options->sweeps;
	if (options->effort)
		work = options->effort * sweep;
	rounds = sweeps < 60 ? 2 : 6;
	if (options->warm)
		plan_prices_get(options->warm, &s->model, price);
	else
		dual_guess(&s->dual, price);
	dual_begin(&s->dual, price, (unsigned int)sweeps);
	for (i = 0; i < rounds && !is_best(s); i++) {
		dual_ascend(&s->dual, (unsigned int)((sweeps + rounds - 1) / rounds), s->best_cost);
		construct(s, s->dual.price);
	}
	/* Prices of a few large workloads take longer than was hoped. */
	if (sweep < SMALL && !options->effort)
		work -= overdrawn(path_work(s->path), DUAL_WORK, work / 2);
	if (s->beam && !is_best(s))
		search_wide(s);
	if (n)
		improve(s, work);
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
	s.best = mem_zalloc(in->n_workloads * in->n_intervals + 1, sizeof(*s.best));
	s.alone = mem_zalloc(in->n_workloads + 1, sizeof(*s.alone));
	s.price = mem_zalloc(s.dual.n + 1, sizeof(*s.price));
	s.saved = mem_zalloc(JUMP_MAX * in->n_intervals, sizeof(*s.saved));
	s.beam = beam_new(&s.model, s.path);
	s.plan = mem_zalloc(in->n_workloads * in->n_intervals + 1, sizeof(*s.plan));
	s.is_free = mem_zalloc(in->n_workloads + 1, sizeof(*s.is_free));
	if (!options)
		options = &defaults;
	solve_search(&s, options);
	if (options->keep)
		*options->keep = plan_prices_make(&s.model, s.dual.price);
	solve_finish(&s, solution);
	free(s.order);
	free(s.best);
	free(s.price);
	free(s.alone);
	free(s.saved);
	free(s.plan);
	free(s.is_free);
	beam_free(s.beam);
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
				  size_t interval)
{
	const struct shape *s = solution->shapes->of[workload];
	uint32_t c = solution->y[workload * solution->n_intervals + interval];

	return (struct plan_config){ s->configs[c].n,
				     s->configs[c].n ? s->held + c * SHAPE_SPAN_MAX : NULL };
}

uint32_t plan_gpus_of(const struct plan_solution *solution, size_t workload, size_t interval,
		      size_t pool)
{
	struct plan_config config = plan_config_at(solution, workload, interval);
	size_t i;

	for (i = 0; i < config.n; i++)
		if (config.held[i].pool == pool)
			return config.held[i].gpus;
	return 0;
}

uint32_t plan_gpus(const struct plan_solution *solution, size_t workload, size_t interval)
{
	const struct shape *s = solution->shapes->of[workload];

	return s->configs[solution->y[workload * solution->n_intervals + interval]].total;
}

double plan_gap(const struct plan_solution *solution)
{
	if (solution->cost.total <= solution->bound || solution->cost.total <= 0)
		return 0;
	return 1 - solution->bound / solution->cost.total;
}
