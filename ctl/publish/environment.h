/* SPDX-License-Identifier: GPL-2.0-only */
/* The environment of a process that is to find the GPUs of a composition. */
#ifndef GPUCTL_ENVIRONMENT_H
#define GPUCTL_ENVIRONMENT_H

#include "host/visible.h"

#define ENVIRONMENT_MAX (3 + VISIBLE_MAX)

/**
 * struct environment - variables with their values
 * @items: @n of them; names are static, values owned
 */
struct environment {
	struct visible items[ENVIRONMENT_MAX];
	size_t n;
};

enum environment_format {
	ENVIRONMENT_SHELL, /* lines that a shell reads: export NAME='VALUE' */
	ENVIRONMENT_PLAIN, /* lines NAME=VALUE, with nothing quoted */
	ENVIRONMENT_NULL, /* NAME=VALUE, each with a NUL behind it, as in /proc/PID/environ */
};

/*
 * GPUFABRIC_COMPOSITION, GPUFABRIC_SLOTS, GPUFABRIC_ADDRESSES, and what the runtimes of the
 * vendors read; of one slot alone unless @only is NULL. A slot without a GPU is left out. @proc and
 * @sys are where these file systems are.
 */
void environment_of(const char *proc, const char *sys, const struct gf_fabric *fabric,
		    const struct gf_composition *composition, const struct gf_slot *only,
		    struct environment *environment);
void environment_free(struct environment *environment);

/* Append it to a text; ENVIRONMENT_NULL leaves NULs in it. */
void environment_write(const struct environment *environment, enum environment_format format,
		       struct text *text);

#endif /* GPUCTL_ENVIRONMENT_H */
