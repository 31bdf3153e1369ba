/* SPDX-License-Identifier: GPL-2.0-only */
/* Resets of GPUs, as the kernel offers them in sysfs. */
#ifndef GPUCTL_RESET_H
#define GPUCTL_RESET_H

#include "base/fault.h"
#include "base/tree.h"
#include "module/model.h"

/* Whether the kernel knows a way to reset each GPU of a slot that is attached. */
bool reset_is_offered(const struct tree *tree, const struct gf_slot *slot);

/*
 * Reset each of them, without its driver, which binds again afterwards. Nobody uses them
 * meanwhile: that is for the caller. 0 or a negative errno, then @fault says what went wrong.
 */
int reset_gpus(const struct tree *tree, const struct gf_slot *slot, struct fault *fault);

#endif /* GPUCTL_RESET_H */
