/* SPDX-License-Identifier: GPL-2.0-only */
/* The slots that a request can be served from, and reading the request. */
#ifndef GPUCTL_POOL_H
#define GPUCTL_POOL_H

#include "choose/arrange.h"
#include "choose/choose.h"
#include "lib/session.h"

/* --gpus, --gpu, --memory, --same-switch, ...: for compose and resize. */
extern const struct ctl_option pool_options[];

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

/*
 * Judge every slot of the session's snapshot. Slots of --exclude and GPUs that
 * --gpu KIND (without a count, to narrow --model or --memory) leaves out are
 * marked as excluded. Usage errors are reported to the context.
 */
int pool_load(struct session *session, struct pool *pool);
void pool_free(struct pool *pool);

/* The slots of the snapshot for what was chosen; newly allocated. */
struct gf_slot **pool_slots(const struct session *session, const struct pool *pool,
			    const size_t *picked, size_t n);

/* Index of a slot in the pool, SIZE_MAX when it holds no card. */
size_t pool_find(const struct pool *pool, uint32_t slot_id);

/**
 * struct pool_request - a request as it was typed
 * @choose: what choose() takes; points into this
 * @wants: storage of its wants
 * @words: storage of their words
 * @n_words: how many
 * @by_model: a model is asked for: counts come from its size
 * @room: for a model: GPUs that the tenant may have more
 */
struct pool_request {
	struct choose_request choose;
	struct choose_want *wants;
	char **words;
	size_t n_words;
	bool by_model;
	size_t room;
};

/*
 * Read the options; when @gpus is false --gpus is left to the caller and no
 * model is asked for.
 */
int pool_request_read(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, bool gpus, struct pool_request *request);
void pool_request_free(struct pool_request *request);
void pool_request_add(struct pool_request *request, const char *word, const char *kind,
		      size_t count);

/*
 * Choose for a request, by model where that is asked for: then @arrangement says on what
 * grounds, and is all zero otherwise. Returns enum ctl_exit.
 */
int pool_choose(struct session *session, struct pool *pool, const struct pool_request *request,
		struct choose_result *result, struct arrangement *arrangement);

/* Read the ports' configuration, and number who are near peers; pool_choose() does it. */
void pool_find_peers(struct pool *pool);

#endif /* GPUCTL_POOL_H */
