// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl restore: compose again what gpuctl save wrote down. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "lib/arrival.h"
#include "lib/out.h"
#include "lib/placement.h"
#include "lib/saved.h"
#include "lib/session.h"
#include "lib/text.h"
#include "lib/wait.h"

/* A file this long was written by something else. */
#define FILE_MAX (16u << 20)
/* At a boot slots are just being powered. */
#define SETTLE_MS 60000

static int read_file(struct ctl_ctx *ctx, const char *path, char **text, size_t *len)
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

static int load(struct ctl_ctx *ctx, const char *path, struct saved *saved)
{
	struct fault fault = { "" };
	char *text;
	size_t len;
	int ret;

	ret = read_file(ctx, path, &text, &len);
	if (ret)
		return ret;
	if (saved_parse(saved, path, text, len, &fault))
		ret = ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	free(text);
	return ret;
}

/* Why it need not be restored, NULL when it has to be. */
static const char *settled(const struct session *session, const struct saved_composition *wanted)
{
	if (gf_composition_by_name(&session->fabric, wanted->name))
		return "exists already";
	if (wanted->lease && wanted->lease <= text_now())
		return "its lease is over";
	return NULL;
}

static bool is_on_its_way(const struct session *session, const struct saved_composition *wanted)
{
	size_t i;

	for (i = 0; i < wanted->n_slots; i++) {
		const struct gf_slot *slot =
			gf_slot_by_name(&session->fabric, wanted->slots[i].name);

		if (slot && (slot->state == GF_STATE_ATTACHING ||
			     slot->state == GF_STATE_DETACHING))
			return true;
	}
	return false;
}

/* Until what others have begun with the slots has ended; what it is then is for the module. */
static int settle(struct session *session, const struct saved_composition *wanted)
{
	uint64_t end = text_monotonic() + SETTLE_MS, now;
	struct gf_message event;

	while (is_on_its_way(session, wanted) && (now = text_monotonic()) < end) {
		switch (mirror_next(&session->mirror, (int)(end - now), &event)) {
		case MIRROR_CHANGE:
			mirror_apply(&session->mirror, &event);
			break;
		case MIRROR_SIGNAL:
			return ctl_fail(session->ctx, CTL_FAILED, "interrupted");
		case MIRROR_ERROR:
			return session->mirror.error;
		default:
			break;
		}
	}
	return CTL_DONE;
}

static struct gf_slot **find_slots(struct session *session, const struct saved_composition *wanted)
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
static void put_annotation(const struct session *session, const struct saved_composition *wanted,
			   struct nl_msg *msg)
{
	struct annotation note = wanted->note;
	uint64_t now = text_now();

	if (wanted->bytes) {
		nla_put(msg, GPUFABRIC_A_ANNOTATION, (int)wanted->n_bytes, wanted->bytes);
		return;
	}
	if (wanted->lease) {
		note.lease = text_uptime() + (wanted->lease > now ? wanted->lease - now : 1);
		note.instance = session->mirror.instance;
	}
	gfc_put_annotation(msg, &note);
}

static struct nl_msg *build(struct session *session, const struct saved_composition *wanted,
			    struct gf_slot *const *slots, const struct placement *placement)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_COMPOSE);
	size_t i;

	nla_put_string(msg, GPUFABRIC_A_NAME, wanted->name);
	for (i = 0; i < wanted->n_slots; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slots[i], NULL,
			       wanted->slots[i].ids.vendor ? &wanted->slots[i].ids : NULL,
			       placement->order[i]);
	placement_put(msg, placement);
	put_annotation(session, wanted, msg);
	nla_put_u32(msg, GPUFABRIC_A_OWNER, wanted->owner);
	nla_put_u32(msg, GPUFABRIC_A_DRIVER_TIMEOUT,
		    session_driver_timeout(session, slots, wanted->n_slots, false));
	if (session_put_options(session->ctx, msg)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
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

static int compose(struct session *session, const struct saved_composition *wanted,
		   struct gf_slot *const *slots)
{
	struct placement placement;
	struct arrival arrival;
	struct nl_msg *msg;
	struct wait wait;
	int ret, tries = 0;

again:
	ret = placement_judge(session, slots, wanted->n_slots, false, &placement);
	if (ret)
		return ret;
	msg = build(session, wanted, slots, &placement);
	placement_free(&placement);
	if (!msg)
		return CTL_USAGE;
	ret = arrival_begin(session, &arrival, slots, wanted->n_slots);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = wait_start(session, msg, slots, wanted->n_slots, &wait);
	if (ret) {
		arrival_abort(session, &arrival);
		arrival_free(&arrival);
		if (placement_stale(session) && ++tries < PLACEMENT_TRIES)
			goto again;
		return ret;
	}
	ret = wait_all(session, &wait, 1);
	if (!ret) {
		arrival_finish(session, &arrival);
		ret = wait_outcome(session, &wait, "its claims are given back");
	}
	if (!ret)
		compare_serials(session, wanted);
	arrival_free(&arrival);
	wait_free(&wait);
	return ret;
}

static int restore_one(struct session *session, const struct saved_composition *wanted)
{
	struct ctl_ctx *ctx = session->ctx;
	const char *why = settled(session, wanted);
	struct gf_slot **slots;
	int ret = CTL_DONE;

	if (why) {
		out_note(ctx->out, "left", "", "%s: %s", wanted->name, why);
		return CTL_DONE;
	}
	if (!ctx->dry_run)
		ret = settle(session, wanted);
	if (ret)
		return ret;
	slots = find_slots(session, wanted);
	if (!slots)
		return CTL_FAILED;
	if (ctx->dry_run)
		out_note(ctx->out, "would", "would ", "restore %s", wanted->name);
	else
		ret = compose(session, wanted, slots);
	if (!ret && !ctx->dry_run)
		out_note(ctx->out, "restored", "restored ", "%s", wanted->name);
	free(slots);
	return ret;
}

static int restore(struct session *session, const struct saved *saved)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i, failed = 0;
	int ret, worst = CTL_DONE;

	for (i = 0; i < saved->n; i++) {
		ret = restore_one(session, &saved->items[i]);
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

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct saved saved;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret && !argc && access(SAVED_FILE, F_OK) && errno == ENOENT) {
		out_line(ctx->out, "nothing was saved");
		return CTL_DONE;
	}
	if (!ret)
		ret = load(ctx, argc ? argv[0] : SAVED_FILE, &saved);
	if (ret)
		return ret;
	ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		ret = restore(&session, &saved);
		session_close(&session);
	}
	saved_free(&saved);
	return ret;
}

const struct ctl_command cmd_restore = {
	.name = "restore",
	.args = "[FILE]",
	.summary = "compose again what gpuctl save wrote down",
	.help =
		"GPUs that are attached are adopted as they are, others are attached; a composition of a name\n"
		"that exists is left alone, and so is one whose lease is over. What can be restored is, and the\n"
		"rest is named. The module verifies that the GPUs are of the kind that they were. A file that\n"
		"is corrupt or of a newer gpuctl is refused as a whole; where nothing was saved there is nothing to do.\n"
		"Slots that are just being powered are waited for, up to a minute.",
	.options = { session_options },
	.run = run,
};
