/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verbs of gpuctl size print alike. */
#ifndef GPUCTL_CMD_SIZE_PRINT_H
#define GPUCTL_CMD_SIZE_PRINT_H

#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "size/need.h"

/* In GiB throughout, so that a column can be added up by eye. */
void size_put_gib(struct out_table *t, const char *column, uint64_t bytes);

/* One line, and in JSON all that the workload is. */
void size_print_workload(struct ctl_ctx *ctx, const struct size_request *req,
			 const struct size_terms *terms);

/* A table called @name with each term; @total ends the line of their sum. */
void size_print_terms(struct ctl_ctx *ctx, const struct size_request *req, const char *name,
		      const struct size_terms *terms, const char *total);

/* The workload with its terms and memories, and an empty line; fills @terms. */
void size_print_need(struct ctl_ctx *ctx, const struct size_request *req, struct size_terms *terms);

/* What the file of the model left open, and what the workload asks of a model beyond its shape. */
void size_print_doubts(struct ctl_ctx *ctx, const struct size_request *req);

/* What a reader must know to trust the number. */
void size_print_remarks(struct ctl_ctx *ctx, const struct catalogue *cat,
			const struct size_request *req, const struct size_terms *terms);

#endif
