// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a few workloads at a time
 *
 * Where all is taken nobody can get better alone: another has to give way in the same moment.
 * So the ways of a few are sought together, over all combinations of what they can have: two
 * elastic workloads, or seven gangs, which have a few configurations each. It is the shortest
 * path of solver/path.c over a table with a dimension for each of them. The moves of one are the
 * same for all combinations of the others, so they work on whole rows; the table is turned
 * after each, so that the rows are those of the next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/group.h"

/* Intervals times combinations, and combinations, at most. */
#define INTERVAL_CELLS_MAX 400000
#define CELLS_MAX 1024
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
 * struct member - a workload in a group
 * @w: the workload
 * @in: its view of the ledger, as far as costs go
 * @n: configurations that it could have in some interval, with what the others leave
 * @config: which they are
 * @start: which of them it has in interval -1
 * @edges: steps between them
 * @n_edges: how many
 */
struct member {
	const struct model_workload *w;
	struct path_input in;
	size_t n;
	uint32_t *config;
	uint32_t start;
	struct shape_edge *edges;
	size_t n_edges;
};

/**
 * struct group - memory for some workloads of a model
 * @model: the model
 * @intervals: of the instance
 * @members: those that are taken
 * @n: how many
 * @rows: limits
 * @n_rows: how many
 * @guarantees: rows of tenants' guarantees
 * @n_guarantees: how many
 * @stay: cost of each configuration of one of them
 * @all: the same before those that cannot be are left out
 * @index: of each configuration of one of them among those that can be
 * @table: cost so far, by interval and combination
 * @other: for turning
 * @sum: cost of an interval by combination
 * @best: a row
 * @old: rows before the moves of a gang
 * @up: rows that were entered by an attach
 * @work: cells
 */
struct group {
	const struct model *model;
	size_t intervals;
	struct member members[GROUP_MAX];
	size_t n;
	struct group_row rows[ROWS_MAX];
	size_t n_rows;
	uint32_t guarantees[GROUP_MAX];
	size_t n_guarantees;
	float *stay;
	double *all;
	uint32_t *index;
	float *table, *other, *sum, *best, *old, *up;
	uint64_t work;
};

struct group *group_new(const struct model *model)
{
	size_t configs = model->configs_max + 1, edges = 1, i;
	struct group *g = mem_zalloc(1, sizeof(*g));
	const struct shape *s;

	for (s = model->shapes; s; s = s->next)
		if (s->n_edges > edges)
			edges = s->n_edges;
	g->model = model;
	g->intervals = model->in->n_intervals;
	g->stay = mem_zalloc(CELLS_MAX, sizeof(*g->stay));
	g->all = mem_zalloc(configs, sizeof(*g->all));
	g->index = mem_zalloc(configs, sizeof(*g->index));
	g->table = mem_zalloc(INTERVAL_CELLS_MAX, sizeof(*g->table));
	g->other = mem_zalloc(CELLS_MAX, sizeof(*g->other));
	g->sum = mem_zalloc(CELLS_MAX, sizeof(*g->sum));
	g->best = mem_zalloc(CELLS_MAX, sizeof(*g->best));
	g->old = mem_zalloc(CELLS_MAX, sizeof(*g->old));
	g->up = mem_zalloc(CELLS_MAX, sizeof(*g->up));
	for (i = 0; i < ROWS_MAX; i++)
		g->rows[i].use = mem_zalloc(CELLS_MAX, sizeof(*g->rows[i].use));
	for (i = 0; i < GROUP_MAX; i++) {
		g->members[i].config = mem_zalloc(configs, sizeof(*g->members[i].config));
		g->members[i].edges = mem_zalloc(edges, sizeof(*g->members[i].edges));
	}
	return g;
}

void group_free(struct group *g)
{
	size_t i;

	for (i = 0; i < ROWS_MAX; i++)
		free(g->rows[i].use);
	for (i = 0; i < GROUP_MAX; i++) {
		free(g->members[i].config);
		free(g->members[i].edges);
	}
	free(g->stay);
	free(g->all);
	free(g->index);
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
 * Where a workload can be: its configurations, and with a hold the same again for each interval
 * since an attach in which it may not move yet.
 */
static size_t states(const struct member *m)
{
	return m->n * (m->w->w->hold > 1 ? m->w->w->hold : 1);
}

static uint32_t config_of(const struct member *m, size_t state)
{
	return m->config[state % m->n];
}

bool group_possible(const struct group *g, const struct model_workload *w)
{
	size_t i;

	/* A limit of attaches needs more than where each is. */
	if (g->intervals > INTERVAL_CELLS_MAX)
		return false;
	for (i = 0; i < w->shape->n_switches; i++)
		if (w->row_attach[i] != PLAN_NONE)
			return false;
	return true;
}

/* Keep what can be in some interval, what it has now, and what lies between. */
static void group_take_one(struct group *g, struct member *m, const struct model_workload *w,
			   const struct path_input *in, struct path *path)
{
	const struct shape *s = w->shape;
	size_t t, c, i;

	memset(g->index, 0, s->n * sizeof(*g->index));
	for (t = 0; t < g->intervals; t++) {
		path_stay(path, w, in, t, g->all);
		for (c = 0; c < s->n; c++)
			g->index[c] |= g->all[c] < INFINITY;
	}
	g->work += 4 * g->intervals * s->n;
	g->index[0] = 1;
	g->index[w->start] = 1;
	for (i = s->n_edges; i-- > 0;)
		g->index[s->edges[i].from] |= g->index[s->edges[i].to];
	m->w = w;
	/* What is left is counted later, for all together. */
	m->in = (struct path_input){ .use = in->use };
	m->n = 0;
	for (c = 0; c < s->n; c++) {
		if (!g->index[c])
			continue;
		if (c == w->start)
			m->start = (uint32_t)m->n;
		m->config[m->n++] = (uint32_t)c;
		g->index[c] = (uint32_t)m->n;
	}
	m->n_edges = 0;
	for (i = 0; i < s->n_edges; i++) {
		const struct shape_edge *e = &s->edges[i];

		if (!g->index[e->to])
			continue;
		m->edges[m->n_edges] = *e;
		m->edges[m->n_edges].from = g->index[e->from] - 1;
		m->edges[m->n_edges++].to = g->index[e->to] - 1;
	}
}

size_t group_take(struct group *g, const struct model_workload *const *w,
		  const struct path_input *in, size_t n, struct path *path)
{
	size_t cells = 1;

	for (g->n = 0; g->n < n; g->n++) {
		group_take_one(g, &g->members[g->n], w[g->n], &in[g->n], path);
		cells *= states(&g->members[g->n]);
		if (cells > CELLS_MAX || cells * g->intervals > INTERVAL_CELLS_MAX)
			break;
	}
	return g->n;
}

static bool group_add_row(struct group *g, uint32_t row)
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
	for (i = 0; i < g->n; i++) {
		const struct member *m = &g->members[i];
		size_t all = states(m);

		for (c = 0; c < all; c++)
			g->stay[c] = model_use(m->w, config_of(m, c), row);
		/* From behind, so that each is read before it is written. */
		for (k = cells; k-- > 0;)
			for (c = all; c-- > 0;)
				use[k * all + c] = use[k] + (float)g->stay[c];
		cells *= all;
	}
	return true;
}

static bool group_find_rows(struct group *g)
{
	bool room = true;
	size_t i, k;

	g->n_rows = 0;
	g->n_guarantees = 0;
	for (i = 0; i < g->n; i++) {
		const struct model_workload *w = g->members[i].w;

		for (k = 0; k < w->shape->n_pools; k++) {
			room = room && group_add_row(g, w->pools[k].row_pool);
			room = room && group_add_row(g, w->pools[k].row_link);
		}
		room = room && group_add_row(g, w->row_host);
		room = room && group_add_row(g, w->row_limit);
		for (k = 0; k < g->n_guarantees && g->guarantees[k] != w->row_guarantee;)
			k++;
		if (k == g->n_guarantees && w->row_guarantee != PLAN_NONE)
			g->guarantees[g->n_guarantees++] = w->row_guarantee;
	}
	return room;
}

static void min_row(float *restrict to, const float *restrict from, float cost, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float v = from[i] + cost;

		to[i] = v < to[i] ? v : to[i];
	}
}

static double group_cost_of(const struct model_workload *w, const struct shape_config *c, bool up)
{
	double cost = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		cost += c->gpus[i] * (up ? w->pools[c->pool[i]].up : w->pools[c->pool[i]].down);
	return cost;
}

/* Gangs that share GPUs before and after: only some pairs, whatever is between. */
static void move_overlaps(struct group *g, const struct member *m, float *table, float *up,
			  size_t n)
{
	const struct shape *s = m->w->shape;
	size_t i, c;

	memset(g->index, 0, s->n * sizeof(*g->index));
	for (c = 0; c < m->n; c++)
		g->index[m->config[c]] = (uint32_t)c + 1;
	for (i = 0; i < s->n_overlaps; i++) {
		const struct shape_overlap *o = &s->overlaps[i];
		uint32_t from = g->index[o->from], to = g->index[o->to];

		if (from && to)
			min_row((o->attaches ? up : table) + (to - 1) * n, g->old + (from - 1) * n,
				model_move(m->w, o->from, o->to), n);
	}
}

/*
 * The moves of the one whose configurations are the rows, @n columns each: @up gets those that
 * attach; where that is @table itself, both are one.
 */
static void move_rows(struct group *g, const struct member *m, float *table, float *up, size_t n)
{
	const struct shape_config *configs = m->w->shape->configs;
	size_t i;

	if (!m->w->w->gang) {
		for (i = m->n_edges; i-- > 0;)
			min_row(table + m->edges[i].from * n, table + m->edges[i].to * n,
				m->w->pools[m->edges[i].pool].down, n);
		for (i = 0; i < m->n_edges; i++) {
			const struct shape_edge *e = &m->edges[i];

			min_row(up + e->to * n, up + e->from * n, m->w->pools[e->pool].up, n);
			if (up != table)
				min_row(up + e->to * n, table + e->from * n,
					m->w->pools[e->pool].up, n);
		}
		return;
	}
	if (m->w->shape->n_overlaps)
		memcpy(g->old, table, m->n * n * sizeof(*table));
	memcpy(g->best, table, n * sizeof(*table));
	for (i = 1; i < m->n; i++)
		min_row(g->best, table + i * n, group_cost_of(m->w, &configs[m->config[i]], false),
			n);
	memcpy(table, g->best, n * sizeof(*table));
	for (i = 1; i < m->n; i++)
		min_row(up + i * n, g->best, group_cost_of(m->w, &configs[m->config[i]], true), n);
	move_overlaps(g, m, table, up, n);
}

static void move_held(struct group *g, const struct member *m, float *table, size_t n)
{
	size_t block = m->n * n, hold = m->w->w->hold, i;

	for (i = 0; i < block; i++)
		g->up[i] = INFINITY;
	move_rows(g, m, table, g->up, n);
	/* Who held long enough is free behind this interval; the others are an interval further. */
	min_row(table, table + (hold - 1) * block, 0, block);
	for (i = hold - 1; i > 1; i--)
		memcpy(table + i * block, table + (i - 1) * block, block * sizeof(*table));
	memcpy(table + block, g->up, block * sizeof(*table));
}

/* Cost from one state to another, INFINITY where that cannot be. */
static double state_move(const struct member *m, size_t from, size_t to)
{
	size_t since = from / m->n, age = to / m->n;
	uint32_t a = config_of(m, from), b = config_of(m, to);

	if (m->w->w->hold <= 1)
		return model_move(m->w, a, b);
	if (since && age != (since + 1) % m->w->w->hold)
		return INFINITY;
	if (since)
		return a == b ? 0 : INFINITY;
	/* By way of nothing, where that is free, a hold may begin without an attach. */
	if (age > 1 || (!age && model_attaches(m->w, a, b)))
		return INFINITY;
	return model_move(m->w, a, b);
}

static void turn(const float *restrict from, float *restrict to, size_t rows, size_t columns)
{
	size_t r, c;

	for (r = 0; r < rows; r++)
		for (c = 0; c < columns; c++)
			to[c * rows + r] = from[r * columns + c];
}

/* Add a number for each configuration of one of them to @sum, which has @cells so far. */
static size_t group_spread(float *sum, size_t cells, const float *add, size_t n)
{
	size_t k, c;

	for (k = cells; k-- > 0;)
		for (c = n; c-- > 0;)
			sum[k * n + c] = sum[k] + add[c];
	return cells * n;
}

static double left_of(const struct group *g, const struct ledger *l, uint32_t row, size_t t)
{
	size_t i = row * g->intervals + t;

	return g->model->rows[row].cap - l->load[i] - l->reserved[i];
}

/* Cost of a tenant's deficit in interval @t, by what its workloads among these are served. */
static void add_deficit(struct group *g, const struct ledger *l, uint32_t row, size_t t,
			float *table)
{
	double lack = g->model->rows[row].want[t] - l->load[row * g->intervals + t];
	size_t cells = 1, i, c;

	if (lack <= MODEL_ROUNDING)
		return;
	g->sum[0] = lack;
	for (i = 0; i < g->n; i++) {
		const struct member *m = &g->members[i];

		for (c = 0; c < states(m); c++)
			g->stay[c] = m->w->row_guarantee == row ?
					     -model_served(m->w, t, config_of(m, c)) :
					     0;
		cells = group_spread(g->sum, cells, g->stay, states(m));
	}
	for (i = 0; i < cells; i++)
		table[i] += g->sum[i] > 0 ? g->model->deficit * g->sum[i] : 0;
}

static void group_add_interval(struct group *g, const struct ledger *l, struct path *path, size_t t,
			       float *table)
{
	size_t cells = 1, i, c;

	g->sum[0] = 0;
	for (i = 0; i < g->n; i++) {
		const struct member *m = &g->members[i];

		path_stay(path, m->w, &m->in, t, g->all);
		for (c = 0; c < states(m); c++)
			g->stay[c] = g->all[config_of(m, c)];
		cells = group_spread(g->sum, cells, g->stay, states(m));
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
		add_deficit(g, l, g->guarantees[i], t, table);
}

/* The combination before interval @t from which the states @at are reached at the least cost. */
static size_t step_back(struct group *g, size_t t, const uint32_t *at)
{
	const float *table = g->table;
	size_t cells = 1, i, c, found = 0;
	float best = INFINITY;

	g->sum[0] = 0;
	for (i = 0; i < g->n; i++) {
		for (c = 0; c < states(&g->members[i]); c++)
			g->stay[c] = state_move(&g->members[i], c, at[i]);
		cells = group_spread(g->sum, cells, g->stay, states(&g->members[i]));
	}
	table += (t - 1) * cells;
	for (c = 0; c < cells; c++) {
		float v = table[c] + g->sum[c];

		if (v < best) {
			best = v;
			found = c;
		}
	}
	return best < INFINITY ? found : cells;
}

static bool group_trace(struct group *g, size_t cells, uint32_t *y)
{
	const float *table = g->table + (g->intervals - 1) * cells;
	uint32_t at[GROUP_MAX] = { 0 };
	size_t cell = 0, i, t, rest;

	for (i = 0; i < cells; i++)
		if (table[i] < table[cell])
			cell = i;
	for (t = g->intervals; t-- > 0;) {
		if (cell == cells || (t + 1 == g->intervals && table[cell] == INFINITY))
			return false;
		for (rest = cell, i = g->n; i-- > 0;) {
			at[i] = (uint32_t)(rest % states(&g->members[i]));
			rest /= states(&g->members[i]);
			y[i * g->intervals + t] = config_of(&g->members[i], at[i]);
		}
		if (t)
			cell = step_back(g, t, at);
	}
	return true;
}

bool group_solve(struct group *g, const struct ledger *l, struct path *path, uint32_t *y)
{
	static const double none[PLAN_INTERVALS_MAX];
	size_t cells = 1, start = 0, t, i;
	float *table = g->table;

	for (i = 0; i < g->n; i++) {
		struct member *m = &g->members[i];

		if (m->w->row_guarantee != PLAN_NONE)
			m->in.lack = none;
		start = start * states(m) + m->start;
		cells *= states(m);
	}
	if (!group_find_rows(g))
		return false;
	g->work += cells * g->intervals * g->n;
	for (i = 0; i < cells; i++)
		table[i] = INFINITY;
	table[start] = 0;
	for (t = 0; t < g->intervals; t++) {
		if (t) {
			memcpy(table + cells, table, cells * sizeof(*table));
			table += cells;
		}
		for (i = 0; i < g->n; i++) {
			const struct member *m = &g->members[i];
			size_t rows = states(m);

			if (m->w->w->hold > 1)
				move_held(g, m, table, cells / rows);
			else
				move_rows(g, m, table, table, cells / rows);
			turn(table, g->other, rows, cells / rows);
			memcpy(table, g->other, cells * sizeof(*table));
		}
		group_add_interval(g, l, path, t, table);
	}
	return group_trace(g, cells, y);
}
