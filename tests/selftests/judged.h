/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tool's judge says of slots: its names and ours would not go into one file. */
#ifndef SELFTESTS_JUDGED_H
#define SELFTESTS_JUDGED_H

#include <stdbool.h>
#include <stdint.h>

struct bar_need;

/**
 * struct judged_slot - a slot that the judge is asked about
 * @name: its name
 * @port: address of its port
 * @bar: large BAR that is declared, or 0
 * @need: what the module has seen of its card
 * @n_need: how many of them
 * @order: set by the judge
 */
struct judged_slot {
	const char *name, *port;
	uint64_t bar;
	const struct bar_need *need;
	unsigned int n_need;
	uint32_t order;
};

/**
 * struct judged - what the judge says of slots together
 * @cannot: one of them cannot be
 * @moves: windows move
 * @text: why not
 */
struct judged {
	bool cannot, moves;
	char text[256];
};

void judge_them(struct judged_slot *slots, unsigned int n, struct judged *judged);

/* One slot alone: 0 when nothing can be said, 1 or 2 when it fits, 3 when it cannot be. */
int judge_one(const struct judged_slot *slot);

#endif /* SELFTESTS_JUDGED_H */
