/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver that a request chooses, NULL: the kernel does. */
#ifndef GPUCTL_DRIVER_H
#define GPUCTL_DRIVER_H

#include <stdbool.h>

#include "session/session.h"

/* Could the driver that was asked for bind (NULL: none was)? Before anything is attached. */
int driver_check(struct ctl_ctx *ctx, const char *driver);

/*
 * Does a GPU that is attached suit the request? It has the driver that is asked for, or
 * is not one that was put aside for guests when none is.
 */
bool driver_suits(const char *driver, const struct gf_slot *slot);

/* Of GPUs that were attached for guests: what has to go along with each. */
void driver_warn(const struct session *session, const char *driver, const struct gf_slot *slot);

#endif /* GPUCTL_DRIVER_H */
