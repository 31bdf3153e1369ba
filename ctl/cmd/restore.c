// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl restore: restore the compositions that gpuctl save has saved. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "op/op.h"
#include "op/saved.h"
#include "op/settle.h"
#include "session/session.h"

/* A file this long was written by something else. */
#define FILE_MAX (16u << 20)
/* At a boot slots are just being powered. */
#define SETTLE_MS 60000
/* Cleaning a slot takes two of them, attaching and a reset. */
#define TRIES 5

static const struct ctl_option options[] = { DIRTY_OPTION, { NULL } };

static int restore_read_file(struct ctl_ctx *ctx, const char *path, char **text, size_t *len)
{
	FILE *f = fopen(path, "re");
	int err;

	*text = NULL;
	*len = 0;
	if (!f)
		return ctl_fail(ctx, CTL_FAILED, "%s: %s", path, strerror(errno));
	*text = mem_zalloc(FILE_MAX + 1, 1);
	*len = fread(*text, 1, FILE_MAX, f);
	err = ferror(f) ? errno : 0;
	if (!err && *len == FILE_MAX)
		err = EFBIG;
	fclose(f);
	if (!err)
		return CTL_DONE;
	free(*text);
	return ctl_fail(ctx, CTL_FAILED, "%s: %s", path, strerror(err));
}

static int restore_load(struct ctl_ctx *ctx, const char *path, struct saved *saved)
{
	struct fault fault = { "" };
	char *text;
	size_t len;
	int ret;

	ret = restore_read_file(ctx, path, &text, &len);
	if (ret)
		return ret;
	if (saved_parse(saved, path, text, len, &fault))
		ret = ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	free(text);
	return ret;
}

/* Why it need not be restored, NULL when it has to be. */
static const char *settled(const struct session *session, const struct saved *saved,
			   const struct saved_composition *wanted)
{
	if (gf_composition_by_name(&session->fabric, wanted->name))
		return "exists already";
	if (wanted->lease && !saved_left(saved, wanted, text_now()))
		return "its lease is over";
	return NULL;
}

/* Until what others have begun with the slots has ended. */
static int restore_settle(struct session *session, const struct saved_composition *wanted)
{
	const char **names = mem_zalloc(wanted->n_slots + 1, sizeof(*names));
	size_t i;
	int ret;

	for (i = 0; i < wanted->n_slots; i++)
		names[i] = wanted->slots[i].name;
	ret = settle_slots(session, names, wanted->n_slots, SETTLE_MS);
	free(names);
	return ret;
}

static struct gf_slot **restore_find_slots(struct session *session,
					   const struct saved_composition *wanted)
{
	struct gf_slot **slots = mem_zalloc(wanted->n_slots, sizeof(*slots));
	size_t i;

	for (i = 0; i < wanted->n_slots; i++) {
		slots[i] = gf_slot_by_name(&session->fabric, wanted->slots[i].name);
		if (slots[i])
			continue;
		ctl_fail(session->ctx, CTL_FAILED, "slot %s does not exist any more",
			 wanted->slots[i].name);
		free(slots);
		return NULL;
	}
	return slots;
}

/* What was left of the lease when the clock on the wall last was asked is left of it now. */
static struct annotation note_of(const struct session *session, const struct saved *saved,
				 const struct saved_composition *wanted)
{
	struct annotation note = wanted->note;
	uint64_t left = saved_left(saved, wanted, text_now());

	if (wanted->lease) {
		note.lease = text_uptime() + (left ? left : 1);
		note.instance = session->mirror.instance;
	}
	return note;
}

/* The same kind was verified by the module; that it is the same card is worth a word. */
static void compare_serials(struct session *session, const struct saved_composition *wanted)
{
	size_t i;

	for (i = 0; i < wanted->n_slots; i++) {
		const struct gf_slot *slot =
			gf_slot_by_name(&session->fabric, wanted->slots[i].name);

		if (slot && slot->serial && wanted->slots[i].serial &&
		    slot->serial != wanted->slots[i].serial)
			ctl_warn(session->ctx,
				 "%s: slot %s holds another GPU of that kind: serial %016" PRIx64,
				 wanted->name, slot->name, slot->serial);
	}
}

/* What was saved had these GPUs before the module was loaded. */
static struct handover_to receiver_of(const struct saved_composition *wanted)
{
	return (struct handover_to){
		.tenant = *wanted->note.tenant ? wanted->note.tenant : NULL,
		.stranger = wanted->bytes,
		.adopts = true,
	};
}

/* @again: slots were cleaned, and are to be looked at anew. */
static int compose(struct session *session, const struct op_terms *terms, const struct saved *saved,
		   const struct saved_composition *wanted, struct gf_slot *const *slots,
		   bool *again)
{
	const struct handover_to to = receiver_of(wanted);
	struct annotation note = note_of(session, saved, wanted);
	struct op op = {
		.kind = OP_COMPOSE,
		.terms = terms,
		.name = wanted->name,
		.add = slots,
		.n_add = wanted->n_slots,
		.note = &note,
		.bytes = wanted->bytes,
		.n_bytes = wanted->n_bytes,
		.owner = &wanted->owner,
		.to = terms->dirty ? NULL : &to,
		.failed = "its claims are given back",
	};
	bool stopped = false;
	size_t i;
	int ret;

	op.ids = mem_zalloc(op.n_add, sizeof(*op.ids));
	for (i = 0; i < op.n_add; i++)
		op.ids[i] = wanted->slots[i].ids;
	ret = op_start(session, &op);
	*again = op.cleaned;
	if (ret || session->ctx->dry_run)
		goto out;
	ret = op_await_whole(session, &op, &stopped);
	if (!ret)
		ret = op_finish(session, &op);
	if (!ret && stopped)
		ret = op_stopped(session, &op);
	if (!ret)
		compare_serials(session, wanted);
out:
	op_free(&op);
	return ret;
}

static int restore_try(struct session *session, const struct op_terms *terms,
		       const struct saved *saved, const struct saved_composition *wanted,
		       bool *again)
{
	struct ctl_ctx *ctx = session->ctx;
	struct gf_slot **slots;
	int ret;

	*again = false;
	ret = restore_settle(session, wanted);
	if (ret)
		return ret;
	slots = restore_find_slots(session, wanted);
	if (!slots)
		return CTL_FAILED;
	ret = compose(session, terms, saved, wanted, slots, again);
	if (!ret && ctx->dry_run)
		out_note(ctx->out, "would", "would ", "restore %s", wanted->name);
	if (!ret && !ctx->dry_run)
		out_note(ctx->out, "restored", "restored ", "%s", wanted->name);
	free(slots);
	return ret;
}

static int restore_one(struct session *session, const struct op_terms *terms,
		       const struct saved *saved, const struct saved_composition *wanted)
{
	const char *why = settled(session, saved, wanted);
	int ret, tries = 0;
	bool again;

	if (why) {
		out_note(session->ctx->out, "left", "", "%s: %s", wanted->name, why);
		return CTL_DONE;
	}
	do {
		ret = restore_try(session, terms, saved, wanted, &again);
		if (again && session_refresh(session))
			return CTL_FAILED;
	} while (again && ++tries < TRIES);
	return ret;
}

static int restore(struct session *session, const struct op_terms *terms, const struct saved *saved)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i, failed = 0;
	int ret, worst = CTL_DONE;

	for (i = 0; i < saved->n; i++) {
		ret = restore_one(session, terms, saved, &saved->items[i]);
		if (ret) {
			failed++;
			worst = ret;
			ctl_warn(ctx, "%s: %s", saved->items[i].name, ctx->error);
		}
		if (gfc_signalled())
			return ctl_fail(ctx, CTL_FAILED, "interrupted");
		ret = session_refresh(session);
		if (ret)
			return ret;
	}
	if (failed)
		return ctl_fail(ctx, worst, "%zu of %zu compositions could not be restored", failed,
				saved->n);
	return CTL_DONE;
}

static int restore_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct op_terms terms;
	struct saved saved;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = terms_read(ctx, TERMS_GIVE, 0, &terms);
	if (!ret && !argc && access(SAVED_FILE, F_OK) && errno == ENOENT) {
		out_line(ctx->out, "nothing was saved");
		return CTL_DONE;
	}
	if (!ret)
		ret = restore_load(ctx, argc ? argv[0] : SAVED_FILE, &saved);
	if (ret)
		return ret;
	ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		ret = restore(&session, &terms, &saved);
		session_close(&session);
	}
	saved_free(&saved);
	return ret;
}

const struct ctl_command cmd_restore = {
	.name = "restore",
	.group = CTL_COMPOSITIONS,
	.args = "[FILE]",
	.summary = "restore the compositions that gpuctl save has saved",
	.help = "Attached GPUs are adopted as they are, others are attached. A GPU that another tenant has had since the\n"
		"module was loaded is power-cycled or reset first. A composition is left alone if its name\n"
		"exists or its lease is over. gpuctl restores as many compositions as it can and names the rest. The\n"
		"module verifies that the GPUs are of the same kind as before. A file that is corrupt or written by a\n"
		"newer gpuctl is refused as a whole; if nothing was saved, there is nothing to do. gpuctl waits up to a\n"
		"minute for operations under way on the slots.",
	.options = { options, session_options },
	.run = restore_run,
};
