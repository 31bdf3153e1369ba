/* SPDX-License-Identifier: GPL-2.0-only */
/* "train70b active": what somebody waits for. */
#ifndef GPUCTL_CONDITION_H
#define GPUCTL_CONDITION_H

#include "base/fault.h"
#include "module/model.h"

/* What a slot or composition is in that is not there (any more). */
#define CONDITION_GONE "gone"

/**
 * struct condition - a slot or a composition in a state
 * @name: its name
 * @is_slot: the state is one of slots
 * @is_composition: the state is one of compositions; with CONDITION_GONE both are set
 * @state: the state's number, -1 for CONDITION_GONE
 */
struct condition {
	char *name;
	bool is_slot, is_composition;
	int state;
};

/* Returns 0, or -EINVAL with the states that there are in @fault. */
int condition_parse(const char *text, struct condition *condition, struct fault *fault);
bool condition_met(const struct condition *condition, const struct gf_fabric *fabric);
void condition_free(struct condition *condition);

#endif /* GPUCTL_CONDITION_H */
