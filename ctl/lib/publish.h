/* SPDX-License-Identifier: GPL-2.0-only */
/* How commands hand over a text in a format of others. */
#ifndef GPUCTL_PUBLISH_H
#define GPUCTL_PUBLISH_H

#include "ctl.h"

/* Write @text to the file, or to standard output without one. With -n only say so. */
int publish(struct ctl_ctx *ctx, const char *path, const char *text);

#endif /* GPUCTL_PUBLISH_H */
