// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl watch changes: print the fabric, and then what becomes of it. */
#include "base/text.h"
#include "cli/given.h"
#include "cmd/cmd.h"
#include "cmd/watch.h"

static const struct ctl_option options[] = {
	{ "count", 'c', "COUNT", "end after this number of changes" },
	{ NULL },
};

static int watch_changes_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct watch watch = { 0 };
	const char *count = ctl_opt(ctx, "count");
	int ret = ctl_operands(ctx, argc, 0, 0);

	(void)argv;
	if (!ret && count && !text_number(count, UINT32_MAX, &watch.limit))
		ret = ctl_fail(ctx, CTL_USAGE, "--count %s: write a number", count);
	return ret ? ret : watch_run(ctx, &watch);
}

const struct ctl_command cmd_watch_changes = {
	.name = "watch changes",
	.args = "",
	.summary = "print a snapshot, then every change",
	.options = { options, watch_options },
	.flags = CTL_NO_DRY_RUN,
	.run = watch_changes_run,
};
