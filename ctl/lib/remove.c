// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: removal
 *
 * Two steps, so that check and act cannot be torn apart: the drain announces
 * the removal and returns a generation, then holders are looked for, and the
 * detach names that generation. Whatever happened to the slot in between
 * makes the module refuse. Holders found before the drain end the matter
 * without anything having been announced, unless the caller wants to wait:
 * then the announcement is what tells agents to let go.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/holders.h"
#include "lib/out.h"
#include "lib/remove.h"
#include "lib/text.h"

/* Closing a file is no event: holders are looked for at this pace. */
#define LOOK_MS 250
/* The drain must outlive the search for holders. */
#define DRAIN_MS 30000
#define WAIT_MAX_MS (GPUFABRIC_TIMEOUT_MAX - DRAIN_MS)

const struct ctl_option remove_options[] = {
	{ "wait", 'w', "TIME", "announce the removal and wait so long for holders to let go" },
	{ "force", 'f', NULL,
	  "go on although processes hold a GPU or a composition claims its slot" },
	{ NULL },
};

int removal_init(struct session *session, struct removal *removal, struct gf_slot *const *slots,
		 size_t n)
{
	size_t i;
	int ret;

	memset(removal, 0, sizeof(*removal));
	removal->force = ctl_flag(session->ctx, "force");
	ret = session_timeout(session->ctx, "wait", 0, 1, WAIT_MAX_MS, &removal->wait_ms);
	if (ret)
		return ret;
	removal->slots = mem_zalloc(n, sizeof(struct gf_slot *));
	removal->generations = mem_zalloc(n, sizeof(*removal->generations));
	for (i = 0; i < n; i++) {
		switch (slots[i]->state) {
		case GPUFABRIC_SLOT_STATE_OFF:
		case GPUFABRIC_SLOT_STATE_EMPTY:
		case GPUFABRIC_SLOT_STATE_FAULT:
		case GPUFABRIC_SLOT_STATE_LOST:
			break;
		default:
			/* Also what cannot be drained now: the module's refusal says why. */
			removal->slots[removal->n++] = slots[i];
		}
	}
	return CTL_DONE;
}

void removal_free(struct removal *removal)
{
	free(removal->slots);
	free(removal->generations);
	memset(removal, 0, sizeof(*removal));
}

static const struct gf_slot *const *as_const(const struct removal *removal)
{
	return (const struct gf_slot *const *)removal->slots;
}

/* Names of the slots that have holders. */
static char *held_slots(const struct holders *holders)
{
	struct text names = { 0 };
	size_t i, j;

	for (i = 0; i < holders->n; i++) {
		for (j = 0; j < i && strcmp(holders->items[j].slot, holders->items[i].slot);)
			j++;
		if (j == i)
			text_join(&names, ", ", holders->items[i].slot);
	}
	return names.text ? names.text : mem_strdup("");
}

static int report_busy(struct session *session, const struct removal *removal,
		       const struct holders *holders)
{
	static const struct out_column columns[] = { { "at_risk", NULL }, { NULL, NULL } };
	struct ctl_ctx *ctx = session->ctx;
	char *slots = held_slots(holders);
	char *risk = holders_at_risk(&session->fabric, as_const(removal), removal->n);
	struct out *table = out_new(NULL);
	char *text;
	int ret;

	ret = ctl_fail(ctx, CTL_BUSY, "%s %s busy, nothing was changed%s", slots,
		       strchr(slots, ',') ? "are" : "is", ctx->json ? "" : ":");
	if (ctx->json) {
		holders_render(ctx->out, holders);
		out_str(out_table(ctx->out, NULL, columns, OUT_SINGLE), "at_risk", risk);
	}
	holders_render(table, holders);
	text = out_render_text(table);
	/* ctl_more() ends the line itself. */
	text[strlen(text) - (*text ? 1 : 0)] = '\0';
	ctl_more(ctx, "%s", text);
	if (risk)
		ctl_more(ctx, "also at risk: %s (same driver)", risk);
	ctl_more(ctx,
		 "wait with --wait 60s, or stop them and try again; --force goes on regardless");
	free(text);
	out_free(table);
	free(risk);
	free(slots);
	return ret;
}

static size_t count_holders(const struct removal *removal, struct holders *holders)
{
	holders_scan(&holders_system, as_const(removal), removal->n, holders);
	return holders->n;
}

int removal_check(struct session *session, const struct removal *removal)
{
	struct holders holders;
	int ret = CTL_DONE;

	if (!removal->force && count_holders(removal, &holders)) {
		ret = report_busy(session, removal, &holders);
		holders_free(&holders);
	}
	return ret;
}

static int drain(struct session *session, struct removal *removal)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_DRAIN);
	const char *reason = ctl_opt(session->ctx, "reason");
	size_t i;

	for (i = 0; i < removal->n; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, removal->slots[i], NULL, NULL);
	nla_put_u32(msg, GPUFABRIC_A_TIMEOUT, (uint32_t)(removal->wait_ms + DRAIN_MS));
	if (reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, reason);
	return gfc_request_members(session->client, msg, removal->slots, removal->generations,
				   removal->n);
}

void removal_abort(struct session *session, const struct removal *removal)
{
	struct ctl_ctx *ctx = session->ctx;
	char *error = ctx->error;
	struct nl_msg *msg;
	size_t i;

	if (!removal->n)
		return;
	msg = gfc_message(session->client, GPUFABRIC_CMD_DRAIN_ABORT);
	for (i = 0; i < removal->n; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, removal->slots[i], NULL, NULL);
	/* What went wrong before is what the user should read. */
	ctx->error = NULL;
	gfc_request(session->client, msg, NULL, NULL);
	free(ctx->error);
	ctx->error = error;
}

/* Wait for the holders to let go, as long as the user wants to. */
static int await_release(struct session *session, struct removal *removal)
{
	uint64_t end = text_monotonic() + removal->wait_ms;
	struct holders holders;
	bool said = false;
	int ret = CTL_DONE;

	while (!ret && count_holders(removal, &holders)) {
		struct gf_event event;

		if (text_monotonic() >= end) {
			ret = report_busy(session, removal, &holders);
		} else if (!said && removal->wait_ms) {
			char *slots = held_slots(&holders);

			session_say(session, "announced; waiting for the holders of %s to let go",
				    slots);
			free(slots);
			said = true;
		}
		holders_free(&holders);
		if (ret)
			break;
		switch (gfc_next_event(session->client, LOOK_MS, &event)) {
		case GFC_EVENT:
			gf_event_free(&event);
			break;
		case GFC_SIGNAL:
			ret = ctl_fail(session->ctx, CTL_FAILED,
				       "interrupted: nothing was changed");
			break;
		case GFC_ERROR:
			ret = CTL_FAILED;
			break;
		default:
			break;
		}
	}
	return ret;
}

int removal_drain(struct session *session, struct removal *removal)
{
	int ret = CTL_DONE;

	if (!removal->n)
		return CTL_DONE;
	if (!removal->wait_ms)
		ret = removal_check(session, removal);
	if (!ret)
		ret = drain(session, removal);
	if (ret || removal->force)
		return ret;
	ret = await_release(session, removal);
	if (ret)
		removal_abort(session, removal);
	return ret;
}

void removal_put(struct nl_msg *msg, int attr, const struct removal *removal)
{
	size_t i;

	for (i = 0; i < removal->n; i++)
		gfc_put_member(msg, attr, removal->slots[i], &removal->generations[i], NULL);
}
