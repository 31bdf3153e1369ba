// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a workload can do
 *
 * At given prices each workload has a best way from every state to the end. A step gives away
 * what it and the best way behind it cost more than the best way from where it was; along the
 * best way that is nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/way.h"

static void way_add_row(struct way *way, uint32_t row)
{
	size_t i;

	if (row == PLAN_NONE)
		return;
	for (i = 0; i < way->rows; i++)
		if (way->row[i] == row)
			return;
	way->row[way->rows++] = row;
}

static void way_find_rows(struct way *way)
{
	const struct model_workload *w = way->w;
	size_t i, c;

	for (i = 0; i < w->shape->n_pools; i++) {
		way_add_row(way, w->pools[i].row_pool);
		way_add_row(way, w->pools[i].row_link);
	}
	way_add_row(way, w->row_host);
	way_add_row(way, w->row_limit);
	way->use = mem_zalloc(way->n * way->rows + 1, sizeof(*way->use));
	for (c = 0; c < way->n; c++)
		for (i = 0; i < way->rows; i++)
			way->use[c * way->rows + i] = (float)model_use(w, (uint32_t)c, way->row[i]);
}

void way_init(struct way *way, const struct model_workload *w, size_t intervals)
{
	size_t hold = w->w->hold > 1 ? w->w->hold : 1, a, c;

	way->w = w;
	way->intervals = intervals;
	way->n = w->shape->n;
	way->states = way->n * hold;
	way->move = mem_zalloc(way->n * way->n, sizeof(*way->move));
	way->to = mem_zalloc(way->n * way->n, sizeof(*way->to));
	way->stay = mem_zalloc(way->n * intervals, sizeof(*way->stay));
	way->togo = mem_zalloc(way->states * (intervals + 1), sizeof(*way->togo));
	for (a = 0; a < way->n; a++)
		for (c = 0; c < way->n; c++) {
			bool holds = hold > 1 && model_attaches(w, (uint32_t)a, (uint32_t)c);

			way->move[a * way->n + c] = model_move(w, (uint32_t)a, (uint32_t)c);
			way->to[a * way->n + c] = (uint16_t)(holds ? way->n + c : c);
		}
	way_find_rows(way);
}

void way_free(struct way *way)
{
	free(way->move);
	free(way->to);
	free(way->stay);
	free(way->togo);
	free(way->use);
}

void way_price(struct way *way, struct path *path, struct ledger *view, const double *price)
{
	struct path_input input = { 0 };
	size_t t, s, c;
	uint16_t to;

	ledger_price(view, way->w, price, &input);
	for (t = way->intervals; t-- > 0;) {
		double *stay = way->stay + t * way->n, *togo = way->togo + t * way->states;
		const double *after = togo + way->states;

		path_stay(path, way->w, &input, t, stay);
		for (s = 0; s < way->states; s++) {
			double best = INFINITY;

			if (way_is_held(way, t, (uint16_t)s, &to)) {
				togo[s] = stay[to % way->n] + after[to];
				continue;
			}
			for (c = 0; c < way->n; c++) {
				size_t pair = s * way->n + c;
				double v = way->move[pair] + stay[c] + after[way->to[pair]];

				best = v < best ? v : best;
			}
			togo[s] = best;
		}
	}
}

/* In ascending order of what is lost, only the first. */
static void put_step(struct way_step *list, size_t *n, uint16_t state, double loss)
{
	size_t i = *n;

	if (i < WAY_STEPS)
		++*n;
	else if (list[--i].loss <= loss)
		return;
	for (; i > 0 && list[i - 1].loss > loss; i--)
		list[i] = list[i - 1];
	list[i] = (struct way_step){ .loss = loss, .state = state };
}

size_t way_steps(const struct way *way, size_t t, uint16_t state, double most,
		 struct way_step *list)
{
	size_t n = 0, c, i;
	uint16_t to;

	if (way_is_held(way, t, state, &to)) {
		list[0] = (struct way_step){ .state = to };
		return 1;
	}
	for (c = 0; c < way->n; c++) {
		double loss;

		to = way->to[state * way->n + c];
		loss = way_loss(way, t, state, to);
		if (loss < most)
			put_step(list, &n, to, loss > 0 ? loss : 0);
	}
	for (i = 0; i < n && list[i].state;)
		i++;
	/* To have nothing is always possible. */
	if (i == n)
		list[n++] = (struct way_step){ .loss = way_loss(way, t, state, 0) };
	return n;
}
