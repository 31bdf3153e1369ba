// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The PCI core's rescan lock
 *
 * pci_rescan_remove_lock has no trylock and no timeout, and mainline pciehp can dead-lock while
 * holding it (a child slot powering on while its parent is removed). A worker that waits for it
 * holds a reference on the module, so that unloading is refused rather than never returning, and
 * says so in the kernel log when that gets long. Workers of ours wait for each other first. Only
 * those on queues that the module drains before it goes, and its start, may take the lock.
 *
 * Nobody knows who holds the lock, but what is done under it for long is nearly always a driver
 * that is bound to a device or unbound from it and does not come back. The bus notifier is told of
 * the beginning and the end of both, in the task that does it: the oldest without an end is who to
 * look for. What we unbind is unbound without the lock, but its driver may take it: we are named
 * when nobody else is seen.
 */
#include <linux/module.h>

#include "compat.h"
#include "slot.h"

#define GF_STALL_MS 5000

/* Whose turn it is to have pci_rescan_remove_lock. Taken before it, with no other lock held. */
static DEFINE_MUTEX(gf_rescan_turn);

/* Under the rescan lock there is one; by hand in sysfs there can be more. */
#define GF_BINDINGS_MAX 8

/* Taken in the notifier and by workers without a lock; innermost. */
static DEFINE_SPINLOCK(gf_binding_lock);
static struct gf_binding gf_bindings[GF_BINDINGS_MAX];

static struct gf_binding *binding_of(const struct pci_dev *pdev)
{
	int i;

	lockdep_assert_held(&gf_binding_lock);
	for (i = 0; i < ARRAY_SIZE(gf_bindings); i++) {
		if (gf_bindings[i].pdev == pdev)
			return &gf_bindings[i];
	}
	return NULL;
}

static void begins(struct pci_dev *pdev, bool unbinds)
{
	struct gf_binding *binding = binding_of(pdev) ?: binding_of(NULL);

	if (!binding)
		return;
	binding->pdev = pdev;
	binding->unbinds = unbinds;
	binding->ours = unbinds && gf_unbind_holds(pdev);
	binding->pid = current->flags & PF_KTHREAD ? task_pid_nr(current) : 0;
	strscpy(binding->comm, binding->pid ? current->comm : "", sizeof(binding->comm));
	binding->since = gf_clock_ms();
	strscpy(binding->address, pci_name(pdev), sizeof(binding->address));
}

/* Note what the PCI core tells of a device, with its lock held when a driver comes or goes. */
void gf_rescan_note(struct pci_dev *pdev, unsigned long action)
{
	struct gf_binding *binding;

	guard(spinlock)(&gf_binding_lock);
	switch (action) {
	case BUS_NOTIFY_BIND_DRIVER:
	case BUS_NOTIFY_UNBIND_DRIVER:
		begins(pdev, action == BUS_NOTIFY_UNBIND_DRIVER);
		break;
	case BUS_NOTIFY_BOUND_DRIVER:
	case BUS_NOTIFY_UNBOUND_DRIVER:
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
	case BUS_NOTIFY_REMOVED_DEVICE:
		binding = binding_of(pdev);
		if (binding)
			binding->pdev = NULL;
	}
}

/* Who has been at a driver for longest; zeroes when nobody is. */
void gf_rescan_oldest(struct gf_binding *found)
{
	int i;

	*found = (struct gf_binding){};
	guard(spinlock)(&gf_binding_lock);
	for (i = 0; i < ARRAY_SIZE(gf_bindings); i++) {
		const struct gf_binding *binding = &gf_bindings[i];

		if (binding->pdev &&
		    (!found->pdev || binding->ours < found->ours ||
		     (binding->ours == found->ours && binding->since < found->since)))
			*found = *binding;
	}
}

static void stall_run(struct work_struct *work)
{
	char doing[TASK_COMM_LEN + 96] = "holder unknown";
	struct gf_binding at;

	gf_rescan_oldest(&at);
	if (at.pdev)
		snprintf(doing, sizeof(doing), "%s (pid %d) has been %s %s for %llu s",
			 at.pid ? at.comm : "a process", at.pid,
			 at.unbinds ? "unbinding" : "binding", at.address,
			 div_u64(gf_clock_ms() - at.since, 1000));
	pr_warn_ratelimited("gpufabric: waiting for the PCI rescan lock for %u ms; its holder blocks all PCI hot-plug: %s\n",
			    GF_STALL_MS, doing);
}

/* Take pci_rescan_remove_lock. Returns false, without it, when the module is going. */
bool gf_rescan_lock(void)
{
	struct delayed_work stall;

	mutex_lock(&gf_rescan_turn);
	if (!try_module_get(THIS_MODULE)) {
		mutex_unlock(&gf_rescan_turn);
		return false;
	}
	INIT_DELAYED_WORK_ONSTACK(&stall, stall_run);
	queue_delayed_work(system_unbound_wq, &stall, msecs_to_jiffies(GF_STALL_MS));
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

/*
 * Keep a port, which is referenced, on its bus, and what is below it. Registers of both are
 * touched between this and gf_rescan_unlock() alone: they are reached by operations of a host
 * bridge's driver, which may be unloaded once the port is gone. Returns false, without the lock,
 * when the port or the module is going.
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
