/* SPDX-License-Identifier: GPL-2.0-only */
/* How commands hand over a text in a format of others. */
#ifndef GPUCTL_PUBLISH_H
#define GPUCTL_PUBLISH_H

#include "cli/ctl.h"

struct session;

/*
 * The whole of a command with an operand [FILE]: @print makes the text, which it leaves
 * to be freed, from what the fabric is now.
 */
int publish_run(struct ctl_ctx *ctx, int argc, char **argv,
		int (*print)(struct session *session, char **text));

/*
 * Before anything is looked at: keep other writers of the file out. @lock is for
 * publish_end(). Nothing without a file or with -n.
 */
int publish_begin(struct ctl_ctx *ctx, const char *path, int *lock);
void publish_end(int lock);

/* Write @text to the file, or to standard output without one. With -n only say so. */
int publish(struct ctl_ctx *ctx, const char *path, const char *text);

#endif /* GPUCTL_PUBLISH_H */
