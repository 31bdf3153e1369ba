/* SPDX-License-Identifier: GPL-2.0-only */
/* Bringing GPUs: what hooks do before and after an attach. */
#ifndef GPUCTL_ARRIVAL_H
#define GPUCTL_ARRIVAL_H

#include "op/hooks.h"
#include "op/terms.h"

/**
 * struct arrival - slots that are about to get their GPUs
 * @pre: hooks before
 * @post: and after
 * @about: what they are told, empty when there are none
 * @comes: of each slot: it has no attached GPU yet
 */
struct arrival {
	struct hooks pre;
	struct hooks post;
	struct hook_slots about;
	bool *comes;
};

/*
 * Find the hooks and call those before an attach; with -n only say which they are. When
 * one fails, what the others did is taken back, and nothing is to be freed.
 */
int arrival_begin(struct session *session, struct arrival *arrival, const struct op_terms *terms,
		  struct gf_slot *const *slots, size_t n);

/* Longest time that arrival_begin() takes, in milliseconds; hooks that cannot be looked up take none. */
uint64_t arrival_budget(struct session *session);

/* The request was refused: take back what the hooks did. */
void arrival_abort(struct session *session, struct arrival *arrival);

/*
 * The operation has ended, and the snapshot is up to date: call the hooks after an
 * attach for the slots that have their GPU, take back what was done for the others.
 */
void arrival_finish(struct session *session, struct arrival *arrival);
void arrival_free(struct arrival *arrival);

#endif /* GPUCTL_ARRIVAL_H */
