/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_CARD_H
#define GPUFABRIC_CARD_H

/**
 * DOC: Cards and chassis
 *
 * A switch below a slot can be part of the card in it, as on many GPUs, and goes on and off with
 * it. Or it is that of a chassis, whose slots are others' business: who powers off the slot above
 * takes everything that is in them.
 *
 * The ports tell. Those inside a card have nothing to do with slots. But some cards were made
 * with switches for chassis, and their ports say that they implement slots. Where there is one
 * port alone, nobody would build a chassis with it. Where there are more, nothing but the admin
 * can tell, and until then it is a chassis, of which nothing is powered. A slot of the inventory
 * is never part of a card, however its neighbours come and go.
 *
 * Pure; the tool asks the same.
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
