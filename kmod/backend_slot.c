// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Slots with a hot-plug slot driver
 *
 * The slot driver does what it does for a write to the slot's power file. Its private memory, in
 * which struct hotplug_slot lies, goes away when the port does, whatever reference there is on the
 * PCI slot. So each call is made under the device_lock of a device below the port whose driver has
 * the slot while it is bound: pciehp's service device, or the one that the simulator makes for a
 * port. It is taken by trylock: whoever removes the port may hold it while waiting for us.
 *
 * Slots of other drivers, freed under no lock that could be held for as long as an operation is,
 * are listed with what the PCI core knows; their drivers are never called, and named by sysfs.
 */
#include <linux/delay.h>
#include <linux/pci.h>
#include <linux/pci_hotplug.h>

#include "slot.h"

/* How long an operation tries to get hold of a port that is being probed. */
#define ENTER_TIMEOUT_MS 5000
#define ENTER_POLL_US 2000

/*
 * Drivers that have a slot while they are bound, by their bus. The bus type of port services is
 * not exported everywhere, so a bus is known by its name.
 */
static const struct {
	const char *bus;
	const char *driver;
} guards[] = { { "pci_express", "pciehp" }, { "platform", "gpufabric_sim" } };

/* What is in the slot is below the port as well, and its lock nobody's business. */
static const char *guard_of_bus(const struct device *dev)
{
	int i;

	for (i = 0; dev->bus && i < ARRAY_SIZE(guards); i++) {
		if (!strcmp(dev->bus->name, guards[i].bus))
			return guards[i].driver;
	}
	return NULL;
}

/* Finds the device that a slot driver has its slot by, with a reference. */
static int look_at(struct device *dev, void *data)
{
	const char *driver = guard_of_bus(dev);
	struct device **guard = data;

	if (!driver)
		return 0;
	/* Its driver may be coming, and its slot with it. */
	if (!device_trylock(dev))
		return -EBUSY;
	if (dev->driver && !strcmp(dev->driver->name, driver))
		*guard = get_device(dev);
	device_unlock(dev);
	return !!*guard;
}

/*
 * Find what holds the operations of a slot that a slot driver has; pci_rescan_remove_lock is held.
 * A port that loses its driver first takes its services off its list and then unbinds them: the
 * port's lock keeps such a slot from being taken for one that nothing holds. Returns 0, with
 * &gf_slot.service set or the slot marked as unmanaged; -EBUSY when that cannot be said now,
 * -ENODEV when the slot driver has gone.
 */
int gf_backend_slot_pin(struct gf_slot *slot)
{
	struct device *port = &slot->port->dev;
	int err = -ENODEV;

	if (!device_trylock(port))
		return -EBUSY;
	if (device_is_registered(port))
		err = device_for_each_child(port, &slot->service, look_at);
	/* The slot was found before its driver was looked for, which may have left. */
	if (!err && !READ_ONCE(slot->pci_slot->hotplug))
		err = -ENODEV;
	if (!err)
		slot->flags |= GPUFABRIC_SLOT_FLAG_UNMANAGED;
	device_unlock(port);
	if (slot->service)
		slot->driver_name = guard_of_bus(slot->service);
	return min(err, 0);
}

/* Whether a slot driver has left its slot to another, which the slot does not show. */
bool gf_backend_slot_left(struct gf_slot *slot)
{
	struct device *guard = NULL;

	if (slot->service)
		return !READ_ONCE(slot->service->driver);
	device_for_each_child(&slot->port->dev, &guard, look_at);
	put_device(guard);
	return guard;
}

void gf_backend_slot_unpin(struct gf_slot *slot)
{
	put_device(slot->service);
	slot->service = NULL;
}

static struct hotplug_slot *slot_try_enter(struct gf_slot *slot)
{
	struct hotplug_slot *hotplug;

	if (!slot->service)
		return ERR_PTR(-EOPNOTSUPP);
	if (READ_ONCE(slot->dying))
		return ERR_PTR(-ENODEV);
	if (!device_trylock(slot->service))
		return ERR_PTR(-EBUSY);
	hotplug = slot->service->driver ? gf_notify_hotplug(slot) : NULL;
	if (hotplug)
		return hotplug;
	device_unlock(slot->service);
	return ERR_PTR(-ENODEV);
}

static struct hotplug_slot *slot_enter(struct gf_slot *slot)
{
	unsigned long end = jiffies + msecs_to_jiffies(ENTER_TIMEOUT_MS);
	struct hotplug_slot *hotplug;

	for (;;) {
		hotplug = slot_try_enter(slot);
		if (PTR_ERR_OR_ZERO(hotplug) != -EBUSY || time_after(jiffies, end))
			return hotplug;
		usleep_range(ENTER_POLL_US, 2 * ENTER_POLL_US);
	}
}

static int slot_set(struct gf_slot *slot, bool on)
{
	struct hotplug_slot *hotplug = slot_enter(slot);
	int (*set)(struct hotplug_slot *slot);
	int err;

	if (IS_ERR(hotplug))
		return PTR_ERR(hotplug);
	set = on ? hotplug->ops->enable_slot : hotplug->ops->disable_slot;
	err = set ? set(hotplug) : -EOPNOTSUPP;
	device_unlock(slot->service);
	/* pciehp answers so when no link comes up or nobody answers: not "not permitted". */
	return err == -1 ? -EIO : err;
}

static int slot_status(struct gf_slot *slot, bool *present, bool *power)
{
	struct hotplug_slot *hotplug = slot_try_enter(slot);
	u8 adapter = 0, on = 0;
	int err = 0;

	if (IS_ERR(hotplug))
		return PTR_ERR(hotplug);
	if (hotplug->ops->get_adapter_status)
		err = hotplug->ops->get_adapter_status(hotplug, &adapter);
	if (!err && hotplug->ops->get_power_status)
		err = hotplug->ops->get_power_status(hotplug, &on);
	device_unlock(slot->service);
	*present = adapter;
	*power = on;
	return err;
}

const struct gf_backend gf_backend_slot = {
	.id = GPUFABRIC_BACKEND_SLOT, .set = slot_set, .status = slot_status,
};
