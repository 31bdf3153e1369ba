// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what no plan for demand series can be better than
 *
 * Each minute of a GPU has a price. Then tenants do not meet any more, and neither do
 * the first, second, third GPU of one: each is a path through the minutes, on or off, that is
 * best by itself. All paths together, less what the pool would cost, are below the cost of any
 * plan, whatever the prices; these rise where more GPUs are wanted than there are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "serve.h"
#include "serve_links.h"

/**
 * struct dual - prices and what they lead to
 * @t: minutes, from the scored one on
 * @price: of a GPU in each
 * @use: GPUs that are wanted then
 * @came: for the paths of one tenant: bit 0, off was best reached from on; bit 1, on from off
 * @off: cost of each path of one tenant that ends off, @on of one that ends on
 */
struct dual {
	size_t t;
	double *price;
	double *use;
	unsigned char *came;
	double *off;
	double *on;
};

/* One minute further: all GPUs of one tenant, of which the first @demand are needed. */
static void step(struct dual *d, const struct serve_rates *r, double price, int32_t n,
		 int32_t demand, unsigned char *came)
{
	double to_on, to_off;
	int32_t k;

	for (k = 0; k < n; k++) {
		bool rise = d->off[k] + r->attach < d->on[k], fall = d->on[k] < d->off[k];

		to_on = (rise ? d->off[k] + r->attach : d->on[k]) + price;
		to_off = fall ? d->on[k] : d->off[k];
		d->on[k] = to_on + (k < demand ? 0 : r->hold);
		d->off[k] = to_off + (k < demand ? 1 : 0);
		came[k] = (unsigned char)(fall | rise << 1);
	}
}

static void trace_back(struct dual *d, int32_t n)
{
	int32_t k;
	size_t t;

	for (k = 0; k < n; k++) {
		bool on = d->on[k] < d->off[k];

		for (t = d->t; t--;) {
			unsigned char came = d->came[t * (size_t)n + (size_t)k];

			d->use[t] += on;
			if (on ? came & 2 : came & 1)
				on = !on;
		}
	}
}

static double tenant(struct dual *d, const struct serve_rates *r, const struct series *s,
		     size_t from, int32_t n)
{
	double sum = 0;
	int32_t k;
	size_t t;

	/* whatever it begins with: being on costs nothing before the first minute */
	memset(d->on, 0, (size_t)n * sizeof(*d->on));
	memset(d->off, 0, (size_t)n * sizeof(*d->off));
	for (t = 0; t < d->t; t++)
		step(d, r, d->price[t], n, s->demand[from + t], d->came + t * (size_t)n);
	for (k = 0; k < n; k++)
		sum += d->on[k] < d->off[k] ? d->on[k] : d->off[k];
	trace_back(d, n);
	return sum;
}

static int32_t serve_bound_largest(const struct series *s, size_t from, size_t minutes)
{
	int32_t most = 0;
	size_t t;

	for (t = from; t < minutes; t++)
		if (s->demand[t] > most)
			most = s->demand[t];
	return most;
}

static double serve_bound_sweep(struct dual *d, const struct series_set *set,
				const struct serve_rates *r, size_t from, const int32_t *most)
{
	double value = 0;
	size_t i, t;

	memset(d->use, 0, d->t * sizeof(*d->use));
	for (i = 0; i < set->n; i++)
		value += tenant(d, r, &set->of[i], from, most[i]);
	for (t = 0; t < d->t; t++)
		value -= d->price[t] * r->pool;
	return value;
}

static void serve_bound_move_prices(struct dual *d, uint32_t pool, double gap)
{
	double over, square = 0;
	size_t t;

	for (t = 0; t < d->t; t++) {
		over = d->use[t] - pool;
		if (over > 0 || d->price[t] > 0)
			square += over * over;
	}
	for (t = 0; square > 0 && t < d->t; t++) {
		d->price[t] += gap / square * (d->use[t] - pool);
		if (d->price[t] < 0)
			d->price[t] = 0;
	}
}

double serve_bound(const struct series_set *set, const struct serve_rates *rates, size_t from,
		   double near, unsigned int sweeps)
{
	struct dual d = { .t = set->minutes - from };
	int32_t *most = mem_zalloc(set->n, sizeof(*most)), widest = 0;
	double value, best = 0, step = 1;
	size_t i;

	if (rates->hold <= 0 && rates->attach <= SERVE_LINKS_ATTACH_MAX) {
		free(most);
		return serve_links_bound(set, rates, from);
	}
	for (i = 0; i < set->n; i++) {
		most[i] = serve_bound_largest(&set->of[i], from, set->minutes);
		widest = most[i] > widest ? most[i] : widest;
	}
	d.price = mem_zalloc(d.t, sizeof(*d.price));
	d.use = mem_zalloc(d.t, sizeof(*d.use));
	d.came = mem_zalloc(d.t * (size_t)widest + 1, 1);
	d.off = mem_zalloc((size_t)widest + 1, sizeof(*d.off));
	d.on = mem_zalloc((size_t)widest + 1, sizeof(*d.on));
	for (i = 0; i < sweeps && best < near * 0.9999; i++) {
		value = serve_bound_sweep(&d, set, rates, from, most);
		if (value > best)
			best = value;
		else
			step *= 0.95;
		serve_bound_move_prices(&d, rates->pool, step * (near - value));
	}
	free(d.price);
	free(d.use);
	free(d.came);
	free(d.off);
	free(d.on);
	free(most);
	return best;
}
