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
struct gf_facts;
struct gf_functions;
struct gf_op;
struct gf_snapshot;
struct gf_step;
struct gf_unbound;

#define GF_PHASES (GPUFABRIC_PHASE_TOTAL + 1)

/* Vendor, device, and those of the subsystem. */
struct gf_ids {
	u16 id[4];
};

/* Which GPU a slot holds: the first function of the first GPU. */
struct gf_identity {
	enum gpufabric_identity_source source; /* unknown when nothing was ever read */
	u64 time; /* when it was read, milliseconds since the epoch */
	struct gf_ids ids;
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
	bool surprise; /* the last function that went was cut off rather than removed */
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
	struct gf_ids ids; /* of what was found */
	u32 class; /* of what was found */
	struct gf_binding binding; /* who is likely to be waited for */
};

/* How an operation on a slot ended; its id is 0 when there was none. */
struct gf_result {
	u64 id;
	enum gpufabric_operation_kind kind;
	u64 started; /* milliseconds since the epoch */
	u32 phase_us[GF_PHASES]; /* 0 for a phase that did not run */
	struct gf_failure failure;
};

/* Speeds in MT/s a lane, and widths; 0 when unknown or down. */
struct gf_link {
	u32 speed; /* trained */
	u32 width;
	u32 port_speed; /* that the upper end can do */
	u32 port_width;
	u32 device_speed; /* that the lower end can do */
	u32 device_width;
};

/* An upstream port with its downstream ports. */
struct gf_switch {
	u32 id;
	char address[16]; /* of the upstream port, or of the root bus */
	const struct pci_bus *bus; /* that the ports sit on; compared, never followed */
	int numa_node; /* -1 when unknown */
	u16 vendor; /* of the upstream port, 0 for a root bus */
	u16 device;
	u32 slots; /* number of slots; under the fabric's lock */
	struct gf_link link; /* the uplink as it was when the switch was found */
	u64 changed; /* last change below its ports; written under gf_notify_lock, read without */
	struct list_head turns; /* steps without windows yet, in order; under the fabric's lock */
};

/* A downstream port that can take a GPU. */
struct gf_slot {
	struct device dev; /* of class gpufabric; owns the memory of the slot */

	/* Set before the slot is admitted; references are given back when it is disposed of. */
	const char *name; /* by the slot driver, or the port's address */
	char address[16]; /* of the port */
	const struct gf_backend *backend;
	const char *driver_name; /* of the slot driver, NULL where none is held */
	struct pci_slot *pci_slot; /* referenced until the slot is dying; NULL without a driver */
	struct pci_dev *port; /* referenced as long as the slot has memory */
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

	bool link_off; /* we disabled its link; the step's worker's, then the disposer's */

	/* Under the fabric's lock. */
	u32 id; /* 0 before the slot is admitted */
	u32 caps; /* GPUFABRIC_SLOT_CAP_*, once the port was asked */
	enum gf_state state; /* may be read without the lock for display */
	struct gf_failure failure; /* why @state is fault, stuck or lost */
	u32 generation; /* changes with @state, to one that was never given before */
	u32 incarnation; /* counts the GPUs that passed the checks here */
	u64 since; /* time of the last change, milliseconds since the epoch */
	u32 flags; /* GPUFABRIC_SLOT_FLAG_* */
	bool unread; /* the port could not be asked when last looked */
	bool looked; /* @presence and @power were read */
	bool presence; /* there was a card when last looked */
	bool power; /* and it had power */
	bool foreign; /* it holds something that is not a GPU */
	enum gf_state was; /* @state before it was lost */
	struct gf_condition told; /* its condition in its last event */
	struct gf_snapshot *snap; /* what was found when last looked, NULL before that */
	u32 inventory; /* counts changes of what gf_part_count() counts */
	struct gf_identity identity;
	struct gf_facts *facts; /* its BARs when last seen, NULL when that is not known */
	struct gf_composition *composition; /* who claims it; the claim holds a reference */
	enum gpufabric_contents contents; /* what the memory of its GPU may hold */
	struct gf_composition *former; /* that @contents are of, referenced, or NULL */
	struct list_head member; /* in &gf_composition.members */
	struct gf_op *op; /* owns it until that is over: requests are refused, a drain ends so */
	struct gf_step *step; /* whose worker has not returned */
	struct gf_result last;
	u32 attaches; /* that ended well */
	u32 detaches; /* that ended well */
	u32 faults; /* changes to fault, stuck or lost */
	u32 flaps; /* times that the GPU went and came back unasked */
	u32 degradations; /* times that the link came up degraded */
	u32 strikes; /* losses and faults since an attach ended well or quarantine was cleared */
	struct gf_loss loss; /* what is remembered of looks at the GPU */
	u64 request; /* cookie of the request that named the slot last */
	u32 drain_port; /* netlink port of the drain, 0 once an operation has used it */
	u64 drain_deadline; /* as gf_clock_ms(), 0 without one */
	bool retired; /* the slot left the inventory */

	bool claimed; /* a slot driver has come to a port that had none; inventory worker's */
	bool dying; /* the port is being removed, or the slot disposed of; under gf_notify_lock */
	bool nameless; /* keeps no name of a PCI slot from others; the publishing worker's */

	/* Under gf_notify_lock. */
	struct gf_marks marks;
	struct list_head seen; /* sizes of BARs as functions appeared */
	const char *driver; /* the only one that may bind, the operation's; NULL for any */
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

int gf_slot_start(void);
void gf_slot_stop(void);
struct gf_slot *gf_slot_create(struct pci_dev *port, struct pci_slot *pci_slot);
bool gf_slot_admit(struct gf_slot *slot);
bool gf_slot_retire(struct gf_slot *slot, bool gone);
struct gf_slot *gf_slot_find_name(const char *name);

struct gf_condition gf_slot_condition(const struct gf_slot *slot);
int gf_slot_trigger(struct gf_slot *slot, enum gf_trigger trigger);
void gf_slot_gpu_came(struct gf_slot *slot);
int gf_slot_fail(struct gf_slot *slot, enum gf_trigger trigger, const struct gf_failure *failure);
int gf_slot_befalls(struct gf_slot *slot, enum gf_trigger trigger, enum gpufabric_cause cause);
void gf_slot_holds(struct gf_slot *slot, enum gpufabric_contents contents,
		   struct gf_composition *former);
void gf_slot_given_back(struct gf_slot *slot);
bool gf_slot_take(struct gf_slot *slot, struct gf_snapshot *snap);
void gf_slot_refresh(struct gf_slot *slot, unsigned int ms);
void gf_slot_watch(struct gf_slot *slot);
void gf_slot_watch_drains(void);
void gf_slot_stop_drains(void);
void gf_slot_drain_claim(struct gf_slot *slot);
void gf_slot_port_closed(u32 port);
void gf_slot_publish(struct gf_slot *slot);

/*
 * How slots of one sort are driven. None is called with the fabric's lock or the rescan lock
 * held. Each returns 0 or a negative errno; -ENODEV when the port or its driver is gone.
 */
struct gf_backend {
	enum gpufabric_backend id; /* as the protocol names it */
	/*
	 * Power the slot and enumerate what is in it, which takes up to a minute, or remove the
	 * functions and power off, which may never return for a driver.
	 */
	int (*set)(struct gf_slot *slot, bool on);
	/* Read presence and power; -EBUSY rather than wait, -EOPNOTSUPP where nobody may ask. */
	int (*status)(struct gf_slot *slot, bool *present, bool *power);
	void (*enter)(struct gf_slot *slot); /* make ready what may be looked at then, or NULL */
	void (*leave)(struct gf_slot *slot); /* leave the port as others want to find it, or NULL */
};

extern const struct gf_backend gf_backend_slot;
extern const struct gf_backend gf_backend_rescan;

int gf_backend_slot_pin(struct gf_slot *slot);
bool gf_backend_slot_left(struct gf_slot *slot);
void gf_backend_slot_unpin(struct gf_slot *slot);

int gf_notify_start(void);
void gf_notify_stop(void);
void gf_notify_add_slot(struct gf_slot *slot);
void gf_notify_remove_slot(struct gf_slot *slot);
struct hotplug_slot *gf_notify_hotplug(const struct gf_slot *slot);
bool gf_notify_knows(const struct pci_dev *port, const struct pci_slot *pci_slot);
void gf_notify_choose(struct gf_slot *slot, const char *driver);
void gf_notify_reset(struct gf_slot *slot);
void gf_notify_marks(struct gf_slot *slot, struct gf_marks *marks);
void gf_notify_facts(struct gf_slot *slot, struct pci_dev *pdev, bool awake,
		     struct gf_facts *facts);
u64 gf_notify_changes(void);
void gf_notify_moving(struct gf_switch *sw);
void gf_notify_missing_bar(struct gf_slot *slot, struct pci_dev *pdev, struct gf_snapshot *snap);

int gf_device_start(void);
void gf_device_stop(void);
void gf_device_init(struct gf_slot *slot);
void gf_device_exit(struct gf_slot *slot);
void gf_device_unlink(struct gf_slot *slot);
void gf_device_publish(struct work_struct *work);

struct gf_unbound *gf_unbind(struct gf_slot *slot, const struct gf_functions *known);
void gf_unbind_end(struct gf_slot *slot, struct gf_unbound *unbound);
void gf_unbind_unchoose(struct gf_slot *slot, const char *driver);
bool gf_unbind_holds(struct pci_dev *pdev);

#endif /* GPUFABRIC_SLOT_H */
