/* SPDX-License-Identifier: GPL-2.0-only */
/* What gpuctl top shows: rows of slots and compositions, in an order and behind a filter. Pure. */
#ifndef GPUCTL_TOP_VIEW_H
#define GPUCTL_TOP_VIEW_H

#include "plan/report.h"
#include "sense/files.h"
#include "session/session.h"

enum view_sort {
	VIEW_BY_SLOT,
	VIEW_BY_STATE, /* what wants attention first */
	VIEW_BY_COMPOSITION, /* slots of none last */
	VIEW_BY_GPU,
	VIEW_BY_TIME, /* what changed last first */
	VIEW_SORTS
};

enum view_filter {
	VIEW_ALL,
	VIEW_USED, /* in a composition, or with a GPU that is attached */
	VIEW_FREE, /* could be composed */
	VIEW_TROUBLE, /* fault, stuck, lost, quarantined, a degraded link */
	VIEW_FILTERS
};

extern const char *const view_sort_names[VIEW_SORTS + 1];
extern const char *const view_filter_names[VIEW_FILTERS + 1];

/* How bright a line is; a word in it always says the same. */
enum view_mood {
	VIEW_QUIET, /* nothing to see: empty, off */
	VIEW_GOOD,
	VIEW_BUSY, /* on its way */
	VIEW_BAD,
};

#define VIEW_FIND 32

/**
 * struct view - what is to be seen
 * @sort: order of the slots
 * @reverse: the other way round
 * @filter: which slots
 * @find: only slots with this in their name, GPU, state or composition; "" for all
 */
struct view {
	enum view_sort sort;
	bool reverse;
	enum view_filter filter;
	char find[VIEW_FIND];
};

/* The slots to show, in their order; newly allocated, pointers into the fabric. */
const struct gf_slot **view_slots(const struct view *view, const struct gf_fabric *fabric,
				  const struct knowledge *knowledge, size_t *n);

/* A table of those slots: a heading and one line each. */
void view_slot_table(struct out *out, const struct gf_slot *const *slots, size_t n,
		     const struct knowledge *knowledge, uint64_t now);

/*
 * A table of @n compositions from number @first, with the demand of those that are measured, and why the
 * planner did not move them.
 */
void view_composition_table(struct out *out, const struct gf_fabric *fabric, size_t first, size_t n,
			    const struct knowledge *knowledge, const struct sense_shown *demand,
			    const struct plan_report *report, uint64_t now);

enum view_mood view_slot_mood(const struct gf_slot *slot);
enum view_mood view_composition_mood(const struct gf_composition *composition);

/**
 * struct view_rows - how the lines of a screen are shared out
 * @slots: rows of slots, without their heading
 * @compositions: rows of compositions, without their heading; 0: no heading either
 * @events: rows of events, without their heading; 0: no heading either
 */
struct view_rows {
	size_t slots, compositions, events;
};

/* Of @lines lines, one of which is the head and one the foot. */
void view_share(struct view_rows *rows, size_t lines, size_t slots, size_t compositions);

#endif /* GPUCTL_TOP_VIEW_H */
