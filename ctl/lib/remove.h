/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking GPUs away: announce, look for holders, and only then detach. */
#ifndef GPUCTL_REMOVE_H
#define GPUCTL_REMOVE_H

#include "lib/session.h"

/* --wait, --force: for every command that takes GPUs away. */
extern const struct ctl_option remove_options[];

/**
 * struct removal - slots that are about to lose their GPUs
 * @slots: slots with a GPU, those that need a drain
 * @n: how many
 * @generations: of each slot, as the drain returned it
 * @force: go on with holders
 * @wait_ms: how long to wait for holders to let go
 */
struct removal {
	struct gf_slot **slots;
	size_t n;
	uint32_t *generations;
	bool force;
	uint64_t wait_ms;
};

/* Read the options, and pick those of @slots that hold a GPU. */
int removal_init(struct session *session, struct removal *removal, struct gf_slot *const *slots,
		 size_t n);
void removal_free(struct removal *removal);

/*
 * Drain the slots and make sure that nobody holds their GPUs. With holders,
 * and without --force, nothing is changed: CTL_BUSY, with the holders listed.
 */
int removal_drain(struct session *session, struct removal *removal);

/* Take the drains back; errors are ignored, the module does it when we exit anyway. */
void removal_abort(struct session *session, const struct removal *removal);

/* Append the drained slots to a request, under attribute @attr. */
void removal_put(struct nl_msg *msg, int attr, const struct removal *removal);

/* For -n: say who holds the GPUs now; CTL_BUSY when somebody does. */
int removal_check(struct session *session, const struct removal *removal);

#endif /* GPUCTL_REMOVE_H */
