// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what gpuctl top shows
 *
 * Rows are made by the same emitter as those of gpuctl list, so the screen and
 * the snapshot without a terminal cannot differ; the screen only cuts them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "session/render.h"
#include "top/view.h"

#define MINUTE_MS 60000
/* A demand older than this is not of now. */
#define OLD_MS 180000

const char *const view_sort_names[VIEW_SORTS + 1] = {
	[VIEW_BY_SLOT] = "slot", [VIEW_BY_STATE] = "state", [VIEW_BY_COMPOSITION] = "composition",
	[VIEW_BY_GPU] = "gpu",	 [VIEW_BY_TIME] = "time",
};

const char *const view_filter_names[VIEW_FILTERS + 1] = {
	[VIEW_ALL] = "all",
	[VIEW_USED] = "used",
	[VIEW_FREE] = "free",
	[VIEW_TROUBLE] = "trouble",
};

static const struct out_column slot_columns[] = {
	{ "slot", "SLOT" },
	{ "state", "STATE" },
	{ "flags", NULL },
	{ "since", "FOR", OUT_RIGHT },
	{ "operation", "OPERATION" },
	{ "composition", "COMPOSITION" },
	{ "gpu", "GPU" },
	{ "link", "LINK" },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ NULL, NULL },
};

/* As render_composition() fills them; on a narrow screen slots are what may be cut off. */
static const struct out_column composition_columns[] = {
	{ "name", "COMPOSITION" },
	{ "id", NULL },
	{ "state", "STATE" },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ "owner", "OWNER" },
	{ "tenant", "TENANT", OUT_OPTIONAL },
	{ "lease", "LEASE", OUT_OPTIONAL },
	{ "slots", "SLOTS" },
	{ "annotation", "ANNOTATION", OUT_OPTIONAL },
	{ "load", "LOAD", OUT_RIGHT | OUT_OPTIONAL },
	{ "target", "TARGET", OUT_RIGHT | OUT_OPTIONAL },
	{ "demand", "DEMAND", OUT_RIGHT | OUT_OPTIONAL },
	{ "reason", NULL },
	{ "why", "WHY", OUT_OPTIONAL },
	{ "not_moved", "NOT MOVED", OUT_OPTIONAL },
	{ "not_moved_reason", NULL },
	{ "label", NULL },
	{ "job", NULL },
	{ "created", NULL },
	{ "generation", NULL },
	{ "flags", NULL },
	{ NULL, NULL },
};

enum view_mood view_slot_mood(const struct gf_slot *slot)
{
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		return VIEW_BAD;
	switch (slot->state) {
	case GF_STATE_FAULT:
	case GF_STATE_STUCK:
	case GF_STATE_LOST:
		return VIEW_BAD;
	case GF_STATE_READY:
		return slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED ? VIEW_BUSY : VIEW_GOOD;
	case GF_STATE_EMPTY:
	case GF_STATE_OTHER:
	case GF_STATE_OFF:
		return slot->operation.id ? VIEW_BUSY : VIEW_QUIET;
	default:
		return VIEW_BUSY;
	}
}

enum view_mood view_composition_mood(const struct gf_composition *composition)
{
	if (composition->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		return VIEW_BAD;
	switch (composition->state) {
	case GPUFABRIC_COMPOSITION_STATE_ACTIVE:
		return VIEW_GOOD;
	case GPUFABRIC_COMPOSITION_STATE_DEGRADED:
	case GPUFABRIC_COMPOSITION_STATE_FAILED:
		return VIEW_BAD;
	default:
		return VIEW_BUSY;
	}
}

static bool passes_filter(enum view_filter filter, const struct gf_slot *slot)
{
	switch (filter) {
	case VIEW_USED:
		return slot->composition || slot->operation.id || gf_slot_has_gpu(slot);
	case VIEW_FREE:
		return !slot->composition &&
		       !(slot->flags &
			 (GPUFABRIC_SLOT_FLAG_QUARANTINED | GPUFABRIC_SLOT_FLAG_UNMANAGED)) &&
		       (slot->state == GF_STATE_OFF || slot->state == GF_STATE_READY);
	case VIEW_TROUBLE:
		return view_slot_mood(slot) == VIEW_BAD ||
		       slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED;
	default:
		return true;
	}
}

/* "quarantined", "ready, unmanaged", "ready !" for one whose link is degraded, else the state. */
static void state_text(char buf[TEXT_QUANTITY], const struct gf_slot *slot)
{
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		snprintf(buf, TEXT_QUANTITY, "quarantined");
	else if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED)
		snprintf(buf, TEXT_QUANTITY, "%s, unmanaged", render_state(slot->state));
	else
		snprintf(buf, TEXT_QUANTITY, "%s%s", render_state(slot->state),
			 slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED ? " !" : "");
}

static bool has_words(const char *text, const char *words)
{
	return text && strcasestr(text, words);
}

static bool passes_find(const char *words, const struct gf_slot *slot,
			const struct identity *identity)
{
	char state[TEXT_QUANTITY];

	state_text(state, slot);
	return !*words || has_words(slot->name, words) || has_words(identity->label, words) ||
	       has_words(state, words) || has_words(slot->composition, words);
}

/**
 * struct key - what a slot is sorted by
 * @slot: the slot
 * @rank: by state; the higher the later
 * @word: by composition or GPU
 * @since: by time
 */
struct key {
	const struct gf_slot *slot;
	unsigned int rank;
	char word[64];
	uint64_t since;
};

/* Attention first, then what is on its way, then what works, then the rest. */
static unsigned int rank_of(const struct gf_slot *slot)
{
	static const unsigned int ranks[] = {
		[VIEW_BAD] = 0,
		[VIEW_BUSY] = 1,
		[VIEW_GOOD] = 2,
		[VIEW_QUIET] = 3,
	};

	return ranks[view_slot_mood(slot)] * 16 + slot->state;
}

static int view_compare(const struct key *a, const struct key *b, enum view_sort sort)
{
	int by = 0;

	if (sort == VIEW_BY_STATE)
		by = (a->rank > b->rank) - (a->rank < b->rank);
	else if (sort == VIEW_BY_TIME)
		by = (a->since < b->since) - (a->since > b->since);
	else if (sort != VIEW_BY_SLOT && !*a->word != !*b->word)
		by = *a->word ? -1 : 1;
	else if (sort != VIEW_BY_SLOT)
		by = gf_name_compare(a->word, b->word);
	/* The fabric is in the order of switches and names, and so are its pointers. */
	return by ? by : (a->slot > b->slot) - (a->slot < b->slot);
}

static int compare_keys(const void *a, const void *b, void *arg)
{
	const struct view *view = arg;
	int by = view_compare(a, b, view->sort);

	return view->reverse ? -by : by;
}

const struct gf_slot **view_slots(const struct view *view, const struct gf_fabric *fabric,
				  const struct knowledge *knowledge, size_t *n)
{
	const struct gf_slot **slots = mem_zalloc(fabric->n_slots, sizeof(*slots));
	struct key *keys = mem_zalloc(fabric->n_slots, sizeof(*keys));
	size_t i;

	*n = 0;
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		struct key *key = &keys[*n];
		struct identity identity;
		const char *word;

		identity_of(knowledge, slot, &identity);
		if (!passes_filter(view->filter, slot) || !passes_find(view->find, slot, &identity))
			continue;
		word = view->sort == VIEW_BY_GPU ? identity.label : slot->composition;
		key->slot = slot;
		key->rank = rank_of(slot);
		key->since = slot->since;
		snprintf(key->word, sizeof(key->word), "%s", word && strcmp(word, "-") ? word : "");
		(*n)++;
	}
	qsort_r(keys, *n, sizeof(*keys), compare_keys, (void *)view);
	for (i = 0; i < *n; i++)
		slots[i] = keys[i].slot;
	free(keys);
	return slots;
}

/* "attach 1.2/30 s" while it is under way, "attach 0.34 s" when it is over. */
static void view_put_operation(struct out_table *t, const struct gf_slot *slot, uint64_t now)
{
	const struct gf_operation *op = slot->operation.id ? &slot->operation :
							     &slot->last_operation;
	uint64_t ran = now > op->started ? now - op->started : 0;
	uint64_t uptime = text_uptime(), may = ran;
	char took[TEXT_QUANTITY];

	if (!op->id)
		return;
	if (op->deadline > uptime)
		may += op->deadline - uptime;
	out_str(t, "operation", render_kind(op->kind));
	if (op->error)
		out_text(t, "operation", "%s failed", render_kind(op->kind));
	else if (op == &slot->last_operation && gf_duration(op, GPUFABRIC_PHASE_TOTAL))
		out_text(t, "operation", "%s %s", render_kind(op->kind),
			 text_duration(took, gf_duration(op, GPUFABRIC_PHASE_TOTAL) / 1000));
	else if (op == &slot->operation)
		out_text(t, "operation", "%s %.1f/%llu s", render_kind(op->kind),
			 (double)ran / 1000, (unsigned long long)((may + 500) / 1000));
}

static void view_put_slot(struct out_table *t, const struct gf_slot *slot,
			  const struct knowledge *knowledge, uint64_t now)
{
	char link[32], gpus[IDENTITY_GPUS], buf[TEXT_QUANTITY];
	struct identity identity;

	identity_of(knowledge, slot, &identity);
	out_row(t);
	out_str(t, "slot", slot->name);
	out_str(t, "state", render_state(slot->state));
	state_text(buf, slot);
	out_text(t, "state", "%s", buf);
	out_uint(t, "flags", slot->flags);
	out_time(t, "since", slot->since);
	out_text(t, "since", "%s", text_age(buf, now > slot->since ? now - slot->since : 0));
	view_put_operation(t, slot, now);
	out_str(t, "composition", slot->composition);
	out_str(t, "gpu", strcmp(identity.label, "-") ? identity_gpus(gpus, &identity) : NULL);
	gf_link_text(link, slot->link.speed, slot->link.width);
	out_str(t, "link", strcmp(link, "-") ? link : NULL);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED)
		out_text(t, "link", "%s !", link);
	if (!identity.memory)
		return;
	identity.memory *= identity.gpus;
	out_bytes(t, "memory", identity.memory);
	out_text(t, "memory", "%.1f GiB", (double)identity.memory / (1ull << 30));
}

void view_slot_table(struct out *out, const struct gf_slot *const *slots, size_t n,
		     const struct knowledge *knowledge, uint64_t now)
{
	struct out_table *t = out_table(out, "slots", slot_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < n; i++)
		view_put_slot(t, slots[i], knowledge, now);
}

/* What was measured a while ago says so. */
static void view_put_demand(struct out_table *t, const struct record *record, uint64_t now)
{
	uint64_t measured = record ? record->minute * MINUTE_MS : 0;
	char age[TEXT_QUANTITY];

	if (!record)
		return;
	if (record->load >= 0) {
		out_real(t, "load", record->load, 2);
		out_real(t, "target", record->target, 2);
	}
	out_uint(t, "demand", record->demand);
	out_str(t, "reason", follow_reason_names[record->reason]);
	out_str(t, "why", record->why);
	if (now > measured + OLD_MS)
		out_text(t, "why", "%s (%s ago)", record->why, text_age(age, now - measured));
}

/* What was said a while ago says so, here too. */
static void view_put_report(struct out_table *t, const struct plan_report *report, const char *name,
			    uint64_t now)
{
	const struct plan_reported *off = plan_report_find(report, name);
	char age[TEXT_QUANTITY];

	if (!off)
		return;
	out_str(t, "not_moved", off->why);
	out_str(t, "not_moved_reason", plan_off_names[off->reason]);
	if (now > report->time + OLD_MS)
		out_text(t, "not_moved", "%s (%s ago)", off->why,
			 text_age(age, now - report->time));
}

void view_composition_table(struct out *out, const struct gf_fabric *fabric, size_t first, size_t n,
			    const struct knowledge *knowledge, const struct sense_shown *demand,
			    const struct plan_report *report, uint64_t now)
{
	struct out_table *t = out_table(out, "compositions", composition_columns, OUT_TABLE);
	size_t i;

	for (i = first; i < first + n && i < fabric->n_compositions; i++) {
		out_row(t);
		render_composition(t, &fabric->compositions[i], fabric, knowledge, now);
		view_put_demand(t, sense_shown_find(demand, fabric->compositions[i].name), now);
		view_put_report(t, report, fabric->compositions[i].name, now);
	}
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

void view_share(struct view_rows *rows, size_t lines, size_t slots, size_t compositions)
{
	size_t left = lines > 3 ? lines - 3 : 0; /* head, heading of the slots, foot */

	memset(rows, 0, sizeof(*rows));
	/* Slots have half of it before anything else has a line. */
	if (left >= 8 && compositions)
		rows->compositions = at_most(compositions, left / 5);
	if (rows->compositions)
		left -= rows->compositions + 1;
	if (left >= 6)
		rows->events = left / 3 - 1;
	if (rows->events)
		left -= rows->events + 1;
	rows->slots = left;
	/* What the slots do not fill is for events. */
	if (rows->events && slots < left) {
		rows->slots = slots ? slots : 1;
		rows->events += left - rows->slots;
	}
}
