/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver that a request chooses with --driver. */
#ifndef GPUCTL_DRIVER_H
#define GPUCTL_DRIVER_H

#include <stdbool.h>

#include "lib/session.h"

/* A row of the options of those commands that attach. */
#define DRIVER_OPTION                                                                  \
	{ "driver", 0, "DRIVER",                                                       \
	  "have this driver bind to the GPUs and no other, such as vfio-pci", "@drivers" }

/* Could the driver that was asked for bind? Before anything is attached. */
int driver_check(struct ctl_ctx *ctx);
void driver_put(const struct ctl_ctx *ctx, struct nl_msg *msg);

/*
 * Does a GPU that is attached suit the request? It has the driver that is asked for, or
 * is not one that was put aside for guests when none is.
 */
bool driver_suits(const struct ctl_ctx *ctx, const struct gf_slot *slot);

/* Of GPUs that were attached for guests: what has to go along with each. */
void driver_warn(const struct session *session, const struct gf_slot *slot);

#endif /* GPUCTL_DRIVER_H */
