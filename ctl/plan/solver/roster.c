// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: plans that keep the limits
 *
 * Every step takes workloads out of the plan and puts them back one by one: the cheapest way
 * through what the others left is a shortest path, so a single workload is always placed as
 * well as can be. Prices lead those that come early to leave alone what others need more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/roster.h"

void roster_init(struct roster *p, const struct model *model, struct path *path)
{
	size_t intervals = model->in->n_intervals, i;

	memset(p, 0, sizeof(*p));
	p->model = model;
	p->path = path;
	p->ledger = ledger_new(model);
	p->group = group_new(model);
	for (i = 0; i < GROUP_MAX; i++)
		p->views[i] = ledger_view(model);
	p->own = mem_zalloc(model->in->n_workloads + 1, sizeof(*p->own));
	p->y = mem_zalloc(model->in->n_workloads * intervals + 1, sizeof(*p->y));
	p->try = mem_zalloc(GROUP_MAX * intervals, sizeof(*p->try));
	p->old = mem_zalloc(GROUP_MAX * intervals, sizeof(*p->old));
	p->used = mem_zalloc(intervals, sizeof(*p->used));
	p->on = mem_zalloc(intervals, sizeof(*p->on));
}

void roster_free(struct roster *p)
{
	size_t i;

	ledger_free(p->ledger);
	group_free(p->group);
	for (i = 0; i < GROUP_MAX; i++)
		ledger_free(p->views[i]);
	free(p->own);
	free(p->y);
	free(p->try);
	free(p->old);
	free(p->used);
	free(p->on);
}

/* Power of one pool as the ledger stands; p->on gets the GPUs that are on. */
static double power_of(struct roster *p, size_t pool)
{
	size_t intervals = p->model->in->n_intervals, t;
	const double *load = p->ledger->load + p->model->power[pool].row * intervals;
	double energy, wake;

	for (t = 0; t < intervals; t++)
		p->used[t] = (uint32_t)load[t];
	model_power(p->model, pool, p->used, p->on, &energy, &wake);
	return energy + wake;
}

static double power_all(struct roster *p, const struct model_workload *w)
{
	double cost = 0;
	size_t i;

	for (i = 0; i < w->shape->n_pools; i++)
		if (p->model->power[w->shape->pools[i].pool].row != PLAN_NONE)
			cost += power_of(p, w->shape->pools[i].pool);
	return cost;
}

/* A GPU that is off costs its idling when it is asked for; one that is on anyway does not. */
static void add_power_prices(struct roster *p, struct ledger *view, const struct model_workload *w)
{
	size_t intervals = p->model->in->n_intervals, i, t;

	for (i = 0; i < w->shape->n_pools; i++) {
		size_t pool = w->shape->pools[i].pool;
		const struct model_power *power = &p->model->power[pool];

		if (power->row == PLAN_NONE)
			continue;
		power_of(p, pool);
		for (t = 0; t < intervals; t++)
			if (p->on[t] <= p->used[t])
				view->use[i * intervals + t] += power->on;
	}
}

/* What @y adds to the cost of the whole; the workload is not in the ledger. */
static double added(struct roster *p, const struct model_workload *w, const uint32_t *y, bool put)
{
	size_t intervals = p->model->in->n_intervals, t;
	struct path_input input = { 0 };
	double cost, power;

	ledger_room(p->ledger, p->ledger, w, &input);
	cost = path_value(p->path, w, &input, y);
	p->own[w - p->model->workloads] = cost;
	for (t = 0; input.lack && t < intervals; t++)
		cost -= w->deficit * input.lack[t];
	power = power_all(p, w);
	ledger_add(p->ledger, w, y, 1);
	cost += power_all(p, w) - power;
	if (!put)
		ledger_add(p->ledger, w, y, -1);
	return cost;
}

double roster_remove(struct roster *p, size_t w)
{
	const struct model_workload *mw = &p->model->workloads[w];
	const uint32_t *y = p->y + w * p->model->in->n_intervals;
	double cost;

	ledger_add(p->ledger, mw, y, -1);
	cost = added(p, mw, y, false);
	ledger_reserve(p->ledger, mw, 1);
	return cost;
}

double roster_put(struct roster *p, size_t w, const uint32_t *y)
{
	const struct model_workload *mw = &p->model->workloads[w];
	size_t intervals = p->model->in->n_intervals;

	ledger_reserve(p->ledger, mw, -1);
	memmove(p->y + w * intervals, y, intervals * sizeof(*y));
	return added(p, mw, p->y + w * intervals, true);
}

/* The cheapest way into p->try; the workload's own reservation is not in its way. */
static void roster_find(struct roster *p, size_t w, const double *price)
{
	const struct model_workload *mw = &p->model->workloads[w];
	struct path_input input = { 0 };

	ledger_reserve(p->ledger, mw, -1);
	ledger_price(p->ledger, mw, price, &input);
	/* A tenant's deficit is known here, and need not be paid for twice. */
	input.extra = NULL;
	ledger_room(p->ledger, p->ledger, mw, &input);
	add_power_prices(p, p->ledger, mw);
	path_solve(p->path, mw, &input, p->try);
	ledger_reserve(p->ledger, mw, 1);
}

double roster_insert(struct roster *p, size_t w, const double *price)
{
	roster_find(p, w, price);
	return roster_put(p, w, p->try);
}

double roster_again(struct roster *p, size_t w)
{
	size_t intervals = p->model->in->n_intervals;
	uint32_t *y = p->y + w * intervals;
	double before, after;

	before = roster_remove(p, w);
	roster_find(p, w, NULL);
	if (!memcmp(p->try, y, intervals * sizeof(*y))) {
		roster_put(p, w, y);
		return 0;
	}
	memcpy(p->old, y, intervals * sizeof(*y));
	after = roster_put(p, w, p->try);
	/* Equal is not better: it could go on for ever. */
	if (after < before - MODEL_ROUNDING * (fabs(before) + fabs(after)))
		return before - after;
	roster_remove(p, w);
	roster_put(p, w, p->old);
	return 0;
}

double roster_group(struct roster *p, const size_t *members, size_t n)
{
	const struct model_workload *w[GROUP_MAX] = { NULL };
	size_t intervals = p->model->in->n_intervals, i, taken;
	struct path_input in[GROUP_MAX] = { { 0 } };
	double before = 0, after = 0;
	bool same, found;

	for (i = 0; i < n; i++) {
		w[i] = &p->model->workloads[members[i]];
		memcpy(p->old + i * intervals, p->y + members[i] * intervals,
		       intervals * sizeof(*p->y));
		before += roster_remove(p, members[i]);
	}
	for (i = 0; i < n; i++) {
		ledger_reserve(p->ledger, w[i], -1);
		ledger_price(p->views[i], w[i], NULL, &in[i]);
		ledger_room(p->ledger, p->views[i], w[i], &in[i]);
		add_power_prices(p, p->views[i], w[i]);
		ledger_reserve(p->ledger, w[i], 1);
	}
	taken = group_take(p->group, w, in, n, p->path);
	/* Who found no place in the table goes back. */
	for (; n > taken; n--)
		before -= roster_put(p, members[n - 1], p->old + (n - 1) * intervals);
	for (i = 0; i < n; i++)
		ledger_reserve(p->ledger, w[i], -1);
	found = group_solve(p->group, p->ledger, p->path, p->try);
	for (i = 0; i < n; i++)
		ledger_reserve(p->ledger, w[i], 1);
	same = !found || !memcmp(p->try, p->old, n * intervals * sizeof(*p->old));
	for (i = 0; i < n && !same; i++)
		after += roster_put(p, members[i], p->try + i * intervals);
	if (!same && after < before - MODEL_ROUNDING * (fabs(before) + fabs(after)))
		return before - after;
	for (i = 0; i < n && !same; i++)
		roster_remove(p, members[i]);
	for (i = 0; i < n; i++)
		roster_put(p, members[i], p->old + i * intervals);
	return 0;
}

void roster_all(struct roster *p, const size_t *order, const double *price)
{
	size_t n = p->model->in->n_workloads, i;

	ledger_clear(p->ledger);
	for (i = 0; i < n; i++)
		ledger_reserve(p->ledger, &p->model->workloads[i], 1);
	for (i = 0; i < n; i++)
		roster_insert(p, order[i], price);
}

void roster_set(struct roster *p, const uint32_t *y)
{
	size_t intervals = p->model->in->n_intervals, w;

	memcpy(p->y, y, p->model->in->n_workloads * intervals * sizeof(*y));
	ledger_clear(p->ledger);
	for (w = 0; w < p->model->in->n_workloads; w++)
		added(p, &p->model->workloads[w], p->y + w * intervals, true);
}
