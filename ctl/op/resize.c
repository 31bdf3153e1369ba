// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: resizing
 *
 * Slots to add are chosen as for a new composition, those to give back by name or by how far
 * they are from the others. Both are one request, so the module does all of it or nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"
#include "choose/quota.h"
#include "cli/out.h"
#include "op/op.h"
#include "op/resize.h"
#include "op/supply.h"

/**
 * struct change - what a resize does
 * @note: what it is annotated with
 * @members: its slots, as indices into the pool
 * @n_members: how many
 * @gpus: GPUs in them
 * @add: slots to add
 * @n_add: how many
 * @remove: slots to give back
 * @n_remove: how many
 * @to: whom those to add go to
 * @quota: tenants, and what they hold
 * @pool: what they were chosen from
 * @why: why these were chosen, NULL when none were
 */
struct change {
	struct annotation note;
	size_t *members;
	size_t n_members;
	size_t gpus;
	struct gf_slot **add;
	size_t n_add;
	struct gf_slot **remove;
	size_t n_remove;
	struct handover_to to;
	struct quota quota;
	struct pool pool;
	char *why;
};

static void change_free(struct change *change)
{
	free(change->members);
	free(change->add);
	free(change->remove);
	free(change->why);
	pool_free(&change->pool);
	memset(change, 0, sizeof(*change));
}

static bool is_removed(const struct change *change, uint32_t slot_id)
{
	size_t i;

	for (i = 0; i < change->n_remove; i++)
		if (change->remove[i]->id == slot_id)
			return true;
	return false;
}

static int name_removed(struct session *session, const struct resize_request *request,
			struct change *change)
{
	size_t i;
	int ret;

	for (i = 0; i < request->n_remove; i++) {
		const char *name = request->remove[i];
		struct gf_slot *slot;

		ret = session_slot(session, name, &slot);
		if (ret)
			return ret;
		if (is_removed(change, slot->id))
			return ctl_fail(session->ctx, CTL_USAGE, "slot %s is named twice", name);
		if (!slot->composition || strcmp(slot->composition, request->name))
			return ctl_fail(session->ctx, CTL_USAGE, "slot %s is not in composition %s",
					name, request->name);
		change->remove = mem_grow(change->remove, change->n_remove + 1, sizeof(slot));
		change->remove[change->n_remove++] = slot;
	}
	return CTL_DONE;
}

static void collect_members(const struct gf_composition *composition, const struct pool *pool,
			    struct change *change)
{
	size_t i, at;

	change->members = mem_zalloc(composition->n_members, sizeof(*change->members));
	for (i = 0; i < composition->n_members; i++) {
		at = pool_find(pool, composition->members[i].slot_id);
		if (at != SIZE_MAX && !is_removed(change, composition->members[i].slot_id))
			change->members[change->n_members++] = at;
	}
	change->gpus = choose_gpus(pool->slots, change->members, change->n_members);
}

/* Number of GPUs to add, or to give back when negative. */
static int count_more(struct ctl_ctx *ctx, const struct resize_request *request, size_t have,
		      long *more)
{
	*more = request->relative || !request->number ? request->number :
							request->number - (long)have;
	if (*more < 0 && (size_t)(-*more) >= have)
		return ctl_fail(ctx, CTL_USAGE,
				"--gpus %ld: %zu GPUs can be given back, and one must stay: gpuctl release ends a composition",
				request->number, have);
	return CTL_DONE;
}

static int choose_removed(struct session *session, const struct pool *pool, struct change *change,
			  size_t gpus)
{
	size_t count = choose_shrink(pool->slots, change->members, change->n_members, gpus);
	struct gf_slot **slots;

	if (!count)
		return ctl_fail(session->ctx, CTL_NO_FIT,
				"%zu GPU%s cannot be given back: a card with several goes whole; name slots with --remove",
				gpus, gpus == 1 ? "" : "s");
	slots = pool_slots(session, pool, change->members, count);
	change->remove =
		mem_grow(change->remove, change->n_remove + count, sizeof(*change->remove));
	memcpy(change->remove + change->n_remove, slots, count * sizeof(*slots));
	change->n_remove += count;
	free(slots);
	return CTL_DONE;
}

/* All members of one kind: more of the same are wanted. */
static const char *common_kind(const struct pool *pool, const struct change *change)
{
	size_t i;

	for (i = 1; i < change->n_members; i++)
		if (strcmp(pool->slots[change->members[i]].kind,
			   pool->slots[change->members[0]].kind))
			return NULL;
	return change->n_members ? pool->slots[change->members[0]].kind : NULL;
}

static int choose_added(struct session *session, const struct gpu_request *ask, struct pool *pool,
			struct change *change, long more)
{
	struct pool_request request;
	struct choose_result choice = { 0 };
	struct arrangement none;
	size_t i, wanted = 0;
	int ret;

	ret = pool_request_make(session->ctx, &session->knowledge, pool, ask, &request);
	if (ret)
		return ret;
	pool_request_home(session, &request, pool, change->members, change->n_members);
	if (more > 0)
		pool_request_add(&request, NULL, common_kind(pool, change), (size_t)more);
	for (i = 0; i < request.choose.n_wants; i++)
		wanted += request.choose.wants[i].count;
	if (wanted || request.choose.memory) {
		ret = pool_choose(session, pool, &request, &choice, &none);
		if (!ret) {
			change->add = pool_slots(session, pool, choice.picked, choice.n);
			change->n_add = choice.n;
			change->why = mem_strdup(choice.why);
		}
	}
	choose_result_free(&choice);
	pool_request_free(&request);
	return ret;
}

static const char *resize_tenant_of(const struct change *change)
{
	return *change->note.tenant ? change->note.tenant : NULL;
}

static int plan(struct session *session, const struct op_terms *terms,
		const struct resize_request *request, const struct gf_composition *composition,
		struct change *change)
{
	const struct pool_terms fit = { terms->driver, terms->harm,
					terms->dirty ? NULL : &change->to };
	char unknown[ANNOTATION_UNKNOWN];
	struct pool *pool = &change->pool;
	long more;
	int ret;

	if (!annotation_of(composition, &change->note))
		return ctl_fail(session->ctx, CTL_FAILED,
				"composition %s has an annotation of %s: its tenant cannot be known",
				composition->name, annotation_unknown(unknown, &change->note));
	change->to.tenant = resize_tenant_of(change);
	ret = name_removed(session, request, change);
	if (ret)
		return ret;
	ret = pool_load(session, &fit, request->gpus, pool);
	if (ret)
		return ret;
	collect_members(composition, pool, change);
	ret = count_more(session->ctx, request, change->gpus, &more);
	if (!ret && more < 0)
		ret = choose_removed(session, pool, change, (size_t)-more);
	if (!ret)
		ret = choose_added(session, request->gpus, pool, change, more);
	if (!ret)
		ret = quota_admit(session, &change->quota, pool, resize_tenant_of(change),
				  identity_slots(&session->knowledge, change->add, change->n_add),
				  identity_slots(&session->knowledge, change->remove,
						 change->n_remove));
	if (!ret && !change->n_add && !change->n_remove)
		ret = ctl_fail(session->ctx, CTL_USAGE,
			       "nothing to do: %s has %zu GPU%s; give --gpus, --gpu, --memory or --remove",
			       composition->name, change->gpus, change->gpus == 1 ? "" : "s");
	return ret;
}

static void say_change(struct session *session, const struct op *op)
{
	const char *why = op->arg;
	struct text names = { 0 };
	size_t i;

	if (why)
		session_say(session, "adding %s", why);
	for (i = 0; i < op->n_remove; i++)
		text_join(&names, ", ", op->remove[i]->name);
	if (names.text)
		session_say(session, "giving back %s", names.text);
	free(names.text);
}

/* Choose what to add and to give back, and ask the module. */
static int resize_try_once(struct session *session, const struct resize_request *request,
			   struct change *change, struct op *op)
{
	struct gf_composition *composition;
	int ret;

	memset(change, 0, sizeof(*change));
	ret = quota_begin(session, NULL, &change->quota);
	if (ret)
		return ret;
	ret = session_composition(session, request->name, &composition);
	if (!ret)
		ret = plan(session, op->terms, request, composition, change);
	if (ret)
		goto out;
	op->add = change->add;
	op->n_add = change->n_add;
	op->remove = change->remove;
	op->n_remove = change->n_remove;
	op->note = request->lease_ms ? &change->note : NULL;
	op->generation = composition->generation;
	op->quota = &change->quota;
	op->pool = &change->pool;
	op->tenant = resize_tenant_of(change);
	op->to = op->terms->dirty ? NULL : &change->to;
	op->arg = change->why;
	op_expect(session, op, false);
	ret = op_start(session, op);
out:
	op_forget(op);
	quota_end(&change->quota);
	change_free(change);
	return ret;
}

static int resize_here(struct session *session, const struct op_terms *terms,
		       const struct resize_request *request)
{
	struct gf_composition *composition;
	struct op_race race = { 0 };
	struct change change;
	struct op op;
	char *failed = mem_printf("%s was not resized", request->name);
	int ret;

	do {
		op = (struct op){ .kind = OP_RESIZE,
				  .terms = terms,
				  .name = request->name,
				  .lease_ms = request->lease_ms,
				  .anew = true,
				  .failed = failed,
				  .say = say_change };
		ret = resize_try_once(session, request, &change, &op);
	} while (op_try_again(session, &race, &op, &ret));
	if (!ret && !session->ctx->dry_run)
		ret = op_end(session, &op);
	if (!ret && !session->ctx->dry_run &&
	    !session_composition(session, request->name, &composition))
		out_line(session->ctx->out, "%s: %zu GPUs", request->name,
			 identity_members(&session->knowledge, &session->fabric, composition));
	op_free(&op);
	free(failed);
	return ret;
}

/*
 * What a resize adds, as a request of its own: by number, of the kind that all members have; and
 * for whom.
 */
static void grow_request(const struct session *session, const struct resize_request *request,
			 struct gpu_request *grow, struct annotation *note, const char **kinds,
			 char **kind)
{
	const struct gf_composition *composition =
		gf_composition_by_name(&session->fabric, request->name);
	const struct cat_gpu *gpu = NULL;
	struct identity identity = { 0 };
	long more = request->number;
	size_t i;

	*kind = NULL;
	*grow = *request->gpus;
	if (composition)
		annotation_of(composition, note);
	if (composition && !request->relative && request->number)
		more -= (long)identity_members(&session->knowledge, &session->fabric, composition);
	for (i = 0; composition && i < composition->n_members; i++) {
		const struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);

		if (slot)
			identity_of(&session->knowledge, slot, &identity);
		if (!slot || !identity.gpu || (gpu && gpu != identity.gpu))
			break;
		gpu = identity.gpu;
	}
	if (more <= 0)
		return;
	if (!composition || !gpu || i < composition->n_members) {
		grow->gpus = (size_t)more;
		return;
	}
	*kind = mem_printf("%s:%ld", gpu->id, more);
	memcpy(kinds, grow->kinds, grow->n_kinds * sizeof(*kinds));
	kinds[grow->n_kinds++] = *kind;
	grow->kinds = kinds;
}

static int resize_again(struct session *session, const struct op_terms *terms, void *arg)
{
	const struct resize_request *const *request = arg;

	return resize_here(session, terms, *request);
}

int resize(struct session *session, const struct op_terms *terms,
	   const struct resize_request *request)
{
	int ret = resize_here(session, terms, request);
	struct annotation note = { 0 };
	struct handover_to to = { 0 };
	struct gpu_request grow;
	const struct supply_for lacks = { terms, &grow, &to, request->name, false };
	const char **kinds;
	char *kind;

	if (ret != CTL_NO_FIT)
		return ret;
	kinds = mem_zalloc(request->gpus->n_kinds + 1, sizeof(*kinds));
	grow_request(session, request, &grow, &note, kinds, &kind);
	to.tenant = *note.tenant ? note.tenant : NULL;
	ret = supply_serve(session, &lacks, resize_again, &request);
	free(kind);
	free(kinds);
	return ret;
}
