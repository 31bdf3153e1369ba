// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: waiting
 *
 * The end of an operation comes as an event that names its id. Events were
 * subscribed to before the request was sent, so the end cannot be missed,
 * only lost with others; then, and when nothing was heard for a while, the
 * slots tell: they keep the operation under way and the last one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "module/failure.h"
#include "op/progress.h"
#include "op/wait.h"
#include "session/render.h"

/* Quiet for so long: look instead of listen. */
#define LOOK_MS 5000
/* An operation can have a stage of adding, one of removing and one of undoing. */
#define STAGES 3
#define GRACE_MS 15000
#define TIMEOUT_DEFAULT_MS 30000

static void take_operation(struct gf_message *message, void *arg)
{
	struct gf_operation *operation = arg;

	if (!message->has.operation)
		return;
	gf_operation_free(operation);
	*operation = message->operation;
	memset(&message->operation, 0, sizeof(message->operation));
}

int wait_start(struct session *session, struct nl_msg *msg, struct gf_slot *const *slots,
	       size_t n_slots, struct wait *wait)
{
	size_t i;
	int ret;

	memset(wait, 0, sizeof(*wait));
	ret = gfc_request(session->client, msg, take_operation, &wait->operation);
	if (ret) {
		wait_free(wait);
		return ret;
	}
	wait->slots = mem_zalloc(n_slots, sizeof(*wait->slots));
	for (i = 0; i < n_slots; i++)
		wait->slots[i] = mem_strdup(slots[i]->name);
	wait->n_slots = n_slots;
	return CTL_DONE;
}

void wait_free(struct wait *wait)
{
	size_t i;

	for (i = 0; i < wait->n_slots; i++)
		free(wait->slots[i]);
	free(wait->slots);
	gf_operation_free(&wait->operation);
	memset(wait, 0, sizeof(*wait));
}

static void wait_take_end(struct wait *waits, size_t n, struct gf_operation *end)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (waits[i].over || waits[i].operation.id != end->id)
			continue;
		gf_operation_free(&waits[i].operation);
		waits[i].operation = *end;
		waits[i].operation.has.error = true;
		waits[i].over = true;
		memset(end, 0, sizeof(*end));
		return;
	}
}

static bool all_over(const struct wait *waits, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!waits[i].over)
			return false;
	return true;
}

/* Move the outcome that a slot remembers into the wait, unless it has a worse one. */
static void take_last(struct wait *wait, struct gf_operation *last)
{
	struct gf_failure mine;

	if (last->id != wait->operation.id || (wait->operation.has.error && wait->operation.error))
		return;
	wait->operation.has.error = true;
	wait->operation.error = last->error;
	mine = wait->operation.failure;
	wait->operation.failure = last->failure;
	last->failure = mine;
}

/* Without the event: over once no slot of it has it under way. */
static void look(const struct gf_fabric *fabric, struct wait *wait)
{
	bool under_way = false;
	size_t i;

	for (i = 0; i < fabric->n_slots; i++)
		under_way = under_way || fabric->slots[i].operation.id == wait->operation.id;
	for (i = 0; i < fabric->n_compositions; i++) {
		const struct gf_operation *op = &fabric->compositions[i].operation;

		under_way = under_way ||
			    (op->id == wait->operation.id && gf_operation_is_under_way(op));
	}
	if (under_way)
		return;
	for (i = 0; i < wait->n_slots; i++) {
		struct gf_slot *slot = gf_slot_by_name(fabric, wait->slots[i]);

		if (slot)
			take_last(wait, &slot->last_operation);
	}
	wait->operation.has.error = true;
	wait->over = true;
}

static void look_all(struct session *session, struct wait *waits, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!waits[i].over)
			look(&session->fabric, &waits[i]);
}

/* The module ends every operation by its deadline; this is for a module that does not. */
static uint64_t wait_patience(const struct wait *waits, size_t n)
{
	uint64_t longest = TIMEOUT_DEFAULT_MS, now = text_uptime(), i;

	for (i = 0; i < n; i++) {
		const struct gf_operation *op = &waits[i].operation;

		if (op->deadline > now && op->deadline - now > longest)
			longest = op->deadline - now;
	}
	return longest * STAGES + GRACE_MS;
}

static int say_interrupted(struct session *session, const struct wait *waits, size_t n)
{
	size_t i;

	for (i = 0; i < n && waits[i].over;)
		i++;
	return ctl_fail(session->ctx, CTL_FAILED,
			"interrupted: the %s continues, see gpuctl show %s",
			render_kind(waits[i].operation.kind),
			waits[i].operation.composition ? waits[i].operation.composition :
			waits[i].n_slots	       ? waits[i].slots[0] :
							 "");
}

static int wait_one(struct session *session, struct wait *waits, size_t n)
{
	struct gf_message event;

	switch (mirror_next(&session->mirror, LOOK_MS, &event)) {
	case MIRROR_CHANGE:
		if (event.kind == GPUFABRIC_EVENT_KIND_OPERATION_DONE && event.has.operation)
			wait_take_end(waits, n, &event.operation);
		mirror_apply(&session->mirror, &event);
		return CTL_DONE;
	case MIRROR_SIGNAL:
		return say_interrupted(session, waits, n);
	case MIRROR_ERROR:
		return session->mirror.error;
	default:
		look_all(session, waits, n);
		return CTL_DONE;
	}
}

/* Whether the snapshot knows of every slot how its operation went. */
static bool all_told(const struct session *session, const struct wait *waits, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < waits[i].n_slots; j++) {
			const struct gf_slot *slot =
				gf_slot_by_name(&session->fabric, waits[i].slots[j]);

			if (!slot || slot->last_operation.id != waits[i].operation.id)
				return false;
		}
	}
	return true;
}

int wait_all(struct session *session, struct wait *waits, size_t n)
{
	uint64_t end = text_monotonic() + wait_patience(waits, n);
	struct progress progress;
	int ret = CTL_DONE, settled;

	progress_start(&progress, session->ctx);
	mirror_defer(&session->mirror);
	while (!ret && !all_over(waits, n)) {
		progress_draw(&progress, &session->fabric, waits, n);
		ret = wait_one(session, waits, n);
		if (!ret && text_monotonic() > end && !all_over(waits, n))
			ret = ctl_fail(session->ctx, CTL_TIMEOUT,
				       "the module does not report an end: see gpuctl list and the kernel log");
	}
	progress_end(&progress);
	settled = mirror_settle(&session->mirror);
	ret = ret ? ret : settled;
	/* The events told all there is; only after an overrun is something missing. */
	if (!ret && !all_told(session, waits, n))
		ret = session_refresh(session);
	return ret;
}

int wait_outcome(struct session *session, const struct wait *wait, const char *what)
{
	const struct gf_operation *op = &wait->operation;
	char *why;
	int ret;

	if (!op->error)
		return CTL_DONE;
	why = failure_text(&op->failure);
	ret = ctl_fail(session->ctx, gfc_exit(-op->error), "%s: %s", what,
		       why ? why : strerror(-op->error));
	free(why);
	return ret;
}

static void render_one(struct out_table *t, struct session *session, const struct wait *wait,
		       const struct gf_slot *slot)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	const struct gf_operation *last = &slot->last_operation;
	struct identity identity;
	char took[TEXT_QUANTITY], gpus[IDENTITY_GPUS];
	char *durations;

	identity_of(&session->knowledge, slot, &identity);
	out_row(t);
	out_str(t, "slot", slot->name);
	out_str(t, "gpu", identity.label);
	if (identity.gpus > 1)
		out_text(t, "gpu", "%s", identity_gpus(gpus, &identity));
	out_str(t, "state", render_state(slot->state));
	if (gpu)
		out_str(t, "address", gpu->address);
	if (slot->condition.cause)
		out_str(t, "cause", render_cause(slot->condition.cause));
	if (last->id != wait->operation.id)
		return;
	out_int(t, "error", last->error);
	if (gf_duration(last, GPUFABRIC_PHASE_TOTAL))
		out_cell(t, "durations", render_durations_json(last), "%s",
			 text_duration(took, gf_duration(last, GPUFABRIC_PHASE_TOTAL) / 1000));
	durations = render_durations(last);
	out_str(t, "PHASES (s)", durations);
	free(durations);
}

void wait_render(struct session *session, const struct wait *waits, size_t n)
{
	static const struct out_column columns[] = {
		{ "slot", "SLOT" },
		{ "gpu", "GPU" },
		{ "state", "STATE" },
		{ "address", "ADDRESS", OUT_OPTIONAL },
		{ "cause", "CAUSE", OUT_OPTIONAL },
		{ "error", NULL },
		{ "durations", "TOOK", OUT_RIGHT | OUT_OPTIONAL },
		{ NULL, "PHASES (s)", OUT_OPTIONAL },
		{ NULL, NULL },
	};
	struct out_table *t = out_table(session->ctx->out, "slots", columns, OUT_TABLE);
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < waits[i].n_slots; j++) {
			const struct gf_slot *slot =
				gf_slot_by_name(&session->fabric, waits[i].slots[j]);

			if (slot)
				render_one(t, session, &waits[i], slot);
		}
	}
}
