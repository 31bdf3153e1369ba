// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl attach: power and enumerate single slots. */
#include <stdlib.h>

#include "cli/ctl.h"
#include "cmd/options.h"
#include "op/assign.h"
#include "op/op.h"
#include "session/session.h"

/* Whether the request says something of a GPU, which takes the catalogue. */
static bool any_known(const struct session *session, struct gf_slot *const *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i]->vendor)
			return true;
	return knowledge_has_declarations(session->ctx);
}

static int attach(struct session *session, const struct op_terms *terms,
		  struct gf_slot *const *slots, size_t n, struct assigned *assigned)
{
	struct op op = {
		.kind = OP_ATTACH,
		.terms = terms,
		.add = slots,
		.n_add = n,
		.absent = session->ctx->dry_run && assigned->n,
		.failed = n > 1 ? "not attached, all slots are as before" : "not attached",
	};
	int ret = CTL_DONE, why;

	/* Of slots that nobody knows anything of, it can wait until they train. */
	if (any_known(session, slots, n))
		ret = session_know(session);
	if (ret)
		return ret;
	op_expect(session, &op, true);
	ret = op_run(session, &op);
	if (!ret || !assigned->n)
		goto out;
	/* Other than after an attach of cards that are here, it does not continue. */
	if (gfc_signalled() && op.wait.operation.id && !op.wait.over) {
		ret = ctl_fail(session->ctx, ret, "interrupted: the request is taken back");
	} else if (op.error && !session_refresh(session)) {
		/* The module only says that a slot is in fault. */
		why = assigned_check(session, assigned);
		ret = why ? why : ret;
	}
	assigned_return(session, assigned, terms, &op);
out:
	op_free(&op);
	return ret;
}

/* Cards that the fabric has to bring first are there when the module is asked. */
static int attach_named(struct session *session, const struct op_terms *terms, int argc,
			char **argv)
{
	struct assigned assigned = { 0 };
	struct gf_slot **slots;
	int ret;

	ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	ret = session_managed(session, slots, (size_t)argc);
	if (!ret)
		ret = assigned_bring(session, &assigned, terms, slots, (size_t)argc);
	if (ret)
		goto out;
	if (assigned.n) {
		free(slots);
		slots = NULL;
		ret = session_slots(session, argc, argv, &slots);
	}
	if (!ret)
		ret = attach(session, terms, slots, (size_t)argc, &assigned);
	if (ret)
		assigned_return(session, &assigned, terms, NULL);
	assigned_free(&assigned);
out:
	free(slots);
	return ret;
}

static int attach_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct op_terms terms;
	int ret;

	ret = ctl_operands(ctx, argc, 1, GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = terms_read(ctx, TERMS_ADD, 0, &terms);
	if (!ret)
		ret = session_open_slots(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = attach_named(&session, &terms, argc, argv);
	session_close(&session);
	return ret;
}

static const struct ctl_option options[] = {
	DRIVER_OPTION,
	{ "no-fit-check", 0, NULL, "try although the bridge windows cannot take the GPU" },
	{ NULL },
};

const struct ctl_command cmd_attach = {
	.name = "attach",
	.group = CTL_GPUS,
	.args = "SLOT...",
	.summary = "power slots and bring their GPUs up, all or none",
	.help =
		"The GPUs belong to no composition afterwards; gpuctl compose both claims and attaches.\n"
		"A slot that is ready already stays as it is. An empty slot gets its card from the fabric, if\n"
		"there is an assign hook. When the request fails or is interrupted then, wherever it is, all\n"
		"that it brought is powered off and given back; the error is followed by what was given back,\n"
		"and by what could not be, with the command to do so: see gpuctl-hooks(5).\n"
		"A GPU that the windows of the bridges above cannot take is refused before it is powered,\n"
		"exit code 3. --no-fit-check tries nevertheless; that can take the addresses of GPUs beside\n"
		"it away, which then fail.\n"
		"--driver has one driver bind and keeps all others off, from the moment that the GPU appears:\n"
		"vfio-pci for a guest. It has to be loaded. The choice (driver_override) is for the GPU's display or\n"
		"accelerator function and for the sound and USB functions beside it, and lasts until the GPU is\n"
		"detached. A slot that is ready with another driver is refused, exit code 4.",
	.options = { options, session_options },
	.run = attach_run,
};
