/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SWITCH_H
#define GPUFABRIC_SWITCH_H

#include <linux/list.h>
#include <linux/pci.h>

#include "snapshot.h"

/* An upstream port with its downstream ports. */
struct gf_switch {
	struct list_head list; /* in &gf_fabric.switches; under the fabric's lock */
	u32 id; /* never reused while the module is loaded */
	char address[16]; /* of the upstream port, or of the root bus */
	const struct pci_bus *bus; /* that the ports sit on; compared, never followed */
	int numa_node; /* -1 when unknown */
	u16 vendor; /* of the upstream port, 0 for a root bus */
	u16 device;
	u32 slots; /* number of slots; under the fabric's lock */
	struct gf_link link; /* the uplink as it was when the switch was found */
	/* The last change below its ports; written under gf_notify_lock, read by anybody. */
	u64 changed;
	/* Steps that have not been given windows yet, in their order; under the fabric's lock. */
	struct list_head turns;
};

struct gf_switch *gf_switch_get(struct pci_dev *port);
void gf_switch_put(struct gf_switch *sw);
struct gf_switch *gf_switch_find(u32 id);

#endif /* GPUFABRIC_SWITCH_H */
