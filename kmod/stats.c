// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Statistics
 *
 * A histogram for each phase of attaching and of detaching a slot, whichever request it was for.
 * Only steps that went well are counted: a failure takes as long as its deadline and says nothing
 * about the hardware. Under the fabric's lock.
 */
#include "stats.h"

static const enum gpufabric_operation_kind kinds[] = {
	GPUFABRIC_OPERATION_KIND_ATTACH,
	GPUFABRIC_OPERATION_KIND_DETACH,
};

static struct gf_histogram histograms[ARRAY_SIZE(kinds) * GF_PHASES];

static void count_one(struct gf_histogram *histogram, u32 us)
{
	u64 bound = GF_BUCKET_FIRST_US;
	unsigned int i;

	for (i = 0; i < GF_BUCKETS - 1 && us >= bound; i++)
		bound *= 2;
	histogram->count++;
	histogram->us += us;
	histogram->buckets[i]++;
}

/* Counts the phases of a step that ended. */
void gf_stats_step(const struct gf_step *step)
{
	struct gf_histogram *histogram = &histograms[step->need == GF_NEED_DETACH ? GF_PHASES : 0];
	unsigned int phase;

	gf_assert_locked();
	if (step->failure.error)
		return;
	for (phase = 0; phase < GF_PHASES; phase++) {
		if (step->phase_us[phase])
			count_one(&histogram[phase], step->phase_us[phase]);
	}
}

/* One after the other; NULL past the last. */
const struct gf_histogram *gf_stats_at(unsigned long index)
{
	struct gf_histogram *histogram;

	gf_assert_locked();
	if (index >= ARRAY_SIZE(histograms))
		return NULL;
	histogram = &histograms[index];
	histogram->kind = kinds[index / GF_PHASES];
	histogram->phase = index % GF_PHASES;
	return histogram;
}
