/* SPDX-License-Identifier: GPL-2.0-only */
/* Device nodes that belong to a PCI function. */
#ifndef GPUCTL_DEVNODES_H
#define GPUCTL_DEVNODES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "module/model.h"

/**
 * struct devnode - a device node
 * @block: a block device; character device otherwise
 * @rdev: its number
 * @name: its name below /dev, as the kernel suggests it
 * @slot: index that devnodes_add() was given
 * @shared: many GPUs share the node: see @gpu_id
 * @gpu_id: id of the GPU that the owner of a shared node must use (kfd)
 */
struct devnode {
	bool block;
	dev_t rdev;
	char *name;
	size_t slot;
	bool shared;
	unsigned int gpu_id;
};

struct devnodes {
	struct devnode *items;
	size_t n;
};

/* Add the nodes of one PCI function. @proc is "/proc" but for tests. */
void devnodes_add(struct devnodes *nodes, const char *proc, const struct gf_function *function,
		  size_t slot);
void devnodes_free(struct devnodes *nodes);

#endif /* GPUCTL_DEVNODES_H */
