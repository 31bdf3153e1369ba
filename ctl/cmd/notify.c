// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl notify: what a workload says to the planner. */
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "plan/boundary.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "boundary", 0, "NAME", "composition NAME is at a boundary: it can be moved now",
	  "@compositions" },
	{ NULL },
};

static int notify_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *name = ctl_opt(ctx, "boundary");
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret && !name)
		ret = ctl_fail(ctx, CTL_USAGE, "nothing to say: give --boundary NAME");
	if (!ret)
		ret = session_check_name(ctx, "workload", name);
	if (!ret && ctx->dry_run)
		out_note(ctx->out, "would", "would ", "announce a boundary of %s", name);
	else if (!ret)
		ret = boundary_announce(ctx, name);
	return ret;
}

const struct ctl_command cmd_notify = {
	.name = "notify",
	.group = CTL_SIZING,
	.args = "",
	.summary = "tell the planner that a workload can be moved now",
	.help = "A workload that loses work when it is moved, such as a training between two checkpoints, announces\n"
		"its boundaries: the moments at which it loses little. gpuctl plan run and gpuctl plan step move it\n"
		"at a boundary, unless --boundary-wait is over, and others that announce none before it. A boundary\n"
		"counts for a minute or until the next step of the planner, which makes one at once when it waits\n"
		"for this workload. The command changes the file " BOUNDARY_FOLDER
		"/NAME, and so may\n"
		"a program by itself, by a line that it adds. Root can give the file to the program's user.",
	.options = { options },
	.run = notify_run,
};
