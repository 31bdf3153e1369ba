// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: larger windows
 *
 * pci=hpmmioprefsize= is how much the kernel reserves behind each port with a hot-plug
 * controller, but only where it is the kernel that sizes the windows: those that firmware
 * has set are kept, with realloc as well unless something at boot does not fit. What makes
 * the kernel forget firmware's windows is pci=resource_alignment= with the bridges by
 * name, which is meant to expand them. So each bridge from the port upwards is followed as
 * long as the kernel sizes it, to one that firmware has set or to the host bridge, and
 * there all that is asked for has to fit; first with the windows as firmware has set
 * them, then without. What the kernel would make of it is judged by the code that
 * judges an attach.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/grow.h"

#define MIB (1ull << 20)
#define DEPTH 16
#define NO_CONTROLLER "port %s has no hot-plug controller, so the kernel reserves nothing behind it"
#define NOT_KNOWN "it is not known whether firmware or the kernel has set the windows"
/* More names than that make the command line too long. */
#define RELEASED_MAX 64

const char *grow_size(char buf[24], uint64_t bytes)
{
	static const char units[] = "MGT";
	unsigned int unit = 0;

	bytes = (bytes + MIB - 1) / MIB;
	while (unit < 2 && bytes && !(bytes & 1023)) {
		bytes >>= 10;
		unit++;
	}
	snprintf(buf, 24, "%" PRIu64 "%c", bytes, units[unit]);
	return buf;
}

static uint64_t up_to(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/**
 * struct plan - what the kernel would do with other parameters
 * @doctor: the host
 * @released: by index of a bridge: firmware's windows of it are forgotten
 * @each: what is reserved behind each port with a controller
 */
struct plan {
	const struct doctor *doctor;
	bool *released;
	uint64_t each;
};

/* By the kernel, and not by firmware: also one that nobody has given any addresses. */
static bool is_kernels(const struct plan *plan, size_t bridge)
{
	const struct pci_device *dev = &plan->doctor->pci.items[bridge];

	return plan->released[bridge] || klog_sized(&plan->doctor->log, dev->address) ||
	       !pci_is_assigned(&dev->window[1]);
}

static uint64_t bars_of(const struct pci_device *dev, uint64_t *largest)
{
	uint64_t sum = 0, size;
	size_t i;

	for (i = 0; i < 7; i++) {
		if (!(dev->res[i].flags & PCI_RES_PREFETCH) || dev->res[i].end <= dev->res[i].start)
			continue;
		size = dev->res[i].end - dev->res[i].start + 1;
		sum += size;
		if (size > *largest)
			*largest = size;
	}
	return sum;
}

/* What is asked for behind a bridge that the kernel sizes, or for a device. */
static uint64_t demand(const struct plan *plan, size_t index, unsigned int depth)
{
	const struct pci_list *pci = &plan->doctor->pci;
	const struct pci_device *dev = &pci->items[index];
	uint64_t largest = MIB, sum = bars_of(dev, &largest);
	bool bridges = false;
	size_t i;

	for (i = 0; dev->bridge && depth && i < pci->n; i++) {
		uint64_t below;

		if (pci->items[i].parent != index)
			continue;
		below = demand(plan, i, depth - 1);
		sum += up_to(below, MIB);
		bridges |= pci->items[i].bridge;
		if (!pci->items[i].bridge && below > largest)
			largest = below;
	}
	if (dev->bridge && dev->window[1].flags)
		/* Windows are aligned to half of what is largest in them. */
		sum = up_to(sum, largest / 2 > MIB ? largest / 2 : MIB);
	/* What bridges below reserve comes on top of a port's own reserve. */
	if (dev->bridge && dev->hotplug)
		sum = bridges ? sum + plan->each : sum < plan->each ? plan->each : sum;
	return sum;
}

/**
 * struct space - where the windows that the kernel sizes come from
 * @window: addresses of a host bridge, or of a bridge that firmware has set
 * @bridge: index of that, PCI_NOBODY for the host bridge
 * @taken: what firmware has given away of it
 */
struct space {
	struct gf_fit_window window;
	size_t bridge;
	uint64_t taken;
};

static bool find_space(const struct plan *plan, size_t port, struct space *space)
{
	const struct doctor *doctor = plan->doctor;
	const struct pci_device *dev = &doctor->pci.items[port];
	const struct host host = doctor_host(doctor);
	struct gf_fit_window windows[GF_FIT_BUS_WINDOWS];
	size_t n, i;

	space->bridge = dev->parent;
	while (space->bridge != PCI_NOBODY && is_kernels(plan, space->bridge))
		space->bridge = doctor->pci.items[space->bridge].parent;
	if (space->bridge != PCI_NOBODY) {
		const struct pci_range *window = &doctor->pci.items[space->bridge].window[1];

		space->window.start = window->start;
		space->window.end = window->end;
		return true;
	}
	n = room_root_windows(&host, dev, windows, GF_FIT_BUS_WINDOWS);
	memset(&space->window, 0, sizeof(space->window));
	for (i = 0; i < n; i++)
		if (windows[i].start >> 32 &&
		    windows[i].end - windows[i].start > space->window.end - space->window.start)
			space->window = windows[i];
	return space->window.end;
}

static bool same_root(const struct pci_device *a, const struct pci_device *b)
{
	size_t len = strcspn(a->path, "/") + 1;

	return !strncmp(a->path, b->path, len);
}

static bool is_within(const struct pci_range *range, const struct gf_fit_window *window)
{
	return pci_is_assigned(range) && range->start >= window->start && range->end <= window->end;
}

/* What all that is sized by the kernel there asks for. */
static uint64_t total_demand(const struct plan *plan, const struct pci_device *one,
			     struct space *space)
{
	const struct doctor *doctor = plan->doctor;
	uint64_t sum = 0;
	size_t i;

	space->taken = 0;
	for (i = 0; i < doctor->pci.n; i++) {
		const struct pci_device *dev = &doctor->pci.items[i];
		uint64_t largest = 0;

		if (dev->parent != space->bridge || !same_root(one, dev))
			continue;
		if (dev->bridge && is_kernels(plan, i))
			sum += up_to(demand(plan, i, DEPTH), MIB);
		else if (dev->bridge && is_within(&dev->window[1], &space->window))
			space->taken += dev->window[1].end - dev->window[1].start + 1;
		else if (!dev->bridge && is_within(&dev->res[0], &space->window))
			space->taken += bars_of(dev, &largest);
	}
	return sum;
}

/* The bus as it would be: one window after the other, which are all aligned alike. */
static void lay_out(const struct plan *plan, const struct room *now, const struct space *space,
		    struct room *then)
{
	struct gf_fit_bus *bus = &then->bus;
	uint64_t at = up_to(space->window.start, MIB);
	u32 i, kept = 0;

	*then = *now;
	bus->taken = mem_zalloc(now->bus.nr_taken + now->bus.nr_ports + 1, sizeof(*bus->taken));
	bus->ports = mem_zalloc(now->bus.nr_ports + 1, sizeof(*bus->ports));
	memcpy(bus->ports, now->bus.ports, now->bus.nr_ports * sizeof(*bus->ports));
	then->moved = mem_zalloc(GF_FIT_WINDOWS * now->bus.nr_ports + 1, sizeof(*then->moved));
	for (i = 0; i < now->bus.nr_taken; i++)
		if (now->bus.taken[i].port == GF_FIT_NOBODY ||
		    now->bus.taken[i].which == GF_FIT_MEM)
			bus->taken[kept++] = now->bus.taken[i];
	for (i = 0; i < bus->nr_ports; i++) {
		struct gf_fit_own *own = &bus->ports[i].own[GF_FIT_PREF];
		uint64_t size = up_to(demand(plan, now->ports[i], DEPTH), MIB);
		bool live = false;
		u32 k;

		for (k = 0; k < now->bus.nr_taken; k++)
			live |= now->bus.taken[k].port == i &&
				now->bus.taken[k].which == GF_FIT_PREF && now->bus.taken[k].live;
		if (!size)
			continue;
		own->there = true;
		own->assigned = true;
		own->dead = false;
		own->window =
			(struct gf_fit_window){ at, at + size - 1, GF_FIT_PREFETCH | GF_FIT_WIDE };
		bus->taken[kept++] = (struct gf_fit_range){
			.start = at,
			.end = at + size - 1,
			.port = i,
			.which = GF_FIT_PREF,
			.live = live,
		};
		at += size;
	}
	bus->nr_taken = kept;
	for (i = 0; i < bus->nr_windows; i++)
		if (bus->windows[i].flags & GF_FIT_PREFETCH)
			break;
	if (i == bus->nr_windows && i < GF_FIT_BUS_WINDOWS)
		bus->nr_windows++;
	if (i < bus->nr_windows)
		bus->windows[i] = (struct gf_fit_window){ up_to(space->window.start, MIB), at - 1,
							  GF_FIT_PREFETCH | GF_FIT_WIDE };
}

static int grow_by_start(const void *left, const void *right)
{
	const struct gf_fit_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Would cards fit into all of these ports at once? */
static bool would_fit(const struct plan *plan, const struct room *now, const struct space *space,
		      const u32 *ports, size_t n, const struct gf_fit_need *need)
{
	struct gf_fit_result result;
	struct gf_fit_trial trial;
	struct room then;
	bool fits = true;
	size_t i;

	lay_out(plan, now, space, &then);
	qsort(then.bus.taken, then.bus.nr_taken, sizeof(*then.bus.taken), grow_by_start);
	room_trial(&then, &trial);
	for (i = 0; i < n && fits; i++) {
		gf_fit_judge(&trial, ports[i], need, GF_FIT_SIZE_NOW, &result);
		fits = result.verdict == GF_FIT_FITS ||
		       result.verdict == GF_FIT_FITS_AFTER_REASSIGNMENT;
	}
	free(then.bus.taken);
	free(then.bus.ports);
	free(then.moved);
	return fits;
}

/* Every bridge of the tree below the root port that a port is behind. */
static size_t release_tree(struct plan *plan, size_t port)
{
	const struct pci_list *pci = &plan->doctor->pci;
	size_t top = port, i, at, n = 0;

	while (pci->items[top].parent != PCI_NOBODY)
		top = pci->items[top].parent;
	for (i = 0; i < pci->n; i++) {
		for (at = i; at != top && at != PCI_NOBODY;)
			at = pci->items[at].parent;
		if (at != top || !pci->items[i].bridge || is_kernels(plan, i))
			continue;
		plan->released[i] = true;
		n++;
	}
	return n;
}

static char *write_parameter(const struct plan *plan)
{
	struct text names = { 0 };
	char size[24], *parameter;
	size_t i;

	for (i = 0; i < plan->doctor->pci.n; i++)
		if (plan->released[i])
			text_add(&names, "%s20@%s", names.len ? ";" : "",
				 plan->doctor->pci.items[i].address);
	parameter = mem_printf("pci=hpmmioprefsize=%s%s%s", grow_size(size, plan->each),
			       names.len ? ",resource_alignment=" : "",
			       names.len ? names.text : "");
	free(names.text);
	return parameter;
}

/* What this host was booted with has not helped, whatever was worked out. */
static void forget_tried(const struct plan *plan, struct grow *grow)
{
	const struct doctor *doctor = plan->doctor;
	const char *names = strstr(grow->parameter, "resource_alignment=");
	char given[24], size[24];

	if (!doctor_option_item(doctor, "pci", "hpmmioprefsize", given, sizeof(given)) ||
	    strcmp(given, grow_size(size, plan->each)) ||
	    (names && !strstr(doctor->cmdline, names)))
		return;
	grow->why = mem_printf("%s is set already and was not enough", grow->parameter);
	free(grow->parameter);
	grow->parameter = NULL;
}

/* With the windows of bridges as they would be; fills what helps, or why nothing does. */
static void try_plan(struct plan *plan, const struct room *room, const u32 *ports, size_t n,
		     uint64_t bar, struct grow *grow)
{
	const struct doctor *doctor = plan->doctor;
	const struct pci_device *one = &doctor->pci.items[room->ports[ports[0]]];
	/* Twice the BAR holds it wherever it begins; half of it more does where that is aligned. */
	const uint64_t sizes[] = { 2 * bar, bar + bar / 2 };
	char have[TEXT_QUANTITY], want[TEXT_QUANTITY];
	struct gf_fit_need need;
	struct space space;
	uint64_t asked = 0;
	size_t i;

	if (!find_space(plan, room->ports[ports[0]], &space)) {
		grow->unknown = true;
		grow->why = mem_strdup("the size of the host bridge's window is not known");
		return;
	}
	room_need(bar, &need);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		plan->each = sizes[i];
		asked = total_demand(plan, one, &space);
		if (asked + space.taken <= space.window.end - space.window.start + 1 &&
		    would_fit(plan, room, &space, ports, n, &need)) {
			grow->parameter = write_parameter(plan);
			forget_tried(plan, grow);
			return;
		}
	}
	grow->why = mem_printf("%s%s has %s of addresses and %s are needed",
			       space.bridge == PCI_NOBODY ? "the host bridge" : "bridge ",
			       space.bridge == PCI_NOBODY ? "" :
							    doctor->pci.items[space.bridge].address,
			       text_bytes(have,
					  space.window.end - space.window.start + 1 - space.taken),
			       text_bytes(want, asked));
}

void grow_free(struct grow *grow)
{
	free(grow->parameter);
	free(grow->why);
	memset(grow, 0, sizeof(*grow));
}

void grow_windows(const struct doctor *doctor, const struct room *room, const u32 *ports, size_t n,
		  uint64_t bar, struct grow *grow)
{
	struct plan plan = { .doctor = doctor };
	bool kernels = true;
	size_t i, released;

	memset(grow, 0, sizeof(*grow));
	plan.released = mem_zalloc(doctor->pci.n + 1, sizeof(*plan.released));
	for (i = 0; i < n; i++) {
		const struct pci_device *port = &doctor->pci.items[room->ports[ports[i]]];

		kernels &= is_kernels(&plan, room->ports[ports[i]]);
		if (!port->hotplug && !grow->why)
			grow->why = mem_printf(NO_CONTROLLER, port->address);
	}
	if (grow->why)
		goto out;
	if (!(doctor->has_log && doctor->log.complete)) {
		grow->unknown = true;
		grow->why = mem_strdup(NOT_KNOWN);
		goto out;
	}
	if (kernels)
		try_plan(&plan, room, ports, n, bar, grow);
	if (!grow->parameter && !grow->unknown) {
		released = release_tree(&plan, room->ports[ports[0]]);
		if (released && released <= RELEASED_MAX) {
			grow_free(grow);
			try_plan(&plan, room, ports, n, bar, grow);
		}
	}
out:
	free(plan.released);
}
