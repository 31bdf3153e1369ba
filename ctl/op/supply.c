// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: supply
 *
 * GPUs of this host are taken first. What a request lacks is bound from the fabric to empty slots and
 * attached; then the request chooses anew, and finds them beside the others. Which ones that are
 * is chosen by the same search (op/offers.h). A request that fails after that gives them back.
 *
 * Others may be faster: another host with a GPU of the fabric, or another request of this host with a
 * slot, or with a GPU that nobody has until the module gives it to a composition. Then it
 * is chosen again. That ends after a few times, and all that was bound for the request and that
 * nobody else has goes back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"
#include "cli/out.h"
#include "op/offers.h"
#include "op/supply.h"

/* Choices that others may be faster than. */
#define SUPPLY_TRIES 3

/**
 * struct supply - what a request lacks, and where it comes
 * @choice: what it is to have
 * @wishes: of each slot that gets a GPU
 * @assigned: what was brought
 */
struct supply {
	struct offers_choice choice;
	struct bring_wish *wishes;
	struct assigned assigned;
};

/**
 * struct lack - what a request lacks
 * @wanted: it wants GPUs, by number, memory or workload
 * @n: of a request by number: number of GPUs
 * @kind: of the first of them, NULL for any or none
 */
struct lack {
	bool wanted;
	size_t n;
	char *kind;
};

/* "nvidia:h100" is h100 for a manager. */
static const char *kind_of(const char *word)
{
	const char *colon = word ? strchr(word, ':') : NULL;

	return colon ? colon + 1 : word;
}

/* What this host has of it is taken off the count. */
static void count_missing(const struct pool *pool, bool *used, const struct choose_want *want,
			  struct lack *lack)
{
	size_t have = 0, i;

	lack->wanted |= want->count > 0;
	for (i = 0; i < pool->n && have < want->count; i++) {
		const struct choose_slot *slot = &pool->slots[i];

		if (used[i] || slot->bar != CHOOSE_FREE ||
		    (want->word && !choose_matches(slot, want->word)))
			continue;
		used[i] = true;
		have += slot->gpus;
	}
	if (have >= want->count)
		return;
	if (!lack->n && want->word)
		lack->kind = mem_strdup(kind_of(want->word));
	lack->n += want->count - have;
}

/* Those by kind first: what is left is for any. A request by memory or by a workload has no number. */
static int find_missing(struct session *session, const struct supply_for *request,
			struct lack *lack)
{
	const struct pool_terms fit = { request->terms->driver, request->terms->harm,
					request->terms->dirty ? NULL : request->to };
	struct pool_request wants;
	struct pool pool;
	bool *used;
	size_t i;
	int ret;

	memset(lack, 0, sizeof(*lack));
	lack->wanted = request->ask->memory || request->ask->size;
	if (lack->wanted)
		return CTL_DONE;
	ret = pool_load(session, &fit, request->ask, &pool);
	if (ret)
		return ret;
	ret = pool_request_make(session->ctx, &session->knowledge, &pool, request->ask, &wants);
	if (ret)
		goto out;
	used = mem_zalloc(pool.n + 1, sizeof(*used));
	for (i = 0; i < wants.choose.n_wants; i++)
		if (wants.wants[i].word)
			count_missing(&pool, used, &wants.wants[i], lack);
	for (i = 0; i < wants.choose.n_wants; i++)
		if (!wants.wants[i].word)
			count_missing(&pool, used, &wants.wants[i], lack);
	free(used);
	pool_request_free(&wants);
out:
	pool_free(&pool);
	return ret;
}

/* As many as are wanted are here, and where they are does not matter. */
static bool is_here(const struct gpu_request *ask, const struct lack *lack)
{
	return !ask->memory && !ask->size && !lack->n && !ask->same_switch && !ask->p2p &&
	       ask->numa < 0;
}

static void supply_free(struct supply *supply)
{
	offers_choice_free(&supply->choice);
	free(supply->wishes);
	assigned_free(&supply->assigned);
	memset(supply, 0, sizeof(*supply));
}

/* Ask the managers, and choose. Where they do not serve it the error says why. */
static int plan_from(struct session *session, const struct supply_for *request,
		     struct offers *offers, const struct lack *lack, struct supply *supply)
{
	size_t i;
	int ret;

	offers_ask(session, offers);
	/* Somebody was asked, which takes time. */
	ret = session_refresh(session);
	if (!ret)
		ret = offers_choose(session, offers, request, false, &supply->choice);
	if (ret == CTL_NO_FIT)
		return offers_refuse(session, offers, request, lack->kind);
	supply->wishes = mem_zalloc(supply->choice.n + 1, sizeof(*supply->wishes));
	for (i = 0; i < supply->choice.n; i++)
		supply->wishes[i].kind = supply->choice.kinds[i];
	return ret;
}

/* What is to come, and where; nothing where it cannot help. */
static int supply_plan(struct session *session, const struct supply_for *request,
		       struct supply *supply)
{
	struct offers offers;
	struct lack lack = { 0 };
	size_t slots;
	int ret = CTL_DONE;

	memset(supply, 0, sizeof(*supply));
	if (request->ask->from)
		return CTL_DONE;
	offers_load(session, &offers);
	if (!offers.managers.n && !offers.managers.n_bad)
		goto out;
	ret = find_missing(session, request, &lack);
	if (ret || !lack.wanted || is_here(request->ask, &lack))
		goto out;
	slots = offers_count_slots(session, &offers, request->ask);
	/* Nobody is asked in vain. A file in error may have more slots. */
	if (slots && slots >= lack.n)
		ret = plan_from(session, request, &offers, &lack, supply);
	else
		ret = managers_check(session->ctx, &offers.managers);
out:
	free(lack.kind);
	offers_free(&offers);
	return ret;
}

/* Bind and attach them, all or none; with -n it is said what would be bound. */
static int supply_bring(struct session *session, const struct op_terms *terms,
			struct supply *supply)
{
	const struct offers_choice *choice = &supply->choice;
	struct gf_slot **slots = NULL;
	int ret = session_slots(session, (int)choice->n, choice->slots, &slots);

	if (ret)
		return ret;
	session_say(session, "this host lacks %zu GPU%s, asking the fabric", choice->n,
		    choice->n == 1 ? "" : "s");
	if (session->ctx->dry_run)
		session_say(session, "%s", choice->why);
	ret = assigned_bring(session, &supply->assigned, terms, slots, supply->wishes, choice->n);
	free(slots);
	if (ret || session->ctx->dry_run)
		return ret;
	ret = session_slots(session, (int)choice->n, choice->slots, &slots);
	if (!ret)
		ret = assigned_attach(session, &supply->assigned, terms, slots, choice->n);
	free(slots);
	return ret ? ret : session_refresh(session);
}

/* What is missing comes from the fabric; where nothing is, the request is only made again. */
static int supply_use(struct session *session, const struct supply_for *request,
		      struct supply *supply, supply_again_fn again, void *arg)
{
	int ret = supply->choice.n ? supply_bring(session, request->terms, supply) : CTL_DONE;

	if (!ret && session->ctx->dry_run) {
		out_line(session->ctx->out, "%s would get them; nothing was changed",
			 request->name);
		return CTL_DONE;
	}
	return ret ? ret : again(session, request->terms, arg);
}

/* Has somebody else one of these slots? */
static bool any_claimed(const struct session *session, const char *own, char *const *names,
			size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, names[i]);

		if (slot && (slot->operation.id ||
			     (slot->composition && strcmp(slot->composition, own) != 0)))
			return true;
	}
	return false;
}

/*
 * Who was faster, when @ret came of that? Of what was brought and what is here the request needs
 * all. The snapshot is that of the last choice, or a newer one.
 */
static enum assigned_rival supply_rival(struct session *session, const struct supply_for *request,
					const struct supply *supply, int ret)
{
	const struct offers_choice *choice = &supply->choice;

	if (gfc_signalled() || (ret != CTL_BUSY && ret != CTL_NO_FIT))
		return ASSIGNED_NO_RIVAL;
	if (supply->assigned.rival)
		return supply->assigned.rival;
	if (ret == CTL_BUSY && session_refresh(session))
		return ASSIGNED_NO_RIVAL;
	return any_claimed(session, request->name, choice->slots, choice->n) ||
			       any_claimed(session, request->name, choice->here, choice->n_here) ?
		       ASSIGNED_RIVAL_HERE :
		       ASSIGNED_NO_RIVAL;
}

/* What the last try has brought and not given back stays, and counts as this host's. */
static int supply_anew(struct session *session, struct supply *last, enum assigned_rival rival)
{
	struct ctl_ctx *ctx = session->ctx;

	session_say(session, "another %s was faster, choosing again",
		    rival == ASSIGNED_RIVAL_HOST ? "host" : "request of this host");
	if (!last->assigned.begun)
		supply_free(last);
	free(ctx->error);
	free(ctx->more);
	ctx->error = NULL;
	ctx->more = NULL;
	return session_refresh(session);
}

static void supplies_end(struct session *session, const struct supply_for *request,
			 struct supply *supplies, bool failed)
{
	size_t i;

	for (i = 0; i < SUPPLY_TRIES && failed; i++)
		assigned_return(session, &supplies[i].assigned, request->terms, NULL);
	for (i = 0; i < SUPPLY_TRIES; i++)
		supply_free(&supplies[i]);
}

/* The error of the request before it was supplied comes first. */
static int say_both(struct ctl_ctx *ctx, int ret, const char *error)
{
	char *why = ctx->error;

	ctx->error = NULL;
	ctl_fail(ctx, (enum ctl_exit)ret, "%s; %s", error, why);
	free(why);
	return ret;
}

int supply_serve(struct session *session, const struct supply_for *request, supply_again_fn again,
		 void *arg)
{
	struct supply supplies[SUPPLY_TRIES] = { 0 }, *supply;
	struct ctl_ctx *ctx = session->ctx;
	enum assigned_rival rival = ASSIGNED_NO_RIVAL;
	char *error = ctx->error;
	size_t i = 0;
	int ret;

	ctx->error = NULL;
	do {
		supply = &supplies[i];
		ret = i ? supply_anew(session, supply - 1, rival) : CTL_DONE;
		if (!ret)
			ret = supply_plan(session, request, supply);
		if (!ret && !supply->choice.n && !i) {
			free(ctx->error);
			ctx->error = error;
			supply_free(supply);
			return CTL_NO_FIT;
		}
		if (!ret)
			ret = supply_use(session, request, supply, again, arg);
		rival = supply_rival(session, request, supply, ret);
	} while (rival && ++i < SUPPLY_TRIES);
	supplies_end(session, request, supplies, ret);
	if (ret)
		say_both(ctx, ret, error);
	free(error);
	return ret;
}

int supply_look(struct session *session, const struct supply_for *request,
		enum supply_outlook *outlook)
{
	struct offers_choice now, later;
	struct offers offers;
	size_t i;
	int ret = CTL_DONE;

	*outlook = SUPPLY_NEVER;
	if (request->ask->from)
		return CTL_DONE;
	offers_load(session, &offers);
	if (!offers.managers.n)
		goto out;
	offers_ask(session, &offers);
	ret = session_refresh(session);
	if (ret)
		goto out;
	ret = offers_choose(session, &offers, request, false, &now);
	/* Where all that was chosen is here, the request is tried again. */
	if (!ret)
		*outlook = now.n ? SUPPLY_NOW : SUPPLY_LATER;
	offers_choice_free(&now);
	/* One that cannot be reached may be later; one that rejects this host will not take it. */
	for (i = 0; ret == CTL_NO_FIT && i < offers.managers.n; i++)
		if (offers.list[i].ret && offers.list[i].ret != CTL_DENIED)
			*outlook = SUPPLY_LATER;
	if (ret == CTL_NO_FIT && *outlook == SUPPLY_NEVER) {
		ret = offers_choose(session, &offers, request, true, &later);
		if (!ret)
			*outlook = SUPPLY_LATER;
		offers_choice_free(&later);
	}
	if (ret == CTL_NO_FIT)
		ret = CTL_DONE;
out:
	offers_free(&offers);
	return ret;
}
