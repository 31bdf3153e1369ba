/* SPDX-License-Identifier: GPL-2.0-only */
/* Device nodes that somebody needs who is to use a GPU. */
#ifndef GPUCTL_GPUNODES_H
#define GPUCTL_GPUNODES_H

#include "host/devnodes.h"
#include "host/vendor.h"

/* Where files are; elsewhere in tests. @root stands before "/dev". */
struct places {
	const char *proc;
	const char *root;
};

/**
 * struct gpunode - a node, or one more name of it
 * @path: below /dev
 * @rdev: its number
 * @block: a block device
 * @shared: not of this GPU alone
 * @alias: one more name: nothing that the kernel makes
 */
struct gpunode {
	char *path;
	dev_t rdev;
	bool block;
	bool shared;
	bool alias;
};

struct gpunodes {
	struct gpunode *items;
	size_t n;
};

/* Add those of the slot's GPU; a path that is there already is not added again. */
void gpunodes_add(struct gpunodes *nodes, const struct places *places,
		  const struct vendors *vendors, const struct gf_slot *slot);
void gpunodes_free(struct gpunodes *nodes);

#endif /* GPUCTL_GPUNODES_H */
