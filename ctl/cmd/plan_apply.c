// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan apply: make the moves of a step. */
#include <stdlib.h>
#include <unistd.h>

#include "choose/apply.h"
#include "cmd/cmd.h"
#include "cmd/plan_input.h"
#include "cmd/plan_text.h"
#include "lib/text.h"

static int apply(struct ctl_ctx *ctx, const char *host, const struct move_list *list)
{
	enum apply_outcome *outcomes;
	struct session session;
	int ret, lock = -1;

	ret = ctx->dry_run ? CTL_DONE : apply_lock(ctx, &lock);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		outcomes = mem_zalloc(list->n, sizeof(*outcomes));
		ret = apply_moves(&session, host, list, outcomes);
		apply_render(ctx, list, outcomes);
		free(outcomes);
		session_close(&session);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct fault fault = { "" };
	struct move_list list = { 0 };
	char host[PLAN_HOST], *text = NULL;
	size_t len;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = plan_host(ctx, host);
	if (!ret)
		ret = plan_text(ctx, argv[0], &text, &len);
	if (!ret && move_list_read(&list, argv[0], text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret)
		ret = apply(ctx, host, &list);
	move_list_free(&list);
	free(text);
	return ret;
}

const struct ctl_command cmd_plan_apply = {
	.name = "plan apply",
	.args = "MOVES",
	.summary = "make the moves of gpuctl plan step -j on this host",
	.help = "MOVES is what gpuctl plan step -j printed, - standard input. Each step is a\n"
		"compose, resize or release, whole or not at all; what is for other hosts is\n"
		"printed. It ends at the first step that fails, and takes no GPU that somebody\n"
		"holds (exit code 4). Applied again it goes on where it ended, or was killed: what\n"
		"was done before is seen from what the compositions have. A workload that was\n"
		"changed by others meanwhile ends it. An interrupt does after the step that is\n"
		"under way.",
	.options = { plan_host_options, session_options },
	.run = run,
};
