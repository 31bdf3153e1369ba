/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots of the simulator in this host, for its agent. A stand-in with folders instead of the
 * module is tests/fm/slots.c.
 */
#ifndef FM_SIM_SLOTS_H
#define FM_SIM_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/**
 * struct sim_slot - what is in a slot
 * @serial: of the card, "" for none
 * @power: the slot has power
 */
struct sim_slot {
	char serial[17];
	bool power;
};

/*
 * Names of all slots, such as "0.3", in the order of strcmp(); caller frees them and the array,
 * which is NULL where there is no simulator. They are read for each command: switches come and go.
 */
char **sim_slots_list(size_t *count);
/* False: the slot cannot be read. */
bool sim_slot_read(const char *name, struct sim_slot *slot);
/* A card as kmod/sim/README.md has it; otherwise a negative errno, and the slot is as it was. */
int sim_slot_put(const char *name, const char *serial, const char *card, struct fault *f);
/* Whatever the slot's power. */
int sim_slot_pull(const char *name, struct fault *f);

#endif /* FM_SIM_SLOTS_H */
