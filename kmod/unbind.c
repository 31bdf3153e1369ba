// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Taking the drivers off a card
 *
 * A driver that waits for its users while somebody removes its function under
 * pci_rescan_remove_lock stops all PCI hot-plug of the host. So before a slot is powered off its
 * drivers are unbound without that lock: one that waits stops nobody but its own slot. A driver
 * override of a name that no driver has keeps others from binding until the slot driver is done;
 * when functions stay, overrides and drivers are as before. Without memory nothing is done.
 *
 * Called by workers of steps, without locks. The driver core's device_lock is taken for one
 * function at a time, and no lock is taken inside it.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "snapshot.h"

#define GF_OVERRIDE "gpufabric-detaching"

/* A function that is kept without a driver. */
struct gf_held {
	struct pci_dev *pdev; /* the function, NULL for one that is left alone */
	struct device_driver *driver; /* that was bound, its module referenced; NULL for none */
	char *override; /* driver override that it had; NULL for none */
	bool overridden; /* @override was replaced by ours */
};

struct gf_unbound {
	struct gf_functions *card; /* its functions, referenced */
	struct gf_held held[]; /* one for each of them */
};

static int hold(struct gf_held *held, struct pci_dev *pdev)
{
	int err;

	held->pdev = pdev;
	device_lock(&pdev->dev);
	err = gpufabric_get_driver_override(pdev, &held->override);
	device_unlock(&pdev->dev);
	err = err ?: gpufabric_set_driver_override(pdev, GF_OVERRIDE);
	held->overridden = !err;
	/* Nobody begins to bind any more; a probe that is under way is waited for. */
	device_lock(&pdev->dev);
	held->driver = pdev->dev.driver;
	if (held->driver && !try_module_get(held->driver->owner))
		held->driver = NULL;
	device_unlock(&pdev->dev);
	return err;
}

/*
 * Drivers are to take their virtual functions with them. Those that are left keep what they are
 * part of for ever, also when it is removed. They are taken away without the rescan lock, and
 * without the device's: error recovery takes that one inside pci_bus_sem, which this takes. Without
 * a driver nobody else makes or ends any, and our override keeps others from binding.
 */
static void end_vfs(struct pci_dev *pdev)
{
	if (device_is_registered(&pdev->dev) && !READ_ONCE(pdev->dev.driver) && pci_num_vf(pdev))
		pci_disable_sriov(pdev);
}

/*
 * Unbind the drivers of a card, and keep others from binding. The last function is the first, as
 * for whoever removes them: virtual functions before what makes them, and what is behind a bridge
 * before that. Bridges of the card keep their driver, but for ports that are slots to pciehp: it
 * would wait for them with pci_rescan_remove_lock held, and they for that. Sleeps for as long as
 * a driver does not let go. Returns for gf_unbind_end(), or an error pointer when nothing was done:
 * -EMEDIUMTYPE for a chassis, in whose slots others may be at work, -ESTALE if not @known.
 */
struct gf_unbound *gf_unbind(struct gf_slot *slot, const struct gf_functions *known)
{
	struct gf_functions *card;
	struct gf_unbound *unbound;
	unsigned int i;
	int err;

	if (!gf_port_lock(slot->port))
		return ERR_PTR(-ENODEV);
	card = gf_functions_in(slot, true);
	gf_rescan_unlock();
	unbound = card ? kzalloc(struct_size(unbound, held, card->count), GFP_KERNEL) : NULL;
	err = !unbound ? -ENOMEM : card->chassis ? -EMEDIUMTYPE :
	      gf_functions_bring(card, known, false) ? -ESTALE : 0;
	if (err) {
		kfree(unbound);
		gf_functions_put(card);
		return ERR_PTR(err);
	}
	unbound->card = card;
	for (i = card->count; i--;) {
		if (pci_is_bridge(card->pdev[i]) && !card->pdev[i]->is_hotplug_bridge)
			continue;
		err = hold(&unbound->held[i], card->pdev[i]);
		if (err) {
			gf_unbind_end(slot, unbound);
			return ERR_PTR(err);
		}
	}
	for (i = card->count; i--;) {
		if (unbound->held[i].pdev) {
			device_release_driver(&card->pdev[i]->dev);
			end_vfs(card->pdev[i]);
		}
	}
	return unbound;
}

/* An override that somebody has set since is left alone. */
static void restore_override(struct gf_held *held)
{
	bool ours;

	device_lock(&held->pdev->dev);
	ours = held->overridden && gf_unbind_holds(held->pdev);
	device_unlock(&held->pdev->dev);
	if (ours && gpufabric_set_driver_override(held->pdev, held->override ?: ""))
		pci_err(held->pdev, "no memory to restore the driver override\n");
}

/* A probe of a card that is being pulled would hold up whoever removes it. */
static void bind_again(struct gf_slot *slot, struct gf_held *held)
{
	int err;

	restore_override(held);
	if (!held->driver || READ_ONCE(held->pdev->dev.driver) || READ_ONCE(slot->dying) ||
	    !pci_device_is_present(held->pdev))
		return;
	err = device_driver_attach(held->driver, &held->pdev->dev);
	if (err)
		pci_warn(held->pdev, "driver %s does not bind again: error %d\n",
			 held->driver->name, err);
}

/* Let functions go; those that are still there are as before. */
void gf_unbind_end(struct gf_slot *slot, struct gf_unbound *unbound)
{
	unsigned int i;

	for (i = 0; i < unbound->card->count; i++) {
		struct gf_held *held = &unbound->held[i];

		if (held->pdev && device_is_registered(&held->pdev->dev))
			bind_again(slot, held);
		if (held->driver)
			module_put(held->driver->owner);
		kfree(held->override);
	}
	gf_functions_put(unbound->card);
	kfree(unbound);
}

/* Whether it is us who keep a function, whose device_lock is held, without a driver. */
bool gf_unbind_holds(struct pci_dev *pdev)
{
	return gpufabric_is_driver_override(pdev, GF_OVERRIDE);
}

/*
 * What stays in a slot after an attach that failed is not for the chosen driver alone. One that is
 * being probed is left alone: nobody waits for that.
 */
void gf_unbind_unchoose(struct gf_slot *slot, const char *driver)
{
	struct gf_functions *card;
	unsigned int i;
	bool chosen;

	if (!gf_port_lock(slot->port))
		return;
	card = gf_functions_in(slot, false);
	gf_rescan_unlock();
	for (i = 0; card && i < card->count; i++) {
		if (!device_trylock(&card->pdev[i]->dev))
			continue;
		chosen = gpufabric_is_driver_override(card->pdev[i], driver);
		device_unlock(&card->pdev[i]->dev);
		if (chosen)
			gpufabric_set_driver_override(card->pdev[i], "");
	}
	gf_functions_put(card);
}
