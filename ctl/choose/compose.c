// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: composing
 *
 * Choose slots for a request, and have the module claim and attach them. The
 * choice is made on a snapshot, and others may compose at the same time: when the
 * module says that a slot was taken meanwhile, the choice is made anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "choose/compose.h"
#include "choose/pool.h"
#include "choose/quota.h"
#include "lib/annotation.h"
#include "lib/arrival.h"
#include "lib/driver.h"
#include "lib/out.h"
#include "lib/placement.h"
#include "lib/render.h"
#include "lib/session.h"
#include "lib/text.h"
#include "lib/wait.h"

/* Others may compose at the same time: choose anew so often. */
#define TRIES 20

const struct ctl_option compose_options[] = {
	{ "tenant", 0, "NAME", "tenant that the composition counts for", "@tenants" },
	{ "label", 0, "NAME", "label, free to choose" },
	{ "job", 0, "NAME", "job of a scheduler that it is for" },
	{ "for", 0, "TIME", "lease, such as 8h: afterwards it may be reaped" },
	{ "mixed", 0, NULL, "for --model: several kinds of a vendor, the smallest counts" },
	DRIVER_OPTION,
	{ "no-fit-check", 0, NULL, "try although the bridge windows cannot take a GPU" },
	{ NULL },
};

static const struct out_column choice_columns[] = {
	{ "name", NULL }, { "choice", NULL }, { "slots", NULL },
	{ "limit", NULL }, { "arrangement", NULL }, { "tensor_parallel", NULL },
	{ "pipeline_parallel", NULL }, { "attention_data_parallel", NULL },
	{ "expert_parallel", NULL }, { "data_parallel", NULL }, { "bytes_per_gpu", NULL },
	{ "usable_bytes", NULL }, { "seconds", NULL }, { NULL, NULL },
};

/* The request for a choice; NULL after an error. */
static struct nl_msg *build(struct session *session, const char *name, uint32_t flags,
			    struct gf_slot *const *slots, size_t n,
			    const struct placement *placement)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_COMPOSE);
	struct annotation note = { 0 };
	size_t i;

	nla_put_string(msg, GPUFABRIC_A_NAME, name);
	for (i = 0; i < n; i++) {
		struct identity identity;

		/* What was chosen by is what must be found after power-on. */
		identity_of(&session->knowledge, slots[i], &identity);
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slots[i], NULL,
			       identity.ids.vendor ? &identity.ids : NULL,
			       placement->order[i]);
	}
	nla_put_u32(msg, GPUFABRIC_A_DRIVER_TIMEOUT,
		    session_driver_timeout(session, slots, n, ctl_flag(session->ctx, "driver")));
	if (ctl_flag(session->ctx, "no-fit-check"))
		flags |= GPUFABRIC_COMPOSE_FLAG_HARM;
	if (flags)
		nla_put_u32(msg, GPUFABRIC_A_COMPOSE_FLAGS, flags);
	placement_put(msg, placement);
	driver_put(session->ctx, msg);
	if (session_annotate(session, &note, true) || session_put_options(session->ctx, msg)) {
		nlmsg_free(msg);
		return NULL;
	}
	gfc_put_annotation(msg, &note);
	return msg;
}

/**
 * struct reasons - why a composition is what it is
 * @choice: why these slots
 * @arrangement: of a workload, and which limit decided; all zero without one
 */
struct reasons {
	char *choice;
	struct arrangement arrangement;
};

static void free_reasons(struct reasons *why)
{
	free(why->choice);
	arrangement_free(&why->arrangement);
	memset(why, 0, sizeof(*why));
}

static void say_reasons(struct session *session, const struct reasons *why)
{
	session_say(session, "choosing %s", why->choice);
	if (why->arrangement.why)
		session_say(session, "%s", why->arrangement.why);
}

static void put_reasons(struct out_table *t, const char *name, const struct reasons *why)
{
	const struct size_choice *choice = &why->arrangement.choice;

	out_str(t, "name", name);
	out_str(t, "choice", why->choice);
	if (!why->arrangement.why)
		return;
	out_str(t, "limit", size_limit_names[why->arrangement.limit]);
	out_str(t, "arrangement", why->arrangement.why);
	out_uint(t, "tensor_parallel", choice->fit.layout.tp);
	out_uint(t, "pipeline_parallel", choice->fit.layout.pp);
	if (choice->fit.layout.adp > 1) {
		out_uint(t, "attention_data_parallel", choice->fit.layout.adp);
		out_uint(t, "expert_parallel", choice->fit.layout.tp * choice->fit.layout.adp);
	}
	out_uint(t, "data_parallel", choice->fit.replicas);
	out_uint(t, "bytes_per_gpu", choice->fit.per_gpu);
	out_uint(t, "usable_bytes", choice->fit.usable);
}

static void render_choice(struct session *session, const char *name, const struct reasons *why,
			  struct gf_slot *const *slots, size_t n)
{
	const char **names = mem_zalloc(n, sizeof(*names));
	struct out_table *t = out_table(session->ctx->out, NULL, choice_columns, OUT_SINGLE);
	size_t i;

	for (i = 0; i < n; i++)
		names[i] = slots[i]->name;
	put_reasons(t, name, why);
	out_list(t, "slots", names, n);
	free(names);
}

static void say_plan(struct session *session, const char *name, struct gf_slot *const *slots,
		     size_t n)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		text_join(&names, " ", slots[i]->name);
	out_line(session->ctx->out, "%s would get %s; nothing was changed", name, names.text);
	free(names.text);
}

/* Hooks, then the request; frees @msg. */
static int start(struct session *session, struct nl_msg *msg, struct arrival *arrival,
		 struct gf_slot *const *slots, size_t n, struct quota *quota,
		 const struct pool *pool, struct wait *wait)
{
	int ret;

	ret = arrival_begin(session, arrival, slots, n);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = quota_lock(session, quota, pool, ctl_opt(session->ctx, "tenant"),
			 identity_slots(&session->knowledge, slots, n), 0);
	if (ret)
		nlmsg_free(msg);
	else
		ret = wait_start(session, msg, slots, n, wait);
	quota_unlock(quota);
	if (ret) {
		arrival_abort(session, arrival);
		arrival_free(arrival);
	}
	return ret;
}

/* Choose and ask the module; @retry is set when somebody else was faster. */
static int try_once(struct session *session, const char *name, uint32_t flags,
		    struct arrival *arrival, struct wait *wait, struct reasons *why, bool *retry,
		    unsigned int *stale)
{
	struct pool_request request;
	struct choose_result choice;
	struct gf_slot **slots = NULL;
	const char *tenant = ctl_opt(session->ctx, "tenant");
	struct placement placement = { 0 };
	struct quota quota;
	struct nl_msg *msg;
	struct pool pool;
	int ret;

	*retry = false;
	ret = quota_begin(session, tenant, &quota);
	if (ret)
		return ret;
	ret = pool_load(session, &pool);
	if (ret)
		goto out_quota;
	ret = pool_request_read(session->ctx, &session->knowledge, &pool, true, &request);
	if (ret)
		goto out_pool;
	request.room = quota_room(&quota, &pool, tenant);
	free_reasons(why);
	ret = pool_choose(session, &pool, &request, &choice, &why->arrangement);
	pool_request_free(&request);
	if (ret)
		goto out_pool;
	why->choice = mem_strdup(choice.why);

	ret = quota_admit(session, &quota, &pool, tenant,
			  choose_gpus(pool.slots, choice.picked, choice.n), 0);
	if (ret)
		goto out_choice;
	slots = pool_slots(session, &pool, choice.picked, choice.n);
	ret = placement_judge(session, slots, choice.n,
			      ctl_flag(session->ctx, "no-fit-check"), &placement);
	if (ret)
		goto out_slots;
	msg = build(session, name, flags, slots, choice.n, &placement);
	if (!msg) {
		ret = CTL_USAGE;
	} else if (session->ctx->dry_run) {
		nlmsg_free(msg);
		say_reasons(session, why);
		render_choice(session, name, why, slots, choice.n);
		ret = arrival_begin(session, arrival, slots, choice.n);
		say_plan(session, name, slots, choice.n);
	} else {
		say_reasons(session, why);
		ret = start(session, msg, arrival, slots, choice.n, &quota, &pool, wait);
		*stale += ret && placement_stale(session);
		/* Claimed, removed or failed since the snapshot: others are left. */
		*retry = ret && ret != CTL_NO_FIT &&
			 ((placement_stale(session) && *stale < PLACEMENT_TRIES) ||
			  gfc_last_errno(session->client) == EBUSY ||
			  gfc_last_errno(session->client) == ENODEV ||
			  gfc_last_errno(session->client) == EIO);
	}
	placement_free(&placement);
out_slots:
	free(slots);
out_choice:
	choose_result_free(&choice);
out_pool:
	pool_free(&pool);
out_quota:
	quota_end(&quota);
	return ret;
}

static int finish(struct session *session, const char *name, struct arrival *arrival,
		  struct wait *wait, const struct reasons *why)
{
	uint64_t began = wait->operation.started;
	size_t gpus = 0, i;
	struct out_table *t;
	char took[TEXT_QUANTITY];
	uint64_t ms;
	char *what;
	int ret;

	ret = wait_all(session, wait, 1);
	if (ret)
		return ret;
	ms = text_now() > began && began ? text_now() - began : 0;
	if (gf_duration(&wait->operation, GPUFABRIC_PHASE_TOTAL))
		ms = gf_duration(&wait->operation, GPUFABRIC_PHASE_TOTAL) / 1000;
	t = out_table(session->ctx->out, NULL, choice_columns, OUT_SINGLE);
	put_reasons(t, name, why);
	out_real(t, "seconds", (double)ms / 1000, 3);
	wait_render(session, wait, 1);
	arrival_finish(session, arrival);

	what = mem_printf("%s was not composed, its claims are given back", name);
	ret = wait_outcome(session, wait, what);
	free(what);
	for (i = 0; i < wait->n_slots; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, wait->slots[i]);

		gpus += slot ? identity_count(&session->knowledge, slot) : 1;
		driver_warn(session, slot);
	}
	if (!ret)
		out_line(session->ctx->out, "%s: %zu GPU%s ready in %s", name, gpus,
			 gpus == 1 ? "" : "s", text_duration(took, ms));
	return ret;
}

int compose(struct session *session, const char *name, uint32_t flags)
{
	struct arrival arrival = { 0 };
	struct wait wait = { 0 };
	struct reasons why = { 0 };
	unsigned int stale = 0;
	bool retry = false;
	int ret, tries = 0;

	if (gf_composition_by_name(&session->fabric, name))
		return ctl_fail(session->ctx, CTL_FAILED,
				"composition %s exists already: choose another name, or gpuctl release %s",
				name, name);
	ret = driver_check(session->ctx);
	if (!ret)
		ret = try_once(session, name, flags, &arrival, &wait, &why, &retry, &stale);
	while (ret && retry && ++tries < TRIES) {
		session_say(session, placement_stale(session) ?
				     "windows have changed meanwhile, choosing anew" :
				     "a slot was taken meanwhile, choosing anew");
		ret = session_refresh(session);
		if (!ret)
			ret = try_once(session, name, flags, &arrival, &wait, &why, &retry,
				       &stale);
	}
	if (!ret && !session->ctx->dry_run)
		ret = finish(session, name, &arrival, &wait, &why);
	arrival_free(&arrival);
	wait_free(&wait);
	free_reasons(&why);
	return ret;
}
