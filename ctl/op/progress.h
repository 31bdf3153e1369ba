/* SPDX-License-Identifier: GPL-2.0-only */
/* Progress of slots on a terminal; nothing at all elsewhere. */
#ifndef GPUCTL_PROGRESS_H
#define GPUCTL_PROGRESS_H

#include "op/wait.h"
#include "session/session.h"

/**
 * struct progress - what is drawn on standard error
 * @on: standard error is a terminal, and text is wanted
 * @lines: lines drawn last time, to be drawn over
 * @started: when the wait began, milliseconds since the epoch
 */
struct progress {
	bool on;
	size_t lines;
	uint64_t started;
};

void progress_start(struct progress *progress, const struct ctl_ctx *ctx);
void progress_draw(struct progress *progress, const struct gf_fabric *fabric,
		   const struct wait *waits, size_t n);
/* Remove what was drawn: the result is printed in its place. */
void progress_end(struct progress *progress);

#endif /* GPUCTL_PROGRESS_H */
