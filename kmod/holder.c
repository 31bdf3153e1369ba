// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Who keeps the PCI core waiting
 *
 * pci_rescan_remove_lock does not tell who holds it. But what is done under it
 * for long is nearly always the same: a driver is bound to a device or unbound
 * from it, and does not come back. The bus notifier is told of the beginning
 * and of the end of both, in the task that does it, so the oldest that has no
 * end is who to look for: a GPU's driver that does not let go, or pciehp that
 * removes a switch and waits for itself one level below. What we unbind ourselves
 * is unbound without the lock, but its driver may take it: we are named when
 * nobody else is seen.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "holder.h"
#include "unbind.h"

/* Under the rescan lock there is one; by hand in sysfs there can be more. */
#define GF_HOLDERS_MAX 8

/**
 * struct gf_holder - a task that is binding or unbinding a driver
 * @pdev: the device, NULL for an entry that is free; compared, never followed
 * @unbinds: it unbinds
 * @ours: for us
 * @kernel: it is a thread of the kernel, whose name and number are no secret
 * @pid: its number in the initial namespace
 * @since: when it began, in jiffies
 * @comm: its name
 * @device: name of the device
 */
struct gf_holder {
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
static DEFINE_SPINLOCK(gf_holder_lock);
static struct gf_holder gf_holders[GF_HOLDERS_MAX];

static struct gf_holder *holder_of(const struct pci_dev *pdev)
{
	int i;

	lockdep_assert_held(&gf_holder_lock);
	for (i = 0; i < ARRAY_SIZE(gf_holders); i++) {
		if (gf_holders[i].pdev == pdev)
			return &gf_holders[i];
	}
	return NULL;
}

static void begins(struct pci_dev *pdev, bool unbinds)
{
	struct gf_holder *holder = holder_of(pdev) ?: holder_of(NULL);

	if (!holder)
		return;
	holder->pdev = pdev;
	holder->unbinds = unbinds;
	holder->ours = unbinds && gf_unbind_holds(pdev);
	holder->kernel = current->flags & PF_KTHREAD;
	holder->pid = task_pid_nr(current);
	holder->since = jiffies;
	strscpy(holder->comm, current->comm, sizeof(holder->comm));
	strscpy(holder->device, pci_name(pdev), sizeof(holder->device));
}

static void ends(const struct pci_dev *pdev)
{
	struct gf_holder *holder = holder_of(pdev);

	if (holder)
		holder->pdev = NULL;
}

/**
 * gf_holder_event() - note what the PCI core tells
 * @pdev: device; with its lock held when a driver comes or goes
 * @action: BUS_NOTIFY_*
 */
void gf_holder_event(struct pci_dev *pdev, unsigned long action)
{
	spin_lock(&gf_holder_lock);
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
	spin_unlock(&gf_holder_lock);
}

static const struct gf_holder *oldest(void)
{
	const struct gf_holder *found = NULL;
	int i;

	lockdep_assert_held(&gf_holder_lock);
	for (i = 0; i < ARRAY_SIZE(gf_holders); i++) {
		const struct gf_holder *holder = &gf_holders[i];

		if (!holder->pdev)
			continue;
		if (!found || holder->ours < found->ours ||
		    (holder->ours == found->ours &&
		     time_before(holder->since, found->since)))
			found = holder;
	}
	return found;
}

/**
 * gf_holder_describe() - say who has been at a driver for longest
 * @text: filled; empty when nobody is
 * @size: of @text
 *
 * Everybody may read it, so a task of user space stays without name.
 */
void gf_holder_describe(char *text, size_t size)
{
	const struct gf_holder *holder;
	char task[TASK_COMM_LEN + 24] = "a process";

	text[0] = '\0';
	spin_lock(&gf_holder_lock);
	holder = oldest();
	if (holder) {
		if (holder->kernel)
			snprintf(task, sizeof(task), "%s (pid %d)",
				 holder->comm, holder->pid);
		snprintf(text, size, "%s has been %s %s for %u s", task,
			 holder->unbinds ? "unbinding" : "binding",
			 holder->device,
			 jiffies_to_msecs(jiffies - holder->since) / 1000);
	}
	spin_unlock(&gf_holder_lock);
}
