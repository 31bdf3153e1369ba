// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl scan: power unknown slots once, to learn what is in them. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/out.h"
#include "lib/placement.h"
#include "lib/remove.h"
#include "lib/render.h"
#include "lib/session.h"
#include "lib/text.h"
#include "lib/wait.h"

/* So many slots at a time: a whole rack at once would need all its address space. */
#define BATCH 64

static const struct ctl_option options[] = {
	{ "all", 'a', NULL, "also slots whose GPU was seen before or is declared" },
	{ "keep", 'k', NULL, "leave the GPUs attached" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT" }, { "gpu", "GPU" }, { "memory", "MEMORY", OUT_RIGHT },
	{ "state", "STATE" }, { "identity", "IDENTITY" }, { "error", "ERROR", OUT_OPTIONAL },
	{ NULL, NULL },
};

/**
 * struct probe - one slot that is looked into
 * @name: the slot
 * @error: what went wrong, NULL when nothing did
 */
struct probe {
	char *name;
	char *error;
};

static bool is_wanted(const struct session *session, const struct gf_slot *slot, bool all)
{
	struct identity identity;

	if (slot->state != GF_STATE_OFF || slot->composition || slot->operation.id ||
	    slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED || gf_slot_is_other(slot))
		return false;
	identity_of(&session->knowledge, slot, &identity);
	return all || identity.source == GPUFABRIC_IDENTITY_SOURCE_UNKNOWN;
}

/* Keep the error of one slot, and go on with the others. */
static void take_error(struct session *session, struct probe *probe)
{
	struct ctl_ctx *ctx = session->ctx;

	if (!probe->error)
		probe->error = ctx->error;
	else
		free(ctx->error);
	ctx->error = NULL;
	free(ctx->more);
	ctx->more = NULL;
}

/* Start an operation of one slot; false after an error. */
static bool start_attach(struct session *session, struct gf_slot *slot, struct wait *wait)
{
	struct placement placement;
	struct nl_msg *msg;
	int tries = 0, ret;

	do {
		if (placement_judge(session, &slot, 1, false, &placement))
			return false;
		msg = gfc_message(session->client, GPUFABRIC_CMD_ATTACH);
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slot, NULL, NULL, 0);
		placement_put(msg, &placement);
		placement_free(&placement);
		if (session_put_options(session->ctx, msg)) {
			nlmsg_free(msg);
			return false;
		}
		ret = wait_start(session, msg, &slot, 1, wait);
	} while (ret && placement_stale(session) && ++tries < PLACEMENT_TRIES);
	return !ret;
}

static bool start_detach(struct session *session, struct gf_slot *slot, struct wait *wait)
{
	struct removal removal;
	struct nl_msg *msg;
	bool started = false;

	if (removal_init(session, &removal, &slot, 1, false))
		return false;
	if (!removal_drain(session, &removal)) {
		msg = gfc_message(session->client, GPUFABRIC_CMD_DETACH);
		removal_put(msg, GPUFABRIC_A_MEMBER, &removal);
		if (session_put_options(session->ctx, msg))
			nlmsg_free(msg);
		else
			started = !wait_start(session, msg, &slot, 1, wait);
		if (!started)
			removal_abort(session, &removal);
	}
	removal_free(&removal);
	return started;
}

/* One operation for each slot, all at the same time: one that fails concerns itself alone. */
static int for_each(struct session *session, struct probe *probes, size_t n, bool attach)
{
	struct wait *waits = mem_zalloc(n, sizeof(*waits));
	size_t *probe_of = mem_zalloc(n, sizeof(*probe_of));
	size_t started = 0, i;
	int ret;

	for (i = 0; i < n; i++) {
		struct gf_slot *slot = gf_slot_by_name(&session->fabric, probes[i].name);
		bool good;

		if (!slot || (!attach && slot->state != GF_STATE_READY &&
			      slot->state != GF_STATE_ATTACHED))
			continue;
		good = attach ? start_attach(session, slot, &waits[started]) :
				start_detach(session, slot, &waits[started]);
		if (good)
			probe_of[started++] = i;
		else
			take_error(session, &probes[i]);
	}
	ret = wait_all(session, waits, started);
	for (i = 0; i < started; i++) {
		if (!ret && wait_outcome(session, &waits[i], attach ? "attach" : "detach"))
			take_error(session, &probes[probe_of[i]]);
		wait_free(&waits[i]);
	}
	free(probe_of);
	free(waits);
	return ret;
}

static int probe_batch(struct session *session, struct probe *probes, size_t n)
{
	int ret;

	ret = for_each(session, probes, n, true);
	if (!ret && !ctl_flag(session->ctx, "keep"))
		ret = for_each(session, probes, n, false);
	return ret;
}

static int render(struct session *session, const struct probe *probes, size_t n)
{
	struct out_table *t = out_table(session->ctx->out, "slots", columns, OUT_TABLE);
	size_t failed = 0, i;

	for (i = 0; i < n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, probes[i].name);
		struct identity identity;
		char age[48];

		failed += !!probes[i].error;
		out_row(t);
		out_str(t, "slot", probes[i].name);
		if (probes[i].error)
			out_str(t, "error", probes[i].error);
		if (!slot)
			continue;
		identity_of(&session->knowledge, slot, &identity);
		out_str(t, "gpu", identity.label);
		if (identity.memory)
			out_bytes(t, "memory", identity.memory);
		if (identity.memory)
			out_text(t, "memory", "%.1f GiB", (double)identity.memory / (1ull << 30));
		out_str(t, "state", render_state(slot->state));
		out_str(t, "identity", identity_text(age, &identity, text_now()));
	}
	if (failed)
		return ctl_fail(session->ctx, CTL_FAILED,
				"%zu of %zu slots could not be looked into", failed, n);
	out_line(session->ctx->out,
		 n ? "%zu slot%s looked into"
		   : "nothing to look into: every occupied slot is known (--all looks again)",
		 n, n == 1 ? "" : "s");
	return CTL_DONE;
}

static int scan(struct session *session, struct probe *probes, size_t n)
{
	size_t i;
	int ret = CTL_DONE;

	if (session->ctx->dry_run) {
		for (i = 0; i < n; i++)
			out_note(session->ctx->out, "would", "would power ", "%s", probes[i].name);
		return CTL_DONE;
	}
	for (i = 0; i < n && !ret; i += BATCH)
		ret = probe_batch(session, &probes[i], n - i < BATCH ? n - i : BATCH);
	return ret ? ret : render(session, probes, n);
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct probe *probes;
	size_t n = 0, i;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	probes = mem_zalloc(session.fabric.n_slots, sizeof(*probes));
	for (i = 0; i < session.fabric.n_slots; i++)
		if (is_wanted(&session, &session.fabric.slots[i], ctl_flag(ctx, "all")))
			probes[n++].name = mem_strdup(session.fabric.slots[i].name);
	ret = scan(&session, probes, n);
	for (i = 0; i < n; i++) {
		free(probes[i].name);
		free(probes[i].error);
	}
	free(probes);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_scan = {
	.name = "scan",
	.args = "",
	.summary = "power unknown slots once, to learn what is in them",
	.help =
		"A slot without power cannot say what it holds. Each occupied slot of which nothing is known is\n"
		"powered, read and powered off again; the module remembers what it saw. Slots of compositions\n"
		"and slots in quarantine are left alone.",
	.options = { options, remove_options, session_options },
	.run = run,
};
