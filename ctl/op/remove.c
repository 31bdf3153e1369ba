// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: removal
 *
 * Two steps, so that check and act cannot be torn apart: the drain announces
 * the removal and returns a generation, then holders are looked for, and the
 * detach names that generation. Whatever happened to the slot in between
 * makes the module refuse. Holders found before the drain end the matter
 * without anything having been announced, unless the caller wants to wait:
 * then the announcement is what tells agents to let go. The hooks run while the
 * slots are drained, so that whoever counts GPUs has one less before it goes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/out.h"
#include "host/holders.h"
#include "op/remove.h"
#include "op/submit.h"

/* Closing a file is no event: holders are looked for at this pace. */
#define LOOK_MS 250

/* Most hosts have none: then nothing else is read. */
static int find_hooks(struct session *session, struct removal *removal)
{
	int ret;

	if (!removal->n)
		return CTL_DONE;
	ret = hooks_find(session->ctx, HOOK_PRE_DETACH, &removal->pre);
	if (!ret)
		ret = hooks_find(session->ctx, HOOK_POST_DETACH, &removal->post);
	if (!ret)
		ret = bringers_find_back(session->ctx, &removal->bringers, removal->slots,
					 removal->n);
	if (!ret && removal->pre.n + removal->post.n + removal->bringers.n +
			    removal->bringers.managers.n_bad)
		ret = hook_slots_init(session, removal->terms->reason, removal->slots, removal->n,
				      &removal->about);
	return ret;
}

/* GPUs that lose a link of their own, such as NVLink, with these. */
static int say_partners(struct session *session, const struct removal *removal)
{
	char *partners;
	int ret;

	if (!removal->n || !knowledge_has_declarations(session->ctx))
		return CTL_DONE;
	ret = session_know(session);
	if (ret)
		return ret;
	partners = identity_partners(&session->knowledge, &session->fabric,
				     (const struct gf_slot *const *)removal->slots, removal->n);
	if (partners)
		out_note(session->ctx->out, "partners", "also at risk, in the same group: ", "%s",
			 partners);
	free(partners);
	return CTL_DONE;
}

/* Also what cannot be drained now: the module's refusal says why. */
static bool holds_gpu(const struct gf_slot *slot)
{
	switch (slot->state) {
	case GF_STATE_OFF:
	case GF_STATE_EMPTY:
	case GF_STATE_OTHER:
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
		return false;
	default:
		return true;
	}
}

bool removal_concerns(const struct gf_slot *slot)
{
	return holds_gpu(slot) || gf_slot_is_left(slot);
}

int removal_init(struct session *session, struct removal *removal, const struct op_terms *terms,
		 struct gf_slot *const *slots, size_t n, bool left)
{
	size_t i;
	int ret;

	memset(removal, 0, sizeof(*removal));
	removal->terms = terms;
	removal->wait_ms = terms->wait_ms;
	removal->slots = mem_zalloc(n, sizeof(struct gf_slot *));
	removal->generations = mem_zalloc(n, sizeof(*removal->generations));
	for (i = 0; i < n; i++)
		if (holds_gpu(slots[i]))
			removal->slots[removal->n++] = slots[i];
	removal->n_drain = removal->n;
	for (i = 0; i < n && left; i++) {
		if (holds_gpu(slots[i]) || !gf_slot_is_left(slots[i]))
			continue;
		removal->generations[removal->n] = slots[i]->generation;
		removal->slots[removal->n++] = slots[i];
	}
	ret = find_hooks(session, removal);
	if (!ret)
		ret = say_partners(session, removal);
	if (ret)
		removal_free(removal);
	return ret;
}

void removal_free(struct removal *removal)
{
	free(removal->slots);
	free(removal->generations);
	hooks_free(&removal->pre);
	hooks_free(&removal->post);
	bringers_free(&removal->bringers);
	bringing_end(&removal->bringing);
	hook_slots_free(&removal->about);
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

/* What a driver or the kernel keeps by itself is what pre-detach hooks are there to end. */
static bool left_to_hooks(const struct removal *removal, const struct holders *holders)
{
	size_t i;

	for (i = 0; i < holders->n && !holders->items[i].pid;)
		i++;
	return i == holders->n && removal->pre.n;
}

int removal_check(struct session *session, const struct removal *removal)
{
	struct holders holders;
	int ret = CTL_DONE;

	if (!removal->n)
		return CTL_DONE;
	if (!removal->terms->force) {
		if (count_holders(removal, &holders) && !left_to_hooks(removal, &holders))
			ret = report_busy(session, removal, &holders);
		holders_free(&holders);
	}
	if (!ret && session->ctx->dry_run) {
		hooks_render(session->ctx, &removal->pre);
		hooks_render(session->ctx, &removal->post);
		bringers_would_return(session, &removal->bringers, &removal->about);
	}
	return ret;
}

static int drain(struct session *session, struct removal *removal)
{
	uint64_t timeout = removal->tell_ms + removal->wait_ms + removal->bring_ms + DRAIN_MS +
			   hooks_budget(&removal->pre) + removal->n_reset * RESET_MS;

	if (timeout > GPUFABRIC_TIMEOUT_MAX)
		timeout = GPUFABRIC_TIMEOUT_MAX;
	removal->drain_end = text_monotonic() + timeout;
	return submit_drain(session, removal, (uint32_t)timeout);
}

/*
 * End the drains, those of the first @n slots after a reset; the first of these that had ended
 * before, NULL for none. One at a time: a drain that has ended already keeps no other slot drained.
 */
static const char *drains_end(struct session *session, const struct removal *removal, size_t n)
{
	struct ctl_ctx *ctx = session->ctx;
	/* What went wrong before is what the user should read. */
	char *before = ctx->error;
	const char *lost = NULL;
	size_t i;

	for (i = 0; i < removal->n_drain; i++) {
		ctx->error = NULL;
		if (submit_drain_end(session, removal, i, i < n) && i < n && !lost)
			lost = removal->slots[i]->name;
		free(ctx->error);
	}
	ctx->error = before;
	return lost;
}

void removal_abort(struct session *session, struct removal *removal)
{
	if (!removal->n)
		return;
	drains_end(session, removal, 0);
	hooks_undo(session->ctx, &removal->pre, HOOK_ABORT_DETACH, &removal->about, NULL);
}

int removal_stale(struct session *session, const struct removal *removal, int ret)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < removal->n; i++)
		text_join(&names, ", ", removal->slots[i]->name);
	if (names.len)
		ctl_fail(session->ctx, (enum ctl_exit)ret,
			 "%s: a drain ended before its time, or its time was over: nothing was detached, try again",
			 names.text);
	free(names.text);
	return ret;
}

int removal_end_reset(struct session *session, struct removal *removal, size_t n)
{
	const char *lost = drains_end(session, removal, n);

	hooks_undo(session->ctx, &removal->pre, HOOK_ABORT_DETACH, &removal->about, NULL);
	if (!lost || session->ctx->error)
		return CTL_DONE;
	return ctl_fail(session->ctx, CTL_FAILED,
			"slot %s: its drain ended while its GPU was reset: try again", lost);
}

static int run_hooks(struct session *session, struct removal *removal)
{
	int ret;

	ret = hooks_run(session->ctx, &removal->pre, &removal->about, NULL,
			removal->terms->force ? HOOKS_GO_ON : HOOKS_STOP);
	if (ret)
		ctl_more(session->ctx,
			 "nothing was changed; repair the hook, or continue with --force");
	return ret;
}

static bool has_holder(const struct holders *holders, pid_t pid)
{
	size_t i;

	for (i = 0; i < holders->n && holders->items[i].pid != pid;)
		i++;
	return i < holders->n;
}

/*
 * A process number is somebody else's once its process has ended. So what is
 * signalled is a process that was got hold of first and seen to hold a GPU then.
 */
static void signal_holders(struct session *session, const struct removal *removal,
			   const struct holders *seen)
{
	struct holders now;
	int *fds = mem_zalloc(seen->n, sizeof(*fds));
	size_t i;

	for (i = 0; i < seen->n; i++)
		fds[i] = seen->items[i].pid > 1 ? pidfd_open(seen->items[i].pid, 0) : -1;
	count_holders(removal, &now);
	for (i = 0; i < seen->n; i++) {
		if (fds[i] < 0)
			continue;
		if (has_holder(&now, seen->items[i].pid) &&
		    !pidfd_send_signal(fds[i], removal->terms->signal, NULL, 0))
			session_say(session, "%s: sent signal %d to %s (pid %d)",
				    seen->items[i].slot, removal->terms->signal,
				    seen->items[i].command, (int)seen->items[i].pid);
		close(fds[i]);
	}
	holders_free(&now);
	free(fds);
}

/* Wait for the holders to let go, as long as the user wants to. */
static int await_release(struct session *session, struct removal *removal)
{
	uint64_t end = text_monotonic() + removal->wait_ms;
	struct holders holders;
	bool said = false;
	int ret = CTL_DONE;

	while (!ret && count_holders(removal, &holders)) {
		if (text_monotonic() >= end) {
			ret = report_busy(session, removal, &holders);
		} else if (!said && removal->wait_ms) {
			char *slots = held_slots(&holders);

			if (removal->terms->signal)
				signal_holders(session, removal, &holders);
			session_say(session, "announced; waiting for the holders of %s to let go",
				    slots);
			free(slots);
			said = true;
		}
		holders_free(&holders);
		if (ret)
			break;
		/* The slots of the removal are of the snapshot that there is. */
		switch (mirror_rest(&session->mirror, LOOK_MS)) {
		case MIRROR_SIGNAL:
			ret = ctl_fail(session->ctx, CTL_FAILED,
				       "interrupted: nothing was changed");
			break;
		case MIRROR_ERROR:
			ret = session->mirror.error;
			break;
		default:
			break;
		}
	}
	return ret;
}

int removal_lock(struct session *session, struct removal *removal)
{
	bool *which = mem_zalloc(removal->about.n + 1, sizeof(*which));
	size_t i;
	int ret;

	for (i = 0; i < removal->about.n; i++)
		which[i] = bringers_of(&removal->bringers, i);
	ret = bringing_begin(session->ctx, &removal->bringing, removal->about.names, which,
			     removal->about.n);
	free(which);
	return ret;
}

int removal_drain(struct session *session, struct removal *removal)
{
	int ret = CTL_DONE;

	if (!removal->n)
		return CTL_DONE;
	if (!removal->wait_ms)
		ret = removal_check(session, removal);
	if (!ret && removal->n_drain)
		ret = drain(session, removal);
	return ret;
}

int removal_empty(struct session *session, struct removal *removal)
{
	int ret;

	if (!removal->n)
		return CTL_DONE;
	ret = run_hooks(session, removal);
	if (!ret && !removal->terms->force)
		ret = await_release(session, removal);
	if (ret)
		removal_abort(session, removal);
	return ret;
}

static bool any_of(const bool *which, size_t n)
{
	size_t i;

	for (i = 0; i < n && !which[i];)
		i++;
	return i < n;
}

/* The GPUs have gone, whatever becomes of this: a card that stays assigned is for the admin. */
static void give_back_gone(struct session *session, struct removal *removal, const bool *gone)
{
	bool *both = mem_zalloc(removal->about.n + 1, sizeof(*both));
	size_t i;

	for (i = 0; i < removal->bringers.n; i++) {
		struct bringer *bringer = &removal->bringers.list[i];
		char *kept = NULL;

		if (bringer_slots(bringer, gone, both))
			kept = bringer->driver->give_back(session, bringer, &removal->about, both);
		if (kept)
			ctl_warn(session->ctx, "not given back to the fabric: %s", kept);
		free(kept);
	}
	bringers_warn(session, &removal->bringers, &removal->about, gone);
	free(both);
}

/* The module does not see it yet, and it is no card to pull from under the kernel. */
static bool card_is_coming(const struct gf_slot *slot)
{
	struct fault fault = { "" };
	struct tree tree;
	bool coming;

	/* Without it the module alone tells. */
	tree_open(&tree, NULL, &fault);
	coming = bringing_is_coming(&tree, slot);
	tree_close(&tree);
	return coming;
}

/* The slot is this request's for as long as it looks. */
static int give_back_locked(struct session *session, struct bringer *bringer, const char *name,
			    size_t *given)
{
	char *own = (char *)(uintptr_t)name, *kept;
	const struct hook_slots about = { .names = &own, .n = 1 };
	const struct gf_slot *slot;
	int ret = session_refresh(session);

	slot = ret ? NULL : gf_slot_by_name(&session->fabric, name);
	if (!slot || !gf_slot_is_off(slot) || slot->operation.id)
		return ret;
	if (card_is_coming(slot))
		return ctl_fail(session->ctx, CTL_BUSY,
				"slot %s: its card is coming up: detach it when it is there", name);
	kept = bringer->driver->give_back(session, bringer, &about, NULL);
	*given = bringer->given;
	if (kept)
		ret = ctl_fail(session->ctx, CTL_FAILED, "not given back to the fabric: %s", kept);
	free(kept);
	return ret;
}

int removal_give_back(struct session *session, const char *name, size_t *given)
{
	struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);
	struct bringing bringing = { 0 };
	struct bringers bringers;
	struct bringer *bringer;
	char *own = (char *)(uintptr_t)name;
	int ret;

	*given = 0;
	if (!slot || !gf_slot_is_off(slot))
		return CTL_DONE;
	ret = bringers_find_back(session->ctx, &bringers, &slot, 1);
	if (ret)
		return ret;
	bringer = bringers_of(&bringers, 0);
	/* A hook cannot say whether the fabric has a card there. */
	if (!bringer || bringer->driver != &bringer_manager)
		goto out;
	if (!session->ctx->dry_run)
		ret = bringing_begin(session->ctx, &bringing, &own, NULL, 1);
	if (!ret)
		ret = give_back_locked(session, bringer, name, given);
	bringing_end(&bringing);
out:
	bringers_free(&bringers);
	return ret;
}

void removal_finish(struct session *session, struct removal *removal, bool unassign)
{
	const struct hook_slots *about = &removal->about;
	bool *gone = mem_zalloc(about->n, sizeof(*gone));
	bool *kept = mem_zalloc(about->n, sizeof(*kept));
	size_t i;

	for (i = 0; i < about->n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, about->names[i]);

		/* A slot that is stuck, or went with its switch, is neither. */
		switch (slot ? slot->state : GF_STATE_STUCK) {
		case GF_STATE_OFF:
		case GF_STATE_EMPTY:
		case GF_STATE_OTHER:
			gone[i] = true;
			break;
		case GF_STATE_ATTACHED:
		case GF_STATE_READY:
			kept[i] = true;
			break;
		default:
			break;
		}
	}
	if (any_of(kept, about->n))
		hooks_undo(session->ctx, &removal->pre, HOOK_ABORT_DETACH, about, kept);
	if (any_of(gone, about->n)) {
		hooks_run(session->ctx, &removal->post, about, gone, HOOKS_SEE_THROUGH);
		if (unassign)
			give_back_gone(session, removal, gone);
	}
	free(kept);
	free(gone);
}
