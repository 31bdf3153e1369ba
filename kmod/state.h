/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_STATE_H
#define GPUFABRIC_STATE_H

#include <linux/gpufabric.h>

#define GF_STATES (GPUFABRIC_SLOT_STATE_LOST + 1)

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
 * @GF_CLEAR: an admin took the slot out of fault or lost
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
	GF_CLEAR,
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
int gf_state_next(enum gpufabric_slot_state state, enum gf_trigger trigger);

/**
 * gf_state_has_gpu() - whether functions are enumerated in this state
 * @state: state of a slot
 */
static inline int gf_state_has_gpu(enum gpufabric_slot_state state)
{
	return state == GPUFABRIC_SLOT_STATE_ATTACHED ||
	       state == GPUFABRIC_SLOT_STATE_READY ||
	       state == GPUFABRIC_SLOT_STATE_DRAINING;
}

const char *gf_state_name(enum gpufabric_slot_state state);

#endif /* GPUFABRIC_STATE_H */
