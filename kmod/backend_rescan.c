// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Ports without a slot driver
 *
 * Many composable switches present plain downstream ports, and a fabric manager connects devices
 * behind the host's back. A GPU is detached by removing its functions and disabling the link, and
 * attached by enabling the link and scanning the bus below. Presence is that the link is up; while
 * we have it disabled, what was there last is believed to be. A GPU that is assigned wakes nobody,
 * so the port is kept awake while it is a slot.
 *
 * Registers of the port are touched under pci_rescan_remove_lock alone, so by one worker at a
 * time, and while the port is there. LNKCTL is shared with ASPM, so its bits are changed by the
 * PCI core's accessors. A port that sleeps or is gone reads as ones, which says nothing.
 */
#include <linux/delay.h>
#include <linux/pm_runtime.h>

#include "compat.h"
#include "snapshot.h"

/*
 * PCI Express Base Specification 6.0, 6.6.1: a link has a second to come up, and a device 100 ms
 * from then on before it must answer.
 */
#define LINK_UP_MS 1000
#define LINK_POLL_MS 10
#define DEVICE_READY_MS 100

static bool read_control(struct pci_dev *port, u16 *control)
{
	return !pcie_capability_read_word(port, PCI_EXP_LNKCTL, control) &&
	       !PCI_POSSIBLE_ERROR(*control);
}

static bool set_link(struct pci_dev *port, bool on)
{
	u16 control;

	if (!read_control(port, &control))
		return false;
	pcie_capability_clear_and_set_word(port, PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_LD,
					   on ? 0 : PCI_EXP_LNKCTL_LD);
	return true;
}

static bool change_link(struct gf_slot *slot, bool on)
{
	bool done;

	if (!gf_port_lock(slot->port))
		return false;
	/* Somebody else may have found a GPU meanwhile. */
	done = (on || list_empty(&slot->port->subordinate->devices)) && set_link(slot->port, on);
	if (done)
		slot->link_off = !on;
	gf_rescan_unlock();
	return done;
}

static bool wait_for_link(struct gf_slot *slot)
{
	unsigned int ms;
	int up;

	for (ms = 0; ms <= LINK_UP_MS; ms += LINK_POLL_MS) {
		if (!gf_port_lock(slot->port))
			return false;
		up = gf_link_is_up(slot->port);
		gf_rescan_unlock();
		if (up > 0)
			return true;
		msleep(LINK_POLL_MS);
	}
	return false;
}

/* Where that fails both ends begin anew, once. The link stays enabled: a later GPU is seen. */
static bool bring_link_up(struct gf_slot *slot)
{
	if (!change_link(slot, true))
		return false;
	if (wait_for_link(slot))
		return true;
	if (!change_link(slot, false))
		return false;
	msleep(DEVICE_READY_MS);
	return change_link(slot, true) && wait_for_link(slot);
}

/* As pciehp does for a card that came; the port's lock is held. */
static int add_functions(struct gf_slot *slot)
{
	struct pci_bus *bus = slot->port->subordinate;
	struct gf_functions *functions;
	unsigned int i;

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

/* The port's lock is held. Virtual functions go with the driver of their function. */
static int remove_functions(struct pci_bus *bus)
{
	struct gf_functions *functions = gf_functions_on(bus);
	unsigned int i;

	if (!functions)
		return -ENOMEM;
	for (i = functions->count; i--;) {
		pci_stop_and_remove_bus_device(functions->pdev[i]);
		/* Nothing comes from it any more, until the link is down. */
		if (pci_device_is_present(functions->pdev[i]))
			pci_clear_master(functions->pdev[i]);
	}
	gf_functions_put(functions);
	return 0;
}

static int rescan_set(struct gf_slot *slot, bool on)
{
	struct pci_dev *port = slot->port;
	int err;

	if (on && !bring_link_up(slot))
		return -ENODEV;
	if (on)
		msleep(DEVICE_READY_MS);
	if (!gf_port_lock(port))
		return -ENODEV;
	err = on ? add_functions(slot) : remove_functions(port->subordinate);
	/* Whoever rescans next must not find them again, but the next card that comes. */
	if (!on && !err && gf_link_is_up(port) > 0)
		slot->link_off = set_link(port, false);
	/* The kernel restores a port that was reset to what it has saved. */
	if (!err)
		pci_save_state(port);
	gf_rescan_unlock();
	return err;
}

static int read_status(struct gf_slot *slot, bool *present, bool *power)
{
	int up = gf_link_is_up(slot->port);
	u16 control;

	if (up < 0 || !read_control(slot->port, &control))
		return -EIO;
	*power = up;
	*present = up;
	/* Nobody has looked yet: whoever disabled it had a reason. */
	if (control & PCI_EXP_LNKCTL_LD) {
		*power = false;
		*present = READ_ONCE(slot->presence) || !READ_ONCE(slot->looked);
	}
	return 0;
}

static int rescan_status(struct gf_slot *slot, bool *present, bool *power)
{
	int err = -EBUSY;

	if (!gf_port_lock(slot->port))
		return -ENODEV;
	if (gf_config_open(slot->port))
		err = read_status(slot, present, power);
	if (!gf_config_open(slot->port))
		err = -EBUSY;
	gf_rescan_unlock();
	return err;
}

/* Without locks: a port that had no power takes its time. */
static void rescan_enter(struct gf_slot *slot)
{
	pm_runtime_get_sync(&slot->port->dev);
}

/*
 * A link that stays disabled keeps the GPU from whoever rescans when we are no longer there.
 * Whoever unloads us must not wait for the rescan lock. The port's own lock keeps it on its bus
 * as well; a reset of it that fails for that lock would be one of nothing, because there is
 * nothing below a link that is disabled.
 */
static void rescan_leave(struct gf_slot *slot)
{
	struct device *dev = &slot->port->dev;

	if (slot->link_off) {
		device_lock(dev);
		if (device_is_registered(dev))
			set_link(slot->port, true);
		device_unlock(dev);
	}
	pm_runtime_put(dev);
}

const struct gf_backend gf_backend_rescan = {
	.id = GPUFABRIC_BACKEND_RESCAN, .set = rescan_set, .status = rescan_status,
	.enter = rescan_enter, .leave = rescan_leave,
};
