// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a few workloads at a time
 *
 * Where all is taken nobody can get better alone: another has to give way in the same moment.
 * So the ways of a few are sought together, over all combinations of what they can have: two
 * elastic workloads, or seven gangs, which have a few configurations each. It is the shortest
 * path of plan/path.c over a table with a dimension for each of them. The moves of one are the
 * same for all combinations of the others, so they work on whole rows; the table is turned
 * after each, so that the rows are those of the next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "plan/group.h"

/* Slots times combinations, and combinations, at most. */
#define SLOT_CELLS_MAX 400000
#define CELLS_MAX 8192
#define ROWS_MAX 64

/**
 * struct group_row - a limit that some of them are below
 * @row: which
 * @use: what each combination takes of it
 */
struct group_row {
	uint32_t row;
	float *use;
};

/**
 * struct group - memory for some workloads of a model
 * @model: the model
 * @slots: of the instance
 * @rows: limits
 * @n_rows: how many
 * @guarantees: rows of tenants' guarantees
 * @n_guarantees: how many
 * @stay: cost of each configuration of one of them
 * @table: cost so far, by slot and combination
 * @other: for turning
 * @sum: cost of a slot by combination
 * @best: a row
 * @old: rows before the moves of a gang
 * @up: rows that were entered by an attach
 * @work: cells
 */
struct group {
	const struct model *model;
	size_t slots;
	struct group_row rows[ROWS_MAX];
	size_t n_rows;
	uint32_t guarantees[GROUP_MAX];
	size_t n_guarantees;
	double *stay;
	double *table, *other, *sum, *best, *old, *up;
	uint64_t work;
};

struct group *group_new(const struct model *model)
{
	struct group *g = mem_zalloc(1, sizeof(*g));
	size_t i;

	g->model = model;
	g->slots = model->in->n_slots;
	g->stay = mem_zalloc(CELLS_MAX, sizeof(*g->stay));
	g->table = mem_zalloc(SLOT_CELLS_MAX, sizeof(*g->table));
	g->other = mem_zalloc(CELLS_MAX, sizeof(*g->other));
	g->sum = mem_zalloc(CELLS_MAX, sizeof(*g->sum));
	g->best = mem_zalloc(CELLS_MAX, sizeof(*g->best));
	g->old = mem_zalloc(CELLS_MAX, sizeof(*g->old));
	g->up = mem_zalloc(CELLS_MAX, sizeof(*g->up));
	for (i = 0; i < ROWS_MAX; i++)
		g->rows[i].use = mem_zalloc(CELLS_MAX, sizeof(*g->rows[i].use));
	return g;
}

void group_free(struct group *g)
{
	size_t i;

	for (i = 0; i < ROWS_MAX; i++)
		free(g->rows[i].use);
	free(g->stay);
	free(g->table);
	free(g->other);
	free(g->sum);
	free(g->best);
	free(g->old);
	free(g->up);
	free(g);
}

uint64_t group_work(const struct group *g)
{
	return g->work;
}

/*
 * Where a workload can be: its configurations, and with a hold the same again for each slot
 * since an attach in which it may not move yet.
 */
static size_t states(const struct model_workload *w)
{
	return w->shape->n * (w->w->hold > 1 ? w->w->hold : 1);
}

static uint32_t config_of(const struct model_workload *w, size_t state)
{
	return (uint32_t)(state % w->shape->n);
}

bool group_possible(const struct group *g, const struct model_workload *w)
{
	size_t i;

	/* A limit of attaches needs more than where each is. */
	if (!group_join(g, w, 1))
		return false;
	for (i = 0; i < w->shape->n_switches; i++)
		if (w->row_attach[i] != PLAN_NONE)
			return false;
	return true;
}

size_t group_join(const struct group *g, const struct model_workload *w, size_t cells)
{
	cells *= states(w);
	return cells <= CELLS_MAX && cells * g->slots <= SLOT_CELLS_MAX ? cells : 0;
}

/* What a configuration takes of a row. */
static uint32_t use_of(const struct model_workload *w, uint32_t config, uint32_t row)
{
	const struct shape_config *c = &w->shape->configs[config];
	uint32_t use = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (w->pools[c->pool[i]].row_pool == row)
			use += c->gpus[i];
		if (w->pools[c->pool[i]].row_link == row)
			use += c->gpus[i] * w->w->lanes;
	}
	if (w->row_host == row || w->row_limit == row)
		use += c->total;
	return use;
}

static bool add_row(struct group *g, const struct model_workload *const *w, size_t n, uint32_t row)
{
	size_t cells = 1, i, k, c;
	float *use;

	if (row == PLAN_NONE)
		return true;
	for (i = 0; i < g->n_rows; i++)
		if (g->rows[i].row == row)
			return true;
	if (g->n_rows == ROWS_MAX)
		return false;
	use = g->rows[g->n_rows].use;
	g->rows[g->n_rows++].row = row;
	use[0] = 0;
	for (i = 0; i < n; i++) {
		size_t all = states(w[i]);

		/* From behind, so that each is read before it is written. */
		for (k = cells; k-- > 0;)
			for (c = all; c-- > 0;)
				use[k * all + c] = use[k] + (float)use_of(w[i], config_of(w[i], c), row);
		cells *= all;
	}
	return true;
}

static bool find_rows(struct group *g, const struct model_workload *const *w, size_t n)
{
	bool room = true;
	size_t i, k;

	g->n_rows = 0;
	g->n_guarantees = 0;
	for (i = 0; i < n; i++) {
		for (k = 0; k < w[i]->shape->n_pools; k++) {
			room = room && add_row(g, w, n, w[i]->pools[k].row_pool);
			room = room && add_row(g, w, n, w[i]->pools[k].row_link);
		}
		room = room && add_row(g, w, n, w[i]->row_host);
		room = room && add_row(g, w, n, w[i]->row_limit);
		for (k = 0; k < g->n_guarantees && g->guarantees[k] != w[i]->row_guarantee;)
			k++;
		if (k == g->n_guarantees && w[i]->row_guarantee != PLAN_NONE)
			g->guarantees[g->n_guarantees++] = w[i]->row_guarantee;
	}
	return room;
}

static void min_row(double *to, const double *from, double cost, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		double v = from[i] + cost;

		to[i] = v < to[i] ? v : to[i];
	}
}

static double cost_of(const struct model_workload *w, const struct shape_config *c, bool up)
{
	double cost = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		cost += c->gpus[i] * (up ? w->pools[c->pool[i]].up : w->pools[c->pool[i]].down);
	return cost;
}

static bool attaches(const struct model_workload *w, uint32_t from, uint32_t to)
{
	uint32_t count[SHAPE_POOLS_MAX];
	size_t i;

	model_attached(w, from, to, count);
	for (i = 0; i < w->shape->n_switches; i++)
		if (count[i])
			return true;
	return false;
}

/* The moves of the workload whose configurations are the rows, @n columns each. */
static void move_rows(struct group *g, const struct model_workload *w, double *table, size_t n)
{
	const struct shape *s = w->shape;
	size_t i;

	if (!w->w->gang) {
		for (i = s->n_edges; i-- > 0;)
			min_row(table + s->edges[i].from * n, table + s->edges[i].to * n,
				w->pools[s->edges[i].pool].down, n);
		for (i = 0; i < s->n_edges; i++)
			min_row(table + s->edges[i].to * n, table + s->edges[i].from * n,
				w->pools[s->edges[i].pool].up, n);
		return;
	}
	if (s->n_overlaps)
		memcpy(g->old, table, s->n * n * sizeof(*table));
	memcpy(g->best, table, n * sizeof(*table));
	for (i = 1; i < s->n; i++)
		min_row(g->best, table + i * n, cost_of(w, &s->configs[i], false), n);
	memcpy(table, g->best, n * sizeof(*table));
	for (i = 1; i < s->n; i++)
		min_row(table + i * n, g->best, cost_of(w, &s->configs[i], true), n);
	for (i = 0; i < s->n_overlaps; i++)
		min_row(table + s->overlaps[i][1] * n, g->old + s->overlaps[i][0] * n,
			model_move(w, s->overlaps[i][0], s->overlaps[i][1]), n);
}

/* The same with a hold: @up gets those that attach, @table those that do not. */
static void move_apart(struct group *g, const struct model_workload *w, double *table, double *up,
		       size_t n)
{
	const struct shape *s = w->shape;
	size_t i;

	for (i = 0; i < s->n * n; i++)
		up[i] = INFINITY;
	if (!w->w->gang) {
		for (i = s->n_edges; i-- > 0;)
			min_row(table + s->edges[i].from * n, table + s->edges[i].to * n,
				w->pools[s->edges[i].pool].down, n);
		for (i = 0; i < s->n_edges; i++) {
			const struct shape_edge *e = &s->edges[i];

			min_row(up + e->to * n, up + e->from * n, w->pools[e->pool].up, n);
			min_row(up + e->to * n, table + e->from * n, w->pools[e->pool].up, n);
		}
		return;
	}
	memcpy(g->best, table, n * sizeof(*table));
	for (i = 1; i < s->n; i++)
		min_row(g->best, table + i * n, cost_of(w, &s->configs[i], false), n);
	for (i = 1; i < s->n; i++)
		min_row(up + i * n, g->best, cost_of(w, &s->configs[i], true), n);
	memcpy(g->old, table, s->n * n * sizeof(*table));
	memcpy(table, g->best, n * sizeof(*table));
	for (i = 0; i < s->n_overlaps; i++) {
		uint32_t a = s->overlaps[i][0], b = s->overlaps[i][1];

		min_row((attaches(w, a, b) ? up : table) + b * n, g->old + a * n,
			model_move(w, a, b), n);
	}
}

static void move_held(struct group *g, const struct model_workload *w, double *table, size_t n)
{
	size_t block = w->shape->n * n, hold = w->w->hold, i;

	move_apart(g, w, table, g->up, n);
	/* Who held long enough is free behind this slot; the others are a slot further. */
	min_row(table, table + (hold - 1) * block, 0, block);
	for (i = hold - 1; i > 1; i--)
		memcpy(table + i * block, table + (i - 1) * block, block * sizeof(*table));
	memcpy(table + block, g->up, block * sizeof(*table));
}

/* Cost from one state to another, INFINITY where that cannot be. */
static double state_move(const struct model_workload *w, size_t from, size_t to)
{
	size_t n = w->shape->n, since = from / n, age = to / n;
	uint32_t a = config_of(w, from), b = config_of(w, to);

	if (w->w->hold <= 1)
		return model_move(w, a, b);
	if (since && age != (since + 1) % w->w->hold)
		return INFINITY;
	if (since)
		return a == b ? 0 : INFINITY;
	if (age > 1 || attaches(w, a, b) != (age == 1))
		return INFINITY;
	return model_move(w, a, b);
}

static void turn(const double *from, double *to, size_t rows, size_t columns)
{
	size_t r, c;

	for (r = 0; r < rows; r++)
		for (c = 0; c < columns; c++)
			to[c * rows + r] = from[r * columns + c];
}

/* Add a number for each configuration of one of them to @sum, which has @cells so far. */
static size_t spread(double *sum, size_t cells, const double *add, size_t n)
{
	size_t k, c;

	for (k = cells; k-- > 0;)
		for (c = n; c-- > 0;)
			sum[k * n + c] = sum[k] + add[c];
	return cells * n;
}

static double left_of(const struct group *g, const struct ledger *l, uint32_t row, size_t t)
{
	size_t i = row * g->slots + t;

	return g->model->rows[row].cap - l->load[i] - l->reserved[i];
}

/* Cost of a tenant's deficit in slot @t, by what its workloads among these are served. */
static void add_deficit(struct group *g, const struct ledger *l, uint32_t row,
			const struct model_workload *const *w, size_t n, size_t t, double *table)
{
	double lack = g->model->rows[row].want[t] - l->load[row * g->slots + t];
	size_t cells = 1, i, c;

	if (lack <= MODEL_ROUNDING)
		return;
	g->sum[0] = lack;
	for (i = 0; i < n; i++) {
		for (c = 0; c < states(w[i]); c++)
			g->stay[c] = w[i]->row_guarantee == row
					     ? -model_served(w[i], t, config_of(w[i], c)) : 0;
		cells = spread(g->sum, cells, g->stay, states(w[i]));
	}
	for (i = 0; i < cells; i++)
		table[i] += g->sum[i] > 0 ? g->model->deficit * g->sum[i] : 0;
}

static void add_slot(struct group *g, const struct ledger *l, const struct model_workload *const *w,
		     const struct path_input *in, size_t n, struct path *path, size_t t,
		     double *table)
{
	size_t cells = 1, i, c;

	g->sum[0] = 0;
	for (i = 0; i < n; i++) {
		path_stay(path, w[i], &in[i], t, g->stay);
		for (c = w[i]->shape->n; c < states(w[i]); c++)
			g->stay[c] = g->stay[c - w[i]->shape->n];
		cells = spread(g->sum, cells, g->stay, states(w[i]));
	}
	for (c = 0; c < cells; c++)
		table[c] += g->sum[c];
	for (i = 0; i < g->n_rows; i++) {
		double left = left_of(g, l, g->rows[i].row, t);
		const float *use = g->rows[i].use;
		/* Nothing taken is always possible, also where others have too much. */
		float room = left > 0 ? (float)left : 0;

		for (c = 0; c < cells; c++)
			table[c] = use[c] > room ? INFINITY : table[c];
	}
	for (i = 0; i < g->n_guarantees; i++)
		add_deficit(g, l, g->guarantees[i], w, n, t, table);
}

/* The combination before slot @t from which @cell there is reached at the least cost. */
static size_t step_back(struct group *g, const struct model_workload *const *w, size_t n, size_t t,
			const uint32_t *at)
{
	const double *table = g->table;
	size_t cells = 1, i, c, found = 0;
	double best = INFINITY;

	g->sum[0] = 0;
	for (i = 0; i < n; i++) {
		for (c = 0; c < states(w[i]); c++)
			g->stay[c] = state_move(w[i], c, at[i]);
		cells = spread(g->sum, cells, g->stay, states(w[i]));
	}
	table += (t - 1) * cells;
	for (c = 0; c < cells; c++) {
		double v = table[c] + g->sum[c];

		if (v < best) {
			best = v;
			found = c;
		}
	}
	return found;
}

static void unpack(const struct model_workload *const *w, size_t n, size_t cell, uint32_t *at)
{
	size_t i;

	for (i = n; i-- > 0;) {
		at[i] = (uint32_t)(cell % states(w[i]));
		cell /= states(w[i]);
	}
}

static void trace(struct group *g, const struct model_workload *const *w, size_t n, size_t cells,
		  uint32_t *y)
{
	const double *table = g->table + (g->slots - 1) * cells;
	uint32_t at[GROUP_MAX] = { 0 };
	size_t cell = 0, i, t;

	for (i = 0; i < cells; i++)
		if (table[i] < table[cell])
			cell = i;
	for (t = g->slots; t-- > 0;) {
		unpack(w, n, cell, at);
		for (i = 0; i < n; i++)
			y[i * g->slots + t] = config_of(w[i], at[i]);
		if (t)
			cell = step_back(g, w, n, t, at);
	}
}

void group_solve(struct group *g, const struct ledger *l, const struct model_workload *const *w,
		 const struct path_input *in, size_t n, struct path *path, uint32_t *y)
{
	static const double none[PLAN_SLOTS_MAX];
	struct path_input view[GROUP_MAX];
	size_t cells = 1, start = 0, t, i;
	double *table = g->table;

	for (i = 0; i < n; i++) {
		/* What is left is counted here, for all together. */
		view[i] = (struct path_input){ .use = in[i].use };
		if (w[i]->row_guarantee != PLAN_NONE)
			view[i].lack = none;
		start = start * states(w[i]) + w[i]->start;
		cells *= states(w[i]);
	}
	if (!find_rows(g, w, n)) {
		for (i = 0; i < n; i++)
			for (t = 0; t < g->slots; t++)
				y[i * g->slots + t] = t < w[i]->w->keep ? w[i]->start : 0;
		return;
	}
	g->work += cells * g->slots * n;
	for (i = 0; i < cells; i++)
		table[i] = INFINITY;
	table[start] = 0;
	for (t = 0; t < g->slots; t++) {
		if (t) {
			memcpy(table + cells, table, cells * sizeof(*table));
			table += cells;
		}
		for (i = 0; i < n; i++) {
			size_t rows = states(w[i]);

			if (w[i]->w->hold > 1)
				move_held(g, w[i], table, cells / rows);
			else
				move_rows(g, w[i], table, cells / rows);
			turn(table, g->other, rows, cells / rows);
			memcpy(table, g->other, cells * sizeof(*table));
		}
		add_slot(g, l, w, view, n, path, t, table);
	}
	trace(g, w, n, cells, y);
}
