/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_CARD_H
#define GPUFABRIC_CARD_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#endif

/* A switch below a slot, seen from there. */
struct gf_card_switch {
	unsigned int ports; /* its downstream ports */
	unsigned int slotted; /* those that implement slots */
	unsigned int managed; /* those that are slots of the inventory */
};

/**
 * gf_card_has() - whether a switch below a slot is part of the card in it
 * @sw: the switch
 * @chosen: the admin says that there is a card in the slot
 *
 * Pure.
 *
 * Return: false for a chassis, which has slots of its own.
 */
bool gf_card_has(const struct gf_card_switch *sw, bool chosen);

#endif /* GPUFABRIC_CARD_H */
