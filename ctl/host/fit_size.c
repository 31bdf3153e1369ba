// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: How large the windows of bridges are
 *
 * A bridge's window is as large as what it shall hold, rounded up to its
 * alignment, which the PCI core derives from the sizes in it: two BARs can want
 * half as much again. So a bridge on a card asks the bus above for more than its
 * GPUs have in BARs, and that is added up from the inside out.
 *
 * Newer kernels do not round up: a window is the sum of what is in it. It is too little
 * for windows of two bridges that are a little larger than what they are aligned to, as
 * those of most GPUs are: between them is a gap that nobody has counted. Only a port with a
 * hot-plug controller makes good for that: the bridge that comes to it gets what its window
 * has left.
 *
 * Sizes follow setup-bus.c of the kernel, and are pure.
 */
#include <stdio.h>

#include "host/fit_size.h"

#define RELEASE(version, level, patch) ((u64)(version) << 40 | (u64)(level) << 20 | (patch))

/*
 * Less than halves came with 6.10. Sums came with 7.0 ("PCI: Stop over-estimating bridge
 * window size") and, as a mend, with 6.18.14 and 6.19.4; tails with 7.1 ("PCI: Align head
 * space better"), and with stable kernels that are not told apart here.
 */
static const struct {
	u64 since;
	enum gf_fit_rule rule;
} rules[] = {
	{ RELEASE(6, 10, 0), GF_FIT_RULE_RELAXED }, { RELEASE(6, 18, 14), GF_FIT_RULE_SUM },
	{ RELEASE(6, 19, 0), GF_FIT_RULE_RELAXED }, { RELEASE(6, 19, 4), GF_FIT_RULE_SUM },
	{ RELEASE(7, 1, 0), GF_FIT_RULE_TAILS },
};

enum gf_fit_rule gf_fit_rule_of(const char *release)
{
	enum gf_fit_rule rule = GF_FIT_RULE_HALVES;
	u32 version = 0, level = 0, patch = 0, i;

	sscanf(release, "%5u.%5u.%5u", &version, &level, &patch);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (RELEASE(version, level, patch) >= rules[i].since)
			rule = rules[i].rule;
	return rule;
}

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

u64 gf_fit_bar_align(const struct gf_fit_bar *bar, enum gf_fit_size size)
{
	if (bar->measures[size].align)
		return bar->measures[size].align;
	return bar->align ? bar->align : gf_fit_bar_size(bar, size);
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

void gf_fit_add(struct gf_fit_sizing *sizing, enum gf_fit_rule rule, u64 size, u64 align)
{
	u32 order = order_of(align);

	if (order >= GF_FIT_MAX_ORDERS)
		return;
	sizing->sum += size;
	/* What is larger than its alignment does not count there; the first sums had it so. */
	if (size <= align)
		sizing->aligns[order] += size;
	else if (rule == GF_FIT_RULE_SUM)
		sizing->aligns[order] += align;
	if (order > sizing->max_order)
		sizing->max_order = order;
}

/* The smaller ones go before the largest as long as they fill the place there. */
static u64 head_align(const struct gf_fit_sizing *sizing)
{
	u64 head = 1ULL << (sizing->max_order + GF_FIT_MIN_ORDER), spare = 0;
	u32 order = sizing->max_order;

	while (order--) {
		spare += sizing->aligns[order];
		for (; head > 1ULL << (order + GF_FIT_MIN_ORDER) && spare >= head / 2;
		     spare -= head)
			head /= 2;
	}
	return head;
}

static u64 half_align(const struct gf_fit_sizing *sizing)
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

u64 gf_fit_align(const struct gf_fit_sizing *sizing, enum gf_fit_rule rule)
{
	return rule >= GF_FIT_RULE_SUM ? head_align(sizing) : half_align(sizing);
}

u64 gf_fit_total(const struct gf_fit_sizing *sizing, enum gf_fit_rule rule, u64 kept)
{
	if (rule >= GF_FIT_RULE_SUM)
		return gf_fit_round(sizing->sum, 1ULL << GF_FIT_MIN_ORDER);
	return gf_fit_round(gf_fit_larger(sizing->sum, kept), half_align(sizing));
}

u64 gf_fit_begin(enum gf_fit_rule rule, u64 first, u64 size, u64 align)
{
	u64 start = gf_fit_round(first, align), rest = size & (align - 1);

	if (rule != GF_FIT_RULE_TAILS || rest & ((1ULL << GF_FIT_MIN_ORDER) - 1))
		return start;
	return start - first >= rest ? start - rest : start;
}

/* What is put into a window, and where in it. */
struct content {
	u64 size;
	u64 align;
	u64 start;
};

/* A window of a bridge on a card while it is sized. */
struct wrapping {
	enum gf_fit_rule rule;
	struct gf_fit_sizing must; /* what it has to hold */
	struct gf_fit_sizing all; /* and what nobody minds */
	struct content contents[GF_FIT_BARS]; /* the first, from the largest alignment on */
	u32 nr_contents;
	bool gaps; /* there are some in windows in it */
};

static void content_insert(struct wrapping *wrap, u64 size, u64 align)
{
	struct content *contents = wrap->contents;
	u32 n = wrap->nr_contents++;

	for (; n && contents[n - 1].align < align; n--)
		contents[n] = contents[n - 1];
	contents[n] = (struct content){ size, align, 0 };
}

/* The place for the next one in what is free from @first on, or all ones. */
static u64 content_place(const struct wrapping *wrap, u32 n, u64 first)
{
	const struct content *contents = wrap->contents, *next = &contents[n];
	u64 start = gf_fit_begin(wrap->rule, first, next->size, next->align);
	u32 i;

	for (i = 0; i < n; i++)
		if (contents[i].start < start + next->size &&
		    start < contents[i].start + contents[i].size)
			return ~0ULL;
	return start;
}

/*
 * How far that reaches which is put in one after the other, each in the lowest place that
 * is free. The window begins where everything is aligned, as a port's does.
 */
static u64 content_extent(struct wrapping *wrap)
{
	struct content *contents = wrap->contents;
	u64 end = 0;
	u32 i, k;

	for (i = 0; i < wrap->nr_contents; i++) {
		u64 start = content_place(wrap, i, 0);

		for (k = 0; k < i; k++) {
			u64 after = contents[k].start + contents[k].size;

			after = content_place(wrap, i, after);
			if (after < start)
				start = after;
		}
		contents[i].start = start;
		if (end < start + contents[i].size)
			end = start + contents[i].size;
	}
	return gf_fit_round(end, 1ULL << GF_FIT_MIN_ORDER);
}

static void wrap_bar(struct wrapping *wrap, const struct gf_fit_bar *bar, enum gf_fit_size size,
		     u32 *flags)
{
	const struct gf_fit_measure *measure = &bar->measures[size];
	u64 bytes = gf_fit_bar_size(bar, size), align = gf_fit_bar_align(bar, size);
	bool sums = wrap->rule >= GF_FIT_RULE_SUM;

	gf_fit_add(&wrap->all, wrap->rule, measure->asked ? measure->asked : bytes, align);
	/* Those of virtual functions are the first that are left out. */
	if (bar->flags & GF_FIT_VIRTUAL || (sums && bar->flags & GF_FIT_OPTIONAL))
		return;
	gf_fit_add(&wrap->must, wrap->rule, bytes, align);
	content_insert(wrap, gf_fit_larger(bytes, measure->extent), align);
	wrap->gaps |= measure->extent > bytes;
	if (!(bar->flags & GF_FIT_OPTIONAL))
		*flags &= ~GF_FIT_OPTIONAL;
}

/*
 * The window that a bridge has to have of a kind, 0 for none. Sums are made of all first.
 * If that finds room, what nobody minds leaves it to the others, with their gaps.
 */
static u64 wrap_window(const struct gf_fit_need *inner, const struct gf_fit_own *own,
		       enum gf_fit_which which, enum gf_fit_size size, struct wrapping *wrap,
		       struct gf_fit_bar *bar)
{
	struct gf_fit_measure *measure = &bar->measures[size];
	u64 bytes, asked;
	u32 i;

	/* Without what is behind it that must have room nobody minds either. */
	bar->flags = own[which].window.flags | GF_FIT_OPTIONAL;
	for (i = 0; i < inner->nr_bars; i++)
		if (gf_fit_home(own, inner->bars[i].flags) == which)
			wrap_bar(wrap, &inner->bars[i], size, &bar->flags);
	bytes = gf_fit_total(&wrap->must, wrap->rule, 0);
	measure->align = gf_fit_align(&wrap->must, wrap->rule);
	if (wrap->rule < GF_FIT_RULE_SUM)
		return bytes;
	asked = gf_fit_total(&wrap->all, wrap->rule, 0);
	measure->asked = asked;
	measure->extent = content_extent(wrap);
	return measure->extent > bytes && measure->extent <= asked ? asked : bytes;
}

void gf_fit_wrap(const struct gf_fit_need *inner, u32 pref, enum gf_fit_rule rule,
		 struct gf_fit_need *outer)
{
	const struct gf_fit_own own[GF_FIT_WINDOWS] = {
		[GF_FIT_MEM] = { .there = true },
		[GF_FIT_PREF] = { .there = pref, .window.flags = pref },
	};
	u64 sizes[GF_FIT_SIZES];
	u32 which, size;

	for (which = 0; which < GF_FIT_WINDOWS; which++) {
		struct gf_fit_bar bar = {};

		for (size = 0; size < GF_FIT_SIZES; size++) {
			struct wrapping wrap = { .rule = rule };

			sizes[size] = wrap_window(inner, own, which, size, &wrap, &bar);
			outer->stuck[size] |= wrap.gaps && inner->bridges > 1;
		}
		bar.size = sizes[GF_FIT_SIZE_NOW];
		bar.min = sizes[GF_FIT_SIZE_MIN];
		bar.max = sizes[GF_FIT_SIZE_MAX];
		if (bar.size && outer->nr_bars < GF_FIT_BARS)
			outer->bars[outer->nr_bars++] = bar;
	}
	for (size = 0; size < GF_FIT_SIZES; size++)
		outer->stuck[size] |= inner->stuck[size];
	outer->bridges++;
}
