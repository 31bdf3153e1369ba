// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * Turns what compose and resize are asked for into what choose() takes, a workload into
 * numbers of GPUs by its size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"

void pool_request_add(struct pool_request *request, const char *word, const char *kind,
		      size_t count)
{
	struct choose_request *choose = &request->choose;

	request->wants = mem_grow(request->wants, choose->n_wants + 1, sizeof(*request->wants));
	request->wants[choose->n_wants++] =
		(struct choose_want){ .word = word, .count = count, .kind = kind };
	choose->wants = request->wants;
}

void pool_request_free(struct pool_request *request)
{
	size_t i;

	for (i = 0; i < request->n_words; i++)
		free(request->words[i]);
	free(request->words);
	free(request->wants);
	free(request->home);
	free(request->home_groups);
	memset(request, 0, sizeof(*request));
}

/* Is there such a kind at all, in the catalogue or in a slot? */
static int check_word(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, const char *word)
{
	const struct catalogue *cat = &knowledge->catalogue;
	const char *colon = strchr(word, ':'), *model = colon ? colon + 1 : word;
	struct fault fault = { "" };
	const struct cat_gpu *gpu = NULL;
	size_t i;

	for (i = 0; i < pool->n; i++)
		if (choose_matches(&pool->slots[i], word))
			return CTL_DONE;
	for (i = 0; i < cat->n_gpus; i++) {
		struct choose_slot probe = { .kind = cat->gpus[i].brief, .gpu = &cat->gpus[i] };

		if (choose_matches(&probe, word))
			return CTL_DONE;
	}
	if (cat_gpu_find(cat->gpus, cat->n_gpus, model, &gpu, &fault) == -ENOENT)
		return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", fault.text);
	return ctl_fail(ctx, CTL_USAGE, "--gpu %s: this vendor has no such model", word);
}

static int read_kinds(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, struct pool_request *request)
{
	const struct gpu_request *ask = request->ask;
	bool narrowing = ask->size || ask->memory;
	size_t i;

	for (i = 0; i < ask->n_kinds; i++) {
		const char *text = ask->kinds[i];
		struct fault fault = { "" };
		uint64_t number;
		size_t count;
		char *word;
		int ret;

		if (narrowing && !strchr(text, ':') && !text_number(text, UINT64_MAX, &number)) {
			ret = check_word(ctx, knowledge, pool, text);
			if (ret)
				return ret;
			continue;
		}
		if (choose_parse_want(text, &word, &count, &fault))
			return ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
		if (word) {
			request->words = mem_grow(request->words, request->n_words + 1,
						  sizeof(*request->words));
			request->words[request->n_words++] = word;
			ret = check_word(ctx, knowledge, pool, word);
			if (ret)
				return ret;
		}
		pool_request_add(request, word, NULL, count);
	}
	return CTL_DONE;
}

int pool_request_make(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, const struct gpu_request *ask,
		      struct pool_request *request)
{
	struct choose_request *choose = &request->choose;
	int ret;

	memset(request, 0, sizeof(*request));
	request->ask = ask;
	request->room = ARRANGE_NO_LIMIT;
	choose->same_switch = ask->same_switch;
	choose->spread = ask->spread;
	choose->numa = ask->numa;
	choose->p2p = ask->p2p;
	choose->memory = ask->memory;
	ret = read_kinds(ctx, knowledge, pool, request);
	if (!ret && ask->gpus)
		pool_request_add(request, NULL, NULL, ask->gpus);
	if (ret)
		pool_request_free(request);
	return ret;
}

void pool_request_home(const struct session *session, struct pool_request *request,
		       struct pool *pool, const size_t *members, size_t n)
{
	size_t n_home = 0, n_groups = 0, i, j;

	request->home = mem_grow(request->home, n, sizeof(*request->home));
	request->home_groups = mem_grow(request->home_groups, n, sizeof(*request->home_groups));
	for (i = 0; i < n; i++) {
		const struct choose_slot *slot = &pool->slots[members[i]];

		for (j = 0; j < n_home && request->home[j].switch_id != slot->switch_id;)
			j++;
		if (j == n_home)
			request->home[n_home++] = (struct choose_home){
				.switch_id = slot->switch_id,
				.numa = slot->numa,
				.path = slot->path,
			};
		/* A group that is there twice does no harm. */
		if (slot->group)
			request->home_groups[n_groups++] = slot->group;
	}
	request->choose.home = request->home;
	request->choose.n_home = n_home;
	request->choose.home_groups = request->home_groups;
	request->choose.n_home_groups = n_groups;
	pool_find_peers(session, pool);
	if (n)
		request->choose.home_peers = pool->slots[members[0]].peers;
}

static int run_choose(struct ctl_ctx *ctx, const struct pool *pool,
		      const struct choose_request *request, struct choose_result *result)
{
	struct fault fault = { "" };
	int err;

	err = choose(pool->slots, pool->n, request, result, &fault);
	if (!err)
		return CTL_DONE;
	return ctl_fail(ctx, err == -EINVAL ? CTL_USAGE : CTL_NO_FIT, "%s", fault.text);
}

/* A workload: its size says how many of which kind, or whether a count holds it. */
static int choose_by_model(struct ctl_ctx *ctx, const struct pool *pool,
			   const struct pool_request *request, struct choose_result *result,
			   struct arrangement *arrangement)
{
	struct arrange_request ask = {
		.choose = &request->choose,
		.size = request->ask->size,
		.mixed = request->ask->mixed,
		.room = request->room,
		.tenant = request->tenant,
	};
	struct fault fault = { "" };
	int err;

	err = arrange(pool->slots, pool->n, &ask, result, arrangement, &fault);
	if (!err)
		return CTL_DONE;
	return ctl_fail(ctx, err == -EINVAL ? CTL_USAGE : CTL_NO_FIT, "%s", fault.text);
}

/* Near peers are wanted: is it known who are? */
static int check_peers(struct ctl_ctx *ctx, const struct pool *pool)
{
	size_t i;

	for (i = 0; i < pool->n; i++)
		if (pool->slots[i].bar == CHOOSE_FREE && !pool->slots[i].peers)
			return ctl_fail(ctx, CTL_DENIED,
					"--p2p: gpuctl cannot read the configuration space of the port of slot %s: run it as root",
					pool->slots[i].name);
	return CTL_DONE;
}

int pool_choose(struct session *session, struct pool *pool, const struct pool_request *request,
		struct choose_result *result, struct arrangement *arrangement)
{
	int ret;

	memset(result, 0, sizeof(*result));
	memset(arrangement, 0, sizeof(*arrangement));
	pool_find_peers(session, pool);
	ret = request->choose.p2p ? check_peers(session->ctx, pool) : CTL_DONE;
	if (ret)
		return ret;
	if (request->ask->size)
		return choose_by_model(session->ctx, pool, request, result, arrangement);
	return run_choose(session->ctx, pool, &request->choose, result);
}
