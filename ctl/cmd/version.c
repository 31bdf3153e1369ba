// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl version: versions of the tool and of the module. */
#include <stdlib.h>

#include "cli/ctl.h"
#include "cli/out.h"
#include "module/nl.h"

#ifndef GPUCTL_VERSION
#define GPUCTL_VERSION "unknown"
#endif

static const struct out_column columns[] = {
	{ "gpuctl", "gpuctl" },
	{ "module", "module" },
	{ NULL, NULL },
};

static int version_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct gf_status status = { 0 };
	struct out_table *t;
	struct gfc *client;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (ret)
		return ret;
	t = out_table(ctx->out, NULL, columns, OUT_SINGLE);
	out_str(t, "gpuctl", GPUCTL_VERSION);

	/* The tool's own version is worth telling without the module, too. */
	ret = gfc_open(ctx, &client);
	if (!ret) {
		ret = gfc_status(client, &status);
		gfc_close(client);
	}
	if (ret == CTL_NO_MODULE)
		status.version = gfc_module_version();
	out_str(t, "module", status.version);
	if (ret && status.version)
		out_text(t, "module", "%s, which this gpuctl cannot use", status.version);
	else if (ret)
		out_text(t, "module", "not loaded");
	gf_status_free(&status);
	return ret == CTL_NO_MODULE ? CTL_DONE : ret;
}

const struct ctl_command cmd_version = {
	.name = "version",
	.group = CTL_HOST,
	.args = "",
	.summary = "versions of gpuctl and of the module",
	.flags = CTL_NO_DRY_RUN,
	.run = version_run,
};
