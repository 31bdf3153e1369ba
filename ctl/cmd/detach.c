// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl detach: remove the GPUs of single slots safely. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/out.h"
#include "lib/remove.h"
#include "lib/session.h"
#include "lib/text.h"
#include "lib/wait.h"

static const struct ctl_option options[] = {
	{ "all", 0, NULL, "every GPU that is on, and what is left of those that were lost" },
	{ NULL },
};

static int check_claims(struct session *session, struct gf_slot *const *slots, size_t n)
{
	size_t i;

	if (ctl_flag(session->ctx, "force"))
		return CTL_DONE;
	for (i = 0; i < n; i++) {
		const char *name = slots[i]->name, *owner = slots[i]->composition;

		if (owner)
			return ctl_fail(session->ctx, CTL_BUSY,
					"%s belongs to composition %s: gpuctl release %s, or gpuctl resize %s --remove %s",
					name, owner, owner, owner, name);
	}
	return CTL_DONE;
}

static int submit(struct session *session, const struct removal *removal, struct wait *wait)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_DETACH);
	int ret;

	removal_put(msg, GPUFABRIC_A_MEMBER, removal);
	if (removal->force)
		nla_put_u32(msg, GPUFABRIC_A_DETACH_FLAGS, GPUFABRIC_DETACH_FLAG_FORCE);
	ret = session_put_options(session->ctx, msg);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return wait_start(session, msg, removal->slots, removal->n, wait);
}

static int detach(struct session *session, struct removal *removal)
{
	struct wait wait;
	size_t i;
	int ret;

	if (session->ctx->dry_run) {
		ret = removal_check(session, removal);
		for (i = 0; i < removal->n && !ret; i++)
			out_note(session->ctx->out, "would", "would detach ", "%s",
				 removal->slots[i]->name);
		return ret;
	}
	ret = removal_drain(session, removal);
	if (ret)
		return ret;
	ret = submit(session, removal, &wait);
	if (ret) {
		removal_abort(session, removal);
		return ret;
	}
	ret = wait_all(session, &wait, 1);
	if (!ret) {
		wait_render(session, &wait, 1);
		removal_finish(session, removal);
		ret = wait_outcome(session, &wait, "not detached");
	}
	wait_free(&wait);
	return ret;
}

static void say_off(struct session *session, struct gf_slot *const *slots, size_t n,
		    const struct removal *removal)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < removal->n && removal->slots[j] != slots[i];)
			j++;
		if (j == removal->n)
			out_note(session->ctx->out, "notes", "",
				 "%s has no attached GPU: nothing to do", slots[i]->name);
	}
}

/* No slot waits for one that is stuck or has an operation under way. */
static bool slot_is_on(const struct gf_slot *slot)
{
	if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED || slot->operation.id)
		return false;
	return slot->state == GF_STATE_ATTACHED || slot->state == GF_STATE_READY ||
	       gf_slot_is_left(slot);
}

static int detach_slots(struct session *session, struct gf_slot **slots, size_t n)
{
	struct removal removal;
	int ret;

	ret = session_managed(session, slots, n);
	if (!ret)
		ret = check_claims(session, slots, n);
	if (!ret)
		ret = removal_init(session, &removal, slots, n, true);
	if (!ret) {
		say_off(session, slots, n, &removal);
		if (removal.n)
			ret = detach(session, &removal);
		removal_free(&removal);
	}
	return ret;
}

/*
 * As many slots in one request as there may be. They are named: a slot of the snapshot is
 * another after each request. What fails keeps nobody else from going.
 */
static int detach_all(struct session *session)
{
	struct gf_slot **slots = mem_zalloc(session->fabric.n_slots + 1, sizeof(*slots));
	char **names = mem_zalloc(session->fabric.n_slots + 1, sizeof(*names));
	size_t n_names = 0, i, n;
	int ret, one;

	for (i = 0; i < session->fabric.n_slots; i++) {
		if (!slot_is_on(&session->fabric.slots[i]))
			continue;
		slots[n_names] = &session->fabric.slots[i];
		names[n_names++] = mem_strdup(session->fabric.slots[i].name);
	}
	ret = check_claims(session, slots, n_names);
	for (i = ret ? n_names : 0; i < n_names;) {
		for (n = 0; n < GPUFABRIC_MEMBERS_MAX && i < n_names; i++) {
			slots[n] = gf_slot_by_name(&session->fabric, names[i]);
			n += !!slots[n];
		}
		one = detach_slots(session, slots, n);
		ret = ret ? ret : one;
	}
	for (i = 0; i < n_names; i++)
		free(names[i]);
	free(names);
	free(slots);
	return ret;
}

static int run_session(struct session *session, int argc, char **argv)
{
	struct gf_slot **slots;
	int ret;

	if (ctl_flag(session->ctx, "all"))
		return detach_all(session);
	ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	ret = detach_slots(session, slots, (size_t)argc);
	free(slots);
	return ret;
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	bool all = ctl_flag(ctx, "all");
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, !all, all ? 0 : GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	ret = run_session(&session, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_detach = {
	.name = "detach",
	.args = "SLOT...|--all",
	.summary = "remove GPUs and power their slots off",
	.help =
		"Processes that hold a GPU (open or mapped device nodes) are listed and nothing is changed,\n"
		"exit code 4. With --wait the removal is announced first, so that agents can let go, and\n"
		"taken back when the time is over. --force goes on regardless; a driver that does not let go\n"
		"then leaves the slot stuck, exit code 7. What is left on the bus of a GPU that was lost or is in\n"
		"fault goes in the same way, and its slot is off or empty then. Other GPUs of a declared group are named:\n"
		"their links to this one go with it. Hooks run before and after: see gpuctl-hooks(5).",
	.options = { options, remove_options, session_options },
	.run = run,
};
