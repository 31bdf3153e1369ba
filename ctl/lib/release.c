// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: releasing
 *
 * The end of a composition, by the contract of every removal: holders stop it, hooks
 * run, and the slots go back to the pool together.
 */
#include <stdlib.h>

#include "lib/out.h"
#include "lib/release.h"
#include "lib/remove.h"
#include "lib/render.h"
#include "lib/text.h"
#include "lib/wait.h"

/* The members' slots, in the order of the composition. */
static struct gf_slot **members_of(const struct session *session,
				   const struct gf_composition *composition, size_t *n)
{
	struct gf_slot **slots = mem_zalloc(composition->n_members, sizeof(*slots));
	size_t i;

	*n = 0;
	for (i = 0; i < composition->n_members; i++) {
		struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);

		if (slot)
			slots[(*n)++] = slot;
	}
	return slots;
}

static int submit(struct session *session, const char *name, const struct removal *removal,
		  bool keep, struct gf_slot *const *slots, size_t n, struct wait *wait)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_RELEASE);
	int ret;

	nla_put_string(msg, GPUFABRIC_A_NAME, name);
	if (keep)
		nla_put_u32(msg, GPUFABRIC_A_RELEASE_FLAGS, GPUFABRIC_RELEASE_FLAG_KEEP);
	else
		removal_put(msg, GPUFABRIC_A_MEMBER, removal);
	ret = session_put_options(session->ctx, msg);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return wait_start(session, msg, slots, n, wait);
}

static int dry_run(struct session *session, const char *name, const struct removal *removal,
		   bool keep)
{
	size_t i;
	int ret = CTL_DONE;

	if (!keep)
		ret = removal_check(session, removal);
	if (ret)
		return ret;
	for (i = 0; i < removal->n && !keep; i++)
		out_note(session->ctx->out, "would", "would detach ", "%s",
			 removal->slots[i]->name);
	out_note(session->ctx->out, "would", "would end ", "%s", name);
	return CTL_DONE;
}

static int release(struct session *session, const char *name, struct removal *removal, bool keep,
		   struct gf_slot *const *slots, size_t n)
{
	struct wait wait;
	char *what;
	int ret;

	if (session->ctx->dry_run)
		return dry_run(session, name, removal, keep);
	ret = keep ? CTL_DONE : removal_drain(session, removal);
	if (ret)
		return ret;
	ret = submit(session, name, removal, keep, slots, n, &wait);
	if (ret) {
		if (!keep)
			removal_abort(session, removal);
		return ret;
	}
	ret = wait_all(session, &wait, 1);
	if (!ret) {
		wait_render(session, &wait, 1);
		if (!keep)
			removal_finish(session, removal);
		what = mem_printf("%s was released, but", name);
		ret = wait_outcome(session, &wait, what);
		free(what);
	}
	if (!ret)
		out_line(session->ctx->out, "%s: released, %zu slot%s back in the pool", name, n,
			 n == 1 ? "" : "s");
	wait_free(&wait);
	return ret;
}

int release_composition(struct session *session, const char *name, bool keep)
{
	struct gf_composition *composition;
	struct removal removal;
	struct gf_slot **slots;
	size_t n;
	int ret;

	ret = session_composition(session, name, &composition);
	if (ret)
		return ret;
	slots = members_of(session, composition, &n);
	ret = removal_init(session, &removal, slots, n, false);
	if (!ret) {
		ret = release(session, name, &removal, keep, slots, n);
		removal_free(&removal);
	}
	free(slots);
	return ret;
}
