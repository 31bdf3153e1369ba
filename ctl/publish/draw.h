/* SPDX-License-Identifier: GPL-2.0-only */
/* Pictures of the fabric: SVG to look at, DOT to lay out otherwise. */
#ifndef GPUCTL_DRAW_H
#define GPUCTL_DRAW_H

#include "session/session.h"

/* The text of a whole file; caller frees. */
char *draw_svg(const struct session *session);
char *draw_dot(const struct session *session);

#endif /* GPUCTL_DRAW_H */
