// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: What the PCI core tells
 *
 * The bus notifier runs in the context of whoever adds or removes a device, with
 * pci_rescan_remove_lock held. So it writes down what it saw, under a spinlock, and queues
 * workers that look; it takes no lock of the fabric, and waits for no worker for long. Two things
 * nobody else can do in time: when a request has chosen the driver, it keeps others from a function
 * that was just announced, and when a port goes, it removes the port's link to the slot and has
 * the name of its PCI slot freed, for the port may be found again at once.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "compat.h"
#include "snapshot.h"

#define GF_HASH_BITS 10
/* The BARs, the ROM and the BARs of virtual functions come first. */
#define GF_SEEN PCI_BRIDGE_RESOURCES

/*
 * gf_notify_lock covers the table and, in every slot in it, the marks, the list of seen functions
 * and the chosen driver; and what counts changes, here and in switches. Innermost; taken in the
 * notifier, inside the fabric's lock and inside the list lock of pci_slots_kset.
 */
static DEFINE_SPINLOCK(gf_notify_lock);
static DEFINE_HASHTABLE(gf_ports, GF_HASH_BITS);

/*
 * BARs of a function as it appeared. A BAR for which no address is found loses its size in the
 * PCI core, so what a function asked for is kept from before addresses are assigned.
 */
struct gf_seen {
	struct list_head list; /* in &gf_slot.seen */
	const struct pci_dev *pdev; /* which function; compared, never followed */
	struct gf_fact bar[GF_SEEN]; /* each of its BARs */
};

/* What is on buses; under &gf_notify_lock. */
static u64 changes;

static void note_change(struct gf_switch *sw)
{
	lockdep_assert_held(&gf_notify_lock);
	WRITE_ONCE(sw->changed, ++changes);
}

static struct gf_slot *slot_of_port(const struct pci_dev *port)
{
	struct gf_slot *slot;

	lockdep_assert_held(&gf_notify_lock);
	hash_for_each_possible(gf_ports, slot, hash, (unsigned long)port) {
		if (slot->port == port)
			return slot;
	}
	return NULL;
}

/* The nearest slot above a function: the one whose card it is part of. */
static struct gf_slot *slot_above(const struct pci_dev *pdev)
{
	const struct pci_bus *bus;
	struct gf_slot *slot;

	for (bus = pdev->bus; bus && bus->self; bus = bus->parent) {
		slot = slot_of_port(bus->self);
		if (slot)
			return slot;
	}
	return NULL;
}

static struct gf_seen *seen_of(struct gf_slot *slot, const struct pci_dev *pdev)
{
	struct gf_seen *seen;

	lockdep_assert_held(&gf_notify_lock);
	list_for_each_entry(seen, &slot->seen, list) {
		if (seen->pdev == pdev)
			return seen;
	}
	return NULL;
}

static void forget_seen(struct gf_slot *slot)
{
	struct gf_seen *seen, *next;

	lockdep_assert_held(&gf_notify_lock);
	list_for_each_entry_safe(seen, next, &slot->seen, list) {
		list_del(&seen->list);
		kfree(seen);
	}
}

/* Before a driver is bound there are as many virtual functions as there can be. */
static u64 align_of(struct pci_dev *pdev, int index, u64 size)
{
	int vfs = pci_sriov_get_totalvfs(pdev);

	return index > PCI_ROM_RESOURCE && vfs > 0 ? div_u64(size, vfs) : size;
}

static void read_seen(struct gf_seen *seen, struct pci_dev *pdev)
{
	int i;

	seen->pdev = pdev;
	for (i = 0; i < GF_SEEN; i++) {
		const struct resource *res = &pdev->resource[i];
		struct gf_fact *bar = &seen->bar[i];

		/* What hardware has fixed the PCI core leaves alone; I/O ports no driver needs. */
		if (!(res->flags & IORESOURCE_MEM) || res->flags & IORESOURCE_PCI_FIXED ||
		    !resource_size(res))
			continue;
		bar->size = resource_size(res);
		bar->align = align_of(pdev, i, bar->size);
		if (res->flags & IORESOURCE_MEM_64)
			bar->flags |= GPUFABRIC_BAR_FLAG_WIDE;
		if (res->flags & IORESOURCE_PREFETCH)
			bar->flags |= GPUFABRIC_BAR_FLAG_PREFETCHABLE;
		if (i == PCI_ROM_RESOURCE)
			bar->flags |= GPUFABRIC_BAR_FLAG_OPTIONAL;
		else if (i > PCI_ROM_RESOURCE)
			bar->flags |= GPUFABRIC_BAR_FLAG_VIRTUAL;
	}
}

static void function_event(struct gf_slot *slot, struct pci_dev *pdev,
			   unsigned long action, struct gf_seen **seen)
{
	lockdep_assert_held(&gf_notify_lock);
	switch (action) {
	case BUS_NOTIFY_ADD_DEVICE:
		if (!slot->marks.add)
			slot->marks.add = ktime_get();
		if (*seen && !seen_of(slot, pdev)) {
			list_add(&(*seen)->list, &slot->seen);
			*seen = NULL;
		}
		break;
	case BUS_NOTIFY_BIND_DRIVER:
		if (!slot->marks.bind)
			slot->marks.bind = ktime_get();
		break;
	case BUS_NOTIFY_BOUND_DRIVER:
		slot->marks.bound = ktime_get();
		break;
	case BUS_NOTIFY_DEL_DEVICE:
		/* Cut off, not removed: set by the slot driver before. */
		slot->marks.surprise = pci_channel_offline(pdev);
		break;
	case BUS_NOTIFY_REMOVED_DEVICE:
		slot->marks.gone = ktime_get();
		forget_seen(slot);
		break;
	}
	atomic_inc(&slot->changes);
	note_change(slot->sw);
	wake_up_all(&slot->changed);
}

/* Sound and USB of a GPU are other functions of its device, and go with it. */
static bool is_part_of_gpu(struct pci_dev *pdev)
{
	struct pci_dev *first;
	bool is;

	if (pci_is_bridge(pdev))
		return false;
	if (gf_is_gpu_class(pdev->class))
		return true;
	first = pci_get_slot(pdev->bus, PCI_DEVFN(PCI_SLOT(pdev->devfn), 0));
	is = first && gf_is_gpu_class(first->class);
	pci_dev_put(first);
	return is;
}

/* What a slot of a chassis holds is nothing that the request was about. */
static void choose_driver(struct gf_slot *slot, struct pci_dev *pdev, const char *driver)
{
	if (is_part_of_gpu(pdev) && gf_is_on_card(slot, pdev) &&
	    gpufabric_set_driver_override(pdev, driver))
		pci_err(pdev, "no memory for the driver override\n");
}

static int bus_event(struct notifier_block *nb, unsigned long action, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	char driver[GPUFABRIC_DRIVER_MAX + 1] = "";
	static bool late; /* a hint: the last name was not free in time */
	struct gf_slot *slot, *chosen = NULL, *dying = NULL;
	struct gf_seen *seen = NULL;

	gf_rescan_note(pdev, action);
	/* Virtual functions come and go with their function's driver, by the hundred. */
	if (pdev->is_virtfn || action == BUS_NOTIFY_UNBIND_DRIVER ||
	    action == BUS_NOTIFY_DRIVER_NOT_BOUND)
		return NOTIFY_DONE;
	if (action == BUS_NOTIFY_ADD_DEVICE && pdev->bus->self)
		seen = kzalloc(sizeof(*seen), GFP_KERNEL);
	if (seen)
		read_seen(seen, pdev);

	spin_lock(&gf_notify_lock);
	slot = slot_above(pdev);
	if (slot) {
		function_event(slot, pdev, action, &seen);
		gf_slot_refresh(slot, 0);
	}
	if (slot && slot->driver && action == BUS_NOTIFY_ADD_DEVICE) {
		strscpy(driver, slot->driver, sizeof(driver));
		chosen = gf_slot_get(slot);
	}
	slot = slot_of_port(pdev);
	if (slot && action == BUS_NOTIFY_DEL_DEVICE) {
		dying = gf_slot_get(slot);
		WRITE_ONCE(slot->dying, true);
		atomic_inc(&slot->changes);
		wake_up_all(&slot->changed);
	}
	spin_unlock(&gf_notify_lock);
	kfree(seen);
	if (chosen) {
		choose_driver(chosen, pdev, driver);
		gf_slot_put(chosen);
	}
	if (dying) {
		gf_device_unlink(dying);
		gf_slot_publish(dying);
		/* A second for all: who resets a slot keeps others from letting go of theirs. */
		late = !wait_event_timeout(dying->changed, dying->nameless, late ? 1 : HZ);
		gf_slot_put(dying);
	}

	/* Ports come with a driver bound to them, and go. */
	if (pci_is_bridge(pdev) && (action == BUS_NOTIFY_BOUND_DRIVER ||
				    action == BUS_NOTIFY_UNBOUND_DRIVER ||
				    action == BUS_NOTIFY_REMOVED_DEVICE ||
				    action == BUS_NOTIFY_DEL_DEVICE))
		gf_inventory_queue();
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = { .notifier_call = bus_event };

void gf_notify_add_slot(struct gf_slot *slot)
{
	guard(spinlock)(&gf_notify_lock);
	hash_add(gf_ports, &slot->hash, (unsigned long)slot->port);
}

void gf_notify_remove_slot(struct gf_slot *slot)
{
	guard(spinlock)(&gf_notify_lock);
	hash_del(&slot->hash);
	forget_seen(slot);
	WRITE_ONCE(slot->dying, true);
}

/* What a slot driver has its slot by; NULL when the driver has let go or the port is going. */
struct hotplug_slot *gf_notify_hotplug(const struct gf_slot *slot)
{
	guard(spinlock)(&gf_notify_lock);
	return slot->dying ? NULL : READ_ONCE(slot->pci_slot->hotplug);
}

/* Whether there is a slot at a port; @pci_slot: this one, NULL for any. */
bool gf_notify_knows(const struct pci_dev *port, const struct pci_slot *pci_slot)
{
	struct gf_slot *slot;

	guard(spinlock)(&gf_notify_lock);
	hash_for_each_possible(gf_ports, slot, hash, (unsigned long)port) {
		if (slot->port == port && (!pci_slot || slot->pci_slot == pci_slot))
			return true;
	}
	return false;
}

u64 gf_notify_changes(void)
{
	guard(spinlock)(&gf_notify_lock);
	return changes;
}

/* Windows on a switch are placed, now or soon: functions are announced before their addresses. */
void gf_notify_moving(struct gf_switch *sw)
{
	guard(spinlock)(&gf_notify_lock);
	note_change(sw);
}

/* Have one driver alone bind to what appears in a slot, NULL for any; the name has to stay. */
void gf_notify_choose(struct gf_slot *slot, const char *driver)
{
	guard(spinlock)(&gf_notify_lock);
	slot->driver = driver;
}

void gf_notify_reset(struct gf_slot *slot)
{
	guard(spinlock)(&gf_notify_lock);
	slot->marks = (struct gf_marks){};
}

void gf_notify_marks(struct gf_slot *slot, struct gf_marks *marks)
{
	guard(spinlock)(&gf_notify_lock);
	*marks = slot->marks;
}

/* What goes into which window of the bridge above is the PCI core's rule. */
static void add_fact(struct gf_facts *facts, const struct gf_slot *slot,
		     struct pci_dev *pdev, const struct gf_fact *bar)
{
	const struct pci_dev *up = pdev->bus->self;
	struct gf_fact *fact = &facts->fact[facts->count++];

	*fact = *bar;
	fact->pref = up->pref_window && bar->flags & GPUFABRIC_BAR_FLAG_PREFETCHABLE &&
		     (!up->pref_64_window || bar->flags & GPUFABRIC_BAR_FLAG_WIDE);
	for (; up != slot->port; up = up->bus->self)
		fact->depth++;
}

/*
 * Add what a function was seen with to @facts, which has room for GF_FACTS more;
 * pci_rescan_remove_lock is held. @awake: it may be asked which sizes its BARs can have.
 */
void gf_notify_facts(struct gf_slot *slot, struct pci_dev *pdev, bool awake, struct gf_facts *facts)
{
	struct gf_fact bridge = { .flags = GPUFABRIC_BAR_FLAG_BRIDGE };
	struct gf_seen *seen, now = {};
	int i;

	read_seen(&now, pdev);
	spin_lock(&gf_notify_lock);
	seen = seen_of(slot, pdev);
	if (seen)
		now = *seen;
	spin_unlock(&gf_notify_lock);
	for (i = 0; i < GF_SEEN; i++) {
		if (!now.bar[i].size)
			continue;
		if (awake && i < PCI_STD_NUM_BARS)
			now.bar[i].sizes = pci_rebar_get_possible_sizes(pdev, i);
		add_fact(facts, slot, pdev, &now.bar[i]);
	}
	if (!pdev->subordinate)
		return;
	if (pdev->pref_window)
		bridge.flags |= GPUFABRIC_BAR_FLAG_PREFETCHABLE;
	if (pdev->pref_window && pdev->pref_64_window)
		bridge.flags |= GPUFABRIC_BAR_FLAG_WIDE;
	add_fact(facts, slot, pdev, &bridge);
}

/*
 * Whether all bridges above forward an address. One that lost its window, to an attach that found
 * no room, leaves addresses below that lead nowhere.
 */
static bool is_forwarded(struct pci_dev *pdev, struct resource *res)
{
	struct pci_bus *bus;
	struct resource *window;
	int i;

	for (bus = pdev->bus; bus; bus = bus->parent) {
		bool found = false;

		pci_bus_for_each_resource(bus, window, i) {
			if (window && window->flags && resource_contains(window, res))
				found = true;
		}
		if (!found)
			return false;
	}
	return true;
}

/* Find a BAR that got no address; pci_rescan_remove_lock is held. */
void gf_notify_missing_bar(struct gf_slot *slot, struct pci_dev *pdev, struct gf_snapshot *snap)
{
	struct gf_seen *seen;
	int i;

	guard(spinlock)(&gf_notify_lock);
	seen = seen_of(slot, pdev);
	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		struct resource *res = &pdev->resource[i];
		u64 size = resource_size(res);

		if (!res->flags)
			size = seen ? seen->bar[i].size : 0;
		else if (res->flags & IORESOURCE_IO ||
			 (res->parent && !(res->flags & IORESOURCE_UNSET) &&
			  is_forwarded(pdev, res)))
			size = 0;
		if (size) {
			snap->missing_bar = i;
			snap->missing_size = size;
			return;
		}
	}
}

int gf_notify_start(void)
{
	/* So that a number of another load is before all of this one, or after. */
	changes = get_random_u64() >> 1;
	return bus_register_notifier(&pci_bus_type, &bus_notifier);
}

void gf_notify_stop(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
}
