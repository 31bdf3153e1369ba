/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of srun, sbatch and salloc that describe a workload. Pure. */
#ifndef GPUFABRIC_SLURM_OPTIONS_H
#define GPUFABRIC_SLURM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum workload_option {
	WORKLOAD_MODEL,
	WORKLOAD_TASK,
	WORKLOAD_ENGINE,
	WORKLOAD_PRECISION,
	WORKLOAD_QUANT,
	WORKLOAD_CONTEXT,
	WORKLOAD_BATCH,
	WORKLOAD_GPU,
	WORKLOAD_OPTIONS
};

/**
 * struct workload_name - one of them
 * @option: "--gpufabric-model", without the dashes before it
 * @size: "--model": that of gpuctl size
 * @variable: what the controller finds it under, GPUFABRIC_MODEL
 * @argument, @help: for --help
 */
struct workload_name {
	const char *option, *size, *variable, *argument, *help;
};

extern const struct workload_name workload_names[WORKLOAD_OPTIONS];

/* A value that can go into an environment and a command line as it is. */
bool workload_value_valid(const char *value);

/* A folder, a file, or a model of the Hub: not for the controller to read. */
bool workload_is_local(const char *model);

/* Arguments of gpuctl for these values, NULL for those not given; ends with NULL. */
#define WORKLOAD_ARGS_MAX (2 * WORKLOAD_OPTIONS + 3)
void workload_args(const char *const values[WORKLOAD_OPTIONS], const char *argv[WORKLOAD_ARGS_MAX]);

/*
 * What gpuctl -j size printed, as "KIND:COUNT,KIND:COUNT": the kinds that do and how many of each.
 * NULL for none; caller frees.
 */
char *workload_counts(const char *json);

#endif /* GPUFABRIC_SLURM_OPTIONS_H */
