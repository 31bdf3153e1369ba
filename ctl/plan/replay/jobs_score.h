/* SPDX-License-Identifier: GPL-2.0-only */
/* What a schedule of jobs is worth, and what none can be better than. */
#ifndef GPUCTL_PLAN_JOBS_SCORE_H
#define GPUCTL_PLAN_JOBS_SCORE_H

#include "jobs.h"

#define JOBS_WIDE 8

/**
 * struct jobs_score - of the jobs that were submitted in the scored time
 * @n: how many, @wide of them of JOBS_WIDE GPUs or more
 * @mean: of completion time (end minus submission), in seconds, as the next four
 * @median: the middle one
 * @p95: of 100 jobs 95 take no longer
 * @wide_mean: of wide ones
 * @duration: mean time that they run
 * @ratio: @mean over @duration
 * @makespan: seconds from the first submission of the trace to the last end
 * @utilisation: busy share of the pool from the beginning of the scored time to the last
 *   submission
 * @attaches_day: GPUs that change hands a day in that time
 */
struct jobs_score {
	size_t n, wide;
	double mean, median, p95, wide_mean, duration, ratio;
	double makespan, utilisation, attaches_day;
};

/* Jobs that are submitted from @from on are scored. */
void jobs_score(const struct jobs *jobs, const int64_t *start, uint32_t pool, int64_t from,
		struct jobs_score *score);

/* Mean completion time of each tenant's scored jobs; 0 for a tenant without any. */
void jobs_tenant_means(const struct jobs *jobs, const int64_t *start, int64_t from, double *mean);

/* GPU-seconds that jobs run between two times; of one tenant, or of all (UINT32_MAX). */
double jobs_busy(const struct jobs *jobs, const int64_t *start, int64_t from, int64_t to,
		 uint32_t tenant);

/*
 * GPUs that change hands between two times. One stays with its tenant until
 * another needs it; then who has most idle ones gives.
 */
uint64_t jobs_attaches(const struct jobs *jobs, const int64_t *start, uint32_t pool, int64_t from,
		       int64_t to);

/* The same in each hour from the first submission on. */
void jobs_attaches_hourly(const struct jobs *jobs, const int64_t *start, uint32_t pool,
			  double *hours, size_t n);

/* No schedule on @pool GPUs is done sooner; seconds from the first submission. */
double jobs_makespan_bound(const struct jobs *jobs, uint32_t pool);

/*
 * No schedule on @pool GPUs that stops no job has a smaller mean completion
 * time of scored jobs: prices of GPU-seconds, raised where the pool is short
 * over @sweeps sweeps; the bound holds for any prices, @near only says
 * where to look (a mean that some schedule has).
 */
double jobs_mean_bound(const struct jobs *jobs, uint32_t pool, int64_t from, double near,
		       unsigned int sweeps);

/*
 * No schedule on @pool GPUs that stops no job, also none by somebody who knows the future, has
 * all tenants at a smaller share of @own, which is a mean completion time of each one's scored
 * jobs; a tenant where it is 0 does not count. @near and @sweeps as above.
 */
double jobs_worst_bound(const struct jobs *jobs, uint32_t pool, int64_t from, const double *own,
			double near, unsigned int sweeps);

#endif
