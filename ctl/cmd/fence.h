/* SPDX-License-Identifier: GPL-2.0-only */
/* A fence around a cgroup, for commands that change the GPUs of a job. */
#ifndef GPUCTL_CMD_FENCE_H
#define GPUCTL_CMD_FENCE_H

#include "cli/ctl.h"

/**
 * struct fence_made - what a fence does
 * @denied: number of majors
 * @allowed: number of nodes
 */
struct fence_made {
	size_t denied, allowed;
};

/* Around the cgroup in this directory, for the GPUs of a composition, or for none if @name is NULL. */
int fence_around(struct ctl_ctx *ctx, const char *cgroup, const char *name,
		 struct fence_made *made);

#endif /* GPUCTL_CMD_FENCE_H */
