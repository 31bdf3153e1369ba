// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: History
 *
 * Who did what to which slot, in one bounded ring for the whole module. The ring is allocated
 * when the first entry is written; without memory for it the module works on and keeps no
 * history. Everything here runs under the fabric's lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "composition.h"
#include "history.h"

/* The ring. */
struct gf_history {
	u64 last; /* sequence number of the newest entry, 0 when there is none */
	/* The entry with sequence number n is at n modulo the size. */
	struct gf_history_entry entries[GF_HISTORY_SIZE];
};

static struct gf_history_entry *next_entry(struct gf_slot *slot)
{
	struct gf_history_entry *entry;

	gf_assert_locked();
	if (!gf.history)
		gf.history = kvzalloc(sizeof(*gf.history), GFP_KERNEL | __GFP_NOWARN);
	if (!gf.history)
		return NULL;
	entry = &gf.history->entries[++gf.history->last % GF_HISTORY_SIZE];
	gf_who_drop(&entry->who);
	memset(entry, 0, sizeof(*entry));
	entry->sequence = gf.history->last;
	entry->time = gf_now_ms();
	entry->slot_id = slot->id;
	strscpy(entry->slot_name, slot->name, sizeof(entry->slot_name));
	if (slot->composition)
		strscpy(entry->composition, slot->composition->name, sizeof(entry->composition));
	entry->condition = gf_slot_condition(slot);
	return entry;
}

/* Record the end of a step. */
void gf_history_step(struct gf_step *step)
{
	struct gf_history_entry *entry = next_entry(step->slot);

	if (!entry)
		return;
	entry->op = step->op->id;
	entry->kind = step->op->kind;
	entry->failure = step->failure;
	entry->started = step->op->started;
	memcpy(entry->phase_us, step->phase_us, sizeof(entry->phase_us));
	gf_who_copy(&entry->who, &step->op->who);
}

/* Record a change that nobody asked for. */
void gf_history_state(struct gf_slot *slot)
{
	struct gf_history_entry *entry = next_entry(slot);

	if (entry)
		entry->failure = slot->failure;
}

/* Record a request that is over at once. */
void gf_history_request(struct gf_slot *slot, enum gpufabric_operation_kind kind,
			const struct gf_who *who)
{
	struct gf_history_entry *entry = next_entry(slot);

	if (!entry)
		return;
	entry->kind = kind;
	entry->started = entry->time;
	gf_who_copy(&entry->who, who);
}

/* Number of entries that can be read. */
u32 gf_history_count(void)
{
	gf_assert_locked();
	return gf.history ? min_t(u64, gf.history->last, GF_HISTORY_SIZE) : 0;
}

/* Sequence number of the newest entry, 0 when there is none. */
u64 gf_history_last(void)
{
	gf_assert_locked();
	return gf.history ? gf.history->last : 0;
}

/*
 * The entry with a sequence number. Returns the entry, or the oldest one after it, or NULL past
 * the newest.
 */
const struct gf_history_entry *gf_history_at(u64 sequence)
{
	u64 oldest;

	gf_assert_locked();
	if (!gf.history || sequence > gf.history->last)
		return NULL;
	oldest = gf.history->last - gf_history_count() + 1;
	return &gf.history->entries[max(sequence, oldest) % GF_HISTORY_SIZE];
}

void gf_history_free(void)
{
	unsigned int i;

	if (!gf.history)
		return;
	for (i = 0; i < GF_HISTORY_SIZE; i++)
		gf_who_drop(&gf.history->entries[i].who);
	kvfree(gf.history);
	gf.history = NULL;
}
