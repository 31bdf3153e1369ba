/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who brings cards of a fabric to this host's slots and takes them back: hooks of the admin, or
 * a fabric manager that gpuctl speaks to. Slots of a request may have several.
 */
#ifndef GPUCTL_BRINGER_H
#define GPUCTL_BRINGER_H

#include "managers/manager.h"
#include "op/hooks.h"

struct bringer;

/**
 * struct bring_wish - what card a slot is to get
 * @gpu: Id at the manager, NULL for any
 * @kind: as pool_gpu_is() takes it, NULL for any
 */
struct bring_wish {
	const char *gpu;
	const char *kind;
};

/**
 * struct bringer_driver - a way to bring cards
 * @bring: have them brought to slots with @which of the bringer set, all or none; CTL_DONE, or an
 *	error after which @begun of the bringer says whether anything can have been brought
 * @give_back: those with @which set as well, of a bringer that has brought only those that it
 *	has; NULL, or what went wrong and the commands that do it
 *	by hand, in lines, which the caller frees. No signal stops it. With -n a manager is only
 *	asked, and what would be given back is said
 * @would: for -n: say what would be brought; an error where that is known to be impossible
 * @would_return: for -n: say what would be given back
 * @by_hand: the command that gives a slot's card back; the caller frees
 * @brought: what has been done when no card shows up; the caller frees
 */
struct bringer_driver {
	int (*bring)(struct session *session, struct bringer *bringer,
		     const struct hook_slots *about, const struct bring_wish *wishes);
	char *(*give_back)(struct session *session, struct bringer *bringer,
			   const struct hook_slots *about, const bool *which);
	int (*would)(struct session *session, struct bringer *bringer,
		     const struct hook_slots *about, const struct bring_wish *wishes);
	void (*would_return)(struct session *session, const struct bringer *bringer,
			     const struct hook_slots *about);
	char *(*by_hand)(const struct bringer *bringer, const char *slot);
	char *(*brought)(const struct bringer *bringer, size_t i);
};

extern const struct bringer_driver bringer_hooks;
extern const struct bringer_driver bringer_manager;

/**
 * struct bringer - one of them, for some slots of a request
 * @driver: how
 * @which: of each slot: it is for this one
 * @assign: of bringer_hooks, when cards are brought
 * @unassign: of bringer_hooks
 * @conf: of bringer_manager
 * @gpus: of bringer_manager: of each slot the GPU that was asked for in this request, NULL for none
 * @begun: somebody was asked to bring, and may have done it
 * @beaten: of bringer_manager: what was to be brought was taken by somebody else first
 * @unknown: of bringer_manager: what became of that is not known
 * @given: of bringer_manager: number of GPUs that the last @give_back gave back
 * @n: number of slots
 */
struct bringer {
	const struct bringer_driver *driver;
	bool *which;
	struct hooks assign;
	struct hooks unassign;
	const struct manager_conf *conf;
	char **gpus;
	bool begun;
	bool beaten;
	bool unknown;
	size_t given;
	size_t n;
};

/**
 * struct bringers - all of a request
 * @managers: of the host
 * @list: @n of them
 */
struct bringers {
	struct managers managers;
	struct bringer *list;
	size_t n;
};

/*
 * Who would bring cards to the @slots with @needs set, and take them back. @needs is cleared where
 * nobody would. After an error nothing is to be freed.
 */
int bringers_find(struct ctl_ctx *ctx, struct bringers *bringers, struct gf_slot *const *slots,
		  bool *needs, size_t n);

/* Who takes the cards of these slots back; of files in error in fabric.d nothing is said. */
int bringers_find_back(struct ctl_ctx *ctx, struct bringers *bringers, struct gf_slot *const *slots,
		       size_t n);
void bringers_free(struct bringers *bringers);

/* One after the other; stops at the first that fails. */
int bringers_bring(struct session *session, struct bringers *bringers,
		   const struct hook_slots *about, const struct bring_wish *wishes);
int bringers_would(struct session *session, struct bringers *bringers,
		   const struct hook_slots *about, const struct bring_wish *wishes);
void bringers_would_return(struct session *session, const struct bringers *bringers,
			   const struct hook_slots *about);

/* For a removal that found nobody for some slots: warn of files that may name them. */
void bringers_warn(struct session *session, const struct bringers *bringers,
		   const struct hook_slots *about, const bool *which);

/* Whose a slot is; NULL for nobody's. */
struct bringer *bringers_of(const struct bringers *bringers, size_t i);

/*
 * GPUs of these slots (@which NULL: all) went back to a manager: wait until the module knows, as long
 * as that takes a slot, so that whoever is next finds them empty. Errors in the context stay.
 */
void bringers_await_empty(struct session *session, char *const *names, const bool *which, size_t n);

/* Slots of a bringer that are also in @which; false for none. @both has room for all. */
bool bringer_slots(const struct bringer *bringer, const bool *which, bool *both);

#endif /* GPUCTL_BRINGER_H */
