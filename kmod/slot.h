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
#include "rescan.h"
#include "state.h"

struct gf_backend;
struct gf_composition;
struct gf_op;
struct gf_snapshot;
struct gf_step;
struct gf_switch;

#define GF_PHASES (GPUFABRIC_PHASE_TOTAL + 1)

/* Which GPU a slot holds: the first function of the first GPU. */
struct gf_identity {
	enum gpufabric_identity_source source; /* unknown when nothing was ever read */
	u64 time; /* when it was read, milliseconds since the epoch */
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem_device;
	u32 class; /* 24 bits */
	u64 serial; /* Device Serial Number, 0 when there is none */
	u32 gpus; /* how many there are */
};

/* When a GPU took the steps of coming up; zero for a step that was not seen. */
struct gf_marks {
	ktime_t add; /* its first function appeared */
	ktime_t bind; /* a driver's probe began */
	ktime_t bound; /* a driver's probe ended */
	ktime_t gone; /* its last function was removed */
};

/* Why an operation failed, or what befell a slot. What does not apply is zero. */
struct gf_failure {
	enum gpufabric_cause cause;
	enum gpufabric_activity activity; /* what was under way */
	int error; /* a negative errno, 0 where nobody had asked */
	char address[16]; /* of the function that it is about */
	char driver[32]; /* that was awaited, or that does not return */
	u32 waited_ms; /* for how long */
	u32 bar;
	u64 size; /* of the BAR or the window, in bytes */
	u16 id[4]; /* of what was found, as in &struct gf_expect */
	u32 class; /* of what was found */
	struct gf_binding binding; /* who is likely to be waited for */
};

/* How the last operation on a slot ended; its id is 0 when there was none. */
struct gf_result {
	u64 id;
	enum gpufabric_operation_kind kind;
	u64 started; /* milliseconds since the epoch */
	u32 phase_us[GF_PHASES]; /* 0 for a phase that did not run */
	struct gf_failure failure;
};

/* A downstream port that can take a GPU. */
struct gf_slot {
	struct device dev; /* of class gpufabric; owns the memory of the slot */

	/* Set before the slot is admitted; references are given back when it is disposed of. */
	char name[GPUFABRIC_SLOT_NAME_MAX + 1]; /* by the slot driver, or the port's address */
	char address[16]; /* of the port */
	const struct gf_backend *backend;
	char driver_name[32]; /* of the slot driver, empty without one */
	/* Referenced, given back by pci_destroy_slot(); NULL without a slot driver. */
	struct pci_slot *pci_slot;
	struct pci_dev *port; /* referenced */
	/*
	 * What the slot driver has the slot by, referenced; its device_lock keeps the driver
	 * bound. NULL when there is no such device: the slot is unmanaged.
	 */
	struct device *service;
	struct gf_switch *sw;

	/* Under gf_link_lock. */
	bool linked; /* the port has a link to @dev */
	bool unlinked; /* and will not have one again: it goes, or the slot does */

	/* The uevent worker's alone. */
	struct device *gpu_dev; /* child device while the slot is ready */
	u32 gpu_incarnation; /* that @gpu_dev stands for */
	bool added; /* @dev was to be registered */
	bool registered; /* and is in sysfs */

	/* The step's worker's, then of whoever disposes of the slot: we disabled its link. */
	bool link_off;

	/* Under the fabric's lock. */
	u32 id; /* 0 before the slot is admitted */
	u32 caps; /* GPUFABRIC_SLOT_CAP_*, once the port was asked */
	enum gf_state state; /* may be read without the lock for display */
	struct gf_failure failure; /* why @state is fault, stuck or lost */
	u32 generation; /* counts changes of @state */
	u32 incarnation; /* counts the GPUs that passed the checks here */
	u64 since; /* time of the last change, milliseconds since the epoch */
	u32 flags; /* GPUFABRIC_SLOT_FLAG_* */
	bool unread; /* the port could not be asked when last looked */
	bool looked; /* @presence and @power were read */
	bool presence; /* there was a card when last looked */
	bool power; /* and it had power */
	bool foreign; /* it holds something that is not a GPU */
	struct gf_condition told; /* its condition in its last event */
	struct gf_snapshot *snap; /* what was found when last looked, NULL before that */
	u32 inventory; /* counts changes of what gf_part_count() counts */
	struct gf_identity identity;
	struct gf_facts *facts; /* its BARs when last seen, NULL when that is not known */
	struct gf_composition *composition; /* who claims it; the claim holds a reference */
	/* Owns the slot until it is over: requests are refused, a drain ends as it does. */
	struct gf_op *op;
	struct gf_step *step; /* whose worker has not returned */
	struct gf_result last;
	u32 attaches; /* that ended well */
	u32 detaches; /* that ended well */
	u32 faults; /* changes to fault, stuck or lost */
	u32 flaps; /* times that the GPU went and came back unasked */
	u32 degradations; /* times that the link came up degraded */
	/*
	 * Losses and faults since an attach last ended well, or somebody cleared the quarantine;
	 * that a GPU comes back says nothing.
	 */
	u32 strikes;
	struct gf_loss loss; /* what is remembered of looks at the GPU */
	bool was_ready; /* it was ready, or drained, when it was lost */
	u64 request; /* cookie of the request that named the slot last */
	u32 drain_port; /* netlink port of the drain, 0 once an operation has used it */
	u64 drain_deadline; /* as gf_clock_ms(), 0 without one */
	struct delayed_work drain_work; /* takes the drain back at its deadline */
	bool retired; /* the slot left the inventory */

	/* The inventory worker's: a slot driver has come to a port that had none. */
	bool claimed;
	/* Set once, by the notifier: the port is being removed. */
	bool dying;

	/* Under gf_notify_lock. */
	bool gone_surprise; /* functions were cut off rather than removed */
	struct gf_marks marks;
	struct list_head seen; /* sizes of BARs as functions appeared */
	/* The only one that may bind, borrowed from the operation; NULL for any. */
	const char *driver;
	struct hlist_node hash;

	atomic_t changes; /* counts what the notifier saw; wakes @changed */
	wait_queue_head_t changed; /* waits for a driver or for the end of the port */
	struct delayed_work refresh; /* looks at the slot and reconciles the state */
	struct work_struct publish; /* brings devices and uevents in line with the state */
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
int gf_slot_fail(struct gf_slot *slot, enum gf_trigger trigger, const struct gf_failure *failure);
int gf_slot_befalls(struct gf_slot *slot, enum gf_trigger trigger, enum gpufabric_cause cause);
bool gf_slot_take(struct gf_slot *slot, struct gf_snapshot *snap);
void gf_slot_refresh_queue(struct gf_slot *slot);
void gf_slot_refresh_later(struct gf_slot *slot, unsigned int ms);
void gf_slot_watch(struct gf_slot *slot);
void gf_slot_drain_watch(struct gf_slot *slot);
void gf_slot_drain_claim(struct gf_slot *slot);
void gf_slot_port_closed(u32 port);
void gf_slot_publish(struct gf_slot *slot);

#endif /* GPUFABRIC_SLOT_H */
