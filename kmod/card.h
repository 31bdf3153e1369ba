/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_CARD_H
#define GPUFABRIC_CARD_H

/**
 * DOC: Cards and chassis
 *
 * A switch below a slot can be part of the card in the slot, as on many GPUs; then it goes on and
 * off with the card. Or it is the switch of a chassis, whose slots may be in use: to power off
 * the slot above removes every card in them.
 *
 * The ports tell which it is. Ports inside a card implement no slots. But some cards were made
 * with switches for chassis, whose ports claim to implement slots. A switch with a single port is
 * part of a card, because nobody builds a chassis with one. A switch with more such ports is
 * taken for a chassis, and none of it is powered, until the admin says otherwise. A slot of the
 * inventory is never part of a card, however its neighbours come and go.
 *
 * Pure; the tool uses the same code.
 */
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

/* Whether a switch is part of a card; @chosen: the admin says that there is one. */
static inline bool gf_card_has(const struct gf_card_switch *sw, bool chosen)
{
	return !sw->managed && (chosen || !sw->slotted || sw->ports == 1);
}

#endif /* GPUFABRIC_CARD_H */
