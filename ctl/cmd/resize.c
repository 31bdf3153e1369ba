// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl resize: add GPUs to a composition and take others away, all or none. */
#include "choose/pool.h"
#include "choose/resize.h"
#include "ctl.h"
#include "lib/remove.h"
#include "lib/session.h"

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = resize(&session, argv[0]);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_resize = {
	.name = "resize",
	.args = "NAME",
	.summary = "add GPUs to a composition, or take some away",
	.help =
		"--gpus +2 adds, --gpus -1 gives back (the GPU that is farthest from the others), --gpus 4 sets\n"
		"the size; --gpu and --memory add. Additions and removals of one command happen together or not\n"
		"at all. More GPUs are of the same kind unless --gpu says otherwise. Holders stop a removal as\n"
		"they stop gpuctl detach.",
	.options = { resize_options, pool_options, remove_options, session_options },
	.completes = "@compositions",
	.run = run,
};
