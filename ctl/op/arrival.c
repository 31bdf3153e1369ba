// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: arrival
 *
 * The counterpart of removal. A GPU that is in the fabric's pool but not behind this
 * host is brought by the assign hook, a tool of the fabric's vendor; that it
 * came is believed when the port says so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/arrival.h"

#define PRESENCE_MS 30000

/* Called with this the programs of pre-attach.d take back what they did. */
#define HOOK_ABORT_ATTACH "abort-attach"

static bool is_attached(const struct gf_slot *slot)
{
	return slot && (slot->state == GF_STATE_READY ||
			slot->state == GF_STATE_ATTACHED);
}

int arrival_begin(struct session *session, struct arrival *arrival, const struct op_terms *terms,
		  struct gf_slot *const *slots, size_t n)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i, coming = 0;
	int ret;

	memset(arrival, 0, sizeof(*arrival));
	ret = hooks_find(ctx, HOOK_PRE_ATTACH, &arrival->pre);
	if (!ret)
		ret = hooks_find(ctx, HOOK_POST_ATTACH, &arrival->post);
	if (!ret && arrival->pre.n + arrival->post.n)
		ret = hook_slots_init(session, terms->reason, slots, n, &arrival->about);
	if (ret)
		goto out;
	arrival->comes = mem_zalloc(arrival->about.n, sizeof(*arrival->comes));
	for (i = 0; i < arrival->about.n; i++) {
		arrival->comes[i] = !is_attached(slots[i]);
		coming += arrival->comes[i];
	}
	if (ctx->dry_run) {
		hooks_render(ctx, &arrival->pre);
		hooks_render(ctx, &arrival->post);
	} else if (coming) {
		ret = hooks_run(ctx, &arrival->pre, &arrival->about, arrival->comes, HOOKS_STOP);
	}
out:
	if (ret) {
		arrival_abort(session, arrival);
		arrival_free(arrival);
	}
	return ret;
}

void arrival_abort(struct session *session, struct arrival *arrival)
{
	hooks_undo(session->ctx, &arrival->pre, HOOK_ABORT_ATTACH, &arrival->about,
		   arrival->comes);
}

void arrival_finish(struct session *session, struct arrival *arrival)
{
	const struct hook_slots *about = &arrival->about;
	bool *here = mem_zalloc(about->n, sizeof(*here));
	bool *failed = mem_zalloc(about->n, sizeof(*failed));
	size_t i, n_here = 0, n_failed = 0;

	for (i = 0; i < about->n; i++) {
		bool has = is_attached(gf_slot_by_name(&session->fabric, about->names[i]));

		here[i] = arrival->comes[i] && has;
		failed[i] = arrival->comes[i] && !has;
		n_here += here[i];
		n_failed += failed[i];
	}
	if (n_failed)
		hooks_undo(session->ctx, &arrival->pre, HOOK_ABORT_ATTACH, about, failed);
	if (n_here)
		hooks_run(session->ctx, &arrival->post, about, here, HOOKS_GO_ON);
	free(here);
	free(failed);
}

void arrival_free(struct arrival *arrival)
{
	hooks_free(&arrival->pre);
	hooks_free(&arrival->post);
	hook_slots_free(&arrival->about);
	free(arrival->comes);
	memset(arrival, 0, sizeof(*arrival));
}

/* Slots whose card has not shown up, or is on its way up by the slot driver's own doing. */
static const char *first_missing(const struct session *session, const struct hook_slots *about,
				 const bool *empty)
{
	size_t i;

	for (i = 0; i < about->n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, about->names[i]);

		if (empty[i] && slot &&
		    (slot->state == GF_STATE_EMPTY ||
		     slot->state == GF_STATE_ATTACHING))
			return about->names[i];
	}
	return NULL;
}

static int await_presence(struct session *session, const struct hook_slots *about,
			  const bool *empty, uint64_t wait_ms)
{
	uint64_t end = text_monotonic() + wait_ms;
	const char *missing;
	char took[TEXT_QUANTITY];

	while ((missing = first_missing(session, about, empty))) {
		uint64_t now = text_monotonic();
		int ret;

		if (now >= end)
			return ctl_fail(session->ctx, CTL_TIMEOUT,
					"slot %s: the assign hook ended well, but no card showed up within %s",
					missing, text_duration(took, wait_ms));
		ret = session_hear(session, (int)(end - now));
		if (ret)
			return ret;
	}
	return CTL_DONE;
}

int arrival_assign(struct session *session, const struct op_terms *terms,
		   struct gf_slot *const *slots, size_t n, bool *changed)
{
	struct hook_slots about = { 0 };
	struct ctl_ctx *ctx = session->ctx;
	bool *empty = mem_zalloc(n, sizeof(*empty));
	size_t i, n_empty = 0;
	struct hooks assign, unassign = { 0 };
	int ret;

	*changed = false;
	for (i = 0; i < n; i++) {
		empty[i] = slots[i]->state == GF_STATE_EMPTY;
		n_empty += empty[i];
	}
	ret = hooks_find(ctx, HOOK_ASSIGN, &assign);
	if (ret)
		goto out;
	if (!n_empty || !assign.n)
		goto out_assign;
	if (ctx->dry_run) {
		hooks_render(ctx, &assign);
		goto out_assign;
	}
	ret = hooks_find(ctx, HOOK_UNASSIGN, &unassign);
	if (!ret)
		ret = hook_slots_init(session, terms->reason, slots, n, &about);
	if (!ret)
		ret = hooks_run(ctx, &assign, &about, empty, HOOKS_STOP);
	if (!ret) {
		*changed = true;
		ret = await_presence(session, &about, empty,
				     terms->timeout_ms ? terms->timeout_ms : PRESENCE_MS);
		if (ret)
			hooks_run(ctx, &unassign, &about, empty, HOOKS_GO_ON);
	}
	hook_slots_free(&about);
	hooks_free(&unassign);
out_assign:
	hooks_free(&assign);
out:
	free(empty);
	return ret;
}
