// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl clear: take slots out of fault, lost or quarantine. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "op/submit.h"
#include "session/render.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "reason", 'r', "TEXT", "free text for the history" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT" },
	{ "before", "BEFORE" },
	{ "state", "STATE" },
	{ NULL, NULL },
};

static int clear_run_session(struct session *session, int argc, char **argv)
{
	const struct ctl_ctx *ctx = session->ctx;
	struct gf_slot **slots;
	const char *reason;
	struct out_table *t;
	uint32_t *before;
	int ret, i;

	ret = reason_read(session->ctx, &reason);
	if (!ret)
		ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	before = mem_zalloc((size_t)argc, sizeof(*before));
	for (i = 0; i < argc; i++)
		before[i] = slots[i]->state;
	if (ctx->dry_run) {
		for (i = 0; i < argc; i++)
			out_note(ctx->out, "would", "would clear ", "%s", argv[i]);
	} else {
		ret = submit_clear(session, slots, (size_t)argc, reason);
		if (!ret)
			ret = session_refresh(session);
		t = ret ? NULL : out_table(ctx->out, "slots", columns, OUT_TABLE);
		for (i = 0; i < argc && t; i++) {
			const struct gf_slot *now = gf_slot_by_name(&session->fabric, argv[i]);

			out_row(t);
			out_str(t, "slot", argv[i]);
			out_str(t, "before", render_state(before[i]));
			out_str(t, "state", now ? render_state(now->state) : NULL);
		}
	}
	free(before);
	free(slots);
	return ret;
}

static int clear_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = clear_run_session(&session, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_clear = {
	.name = "clear",
	.group = CTL_GPUS,
	.args = "SLOT...",
	.summary = "take slots out of fault, lost or quarantine",
	.help = "The slot returns to the state of the card in it. A stuck slot cannot be cleared: it becomes\n"
		"usable when the kernel's call returns.",
	.options = { options },
	.run = clear_run,
};
