/* SPDX-License-Identifier: GPL-2.0-only */
/* Links to device nodes by what they are for: /dev/gpufabric. */
#ifndef GPUCTL_DEVLINKS_H
#define GPUCTL_DEVLINKS_H

#include <stdbool.h>

#include "host/gpunodes.h"

/**
 * struct devlink - one link
 * @path: below /dev/gpufabric, such as by-slot/3-2/card1
 * @target: what it leads to, relative
 * @number: major:minor for the link in /dev/char that goes with it; NULL for none
 */
struct devlink {
	char *path;
	char *target;
	char *number;
};

struct devlinks {
	struct devlink *items;
	size_t n;
};

/**
 * struct devlinks_done - what was changed, or would be
 * @made: links made
 * @removed: links removed
 */
struct devlinks_done {
	size_t made;
	size_t removed;
};

/* The links for GPUs that are ready, and for compositions. */
void devlinks_want(struct devlinks *links, const struct gf_fabric *fabric,
		   const struct places *places, const struct vendors *vendors);
void devlinks_free(struct devlinks *links);

/*
 * Open @dev/gpufabric, making it unless @dry, and keep others out until *@lock (-1: none)
 * is closed.
 * A descriptor or a negative errno: -ENOENT with @dry when it is not there, -EXDEV when
 * it belongs to somebody else.
 */
int devlinks_open(const char *dev, bool dry, int *lock);

/*
 * Bring the links in line with @want. Links of /dev/char that somebody else made
 * are left alone. @dir is from devlinks_open(), or -ENOENT with @dry. 0 or a negative errno.
 */
int devlinks_apply(int dir, const char *dev, const struct devlinks *want, bool dry,
		   struct devlinks_done *done);

#endif /* GPUCTL_DEVLINKS_H */
