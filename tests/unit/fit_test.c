// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/fit.c ctl/host/fit_place.c ctl/host/fit_size.c
/*
 * Whether a GPU fits: what is known to hold, and random fabrics against the PCI
 * core in small. That one has resources with parents, tries, fails, gives up and
 * tries again, as the kernel's does, and looks for a place by going through all
 * of them; nothing of it is in fit.c. What it leaves behind is judged by looking
 * at it: each BAR has an address all the way up, and no neighbour has lost one.
 */
#include <stdlib.h>

#include "host/fit.h"
#include "tap.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)
#define HIGH (1ULL << 44)
#define LOW 0xc0000000ULL

#define FABRICS 20000
#define PORTS 5
#define CHILDREN 64

/* The PCI core in small ---------------------------------------------------- */

#define PREF GF_FIT_PREFETCH
#define WIDE GF_FIT_WIDE

/**
 * struct res - a resource
 * @start: first address
 * @size: bytes, 0 for nothing
 * @align: alignment that it wants
 * @flags: PREF, WIDE
 * @there: it has flags at all
 * @tails: what is more than a multiple of its alignment may begin before that
 * @parent: what it has its address from
 * @child: what has an address from it
 * @n: how many
 */
struct res {
	uint64_t start, size, align;
	unsigned int flags;
	bool there, tails;
	struct res *parent;
	struct res *child[CHILDREN];
	unsigned int n;
};

/* A port with its windows, and what is in its slot. */
struct core_port {
	struct res window[2];
	struct res bar[GF_FIT_BARS];
	bool optional[GF_FIT_BARS];
	unsigned int bars;
	bool live;
};

struct core {
	bool root;
	enum gf_fit_rule rule;
	struct res up[2];
	struct res host[2];
	struct core_port port[PORTS];
	unsigned int ports;
};

static void unlink_res(struct res *res)
{
	struct res *parent = res->parent;

	for (unsigned int i = 0; parent && i < parent->n; i++) {
		if (parent->child[i] == res)
			parent->child[i--] = parent->child[--parent->n];
	}
	res->parent = NULL;
}

static void release_below(struct res *res)
{
	while (res->n) {
		struct res *child = res->child[0];

		unlink_res(child);
		release_below(child);
	}
}

static bool free_at(const struct res *parent, uint64_t start, uint64_t size)
{
	if (start < parent->start || start + size > parent->start + parent->size)
		return false;
	for (unsigned int i = 0; i < parent->n; i++) {
		if (start < parent->child[i]->start + parent->child[i]->size && parent->child[i]->start < start + size)
			return false;
	}
	return true;
}

static uint64_t up_to(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/* What does not fill its alignment can begin before it, where all of that is free. */
static uint64_t tail_of(const struct res *parent, const struct res *res, uint64_t at)
{
	uint64_t tail = res->size % res->align;

	if (!parent->tails || !tail || tail % MIB || at < parent->start + tail || !free_at(parent, at - tail, tail))
		return 0;
	return tail;
}

static bool place_in(struct res *parent, struct res *res)
{
	/* Every place that there is, one after the other. */
	for (uint64_t at = up_to(parent->start, res->align); at < parent->start + parent->size; at += res->align) {
		uint64_t start = at - tail_of(parent, res, at);

		if (!(res->flags & WIDE) && start + res->size > GIB * 4)
			return false;
		if (!free_at(parent, start, res->size))
			continue;
		res->start = start;
		res->parent = parent;
		parent->child[parent->n++] = res;
		return true;
	}
	return false;
}

static bool place(struct res **parents, unsigned int n, struct res *res)
{
	static const unsigned int masks[] = { PREF | WIDE, PREF, 0 };

	for (unsigned int m = 0; m < 3; m++) {
		if ((m == 1 && res->flags != (PREF | WIDE)) || (m == 2 && !res->flags))
			continue;
		for (unsigned int i = 0; i < n; i++) {
			if (!parents[i]->there || ((parents[i]->flags ^ res->flags) & masks[m]) ||
			    (parents[i]->flags & PREF && !(res->flags & PREF)))
				continue;
			if (place_in(parents[i], res))
				return true;
		}
	}
	return false;
}

static unsigned int log2_of(uint64_t value)
{
	return 63 - __builtin_clzll(value);
}

/*
 * The least alignment at which what is smaller fills all that is before the largest,
 * in halves of it, wherever the window begins.
 */
static uint64_t least_head(const uint64_t *aligns, unsigned int max_order)
{
	uint64_t head = MIB << max_order, left = 0;

	for (unsigned int order = max_order; order-- > 0;) {
		left += aligns[order];
		while (head > MIB << order && left >= head / 2) {
			left -= head / 2;
			head /= 2;
		}
	}
	return head;
}

static void size_one(struct core *core, struct core_port *port, unsigned int which, bool all)
{
	struct res *window = &port->window[which];
	bool pref64 = port->window[1].flags & WIDE;
	uint64_t sum = 0, aligns[24] = { 0 }, align = 0, min_align = 0, size;
	unsigned int max_order = 0;

	if (!window->there || window->parent)
		return;
	for (unsigned int i = 0; i < port->bars; i++) {
		struct res *bar = &port->bar[i];
		bool in_pref = port->window[1].there && (pref64 ? bar->flags == (PREF | WIDE) : bar->flags & PREF);
		unsigned int order;

		if (bar->parent || in_pref != which || (!all && port->optional[i]))
			continue;
		order = log2_of(bar->align) < 20 ? 0 : log2_of(bar->align) - 20;
		sum += bar->size;
		aligns[order] += bar->align;
		max_order = order > max_order ? order : max_order;
	}
	for (unsigned int order = 0; order <= max_order; order++) {
		uint64_t step = MIB << order;

		if (!align)
			min_align = step;
		else if (up_to(align + min_align, min_align) < step)
			min_align = step / 2;
		align += aligns[order];
	}
	if (core->rule >= GF_FIT_RULE_SUM) {
		window->size = up_to(sum, MIB);
		window->align = least_head(aligns, max_order);
		return;
	}
	size = up_to(sum > window->size ? sum : window->size, min_align);
	if (size && core->rule == GF_FIT_RULE_RELAXED && !core->root) {
		struct res probe = { .size = size, .align = min_align, .flags = WIDE };

		for (unsigned int i = 0; i < 2; i++) {
			if (!core->up[i].parent || core->up[i].flags != window->flags)
				continue;
			if (place_in(&core->up[i], &probe)) {
				unlink_res(&probe);
			} else {
				size = up_to(sum > window->size ? sum : window->size, MIB);
				min_align = MIB << max_order;
			}
			break;
		}
	}
	window->size = size;
	window->align = min_align;
}

/* Gives up the window of a bridge that would be used for @flags. */
static void release_for(struct res *windows, unsigned int flags)
{
	unsigned int pref = windows[1].there ? windows[1].flags : 0, which = 0;

	if (flags & PREF && flags & WIDE && pref & WIDE)
		which = 1;
	else if (flags & PREF && !(pref & WIDE) && pref & PREF)
		which = 1;
	if (!windows[which].parent)
		return;
	release_below(&windows[which]);
	unlink_res(&windows[which]);
	windows[which].start = 0;
}

static struct res *all[GF_FIT_BARS];

static int larger_first(const void *a, const void *b)
{
	const struct res *x = *(struct res *const *)a, *y = *(struct res *const *)b;

	if (x->align != y->align)
		return x->align < y->align ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Returns how many windows of the port find no place; those are in @failed. */
static unsigned int place_both(struct core *core, struct core_port *port, bool all, struct res *failed)
{
	struct res *up[2] = { core->root ? &core->host[0] : &core->up[0],
			      core->root ? &core->host[1] : &core->up[1] };
	struct res *own[2] = { &port->window[0], &port->window[1] };
	unsigned int n = 0;
	bool fresh[2];

	for (unsigned int which = 0; which < 2; which++) {
		fresh[which] = own[which]->there && !own[which]->parent;
		size_one(core, port, which, all);
	}
	for (unsigned int k = 0; k < 2; k++) {
		bool swap = own[1]->align > own[0]->align;
		struct res *window = own[k ^ swap];

		if (window->there && !window->parent && window->size && !place(up, 2, window))
			failed[n++] = *window;
	}
	if (!n || !all || core->rule < GF_FIT_RULE_SUM)
		return n;
	/* Once more without what nobody minds. */
	for (unsigned int which = 0; which < 2; which++) {
		if (fresh[which])
			unlink_res(own[which]);
	}
	return place_both(core, port, false, failed);
}

/* What pci_assign_unassigned_bridge_resources() does for a port. */
static void core_attach(struct core *core, unsigned int index)
{
	struct core_port *port = &core->port[index];

	for (unsigned int tries = 0; tries < 2; tries++) {
		struct res failed[GF_FIT_BARS + 2];
		bool of_port[GF_FIT_BARS + 2] = { true, true };
		unsigned int n = place_both(core, port, true, failed), bars = 0;

		for (unsigned int i = 0; i < n; i++) {
			struct res *window = &port->window[!!(failed[i].flags & PREF)];

			window->size = 0;
			window->there = false;
		}
		for (unsigned int i = 0; i < port->bars; i++) {
			if (!port->bar[i].parent)
				all[bars++] = &port->bar[i];
		}
		qsort(all, bars, sizeof(all[0]), larger_first);
		for (unsigned int i = 0; i < bars; i++) {
			struct res *windows[2] = { &port->window[0], &port->window[1] };
			unsigned int count = 0;

			for (unsigned int w = 0; w < 2; w++) {
				if (port->window[w].there && port->window[w].parent)
					windows[count++] = &port->window[w];
			}
			if (place(windows, count, all[i]) || port->optional[all[i] - port->bar])
				continue;
			of_port[n] = false;
			failed[n++] = *all[i];
		}
		if (!n || tries)
			return;
		for (unsigned int i = 0; i < n; i++) {
			if (!of_port[i]) {
				release_for(port->window, failed[i].flags);
				continue;
			}
			for (unsigned int p = 0; p < core->ports; p++)
				release_for(core->port[p].window, failed[i].flags);
			if (!core->root)
				release_for(core->up, failed[i].flags);
		}
		/* Their flags and sizes come back. */
		for (unsigned int i = 0; i < n; i++) {
			if (of_port[i]) {
				struct res *window = &port->window[!!(failed[i].flags & PREF)];

				window->there = true;
				window->size = failed[i].size;
			}
		}
	}
}

static bool reaches_host(const struct core *core, const struct res *res)
{
	while (res->parent) {
		if (res->start < res->parent->start ||
		    res->start + res->size > res->parent->start + res->parent->size)
			return false;
		res = res->parent;
	}
	return res == &core->host[0] || res == &core->host[1];
}

/* Which BARs have to have an address when a GPU has come to a port. */
static void note_wanted(const struct core *core, unsigned int index, bool wanted[PORTS][GF_FIT_BARS])
{
	for (unsigned int p = 0; p < core->ports; p++) {
		for (unsigned int i = 0; i < core->port[p].bars; i++)
			wanted[p][i] = p == index ? !core->port[p].optional[i] :
						    reaches_host(core, &core->port[p].bar[i]);
	}
}

static bool core_well(const struct core *core, bool wanted[PORTS][GF_FIT_BARS])
{
	for (unsigned int p = 0; p < core->ports; p++) {
		for (unsigned int i = 0; i < core->port[p].bars; i++) {
			if (wanted[p][i] && !reaches_host(core, &core->port[p].bar[i]))
				return false;
		}
	}
	return true;
}

/* From the one to the other ------------------------------------------------ */

struct fabric {
	struct gf_fit_bus bus;
	struct gf_fit_range taken[2 * PORTS];
	struct gf_fit_port ports[PORTS];
	struct gf_fit_range moved[2 * PORTS];
	struct gf_fit_trial trial;
	struct gf_fit_need need[PORTS];
};

static int by_start(const void *a, const void *b)
{
	const struct gf_fit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void fabric_of(const struct core *core, struct fabric *f)
{
	memset(f, 0, sizeof(*f));
	f->bus.root = core->root;
	f->bus.rule = core->rule;
	f->bus.taken = f->taken;
	f->bus.ports = f->ports;
	f->bus.nr_ports = core->ports;
	f->trial.bus = &f->bus;
	f->trial.moved = f->moved;
	for (unsigned int i = 0; i < 2; i++) {
		const struct res *up = core->root ? &core->host[i] : &core->up[i];

		if (up->there && (core->root || up->parent))
			f->bus.windows[f->bus.nr_windows++] = (struct gf_fit_window){
				.start = up->start, .end = up->start + up->size - 1, .flags = up->flags,
			};
	}
	for (unsigned int p = 0; p < core->ports; p++) {
		for (unsigned int w = 0; w < 2; w++) {
			const struct res *window = &core->port[p].window[w];
			struct gf_fit_own *own = &f->ports[p].own[w];

			own->there = window->there;
			own->window.flags = window->flags;
			own->kept = window->size;
			if (!window->parent)
				continue;
			own->assigned = true;
			own->dead = !core->root && !core->up[w].parent;
			own->window.start = window->start;
			own->window.end = window->start + window->size - 1;
			f->taken[f->bus.nr_taken++] = (struct gf_fit_range){
				.start = own->window.start, .end = own->window.end, .port = p, .which = w,
				.live = window->n,
			};
		}
		for (unsigned int i = 0; i < core->port[p].bars; i++) {
			const struct res *bar = &core->port[p].bar[i];

			f->need[p].bars[f->need[p].nr_bars++] = (struct gf_fit_bar){
				.size = bar->size, .min = bar->size, .max = bar->size,
				.flags = bar->flags | (core->port[p].optional[i] ? GF_FIT_OPTIONAL : 0),
			};
		}
	}
	qsort(f->taken, f->bus.nr_taken, sizeof(f->taken[0]), by_start);
}

/* Random fabrics ----------------------------------------------------------- */

static uint64_t seed;

static unsigned int random_below(unsigned int limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

static void random_bars(struct core_port *port)
{
	static const unsigned int kinds[] = { PREF | WIDE, PREF | WIDE, PREF | WIDE, PREF | WIDE, PREF, 0, WIDE };

	port->bars = 1 + random_below(4);
	for (unsigned int i = 0; i < port->bars; i++) {
		unsigned int kind = kinds[random_below(7)];
		uint64_t size = kind == (PREF | WIDE) ? MIB << random_below(11) : 4096ULL << random_below(14);

		port->bar[i] = (struct res){ .size = size, .align = size, .flags = kind, .there = true };
		port->optional[i] = kind == PREF && !random_below(2);
	}
}

static void random_core(struct core *core)
{
	uint64_t low = (1 + random_below(48)) * MIB, high = (1 + random_below(64)) * 64 * MIB;
	bool pref = random_below(16), pref64 = random_below(16);

	memset(core, 0, sizeof(*core));
	core->root = !random_below(4);
	core->rule = random_below(4);
	core->host[0] = (struct res){ .start = LOW, .size = 64 * MIB, .there = true };
	core->host[1] = (struct res){ .start = pref64 ? HIGH : 2 * GIB, .size = pref64 ? 8 * GIB : GIB,
				      .flags = PREF | (pref64 ? WIDE : 0), .there = true };
	if (!pref64)
		high = high % GIB + MIB;
	core->up[0] = (struct res){ .size = low, .align = MIB, .there = true };
	core->up[1] = (struct res){ .size = high, .align = MIB << random_below(8), .there = pref,
				    .flags = core->host[1].flags };
	for (unsigned int i = 0; i < 2; i++)
		core->host[i].tails = core->up[i].tails = core->rule == GF_FIT_RULE_TAILS;
	if (!core->root)
		place_in(&core->host[0], &core->up[0]);
	if (!core->root && pref)
		place_in(&core->host[1], &core->up[1]);
	core->ports = 1 + random_below(PORTS);
	for (unsigned int p = 0; p < core->ports; p++) {
		struct core_port *port = &core->port[p];

		port->window[0].there = true;
		port->window[1].there = pref;
		port->window[1].flags = core->host[1].flags;
		random_bars(port);
		for (unsigned int w = 0; w < 2; w++) {
			struct res *window = &port->window[w];
			struct res *above = core->root ? &core->host[w] : &core->up[w];

			window->tails = above->tails;
			if (!window->there || !random_below(3) || !above->there)
				continue;
			window->size = MIB << random_below(w ? 11 : 5);
			window->align = MIB << random_below(4);
			if (window->align > window->size)
				window->align = window->size;
			if (!place_in(above, window))
				window->size = random_below(2) ? 0 : window->size;
		}
		/* Those that are used were there before; some could not be. */
		if (random_below(3))
			continue;
		port->live = true;
		for (unsigned int i = 0; i < port->bars; i++) {
			struct res *own[2] = { &port->window[0], &port->window[1] };
			unsigned int n = 0;

			for (unsigned int w = 0; w < 2; w++) {
				if (port->window[w].parent)
					own[n++] = &port->window[w];
			}
			if (!place(own, n, &port->bar[i]))
				port->optional[i] = true;
		}
	}
}

static const char *verdict_name(enum gf_fit_verdict verdict)
{
	static const char *const names[] = { "unknown", "fits", "fits after reassignment", "cannot" };

	return names[verdict];
}

static void against_the_core(void)
{
	unsigned int wrong = 0, judged = 0, cannot = 0, after = 0, harm = 0, careful = 0;
	bool wanted[PORTS][GF_FIT_BARS];
	static struct core core;
	static struct fabric f;

	seed = 20261121;
	for (unsigned int n = 0; n < FABRICS; n++) {
		uint64_t start = seed;
		bool can = true, well;

		random_core(&core);
		fabric_of(&core, &f);
		/* All that are off, as one request. */
		for (unsigned int p = 0; p < core.ports && can; p++) {
			struct gf_fit_result result;

			if (core.port[p].live)
				continue;
			gf_fit_judge(&f.trial, p, &f.need[p], GF_FIT_SIZE_NOW, &result);
			can = result.verdict != GF_FIT_CANNOT;
			note_wanted(&core, p, wanted);
			core_attach(&core, p);
			well = core_well(&core, wanted);
			judged++;
			cannot += !can;
			after += result.verdict == GF_FIT_FITS_AFTER_REASSIGNMENT;
			harm += result.harm;
			core.port[p].live = true;
			/*
			 * Where trying gives up windows of others, nothing is
			 * risked that might go well nevertheless.
			 */
			if (result.harm && well) {
				careful++;
				continue;
			}
			if (well == can || ++wrong > 3)
				continue;
			printf("#   fabric %u (seed %" PRIu64 "), port %u: %s, but it is %s\n", n, start, p,
			       verdict_name(result.verdict), well ? "well" : "not well");
		}
	}
	is_int(wrong, 0, "the verdict is what the PCI core in small then does");
	ok(careful < judged / 1000, "few are refused for safety and would have gone well: %u", careful);
	ok(judged > FABRICS && cannot > judged / 10 && cannot < judged * 9 / 10 && after > judged / 20 && harm,
	   "there was enough of each verdict: %u of %u cannot, %u after reassignment, %u do harm", cannot, judged,
	   after, harm);
	tap_counted("fit.fabrics", FABRICS);
	tap_counted("fit.judged", judged);
	tap_counted("fit.wrong", wrong);
}

/* What is known to hold ---------------------------------------------------- */

static struct core switch_of(uint64_t window, uint64_t slot, unsigned int ports)
{
	struct core core = { .ports = ports };

	core.host[0] = (struct res){ .start = LOW, .size = 64 * MIB, .there = true };
	core.host[1] = (struct res){ .start = HIGH, .size = 4096 * GIB, .flags = PREF | WIDE, .there = true };
	core.up[0] = (struct res){ .size = 16 * MIB, .align = MIB, .there = true };
	core.up[1] = (struct res){ .size = window, .align = GIB, .there = true, .flags = PREF | WIDE };
	place_in(&core.host[0], &core.up[0]);
	place_in(&core.host[1], &core.up[1]);
	for (unsigned int p = 0; p < ports; p++) {
		core.port[p].window[0].there = true;
		core.port[p].window[1] = (struct res){ .there = true, .size = slot, .align = GIB,
						       .flags = PREF | WIDE };
		if (slot)
			place_in(&core.up[1], &core.port[p].window[1]);
	}
	return core;
}

static struct gf_fit_need bar_of(uint64_t size)
{
	return (struct gf_fit_need){ .nr_bars = 1, .bars = {
		{ .size = size, .min = size, .max = size, .flags = PREF | WIDE } } };
}

static struct gf_fit_result judge(struct core *core, const struct gf_fit_need *need, enum gf_fit_size size,
				  unsigned int count)
{
	static struct fabric f;
	struct gf_fit_result result = { 0 };

	/* The copy has other addresses than what its resources point to. */
	for (unsigned int i = 0; i < 2; i++) {
		if (core->up[i].there && core->up[i].parent)
			core->up[i].parent = &core->host[i];
	}
	fabric_of(core, &f);
	for (unsigned int p = 0; p < count; p++)
		gf_fit_judge(&f.trial, p, need, size, &result);
	return result;
}

static void known(void)
{
	struct core core = switch_of(256 * GIB, 64 * GIB, 4);
	struct gf_fit_need need = bar_of(64 * GIB);
	struct gf_fit_result result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);

	is_str(verdict_name(result.verdict), "fits", "a BAR as large as the window fits");
	is_int(result.need, 64 * GIB, "and that is what it needs");
	is_int(result.free, 64 * GIB, "of what there is");

	need = bar_of(128 * GIB);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "cannot", "a larger one does not, where idle neighbours have the rest");
	is_int(result.need, 128 * GIB, "it needs its size");
	is_int(result.free, 64 * GIB, "there is what its own window gives up");
	ok(!result.harm && result.prefetch && !result.buses, "trying would do no harm; prefetchable memory is short");

	need = bar_of(GIB);
	for (need.nr_bars = 1; need.nr_bars < GF_FIT_BARS; need.nr_bars++)
		need.bars[need.nr_bars] = need.bars[0];
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	ok(result.verdict == GF_FIT_FITS && !result.moves,
	   "as many BARs as are looked at fit, and no window moves");

	need = bar_of(128 * GIB);
	core = switch_of(256 * GIB, 0, 4);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits after reassignment", "a port without a window gets one");
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 2);
	is_str(verdict_name(result.verdict), "fits after reassignment", "so does a second one in the same request");
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 3);
	is_str(verdict_name(result.verdict), "cannot", "a third one in the same request does not");
	is_int(result.free, 16 * MIB, "as nothing is left but what is not prefetchable");
	ok(result.harm, "and trying would take the addresses of the others away");

	need = bar_of(64 * GIB);
	need.nr_bars = 2;
	need.bars[1] = (struct gf_fit_bar){ .size = 32 * MIB, .min = 32 * MIB, .max = 32 * MIB, .flags = PREF | WIDE };
	core = switch_of(80 * GIB, 0, 1);
	core.rule = GF_FIT_RULE_HALVES;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "cannot", "two BARs are sized up to half of the larger one");
	is_int(result.need, 96 * GIB, "which is more than both");
	core.rule = GF_FIT_RULE_RELAXED;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits after reassignment", "unless the kernel relaxes its alignment");

	need = bar_of(64 * GIB);
	need.bars[0].min = 256 * MIB;
	need.bars[0].max = 512 * GIB;
	core = switch_of(128 * GIB, 0, 1);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits after reassignment", "a resizable BAR fits as it is");
	result = judge(&core, &need, GF_FIT_SIZE_MAX, 1);
	is_str(verdict_name(result.verdict), "cannot", "not at its largest");
	is_int(result.need, 512 * GIB, "which is what that needs");
	core = switch_of(GIB, 0, 1);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "cannot", "in a small window it does not fit as it is");
	result = judge(&core, &need, GF_FIT_SIZE_MIN, 1);
	is_str(verdict_name(result.verdict), "fits after reassignment", "but at its smallest");

	need = bar_of(GIB);
	need.buses = 1;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	ok(result.verdict == GF_FIT_CANNOT && result.buses && result.need == 1 && !result.free,
	   "a GPU behind a bridge of its own wants a bus number");
	need.buses = 0;
	core = switch_of(64 * GIB, 16 * GIB, 2);
	unlink_res(&core.up[1]);
	core.up[1].parent = NULL;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "cannot", "a window below one that is lost leads nowhere");
	is_int(result.free, 16 * MIB, "so there is none");
	need.nr_bars = 0;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "unknown", "of an unknown GPU nothing is said");
	need = bar_of(64 * MIB);
	need.bars[0].flags = 0;
	need.bars[1] = (struct gf_fit_bar){ .size = 16 * MIB, .min = 16 * MIB, .max = 16 * MIB };
	need.nr_bars = 2;
	core = switch_of(64 * GIB, 0, 1);
	core.rule = GF_FIT_RULE_RELAXED;
	unlink_res(&core.up[0]);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "cannot", "nor does a window that would be below it get anywhere");
	is_int(result.need, 96 * MIB, "and no alignment is relaxed for it");

	need = bar_of(16 * MIB);
	need.bars[0].flags = 0;
	core = switch_of(GIB, 0, 1);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits after reassignment", "what is not prefetchable has its own window");
	need = bar_of(32 * MIB);
	need.bars[0].flags = WIDE;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	ok(result.verdict == GF_FIT_CANNOT && !result.prefetch && result.free == 16 * MIB,
	   "which can be short although there is prefetchable memory");
	need.bars[0].flags = GF_FIT_OPTIONAL | PREF;
	need.bars[0].size = 64 * MIB;
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits", "an expansion ROM is nothing that must have an address");
	core.port[0].window[0].size = 8 * MIB;
	core.port[0].window[0].align = MIB;
	core.up[0].parent = &core.host[0];
	place_in(&core.up[0], &core.port[0].window[0]);
	result = judge(&core, &need, GF_FIT_SIZE_NOW, 1);
	is_str(verdict_name(result.verdict), "fits", "and nobody minds when it gets no address");
}

int main(void)
{
	known();
	against_the_core();
	return tap_done();
}
