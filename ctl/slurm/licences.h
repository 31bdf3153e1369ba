/* SPDX-License-Identifier: GPL-2.0-only */
/* Licences of the GPUs of a pool, as scontrol prints them. Pure. */
#ifndef GPUCTL_SLURM_LICENCES_H
#define GPUCTL_SLURM_LICENCES_H

#include <stdbool.h>

#include "base/fault.h"

#define LICENCE_KIND_MAX 64

/**
 * struct licence_job - licences of a job
 * @kind: of its GPUs
 * @count: how many of these it has
 * @nodes: that the job runs on, 0 when that is not said
 * @others: those that are not of a pool, "a:1,b"; owned, NULL for none
 */
struct licence_job {
	char kind[LICENCE_KIND_MAX];
	unsigned int count;
	unsigned int nodes;
	char *others;
};

/* From scontrol -o show job. -ENOENT for none of a pool, -EINVAL for those of several kinds. */
int licence_job_read(const char *text, struct licence_job *job, struct fault *f);
void licence_job_free(struct licence_job *job);

/* All licences of a job with so many GPUs; caller frees. */
char *licence_job_text(const struct licence_job *job, unsigned int count);

/*
 * From scontrol -o show licenses: how many more of a kind a job can have; negative where more are
 * used than there are. False where there is no such licence.
 */
bool licence_left(const char *text, const char *kind, long long *left);

#endif /* GPUCTL_SLURM_LICENCES_H */
