// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: supply
 *
 * GPUs of this host are taken first. What is missing by number and kind is bound from the
 * fabric to empty slots and attached; then the request chooses anew, and finds them beside the
 * others. A request that fails after that gives them back.
 *
 * Another request of this host may claim a GPU that was bound for this one, as nobody has it until the
 * module gives it to a composition. Then what is missing now is bound as well. That ends after a few
 * times, and all that was bound for the request and that nobody else has goes back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"
#include "cli/out.h"
#include "op/bringing.h"
#include "op/supply.h"

/* Another request of this host may take a slot between the look and the lock, or a GPU after it. */
#define SUPPLY_TRIES 3

/**
 * struct supply - what a request lacks, and where it comes
 * @wishes: GPUs that are to be bound, @n of them
 * @names: slots that get them
 * @words: what @wishes point into
 * @assigned: what was brought
 * @brought: somebody was asked to bring it
 */
struct supply {
	struct bring_wish *wishes;
	char **names;
	char **words;
	size_t n;
	struct assigned assigned;
	bool brought;
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

/* Those by kind first: what is left is for any. @suppose: what others keep here had come back. */
static int find_missing(struct session *session, const struct op_terms *terms,
			const struct gpu_request *ask, const struct handover_to *to, bool suppose,
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
	if (suppose)
		pool_suppose_free(&pool);
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

/**
 * struct offer - what one manager can give
 * @conf: the manager
 * @reply: its inventory; without one nothing is known, and nothing is counted
 * @known: there is one
 * @taken: its GPUs that are chosen for a wish
 */
struct offer {
	const struct manager_conf *conf;
	struct manager_reply reply;
	bool known;
	bool *taken;
};

/* Has it one more of this kind? Where that is not known it may. */
static bool offer_take(struct offer *offer, const char *kind)
{
	const struct inventory *inventory = &offer->reply.inventory;
	size_t i;

	for (i = 0; offer->known && i < inventory->n; i++) {
		if (offer->taken[i] || inventory->gpus[i].state != POOL_FREE ||
		    !pool_gpu_is(&inventory->gpus[i], kind))
			continue;
		offer->taken[i] = true;
		return true;
	}
	return !offer->known;
}

static bool is_named(const struct supply *supply, const char *name)
{
	size_t i;

	for (i = 0; i < supply->n; i++)
		if (supply->names[i] && !strcmp(supply->names[i], name))
			return true;
	return false;
}

/* As far as this host knows. */
static bool takes_gpu(const struct session *session, const struct gpu_request *ask,
		      const char *name)
{
	const struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);

	return slot && gf_slot_is_vacant(slot) && !is_excluded(ask, name);
}

static size_t count_slots(const struct session *session, const struct gpu_request *ask,
			  const struct managers *managers)
{
	size_t n = 0, i, j;

	for (i = 0; i < managers->n; i++)
		for (j = 0; j < managers->conf[i].n_ports; j++)
			n += takes_gpu(session, ask, managers->conf[i].ports[j].slot);
	return n;
}

/* An empty slot of this manager that nobody else is after, and at whose port there is no GPU. */
static const char *offer_slot(const struct session *session, const struct gpu_request *ask,
			      const struct offer *offer, const struct supply *supply)
{
	size_t i;

	for (i = 0; i < offer->conf->n_ports; i++) {
		const char *name = offer->conf->ports[i].slot;
		const struct pool_gpu *there =
			inventory_at(&offer->reply.inventory, offer->conf->ports[i].port);

		if (takes_gpu(session, ask, name) && !(there && there->host) &&
		    !is_named(supply, name) && bringing_is_free(name))
			return name;
	}
	return NULL;
}

/*
 * A slot for each wish, at a manager that has such a GPU. Where none has one, a slot all the
 * same: that manager then says who has them. False where there are fewer slots.
 */
static bool offers_spread(const struct session *session, const struct gpu_request *ask,
			  struct offer *offers, size_t n, struct supply *supply)
{
	size_t i, j;

	for (i = 0; i < supply->n; i++) {
		const char *any = NULL, *slot = NULL;

		for (j = 0; j < n && !slot; j++) {
			const char *name = offer_slot(session, ask, &offers[j], supply);

			any = any ? any : name;
			if (name && offer_take(&offers[j], supply->wishes[i].kind))
				slot = name;
		}
		if (!any)
			return false;
		supply->names[i] = mem_strdup(slot ? slot : any);
	}
	return true;
}

/* Ask each manager; one that cannot be asked says so when it is asked to bind. */
static struct offer *offers_ask(struct session *session, const struct managers *managers)
{
	struct offer *offers = mem_zalloc(managers->n + 1, sizeof(*offers));
	char *before = session->ctx->error;
	size_t i;

	session->ctx->error = NULL;
	for (i = 0; i < managers->n; i++) {
		offers[i].conf = &managers->conf[i];
		offers[i].known = !manager_inventory(session->ctx, offers[i].conf,
						     &session->knowledge.catalogue, false,
						     &offers[i].reply);
		offers[i].taken = mem_zalloc(offers[i].reply.inventory.n + 1, sizeof(bool));
	}
	free(session->ctx->error);
	session->ctx->error = before;
	return offers;
}

static void offers_free(struct offer *offers, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		manager_reply_free(&offers[i].reply);
		free(offers[i].taken);
	}
	free(offers);
}

/* Which slots get them; false where there are not enough. */
static bool find_slots(struct session *session, const struct gpu_request *ask,
		       const struct managers *managers, struct supply *supply)
{
	struct offer *offers;
	bool found;

	/* Nobody is asked in vain. */
	if (count_slots(session, ask, managers) < supply->n)
		return false;
	supply->names = mem_zalloc(supply->n + 1, sizeof(*supply->names));
	offers = offers_ask(session, managers);
	found = offers_spread(session, ask, offers, managers->n, supply);
	offers_free(offers, managers->n);
	return found;
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
	ret = find_missing(session, terms, ask, to, false, supply);
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
	supply->brought = true;
	ret = session_slots(session, (int)supply->n, supply->names, &slots);
	if (!ret)
		ret = assigned_attach(session, &supply->assigned, terms, slots, supply->n);
	free(slots);
	return ret ? ret : session_refresh(session);
}

/* What is missing comes from the fabric; where nothing is, the request is only made again. */
static int supply_use(struct session *session, const struct op_terms *terms, struct supply *supply,
		      const char *name,
		      int (*again)(struct session *session, const struct op_terms *terms,
				   void *arg),
		      void *arg)
{
	int ret = supply->n ? supply_bring(session, terms, supply) : CTL_DONE;

	if (!ret && session->ctx->dry_run) {
		out_line(session->ctx->out, "%s would get them; nothing was changed", name);
		return CTL_DONE;
	}
	return ret ? ret : again(session, terms, arg);
}

/* Slots that a composition or an operation has. */
static size_t count_claimed(const struct session *session)
{
	size_t n = 0, i;

	for (i = 0; i < session->fabric.n_slots; i++)
		n += session->fabric.slots[i].composition || session->fabric.slots[i].operation.id;
	return n;
}

/* Did @ret come of another request of this host? @claimed: of the snapshot that was planned by. */
static bool supply_was_beaten(const struct session *session, const struct supply *supply, int ret,
			      size_t claimed)
{
	if (ret == CTL_BUSY && !supply->brought)
		return true;
	return (ret == CTL_BUSY || ret == CTL_NO_FIT) && supply->brought && !gfc_signalled() &&
	       count_claimed(session) > claimed;
}

/* What the last try has brought and not given back stays, and counts as this host's. */
static int supply_anew(struct session *session, struct supply *last)
{
	struct ctl_ctx *ctx = session->ctx;

	session_say(session, "another request of this host was faster, choosing again");
	if (!last->assigned.begun)
		supply_free(last);
	free(ctx->error);
	free(ctx->more);
	ctx->error = NULL;
	ctx->more = NULL;
	return session_refresh(session);
}

int supply_serve(struct session *session, const struct op_terms *terms,
		 const struct gpu_request *ask, const struct handover_to *to, const char *name,
		 int (*again)(struct session *session, const struct op_terms *terms, void *arg),
		 void *arg)
{
	struct ctl_ctx *ctx = session->ctx;
	struct supply supplies[SUPPLY_TRIES] = { 0 }, *supply;
	char *error = ctx->error, *why;
	size_t claimed, i = 0;
	int ret;

	ctx->error = NULL;
	do {
		supply = &supplies[i];
		ret = i ? supply_anew(session, supply - 1) : CTL_DONE;
		claimed = count_claimed(session);
		if (!ret)
			ret = supply_plan(session, terms, ask, to, supply);
		if (!ret && !supply->n && !i) {
			free(ctx->error);
			ctx->error = error;
			return CTL_NO_FIT;
		}
		if (!ret)
			ret = supply_use(session, terms, supply, name, again, arg);
	} while (supply_was_beaten(session, supply, ret, claimed) && ++i < SUPPLY_TRIES);
	for (i = 0; i < SUPPLY_TRIES && ret; i++)
		assigned_return(session, &supplies[i].assigned, terms, NULL);
	if (ret) {
		why = ctx->error;
		ctx->error = NULL;
		ctl_fail(ctx, (enum ctl_exit)ret, "%s; %s", error, why);
		free(why);
	}
	for (i = 0; i < SUPPLY_TRIES; i++)
		supply_free(&supplies[i]);
	free(error);
	return ret;
}

/* Will it be free, or is it? What the manager has not seen yet may be. */
static bool gpu_comes(const struct pool_gpu *gpu, bool now)
{
	if (gpu->state == POOL_FREE || now)
		return gpu->state == POOL_FREE;
	return gpu->state == POOL_CHANGING || gpu->state == POOL_OTHERS || pool_gpu_is_unseen(gpu);
}

/* Is there a GPU for each wish, @now or later? */
static bool offers_cover(struct offer *offers, size_t n, const struct supply *supply, bool now)
{
	size_t i, j, k;

	for (j = 0; j < n; j++)
		memset(offers[j].taken, 0, offers[j].reply.inventory.n * sizeof(bool));
	for (i = 0; i < supply->n; i++) {
		bool found = false;

		for (j = 0; j < n && !found; j++)
			for (k = 0; k < offers[j].reply.inventory.n && !found; k++) {
				const struct pool_gpu *gpu = &offers[j].reply.inventory.gpus[k];

				found = !offers[j].taken[k] && gpu_comes(gpu, now) &&
					pool_gpu_is(gpu, supply->wishes[i].kind);
				offers[j].taken[k] |= found;
			}
		if (!found)
			return false;
	}
	return true;
}

/* @lacks: what is missing now, @would: what is missing even if nobody here had any. */
static enum supply_outlook outlook_of(const struct session *session, const struct gpu_request *ask,
				      const struct managers *managers, struct offer *offers,
				      const struct supply *lacks, const struct supply *would)
{
	size_t i, ports = 0;

	if (count_slots(session, ask, managers) >= lacks->n &&
	    offers_cover(offers, managers->n, lacks, true))
		return SUPPLY_NOW;
	for (i = 0; i < managers->n; i++) {
		ports += managers->conf[i].n_ports;
		if (!offers[i].known)
			return SUPPLY_LATER;
	}
	return ports >= would->n && offers_cover(offers, managers->n, would, false) ? SUPPLY_LATER :
										      SUPPLY_NEVER;
}

int supply_look(struct session *session, const struct op_terms *terms,
		const struct gpu_request *ask, const struct handover_to *to,
		enum supply_outlook *outlook)
{
	struct supply lacks = { 0 }, would = { 0 };
	struct managers managers;
	struct offer *offers;
	int ret = CTL_DONE;

	*outlook = SUPPLY_NEVER;
	if (ask->from || ask->memory || ask->size)
		return CTL_DONE;
	managers_load(session->ctx, &managers);
	if (managers.n) {
		offers = offers_ask(session, &managers);
		ret = session_refresh(session);
		if (!ret)
			ret = find_missing(session, terms, ask, to, false, &lacks);
		if (!ret)
			ret = find_missing(session, terms, ask, to, true, &would);
		if (!ret && lacks.n)
			*outlook = outlook_of(session, ask, &managers, offers, &lacks, &would);
		offers_free(offers, managers.n);
	}
	supply_free(&lacks);
	supply_free(&would);
	managers_free(&managers);
	return ret;
}
