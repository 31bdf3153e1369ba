/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts of one's own, imagined: what the jobs of each tenant would do on the GPUs that it is
 * guaranteed, while they run in a pool that all share. Nothing is used here that an observer of
 * the pool does not know: the duration of a job is known when the job has ended in the pool.
 */
#ifndef GPUCTL_PLAN_OWN_H
#define GPUCTL_PLAN_OWN_H

#include "cluster.h"

struct own;

/* @guarantee: GPUs of each tenant; a job that is wider never starts. */
struct own *own_new(const struct jobs *jobs, const uint32_t *guarantee);
void own_free(struct own *own);

/*
 * What happened in the pool, in order of time: a job was submitted that is expected to run for
 * @expect seconds, started, or ended.
 */
void own_submitted(struct own *own, uint32_t job, double expect, int64_t now);
void own_begun(struct own *own, uint32_t job, int64_t now);
void own_ended(struct own *own, uint32_t job, int64_t now);

/* Up to @now; what follows tells of this moment. Returns when it has to be called again. */
int64_t own_advance(struct own *own, int64_t now);

/* Would the job run by now, or have ended? */
bool own_is_due(const struct own *own, uint32_t job);

/* Completion times of a tenant's jobs on its own GPUs, summed up until now, in seconds. */
double own_total(const struct own *own, uint32_t tenant);

/*
 * How much later than there its jobs start in the pool, as a share of that total; negative when
 * they start earlier. Old jobs count less: the larger share of a look back over a day and one
 * over a week, so that what a tenant won last week is no reason to let it wait today.
 */
double own_late(const struct own *own, uint32_t tenant);

#endif
