// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: assignment
 *
 * A GPU that is in the fabric's pool but not behind this host is brought by the fabric's
 * manager, or by assign hooks, see op/bringer.h; that it came is believed when the port says so.
 * While it is assigned no other host can have it. So a request that fails gives all of its cards
 * back, wherever it failed, and whether a hook said no, was killed or did not end: what a hook
 * has done until then nobody knows, so unassign is called for every slot, and a manager is
 * asked what it has bound. Somebody who was not asked to bring anything has nothing to take back,
 * and what is in those slots is not this request's. The request has its slots for itself from
 * before the first card is brought until it ends, so nobody else's card can come there.
 *
 * A card is not pulled from under the kernel. Before it is given back the module is done with
 * its slot, and the slot has no power. Where that cannot be had the card stays, and the error
 * says so, with what the admin can do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tree.h"
#include "cli/out.h"
#include "module/failure.h"
#include "op/assign.h"
#include "op/op.h"
#include "session/render.h"

#define PRESENCE_MS 30000
/* So long a slot may be on its way after the operation's end, or stuck. */
#define SETTLE_MS 30000
/* What a port knows is no event: it is looked at so often. */
#define LOOK_MS 250
/* An operation ends by its deadlines: that of adding, and that of undoing. */
#define STAGES 3

static struct gf_slot *slot_of(const struct session *session, const struct assigned *assigned,
			       size_t i)
{
	return gf_slot_by_name(&session->fabric, assigned->about.names[i]);
}

static bool is_attached(const struct gf_slot *slot)
{
	return slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED;
}

/* What was asked for, or what the admin says of the slot. */
static void wishes_init(struct session *session, struct assigned *assigned,
			struct gf_slot *const *slots, const struct bring_wish *wishes, size_t n)
{
	size_t i;

	assigned->wishes = mem_zalloc(n + 1, sizeof(*assigned->wishes));
	for (i = 0; i < n; i++) {
		struct identity identity;

		if (wishes)
			assigned->wishes[i] = wishes[i];
		identity_of(&session->knowledge, slots[i], &identity);
		if (!assigned->wishes[i].gpu && !assigned->wishes[i].kind && identity.gpu &&
		    identity.source == IDENTITY_DECLARED)
			assigned->wishes[i].kind = identity.gpu->id;
	}
}

static int assigned_init(struct session *session, struct assigned *assigned,
			 const struct op_terms *terms, struct gf_slot *const *slots,
			 const struct bring_wish *wishes, size_t n)
{
	size_t i;
	int ret;

	for (i = 0; i < n; i++)
		assigned->n += assigned->brings[i];
	if (!assigned->n)
		return CTL_DONE;
	ret = hook_slots_init(session, terms->reason, slots, n, &assigned->about);
	if (!ret)
		wishes_init(session, assigned, slots, wishes, n);
	return ret;
}

void assigned_free(struct assigned *assigned)
{
	bringers_free(&assigned->bringers);
	hook_slots_free(&assigned->about);
	free(assigned->wishes);
	free(assigned->brings);
	bringing_end(&assigned->bringing);
	memset(assigned, 0, sizeof(*assigned));
}

/* A slot whose card has not shown up, or is on its way up by the slot driver's own doing. */
static size_t first_missing(const struct session *session, const struct assigned *assigned)
{
	size_t i;

	for (i = 0; i < assigned->about.n; i++) {
		const struct gf_slot *slot = slot_of(session, assigned, i);

		if (assigned->brings[i] && slot &&
		    (slot->state == GF_STATE_EMPTY || slot->state == GF_STATE_ATTACHING))
			return i;
	}
	return assigned->about.n;
}

static int say_missing(struct session *session, const struct assigned *assigned, size_t i,
		       uint64_t wait_ms)
{
	const struct bringer *bringer = bringers_of(&assigned->bringers, i);
	char *brought = bringer->driver->brought(bringer, i), took[TEXT_QUANTITY];
	int ret = ctl_fail(session->ctx, CTL_TIMEOUT,
			   "slot %s: %s, but no card showed up within %s", assigned->about.names[i],
			   brought, text_duration(took, wait_ms));

	free(brought);
	return ret;
}

static int await_presence(struct session *session, const struct assigned *assigned,
			  uint64_t wait_ms)
{
	uint64_t end = text_monotonic() + wait_ms;
	size_t missing;

	while ((missing = first_missing(session, assigned)) < assigned->about.n) {
		uint64_t now = text_monotonic();
		int ret;

		if (now >= end)
			return say_missing(session, assigned, missing, wait_ms);
		ret = session_hear(session, (int)(end - now));
		if (ret)
			return ret;
	}
	return CTL_DONE;
}

int assigned_check(struct session *session, const struct assigned *assigned)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < assigned->about.n && !ret; i++) {
		const struct gf_slot *slot = slot_of(session, assigned, i);
		const struct gf_failure *failure = slot ? &slot->failure : NULL;
		char *why;

		if (!assigned->brings[i] || !slot ||
		    (slot->state != GF_STATE_FAULT && slot->state != GF_STATE_LOST))
			continue;
		why = failure_text(failure);
		ret = failure->cause == GPUFABRIC_CAUSE_RESOURCES ||
				      failure->cause == GPUFABRIC_CAUSE_WINDOW ?
			      CTL_NO_FIT :
			      gfc_exit(-failure->error);
		ret = ctl_fail(session->ctx, ret ? ret : CTL_FAILED, "not attached: %s%s%s",
			       failure->slot_name ? "" : slot->name, failure->slot_name ? "" : ": ",
			       why ? why : render_state(slot->state));
		free(why);
	}
	return ret;
}

/* The slots for ourselves; those who had them before may have left GPUs there. */
static int assigned_lock(struct session *session, struct assigned *assigned)
{
	size_t i;
	int ret = bringing_begin(session->ctx, &assigned->bringing, assigned->about.names,
				 assigned->brings, assigned->about.n);

	if (ret == CTL_BUSY)
		assigned->rival = ASSIGNED_RIVAL_HERE;
	if (!ret)
		ret = session_refresh(session);
	for (i = 0; i < assigned->about.n && !ret; i++) {
		const struct gf_slot *slot = slot_of(session, assigned, i);

		if (!assigned->brings[i] || (slot && slot->state == GF_STATE_EMPTY))
			continue;
		assigned->rival = ASSIGNED_RIVAL_HERE;
		ret = ctl_fail(session->ctx, CTL_BUSY,
			       "slot %s is no longer empty, its state is %s",
			       assigned->about.names[i],
			       slot ? render_state(slot->state) : "not known");
	}
	return ret;
}

static int assigned_call(struct session *session, struct assigned *assigned,
			 const struct op_terms *terms)
{
	int ret = assigned_lock(session, assigned);
	size_t i;

	if (ret)
		return ret;
	assigned->begun = true;
	ret = bringers_bring(session, &assigned->bringers, &assigned->about, assigned->wishes);
	for (i = 0; ret && i < assigned->bringers.n; i++)
		if (assigned->bringers.list[i].beaten)
			assigned->rival = ASSIGNED_RIVAL_HOST;
	if (!ret)
		ret = await_presence(session, assigned,
				     terms->timeout_ms ? terms->timeout_ms : PRESENCE_MS);
	if (!ret)
		ret = assigned_check(session, assigned);
	if (ret)
		assigned_return(session, assigned, terms, NULL);
	return ret;
}

int assigned_bring(struct session *session, struct assigned *assigned, const struct op_terms *terms,
		   struct gf_slot *const *slots, const struct bring_wish *wishes, size_t n)
{
	enum assigned_rival rival;
	bool any = false;
	size_t i;
	int ret;

	memset(assigned, 0, sizeof(*assigned));
	assigned->brings = mem_zalloc(n + 1, sizeof(*assigned->brings));
	for (i = 0; i < n; i++) {
		assigned->brings[i] = slots[i]->state == GF_STATE_EMPTY;
		any |= assigned->brings[i];
	}
	ret = any ? bringers_find(session->ctx, &assigned->bringers, slots, assigned->brings, n) :
		    CTL_DONE;
	if (!ret && any)
		ret = assigned_init(session, assigned, terms, slots, wishes, n);
	if (!ret && assigned->n && session->ctx->dry_run)
		ret = bringers_would(session, &assigned->bringers, &assigned->about,
				     assigned->wishes);
	else if (!ret && assigned->n)
		ret = assigned_call(session, assigned, terms);
	if (!ret)
		return CTL_DONE;
	rival = assigned->rival;
	assigned_free(assigned);
	assigned->rival = rival;
	return ret;
}

/* A card can be in the slot that this request had brought there. */
static bool is_brought(const struct assigned *assigned, size_t i)
{
	const struct bringer *bringer = bringers_of(&assigned->bringers, i);

	return assigned->brings[i] && bringer && bringer->begun;
}

/* Is what goes on in a slot, or came up there, of this request? @id: its operation, 0 for none. */
static bool is_ours(const struct assigned *assigned, size_t i, const struct gf_slot *slot,
		    uint64_t id)
{
	return is_brought(assigned, i) ||
	       (id && (slot->operation.id == id || slot->last_operation.id == id));
}

static bool is_moving(const struct gf_slot *slot)
{
	return slot->operation.id || slot->state == GF_STATE_ATTACHING ||
	       slot->state == GF_STATE_DETACHING || slot->state == GF_STATE_STUCK;
}

static const struct gf_slot *first_moving(const struct session *session, const struct tree *tree,
					  const struct assigned *assigned, uint64_t id)
{
	size_t i;

	for (i = 0; i < assigned->about.n; i++) {
		const struct gf_slot *slot = slot_of(session, assigned, i);

		if (slot && is_moving(slot) && is_ours(assigned, i, slot, id))
			return slot;
		if (slot && is_brought(assigned, i) && bringing_is_coming(tree, slot))
			return slot;
	}
	return NULL;
}

/*
 * Wait until nothing goes on in the slots: operations end by their deadlines, and what is
 * stuck then gets some more time to come back.
 */
static void settle(struct session *session, const struct assigned *assigned,
		   const struct op_terms *terms, uint64_t id)
{
	uint64_t now = text_monotonic(), end = now + SETTLE_MS;
	uint64_t last = end + STAGES * (terms->timeout_ms ? terms->timeout_ms : PRESENCE_MS);
	const struct gf_slot *slot;
	bool said = false;
	struct fault fault = { "" };
	struct tree tree;

	/* Without it the module alone tells. */
	tree_open(&tree, NULL, &fault);
	while ((slot = first_moving(session, &tree, assigned, id)) && now < end) {
		if (!said)
			session_say(session, "waiting for slot %s before its card is given back",
				    slot->name);
		said = true;
		if (slot->operation.id && now < last)
			end = now + SETTLE_MS;
		if (session_hear(session, end - now < LOOK_MS ? (int)(end - now) : LOOK_MS))
			break;
		now = text_monotonic();
	}
	tree_close(&tree);
}

static int detach_quietly(struct session *session, const struct op_terms *terms,
			  struct gf_slot **slots, size_t n)
{
	const struct op_terms own = { .timeout_ms = terms->timeout_ms, .reason = terms->reason };
	struct op op = {
		.kind = OP_DETACH,
		.terms = &own,
		.remove = slots,
		.n_remove = n,
		.left = true,
		.probe = true, /* the cards are given back together, afterwards */
		.failed = "not detached",
	};
	int ret = op_start(session, &op);

	if (!ret)
		ret = op_await(session, &op, 1);
	if (!ret)
		ret = op_finish(session, &op);
	op_free(&op);
	return ret;
}

/* Lines that ctl_more() has made. */
static void more_lines(struct ctl_ctx *ctx, const char *lines)
{
	if (lines && *lines)
		ctl_more(ctx, "%.*s", (int)strlen(lines) - 1, lines);
}

/* @say: what keeps a GPU on, such as its holders, is added to what is said at the end. */
static int assigned_detach(struct session *session, const struct op_terms *terms,
			   struct gf_slot **slots, size_t n, bool say)
{
	struct ctl_ctx *ctx = session->ctx;
	char *before = ctx->more, *details;
	int ret;

	ctx->more = NULL;
	ret = detach_quietly(session, terms, slots, n);
	details = ctx->more;
	ctx->more = before;
	if (ret && say) {
		ctl_more(ctx, "%s", ctx->error);
		more_lines(ctx, details);
	}
	free(details);
	return ret;
}

/* All or none: also what this request brought up beside the cards of the fabric. */
static struct gf_slot *needs_power_off(const struct session *session,
				       const struct assigned *assigned, size_t i, uint64_t id)
{
	struct gf_slot *slot = slot_of(session, assigned, i);

	if (!slot || slot->composition || !is_ours(assigned, i, slot, id))
		return NULL;
	return is_attached(slot) || gf_slot_is_left(slot) ? slot : NULL;
}

/* Together, and where that is refused one by one: a GPU that is held keeps no other from going. */
static void power_off(struct session *session, const struct assigned *assigned,
		      const struct op_terms *terms, uint64_t id)
{
	struct gf_slot **slots = mem_zalloc(assigned->about.n, sizeof(*slots)), *slot;
	size_t n = 0, i;

	for (i = 0; i < assigned->about.n; i++) {
		slots[n] = needs_power_off(session, assigned, i, id);
		n += !!slots[n];
	}
	if (!n || (n > 1 && !assigned_detach(session, terms, slots, n, false)))
		goto out;
	for (i = 0; i < assigned->about.n; i++) {
		slot = needs_power_off(session, assigned, i, id);
		if (slot)
			assigned_detach(session, terms, &slot, 1, true);
	}
out:
	free(slots);
}

static void say_kept(struct session *session, const struct assigned *assigned, size_t i,
		     const struct gf_slot *slot)
{
	const struct bringer *bringer = bringers_of(&assigned->bringers, i);
	const char *name = assigned->about.names[i];
	char *by_hand = bringer->driver->by_hand(bringer, name);
	struct ctl_ctx *ctx = session->ctx;

	if (slot && slot->composition)
		ctl_more(ctx,
			 "slot %s: not given back, it belongs to composition %s: gpuctl release %s",
			 name, slot->composition, slot->composition);
	else if (slot && (gf_slot_has_gpu(slot) || gf_slot_is_left(slot)))
		ctl_more(ctx, "slot %s: not given back, its state is %s: gpuctl detach %s", name,
			 render_state(slot->state), name);
	else
		ctl_more(ctx,
			 "slot %s: not given back, its state is %s; by hand, when it is off: %s",
			 name, slot ? render_state(slot->state) : "not known", by_hand);
	free(by_hand);
}

/* In JSON, where further lines of an error have no place. */
static void note_slots(struct session *session, const struct assigned *assigned, const bool *which,
		       const char *name)
{
	size_t i;

	for (i = 0; i < assigned->about.n && session->ctx->json; i++)
		if (which[i])
			out_note(session->ctx->out, name, "", "%s", assigned->about.names[i]);
}

static void give_back(struct session *session, struct assigned *assigned, struct bringer *bringer,
		      const bool *off)
{
	bool *both = mem_zalloc(assigned->about.n + 1, sizeof(*both));
	char *slots, *kept;

	if (!bringer_slots(bringer, off, both)) {
		free(both);
		return;
	}
	slots = hook_slots_text(&assigned->about, both, ", ");
	kept = bringer->driver->give_back(session, bringer, &assigned->about, both);
	note_slots(session, assigned, both, kept ? "not_given_back" : "given_back");
	if (kept)
		ctl_more(session->ctx, "not given back to the fabric: %s: %s", slots, kept);
	else
		ctl_more(session->ctx, "given back to the fabric: %s", slots);
	free(kept);
	free(slots);
	free(both);
}

/* @known: the snapshot is of now. @why: what keeps GPUs on, NULL for nothing. */
static void return_cards(struct session *session, struct assigned *assigned, bool known,
			 const char *why)
{
	const size_t n = assigned->about.n;
	bool *off = mem_zalloc(n, sizeof(*off));
	bool *on = mem_zalloc(n, sizeof(*on));
	size_t i;

	for (i = 0; i < n; i++) {
		const struct gf_slot *slot = slot_of(session, assigned, i);

		/* A slot that went with its switch has no card. */
		off[i] = is_brought(assigned, i) && known && (!slot || gf_slot_has_no_power(slot));
		on[i] = is_brought(assigned, i) && !off[i];
	}
	for (i = 0; i < assigned->bringers.n; i++)
		give_back(session, assigned, &assigned->bringers.list[i], off);
	more_lines(session->ctx, why);
	note_slots(session, assigned, on, "not_given_back");
	for (i = 0; i < n; i++)
		if (on[i])
			say_kept(session, assigned, i,
				 known ? slot_of(session, assigned, i) : NULL);
	free(off);
	free(on);
}

static bool any_begun(const struct bringers *bringers)
{
	size_t i;

	for (i = 0; i < bringers->n && !bringers->list[i].begun;)
		i++;
	return i < bringers->n;
}

void assigned_return(struct session *session, struct assigned *assigned,
		     const struct op_terms *terms, struct op *op)
{
	struct ctl_ctx *ctx = session->ctx;
	uint64_t id = op ? op->wait.operation.id : 0;
	char *cause = ctx->error, *before = ctx->more, *why;
	bool known;

	if (!assigned->begun || !any_begun(&assigned->bringers))
		return;
	/* It may be a signal that made this necessary, and the next one would leave half of it. */
	gfc_drop_signals();
	gfc_hold_signals();
	ctx->error = NULL;
	ctx->more = NULL;
	known = !session_refresh(session);
	if (known) {
		settle(session, assigned, terms, id);
		power_off(session, assigned, terms, id);
		known = !session_refresh(session);
	}
	if (op)
		arrival_abort(session, &op->arrival);
	why = ctx->more;
	ctx->more = before;
	return_cards(session, assigned, known, why);
	free(why);
	free(ctx->error);
	ctx->error = cause;
	assigned->begun = false;
	gfc_release_signals();
}

/* Whether the request says something of a GPU, which takes the catalogue. */
static bool any_known(const struct session *session, struct gf_slot *const *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i]->vendor)
			return true;
	return knowledge_has_declarations(session->ctx);
}

int assigned_attach(struct session *session, struct assigned *assigned,
		    const struct op_terms *terms, struct gf_slot *const *slots, size_t n)
{
	struct op op = {
		.kind = OP_ATTACH,
		.terms = terms,
		.add = slots,
		.n_add = n,
		.absent = session->ctx->dry_run && assigned->n,
		.failed = n > 1 ? "not attached, all slots are as before" : "not attached",
	};
	int ret = CTL_DONE, why;

	/* Of slots that nobody knows anything of, it can wait until they train. */
	if (any_known(session, slots, n))
		ret = session_know(session);
	if (ret)
		return ret;
	op_expect(session, &op, true);
	ret = op_run(session, &op);
	if (!ret || !assigned->n)
		goto out;
	/* Other than after an attach of cards that are here, it does not continue. */
	if (gfc_signalled()) {
		ret = ctl_fail(session->ctx, ret, "interrupted: gpuctl withdraws the request");
	} else if (op.error && !session_refresh(session)) {
		/* The module only says that a slot is in fault. */
		why = assigned_check(session, assigned);
		ret = why ? why : ret;
	}
	assigned_return(session, assigned, terms, &op);
out:
	op_free(&op);
	return ret;
}
