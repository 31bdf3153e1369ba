/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that the verbs of "plan" read as a whole. */
#ifndef GPUCTL_CMD_PLAN_TEXT_H
#define GPUCTL_CMD_PLAN_TEXT_H

#include "cli/ctl.h"

/* The file, or standard input for "-"; the caller frees @text in any case. CTL_USAGE on trouble. */
int plan_text(struct ctl_ctx *ctx, const char *name, char **text, size_t *len);

#endif /* GPUCTL_CMD_PLAN_TEXT_H */
