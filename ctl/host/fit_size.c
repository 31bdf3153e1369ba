// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: How large the windows of bridges are
 *
 * A bridge's window is as large as what it shall hold, rounded up to its
 * alignment, which the PCI core derives from the sizes in it: two BARs can want
 * half as much again. So a bridge on a card asks the bus above for more than its
 * GPUs have in BARs, and that is added up from the inside out.
 *
 * Sizes follow setup-bus.c of the kernel, and are pure.
 */
#include "host/fit_size.h"

u64 gf_fit_bar_size(const struct gf_fit_bar *bar, enum gf_fit_size size)
{
	switch (size) {
	case GF_FIT_SIZE_MIN:
		return bar->min;
	case GF_FIT_SIZE_MAX:
		return bar->max;
	default:
		return bar->size;
	}
}

/* A window's size is a multiple of what it is aligned to. */
u64 gf_fit_bar_align(const struct gf_fit_bar *bar, u64 size)
{
	if (!bar->align)
		return size;
	return size == bar->size ? bar->align : size & -size;
}

/* The window of the port that is sized for a BAR. */
enum gf_fit_which gf_fit_home(const struct gf_fit_own *own, u32 flags)
{
	const struct gf_fit_own *pref = &own[GF_FIT_PREF];
	u32 kind = GF_FIT_PREFETCH;

	if (!pref->there)
		return GF_FIT_MEM;
	if (pref->window.flags & GF_FIT_WIDE)
		kind |= GF_FIT_WIDE;
	return (flags & kind) == kind ? GF_FIT_PREF : GF_FIT_MEM;
}

static u32 order_of(u64 size)
{
	u32 order = 0;

	while (order + GF_FIT_MIN_ORDER < 63 && 1ULL << (order + GF_FIT_MIN_ORDER) < size)
		order++;
	return order;
}

void gf_fit_add(struct gf_fit_sizing *sizing, u64 size, u64 align)
{
	u32 order = order_of(align);

	if (order >= GF_FIT_MAX_ORDERS)
		return;
	sizing->sum += size;
	/* What is larger than its alignment does not raise that of the window. */
	if (size <= align)
		sizing->aligns[order] += size;
	if (order > sizing->max_order)
		sizing->max_order = order;
}

u64 gf_fit_min_align(const struct gf_fit_sizing *sizing)
{
	u64 align = 0, min_align = 0;
	u32 order;

	for (order = 0; order <= sizing->max_order; order++) {
		u64 next = 1ULL << (order + GF_FIT_MIN_ORDER);

		if (!align)
			min_align = next;
		else if (gf_fit_round(align + min_align, min_align) < next)
			min_align = next >> 1;
		align += sizing->aligns[order];
	}
	return min_align;
}

/* The window that a bridge has to have of a kind, 0 for none. */
static u64 window_for(const struct gf_fit_need *inner, const struct gf_fit_own *own,
		      enum gf_fit_which which, enum gf_fit_size size, u64 *align, u32 *flags)
{
	struct gf_fit_sizing sizing = {};
	u32 i;

	/* Without what is behind it that must have room nobody minds either. */
	*flags = own[which].window.flags | GF_FIT_OPTIONAL;
	for (i = 0; i < inner->nr_bars; i++) {
		const struct gf_fit_bar *bar = &inner->bars[i];
		u64 bytes = gf_fit_bar_size(bar, size);

		/* Those of virtual functions are the first that are left out. */
		if (gf_fit_home(own, bar->flags) != which || bar->flags & GF_FIT_VIRTUAL)
			continue;
		gf_fit_add(&sizing, bytes, gf_fit_bar_align(bar, bytes));
		if (!(bar->flags & GF_FIT_OPTIONAL))
			*flags &= ~GF_FIT_OPTIONAL;
	}
	*align = gf_fit_min_align(&sizing);
	return gf_fit_round(sizing.sum, *align);
}

void gf_fit_wrap(const struct gf_fit_need *inner, u32 pref, struct gf_fit_need *outer)
{
	const struct gf_fit_own own[GF_FIT_WINDOWS] = {
		[GF_FIT_MEM] = { .there = true },
		[GF_FIT_PREF] = { .there = pref, .window.flags = pref },
	};
	u64 align;
	u32 i;

	for (i = 0; i < GF_FIT_WINDOWS; i++) {
		struct gf_fit_bar bar = {};

		bar.min = window_for(inner, own, i, GF_FIT_SIZE_MIN, &align, &bar.flags);
		bar.max = window_for(inner, own, i, GF_FIT_SIZE_MAX, &align, &bar.flags);
		bar.size = window_for(inner, own, i, GF_FIT_SIZE_NOW, &bar.align, &bar.flags);
		if (bar.size && outer->nr_bars < GF_FIT_BARS)
			outer->bars[outer->nr_bars++] = bar;
	}
}
