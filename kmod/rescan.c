// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The PCI core's rescan lock
 *
 * pci_rescan_remove_lock has no trylock and no timeout, and mainline pciehp can
 * dead-lock while holding it (a child slot powering on while its parent is
 * removed), so a worker that wants it may wait for ever. Such a worker must
 * not hang an rmmod as well: while it waits it holds a reference on the module, so
 * that unloading is refused rather than never returning, and when that gets long
 * it says so in the kernel log. Once the module is going nobody waits any more.
 * Workers of ours wait for each other first: only others make unloading be refused.
 *
 * Only workers on queues that the module drains before it goes, and its start, may
 * take the lock.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/workqueue.h>

#include "holder.h"
#include "rescan.h"

#define GF_STALL_MS 5000

/*
 * Whose turn it is to wait for pci_rescan_remove_lock, and to have it. Taken before
 * it, with no other lock held; covers nothing else.
 */
static DEFINE_MUTEX(gf_rescan_turn);

static void stall_run(struct work_struct *work)
{
	char holder[80];

	gf_holder_describe(holder, sizeof(holder));
	pr_warn_ratelimited("gpufabric: waiting for the PCI rescan lock for %u ms; whoever holds it keeps all PCI hot-plug waiting: %s\n",
			    GF_STALL_MS, holder[0] ? holder : "nobody seen");
}

/**
 * gf_rescan_lock() - take pci_rescan_remove_lock
 *
 * Return: false, without it, when the module is going.
 */
bool gf_rescan_lock(void)
{
	struct delayed_work stall;

	mutex_lock(&gf_rescan_turn);
	if (!try_module_get(THIS_MODULE)) {
		mutex_unlock(&gf_rescan_turn);
		return false;
	}
	INIT_DELAYED_WORK_ONSTACK(&stall, stall_run);
	queue_delayed_work(system_unbound_wq, &stall,
			   msecs_to_jiffies(GF_STALL_MS));
	pci_lock_rescan_remove();
	cancel_delayed_work_sync(&stall);
	destroy_delayed_work_on_stack(&stall);
	module_put(THIS_MODULE);
	return true;
}

void gf_rescan_unlock(void)
{
	lockdep_assert_held(&gf_rescan_turn);
	pci_unlock_rescan_remove();
	mutex_unlock(&gf_rescan_turn);
}

/**
 * gf_port_lock() - keep a port on its bus, and what is below it
 * @port: port, referenced
 *
 * Registers of a port, and of what is below it, are touched between this and
 * gf_rescan_unlock() alone: they are reached by operations of a host bridge's
 * driver, which may be unloaded once the port is gone.
 *
 * Return: false, without the lock, when the port or the module is going.
 */
bool gf_port_lock(struct pci_dev *port)
{
	if (!gf_rescan_lock())
		return false;
	if (device_is_registered(&port->dev) && port->subordinate)
		return true;
	gf_rescan_unlock();
	return false;
}
