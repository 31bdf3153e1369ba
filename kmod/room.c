// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Room for GPUs
 *
 * Whether a GPU can be given its windows is worked out (fit.c) from a copy of
 * the windows on its switch. A worker makes that copy anew whenever functions
 * came or went, because walking resources takes pci_rescan_remove_lock, which
 * no request may wait for. A request is refused by a copy that is up to date
 * alone; the worker of an attach, which can wait, makes a new one where it is
 * not, so that no attach takes the addresses of a live neighbour.
 */
#include <linux/bsearch.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "compat.h"
#include "composition.h"
#include "netlink.h"
#include "op.h"
#include "pick.h"
#include "rescan.h"
#include "room.h"
#include "snapshot.h"
#include "switch.h"

static u32 fit_flags(const struct resource *res)
{
	u32 flags = 0;

	if (res->flags & IORESOURCE_PREFETCH)
		flags |= GF_FIT_PREFETCH;
	if (res->flags & IORESOURCE_MEM_64)
		flags |= GF_FIT_WIDE;
	return flags;
}

/* A window of the bus that addresses can be had from. */
static bool is_usable(struct pci_bus *bus, const struct resource *res)
{
	return res && resource_type(res) == IORESOURCE_MEM &&
	       resource_size(res) && (res->parent || pci_is_root_bus(bus));
}

static unsigned int count_taken(struct pci_bus *bus)
{
	const struct resource *child;
	unsigned int count = 0;
	struct resource *res;
	int i;

	pci_bus_for_each_resource(bus, res, i) {
		if (!is_usable(bus, res))
			continue;
		for (child = res->child; child; child = child->sibling)
			count++;
	}
	return count;
}

/* @ports, @taken: how many there may be. */
static struct gf_room *alloc_room(unsigned int ports, unsigned int taken)
{
	struct gf_room *room = kzalloc(sizeof(*room), GFP_KERNEL);

	if (!room)
		return NULL;
	room->bus.taken = kvcalloc(taken + 1, sizeof(*room->bus.taken),
				   GFP_KERNEL);
	room->bus.ports = kvcalloc(ports + 1, sizeof(*room->bus.ports),
				   GFP_KERNEL);
	room->ports = kvcalloc(ports + 1, sizeof(*room->ports), GFP_KERNEL);
	if (room->bus.taken && room->bus.ports && room->ports)
		return room;
	gf_room_free(room);
	return NULL;
}

/**
 * gf_room_free() - free the copy of a switch's windows
 * @room: the copy, can be NULL
 */
void gf_room_free(struct gf_room *room)
{
	if (!room)
		return;
	kvfree(room->bus.taken);
	kvfree(room->bus.ports);
	kvfree(room->ports);
	kfree(room);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct gf_fit_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/*
 * Drivers that resize their BARs change the tree without pci_rescan_remove_lock:
 * what has come since it was counted is left out.
 */
static void read_bus_windows(struct gf_room *room, struct pci_bus *bus,
			     unsigned int taken)
{
	struct gf_fit_bus *fit = &room->bus;
	const struct resource *child;
	struct resource *res;
	int i;

	pci_bus_for_each_resource(bus, res, i) {
		if (!is_usable(bus, res) ||
		    fit->nr_windows == GF_FIT_BUS_WINDOWS)
			continue;
		fit->windows[fit->nr_windows++] = (struct gf_fit_window){
			.start = res->start, .end = res->end,
			.flags = fit_flags(res),
		};
		for (child = res->child; child && fit->nr_taken < taken;
		     child = child->sibling)
			fit->taken[fit->nr_taken++] = (struct gf_fit_range){
				.start = child->start, .end = child->end,
				.port = GF_FIT_NOBODY,
				.live = true,
			};
	}
	sort(fit->taken, fit->nr_taken, sizeof(*fit->taken), compare_ranges,
	     NULL);
}

static bool leads_up(const struct gf_fit_bus *bus, const struct resource *res)
{
	u32 i;

	for (i = 0; i < bus->nr_windows; i++) {
		if (res->start >= bus->windows[i].start &&
		    res->end <= bus->windows[i].end)
			return true;
	}
	return false;
}

static void read_own(struct gf_room *room, unsigned int index,
		     enum gf_fit_which which, const struct resource *res)
{
	struct gf_fit_own *own = &room->bus.ports[index].own[which];
	const struct gf_fit_range key = { .start = res->start };
	struct gf_fit_range *range;

	if (!res->parent) {
		/* An empty resource has a size of 1. */
		own->kept = resource_size(res) > 1 ? resource_size(res) : 0;
		return;
	}
	own->assigned = true;
	own->dead = !leads_up(&room->bus, res);
	own->window.start = res->start;
	own->window.end = res->end;
	range = bsearch(&key, room->bus.taken, room->bus.nr_taken,
			sizeof(*room->bus.taken), compare_ranges);
	if (!range || range->end != res->end)
		return;
	range->port = index;
	range->which = which;
	range->live = res->child;
}

static void read_port(struct gf_room *room, struct pci_dev *pdev)
{
	const struct resource *pref = &pdev->resource[PCI_BRIDGE_PREF_MEM_WINDOW];
	unsigned int index = room->bus.nr_ports++;
	struct gf_fit_port *port = &room->bus.ports[index];
	struct gf_fit_own *own = port->own;

	room->ports[index] = pdev;
	if (pdev->subordinate) {
		port->bus_first = pdev->subordinate->busn_res.start;
		port->bus_last = pdev->subordinate->busn_res.end;
	}
	own[GF_FIT_MEM].there = true;
	read_own(room, index, GF_FIT_MEM,
		 &pdev->resource[PCI_BRIDGE_MEM_WINDOW]);
	if (!pdev->pref_window && !(pref->flags & IORESOURCE_PREFETCH))
		return;
	own[GF_FIT_PREF].there = true;
	own[GF_FIT_PREF].window.flags = GF_FIT_PREFETCH;
	if (pdev->pref_64_window || pref->flags & IORESOURCE_MEM_64)
		own[GF_FIT_PREF].window.flags |= GF_FIT_WIDE;
	read_own(room, index, GF_FIT_PREF, pref);
}

static struct gf_room *look_at(struct gf_switch *sw, struct pci_bus *bus,
			       const struct gf_functions *functions)
{
	unsigned int taken = count_taken(bus);
	struct gf_room *room = alloc_room(functions->count, taken);
	unsigned int i;

	if (!room)
		return NULL;
	/* What is told from here on is not in this copy. */
	room->changes = atomic_read(&sw->changes);
	room->time = ktime_get();
	if (bus->self)
		strscpy(room->bridge, pci_name(bus->self),
			sizeof(room->bridge));
	else
		snprintf(room->bridge, sizeof(room->bridge), "%04x:%02x",
			 pci_domain_nr(bus), bus->number);
	room->bus.root = pci_is_root_bus(bus);
	room->bus.relaxed = GF_RELAXED_WINDOWS;
	read_bus_windows(room, bus, taken);
	for (i = 0; i < functions->count; i++) {
		if (pci_is_bridge(functions->pdev[i]))
			read_port(room, functions->pdev[i]);
	}
	return room;
}

/* Caller holds pci_rescan_remove_lock. */
static struct gf_room *look(struct gf_switch *sw, struct pci_bus *bus)
{
	struct gf_functions *functions = gf_functions_on(bus);
	struct gf_room *room;

	if (!functions)
		return NULL;
	room = look_at(sw, bus, functions);
	gf_functions_put(functions);
	return room;
}

/* Sleeps for the rescan lock. @port is referenced. */
static void refresh(struct gf_switch *sw, struct pci_dev *port)
{
	struct gf_room *room, *old;

	if (!gf_port_lock(port))
		return;
	room = look(sw, port->bus);
	gf_rescan_unlock();
	if (!room)
		return;
	mutex_lock(&gf.lock);
	old = room;
	/* Somebody else may have looked since. */
	if (!sw->room || ktime_before(sw->room->time, room->time))
		swap(sw->room, old);
	mutex_unlock(&gf.lock);
	gf_room_free(old);
}

/* A port of the switch, referenced, NULL when there is none any more. */
static struct pci_dev *any_port(const struct gf_switch *sw)
{
	struct pci_dev *port = NULL;
	struct gf_slot *slot;
	unsigned long id;

	mutex_lock(&gf.lock);
	xa_for_each(&gf.slots, id, slot) {
		if (slot->sw == sw) {
			port = pci_dev_get(slot->port);
			break;
		}
	}
	mutex_unlock(&gf.lock);
	return port;
}

/**
 * gf_room_run() - worker that looks at the windows of a switch
 * @work: the switch's work, which holds a reference on it
 */
void gf_room_run(struct work_struct *work)
{
	struct gf_switch *sw = container_of(work, struct gf_switch, room_work);
	struct pci_dev *port = any_port(sw);

	if (port)
		refresh(sw, port);
	pci_dev_put(port);
	gf_switch_unref(sw);
}

static bool is_current(const struct gf_switch *sw)
{
	return sw->room && sw->room->changes == atomic_read(&sw->changes);
}

/**
 * gf_room_is_current() - whether a verdict would be about things as they are
 * @slot: the slot; under the fabric's lock
 */
bool gf_room_is_current(const struct gf_slot *slot)
{
	gf_assert_locked();
	return slot->sw && is_current(slot->sw);
}

/**
 * gf_room_queue() - have the windows of a switch looked at soon
 * @sw: the switch; under the fabric's lock
 */
void gf_room_queue(struct gf_switch *sw)
{
	gf_assert_locked();
	if (is_current(sw))
		return;
	gf_switch_ref(sw);
	if (!queue_work(gf.scan_wq, &sw->room_work))
		gf_switch_unref(sw);
}

/**
 * gf_room_refresh() - look at the windows of a switch if that is needed
 * @slot: a slot of it, in an operation of the caller's
 *
 * Sleeps for the rescan lock; for workers alone.
 */
void gf_room_refresh(struct gf_slot *slot)
{
	struct gf_switch *sw = NULL;

	mutex_lock(&gf.lock);
	if (slot->sw && !is_current(slot->sw)) {
		sw = slot->sw;
		gf_switch_ref(sw);
	}
	mutex_unlock(&gf.lock);
	if (!sw)
		return;
	refresh(sw, slot->port);
	gf_switch_unref(sw);
}

/*
 * GPUs with a large BAR have a small one of the same kind beside it. What a
 * declaration does not say is not left out, because a window that is short by
 * that much does as much harm as any other.
 */
#define GF_SMALL_BAR SZ_32M

/* What the slot's GPU needs; what was seen goes before what is declared. */
static const struct gf_fit_need *need_of(const struct gf_slot *slot,
					 const struct gf_expect *expect,
					 struct gf_fit_need *declared)
{
	u32 i;

	if (slot->need && slot->need->nr_bars)
		return slot->need;
	if (!expect || !expect->bar)
		return NULL;
	memset(declared, 0, sizeof(*declared));
	declared->nr_bars = 2;
	for (i = 0; i < declared->nr_bars; i++) {
		u64 size = i ? GF_SMALL_BAR : expect->bar;

		declared->bars[i] = (struct gf_fit_bar){
			.size = size, .min = size, .max = size,
			.flags = GF_FIT_PREFETCH | GF_FIT_WIDE,
		};
	}
	return declared;
}

static bool find_port(const struct gf_room *room, const struct gf_slot *slot,
		      u32 *index)
{
	u32 i;

	for (i = 0; i < room->bus.nr_ports; i++) {
		if (room->ports[i] == slot->port) {
			*index = i;
			return true;
		}
	}
	return false;
}

static void judge_alone(const struct gf_room *room, u32 port,
			const struct gf_fit_need *need, enum gf_fit_size size,
			struct gf_fit_result *result)
{
	struct gf_fit_range moved[GF_FIT_WINDOWS + 1];
	struct gf_fit_trial trial = { .bus = &room->bus, .moved = moved };

	gf_fit_judge(&trial, port, need, size, result);
}

static bool is_resizable(const struct gf_fit_need *need)
{
	u32 i;

	for (i = 0; i < need->nr_bars; i++) {
		if (need->bars[i].max != need->bars[i].min)
			return true;
	}
	return false;
}

static const char *write_size(char *text, size_t size, u64 bytes)
{
	static const char units[] = "KMGT";
	unsigned int unit = 0;

	bytes >>= 10;
	while (unit < 3 && bytes && !(bytes & 1023)) {
		bytes >>= 10;
		unit++;
	}
	snprintf(text, size, "%llu %ciB", bytes, units[unit]);
	return text;
}

static void write_text(const struct gf_room *room, u32 port,
		       const struct gf_fit_need *need,
		       const struct gf_fit_result *result, char *text,
		       size_t size)
{
	struct gf_fit_result smallest = {};
	char wants[24], has[24];

	if (result->buses) {
		snprintf(text, size,
			 "the GPU needs %llu bus numbers more and its port has %llu: boot with the GPU powered on",
			 result->need, result->free);
		return;
	}
	if (is_resizable(need))
		judge_alone(room, port, need, GF_FIT_SIZE_MIN, &smallest);
	snprintf(text, size,
		 "the GPU needs a window of %s%s and %s can give it %s: boot with the GPU powered on%s",
		 write_size(wants, sizeof(wants), result->need),
		 result->prefetch ? "" : " below 4 GiB", room->bridge,
		 write_size(has, sizeof(has), result->free),
		 smallest.verdict > GPUFABRIC_VERDICT_UNKNOWN &&
		 smallest.verdict < GPUFABRIC_VERDICT_CANNOT ?
		 " or set its BAR smaller" : "");
}

/**
 * gf_room_judge() - whether a slot's GPU can be given its windows
 * @slot: the slot; under the fabric's lock
 * @expect: what a request expects in it, or NULL
 * @verdict: filled
 *
 * Return: false when nothing can be said: the GPU is attached, what it needs
 * is not known, or the windows were not looked at yet.
 */
bool gf_room_judge(const struct gf_slot *slot, const struct gf_expect *expect,
		   struct gf_room_verdict *verdict)
{
	const struct gf_room *room = slot->sw ? slot->sw->room : NULL;
	const struct gf_fit_need *need;
	struct gf_fit_need declared;
	u32 port;

	gf_assert_locked();
	need = need_of(slot, expect, &declared);
	if (!need || !room || !find_port(room, slot, &port) ||
	    (slot->snap && slot->snap->nr_functions))
		return false;
	memset(verdict, 0, sizeof(*verdict));
	verdict->age_ms = ktime_ms_delta(ktime_get(), room->time);
	verdict->bridge = room->bridge;
	judge_alone(room, port, need, GF_FIT_SIZE_NOW, &verdict->now);
	verdict->resizable = is_resizable(need);
	if (verdict->resizable)
		judge_alone(room, port, need, GF_FIT_SIZE_MAX,
			    &verdict->largest);
	if (verdict->now.verdict == GPUFABRIC_VERDICT_CANNOT)
		write_text(room, port, need, &verdict->now, verdict->text,
			   sizeof(verdict->text));
	return true;
}

/*
 * Texts of refusals have to stay until the answer was sent, which is after the
 * handler has returned. So many can be on their way at a time.
 */
#define GF_TEXTS 128
#define GF_REFUSAL_MAX (GF_TEXT_MAX + GPUFABRIC_SLOT_NAME_MAX + 80)

static int gf_refuse_room(struct genl_info *info, const struct gf_pick *pick,
			  int error, const char *why, const char *text)
{
	static char texts[GF_TEXTS][GF_REFUSAL_MAX];
	static unsigned int next;
	char *at = texts[next++ % GF_TEXTS];

	gf_assert_locked();
	snprintf(at, GF_REFUSAL_MAX, "%s: slot %s: %s", text, pick->slot->name,
		 why);
	return gf_refuse(info, pick->attr, error, at);
}

/**
 * struct gf_room_group - the GPUs that a request brings to one switch
 * @room: the windows of the switch
 * @picks: the slots in the order in which they are judged
 * @count: how many
 * @moves: the order matters
 * @moved: memory for the trial
 */
struct gf_room_group {
	const struct gf_room *room;
	struct gf_pick **picks;
	unsigned int count;
	bool moves;
	struct gf_fit_range *moved;
};

static unsigned int count_coming(const struct gf_switch *sw)
{
	const struct gf_step *step;
	unsigned int count = 0;

	list_for_each_entry(step, &sw->turns, turns)
		count++;
	return count;
}

/* GPUs that are on their way, and have no windows yet, in their order. */
static void judge_coming(const struct gf_switch *sw, struct gf_fit_trial *trial)
{
	const struct gf_fit_need *need;
	struct gf_fit_result result;
	struct gf_fit_need declared;
	struct gf_step *step;
	u32 port;

	list_for_each_entry(step, &sw->turns, turns) {
		need = need_of(step->slot, &step->expect, &declared);
		if (need && find_port(sw->room, step->slot, &port))
			gf_fit_judge(trial, port, need, GF_FIT_SIZE_NOW,
				     &result);
	}
}

/* The first GPU that cannot be, NULL when all can. */
static struct gf_pick *judge_group(struct gf_room_group *group,
				   const struct gf_switch *sw,
				   char *text, size_t size)
{
	struct gf_fit_trial trial = {
		.bus = &group->room->bus, .moved = group->moved,
	};
	const struct gf_fit_need *need;
	struct gf_fit_result result;
	struct gf_fit_need declared;
	unsigned int i;
	u32 port;

	judge_coming(sw, &trial);
	for (i = 0; i < group->count; i++) {
		struct gf_pick *pick = group->picks[i];

		need = need_of(pick->slot, &pick->expect, &declared);
		if (!need || !find_port(group->room, pick->slot, &port))
			continue;
		gf_fit_judge(&trial, port, need, GF_FIT_SIZE_NOW, &result);
		if (result.verdict == GPUFABRIC_VERDICT_CANNOT) {
			write_text(group->room, port, need, &result, text,
				   size);
			return pick;
		}
		group->moves |= result.moves;
	}
	return NULL;
}

static u64 largest_bar(const struct gf_pick *pick)
{
	const struct gf_fit_need *need;
	struct gf_fit_need declared;
	u64 largest = 0;
	u32 i;

	need = need_of(pick->slot, &pick->expect, &declared);
	for (i = 0; need && i < need->nr_bars; i++)
		largest = max(largest, need->bars[i].size);
	return largest;
}

static int compare_picks(const void *left, const void *right)
{
	u64 a = largest_bar(*(struct gf_pick *const *)left);
	u64 b = largest_bar(*(struct gf_pick *const *)right);

	return a > b ? -1 : a < b;
}

/* The slots of a request on one switch that will be attached. */
static void gather(struct gf_room_group *group, struct gf_picks *picks,
		   const struct gf_switch *sw)
{
	unsigned int i;

	for (i = 0; i < picks->count; i++) {
		struct gf_pick *pick = &picks->picks[i];

		if (pick->need == GF_NEED_ATTACH && pick->slot->sw == sw)
			group->picks[group->count++] = pick;
	}
}

/* Where the order matters they come one after the other, as they were judged. */
static void take_turns(const struct gf_room_group *group, unsigned int coming)
{
	unsigned int i;

	if (!group->moves || group->count + coming < 2)
		return;
	for (i = 0; i < group->count; i++)
		group->picks[i]->turn = coming + i + 1;
}

/*
 * In the order of the request, and if that does not go, the largest first. By
 * windows that may have changed since nobody is refused; the worker of each
 * attach looks again.
 */
static int judge_switch(struct genl_info *info, struct gf_picks *picks,
			const struct gf_switch *sw)
{
	struct gf_room_group group = { .room = sw->room };
	unsigned int coming = count_coming(sw);
	struct gf_pick *failed = NULL;
	char text[GF_TEXT_MAX];
	int err = -ENOMEM;

	group.picks = kvcalloc(picks->count, sizeof(*group.picks), GFP_KERNEL);
	group.moved = kvcalloc(GF_FIT_WINDOWS * (picks->count + coming) + 1,
			       sizeof(*group.moved), GFP_KERNEL);
	if (!group.picks || !group.moved)
		goto out;
	gather(&group, picks, sw);
	failed = judge_group(&group, sw, text, sizeof(text));
	if (failed && group.count > 1) {
		sort(group.picks, group.count, sizeof(*group.picks),
		     compare_picks, NULL);
		failed = judge_group(&group, sw, text, sizeof(text));
	}
	err = 0;
	if (failed && is_current(sw))
		err = gf_refuse_room(info, failed, -ENOSPC, text,
				     "no room for the GPU");
	if (failed)
		group.moves = true;
	take_turns(&group, coming);
out:
	kvfree(group.picks);
	kvfree(group.moved);
	return err;
}

static bool is_first_of_switch(const struct gf_picks *picks, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < index; i++) {
		if (picks->picks[i].need == GF_NEED_ATTACH &&
		    picks->picks[i].slot->sw == picks->picks[index].slot->sw)
			return false;
	}
	return true;
}

/**
 * gf_room_judge_picks() - judge all GPUs together that a request attaches
 * @info: the request
 * @picks: its slots, judged one by one already
 *
 * Under the fabric's lock. Refuses only what cannot be by windows as they are
 * now; where that is not known nothing is refused. Gives turns to those whose
 * order matters.
 *
 * Return: 0, -ENOSPC with an extack, or -ENOMEM.
 */
int gf_room_judge_picks(struct genl_info *info, struct gf_picks *picks)
{
	unsigned int i;
	int err = 0;

	gf_assert_locked();
	if (gf_request_flags(info) & GPUFABRIC_REQUEST_FLAG_NO_FIT_CHECK)
		return 0;
	for (i = 0; i < picks->count && !err; i++) {
		const struct gf_pick *pick = &picks->picks[i];

		if (pick->need == GF_NEED_ATTACH && pick->slot->sw &&
		    pick->slot->sw->room && is_first_of_switch(picks, i))
			err = judge_switch(info, picks, pick->slot->sw);
	}
	return err;
}
