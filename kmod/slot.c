// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Slots and switches
 *
 * A slot lives from the moment the inventory worker finds it until its port or its slot driver
 * goes away; operations, claims and devices hold references beyond that. Its state changes
 * through gf_slot_trigger() alone, so that every change is counted, announced and recorded once.
 * What is in it is learned by looking (snapshot.c) and reconciled with the state here, but for
 * the time of an operation, which does the looking.
 *
 * A switch is there as long as it has slots. What is known of it is copied when the first one is
 * found, so nothing of the PCI core is held.
 */
#include <linux/slab.h>

#include "compat.h"
#include "netlink.h"
#include "slot.h"
#include "snapshot.h"
#include "trace.h"

#define GF_QUARANTINE_AFTER 3

static unsigned int quarantine_after = GF_QUARANTINE_AFTER;
module_param(quarantine_after, uint, 0644);
MODULE_PARM_DESC(quarantine_after, "Quarantine a slot after this number of faults in a row, 0 for never (default 3)");

/* The first bits of GPUFABRIC_SLOT_CAP_* are those of Slot Capabilities, up to surprise. */
static u32 caps_of(u32 sltcap)
{
	static_assert(GPUFABRIC_SLOT_CAP_SURPRISE == PCI_EXP_SLTCAP_HPS);
	return (sltcap & (2 * PCI_EXP_SLTCAP_HPS - 1)) |
	       (sltcap & PCI_EXP_SLTCAP_EIP ? GPUFABRIC_SLOT_CAP_INTERLOCK : 0) |
	       (sltcap & PCI_EXP_SLTCAP_NCCS ? GPUFABRIC_SLOT_CAP_NO_COMMAND_COMPLETED : 0);
}

/* A port that has not been asked is like most. */
static bool has_control(const struct gf_slot *slot)
{
	return slot->pci_slot && (!slot->caps || slot->caps & GPUFABRIC_SLOT_CAP_POWER_CONTROLLER);
}

struct gf_condition gf_slot_condition(const struct gf_slot *slot)
{
	const struct gf_seen_in seen = {
		.card = slot->presence, .on = slot->power, .gpu = gf_snapshot_gpu(slot->snap),
		.other = slot->foreign, .control = has_control(slot),
		.detaching = slot->step && slot->step->need == GF_NEED_DETACH,
		.cause = slot->failure.cause,
	};

	gf_assert_locked();
	return gf_state_condition(slot->state, &seen);
}

/* Announces the change when there is one. Returns -EBUSY when that cannot happen now. */
int gf_slot_trigger(struct gf_slot *slot, enum gf_trigger trigger)
{
	enum gf_state previous = slot->state;
	int next = gf_state_next(previous, trigger);

	gf_assert_locked();
	if (next < 0)
		return next;
	if (next == previous)
		return 0;

	if (previous == GF_STATE_DRAINING) {
		gf.nr_draining--;
		gf_slot_drain_claim(slot);
	}
	if (next == GF_STATE_DRAINING)
		gf.nr_draining++;
	WRITE_ONCE(slot->state, next);
	slot->generation = ++gf.generation;
	if (trigger == GF_CHECKED) {
		slot->incarnation++;
		slot->loss = (struct gf_loss){};
	}
	if (next != GF_STATE_FAULT && next != GF_STATE_STUCK && next != GF_STATE_LOST)
		slot->failure = (struct gf_failure){};
	trace_gpufabric_state(slot, previous);
	gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
	gf_slot_publish(slot);
	if (slot->composition)
		gf_composition_judge(slot->composition);
	return 0;
}

int gf_slot_fail(struct gf_slot *slot, enum gf_trigger trigger, const struct gf_failure *failure)
{
	int next = gf_state_next(slot->state, trigger);

	gf_assert_locked();
	if (next < 0)
		return next;
	slot->failure = *failure;
	slot->faults++;
	/* Who resets a GPU is seldom the slot. */
	if (failure->cause != GPUFABRIC_CAUSE_RESET && failure->cause != GPUFABRIC_CAUSE_REPLACED)
		slot->strikes++;
	if (quarantine_after && slot->strikes >= quarantine_after)
		slot->flags |= GPUFABRIC_SLOT_FLAG_QUARANTINED;
	dev_warn(&slot->dev, "%s: %s %s %s (%d)\n", slot->name, gf_cause_name(failure->cause),
		 failure->address, failure->driver, failure->error);
	return gf_slot_trigger(slot, trigger);
}

/* The same for what nobody asked for, and where the cause says all there is. */
int gf_slot_befalls(struct gf_slot *slot, enum gf_trigger trigger, enum gpufabric_cause cause)
{
	const struct gf_failure failure = { .cause = cause };

	return gf_slot_fail(slot, trigger, &failure);
}

/* What the memory of the GPU may hold from now on, and of which composition that is, or NULL. */
void gf_slot_holds(struct gf_slot *slot, enum gpufabric_contents contents,
		   struct gf_composition *former)
{
	gf_assert_locked();
	if (former)
		kref_get(&former->ref);
	if (slot->former)
		gf_composition_put(slot->former);
	slot->former = former;
	slot->contents = contents;
}

/* Presence detection loses cards that keep their power: only a port that controls power says so. */
static bool has_no_power(const struct gf_slot *slot)
{
	return slot->looked && has_control(slot) && !slot->power;
}

/* Who chose the slot before this does not know what is in it. */
void gf_slot_given_back(struct gf_slot *slot)
{
	gf_assert_locked();
	if (has_no_power(slot))
		return;
	gf_slot_holds(slot, GPUFABRIC_CONTENTS_FORMER, slot->composition);
	slot->generation = ++gf.generation;
}

/* With the snapshot that the slot has now. Another card may come where nothing is seen. */
static void learn_contents(struct gf_slot *slot)
{
	if (has_no_power(slot))
		gf_slot_holds(slot, GPUFABRIC_CONTENTS_POWER_CYCLED, NULL);
	else if (!slot->presence && !slot->snap->nr_functions)
		gf_slot_holds(slot, GPUFABRIC_CONTENTS_UNKNOWN, NULL);
}

/* A function that sleeps was not asked. */
static void keep_sizes(struct gf_facts *now, const struct gf_facts *then)
{
	unsigned int i;

	for (i = 0; then && i < now->count && now->count == then->count; i++) {
		if (!now->fact[i].sizes && now->fact[i].size == then->fact[i].size)
			now->fact[i].sizes = then->fact[i].sizes;
	}
}

static void learn_identity(struct gf_slot *slot)
{
	struct gf_identity *identity = &slot->identity;
	struct gf_snapshot *snap = slot->snap;
	const struct gf_function *function = gf_snapshot_gpu(snap);

	if (!function) {
		if (identity->source == GPUFABRIC_IDENTITY_SOURCE_LIVE)
			identity->source = GPUFABRIC_IDENTITY_SOURCE_LAST_SEEN;
		/* Another card may come into an empty slot. */
		if (snap->status_valid && !snap->present) {
			memset(identity, 0, sizeof(*identity));
			kfree(slot->facts);
			slot->facts = NULL;
		}
		return;
	}
	if (!snap->quiet) {
		keep_sizes(snap->facts, slot->facts);
		kfree(slot->facts);
		slot->facts = snap->facts;
		snap->facts = NULL;
	} else if (identity->source == GPUFABRIC_IDENTITY_SOURCE_LIVE) {
		return;
	}
	identity->source = GPUFABRIC_IDENTITY_SOURCE_LIVE;
	identity->time = gf_now_ms();
	identity->ids = function->ids;
	identity->class = function->class;
	identity->serial = snap->serial;
	identity->gpus = snap->gpus;
}

static void set_flag(struct gf_slot *slot, u32 flag, bool on)
{
	slot->flags = (slot->flags & ~flag) | (on ? flag : 0);
}

/* Whether a reader would see a difference between two snapshots, but for their parts. */
static bool looks_the_same(const struct gf_snapshot *a, const struct gf_snapshot *b)
{
	return a && a->present == b->present && a->power == b->power &&
	       !memcmp(&a->link, &b->link, sizeof(a->link));
}

static bool has_same_parts(const struct gf_snapshot *a, const struct gf_snapshot *b)
{
	return a && a->nr_functions == b->nr_functions &&
	       !memcmp(a->functions, b->functions, a->nr_functions * sizeof(a->functions[0]));
}

/* Have readers see a snapshot, which the slot owns then. Returns whether it differs. */
bool gf_slot_take(struct gf_slot *slot, struct gf_snapshot *snap)
{
	bool was_degraded = slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED;
	bool degraded = snap->gpu >= 0 && gf_link_degraded(&snap->link);
	bool foreign = snap->nr_functions && snap->gpu < 0;
	unsigned int needs;
	bool differs, moved;

	gf_assert_locked();
	/* What a GPU leaves of its card is still that card's. */
	if (foreign && !slot->foreign)
		foreign = snap->has_slots || !slot->snap ||
			  gf_functions_bring(snap->card, slot->snap->card, false);
	if (!slot->snap || slot->snap->pdev != snap->pdev)
		slot->loss = (struct gf_loss){};
	gf_snapshot_keep(snap, slot->snap);
	differs = !looks_the_same(slot->snap, snap);
	moved = !has_same_parts(slot->snap, snap);
	needs = gf_part_count(slot, GPUFABRIC_CMD_NEED_GET);
	gf_snapshot_free(slot->snap);
	slot->snap = snap;
	if (snap->status_valid) {
		WRITE_ONCE(slot->looked, true);
		WRITE_ONCE(slot->presence, snap->present);
		WRITE_ONCE(slot->power, snap->power);
	}
	WRITE_ONCE(slot->unread, snap->closed);
	if (!snap->closed)
		slot->caps = caps_of(snap->sltcap);
	if (snap->status_valid)
		learn_contents(slot);
	learn_identity(slot);
	moved |= needs != gf_part_count(slot, GPUFABRIC_CMD_NEED_GET);
	slot->inventory += moved;
	gf.inventory += moved;
	if (degraded && !was_degraded)
		slot->degradations++;
	set_flag(slot, GPUFABRIC_SLOT_FLAG_LINK_DEGRADED, degraded);
	slot->foreign = foreign;
	set_flag(slot, GPUFABRIC_SLOT_FLAG_CHASSIS, snap->has_slots);
	set_flag(slot, GPUFABRIC_SLOT_FLAG_NO_DRIVER,
		 snap->gpu >= 0 && !gf_snapshot_bound(snap, ""));
	return differs || moved;
}

/* A GPU came up that no step has looked at. */
void gf_slot_gpu_came(struct gf_slot *slot)
{
	struct gf_failure failure = {};

	gf_snapshot_judge(slot->snap, &failure);
	if (failure.cause) {
		failure.error = 0;
		gf_slot_fail(slot, GF_FAIL, &failure);
		return;
	}
	gf_slot_trigger(slot, GF_CHECKED);
	gf_slot_trigger(slot, GF_BOUND);
}

static void reconcile_gpu(struct gf_slot *slot)
{
	bool came_back = slot->state == GF_STATE_LOST;

	if (gf_slot_trigger(slot, GF_INSERTED))
		return;
	slot->flaps += came_back;
	gf_slot_gpu_came(slot);
}

/* The GPU that was there has left the bus. */
static void reconcile_left(struct gf_slot *slot)
{
	const struct gf_snapshot *snap = slot->snap;
	/* A port without functions goes to sleep soon. */
	bool present = snap->closed ? slot->presence : snap->status_valid && snap->present;
	struct gf_marks marks;

	gf_notify_marks(slot, &marks);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED || (present && !marks.surprise))
		/* Somebody powered it off in an orderly way. */
		gf_slot_trigger(slot, GF_GONE_OFF);
	else
		gf_slot_befalls(slot, GF_SURPRISE, snap->contained ?
				GPUFABRIC_CAUSE_CONTAINMENT : GPUFABRIC_CAUSE_SURPRISE);
	gf_history_state(slot);
}

static void reconcile_gone(struct gf_slot *slot)
{
	if (gf_state_has_gpu(slot->state)) {
		reconcile_left(slot);
		if (!(slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED))
			return;
	}
	if (slot->snap->status_valid)
		gf_slot_trigger(slot, slot->snap->present ? GF_PRESENT : GF_ABSENT);
}

/* Make a snapshot the current one and bring the state in line with it. */
static void reconcile(struct gf_slot *slot, struct gf_snapshot *snap)
{
	bool had_functions = slot->snap && slot->snap->nr_functions &&
			     slot->snap->pdev == snap->pdev;
	enum gf_state before = slot->state;
	/* The one that was there went and another one came since the last look. */
	bool replaced = snap->gpu >= 0 && gf_snapshot_gpu(slot->snap) &&
			gf_functions_bring(snap->card, slot->snap->card, true);
	bool differs = gf_slot_take(slot, snap);

	if (snap->nr_functions && !had_functions)
		gf_notify_moving(slot->sw);
	if (replaced)
		gf_slot_holds(slot, GPUFABRIC_CONTENTS_UNKNOWN, NULL);
	if (replaced && gf_state_has_gpu(before)) {
		reconcile_left(slot);
		reconcile_gpu(slot);
	} else if (!snap->nr_functions) {
		reconcile_gone(slot);
	} else if (snap->gpu < 0 && gf_state_has_gpu(before)) {
		/* Somebody removed the GPU and left other functions of its card. */
		gf_slot_befalls(slot, GF_SURPRISE, GPUFABRIC_CAUSE_REMAINS);
		gf_history_state(slot);
	} else if (snap->gpu < 0 && before == GF_STATE_OFF) {
		/* Seen before it had power: there is a card, and no GPU. */
		gf_slot_trigger(slot, GF_ABSENT);
	} else if (snap->gpu >= 0 && !gf_state_has_gpu(before) &&
		   /* Only new functions end a fault or loss, not those left behind. */
		   ((before != GF_STATE_FAULT && before != GF_STATE_LOST) || !had_functions)) {
		reconcile_gpu(slot);
	}
	if (differs && slot->state == before)
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
}

/*
 * Look at a slot after a while, or soon. It is not disposed of: the caller holds &gf_notify_lock
 * and found it there, or the fabric's lock and it is not retired, or is the inventory worker. May
 * be called from the bus notifier. Holds no reference: a slot is disposed of when nobody queues
 * this any more but the work itself, and cancels it then.
 */
void gf_slot_refresh(struct gf_slot *slot, unsigned int ms)
{
	/* What was asked for sooner is not put off. */
	if (ms)
		queue_delayed_work(gf.scan_wq, &slot->refresh, msecs_to_jiffies(ms));
	else
		mod_delayed_work(gf.scan_wq, &slot->refresh, 0);
}

static void refresh_run(struct work_struct *work)
{
	struct gf_slot *slot = container_of(work, struct gf_slot, refresh.work);
	bool again = false, unread = false;
	struct gf_snapshot *snap;
	int seen;

	seen = atomic_read(&slot->changes);
	snap = gf_snapshot_take(slot);
	scoped_guard(mutex, &gf.lock) {
		if (IS_ERR(snap) || !slot->id || slot->retired || slot->step)
			break;
		/* Too old when functions came or went since it was taken. */
		again = atomic_read(&slot->changes) != seen;
		if (again)
			break;
		unread = snap->driver_unread;
		reconcile(slot, snap);
		snap = NULL;
	}
	if (again)
		gf_slot_refresh(slot, 0);
	else if (unread)
		gf_slot_refresh(slot, GF_UNREAD_MS);
	if (PTR_ERR_OR_ZERO(snap) == -ENODEV)
		gf_inventory_queue();
	if (!IS_ERR(snap))
		gf_snapshot_free(snap);
	gf_slot_watch(slot);
}

/* There are thousands, and the allocator's next size is much larger. */
static struct kmem_cache *slots;

int gf_slot_start(void)
{
	slots = KMEM_CACHE(gf_slot, 0);
	return slots ? 0 : -ENOMEM;
}

void gf_slot_stop(void)
{
	kmem_cache_destroy(slots);
}

static void drains_run(struct work_struct *work);
static DECLARE_DELAYED_WORK(drains_work, drains_run);

/*
 * End the drains whose deadline has passed, and come back for the next one. The clock goes on
 * while the system sleeps, and timers do not.
 */
void gf_slot_watch_drains(void)
{
	u64 now = gf_clock_ms(), next = U64_MAX;
	struct gf_slot *slot;
	unsigned long id;

	gf_assert_locked();
	xa_for_each(&gf.slots, id, slot) {
		if (slot->drain_deadline && slot->drain_deadline <= now)
			gf_slot_trigger(slot, GF_DRAIN_ABORT);
		else if (slot->drain_deadline)
			next = min(next, slot->drain_deadline);
	}
	if (next != U64_MAX)
		mod_delayed_work(system_freezable_wq, &drains_work,
				 msecs_to_jiffies(next - now) + 1);
}

static void drains_run(struct work_struct *work)
{
	guard(mutex)(&gf.lock);
	gf_slot_watch_drains();
}

/* When there are no slots any more. */
void gf_slot_stop_drains(void)
{
	cancel_delayed_work_sync(&drains_work);
}

/* A drain is over, or an operation has used it: neither deadline nor client end it now. */
void gf_slot_drain_claim(struct gf_slot *slot)
{
	gf_assert_locked();
	slot->drain_port = 0;
	slot->drain_deadline = 0;
}

void gf_slot_port_closed(u32 port)
{
	struct gf_slot *slot;
	unsigned long id;

	gf_assert_locked();
	if (!gf.nr_draining)
		return;
	xa_for_each(&gf.slots, id, slot) {
		if (slot->state == GF_STATE_DRAINING && !slot->op && slot->drain_port == port)
			gf_slot_trigger(slot, GF_DRAIN_ABORT);
	}
}

void gf_slot_publish(struct gf_slot *slot)
{
	gf_slot_get(slot);
	if (!queue_work(gf.uevent_wq, &slot->publish))
		gf_slot_put(slot);
}

struct gf_slot *gf_slot_find_name(const char *name)
{
	struct gf_slot *slot;
	unsigned long id;

	gf_assert_locked();
	xa_for_each(&gf.slots, id, slot) {
		if (!strcmp(slot->name, name))
			return slot;
	}
	return NULL;
}

static struct gf_switch *switch_create(struct pci_dev *port)
{
	struct pci_dev *upstream = port->bus->self;
	struct gf_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return NULL;
	INIT_LIST_HEAD(&sw->turns);
	sw->bus = port->bus;
	sw->numa_node = dev_to_node(&port->dev);
	if (upstream) {
		struct pci_dev *above = pci_upstream_bridge(upstream);

		strscpy(sw->address, pci_name(upstream), sizeof(sw->address));
		sw->vendor = upstream->vendor;
		sw->device = upstream->device;
		if (above && pci_is_pcie(above) && gf_config_open(above) &&
		    gf_config_open(upstream))
			gf_link_read(above, upstream, &sw->link);
	} else {
		snprintf(sw->address, sizeof(sw->address), "%04x:%02x",
			 pci_domain_nr(port->bus), port->bus->number);
	}
	return sw;
}

/*
 * The switch of a port, with one more slot counted; NULL without memory. For the inventory worker
 * alone, so that none is made twice; under pci_rescan_remove_lock, and not the fabric's lock.
 */
static struct gf_switch *switch_get(struct pci_dev *port)
{
	struct gf_switch *sw;
	unsigned long id;

	scoped_guard(mutex, &gf.lock) {
		xa_for_each(&gf.switches, id, sw) {
			if (sw->bus != port->bus)
				continue;
			sw->slots++;
			return sw;
		}
	}
	sw = switch_create(port);
	if (!sw)
		return NULL;
	sw->slots = 1;
	guard(mutex)(&gf.lock);
	if (xa_alloc_cyclic(&gf.switches, &sw->id, sw, XA_LIMIT(1, INT_MAX), &gf.next_switch,
			    GFP_KERNEL) < 0) {
		kfree(sw);
		return NULL;
	}
	gf.nr_switches++;
	gf_notify_moving(sw);
	gf_event(GPUFABRIC_EVENT_KIND_SWITCH_ADDED, gf_fill_switch, sw);
	return sw;
}

/* A slot of the switch is gone, and with the last one the switch. */
static void switch_put(struct gf_switch *sw)
{
	gf_assert_locked();
	if (--sw->slots)
		return;
	gf_event(GPUFABRIC_EVENT_KIND_SWITCH_REMOVED, gf_fill_switch, sw);
	xa_erase(&gf.switches, sw->id);
	gf.nr_switches--;
	kfree(sw);
}

static void slot_release(struct device *dev)
{
	struct gf_slot *slot = dev_to_gf_slot(dev);

	gf_device_exit(slot);
	if (slot->former)
		gf_composition_put(slot->former);
	gf_snapshot_free(slot->snap);
	pci_dev_put(slot->port);
	kfree(slot->facts);
	kfree(slot->name);
	kmem_cache_free(slots, slot);
}

static struct gf_slot *slot_alloc(struct pci_dev *port, struct pci_slot *pci_slot)
{
	struct gf_slot *slot = kmem_cache_zalloc(slots, GFP_KERNEL);

	if (!slot)
		return NULL;
	slot->name = kstrndup(pci_slot ? pci_slot_name(pci_slot) : pci_name(port),
			      GPUFABRIC_SLOT_NAME_MAX, GFP_KERNEL);
	if (!slot->name) {
		kmem_cache_free(slots, slot);
		return NULL;
	}
	device_initialize(&slot->dev);
	/* Files for power management would be most of what sysfs keeps for a slot. */
	device_set_pm_not_required(&slot->dev);
	slot->dev.release = slot_release;
	slot->pci_slot = pci_slot;
	slot->nameless = !pci_slot;
	slot->port = pci_dev_get(port);
	strscpy(slot->address, pci_name(port), sizeof(slot->address));
	slot->backend = pci_slot ? &gf_backend_slot : &gf_backend_rescan;
	slot->since = gf_now_ms();
	INIT_LIST_HEAD(&slot->seen);
	init_waitqueue_head(&slot->changed);
	INIT_DELAYED_WORK(&slot->refresh, refresh_run);
	INIT_WORK(&slot->publish, gf_device_publish);
	return slot;
}

/*
 * Make a slot that is not in the inventory yet. It owns the reference on @pci_slot, NULL for a
 * port without a slot driver, when this succeeds. The caller holds pci_rescan_remove_lock, so that
 * the port stays while it is being pinned, and is the inventory worker. The slot driver is not
 * asked anything here: it may take locks of its own that come before that one. Returns the slot,
 * or an error pointer.
 */
struct gf_slot *gf_slot_create(struct pci_dev *port, struct pci_slot *pci_slot)
{
	struct gf_slot *slot = slot_alloc(port, pci_slot);
	int err;

	if (!slot)
		return ERR_PTR(-ENOMEM);
	err = pci_slot ? gf_backend_slot_pin(slot) : 0;
	if (err)
		goto err_put;
	slot->sw = switch_get(slot->port);
	if (!slot->sw) {
		err = -ENOMEM;
		goto err_unpin;
	}
	gf_notify_add_slot(slot);
	return slot;

err_unpin:
	gf_backend_slot_unpin(slot);
err_put:
	gf_slot_put(slot);
	return ERR_PTR(err);
}

/* Let go of all that a slot holds; nobody finds it any more. */
static void slot_dispose(struct gf_slot *slot)
{
	/* While the notifier still knows the slot: the port may be going. */
	gf_device_unlink(slot);
	gf_notify_remove_slot(slot);
	/* The uevent worker sees that the slot retired, and removes devices. */
	gf_slot_publish(slot);
	flush_work(&slot->publish);
	cancel_delayed_work_sync(&slot->refresh);
	if (slot->backend->leave)
		slot->backend->leave(slot);

	scoped_guard(mutex, &gf.lock) {
		switch_put(slot->sw);
		slot->sw = NULL;
	}
	gf_backend_slot_unpin(slot);
	gf_slot_put(slot);
}

static int enter_slot(struct gf_slot *slot, struct gf_snapshot *snap)
{
	int err;

	gf_assert_locked();
	err = xa_alloc_cyclic(&gf.slots, &slot->id, slot, XA_LIMIT(1, INT_MAX),
			      &gf.next_slot, GFP_KERNEL);
	if (err < 0)
		return err;
	gf.nr_slots++;
	slot->generation = ++gf.generation;
	gf_device_init(slot);
	gf_slot_publish(slot);
	gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_ADDED);
	gf_composition_inherit(slot);
	reconcile(slot, snap);
	return 0;
}

/* Take a new slot in, or dispose of it. Sleeps; called without locks. Returns whether it is in. */
bool gf_slot_admit(struct gf_slot *slot)
{
	int seen = atomic_read(&slot->changes);
	struct gf_snapshot *snap;
	int err;

	if (slot->backend->enter)
		slot->backend->enter(slot);
	snap = gf_snapshot_take(slot);
	scoped_guard(mutex, &gf.lock) {
		err = PTR_ERR_OR_ZERO(snap) ?: enter_slot(slot, snap);
		slot->retired = err;
	}
	if (err) {
		if (!IS_ERR(snap))
			gf_snapshot_free(snap);
		slot_dispose(slot);
	} else if (atomic_read(&slot->changes) != seen) {
		gf_slot_refresh(slot, 0);
	}
	return !err;
}

/*
 * Take a slot, of which the caller has a reference, out of the inventory, and return whether it is
 * out. @gone: its port is gone, and the GPU with it; otherwise the module leaves. A slot with an
 * operation under way stays; the inventory worker tries again. Sleeps; called without locks.
 */
bool gf_slot_retire(struct gf_slot *slot, bool gone)
{
	scoped_guard(mutex, &gf.lock) {
		if (slot->retired || slot->step)
			return false;
		if (gone && gf_state_has_gpu(slot->state))
			gf_slot_befalls(slot, GF_SURPRISE, GPUFABRIC_CAUSE_SWITCH_GONE);
		slot->retired = true;
		xa_erase(&gf.slots, slot->id);
		gf.nr_slots--;
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_REMOVED);
		if (slot->composition)
			gf_composition_judge(slot->composition);
		gf_composition_bequeath(slot);
	}
	slot_dispose(slot);
	return true;
}
