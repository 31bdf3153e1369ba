// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Where a BAR or a window gets its addresses
 *
 * The PCI core takes the lowest place that is free and aligned: first in the windows that
 * suit best, and above 4 GiB where that is allowed. What the ports of a bus have got or
 * lost in the trial so far counts.
 *
 * Places follow setup-res.c of the kernel and bus.c.
 */
#include <stddef.h>

#include "host/fit_place.h"
#include "host/fit_size.h"

#define GIB4 0x100000000ULL

const struct gf_fit_range *gf_fit_moved(const struct gf_fit_trial *trial, u32 port,
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
bool gf_fit_is_gone(const struct gf_fit_trial *trial, const struct gf_fit_range *range)
{
	if (range->port == GF_FIT_NOBODY)
		return false;
	return trial->cleared[range->which] || gf_fit_moved(trial, range->port, range->which);
}

static bool overlaps(const struct gf_fit_range *range, u64 start, u64 end)
{
	return range->start <= range->end && range->start <= end && range->end >= start;
}

struct gf_fit_ground gf_fit_ground_of(const struct gf_fit_trial *trial)
{
	return (struct gf_fit_ground){ trial, trial->moved, trial->nr_moved, trial->bus->rule };
}

/* What is in the way of [start, end] besides ranges of the bus, or NULL. */
static const struct gf_fit_range *in_the_way(const struct gf_fit_ground *ground, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < ground->nr_more; i++) {
		if (overlaps(&ground->more[i], start, end))
			return &ground->more[i];
	}
	return NULL;
}

/* The lowest place in [low, high] that is free. */
bool gf_fit_place(const struct gf_fit_ground *ground, u64 low, u64 high, u64 size, u64 align,
		  u64 *place)
{
	const struct gf_fit_trial *trial = ground->trial;
	u32 nr_taken = trial ? trial->bus->nr_taken : 0, next = 0;
	u64 start = gf_fit_begin(ground->rule, low, size, align);

	while (start >= low && start + (size - 1) >= start && start + (size - 1) <= high) {
		u64 end = start + (size - 1);
		const struct gf_fit_range *other = NULL;

		for (; next < nr_taken && !other; next++) {
			const struct gf_fit_range *range = &trial->bus->taken[next];

			if (range->start > end)
				break;
			if (overlaps(range, start, end) && !gf_fit_is_gone(trial, range))
				other = range;
		}
		if (!other)
			other = in_the_way(ground, start, end);
		if (!other) {
			*place = start;
			return true;
		}
		if (other->end + 1 < other->end)
			break;
		start = gf_fit_begin(ground->rule, other->end + 1, size, align);
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

static bool find_in_windows(const struct gf_fit_ground *ground, const struct gf_fit_window *windows,
			    u32 nr_windows, u32 flags, u32 same, u64 low, u64 high, u64 size,
			    u64 align, u64 *place, u32 *index)
{
	u32 i;

	for (i = 0; i < nr_windows; i++) {
		const struct gf_fit_window *window = &windows[i];
		u64 first = window->start > low ? window->start : low;
		u64 last = window->end < high ? window->end : high;

		if ((window->flags ^ flags) & same)
			continue;
		/* What has side effects when read must not be prefetched. */
		if (window->flags & GF_FIT_PREFETCH && !(flags & GF_FIT_PREFETCH))
			continue;
		if (is_lost(ground->trial, window) || first > last)
			continue;
		if (gf_fit_place(ground, first, last, size, align, place)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* Above 4 GiB first for what can go there. */
static bool find_high_first(const struct gf_fit_ground *ground, const struct gf_fit_window *windows,
			    u32 nr_windows, u32 flags, u32 same, u64 size, u64 align, u64 *place,
			    u32 *index)
{
	if (!(flags & GF_FIT_WIDE))
		return find_in_windows(ground, windows, nr_windows, flags, same, 0, GIB4 - 1, size,
				       align, place, index);
	return find_in_windows(ground, windows, nr_windows, flags, same, GIB4, ~0ULL, size, align,
			       place, index) ||
	       find_in_windows(ground, windows, nr_windows, flags, same, 0, ~0ULL, size, align,
			       place, index);
}

/* The windows that suit best first, as the PCI core tries them. */
bool gf_fit_room(const struct gf_fit_ground *ground, const struct gf_fit_window *windows,
		 u32 nr_windows, u32 flags, u64 size, u64 align, u64 *place, u32 *index)
{
	u32 kind = GF_FIT_PREFETCH | GF_FIT_WIDE;

	flags &= kind;
	return find_high_first(ground, windows, nr_windows, flags, kind, size, align, place,
			       index) ||
	       (flags == kind && find_high_first(ground, windows, nr_windows, flags,
						 GF_FIT_PREFETCH, size, align, place, index)) ||
	       (flags &&
		find_high_first(ground, windows, nr_windows, flags, 0, size, align, place, index));
}
