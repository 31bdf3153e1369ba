// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Slot state machine
 *
 * A slot is in exactly one state; what happens to it is a trigger. The table below answers for
 * every pair, so no code looks at the state and thinks for itself. Pure: the callers hold the
 * fabric's lock and do what the change demands. The file also builds in user space, where its
 * test walks every pair.
 */
#include <linux/errno.h>

#include "state.h"

#define EMPTY		GF_STATE_EMPTY
#define OFF		GF_STATE_OFF
#define ATTACHING	GF_STATE_ATTACHING
#define ATTACHED	GF_STATE_ATTACHED
#define READY		GF_STATE_READY
#define DRAINING	GF_STATE_DRAINING
#define DETACHING	GF_STATE_DETACHING
#define FAULT		GF_STATE_FAULT
#define STUCK		GF_STATE_STUCK
#define LOST		GF_STATE_LOST

/* Next state plus one, so that a pair left out of the table is a refusal. */
#define TO(state)	((state) + 1)

static const unsigned char next_state[GF_STATES][GF_TRIGGERS] = {
	[EMPTY] = {
		[GF_PRESENT]	= TO(OFF),
		[GF_ABSENT]	= TO(EMPTY),
		/* A GPU that the fabric assigns meanwhile may yet arrive. */
		[GF_ATTACH]	= TO(ATTACHING),
		[GF_INSERTED]	= TO(ATTACHING),
		[GF_GONE_OFF]	= TO(OFF),
		[GF_GONE_EMPTY]	= TO(EMPTY),
		[GF_CLEAR_EMPTY] = TO(EMPTY),
	},
	[OFF] = {
		[GF_PRESENT]	= TO(OFF),
		[GF_ABSENT]	= TO(EMPTY),
		[GF_ATTACH]	= TO(ATTACHING),
		[GF_INSERTED]	= TO(ATTACHING),
		[GF_GONE_OFF]	= TO(OFF),
		[GF_GONE_EMPTY]	= TO(EMPTY),
		[GF_CLEAR_OFF]	= TO(OFF),
	},
	[ATTACHING] = {
		[GF_CHECKED]	= TO(ATTACHED),
		/* Given up before anything was powered. */
		[GF_GONE_OFF]	= TO(OFF),
		[GF_GONE_EMPTY]	= TO(EMPTY),
		[GF_FAIL]	= TO(FAULT),
		[GF_EXPIRED]	= TO(STUCK),
		[GF_SURPRISE]	= TO(LOST),
	},
	[ATTACHED] = {
		[GF_BOUND]	= TO(READY),
		[GF_DRAIN]	= TO(DRAINING),
		[GF_UNDO]	= TO(DETACHING),
		[GF_GONE_OFF]	= TO(OFF),
		[GF_FAIL]	= TO(FAULT),
		[GF_EXPIRED]	= TO(STUCK),
		[GF_SURPRISE]	= TO(LOST),
	},
	[READY] = {
		[GF_BOUND]	= TO(READY),
		[GF_DRAIN]	= TO(DRAINING),
		[GF_UNDO]	= TO(DETACHING),
		[GF_GONE_OFF]	= TO(OFF),
		[GF_FAIL]	= TO(FAULT),
		/* No worker is out in this state and the next, so none expires. */
		[GF_SURPRISE]	= TO(LOST),
	},
	[DRAINING] = {
		[GF_BOUND]	= TO(DRAINING),
		[GF_DRAIN_ABORT] = TO(READY),
		[GF_DETACH]	= TO(DETACHING),
		[GF_GONE_OFF]	= TO(OFF),
		[GF_FAIL]	= TO(FAULT),
		[GF_SURPRISE]	= TO(LOST),
	},
	[DETACHING] = {
		[GF_GONE_OFF]	= TO(OFF),
		[GF_GONE_EMPTY]	= TO(EMPTY),
		[GF_FAIL]	= TO(FAULT),
		[GF_EXPIRED]	= TO(STUCK),
		/* Pulled while it was leaving: it has left. */
		[GF_SURPRISE]	= TO(EMPTY),
	},
	[FAULT] = {
		/* What is left of its GPU is removed. */
		[GF_DETACH]	= TO(DETACHING),
		/* Pulled and put in anew, which ends the fault. */
		[GF_INSERTED]	= TO(ATTACHING),
		[GF_PRESENT]	= TO(FAULT),
		[GF_ABSENT]	= TO(FAULT),
		[GF_GONE_OFF]	= TO(FAULT),
		[GF_GONE_EMPTY]	= TO(FAULT),
		[GF_SURPRISE]	= TO(FAULT),
		[GF_CLEAR_OFF]	= TO(OFF),
		[GF_CLEAR_EMPTY] = TO(EMPTY),
	},
	[STUCK] = {
		[GF_BACK_OFF]	= TO(OFF),
		[GF_BACK_EMPTY]	= TO(EMPTY),
		[GF_BACK_GPU]	= TO(ATTACHING),
		[GF_FAIL]	= TO(FAULT),
	},
	[LOST] = {
		[GF_DETACH]	= TO(DETACHING),
		[GF_INSERTED]	= TO(ATTACHING),
		[GF_ANSWERED]	= TO(ATTACHED),
		/* It answers, but not as before. */
		[GF_FAIL]	= TO(FAULT),
		[GF_PRESENT]	= TO(LOST),
		[GF_ABSENT]	= TO(LOST),
		[GF_GONE_OFF]	= TO(LOST),
		[GF_GONE_EMPTY]	= TO(LOST),
		[GF_CLEAR_OFF]	= TO(OFF),
		[GF_CLEAR_EMPTY] = TO(EMPTY),
	},
};

/* What a state is called, and what it is to readers. */
static const struct {
	const char *name;
	enum gpufabric_activity activity;
	enum gpufabric_health health;
} states[GF_STATES] = {
	[EMPTY]		= { "empty" },
	[OFF]		= { "off" },
	[ATTACHING]	= { "attaching", GPUFABRIC_ACTIVITY_ATTACHING },
	[ATTACHED]	= { "attached", GPUFABRIC_ACTIVITY_ATTACHING },
	[READY]		= { "ready" },
	[DRAINING]	= { "draining", GPUFABRIC_ACTIVITY_DRAINING },
	[DETACHING]	= { "detaching", GPUFABRIC_ACTIVITY_DETACHING },
	[FAULT]		= { "fault", .health = GPUFABRIC_HEALTH_FAULT },
	/* Unless its operation detaches. */
	[STUCK]		= { "stuck", GPUFABRIC_ACTIVITY_ATTACHING, GPUFABRIC_HEALTH_STUCK },
	[LOST]		= { "lost", .health = GPUFABRIC_HEALTH_LOST },
};

int gf_state_next(enum gf_state state, enum gf_trigger trigger)
{
	unsigned int next;

	if ((unsigned int)state >= GF_STATES || (unsigned int)trigger >= GF_TRIGGERS)
		return -EINVAL;
	next = next_state[state][trigger];
	return next ? (int)next - 1 : -EBUSY;
}

static enum gpufabric_occupancy occupancy_of(enum gf_state state, const struct gf_seen_in *seen)
{
	if (seen->other)
		return GPUFABRIC_OCCUPANCY_OTHER;
	if (state == EMPTY)
		return GPUFABRIC_OCCUPANCY_EMPTY;
	if (state == OFF)
		return GPUFABRIC_OCCUPANCY_UNKNOWN;
	if (seen->gpu || gf_state_has_gpu(state))
		return GPUFABRIC_OCCUPANCY_GPU;
	return seen->card ? GPUFABRIC_OCCUPANCY_UNKNOWN : GPUFABRIC_OCCUPANCY_EMPTY;
}

static enum gpufabric_power power_of(enum gf_state state, const struct gf_seen_in *seen)
{
	if (state == ATTACHING || state == DETACHING || state == STUCK)
		return GPUFABRIC_POWER_CHANGING;
	if (!seen->on)
		return GPUFABRIC_POWER_OFF;
	return seen->control ? GPUFABRIC_POWER_ON : GPUFABRIC_POWER_NO_CONTROL;
}

struct gf_condition gf_state_condition(enum gf_state state, const struct gf_seen_in *seen)
{
	return (struct gf_condition){
		.occupancy = occupancy_of(state, seen),
		.power = power_of(state, seen),
		.activity = state == STUCK && seen->detaching ? GPUFABRIC_ACTIVITY_DETACHING :
			    states[state].activity,
		.health = states[state].health,
		.cause = seen->cause,
	};
}

const char *gf_state_name(enum gf_state state)
{
	return (unsigned int)state < GF_STATES ? states[state].name : "?";
}

const char *gf_cause_name(enum gpufabric_cause cause)
{
	static const char *const names[GPUFABRIC_CAUSE_PORT + 1] = {
		"none", "power", "link", "presence", "enumerate", "resources", "identity",
		"driver", "timeout", "surprise", "memory", "reset", "error", "busy", "chassis",
		"other", "switch-gone", "replaced", "remains", "changed", "window", "port",
	};

	return (unsigned int)cause <= GPUFABRIC_CAUSE_PORT ? names[cause] : "?";
}
