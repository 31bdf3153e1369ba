/* SPDX-License-Identifier: GPL-2.0-only */
/* How good a set of slots is. Pure. */
#ifndef GPUCTL_CHOOSE_SCORE_H
#define GPUCTL_CHOOSE_SCORE_H

#include "choose/choose.h"
#include "choose/groups.h"

/**
 * struct score_terms - what sets are compared by
 * @slots: all slots
 * @request: what is wanted
 * @groups: groups of GPUs with links of their own
 * @switch_of: number of each slot's switch
 * @left: by this number: usable slots behind it
 */
struct score_terms {
	const struct choose_slot *slots;
	const struct choose_request *request;
	const struct groups *groups;
	const size_t *switch_of;
	const size_t *left;
};

/* Criteria in their order; less is better. */
void score_set(const struct score_terms *by, const size_t *picked, size_t n,
	       uint64_t score[CHOOSE_CRITERIA]);
bool score_is_better(const uint64_t *score, const uint64_t *than);

/* Is the composition on this switch already? */
bool choose_is_home(const struct choose_request *request, uint32_t switch_id);

#endif /* GPUCTL_CHOOSE_SCORE_H */
