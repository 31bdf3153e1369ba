/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_STATE_H
#define GPUFABRIC_STATE_H

#include <linux/gpufabric.h>
#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u8 u8;
#endif

/* Where a slot is in its life: the module's own word. Readers get a condition. */
enum gf_state {
	GF_STATE_EMPTY, /* no card is present, or one that is not a GPU */
	GF_STATE_OFF, /* a card is present and without power */
	GF_STATE_ATTACHING, /* being powered, trained and enumerated */
	GF_STATE_ATTACHED, /* enumerated and checked, waiting for its driver */
	GF_STATE_READY, /* usable; the driver is bound, or none is expected */
	GF_STATE_DRAINING, /* announced to go; nothing was removed yet */
	GF_STATE_DETACHING, /* being removed and powered off */
	GF_STATE_FAULT, /* failed */
	GF_STATE_STUCK, /* an operation passed its deadline and has not come back */
	GF_STATE_LOST, /* the GPU went away without a request */
	GF_STATES
};

/* What a look at a slot and its operation say of it. */
struct gf_seen_in {
	bool card; /* is present */
	bool on; /* it has power */
	bool gpu; /* functions of a GPU are on the bus */
	bool other; /* functions are, and there is no GPU among them */
	bool control; /* the slot has a power controller */
	bool detaching; /* the operation whose worker is out removes the GPU */
	enum gpufabric_cause cause; /* of fault, stuck or lost */
};

/* What readers are told of a slot: values of the protocol's enums of these names. */
struct gf_condition {
	u8 occupancy;
	u8 power;
	u8 activity;
	u8 health;
	u8 cause;
};

/* What can happen to a slot. */
enum gf_trigger {
	GF_PRESENT, /* a card without power was seen in the slot */
	GF_ABSENT, /* the slot was seen empty */
	GF_ATTACH, /* a request to attach was accepted */
	GF_INSERTED, /* functions appeared without a request of ours */
	GF_CHECKED, /* enumerated, and every check after power-on passed */
	GF_BOUND, /* the driver is bound, or none is expected */
	GF_DRAIN, /* a drain was announced */
	GF_DRAIN_ABORT, /* the drain was taken back, while the driver is bound */
	GF_DETACH, /* a request to detach was accepted */
	GF_UNDO, /* an attach is rolled back */
	GF_GONE_OFF, /* the functions are gone, the card is there without power */
	GF_GONE_EMPTY, /* the functions are gone and so is the card */
	GF_FAIL, /* an operation failed */
	GF_EXPIRED, /* an operation passed its deadline and has not returned */
	GF_SURPRISE, /* the functions went away without any request */
	GF_BACK_OFF, /* a late operation returned and left the card without power */
	GF_BACK_EMPTY, /* a late operation returned and left the slot empty */
	GF_BACK_GPU, /* a late operation returned and left functions there */
	GF_CLEAR_OFF, /* an admin took the slot out of fault or lost, a card is there */
	GF_CLEAR_EMPTY, /* the same, and there is none, or none with a GPU */
	GF_ANSWERED, /* a GPU that was lost answers again and is as it was */
	GF_TRIGGERS
};

/* Pure, and complete: every pair has an entry. Returns the next state or -EBUSY. */
int gf_state_next(enum gf_state state, enum gf_trigger trigger);

/* Whether functions are enumerated in this state. */
static inline int gf_state_has_gpu(enum gf_state state)
{
	return state == GF_STATE_ATTACHED || state == GF_STATE_READY || state == GF_STATE_DRAINING;
}

/* What a state is to readers. Pure. */
struct gf_condition gf_state_condition(enum gf_state state, const struct gf_seen_in *seen);

const char *gf_state_name(enum gf_state state);
const char *gf_cause_name(enum gpufabric_cause cause);

#endif /* GPUFABRIC_STATE_H */
