// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl clear: take slots out of fault, lost or quarantine. */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "lib/out.h"
#include "lib/render.h"
#include "lib/session.h"
#include "lib/text.h"

static const struct ctl_option options[] = {
	{ "reason", 'r', "TEXT", "free text for the history" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT" }, { "before", "BEFORE" }, { "state", "STATE" }, { NULL, NULL },
};

static int clear(struct session *session, struct gf_slot *const *slots, size_t n)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_CLEAR);
	const char *reason = ctl_opt(session->ctx, "reason");
	size_t i;

	for (i = 0; i < n; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slots[i], NULL, NULL, 0);
	if (reason && strlen(reason) > GPUFABRIC_REASON_MAX) {
		nlmsg_free(msg);
		return ctl_fail(session->ctx, CTL_USAGE, "--reason: at most %d bytes",
				GPUFABRIC_REASON_MAX);
	}
	if (reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, reason);
	return gfc_request(session->client, msg, NULL, NULL);
}

static int run_session(struct session *session, int argc, char **argv)
{
	const struct ctl_ctx *ctx = session->ctx;
	struct gf_slot **slots;
	struct out_table *t;
	uint32_t *before;
	int ret, i;

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
		ret = clear(session, slots, (size_t)argc);
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

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = run_session(&session, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_clear = {
	.name = "clear",
	.args = "SLOT...",
	.summary = "take slots out of fault, lost or quarantine",
	.help =
		"The slot returns to what is found in it. A stuck slot cannot be cleared: it ends by itself\n"
		"when the kernel comes back.",
	.options = { options },
	.run = run,
};
