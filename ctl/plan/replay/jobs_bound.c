// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what no schedule of jobs can be better than
 *
 * The makespan: whatever is submitted after some second has to run after it, on
 * no more GPUs than there are. The mean: give each GPU-second a price; every job
 * then chooses by itself when to start, paying for its GPUs and for its wait. What
 * all of them pay, less what the whole pool costs, is below the cost of any schedule,
 * whatever the prices are. Prices rise where more is wanted than there is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jobs_score.h"

#define INTERVAL_S 3600

double jobs_makespan_bound(const struct jobs *jobs, uint32_t pool)
{
	double work = 0, bound = 0, end;
	size_t i;

	for (i = jobs->n; i--;) {
		const struct job *j = &jobs->job[i];
		double at = (double)(j->submit - jobs->job[0].submit);

		work += (double)j->gpus * (double)j->duration;
		end = at + work / pool;
		if (end > bound)
			bound = end;
		end = at + (double)j->duration;
		if (end > bound)
			bound = end;
	}
	return bound;
}

/**
 * struct prices - of GPU-seconds, constant within an interval
 * @price: seconds of waiting for a GPU-second, @n intervals from @from on, 0 behind them
 * @sum: of all before each interval, times the length of an interval
 * @use: GPU-seconds that are wanted in each
 */
struct prices {
	int64_t from;
	size_t n;
	double *price;
	double *sum;
	double *use;
};

/* What one GPU costs from the beginning to @at. */
static double paid_until(const struct prices *p, double at)
{
	double interval = (at - (double)p->from) / INTERVAL_S;
	size_t i = (size_t)interval;

	if (i >= p->n)
		return p->sum[p->n];
	return p->sum[i] + (interval - (double)i) * INTERVAL_S * p->price[i];
}

static double cost_at(const struct prices *p, const struct job *j, double start)
{
	return start - (double)j->submit +
	       j->gpus * (paid_until(p, start + (double)j->duration) - paid_until(p, start));
}

static void try_start(const struct prices *p, const struct job *j, double start, double *cost,
		      double *best)
{
	double c;

	if (start < (double)j->submit)
		return;
	c = cost_at(p, j, start);
	if (c < *cost) {
		*cost = c;
		*best = start;
	}
}

/*
 * The cost is piecewise linear in the start, and bends only where the job's
 * start or end is at an interval's: so only these are tried.
 */
static double cheapest(const struct prices *p, const struct job *j, double *start)
{
	double cost = cost_at(p, j, (double)j->submit), at, end;
	size_t i = (size_t)((j->submit - p->from) / INTERVAL_S) + 1;

	*start = (double)j->submit;
	for (; i <= p->n; i++) {
		at = (double)p->from + (double)i * INTERVAL_S;
		if (at - (double)j->submit - INTERVAL_S > cost)
			break;
		try_start(p, j, at, &cost, start);
	}
	end = (double)(j->submit - p->from + j->duration);
	for (i = (size_t)(end / INTERVAL_S) + 1; i <= p->n; i++) {
		at = (double)p->from + (double)i * INTERVAL_S - (double)j->duration;
		if (at - (double)j->submit > cost)
			break;
		try_start(p, j, at, &cost, start);
	}
	return cost;
}

static void jobs_bound_add_use(struct prices *p, const struct job *j, double start)
{
	double at = start - (double)p->from, end = at + (double)j->duration, stop;
	size_t i;

	for (i = (size_t)(at / INTERVAL_S); i < p->n && at < end; i++) {
		stop = (double)(i + 1) * INTERVAL_S;
		stop = stop < end ? stop : end;
		p->use[i] += (stop - at) * j->gpus;
		at = stop;
	}
}

/* The bound with these prices: the sum of waits. */
static double jobs_bound_sweep(struct prices *p, const struct jobs *jobs, uint32_t pool,
			       int64_t from)
{
	double value, start;
	size_t i;

	memset(p->use, 0, p->n * sizeof(*p->use));
	for (i = 0; i < p->n; i++)
		p->sum[i + 1] = p->sum[i] + p->price[i] * INTERVAL_S;
	value = -p->sum[p->n] * pool;
	for (i = 0; i < jobs->n; i++) {
		if (jobs->job[i].submit < from)
			continue;
		value += cheapest(p, &jobs->job[i], &start);
		jobs_bound_add_use(p, &jobs->job[i], start);
	}
	return value;
}

/* Prices move along what is wanted too much, as far as @gap justifies. */
static void jobs_bound_move_prices(struct prices *p, uint32_t pool, double gap)
{
	double room = (double)pool * INTERVAL_S, over, square = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		over = p->use[i] - room;
		if (over > 0 || p->price[i] > 0)
			square += over * over;
	}
	if (square <= 0)
		return;
	for (i = 0; i < p->n; i++) {
		p->price[i] += gap / square * (p->use[i] - room);
		if (p->price[i] < 0)
			p->price[i] = 0;
	}
}

double jobs_mean_bound(const struct jobs *jobs, uint32_t pool, int64_t from, double near,
		       unsigned int sweeps)
{
	double value, best = 0, duration = 0, step = 1;
	struct prices p = { .from = from };
	size_t i, n = 0;

	for (i = 0; i < jobs->n; i++)
		if (jobs->job[i].submit >= from) {
			duration += (double)jobs->job[i].duration;
			n++;
		}
	if (!n)
		return 0;
	p.n = (size_t)((jobs->job[jobs->n - 1].submit - from) / INTERVAL_S) + 24 * 14;
	p.price = mem_zalloc(p.n, sizeof(*p.price));
	p.sum = mem_zalloc(p.n + 1, sizeof(*p.sum));
	p.use = mem_zalloc(p.n, sizeof(*p.use));
	for (i = 0; i < sweeps; i++) {
		value = jobs_bound_sweep(&p, jobs, pool, from);
		if (value > best)
			best = value;
		else
			step *= 0.9;
		if (near * (double)n - duration <= value)
			break;
		jobs_bound_move_prices(&p, pool, step * (near * (double)n - duration - value));
	}
	free(p.price);
	free(p.sum);
	free(p.use);
	return (best + duration) / (double)n;
}
