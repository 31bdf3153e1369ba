// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: prices for the next time
 *
 * Who plans again soon begins with the prices of the last time. The next instance may have
 * other rows, so a price is kept with what it was of, by name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/prices.h"

/**
 * struct plan_prices - prices by name
 * @n: rows
 * @intervals: of each
 * @names: what each is the price of
 * @price: by row and interval, an interval's length taken out
 */
struct plan_prices {
	size_t n, intervals;
	char **names;
	double *price;
};

static char *row_name(const struct model *model, const struct model_row *row)
{
	const struct plan_instance *in = model->in;
	uint32_t i = row->index;

	switch (row->kind) {
	case ROW_POOL:
		return mem_printf("pool %s %s", in->switches[in->pools[i].sw].name,
				  in->kinds[in->pools[i].kind].name);
	case ROW_HOST:
		return mem_printf("host %s", in->hosts[i].name);
	case ROW_LINK:
		return mem_printf("link %s %s", in->hosts[in->links[i].host].name,
				  in->switches[in->links[i].sw].name);
	case ROW_LIMIT:
		return mem_printf("limit %s", in->tenants[i].name);
	case ROW_ATTACH:
		return mem_printf("attach %s", in->switches[i].name);
	default:
		return mem_printf("guarantee %s", in->tenants[i].name);
	}
}

struct plan_prices *plan_prices_make(const struct model *model, const double *price)
{
	struct plan_prices *p = mem_zalloc(1, sizeof(*p));
	size_t i;

	p->n = model->n_rows;
	p->intervals = model->in->n_intervals;
	p->names = mem_zalloc(p->n + 1, sizeof(*p->names));
	p->price = mem_zalloc(p->n * p->intervals + 1, sizeof(*p->price));
	for (i = 0; i < p->n; i++)
		p->names[i] = row_name(model, &model->rows[i]);
	for (i = 0; i < p->n * p->intervals; i++)
		p->price[i] = price[i] / model->in->interval_s;
	return p;
}

void plan_prices_get(const struct plan_prices *p, const struct model *model, double *price)
{
	size_t intervals = model->in->n_intervals, r, k, t;

	for (r = 0; r < model->n_rows; r++) {
		char *name = row_name(model, &model->rows[r]);
		double most = model->rows[r].kind == ROW_GUARANTEE ? model->deficit : 1e300;

		/* The same rows mostly stand in the same order. */
		k = r < p->n && !strcmp(p->names[r], name) ? r : 0;
		while (k < p->n && strcmp(p->names[k], name))
			k++;
		for (t = 0; t < intervals; t++) {
			double v = 0;

			if (k < p->n && p->intervals)
				v = p->price[k * p->intervals +
					     (t < p->intervals ? t : p->intervals - 1)] *
				    model->in->interval_s;
			price[r * intervals + t] = v < most ? v : most;
		}
		free(name);
	}
}

void plan_prices_shift(struct plan_prices *p, size_t intervals)
{
	size_t r, t;

	for (r = 0; r < p->n; r++)
		for (t = 0; t < p->intervals; t++)
			p->price[r * p->intervals + t] =
				p->price[r * p->intervals + (intervals < p->intervals - t ?
								     t + intervals :
								     p->intervals - 1)];
}

void plan_prices_free(struct plan_prices *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n; i++)
		free(p->names[i]);
	free(p->names);
	free(p->price);
	free(p);
}
