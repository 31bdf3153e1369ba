// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The PCI core's rescan lock
 *
 * pci_rescan_remove_lock has no trylock and no timeout, and mainline pciehp can
 * dead-lock while holding it (a child slot powering on while its parent is
 * removed), so a worker that wants it may wait for ever. Such a worker must
 * not hang an rmmod as well: when it has waited for a moment it holds a reference
 * on the module, so that unloading is refused rather than never returning, and
 * when that gets long it says so in the kernel log. Only workers on queues that the module drains
 * before it goes may take the lock.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "holder.h"
#include "rescan.h"

/* Longer than an undisturbed look of somebody else takes. */
#define GF_PIN_MS 100
#define GF_STALL_MS 5000

static void stall_run(struct work_struct *work)
{
	struct gf_rescan *rescan = container_of(work, struct gf_rescan,
						stall.work);
	char holder[80];

	if (!rescan->stalls) {
		rescan->stalls = true;
		rescan->pinned = try_module_get(THIS_MODULE);
		queue_delayed_work(system_unbound_wq, &rescan->stall,
				   msecs_to_jiffies(GF_STALL_MS - GF_PIN_MS));
		return;
	}
	gf_holder_describe(holder, sizeof(holder));
	pr_warn_ratelimited("gpufabric: waiting for the PCI rescan lock for %u ms; whoever holds it keeps all PCI hot-plug waiting: %s, see more with: echo w > /proc/sysrq-trigger\n",
			    GF_STALL_MS, holder[0] ? holder : "nobody seen");
}

/**
 * gf_rescan_lock() - take pci_rescan_remove_lock
 * @rescan: on the caller's stack until gf_rescan_unlock()
 */
void gf_rescan_lock(struct gf_rescan *rescan)
{
	rescan->stalls = false;
	rescan->pinned = false;
	INIT_DELAYED_WORK_ONSTACK(&rescan->stall, stall_run);
	queue_delayed_work(system_unbound_wq, &rescan->stall,
			   msecs_to_jiffies(GF_PIN_MS));
	pci_lock_rescan_remove();
	cancel_delayed_work_sync(&rescan->stall);
	destroy_delayed_work_on_stack(&rescan->stall);
}

/**
 * gf_rescan_unlock() - give pci_rescan_remove_lock back
 * @rescan: as given to gf_rescan_lock()
 */
void gf_rescan_unlock(struct gf_rescan *rescan)
{
	pci_unlock_rescan_remove();
	if (rescan->pinned)
		module_put(THIS_MODULE);
}
