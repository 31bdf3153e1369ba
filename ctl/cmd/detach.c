// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl detach: remove the GPUs of single slots safely. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "op/op.h"
#include "op/settle.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "all", 0, NULL, "every GPU that is on, and the remains of lost ones" },
	{ NULL },
};

static int check_claims(struct session *session, const struct op_terms *terms,
			struct gf_slot *const *slots, size_t n)
{
	size_t i;

	if (terms->force)
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

static int detach(struct session *session, const struct op_terms *terms,
		  struct gf_slot *const *slots, size_t n)
{
	struct op op = {
		.kind = OP_DETACH,
		.terms = terms,
		.remove = slots,
		.n_remove = n,
		.left = true,
		.failed = "not detached",
	};
	int ret = op_run(session, &op);

	op_free(&op);
	return ret;
}

/* A slot without a GPU may have one at its manager, when a request before this was stopped. */
static int detach_off(struct session *session, const char *name)
{
	size_t given;
	int ret = removal_give_back(session, name, &given);

	if (!ret && !given)
		out_note(session->ctx->out, "notes", "", "%s has no attached GPU: nothing to do",
			 name);
	else if (!ret && !session->ctx->dry_run)
		out_note(session->ctx->out, "notes", "",
			 "%s has no attached GPU: the GPU that the fabric manager had bound to it was given back",
			 name);
	return ret;
}

/* Of the slots those with a GPU, or what is left of one, *@n of them; the others are done. */
static int take_concerned(struct session *session, struct gf_slot **slots, size_t *n)
{
	char **names = mem_zalloc(*n + 1, sizeof(*names));
	size_t i, n_on = 0, all = *n;
	int ret = CTL_DONE, one;

	for (i = 0; i < all; i++)
		names[i] = mem_strdup(slots[i]->name);
	for (i = 0; i < all; i++) {
		/* Of the newest snapshot. */
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, names[i]);

		if (slot && removal_concerns(slot))
			continue;
		one = detach_off(session, names[i]);
		ret = ret ? ret : one;
		free(names[i]);
		names[i] = NULL;
	}
	for (i = 0; i < all; i++) {
		struct gf_slot *slot = names[i] ? gf_slot_by_name(&session->fabric, names[i]) :
						  NULL;

		if (slot)
			slots[n_on++] = slot;
		free(names[i]);
	}
	free(names);
	*n = n_on;
	return ret;
}

/* No slot waits for one that is stuck or has an operation under way. */
static bool slot_is_on(const struct gf_slot *slot)
{
	if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED || slot->operation.id)
		return false;
	return slot->state == GF_STATE_ATTACHED || slot->state == GF_STATE_READY ||
	       gf_slot_is_left(slot);
}

static int detach_slots(struct session *session, const struct op_terms *terms,
			struct gf_slot **slots, size_t n)
{
	int ret, gone;

	ret = session_managed(session, slots, n);
	if (!ret)
		ret = check_claims(session, terms, slots, n);
	if (ret)
		return ret;
	ret = take_concerned(session, slots, &n);
	/* What could not be given back keeps no GPU from going. */
	gone = n ? detach(session, terms, slots, n) : CTL_DONE;
	return gone ? gone : ret;
}

/*
 * As many slots in one request as there may be. They are named: a slot of the snapshot is
 * another after each request. What fails keeps nobody else from going.
 */
static int detach_all(struct session *session, const struct op_terms *terms)
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
	ret = check_claims(session, terms, slots, n_names);
	for (i = ret ? n_names : 0; i < n_names;) {
		for (n = 0; n < GPUFABRIC_MEMBERS_MAX && i < n_names; i++) {
			slots[n] = gf_slot_by_name(&session->fabric, names[i]);
			n += !!slots[n];
		}
		one = detach_slots(session, terms, slots, n);
		ret = ret ? ret : one;
		if (gfc_signalled())
			break;
	}
	for (i = 0; i < n_names; i++)
		free(names[i]);
	free(names);
	free(slots);
	return ret;
}

static int detach_run_session(struct session *session, const struct op_terms *terms, int argc,
			      char **argv)
{
	struct gf_slot **slots;
	int ret;

	if (ctl_flag(session->ctx, "all"))
		return detach_all(session, terms);
	ret = settle_slots(session, (const char *const *)argv, (size_t)argc, terms->wait_ms);
	if (!ret)
		ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	ret = detach_slots(session, terms, slots, (size_t)argc);
	free(slots);
	return ret;
}

static int detach_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	bool all = ctl_flag(ctx, "all");
	struct session session;
	struct op_terms terms;
	int ret;

	ret = ctl_operands(ctx, argc, !all, all ? 0 : GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	ret = detach_run_session(&session, &terms, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_detach = {
	.name = "detach",
	.group = CTL_GPUS,
	.args = "SLOT...|--all",
	.summary = "remove GPUs and power their slots off",
	.help = "If a process holds a GPU (open or mapped device nodes), the command lists it and changes nothing,\n"
		"exit code 4. With --wait it waits until no operation is under way on SLOT and announces the\n"
		"removal, so that agents can let go; it withdraws the announcement after that time. --force continues\n"
		"regardless, also if a composition claims the slot; a driver that does not let go then leaves the slot\n"
		"stuck, exit code 7. The command also removes what is left on the bus of a GPU that was lost or is in\n"
		"fault; its slot is off or empty then. The command names the other GPUs of a declared group, because\n"
		"they lose their links to this GPU. Hooks run before and after: see gpuctl-hooks(5). A GPU that a fabric\n"
		"manager has bound to the slot goes back to the manager, also if the slot is off or empty: see\n"
		"gpuctl-fabric(5).",
	.options = { options, remove_options, session_options },
	.run = detach_run,
};
