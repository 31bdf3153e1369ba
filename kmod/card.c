// SPDX-License-Identifier: GPL-2.0-only
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
 * The file also builds in user space, for its test.
 */
#include "card.h"

bool gf_card_has(const struct gf_card_switch *sw, bool chosen)
{
	if (sw->managed)
		return false;
	return chosen || !sw->slotted || sw->ports == 1;
}
