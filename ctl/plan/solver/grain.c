// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the grain of costs
 *
 * GPUs and intervals are counted, so a plan's cost is a sum of whole multiples of a few figures:
 * what a move costs, a GPU that is missing for an interval, a GPU that idles for one. Where all of
 * them are multiples of one grain, so is every plan's cost, and a bound that lies between two
 * multiples proves the upper one. Without that, prices come ever closer to a plan that is the
 * best one already and never reach it.
 *
 * A figure counts in millionths. Where one is no whole number of these, or workloads count
 * their GPUs in parts of another kind, nothing is known, and bounds stay as they are.
 */
#include <math.h>

#include "plan/solver/grain.h"

/* Parts of a cost of 1 that figures are counted in, and what they may be at most. */
#define PARTS 1e6
#define PARTS_MAX 1e15
/* How far from a multiple a bound may be, as a part of the grain, and count as this multiple. */
#define NEAR 0.000001

/**
 * struct sieve - what is common to the figures so far
 * @parts: their greatest common divisor; 0: none but zeros
 * @lost: one of them has none with anything
 */
struct sieve {
	uint64_t parts;
	bool lost;
};

static void grain_take(struct sieve *s, double figure)
{
	double parts = fabs(figure) * PARTS;
	uint64_t a = s->parts, b;

	if (parts > PARTS_MAX || fabs(parts - round(parts)) > parts * MODEL_ROUNDING) {
		s->lost = true;
		return;
	}
	for (b = (uint64_t)round(parts); b;) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	s->parts = a;
}

/* Whether what is missing is a whole number of GPUs, whatever it has. */
static bool grain_is_whole(const struct plan_instance *in, const struct plan_workload *w)
{
	size_t c, t;

	/* All that it needs, or nothing. */
	if (w->gang)
		return true;
	for (c = 1; c < w->n_choices; c++)
		for (t = 0; t < in->n_intervals; t++)
			if (w->choices[c].need[t] && w->choices[0].need[t] % w->choices[c].need[t])
				return false;
	return true;
}

static void take_workload(struct sieve *s, const struct model *model,
			  const struct model_workload *mw)
{
	size_t i;

	if (!grain_is_whole(model->in, mw->w))
		s->lost = true;
	grain_take(s, mw->scale);
	for (i = 0; i < mw->shape->n_pools; i++) {
		grain_take(s, mw->pools[i].use);
		grain_take(s, mw->pools[i].up);
		grain_take(s, mw->pools[i].down);
	}
}

double grain_of(const struct model *model)
{
	struct sieve s = { 0 };
	size_t i;

	grain_take(&s, model->deficit);
	for (i = 0; i < model->in->n_pools && !s.lost; i++) {
		grain_take(&s, model->power[i].on);
		grain_take(&s, model->power[i].wake);
	}
	for (i = 0; i < model->in->n_workloads && !s.lost; i++)
		take_workload(&s, model, &model->workloads[i]);
	return s.lost ? 0 : (double)s.parts / PARTS;
}

double grain_up(const struct model *model, double bound)
{
	double grains;

	if (model->grain <= 0 || !isfinite(bound))
		return bound;
	grains = (bound - model->off) / model->grain;
	/* Rounding of large sums is more than a small grain. */
	if (MODEL_ROUNDING * (1 + fabs(bound)) > NEAR * model->grain)
		return bound;
	return fmax(bound, model->off + ceil(grains - NEAR) * model->grain);
}
