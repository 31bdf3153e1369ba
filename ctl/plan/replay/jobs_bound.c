// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what no schedule of jobs can be better than
 *
 * The makespan: whatever is submitted after some second has to run after it, on
 * no more GPUs than there are. The mean: give each GPU-second a price; every job
 * then chooses by itself when to start, paying for its GPUs and for its wait. What
 * all of them pay, less what the whole pool costs, is below the cost of any schedule,
 * whatever the prices are. Prices rise where more is wanted than there is.
 *
 * The tenant that fares worst, each tenant's mean being taken as a share of some mean that it
 * would have otherwise: the largest share is no less than any average of all of them, whatever
 * the weights of the average are. Such an average is a sum over jobs of a constant and of what
 * each waits, times the weight of its tenant over the tenant's number of jobs and over that other
 * mean: with prices it has the bound that the mean has. So for all weights and prices, what is
 * computed is below the worst share of every schedule, also of one made by somebody who knows the
 * future. Weights move to whoever fares worst, prices as above. With all weight on one tenant and
 * without prices this is the share that the tenant has if its jobs never wait.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jobs_score.h"

#define INTERVAL_S 3600
#define WEIGHT_MIN 0.000001 /* of a tenant in the average of all; less is nothing */
#define WEIGHT_FOCUS 10 /* how much the first average is that of the worst tenants */
#define WEIGHT_STEP 1

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
 * @weight: what a second of waiting costs the jobs of each tenant
 * @waits: seconds that the jobs of each tenant choose to wait
 */
struct prices {
	int64_t from;
	size_t n;
	double *price;
	double *sum;
	double *use;
	double *weight;
	double *waits;
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
	return p->weight[j->tenant] * (start - (double)j->submit) +
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
	double cost = cost_at(p, j, (double)j->submit), wait = p->weight[j->tenant], at, end;
	size_t i = (size_t)((j->submit - p->from) / INTERVAL_S) + 1;

	*start = (double)j->submit;
	for (; i <= p->n; i++) {
		at = (double)p->from + (double)i * INTERVAL_S;
		if (wait * (at - (double)j->submit - INTERVAL_S) > cost)
			break;
		try_start(p, j, at, &cost, start);
	}
	end = (double)(j->submit - p->from + j->duration);
	for (i = (size_t)(end / INTERVAL_S) + 1; i <= p->n; i++) {
		at = (double)p->from + (double)i * INTERVAL_S - (double)j->duration;
		if (wait * (at - (double)j->submit) > cost)
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

/* The bound with these prices: the sum of waits, each times its weight. */
static double jobs_bound_sweep(struct prices *p, const struct jobs *jobs, uint32_t pool,
			       int64_t from)
{
	double value, start;
	size_t i;

	memset(p->use, 0, p->n * sizeof(*p->use));
	memset(p->waits, 0, jobs->n_tenants * sizeof(*p->waits));
	for (i = 0; i < p->n; i++)
		p->sum[i + 1] = p->sum[i] + p->price[i] * INTERVAL_S;
	value = -p->sum[p->n] * pool;
	for (i = 0; i < jobs->n; i++) {
		const struct job *j = &jobs->job[i];

		/* without weight it waits until nothing costs anything */
		if (j->submit < from || p->weight[j->tenant] <= 0)
			continue;
		value += cheapest(p, j, &start);
		jobs_bound_add_use(p, j, start);
		p->waits[j->tenant] += start - (double)j->submit;
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

static void prices_make(struct prices *p, const struct jobs *jobs, int64_t from)
{
	p->from = from;
	p->n = (size_t)((jobs->job[jobs->n - 1].submit - from) / INTERVAL_S) + 24 * 14;
	p->price = mem_zalloc(p->n, sizeof(*p->price));
	p->sum = mem_zalloc(p->n + 1, sizeof(*p->sum));
	p->use = mem_zalloc(p->n, sizeof(*p->use));
	p->weight = mem_zalloc(jobs->n_tenants, sizeof(*p->weight));
	p->waits = mem_zalloc(jobs->n_tenants, sizeof(*p->waits));
}

static void prices_free(struct prices *p)
{
	free(p->price);
	free(p->sum);
	free(p->use);
	free(p->weight);
	free(p->waits);
}

double jobs_mean_bound(const struct jobs *jobs, uint32_t pool, int64_t from, double near,
		       unsigned int sweeps)
{
	double value, best = 0, duration = 0, step = 1;
	struct prices p;
	size_t i, n = 0;

	for (i = 0; i < jobs->n; i++)
		if (jobs->job[i].submit >= from) {
			duration += (double)jobs->job[i].duration;
			n++;
		}
	if (!n)
		return 0;
	prices_make(&p, jobs, from);
	for (i = 0; i < jobs->n_tenants; i++)
		p.weight[i] = 1;
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
	prices_free(&p);
	return (best + duration) / (double)n;
}

/**
 * struct shares - of tenants, what their jobs take over what they would take otherwise
 * @n: scored jobs of each
 * @least: share of each if no job waited
 * @part: weight of each in the average, all together 1
 */
struct shares {
	size_t *n;
	double *least;
	double *part;
};

/* Returns the largest of those that nobody can be below by himself. */
static double shares_least(struct shares *s, const struct jobs *jobs, int64_t from,
			   const double *own)
{
	double most = 0;
	size_t i;

	for (i = 0; i < jobs->n; i++)
		if (jobs->job[i].submit >= from) {
			s->least[jobs->job[i].tenant] += (double)jobs->job[i].duration;
			s->n[jobs->job[i].tenant]++;
		}
	for (i = 0; i < jobs->n_tenants; i++) {
		if (own[i] > 0 && s->n[i])
			s->least[i] /= (double)s->n[i] * own[i];
		else
			s->least[i] = 0;
		most = fmax(most, s->least[i]);
	}
	return most;
}

/* All weights add up to 1, and only those count whose tenant has a share. */
static double shares_weigh(const struct shares *s, const struct jobs *jobs, const double *own,
			   struct prices *p)
{
	double sum = 0, least = 0;
	size_t i;

	for (i = 0; i < jobs->n_tenants; i++)
		sum += s->least[i] > 0 ? s->part[i] : 0;
	for (i = 0; i < jobs->n_tenants; i++) {
		p->weight[i] = 0;
		s->part[i] = s->least[i] > 0 ? s->part[i] / sum : 0;
		if (s->part[i] <= WEIGHT_MIN)
			continue;
		least += s->part[i] * s->least[i];
		p->weight[i] = s->part[i] / ((double)s->n[i] * own[i]);
	}
	return least;
}

static void shares_move(const struct shares *s, const struct jobs *jobs, const double *own,
			const struct prices *p, double step)
{
	size_t i;

	for (i = 0; i < jobs->n_tenants; i++)
		if (s->part[i] > WEIGHT_MIN)
			s->part[i] *= exp(step *
					  (s->least[i] + p->waits[i] / ((double)s->n[i] * own[i])));
}

double jobs_worst_bound(const struct jobs *jobs, uint32_t pool, int64_t from, const double *own,
			double near, unsigned int sweeps)
{
	double value, best, highest = 0, step = 1;
	struct prices p;
	struct shares s;
	size_t i;

	s.n = mem_zalloc(jobs->n_tenants, sizeof(*s.n));
	s.least = mem_zalloc(jobs->n_tenants, sizeof(*s.least));
	s.part = mem_zalloc(jobs->n_tenants, sizeof(*s.part));
	best = shares_least(&s, jobs, from, own);
	prices_make(&p, jobs, from);
	for (i = 0; i < jobs->n_tenants; i++)
		s.part[i] = exp(WEIGHT_FOCUS * (s.least[i] - best));
	for (i = 0; i < sweeps && best > 0; i++) {
		value = shares_weigh(&s, jobs, own, &p);
		value += jobs_bound_sweep(&p, jobs, pool, from);
		if (value > highest)
			highest = value;
		else
			step *= 0.9;
		if (near <= fmax(best, value))
			break;
		jobs_bound_move_prices(&p, pool, step * (near - value));
		shares_move(&s, jobs, own, &p, WEIGHT_STEP * step);
	}
	prices_free(&p);
	free(s.n);
	free(s.least);
	free(s.part);
	return fmax(best, highest);
}
