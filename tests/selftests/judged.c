// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl's own judge, asked as gpuctl asks it. */
#include <stdlib.h>
#include <string.h>

#include "host/judge.h"

#include "judged.h"

/* As gf.h has it. */
struct bar_need {
	uint64_t size, align;
	uint32_t sizes, flags, depth;
};

static void translate(const struct judged_slot *from, struct gf_slot *to)
{
	memset(to, 0, sizeof(*to));
	to->name = (char *)from->name;
	to->address = (char *)from->port;
	to->n_needs = from->n_need;
	to->needs = calloc(from->n_need + 1, sizeof(*to->needs));
	for (unsigned int i = 0; i < from->n_need; i++) {
		to->needs[i].size = from->need[i].size;
		to->needs[i].align = from->need[i].align;
		to->needs[i].sizes = from->need[i].sizes;
		to->needs[i].flags = from->need[i].flags;
		to->needs[i].depth = from->need[i].depth;
	}
}

void judge_them(struct judged_slot *slots, unsigned int n, struct judged *judged)
{
	struct judge_want *wants = calloc(n + 1, sizeof(*wants));
	struct gf_slot *all = calloc(n + 1, sizeof(*all));
	struct verdict verdict;
	struct judge judge;

	for (unsigned int i = 0; i < n; i++) {
		translate(&slots[i], &all[i]);
		wants[i] = (struct judge_want){ &all[i], slots[i].bar, 0 };
	}
	judge_open(&judge, NULL);
	judged->cannot = judge_wants(&judge, NULL, 0, wants, n, &verdict) < n;
	judged->moves = verdict.moves;
	strcpy(judged->text, verdict.text);
	judge_close(&judge);
	for (unsigned int i = 0; i < n; i++) {
		slots[i].order = wants[i].order;
		free(all[i].needs);
	}
	free(wants);
	free(all);
}

int judge_one(const struct judged_slot *slot)
{
	struct verdict verdict;
	struct judge judge;
	struct gf_slot one;

	translate(slot, &one);
	judge_open(&judge, NULL);
	judge_slot(&judge, &one, slot->bar, &verdict);
	judge_close(&judge);
	free(one.needs);
	return verdict.now;
}
