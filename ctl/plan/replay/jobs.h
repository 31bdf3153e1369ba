/* SPDX-License-Identifier: GPL-2.0-only */
/* Job traces: who asked when for how many GPUs, and for how long they were needed. */
#ifndef GPUCTL_PLAN_JOBS_H
#define GPUCTL_PLAN_JOBS_H

#include "base/csv.h"

#define JOBS_HEADING "submit_s,duration_s,gpus,tenant"
#define JOBS_SUBMIT_MAX 4000000000ull
#define JOBS_DURATION_MAX 315360000ull
#define JOBS_GPUS_MAX 65536
#define JOBS_MAX 10000000
#define JOBS_TENANTS_MAX 1024

/**
 * struct job - a line of a trace
 * @submit: seconds
 * @duration: seconds, at least 1
 * @gpus: all of them at once or none
 * @tenant: index
 */
struct job {
	int64_t submit;
	int64_t duration;
	uint32_t gpus;
	uint32_t tenant;
};

/**
 * struct jobs - a trace, by time of submission
 * @job: @n of them
 * @tenants: names, @n_tenants of them, in the order in which they appear
 */
struct jobs {
	struct job *job;
	size_t n;
	char (*tenants)[CSV_WORD_MAX];
	size_t n_tenants;
};

/*
 * Reads a whole trace; a job wider than @pool is refused. Nothing is left
 * allocated after an error, else jobs_free() it.
 */
int jobs_parse(struct jobs *jobs, const char *name, const char *text, size_t len, uint32_t pool,
	       struct fault *f);
void jobs_free(struct jobs *jobs);

#endif
