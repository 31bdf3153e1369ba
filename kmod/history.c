// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: History and statistics
 *
 * Who did what to which slot, in one bounded ring, allocated when the first entry is written;
 * without memory for it there is no history. And a histogram for each phase of attaching and of
 * detaching a slot. Only steps that went well are counted: a failure takes as long as its deadline
 * and says nothing about the hardware. All under the fabric's lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "op.h"

struct gf_history {
	u64 last; /* sequence number of the newest entry, 0 when there is none */
	struct gf_history_entry entries[GF_HISTORY_SIZE]; /* number n is at n modulo the size */
};

/* What happened to a slot; @who: NULL where nobody asked. */
void gf_history_add(struct gf_slot *slot, const struct gf_who *who, const struct gf_result *result)
{
	struct gf_history_entry *entry;

	gf_assert_locked();
	if (!gf.history)
		gf.history = kvzalloc(sizeof(*gf.history), GFP_KERNEL | __GFP_NOWARN);
	if (!gf.history)
		return;
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
	entry->result = *result;
	if (who) {
		entry->who = *who;
		get_pid(entry->who.pid);
	}
}

void gf_history_step(const struct gf_step *step)
{
	gf_history_add(step->slot, &step->op->who, &step->result);
}

void gf_history_state(struct gf_slot *slot)
{
	gf_history_add(slot, NULL, &(struct gf_result){ .failure = slot->failure });
}

u32 gf_history_count(void)
{
	gf_assert_locked();
	return gf.history ? min_t(u64, gf.history->last, GF_HISTORY_SIZE) : 0;
}

/* The entry with number @at, or the oldest one after it, whose number becomes @at; or NULL. */
const struct gf_history_entry *gf_history_at(unsigned long *at)
{
	gf_assert_locked();
	if (!gf.history || *at > gf.history->last)
		return NULL;
	*at = max_t(unsigned long, *at, gf.history->last - gf_history_count() + 1);
	return &gf.history->entries[*at % GF_HISTORY_SIZE];
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

/* Phases of attaching, then those of detaching. */
static struct gf_histogram histograms[2 * GF_PHASES];

void gf_stats_step(const struct gf_step *step)
{
	struct gf_histogram *histogram = &histograms[step->need == GF_NEED_DETACH ? GF_PHASES : 0];
	unsigned int phase;

	gf_assert_locked();
	if (step->result.failure.error)
		return;
	for (phase = 0; phase < GF_PHASES; phase++, histogram++) {
		u32 us = step->result.phase_us[phase];

		if (!us)
			continue;
		histogram->count++;
		histogram->us += us;
		histogram->buckets[min(fls(us / GF_BUCKET_FIRST_US), GF_BUCKETS - 1)]++;
	}
}

/* The first histogram from @index on that counts something; NULL past the last one. */
const struct gf_histogram *gf_stats_at(unsigned long *index)
{
	struct gf_histogram *histogram;

	gf_assert_locked();
	while (*index < ARRAY_SIZE(histograms) && !histograms[*index].count)
		++*index;
	if (*index >= ARRAY_SIZE(histograms))
		return NULL;
	histogram = &histograms[*index];
	histogram->kind = *index < GF_PHASES ? GPUFABRIC_OPERATION_KIND_ATTACH :
					       GPUFABRIC_OPERATION_KIND_DETACH;
	histogram->phase = *index % GF_PHASES;
	return histogram;
}
