// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the ledger
 *
 * One view of the shared rows in two uses: what the rows cost a workload at given prices, and
 * what the others left of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/ledger.h"

struct ledger *ledger_view(const struct model *model)
{
	struct ledger *l = mem_zalloc(1, sizeof(*l));
	size_t intervals = model->in->n_intervals, pools = (model->pools_max + 1) * intervals;

	l->model = model;
	l->use = mem_zalloc(pools, sizeof(*l->use));
	l->up = mem_zalloc(pools, sizeof(*l->up));
	l->room = mem_zalloc(pools, sizeof(*l->room));
	l->attach = mem_zalloc(pools, sizeof(*l->attach));
	l->total = mem_zalloc(intervals, sizeof(*l->total));
	l->lack = mem_zalloc(intervals, sizeof(*l->lack));
	return l;
}

struct ledger *ledger_new(const struct model *model)
{
	size_t n = (model->n_rows + 1) * model->in->n_intervals;
	struct ledger *l = ledger_view(model);

	l->load = mem_zalloc(n, sizeof(*l->load));
	l->reserved = mem_zalloc(n, sizeof(*l->reserved));
	return l;
}

void ledger_free(struct ledger *l)
{
	free(l->load);
	free(l->reserved);
	free(l->use);
	free(l->up);
	free(l->room);
	free(l->total);
	free(l->attach);
	free(l->lack);
	free(l);
}

void ledger_clear(struct ledger *l)
{
	size_t n = l->model->n_rows * l->model->in->n_intervals;

	memset(l->load, 0, n * sizeof(*l->load));
	memset(l->reserved, 0, n * sizeof(*l->reserved));
}

static void ledger_post(const struct ledger *l, double *to, uint32_t row, size_t t, double amount)
{
	if (row != PLAN_NONE)
		to[row * l->model->in->n_intervals + t] += amount;
}

/* What one configuration takes of the rows in an interval. */
static void ledger_add_use(const struct ledger *l, double *to, const struct model_workload *w,
			   uint32_t config, size_t t, double times)
{
	const struct shape_config *c = &w->shape->configs[config];
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct model_pool *p = &w->pools[c->pool[i]];

		ledger_post(l, to, p->row_pool, t, times * c->gpus[i]);
		ledger_post(l, to, p->row_link, t, times * c->gpus[i] * w->w->lanes);
	}
	ledger_post(l, to, w->row_host, t, times * c->total);
	ledger_post(l, to, w->row_limit, t, times * c->total);
}

void ledger_add(struct ledger *l, const struct model_workload *w, const uint32_t *y, int times)
{
	uint32_t before = w->start, attached[SHAPE_POOLS_MAX];
	size_t t, i;

	for (t = 0; t < l->model->in->n_intervals; t++) {
		if (before != y[t]) {
			model_attached(w, before, y[t], attached);
			for (i = 0; i < w->shape->n_switches; i++)
				if (attached[i])
					ledger_post(l, l->load, w->row_attach[i], t,
						    times * (double)attached[i]);
			before = y[t];
		}
		if (w->row_guarantee != PLAN_NONE)
			ledger_post(l, l->load, w->row_guarantee, t,
				    times * model_served(w, t, y[t]));
		if (y[t])
			ledger_add_use(l, l->load, w, y[t], t, times);
	}
}

void ledger_reserve(struct ledger *l, const struct model_workload *w, int times)
{
	size_t t;

	for (t = 0; t < w->w->keep; t++)
		ledger_add_use(l, l->reserved, w, w->start, t, times);
}

static void add_prices(double *to, const double *prices, uint32_t row, size_t intervals,
		       double times)
{
	size_t t;

	if (row == PLAN_NONE)
		return;
	for (t = 0; t < intervals; t++)
		to[t] += times * prices[row * intervals + t];
}

void ledger_price(struct ledger *l, const struct model_workload *w, const double *prices,
		  struct path_input *input)
{
	size_t intervals = l->model->in->n_intervals, i;
	const struct shape *s = w->shape;

	memset(l->use, 0, s->n_pools * intervals * sizeof(*l->use));
	memset(l->up, 0, s->n_switches * intervals * sizeof(*l->up));
	for (i = 0; i < s->n_pools && prices; i++) {
		double *use = l->use + i * intervals;

		add_prices(use, prices, w->pools[i].row_pool, intervals, 1);
		add_prices(use, prices, w->pools[i].row_link, intervals, w->w->lanes);
		add_prices(use, prices, w->row_host, intervals, 1);
		add_prices(use, prices, w->row_limit, intervals, 1);
	}
	for (i = 0; i < s->n_switches && prices; i++)
		add_prices(l->up + i * intervals, prices, w->row_attach[i], intervals, 1);
	input->use = l->use;
	input->up = l->up;
	if (!prices || w->row_guarantee == PLAN_NONE)
		return;
	input->extra = prices + w->row_guarantee * intervals;
}

static void limit(const struct ledger *l, uint32_t *room, uint32_t row, uint32_t each)
{
	size_t intervals = l->model->in->n_intervals, t;

	if (row == PLAN_NONE)
		return;
	for (t = 0; t < intervals; t++) {
		double left = l->model->rows[row].cap - l->load[row * intervals + t] -
			      l->reserved[row * intervals + t];
		uint32_t can = left > 0 ? (uint32_t)(left / each) : 0;

		if (can < room[t])
			room[t] = can;
	}
}

void ledger_room(const struct ledger *l, struct ledger *view, const struct model_workload *w,
		 struct path_input *input)
{
	size_t intervals = l->model->in->n_intervals, i, t;
	const struct shape *s = w->shape;

	memset(view->room, 0xff, s->n_pools * intervals * sizeof(*view->room));
	memset(view->attach, 0xff, s->n_switches * intervals * sizeof(*view->attach));
	memset(view->total, 0xff, intervals * sizeof(*view->total));
	for (i = 0; i < s->n_pools; i++) {
		limit(l, view->room + i * intervals, w->pools[i].row_pool, 1);
		limit(l, view->room + i * intervals, w->pools[i].row_link, w->w->lanes);
	}
	limit(l, view->total, w->row_host, 1);
	limit(l, view->total, w->row_limit, 1);
	for (i = 0; i < s->n_switches; i++)
		limit(l, view->attach + i * intervals, w->row_attach[i], 1);
	input->room = view->room;
	input->total = view->total;
	input->attach = view->attach;
	if (w->row_guarantee == PLAN_NONE)
		return;
	for (t = 0; t < intervals; t++) {
		double lack = l->model->rows[w->row_guarantee].want[t] -
			      l->load[w->row_guarantee * intervals + t];

		/* Sums of fractions: what is left of nothing is rounding. */
		view->lack[t] = lack > MODEL_ROUNDING ? lack : 0;
	}
	input->lack = view->lack;
}

bool ledger_holds(const struct ledger *l)
{
	size_t intervals = l->model->in->n_intervals, r, t;

	for (r = 0; r < l->model->n_rows; r++)
		for (t = 0; t < intervals && l->model->rows[r].kind != ROW_GUARANTEE; t++)
			if (l->load[r * intervals + t] > l->model->rows[r].cap)
				return false;
	return true;
}
