/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_FABRIC_H
#define GPUFABRIC_FABRIC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/gpufabric.h>

struct gf_history;

/**
 * struct gf_fabric - all that the module manages on this host
 * @lock: the one lock of the software state. Serialises every field of this
 *	struct below it, and the fields of switches, slots, compositions and
 *	operations whose kernel-doc says "under the fabric's lock". Taken by
 *	request handlers, workers and the watchdog; never while a function of
 *	a slot driver, the PCI core or the driver core is called, and never by
 *	the bus notifier. Nothing is taken inside it but &gf_notify_lock and
 *	what the allocator and netlink need.
 * @slots: slots by id
 * @next_slot: where the search for a free slot id starts
 * @nr_slots: number of slots
 * @switches: list of &struct gf_switch
 * @next_switch: id of the next switch
 * @nr_switches: number of switches
 * @compositions: compositions by id
 * @next_composition: where the search for a free composition id starts
 * @nr_compositions: number of compositions
 * @operations: list of &struct gf_op under way
 * @next_operation: id of the next operation
 * @nr_operations: number of operations under way
 * @nr_workers: workers of steps that have not come back, whether anybody still
 *	waits for them or not; may be read without the lock
 * @sleeping: the system is about to sleep, or sleeps: nothing is begun, and
 *	nobody judges what is seen
 * @nr_draining: number of slots that are being drained
 * @sequence: number of the last event
 * @inventory: counts what the inventories of slots do
 * @instance: tells sequence numbers and ids of one load from those of another
 * @request: cookie of the last request, to find a slot named twice
 * @history: ring of who did what, allocated at first use
 * @work_wq: unbound queue of the operations: they sleep for seconds
 * @scan_wq: queue of everything that waits for the rescan lock to look, and of what
 *	ends drains; frozen while the system sleeps
 * @uevent_wq: ordered queue that registers devices and sends uevents
 *
 * Order of locks, outermost first:
 *   device_lock of a port's hot-plug service device (trylock only)
 *     -> locks of the slot driver -> pci_rescan_remove_lock
 *   pci_rescan_remove_lock -> &gf_fabric.lock   (inventory worker)
 *   pci_rescan_remove_lock -> &gf_notify_lock   (bus notifier)
 *   &gf_fabric.lock -> &gf_notify_lock
 *   device_lock of a PCI device -> &gf_binding_lock (bus notifier)
 *   device_lock of a PCI device -> locks of its driver (steps that unbind it)
 * The fabric's lock is innermost but for the notifier's: it is dropped before
 * a slot driver is called or the rescan lock is taken, so whoever holds it
 * never waits for hardware. A slot driver is never called with the rescan
 * lock held either. Lockdep does not check device_lock (its class is exempt),
 * so that part rests on review.
 */
struct gf_fabric {
	struct mutex lock; /* the software state, see above */
	struct xarray slots;
	u32 next_slot;
	u32 nr_slots;
	struct list_head switches;
	u32 next_switch;
	u32 nr_switches;
	struct xarray compositions;
	u32 next_composition;
	u32 nr_compositions;
	struct list_head operations;
	u64 next_operation;
	u32 nr_operations;
	u32 nr_workers;
	bool sleeping;
	u32 nr_draining;
	u64 sequence;
	u32 inventory;
	u64 instance;
	u64 request;
	struct gf_history *history;
	struct workqueue_struct *work_wq;
	struct workqueue_struct *scan_wq;
	struct workqueue_struct *uevent_wq;
};

extern struct gf_fabric gf;

static inline void gf_assert_locked(void)
{
	lockdep_assert_held(&gf.lock);
}

u64 gf_now_ms(void);
u64 gf_clock_ms(void);

#endif /* GPUFABRIC_FABRIC_H */
