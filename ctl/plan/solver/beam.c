// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: all workloads together
 *
 * What all workloads have in one interval is a state, and a plan is a way through such states.
 * There are far too many, but prices say how good a plan through one can become: what it has cost
 * so far, and what each workload would cost from there on at these prices if there were no others.
 * That is a bound as in solver/dual.c. Along a plan it rises from the bound of all plans to what
 * the plan costs, by what is given away on the way:
 *
 *   a workload's step     what it and the best way behind it cost more than the best way
 *   a limit               what is not taken, at its price
 *   a guarantee           its deficit, less what the price says of it
 *
 * Only the states with the lowest bounds are kept, so many of each interval, and none that is above
 * a plan that is known. An interval is done one workload at a time: those that are done have what
 * they have in this interval, the others what they had before it, and two that agree in that are
 * one.
 *
 * The same search makes a plan better: most workloads do what they do in the plan, or all of
 * them but in a few intervals; the others look for something else.
 *
 * Where idle GPUs cost something, or attaches are limited, a state is more than what each has:
 * such instances are left to the other searches.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/beam.h"
#include "plan/solver/way.h"

/* Limits of what is tried: intervals of all workloads, and in them states and pairs of these. */
#define INTERVALS_MAX 30000
#define STATES_MAX 3000000
#define PAIRS_MAX 12000000

/**
 * struct node - some of the workloads in this interval, the others in the one before
 * @bound: of all plans through it
 * @hash: of the states of all workloads
 * @origin: node at the end of the interval before
 */
struct node {
	double bound;
	uint64_t hash;
	uint32_t origin;
};

/**
 * struct step - one more workload
 * @bound: of the node that this makes
 * @hash: of it
 * @node: from which
 * @state: of the workload
 */
struct step {
	double bound;
	uint64_t hash;
	uint32_t node;
	uint16_t state;
};

/**
 * struct front - nodes with the same workloads done
 * @node: the nodes
 * @state: of all workloads, by node
 * @use: what is taken in this interval, by node and row; of a guarantee what is served
 */
struct front {
	struct node *node;
	uint16_t *state;
	float *use;
};

/**
 * struct beam - a search
 * @model: of what
 * @path: shared with others
 * @view: memory for a workload's prices
 * @ways: the workloads
 * @order: in which they are done: a tenant's one behind the other
 * @last: which of that order is the last below a row
 * @n: workloads
 * @intervals: of the instance
 * @rows: of the model
 * @lists: by workload, interval and state before it, where in @list its steps begin; 0: not known
 * yet
 * @list: lists of steps; the first entry is not used
 * @n_list: how many entries
 * @room: for so many
 * @now: what is reached
 * @next: memory for one workload more
 * @steps: memory for all steps from @now
 * @seen: memory: hashes, as indices of @steps from 1 on
 * @width: for so many nodes there is memory
 * @history: states by interval, node and workload
 * @origins: node of the interval before by interval and node
 * @price: by row and interval
 * @bound: what it proves
 * @slack: no step that gives away more is of use
 * @is_free: workloads that may leave the plan; NULL: there is no plan
 * @end: interval in which even those are where they were
 * @plan: states in the plan, by interval behind which they are, from 0 on, and workload
 * @plan_bound: the bound along the plan, the same
 * @rest: what those that are not free give away, by interval
 * @cut: nodes were left out
 * @work: states
 */
struct beam {
	const struct model *model;
	struct path *path;
	struct ledger *view;
	struct way *ways;
	size_t *order, *last;
	size_t n, intervals, rows;
	uint32_t **lists;
	struct way_step *list;
	size_t n_list, room;
	struct front now, next;
	struct step *steps;
	uint32_t *seen;
	size_t width;
	uint16_t *history;
	uint32_t *origins;
	const double *price;
	double bound, slack;
	const bool *is_free;
	size_t end;
	uint16_t *plan;
	double *plan_bound, *rest;
	bool cut;
	uint64_t work;
};

uint64_t beam_work(const struct beam *b)
{
	return b->work;
}

static bool is_possible(const struct model *model)
{
	size_t intervals = model->in->n_intervals, pairs = 0, states = 0, i, k;

	if (model->n_rows > WAY_ROWS_MAX || model->in->n_workloads * intervals > INTERVALS_MAX)
		return false;
	for (i = 0; i < model->in->n_pools; i++)
		if (model->power[i].row != PLAN_NONE)
			return false;
	for (i = 0; i < model->in->n_workloads; i++) {
		const struct model_workload *w = &model->workloads[i];
		size_t n = w->shape->n, all = n * (w->w->hold > 1 ? w->w->hold : 1);

		for (k = 0; k < w->shape->n_switches; k++)
			if (w->row_attach[k] != PLAN_NONE)
				return false;
		pairs += n * n * intervals;
		states += all * intervals;
		if (all > UINT16_MAX || states > STATES_MAX || pairs > PAIRS_MAX)
			return false;
	}
	return pairs > 0;
}

/* Who shares a guarantee comes one behind the other: then what it lacks is known soon. */
static void make_order(struct beam *b)
{
	size_t i, k, n = 0, r;

	for (i = 0; i < b->n; i++) {
		uint32_t row = b->ways[i].w->row_guarantee;

		for (k = 0; k < i && (row == PLAN_NONE || b->ways[k].w->row_guarantee != row);)
			k++;
		if (k < i)
			continue;
		b->order[n++] = i;
		for (k = i + 1; row != PLAN_NONE && k < b->n; k++)
			if (b->ways[k].w->row_guarantee == row)
				b->order[n++] = k;
	}
	for (i = 0; i < b->n; i++) {
		const struct way *way = &b->ways[b->order[i]];

		for (r = 0; r < way->rows; r++)
			b->last[way->row[r]] = i;
		if (way->w->row_guarantee != PLAN_NONE)
			b->last[way->w->row_guarantee] = i;
	}
}

struct beam *beam_new(const struct model *model, struct path *path)
{
	struct beam *b;
	size_t i;

	if (!is_possible(model))
		return NULL;
	b = mem_zalloc(1, sizeof(*b));
	b->model = model;
	b->path = path;
	b->view = ledger_view(model);
	b->n = model->in->n_workloads;
	b->intervals = model->in->n_intervals;
	b->rows = model->n_rows;
	b->ways = mem_zalloc(b->n, sizeof(*b->ways));
	b->lists = mem_zalloc(b->n, sizeof(*b->lists));
	for (i = 0; i < b->n; i++) {
		way_init(&b->ways[i], &model->workloads[i], b->intervals);
		b->lists[i] = mem_zalloc(b->ways[i].states * b->intervals, sizeof(**b->lists));
	}
	b->order = mem_zalloc(b->n, sizeof(*b->order));
	b->last = mem_zalloc(b->rows + 1, sizeof(*b->last));
	make_order(b);
	b->plan = mem_zalloc((b->intervals + 1) * b->n, sizeof(*b->plan));
	b->plan_bound = mem_zalloc(b->intervals + 1, sizeof(*b->plan_bound));
	b->rest = mem_zalloc(b->intervals, sizeof(*b->rest));
	return b;
}

static void free_front(struct front *front)
{
	free(front->node);
	free(front->state);
	free(front->use);
}

static void free_width(struct beam *b)
{
	free_front(&b->now);
	free_front(&b->next);
	free(b->steps);
	free(b->seen);
	free(b->history);
	free(b->origins);
}

void beam_free(struct beam *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->n; i++) {
		way_free(&b->ways[i]);
		free(b->lists[i]);
	}
	free_width(b);
	free(b->ways);
	free(b->lists);
	free(b->order);
	free(b->last);
	free(b->list);
	free(b->plan);
	free(b->plan_bound);
	free(b->rest);
	ledger_free(b->view);
	free(b);
}

static void make_front(const struct beam *b, struct front *front)
{
	front->node = mem_zalloc(b->width, sizeof(*front->node));
	front->state = mem_zalloc(b->width * b->n, sizeof(*front->state));
	front->use = mem_zalloc(b->width * b->rows + 1, sizeof(*front->use));
}

/* A power of 2: twice the width is looked at, and at least half of the places stay free. */
static size_t seen_size(size_t width)
{
	size_t size = 4;

	while (size < 4 * width)
		size *= 2;
	return size;
}

static void set_width(struct beam *b, size_t width)
{
	if (b->width >= width)
		return;
	free_width(b);
	b->width = width;
	make_front(b, &b->now);
	make_front(b, &b->next);
	b->steps = mem_zalloc(width * (WAY_STEPS + 1), sizeof(*b->steps));
	b->seen = mem_zalloc(seen_size(width), sizeof(*b->seen));
	b->history = mem_zalloc(width * b->n * b->intervals, sizeof(*b->history));
	b->origins = mem_zalloc(width * b->intervals, sizeof(*b->origins));
}

/* Steps ------------------------------------------------------------------- */

void beam_price(struct beam *b, const double *price, double bound)
{
	size_t i;

	b->price = price;
	b->bound = bound;
	b->slack = INFINITY;
	b->n_list = 1;
	for (i = 0; i < b->n; i++) {
		struct way *way = &b->ways[i];

		way_price(way, b->path, b->view, price);
		memset(b->lists[i], 0, way->states * b->intervals * sizeof(**b->lists));
		b->work += b->intervals * way->n * way->n / 8;
	}
}

/* The steps of a workload, and one behind them that loses all. */
static const struct way_step *steps_of(struct beam *b, size_t w, size_t t, uint16_t state)
{
	uint32_t *at = &b->lists[w][t * b->ways[w].states + state];
	size_t n;

	if (*at)
		return b->list + *at;
	if (b->room < b->n_list + WAY_STEPS + 2) {
		b->room = 2 * b->room + 1000;
		b->list = mem_grow(b->list, b->room, sizeof(*b->list));
	}
	*at = (uint32_t)b->n_list;
	n = way_steps(&b->ways[w], t, state, b->slack, b->list + *at);
	b->list[*at + n].loss = INFINITY;
	b->n_list += n + 1;
	b->work += b->ways[w].n / 4;
	return b->list + *at;
}

/* The one step to where the plan is; none where a hold is in its way. */
static void plan_step(const struct beam *b, size_t w, size_t t, uint16_t state,
		      struct way_step *list)
{
	const struct way *way = &b->ways[w];
	uint16_t plan = b->plan[(t + 1) * b->n + w];
	uint16_t to = way_next(way, t, state, way_config(way, plan));

	list[0] = (struct way_step){ .loss = to == plan ? way_loss(way, t, state, to) : INFINITY,
				     .state = to };
	list[1].loss = INFINITY;
}

/* Does it have to be where the plan is? */
static bool follows(const struct beam *b, size_t w, size_t t)
{
	return b->is_free && (!b->is_free[w] || t == b->end);
}

/* Is known what it has in this interval before any workload is asked? */
static bool is_set(const struct beam *b, size_t w, size_t t, uint16_t state, uint16_t *to)
{
	if (!follows(b, w, t))
		return way_is_held(&b->ways[w], t, state, to);
	*to = b->plan[(t + 1) * b->n + w];
	return true;
}

/* Fronts ------------------------------------------------------------------ */

static uint64_t mix(size_t w, uint16_t state)
{
	uint64_t x = ((uint64_t)w << 16 | state) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 27;
}

static void beam_take(const struct way *way, uint16_t state, float *use)
{
	const float *u = way->use + way_config(way, state) * way->rows;
	size_t i;

	for (i = 0; i < way->rows; i++)
		use[way->row[i]] += u[i];
}

static bool has_room(const struct beam *b, const struct way *way, uint16_t state, const float *use)
{
	const float *u = way->use + way_config(way, state) * way->rows;
	size_t i;

	for (i = 0; i < way->rows; i++)
		if (u[i] > 0 && use[way->row[i]] + u[i] > (float)b->model->rows[way->row[i]].cap)
			return false;
	return true;
}

static void serve(const struct way *way, size_t t, uint16_t state, float *use)
{
	uint32_t row = way->w->row_guarantee;

	if (row != PLAN_NONE)
		use[row] += (float)model_served(way->w, t, way_config(way, state));
}

/* Whatever is known takes its room first; where there is none, nothing leads on. */
static void begin_interval(struct beam *b, size_t t, size_t n)
{
	const struct model_row *rows = b->model->rows;
	float *use = b->now.use;
	size_t i, w, r;
	uint16_t to;

	memset(use, 0, n * b->rows * sizeof(*use));
	for (i = 0; i < n; i++, use += b->rows) {
		b->now.node[i].origin = (uint32_t)i;
		if (b->is_free)
			b->now.node[i].bound += b->rest[t];
		for (w = 0; w < b->n; w++)
			if (is_set(b, w, t, b->now.state[i * b->n + w], &to))
				beam_take(&b->ways[w], to, use);
		for (r = 0; r < b->rows; r++)
			if (rows[r].kind != ROW_GUARANTEE && use[r] > (float)rows[r].cap)
				b->now.node[i].bound = INFINITY;
	}
}

/* The @k with the lowest bounds come first, in any order. */
static void select_best(struct step *list, size_t n, size_t k)
{
	size_t low = 0, high = n;

	while (high - low > 1 && k > low && k < high) {
		double pivot = list[low + (high - low) / 2].bound;
		size_t i = low, j = high;

		for (;;) {
			struct step swap;

			while (list[i].bound < pivot)
				i++;
			do
				j--;
			while (list[j].bound > pivot);
			if (i >= j)
				break;
			swap = list[i];
			list[i++] = list[j];
			list[j] = swap;
		}
		/* Those before @i are at most the pivot, the others at least. */
		if (i == low)
			i++;
		if (k <= i)
			high = i;
		else
			low = i;
	}
}

/* Where this hash is, or can go. */
static uint32_t *place_of(struct beam *b, uint64_t hash, size_t width)
{
	size_t mask = seen_size(width) - 1, i = hash & mask;

	while (b->seen[i] && b->steps[b->seen[i] - 1].hash != hash)
		i = (i + 1) & mask;
	return &b->seen[i];
}

/* The best steps that lead to different nodes come first; how many there are. */
static size_t choose(struct beam *b, size_t n, size_t width)
{
	size_t some = n < 2 * width ? n : 2 * width, i, kept = 0;
	struct step *list = b->steps;

	select_best(list, n, some);
	memset(b->seen, 0, seen_size(width) * sizeof(*b->seen));
	for (i = 0; i < some; i++) {
		uint32_t *at = place_of(b, list[i].hash, width);

		if (!*at) {
			list[kept++] = list[i];
			*at = (uint32_t)kept;
		} else if (list[i].bound < list[*at - 1].bound) {
			list[*at - 1] = list[i];
		}
	}
	b->cut |= some < n || kept > width;
	if (kept <= width)
		return kept;
	select_best(list, kept, width);
	return width;
}

/* All steps of a workload to nodes below @most. */
static size_t find_steps(struct beam *b, size_t t, size_t w, size_t n, double most)
{
	const struct way *way = &b->ways[w];
	struct way_step single[2];
	size_t count = 0, i;
	uint16_t to;

	for (i = 0; i < n; i++) {
		const struct node *node = &b->now.node[i];
		uint16_t state = b->now.state[i * b->n + w];
		bool set = is_set(b, w, t, state, &to);
		const struct way_step *o = single;

		if (follows(b, w, t))
			plan_step(b, w, t, state, single);
		else
			o = steps_of(b, w, t, state);
		for (; node->bound + o->loss < most; o++) {
			if (!set && !has_room(b, way, o->state, b->now.use + i * b->rows))
				continue;
			b->steps[count++] = (struct step){
				.bound = node->bound + o->loss,
				.hash = node->hash - mix(w, state) + mix(w, o->state),
				.node = (uint32_t)i,
				.state = o->state,
			};
		}
	}
	b->work += n + count;
	return count;
}

static void make_node(struct beam *b, size_t t, size_t w, const struct step *step, size_t at)
{
	const struct way *way = &b->ways[w];
	uint16_t *state = b->next.state + at * b->n, to;
	float *use = b->next.use + at * b->rows;

	memcpy(state, b->now.state + step->node * b->n, b->n * sizeof(*state));
	memcpy(use, b->now.use + step->node * b->rows, b->rows * sizeof(*use));
	if (!is_set(b, w, t, state[w], &to))
		beam_take(way, step->state, use);
	serve(way, t, step->state, use);
	state[w] = step->state;
	b->next.node[at] = (struct node){
		.bound = step->bound,
		.hash = step->hash,
		.origin = b->now.node[step->node].origin,
	};
}

/* One that is not free, in all nodes: what it gives away is in @rest. */
static void beam_follow(struct beam *b, size_t t, size_t w, size_t n)
{
	uint16_t to = b->plan[(t + 1) * b->n + w];
	uint64_t change = mix(w, to) - mix(w, b->plan[t * b->n + w]);
	size_t i;

	for (i = 0; i < n; i++) {
		b->now.state[i * b->n + w] = to;
		b->now.node[i].hash += change;
		serve(&b->ways[w], t, to, b->now.use + i * b->rows);
	}
}

/* One workload more; how many nodes there are then. */
static size_t beam_extend(struct beam *b, size_t t, size_t w, size_t n, size_t width, double most)
{
	struct front swap = b->now;
	size_t i;

	if (b->is_free && !b->is_free[w]) {
		beam_follow(b, t, w, n);
		return n;
	}
	n = choose(b, find_steps(b, t, w, n, most), width);
	for (i = 0; i < n; i++)
		make_node(b, t, w, &b->steps[i], i);
	b->now = b->next;
	b->next = swap;
	return n;
}

/* What is given away where all that can take of a row have done so. */
static double row_loss(const struct beam *b, size_t r, size_t t, double use)
{
	const struct model_row *row = &b->model->rows[r];
	double price = b->price[r * b->intervals + t], lack;

	if (row->kind != ROW_GUARANTEE)
		return price * (row->cap - use);
	lack = row->want[t] - use;
	return (lack > 0 ? b->model->deficit * lack : 0) - price * lack;
}

static void end_rows(struct beam *b, size_t t, size_t n, size_t done)
{
	size_t i, r;

	for (r = 0; r < b->rows; r++)
		for (i = 0; b->last[r] == done && i < n; i++)
			b->now.node[i].bound +=
				row_loss(b, r, t, (double)b->now.use[i * b->rows + r]);
}

static void end_interval(struct beam *b, size_t t, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		b->origins[t * b->width + i] = b->now.node[i].origin;
	memcpy(b->history + t * b->width * b->n, b->now.state, n * b->n * sizeof(*b->history));
}

/* From the only node of @now through intervals @from to @to; how many nodes there are then. */
static size_t beam_run(struct beam *b, size_t from, size_t to, size_t width, double most)
{
	size_t n = 1, t, i;
	double rest = 0;

	for (t = from; b->is_free && t <= to; t++)
		rest += b->rest[t];
	for (t = from; t <= to && n; t++) {
		begin_interval(b, t, n);
		if (b->is_free)
			rest -= b->rest[t];
		for (i = 0; i < b->n && n; i++) {
			n = beam_extend(b, t, b->order[i], n, width, most - rest);
			end_rows(b, t, n, i);
		}
		end_interval(b, t, n);
	}
	return n;
}

/* Of @n nodes the one with the least bound, where that is below @most; else @n. */
static size_t find_best(const struct beam *b, size_t n, double most)
{
	size_t best = n, i;

	for (i = 0; i < n; i++)
		if (b->now.node[i].bound < most) {
			best = i;
			most = b->now.node[i].bound;
		}
	return best;
}

static void beam_trace(const struct beam *b, size_t from, size_t to, size_t at, uint32_t *y)
{
	const uint16_t *states = b->history;
	size_t t, w;

	for (t = to + 1; t-- > from;) {
		for (w = 0; w < b->n; w++)
			y[w * b->intervals + t] =
				way_config(&b->ways[w], states[(t * b->width + at) * b->n + w]);
		at = b->origins[t * b->width + at];
	}
}

/* The only node: @state of each, at the end of an interval. */
static void beam_start(struct beam *b, const uint16_t *state, double bound)
{
	size_t w;

	b->now.node[0] = (struct node){ .bound = bound };
	for (w = 0; w < b->n; w++) {
		b->now.state[w] = state[w];
		b->now.node[0].hash += mix(w, state[w]);
	}
}

static void start_plan(struct beam *b)
{
	size_t w;

	for (w = 0; w < b->n; w++)
		b->plan[w] = (uint16_t)b->ways[w].w->start;
	b->plan_bound[0] = b->bound;
}

double beam_search(struct beam *b, double most, size_t width, uint32_t *y, bool *all)
{
	size_t n, best;

	set_width(b, width);
	b->slack = most - b->bound;
	b->is_free = NULL;
	b->cut = false;
	start_plan(b);
	beam_start(b, b->plan, b->bound);
	n = beam_run(b, 0, b->intervals - 1, width, most);
	*all = !b->cut;
	best = find_best(b, n, most);
	if (best == n)
		return INFINITY;
	beam_trace(b, 0, b->intervals - 1, best, y);
	return b->now.node[best].bound;
}

/* The states of plan @y, and what is given away along it. */
static void beam_walk(struct beam *b, const uint32_t *y)
{
	float use[WAY_ROWS_MAX];
	size_t t, w, r;

	start_plan(b);
	for (t = 0; t < b->intervals; t++) {
		const uint16_t *before = b->plan + t * b->n;
		double loss = 0;

		b->rest[t] = 0;
		memset(use, 0, sizeof(use));
		for (w = 0; w < b->n; w++) {
			const struct way *way = &b->ways[w];
			uint16_t *to = &b->plan[(t + 1) * b->n + w];
			double own;

			*to = way_next(way, t, before[w], y[w * b->intervals + t]);
			own = way_loss(way, t, before[w], *to);
			b->rest[t] += b->is_free[w] ? 0 : own;
			loss += own;
			beam_take(way, *to, use);
			serve(way, t, *to, use);
		}
		for (r = 0; r < b->rows; r++)
			loss += row_loss(b, r, t, (double)use[r]);
		b->plan_bound[t + 1] = b->plan_bound[t] + loss;
	}
}

double beam_improve(struct beam *b, uint32_t *y, const bool *is_free, size_t from, size_t to,
		    size_t width)
{
	double before, most;
	size_t n, best;

	set_width(b, width);
	b->is_free = is_free;
	b->end = to;
	beam_walk(b, y);
	if (to >= b->intervals)
		to = b->intervals - 1;
	before = b->plan_bound[to + 1];
	most = before - MODEL_ROUNDING * (1 + fabs(before));
	beam_start(b, b->plan + from * b->n, b->plan_bound[from]);
	n = beam_run(b, from, to, width, most);
	best = find_best(b, n, most);
	if (best == n)
		return 0;
	beam_trace(b, from, to, best, y);
	return before - b->now.node[best].bound;
}
