/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choosing slots for a request. Pure: what can be had and what is wanted go
 * in, a set of slots and the reason for it in words come out.
 */
#ifndef GPUCTL_CHOOSE_H
#define GPUCTL_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "catalogue/gpu.h"

/* Why a slot with a card cannot be chosen now. */
enum choose_bar {
	CHOOSE_FREE,
	CHOOSE_CLAIMED, /* a composition holds it */
	CHOOSE_BUSY, /* an operation is under way */
	CHOOSE_FAULT, /* fault, stuck, lost or quarantined */
	CHOOSE_NO_ROOM, /* its windows cannot be had */
	CHOOSE_UNKNOWN, /* nothing is known of its GPU */
	CHOOSE_DRIVER, /* attached with another driver */
	CHOOSE_EXCLUDED, /* by the request */
	CHOOSE_DIRTY, /* it holds data of another tenant and cannot be cleaned */
	CHOOSE_BARS
};

/**
 * struct choose_slot - a slot that holds a card
 * @name: of the slot
 * @id: of the slot
 * @kind: name of its GPU's kind, for words and for "all of one kind"
 * @gpu: catalogue entry, NULL when the catalogue has none
 * @vendor: PCI vendor id (of what a simulated GPU imitates)
 * @device: PCI device id (likewise)
 * @gpus: how many its card has, which can be had together alone
 * @memory: bytes of each, 0 when unknown
 * @switch_id: switch that it is behind
 * @switch_name: its address, for words
 * @numa: node, -1 when unknown
 * @path: sysfs path of its port, for counting hops; NULL when unknown
 * @peers: slots with the same number reach each other's memory through switches alone; 0
 *	when that is not known
 * @group: the group of GPUs with links of their own that it is in, NULL for none
 * @shares: its IOMMU group holds a GPU of a composition
 * @bandwidth: of its link, in MT/s times lanes; 0 when unknown
 * @moves: its GPU fits after windows of the switch were reassigned
 * @doubt: how uncertain its identity is: 0 live, 1 last seen, 2 declared
 * @dirty: another tenant's data is to be cleared first
 * @ready: is attached already
 * @brought: its GPU is not there, but a fabric manager can bind it
 * @bar: why it cannot be chosen, CHOOSE_FREE when it can
 */
struct choose_slot {
	const char *name;
	uint32_t id;
	const char *kind;
	const struct cat_gpu *gpu;
	uint16_t vendor, device;
	unsigned int gpus;
	uint64_t memory;
	uint32_t switch_id;
	const char *switch_name;
	int numa;
	const char *path;
	unsigned int peers;
	const char *group;
	bool shares;
	uint64_t bandwidth;
	bool moves;
	unsigned int doubt;
	bool dirty;
	bool ready;
	bool brought;
	enum choose_bar bar;
};

/* Whether somebody else could have it: what this request leaves out is no less free. */
static inline bool choose_is_free(const struct choose_slot *slot)
{
	return slot->bar == CHOOSE_FREE || slot->bar == CHOOSE_EXCLUDED ||
	       slot->bar == CHOOSE_DRIVER || slot->bar == CHOOSE_DIRTY;
}

/**
 * struct choose_want - so many GPUs of a kind
 * @word: as it was typed: "h100", "nvidia:h100", "nvidia"; NULL for any
 * @count: how many GPUs; 0 excludes the kind
 * @kind: exact kind of a slot instead of a word, NULL otherwise
 */
struct choose_want {
	const char *word;
	size_t count;
	const char *kind;
};

/**
 * struct choose_home - a switch that the composition is on already
 * @switch_id: the switch
 * @numa: its node, -1 when unknown
 * @path: sysfs path of a port there that has one of the GPUs; NULL when unknown
 */
struct choose_home {
	uint32_t switch_id;
	int numa;
	const char *path;
};

/**
 * struct choose_request - what is wanted
 * @wants: what is given by kind; the counts add up
 * @n_wants: how many; none with @memory alone
 * @memory: bytes that all GPUs together shall have, 0 for none
 * @same_switch: all behind one switch or fail
 * @spread: over as many switches as possible
 * @numa: node that all must be on, -1 for any
 * @p2p: all must reach each other's memory through switches alone
 * @home: switches that the composition is on already
 * @n_home: how many
 * @home_groups: groups that the composition has GPUs of
 * @n_home_groups: how many
 * @home_peers: with @p2p what the composition's GPUs have for @peers, 0 when it has none
 */
struct choose_request {
	const struct choose_want *wants;
	size_t n_wants;
	uint64_t memory;
	bool same_switch;
	bool spread;
	int numa;
	bool p2p;
	const struct choose_home *home;
	size_t n_home;
	const char *const *home_groups;
	size_t n_home_groups;
	unsigned int home_peers;
};

#define CHOOSE_CRITERIA 17

/**
 * struct choose_result - what was chosen
 * @picked: indices into the slots, in the order of the slots
 * @n: how many slots
 * @why: one line: how many of how many, where, and why these
 * @score: what it was compared by, less is better, the first ones count most (score.c)
 */
struct choose_result {
	size_t *picked;
	size_t n;
	char *why;
	uint64_t score[CHOOSE_CRITERIA];
};

/*
 * Returns 0; -ENOSPC when the pool does not have it (@fault says what it has);
 * -EINVAL when the request contradicts itself.
 */
int choose(const struct choose_slot *slots, size_t n, const struct choose_request *request,
	   struct choose_result *result, struct fault *fault);
/* How many GPUs are in the picked slots. */
size_t choose_gpus(const struct choose_slot *slots, const size_t *picked, size_t n);
void choose_result_free(struct choose_result *result);

/*
 * Which of the members to give back for @count GPUs: those whose loss leaves the rest
 * closest together, by links of their own and then by switches. @members are indices into @slots; they are reordered so
 * that the chosen ones come first. Returns how many slots that are, 0 when no cards
 * have together so many.
 */
size_t choose_shrink(const struct choose_slot *slots, size_t *members, size_t n, size_t count);

/* Does a slot's GPU answer to a word of a request? */
bool choose_matches(const struct choose_slot *slot, const char *word);

/* "4 H100 PCIe, 2 L40S" of the free slots; "none" when there are none. Caller frees. */
char *choose_pool(const struct choose_slot *slots, size_t n);

/*
 * Parse "[[vendor:]model:]count". *@word is set to a newly allocated string,
 * or NULL for any; returns 0 or -EINVAL with the reason.
 */
int choose_parse_want(const char *text, char **word, size_t *count, struct fault *fault);

#endif /* GPUCTL_CHOOSE_H */
