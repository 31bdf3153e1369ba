/* SPDX-License-Identifier: GPL-2.0-only */
/* A manager's slots of this host are to have no power, whoever uses their GPUs. */
#ifndef GPUCTL_OP_VACATE_H
#define GPUCTL_OP_VACATE_H

#include "cli/ctl.h"
#include "managers/conf.h"

/*
 * Detach by force what is on, each slot in a process of its own; these are given @limit_ms: a driver
 * that never lets go of a GPU must not hold up who counts the time. @left is the number of slots
 * that still have power, SIZE_MAX where nobody knows. Returns enum ctl_exit.
 */
int vacate(struct ctl_ctx *ctx, const struct manager_conf *conf, uint64_t limit_ms, size_t *left);

/* May any of the slots have a GPU, by what the kernel says without the module? */
bool vacate_has_gpu(const struct manager_conf *conf);

#endif /* GPUCTL_OP_VACATE_H */
