// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan solve: the plan of an instance in a file. */
#include "cmd/cmd.h"

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 1, 1);
	if (ret)
		return ret;
	return ctl_fail(ctx, CTL_FAILED, "not built yet");
}

const struct ctl_command cmd_plan_solve = {
	.name = "plan solve",
	.args = "FILE",
	.summary = "plan an instance",
	.flags = CTL_NO_DRY_RUN,
	.run = run,
};
