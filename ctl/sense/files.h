/* SPDX-License-Identifier: GPL-2.0-only */
/* Where workloads are described, and where their demand is kept. */
#ifndef GPUCTL_SENSE_FILES_H
#define GPUCTL_SENSE_FILES_H

#include "cli/ctl.h"
#include "sense/record.h"

/* Where demand is kept unless somebody says otherwise; the planner's service reads it there. */
#define SENSE_FOLDER "/var/lib/gpuctl/demand"

/*
 * Names of the workloads of workloads.d, sorted, in an array that the caller frees with its
 * strings. A folder that is not there has none.
 */
int sense_names(struct ctl_ctx *ctx, char ***names, size_t *n);
void sense_names_free(char **names, size_t n);

/* The file of one of them. Only root, and who runs us, may write it: it names programs. */
int sense_workload_read(struct ctl_ctx *ctx, const char *name, struct sense_workload *workload);

/*
 * What @folder has of it: its last minute, and the text of its series, which the caller frees. A
 * last minute that cannot be read is a warning, and forgotten.
 */
int sense_record_read(struct ctl_ctx *ctx, const char *folder,
		      const struct sense_workload *workload, struct record *record,
		      struct record_series *series, char **text);
int sense_record_write(struct ctl_ctx *ctx, const char *folder,
		       const struct sense_workload *workload, const struct record *record,
		       const char *series);

/**
 * struct sense_shown - the last minutes of all workloads, for who shows them
 * @names: of the workloads, @n of them
 * @records: one of each
 * @n: number of both
 */
struct sense_shown {
	char **names;
	struct record *records;
	size_t n;
};

/* What SENSE_FOLDER has of the workloads of workloads.d; what cannot be read is left out. */
void sense_show(const char *config_dir, struct sense_shown *shown);
void sense_shown_free(struct sense_shown *shown);
const struct record *sense_shown_find(const struct sense_shown *shown, const char *name);

#endif /* GPUCTL_SENSE_FILES_H */
