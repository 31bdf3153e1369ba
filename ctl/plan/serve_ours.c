// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: our policy for demand series
 *
 * For some horizons it learns how far each tenant's demand rises above what it is
 * now, from what it has done so far; older minutes count less. That gives the chance that
 * a GPU which is not needed now is needed again within each horizon. It is kept as long as
 * the attach that this saves is worth more than the hold costs; and when others
 * need one, the GPU with the smallest chance goes.
 */
#include <stdlib.h>
#include <string.h>

#include "keep.h"
#include "lib/text.h"

#define DECAY 0.9998		/* each time something is learned: about 17 days */
#define EVERY_MIN 5		/* learned so often */
#define LONGEST_MIN 720

static const uint32_t horizons[] = { 2, 5, 15, 60, 180, LONGEST_MIN };

#define HORIZONS (sizeof(horizons) / sizeof(horizons[0]))
/* Horizons from this one on say who gives first. */
#define FIRST_LONG 3

/**
 * struct rises - of one tenant and horizon
 * @seen: how often demand rose by so much; @n entries
 * @all: sum of @seen
 */
struct rises {
	double *seen;
	double all;
	int32_t n;
};

struct ours {
	struct rises *rises;	/* HORIZONS of each tenant */
};

/* How far demand rose from @from up to now. */
static int32_t rise(const struct series *s, size_t from, size_t to)
{
	int32_t most = s->demand[from];
	size_t t;

	for (t = from + 1; t <= to; t++)
		if (s->demand[t] > most)
			most = s->demand[t];
	return most - s->demand[from];
}

static void learn_rise(struct rises *r, int32_t by)
{
	int32_t i;

	if (by >= r->n) {
		r->seen = mem_grow(r->seen, (size_t)by + 1, sizeof(*r->seen));
		for (i = r->n; i <= by; i++)
			r->seen[i] = 0;
		r->n = by + 1;
	}
	for (i = 0; i < r->n; i++)
		r->seen[i] *= DECAY;
	r->all = r->all * DECAY + 1;
	r->seen[by]++;
}

static void learn(struct keep *k)
{
	struct ours *o = k->data;
	size_t i, h;

	if (k->t % EVERY_MIN)
		return;
	for (i = 0; i < k->set->n; i++)
		for (h = 0; h < HORIZONS; h++)
			if (k->t >= horizons[h])
				learn_rise(&o->rises[i * HORIZONS + h],
					   rise(&k->set->of[i], k->t - horizons[h], k->t));
}

/* The chance that demand rises by at least so much. */
static double chance(const struct rises *r, int32_t by)
{
	double sum = 0;
	int32_t i;

	for (i = by; i < r->n; i++)
		sum += r->seen[i];
	return (sum + 0.01) / (r->all + 1);
}

static double worth(const struct keep *k, size_t tenant)
{
	const struct ours *o = k->data;
	const struct rises *r = &o->rises[tenant * HORIZONS];
	int32_t by = k->has[tenant] - keep_demand(k, tenant);
	double sum = 0, best = -1, p, gain;
	size_t h;

	for (h = 0; h < HORIZONS; h++) {
		p = chance(&r[h], by);
		if (h >= FIRST_LONG)
			sum += p;
		/* if it comes back within the horizon, then half-way on average */
		gain = k->rates->attach * p - k->rates->hold * horizons[h] * (1 - p / 2);
		if (gain > best)
			best = gain;
	}
	return best < 0 ? -1 : sum;
}

static const struct keep_policy policy = { .worth = worth, .learn = learn };

void serve_ours(const struct series_set *set, const struct serve_rates *rates, int32_t *has)
{
	struct ours o = { 0 };
	size_t i;

	o.rises = mem_zalloc(set->n * HORIZONS, sizeof(*o.rises));
	keep_run(set, rates, &policy, 1, &o, has);
	for (i = 0; i < set->n * HORIZONS; i++)
		free(o.rises[i].seen);
	free(o.rises);
}
