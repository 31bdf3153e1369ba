// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: offers
 *
 * The GPUs that are free at fabric managers become slots of the pool, as if they were bound to the empty
 * slots of this host already (choose/imagine.h), and the search that chooses for every request chooses
 * among them. So a request by memory or by a workload gets from the fabric what it would get if all
 * of these GPUs were here, and those that are here come first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/imagine.h"
#include "choose/pool.h"
#include "choose/quota.h"
#include "managers/bringing.h"
#include "op/offers.h"

/**
 * struct choosing - one choice among offers
 * @session: the run
 * @request: what it is for
 * @quota: tenants, and what they hold
 * @pool: slots with a card
 * @ports: empty slots, as imagine() takes them
 * @gpus: what managers offer, likewise
 * @of: of each of @gpus what its manager says
 */
struct choosing {
	struct session *session;
	const struct supply_for *request;
	struct quota quota;
	struct pool pool;
	struct imagine_port *ports;
	size_t n_ports;
	struct imagine_gpu *gpus;
	const struct pool_gpu **of;
	size_t n_gpus;
};

void offers_load(struct session *session, struct offers *offers)
{
	memset(offers, 0, sizeof(*offers));
	managers_load(session->ctx, &offers->managers);
}

void offers_ask(struct session *session, struct offers *offers)
{
	offers->list =
		managers_inventory(session->ctx, &offers->managers, &session->knowledge.catalogue);
}

void offers_free(struct offers *offers)
{
	managers_asked_free(offers->list, offers->managers.n);
	managers_free(&offers->managers);
	memset(offers, 0, sizeof(*offers));
}

static bool is_left_out(const struct gpu_request *ask, const char *name)
{
	size_t i;

	for (i = 0; i < ask->n_exclude; i++)
		if (!strcmp(ask->exclude[i], name))
			return true;
	return false;
}

static const struct gf_slot *takes_gpu(const struct session *session, const struct gpu_request *ask,
				       const char *name)
{
	const struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);

	return slot && gf_slot_is_vacant(slot) && !is_left_out(ask, name) ? slot : NULL;
}

size_t offers_count_slots(const struct session *session, const struct offers *offers,
			  const struct gpu_request *ask)
{
	size_t n = 0, i, j;

	for (i = 0; i < offers->managers.n; i++)
		for (j = 0; j < offers->managers.conf[i].n_ports; j++)
			n += !!takes_gpu(session, ask, offers->managers.conf[i].ports[j].slot);
	return n;
}

/* The slot of a port that can get a GPU: nobody else is after it, and the port has none. */
static const struct gf_slot *open_slot(const struct session *session, const struct gpu_request *ask,
				       const struct manager_asked *offer, size_t port, bool later)
{
	const char *name = offer->conf->ports[port].slot;
	const struct pool_gpu *there =
		inventory_at(&offer->reply.inventory, offer->conf->ports[port].port);

	if (later)
		return is_left_out(ask, name) ? NULL : gf_slot_by_name(&session->fabric, name);
	if ((there && there->host) || !bringing_is_free(name))
		return NULL;
	return takes_gpu(session, ask, name);
}

static void add_ports(struct choosing *c, const struct offers *offers, bool later)
{
	size_t i, j;

	for (i = 0; i < offers->managers.n; i++) {
		const struct manager_asked *offer = &offers->list[i];

		for (j = 0; !offer->ret && j < offer->conf->n_ports; j++) {
			const struct gf_slot *slot =
				open_slot(c->session, c->request->ask, offer, j, later);

			if (!slot)
				continue;
			c->ports = mem_push(c->ports, c->n_ports, sizeof(*c->ports));
			c->ports[c->n_ports] = (struct imagine_port){ .manager = i };
			pool_place(c->session, &c->pool, slot, &c->ports[c->n_ports++].place);
		}
	}
}

/* Will it be free, or is it? What the manager has not seen yet may be. */
static bool gpu_comes(const struct pool_gpu *gpu, bool later)
{
	return gpu->state == POOL_FREE ||
	       (later && (gpu->state == POOL_CHANGING || gpu->state == POOL_OTHERS ||
			  pool_gpu_is_unseen(gpu)));
}

/* GPUs of one kind are called the same here and there. */
static const char *kind_here(const struct pool *pool, const struct pool_gpu *gpu)
{
	size_t i;

	for (i = 0; i < pool->n && gpu->gpu; i++)
		if (pool->slots[i].gpu == gpu->gpu)
			return pool->slots[i].kind;
	return gpu->label;
}

static void add_gpus(struct choosing *c, const struct offers *offers, bool later)
{
	size_t i, j;

	for (i = 0; i < offers->managers.n; i++) {
		const struct inventory *inventory = &offers->list[i].reply.inventory;

		for (j = 0; j < inventory->n; j++) {
			const struct pool_gpu *gpu = &inventory->gpus[j];
			struct imagine_gpu imagined = {
				.kind = kind_here(&c->pool, gpu),
				.gpu = gpu->gpu,
				.vendor = (uint16_t)gpu->vendor,
				.device = (uint16_t)gpu->device,
				.manager = i,
			};
			const struct choose_slot probe = { .kind = imagined.kind, .gpu = gpu->gpu };
			enum gpu_trust trust;

			if (!gpu_comes(gpu, later) || pool_narrows_out(c->request->ask, &probe))
				continue;
			if (gpu->gpu)
				imagined.memory = cat_gpu_memory_mib(gpu->gpu, &trust) << 20;
			c->gpus = mem_push(c->gpus, c->n_gpus, sizeof(*c->gpus));
			c->of = mem_push(c->of, c->n_gpus, sizeof(*c->of));
			c->gpus[c->n_gpus] = imagined;
			c->of[c->n_gpus++] = gpu;
		}
	}
}

/* A composition that grows stays close to what it has. */
static void set_home(struct choosing *c, struct pool *pool, struct pool_request *request)
{
	const struct gf_composition *composition =
		gf_composition_by_name(&c->session->fabric, c->request->name);
	size_t *members, n = 0, i;

	if (!composition)
		return;
	members = mem_zalloc(composition->n_members + 1, sizeof(*members));
	for (i = 0; i < composition->n_members; i++) {
		members[n] = pool_find(pool, composition->members[i].slot_id);
		n += members[n] != SIZE_MAX;
	}
	pool_request_home(c->session, request, pool, members, n);
	free(members);
}

/* A resize says itself what its tenant gives back. */
static int choice_admit(struct choosing *c, const struct pool *pool,
			const struct choose_result *result)
{
	if (gf_composition_by_name(&c->session->fabric, c->request->name))
		return CTL_DONE;
	return quota_admit(c->session, &c->quota, pool, c->request->to->tenant,
			   choose_gpus(pool->slots, result->picked, result->n), 0);
}

static int search(void *arg, struct choose_slot *slots, size_t n, struct choose_result *result)
{
	struct choosing *c = arg;
	struct ctl_ctx *ctx = c->session->ctx;
	struct pool pool = { .slots = slots, .n = n };
	struct arrangement arrangement = { 0 };
	struct pool_request request;
	int ret;

	free(ctx->error);
	ctx->error = NULL;
	ret = pool_request_make(ctx, &c->session->knowledge, &pool, c->request->ask, &request);
	if (ret)
		return ret;
	request.tenant = c->request->to->tenant;
	request.room = quota_room(&c->quota, &pool, request.tenant);
	set_home(c, &pool, &request);
	ret = pool_choose(c->session, &pool, &request, result, &arrangement);
	if (!ret)
		ret = choice_admit(c, &pool, result);
	if (!ret && arrangement.why) {
		free(result->why);
		result->why = mem_strdup(arrangement.why);
	}
	if (ret)
		choose_result_free(result);
	arrangement_free(&arrangement);
	pool_request_free(&request);
	return ret;
}

static void choice_take(const struct choosing *c, const struct imagined *best,
			struct offers_choice *choice)
{
	size_t i;

	choice->slots = mem_zalloc(best->n + 1, sizeof(*choice->slots));
	choice->kinds = mem_zalloc(best->n + 1, sizeof(*choice->kinds));
	choice->here = mem_zalloc(best->n_here + 1, sizeof(*choice->here));
	choice->why = mem_strdup(best->why);
	for (i = 0; i < best->n; i++) {
		const struct pool_gpu *gpu = c->of[best->gpus[i]];

		choice->slots[i] = mem_strdup(c->ports[best->ports[i]].place.name);
		choice->kinds[i] = mem_strdup(gpu->gpu ? gpu->gpu->id : gpu->label);
	}
	choice->n = best->n;
	for (i = 0; i < best->n_here; i++)
		choice->here[i] = mem_strdup(c->pool.slots[best->here[i]].name);
	choice->n_here = best->n_here;
}

static int choose_among(struct choosing *c, const struct offers *offers, bool later,
			struct offers_choice *choice)
{
	const struct gpu_request *ask = c->request->ask;
	struct pool_request request;
	struct imagined best;
	struct imagine what;
	int ret;

	if (later)
		pool_suppose_free(&c->pool);
	add_ports(c, offers, later);
	add_gpus(c, offers, later);
	ret = pool_request_make(c->session->ctx, &c->session->knowledge, &c->pool, ask, &request);
	if (ret)
		return ret;
	what = (struct imagine){
		.slots = c->pool.slots,
		.n = c->pool.n,
		.ports = c->ports,
		.n_ports = c->n_ports,
		.gpus = c->gpus,
		.n_gpus = c->n_gpus,
		.wants = request.choose.wants,
		.n_wants = request.choose.n_wants,
		.fewest = ask->size,
	};
	ret = imagine(&what, search, c, &best);
	if (!ret)
		choice_take(c, &best, choice);
	imagined_free(&best);
	pool_request_free(&request);
	return ret;
}

int offers_choose(struct session *session, const struct offers *offers,
		  const struct supply_for *request, bool later, struct offers_choice *choice)
{
	const struct pool_terms fit = { request->terms->driver, request->terms->harm,
					request->terms->dirty ? NULL : request->to };
	struct choosing c = { .session = session, .request = request };
	struct ctl_ctx *ctx = session->ctx;
	char *before = ctx->error;
	int ret;

	memset(choice, 0, sizeof(*choice));
	ctx->error = NULL;
	ret = quota_begin(session, request->to->tenant, &c.quota);
	if (ret)
		goto out;
	if (later)
		quota_suppose_free(&c.quota);
	ret = pool_load(session, &fit, request->ask, &c.pool);
	if (!ret)
		ret = choose_among(&c, offers, later, choice);
	pool_free(&c.pool);
	quota_end(&c.quota);
	free(c.ports);
	free(c.gpus);
	free(c.of);
out:
	if (ret && ret != CTL_NO_FIT) {
		free(before);
		return ret;
	}
	free(ctx->error);
	ctx->error = before;
	return ret;
}

static void texts_free(char **texts, size_t n)
{
	while (n)
		free(texts[--n]);
	free(texts);
}

void offers_choice_free(struct offers_choice *choice)
{
	texts_free(choice->slots, choice->n);
	texts_free(choice->kinds, choice->n);
	texts_free(choice->here, choice->n_here);
	free(choice->why);
	memset(choice, 0, sizeof(*choice));
}

static size_t count_free(const struct inventory *inventory, const char *kind)
{
	size_t n = 0, i;

	for (i = 0; i < inventory->n; i++)
		n += inventory->gpus[i].state == POOL_FREE &&
		     pool_gpu_is(&inventory->gpus[i], kind);
	return n;
}

static void offer_say(struct text *text, const struct manager_asked *offer, const char *kind,
		      size_t slots)
{
	const struct inventory *inventory = &offer->reply.inventory;
	size_t n = count_free(inventory, kind);
	char *who = inventory_who_has(inventory, kind);

	text_add(text, "fabric manager %s has ", offer->conf->name);
	if (n)
		text_add(text, "%zu", n);
	else
		text_add(text, "no");
	text_add(text, " free GPU%s%s%s: ", n > 1 ? "s" : "", kind ? " of kind " : "",
		 kind ? kind : "");
	if (n)
		text_add(text, "%zu empty slot%s%s", slots, slots == 1 ? "" : "s",
			 strcmp(who, "there is none") ? ", " : "");
	if (!n || strcmp(who, "there is none"))
		text_add(text, "%s", who);
	free(who);
}

int offers_refuse(struct session *session, const struct offers *offers,
		  const struct supply_for *request, const char *kind)
{
	size_t slots = offers_count_slots(session, offers, request->ask), i;
	const struct manager_asked *failed = NULL;
	bool answered = request->waits;
	struct text text = { 0 };
	int ret;

	for (i = 0; i < offers->managers.n; i++) {
		const struct manager_asked *offer = &offers->list[i];

		text_add(&text, "%s", i ? "; " : "");
		if (offer->ret)
			text_add(&text, "%s", offer->why);
		else
			offer_say(&text, offer, kind, slots);
		answered |= !offer->ret;
		if (offer->ret && !failed)
			failed = offer;
	}
	if (failed && !answered)
		ret = ctl_fail(session->ctx, (enum ctl_exit)failed->ret, "%s", failed->why);
	else
		ret = ctl_fail(session->ctx, CTL_NO_FIT, "%s", text.text);
	free(text.text);
	return ret;
}
