// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl resize: add GPUs to a composition and take others away, all or none. */
#include "cli/ctl.h"
#include "cmd/request.h"
#include "op/settle.h"
#include "session/session.h"

static int resize_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct resize_request request;
	struct session session;
	struct op_terms terms;
	struct asked asked;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = terms_read(ctx, TERMS_ADD | TERMS_REMOVE | TERMS_GIVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = resize_read(ctx, argv[0], &asked, &request);
	if (!ret)
		ret = settle_composition(&session, request.name, false, terms.wait_ms);
	if (!ret)
		ret = resize(&session, &terms, &request);
	resize_request_free(&request);
	asked_free(&asked);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_resize = {
	.name = "resize",
	.group = CTL_COMPOSITIONS,
	.args = "NAME",
	.summary = "add GPUs to a composition, or take some away",
	.help = "--gpus +2 adds two GPUs, --gpus -1 gives one back (the one farthest from the others), --gpus 4 sets the\n"
		"number. --gpu and --memory add GPUs. Additions and removals of one command happen together or not at all.\n"
		"Added GPUs are of the same kind unless --gpu names another. A process that holds a GPU stops its\n"
		"removal, as it stops gpuctl detach. With --wait it first waits until no operation is under way on the\n"
		"composition. GPUs that this host lacks are bound from fabric managers to empty slots: see\n"
		"gpuctl-fabric(5).",
	.options = { resize_options, pool_options, remove_options, session_options },
	.completes = "@compositions",
	.run = resize_run,
};
