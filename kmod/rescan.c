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
 * The lock does not tell who holds it. But what is done under it for long is nearly
 * always the same: a driver is bound to a device or unbound from it, and does not
 * come back. The bus notifier is told of the beginning and of the end of both, in
 * the task that does it, so the oldest that has no end is who to look for: a GPU's
 * driver that does not let go, or pciehp that removes a switch and waits for itself
 * one level below. What we unbind ourselves is unbound without the lock, but its
 * driver may take it: we are named when nobody else is seen.
 *
 * Only workers on queues that the module drains before it goes, and its start, may
 * take the lock.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "rescan.h"
#include "unbind.h"

#define GF_STALL_MS 5000

/*
 * Whose turn it is to wait for pci_rescan_remove_lock, and to have it. Taken before
 * it, with no other lock held; covers nothing else.
 */
static DEFINE_MUTEX(gf_rescan_turn);

/* Under the rescan lock there is one; by hand in sysfs there can be more. */
#define GF_BINDINGS_MAX 8

/**
 * struct gf_binding - a task that is binding or unbinding a driver
 * @pdev: the device, NULL for an entry that is free; compared, never followed
 * @unbinds: it unbinds
 * @ours: for us
 * @kernel: it is a thread of the kernel, whose name and number are no secret
 * @pid: its number in the initial namespace
 * @since: when it began, in jiffies
 * @comm: its name
 * @device: name of the device
 */
struct gf_binding {
	const struct pci_dev *pdev;
	bool unbinds;
	bool ours;
	bool kernel;
	pid_t pid;
	unsigned long since;
	char comm[TASK_COMM_LEN];
	char device[16];
};

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
	binding->kernel = current->flags & PF_KTHREAD;
	binding->pid = task_pid_nr(current);
	binding->since = jiffies;
	strscpy(binding->comm, current->comm, sizeof(binding->comm));
	strscpy(binding->device, pci_name(pdev), sizeof(binding->device));
}

static void ends(const struct pci_dev *pdev)
{
	struct gf_binding *binding = binding_of(pdev);

	if (binding)
		binding->pdev = NULL;
}

/**
 * gf_rescan_note() - note what the PCI core tells
 * @pdev: device; with its lock held when a driver comes or goes
 * @action: BUS_NOTIFY_*
 */
void gf_rescan_note(struct pci_dev *pdev, unsigned long action)
{
	spin_lock(&gf_binding_lock);
	switch (action) {
	case BUS_NOTIFY_BIND_DRIVER:
	case BUS_NOTIFY_UNBIND_DRIVER:
		begins(pdev, action == BUS_NOTIFY_UNBIND_DRIVER);
		break;
	case BUS_NOTIFY_BOUND_DRIVER:
	case BUS_NOTIFY_UNBOUND_DRIVER:
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
	case BUS_NOTIFY_REMOVED_DEVICE:
		ends(pdev);
		break;
	}
	spin_unlock(&gf_binding_lock);
}

static const struct gf_binding *oldest(void)
{
	const struct gf_binding *found = NULL;
	int i;

	lockdep_assert_held(&gf_binding_lock);
	for (i = 0; i < ARRAY_SIZE(gf_bindings); i++) {
		const struct gf_binding *binding = &gf_bindings[i];

		if (!binding->pdev)
			continue;
		if (!found || binding->ours < found->ours ||
		    (binding->ours == found->ours &&
		     time_before(binding->since, found->since)))
			found = binding;
	}
	return found;
}

/**
 * gf_rescan_describe() - say who has been at a driver for longest
 * @text: filled; empty when nobody is
 * @size: of @text
 *
 * Everybody may read it, so a task of user space stays without name.
 */
void gf_rescan_describe(char *text, size_t size)
{
	const struct gf_binding *binding;
	char task[TASK_COMM_LEN + 24] = "a process";

	text[0] = '\0';
	spin_lock(&gf_binding_lock);
	binding = oldest();
	if (binding) {
		if (binding->kernel)
			snprintf(task, sizeof(task), "%s (pid %d)",
				 binding->comm, binding->pid);
		snprintf(text, size, "%s has been %s %s for %u s", task,
			 binding->unbinds ? "unbinding" : "binding",
			 binding->device,
			 jiffies_to_msecs(jiffies - binding->since) / 1000);
	}
	spin_unlock(&gf_binding_lock);
}

static void stall_run(struct work_struct *work)
{
	char who[80];

	gf_rescan_describe(who, sizeof(who));
	pr_warn_ratelimited("gpufabric: waiting for the PCI rescan lock for %u ms; whoever holds it keeps all PCI hot-plug waiting: %s\n",
			    GF_STALL_MS, who[0] ? who : "nobody seen");
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
