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
		"only at a boundary or after --boundary-wait, and move workloads without boundaries before it. For plan\n"
		"step a boundary counts for a minute, for plan run until its next step; if plan run waits for this\n"
		"workload, it makes that step at once. The command changes the file " BOUNDARY_FOLDER
		"/NAME;\n"
		"a program can do the same by adding a line to it. Root can give the file to the program's user.",
	.options = { options },
	.run = notify_run,
};
