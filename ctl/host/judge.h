/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the GPUs of slots can be given their addresses: judged from what sysfs shows
 * of the windows, what the module has seen of a slot's card, and what is declared of it.
 */
#ifndef GPUCTL_JUDGE_H
#define GPUCTL_JUDGE_H

#include "host/room.h"
#include "module/model.h"

/**
 * struct verdict - what is said of a slot, or of several slots together
 * @now: for BARs as they are after power-on; unknown where nothing can be said
 * @largest: for resizable ones at their largest, unknown where there is none
 * @moves: windows get other addresses, so order matters, and what others do
 * @need: bytes that a window needs, or bus numbers
 * @free: how many can be had
 * @bridge: whose window that is
 * @text: why not, and what helps; empty unless it cannot be
 */
struct verdict {
	enum gf_fit_verdict now, largest;
	bool moves;
	uint64_t need, free;
	char bridge[32];
	char text[256];
};

/**
 * struct judge_bus - the bus of a switch as it was read
 * @pci: what is on it
 * @room: its windows
 */
struct judge_bus {
	struct pci_list pci;
	struct room room;
};

/**
 * struct judge - buses that were read so far
 * @tree: files of the host
 * @release: of its kernel
 * @rule: how that sizes windows
 * @buses: each of them
 * @n: how many
 */
struct judge {
	struct tree tree;
	char *release;
	enum gf_fit_rule rule;
	struct judge_bus **buses;
	size_t n;
};

/* @dir NULL: this host. */
void judge_open(struct judge *judge, const char *dir);
void judge_close(struct judge *judge);
/* What was read is too old. */
void judge_forget(struct judge *judge);

/* One slot alone. @bar: large BAR that is declared, 0 for none. */
void judge_slot(struct judge *judge, const struct gf_slot *slot, uint64_t bar,
		struct verdict *verdict);

/**
 * struct judge_want - a slot that a request attaches
 * @slot: the slot
 * @bar: large BAR that is declared, 0 for none
 * @order: set: its place among those of its switch, 0 where that does not matter
 */
struct judge_want {
	const struct gf_slot *slot;
	uint64_t bar;
	uint32_t order;
};

/*
 * All slots of one request, one after the other; those of others, @coming, are on their
 * way before them.
 * Where that does not go in their order, the largest come first. Returns the one that
 * cannot be, @n when all can; @verdict is about that one, or says whether windows move.
 */
size_t judge_wants(struct judge *judge, const struct judge_want *coming, size_t n_coming,
		   struct judge_want *wants, size_t n, struct verdict *verdict);

const char *verdict_name(enum gf_fit_verdict verdict);

#endif /* GPUCTL_JUDGE_H */
