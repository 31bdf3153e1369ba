/* SPDX-License-Identifier: GPL-2.0-only */
/* The simulator, as the tests use it: load, break, put back. */
#ifndef SELFTESTS_SIM_H
#define SELFTESTS_SIM_H

#include "ask.h"

/*
 * Load both modules anew, the simulator with these parameters; once for a test
 * program, before its first test. Needs root and modprobe.
 */
void sim_load(const char *parameters);

/* "own" unless $GF_SIM_MODE says pciehp. */
const char *sim_mode(void);

/* Name that the slot has in this mode; valid for the next 15 calls. */
const char *sim_slot(unsigned int sw, unsigned int slot);

/* Write to a knob of a slot; 0 or a negative errno. */
int sim_set(unsigned int sw, unsigned int slot, const char *knob, const char *order);

/*
 * Everything as after sim_load(): no composition, every slot of switch 0 with
 * its GPU of @model off, no order left over. Returns 0, or -1 when that fails.
 */
int sim_reset(struct gf *gf, struct gf *watch, unsigned int slots, const char *model);

#endif /* SELFTESTS_SIM_H */
