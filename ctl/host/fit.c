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
 * BARs of virtual functions are asked for with the rest. Where windows are sized for
 * them and find no place, they are sized without; where one that has addresses
 * cannot take them, that window is given up as for any other BAR.
 *
 * Sizes and places follow setup-bus.c and setup-res.c of the kernel. I/O ports
 * are left out: no GPU needs them, and room for them is optional.
 */
#include <string.h>

#include "host/fit.h"
#include "host/fit_size.h"

#define GIB4 0x100000000ULL

/* A BAR on its way to an address. */
struct placing {
	const struct gf_fit_bar *bar;
	u64 size;
	u64 align;
	bool placed;
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

static u64 fit_larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static const struct gf_fit_range *moved_window(const struct gf_fit_trial *trial, u32 port,
					       enum gf_fit_which which)
{
	u32 i;

	for (i = 0; i < trial->nr_moved; i++) {
		const struct gf_fit_range *moved = &trial->moved[i];

		if (moved->port == port && moved->which == which)
			return moved;
	}
	return NULL;
}

/* Whether a range of the bus is in nobody's way any more. */
static bool is_gone(const struct gf_fit_trial *trial, const struct gf_fit_range *range)
{
	if (range->port == GF_FIT_NOBODY)
		return false;
	return trial->cleared[range->which] || moved_window(trial, range->port, range->which);
}

static bool overlaps(const struct gf_fit_range *range, u64 start, u64 end)
{
	return range->start <= range->end && range->start <= end && range->end >= start;
}

/* What is in the way of [start, end] among moved windows and @more, or NULL. */
static const struct gf_fit_range *in_the_way(const struct gf_fit_range *more, u32 nr_more,
					     u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < nr_more; i++) {
		if (overlaps(&more[i], start, end))
			return &more[i];
	}
	return NULL;
}

/*
 * The lowest place in [low, high] that is free. Ranges of the bus are counted
 * where there is a @trial, and @more besides.
 */
static bool find_place(const struct gf_fit_trial *trial, const struct gf_fit_range *more,
		       u32 nr_more, u64 low, u64 high, u64 size, u64 align, u64 *place)
{
	u32 nr_taken = trial ? trial->bus->nr_taken : 0, next = 0;
	u64 start = gf_fit_round(low, align);

	while (start >= low && start + (size - 1) >= start && start + (size - 1) <= high) {
		u64 end = start + (size - 1);
		const struct gf_fit_range *other = NULL;

		for (; next < nr_taken && !other; next++) {
			const struct gf_fit_range *range = &trial->bus->taken[next];

			if (range->start > end)
				break;
			if (overlaps(range, start, end) && !is_gone(trial, range))
				other = range;
		}
		if (!other)
			other = in_the_way(more, nr_more, start, end);
		if (!other) {
			*place = start;
			return true;
		}
		if (other->end + 1 < other->end)
			break;
		start = gf_fit_round(other->end + 1, align);
	}
	return false;
}

/* The bridge above may have lost a window to an earlier attempt. */
static bool is_lost(const struct gf_fit_trial *trial, const struct gf_fit_window *window)
{
	if (!trial)
		return false;
	return trial->lost[window->flags & GF_FIT_PREFETCH ? GF_FIT_PREF : GF_FIT_MEM];
}

static bool find_in_windows(const struct gf_fit_trial *trial, const struct gf_fit_range *more,
			    u32 nr_more, const struct gf_fit_window *windows, u32 nr_windows,
			    u32 flags, u32 same, u64 low, u64 high, u64 size, u64 align, u64 *place,
			    u32 *index)
{
	u32 i;

	for (i = 0; i < nr_windows; i++) {
		const struct gf_fit_window *window = &windows[i];
		u64 first = fit_larger(window->start, low);
		u64 last = smaller(window->end, high);

		if ((window->flags ^ flags) & same)
			continue;
		/* What has side effects when read must not be prefetched. */
		if (window->flags & GF_FIT_PREFETCH && !(flags & GF_FIT_PREFETCH))
			continue;
		if (is_lost(trial, window) || first > last)
			continue;
		if (find_place(trial, more, nr_more, first, last, size, align, place)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* Above 4 GiB first for what can go there. */
static bool find_high_first(const struct gf_fit_trial *trial, const struct gf_fit_range *more,
			    u32 nr_more, const struct gf_fit_window *windows, u32 nr_windows,
			    u32 flags, u32 same, u64 size, u64 align, u64 *place, u32 *index)
{
	if (!(flags & GF_FIT_WIDE))
		return find_in_windows(trial, more, nr_more, windows, nr_windows, flags, same, 0,
				       GIB4 - 1, size, align, place, index);
	return find_in_windows(trial, more, nr_more, windows, nr_windows, flags, same, GIB4, ~0ULL,
			       size, align, place, index) ||
	       find_in_windows(trial, more, nr_more, windows, nr_windows, flags, same, 0, ~0ULL,
			       size, align, place, index);
}

/* The windows that suit best first, as the PCI core tries them. */
static bool find_room(const struct gf_fit_trial *trial, const struct gf_fit_range *more,
		      u32 nr_more, const struct gf_fit_window *windows, u32 nr_windows, u32 flags,
		      u64 size, u64 align, u64 *place, u32 *index)
{
	u32 kind = GF_FIT_PREFETCH | GF_FIT_WIDE;

	flags &= kind;
	return find_high_first(trial, more, nr_more, windows, nr_windows, flags, kind, size, align,
			       place, index) ||
	       (flags == kind && find_high_first(trial, more, nr_more, windows, nr_windows, flags,
						 GF_FIT_PREFETCH, size, align, place, index)) ||
	       (flags && find_high_first(trial, more, nr_more, windows, nr_windows, flags, 0, size,
					 align, place, index));
}

/* BARs from the one with the largest alignment on; equal ones in their order. */
static void line_up(struct attempt *try, const struct gf_fit_need *need, enum gf_fit_size size)
{
	u32 i, at;

	for (i = 0; i < need->nr_bars; i++) {
		u64 bytes = gf_fit_bar_size(&need->bars[i], size);
		u64 align = gf_fit_bar_align(&need->bars[i], bytes);

		for (at = try->nr; at; at--) {
			if (try->bars[at - 1].align >= align)
				break;
			try->bars[at] = try->bars[at - 1];
		}
		try->bars[at] = (struct placing){
			.bar = &need->bars[i],
			.size = bytes,
			.align = align,
			.home = gf_fit_home(try->own, need->bars[i].flags),
		};
		try->nr++;
	}
}

/* Whether the bridge above has a place for a window with usual alignment. */
static bool has_space_above(const struct gf_fit_trial *trial, u32 flags, u64 size, u64 align)
{
	const struct gf_fit_bus *bus = trial->bus;
	u64 place;
	u32 i;

	if (bus->root)
		return true;
	for (i = 0; i < bus->nr_windows; i++) {
		const struct gf_fit_window *window = &bus->windows[i];

		if (window->flags == flags)
			return find_place(trial, trial->moved, trial->nr_moved, window->start,
					  window->end, size, align, &place);
	}
	return true;
}

/* What a window without addresses has to have for the BARs without one. */
static void size_window(struct attempt *try, enum gf_fit_which which, u32 without)
{
	struct gf_fit_own *own = &try->own[which];
	struct gf_fit_sizing sizing = {};
	u32 i;

	try->sized[which] = 0;
	if (!own->there || own->assigned)
		return;
	for (i = 0; i < try->nr; i++) {
		const struct placing *bar = &try->bars[i];

		if (bar->home == which && !bar->placed && !(bar->bar->flags & without))
			gf_fit_add(&sizing, bar->size, bar->align);
	}
	try->align[which] = gf_fit_min_align(&sizing);
	try->sized[which] = gf_fit_round(fit_larger(sizing.sum, own->kept), try->align[which]);
	if (try->sized[which] && try->trial->bus->relaxed &&
	    !has_space_above(try->trial, own->window.flags, try->sized[which], try->align[which])) {
		try->align[which] = 1ULL << (sizing.max_order + GF_FIT_MIN_ORDER);
		try->sized[which] =
			gf_fit_round(fit_larger(sizing.sum, own->kept), 1ULL << GF_FIT_MIN_ORDER);
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
		bool swap = try->align[GF_FIT_PREF] > try->align[GF_FIT_MEM];
		enum gf_fit_which which = orders[swap][i];
		struct gf_fit_own *own = &try->own[which];
		struct gf_fit_range *moved;
		u64 place;

		if (!try->sized[which])
			continue;
		if (!find_room(trial, trial->moved, trial->nr_moved, bus->windows, bus->nr_windows,
			       own->window.flags, try->sized[which], try->align[which], &place,
			       &index)) {
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

/* For all BARs, and where that does not go without those of virtual functions. */
static bool make_windows(struct attempt *try, bool *failed)
{
	struct attempt before = *try;
	u32 nr_moved = try->trial->nr_moved, i;

	for (i = 0; i < GF_FIT_WINDOWS; i++)
		size_window(try, i, 0);
	if (place_windows(try, failed))
		return true;
	*try = before;
	try->trial->nr_moved = nr_moved;
	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		failed[i] = false;
		if (!try->own[i].assigned && moved_window(try->trial, try->port, i))
			unassign(try, i);
		size_window(try, i, GF_FIT_VIRTUAL);
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
		struct placing *bar = &try->bars[i];
		u64 place;

		if (bar->placed)
			continue;
		bar->placed = find_room(NULL, placed, nr_placed, windows, nr_windows,
					bar->bar->flags, bar->size, bar->align, &place, &index);
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

		if (range->port != GF_FIT_NOBODY && range->live && !is_gone(trial, range))
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
		    !is_gone(trial, range))
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
	u32 flags = try->own[which].window.flags;
	u64 size, place, best = 0;
	u32 index;

	/* By halves, from the largest power of two that fits anywhere. */
	for (size = 1ULL << 62; size >= 1ULL << GF_FIT_MIN_ORDER; size >>= 1) {
		u64 more = best + size;

		if (find_room(trial, trial->moved, trial->nr_moved, trial->bus->windows,
			      trial->bus->nr_windows, flags, more, 1ULL << GF_FIT_MIN_ORDER, &place,
			      &index))
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

static u64 sum_of_bars(const struct attempt *try, enum gf_fit_which which)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < try->nr; i++) {
		if (try->bars[i].home == which && !(try->bars[i].bar->flags & GF_FIT_VIRTUAL))
			sum += try->bars[i].size;
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
	if (!is_dead_end(&try, &failed) && run_attempt(&try, &failed, &harm)) {
		result->verdict = try.renewed ? GF_FIT_FITS_AFTER_REASSIGNMENT : GF_FIT_FITS;
		result->moves = has_moved(&try);
		failed = GF_FIT_PREF;
		settle_in(&try);
	} else {
		result->verdict = GF_FIT_CANNOT;
		result->harm = harm;
	}
	result->prefetch = failed == GF_FIT_PREF;
	result->need = fit_larger(sum_of_bars(&try, failed), try.sized[failed]);
	if (result->verdict == GF_FIT_CANNOT) {
		/* Its own old place would be free, too. */
		unassign(&try, failed);
		result->free = largest_free(&try, failed);
		trial->nr_moved = nr_moved;
	} else {
		result->free = try.own[failed].assigned ? try.own[failed].window.end -
								  try.own[failed].window.start + 1 :
							  0;
	}
}
