/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SLOT_H
#define GPUFABRIC_SLOT_H

#include <linux/device.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "fabric.h"
#include "loss.h"
#include "state.h"

struct gf_backend;
struct gf_composition;
struct gf_op;
struct gf_snapshot;
struct gf_step;
struct gf_switch;

#define GF_PHASES (GPUFABRIC_PHASE_TOTAL + 1)
#define GF_TEXT_MAX 184

/**
 * struct gf_identity - which GPU a slot holds
 * @source: where this comes from; unknown when nothing was ever read
 * @time: when it was read, milliseconds since the epoch
 * @vendor: PCI vendor id of the first GPU function
 * @device: PCI device id
 * @subsystem_vendor: PCI subsystem vendor id
 * @subsystem_device: PCI subsystem id
 * @class: 24-bit class code
 * @serial: Device Serial Number, 0 when there is none
 * @gpus: how many there are
 */
struct gf_identity {
	enum gpufabric_identity_source source;
	u64 time;
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem_device;
	u32 class;
	u64 serial;
	u32 gpus;
};

/**
 * struct gf_marks - when a GPU took the steps of coming up
 * @add: its first function appeared
 * @bind: a driver's probe began
 * @bound: a driver's probe ended
 * @gone: its last function was removed
 *
 * Zero for a step that was not seen.
 */
struct gf_marks {
	ktime_t add;
	ktime_t bind;
	ktime_t bound;
	ktime_t gone;
};

/**
 * struct gf_result - how the last operation on a slot ended
 * @id: id of the operation, 0 when there was none
 * @kind: what was asked for
 * @error: 0 or a negative errno
 * @started: milliseconds since the epoch
 * @phase_us: microseconds per phase, 0 for a phase that did not run
 * @text: what went wrong and what to do
 */
struct gf_result {
	u64 id;
	enum gpufabric_operation_kind kind;
	int error;
	u64 started;
	u32 phase_us[GF_PHASES];
	char text[GF_TEXT_MAX];
};

/**
 * struct gf_slot - a downstream port that can take a GPU
 * @dev: device of class gpufabric; owns the memory of the slot
 * @gpu_dev: child device while the slot is ready; only the uevent worker
 *	touches it
 * @gpu_incarnation: incarnation that @gpu_dev stands for; uevent worker only
 * @added: @dev was to be registered; uevent worker only
 * @registered: @dev is in sysfs; uevent worker only
 * @id: id of the slot, 0 before it is admitted
 * @name: name that the slot driver gave it, or the address of the port
 * @address: PCI address of the port
 * @backend: how the slot is driven
 * @driver_name: name of the slot driver, empty without one
 * @pci_slot: the PCI core's slot, referenced; dropped by pci_destroy_slot();
 *	NULL for a port without a slot driver
 * @port: the downstream port, referenced
 * @service: the device that the slot driver has the slot by, referenced; its
 *	device_lock keeps the driver bound. NULL when there is no such device:
 *	the slot is unmanaged
 * @sw: switch that the slot is on
 * @caps: GPUFABRIC_SLOT_CAP_*, once the port was asked; under the fabric's lock
 * @link_off: we have disabled its link; the worker's of a step, then of whoever
 *	disposes of the slot
 * @state: under the fabric's lock; may be read without it for display
 * @cause: why @state is fault, stuck or lost; under the fabric's lock
 * @text: @cause in words; under the fabric's lock
 * @generation: counts changes of @state; under the fabric's lock
 * @incarnation: counts the GPUs that passed the checks here; under the
 *	fabric's lock
 * @since: time of the last change, ms since the epoch; under the fabric's lock
 * @flags: GPUFABRIC_SLOT_FLAG_*; under the fabric's lock
 * @unread: the port could not be asked when last looked; under the fabric's lock
 * @looked: @presence and @power have been read; under the fabric's lock
 * @presence: card detected when last looked; under the fabric's lock
 * @power: power was on when last looked; under the fabric's lock
 * @foreign: it holds something that is not a GPU; under the fabric's lock
 * @told: its condition in its last event; under the fabric's lock
 * @snap: functions, BARs, link and windows when last looked, NULL before the
 *	first time; under the fabric's lock
 * @inventory: counts changes of what gf_part_count() counts; under the fabric's lock
 * @identity: which GPU; under the fabric's lock
 * @facts: what BARs it had when it was last seen, NULL when that is not known;
 *	under the fabric's lock
 * @composition: who claims the slot, referenced by the claim; under the
 *	fabric's lock
 * @op: operation that owns the slot until that is over: requests are refused,
 *	and a drain ends as the operation does; under the fabric's lock
 * @step: step whose worker has not returned; under the fabric's lock
 * @last: how the last one ended; under the fabric's lock
 * @attaches: attaches that ended well; under the fabric's lock
 * @detaches: detaches that ended well; under the fabric's lock
 * @faults: changes to fault, stuck or lost; under the fabric's lock
 * @flaps: times that the GPU went and came back unasked; under the fabric's lock
 * @degradations: times the link came up degraded; under the fabric's lock
 * @strikes: losses and faults since an attach last ended well, or somebody cleared
 *	the quarantine; that a GPU comes back says nothing. Under the fabric's lock
 * @loss: what is remembered of looks at the GPU; under the fabric's lock
 * @was_ready: it was ready, or drained, when it was lost; under the fabric's lock
 * @request: cookie of the request that named the slot last; under the
 *	fabric's lock
 * @drain_port: netlink port that announced the drain, 0 once an operation has
 *	used it; under the fabric's lock
 * @drain_deadline: its end as gf_clock_ms(), for readers; under the
 *	fabric's lock
 * @drain_end: its end in jiffies, which no clock change moves; under the
 *	fabric's lock
 * @drain_work: takes the drain back at its deadline
 * @retired: the slot left the inventory; under the fabric's lock
 * @claimed: a slot driver has come to a port that had none; inventory worker only
 * @dying: the port is being removed; set once, by the notifier
 * @gone_surprise: functions were cut off rather than removed; under
 *	&gf_notify_lock
 * @marks: when its GPU took the steps of coming up; under &gf_notify_lock
 * @seen: sizes of BARs as functions appeared; under &gf_notify_lock
 * @driver: the only one that may bind to what appears, borrowed from the operation
 *	that attaches it; NULL for any; under &gf_notify_lock
 * @changes: counts what the notifier saw; wakes @changed
 * @changed: waits for a driver or for the end of the port
 * @hash: in the notifier's table; under &gf_notify_lock
 * @refresh: looks at the slot and reconciles the state
 * @publish: brings devices and uevents in line with the state
 */
struct gf_slot {
	struct device dev;
	struct device *gpu_dev;
	u32 gpu_incarnation;
	bool added;
	bool registered;
	u32 id;
	char name[GPUFABRIC_SLOT_NAME_MAX + 1];
	char address[16];
	const struct gf_backend *backend;
	char driver_name[32];
	struct pci_slot *pci_slot;
	struct pci_dev *port;
	struct device *service;
	struct gf_switch *sw;
	u32 caps;
	bool link_off;

	enum gf_state state;
	enum gpufabric_cause cause;
	char text[GF_TEXT_MAX];
	u32 generation;
	u32 incarnation;
	u64 since;
	u32 flags;
	bool unread;
	bool looked;
	bool presence;
	bool power;
	bool foreign;
	struct gf_condition told;
	struct gf_snapshot *snap;
	u32 inventory;
	struct gf_identity identity;
	struct gf_facts *facts;
	struct gf_composition *composition;
	struct gf_op *op;
	struct gf_step *step;
	struct gf_result last;
	u32 attaches;
	u32 detaches;
	u32 faults;
	u32 flaps;
	u32 degradations;
	u32 strikes;
	struct gf_loss loss;
	bool was_ready;
	u64 request;
	u32 drain_port;
	u64 drain_deadline;
	unsigned long drain_end;
	struct delayed_work drain_work;
	bool retired;

	bool claimed;
	bool dying;
	bool gone_surprise;
	struct gf_marks marks;
	struct list_head seen;
	const char *driver;
	atomic_t changes;
	wait_queue_head_t changed;
	struct hlist_node hash;
	struct delayed_work refresh;
	struct work_struct publish;
};

#define dev_to_gf_slot(device) container_of(device, struct gf_slot, dev)

static inline struct gf_slot *gf_slot_get(struct gf_slot *slot)
{
	get_device(&slot->dev);
	return slot;
}

static inline void gf_slot_put(struct gf_slot *slot)
{
	put_device(&slot->dev);
}

struct gf_slot *gf_slot_create(struct pci_dev *port, struct pci_slot *pci_slot);
bool gf_slot_admit(struct gf_slot *slot);
bool gf_slot_retire(struct gf_slot *slot, bool gone);
struct gf_slot *gf_slot_find(u32 id);
struct gf_slot *gf_slot_find_name(const char *name);

struct gf_condition gf_slot_condition(const struct gf_slot *slot);
int gf_slot_trigger(struct gf_slot *slot, enum gf_trigger trigger);
int gf_slot_fail(struct gf_slot *slot, enum gf_trigger trigger,
		 enum gpufabric_cause cause, const char *text);
bool gf_slot_take(struct gf_slot *slot, struct gf_snapshot *snap);
void gf_slot_refresh_queue(struct gf_slot *slot);
void gf_slot_refresh_later(struct gf_slot *slot, unsigned int ms);
void gf_slot_watch(struct gf_slot *slot);
void gf_slot_drain_claim(struct gf_slot *slot);
void gf_slot_port_closed(u32 port);
void gf_slot_publish(struct gf_slot *slot);

#endif /* GPUFABRIC_SLOT_H */
