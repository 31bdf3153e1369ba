/* SPDX-License-Identifier: GPL-2.0-only */
/* What the plugin makes of a step's surroundings. Pure. */
#ifndef GPUFABRIC_SLURM_STEP_H
#define GPUFABRIC_SLURM_STEP_H

#include <stddef.h>

#define STEP_VARIABLES_MAX 16

/**
 * struct step_environment - variables of a composition
 * @names, @values: @n of them, owned
 */
struct step_environment {
	char *names[STEP_VARIABLES_MAX];
	char *values[STEP_VARIABLES_MAX];
	size_t n;
};

/* Read lines NAME=VALUE; others are passed over. */
void step_environment_read(const char *text, struct step_environment *environment);
void step_environment_free(struct step_environment *environment);

/*
 * The cgroup of a step, from a line of /proc/PID/cgroup of a process in it: "/../job_7/step_0". That
 * is one above those to which Slurm attaches programs for devices without leave for others
 * beside them. NULL where the line is of no step in a tree of version 2; caller frees.
 */
char *step_cgroup(const char *line);

#endif /* GPUFABRIC_SLURM_STEP_H */
