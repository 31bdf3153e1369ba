// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Slots with a hot-plug slot driver
 *
 * Operations go through struct hotplug_slot, so the slot driver does what it
 * does for a write to the slot's power file, and both may be used side by
 * side. The slot driver's private memory, in which struct hotplug_slot lies,
 * goes away when the port does; a reference on the PCI slot does not hold it.
 * So each call is made under the device_lock of the port's hot-plug service
 * device: with it held and a driver bound, that driver cannot be unbound, and
 * the pointer cannot go away. It is taken by trylock only: whoever removes the
 * port may hold it while waiting for us. A slot driver that has no service
 * device is held in memory by a module reference instead.
 */
#include <linux/delay.h>
#include <linux/pci.h>
#include <linux/pci_hotplug.h>

#include "backend.h"

/* How long an operation tries to get hold of a port that is being probed. */
#define ENTER_TIMEOUT_MS 5000
#define ENTER_POLL_US 2000

static struct hotplug_slot *slot_try_enter(struct gf_slot *slot)
{
	struct hotplug_slot *hotplug;

	if (READ_ONCE(slot->dying))
		return ERR_PTR(-ENODEV);
	if (slot->service && !device_trylock(slot->service))
		return ERR_PTR(-EBUSY);
	hotplug = READ_ONCE(slot->pci_slot->hotplug);
	if (hotplug && (!slot->service || slot->service->driver))
		return hotplug;
	if (slot->service)
		device_unlock(slot->service);
	return ERR_PTR(-ENODEV);
}

static struct hotplug_slot *slot_enter(struct gf_slot *slot)
{
	unsigned long end = jiffies + msecs_to_jiffies(ENTER_TIMEOUT_MS);
	struct hotplug_slot *hotplug;

	for (;;) {
		hotplug = slot_try_enter(slot);
		if (PTR_ERR_OR_ZERO(hotplug) != -EBUSY ||
		    time_after(jiffies, end))
			return hotplug;
		usleep_range(ENTER_POLL_US, 2 * ENTER_POLL_US);
	}
}

static void slot_leave(struct gf_slot *slot)
{
	if (slot->service)
		device_unlock(slot->service);
}

/*
 * pciehp answers -1 when the link does not come up or nobody answers behind it. Passed on, it
 * would read as "not permitted".
 */
static int slot_error(int err)
{
	return err == -1 ? -EIO : err;
}

static int slot_attach(struct gf_slot *slot)
{
	struct hotplug_slot *hotplug = slot_enter(slot);
	int err = -EOPNOTSUPP;

	if (IS_ERR(hotplug))
		return PTR_ERR(hotplug);
	if (hotplug->ops->enable_slot)
		err = hotplug->ops->enable_slot(hotplug);
	slot_leave(slot);
	return slot_error(err);
}

static int slot_detach(struct gf_slot *slot)
{
	struct hotplug_slot *hotplug = slot_enter(slot);
	int err = -EOPNOTSUPP;

	if (IS_ERR(hotplug))
		return PTR_ERR(hotplug);
	if (hotplug->ops->disable_slot)
		err = hotplug->ops->disable_slot(hotplug);
	slot_leave(slot);
	return slot_error(err);
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
	slot_leave(slot);
	*present = adapter;
	*power = on;
	return err;
}

const struct gf_backend gf_backend_slot = {
	.id = GPUFABRIC_BACKEND_SLOT,
	.attach = slot_attach,
	.detach = slot_detach,
	.status = slot_status,
};

static int match_service(struct device *dev, void *found)
{
	/* It may be unbound while we look; port services are never modules. */
	struct device_driver *driver = READ_ONCE(dev->driver);

	/*
	 * The bus type of port services is not exported everywhere, so it is
	 * known by its name; a bound slot driver is known by its own.
	 */
	if (!dev->bus || strcmp(dev->bus->name, "pci_express") ||
	    !driver || strcmp(driver->name, "pciehp"))
		return 0;
	*(struct device **)found = get_device(dev);
	return 1;
}

/**
 * gf_backend_slot_service() - find the hot-plug service device of a port
 * @port: a port; caller holds pci_rescan_remove_lock and the port's lock, so
 *	that it is not just losing its services
 *
 * Return: the device with a reference, or NULL when pciehp does not drive
 * the port.
 */
struct device *gf_backend_slot_service(struct pci_dev *port)
{
	struct device *service = NULL;

	device_for_each_child(&port->dev, &service, match_service);
	return service;
}
