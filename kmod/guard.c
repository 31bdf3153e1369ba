// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The guard before power-on
 *
 * Where the window of a port has no address and finds no place, the PCI core
 * gives up the windows of all ports beside it, with the BARs of live neighbours
 * in them, and does not bring them back. So what a card had when it was last
 * seen is held against the windows before it is powered. Whether a card fits is
 * not for the module to foretell; it only does no harm.
 *
 * Sizes of windows follow setup-bus.c of the kernel.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "compat.h"
#include "fabric.h"
#include "guard.h"
#include "rescan.h"
#include "slot.h"
#include "walk.h"

#define GF_MIN_ORDER 20 /* windows of bridges are aligned to 1 MiB */
#define GF_ORDERS 24
#define GF_DEPTHS 6

/* Windows of a port: for what is not prefetchable, and for what is. */
#define GF_WINDOW_KINDS 2

/**
 * struct gf_load - what a window has to hold
 * @sum: bytes
 * @aligns: bytes of what is aligned to 1 MiB, 2 MiB, ...
 * @max_order: the largest of these alignments
 * @must: the GPU is not well without it
 */
struct gf_load {
	u64 sum;
	u64 aligns[GF_ORDERS];
	unsigned int max_order;
	bool must;
};

static void load_add(struct gf_load *load, u64 size, u64 align, bool must)
{
	unsigned int order = align > 1ULL << GF_MIN_ORDER ?
			     fls64(align - 1) - GF_MIN_ORDER : 0;

	if (!size || order >= GF_ORDERS)
		return;
	load->sum += size;
	/* What is larger than its alignment does not raise that of the window. */
	if (size <= align)
		load->aligns[order] += size;
	load->max_order = max(load->max_order, order);
	load->must |= must;
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

/* What the windows of the port have to hold, added up from the inside out. */
static struct gf_load *load_of(const struct gf_facts *facts)
{
	struct gf_load (*loads)[GF_WINDOW_KINDS], *load, *inner;
	unsigned int i, which;

	loads = kcalloc(GF_DEPTHS, sizeof(*loads), GFP_KERNEL);
	for (i = facts->count; loads && i-- > 0;) {
		const struct gf_fact *fact = &facts->fact[i];

		load = loads[min_t(u8, fact->depth, GF_DEPTHS - 2)];
		inner = load + GF_WINDOW_KINDS;
		if (fact->flags & GPUFABRIC_BAR_FLAG_BRIDGE) {
			for (which = 0; which < GF_WINDOW_KINDS; which++) {
				u64 align = load_align(&inner[which]);

				load_add(&load[which && fact->pref],
					 ALIGN(inner[which].sum, align), align,
					 inner[which].must);
			}
			memset(inner, 0, sizeof(*loads));
		} else if (!(fact->flags & GPUFABRIC_BAR_FLAG_VIRTUAL)) {
			/* Those of virtual functions are left out where need be. */
			load_add(&load[fact->pref], fact->size, fact->align,
				 !(fact->flags & GPUFABRIC_BAR_FLAG_OPTIONAL));
		}
	}
	return loads ? loads[0] : NULL;
}

static const struct resource *window_of(const struct pci_dev *bridge,
					unsigned int which)
{
	return &bridge->resource[which ? PCI_BRIDGE_PREF_MEM_WINDOW :
					 PCI_BRIDGE_MEM_WINDOW];
}

/*
 * The first resource of a window that ends behind an address. The tree of resources is
 * not walked: drivers change it under a lock that is the kernel's own. Resources of
 * functions that are referenced stay.
 */
static const struct resource *next_taken(const struct resource *window,
					 const struct gf_functions *functions,
					 const struct resource *skip, u64 start)
{
	const struct resource *next = NULL;
	unsigned int i, bar;

	for (i = 0; i < functions->count; i++) {
		for (bar = 0; bar < PCI_NUM_RESOURCES; bar++) {
			const struct resource *res =
				&functions->pdev[i]->resource[bar];

			if (READ_ONCE(res->parent) == window && res != skip &&
			    res->end >= start &&
			    (!next || res->start < next->start))
				next = res;
		}
	}
	return next;
}

/**
 * gf_guard_gap() - the largest free piece of a window
 * @window: the window
 * @functions: those on its bus; caller holds pci_rescan_remove_lock
 * @skip: what is free as well, or NULL
 * @align: where the piece may begin
 * @last: where it ends at the latest
 */
u64 gf_guard_gap(const struct resource *window,
		 const struct gf_functions *functions,
		 const struct resource *skip, u64 align, u64 last)
{
	u64 start = window->start, largest = 0;
	const struct resource *next;

	last = min_t(u64, last, window->end);
	do {
		u64 end = last, from = ALIGN(start, align);

		next = next_taken(window, functions, skip, start);
		if (next && next->start <= end)
			end = next->start - 1;
		if (from >= start && from <= end)
			largest = max(largest, end - from + 1);
		start = next ? max_t(u64, start, next->end + 1) : start;
	} while (next && start <= last);
	return largest;
}

/* The largest place for a window of the port. */
static u64 gap_above(struct pci_dev *port, unsigned int which,
		     const struct gf_functions *functions, u64 align)
{
	u64 last = which && port->pref_64_window ? U64_MAX : U32_MAX;
	struct resource *res;
	u64 largest = 0;
	int i;

	pci_bus_for_each_resource(port->bus, res, i) {
		if (!res || resource_type(res) != IORESOURCE_MEM ||
		    !resource_size(res) ||
		    !(res->parent || pci_is_root_bus(port->bus)))
			continue;
		/* What has side effects when read must not be prefetched. */
		if (!which && res->flags & IORESOURCE_PREFETCH)
			continue;
		largest = max(largest, gf_guard_gap(res, functions,
						    window_of(port, which),
						    align, last));
	}
	return largest;
}

/* Whether a card beside the port has addresses in such a window. */
static bool anybody_live(const struct pci_dev *port, unsigned int which,
			 const struct gf_functions *functions)
{
	unsigned int i;

	for (i = 0; i < functions->count; i++) {
		struct pci_dev *pdev = functions->pdev[i];

		if (pdev != port && pci_is_bridge(pdev) &&
		    READ_ONCE(window_of(pdev, which)->child))
			return true;
	}
	return false;
}

/* What does not go into the one window may go into the other. */
static bool takes_all(const struct pci_dev *port, const struct gf_load *load)
{
	u64 sum = 0, size = 0;
	unsigned int which;

	for (which = 0; which < GF_WINDOW_KINDS; which++) {
		const struct resource *own = window_of(port, which);

		sum += load[which].sum;
		size += own->parent ? resource_size(own) : 0;
	}
	return sum <= size;
}

static enum gf_room judge(struct pci_dev *port, unsigned int which,
			  const struct gf_load *load, bool taken,
			  const struct gf_functions *functions, u64 *need,
			  u64 *free)
{
	const struct resource *own = window_of(port, which);
	u64 align = load_align(load), size;
	/* An empty resource has a size of 1. */
	u64 kept = resource_size(own) > 1 ? resource_size(own) : 0;

	if (own->parent ? taken || !load->must || load->sum <= kept :
			  !load->sum && !kept)
		return GF_ROOM_OWN;
	size = max(load->sum, kept);
	*need = ALIGN(size, align);
	*free = gap_above(port, which, functions, align);
	if (*need <= *free || !anybody_live(port, which, functions))
		return GF_ROOM_MOVES;
	if (!GF_RELAXED_WINDOWS || pci_is_root_bus(port->bus))
		return GF_ROOM_NONE;
	align = 1ULL << (load->max_order + GF_MIN_ORDER);
	return ALIGN(size, 1ULL << GF_MIN_ORDER) <=
	       gap_above(port, which, functions, align) ? GF_ROOM_MOVES :
							  GF_ROOM_NONE;
}

/**
 * gf_guard() - whether a slot can be powered without harm to its neighbours
 * @slot: the slot, in a step of the caller's
 * @need: bytes that a window needs, unless that is GF_ROOM_OWN
 * @free: bytes that can be had for it
 *
 * Sleeps for the rescan lock.
 */
enum gf_room gf_guard(struct gf_slot *slot, u64 *need, u64 *free)
{
	struct pci_dev *port = slot->port;
	enum gf_room room = GF_ROOM_OWN;
	struct gf_functions *functions;
	struct gf_load *load = NULL;
	unsigned int which;

	mutex_lock(&gf.lock);
	if (slot->facts)
		load = load_of(slot->facts);
	mutex_unlock(&gf.lock);
	if (!load || !gf_port_lock(port))
		goto out;
	functions = gf_functions_on(port->bus);
	for (which = 0; functions && which <= port->pref_window &&
	     room != GF_ROOM_NONE; which++)
		room = max(room, judge(port, which, &load[which],
				       takes_all(port, load), functions, need,
				       free));
	gf_rescan_unlock();
	gf_functions_put(functions);
out:
	kfree(load);
	return room;
}
