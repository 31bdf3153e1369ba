// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: operations
 *
 * The order is that of a promise: room is judged and holders are looked for while nothing has
 * changed; then slots are drained, hooks tell others, the tenant's share is looked at for the
 * last time, and the request goes. A refusal undoes all of it. After the end of
 * the operation hooks follow, for the slots that did as was asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/driver.h"
#include "choose/quota.h"
#include "cli/out.h"
#include "op/clean.h"
#include "op/op.h"
#include "op/submit.h"
#include "session/render.h"

/* Others may be at it at the same time: choose anew so often. */
#define TRIES 20

/* What -n says of each slot: the words before it, in text alone and in JSON as well. */
static const struct {
	const char *before, *add, *remove;
} would[] = {
	[OP_ATTACH] = { "would attach ", "", NULL },
	[OP_DETACH] = { "would detach ", NULL, "" },
	[OP_COMPOSE] = { NULL, NULL, NULL },
	[OP_RESIZE] = { "would ", "add ", "give back " },
	[OP_RELEASE] = { "would detach ", NULL, "" },
};

void op_expect(const struct session *session, struct op *op, bool declared)
{
	size_t i;

	op->ids = mem_zalloc(op->n_add, sizeof(*op->ids));
	for (i = 0; i < op->n_add; i++) {
		struct identity identity;

		identity_of(&session->knowledge, op->add[i], &identity);
		if (!declared || identity.source == IDENTITY_DECLARED)
			op->ids[i] = identity.ids;
	}
}

static void say_slots(struct session *session, const char *before, const char *word,
		      struct gf_slot *const *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n && word; i++)
		out_note(session->ctx->out, "would", before, "%s%s", word, slots[i]->name);
}

/*
 * For -n: nothing is changed, and what keeps the operation from being made is said. The module is
 * not asked where it would refuse what has yet to be drained or brought.
 */
static int op_would(struct session *session, struct op *op, const struct placement *placement)
{
	const struct removal *removal = &op->removal;
	bool whole = op->kind == OP_RESIZE;
	int ret;

	ret = removal_check(session, removal);
	if (!ret && op->n_add && !op->n_remove && !op->absent) {
		ret = submit_check(session, op, placement);
		op->error = ret ? gfc_last_errno(session->client) : 0;
	}
	if (ret)
		return ret;
	told_render(session->ctx, &op->gone);
	told_render(session->ctx, &op->come);
	say_slots(session, would[op->kind].before, would[op->kind].add, op->add, op->n_add);
	say_slots(session, would[op->kind].before, would[op->kind].remove,
		  whole ? op->remove : removal->slots, whole ? op->n_remove : removal->n);
	return op->n_add ? arrival_begin(session, &op->arrival, op->terms, op->add, op->n_add) :
			   CTL_DONE;
}

/* A GPU that is off and on its way to the fabric is no longer this host's. */
static int keep_slots(struct session *session, struct op *op, struct bringing *kept)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < op->n_add && !ret; i++)
		if (op->add[i]->state == GF_STATE_OFF)
			ret = bringing_keep(session->ctx, kept, op->add[i]->name);
	op->error = ret ? EBUSY : 0;
	return ret;
}

static int op_submit(struct session *session, struct op *op, const struct placement *placement)
{
	struct bringing kept = { 0 };
	int ret = CTL_DONE;

	if (op->quota)
		ret = quota_lock(session, op->quota, op->pool, op->tenant,
				 identity_slots(&session->knowledge, op->add, op->n_add),
				 identity_slots(&session->knowledge, op->remove, op->n_remove));
	if (!ret)
		ret = keep_slots(session, op, &kept);
	if (!ret) {
		ret = submit_op(session, op, placement);
		op->error = ret ? gfc_last_errno(session->client) : 0;
	}
	if (op->error == ESTALE && !op->n_add && !op->keep && !op->same)
		ret = removal_stale(session, &op->removal, ret);
	bringing_end(&kept);
	if (op->quota)
		quota_unlock(op->quota);
	return ret;
}

/* The workload of the composition has time to hear of it, and as much time to let go. */
static void op_grant(struct session *session, struct op *op)
{
	uint64_t ms = told_budget(&op->gone);

	/* Slots stay drained while others get ready for their GPUs. */
	if (op->n_add && !op->probe)
		op->removal.bring_ms = arrival_budget(session);
	if (op->quota)
		op->removal.bring_ms += QUOTA_WAIT_MS;

	if (ms > REMOVAL_WAIT_MAX_MS)
		ms = REMOVAL_WAIT_MAX_MS;
	op->removal.tell_ms = ms;
	if (op->removal.wait_ms < ms)
		op->removal.wait_ms = ms;
}

/*
 * The workload hears of it when the slots are drained for this request: where another one has them,
 * that one tells it.
 */
static int op_remove(struct session *session, struct op *op)
{
	int ret;

	op_grant(session, op);
	ret = removal_drain(session, &op->removal);
	if (ret)
		return ret;
	told_shrink(session, &op->gone);
	ret = removal_empty(session, &op->removal);
	if (ret)
		told_stay(session, &op->gone);
	return ret;
}

/* From the drain to the request; undone when it is refused. */
static int op_change(struct session *session, struct op *op, const struct placement *placement)
{
	int ret = CTL_DONE;

	/* Cards that are given back together afterwards are in slots that the request has. */
	if (!op->probe)
		ret = removal_lock(session, &op->removal);
	if (ret)
		return ret;
	ret = op_remove(session, op);
	if (ret)
		return ret;
	if (op->n_add && !op->probe)
		ret = arrival_begin(session, &op->arrival, op->terms, op->add, op->n_add);
	if (ret)
		goto out_removal;
	/* Nothing before this has to wait, so nothing may have let a signal in. */
	if (gfc_interrupted())
		ret = ctl_fail(session->ctx, CTL_FAILED, "interrupted: nothing was changed");
	else
		ret = op_submit(session, op, placement);
	if (!ret)
		return CTL_DONE;
	arrival_abort(session, &op->arrival);
	arrival_free(&op->arrival);
out_removal:
	removal_abort(session, &op->removal);
	told_stay(session, &op->gone);
	return ret;
}

static int op_clean(struct session *session, struct op *op)
{
	int ret = CTL_DONE;

	if (op->to)
		ret = clean_slots(session, op->terms, op->to, op->add, op->n_add, &op->cleaned);
	/* Said when it has come to that too often. */
	if (op->cleaned)
		ret = ctl_fail(session->ctx, CTL_FAILED,
			       "other requests used the slots each time while gpuctl cleaned them: try again");
	return ret;
}

/* A composition has a workload; slots alone have none. */
static int op_find_told(struct session *session, struct op *op)
{
	const char *reason = op->terms->reason;
	int ret;

	if (!op->name || op->probe)
		return CTL_DONE;
	ret = told_init(session, &op->gone, reason, op->name, op->removal.slots, op->removal.n);
	return ret ? ret : told_init(session, &op->come, reason, op->name, op->add, op->n_add);
}

static void op_forget_told(struct op *op)
{
	told_free(&op->gone);
	told_free(&op->come);
}

static int op_try(struct session *session, struct op *op)
{
	struct placement placement = { 0 };
	int ret;

	op->error = 0;
	ret = op_clean(session, op);
	if (!ret && op->n_add)
		ret = placement_judge(session, op->add, op->n_add, op->terms->harm, &placement);
	if (!ret && !op->keep)
		ret = removal_init(session, &op->removal, op->terms, op->remove, op->n_remove,
				   op->left);
	if (ret)
		goto out;
	ret = op_find_told(session, op);
	if (ret)
		goto out_told;
	if (op->say)
		op->say(session, op);
	ret = session->ctx->dry_run ? op_would(session, op, &placement) :
				      op_change(session, op, &placement);
out_told:
	if (ret) {
		op_forget_told(op);
		removal_free(&op->removal);
	}
out:
	placement_free(&placement);
	return ret;
}

int op_start(struct session *session, struct op *op)
{
	int tries = 0, ret;

	do {
		ret = op_try(session, op);
	} while (ret && !op->anew && op->error == EAGAIN && ++tries < PLACEMENT_TRIES);
	return ret;
}

int op_await(struct session *session, struct op *ops, size_t n)
{
	struct wait *waits = mem_zalloc(n, sizeof(*waits));
	size_t i;
	int ret;

	/* The requests are on their way: from here the catalogue only gives names. */
	session->use = SESSION_CHANGE;
	ret = session_know(session);
	for (i = 0; i < n; i++)
		waits[i] = ops[i].wait;
	if (!ret)
		ret = wait_all(session, waits, n);
	for (i = 0; i < n; i++)
		ops[i].wait = waits[i];
	free(waits);
	return ret;
}

int op_finish(struct session *session, struct op *op)
{
	size_t i;

	removal_finish(session, &op->removal, !op->probe);
	if (!op->probe)
		arrival_finish(session, &op->arrival);
	told_finish(session, &op->gone, &op->come);
	for (i = 0; i < op->wait.n_slots && op->n_add; i++)
		driver_warn(session, op->terms->driver,
			    gf_slot_by_name(&session->fabric, op->wait.slots[i]));
	return wait_outcome(session, &op->wait, op->failed);
}

/*
 * What is told of a GPU that has gone, by hooks and to a fabric that it goes back to, is not
 * skipped, nor what takes back what was told of one that was to come.
 */
static bool op_outlasts(const struct op *op)
{
	return (op->removal.n || op->arrival.pre.ran || op->arrival.post.n || op->come.hooks.n) &&
	       !op->wait.over && gfc_signalled();
}

int op_await_whole(struct session *session, struct op *op, bool *stopped)
{
	int ret;

	ret = op_await(session, op, 1);
	*stopped = ret && op_outlasts(op);
	if (!*stopped)
		return ret;
	ctl_warn(session->ctx,
		 "interrupted: gpuctl waits until the %s has ended; another signal ends it at once",
		 render_kind(op->wait.operation.kind));
	gfc_forget_signals();
	ret = op_await(session, op, 1);
	/* Of what follows another one is the second; and nothing else is to begin. */
	gfc_note_signal();
	return ret;
}

int op_stopped(struct session *session, const struct op *op)
{
	return ctl_fail(session->ctx, CTL_FAILED, "interrupted: the %s has ended",
			render_kind(op->wait.operation.kind));
}

int op_end(struct session *session, struct op *op)
{
	bool stopped;
	int ret;

	ret = op_await_whole(session, op, &stopped);
	if (ret)
		return ret;
	if (!op->probe)
		wait_render(session, &op->wait, 1);
	ret = op_finish(session, op);
	return ret || !stopped ? ret : op_stopped(session, op);
}

int op_run(struct session *session, struct op *op)
{
	int ret;

	ret = op_start(session, op);
	return ret || session->ctx->dry_run ? ret : op_end(session, op);
}

void op_forget(struct op *op)
{
	op->add = NULL;
	op->remove = NULL;
	op->note = NULL;
	op->quota = NULL;
	op->pool = NULL;
	op->tenant = NULL;
	op->to = NULL;
	op->arg = NULL;
}

void op_free(struct op *op)
{
	free(op->ids);
	arrival_free(&op->arrival);
	removal_free(&op->removal);
	op_forget_told(op);
	wait_free(&op->wait);
	memset(op, 0, sizeof(*op));
}

/* Claimed, removed, failed or annotated since the snapshot? */
static bool lost_race(const struct op *op, const struct op_race *race)
{
	if (op->cleaned)
		return true;
	switch (op->error) {
	case EAGAIN:
		return op->n_add && race->stale < PLACEMENT_TRIES;
	case EBUSY:
	case ENODEV:
	case EIO:
	case ETIMEDOUT:
		return op->n_add;
	case ESTALE:
		return op->kind == OP_RESIZE || op->kind == OP_COMPOSE;
	default:
		return false;
	}
}

/* Another operation changes the composition: to choose other slots does not help. */
static bool is_changing(const struct session *session, const struct op *op)
{
	const struct gf_composition *composition =
		op->kind == OP_RESIZE && op->error == EBUSY ?
			gf_composition_by_name(&session->fabric, op->name) :
			NULL;

	return composition && gf_operation_is_under_way(&composition->operation);
}

bool op_try_again(struct session *session, struct op_race *race, struct op *op, int *ret)
{
	int err;

	race->stale += op->error == EAGAIN;
	if (!*ret || *ret == CTL_NO_FIT || !lost_race(op, race) || ++race->tries >= TRIES)
		return false;
	err = session_refresh(session);
	if (err)
		*ret = err;
	if (err || is_changing(session, op))
		return false;
	if (!op->cleaned)
		session_say(session, "%s meanwhile, choosing again",
			    op->error == EAGAIN ? "windows have changed" :
			    op->error == ESTALE ? "the composition or a slot of it has changed" :
						  "a slot was taken or has failed");
	op_free(op);
	return true;
}
