/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool of like GPUs on which the jobs of a trace run, event by event. A
 * policy says which of those that wait start; a job that runs is never stopped
 * or moved. Times are whole seconds, so nothing is ever rounded away.
 */
#ifndef GPUCTL_PLAN_CLUSTER_H
#define GPUCTL_PLAN_CLUSTER_H

#include "jobs.h"

#define CLUSTER_NONE UINT32_MAX
#define CLUSTER_NEVER INT64_MAX

struct cluster;

/**
 * struct policy - who starts when
 * @name: word for options and JSON
 * @title: words for tables
 * @setup: before the first job; may be NULL, as all but @schedule
 * @before: does job @a go into the queue before job @b? NULL: in order of arrival
 * @submitted: a job is in the queue now
 * @ended: a job has given its GPUs back, its duration is known now
 * @schedule: start jobs of the queue; called after all that happened in this second
 * @cleanup: frees what setup made
 */
struct policy {
	const char *name;
	const char *title;
	void (*setup)(struct cluster *c);
	bool (*before)(const struct cluster *c, uint32_t a, uint32_t b);
	void (*submitted)(struct cluster *c, uint32_t job);
	void (*ended)(struct cluster *c, uint32_t job);
	void (*schedule)(struct cluster *c);
	void (*cleanup)(struct cluster *c);
};

/**
 * struct running - a job that runs
 * @end: when it will give its GPUs back
 */
struct running {
	int64_t end;
	uint32_t job;
	uint32_t gpus;
};

/**
 * struct cluster - the pool at one moment
 * @jobs: the trace
 * @guarantee: GPUs that each tenant would own on hosts of its own; NULL for none
 * @pool: GPUs in all, @free of them now
 * @now: seconds
 * @wake: the policy wants to be called then at the latest
 * @head: first job of the queue, CLUSTER_NONE when it is empty; @next and @prev link it
 * @waiting: jobs in the queue
 * @running: by @end; only policies that know runtimes may look
 * @start: of each job; CLUSTER_NEVER as long as it waits
 * @busy_seconds: GPU-seconds that ran so far, added up as time passes
 * @data: the policy's own
 */
struct cluster {
	const struct jobs *jobs;
	const uint32_t *guarantee;
	const struct policy *policy;
	uint32_t pool;
	uint32_t free;
	int64_t now;
	int64_t wake;
	uint32_t head;
	uint32_t tail;
	uint32_t waiting;
	uint32_t *next;
	uint32_t *prev;
	struct running *running;
	size_t n_running;
	int64_t *start;
	int64_t busy_seconds;
	void *data;
};

/* Starts a job of the queue now; it has to fit. */
void cluster_start(struct cluster *c, uint32_t job);

/*
 * Runs all of @jobs, none of which is wider than @pool, under @policy; @start
 * has room for each. Returns the GPU-seconds that were busy.
 */
int64_t cluster_run(const struct jobs *jobs, uint32_t pool, const struct policy *policy,
		    const uint32_t *guarantee, int64_t *start);

#endif
