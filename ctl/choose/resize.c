// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: resizing
 *
 * Slots to add are chosen as for a new composition, those to give back by name or by how far
 * they are from the others. Both are one request, so the module does all of it or nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "choose/pool.h"
#include "choose/quota.h"
#include "choose/resize.h"
#include "lib/annotation.h"
#include "lib/arrival.h"
#include "lib/driver.h"
#include "lib/out.h"
#include "lib/placement.h"
#include "lib/remove.h"
#include "lib/render.h"
#include "lib/session.h"
#include "lib/text.h"
#include "lib/wait.h"

#define TRIES 20

/* The options of the pool, but --gpus can be relative, and slots can be named to go. */
const struct ctl_option resize_options[] = {
	{ "remove", 0, "SLOT", "give this slot back (may be repeated)" },
	{ "for", 0, "TIME", "new lease from now, such as 8h" },
	DRIVER_OPTION,
	{ "no-fit-check", 0, NULL, "try although the bridge windows cannot take a GPU" },
	{ NULL },
};

/**
 * struct change - what a resize does
 * @name: the composition
 * @note: what it is annotated with
 * @members: its slots, as indices into the pool
 * @n_members: how many
 * @gpus: GPUs in them
 * @add: slots to add
 * @n_add: how many
 * @remove: slots to give back
 * @n_remove: how many
 * @pool: what they were chosen from
 * @why: why these were chosen, NULL when none were
 */
struct change {
	const char *name;
	struct annotation note;
	size_t *members;
	size_t n_members;
	size_t gpus;
	struct gf_slot **add;
	size_t n_add;
	struct gf_slot **remove;
	size_t n_remove;
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

/* --remove SLOT... */
static int name_removed(struct session *session, const struct gf_composition *composition,
			struct change *change)
{
	const char *name;
	size_t pos = 0;
	int ret;

	while ((name = ctl_opt_next(session->ctx, "remove", &pos))) {
		struct gf_slot *slot;

		ret = session_slot(session, name, &slot);
		if (ret)
			return ret;
		if (is_removed(change, slot->id))
			return ctl_fail(session->ctx, CTL_USAGE, "slot %s is named twice", name);
		if (!slot->composition || strcmp(slot->composition, composition->name))
			return ctl_fail(session->ctx, CTL_USAGE, "slot %s is not in composition %s",
					name, composition->name);
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

/* --gpus +2, -1 or 4: GPUs to add, or to give back when negative. */
static int read_gpus(struct ctl_ctx *ctx, size_t have, long *more)
{
	const char *text = ctl_opt(ctx, "gpus");
	uint64_t number;
	bool relative;

	*more = 0;
	if (!text)
		return CTL_DONE;
	relative = *text == '+' || *text == '-';
	if (!text_number(text + relative, GPUFABRIC_MEMBERS_MAX, &number) || !number)
		return ctl_fail(ctx, CTL_USAGE,
				"--gpus %s: write +2 to add, -1 to give back, or the new size",
				text);
	*more = *text == '-' ? -(long)number : relative ? (long)number : (long)number - (long)have;
	if (*more < 0 && (size_t)-*more >= have)
		return ctl_fail(ctx, CTL_USAGE,
				"--gpus %s: %zu GPUs are left to give back from, and one must stay: gpuctl release ends a composition",
				text, have);
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

static int choose_added(struct session *session, struct pool *pool, struct change *change,
			long more)
{
	uint32_t *home = mem_zalloc(change->n_members, sizeof(*home));
	struct pool_request request;
	struct choose_result choice = { 0 };
	struct arrangement none;
	size_t i, j, n_home = 0, wanted = 0;
	int ret;

	ret = pool_request_read(session->ctx, &session->knowledge, pool, false, &request);
	if (ret)
		goto out;
	for (i = 0; i < change->n_members; i++) {
		uint32_t id = pool->slots[change->members[i]].switch_id;

		for (j = 0; j < n_home && home[j] != id;)
			j++;
		if (j == n_home)
			home[n_home++] = id;
	}
	request.choose.home = home;
	request.choose.n_home = n_home;
	pool_find_peers(pool);
	if (change->n_members)
		request.choose.home_peers = pool->slots[change->members[0]].peers;
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
out:
	free(home);
	return ret;
}

static const char *tenant_of(const struct change *change)
{
	return *change->note.tenant ? change->note.tenant : NULL;
}

static int plan(struct session *session, const struct quota *quota,
		const struct gf_composition *composition, struct change *change)
{
	char unknown[ANNOTATION_UNKNOWN];
	struct pool *pool = &change->pool;
	long more;
	int ret;

	if (!annotation_of(composition, &change->note))
		return ctl_fail(session->ctx, CTL_FAILED,
				"composition %s has an annotation of %s: whose it is cannot be known",
				composition->name, annotation_unknown(unknown, &change->note));
	ret = name_removed(session, composition, change);
	if (ret)
		return ret;
	ret = pool_load(session, pool);
	if (ret)
		return ret;
	collect_members(composition, pool, change);
	ret = read_gpus(session->ctx, change->gpus, &more);
	if (!ret && more < 0)
		ret = choose_removed(session, pool, change, (size_t)-more);
	if (!ret)
		ret = choose_added(session, pool, change, more);
	if (!ret)
		ret = quota_admit(session, quota, pool, tenant_of(change),
				  identity_slots(&session->knowledge, change->add, change->n_add),
				  identity_slots(&session->knowledge, change->remove,
						 change->n_remove));
	if (!ret && !change->n_add && !change->n_remove)
		ret = ctl_fail(session->ctx, CTL_USAGE,
			       "nothing to do: %s has %zu GPU%s; give --gpus, --gpu, --memory or --remove",
			       composition->name, change->gpus, change->gpus == 1 ? "" : "s");
	return ret;
}

static int submit(struct session *session, struct change *change,
		  const struct placement *placement, const struct removal *removal,
		  struct wait *wait)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_RESIZE);
	struct gf_slot **slots = mem_zalloc(change->n_add + change->n_remove, sizeof(*slots));
	size_t i, j;
	int ret;

	nla_put_string(msg, GPUFABRIC_A_NAME, change->name);
	for (i = 0; i < change->n_add; i++) {
		struct identity identity;

		identity_of(&session->knowledge, change->add[i], &identity);
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, change->add[i], NULL,
			       identity.ids.vendor ? &identity.ids : NULL,
			       placement->order[i]);
		slots[i] = change->add[i];
	}
	for (i = 0; i < change->n_remove; i++) {
		for (j = 0; j < removal->n && removal->slots[j] != change->remove[i];)
			j++;
		/* A slot without a GPU was not drained and has no generation to name. */
		gfc_put_member(msg, GPUFABRIC_A_REMOVE, change->remove[i],
			       j < removal->n ? &removal->generations[j] : NULL, NULL, 0);
		slots[change->n_add + i] = change->remove[i];
	}
	nla_put_u32(msg, GPUFABRIC_A_DRIVER_TIMEOUT,
		    session_driver_timeout(session, change->add, change->n_add,
					   ctl_flag(session->ctx, "driver")));
	if (ctl_flag(session->ctx, "no-fit-check"))
		nla_put_u32(msg, GPUFABRIC_A_RESIZE_FLAGS, GPUFABRIC_RESIZE_FLAG_HARM);
	placement_put(msg, placement);
	driver_put(session->ctx, msg);
	ret = session_lease(session, &change->note);
	if (!ret && ctl_opt(session->ctx, "for"))
		gfc_put_annotation(msg, &change->note);
	if (!ret)
		ret = session_put_options(session->ctx, msg);
	if (ret)
		nlmsg_free(msg);
	else
		ret = wait_start(session, msg, slots, change->n_add + change->n_remove, wait);
	free(slots);
	return ret;
}

static void say(struct session *session, const struct change *change)
{
	struct text names = { 0 };
	size_t i;

	if (change->why)
		session_say(session, "adding %s", change->why);
	for (i = 0; i < change->n_remove; i++)
		text_join(&names, ", ", change->remove[i]->name);
	if (names.text)
		session_say(session, "giving back %s", names.text);
	free(names.text);
}

static int dry_run(struct session *session, const struct change *change,
		   const struct removal *removal)
{
	struct out *out = session->ctx->out;
	size_t i;
	int ret;

	ret = removal_check(session, removal);
	if (ret)
		return ret;
	for (i = 0; i < change->n_add; i++)
		out_note(out, "would", "would ", "add %s", change->add[i]->name);
	for (i = 0; i < change->n_remove; i++)
		out_note(out, "would", "would ", "give back %s", change->remove[i]->name);
	return CTL_DONE;
}

/* @retry is set when a slot that was to be added was taken by somebody else. */
static int start(struct session *session, const char *name, struct removal *removal,
		 struct arrival *arrival, struct wait *wait, bool *retry,
		 unsigned int *stale)
{
	struct gf_composition *composition;
	struct change change = { .name = name };
	struct placement placement = { 0 };
	struct quota quota;
	int ret;

	*retry = false;
	ret = quota_begin(session, NULL, &quota);
	if (ret)
		return ret;
	ret = session_composition(session, name, &composition);
	if (!ret)
		ret = plan(session, &quota, composition, &change);
	if (!ret)
		ret = placement_judge(session, change.add, change.n_add,
				      ctl_flag(session->ctx, "no-fit-check"), &placement);
	if (!ret)
		ret = removal_init(session, removal, change.remove, change.n_remove, false);
	if (ret)
		goto out;
	say(session, &change);
	if (session->ctx->dry_run) {
		ret = dry_run(session, &change, removal);
		if (!ret)
			ret = arrival_begin(session, arrival, change.add, change.n_add);
		goto out;
	}
	ret = removal_drain(session, removal);
	if (ret)
		goto out;
	ret = arrival_begin(session, arrival, change.add, change.n_add);
	if (ret) {
		removal_abort(session, removal);
		goto out;
	}
	ret = quota_lock(session, &quota, &change.pool, tenant_of(&change),
			 identity_slots(&session->knowledge, change.add, change.n_add),
			 identity_slots(&session->knowledge, change.remove, change.n_remove));
	if (!ret)
		ret = submit(session, &change, &placement, removal, wait);
	quota_unlock(&quota);
	if (ret) {
		*stale += placement_stale(session);
		*retry = change.n_add && ret != CTL_NO_FIT &&
			 (gfc_last_errno(session->client) == EBUSY ||
			  gfc_last_errno(session->client) == ENODEV ||
			  (placement_stale(session) && *stale < PLACEMENT_TRIES));
		arrival_abort(session, arrival);
		arrival_free(arrival);
		removal_abort(session, removal);
	}
out:
	if (ret)
		removal_free(removal);
	placement_free(&placement);
	change_free(&change);
	quota_end(&quota);
	return ret;
}

static void warn_shared(const struct session *session, const struct wait *wait)
{
	size_t i;

	for (i = 0; i < wait->n_slots; i++)
		driver_warn(session, gf_slot_by_name(&session->fabric, wait->slots[i]));
}

int resize(struct session *session, const char *name)
{
	struct gf_composition *composition;
	struct removal removal = { 0 };
	struct arrival arrival = { 0 };
	struct wait wait = { 0 };
	unsigned int stale = 0;
	bool retry = false;
	char *what;
	int ret, tries = 0;

	ret = driver_check(session->ctx);
	if (!ret)
		ret = start(session, name, &removal, &arrival, &wait, &retry, &stale);
	while (ret && retry && ++tries < TRIES) {
		session_say(session, placement_stale(session) ?
				     "windows have changed meanwhile, choosing anew" :
				     "a slot was taken meanwhile, choosing anew");
		ret = session_refresh(session);
		if (!ret)
			ret = start(session, name, &removal, &arrival, &wait, &retry,
				    &stale);
	}
	if (ret || session->ctx->dry_run) {
		arrival_free(&arrival);
		removal_free(&removal);
		return ret;
	}
	ret = wait_all(session, &wait, 1);
	if (!ret) {
		wait_render(session, &wait, 1);
		warn_shared(session, &wait);
		removal_finish(session, &removal);
		arrival_finish(session, &arrival);
		what = mem_printf("%s was not resized", name);
		ret = wait_outcome(session, &wait, what);
		free(what);
	}
	if (!ret && !session_composition(session, name, &composition))
		out_line(session->ctx->out, "%s: %zu GPUs", name,
			 identity_members(&session->knowledge, &session->fabric, composition));
	arrival_free(&arrival);
	removal_free(&removal);
	wait_free(&wait);
	return ret;
}
