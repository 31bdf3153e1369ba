/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that jobs are replayed through, next to ours. */
#ifndef GPUCTL_PLAN_POLICY_H
#define GPUCTL_PLAN_POLICY_H

#include "cluster.h"

/* In order of arrival, nobody overtakes. */
extern const struct policy policy_fifo;
/* Backfill that never delays the first of the queue; runtimes are known. */
extern const struct policy policy_easy;
/* Whatever fits, in order of arrival; runtimes are not asked for. */
extern const struct policy policy_greedy;
/* Whatever fits, the shortest first; runtimes are known. */
extern const struct policy policy_sjf;
/* Whatever fits; a tenant keeps GPUs that it had for an hour. */
extern const struct policy policy_hold;
/* Ours: runtimes are learned from jobs that have ended. */
extern const struct policy policy_ours;
/* The same, told the runtimes. */
extern const struct policy policy_ours_known;

#endif
