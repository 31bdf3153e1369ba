/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking GPUs away: announce, look for holders, and only then detach. */
#ifndef GPUCTL_REMOVE_H
#define GPUCTL_REMOVE_H

#include "op/bringer.h"
#include "managers/bringing.h"
#include "op/terms.h"
#include "session/session.h"

/* The drain must outlive the search for holders. */
#define DRAIN_MS 30000
/* And the resets: a driver lets go of a GPU, and gets it again afterwards. */
#define RESET_MS 20000
/* Longest time that can be waited for them. */
#define REMOVAL_WAIT_MAX_MS (GPUFABRIC_TIMEOUT_MAX - DRAIN_MS)

/**
 * struct removal - slots that are about to lose their GPUs
 * @slots: slots with a GPU
 * @n: how many
 * @n_drain: the first so many need a drain; the others hold what is left of a GPU that
 *	was lost or is in fault
 * @generations: of each slot, as the drain returned it, or as it was when looked at
 * @n_reset: slots that are to be reset while they are drained, which lasts as much longer
 * @drain_end: when the drain ends by itself, by text_monotonic()
 * @terms: whether to go on with holders
 * @wait_ms: how long to wait for them, that of @terms or longer
 * @tell_ms: how long the workload is told before that
 * @bring_ms: how long the same request then prepares for GPUs that come
 * @pre: hooks before the GPUs go
 * @post: and after
 * @bringing: slots that somebody takes cards back of, until it is freed
 * @bringers: who takes them back when they are gone
 * @about: what hooks are told, empty when there are none
 */
struct removal {
	struct gf_slot **slots;
	size_t n;
	size_t n_drain;
	uint32_t *generations;
	size_t n_reset;
	uint64_t drain_end;
	const struct op_terms *terms;
	uint64_t wait_ms;
	uint64_t tell_ms;
	uint64_t bring_ms;
	struct hooks pre;
	struct hooks post;
	struct bringers bringers;
	struct bringing bringing;
	struct hook_slots about;
};

/* Pick those of @slots that hold a GPU; @left: or what is left of one. */
int removal_init(struct session *session, struct removal *removal, const struct op_terms *terms,
		 struct gf_slot *const *slots, size_t n, bool left);
void removal_free(struct removal *removal);

/* Does it hold a GPU, or what is left of one? */
bool removal_concerns(const struct gf_slot *slot);

/*
 * Have the slots whose cards go back to the fabric for this removal until it is freed; CTL_BUSY
 * when another request is bringing or removing one.
 */
int removal_lock(struct session *session, struct removal *removal);

/*
 * Drain the slots, so that no other request has them. CTL_BUSY when one does, or when somebody
 * holds a GPU that no time is given to let go.
 */
int removal_drain(struct session *session, struct removal *removal);

/*
 * Call the pre-detach hooks of drained slots and make sure that nobody holds their GPUs. With
 * holders, and without --force, nothing is changed: CTL_BUSY, with the holders listed; so when a
 * hook fails. What hooks did, and the drains, are then taken back.
 */
int removal_empty(struct session *session, struct removal *removal);

/* The module refused a removal with @ret, since a drain was over: the error says so. Returns @ret. */
int removal_stale(struct session *session, const struct removal *removal, int ret);

/* Take the drains back; errors are ignored, the module does it when we exit anyway. */
void removal_abort(struct session *session, struct removal *removal);

/*
 * End the drains after a reset of the GPUs of the first @n slots. CTL_FAILED when a drain had ended
 * before, so that somebody else could have the slot during its reset; an error that is in the
 * context already stays.
 */
int removal_end_reset(struct session *session, struct removal *removal, size_t n);

/*
 * The operation has ended, and the snapshot is up to date: call the hooks that
 * follow for slots whose GPU has gone, give cards back to the fabric with @unassign, and take back
 * what was done for those that kept it.
 */
void removal_finish(struct session *session, struct removal *removal, bool unassign);

/*
 * A slot that is off or empty: give back what its manager has bound to it, as after a removal that
 * was interrupted. @given: number of GPUs that went back; 0 where there is no manager. The
 * snapshot can be another one afterwards.
 */
int removal_give_back(struct session *session, const char *name, size_t *given);

/* For -n: say who holds the GPUs now, CTL_BUSY when somebody does, and which hooks would run. */
int removal_check(struct session *session, const struct removal *removal);

#endif /* GPUCTL_REMOVE_H */
