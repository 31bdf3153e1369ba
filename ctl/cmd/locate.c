// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl locate: blink at a slot, so that somebody in front of the rack finds it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "host/lamp.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "off", 0, NULL, "turn the indicator off again" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT" },
	{ "before", "BEFORE" },
	{ "indicator", "INDICATOR" },
	{ NULL, NULL },
};

static int lamp_fail(struct session *session, const struct gf_slot *slot, int error)
{
	if (slot->backend == GPUFABRIC_BACKEND_RESCAN)
		return ctl_fail(session->ctx, CTL_FAILED,
				"slot %s has no slot driver, and so no indicator: its port is %s",
				slot->name, slot->address);
	if (error == -ENOENT)
		return ctl_fail(session->ctx, CTL_FAILED,
				"slot %s has no attention indicator: its port is %s", slot->name,
				slot->address);
	if (error == -EACCES || error == -EPERM)
		return ctl_fail(session->ctx, CTL_DENIED,
				"only root can read and set the indicator of slot %s: run gpuctl as root",
				slot->name);
	return ctl_fail(session->ctx, CTL_FAILED, "the indicator of slot %s: %s", slot->name,
			strerror(-error));
}

/* All of them have one, or nothing is changed. */
static int lamps_read(struct session *session, const struct tree *tree,
		      struct gf_slot *const *slots, size_t n, int *before)
{
	size_t i;

	for (i = 0; i < n; i++) {
		before[i] = lamp_read(tree, slots[i]->name);
		if (before[i] < 0)
			return lamp_fail(session, slots[i], before[i]);
	}
	return CTL_DONE;
}

static int lamp_change(struct session *session, const struct tree *tree, const struct gf_slot *slot,
		       enum lamp lamp)
{
	int ret = lamp_set(tree, slot->name, lamp), now;

	if (ret)
		return lamp_fail(session, slot, ret);
	now = lamp_read(tree, slot->name);
	if (now < 0)
		return lamp_fail(session, slot, now);
	if (now != (int)lamp)
		return ctl_fail(session->ctx, CTL_FAILED,
				"the indicator of slot %s shows %s, not %s: its slot driver has changed it: try again",
				slot->name, lamp_name(now), lamp_name((int)lamp));
	return CTL_DONE;
}

static int lamps_change(struct session *session, const struct tree *tree,
			struct gf_slot *const *slots, size_t n, const int *before)
{
	enum lamp lamp = ctl_flag(session->ctx, "off") ? LAMP_OFF : LAMP_BLINK;
	struct out_table *t = NULL;
	int ret = CTL_DONE;
	size_t i;

	for (i = 0; i < n && !ret; i++) {
		if (session->ctx->dry_run) {
			out_note(session->ctx->out, "would",
				 lamp == LAMP_OFF ? "would turn off " : "would blink at ", "%s",
				 slots[i]->name);
			continue;
		}
		ret = lamp_change(session, tree, slots[i], lamp);
		if (ret)
			break;
		if (!t)
			t = out_table(session->ctx->out, "slots", columns, OUT_TABLE);
		out_row(t);
		out_str(t, "slot", slots[i]->name);
		out_str(t, "before", lamp_name(before[i]));
		out_str(t, "indicator", lamp_name((int)lamp));
	}
	return ret;
}

static int locate_locate(struct session *session, int argc, char **argv)
{
	struct gf_slot **slots;
	struct fault fault = { "" };
	struct tree tree;
	int *before;
	int ret;

	ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	before = mem_zalloc((size_t)argc, sizeof(*before));
	if (tree_open(&tree, NULL, &fault))
		ret = ctl_fail(session->ctx, CTL_FAILED, "%s", fault.text);
	if (!ret)
		ret = lamps_read(session, &tree, slots, (size_t)argc, before);
	if (!ret)
		ret = lamps_change(session, &tree, slots, (size_t)argc, before);
	tree_close(&tree);
	free(before);
	free(slots);
	return ret;
}

static int locate_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = session_open_slots(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = locate_locate(&session, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_locate = {
	.name = "locate",
	.group = CTL_GPUS,
	.args = "SLOT...",
	.summary = "blink the attention indicator of slots",
	.help = "The indicator blinks, so that you can find the slot in the rack. gpuctl reads it back. The slot driver\n"
		"changes it when it powers the slot (off) or sees a fault there (on).",
	.options = { options },
	.run = locate_run,
};
