/* SPDX-License-Identifier: GPL-2.0-only */
/* What others were told of each slot, so that they are told what was missed, and that once. */
#ifndef GPUCTL_KNOWN_H
#define GPUCTL_KNOWN_H

#include "module/model.h"

/**
 * struct known_slot - a slot as it was when others were last told of it
 * @name: its name
 * @state: its state
 * @faults: number of faults that the module had counted
 * @since: when its condition last changed
 * @sequence: number of the last event that this includes
 */
struct known_slot {
	char *name;
	uint32_t state, faults;
	uint64_t since, sequence;
};

/**
 * struct known - what others were told
 * @path: file that keeps it for the next run, NULL for none
 * @instance: the load of the module that it is of
 * @slots: the slots, @n of them
 * @n: number of @slots
 * @changed: the file does not have it yet
 */
struct known {
	char *path;
	uint64_t instance;
	struct known_slot *slots;
	size_t n;
	bool changed;
};

/* @dir: the folder of the file, NULL for none. A file that cannot be used counts as none. */
void known_open(struct known *known, const char *dir);
void known_close(struct known *known);

/* What was told of another load of the module is forgotten. */
void known_begin(struct known *known, uint64_t instance);

/* NULL: nothing was told of the slot. */
const struct known_slot *known_find(const struct known *known, const char *name);

/* The slot is told of, as it is after event @sequence. */
void known_set(struct known *known, const struct gf_slot *slot, uint64_t sequence);
void known_forget(struct known *known, const char *name);
/* Forget the slots that the fabric does not have. */
void known_retain(struct known *known, const struct gf_fabric *fabric);

/* Write the file if it is due; 0 or a negative errno. */
int known_keep(struct known *known);

#endif /* GPUCTL_KNOWN_H */
