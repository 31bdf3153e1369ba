// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: plans that are flows
 *
 * Where one pool is shared by workloads that can use any number of its GPUs, each GPU goes its
 * own way through time: from interval to interval it stays with a workload, or goes back and is
 * free, or off. What it costs does not depend on the others, but for how many a workload can use,
 * and that is the width of an arc. The cheapest flow of all GPUs is the best plan, and
 * it is in whole GPUs. Pools that share no workload are solved one by one.
 *
 * Before each interval there are two nodes, for GPUs that are free and on, and for those off, and
 * in each interval two for each workload, with what use costs between them; one stands for what
 * each has now.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/exact.h"
#include "plan/solver/flow.h"

/* GPUs times nodes: above it prices find a good plan sooner. */
#define WORK_MAX 4e6
/* Taken off the bound, as a part of the sums that it is made of. */
#define ROUNDING (MODEL_ROUNDING / 100)

/**
 * struct network - of one pool
 * @model: whose
 * @pool: which
 * @members: workloads that use it
 * @n: how many
 * @flow: the network
 * @stay: by interval and member: the first of two arcs, for GPUs that are needed and others
 * @sum: of what numbers there are, without signs
 */
struct network {
	const struct model *model;
	size_t pool;
	size_t *members, n;
	struct flow flow;
	size_t *stay;
	double sum;
};

static bool exact_is_free(const struct model_workload *w)
{
	return w->shape->chain && !w->w->gang && w->w->hold <= 1 && !w->w->keep && !w->want;
}

/* A pool that has become smaller than what is held of it has nothing free to begin with. */
static bool pool_is_overdrawn(const struct plan_instance *in, size_t pool)
{
	uint64_t held = 0;
	size_t i, j;

	for (i = 0; i < in->n_workloads; i++)
		for (j = 0; j < in->workloads[i].n_now; j++)
			if (in->workloads[i].now[j].pool == pool)
				held += in->workloads[i].now[j].gpus;
	return held > in->pools[pool].gpus;
}

bool exact_possible(const struct model *model)
{
	const struct plan_instance *in = model->in;
	double gpus = 0, nodes;
	size_t i;

	for (i = 0; i < model->n_rows; i++)
		if (model->rows[i].kind != ROW_POOL)
			return false;
	for (i = 0; i < in->n_workloads; i++)
		if (!exact_is_free(&model->workloads[i]))
			return false;
	for (i = 0; i < in->n_pools; i++) {
		if (pool_is_overdrawn(in, i))
			return false;
		gpus = fmax(gpus, in->pools[i].gpus);
	}
	nodes = (double)in->n_intervals * (2 * (double)in->n_workloads + 2);
	return in->n_workloads && gpus * nodes <= WORK_MAX;
}

static uint32_t free_node(const struct network *n, size_t t)
{
	return (uint32_t)(1 + n->n + t * (2 * n->n + 2));
}

static uint32_t in_node(const struct network *n, size_t t, size_t member)
{
	return (uint32_t)(free_node(n, t) + 2 + 2 * member);
}

/* Behind the last interval there are the two free nodes, and where all end. */
static uint32_t last_node(const struct network *n)
{
	return free_node(n, n->model->in->n_intervals) + 2;
}

static size_t arc(struct network *n, uint32_t from, uint32_t to, uint32_t most, double cost)
{
	n->sum += fabs(cost) * most;
	return flow_arc(&n->flow, from, to, most, cost);
}

/* From nowhere to where each GPU is now. */
static void exact_begin(struct network *n)
{
	const struct plan_pool *p = &n->model->in->pools[n->pool];
	bool power = n->model->power[n->pool].row != PLAN_NONE;
	uint32_t held = 0, on;
	size_t i;

	for (i = 0; i < n->n; i++) {
		const struct model_workload *w = &n->model->workloads[n->members[i]];

		/* It stays, or goes back at once. */
		held += w->start;
		arc(n, 0, (uint32_t)i + 1, w->start, 0);
		arc(n, (uint32_t)i + 1, in_node(n, 0, i), w->start, 0);
		arc(n, (uint32_t)i + 1, free_node(n, 0), w->start, w->pools[0].down);
	}
	on = power && p->on > held ? p->on - held : 0;
	arc(n, 0, free_node(n, 0), power ? on : p->gpus - held, 0);
	arc(n, 0, free_node(n, 0) + 1, power ? p->gpus - held - on : 0, 0);
}

static void add_free(struct network *n, size_t t)
{
	const struct model_power *power = &n->model->power[n->pool];
	uint32_t all = n->model->in->pools[n->pool].gpus, node = free_node(n, t);

	if (power->row == PLAN_NONE) {
		arc(n, node, free_node(n, t + 1), all, 0);
		return;
	}
	arc(n, node, node + 1, all, 0);
	arc(n, node + 1, node, all, power->wake);
	arc(n, node, free_node(n, t + 1), all, power->on);
	arc(n, node + 1, free_node(n, t + 1) + 1, all, 0);
}

static void exact_add_member(struct network *n, size_t t, size_t i)
{
	const struct model_workload *w = &n->model->workloads[n->members[i]];
	uint32_t all = n->model->in->pools[n->pool].gpus, node = in_node(n, t, i);
	uint32_t need = w->w->choices[0].need[t], most = (uint32_t)w->shape->n - 1;
	double use = w->pools[0].use;

	if (n->model->power[n->pool].row != PLAN_NONE)
		use += n->model->power[n->pool].on;
	need = need < most ? need : most;
	arc(n, free_node(n, t), node, all, w->pools[0].up);
	n->stay[t * n->n + i] = arc(n, node, node + 1, need, use - w->scale);
	arc(n, node, node + 1, most - need, use);
	arc(n, node + 1, free_node(n, t + 1), all, w->pools[0].down);
	if (t + 1 < n->model->in->n_intervals)
		arc(n, node + 1, in_node(n, t + 1, i), all, 0);
}

static void build(struct network *n)
{
	size_t intervals = n->model->in->n_intervals, t, i;
	uint32_t all = n->model->in->pools[n->pool].gpus, end = last_node(n);

	flow_init(&n->flow, end + 1);
	exact_begin(n);
	for (t = 0; t < intervals; t++) {
		add_free(n, t);
		for (i = 0; i < n->n; i++)
			exact_add_member(n, t, i);
	}
	for (i = 0; i < n->n; i++)
		arc(n, in_node(n, intervals - 1, i) + 1, end, all, 0);
	arc(n, free_node(n, intervals), end, all, 0);
	arc(n, free_node(n, intervals) + 1, end, all, 0);
}

/* The plan of one pool's workloads; what it costs beyond what is missing without any GPU. */
static double solve_pool(struct network *n, uint32_t *y)
{
	size_t intervals = n->model->in->n_intervals, t, i;
	double cost;

	n->stay = mem_zalloc(n->n * intervals + 1, sizeof(*n->stay));
	build(n);
	flow_send(&n->flow, 0, last_node(n), &cost);
	for (t = 0; t < intervals; t++)
		for (i = 0; i < n->n; i++) {
			size_t a = n->stay[t * n->n + i];

			y[n->members[i] * intervals + t] =
				flow_on(&n->flow, a) + flow_on(&n->flow, a + 1);
		}
	flow_free(&n->flow);
	free(n->stay);
	return cost;
}

void exact_plan(const struct model *model, uint32_t *y, double *bound)
{
	const struct plan_instance *in = model->in;
	struct network n = { .model = model };
	double value = model->off, sum = fabs(model->off), none;
	size_t w, t;

	n.members = mem_zalloc(in->n_workloads, sizeof(*n.members));
	for (w = 0; w < in->n_workloads; w++) {
		const struct model_workload *mw = &model->workloads[w];

		for (t = 0; t < in->n_intervals; t++) {
			none = mw->scale * model_missing(mw, t, 0, 0);
			value += none;
			sum += none;
		}
	}
	for (n.pool = 0; n.pool < in->n_pools; n.pool++) {
		n.n = 0;
		for (w = 0; w < in->n_workloads; w++)
			if (model->workloads[w].shape->pools[0].pool == n.pool)
				n.members[n.n++] = w;
		value += solve_pool(&n, y);
	}
	free(n.members);
	*bound = value - ROUNDING * (sum + n.sum);
}
