// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that relax the alignment of a bridge window where it does not fit
 * look for room with a function that was made public for that.
 */
#include <linux/ioport.h>

int probe(struct resource *root, struct resource *gap)
{
	struct resource_constraint constraint = { .align = 1 };

	return find_resource_space(root, gap, 1, &constraint);
}
