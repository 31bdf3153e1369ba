// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the word for a slot
 *
 * Health comes first, then what goes on, then what is there: who looks at a slot that is
 * in fault while it is detached has to know of the fault.
 */
#include <string.h>
#include <strings.h>

#include "module/netlink_gen.h"
#include "module/state.h"

enum gf_state gf_state_of(const struct gf_condition *condition)
{
	static const enum gf_state bad[] = {
		[GPUFABRIC_HEALTH_FAULT] = GF_STATE_FAULT,
		[GPUFABRIC_HEALTH_LOST] = GF_STATE_LOST,
		[GPUFABRIC_HEALTH_STUCK] = GF_STATE_STUCK,
	};

	if (condition->health && condition->health <= GPUFABRIC_HEALTH_STUCK)
		return bad[condition->health];
	switch (condition->activity) {
	case GPUFABRIC_ACTIVITY_DRAINING:
		return GF_STATE_DRAINING;
	case GPUFABRIC_ACTIVITY_DETACHING:
		return GF_STATE_DETACHING;
	case GPUFABRIC_ACTIVITY_ATTACHING:
		return condition->power == GPUFABRIC_POWER_CHANGING ? GF_STATE_ATTACHING :
								      GF_STATE_ATTACHED;
	}
	switch (condition->occupancy) {
	case GPUFABRIC_OCCUPANCY_GPU:
		return GF_STATE_READY;
	case GPUFABRIC_OCCUPANCY_UNKNOWN:
		return GF_STATE_OFF;
	case GPUFABRIC_OCCUPANCY_OTHER:
		return GF_STATE_OTHER;
	default:
		return GF_STATE_EMPTY;
	}
}

void gf_condition_take(struct gf_condition *condition, const char *what, const char *word)
{
	const struct part {
		const char *what;
		const char *(*name_of)(unsigned int value);
		uint32_t *value;
	} parts[] = {
		{ "occupancy", gfnl_occupancy_name, &condition->occupancy },
		{ "power", gfnl_power_name, &condition->power },
		{ "activity", gfnl_activity_name, &condition->activity },
		{ "health", gfnl_health_name, &condition->health },
	};
	const struct part *part = parts, *end = parts + sizeof(parts) / sizeof(parts[0]);
	unsigned int value;

	while (part < end && strcasecmp(part->what, what))
		part++;
	for (value = 0; part < end && part->name_of(value); value++)
		if (!strcmp(part->name_of(value), word))
			*part->value = value;
}

const char *gf_state_name(unsigned int state)
{
	static const char *const names[GF_STATES] = {
		[GF_STATE_EMPTY] = "empty",	  [GF_STATE_OTHER] = "other",
		[GF_STATE_OFF] = "off",		  [GF_STATE_ATTACHING] = "attaching",
		[GF_STATE_ATTACHED] = "attached", [GF_STATE_READY] = "ready",
		[GF_STATE_DRAINING] = "draining", [GF_STATE_DETACHING] = "detaching",
		[GF_STATE_FAULT] = "fault",	  [GF_STATE_STUCK] = "stuck",
		[GF_STATE_LOST] = "lost",
	};

	return state < GF_STATES ? names[state] : NULL;
}
