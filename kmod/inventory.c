// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Inventory of slots
 *
 * One worker keeps the list of slots in line with pci_slots_kset: it takes in slots that appeared
 * on downstream ports and retires those whose port or slot driver went away. Ports that no slot
 * driver has claimed for a while are slots as well, where the admin says so, and until one does;
 * ports inside a card (card.h) never are. The worker runs when the bus notifier saw a port, and at
 * a slow pace besides: neither a new slot nor a card put in without power is announced to anyone.
 *
 * A reference on a PCI slot is dropped by pci_destroy_slot() only: a last kobject_put() elsewhere
 * would unlink the slot without the PCI core's lock.
 */
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/pci_hotplug.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "compat.h"
#include "snapshot.h"

static unsigned int poll_ms = 1000;

static void poll_later(void);

static int set_poll_ms(const char *value, const struct kernel_param *param)
{
	unsigned int period;
	int err = kstrtouint(value, 0, &period);

	if (err || (period && (period < 100 || period > 60000)))
		return err ?: -EINVAL;
	WRITE_ONCE(poll_ms, period);
	poll_later();
	return 0;
}

static const struct kernel_param_ops poll_ops = { .set = set_poll_ms, .get = param_get_uint };

module_param_cb(poll_ms, &poll_ops, &poll_ms, 0644);
MODULE_PARM_DESC(poll_ms, "Interval in milliseconds, 100 to 60000, of the checks for new slots, new cards and GPUs that do not answer; a change that is undone between two checks is missed. 0: check only when the kernel reports an event of a slot (default 1000)");

static bool root_ports;
module_param(root_ports, bool, 0444);
MODULE_PARM_DESC(root_ports, "Also manage slots of root ports (default off: only downstream ports of switches)");

#define GF_LISTED_MAX 256

static char *bare_ports[GF_LISTED_MAX];
static unsigned int nr_bare;
module_param_array(bare_ports, charp, &nr_bare, 0444);
MODULE_PARM_DESC(bare_ports, "Also manage these ports without a hot-plug controller, by their links: PCI addresses such as 0000:c1:04.0, separated by commas, or all (default none)");

static char *cards[GF_LISTED_MAX];
static unsigned int nr_cards;
module_param_array(cards, charp, &nr_cards, 0444);
MODULE_PARM_DESC(cards, "PCI addresses of the ports of slots, separated by commas, that hold a card although its switch looks like the switch of a chassis (default none)");

static void scan_run(struct work_struct *work);
static void poll_run(struct work_struct *work);

static DECLARE_WORK(scan_work, scan_run);
static DECLARE_DELAYED_WORK(poll_work, poll_run);

/* Innermost; taken in the bus notifier as well. */
static DEFINE_SPINLOCK(scan_lock);

/* The worker may be queued. Under scan_lock: nobody is between this and the queue. */
static bool scanning;

/* PCI slots that were not ours may be now: ports have come or gone around them. */
static bool judge_again;

static bool is_our_port(struct pci_dev *port)
{
	int type;

	if (!port || !pci_is_pcie(port))
		return false;
	type = pci_pcie_type(port);
	return type == PCI_EXP_TYPE_DOWNSTREAM || (root_ports && type == PCI_EXP_TYPE_ROOT_PORT);
}

static bool has_slot_driver(const struct pci_bus *bus)
{
	struct kobject *kobj;

	guard(spinlock)(&pci_slots_kset->list_lock);
	list_for_each_entry(kobj, &pci_slots_kset->list, entry) {
		const struct pci_slot *pci_slot = container_of(kobj, struct pci_slot, kobj);

		if (pci_slot->bus == bus && READ_ONCE(pci_slot->hotplug))
			return true;
	}
	return false;
}

/* As lspci -D writes it, and so does the kernel. */
static bool is_address(const char *text)
{
	unsigned int domain, bus, device, function;
	char again[20];

	if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4)
		return false;
	device = PCI_DEVFN(device, function);
	snprintf(again, sizeof(again), "%04x:%02x:%02x.%d", domain, bus, PCI_SLOT(device),
		 PCI_FUNC(device));
	return !strcmp(again, text);
}

/* One without any entry has one that is empty. */
static int check_list(const char *name, char *const *list, unsigned int count)
{
	if (count == 1 && !**list)
		return 0;
	for (; count--; list++) {
		if (!is_address(*list)) {
			pr_err("gpufabric: %s: \"%s\" is not a PCI address such as 0000:c1:04.0\n",
			       name, *list);
			return -EINVAL;
		}
	}
	return 0;
}

static bool all_bare(void)
{
	return nr_bare == 1 && !strcmp(bare_ports[0], "all");
}

/* Returns which one on the list a port is, from 1, or 0. */
static unsigned int is_listed(struct pci_dev *port, char *const *list, unsigned int count)
{
	return max(match_string((const char *const *)list, count, pci_name(port)) + 1, 0);
}

static bool is_chosen(struct pci_dev *port)
{
	return all_bare() || is_listed(port, bare_ports, nr_bare);
}

bool gf_inventory_is_card(struct pci_dev *port)
{
	return is_listed(port, cards, nr_cards);
}

/* Whether there is, or will be, a slot of ours at a port, wherever that is. */
static bool has_slot(struct pci_dev *port)
{
	const struct pci_bus *below = READ_ONCE(port->subordinate);

	return is_our_port(port) && (is_chosen(port) || (below && has_slot_driver(below)));
}

/* Whether a port is inside the card of a slot above. A bus keeps the bridge above it: no lock. */
static bool is_in_card(struct pci_dev *port)
{
	bool card = true, chosen = true;
	struct gf_card_switch sw;
	struct pci_dev *upstream;

	while ((upstream = port->bus->self) && pci_is_pcie(upstream) &&
	       pci_pcie_type(upstream) == PCI_EXP_TYPE_UPSTREAM) {
		gf_walk_switch(port->bus, &sw);
		card &= gf_card_has(&sw, false);
		chosen &= gf_card_has(&sw, true);
		port = pci_upstream_bridge(upstream);
		if (!port)
			break;
		if (has_slot(port))
			return gf_inventory_is_card(port) ? chosen : card;
	}
	return false;
}

static bool is_ours(const struct pci_slot *pci_slot)
{
	return pci_slot->hotplug && is_our_port(pci_slot->bus->self) &&
	       !is_in_card(pci_slot->bus->self);
}

/* A port cannot be both: whoever named it is told, once. */
static bool is_lost_to_card(struct pci_dev *port)
{
	static DECLARE_BITMAP(told, GF_LISTED_MAX);
	unsigned int number = is_listed(port, bare_ports, nr_bare);

	if (!is_in_card(port))
		return false;
	if (number && !test_and_set_bit(number - 1, told))
		pci_warn(port, "bare_ports= names this port, but the port is part of the card in a slot and remains so\n");
	return true;
}

/* The slot with a name has gone, and is an operation's, or not let go of yet. */
static bool is_taken(const char *name)
{
	const struct gf_slot *slot;

	guard(mutex)(&gf.lock);
	slot = gf_slot_find_name(name);
	return slot && READ_ONCE(slot->dying);
}

/* One with a native controller gets a slot driver; one that is being removed is nobody's. */
static bool is_bare(struct pci_dev *port)
{
	return is_our_port(port) && !port->is_hotplug_bridge && is_chosen(port) &&
	       port->subordinate && device_is_registered(&port->dev) &&
	       !gf_notify_knows(port, NULL) && !has_slot_driver(port->subordinate) &&
	       !is_lost_to_card(port);
}

/* To see whether things are still the same; none is followed. */
struct gf_census {
	unsigned int count;
	unsigned long sum; /* of their addresses */
};

static bool is_same(const struct gf_census *a, const struct gf_census *b)
{
	return a->count == b->count && a->sum == b->sum;
}

/* A slot appears before its driver fills it in. */
static void count_stranger(struct gf_census *strangers, const struct pci_slot *pci_slot)
{
	strangers->count++;
	strangers->sum += (unsigned long)pci_slot + 3 * (unsigned long)READ_ONCE(pci_slot->hotplug);
}

/* Returns the number of those in @found, each with a reference. */
static unsigned int find_strangers(struct gf_census *strangers, struct pci_slot **found,
				   unsigned int max)
{
	unsigned int count = 0;
	struct kobject *kobj;

	guard(spinlock)(&pci_slots_kset->list_lock);
	list_for_each_entry(kobj, &pci_slots_kset->list, entry) {
		struct pci_slot *pci_slot = container_of(kobj, struct pci_slot, kobj);

		if (gf_notify_knows(pci_slot->bus->self, pci_slot))
			continue;
		count_stranger(strangers, pci_slot);
		if (count < max && kobject_get_unless_zero(kobj))
			found[count++] = pci_slot;
	}
	return count;
}

/* Ids follow the addresses, so that lists read in the order of the hardware. */
static int compare_addresses(const void *left, const void *right)
{
	struct pci_bus *a = (*(struct pci_slot *const *)left)->bus;
	struct pci_bus *b = (*(struct pci_slot *const *)right)->bus;

	return pci_domain_nr(a) - pci_domain_nr(b) ?: a->number - b->number;
}

static struct gf_census seen_strangers;

static void take_in_new(void)
{
	struct gf_census now = {}, again = {}, rejected = {};
	unsigned int count, i, nr_made = 0;
	struct pci_slot **found;
	struct gf_slot **made;

	find_strangers(&now, NULL, 0);
	/* Slots that are no business of ours stay: do not lock for them. */
	if (!now.count)
		seen_strangers = now;
	if (READ_ONCE(judge_again)) {
		WRITE_ONCE(judge_again, false);
		seen_strangers = (struct gf_census){};
	}
	if (is_same(&now, &seen_strangers))
		return;
	found = kvcalloc(now.count, sizeof(*found), GFP_KERNEL);
	made = kvcalloc(now.count, sizeof(*made), GFP_KERNEL);
	if (!found || !made || !gf_rescan_lock())
		goto out;
	count = find_strangers(&again, found, now.count);
	sort(found, count, sizeof(*found), compare_addresses, NULL);
	for (i = 0; i < count; i++) {
		const struct gf_census before = rejected;
		struct gf_slot *slot;

		/* Counted before it is judged: a change since is seen. */
		count_stranger(&rejected, found[i]);
		slot = !is_ours(found[i]) ? NULL :
		       is_taken(pci_slot_name(found[i])) ? ERR_PTR(-EBUSY) :
		       gf_slot_create(found[i]->bus->self, found[i]);
		if (IS_ERR_OR_NULL(slot)) {
			/* One that failed, as for want of memory, is tried again. */
			if (slot)
				rejected.count = 0;
			pci_destroy_slot(found[i]);
			continue;
		}
		/* One like it may come when it has gone, at the same address. */
		rejected = before;
		made[nr_made++] = slot;
	}
	gf_rescan_unlock();
	for (i = 0; i < nr_made; i++)
		gf_slot_admit(made[i]);
	seen_strangers = rejected;
out:
	kvfree(found);
	kvfree(made);
}

/* Slot drivers come a moment after their ports do. */
#define GF_BARE_MS 2000

static unsigned int find_bare(struct gf_slot **made, unsigned int max, struct gf_census *bare)
{
	struct pci_dev *port = NULL;
	unsigned int nr_made = 0;

	for_each_pci_dev(port) {
		struct gf_slot *slot;

		if (!is_bare(port))
			continue;
		bare->count++;
		bare->sum += (unsigned long)port;
		if (nr_made == max || is_taken(pci_name(port)))
			continue;
		slot = gf_slot_create(port, NULL);
		if (!IS_ERR(slot))
			made[nr_made++] = slot;
	}
	return nr_made;
}

/* @now: they were there before the module was. */
static void take_in_bare(bool now)
{
	static unsigned long since; /* when they were not yet as they are, in jiffies */
	static struct gf_census seen;
	struct gf_census bare = {};
	struct gf_slot **made;
	unsigned int nr_made, i, nr_new = 0;

	if (!nr_bare)
		return;
	find_bare(NULL, 0, &bare);
	if (!is_same(&bare, &seen)) {
		seen = bare;
		since = jiffies;
	}
	if (!bare.count || (!now && time_before(jiffies, since + msecs_to_jiffies(GF_BARE_MS))))
		return;
	made = kvcalloc(bare.count, sizeof(*made), GFP_KERNEL);
	if (!made || !gf_rescan_lock())
		goto out;
	nr_made = find_bare(made, bare.count, &bare);
	gf_rescan_unlock();
	for (i = 0; i < nr_made; i++)
		nr_new += gf_slot_admit(made[i]);
	if (nr_new)
		gf_inventory_queue();
out:
	kvfree(made);
}

static bool is_gone(struct gf_slot *slot)
{
	return slot->pci_slot ? !gf_notify_hotplug(slot) || gf_backend_slot_left(slot) :
				READ_ONCE(slot->dying) || slot->claimed;
}

static struct gf_slot *next_slot(unsigned long *id)
{
	struct gf_slot *slot;

	guard(mutex)(&gf.lock);
	slot = xa_find_after(&gf.slots, id, ULONG_MAX, XA_PRESENT);
	return slot ? gf_slot_get(slot) : NULL;
}

static void retire_gone(void)
{
	struct gf_census now = {};
	struct gf_slot *slot;
	unsigned long id = 0;

	find_strangers(&now, NULL, 0);
	while ((slot = next_slot(&id))) {
		/* A slot driver that comes to a port of ours is a stranger. */
		if (!slot->pci_slot && !is_same(&now, &seen_strangers))
			slot->claimed = has_slot_driver(slot->port->subordinate);
		if (is_gone(slot) && gf_slot_retire(slot, true))
			WRITE_ONCE(judge_again, true);
		gf_slot_put(slot);
	}
}

/* Cards put in or pulled without power, or lost, announce nothing: look. */
static void look_for_cards(void)
{
	struct gf_slot *slot;
	unsigned long id = 0;

	while ((slot = next_slot(&id))) {
		bool present, power;

		if (!is_gone(slot) && gf_port_hold(slot->port)) {
			gf_slot_watch(slot);
			if (!slot->backend->status(slot, &present, &power) &&
			    (present != READ_ONCE(slot->presence) ||
			     power != READ_ONCE(slot->power) || READ_ONCE(slot->unread)))
				gf_slot_refresh(slot, 0);
			gf_port_release(slot->port);
		}
		gf_slot_put(slot);
	}
}

static void queue_scan(void)
{
	guard(spinlock)(&scan_lock);
	if (scanning)
		queue_work(gf.scan_wq, &scan_work);
}

/* The only place that retires slots, so looking at them here is safe. */
static void scan_run(struct work_struct *work)
{
	retire_gone();
	take_in_new();
	/* The first time is before anything is queued. */
	take_in_bare(!work);
	look_for_cards();
}

static void poll_run(struct work_struct *work)
{
	if (READ_ONCE(poll_ms))
		queue_scan();
	poll_later();
}

/* Not before the inventory is started, and never where nobody wants it. */
static void poll_later(void)
{
	unsigned int period;

	guard(spinlock)(&scan_lock);
	period = READ_ONCE(poll_ms);
	if (!period)
		cancel_delayed_work(&poll_work);
	else if (scanning)
		mod_delayed_work(gf.scan_wq, &poll_work, msecs_to_jiffies(period));
}

/* Have the worker compare the slots soon. May be called from the bus notifier. */
void gf_inventory_queue(void)
{
	WRITE_ONCE(judge_again, true);
	queue_scan();
}

static void allow_scans(bool on)
{
	guard(spinlock)(&scan_lock);
	WRITE_ONCE(scanning, on);
}

int gf_inventory_start(void)
{
	int err = check_list("cards", cards, nr_cards) ?:
		  all_bare() ? 0 : check_list("bare_ports", bare_ports, nr_bare);

	if (err)
		return err;
	scan_run(NULL);
	allow_scans(true);
	gf_inventory_queue();
	poll_later();
	return 0;
}

/* Stop looking and retire every slot. No operation is under way. */
void gf_inventory_stop(void)
{
	struct gf_slot *slot;
	unsigned long id = 0;

	allow_scans(false);
	cancel_delayed_work_sync(&poll_work);
	cancel_work_sync(&scan_work);
	while ((slot = next_slot(&id))) {
		gf_slot_retire(slot, false);
		gf_slot_put(slot);
	}
	gf_slot_stop_drains();
}
