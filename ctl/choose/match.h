/* SPDX-License-Identifier: GPL-2.0-only */
/* Assigning wanted GPUs to slots. Pure. */
#ifndef GPUCTL_MATCH_H
#define GPUCTL_MATCH_H

#include "choose/choose.h"

/**
 * struct match - what is wanted, and what there is for it
 * @takes: by want and slot: the slot's GPUs are what the want names
 * @n_slots: slots that @takes has for each want
 * @wants: what is wanted
 * @n_wants: how many
 * @order: slots in the order in which they are tried, each as often as it has GPUs
 * @n: how many that are
 */
struct match {
	const bool *takes;
	size_t n_slots;
	const struct choose_want *wants;
	size_t n_wants;
	const size_t *order;
	size_t n;
};

/*
 * Assign all that is wanted to GPUs; @picked, with room for all slots, gets the slots that
 * have them. Returns whether there was an assignment: when there is one it is found.
 */
bool match_wants(const struct match *match, size_t *picked, size_t *n_picked);

#endif /* GPUCTL_MATCH_H */
