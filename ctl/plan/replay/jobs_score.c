// SPDX-License-Identifier: GPL-2.0-only
/* DOC: scores of schedules, see jobs_score.h. */
#include <stdlib.h>

#include "base/text.h"
#include "jobs_score.h"

#define DAY_S 86400.0

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value that a share of the sorted ones does not exceed. */
static double jobs_score_share(const double *sorted, size_t n, double part)
{
	size_t at = (size_t)((double)n * part);

	return n ? sorted[at < n ? at : n - 1] : 0;
}

static void times(const struct jobs *jobs, const int64_t *start, int64_t from,
		  struct jobs_score *score)
{
	double *took = mem_zalloc(jobs->n + 1, sizeof(*took));
	double duration = 0, sum = 0, wide = 0;
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		const struct job *j = &jobs->job[i];

		if (j->submit < from)
			continue;
		took[score->n] = (double)(start[i] + j->duration - j->submit);
		sum += took[score->n];
		duration += (double)j->duration;
		if (j->gpus >= JOBS_WIDE) {
			wide += took[score->n];
			score->wide++;
		}
		score->n++;
	}
	qsort(took, score->n, sizeof(*took), by_value);
	score->median = jobs_score_share(took, score->n, 0.5);
	score->p95 = jobs_score_share(took, score->n, 0.95);
	free(took);
	if (!score->n)
		return;
	score->mean = sum / (double)score->n;
	score->duration = duration / (double)score->n;
	score->ratio = sum / duration;
	if (score->wide)
		score->wide_mean = wide / (double)score->wide;
}

double jobs_busy(const struct jobs *jobs, const int64_t *start, int64_t from, int64_t to,
		 uint32_t tenant)
{
	double busy = 0;
	size_t i;

	for (i = 0; i < jobs->n; i++) {
		int64_t begin = start[i], end = start[i] + jobs->job[i].duration;

		if (tenant != UINT32_MAX && jobs->job[i].tenant != tenant)
			continue;
		begin = begin < from ? from : begin;
		end = end > to ? to : end;
		if (end > begin)
			busy += (double)(end - begin) * jobs->job[i].gpus;
	}
	return busy;
}

void jobs_score(const struct jobs *jobs, const int64_t *start, uint32_t pool, int64_t from,
		struct jobs_score *score)
{
	int64_t last = jobs->job[jobs->n - 1].submit, end = 0;
	size_t i;

	*score = (struct jobs_score){ 0 };
	times(jobs, start, from, score);
	for (i = 0; i < jobs->n; i++)
		if (start[i] + jobs->job[i].duration > end)
			end = start[i] + jobs->job[i].duration;
	score->makespan = (double)(end - jobs->job[0].submit);
	if (last <= from)
		return;
	score->utilisation =
		jobs_busy(jobs, start, from, last, UINT32_MAX) / ((double)(last - from) * pool);
	score->attaches_day = (double)jobs_attaches(jobs, start, pool, from, last) /
			      ((double)(last - from) / DAY_S);
}

void jobs_tenant_means(const struct jobs *jobs, const int64_t *start, int64_t from, double *mean)
{
	size_t *n = mem_zalloc(jobs->n_tenants, sizeof(*n)), i;

	for (i = 0; i < jobs->n_tenants; i++)
		mean[i] = 0;
	for (i = 0; i < jobs->n; i++) {
		const struct job *j = &jobs->job[i];

		if (j->submit < from)
			continue;
		mean[j->tenant] += (double)(start[i] + j->duration - j->submit);
		n[j->tenant]++;
	}
	for (i = 0; i < jobs->n_tenants; i++)
		if (n[i])
			mean[i] /= (double)n[i];
	free(n);
}

/**
 * struct event - a job starts or ends
 * @at: seconds
 * @job: index
 * @begins: it starts; ends come first in a second
 */
struct event {
	int64_t at;
	uint32_t job;
	bool begins;
};

static int jobs_score_by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->begins != y->begins)
		return x->begins ? 1 : -1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/**
 * struct hands - whose the GPUs are
 * @has: attached to each tenant
 * @busy: of these
 * @nobody: attached to nobody yet
 */
struct hands {
	int64_t *has;
	int64_t *busy;
	int64_t nobody;
	size_t n;
};

static void take_from_others(struct hands *h, int64_t gpus)
{
	int64_t part = gpus < h->nobody ? gpus : h->nobody;
	size_t i, most;

	h->nobody -= part;
	for (gpus -= part; gpus > 0; gpus -= part) {
		for (i = 0, most = 0; i < h->n; i++)
			if (h->has[i] - h->busy[i] > h->has[most] - h->busy[most])
				most = i;
		part = h->has[most] - h->busy[most];
		if (part <= 0)
			return;
		part = part < gpus ? part : gpus;
		h->has[most] -= part;
	}
}

static uint64_t begin_job(struct hands *h, const struct job *j)
{
	int64_t more = h->busy[j->tenant] + j->gpus - h->has[j->tenant];

	h->busy[j->tenant] += j->gpus;
	if (more <= 0)
		return 0;
	/* marked as taken before others are asked, so that nobody gives to itself */
	h->has[j->tenant] = h->busy[j->tenant];
	take_from_others(h, more);
	return (uint64_t)more;
}

/* Counts into intervals of @interval seconds from @from on. */
static void count_attaches(const struct jobs *jobs, const int64_t *start, uint32_t pool,
			   int64_t from, int64_t interval, double *intervals, size_t n_intervals)
{
	struct event *events = mem_zalloc(jobs->n * 2, sizeof(*events));
	struct hands h = { .nobody = pool, .n = jobs->n_tenants };
	uint64_t n;
	size_t i;

	h.has = mem_zalloc(h.n, sizeof(*h.has));
	h.busy = mem_zalloc(h.n, sizeof(*h.busy));
	for (i = 0; i < jobs->n; i++) {
		events[2 * i] = (struct event){ start[i], (uint32_t)i, true };
		events[2 * i + 1] =
			(struct event){ start[i] + jobs->job[i].duration, (uint32_t)i, false };
	}
	qsort(events, jobs->n * 2, sizeof(*events), jobs_score_by_time);
	for (i = 0; i < jobs->n * 2; i++) {
		const struct job *j = &jobs->job[events[i].job];

		if (!events[i].begins) {
			h.busy[j->tenant] -= j->gpus;
			continue;
		}
		n = begin_job(&h, j);
		if (events[i].at >= from &&
		    (size_t)((events[i].at - from) / interval) < n_intervals)
			intervals[(events[i].at - from) / interval] += (double)n;
	}
	free(events);
	free(h.has);
	free(h.busy);
}

uint64_t jobs_attaches(const struct jobs *jobs, const int64_t *start, uint32_t pool, int64_t from,
		       int64_t to)
{
	double sum = 0;

	if (to > from)
		count_attaches(jobs, start, pool, from, to - from, &sum, 1);
	return (uint64_t)sum;
}

void jobs_attaches_hourly(const struct jobs *jobs, const int64_t *start, uint32_t pool,
			  double *hours, size_t n)
{
	count_attaches(jobs, start, pool, jobs->job[0].submit, 3600, hours, n);
}
