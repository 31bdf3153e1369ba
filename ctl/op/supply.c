// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: supply
 *
 * GPUs of this host are taken first. What is missing by number and kind is bound from the
 * fabric to empty slots and attached; then the request chooses anew, and finds them beside the
 * others. A request that fails after that gives them back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"
#include "cli/out.h"
#include "op/supply.h"

/**
 * struct supply - what a request lacks, and where it comes
 * @wishes: GPUs that are to be bound, @n of them
 * @names: slots that get them
 * @words: what @wishes point into
 * @assigned: what was brought
 */
struct supply {
	struct bring_wish *wishes;
	char **names;
	char **words;
	size_t n;
	struct assigned assigned;
};

/* "nvidia:h100" is h100 for a manager. */
static const char *kind_of(const char *word)
{
	const char *colon = word ? strchr(word, ':') : NULL;

	return colon ? colon + 1 : word;
}

static void wish_add(struct supply *supply, const char *kind)
{
	supply->wishes = mem_push(supply->wishes, supply->n, sizeof(*supply->wishes));
	supply->words = mem_push(supply->words, supply->n, sizeof(*supply->words));
	supply->words[supply->n] = kind ? mem_strdup(kind) : NULL;
	supply->wishes[supply->n] = (struct bring_wish){ .kind = supply->words[supply->n] };
	supply->n++;
}

/* What this host has of it is taken off the count. */
static void count_missing(const struct pool *pool, bool *used, const struct choose_want *want,
			  struct supply *supply)
{
	size_t have = 0, i;

	for (i = 0; i < pool->n && have < want->count; i++) {
		const struct choose_slot *slot = &pool->slots[i];

		if (used[i] || slot->bar != CHOOSE_FREE ||
		    (want->word && !choose_matches(slot, want->word)))
			continue;
		used[i] = true;
		have += slot->gpus;
	}
	for (; have < want->count && supply->n < MANAGER_GPUS_MAX; have++)
		wish_add(supply, kind_of(want->word));
}

/* Those by kind first: what is left is for any. */
static int find_missing(struct session *session, const struct op_terms *terms,
			const struct gpu_request *ask, const struct handover_to *to,
			struct supply *supply)
{
	const struct pool_terms fit = { terms->driver, terms->harm, terms->dirty ? NULL : to };
	struct pool_request request;
	struct pool pool;
	bool *used;
	size_t i;
	int ret = pool_load(session, &fit, ask, &pool);

	if (ret)
		return ret;
	ret = pool_request_make(session->ctx, &session->knowledge, &pool, ask, &request);
	if (ret)
		goto out;
	used = mem_zalloc(pool.n + 1, sizeof(*used));
	for (i = 0; i < request.choose.n_wants; i++)
		if (request.wants[i].word)
			count_missing(&pool, used, &request.wants[i], supply);
	for (i = 0; i < request.choose.n_wants; i++)
		if (!request.wants[i].word)
			count_missing(&pool, used, &request.wants[i], supply);
	free(used);
	pool_request_free(&request);
out:
	pool_free(&pool);
	return ret;
}

static bool is_excluded(const struct gpu_request *ask, const char *name)
{
	size_t i;

	for (i = 0; i < ask->n_exclude; i++)
		if (!strcmp(ask->exclude[i], name))
			return true;
	return false;
}

static bool slot_is_target(const struct gf_slot *slot)
{
	return slot->state == GF_STATE_EMPTY && !slot->operation.id && !slot->composition &&
	       !(slot->flags & (GPUFABRIC_SLOT_FLAG_UNMANAGED | GPUFABRIC_SLOT_FLAG_QUARANTINED));
}

/* Names of as many slots; false where there are fewer. */
static bool find_slots(struct session *session, const struct gpu_request *ask,
		       const struct managers *managers, struct supply *supply)
{
	size_t n = 0, i, j;

	supply->names = mem_zalloc(supply->n + 1, sizeof(*supply->names));
	for (i = 0; i < managers->n; i++)
		for (j = 0; j < managers->conf[i].n_ports && n < supply->n; j++) {
			const char *name = managers->conf[i].ports[j].slot;
			const struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);

			if (slot && slot_is_target(slot) && !is_excluded(ask, name))
				supply->names[n++] = mem_strdup(name);
		}
	return n == supply->n;
}

static void supply_free(struct supply *supply)
{
	size_t i;

	for (i = 0; i < supply->n; i++) {
		if (supply->names)
			free(supply->names[i]);
		free(supply->words[i]);
	}
	free(supply->names);
	free(supply->words);
	free(supply->wishes);
	assigned_free(&supply->assigned);
	memset(supply, 0, sizeof(*supply));
}

/* Count what is missing, and find as many empty slots; @supply->n is 0 where that does not help. */
static int supply_plan(struct session *session, const struct op_terms *terms,
		       const struct gpu_request *ask, const struct handover_to *to,
		       struct supply *supply)
{
	struct managers managers;
	int ret;

	memset(supply, 0, sizeof(*supply));
	if (ask->from || ask->memory || ask->size)
		return CTL_DONE;
	managers_load(session->ctx, &managers);
	if (!managers.n && !managers.n_bad)
		return CTL_DONE;
	ret = find_missing(session, terms, ask, to, supply);
	if (!ret && supply->n && !find_slots(session, ask, &managers, supply)) {
		supply_free(supply);
		/* A file in error may have more of them. */
		ret = managers_check(session->ctx, &managers);
	}
	managers_free(&managers);
	return ret;
}

/* Bind and attach them, all or none; with -n it is said what would be bound. */
static int supply_bring(struct session *session, const struct op_terms *terms,
			struct supply *supply)
{
	struct gf_slot **slots = NULL;
	int ret = session_slots(session, (int)supply->n, supply->names, &slots);

	if (ret)
		return ret;
	session_say(session, "this host lacks %zu GPU%s, asking the fabric", supply->n,
		    supply->n == 1 ? "" : "s");
	ret = assigned_bring(session, &supply->assigned, terms, slots, supply->wishes, supply->n);
	free(slots);
	if (ret || session->ctx->dry_run)
		return ret;
	ret = session_slots(session, (int)supply->n, supply->names, &slots);
	if (!ret)
		ret = assigned_attach(session, &supply->assigned, terms, slots, supply->n);
	free(slots);
	return ret ? ret : session_refresh(session);
}

/* What is missing came from the fabric, and goes back there when the request fails. */
static int supply_use(struct session *session, const struct op_terms *terms,
		      struct supply *supply, const char *name,
		      int (*again)(struct session *session, const struct op_terms *terms,
				   void *arg),
		      void *arg)
{
	int ret = supply_bring(session, terms, supply);

	if (!ret && session->ctx->dry_run) {
		out_line(session->ctx->out, "%s would get them; nothing was changed", name);
		return CTL_DONE;
	}
	if (!ret)
		ret = again(session, terms, arg);
	if (ret)
		assigned_return(session, &supply->assigned, terms, NULL);
	return ret;
}

int supply_serve(struct session *session, const struct op_terms *terms,
		 const struct gpu_request *ask, const struct handover_to *to, const char *name,
		 int (*again)(struct session *session, const struct op_terms *terms, void *arg),
		 void *arg)
{
	struct ctl_ctx *ctx = session->ctx;
	char *error = ctx->error, *why;
	struct supply supply;
	int ret;

	ctx->error = NULL;
	ret = supply_plan(session, terms, ask, to, &supply);
	if (!ret && !supply.n) {
		ctx->error = error;
		return CTL_NO_FIT;
	}
	if (!ret)
		ret = supply_use(session, terms, &supply, name, again, arg);
	if (ret) {
		why = ctx->error;
		ctx->error = NULL;
		ctl_fail(ctx, (enum ctl_exit)ret, "%s; %s", error, why);
		free(why);
	}
	supply_free(&supply);
	free(error);
	return ret;
}
