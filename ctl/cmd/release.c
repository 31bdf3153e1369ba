// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl release: end a composition and power its slots off and end it. */
#include "cli/ctl.h"
#include "cli/given.h"
#include "cmd/options.h"
#include "op/release.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "keep", 'k', NULL, "leave the GPUs attached, in the pool" },
	{ NULL },
};

static int release_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct op_terms terms;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	ret = release_composition(&session, &terms, argv[0],
				  ctl_flag(ctx, "keep") ? RELEASE_KEEP : 0);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_release = {
	.name = "release",
	.group = CTL_COMPOSITIONS,
	.args = "NAME",
	.summary = "end a composition and power its slots off",
	.help = "A process that holds a GPU stops the release, and --wait is as with gpuctl detach: the release also waits\n"
		"until no operation is under way on the composition. With --keep, only the claim ends and the GPUs stay\n"
		"attached.",
	.options = { options, remove_options, session_options },
	.completes = "@compositions",
	.run = release_run,
};
