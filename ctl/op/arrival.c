// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: arrival
 *
 * The counterpart of removal: hooks before and after an attach. Cards that a fabric
 * has to bring first are in op/assign.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/arrival.h"

/* Called with this the programs of pre-attach.d take back what they did. */
#define HOOK_ABORT_ATTACH "abort-attach"

static bool is_attached(const struct gf_slot *slot)
{
	return slot && (slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED);
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

uint64_t arrival_budget(struct session *session)
{
	char *before = session->ctx->error;
	struct hooks pre;
	uint64_t ms = 0;

	session->ctx->error = NULL;
	if (!hooks_find(session->ctx, HOOK_PRE_ATTACH, &pre)) {
		ms = hooks_budget(&pre);
		hooks_free(&pre);
	}
	free(session->ctx->error);
	session->ctx->error = before;
	return ms;
}

void arrival_abort(struct session *session, struct arrival *arrival)
{
	hooks_undo(session->ctx, &arrival->pre, HOOK_ABORT_ATTACH, &arrival->about, arrival->comes);
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
		hooks_run(session->ctx, &arrival->post, about, here, HOOKS_SEE_THROUGH);
	/* Nobody takes back what has come about. */
	arrival->pre.ran = 0;
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
