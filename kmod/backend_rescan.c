// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Ports without a slot driver
 *
 * Many composable switches present plain downstream ports: no hot-plug
 * controller, and a fabric manager that connects devices behind the host's
 * back. Such a port is worked by its link: a GPU is detached by removing its
 * functions and disabling the link, and attached by enabling the link and
 * scanning the bus below, that one alone.
 *
 * Nothing is announced there. Presence is that the link is up; while we have
 * it disabled nobody can tell, and what was there last is believed to be. The
 * inventory looks at these ports as it looks at slots. Functions whose link went
 * down stay: nobody here knows who took it down, and for how long.
 *
 * Registers of the port are written by the worker of the slot's one operation;
 * LNKCTL is shared with ASPM, so bits are changed by the PCI core's accessors.
 */
#include <linux/delay.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include "backend.h"
#include "compat.h"
#include "rescan.h"
#include "sight.h"
#include "snapshot.h"

/*
 * PCI Express Base Specification 6.0, 6.6.1: a link has a second to come up,
 * and a device 100 ms from then on before it must answer.
 */
#define LINK_UP_MS 1000
#define LINK_POLL_MS 10
#define DEVICE_READY_MS 100

static bool is_disabled(struct pci_dev *port)
{
	u16 control = 0;

	pcie_capability_read_word(port, PCI_EXP_LNKCTL, &control);
	return control & PCI_EXP_LNKCTL_LD;
}

static void set_link(struct pci_dev *port, bool on)
{
	if (on)
		pcie_capability_clear_word(port, PCI_EXP_LNKCTL,
					   PCI_EXP_LNKCTL_LD);
	else
		pcie_capability_set_word(port, PCI_EXP_LNKCTL,
					 PCI_EXP_LNKCTL_LD);
}

static bool wait_for_link(struct gf_slot *slot)
{
	unsigned int ms;

	for (ms = 0; ms < LINK_UP_MS; ms += LINK_POLL_MS) {
		if (gf_link_is_up(slot->port) || READ_ONCE(slot->dying))
			break;
		msleep(LINK_POLL_MS);
	}
	return gf_link_is_up(slot->port);
}

/*
 * A link that does not come up is disabled once more, which makes both ends
 * begin anew. It stays enabled then, so that a GPU that comes later is seen.
 */
static bool bring_link_up(struct gf_slot *slot)
{
	set_link(slot->port, true);
	if (wait_for_link(slot))
		return true;
	set_link(slot->port, false);
	msleep(DEVICE_READY_MS);
	set_link(slot->port, true);
	return wait_for_link(slot);
}

/* As pciehp does for a card that came; caller holds the rescan lock. */
static int add_functions(struct gf_slot *slot)
{
	struct pci_bus *bus = slot->port->subordinate;
	struct gf_functions *functions;
	unsigned int i;

	if (READ_ONCE(slot->dying) || !device_is_registered(&slot->port->dev) ||
	    !bus)
		return -ENODEV;
	if (!pci_scan_slot(bus, PCI_DEVFN(0, 0)))
		return list_empty(&bus->devices) ? -ENODEV : 0;
	functions = gf_functions_on(bus);
	if (!functions)
		return -ENOMEM;
	for (i = 0; i < functions->count; i++) {
		if (pci_is_bridge(functions->pdev[i]))
			pci_hp_add_bridge(functions->pdev[i]);
	}
	gf_functions_put(functions);
	pci_assign_unassigned_bridge_resources(slot->port);
	pcie_bus_configure_settings(bus);
	pci_bus_add_devices(bus);
	return 0;
}

/*
 * Caller holds the rescan lock. Virtual functions go with the driver of the one
 * that they are part of.
 */
static int remove_functions(struct pci_bus *bus)
{
	struct gf_functions *functions = gf_functions_on(bus);
	unsigned int i;

	if (!functions)
		return -ENOMEM;
	for (i = functions->count; i--;) {
		pci_stop_and_remove_bus_device(functions->pdev[i]);
		/* Nothing comes from it any more, until the link is down. */
		pci_clear_master(functions->pdev[i]);
	}
	gf_functions_put(functions);
	return 0;
}

static int rescan_attach(struct gf_slot *slot)
{
	struct pci_dev *port = slot->port;
	struct gf_rescan rescan;
	int err;

	if (READ_ONCE(slot->dying))
		return -ENODEV;
	pm_runtime_get_sync(&port->dev);
	if (bring_link_up(slot)) {
		msleep(DEVICE_READY_MS);
		gf_rescan_lock(&rescan);
		err = add_functions(slot);
		gf_rescan_unlock(&rescan);
	} else {
		err = -ENODEV;
	}
	pm_runtime_put(&port->dev);
	return err;
}

static int rescan_detach(struct gf_slot *slot)
{
	struct pci_dev *port = slot->port;
	struct gf_rescan rescan;
	int err = 0;

	if (READ_ONCE(slot->dying))
		return -ENODEV;
	pm_runtime_get_sync(&port->dev);
	gf_rescan_lock(&rescan);
	if (device_is_registered(&port->dev) && port->subordinate) {
		err = remove_functions(port->subordinate);
		/* Whoever rescans next must not find them again. */
		if (!err)
			set_link(port, false);
	}
	gf_rescan_unlock(&rescan);
	pm_runtime_put(&port->dev);
	return err;
}

static int rescan_status(struct gf_slot *slot, bool *present, bool *power)
{
	if (READ_ONCE(slot->dying))
		return -ENODEV;
	if (!gf_config_open(slot->port))
		return -EBUSY;
	if (is_disabled(slot->port)) {
		/* Nobody has looked yet: whoever disabled it had a reason. */
		*present = READ_ONCE(slot->presence) || !slot->id;
		*power = false;
	} else {
		*present = gf_link_is_up(slot->port);
		*power = *present;
	}
	return gf_config_open(slot->port) ? 0 : -EBUSY;
}

const struct gf_backend gf_backend_rescan = {
	.id = GPUFABRIC_BACKEND_RESCAN,
	.attach = rescan_attach,
	.detach = rescan_detach,
	.status = rescan_status,
};
