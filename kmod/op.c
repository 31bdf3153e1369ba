// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Operations
 *
 * Whatever changes slots is a set of steps, one for each slot, that all happen or none. This file
 * is the transaction: it starts the steps of a stage, counts them home, undoes what has to be
 * undone, and closes the books, under the fabric's lock and without sleeping for hardware. A step
 * that passes its deadline counts as failed at once; its worker still holds a reference and tells
 * the slot when it comes back at last.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "netlink.h"
#include "snapshot.h"

void gf_who_current(struct gf_who *who, const struct nlattr *reason)
{
	who->uid = current_uid();
	who->pid = get_pid(task_tgid(current));
	get_task_comm(who->comm, current);
	strscpy(who->reason, reason ? nla_data(reason) : "", sizeof(who->reason));
}

void gf_who_drop(struct gf_who *who)
{
	put_pid(who->pid);
	who->pid = NULL;
}

/* With one reference and no steps; NULL without memory or while the module is going away. */
struct gf_op *gf_op_alloc(enum gpufabric_operation_kind kind, unsigned int nr_steps)
{
	struct gf_op *op;

	if (!try_module_get(THIS_MODULE))
		return NULL;
	op = kvzalloc(struct_size(op, steps, nr_steps), GFP_KERNEL);
	if (!op) {
		module_put(THIS_MODULE);
		return NULL;
	}
	kref_init(&op->ref);
	op->kind = kind;
	op->timeout_ms = GF_TIMEOUT_MS;
	op->begun = gf_clock_ms();
	op->started = gf_now_ms();
	return op;
}

static void op_release(struct kref *ref)
{
	struct gf_op *op = container_of(ref, struct gf_op, ref);
	unsigned int i;

	for (i = 0; i < op->nr_steps; i++) {
		gf_functions_put(op->steps[i].card);
		gf_slot_put(op->steps[i].slot);
	}
	gf_who_drop(&op->who);
	if (op->composition)
		gf_composition_put(op->composition);
	kvfree(op);
	/* The workqueue is drained before the module's text goes away. */
	module_put(THIS_MODULE);
}

void gf_op_put(struct gf_op *op)
{
	kref_put(&op->ref, op_release);
}

/* Add a slot, as it is now, to an operation that was not launched yet and has room for it. */
struct gf_step *gf_op_add_step(struct gf_op *op, struct gf_slot *slot,
			       enum gf_need need, bool remove, const struct gf_expect *expect)
{
	struct gf_step *step = &op->steps[op->nr_steps++];

	step->op = op;
	step->slot = gf_slot_get(slot);
	step->need = need;
	step->remove = remove;
	if (slot->snap)
		step->card = gf_functions_get(slot->snap->card);
	if (expect)
		step->expect = *expect;
	INIT_LIST_HEAD(&step->turns);
	INIT_WORK(&step->work, gf_step_run);
	INIT_DELAYED_WORK(&step->watchdog, gf_step_watchdog);
	return step;
}

/* When an operation is over at the latest. Returns as gf_clock_ms(). */
u64 gf_op_deadline(const struct gf_op *op)
{
	return op->begun + ((u64)op->timeout_ms + op->driver_timeout_ms) * (op->turns + 1);
}

/* Another card is where the GPU was; that of a chassis is there still, in a slot of its own. */
static bool is_replaced(const struct gf_slot *slot)
{
	return slot->foreign && !(slot->flags & GPUFABRIC_SLOT_FLAG_CHASSIS);
}

static bool wants(const struct gf_step *step, enum gf_stage stage)
{
	switch (stage) {
	case GF_STAGE_ADDING:
		return !step->remove && step->need == GF_NEED_ATTACH;
	case GF_STAGE_REMOVING:
		/* What has left the bus meanwhile need not be removed. */
		return step->remove && step->need == GF_NEED_DETACH && !step->slot->retired &&
		       !is_replaced(step->slot) &&
		       (gf_state_has_gpu(step->slot->state) ||
			(step->slot->snap && step->slot->snap->nr_functions));
	case GF_STAGE_UNDOING:
		return !step->remove && step->attached == step->slot->incarnation &&
		       (step->slot->state == GF_STATE_READY ||
			step->slot->state == GF_STATE_ATTACHED);
	default:
		return false;
	}
}

/* Start a stage, undoing in reverse order; returns whether there is anything to wait for. */
static bool start_stage(struct gf_op *op, enum gf_stage stage)
{
	bool undo = stage == GF_STAGE_UNDOING;
	unsigned int i;

	op->stage = stage;
	for (i = 0; i < op->nr_steps; i++) {
		struct gf_step *step = &op->steps[undo ? op->nr_steps - 1 - i : i];

		if (wants(step, stage))
			gf_step_launch(step, undo ? GF_NEED_DETACH : step->need, undo);
	}
	return op->pending;
}

/* Give back claims: of what is removed, and on failure of what was to be added and never used. */
static void settle_claims(struct gf_op *op)
{
	unsigned int i;

	if (!op->composition)
		return;
	for (i = 0; i < op->nr_steps; i++) {
		struct gf_step *step = &op->steps[i];
		bool drop = step->remove ? op->ends ||
					   (op->stage != GF_STAGE_UNDOING && !step->refused) :
					   op->failed && op->stage == GF_STAGE_UNDOING;

		if (!drop || step->slot->composition != op->composition)
			continue;
		if (step->remove && !step->refused)
			gf_slot_given_back(step->slot);
		gf_composition_unclaim(step->slot);
	}
}

static void settle_composition(struct gf_op *op)
{
	struct gf_composition *composition = op->composition;

	settle_claims(op);
	composition->op = NULL;
	if (op->ends || (op->made && op->failed)) {
		composition->state = op->ends ? GPUFABRIC_COMPOSITION_STATE_RELEASED :
						GPUFABRIC_COMPOSITION_STATE_FAILED;
		gf_composition_unlist(composition);
	} else {
		gf_composition_judge(composition);
	}
}

static void op_done(struct gf_op *op)
{
	unsigned int i;

	for (i = 0; i < op->nr_steps; i++) {
		struct gf_step *step = &op->steps[i];

		step->slot->op = NULL;
		/* A removal that is not to be: its GPU may be used again. */
		if (step->remove && step->need == GF_NEED_DETACH &&
		    step->slot->state == GF_STATE_DRAINING)
			gf_slot_trigger(step->slot, GF_DRAIN_ABORT);
		/* What was as wanted had no worker to record it. */
		if (step->need == GF_NEED_NOTHING)
			gf_history_step(step);
	}
	if (op->composition)
		settle_composition(op);
	for (i = 0; i < op->nr_steps; i++)
		gf_composition_bequeath(op->steps[i].slot);
	op->stage = GF_STAGE_DONE;
	gf.nr_operations--;
	gf_event(GPUFABRIC_EVENT_KIND_OPERATION_DONE, gf_fill_op, op);
	gf_op_put(op);
}

static void op_advance(struct gf_op *op)
{
	if (op->stage != GF_STAGE_ADDING ||
	    !start_stage(op, op->failed ? GF_STAGE_UNDOING : GF_STAGE_REMOVING))
		op_done(op);
}

/*
 * Takes over the caller's reference. Slots of a composition are claimed already. The operation may
 * be over, and freed, when this returns and the fabric's lock is dropped.
 */
void gf_op_launch(struct gf_op *op)
{
	unsigned int i;

	gf_assert_locked();
	op->id = ++gf.next_operation;
	gf.nr_operations++;
	if (op->composition)
		op->composition->op = op;
	for (i = 0; i < op->nr_steps; i++) {
		op->steps[i].slot->op = op;
		gf_step_begin(&op->steps[i]);
		if (op->steps[i].need == GF_NEED_DETACH)
			gf_slot_drain_claim(op->steps[i].slot);
	}
	gf_event(GPUFABRIC_EVENT_KIND_OPERATION_STARTED, gf_fill_op, op);
	if (!start_stage(op, GF_STAGE_ADDING))
		op_advance(op);
}

void gf_step_failed(struct gf_step *step)
{
	struct gf_op *op = step->op;

	gf_assert_locked();
	if (op->failed)
		return;
	op->failed = step;
	op->failure = step->result.failure;
}

/* A step came to its end, or its deadline did. */
void gf_step_ended(struct gf_step *step)
{
	struct gf_op *op = step->op;

	gf_assert_locked();
	step->running = false;
	if (step->result.failure.error)
		gf_step_failed(step);
	if (!--op->pending)
		op_advance(op);
}
