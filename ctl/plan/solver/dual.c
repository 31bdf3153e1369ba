// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: prices and the bound
 *
 * Let each row r have a price p[r,t] >= 0 in each interval. For any plan that keeps the limits, its
 * cost is at least its cost plus the sum of p * (what it takes - what there is), as no bracket
 * is above 0. That sum falls apart: each workload pays for what it takes and needs to know
 * nothing of the others, so the least of it is the sum of the least of each, one shortest path
 * a workload, less what all that there is would cost. So
 *
 *   bound(p) = sum of cheapest ways at p - sum of p[r,t] * cap[r]
 *
 * is at most the cost of every plan, whatever the prices are: a bad search gives a weak bound,
 * never a wrong one. A guarantee's row has the other sign: a deficit d >= want - taken costs
 * c * d, and with a price of at most c its own part, (c - p) * d, is never below 0. The GPUs of
 * a pool that have to be powered are one more party: it sells what is on, at the price of the
 * pool, and pays for idling and waking; its best way is a path over on and off, the same for
 * all GPUs that begin alike.
 *
 * Sums of floating-point numbers are off by a few parts in 10^16 for each term; dual_value()
 * takes far more than that off the result.
 *
 * The bound is concave in the prices, and every sweep gives its value and a direction: by how much
 * each row is overdrawn. The price of a row follows the mean of that over the last sweeps, in parts
 * of how much it swings: rows where much is at stake and rows where little is move alike, and
 * one that swings about its price moves little. The steps shrink from sweep to sweep.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/dual.h"
#include "plan/solver/grain.h"

/* Taken off a bound, as a part of the sums that it is the difference of. */
#define ROUNDING (MODEL_ROUNDING / 100)
/* The first step and the last, as parts of what a missing GPU costs on average. */
#define STEP_FIRST 0.1
#define STEP_LAST 0.0015
/* How much of the last sweeps counts in the direction, and in how far it swings. */
#define PULL_KEPT 0.8
#define SWING_KEPT 0.95

void dual_init(struct dual *d, const struct model *model, struct path *path)
{
	size_t n = model->n_rows * model->in->n_intervals, w;

	memset(d, 0, sizeof(*d));
	d->model = model;
	d->path = path;
	d->ledger = ledger_new(model);
	d->n = n;
	d->price = mem_zalloc(n + 1, sizeof(*d->price));
	d->at = mem_zalloc(n + 1, sizeof(*d->at));
	d->slope = mem_zalloc(n + 1, sizeof(*d->slope));
	d->pull = mem_zalloc(n + 1, sizeof(*d->pull));
	d->swing = mem_zalloc(n + 1, sizeof(*d->swing));
	d->y = mem_zalloc(model->in->n_workloads * model->in->n_intervals + 1, sizeof(*d->y));
	d->ways = mem_zalloc(model->in->n_workloads + 1, sizeof(*d->ways));
	for (w = 0; w < model->in->n_workloads; w++)
		d->scale += model->workloads[w].scale / (double)model->in->n_workloads;
	/* Where nobody pays for what is missing, tenants may pay for their deficit. */
	if (d->scale <= 0)
		d->scale = model->deficit;
	d->bound = -INFINITY;
}

void dual_free(struct dual *d)
{
	ledger_free(d->ledger);
	free(d->price);
	free(d->at);
	free(d->slope);
	free(d->pull);
	free(d->swing);
	free(d->y);
	free(d->ways);
}

/*
 * What the power of one GPU costs at best, less what it earns; @on counts the intervals in which
 * it is on, @times times.
 */
static double power_way(const struct model *model, size_t pool, const double *price, bool on_now,
			double times, double *on)
{
	const struct model_power *power = &model->power[pool];
	size_t intervals = model->in->n_intervals, t;
	uint8_t *from = mem_zalloc(intervals, 1);
	double off = on_now ? INFINITY : 0, is_on = on_now ? 0 : INFINITY;
	bool state;

	for (t = 0; t < intervals; t++) {
		double to_on = is_on, to_off = off;

		if (off + power->wake < is_on) {
			to_on = off + power->wake;
			from[t] |= 1;
		}
		if (is_on < off) {
			to_off = is_on;
			from[t] |= 2;
		}
		off = to_off;
		is_on = to_on + power->on - price[t];
	}
	state = is_on < off;
	for (t = intervals; t-- > 0;) {
		if (state)
			on[t] += times;
		/* Where it was before: bit 0 is for one that is on, bit 1 for one off. */
		state = state ? !(from[t] & 1) : !!(from[t] & 2);
	}
	free(from);
	return is_on < off ? is_on : off;
}

static double power_part(struct dual *d, const double *price, double *sum)
{
	const struct plan_instance *in = d->model->in;
	size_t intervals = in->n_intervals, q;
	double value = 0;

	for (q = 0; q < in->n_pools; q++) {
		uint32_t row = d->model->power[q].row;
		const struct plan_pool *p = &in->pools[q];
		double *slope, on, off;
		size_t t;

		if (row == PLAN_NONE)
			continue;
		/* dual_value() took all GPUs as the limit: only those that are on count. */
		slope = d->slope + row * intervals;
		for (t = 0; t < intervals; t++)
			slope[t] = 0;
		on = p->on * power_way(d->model, q, price + row * intervals, true, p->on, slope);
		off = (p->gpus - p->on) * power_way(d->model, q, price + row * intervals, false,
						    p->gpus - p->on, slope);
		for (t = 0; t < intervals; t++)
			slope[t] = d->ledger->load[row * intervals + t] - slope[t];
		value += on + off;
		*sum += fabs(on) + fabs(off);
	}
	return value;
}

double dual_value(struct dual *d, const double *price)
{
	const struct model *model = d->model;
	size_t intervals = model->in->n_intervals, w, r, t;
	double value = model->off, sum = fabs(model->off), cost;

	ledger_clear(d->ledger);
	for (w = 0; w < model->in->n_workloads; w++) {
		const struct model_workload *mw = &model->workloads[w];
		struct path_input input = { 0 };

		ledger_price(d->ledger, mw, price, &input);
		cost = path_solve(d->path, mw, &input, d->y + w * intervals);
		ledger_add(d->ledger, mw, d->y + w * intervals, 1);
		d->ways[w] = cost;
		value += cost;
		sum += fabs(cost);
	}
	for (r = 0; r < model->n_rows; r++) {
		const struct model_row *row = &model->rows[r];
		bool power = row->kind == ROW_POOL && model->power[row->index].row == r;

		for (t = 0; t < intervals; t++) {
			double load = d->ledger->load[r * intervals + t];
			double p = price[r * intervals + t];

			if (row->kind == ROW_GUARANTEE) {
				d->slope[r * intervals + t] = row->want[t] - load;
				value += p * row->want[t];
				sum += p * row->want[t];
				continue;
			}
			d->slope[r * intervals + t] = load - row->cap;
			if (!power) {
				value -= p * row->cap;
				sum += p * row->cap;
			}
		}
	}
	value += power_part(d, price, &sum);
	d->sweeps++;
	value -= ROUNDING * sum;
	return value;
}

static double cap_price(const struct model *model, const struct model_row *row)
{
	return row->kind == ROW_GUARANTEE ? model->deficit : INFINITY;
}

void dual_begin(struct dual *d, const double *price, unsigned int planned)
{
	memcpy(d->at, price, d->n * sizeof(*price));
	d->done = 0;
	d->planned = planned;
}

/* A price at the end of its range cannot follow a slope that leads out of it. */
static bool price_is_stuck(double price, double most, double slope)
{
	return (price <= 0 && slope < 0) || (price >= most && slope > 0);
}

/* One step of each price; false where no row asks for one. */
static bool dual_step(struct dual *d)
{
	size_t intervals = d->model->in->n_intervals, i;
	double step = d->scale * STEP_FIRST *
		      pow(STEP_LAST / STEP_FIRST, (double)d->done / (double)d->planned);
	double pull_share = 1 - pow(PULL_KEPT, d->done), swing_share = 1 - pow(SWING_KEPT, d->done);
	bool moved = false;

	for (i = 0; i < d->n; i++) {
		double most = cap_price(d->model, &d->model->rows[i / intervals]);
		double slope = price_is_stuck(d->at[i], most, d->slope[i]) ? 0 : d->slope[i];

		moved |= slope != 0;
		d->pull[i] += (1 - PULL_KEPT) * (slope - d->pull[i]);
		d->swing[i] += (1 - SWING_KEPT) * (slope * slope - d->swing[i]);
		if (d->swing[i] <= 0)
			continue;
		d->at[i] += step * d->pull[i] / pull_share / sqrt(d->swing[i] / swing_share);
		d->at[i] = fmin(fmax(d->at[i], 0), most);
	}
	return moved;
}

void dual_ascend(struct dual *d, unsigned int sweeps, double target)
{
	double value;

	while (sweeps-- && d->done < d->planned) {
		value = dual_value(d, d->at);
		if (value > d->bound) {
			d->bound = value;
			memcpy(d->price, d->at, d->n * sizeof(*d->at));
		}
		d->done++;
		if (target - grain_up(d->model, d->bound) <= MODEL_ROUNDING * fabs(d->bound) ||
		    !dual_step(d))
			break;
	}
}

/* Workloads by falling weight; the order of the instance decides between equals. */
struct weighed {
	double weight;
	size_t workload;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->workload > y->workload) - (x->workload < y->workload);
}

void dual_guess(struct dual *d, double *price)
{
	const struct model *model = d->model;
	size_t intervals = model->in->n_intervals, n = model->in->n_workloads, w, i, t;
	struct weighed *order = mem_zalloc(n + 1, sizeof(*order));
	double *taken = mem_zalloc(d->n + 1, sizeof(*taken));

	for (w = 0; w < n; w++)
		order[w] = (struct weighed){ model->workloads[w].scale, w };
	qsort(order, n, sizeof(*order), by_weight);
	memset(price, 0, d->n * sizeof(*price));
	for (w = 0; w < n; w++) {
		const struct model_workload *mw = &model->workloads[order[w].workload];
		const struct shape *s = mw->shape;

		for (i = 0; i < s->n_pools; i++) {
			const struct plan_choice *choices = mw->w->choices;
			uint32_t row = mw->pools[i].row_pool;

			if (row == PLAN_NONE)
				continue;
			for (t = 0; t < intervals; t++) {
				uint32_t need = choices[s->pools[i].choice].need[t];
				double before = taken[row * intervals + t];

				if (!need)
					continue;
				taken[row * intervals + t] += (double)need / (double)s->n_pools;
				if (before <= model->rows[row].cap &&
				    taken[row * intervals + t] > model->rows[row].cap)
					price[row * intervals + t] =
						fmax(0, mw->scale * choices[0].need[t] / need -
								mw->pools[i].use);
			}
		}
	}
	free(order);
	free(taken);
}
