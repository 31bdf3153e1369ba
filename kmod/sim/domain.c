// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host bridge and the switches below it: made, shown to the PCI core, taken
 * away.
 */

/**
 * DOC: domain
 *
 * Each domain has one host bridge. Each of its switches hangs on a root port
 * of its own:
 *
 *	bus 0                      root ports, device = place of the switch
 *	bus 1                      upstream port of the first switch
 *	bus 2                      its downstream ports
 *	bus 3 ...                  one for each slot, with the GPU
 *	bus 3 + slots              upstream port of the second switch ...
 *
 * The host bridges' memory windows are resources of our own that are never
 * inserted into the host's memory map: nothing decodes them. The prefetchable
 * ones start at 16 TiB. The bridges are preset as firmware would have done it
 * with a card in each slot, so that a card of any model always fits. No card
 * needs a window below 4 GiB; the ports get the usual small one, because else
 * the kernel looks for it in vain, and says so, whenever it scans a hot-plug
 * port.
 *
 * A switch that is added to a domain later gets the lowest place, bus numbers
 * and addresses that are free there. One whose bridges the kernel sizes comes
 * behind all others, as the kernel has it.
 *
 * Domains come after those of the host, whose firmware uses 16 bits.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

#define FIRST_DOMAIN	0x10000

/**
 * sim_domain_alloc() - make a domain that nothing is in
 * @index: its number
 *
 * Like a switch it stays in memory until the module goes, because buses that
 * somebody still refers to point to it.
 *
 * Return: 0 or an error.
 */
int sim_domain_alloc(unsigned int index)
{
	struct sim_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL);

	if (!domain)
		return -ENOMEM;
	domain->sysdata.node = index < sim.domains ? sim.node[index] :
						     NUMA_NO_NODE;
	sim.dom[index] = domain;
	return 0;
}

/**
 * sim_domain_reset() - set up a domain without switches
 * @domain: the domain; it is not on a bus
 * @slots: how many slots it has room for below 4 GiB
 * @high: where its prefetchable window is
 * @bytes: how large that is
 */
void sim_domain_reset(struct sim_domain *domain, unsigned int slots, u64 high,
		      u64 bytes)
{
	memset(domain->sw, 0, sizeof(domain->sw));
	domain->busn = (struct resource) {
		.name = "gpufabric_sim buses",
		.start = 0,
		.end = 255,
		.flags = IORESOURCE_BUS,
	};
	domain->low = (struct resource) {
		.name = "gpufabric_sim memory",
		.start = SIM_LOW_BASE,
		.end = SIM_LOW_BASE + slots * SIM_LOW_BYTES - 1,
		.flags = IORESOURCE_MEM,
	};
	domain->high = (struct resource) {
		.name = "gpufabric_sim memory",
		.start = high,
		.end = high + bytes - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64 |
			 IORESOURCE_PREFETCH,
	};
}

static bool overlap(const struct sim_range *range, u64 start, u64 count)
{
	return range->count && start < range->start + range->count &&
	       range->start < start + count;
}

/* The switch that has part of what begins at @start, NULL if it is free. */
static struct sim_switch *owner(const struct sim_domain *domain,
				enum sim_space space, u64 start, u64 count)
{
	unsigned int i;

	for (i = 0; i < SIM_DOMAIN_SWITCHES; i++) {
		struct sim_switch *sw = domain->sw[i];

		if (sw && overlap(&sw->range[space], start, count))
			return sw;
	}
	return NULL;
}

/* Takes the lowest part of a space that is free. */
static int take_range(const struct sim_domain *domain, struct sim_switch *sw,
		      enum sim_space space, u64 count, u64 align)
{
	const struct resource *all = space == SIM_BUSES ? &domain->busn :
				     space == SIM_LOW ? &domain->low :
							&domain->high;
	/* Bus 0 is that of the root ports. */
	u64 start = space == SIM_BUSES ? 1 : all->start;
	const struct sim_switch *other;

	start = round_up(start, align);
	while ((other = owner(domain, space, start, count)))
		start = round_up(other->range[space].start +
				 other->range[space].count, align);
	if (start + count - 1 > all->end)
		return -ENOSPC;
	sw->range[space].start = start;
	sw->range[space].count = count;
	return 0;
}

static int take_ranges(const struct sim_domain *domain, struct sim_switch *sw)
{
	/* The kernel finds what is free; what it took is noted afterwards. */
	if (!sw->firmware)
		return 0;
	return take_range(domain, sw, SIM_BUSES, sim_switch_buses(sw), 1) ?:
	       take_range(domain, sw, SIM_LOW, sw->nr_slots * SIM_LOW_BYTES,
			  SIM_LOW_BYTES) ?:
	       take_range(domain, sw, SIM_HIGH, sim_switch_window(sw),
			  sw->window);
}

/**
 * sim_domain_place() - give a switch its place in a domain
 * @domain: the domain
 * @sw: the switch, with its slots; it is on no bus
 *
 * Return: 0, or -ENOSPC if there is no room.
 */
int sim_domain_place(struct sim_domain *domain, struct sim_switch *sw)
{
	unsigned int place = 0;
	int ret;

	memset(sw->range, 0, sizeof(sw->range));
	while (place < SIM_DOMAIN_SWITCHES && domain->sw[place])
		place++;
	if (place == SIM_DOMAIN_SWITCHES)
		return -ENOSPC;
	ret = take_ranges(domain, sw);
	if (ret)
		return ret;
	sw->domain = domain;
	sw->place = place;
	sim_switch_preset(sw);
	/* Whoever finds it finds it preset. */
	smp_store_release(&domain->sw[place], sw);
	return 0;
}

static int free_domain_number(void)
{
	int domain = FIRST_DOMAIN - 1;
	struct pci_bus *bus = NULL;

	while ((bus = pci_find_next_bus(bus)))
		domain = max_t(int, domain, pci_domain_nr(bus));
	return domain + 1;
}

/* The slots that are to be found off show what is in them. */
static void reveal(const struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		sim_port_reveal(&slot->port);
}

/**
 * sim_domain_add() - show a domain to the PCI core, with what is placed in it
 * @domain: the domain
 *
 * Return: 0 or an error.
 */
int sim_domain_add(struct sim_domain *domain)
{
	LIST_HEAD(resources);
	struct pci_bus *child;
	unsigned int i;

	domain->sysdata.domain = free_domain_number();
	pci_add_resource(&resources, &domain->busn);
	pci_add_resource(&resources, &domain->low);
	pci_add_resource(&resources, &domain->high);

	pci_lock_rescan_remove();
	domain->bus = pci_create_root_bus(sim.parent, 0, &sim_pci_ops,
					  &domain->sysdata, &resources);
	if (!domain->bus) {
		pci_unlock_rescan_remove();
		pci_free_resource_list(&resources);
		pr_err("domain %04x cannot be created\n",
		       domain->sysdata.domain);
		return -EBUSY;
	}
	domain->bridge = to_pci_host_bridge(domain->bus->bridge);

	pci_scan_child_bus(domain->bus);
	if (sim.firmware)
		pci_bus_claim_resources(domain->bus);
	pci_assign_unassigned_bus_resources(domain->bus);
	list_for_each_entry(child, &domain->bus->children, node)
		pcie_bus_configure_settings(child);
	pci_bus_add_devices(domain->bus);
	pci_unlock_rescan_remove();
	for (i = 0; i < SIM_DOMAIN_SWITCHES; i++)
		if (domain->sw[i])
			reveal(domain->sw[i]);
	return 0;
}

/* The last bus number that a switch has. */
static int last_bus(const struct sim_domain *domain)
{
	u64 last = 0;
	unsigned int i;

	for (i = 0; i < SIM_DOMAIN_SWITCHES; i++) {
		const struct sim_switch *sw = domain->sw[i];

		if (sw && sw->range[SIM_BUSES].count)
			last = max(last, sw->range[SIM_BUSES].start +
					 sw->range[SIM_BUSES].count - 1);
	}
	return last;
}

/* Assigns what a switch needs; its buses have been scanned. */
static void assign(struct sim_switch *sw, struct pci_dev *root)
{
	struct pci_bus *below = root->subordinate;

	if (sw->firmware) {
		pci_bus_claim_resources(below);
		pci_assign_unassigned_bus_resources(below);
	} else {
		pci_assign_unassigned_bridge_resources(root);
		sw->range[SIM_BUSES].start = below->busn_res.start;
		sw->range[SIM_BUSES].count = resource_size(&below->busn_res);
	}
	pcie_bus_configure_settings(below);
}

/**
 * sim_domain_plug() - show a switch to the PCI core
 * @sw: the switch, which has its place in a domain that is there
 *
 * Only what is new is scanned: a slot of another switch may be just being
 * turned on.
 *
 * Return: 0 or an error.
 */
int sim_domain_plug(struct sim_switch *sw)
{
	struct pci_bus *bus = sw->domain->bus;
	unsigned int devfn = PCI_DEVFN(sw->place, 0);
	int last = last_bus(sw->domain);
	struct pci_dev *root;
	int ret = 0;

	pci_lock_rescan_remove();
	pci_scan_slot(bus, devfn);
	root = pci_get_slot(bus, devfn);
	if (root) {
		last = pci_scan_bridge(bus, root, last, 0);
		pci_scan_bridge(bus, root, last, 1);
	}
	if (root && root->subordinate)
		assign(sw, root);
	else
		ret = -ENOSPC;
	pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	pci_dev_put(root);
	if (!ret)
		reveal(sw);
	return ret;
}

static int mark_gone(struct pci_dev *pdev, void *unused)
{
	pdev->error_state = pci_channel_io_perm_failure;
	return 0;
}

/*
 * Removing a port waits for what its pciehp is doing, under the rescan lock,
 * and pciehp waits for that lock to do it: a dead-lock. So pciehp goes first,
 * without the lock; from the root ports down, so that none of them can remove
 * a switch meanwhile.
 */
static void unbind_ports(const struct sim_domain *domain,
			 const struct sim_switch *sw, unsigned int device)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(SIM_VENDOR_ID, device, pdev)))
		if (pdev->bus->ops == &sim_pci_ops &&
		    pdev->bus->sysdata == &domain->sysdata &&
		    (!sw || sim_switch_of_port(pdev) == sw))
			device_release_driver(&pdev->dev);
}

/* All of the domain if @sw is NULL. */
static void unbind(const struct sim_domain *domain, const struct sim_switch *sw)
{
	if (sim.mode != SIM_MODE_PCIEHP)
		return;
	unbind_ports(domain, sw, SIM_DEVICE_ROOT);
	unbind_ports(domain, sw, SIM_DEVICE_DOWNSTREAM);
}

/**
 * sim_domain_unplug() - take a switch away from the PCI core
 * @sw: the switch, which has its place in a domain
 *
 * It is pulled out: whoever has kept a reference to a device can see that it is
 * gone.
 */
void sim_domain_unplug(struct sim_switch *sw)
{
	struct sim_domain *domain = sw->domain;
	struct pci_dev *root;

	unbind(domain, sw);
	pci_lock_rescan_remove();
	root = pci_get_slot(domain->bus, PCI_DEVFN(sw->place, 0));
	if (root) {
		if (root->subordinate)
			pci_walk_bus(root->subordinate, mark_gone, NULL);
		mark_gone(root, NULL);
		pci_stop_and_remove_bus_device(root);
	}
	pci_unlock_rescan_remove();
	pci_dev_put(root);
	sim_domain_unplace(sw);
}

/**
 * sim_domain_unplace() - a switch gives its place back
 * @sw: the switch; it is on no bus
 */
void sim_domain_unplace(struct sim_switch *sw)
{
	WRITE_ONCE(sw->domain->sw[sw->place], NULL);
	sw->domain = NULL;
}

/**
 * sim_domain_empty() - whether no switch has its place in a domain
 * @domain: the domain
 */
bool sim_domain_empty(const struct sim_domain *domain)
{
	return !memchr_inv(domain->sw, 0, sizeof(domain->sw));
}

/**
 * sim_domain_remove() - take a domain away from the PCI core
 * @domain: the domain, can be NULL
 *
 * Its devices are not marked as gone, as little as those of a host bridge whose
 * driver is unloaded: whoever accesses one that he has kept a reference to calls
 * operations that are no longer there. See sim_bus_close().
 */
void sim_domain_remove(struct sim_domain *domain)
{
	if (!domain || !domain->bus)
		return;

	unbind(domain, NULL);
	pci_lock_rescan_remove();
	pci_stop_root_bus(domain->bus);
	pci_remove_root_bus(domain->bus);
	pci_unlock_rescan_remove();
	domain->bus = NULL;
	/* Removing the bus took the bridge out of the tree, no more. */
	pci_free_host_bridge(domain->bridge);
}
