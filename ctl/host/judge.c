// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the judge
 *
 * There is one way to say whether a GPU gets its addresses, for whoever asks: what the
 * card needs is what the module has seen of it, or what is declared; the windows are read
 * from sysfs, a bus at a time; host/fit.c knows what the kernel makes of both. What has
 * changed while it was read is found out by whoever asks: the module counts changes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/judge.h"

/* Bridges on a card, one behind the other. */
#define DEPTH_MAX 8

#define NO_ROOM_ON_CARD                                                                            \
	"this kernel makes windows of bridges on the card too small for the GPUs behind them; "    \
	"only pciehp makes up for that, and only if the card has one switch: boot with the GPU "   \
	"powered on"

#define NO_ROOM_TO_HAND_DOWN                                                                       \
	"the card needs a window of %s%s and that of its port has %s, which this kernel does not " \
	"make larger: boot with the GPU powered on"

#define TOO_FEW_BUSES                                                                              \
	"the GPU needs %" PRIu64 " bus numbers more and its port has "                             \
	"%" PRIu64 ": boot with the GPU powered on"

const char *verdict_name(enum gf_fit_verdict verdict)
{
	static const char *const names[] = {
		"unknown",
		"fits",
		"fits-after-reassignment",
		"cannot",
	};

	return names[verdict];
}

void judge_open(struct judge *judge, const char *dir)
{
	struct fault fault = { 0 };

	memset(judge, 0, sizeof(*judge));
	if (tree_open(&judge->tree, dir, &fault))
		return;
	judge->release = tree_line(&judge->tree, "proc/sys/kernel/osrelease");
	if (judge->release)
		judge->rule = gf_fit_rule_of(judge->release);
}

void judge_forget(struct judge *judge)
{
	size_t i;

	for (i = 0; i < judge->n; i++) {
		room_free(&judge->buses[i]->room);
		pci_free(&judge->buses[i]->pci);
		free(judge->buses[i]);
	}
	free(judge->buses);
	judge->buses = NULL;
	judge->n = 0;
}

void judge_close(struct judge *judge)
{
	judge_forget(judge);
	free(judge->release);
	tree_close(&judge->tree);
}

static u32 port_of(const struct judge_bus *bus, const char *address)
{
	const struct pci_device *dev = pci_find(&bus->pci, address);

	return dev ? room_port(&bus->room, (size_t)(dev - bus->pci.items)) : GF_FIT_NOBODY;
}

/* The bus that a port is on; NULL when there is no such port, or nothing is known of it. */
static struct judge_bus *bus_of(struct judge *judge, const char *address, u32 *port)
{
	struct host host = { .tree = &judge->tree, .release = judge->release };
	struct judge_bus *bus;
	struct pci_device *dev;
	size_t i;

	for (i = 0; i < judge->n; i++) {
		*port = port_of(judge->buses[i], address);
		if (*port != GF_FIT_NOBODY)
			return judge->buses[i];
	}
	if (!judge->release)
		return NULL;
	bus = mem_zalloc(1, sizeof(*bus));
	pci_read_bus(&judge->tree, address, &bus->pci);
	dev = pci_find(&bus->pci, address);
	if (!dev) {
		pci_free(&bus->pci);
		free(bus);
		return NULL;
	}
	host.pci = &bus->pci;
	room_read(&host, (size_t)(dev - bus->pci.items), &bus->room);
	judge->buses = mem_grow(judge->buses, judge->n + 1, sizeof(*judge->buses));
	judge->buses[judge->n++] = bus;
	*port = port_of(bus, address);
	return *port == GF_FIT_NOBODY ? NULL : bus;
}

static u32 window_flags(uint32_t flags)
{
	return (flags & GPUFABRIC_BAR_FLAG_PREFETCHABLE ? GF_FIT_PREFETCH : 0) |
	       (flags & GPUFABRIC_BAR_FLAG_WIDE ? GF_FIT_WIDE : 0);
}

static void add_bar(const struct gf_need *bar, struct gf_fit_need *need)
{
	struct gf_fit_bar *to;

	if (need->nr_bars == GF_FIT_BARS || !bar->size)
		return;
	to = &need->bars[need->nr_bars++];
	to->size = bar->size;
	to->align = bar->align;
	to->min = bar->size;
	to->max = bar->size;
	if (bar->sizes) {
		to->min = 1ull << (20 + __builtin_ctz(bar->sizes));
		to->max = 1ull << (51 - __builtin_clz(bar->sizes));
	}
	to->flags = window_flags(bar->flags);
	if (bar->flags & GPUFABRIC_BAR_FLAG_OPTIONAL)
		to->flags |= GF_FIT_OPTIONAL;
	if (bar->flags & GPUFABRIC_BAR_FLAG_VIRTUAL)
		to->flags |= GF_FIT_VIRTUAL;
}

/* What is on one bus of a card, beginning at @at; returns where that ends. */
static size_t add_level(const struct gf_slot *slot, size_t at, uint32_t depth,
			enum gf_fit_rule rule, struct gf_fit_need *need)
{
	while (at < slot->n_needs && slot->needs[at].depth >= depth) {
		const struct gf_need *bar = &slot->needs[at++];

		if (bar->flags & GPUFABRIC_BAR_FLAG_BRIDGE && depth < DEPTH_MAX) {
			struct gf_fit_need inner = { 0 };

			at = add_level(slot, at, depth + 1, rule, &inner);
			gf_fit_wrap(&inner, window_flags(bar->flags), rule, need);
			need->buses += inner.buses + 1;
		} else {
			add_bar(bar, need);
		}
	}
	return at;
}

/* What was seen goes before what is declared. */
static bool need_of(const struct gf_slot *slot, uint64_t bar, enum gf_fit_rule rule,
		    struct gf_fit_need *need)
{
	memset(need, 0, sizeof(*need));
	if (slot->n_needs)
		add_level(slot, 0, 0, rule, need);
	else if (bar && !(bar & (bar - 1)))
		room_need(bar, need);
	return need->nr_bars;
}

static bool is_resizable(const struct gf_fit_need *need)
{
	u32 i;

	for (i = 0; i < need->nr_bars; i++)
		if (need->bars[i].max != need->bars[i].min)
			return true;
	return false;
}

/*
 * What is in registers of a port, which may sleep: the module has it. Only a port with a
 * hot-plug controller is driven by pciehp.
 */
static void put_port(struct judge_bus *bus, u32 port, const struct gf_slot *slot)
{
	struct gf_fit_port *to = &bus->room.bus.ports[port];

	to->hands_down = slot->slot_driver && !strcmp(slot->slot_driver, "pciehp");
	to->bus_first = slot->bus_first;
	to->bus_last = slot->bus_first ? slot->bus_last : 0xff;
}

static void judge_alone(const struct judge_bus *bus, u32 port, const struct gf_fit_need *need,
			enum gf_fit_size size, struct gf_fit_result *result)
{
	struct gf_fit_range moved[GF_FIT_WINDOWS + 1];
	struct gf_fit_trial trial = { .bus = &bus->room.bus, .moved = moved };

	gf_fit_judge(&trial, port, need, size, result);
}

static const char *name_bridge(const struct judge_bus *bus, char *buf, size_t size)
{
	const struct pci_device *one = &bus->pci.items[bus->room.ports[0]];
	unsigned int domain, number;

	if (bus->room.above != PCI_NOBODY)
		snprintf(buf, size, "%s", bus->pci.items[bus->room.above].address);
	else if (sscanf(one->path, "pci%8x:%2x", &domain, &number) == 2)
		snprintf(buf, size, "%04x:%02x", domain, number);
	return buf;
}

static void write_verdict(const struct judge_bus *bus, u32 port, const struct gf_fit_need *need,
			  const struct gf_fit_result *result, struct verdict *verdict)
{
	struct gf_fit_result smallest = { 0 };
	char wants[TEXT_QUANTITY], has[TEXT_QUANTITY];

	verdict->now = result->verdict;
	verdict->moves = result->moves;
	verdict->need = result->need;
	verdict->free = result->free;
	name_bridge(bus, verdict->bridge, sizeof(verdict->bridge));
	if (result->verdict != GF_FIT_CANNOT)
		return;
	if (result->gaps) {
		snprintf(verdict->text, sizeof(verdict->text), NO_ROOM_ON_CARD);
		return;
	}
	if (result->own) {
		snprintf(verdict->text, sizeof(verdict->text), NO_ROOM_TO_HAND_DOWN,
			 text_bytes(wants, result->need), result->prefetch ? "" : " below 4 GiB",
			 text_bytes(has, result->free));
		return;
	}
	if (result->buses) {
		snprintf(verdict->text, sizeof(verdict->text), TOO_FEW_BUSES, result->need,
			 result->free);
		return;
	}
	if (is_resizable(need))
		judge_alone(bus, port, need, GF_FIT_SIZE_MIN, &smallest);
	snprintf(verdict->text, sizeof(verdict->text),
		 "the GPU needs a window of %s%s and %s can give it %s: boot with the GPU powered on%s",
		 text_bytes(wants, result->need), result->prefetch ? "" : " below 4 GiB",
		 verdict->bridge, text_bytes(has, result->free),
		 smallest.verdict == GF_FIT_FITS ||
				 smallest.verdict == GF_FIT_FITS_AFTER_REASSIGNMENT ?
			 " or set its BAR smaller" :
			 "");
}

/* On a root bus whose windows nobody may see nothing can be said. */
static bool judge_is_known(const struct judge_bus *bus)
{
	return bus->room.bus.nr_windows || !bus->room.bus.root;
}

void judge_slot(struct judge *judge, const struct gf_slot *slot, uint64_t bar,
		struct verdict *verdict)
{
	struct gf_fit_result result;
	struct gf_fit_need need;
	struct judge_bus *bus;
	u32 port;

	memset(verdict, 0, sizeof(*verdict));
	if (slot->function_count || !slot->address || !need_of(slot, bar, judge->rule, &need))
		return;
	bus = bus_of(judge, slot->address, &port);
	if (!bus || !judge_is_known(bus))
		return;
	put_port(bus, port, slot);
	judge_alone(bus, port, &need, GF_FIT_SIZE_NOW, &result);
	write_verdict(bus, port, &need, &result, verdict);
	if (is_resizable(&need)) {
		judge_alone(bus, port, &need, GF_FIT_SIZE_MAX, &result);
		verdict->largest = result.verdict;
	}
}

/**
 * struct group - the slots of a request that come to one bus
 * @bus: the bus
 * @wants: the slots, in the order in which they are judged
 * @n: how many
 * @moves: the order matters
 */
struct group {
	struct judge_bus *bus;
	struct judge_want **wants;
	size_t n;
	bool moves;
};

/* Their room is taken by the time that the request's come; no matter whether they fit. */
static void judge_coming(struct judge *judge, const struct judge_bus *bus,
			 const struct judge_want *coming, size_t n, struct gf_fit_trial *trial)
{
	struct gf_fit_result result;
	struct gf_fit_need need;
	struct judge_bus *at;
	size_t i;
	u32 port;

	for (i = 0; i < n; i++) {
		const struct gf_slot *slot = coming[i].slot;

		if (slot->function_count || !slot->address ||
		    !need_of(slot, coming[i].bar, judge->rule, &need))
			continue;
		at = bus_of(judge, slot->address, &port);
		if (at != bus)
			continue;
		put_port(at, port, slot);
		gf_fit_judge(trial, port, &need, GF_FIT_SIZE_NOW, &result);
	}
}

/* The first that cannot be, NULL when all can. */
static struct judge_want *judge_group(struct judge *judge, struct group *group,
				      const struct judge_want *coming, size_t n_coming,
				      struct verdict *verdict)
{
	struct gf_fit_result result;
	struct gf_fit_trial trial;
	struct gf_fit_need need;
	size_t i;
	u32 port;

	room_trial(&group->bus->room, &trial);
	judge_coming(judge, group->bus, coming, n_coming, &trial);
	for (i = 0; i < group->n; i++) {
		port = port_of(group->bus, group->wants[i]->slot->address);
		if (!need_of(group->wants[i]->slot, group->wants[i]->bar, judge->rule, &need))
			continue;
		put_port(group->bus, port, group->wants[i]->slot);
		gf_fit_judge(&trial, port, &need, GF_FIT_SIZE_NOW, &result);
		group->moves |= result.moves;
		if (result.verdict == GF_FIT_CANNOT) {
			write_verdict(group->bus, port, &need, &result, verdict);
			return group->wants[i];
		}
	}
	return NULL;
}

static uint64_t largest_bar(const struct judge_want *want)
{
	struct gf_fit_need need;
	uint64_t largest = 0;
	u32 i;

	/* For the order alone, any rule will do. */
	need_of(want->slot, want->bar, GF_FIT_RULE_HALVES, &need);
	for (i = 0; i < need.nr_bars; i++)
		if (need.bars[i].size > largest)
			largest = need.bars[i].size;
	return largest;
}

static int by_size(const void *left, const void *right)
{
	const struct judge_want *const *one = left, *const *other = right;
	uint64_t a = largest_bar(*one), b = largest_bar(*other);

	if (a != b)
		return a > b ? -1 : 1;
	/* Pointers are in the order of the request. */
	return *one < *other ? -1 : *one > *other;
}

static void give_order(struct group *group)
{
	size_t i;

	for (i = 0; group->moves && group->n > 1 && i < group->n; i++)
		group->wants[i]->order = (uint32_t)i + 1;
}

size_t judge_wants(struct judge *judge, const struct judge_want *coming, size_t n_coming,
		   struct judge_want *wants, size_t n, struct verdict *verdict)
{
	struct judge_want **line = mem_zalloc(n + 1, sizeof(struct judge_want *)), *failed = NULL;
	bool *seen = mem_zalloc(n + 1, sizeof(*seen)), moves = false;
	size_t i, k;

	memset(verdict, 0, sizeof(*verdict));
	for (i = 0; i < n; i++)
		wants[i].order = 0;
	for (i = 0; i < n && !failed; i++) {
		struct group group = { .wants = line };
		u32 port;

		if (seen[i] || !wants[i].slot->address)
			continue;
		group.bus = bus_of(judge, wants[i].slot->address, &port);
		if (!group.bus || !judge_is_known(group.bus))
			continue;
		for (k = i; k < n; k++) {
			if (!wants[k].slot->address ||
			    port_of(group.bus, wants[k].slot->address) == GF_FIT_NOBODY)
				continue;
			seen[k] = true;
			/* What is there has its room. */
			if (!wants[k].slot->function_count)
				line[group.n++] = &wants[k];
		}
		failed = judge_group(judge, &group, coming, n_coming, verdict);
		if (failed && group.n > 1) {
			memset(verdict, 0, sizeof(*verdict));
			qsort(line, group.n, sizeof(struct judge_want *), by_size);
			failed = judge_group(judge, &group, coming, n_coming, verdict);
			group.moves = true;
		}
		give_order(&group);
		moves |= group.moves;
	}
	i = failed ? (size_t)(failed - wants) : n;
	if (!failed)
		verdict->moves = moves;
	free(line);
	free(seen);
	return i;
}
