/* SPDX-License-Identifier: GPL-2.0-only */
/* Licences of the GPUs of a pool, as Slurm's programs print them. Pure. */
#ifndef GPUCTL_SLURM_LICENCES_H
#define GPUCTL_SLURM_LICENCES_H

#include <stdbool.h>

#include "base/fault.h"

#define LICENCE_KIND_MAX 64
#define LICENCE_JOB_MAX 32

/* What squeue -h -o prints for licence_job_read(): nothing that a user can write. */
#define LICENCE_JOB_FORMAT "%A|%i|%D|%W"

/**
 * struct licence_job - licences of a job
 * @address: this job alone, as scontrol update takes it: a task of an array ("7_2") and a component
 *	of a heterogeneous job ("7+1") may share their number with others
 * @kind: of its GPUs
 * @count: how many of these it has
 * @nodes: that the job runs on
 * @others: those that are not of a pool, "a:1,b"; owned, NULL for none
 */
struct licence_job {
	char address[LICENCE_JOB_MAX];
	char kind[LICENCE_KIND_MAX];
	unsigned int count;
	unsigned int nodes;
	char *others;
};

/*
 * Of the job with that id, from the lines of squeue with LICENCE_JOB_FORMAT. -ENOENT for a job that is
 * not there or has no licence of a pool, -EINVAL for those of several kinds.
 */
int licence_job_read(const char *text, const char *id, struct licence_job *job, struct fault *f);
void licence_job_free(struct licence_job *job);

/* All licences of a job with so many GPUs; caller frees. */
char *licence_job_text(const struct licence_job *job, unsigned int count);

/*
 * From scontrol -o show licenses: how many more of a kind a job can have; negative where more are
 * used than there are. False where there is no such licence.
 */
bool licence_left(const char *text, const char *kind, long long *left);

#endif /* GPUCTL_SLURM_LICENCES_H */
