// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: arranging
 *
 * Every kind of GPU in the pool makes an offer: so many of it hold the workload. Offers are
 * tried from the fewest GPUs on, and the first one that free slots can serve is taken. When a
 * better offer had to be passed over, then the pool decided; otherwise
 * what made the offer that large. A mixed offer counts on the smallest GPU in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "choose/arrange.h"

/**
 * struct offer - what a kind of GPU makes of a workload
 * @slot: a slot with that kind
 * @choice: the arrangement on it
 * @mixed: GPUs with at least as much memory count as well
 */
struct offer {
	const struct choose_slot *slot;
	struct size_choice choice;
	bool mixed;
};

static int compare_offers(const void *a, const void *b)
{
	const struct offer *oa = a, *ob = b;

	if (oa->choice.fit.gpus != ob->choice.fit.gpus)
		return oa->choice.fit.gpus < ob->choice.fit.gpus ? -1 : 1;
	if (oa->mixed != ob->mixed)
		return oa->mixed ? 1 : -1;
	if (oa->slot->memory != ob->slot->memory)
		return oa->slot->memory < ob->slot->memory ? -1 : 1;
	return strcmp(oa->slot->kind, ob->slot->kind);
}

static uint64_t memory_of(const struct choose_slot *slot)
{
	enum gpu_trust trust;

	return slot->gpu ? cat_gpu_memory_mib(slot->gpu, &trust) << 20 : 0;
}

/* The one kind or vendor that counts were asked of; false when several were named. */
static bool asked_count(const struct choose_request *choose, const struct choose_want **want)
{
	size_t i, n = 0;

	*want = NULL;
	for (i = 0; i < choose->n_wants; i++) {
		if (!choose->wants[i].count)
			continue;
		*want = &choose->wants[i];
		n++;
	}
	return n < 2;
}

static bool left_out(const struct choose_request *choose, const struct choose_slot *slot)
{
	size_t i;

	for (i = 0; i < choose->n_wants; i++)
		if (!choose->wants[i].count && choose->wants[i].word &&
		    choose_matches(slot, choose->wants[i].word))
			return true;
	return slot->bar == CHOOSE_EXCLUDED;
}

/* Offers of each kind, also of those that are not free: they say what would have been. */
static size_t arrange_collect(const struct choose_slot *slots, size_t n,
			      const struct arrange_request *request, const struct choose_want *want,
			      struct offer *offers)
{
	size_t n_offers = 0, i, j;

	for (i = 0; i < n; i++) {
		struct offer offer = { .slot = &slots[i] };
		struct size_request on;

		if (!memory_of(&slots[i]) || left_out(request->choose, &slots[i]) ||
		    (want && want->word && !choose_matches(&slots[i], want->word)))
			continue;
		for (j = 0; j < n_offers && strcmp(offers[j].slot->kind, slots[i].kind);)
			j++;
		if (j < n_offers)
			continue;
		on = size_request_for(request->size, slots[i].gpu);
		if (want)
			size_choose_exact(&on, on.device, (unsigned int)want->count, &offer.choice);
		else
			size_choose(&on, on.device, &offer.choice);
		if (!offer.choice.fit.gpus)
			continue;
		offers[n_offers++] = offer;
		offer.mixed = true;
		if (request->mixed && offer.choice.fit.gpus > 1)
			offers[n_offers++] = offer;
	}
	qsort(offers, n_offers, sizeof(*offers), compare_offers);
	return n_offers;
}

/* Slots of which none is worse than what the offer counts on. */
static struct choose_slot *at_least(const struct choose_slot *slots, size_t n,
				    const struct choose_slot *least)
{
	struct choose_slot *copy = mem_zalloc(n, sizeof(*copy));
	size_t i;

	memcpy(copy, slots, n * sizeof(*copy));
	for (i = 0; i < n; i++)
		if (copy[i].bar == CHOOSE_FREE && (memory_of(&copy[i]) < memory_of(least) ||
						   strcmp(copy[i].gpu->vendor, least->gpu->vendor)))
			copy[i].bar = CHOOSE_EXCLUDED;
	return copy;
}

/* Choose the slots of an offer; exclusions of the request stay. */
static int arrange_take(const struct choose_slot *slots, size_t n,
			const struct arrange_request *request, const struct choose_want *want,
			const struct offer *offer, struct choose_result *result,
			struct fault *fault)
{
	struct choose_request choose_by = *request->choose;
	struct choose_slot *pool = NULL;
	struct choose_want *wants;
	size_t i, k = 0;
	int err;

	wants = mem_zalloc(choose_by.n_wants + 1, sizeof(*wants));
	for (i = 0; i < choose_by.n_wants; i++)
		if (!choose_by.wants[i].count)
			wants[k++] = choose_by.wants[i];
	wants[k].count = offer->choice.fit.gpus;
	wants[k].kind = offer->mixed ? NULL : offer->slot->kind;
	wants[k++].word = offer->mixed && want ? want->word : NULL;
	choose_by.wants = wants;
	choose_by.n_wants = k;
	if (offer->mixed)
		pool = at_least(slots, n, offer->slot);
	err = choose(pool ? pool : slots, n, &choose_by, result, fault);
	free(pool);
	free(wants);
	return err;
}

static size_t arrange_count_free(const struct choose_slot *slots, size_t n, const char *kind)
{
	size_t free_gpus = 0, i;

	for (i = 0; i < n; i++)
		if (slots[i].bar == CHOOSE_FREE && !strcmp(slots[i].kind, kind))
			free_gpus += slots[i].gpus;
	return free_gpus;
}

/* @passed: the best offer that the pool could not serve, NULL when this one is the best. */
static void explain(const struct choose_slot *slots, size_t n, const struct size_request *size,
		    const struct offer *taken, const struct offer *passed, struct arrangement *out)
{
	struct text text = { 0 };

	out->choice = taken->choice;
	out->limit = passed ? LIMIT_POOL : taken->choice.limit;
	size_choice_say(&text, size, &taken->choice);
	text_add(&text, "; decided by ");
	if (passed)
		text_add(&text, "%s: %u x %s would do, %zu free%s", size_limit_names[LIMIT_POOL],
			 passed->choice.fit.gpus, passed->slot->kind,
			 arrange_count_free(slots, n, passed->slot->kind),
			 arrange_count_free(slots, n, passed->slot->kind) >=
					 passed->choice.fit.gpus ?
				 " but not in such a place" :
				 "");
	else
		size_limit_say(&text, size, &taken->choice);
	out->why = text.text;
}

/* Of the same number a smaller GPU is only nearer to what is needed: not a better offer. */
static const struct offer *better(const struct offer *offers, size_t taken)
{
	if (offers[0].choice.fit.gpus < offers[taken].choice.fit.gpus || offers[taken].mixed)
		return &offers[0];
	return NULL;
}

static int no_room(const struct arrange_request *request, const struct offer *offer,
		   struct fault *fault)
{
	fault_set(fault, EDQUOT,
		  "decided by tenant: %s may have %zu more GPU%s, the workload needs %u x %s",
		  request->tenant ? request->tenant : "a request without a tenant", request->room,
		  request->room == 1 ? "" : "s", offer->choice.fit.gpus, offer->slot->kind);
	return -EDQUOT;
}

/* What of a number of GPUs that was asked for stands in the way. */
static int no_count(const struct size_request *size, const struct choose_want *want,
		    struct fault *fault)
{
	unsigned int n = (unsigned int)want->count;
	const char *what = NULL;
	uint64_t count = 0;

	if (size->model && size->task == SIZE_INFER)
		what = size_undivided(size->model, n, &count);
	fault_set(fault, ENOSPC, "decided by count: %u GPU%s do%s not hold this workload", n,
		  n == 1 ? "" : "s", n == 1 ? "es" : "");
	if (what)
		fault_add(fault, ", and %u do%s not divide its %llu %s", n, n == 1 ? "es" : "",
			  (unsigned long long)count, what);
	fault_add(fault, ": leave the count out, or ask for another");
	return -ENOSPC;
}

static int no_offer(const struct choose_slot *slots, size_t n,
		    const struct arrange_request *request, const struct choose_want *want,
		    const struct offer *offers, size_t n_offers, struct fault *fault)
{
	char *free_gpus;
	size_t i;

	if (!n_offers && want)
		return no_count(request->size, want, fault);
	free_gpus = choose_pool(slots, n);
	if (n_offers)
		fault_set(fault, ENOSPC, "decided by pool: the workload needs ");
	else
		fault_set(fault, ENOSPC,
			  "decided by memory: no number of the GPUs here holds this workload; gpuctl size says which GPUs do");
	for (i = 0; i < n_offers; i++)
		if (!offers[i].mixed)
			fault_add(fault, "%s%u x %s", i ? ", or " : "", offers[i].choice.fit.gpus,
				  offers[i].slot->kind);
	fault_add(fault, "; free: %s", free_gpus);
	free(free_gpus);
	return -ENOSPC;
}

/* Several kinds were named: the smallest of what was chosen must do. */
static int check_named(const struct choose_slot *slots, const struct size_request *size,
		       const struct choose_result *result, struct arrangement *out,
		       struct fault *fault)
{
	size_t gpus = choose_gpus(slots, result->picked, result->n), i;
	struct offer offer = { 0 };
	struct text text = { 0 };
	struct size_request on;

	for (i = 0; i < result->n; i++) {
		const struct choose_slot *slot = &slots[result->picked[i]];

		if (!memory_of(slot))
			return fault_set(fault, ENOSPC,
					 "%s is not in the catalogue, so gpuctl cannot size a workload for it",
					 slot->kind);
		if (!offer.slot || memory_of(slot) < memory_of(offer.slot))
			offer.slot = slot;
	}
	on = size_request_for(size, offer.slot->gpu);
	size_choose_exact(&on, on.device, (unsigned int)gpus, &offer.choice);
	if (!offer.choice.fit.gpus) {
		const struct choose_want want = { .count = gpus };

		no_count(size, &want, fault);
		fault_prefix(fault, "the smallest is %s", offer.slot->kind);
		return -ENOSPC;
	}
	out->choice = offer.choice;
	out->limit = offer.choice.limit;
	size_choice_say(&text, size, &offer.choice);
	text_add(&text, " of the smallest, %s; decided by ", offer.slot->kind);
	size_limit_say(&text, size, &offer.choice);
	out->why = text.text;
	return 0;
}

int arrange(const struct choose_slot *slots, size_t n, const struct arrange_request *request,
	    struct choose_result *result, struct arrangement *out, struct fault *fault)
{
	const struct choose_want *want;
	struct offer *offers;
	size_t n_offers, i;
	int err = -ENOSPC;

	memset(out, 0, sizeof(*out));
	memset(result, 0, sizeof(*result));
	if (!asked_count(request->choose, &want)) {
		err = choose(slots, n, request->choose, result, fault);
		if (!err)
			err = check_named(slots, request->size, result, out, fault);
		if (err)
			choose_result_free(result);
		return err;
	}
	offers = mem_zalloc(2 * n, sizeof(*offers));
	n_offers = arrange_collect(slots, n, request, want, offers);
	for (i = 0; i < n_offers && err; i++) {
		if (offers[i].choice.fit.gpus > request->room) {
			err = no_room(request, &offers[i], fault);
			break;
		}
		err = arrange_take(slots, n, request, want, &offers[i], result, fault);
		if (!err)
			explain(slots, n, request->size, &offers[i], better(offers, i), out);
		if (err == -EINVAL)
			break;
	}
	if (err == -ENOSPC)
		err = no_offer(slots, n, request, want, offers, n_offers, fault);
	free(offers);
	return err;
}

void arrangement_free(struct arrangement *out)
{
	free(out->why);
	memset(out, 0, sizeof(*out));
}
