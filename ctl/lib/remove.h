/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking GPUs away: announce, look for holders, and only then detach. */
#ifndef GPUCTL_REMOVE_H
#define GPUCTL_REMOVE_H

#include "lib/hooks.h"
#include "lib/session.h"

/* --wait, --signal, --force: for every command that takes GPUs away. */
extern const struct ctl_option remove_options[];

/**
 * struct removal - slots that are about to lose their GPUs
 * @slots: slots with a GPU
 * @n: how many
 * @n_drain: the first so many need a drain; the others hold what is left of a GPU that
 *	was lost or is in fault
 * @generations: of each slot, as the drain returned it, or as it was when looked at
 * @force: go on with holders
 * @wait_ms: how long to wait for holders to let go
 * @signal: what to send to holders first, 0 for nothing
 * @pre: hooks before the GPUs go
 * @post: and after
 * @unassign: and when the fabric may have them back
 * @about: what hooks are told, empty when there are none
 */
struct removal {
	struct gf_slot **slots;
	size_t n;
	size_t n_drain;
	uint32_t *generations;
	bool force;
	uint64_t wait_ms;
	int signal;
	struct hooks pre;
	struct hooks post;
	struct hooks unassign;
	struct hook_slots about;
};

/* Read the options, and pick those of @slots that hold a GPU; @left: or what is left of one. */
int removal_init(struct session *session, struct removal *removal, struct gf_slot *const *slots,
		 size_t n, bool left);
void removal_free(struct removal *removal);

/*
 * Drain the slots, call the pre-detach hooks and make sure that nobody holds their
 * GPUs. With holders, and without --force, nothing is changed: CTL_BUSY, with the
 * holders listed; so when a hook fails. What hooks did is then taken back.
 */
int removal_drain(struct session *session, struct removal *removal);

/* Take the drains back; errors are ignored, the module does it when we exit anyway. */
void removal_abort(struct session *session, struct removal *removal);

/*
 * The operation has ended, and the snapshot is up to date: call the hooks that
 * follow for slots whose GPU has gone, and take back what was done for those that kept it.
 */
void removal_finish(struct session *session, struct removal *removal);

/* Append the drained slots to a request, under attribute @attr. */
void removal_put(struct nl_msg *msg, int attr, const struct removal *removal);

/* For -n: say who holds the GPUs now, CTL_BUSY when somebody does, and which hooks would run. */
int removal_check(struct session *session, const struct removal *removal);

#endif /* GPUCTL_REMOVE_H */
