/* SPDX-License-Identifier: GPL-2.0-only */
/* Names that can be asked for by their kind: live ones, and those of our own tables. */
#ifndef GPUCTL_COMPLETION_NAMES_H
#define GPUCTL_COMPLETION_NAMES_H

#include <stddef.h>

#include "cli/ctl.h"

/**
 * struct name - a word with a remark
 * @word: owned
 * @remark: "" for none, owned
 */
struct name {
	char *word;
	char *remark;
};

/**
 * struct names - some of them
 * @n: number of @items
 */
struct names {
	struct name *items;
	size_t n;
};

void names_add(struct names *names, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void names_free(struct names *names);

/*
 * Add the names of a kind: slots, compositions, tenants, kinds (GPUs in the fabric, or the
 * whole catalogue where there is none), gpus, models, engines, methods, precisions, tasks,
 * events, commands, drivers (of the PCI bus, loaded), workloads (of workloads.d). CTL_USAGE for a kind that there is not.
 */
int names_of_kind(struct ctl_ctx *ctx, const char *kind, struct names *names);

/* Those kinds, with commas between them, for an error; newly allocated. */
char *names_kinds(void);

#endif /* GPUCTL_COMPLETION_NAMES_H */
