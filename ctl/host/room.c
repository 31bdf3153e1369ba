// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: room
 *
 * Whether a GPU gets its windows is worked out (fit.c) from a copy of the windows on its
 * switch, made from what sysfs shows of them. What sysfs does not show are the windows of
 * host bridges: the kernel's log has them, and /proc/iomem for root.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/room.h"

/* GPUs with a large BAR have a small one of the same kind beside it. */
#define SMALL_BAR (32ull << 20)
#define BARS 7

static u32 fit_flags(uint64_t flags)
{
	return (flags & PCI_RES_PREFETCH ? GF_FIT_PREFETCH : 0) |
	       (flags & PCI_RES_WIDE ? GF_FIT_WIDE : 0);
}

/* "0000:00" of "pci0000:00/...". */
static bool root_of(const struct pci_device *dev, unsigned int *domain, unsigned int *bus)
{
	return sscanf(dev->path, "pci%8x:%2x", domain, bus) == 2;
}

/* Lines like "380000000000-387fffffffff : PCI Bus 0000:00", without privileges all zero. */
static size_t windows_of_iomem(const struct host *host, unsigned int domain, unsigned int bus,
			       struct gf_fit_window *windows, size_t max)
{
	char *text = tree_read(host->tree, NULL, "proc/iomem"), *rest = text, *line;
	char *name = mem_printf("PCI Bus %04x:%02x", domain, bus);
	size_t n = 0;

	while (text && n < max && (line = strsep(&rest, "\n"))) {
		const char *colon = strstr(line, " : ");
		uint64_t start, end;

		if (*line == ' ' || !colon || strcmp(colon + 3, name) ||
		    sscanf(line, "%16" SCNx64 "-%16" SCNx64, &start, &end) != 2 || !end)
			continue;
		/* Host bridges forward anything; what is above 4 GiB is for 64-bit BARs. */
		windows[n++] = (struct gf_fit_window){
			.start = start,
			.end = end,
			.flags = start >> 32 ? GF_FIT_PREFETCH | GF_FIT_WIDE : 0,
		};
	}
	free(name);
	free(text);
	return n;
}

size_t room_root_windows(const struct host *host, const struct pci_device *dev,
			 struct gf_fit_window *windows, size_t max)
{
	unsigned int domain, bus;
	size_t i, n = 0;

	if (!root_of(dev, &domain, &bus))
		return 0;
	for (i = 0; host->log && i < host->log->n_windows && n < max; i++) {
		const struct klog_window *window = &host->log->windows[i];

		if (window->domain == domain && window->bus == bus)
			windows[n++] = (struct gf_fit_window){
				.start = window->range.start,
				.end = window->range.end,
				.flags = fit_flags(window->range.flags),
			};
	}
	return n ? n : windows_of_iomem(host, domain, bus, windows, max);
}

static bool on_bus(const struct room *room, const struct pci_device *one,
		   const struct pci_device *dev)
{
	if (dev->parent != room->above)
		return false;
	/* Of root buses there are several. */
	return room->above != PCI_NOBODY ||
	       !strncmp(one->path, dev->path, strcspn(one->path, "/") + 1);
}

static void read_bus_windows(const struct host *host, const struct pci_device *one,
			     struct room *room)
{
	const struct pci_device *above;
	size_t i;

	room->bus.root = room->above == PCI_NOBODY;
	if (room->bus.root) {
		room->bus.nr_windows =
			(u32)room_root_windows(host, one, room->bus.windows, GF_FIT_BUS_WINDOWS);
		return;
	}
	above = &host->pci->items[room->above];
	for (i = 0; i < 2; i++)
		if (pci_is_assigned(&above->window[i]))
			room->bus.windows[room->bus.nr_windows++] = (struct gf_fit_window){
				.start = above->window[i].start,
				.end = above->window[i].end,
				.flags = fit_flags(above->window[i].flags),
			};
}

static bool leads_up(const struct gf_fit_bus *bus, const struct pci_range *range)
{
	u32 i;

	for (i = 0; i < bus->nr_windows; i++)
		if (range->start >= bus->windows[i].start && range->end <= bus->windows[i].end)
			return true;
	return false;
}

static void room_take(struct room *room, const struct pci_range *range, u32 port,
		      enum gf_fit_which which, bool live)
{
	if (!pci_is_assigned(range) || !leads_up(&room->bus, range))
		return;
	room->bus.taken[room->bus.nr_taken++] = (struct gf_fit_range){
		.start = range->start,
		.end = range->end,
		.port = port,
		.which = which,
		.live = live,
	};
}

/* Whether something directly behind a port has an address in a window of it. */
static bool is_lived_in(const struct host *host, size_t port, const struct pci_range *window)
{
	size_t i, k;

	for (i = 0; i < host->pci->n; i++) {
		const struct pci_device *dev = &host->pci->items[i];

		if (dev->parent != port)
			continue;
		for (k = 0; k < BARS + 2; k++) {
			const struct pci_range *range = k < BARS ? &dev->res[k] :
								   &dev->window[k - BARS];

			if ((k < BARS || dev->bridge) && pci_is_assigned(range) &&
			    range->start >= window->start && range->end <= window->end)
				return true;
		}
	}
	return false;
}

static void read_port(const struct host *host, size_t index, struct room *room)
{
	const struct pci_device *dev = &host->pci->items[index];
	u32 number = room->bus.nr_ports++, which;
	struct gf_fit_port *port = &room->bus.ports[number];

	room->ports[number] = index;
	port->bus_first = dev->bus_first;
	port->bus_last = dev->bus_last;
	for (which = 0; which < GF_FIT_WINDOWS; which++) {
		const struct pci_range *window = &dev->window[which];
		struct gf_fit_own *own = &port->own[which];

		own->there = window->flags & PCI_RES_MEM;
		own->window.flags = fit_flags(window->flags);
		own->assigned = pci_is_assigned(window);
		if (!own->assigned) {
			/* What was given up keeps its size, and gets that at least. */
			if (window->end > window->start)
				own->kept = window->end - window->start + 1;
			continue;
		}
		own->dead = !leads_up(&room->bus, window);
		own->window.start = window->start;
		own->window.end = window->end;
		room_take(room, window, number, which, is_lived_in(host, index, window));
	}
}

static int room_by_start(const void *left, const void *right)
{
	const struct gf_fit_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void room_read(const struct host *host, size_t port, struct room *room)
{
	const struct pci_device *one = &host->pci->items[port];
	size_t i, k, n = host->pci->n;

	memset(room, 0, sizeof(*room));
	room->above = one->parent;
	room->bus.rule = gf_fit_rule_of(host->release);
	room->bus.taken = mem_zalloc((BARS + 2) * n + 1, sizeof(*room->bus.taken));
	room->bus.ports = mem_zalloc(n + 1, sizeof(*room->bus.ports));
	room->ports = mem_zalloc(n + 1, sizeof(*room->ports));
	room->moved = mem_zalloc(GF_FIT_WINDOWS * n + 1, sizeof(*room->moved));
	read_bus_windows(host, one, room);
	for (i = 0; i < n; i++) {
		const struct pci_device *dev = &host->pci->items[i];

		if (!on_bus(room, one, dev))
			continue;
		for (k = 0; k < BARS; k++)
			room_take(room, &dev->res[k], GF_FIT_NOBODY, GF_FIT_MEM, true);
		if (dev->bridge)
			read_port(host, i, room);
	}
	qsort(room->bus.taken, room->bus.nr_taken, sizeof(*room->bus.taken), room_by_start);
}

void room_free(struct room *room)
{
	free(room->bus.taken);
	free(room->bus.ports);
	free(room->ports);
	free(room->moved);
}

u32 room_port(const struct room *room, size_t port)
{
	u32 i;

	for (i = 0; i < room->bus.nr_ports; i++)
		if (room->ports[i] == port)
			return i;
	return GF_FIT_NOBODY;
}

void room_vacate(struct room *room, u32 port)
{
	u32 i;

	for (i = 0; i < room->bus.nr_taken; i++)
		if (room->bus.taken[i].port == port)
			room->bus.taken[i].live = false;
}

void room_need(uint64_t bar, struct gf_fit_need *need)
{
	u32 i;

	memset(need, 0, sizeof(*need));
	need->nr_bars = 2;
	for (i = 0; i < need->nr_bars; i++) {
		uint64_t size = i ? SMALL_BAR : bar;

		need->bars[i] = (struct gf_fit_bar){
			.size = size,
			.min = size,
			.max = size,
			.flags = GF_FIT_PREFETCH | GF_FIT_WIDE,
		};
	}
}

void room_judge_alone(const struct room *room, u32 port, const struct gf_fit_need *need,
		      struct gf_fit_result *result)
{
	struct gf_fit_range moved[GF_FIT_WINDOWS + 1] = { 0 };
	struct gf_fit_trial trial = { .bus = &room->bus, .moved = moved };

	gf_fit_judge(&trial, port, need, GF_FIT_SIZE_NOW, result);
}

void room_trial(struct room *room, struct gf_fit_trial *trial)
{
	memset(trial, 0, sizeof(*trial));
	trial->bus = &room->bus;
	trial->moved = room->moved;
}
