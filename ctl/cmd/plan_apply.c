// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan apply: make the moves of a step. */
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/plan_input.h"
#include "cmd/plan_text.h"
#include "plan/apply.h"

static int plan_apply_apply(struct ctl_ctx *ctx, const struct op_terms *terms, const char *host,
			    const struct move_list *list)
{
	enum apply_outcome *outcomes;
	struct session session;
	int ret, lock = -1;

	ret = ctx->dry_run ? CTL_DONE : apply_lock(ctx, &lock);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		outcomes = mem_zalloc(list->n, sizeof(*outcomes));
		ret = apply_moves(&session, terms, host, list, outcomes);
		apply_render(ctx, list, outcomes);
		free(outcomes);
		session_close(&session);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

static int plan_apply_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct fault fault = { "" };
	struct move_list list = { 0 };
	char host[PLAN_HOST], *text = NULL;
	struct op_terms terms;
	size_t len;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = plan_host(ctx, host);
	if (!ret)
		ret = terms_read(ctx, 0, 0, &terms);
	if (!ret)
		ret = plan_text(ctx, argv[0], &text, &len);
	if (!ret && move_list_read(&list, argv[0], text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret)
		ret = plan_apply_apply(ctx, &terms, host, &list);
	move_list_free(&list);
	free(text);
	return ret;
}

const struct ctl_command cmd_plan_apply = {
	.name = "plan apply",
	.args = "MOVES",
	.summary = "make the moves of gpuctl plan step -j on this host",
	.help = "MOVES is the output of gpuctl plan step -j, or - for standard input. Each step is a\n"
		"compose, resize or release, done as a whole or not at all. Steps for other hosts are\n"
		"only printed. The command stops at the first step that fails, and takes no GPU that\n"
		"a process holds (exit code 4). You can apply the list again after a stop or a crash:\n"
		"gpuctl compares it with the compositions and continues. It stops if another user has\n"
		"changed a workload meanwhile. SIGINT, SIGTERM and SIGHUP take effect after the current move.",
	.options = { plan_host_options, session_options },
	.run = plan_apply_run,
};
