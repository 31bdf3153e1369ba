// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl history: operations with their requesters, newest last. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "session/render.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "last", 'l', "COUNT", "only this number of entries, the newest" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "sequence", NULL },
	{ "time", "TIME" },
	{ "slot", "SLOT" },
	{ "operation", "OPERATION" },
	{ "operation_id", NULL },
	{ "state", "STATE" },
	{ "cause", NULL },
	{ "done", NULL },
	{ "error", NULL },
	{ NULL, "RESULT" },
	{ "durations", "TOOK", OUT_RIGHT },
	{ "composition", "COMPOSITION", OUT_OPTIONAL },
	{ "uid", NULL },
	{ NULL, "USER" },
	{ "pid", "PID", OUT_RIGHT | OUT_OPTIONAL },
	{ "command", "COMMAND", OUT_OPTIONAL },
	{ "reason", "REASON", OUT_OPTIONAL },
	{ "text", "TEXT", OUT_OPTIONAL },
	{ NULL, NULL },
};

struct entries {
	struct gf_history *items;
	size_t n;
};

static void history_take(struct gf_message *message, void *arg)
{
	struct entries *entries = arg;

	if (message->has.history)
		entries->items = object_push(&gf_history_object, entries->items, &entries->n,
					     &message->history);
}

static void drop(void *arg)
{
	struct entries *entries = arg;

	object_drop(&gf_history_object, entries->items, &entries->n);
}

static void render_who(struct out_table *t, const struct gf_operation *op)
{
	const struct passwd *user;

	if (op->has.uid) {
		user = getpwuid(op->uid);
		out_uint(t, "uid", op->uid);
		if (user)
			out_text(t, "USER", "%s", user->pw_name);
		else
			out_text(t, "USER", "%u", op->uid);
	}
	if (op->has.pid)
		out_uint(t, "pid", op->pid);
	if (op->command)
		out_str(t, "command", op->command);
	if (op->reason && *op->reason)
		out_str(t, "reason", op->reason);
}

static void render_entry(struct out_table *t, const struct gf_history *entry)
{
	const struct gf_operation *op = &entry->operation;
	char took[TEXT_QUANTITY];

	out_row(t);
	out_uint(t, "sequence", entry->sequence);
	out_time(t, "time", entry->time);
	out_str(t, "slot", entry->slot_name);
	out_str(t, "operation", render_kind(op->kind));
	if (op->id)
		out_uint(t, "operation_id", op->id);
	if (entry->has.condition) {
		out_str(t, "state", render_state(entry->state));
		if (entry->condition.cause) {
			out_str(t, "cause", render_cause(entry->condition.cause));
			out_text(t, "state", "%s (%s)", render_state(entry->state),
				 render_cause(entry->condition.cause));
		}
	}
	out_bool(t, "done", op->has.error);
	if (op->has.error) {
		out_int(t, "error", op->error);
		out_text(t, "RESULT", "%s", op->error ? strerror(-op->error) : "done");
	}
	if (gf_duration(op, GPUFABRIC_PHASE_TOTAL))
		out_cell(t, "durations", render_durations_json(op), "%s",
			 text_duration(took, gf_duration(op, GPUFABRIC_PHASE_TOTAL) / 1000));
	if (op->composition)
		out_str(t, "composition", op->composition);
	render_failure(t, &op->failure);
	render_who(t, op);
}

static int history(struct session *session, const char *slot, uint64_t last)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_HISTORY_GET);
	struct entries entries = { 0 };
	struct out_table *t;
	size_t i;
	int ret;

	if (slot)
		nla_put_string(msg, GPUFABRIC_A_NAME, slot);
	ret = gfc_dump(session->client, msg, history_take, drop, &entries);
	if (!ret) {
		t = out_table(session->ctx->out, "history", columns, OUT_TABLE);
		i = last && entries.n > last ? entries.n - last : 0;
		for (; i < entries.n; i++)
			render_entry(t, &entries.items[i]);
		if (!entries.n)
			out_line(session->ctx->out, "there were no operations yet");
	}
	drop(&entries);
	free(entries.items);
	return ret;
}

static int history_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct gf_slot **slots = NULL;
	struct session session;
	uint64_t last = 0;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret && ctl_opt(ctx, "last") &&
	    (!text_number(ctl_opt(ctx, "last"), UINT32_MAX, &last) || !last))
		ret = ctl_fail(ctx, CTL_USAGE, "--last %s: write a number from 1",
			       ctl_opt(ctx, "last"));
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	if (argc)
		ret = session_slots(&session, argc, argv, &slots);
	if (!ret)
		ret = history(&session, argc ? argv[0] : NULL, last);
	free(slots);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_history = {
	.name = "history",
	.group = CTL_LOOK,
	.args = "[SLOT]",
	.summary = "operations with their requesters, newest last",
	.help = "The module keeps the last 4,096 entries. Process, command and reason are shown only to root.",
	.options = { options, ctl_table_options },
	.flags = CTL_NO_DRY_RUN,
	.run = history_run,
};
