// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Switches
 *
 * A switch exists as long as it has slots: the first slot that is found on a bus makes it, the
 * last one that goes ends it. What is known of it is copied when it is made, so nothing of the
 * PCI core is held.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "netlink.h"
#include "notify.h"
#include "sight.h"
#include "switch.h"

static struct gf_switch *switch_create(struct pci_dev *port)
{
	struct pci_dev *upstream = port->bus->self;
	struct gf_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return NULL;
	INIT_LIST_HEAD(&sw->turns);
	sw->bus = port->bus;
	sw->numa_node = dev_to_node(&port->dev);
	if (upstream) {
		struct pci_dev *above = pci_upstream_bridge(upstream);

		strscpy(sw->address, pci_name(upstream), sizeof(sw->address));
		sw->vendor = upstream->vendor;
		sw->device = upstream->device;
		if (above && pci_is_pcie(above) && gf_config_open(above) &&
		    gf_config_open(upstream))
			gf_link_read(above, upstream, &sw->link);
	} else {
		snprintf(sw->address, sizeof(sw->address), "%04x:%02x",
			 pci_domain_nr(port->bus), port->bus->number);
	}
	return sw;
}

static struct gf_switch *switch_lookup(const struct pci_bus *bus)
{
	struct gf_switch *sw;

	gf_assert_locked();
	list_for_each_entry(sw, &gf.switches, list) {
		if (sw->bus == bus)
			return sw;
	}
	return NULL;
}

/**
 * gf_switch_get() - get the switch of a port, make it when it is new
 * @port: a port that can take a GPU
 *
 * Caller holds pci_rescan_remove_lock, and not the fabric's lock; only the
 * inventory worker calls this, so a switch is never made twice.
 *
 * Return: the switch with one more slot counted, NULL without memory.
 */
struct gf_switch *gf_switch_get(struct pci_dev *port)
{
	struct gf_switch *sw, *made = NULL;

	mutex_lock(&gf.lock);
	sw = switch_lookup(port->bus);
	if (sw)
		sw->slots++;
	mutex_unlock(&gf.lock);
	if (sw)
		return sw;

	made = switch_create(port);
	if (!made)
		return NULL;
	mutex_lock(&gf.lock);
	made->id = ++gf.next_switch;
	made->slots = 1;
	list_add_tail(&made->list, &gf.switches);
	gf.nr_switches++;
	gf_notify_moving(made);
	gf_event_switch(made, GPUFABRIC_EVENT_KIND_SWITCH_ADDED);
	mutex_unlock(&gf.lock);
	return made;
}

/**
 * gf_switch_put() - a slot of the switch is gone
 * @sw: switch; gone when that was its last slot
 */
void gf_switch_put(struct gf_switch *sw)
{
	gf_assert_locked();
	if (--sw->slots)
		return;
	gf_event_switch(sw, GPUFABRIC_EVENT_KIND_SWITCH_REMOVED);
	list_del(&sw->list);
	gf.nr_switches--;
	kfree(sw);
}

/* Find a switch by id. */
struct gf_switch *gf_switch_find(u32 id)
{
	struct gf_switch *sw;

	gf_assert_locked();
	list_for_each_entry(sw, &gf.switches, list) {
		if (sw->id == id)
			return sw;
	}
	return NULL;
}
