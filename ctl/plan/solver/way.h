/* SPDX-License-Identifier: GPL-2.0-only */
/* What one workload can do at prices, and what it gives away by that. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_WAY_H
#define GPUCTL_PLAN_WAY_H

#include "plan/solver/ledger.h"

/* Steps from one state that are looked at; to have nothing comes on top. */
#define WAY_STEPS 12
#define WAY_ROWS_MAX 40

/**
 * struct way_step - a step of a workload
 * @loss: by how much it and the best way behind it cost more than the best way
 * @state: where it leads
 */
struct way_step {
	double loss;
	uint16_t state;
};

/**
 * struct way - a workload
 * @w: the workload
 * @intervals: of the instance
 * @n: configurations
 * @states: the same again for each interval since an attach in which it may not move yet
 * @move: cost by configuration before and after: @n * @n
 * @to: the state that this leads to, as @move
 * @stay: cost of an interval by interval and configuration
 * @togo: cost of an interval and of all behind it, by interval and state before it
 * @use: what is taken of each row of @row, by configuration
 * @row: limits that it is below
 * @rows: how many
 */
struct way {
	const struct model_workload *w;
	size_t intervals, n, states;
	double *move;
	uint16_t *to;
	double *stay, *togo;
	float *use;
	uint32_t row[WAY_ROWS_MAX];
	size_t rows;
};

/* The states have to fit 16 bits, and the model may have no more than WAY_ROWS_MAX rows. */
void way_init(struct way *way, const struct model_workload *w, size_t intervals);
void way_free(struct way *way);
/* Fill in @stay and @togo; @view is memory. */
void way_price(struct way *way, struct path *path, struct ledger *view, const double *price);

/* The configuration of a state. */
static inline uint32_t way_config(const struct way *way, uint16_t state)
{
	return (uint32_t)(state % way->n);
}

/* In a state before interval @t that has one step only, to @to: it holds, or it is kept. */
static inline bool way_is_held(const struct way *way, size_t t, uint16_t state, uint16_t *to)
{
	size_t age = state / way->n;

	*to = state;
	if (age)
		*to = (uint16_t)((age + 1) % way->w->w->hold * way->n + state % way->n);
	return age || t < way->w->w->keep;
}

/* The state in interval @t of one that has this configuration in it. */
static inline uint16_t way_next(const struct way *way, size_t t, uint16_t state, uint32_t config)
{
	uint16_t to;

	return way_is_held(way, t, state, &to) ? to : way->to[state * way->n + config];
}

static inline double way_loss(const struct way *way, size_t t, uint16_t from, uint16_t to)
{
	return way->move[from % way->n * way->n + to % way->n] +
	       way->stay[t * way->n + to % way->n] + way->togo[(t + 1) * way->states + to] -
	       way->togo[t * way->states + from];
}

/*
 * The steps in interval @t that lose least, in this order and all below @most, and one that leads
 * to nothing, into @list, which has room for WAY_STEPS + 1; how many there are.
 */
size_t way_steps(const struct way *way, size_t t, uint16_t state, double most,
		 struct way_step *list);

#endif /* GPUCTL_PLAN_WAY_H */
