// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl compose: give a workload a set of GPUs, all or none. */
#include "choose/compose.h"
#include "choose/pool.h"
#include "ctl.h"
#include "lib/session.h"
#include "size/options.h"

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = session_check_name(ctx, "name", argv[0]);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = compose(&session, argv[0], 0);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_compose = {
	.name = "compose",
	.args = "NAME",
	.summary = "give a workload a set of GPUs, all or none",
	.help =
		"What is wanted is said by --gpus, by --gpu (which adds up), by --memory, or by the workload\n"
		"(--model and its options), which is sized first. Slots behind one switch are preferred, then\n"
		"of one NUMA node, then of the fewest switches; the choice says why. Free GPUs that are\n"
		"attached already are taken as they are. When one slot fails all are put back as they were.\n"
		"For a workload the kind that holds it with the fewest free GPUs is taken, as many as gpuctl\n"
		"size says, and a line says which limit decided: memory, heads, power-of-two (--round pow2),\n"
		"degrees, count, pool or tenant. Kinds are mixed only with --mixed, or when --gpu names them.",
	.options = { pool_options, compose_options, size_workload_options, session_options },
	.run = run,
};
