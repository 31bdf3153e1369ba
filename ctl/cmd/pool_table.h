/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs of fabric managers as tables. */
#ifndef GPUCTL_CMD_POOL_TABLE_H
#define GPUCTL_CMD_POOL_TABLE_H

#include "managers/manager.h"

/**
 * struct pool_seen - what all managers of the host have
 * @managers: of the host
 * @asked: the answer of each
 */
struct pool_seen {
	struct managers managers;
	struct manager_asked *asked;
};

/*
 * Ask all managers. A manager that cannot be asked is warned of, and its exit code kept, and so is
 * a file that cannot be used.
 */
void pool_seen_read(struct ctl_ctx *ctx, const struct catalogue *catalogue, struct pool_seen *pool);
void pool_seen_free(struct pool_seen *pool);

/* The table "pool": a row for each GPU. */
void pool_seen_render(struct ctl_ctx *ctx, const struct pool_seen *pool);

/* The table "managers". */
void pool_seen_render_managers(struct ctl_ctx *ctx, const struct pool_seen *pool);

/* Below what a command has printed: ask all managers, and print the table "pool". */
void pool_print(struct ctl_ctx *ctx, const struct catalogue *catalogue);

#endif /* GPUCTL_CMD_POOL_TABLE_H */
