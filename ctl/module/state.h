/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word for a slot. The module says four things that are never mixed: what is in the
 * slot, its power, what goes on there, and whether it is well. People read one word.
 */
#ifndef GPUCTL_STATE_H
#define GPUCTL_STATE_H

struct gf_condition;

enum gf_state {
	GF_STATE_EMPTY, /* no card */
	GF_STATE_OTHER, /* a card that is not a GPU */
	GF_STATE_OFF, /* a card, without power */
	GF_STATE_ATTACHING, /* being powered and enumerated */
	GF_STATE_ATTACHED, /* enumerated, its driver is awaited */
	GF_STATE_READY, /* usable */
	GF_STATE_DRAINING, /* announced to go */
	GF_STATE_DETACHING, /* being removed and powered off */
	GF_STATE_FAULT, /* failed */
	GF_STATE_STUCK, /* an operation does not come back */
	GF_STATE_LOST, /* the GPU went away without a request */
	GF_STATES
};

enum gf_state gf_state_of(const struct gf_condition *condition);
/*
 * One of the four by its word, as sysfs and uevents have it: @what is "occupancy", "power",
 * "activity" or "health", in letters of any size. What is not known changes nothing.
 */
void gf_condition_take(struct gf_condition *condition, const char *what, const char *word);
/* NULL past the last. */
const char *gf_state_name(unsigned int state);

#endif /* GPUCTL_STATE_H */
