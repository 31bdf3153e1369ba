// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl tenants: who may hold how many GPUs, and who holds how many. */
#include "choose/quota.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "session/session.h"

static const struct out_column columns[] = {
	{ "tenant", "TENANT" },
	{ "held", "HELD", OUT_RIGHT },
	{ "guarantee", "GUARANTEE", OUT_RIGHT },
	{ "limit", "LIMIT", OUT_RIGHT },
	{ "borrowed", "BORROWED", OUT_RIGHT },
	{ NULL, NULL },
};

static void tenants_render(struct out_table *t, const struct tenant *tenant)
{
	bool borrows = tenant->held > tenant->guarantee;

	out_row(t);
	out_str(t, "tenant", tenant->name);
	out_uint(t, "held", tenant->held);
	out_uint(t, "guarantee", tenant->guarantee);
	if (tenant->limit != TENANT_NO_LIMIT)
		out_uint(t, "limit", tenant->limit);
	out_uint(t, "borrowed", borrows ? tenant->held - tenant->guarantee : 0);
}

static int tenants_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct quota quota;
	struct out_table *t;
	size_t i;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = quota_load(&session, &quota);
	if (!ret) {
		t = out_table(ctx->out, "tenants", columns, OUT_TABLE);
		for (i = 0; i < quota.tenants.n; i++)
			tenants_render(t, &quota.tenants.items[i]);
		if (!quota.tenants.n)
			out_line(ctx->out, "no tenants in %s/tenants.d: no limit applies",
				 ctx->config_dir);
		quota_end(&quota);
	}
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_tenants = {
	.name = "tenants",
	.group = CTL_SIZING,
	.args = "",
	.summary = "tenants with their limits and the GPUs that they hold",
	.help = "Tenants are described in tenants.d of the configuration, see gpuctl-tenants(5). compose and resize keep\n"
		"a tenant within its limit, and leave other tenants what they are guaranteed.",
	.flags = CTL_NO_DRY_RUN,
	.options = { ctl_table_options },
	.run = tenants_run,
};
