// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Taking the drivers off a card
 *
 * Who removes functions does so with pci_rescan_remove_lock held, and a driver
 * that waits for its users there stops all PCI hot-plug of the host. So before
 * a slot driver is called the drivers are unbound without that lock, as the
 * unbind file in sysfs does: one that waits stops nobody but its own slot.
 *
 * Until the slot driver is done a driver override of a name that no driver has
 * keeps others from binding. When functions stay, because the slot driver
 * failed, their overrides are as before and their drivers are bound again.
 *
 * Called by workers of steps, without locks. The driver core's device_lock is
 * taken for each function alone, and nothing is taken inside it.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "compat.h"
#include "rescan.h"
#include "unbind.h"

#define GF_OVERRIDE "gpufabric-detaching"

/**
 * struct gf_held - a function that is kept without a driver
 * @list: in the list of its card
 * @pdev: the function, referenced
 * @driver: driver that was bound, its module referenced; NULL for none
 * @override: driver override that it had; NULL for none
 * @overridden: @override was replaced by ours
 */
struct gf_held {
	struct list_head list;
	struct pci_dev *pdev;
	struct device_driver *driver;
	char *override;
	bool overridden;
};

/*
 * The last one is the first in the list, as for whoever removes them: virtual
 * functions before what makes them, and what is behind a bridge before that. Bridges
 * of the card keep their driver, but for ports that are slots to pciehp: it would
 * wait for them with pci_rescan_remove_lock held, and they for that. A function
 * that there is no memory for is left to the slot driver.
 */
static int collect(struct pci_dev *pdev, void *data)
{
	struct list_head *functions = data;
	struct gf_held *held;

	if (pci_is_bridge(pdev) && !pdev->is_hotplug_bridge)
		return 0;
	/* Under pci_bus_sem, which reclaim must not wait for. */
	held = kzalloc(sizeof(*held), GFP_NOWAIT | __GFP_NOWARN);
	if (!held)
		return 0;
	held->pdev = pci_dev_get(pdev);
	list_add(&held->list, functions);
	return 0;
}

static void hold(struct gf_held *held)
{
	struct pci_dev *pdev = held->pdev;

	/* A probe that is under way is waited for. */
	device_lock(&pdev->dev);
	held->driver = pdev->dev.driver;
	if (held->driver && !try_module_get(held->driver->owner))
		held->driver = NULL;
	device_unlock(&pdev->dev);

	if (gpufabric_get_driver_override(pdev, &held->override))
		return;
	held->overridden = !gpufabric_set_driver_override(pdev, GF_OVERRIDE);
}

/*
 * Drivers are to take their virtual functions with them. Those that are left keep
 * what they are part of for ever, also when it is removed. They are taken away
 * without the rescan lock, and without the device's: error recovery takes that one
 * inside pci_bus_sem, which this takes. Nobody else makes or ends any, because there
 * is no driver, and our override keeps others from binding.
 */
static void end_vfs(struct pci_dev *pdev)
{
	if (device_is_registered(&pdev->dev) && !READ_ONCE(pdev->dev.driver) &&
	    pci_num_vf(pdev))
		pci_disable_sriov(pdev);
}

/**
 * gf_unbind() - unbind the drivers of a card, and keep others from binding
 * @slot: slot that the card is in
 * @functions: empty list, for gf_unbind_end()
 *
 * Sleeps for as long as a driver does not let go.
 */
void gf_unbind(struct gf_slot *slot, struct list_head *functions)
{
	struct gf_held *held;

	if (!gf_port_lock(slot->port))
		return;
	pci_walk_bus(slot->port->subordinate, collect, functions);
	gf_rescan_unlock();

	list_for_each_entry(held, functions, list)
		hold(held);
	list_for_each_entry(held, functions, list) {
		device_release_driver(&held->pdev->dev);
		end_vfs(held->pdev);
	}
}

/* An override that somebody has set since is left alone. */
static void restore_override(struct gf_held *held)
{
	bool ours;

	device_lock(&held->pdev->dev);
	ours = held->overridden && gf_unbind_holds(held->pdev);
	device_unlock(&held->pdev->dev);
	if (ours &&
	    gpufabric_set_driver_override(held->pdev, held->override ?: ""))
		pci_err(held->pdev, "no memory for the former driver override\n");
}

/* A probe of a card that is being pulled would hold up whoever removes it. */
static void bind_again(struct gf_slot *slot, struct gf_held *held)
{
	int err;

	restore_override(held);
	if (!held->driver || READ_ONCE(slot->dying) ||
	    !pci_device_is_present(held->pdev))
		return;
	err = device_driver_attach(held->driver, &held->pdev->dev);
	if (err)
		pci_warn(held->pdev, "%s does not bind again: %d\n",
			 held->driver->name, err);
}

/**
 * gf_unbind_end() - let functions go; those that are still there are as before
 * @slot: slot that the card is in
 * @functions: filled by gf_unbind()
 */
void gf_unbind_end(struct gf_slot *slot, struct list_head *functions)
{
	struct gf_held *held, *next;

	list_for_each_entry_safe_reverse(held, next, functions, list) {
		if (device_is_registered(&held->pdev->dev))
			bind_again(slot, held);
		if (held->driver)
			module_put(held->driver->owner);
		pci_dev_put(held->pdev);
		kfree(held->override);
		kfree(held);
	}
}

/**
 * gf_unbind_holds() - whether it is us who keep a function without a driver
 * @pdev: function; caller holds its device_lock
 */
bool gf_unbind_holds(struct pci_dev *pdev)
{
	return gpufabric_is_driver_override(pdev, GF_OVERRIDE);
}
