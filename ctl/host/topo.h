/* SPDX-License-Identifier: GPL-2.0-only */
/* Distances between PCI devices, from their paths in sysfs. */
#ifndef GPUCTL_TOPO_H
#define GPUCTL_TOPO_H

#include <stddef.h>

#include "module/model.h"

/* How the path between two GPUs leads; a larger one is farther. */
enum topo_relation {
	TOPO_SELF,
	TOPO_SWITCH, /* within one switch */
	TOPO_ROOT_PORT, /* several switches below one root port */
	TOPO_HOST, /* through a host bridge of one NUMA node */
	TOPO_NUMA, /* between NUMA nodes */
};

/*
 * Bridges on the way from one device to the other, both paths as in
 * /sys/devices ("pci0000:00/0000:00:01.0/0000:01:00.0"): the components that
 * are not common. Different roots count one more each.
 */
unsigned int topo_hops(const char *a, const char *b);

enum topo_relation topo_relation(const struct gf_slot *a, const char *path_a,
				 const struct gf_slot *b, const char *path_b);
const char *topo_relation_name(enum topo_relation relation);

/* Depth of a path: 1 for a device on a root bus. 0 for NULL. */
unsigned int topo_depth(const char *path);

#endif /* GPUCTL_TOPO_H */
