// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Slot state machine
 *
 * A slot is in exactly one state; what happens to it is a trigger. The table below answers for
 * every pair, so no code looks at the state and thinks for itself. Pure: the callers hold the
 * fabric's lock and do what the change demands. Also builds in user space, for its test.
 */
#include <linux/errno.h>

#include "state.h"

#define IN(state)	(1U << GF_STATE_##state)
#define IDLE		(IN(EMPTY) | IN(OFF))
#define LIVE		(IN(ATTACHED) | IN(READY) | IN(DRAINING))
#define HURT		(IN(FAULT) | IN(LOST))

#define MOVE(trigger, from, to)	{ GF_##trigger, from, GF_STATE_##to }
#define STAY(trigger, from)	{ GF_##trigger, from, GF_STATES }

/* A trigger and a state that are in no row are a refusal. */
static const struct {
	unsigned char trigger;
	unsigned short from; /* a set of states */
	unsigned char to;
} moves[] = {
	MOVE(PRESENT, IDLE, OFF), MOVE(ABSENT, IDLE, EMPTY),
	/* A GPU that the fabric assigns meanwhile may yet arrive in an empty slot. */
	MOVE(ATTACH, IDLE, ATTACHING),
	/* Pulled and put in anew, which ends a fault. */
	MOVE(INSERTED, IDLE | HURT, ATTACHING),
	MOVE(CHECKED, IN(ATTACHING), ATTACHED), MOVE(BOUND, IN(ATTACHED), READY),
	STAY(BOUND, IN(READY) | IN(DRAINING)),
	MOVE(DRAIN, IN(ATTACHED) | IN(READY), DRAINING), MOVE(DRAIN_ABORT, IN(DRAINING), READY),
	/* What is left of a GPU in fault, or lost, is removed. */
	MOVE(DETACH, IN(DRAINING) | HURT, DETACHING),
	MOVE(UNDO, IN(ATTACHED) | IN(READY), DETACHING),
	/* An attach is given up before anything was powered. */
	MOVE(GONE_OFF, IDLE | IN(ATTACHING) | LIVE | IN(DETACHING), OFF),
	MOVE(GONE_EMPTY, IDLE | IN(ATTACHING) | IN(DETACHING), EMPTY),
	/* One that was lost answers, but not as before. */
	MOVE(FAIL, IN(ATTACHING) | LIVE | IN(DETACHING) | IN(STUCK) | IN(LOST), FAULT),
	/* No worker is out in other states, so none expires there. */
	MOVE(EXPIRED, IN(ATTACHING) | IN(ATTACHED) | IN(DETACHING), STUCK),
	MOVE(SURPRISE, IN(ATTACHING) | LIVE, LOST),
	/* Pulled while it was leaving: it has left. */
	MOVE(SURPRISE, IN(DETACHING), EMPTY),
	STAY(SURPRISE, IN(FAULT)),
	MOVE(BACK_OFF, IN(STUCK), OFF), MOVE(BACK_EMPTY, IN(STUCK), EMPTY),
	MOVE(BACK_GPU, IN(STUCK), ATTACHING),
	MOVE(CLEAR_OFF, IN(OFF) | HURT, OFF), MOVE(CLEAR_EMPTY, IN(EMPTY) | HURT, EMPTY),
	MOVE(ANSWERED, IN(LOST), ATTACHED),
	/* What is merely seen ends neither fault nor loss. */
	STAY(PRESENT, HURT), STAY(ABSENT, HURT), STAY(GONE_OFF, HURT), STAY(GONE_EMPTY, HURT),
	{ 0 }
};

/* What a state is called, and what it is to readers. */
static const struct {
	const char *name;
	enum gpufabric_activity activity;
	enum gpufabric_health health;
} states[GF_STATES] = {
	[GF_STATE_EMPTY] = { "empty" }, [GF_STATE_OFF] = { "off" },
	[GF_STATE_ATTACHING] = { "attaching", GPUFABRIC_ACTIVITY_ATTACHING },
	[GF_STATE_ATTACHED] = { "attached", GPUFABRIC_ACTIVITY_ATTACHING },
	[GF_STATE_READY] = { "ready" },
	[GF_STATE_DRAINING] = { "draining", GPUFABRIC_ACTIVITY_DRAINING },
	[GF_STATE_DETACHING] = { "detaching", GPUFABRIC_ACTIVITY_DETACHING },
	[GF_STATE_FAULT] = { "fault", .health = GPUFABRIC_HEALTH_FAULT },
	/* Unless its operation detaches. */
	[GF_STATE_STUCK] = { "stuck", GPUFABRIC_ACTIVITY_ATTACHING, GPUFABRIC_HEALTH_STUCK },
	[GF_STATE_LOST] = { "lost", .health = GPUFABRIC_HEALTH_LOST },
};

int gf_state_next(enum gf_state state, enum gf_trigger trigger)
{
	unsigned int i;

	if ((unsigned int)state >= GF_STATES || (unsigned int)trigger >= GF_TRIGGERS)
		return -EINVAL;
	for (i = 0; moves[i].from; i++) {
		if (moves[i].trigger == trigger && moves[i].from & 1U << state)
			return moves[i].to == GF_STATES ? state : moves[i].to;
	}
	return -EBUSY;
}

static enum gpufabric_occupancy occupancy_of(enum gf_state state, const struct gf_seen_in *seen)
{
	if (seen->other)
		return GPUFABRIC_OCCUPANCY_OTHER;
	if (state == GF_STATE_EMPTY)
		return GPUFABRIC_OCCUPANCY_EMPTY;
	if (state == GF_STATE_OFF)
		return GPUFABRIC_OCCUPANCY_UNKNOWN;
	if (seen->gpu || gf_state_has_gpu(state))
		return GPUFABRIC_OCCUPANCY_GPU;
	return seen->card ? GPUFABRIC_OCCUPANCY_UNKNOWN : GPUFABRIC_OCCUPANCY_EMPTY;
}

static enum gpufabric_power power_of(enum gf_state state, const struct gf_seen_in *seen)
{
	if (state == GF_STATE_ATTACHING || state == GF_STATE_DETACHING || state == GF_STATE_STUCK)
		return GPUFABRIC_POWER_CHANGING;
	if (!seen->on)
		return GPUFABRIC_POWER_OFF;
	return seen->control ? GPUFABRIC_POWER_ON : GPUFABRIC_POWER_NO_CONTROL;
}

struct gf_condition gf_state_condition(enum gf_state state, const struct gf_seen_in *seen)
{
	return (struct gf_condition){
		.occupancy = occupancy_of(state, seen), .power = power_of(state, seen),
		.activity = state == GF_STATE_STUCK && seen->detaching ?
			    GPUFABRIC_ACTIVITY_DETACHING : states[state].activity,
		.health = states[state].health, .cause = seen->cause,
	};
}

const char *gf_state_name(enum gf_state state)
{
	return (unsigned int)state < GF_STATES ? states[state].name : "?";
}

const char *gf_cause_name(enum gpufabric_cause cause)
{
	static const char *const names[GPUFABRIC_CAUSE_CONTAINMENT + 1] = {
		"none", "power", "link", "presence", "enumerate", "resources", "identity",
		"driver", "timeout", "surprise", "memory", "reset", "error", "busy", "chassis",
		"other", "switch-gone", "replaced", "remains", "changed", "window", "port",
		"containment",
	};

	return (unsigned int)cause <= GPUFABRIC_CAUSE_CONTAINMENT ? names[cause] : "?";
}
