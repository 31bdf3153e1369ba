/* SPDX-License-Identifier: GPL-2.0-only */
/* The slots that a request can be served from, and reading the request. */
#ifndef GPUCTL_POOL_H
#define GPUCTL_POOL_H

#include "choose/arrange.h"
#include "choose/choose.h"
#include "choose/handover.h"
#include "choose/request.h"
#include "session/session.h"

/**
 * struct pool - slots with cards, ready for choose()
 * @slots: the slots
 * @n: how many
 * @text: strings that @slots point to
 * @n_text: how many
 */
struct pool {
	struct choose_slot *slots;
	size_t n;
	char **text;
	size_t n_text;
};

/**
 * struct pool_terms - what makes a slot fit to be chosen
 * @driver: that a GPU which is attached must have, NULL: any but those for guests
 * @harm: also where windows cannot take its GPU
 * @to: whom it goes to, NULL: also with what others have left in it
 */
struct pool_terms {
	const char *driver;
	bool harm;
	const struct handover_to *to;
};

/*
 * Judge every slot of the session's snapshot. What @ask leaves out by the names of slots or of
 * kinds is marked as excluded. Usage errors are reported to the context.
 */
int pool_load(struct session *session, const struct pool_terms *terms,
	      const struct gpu_request *ask, struct pool *pool);
void pool_free(struct pool *pool);

/*
 * Suppose that compositions had ended and operations as well: what they keep could be chosen, and
 * so could what has no room beside them.
 */
void pool_suppose_free(struct pool *pool);

/* What is known of a slot without its GPU; the texts are the pool's. */
void pool_place(struct session *session, struct pool *pool, const struct gf_slot *slot,
		struct choose_slot *choice);

/* A kind without a count narrows what a workload or an amount of memory may take. */
bool pool_narrows_out(const struct gpu_request *ask, const struct choose_slot *slot);

/* The slots of the snapshot for what was chosen; newly allocated. */
struct gf_slot **pool_slots(const struct session *session, const struct pool *pool,
			    const size_t *picked, size_t n);

/* Index of a slot in the pool, SIZE_MAX when it holds no card. */
size_t pool_find(const struct pool *pool, uint32_t slot_id);

/**
 * struct pool_request - a request for a choice from a pool
 * @ask: what is asked for
 * @choose: what choose() takes; points into this
 * @wants: storage of its wants
 * @words: storage of their words
 * @n_words: how many
 * @home: storage of its home
 * @home_groups: and of the groups there
 * @tenant: whose GPUs they are to be, NULL for nobody's
 * @room: for a workload: number of GPUs that the tenant may have more
 */
struct pool_request {
	const struct gpu_request *ask;
	struct choose_request choose;
	struct choose_want *wants;
	char **words;
	size_t n_words;
	struct choose_home *home;
	const char **home_groups;
	const char *tenant;
	size_t room;
};

/* Make one of what is asked for; a word that is no kind of GPU is a usage error. */
int pool_request_make(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, const struct gpu_request *ask,
		      struct pool_request *request);
void pool_request_free(struct pool_request *request);
void pool_request_add(struct pool_request *request, const char *word, const char *kind,
		      size_t count);

/* It is for a composition that has @members of the pool, @n of them: what it gets is to be near. */
void pool_request_home(const struct session *session, struct pool_request *request,
		       struct pool *pool, const size_t *members, size_t n);

/*
 * Choose for a request, by its workload where that is asked for: then @arrangement says on what
 * grounds, and is all zero otherwise. Returns enum ctl_exit.
 */
int pool_choose(struct session *session, struct pool *pool, const struct pool_request *request,
		struct choose_result *result, struct arrangement *arrangement);

/* Read the ports' configuration, and number who are near peers; pool_choose() does it. */
void pool_find_peers(const struct session *session, struct pool *pool);

#endif /* GPUCTL_POOL_H */
