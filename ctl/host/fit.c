// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Whether a GPU can be given its windows
 *
 * What the PCI core will do when a card comes to a port is worked out here
 * beforehand. It is not left to try, because trying can do harm.
 *
 * - A window of the port that has addresses keeps them, and the BARs go into
 *   it, largest first, each to the lowest place that is aligned to its size.
 * - If one of them finds no place, the port's window is given up, sized anew
 *   (never smaller than it was) and placed anew in the window of the bridge
 *   above. That is done once. No bridge further up is ever touched: what the
 *   bridge above has, is all there is.
 * - A window of the port that has no addresses is sized and placed at once. If
 *   there is no place for it, the PCI core gives up the windows of all ports on
 *   the bus, with the BARs of live neighbours in them, and that of the bridge
 *   above, and does not bring them back. That ends well only where nobody
 *   needs any of it, and on a root bus whose other ports are idle.
 *
 * Where the PCI core sizes windows as sums, those of bridges on a card can be too
 * small. The card fits only if the port hands its windows down as they are.
 *
 * BARs of virtual functions are asked for with the rest. Where windows are sized for
 * them and find no place, they are sized without; where one that has addresses
 * cannot take them, that window is given up as for any other BAR.
 *
 * Sizes and places follow setup-bus.c and setup-res.c of the kernel. I/O ports
 * are left out: no GPU needs them, and room for them is optional.
 */
#include <string.h>

#include "host/fit.h"
#include "host/fit_place.h"
#include "host/fit_size.h"

/* A BAR on its way to an address. */
struct placing {
	const struct gf_fit_bar *bar;
	u64 size;
	u64 extent; /* that it has to have, if that is more */
	u64 align;
	bool placed;
	bool gaps; /* it has gaps, and room for them from the port */
	enum gf_fit_which home; /* the window that is sized for it */
	enum gf_fit_which in; /* the window that it was placed in */
	struct gf_fit_range range;
};

/* A port while a GPU is put below it. */
struct attempt {
	struct gf_fit_trial *trial;
	u32 port;
	struct gf_fit_own own[GF_FIT_WINDOWS];
	u32 nr;
	struct placing bars[GF_FIT_BARS];
	u64 sized[GF_FIT_WINDOWS]; /* what was asked for, 0 for nothing */
	bool fresh[GF_FIT_WINDOWS]; /* it was sized for this GPU */
	u64 align[GF_FIT_WINDOWS];
	bool renewed;
};

/* BARs from the one with the largest alignment on; equal ones in their order. */
static void line_up(struct attempt *try, const struct gf_fit_need *need, enum gf_fit_size size)
{
	u32 i, at;

	for (i = 0; i < need->nr_bars; i++) {
		u64 bytes = gf_fit_bar_size(&need->bars[i], size);
		u64 align = gf_fit_bar_align(&need->bars[i], size);

		for (at = try->nr; at; at--) {
			if (try->bars[at - 1].align >= align)
				break;
			try->bars[at] = try->bars[at - 1];
		}
		try->bars[at] = (struct placing){
			.bar = &need->bars[i],
			.size = bytes,
			.extent = need->bars[i].measures[size].extent,
			.align = align,
			.home = gf_fit_home(try->own, need->bars[i].flags),
		};
		try->nr++;
	}
}

/* Whether the bridge above has a place for a window with usual alignment. */
static bool has_space_above(const struct gf_fit_trial *trial, u32 flags, u64 size, u64 align)
{
	const struct gf_fit_ground ground = gf_fit_ground_of(trial);
	const struct gf_fit_bus *bus = trial->bus;
	u64 place;
	u32 i;

	if (bus->root)
		return true;
	for (i = 0; i < bus->nr_windows; i++) {
		const struct gf_fit_window *window = &bus->windows[i];

		if (window->flags == flags)
			return gf_fit_place(&ground, window->start, window->end, size, align,
					    &place);
	}
	return true;
}

/* What a window without addresses has to have for the BARs without one. */
static void size_window(struct attempt *try, enum gf_fit_which which, u32 without)
{
	const enum gf_fit_rule rule = try->trial->bus->rule;
	struct gf_fit_own *own = &try->own[which];
	struct gf_fit_sizing sizing = {};
	u32 i;

	try->sized[which] = 0;
	if (!own->there || own->assigned)
		return;
	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (bar->home == which && !bar->placed && !(bar->bar->flags & without))
			gf_fit_add(&sizing, rule, bar->size, bar->align);
	}
	try->align[which] = gf_fit_align(&sizing, rule);
	try->sized[which] = gf_fit_total(&sizing, rule, own->kept);
	if (try->sized[which] && rule == GF_FIT_RULE_RELAXED &&
	    !has_space_above(try->trial, own->window.flags, try->sized[which], try->align[which])) {
		try->align[which] = 1ULL << (sizing.max_order + GF_FIT_MIN_ORDER);
		try->sized[which] = gf_fit_round(gf_fit_larger(sizing.sum, own->kept),
						 1ULL << GF_FIT_MIN_ORDER);
	}
}

static struct gf_fit_range *move_window(struct attempt *try, enum gf_fit_which which)
{
	struct gf_fit_trial *trial = try->trial;
	u32 i;

	for (i = 0; i < trial->nr_moved; i++) {
		if (trial->moved[i].port == try->port && trial->moved[i].which == which)
			return &trial->moved[i];
	}
	return &trial->moved[trial->nr_moved++];
}

/* Returns whether every window that was sized has a place. */
static bool place_windows(struct attempt *try, bool *failed)
{
	static const enum gf_fit_which orders[2][2] = {
		{ GF_FIT_MEM, GF_FIT_PREF },
		{ GF_FIT_PREF, GF_FIT_MEM },
	};
	struct gf_fit_trial *trial = try->trial;
	const struct gf_fit_bus *bus = trial->bus;
	bool good = true;
	u32 i, index;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		const struct gf_fit_ground ground = gf_fit_ground_of(trial);
		bool swap = try->align[GF_FIT_PREF] > try->align[GF_FIT_MEM];
		enum gf_fit_which which = orders[swap][i];
		struct gf_fit_own *own = &try->own[which];
		struct gf_fit_range *moved;
		u64 place;

		if (!try->sized[which])
			continue;
		if (!gf_fit_room(&ground, bus->windows, bus->nr_windows, own->window.flags,
				 try->sized[which], try->align[which], &place, &index)) {
			failed[which] = true;
			good = false;
			continue;
		}
		own->window.start = place;
		own->window.end = place + (try->sized[which] - 1);
		own->assigned = true;
		try->fresh[which] = true;
		try->renewed = true;
		moved = move_window(try, which);
		*moved = (struct gf_fit_range){
			.start = own->window.start,
			.end = own->window.end,
			.port = try->port,
			.which = which,
		};
	}
	return good;
}

static void unassign(struct attempt *try, enum gf_fit_which which)
{
	*move_window(try, which) = (struct gf_fit_range){
		.start = 1,
		.end = 0,
		.port = try->port,
		.which = which,
	};
}

/*
 * For all BARs, and where that does not go without those of virtual functions. Sums leave
 * out expansion ROMs, too.
 */
static bool make_windows(struct attempt *try, bool *failed)
{
	struct attempt before = *try;
	u32 nr_moved = try->trial->nr_moved, i;
	u32 without = GF_FIT_VIRTUAL;

	if (try->trial->bus->rule >= GF_FIT_RULE_SUM)
		without |= GF_FIT_OPTIONAL;

	for (i = 0; i < GF_FIT_WINDOWS; i++)
		size_window(try, i, 0);
	if (place_windows(try, failed))
		return true;
	*try = before;
	try->trial->nr_moved = nr_moved;
	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		failed[i] = false;
		if (!try->own[i].assigned && gf_fit_moved(try->trial, try->port, i))
			unassign(try, i);
		size_window(try, i, without);
	}
	return place_windows(try, failed);
}

/* Whether the PCI core minds that a BAR has no place. */
static bool is_missed(const struct attempt *try, const struct placing *bar)
{
	if (bar->bar->flags & GF_FIT_VIRTUAL)
		return !try->fresh[bar->home];
	return !(bar->bar->flags & GF_FIT_OPTIONAL);
}

/* Returns how many BARs found no place in the port's windows. */
static u32 place_bars(struct attempt *try)
{
	struct gf_fit_range placed[GF_FIT_BARS];
	struct gf_fit_window windows[GF_FIT_WINDOWS];
	enum gf_fit_which which_of[GF_FIT_WINDOWS];
	u32 i, index, nr_placed = 0, nr_windows = 0, failed = 0;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		if (!try->own[i].there || !try->own[i].assigned)
			continue;
		which_of[nr_windows] = i;
		windows[nr_windows++] = try->own[i].window;
	}
	for (i = 0; i < try->nr; i++) {
		if (try->bars[i].placed)
			placed[nr_placed++] = try->bars[i].range;
	}
	for (i = 0; i < try->nr; i++) {
		const struct gf_fit_ground ground = { NULL, placed, nr_placed,
						      try->trial->bus->rule };
		struct placing *bar = &try->bars[i];
		u64 place;

		if (bar->placed)
			continue;
		bar->placed = gf_fit_room(&ground, windows, nr_windows, bar->bar->flags, bar->size,
					  bar->align, &place, &index);
		if (!bar->placed) {
			failed += is_missed(try, bar);
			continue;
		}
		bar->in = which_of[index];
		bar->range = (struct gf_fit_range){
			.start = place,
			.end = place + (bar->size - 1),
		};
		placed[nr_placed++] = bar->range;
	}
	return failed;
}

/* The window of the port that is given up for a BAR without a place. */
static enum gf_fit_which given_up_for(const struct gf_fit_own *own, u32 flags)
{
	u32 pref = own[GF_FIT_PREF].window.flags;

	if (!(flags & GF_FIT_PREFETCH) || !own[GF_FIT_PREF].there)
		return GF_FIT_MEM;
	if (flags & GF_FIT_WIDE && pref & GF_FIT_WIDE)
		return GF_FIT_PREF;
	return pref & GF_FIT_WIDE ? GF_FIT_MEM : GF_FIT_PREF;
}

static void fit_give_up(struct attempt *try, enum gf_fit_which which)
{
	struct gf_fit_own *own = &try->own[which];
	u32 i;

	if (!own->there || !own->assigned)
		return;
	own->kept = own->window.end - own->window.start + 1;
	own->assigned = false;
	unassign(try, which);
	for (i = 0; i < try->nr; i++) {
		if (try->bars[i].placed && try->bars[i].in == which)
			try->bars[i].placed = false;
	}
}

static void give_up_for_all(struct attempt *try)
{
	bool give[GF_FIT_WINDOWS] = {};
	u32 i;

	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (!bar->placed && is_missed(try, bar))
			give[given_up_for(try->own, bar->bar->flags)] = true;
	}
	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		if (give[i])
			fit_give_up(try, i);
	}
}

/*
 * Whether a BAR that must have an address is to get it from this window. One
 * that found a place in the other counts: that window is given up as well.
 */
static bool is_needed(const struct attempt *try, enum gf_fit_which which)
{
	u32 i;

	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (bar->home == which && !(bar->bar->flags & (GF_FIT_OPTIONAL | GF_FIT_VIRTUAL)))
			return true;
	}
	return false;
}

static bool anybody_live(const struct gf_fit_trial *trial)
{
	const struct gf_fit_bus *bus = trial->bus;
	u32 i;

	for (i = 0; i < bus->nr_taken; i++) {
		const struct gf_fit_range *range = &bus->taken[i];

		if (range->port != GF_FIT_NOBODY && range->live && !gf_fit_is_gone(trial, range))
			return true;
	}
	return false;
}

static bool anybody_live_in(const struct attempt *try, enum gf_fit_which which)
{
	const struct gf_fit_trial *trial = try->trial;
	const struct gf_fit_bus *bus = trial->bus;
	u32 i;

	for (i = 0; i < bus->nr_taken; i++) {
		const struct gf_fit_range *range = &bus->taken[i];

		if (range->port != GF_FIT_NOBODY && range->which == which && range->live &&
		    !gf_fit_is_gone(trial, range))
			return true;
	}
	for (i = 0; i < trial->nr_moved; i++) {
		if (trial->moved[i].live && trial->moved[i].which == which &&
		    trial->moved[i].port != try->port)
			return true;
	}
	return false;
}

/*
 * A window of the port found no place: the windows of the whole bus are given
 * up. Returns whether that leaves everybody well.
 */
static bool clear_bus(struct attempt *try, enum gf_fit_which which)
{
	struct gf_fit_trial *trial = try->trial;

	if (trial->bus->root) {
		if (anybody_live(trial) || trial->nr_moved)
			return false;
	} else {
		if (is_needed(try, which) || anybody_live_in(try, which))
			return false;
		trial->lost[which] = true;
	}
	trial->cleared[which] = true;
	return true;
}

/* The most that a window of this kind could be. */
static u64 largest_free(const struct attempt *try, enum gf_fit_which which)
{
	const struct gf_fit_trial *trial = try->trial;
	const struct gf_fit_ground ground = gf_fit_ground_of(trial);
	u32 flags = try->own[which].window.flags;
	u64 size, place, best = 0;
	u32 index;

	/* By halves, from the largest power of two that fits anywhere. */
	for (size = 1ULL << 62; size >= 1ULL << GF_FIT_MIN_ORDER; size >>= 1) {
		u64 more = best + size;

		if (gf_fit_room(&ground, trial->bus->windows, trial->bus->nr_windows, flags, more,
				1ULL << GF_FIT_MIN_ORDER, &place, &index))
			best = more;
	}
	return best;
}

static bool bus_numbers_fit(const struct gf_fit_port *port, const struct gf_fit_need *need,
			    struct gf_fit_result *result)
{
	u64 have = port->bus_last - port->bus_first;

	if (need->buses <= have)
		return true;
	result->verdict = GF_FIT_CANNOT;
	result->buses = true;
	result->need = need->buses;
	result->free = have;
	return false;
}

static u64 window_size(const struct gf_fit_own *own)
{
	return own->assigned ? own->window.end - own->window.start + 1 : 0;
}

/* Where a bridge's window is taken to begin: after all BARs on its bus, one after the other. */
static u64 begin_after(const struct attempt *try, const struct gf_fit_need *need,
		       const struct placing *bridge, enum gf_fit_size size)
{
	u64 next = try->own[bridge->home].window.start;
	u32 i;

	for (i = 0; i < need->nr_bars; i++) {
		const struct gf_fit_bar *bar = &need->bars[i];

		if (bar != bridge->bar && gf_fit_home(try->own, bar->flags) == bridge->home)
			next = gf_fit_round(next, gf_fit_bar_align(bar, size)) +
			       gf_fit_bar_size(bar, size);
	}
	return gf_fit_round(next, bridge->align);
}

/*
 * A bridge's window gets what its port's has left, in steps of its alignment. Returns how
 * large the port's has to be for that.
 */
static u64 hand_down(struct attempt *try, const struct gf_fit_need *need, struct placing *bridge,
		     enum gf_fit_size size)
{
	const struct gf_fit_own *own = &try->own[bridge->home];
	u64 used = begin_after(try, need, bridge, size) - own->window.start + bridge->size;
	u64 more = gf_fit_round(bridge->extent - bridge->size, bridge->align);
	u64 have = window_size(own);

	if (have < used + more)
		return used + more;
	bridge->size += (have - used) & ~(bridge->align - 1);
	return 0;
}

/*
 * Where windows on the card are too small, whether the port makes them larger. Returns
 * false with what is short in @result, and in @lacks.
 */
static bool fill_gaps(struct attempt *try, const struct gf_fit_need *need, enum gf_fit_size size,
		      struct gf_fit_result *result, enum gf_fit_which *lacks)
{
	const struct gf_fit_port *at = &try->trial->bus->ports[try->port];
	bool can = at->hands_down && need->bridges == 1;
	u32 i;

	result->gaps = need->stuck[size];
	for (i = 0; i < try->nr && !result->gaps; i++) {
		struct placing *bar = &try->bars[i];

		if (bar->extent <= bar->size)
			continue;
		*lacks = bar->home;
		bar->gaps = true;
		result->gaps = !can;
		result->need = can ? hand_down(try, need, bar, size) : 0;
		result->own = result->need;
		if (result->own)
			return false;
	}
	return !result->gaps;
}

/* Only a window of the port that stays as it is has something left. */
static bool gaps_stay_filled(const struct attempt *try)
{
	u32 i;

	for (i = 0; i < try->nr; i++)
		if (try->bars[i].gaps && try->fresh[try->bars[i].home])
			return false;
	return true;
}

/* Which window is short when BARs are left over. */
static enum gf_fit_which short_window(const struct attempt *try)
{
	u32 i;

	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (!bar->placed && !(bar->bar->flags & (GF_FIT_OPTIONAL | GF_FIT_VIRTUAL)))
			return bar->home;
	}
	return GF_FIT_MEM;
}

/* After the first time: what the PCI core gives up before the second. */
static bool give_up_some(struct attempt *try, const bool *failed)
{
	u32 i;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		if (failed[i] && !clear_bus(try, i))
			return false;
	}
	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		if (failed[i])
			try->own[i].there = false;
	}
	give_up_for_all(try);
	for (i = 0; i < GF_FIT_WINDOWS; i++)
		try->own[i].there |= failed[i] && try->trial->bus->root;
	return true;
}

static bool run_attempt(struct attempt *try, enum gf_fit_which *lacks, bool *harm)
{
	u32 tries;

	for (tries = 0; tries < 2; tries++) {
		bool failed[GF_FIT_WINDOWS] = {};
		bool placed, complete;

		placed = make_windows(try, failed);
		complete = !place_bars(try);
		if (complete && (placed || tries))
			return true;
		*lacks = complete ? GF_FIT_MEM : short_window(try);
		if (!tries && !give_up_some(try, failed)) {
			*harm = true;
			return false;
		}
	}
	return false;
}

/* What windows are made of on the card, and in all. */
static u64 sum_of(const struct attempt *try, enum gf_fit_which which)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < try->nr; i++)
		if (try->bars[i].home == which)
			sum += try->bars[i].size;
	return sum;
}

static u64 sum_of_bars(const struct attempt *try, enum gf_fit_which which)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (bar->home == which && !(bar->bar->flags & GF_FIT_VIRTUAL))
			sum += gf_fit_larger(bar->size, bar->extent);
	}
	return sum;
}

/* Whether a BAR that must have an address gets one that leads nowhere. */
static bool is_dead_end(const struct attempt *try, enum gf_fit_which *lacks)
{
	u32 i;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		if (try->own[i].dead && is_needed(try, i)) {
			*lacks = i;
			return true;
		}
	}
	return false;
}

/* Whether BARs are in a window that is not where it was. */
static bool has_moved(const struct attempt *try)
{
	const struct gf_fit_port *at = &try->trial->bus->ports[try->port];
	u32 i;

	for (i = 0; i < try->nr; i++) {
		enum gf_fit_which in = try->bars[i].in;

		if (try->bars[i].placed && (!at->own[in].assigned ||
					    at->own[in].window.start != try->own[in].window.start ||
					    at->own[in].window.end != try->own[in].window.end))
			return true;
	}
	return false;
}

/* From now on somebody lives in the windows that BARs are in. */
static void settle_in(struct attempt *try)
{
	u32 i;

	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];
		const struct gf_fit_window *window = &try->own[bar->in].window;

		if (!bar->placed)
			continue;
		*move_window(try, bar->in) = (struct gf_fit_range){
			.start = window->start,
			.end = window->end,
			.port = try->port,
			.which = bar->in,
			.live = true,
		};
	}
}

/* What an earlier attempt has given up is not there any more. */
static void forget_cleared(struct attempt *try)
{
	u32 i;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		struct gf_fit_own *own = &try->own[i];

		if (!try->trial->cleared[i] || !own->assigned)
			continue;
		own->kept = own->window.end - own->window.start + 1;
		own->assigned = false;
	}
}

void gf_fit_judge(struct gf_fit_trial *trial, u32 port, const struct gf_fit_need *need,
		  enum gf_fit_size size, struct gf_fit_result *result)
{
	const struct gf_fit_port *at = &trial->bus->ports[port];
	struct attempt try = { .trial = trial, .port = port };
	enum gf_fit_which failed = GF_FIT_PREF;
	u32 nr_moved = trial->nr_moved;
	bool harm = false;

	memset(result, 0, sizeof(*result));
	if (!need->nr_bars || !bus_numbers_fit(at, need, result))
		return;
	memcpy(try.own, at->own, sizeof(try.own));
	forget_cleared(&try);
	line_up(&try, need, size);
	if (!fill_gaps(&try, need, size, result, &failed)) {
		result->verdict = GF_FIT_CANNOT;
		result->prefetch = failed == GF_FIT_PREF;
		result->need = gf_fit_larger(result->need, sum_of_bars(&try, failed));
		result->free = result->own ? window_size(&at->own[failed]) : sum_of(&try, failed);
		return;
	}
	if (!is_dead_end(&try, &failed) && run_attempt(&try, &failed, &harm) &&
	    gaps_stay_filled(&try)) {
		result->verdict = try.renewed ? GF_FIT_FITS_AFTER_REASSIGNMENT : GF_FIT_FITS;
		result->moves = has_moved(&try);
		failed = GF_FIT_PREF;
		settle_in(&try);
	} else {
		result->verdict = GF_FIT_CANNOT;
		result->harm = harm;
	}
	result->prefetch = failed == GF_FIT_PREF;
	result->need = gf_fit_larger(sum_of_bars(&try, failed), try.sized[failed]);
	if (result->verdict == GF_FIT_CANNOT) {
		/* Its own old place would be free, too. */
		unassign(&try, failed);
		result->free = largest_free(&try, failed);
		trial->nr_moved = nr_moved;
	} else {
		result->free = window_size(&try.own[failed]);
	}
}
