/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_FABRIC_H
#define GPUFABRIC_FABRIC_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/gpufabric.h>

struct gf_history;
struct pci_dev;

/*
 * All that the module manages on this host.
 *
 * @lock is the one lock of the software state. It serialises every field below it, and the
 * fields of switches, slots, compositions and operations that say so. Taken by request
 * handlers, workers and the watchdog; never while a function of a slot driver, the PCI core
 * or the driver core is called, and never by the bus notifier.
 *
 * Order of locks, outermost first:
 *   device_lock of a port's hot-plug service device (trylock only)
 *     -> locks of the slot driver -> pci_rescan_remove_lock
 *   pci_rescan_remove_lock -> &gf_fabric.lock   (inventory worker)
 *   pci_rescan_remove_lock -> &gf_notify_lock   (bus notifier)
 *   pci_rescan_remove_lock -> the publishing worker, for a second (bus notifier)
 *   &gf_fabric.lock -> &gf_notify_lock
 *   device_lock of a PCI device -> &gf_binding_lock (bus notifier)
 *   device_lock of a PCI device -> locks of its driver (steps that unbind it)
 * The fabric's lock is innermost but for the notifier's and what the allocator and netlink
 * need: it is dropped before a slot driver is called or the rescan lock is taken, so whoever
 * holds it never waits for hardware. A slot driver is never called with the rescan lock held
 * either. Lockdep does not check device_lock (its class is exempt): that part rests on review.
 */
struct gf_fabric {
	struct mutex lock; /* the software state, see above */
	struct xarray slots; /* by id */
	u32 next_slot; /* where the search for a free id starts */
	u32 nr_slots;
	struct xarray switches; /* by id */
	u32 next_switch;
	u32 nr_switches;
	struct xarray compositions; /* by id */
	u32 next_composition;
	u32 nr_compositions;
	u64 next_operation;
	u32 nr_operations; /* under way */
	u32 nr_workers; /* of steps, awaited or not; may be read without the lock */
	bool sleeping; /* the system does, or is about to: nothing is begun or judged */
	u32 nr_draining;
	u64 sequence; /* number of the last event */
	u32 inventory; /* counts what the inventories of slots do */
	u32 generation; /* the last one that a slot or a composition got; none is given twice */
	u64 instance; /* tells numbers and ids of one load from those of another */
	u64 request; /* cookie of the last request, to find a slot named twice */
	struct gf_history *history; /* allocated at first use */

	struct workqueue_struct *work_wq; /* unbound: operations sleep for seconds */
	struct workqueue_struct *scan_wq; /* freezable: waits for the rescan lock, ends drains */
	struct workqueue_struct *uevent_wq; /* ordered: registers devices, sends uevents */
};

extern struct gf_fabric gf;

static inline void gf_assert_locked(void)
{
	lockdep_assert_held(&gf.lock);
}

/* The time as messages carry it: milliseconds since the epoch. */
static inline u64 gf_now_ms(void)
{
	return ktime_to_ms(ktime_get_real());
}

/* The time that deadlines are kept in, which nobody sets: milliseconds since the boot. */
static inline u64 gf_clock_ms(void)
{
	return ktime_to_ms(ktime_get_boottime());
}

/* rescan.c */

/* A task that is binding or unbinding a driver. */
struct gf_binding {
	const struct pci_dev *pdev; /* the device, NULL for none; compared, never followed */
	bool unbinds; /* it unbinds */
	bool ours; /* for us */
	pid_t pid; /* its number in the initial namespace; 0 where it is not a kernel thread */
	char comm[TASK_COMM_LEN]; /* its name, likewise empty: everybody may read it */
	u64 since; /* when it began, as gf_clock_ms() */
	char address[16]; /* of the device */
};

void gf_rescan_note(struct pci_dev *pdev, unsigned long action);
void gf_rescan_oldest(struct gf_binding *found);
bool gf_rescan_lock(void);
void gf_rescan_unlock(void);
bool gf_port_lock(struct pci_dev *port);

/* inventory.c */

bool gf_inventory_is_card(struct pci_dev *port);
int gf_inventory_start(void);
void gf_inventory_stop(void);
void gf_inventory_queue(void);

/* sleep.c */

int gf_sleep_start(void);
void gf_sleep_stop(void);
void gf_sleep_worker(bool begins);

#endif /* GPUFABRIC_FABRIC_H */
