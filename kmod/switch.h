/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SWITCH_H
#define GPUFABRIC_SWITCH_H

#include <linux/list.h>
#include <linux/pci.h>

#include "snapshot.h"

/**
 * struct gf_switch - an upstream port with its downstream ports
 * @list: in &gf_fabric.switches; under the fabric's lock
 * @id: id, never reused while the module is loaded
 * @address: PCI address of the upstream port, or of the root bus for slots
 *	that are root ports
 * @bus: the bus that the ports sit on; compared, never followed
 * @numa_node: NUMA node, -1 when unknown
 * @vendor: vendor id of the upstream port, 0 for a root bus
 * @device: device id of the upstream port
 * @slots: number of slots; under the fabric's lock
 * @link: uplink as it was when the switch was found
 * @changed: number of the last change below its ports, see gf_notify_changes();
 *	written under gf_notify_lock, read by anybody
 * @turns: steps that attach GPUs and have not been given windows yet, in the
 *	order in which they get them; under the fabric's lock
 */
struct gf_switch {
	struct list_head list;
	u32 id;
	char address[16];
	const struct pci_bus *bus;
	int numa_node;
	u16 vendor;
	u16 device;
	u32 slots;
	struct gf_link link;
	u64 changed;
	struct list_head turns;
};

struct gf_switch *gf_switch_get(struct pci_dev *port);
void gf_switch_put(struct gf_switch *sw);
struct gf_switch *gf_switch_find(u32 id);

#endif /* GPUFABRIC_SWITCH_H */
