/* SPDX-License-Identifier: GPL-2.0-only */
/* Boundaries: moments at which a workload loses little when it is moved, as the workload says. */
#ifndef GPUCTL_PLAN_BOUNDARY_H
#define GPUCTL_PLAN_BOUNDARY_H

#include "cli/ctl.h"

/*
 * A file for each workload that announces boundaries, called after it. It was at one when the file was
 * last changed; what is in the file says nothing. The admin may give a file to the workload's user.
 */
#define BOUNDARY_FOLDER "/run/gpuctl-boundaries"

/* How old a boundary may be for who does not know what was before. */
#define BOUNDARY_FRESH_US 60000000ull

/* When a workload was at its latest boundary, in microseconds since 1970; 0: it announces none. */
uint64_t boundary_last(const char *name);
/* It is at one now. */
int boundary_announce(struct ctl_ctx *ctx, const char *name);

/* A descriptor that is readable once a workload has announced one; -1 where nothing can be heard. */
int boundary_watch(void);
/* Take what there is to be read. */
void boundary_hear(int fd);

#endif /* GPUCTL_PLAN_BOUNDARY_H */
