// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl scan: power unknown slots once, to identify their GPUs. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "op/op.h"
#include "session/render.h"
#include "session/session.h"

/* So many slots at a time: a whole rack at once would need all its address space. */
#define BATCH 64

static const struct ctl_option options[] = {
	{ "all", 'a', NULL, "also slots whose GPU was seen before or is declared" },
	{ "keep", 'k', NULL, "leave the GPUs attached" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT" },
	{ "gpu", "GPU" },
	{ "gpus", NULL },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ "state", "STATE" },
	{ "identity", "IDENTITY" },
	{ "error", "ERROR", OUT_OPTIONAL },
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

static bool scan_is_wanted(const struct session *session, const struct gf_slot *slot, bool all)
{
	struct identity identity;

	if (slot->state != GF_STATE_OFF || slot->composition || slot->operation.id ||
	    slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED || gf_slot_is_other(slot))
		return false;
	identity_of(&session->knowledge, slot, &identity);
	return all || identity.source == IDENTITY_UNKNOWN;
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

/* One operation for each slot, all at the same time: one that fails concerns itself alone. */
static int for_each(struct session *session, const struct op_terms *terms, struct probe *probes,
		    size_t n, bool attach)
{
	struct op *ops = mem_zalloc(n, sizeof(*ops));
	struct gf_slot **slots = mem_zalloc(n, sizeof(*slots));
	size_t *probe_of = mem_zalloc(n, sizeof(*probe_of));
	size_t started = 0, i;
	int ret;

	for (i = 0; i < n; i++) {
		struct op *op = &ops[started];

		slots[i] = gf_slot_by_name(&session->fabric, probes[i].name);
		if (!slots[i] || (!attach && slots[i]->state != GF_STATE_READY &&
				  slots[i]->state != GF_STATE_ATTACHED))
			continue;
		*op = (struct op){ .kind = attach ? OP_ATTACH : OP_DETACH,
				   .terms = terms,
				   .probe = true,
				   .failed = attach ? "attach" : "detach" };
		*(attach ? &op->add : &op->remove) = &slots[i];
		*(attach ? &op->n_add : &op->n_remove) = 1;
		if (op_start(session, op)) {
			take_error(session, &probes[i]);
			op_free(op);
			continue;
		}
		probe_of[started++] = i;
	}
	ret = op_await(session, ops, started);
	for (i = 0; i < started; i++) {
		if (!ret && op_finish(session, &ops[i]))
			take_error(session, &probes[probe_of[i]]);
		op_free(&ops[i]);
	}
	free(probe_of);
	free(slots);
	free(ops);
	return ret;
}

/* What was powered to be looked into is powered off again: a signal waits until then. */
static int probe_batch(struct session *session, const struct op_terms *terms, struct probe *probes,
		       size_t n)
{
	int ret;

	if (ctl_flag(session->ctx, "keep"))
		return for_each(session, terms, probes, n, true);
	gfc_hold_signals();
	ret = for_each(session, terms, probes, n, true);
	if (!ret)
		ret = for_each(session, terms, probes, n, false);
	gfc_release_signals();
	return ret;
}

/* As lists have it: the memory is that of all GPUs of the card. */
static void render_gpus(struct out_table *t, const struct identity *identity)
{
	uint64_t memory = identity->memory * identity->gpus;
	char gpus[IDENTITY_GPUS];

	out_str(t, "gpu", identity->label);
	if (identity->gpus > 1)
		out_text(t, "gpu", "%s", identity_gpus(gpus, identity));
	if (identity->source != IDENTITY_UNKNOWN)
		out_uint(t, "gpus", identity->gpus);
	if (memory) {
		out_bytes(t, "memory", memory);
		out_text(t, "memory", "%.1f GiB", (double)memory / (1ull << 30));
	}
}

/* The first @n of @all. */
static int scan_render(struct session *session, const struct probe *probes, size_t n, size_t all)
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
		render_gpus(t, &identity);
		out_str(t, "state", render_state(slot->state));
		out_str(t, "identity", identity_text(age, &identity, text_now()));
	}
	if (gfc_signalled())
		return ctl_fail(session->ctx, CTL_FAILED,
				"interrupted: %zu of %zu slots were scanned", n - failed, all);
	if (failed)
		return ctl_fail(session->ctx, CTL_FAILED, "%zu of %zu slots could not be scanned",
				failed, n);
	out_line(session->ctx->out,
		 n ? "%zu slot%s scanned" :
		     "nothing to scan: every occupied slot is known (--all scans again)",
		 n, n == 1 ? "" : "s");
	return CTL_DONE;
}

static int scan(struct session *session, const struct op_terms *terms, struct probe *probes,
		size_t n)
{
	size_t done = 0, i;
	int ret = CTL_DONE;

	if (session->ctx->dry_run) {
		for (i = 0; i < n; i++)
			out_note(session->ctx->out, "would", "would power ", "%s", probes[i].name);
		return CTL_DONE;
	}
	while (done < n && !ret && !gfc_signalled()) {
		size_t batch = n - done < BATCH ? n - done : BATCH;

		ret = probe_batch(session, terms, &probes[done], batch);
		done += batch;
	}
	return ret ? ret : scan_render(session, probes, done, n);
}

static int scan_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct op_terms terms;
	struct probe *probes;
	size_t n = 0, i;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	probes = mem_zalloc(session.fabric.n_slots, sizeof(*probes));
	for (i = 0; i < session.fabric.n_slots; i++)
		if (scan_is_wanted(&session, &session.fabric.slots[i], ctl_flag(ctx, "all")))
			probes[n++].name = mem_strdup(session.fabric.slots[i].name);
	ret = scan(&session, &terms, probes, n);
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
	.group = CTL_GPUS,
	.args = "",
	.summary = "power unknown slots once, to identify their GPUs",
	.help = "A slot without power cannot say what it holds. gpuctl powers each occupied slot of unknown\n"
		"content, reads it and powers it off again; the module remembers the result. Slots of compositions\n"
		"and slots in quarantine are left alone. SIGINT, SIGTERM and SIGHUP end a scan when the slots\n"
		"that it has powered, up to 64, are off again.",
	.options = { options, remove_options, session_options },
	.run = scan_run,
};
