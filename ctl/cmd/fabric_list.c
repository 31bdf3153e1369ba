// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl fabric list: GPUs of all fabric managers with who has them. */
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/pool_table.h"
#include "session/identity.h"

static int first_exit(const struct pool_seen *pool)
{
	size_t i;

	for (i = 0; i < pool->managers.n; i++)
		if (pool->asked[i].ret)
			return pool->asked[i].ret;
	return pool->managers.n_bad ? pool->managers.bad[0].exit : CTL_DONE;
}

static int fabric_list_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct knowledge knowledge = { 0 };
	struct pool_seen pool = { 0 };
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = knowledge_load(ctx, &knowledge, false);
	if (ret)
		goto out;
	pool_seen_read(ctx, &knowledge.catalogue, &pool);
	pool_seen_render(ctx, &pool);
	out_line(ctx->out, "%s", "");
	pool_seen_render_managers(ctx, &pool);
	if (!pool.managers.n && !pool.managers.n_bad)
		out_line(ctx->out, "no fabric manager: there is no file in %s/" MANAGER_DIR,
			 ctx->config_dir);
	ret = first_exit(&pool);
	if (ret)
		ctl_fail(ctx, (enum ctl_exit)ret, "some fabric managers did not answer");
out:
	pool_seen_free(&pool);
	knowledge_free(&knowledge);
	return ret;
}

const struct ctl_command cmd_fabric_list = {
	.name = "fabric list",
	.args = "",
	.summary = "fabric managers and their GPUs, with the host that has each",
	.help = "STATE is free, bound (to this host), elsewhere (HOST has the host), changing (during a bind or unbind)\n"
		"or unusable (WHY has the reason). SLOT is the slot of this host at the port of the GPU. The command does\n"
		"not need the module. If a manager does not answer, the command prints a warning and lists the others; the\n"
		"exit code is that of the first manager that failed.",
	.options = { ctl_table_options },
	.flags = CTL_NO_DRY_RUN,
	.run = fabric_list_run,
};
