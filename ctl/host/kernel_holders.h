/* SPDX-License-Identifier: GPL-2.0-only */
/* Holders that are no process: what the kernel itself does with a GPU. */
#ifndef GPUCTL_KERNEL_HOLDERS_H
#define GPUCTL_KERNEL_HOLDERS_H

#include "host/holders.h"

/* Add to @holders, which has the processes already, what holds GPUs without an open file. */
void kernel_holders(const struct holders_roots *roots, const struct gf_slot *const *slots, size_t n,
		    struct holders *holders);

#endif /* GPUCTL_KERNEL_HOLDERS_H */
