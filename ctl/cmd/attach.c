// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl attach: power and enumerate single slots. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cmd/options.h"
#include "op/assign.h"
#include "session/session.h"

/* Cards that the fabric has to bring first are there when the module is asked. */
static int attach_named(struct session *session, const struct op_terms *terms, int argc,
			char **argv)
{
	struct bring_wish *wishes = mem_zalloc((size_t)argc + 1, sizeof(*wishes));
	struct assigned assigned = { 0 };
	struct gf_slot **slots = NULL;
	int i, ret;

	for (i = 0; i < argc; i++)
		wishes[i].kind = ctl_opt(session->ctx, "gpu");
	ret = session_slots(session, argc, argv, &slots);
	if (ret)
		goto out;
	ret = session_managed(session, slots, (size_t)argc);
	if (!ret)
		ret = assigned_bring(session, &assigned, terms, slots, wishes, (size_t)argc);
	if (ret)
		goto out;
	if (assigned.n) {
		free(slots);
		slots = NULL;
		ret = session_slots(session, argc, argv, &slots);
	}
	if (!ret)
		ret = assigned_attach(session, &assigned, terms, slots, (size_t)argc);
	if (ret)
		assigned_return(session, &assigned, terms, NULL);
	assigned_free(&assigned);
out:
	free(wishes);
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
	{ "gpu", 'g', "KIND", "kind of the GPUs that a fabric manager brings to empty slots",
	  "@kinds" },
	{ "no-fit-check", 0, NULL, "try even if the bridge windows have no room for the GPU" },
	{ NULL },
};

const struct ctl_command cmd_attach = {
	.name = "attach",
	.group = CTL_GPUS,
	.args = "SLOT...",
	.summary = "power slots and bring their GPUs up, all or none",
	.help = "The GPUs belong to no composition afterwards; gpuctl compose claims and attaches GPUs in one step.\n"
		"A slot that is ready stays as it is. An empty slot gets a card from the fabric: from the\n"
		"manager whose file in fabric.d names the slot, of the kind that --gpu or slots.d gives, or by assign\n"
		"hooks. If the request then fails or is interrupted, gpuctl powers off the cards that it brought and\n"
		"gives them back. It names the cards that it could not give back, with the command that does it by\n"
		"hand: see gpuctl-fabric(5) and gpuctl-hooks(5).\n"
		"gpuctl refuses a GPU that does not fit into the windows of the bridges above it, before power-on, with\n"
		"exit code 3. --no-fit-check tries it anyway; other GPUs behind the same bridge can lose their\n"
		"addresses then, and fail.\n"
		"--driver binds one driver from the moment that the GPU appears, and keeps all others away: vfio-pci for\n"
		"a guest. The driver has to be loaded. The choice (driver_override) applies to the GPU's display or\n"
		"accelerator function and to the sound and USB functions beside it, and ends when the GPU is detached.\n"
		"A slot that is ready with another driver is refused, exit code 4.",
	.options = { options, session_options },
	.run = attach_run,
};
