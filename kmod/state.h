/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_STATE_H
#define GPUFABRIC_STATE_H

#include <linux/gpufabric.h>
#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u8 u8;
#endif

/**
 * enum gf_state - where a slot is in its life
 * @GF_STATE_EMPTY: no card is present, or one that is not a GPU
 * @GF_STATE_OFF: a card is present and without power
 * @GF_STATE_ATTACHING: being powered, trained and enumerated
 * @GF_STATE_ATTACHED: enumerated and checked, waiting for its driver
 * @GF_STATE_READY: usable; the driver is bound, or none is expected
 * @GF_STATE_DRAINING: announced to go; nothing was removed yet
 * @GF_STATE_DETACHING: being removed and powered off
 * @GF_STATE_FAULT: failed
 * @GF_STATE_STUCK: an operation passed its deadline and has not come back
 * @GF_STATE_LOST: the GPU went away without a request
 * @GF_STATES: number of states
 *
 * The module's own word. Readers get a &struct gf_condition.
 */
enum gf_state {
	GF_STATE_EMPTY,
	GF_STATE_OFF,
	GF_STATE_ATTACHING,
	GF_STATE_ATTACHED,
	GF_STATE_READY,
	GF_STATE_DRAINING,
	GF_STATE_DETACHING,
	GF_STATE_FAULT,
	GF_STATE_STUCK,
	GF_STATE_LOST,
	GF_STATES
};

/**
 * struct gf_seen_in - what a look at a slot and its operation say of it
 * @card: a card is present
 * @on: it has power
 * @gpu: functions of a GPU are on the bus
 * @other: functions are, and there is no GPU among them
 * @control: the slot has a power controller
 * @detaching: the operation whose worker is out removes the GPU
 * @cause: why the slot is in fault, stuck or lost
 */
struct gf_seen_in {
	bool card;
	bool on;
	bool gpu;
	bool other;
	bool control;
	bool detaching;
	enum gpufabric_cause cause;
};

/**
 * struct gf_condition - what readers are told of a slot
 * @occupancy: enum gpufabric_occupancy
 * @power: enum gpufabric_power
 * @activity: enum gpufabric_activity
 * @health: enum gpufabric_health
 * @cause: enum gpufabric_cause
 */
struct gf_condition {
	u8 occupancy;
	u8 power;
	u8 activity;
	u8 health;
	u8 cause;
};

/**
 * enum gf_trigger - what can happen to a slot
 * @GF_PRESENT: a card without power was seen in the slot
 * @GF_ABSENT: the slot was seen empty
 * @GF_ATTACH: a request to attach was accepted
 * @GF_INSERTED: functions appeared without a request of ours
 * @GF_CHECKED: enumerated, and every check after power-on passed
 * @GF_BOUND: the driver is bound, or none is expected
 * @GF_DRAIN: a drain was announced
 * @GF_DRAIN_ABORT: the drain was taken back, while the driver is bound
 * @GF_DETACH: a request to detach was accepted
 * @GF_UNDO: an attach is rolled back
 * @GF_GONE_OFF: the functions are gone, the card is there without power
 * @GF_GONE_EMPTY: the functions are gone and so is the card
 * @GF_FAIL: an operation failed
 * @GF_EXPIRED: an operation passed its deadline and has not returned
 * @GF_SURPRISE: the functions went away without any request
 * @GF_BACK_OFF: a late operation returned and left the card without power
 * @GF_BACK_EMPTY: a late operation returned and left the slot empty
 * @GF_BACK_GPU: a late operation returned and left functions there
 * @GF_CLEAR_OFF: an admin took the slot out of fault or lost, a card is there
 * @GF_CLEAR_EMPTY: the same, and there is none, or none with a GPU
 * @GF_ANSWERED: a GPU that was lost answers again and is as it was
 * @GF_TRIGGERS: number of triggers
 */
enum gf_trigger {
	GF_PRESENT,
	GF_ABSENT,
	GF_ATTACH,
	GF_INSERTED,
	GF_CHECKED,
	GF_BOUND,
	GF_DRAIN,
	GF_DRAIN_ABORT,
	GF_DETACH,
	GF_UNDO,
	GF_GONE_OFF,
	GF_GONE_EMPTY,
	GF_FAIL,
	GF_EXPIRED,
	GF_SURPRISE,
	GF_BACK_OFF,
	GF_BACK_EMPTY,
	GF_BACK_GPU,
	GF_CLEAR_OFF,
	GF_CLEAR_EMPTY,
	GF_ANSWERED,
	GF_TRIGGERS
};

/**
 * gf_state_next() - the slot state machine
 * @state: state that the slot is in
 * @trigger: what happens to it
 *
 * Pure, and complete: every pair has an entry.
 *
 * Return: the next state (may be the same one), or -EBUSY when the trigger
 * cannot happen in this state or is to be refused.
 */
int gf_state_next(enum gf_state state, enum gf_trigger trigger);

/**
 * gf_state_has_gpu() - whether functions are enumerated in this state
 * @state: state of a slot
 */
static inline int gf_state_has_gpu(enum gf_state state)
{
	return state == GF_STATE_ATTACHED ||
	       state == GF_STATE_READY ||
	       state == GF_STATE_DRAINING;
}

/**
 * gf_state_condition() - what a state is to readers
 * @state: state of a slot
 * @seen: what else is known of it
 *
 * Pure.
 */
struct gf_condition gf_state_condition(enum gf_state state,
				       const struct gf_seen_in *seen);

const char *gf_state_name(enum gf_state state);

#endif /* GPUFABRIC_STATE_H */
