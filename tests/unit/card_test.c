// SPDX-License-Identifier: GPL-2.0-only
// sources:
/*
 * Which switches below a slot are part of the card in it, compiled as the kernel has it.
 */
#include "kmod/card.h"
#include "tap.h"

static const struct {
	const char *name;
	unsigned int ports, slotted, managed;
	bool card;	/* without a word of the admin */
	bool chosen;	/* with one */
} rows[] = {
	{ "a switch whose ports were not found", 0, 0, 0, true, true },
	{ "one port without a slot: AMD Vega, Navi, Instinct; Intel Max", 1, 0, 0, true, true },
	{ "one port that implements a slot", 1, 1, 0, true, true },
	{ "two ports without slots: Intel Arc and Flex", 2, 0, 0, true, true },
	{ "many ports without slots", 8, 0, 0, true, true },
	{ "two ports that implement slots: K80, A16 or a chassis", 2, 2, 0, false, true },
	{ "many that do", 16, 16, 0, false, true },
	{ "two ports, one of which implements a slot", 2, 1, 0, false, true },
	{ "eight ports, one of which does", 8, 1, 0, false, true },
	{ "a chassis of which one port is left", 1, 1, 1, false, false },
	{ "a chassis with slots that are managed", 4, 4, 4, false, false },
	{ "one of which is", 4, 4, 1, false, false },
	{ "a managed port that says nothing of a slot", 1, 0, 1, false, false },
};

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct gf_card_switch sw = { rows[i].ports, rows[i].slotted, rows[i].managed };

		ok(gf_card_has(&sw, false) == rows[i].card, "%s: %s", rows[i].name,
		   rows[i].card ? "part of the card" : "a chassis");
		ok(gf_card_has(&sw, true) == rows[i].chosen, "%s, chosen: %s", rows[i].name,
		   rows[i].chosen ? "part of the card" : "a chassis");
	}
	return tap_done();
}
