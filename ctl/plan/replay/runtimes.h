/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a job will run, learned from jobs that have run. Nobody tells the
 * planner; it sees who asks, for how many GPUs, when, and when others ended.
 */
#ifndef GPUCTL_PLAN_RUNTIMES_H
#define GPUCTL_PLAN_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>

struct runtimes;

struct runtimes *runtimes_new(size_t jobs);
void runtimes_free(struct runtimes *r);

/* A job arrived, began, ended; times never go back. */
void runtimes_arrive(struct runtimes *r, uint32_t job, uint32_t tenant, uint32_t gpus, int64_t now);
void runtimes_begin(struct runtimes *r, uint32_t job, int64_t now);
void runtimes_end(struct runtimes *r, uint32_t job, int64_t now);

/* Expected seconds of a job that arrived and did not begin, as far as one knows now. */
double runtimes_expect(const struct runtimes *r, uint32_t job, int64_t now);

#endif
