// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host bridges and what is below them: made, shown to the PCI core, taken away.
 */

/**
 * DOC: topology
 *
 * Each domain has one host bridge. Each of its switches hangs on a root port
 * of its own:
 *
 *	bus 0                      root ports, device = switch
 *	bus 1                      upstream port of the first switch
 *	bus 2                      its downstream ports
 *	bus 3 ...                  one for each slot, with the GPU
 *	bus 3 + slots              upstream port of the second switch ...
 *
 * The host bridges' memory windows are resources of our own that are never
 * inserted into the host's memory map: nothing decodes them. The prefetchable
 * ones start at 16 TiB and give each slot an equal part. The bridges are
 * preset as firmware would have done it with a card in each slot, so that a
 * card of any model always fits. No card needs a window below 4 GiB; the ports
 * get the usual small one, because else the kernel looks for it in vain, and
 * says so, whenever it scans a hot-plug port.
 *
 * Domains come after those of the host, whose firmware uses 16 bits.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

#define LOW_BASE	0xc0000000U
#define HIGH_BASE	BIT_ULL(44)
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
 * sim_domain_reset() - set up a domain for its switches
 * @domain: the domain; it is not on a bus
 * @first: number of its first switch
 * @count: how many switches, with as many slots each
 */
void sim_domain_reset(struct sim_domain *domain, unsigned int first,
		      unsigned int count)
{
	unsigned int slots = count * sim.sw[first]->nr_slots;
	u64 bytes = (u64)sim.window_gib << 30;
	u64 high = HIGH_BASE + sim.sw[first]->minor * bytes;
	u64 high_bytes = max(slots * bytes, sim_switch_window(sim.sw[first]));
	unsigned int i;

	domain->first = first;
	domain->count = count;
	domain->busn = (struct resource) {
		.name = "gpufabric_sim buses",
		.start = 0,
		.end = 255,
		.flags = IORESOURCE_BUS,
	};
	domain->low = (struct resource) {
		.name = "gpufabric_sim memory",
		.start = LOW_BASE,
		.end = LOW_BASE + slots * SIM_LOW_BYTES - 1,
		.flags = IORESOURCE_MEM,
	};
	domain->high = (struct resource) {
		.name = "gpufabric_sim memory",
		.start = high,
		.end = high + high_bytes - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64 |
			 IORESOURCE_PREFETCH,
	};
	for (i = 0; i < count; i++) {
		struct sim_switch *sw = sim.sw[first + i];

		sw->domain = domain;
		sw->place = i;
		sim_switch_preset(sw);
	}
}

/**
 * sim_topology_alloc() - build everything, unseen by the PCI core
 * @specs: what is in each slot, switch by switch
 *
 * After an error, sim_topology_free() frees what there is.
 *
 * Return: 0 or an error.
 */
int sim_topology_alloc(const struct sim_card_spec *specs)
{
	unsigned int i, first = 0;
	int ret;

	sim.sw = kcalloc(sim.switches + SIM_ADDED_SWITCHES, sizeof(*sim.sw),
			 GFP_KERNEL);
	sim.dom = kcalloc(sim.domains + SIM_ADDED_SWITCHES, sizeof(*sim.dom),
			  GFP_KERNEL);
	if (!sim.sw || !sim.dom)
		return -ENOMEM;
	for (i = 0; i < sim.switches; i++) {
		ret = sim_switch_alloc(i);
		if (!ret)
			ret = sim_switch_reset(sim.sw[i], specs + i * sim.slots,
					       sim.slots);
		if (ret)
			return ret;
	}
	for (i = 0; i < sim.domains; i++) {
		unsigned int left = sim.domains - i;
		unsigned int count = DIV_ROUND_UP(sim.switches - first, left);

		ret = sim_domain_alloc(i);
		if (ret)
			return ret;
		sim_domain_reset(sim.dom[i], first, count);
		first += count;
	}
	return 0;
}

/**
 * sim_topology_free() - free everything; nothing is on a bus any more
 */
void sim_topology_free(void)
{
	unsigned int i;

	for (i = 0; sim.sw && i < sim.switches + SIM_ADDED_SWITCHES; i++)
		sim_switch_free(sim.sw[i]);
	for (i = 0; sim.dom && i < sim.domains + SIM_ADDED_SWITCHES; i++)
		kfree(sim.dom[i]);
	kfree(sim.sw);
	kfree(sim.dom);
	sim.sw = NULL;
	sim.dom = NULL;
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
static void reveal(struct sim_domain *domain)
{
	struct sim_slot *slot;
	unsigned int i, n;

	for (i = 0; i < domain->count; i++)
		for (n = 0; (slot = sim_slot_at(sim.sw[domain->first + i],
						n)); n++)
			sim_port_reveal(&slot->port);
}

/**
 * sim_domain_add() - show a domain to the PCI core
 * @domain: the domain
 *
 * Return: 0 or an error.
 */
int sim_domain_add(struct sim_domain *domain)
{
	LIST_HEAD(resources);
	struct pci_bus *child;

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
	reveal(domain);
	return 0;
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
static void unbind_ports(const struct sim_domain *domain, unsigned int device)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(SIM_VENDOR_ID, device, pdev)))
		if (pdev->bus->ops == &sim_pci_ops &&
		    pdev->bus->sysdata == &domain->sysdata)
			device_release_driver(&pdev->dev);
}

/**
 * sim_domain_remove() - take a domain away from the PCI core
 * @domain: the domain, can be NULL
 *
 * Somebody may keep a reference to a device beyond our end. Marked as gone,
 * it is not accessed through operations that are no longer there.
 */
void sim_domain_remove(struct sim_domain *domain)
{
	if (!domain || !domain->bus)
		return;

	if (sim.mode == SIM_MODE_PCIEHP) {
		unbind_ports(domain, SIM_DEVICE_ROOT);
		unbind_ports(domain, SIM_DEVICE_DOWNSTREAM);
	}
	pci_lock_rescan_remove();
	pci_stop_root_bus(domain->bus);
	pci_walk_bus(domain->bus, mark_gone, NULL);
	pci_remove_root_bus(domain->bus);
	pci_unlock_rescan_remove();
	domain->bus = NULL;
	domain->count = 0;
	/* Removing the bus took the bridge out of the tree, no more. */
	pci_free_host_bridge(domain->bridge);
}

/* Says so if the ports are there in vain. */
static void check_driven(void)
{
	struct pci_dev *pdev = pci_get_device(SIM_VENDOR_ID,
					      SIM_DEVICE_DOWNSTREAM, NULL);

	if (pdev && !pdev->dev.driver)
		pr_warn("no driver for PCIe ports, so there are no slots: was the host booted with pcie_ports=compat?\n");
	pci_dev_put(pdev);
}

/**
 * sim_topology_add() - show everything to the PCI core
 *
 * After an error, sim_topology_remove() takes away what there is.
 *
 * Return: 0 or an error.
 */
int sim_topology_add(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < sim.domains; i++) {
		ret = sim_domain_add(sim.dom[i]);
		if (ret)
			return ret;
	}
	if (sim.mode == SIM_MODE_PCIEHP)
		check_driven();
	return 0;
}

/**
 * sim_topology_remove() - take everything away from the PCI core
 */
void sim_topology_remove(void)
{
	unsigned int i;

	for (i = 0; sim.dom && i < sim.domains; i++)
		sim_domain_remove(sim.dom[i]);
}
