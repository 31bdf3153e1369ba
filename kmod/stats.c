// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Statistics
 *
 * A histogram for each phase of attaching and of detaching a slot, whichever
 * request it was for. Only steps that went well are counted: a failure takes
 * as long as its deadline and says nothing about the hardware. Under the
 * fabric's lock.
 */
#include "stats.h"

static const enum gpufabric_operation_kind kinds[] = {
	GPUFABRIC_OPERATION_KIND_ATTACH,
	GPUFABRIC_OPERATION_KIND_DETACH,
};

static struct gf_histogram histograms[ARRAY_SIZE(kinds)][GF_PHASES];

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

/**
 * gf_stats_step() - count the phases of a step that ended
 * @step: step
 */
void gf_stats_step(const struct gf_step *step)
{
	unsigned int kind = step->need == GF_NEED_DETACH;
	unsigned int phase;

	gf_assert_locked();
	if (step->error)
		return;
	for (phase = 0; phase < GF_PHASES; phase++) {
		if (step->phase_us[phase])
			count_one(&histograms[kind][phase],
				  step->phase_us[phase]);
	}
}

unsigned int gf_stats_kinds(void)
{
	return ARRAY_SIZE(kinds);
}

enum gpufabric_operation_kind gf_stats_kind(unsigned int index)
{
	return kinds[index];
}

/**
 * gf_stats_get() - the histogram of a phase
 * @kind: attach or detach
 * @phase: phase
 *
 * Return: the histogram, NULL for another kind.
 */
const struct gf_histogram *gf_stats_get(enum gpufabric_operation_kind kind,
					enum gpufabric_phase phase)
{
	unsigned int i;

	gf_assert_locked();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i] == kind)
			return &histograms[i][phase];
	}
	return NULL;
}
