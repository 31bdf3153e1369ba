// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl watch until: wait for a state, in a script. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/given.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/watch.h"

static const struct ctl_option options[] = {
	{ "timeout", 't', "TIME", "give up after this time, exit code 7" },
	{ NULL },
};

static int watch_until_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct condition until = { 0 };
	struct watch watch = { .until = &until };
	struct fault fault = { "" };
	char *text = NULL;
	uint64_t ms = 0;
	int ret;

	ret = ctl_operands(ctx, argc, 2, 2);
	if (!ret)
		ret = duration_read(ctx, "timeout", 0, 1, 86400ull * 1000, &ms);
	if (ret)
		return ret;
	text = mem_printf("%s %s", argv[0], argv[1]);
	watch.until_text = text;
	watch.end = ms ? text_monotonic() + ms : 0;
	if (condition_parse(text, &until, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	else
		ret = watch_run(ctx, &watch);
	condition_free(&until);
	free(text);
	return ret;
}

const struct ctl_command cmd_watch_until = {
	.name = "watch until",
	.args = "SLOT|NAME STATE",
	.summary = "print changes until a slot or a composition is in a state",
	.help = "The command ends at once if the slot or composition has the state already. The state gone means that it\n"
		"does not exist.",
	.options = { options, watch_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = "@slots @compositions,",
	.run = watch_until_run,
};
