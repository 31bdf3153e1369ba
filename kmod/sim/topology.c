// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches and domains of the parameters: all of them at once.
 */

/**
 * DOC: topology
 *
 * The switches are spread over the domains evenly. Each domain has windows of
 * exactly the size that its slots have together, one domain after the other;
 * those of run-time switches, see place.c, come after all of these.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

/* Places the switches from @first on. */
static int fill_domain(struct sim_domain *domain, unsigned int first,
		       unsigned int count)
{
	unsigned int i, slots = count * sim.slots;
	u64 window = sim.sw[first]->window;
	int ret = 0;

	sim_domain_reset(domain, slots,
			 SIM_HIGH_BASE + sim.sw[first]->minor * window,
			 slots * window);
	for (i = 0; i < count && !ret; i++)
		ret = sim_domain_place(domain, sim.sw[first + i]);
	return ret;
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
		ret = fill_domain(sim.dom[i], first, count);
		if (ret)
			return ret;
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

/* Says so if the ports are there in vain. */
static void check_driven(void)
{
	struct pci_dev *pdev = pci_get_device(SIM_VENDOR_ID,
					      SIM_DEVICE_DOWNSTREAM, NULL);

	if (pdev && !pdev->dev.driver)
		pr_warn("no driver for PCIe ports, so there are no slots; is pcie_ports=compat on the kernel command line?\n");
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
	sim_bus_close();
}
