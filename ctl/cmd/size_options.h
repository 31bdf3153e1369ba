/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that describe a workload, shared by size, compose, resize, run. */
#ifndef GPUCTL_CMD_SIZE_OPTIONS_H
#define GPUCTL_CMD_SIZE_OPTIONS_H

#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "size/need.h"
#include "size/source.h"

/* --model, --params, --task, --precision, ... --method */
extern const struct ctl_option size_workload_options[];

/* --tokens, --hours, ...: inputs of the methods fleet-*; for size only */
extern const struct ctl_option size_fleet_options[];

/* Was a model or a number of parameters asked for? */
bool size_options_given(const struct ctl_ctx *ctx);

/* Which methods a command can do with; those that count GPUs have options of their own. */
enum size_reading {
	SIZE_READ_MEMORY, /* those that look at memory */
	SIZE_READ_COUNT, /* any, with size_fleet_options in the table */
	SIZE_READ_EVERY, /* all at once, so each option of theirs means something */
};

/*
 * Reads the workload options into @req and checks it; @model is an operand
 * that names the model, NULL to go by --model and --params. @req borrows from
 * @cat. The command must have size_workload_options in its table. Returns
 * enum ctl_exit, after ctl_fail().
 */
int size_options_read(struct ctl_ctx *ctx, struct catalogue *cat, const char *model,
		      enum size_reading reading, struct size_request *req);

/* What the file of the model said, NULL if it is none of a file. */
const struct size_stored *size_options_stored(const struct size_request *req);

#endif
