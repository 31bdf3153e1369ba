/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs that a scheduler still runs here, as it lists them. */
#ifndef GPUCTL_CMD_JOBS_ALIVE_H
#define GPUCTL_CMD_JOBS_ALIVE_H

#include <stdint.h>

#include "cli/ctl.h"

/**
 * struct jobs_alive - a whole list of them
 * @names: @n of them, owned, sorted
 * @since: a job that came after this moment, in milliseconds since the epoch, may lack in the list
 */
struct jobs_alive {
	char **names;
	size_t n;
	uint64_t since;
};

/* Parse the text of a list, from @from; 0, or CTL_USAGE where it is not one, or not whole. */
int jobs_alive_parse(struct ctl_ctx *ctx, const char *from, const char *text, size_t len,
		     struct jobs_alive *jobs);

/* Read a file, or standard input for "-"; returns enum ctl_exit. */
int jobs_alive_read(struct ctl_ctx *ctx, const char *path, struct jobs_alive *jobs);

/* Is a job that a composition of this moment is for known to have ended? */
bool jobs_alive_lack(const struct jobs_alive *jobs, const char *job, uint64_t created);
void jobs_alive_free(struct jobs_alive *jobs);

#endif /* GPUCTL_CMD_JOBS_ALIVE_H */
