// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Finding the functions of a card
 *
 * Whatever is below a slot's port is in the slot, behind switches of the card as well, but not
 * behind a chassis (card.h). Which device number a slot driver registered its slot for says
 * nothing: kernels differ in how they write "all devices".
 *
 * pci_walk_bus() is the only way to look, and it takes references: drivers make virtual functions
 * come and go without pci_rescan_remove_lock. These are part of the function that they come from.
 */
#include <linux/slab.h>

#include "snapshot.h"

bool gf_is_gpu_class(u32 class)
{
	u8 base = class >> 16;

	return base == PCI_BASE_CLASS_DISPLAY || base == 0x12;
}

/* Only what the PCI core remembers is read: this runs under pci_bus_sem. */
static void count_ports(const struct pci_bus *bus, struct gf_card_switch *sw)
{
	struct pci_dev *pdev;

	*sw = (struct gf_card_switch){};
	list_for_each_entry(pdev, &bus->devices, bus_list) {
		if (!pci_is_pcie(pdev) || pci_pcie_type(pdev) != PCI_EXP_TYPE_DOWNSTREAM)
			continue;
		sw->ports++;
		sw->slotted += !!(pcie_caps_reg(pdev) & PCI_EXP_FLAGS_SLOT);
		sw->managed += gf_notify_knows(pdev, NULL);
	}
}

/* With the first one on the bus all are counted. */
static int count(struct pci_dev *pdev, void *sw)
{
	count_ports(pdev->bus, sw);
	return 1;
}

/* Look at the ports of a switch on a bus that the caller has pinned. */
void gf_walk_switch(struct pci_bus *bus, struct gf_card_switch *sw)
{
	*sw = (struct gf_card_switch){};
	pci_walk_bus(bus, count, sw);
}

/* Whether a function below a slot's port is part of its card; pci_rescan_remove_lock is held. */
bool gf_is_on_card(const struct gf_slot *slot, const struct pci_dev *pdev)
{
	bool chosen = gf_inventory_is_card(slot->port);
	struct gf_card_switch sw;
	struct pci_bus *bus;

	for (bus = pdev->bus; bus->self != slot->port; bus = bus->parent) {
		gf_walk_switch(bus, &sw);
		if (!gf_card_has(&sw, chosen))
			return false;
	}
	return true;
}

struct collecting {
	const struct pci_bus *bus; /* the bus that the walk begins on */
	bool deep; /* those behind bridges, too */
	bool vfs; /* virtual functions, too */
	bool chosen; /* the admin says that it is a card */
	struct gf_functions *functions; /* where they go */
	unsigned int room; /* how many it has room for */
	unsigned int found; /* how many there are */
};

/* The walk holds pci_bus_sem. */
static bool is_behind_chassis(const struct pci_dev *pdev, const struct collecting *to)
{
	const struct pci_bus *bus;
	struct gf_card_switch sw;

	for (bus = pdev->bus; bus != to->bus; bus = bus->parent) {
		count_ports(bus, &sw);
		if (!gf_card_has(&sw, to->chosen))
			return true;
	}
	return false;
}

/* Runs under pci_bus_sem, so it does nothing but look and take references. */
static int collect(struct pci_dev *pdev, void *data)
{
	struct collecting *to = data;

	if ((pdev->is_virtfn && !to->vfs) || (!to->deep && pdev->bus != to->bus))
		return 0;
	if (is_behind_chassis(pdev, to)) {
		to->functions->chassis = true;
		return 0;
	}
	if (to->found++ < to->room)
		to->functions->pdev[to->functions->count++] = pci_dev_get(pdev);
	return 0;
}

/* Counts them first. More may come while memory is had for those that were there. */
static struct gf_functions *collect_all(struct pci_bus *bus, struct collecting *to)
{
	to->bus = bus;
	do {
		gf_functions_put(to->functions);
		to->room = to->found;
		to->found = 0;
		to->functions = kzalloc(struct_size(to->functions, pdev, to->room), GFP_KERNEL);
		if (!to->functions)
			return NULL;
		refcount_set(&to->functions->refs, 1);
		pci_walk_bus(bus, collect, to);
	} while (to->found > to->room);
	return to->functions;
}

/* The functions on this bus alone, or NULL without memory; pci_rescan_remove_lock is held. */
struct gf_functions *gf_functions_on(struct pci_bus *bus)
{
	struct collecting to = {};

	return collect_all(bus, &to);
}

/*
 * The functions of the card in a slot, or NULL without memory; pci_rescan_remove_lock is held.
 * @vfs: with virtual functions, which may come and go all the time.
 */
struct gf_functions *gf_functions_in(struct gf_slot *slot, bool vfs)
{
	struct collecting to = {
		.deep = true, .vfs = vfs, .chosen = gf_inventory_is_card(slot->port),
	};

	return collect_all(slot->port->subordinate, &to);
}

struct gf_functions *gf_functions_get(struct gf_functions *functions)
{
	refcount_inc(&functions->refs);
	return functions;
}

void gf_functions_put(struct gf_functions *functions)
{
	unsigned int i;

	if (!functions || !refcount_dec_and_test(&functions->refs))
		return;
	for (i = 0; i < functions->count; i++)
		pci_dev_put(functions->pdev[i]);
	kfree(functions);
}

/* Whether there are functions, but for virtual ones, or @gpus, that are not among those @known. */
bool gf_functions_bring(const struct gf_functions *functions, const struct gf_functions *known,
			bool gpus)
{
	unsigned int i, j;

	for (i = 0; i < functions->count; i++) {
		const struct pci_dev *pdev = functions->pdev[i];

		if (pdev->is_virtfn || (gpus && !gf_is_gpu_class(pdev->class)))
			continue;
		for (j = 0; known && j < known->count && known->pdev[j] != pdev; j++)
			;
		if (!known || j == known->count)
			return true;
	}
	return false;
}

/* A GPU of a card, counted from 0; NULL after the last one, and in a chassis. */
struct pci_dev *gf_functions_gpu(const struct gf_functions *functions, unsigned int index)
{
	unsigned int i;

	for (i = 0; !functions->chassis && i < functions->count; i++) {
		if (gf_is_gpu_class(functions->pdev[i]->class) && !index--)
			return functions->pdev[i];
	}
	return NULL;
}
