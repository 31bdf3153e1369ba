// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The guard before power-on
 *
 * Where the window of a port has no address and finds no place, the PCI core gives up the windows
 * of all ports beside it, with what lives in them, and that of the bridge above, and does not
 * bring them back. So what a card had when it was last seen is sized as setup-bus.c does it, and
 * the PCI core is asked for a place before the card is powered. For a window that has addresses
 * nothing but that window is ever given up. This foretells no fit; it only does no harm.
 */
#include <linux/ioport.h>
#include <linux/slab.h>

#include "compat.h"
#include "snapshot.h"

#define GF_MIN_ORDER 20 /* windows of bridges are aligned to 1 MiB */
#define GF_ORDERS 24
#define GF_DEPTHS 6

/* Windows of a port: for what is not prefetchable, and for what is. */
#define GF_WINDOW_KINDS 2

/* What a window has to hold. */
struct gf_load {
	u64 sum; /* bytes */
	u64 aligns[GF_ORDERS]; /* bytes of what is aligned to 1 MiB, 2 MiB, ... */
	unsigned int max_order; /* the largest of these alignments */
};

static void load_add(struct gf_load *load, u64 size, u64 align)
{
	unsigned int order = align > 1ULL << GF_MIN_ORDER ? fls64(align - 1) - GF_MIN_ORDER : 0;

	if (!size || order >= GF_ORDERS)
		return;
	load->sum += size;
	/* What is larger than its alignment does not raise that of the window. */
	if (size <= align)
		load->aligns[order] += size;
	load->max_order = max(load->max_order, order);
}

static u64 load_align(const struct gf_load *load)
{
	u64 align = 0, min_align = 0;
	unsigned int order;

	for (order = 0; order <= load->max_order; order++) {
		u64 next = 1ULL << (order + GF_MIN_ORDER);

		if (!align)
			min_align = next;
		else if (ALIGN(align + min_align, min_align) < next)
			min_align = next >> 1;
		align += load->aligns[order];
	}
	return min_align;
}

/* What the windows of the port have to hold, from the inside out; nothing if that is not known. */
static struct gf_load *load_of(const struct gf_facts *facts)
{
	struct gf_load (*loads)[GF_WINDOW_KINDS], *load, *inner;
	unsigned int i, which;

	loads = kcalloc(GF_DEPTHS, sizeof(*loads), GFP_KERNEL);
	for (i = facts ? facts->count : 0; loads && i-- > 0;) {
		const struct gf_fact *fact = &facts->fact[i];

		load = loads[min_t(u8, fact->depth, GF_DEPTHS - 2)];
		inner = load + GF_WINDOW_KINDS;
		if (fact->flags & GPUFABRIC_BAR_FLAG_BRIDGE) {
			for (which = 0; which < GF_WINDOW_KINDS; which++) {
				u64 align = load_align(&inner[which]);

				load_add(&load[which && fact->pref],
					 ALIGN(inner[which].sum, align), align);
			}
			memset(inner, 0, sizeof(*loads));
		} else if (!(fact->flags & GPUFABRIC_BAR_FLAG_VIRTUAL)) {
			/* Those of virtual functions are left out where need be. */
			load_add(&load[fact->pref], fact->size, fact->align);
		}
	}
	return loads ? loads[0] : NULL;
}

/* Has the PCI core find a place for a window of the port, for release_resource(). */
static bool find_place(const struct pci_dev *port, unsigned int which, u64 size,
		       u64 align, struct resource *place)
{
	const unsigned long kind = IORESOURCE_PREFETCH | IORESOURCE_MEM_64;

	*place = (struct resource){ .name = "gpufabric", .flags = IORESOURCE_MEM };
	if (which)
		place->flags |= port->pref_64_window ? kind : IORESOURCE_PREFETCH;
	return !pci_bus_alloc_resource(port->bus, place, size, align, PCIBIOS_MIN_MEM,
				       place->flags & kind ? 0 : kind, NULL, NULL);
}

static int look_for_life(struct pci_dev *pdev, void *data)
{
	bool *alive = data;
	unsigned int i;

	for (i = PCI_BRIDGE_RESOURCES; i < PCI_NUM_RESOURCES; i++)
		*alive |= !!READ_ONCE(pdev->resource[i].child);
	return *alive;
}

/*
 * Of a root bus only windows of ports are given up, and where nothing is in them that helps. A
 * bridge above would lose its own for good, and all that is in it: that of the kind, or where it
 * has none the one for what is not prefetchable.
 */
static bool may_clear(struct pci_bus *bus, unsigned int which)
{
	const struct resource *above;
	bool alive = false;

	if (pci_is_root_bus(bus)) {
		pci_walk_bus(bus, look_for_life, &alive);
		return !alive;
	}
	above = &bus->self->resource[PCI_BRIDGE_MEM_WINDOW];
	return !above->parent &&
	       (!which || !bus->self->resource[PCI_BRIDGE_PREF_MEM_WINDOW].parent);
}

static enum gf_room judge(struct pci_dev *port, unsigned int which,
			  const struct gf_load *load, bool known, struct resource *place, u64 *need)
{
	const struct resource *own = &port->resource[which ? PCI_BRIDGE_PREF_MEM_WINDOW :
					PCI_BRIDGE_MEM_WINDOW];
	/* An empty resource has a size of 1. What was given up keeps its size. */
	u64 kept = resource_size(own) > 1 ? resource_size(own) : 0;
	u64 size = max(load->sum, kept), align = load_align(load);

	if (own->parent)
		return load->sum <= kept ? GF_ROOM_OWN : GF_ROOM_MOVES;
	if (!size)
		return known ? GF_ROOM_OWN : GF_ROOM_MOVES;
	*need = ALIGN(size, align);
	if (find_place(port, which, *need, align, place) ||
	    (GF_RELAXED_WINDOWS && !pci_is_root_bus(port->bus) &&
	     find_place(port, which, ALIGN(size, 1ULL << GF_MIN_ORDER),
			1ULL << (load->max_order + GF_MIN_ORDER), place)) ||
	    may_clear(port->bus, which))
		return GF_ROOM_MOVES;
	return GF_ROOM_NONE;
}

/* What one window takes the other cannot have. As in the PCI core the larger alignment is first. */
static enum gf_room judge_both(struct pci_dev *port, const struct gf_load *load,
			       bool known, u64 *need)
{
	bool swap = port->pref_window && load_align(&load[1]) > load_align(&load[0]);
	struct resource place[GF_WINDOW_KINDS] = {};
	enum gf_room room = GF_ROOM_OWN;
	unsigned int i;

	for (i = 0; i <= port->pref_window && room != GF_ROOM_NONE; i++)
		room = max(room, judge(port, i ^ swap, &load[i ^ swap], known, &place[i], need));
	for (i = 0; i < GF_WINDOW_KINDS; i++) {
		if (place[i].parent)
			release_resource(&place[i]);
	}
	return room;
}

/*
 * Whether a slot, in a step of the caller's, can be powered without harm to its neighbours: enum
 * gf_room, with the bytes that a window needs for GF_ROOM_NONE, or -ENOMEM. Sleeps.
 */
int gf_guard(struct gf_slot *slot, u64 *need)
{
	int room = GF_ROOM_OWN;
	struct gf_load *load;
	bool known;

	scoped_guard(mutex, &gf.lock) {
		known = slot->facts;
		load = load_of(slot->facts);
	}
	if (!load)
		return -ENOMEM;
	if (gf_port_lock(slot->port)) {
		room = judge_both(slot->port, load, known, need);
		gf_rescan_unlock();
	}
	kfree(load);
	return room;
}
