// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * Reads what compose and resize are asked for, and turns a model into numbers
 * of GPUs by its size before slots are chosen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "choose/pool.h"
#include "lib/text.h"
#include "size/options.h"
#include "size/units.h"

const struct ctl_option pool_options[] = {
	{ "gpus", 0, "COUNT", "so many GPUs of any kind, all of one kind where possible" },
	{ "gpu", 'g', "[[VENDOR:]MODEL:]COUNT",
	  "so many of a kind (adds up); 0 excludes; no count: only this kind for --model",
	  "@kinds" },
	{ "memory", 'm', "SIZE", "as many GPUs as have this much memory together, such as 160G" },
	{ "same-switch", 's', NULL, "all behind one switch, or fail" },
	{ "spread", 0, NULL, "over as many switches as possible" },
	{ "numa", 0, "NODE", "all on one NUMA node" },
	{ "p2p", 0, "required", "all near peers: no ACS redirect, no root complex between them",
	  "required" },
	{ "exclude", 'x', "SLOT", "never this slot (may be repeated)" },
	{ NULL },
};

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
	return ctl_fail(ctx, CTL_USAGE, "--gpu: no GPU %s: that model is not of this vendor", word);
}

static int read_wants(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, struct pool_request *request)
{
	bool narrowing = request->by_model || request->choose.memory;
	const char *text;
	size_t pos = 0;

	while ((text = ctl_opt_next(ctx, "gpu", &pos))) {
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

static int read_number(struct ctl_ctx *ctx, const char *option, uint64_t min, uint64_t max,
		       uint64_t *value)
{
	const char *text = ctl_opt(ctx, option);

	if (!text)
		return CTL_DONE;
	if (!text_number(text, max, value) || *value < min)
		return ctl_fail(ctx, CTL_USAGE, "--%s %s: write a number from %llu to %llu", option,
				text, (unsigned long long)min, (unsigned long long)max);
	return CTL_DONE;
}

int pool_request_read(struct ctl_ctx *ctx, const struct knowledge *knowledge,
		      const struct pool *pool, bool gpus, struct pool_request *request)
{
	struct choose_request *choose = &request->choose;
	uint64_t count = 0, numa = 0;
	struct fault fault = { "" };
	int ret;

	memset(request, 0, sizeof(*request));
	choose->same_switch = ctl_flag(ctx, "same-switch");
	choose->spread = ctl_flag(ctx, "spread");
	choose->numa = -1;
	request->by_model = gpus && size_options_given(ctx);
	request->room = ARRANGE_NO_LIMIT;
	ret = read_number(ctx, "numa", 0, 1023, &numa);
	if (!ret && ctl_opt(ctx, "numa"))
		choose->numa = (int)numa;
	choose->p2p = ctl_flag(ctx, "p2p");
	if (!ret && choose->p2p && strcmp(ctl_opt(ctx, "p2p"), "required"))
		ret = ctl_fail(ctx, CTL_USAGE, "--p2p %s: write --p2p required",
			       ctl_opt(ctx, "p2p"));
	if (!ret && ctl_opt(ctx, "memory") &&
	    units_parse_bytes(ctl_opt(ctx, "memory"), &choose->memory, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "--memory: %s", fault.text);
	if (!ret && request->by_model && choose->memory)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--memory and --model both say how much: give one of them");
	if (!ret && gpus && ctl_flag(ctx, "mixed") && !request->by_model)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--mixed is about a workload: add --model, or name the kinds by --gpu");
	if (!ret)
		ret = read_wants(ctx, knowledge, pool, request);
	if (!ret && gpus)
		ret = read_number(ctx, "gpus", 1, GPUFABRIC_MEMBERS_MAX, &count);
	if (!ret && count)
		pool_request_add(request, NULL, NULL, count);
	if (ret)
		pool_request_free(request);
	return ret;
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
static int choose_by_model(struct session *session, const struct pool *pool,
			   const struct pool_request *request, struct choose_result *result,
			   struct arrangement *arrangement)
{
	struct ctl_ctx *ctx = session->ctx;
	struct arrange_request ask = {
		.choose = &request->choose,
		.mixed = ctl_flag(ctx, "mixed"),
		.room = request->room,
		.tenant = ctl_opt(ctx, "tenant"),
	};
	struct size_request size;
	struct fault fault = { "" };
	int ret, err;

	ret = size_options_read(ctx, &session->knowledge.catalogue, NULL, &size);
	if (ret)
		return ret;
	ask.size = &size;
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
					"--p2p: the configuration space of the port of slot %s cannot be read, which takes root",
					pool->slots[i].name);
	return CTL_DONE;
}

int pool_choose(struct session *session, struct pool *pool, const struct pool_request *request,
		struct choose_result *result, struct arrangement *arrangement)
{
	int ret;

	memset(result, 0, sizeof(*result));
	memset(arrangement, 0, sizeof(*arrangement));
	pool_find_peers(pool);
	ret = request->choose.p2p ? check_peers(session->ctx, pool) : CTL_DONE;
	if (ret)
		return ret;
	if (request->by_model)
		return choose_by_model(session, pool, request, result, arrangement);
	return run_choose(session->ctx, pool, &request->choose, result);
}
