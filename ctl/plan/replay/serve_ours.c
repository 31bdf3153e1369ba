// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: our policy for demand series
 *
 * A GPU beyond what its tenant needs has a depth, how far demand must rise until it is needed
 * again, and an age, the time since it was needed last. Of the past this learns how likely it
 * was that such a GPU was needed again within each of some horizons: by its depth alone from
 * what this tenant did, and by depth and age from what all tenants did; the chance is the
 * mean of both. Older minutes count less. The GPU is kept as long as the attach that this saves is
 * worth more than the hold costs; and when others need one, the one with the smallest
 * chance goes. When all are needed, who has less than it is guaranteed gets GPUs back that were
 * lent to others, and the rest is shared out so that nobody misses much more than others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "keep.h"

#define GROWTH (1 / 0.9998) /* of what counts, each time something is learned: 17 days */
#define EVERY_MIN 5 /* learned so often */
#define GUESS 0.01 /* hits before anything was seen */

static const uint32_t horizons[] = { 2, 5, 15, 60, 180, 720 };
static const int64_t ages[] = { 5, 15, 60, 180, 720, 1440, 4320 };
static const int32_t depths[] = { 1, 2, 4, 8, 16, 32, 64, 128 };

#define HORIZONS (sizeof(horizons) / sizeof(horizons[0]))
/* One more for what is above the last. */
#define AGES (sizeof(ages) / sizeof(ages[0]) + 1)
#define DEPTHS (sizeof(depths) / sizeof(depths[0]) + 1)

/**
 * struct rises - of one tenant within one horizon
 * @seen: how often demand rose by so much; @n entries
 * @all: sum of @seen
 */
struct rises {
	double *seen;
	double all;
	int32_t n;
};

/**
 * struct cell - GPUs of one depth and age that nobody needed
 * @seen: how many
 * @hit: of those, needed within the horizon
 */
struct cell {
	double seen, hit;
};

/**
 * struct ours - what was learned
 * @rises: HORIZONS of each tenant
 * @needed: as in struct keep, but as it was a horizon ago: HORIZONS of each tenant
 * @cells: of all tenants
 * @weight: of what is seen now; it grows instead of all the rest getting less
 */
struct ours {
	struct rises *rises;
	int64_t **needed;
	struct cell cells[HORIZONS][AGES][DEPTHS];
	double weight;
};

static struct cell *cell_at(struct ours *o, size_t h, int64_t age, int32_t depth)
{
	size_t a = 0, d = 0;

	while (a < AGES - 1 && age > ages[a])
		a++;
	while (d < DEPTHS - 1 && depth > depths[d])
		d++;
	return &o->cells[h][a][d];
}

/* The most that was needed after @from, up to @to. */
static int32_t serve_ours_highest(const struct series *s, size_t from, size_t to)
{
	int32_t most = 0;
	size_t t;

	for (t = from + 1; t <= to; t++)
		if (s->demand[t] > most)
			most = s->demand[t];
	return most;
}

static void learn_rise(struct ours *o, struct rises *r, int32_t by)
{
	int32_t i;

	if (by >= r->n) {
		r->seen = mem_grow(r->seen, (size_t)by + 1, sizeof(*r->seen));
		for (i = r->n; i <= by; i++)
			r->seen[i] = 0;
		r->n = by + 1;
	}
	r->seen[by] += o->weight;
	r->all += o->weight;
}

/* What became of the GPUs that were not needed a horizon ago, but at some time before. */
static void learn_tenant(struct keep *k, size_t i, size_t h)
{
	struct ours *o = k->data;
	const struct series *s = &k->set->of[i];
	int64_t *needed = o->needed[i * HORIZONS + h];
	size_t then = k->t - horizons[h];
	int32_t was = s->demand[then], top, n;

	for (n = 0; n < was; n++)
		needed[n] = (int64_t)then;
	if (k->t % EVERY_MIN)
		return;
	top = serve_ours_highest(s, then, k->t);
	learn_rise(o, &o->rises[i * HORIZONS + h], top > was ? top - was : 0);
	for (n = was; n < k->most[i] && needed[n] >= 0; n++) {
		struct cell *c = cell_at(o, h, (int64_t)then - needed[n], n + 1 - was);

		c->seen += o->weight;
		c->hit += n < top ? o->weight : 0;
	}
}

/* Nothing was needed before the first minute. */
static void serve_ours_setup(const struct keep *k, struct ours *o)
{
	size_t n = k->set->n * HORIZONS, i;
	int32_t j, most;

	o->needed = mem_zalloc(n, sizeof(*o->needed));
	for (i = 0; i < n; i++) {
		most = k->most[i / HORIZONS];
		o->needed[i] = mem_zalloc((size_t)most + 1, sizeof(**o->needed));
		for (j = 0; j < most; j++)
			o->needed[i][j] = -1;
	}
}

static void serve_ours_learn(struct keep *k)
{
	struct ours *o = k->data;
	size_t i, h;

	if (!o->needed)
		serve_ours_setup(k, o);
	if (k->t % EVERY_MIN == 0)
		o->weight *= GROWTH;
	for (i = 0; i < k->set->n; i++)
		for (h = 0; h < HORIZONS; h++)
			if (k->t >= horizons[h])
				learn_tenant(k, i, h);
}

static double serve_ours_share(const struct ours *o, double hit, double seen)
{
	return (hit + GUESS * o->weight) / (seen + o->weight);
}

static double chance(struct ours *o, size_t tenant, size_t h, int64_t age, int32_t depth)
{
	const struct rises *r = &o->rises[tenant * HORIZONS + h];
	const struct cell *c = cell_at(o, h, age, depth);
	double rose = 0;
	int32_t i;

	for (i = depth; i < r->n; i++)
		rose += r->seen[i];
	return (serve_ours_share(o, rose, r->all) + serve_ours_share(o, c->hit, c->seen)) / 2;
}

static double worth(const struct keep *k, size_t tenant)
{
	int32_t has = k->has[tenant];
	int64_t age = (int64_t)k->t - k->needed[tenant][has - 1];
	double sum = 0, best = -1, p, gain;
	size_t h;

	for (h = 0; h < HORIZONS; h++) {
		p = chance(k->data, tenant, h, age, has - keep_demand(k, tenant));
		sum += p;
		/* if it comes back within the horizon, then half-way on average */
		gain = k->rates->attach * p - k->rates->hold * horizons[h] * (1 - p / 2);
		if (gain > best)
			best = gain;
	}
	return best < 0 ? -1 : sum;
}

static const struct keep_policy policy = { .worth = worth,
					   .learn = serve_ours_learn,
					   .fair = true };

void serve_ours(const struct series_set *set, const struct serve_rates *rates, int32_t *has)
{
	struct ours *o = mem_zalloc(1, sizeof(*o));
	size_t i;

	o->weight = 1;
	o->rises = mem_zalloc(set->n * HORIZONS, sizeof(*o->rises));
	keep_run(set, rates, &policy, 1, o, has);
	for (i = 0; i < set->n * HORIZONS; i++) {
		free(o->rises[i].seen);
		if (o->needed)
			free(o->needed[i]);
	}
	free(o->needed);
	free(o->rises);
	free(o);
}
