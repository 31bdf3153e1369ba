/* SPDX-License-Identifier: GPL-2.0-only */
/* What gpuctl size prints beyond the workload itself. */
#ifndef GPUCTL_CMD_SIZE_MACHINES_H
#define GPUCTL_CMD_SIZE_MACHINES_H

#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "size/need.h"

/* --machines, --best, --price, ... */
extern const struct ctl_option size_machine_options[];

/* Is a list of machines asked for? */
bool size_machines_asked(const struct ctl_ctx *ctx);

/* Are its options sound? To be known before anything is printed. */
int size_machines_check(struct ctl_ctx *ctx, const struct catalogue *cat,
			const struct size_request *req);

/* Prints it; @takes says which kinds count. Returns enum ctl_exit. */
int size_machines_print(struct ctl_ctx *ctx, const struct catalogue *cat,
			const struct size_request *req,
			bool (*takes)(const struct ctl_ctx *ctx, const struct cat_gpu *gpu));

/* The tables of the rule-of-thumb articles, from our figures. */
int size_table_print(struct ctl_ctx *ctx, const struct catalogue *cat,
		     const struct size_request *req);

/* --fit: how many sequences, or how long ones, the GPUs of --gpu hold. */
int size_most_print(struct ctl_ctx *ctx, const struct catalogue *cat,
		    const struct size_request *req);

/* What the GPUs of a composition use, beside the estimate; returns enum ctl_exit. */
int size_check(struct ctl_ctx *ctx, const struct size_request *req, const char *name);

/* Compares a log with the estimate and learns from it; returns enum ctl_exit. */
int size_learn(struct ctl_ctx *ctx, const struct catalogue *cat, const struct size_request *req,
	       const char *path);

#endif
