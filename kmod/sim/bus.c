// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated buses: accessors, and what happens to devices on them.
 */

/**
 * DOC: buses
 *
 * The kernel's own bus structures say which function is addressed: a bus
 * without a bridge is a root bus, and the device numbers of the bridges above
 * any other bus lead to the switch and to the slot. So nothing depends on which
 * bus numbers the kernel assigned; but a bridge that has none, because it was
 * reset, forwards nothing. A bus pins the device of the bridge above it, which
 * makes this safe while anything can still address the bus.
 *
 * The accessors run with interrupts off, and in hard interrupt context when
 * pciehp reads its port. On this architecture the PCI core does not serialise
 * them; the lock of the switch or of the slot does.
 *
 * The bus notifier runs before a driver can match: there each simulated GPU
 * gets a driver override, so that not even a driver that was told the private
 * ids through new_id can bind to it.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/notifier.h>

static struct sim_domain *domain_of(struct pci_bus *bus)
{
	struct pci_sysdata *sysdata = bus->sysdata;

	return container_of(sysdata, struct sim_domain, sysdata);
}

static struct sim_switch *switch_at(struct pci_bus *root, unsigned int devfn)
{
	struct sim_domain *domain = domain_of(root);

	if (PCI_FUNC(devfn))
		return NULL;
	/* Pairs with sim_domain_place(). */
	return smp_load_acquire(&domain->sw[PCI_SLOT(devfn)]);
}

/* The switch whose upstream port is directly on @bus. */
static struct sim_switch *switch_below(struct pci_bus *bus)
{
	return switch_at(bus->parent, bus->self->devfn);
}

static struct sim_slot *slot_at(struct pci_bus *bus, unsigned int devfn)
{
	struct sim_switch *sw = switch_below(bus->parent);
	unsigned int number = devfn;

	if (sw && sw->nr_slots <= 32) {
		if (PCI_FUNC(devfn))
			return NULL;
		number = PCI_SLOT(devfn);
	}
	return sw ? sim_slot_at(sw, number) : NULL;
}

/* Bridges above the bus of a slot, and above that of a GPU behind a card's switch. */
#define DEPTH_SLOT	3
#define DEPTH_BEHIND	5

/* How many bridges are above a bus. */
static unsigned int bus_depth(struct pci_bus *bus)
{
	unsigned int depth = 0;

	while (bus->parent) {
		bus = bus->parent;
		depth++;
	}
	return depth;
}

/**
 * struct target - a function that can be addressed
 * @fn: its registers
 * @port: the port that it is, or that it is below; has the lock for @fn
 * @own: the function is @port itself
 * @depth: bridges above it
 * @inner: of a card with a switch: the port, by number, that it is or is behind
 * @vf: it is a virtual function, and which, counted from 1
 * @sw: the switch that it is in, or that is below it
 */
struct target {
	struct sim_fn *fn;
	struct sim_port *port;
	bool own;
	unsigned int depth;
	unsigned int inner;
	unsigned int vf;
	struct sim_switch *sw;
};

static bool find_in_switch(struct pci_bus *bus, unsigned int devfn,
			   unsigned int depth, struct target *target)
{
	if (depth && devfn)
		return false;
	target->sw = depth ? switch_below(bus) : switch_at(bus, devfn);
	if (!target->sw)
		return false;
	target->port = &target->sw->root;
	target->own = !depth;
	target->fn = depth ? &target->sw->upstream : &target->port->fn;
	return true;
}

static struct sim_fn *gpu_function(struct sim_card *card, unsigned int devfn,
				   struct target *target)
{
	if (devfn < SIM_FUNCTIONS)
		return &card->fn[target->inner][devfn];
	if (devfn <= card->audio)
		return &card->fn[target->inner][1];
	if (devfn >= SIM_VF_FIRST + SIM_VFS || target->inner)
		return NULL;
	target->vf = devfn - SIM_VF_FIRST + 1;
	return &card->vf;
}

/*
 * Upstream port, downstream ports, GPUs. What is behind a bridge without a switch
 * is found by nobody.
 */
static struct sim_fn *card_function(struct sim_slot *slot, struct pci_bus *bus,
				    unsigned int devfn, struct target *target)
{
	struct sim_card *card = &slot->card;

	switch (target->depth) {
	case DEPTH_SLOT:
		if (!card->bridged && !card->ports)
			return gpu_function(card, devfn, target);
		return devfn ? NULL : &card->bridge;
	case DEPTH_SLOT + 1:
		target->inner = PCI_SLOT(devfn);
		if (PCI_FUNC(devfn) || target->inner >= card->ports)
			return NULL;
		return &card->inner[target->inner];
	default:
		target->inner = PCI_SLOT(bus->self->devfn);
		if (target->inner >= card->ports)
			return NULL;
		return gpu_function(card, devfn, target);
	}
}

/* The bus of the slot that a bus of a card belongs to. */
static struct pci_bus *slot_bus(struct pci_bus *bus, unsigned int depth)
{
	while (depth-- > DEPTH_SLOT)
		bus = bus->parent;
	return bus;
}

static bool find_in_slot(struct pci_bus *bus, unsigned int devfn,
			 unsigned int depth, struct target *target)
{
	struct sim_slot *slot;
	struct pci_bus *first;

	if (depth > DEPTH_BEHIND)
		return false;
	target->own = depth < DEPTH_SLOT;
	target->depth = depth;
	if (target->own) {
		slot = slot_at(bus, devfn);
	} else {
		first = slot_bus(bus, depth);
		slot = slot_at(first->parent, first->self->devfn);
	}
	if (!slot)
		return false;
	target->sw = slot->sw;
	target->port = &slot->port;
	target->fn = target->own ? &slot->port.fn :
				   card_function(slot, bus, devfn, target);
	return target->fn;
}

/* No bus is left. */
static bool closed;

/**
 * sim_bus_close() - whoever addresses a bus from now on is wrong
 *
 * The next thing that goes is this code.
 */
void sim_bus_close(void)
{
	WRITE_ONCE(closed, true);
}

static bool find_target(struct pci_bus *bus, unsigned int devfn,
			struct target *target)
{
	unsigned int depth;

	if (WARN_ONCE(READ_ONCE(closed),
		      "config space is accessed after its host bridge was removed\n"))
		return false;
	depth = bus_depth(bus);
	return depth < 2 ? find_in_switch(bus, devfn, depth, target) :
			   find_in_slot(bus, devfn, depth, target);
}

/* One that sleeps forwards nothing. */
static bool forwards(const struct sim_fn *bridge)
{
	return READ_ONCE(bridge->cfg[PCI_SECONDARY_BUS]) &&
	       sim_config_is_awake(bridge);
}

/* Whether the bridges of the card forward what is for a function of it. */
static bool card_forwards(const struct target *target)
{
	const struct sim_card *card = &sim_slot_of(target->port)->card;

	return (target->depth <= DEPTH_SLOT || forwards(&card->bridge)) &&
	       (target->depth < DEPTH_BEHIND ||
		forwards(&card->inner[target->inner]));
}

/* Whether the function answers; the caller holds the port's lock. */
static bool answers(const struct target *target)
{
	const struct sim_port *port = target->port;
	const struct sim_port *root = &target->sw->root;

	lockdep_assert_held(&port->lock);

	/* A switch that is going away now may have answered just before. */
	if (port != root && !(sim_port_answers(root) && forwards(&root->fn) &&
			      forwards(&target->sw->upstream)))
		return false;
	if (target->own)
		return !port->cold;
	if (port != root && !card_forwards(target))
		return false;
	if (target->vf &&
	    !sim_config_has_vf(&sim_slot_of(target->port)->card, target->vf - 1))
		return false;
	/* A function that a card lacks has no vendor id. */
	return sim_port_answers(port) && forwards(&port->fn) &&
	       port->active != SIM_FAULT_ENUMERATE &&
	       sim_get16(target->fn, PCI_VENDOR_ID);
}

static int bus_read(struct pci_bus *bus, unsigned int devfn, int where,
		    int size, u32 *value)
{
	struct target target = {};
	unsigned long flags;

	*value = ~0;
	if (!find_target(bus, devfn, &target))
		return PCIBIOS_DEVICE_NOT_FOUND;

	raw_spin_lock_irqsave(&target.port->lock, flags);
	sim_power_access(target.port, target.fn);
	if (answers(&target))
		*value = sim_fn_read(target.fn, where, size);
	raw_spin_unlock_irqrestore(&target.port->lock, flags);
	return PCIBIOS_SUCCESSFUL;
}

/* A bridge of the card resets what is behind it while its bit is set. */
static void reset_behind(const struct target *target)
{
	struct sim_slot *slot = sim_slot_of(target->port);
	unsigned int i;

	if (!(sim_get16(target->fn, PCI_BRIDGE_CONTROL) &
	      PCI_BRIDGE_CTL_BUS_RESET))
		return;
	for (i = 0; i < slot->card.ports; i++)
		if (target->fn == &slot->card.bridge)
			sim_config_behind(slot, i, true);
		else if (target->fn == &slot->card.inner[i])
			sim_config_behind(slot, i, false);
}

static void write_below(const struct target *target, int where, int size,
			u32 value)
{
	sim_fn_write(target->fn, where, size, value);
	/* The upstream port of a switch is below a root port. */
	if (target->depth >= DEPTH_SLOT)
		reset_behind(target);
}

static int bus_write(struct pci_bus *bus, unsigned int devfn, int where,
		     int size, u32 value)
{
	struct target target = {};
	unsigned long flags;

	if (!find_target(bus, devfn, &target))
		return PCIBIOS_DEVICE_NOT_FOUND;

	raw_spin_lock_irqsave(&target.port->lock, flags);
	sim_power_access(target.port, target.fn);
	if (!answers(&target))
		;
	else if (target.own)
		sim_port_write(target.port, where, size, value);
	else
		write_below(&target, where, size, value);
	raw_spin_unlock_irqrestore(&target.port->lock, flags);
	return PCIBIOS_SUCCESSFUL;
}

struct pci_ops sim_pci_ops = {
	.read = bus_read,
	.write = bus_write,
};

/**
 * sim_bus_find() - the registers of a function
 * @pdev: the function, on one of our buses
 * @port: the port that it is, or is below; has the lock for @fn
 * @fn: its registers
 *
 * Return: whether there are any.
 */
bool sim_bus_find(struct pci_dev *pdev, struct sim_port **port,
		  struct sim_fn **fn)
{
	struct target target = {};

	if (!find_target(pdev->bus, pdev->devfn, &target))
		return false;
	*port = target.port;
	*fn = target.fn;
	return true;
}

/**
 * sim_slot_of_port() - the slot of a downstream port
 * @pdev: any PCI device
 *
 * Return: the slot, NULL if @pdev is not a simulated downstream port.
 */
struct sim_slot *sim_slot_of_port(struct pci_dev *pdev)
{
	if (pdev->bus->ops != &sim_pci_ops || bus_depth(pdev->bus) != 2)
		return NULL;
	return slot_at(pdev->bus, pdev->devfn);
}

/**
 * sim_slot_of_card() - the slot that a function of a GPU is in
 * @pdev: any PCI device
 * @gpu: number of the GPU on its card
 *
 * Return: the slot, NULL if @pdev is not a function of a simulated GPU.
 */
struct sim_slot *sim_slot_of_card(struct pci_dev *pdev, unsigned int *gpu)
{
	unsigned int depth;
	struct pci_bus *bus;

	if (pdev->bus->ops != &sim_pci_ops || pci_is_bridge(pdev))
		return NULL;
	depth = bus_depth(pdev->bus);
	if (depth != DEPTH_SLOT && depth != DEPTH_BEHIND)
		return NULL;
	*gpu = depth == DEPTH_SLOT ? 0 : PCI_SLOT(pdev->bus->self->devfn);
	bus = slot_bus(pdev->bus, depth);
	return slot_at(bus->parent, bus->self->devfn);
}

/**
 * sim_switch_of_port() - the switch that a port is part of or is for
 * @pdev: any PCI device
 *
 * Return: the switch, NULL if @pdev is neither a simulated root port nor a
 * simulated downstream port.
 */
struct sim_switch *sim_switch_of_port(struct pci_dev *pdev)
{
	struct sim_slot *slot = sim_slot_of_port(pdev);

	if (slot)
		return slot->sw;
	if (pdev->bus->ops != &sim_pci_ops || !pci_is_root_bus(pdev->bus))
		return NULL;
	return switch_at(pdev->bus, pdev->devfn);
}

static void card_added(struct pci_dev *pdev)
{
	const char *driver = pdev->devfn ? SIM_NO_DRIVER : SIM_DRIVER_NAME;
	char *chosen = NULL;
	int err;

	device_lock(&pdev->dev);
	err = gpufabric_get_driver_override(pdev, &chosen);
	device_unlock(&pdev->dev);
	/* Somebody who asked for a driver was told of the card before us. */
	if (!err && !chosen)
		err = gpufabric_set_driver_override(pdev, driver);
	kfree(chosen);
	if (err)
		pci_err(pdev, "no memory for the driver override\n");
}

/*
 * Closed I/O windows look as if they could be opened. The ports have none at
 * all, so the kernel need not try to find room for one at each scan.
 */
static void bridge_added(struct pci_dev *pdev, struct sim_slot *slot)
{
	struct sim_port *port = NULL;

	pdev->io_window = 0;
	if (slot)
		port = &slot->port;
	else if (pci_is_root_bus(pdev->bus))
		port = &switch_at(pdev->bus, pdev->devfn)->root;
	if (port && port->irq && port->controlled)
		pdev->irq = port->irq;
	if (slot && sim.mode == SIM_MODE_OWN)
		sim_own_port_added(slot, pdev);
}

static int bus_notify(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	struct sim_slot *slot;
	unsigned int gpu;

	if (pdev->bus->ops != &sim_pci_ops)
		return NOTIFY_DONE;

	slot = sim_slot_of_port(pdev);
	if (action == BUS_NOTIFY_ADD_DEVICE) {
		sim_power_add(pdev);
		if (sim_slot_of_card(pdev, &gpu))
			card_added(pdev);
		else
			bridge_added(pdev, slot);
	} else if (action == BUS_NOTIFY_DEL_DEVICE) {
		if (slot && sim.mode == SIM_MODE_OWN)
			sim_own_port_removed(slot, pdev);
	}
	return NOTIFY_OK;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_notify,
};

/**
 * sim_bus_register() - watch what is added to and removed from PCI buses
 *
 * Return: 0 or an error.
 */
int sim_bus_register(void)
{
	return bus_register_notifier(&pci_bus_type, &bus_notifier);
}

/**
 * sim_bus_unregister() - stop watching
 */
void sim_bus_unregister(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
}
