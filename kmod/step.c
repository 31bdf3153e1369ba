// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Steps: attaching and detaching one slot
 *
 * A step's worker is the only one that powers slots, and it holds no lock of ours while it does.
 * After power-on nothing is believed: the card has to be there, answer, be the GPU that was
 * expected, have an address in every BAR and, when one is expected, a driver. A card that fails is
 * powered off again. What is there without us is judged just so, but never powered off or taken
 * from its driver.
 *
 * A watchdog bounds the wait, not the work: at the deadline the slot is stuck and the operation
 * goes on without it. A worker that comes back later brings the slot to the state it then finds.
 */
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "compat.h"
#include "netlink.h"
#include "snapshot.h"
#include "trace.h"

/* From power to functions: a second each for the command, the link and the first answer. */
#define GF_BRING_UP_MS 3000

static void fail(struct gf_failure *failure, int error, enum gpufabric_cause cause)
{
	failure->error = error;
	failure->cause = cause;
}

static u32 us_between(ktime_t from, ktime_t to)
{
	s64 us = ktime_us_delta(to, from);

	return clamp_t(s64, us, 0, U32_MAX);
}

/* Whether a GPU is the one that a request expects; an empty mask expects nothing. */
bool gf_expect_met(const struct gf_expect *expect, const struct gf_ids *found)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(found->id); i++) {
		if (expect->mask & BIT(i) && expect->ids.id[i] != found->id[i])
			return false;
	}
	return true;
}

static void judge_power_on(struct gf_slot *slot, int err, const struct gf_snapshot *snap,
			   struct gf_failure *failure)
{
	if (READ_ONCE(slot->dying))
		fail(failure, -ENODEV, GPUFABRIC_CAUSE_SWITCH_GONE);
	else if (snap && snap->contained)
		fail(failure, -EIO, GPUFABRIC_CAUSE_CONTAINMENT);
	else if (err == -ENODEV || (snap && snap->status_valid && !snap->present))
		fail(failure, -ENODEV, GPUFABRIC_CAUSE_PRESENCE);
	else if (err == -EBUSY)
		fail(failure, err, GPUFABRIC_CAUSE_BUSY);
	else
		fail(failure, err, GPUFABRIC_CAUSE_LINK);
}

static void judge_gpu(const struct gf_step *step, const struct gf_snapshot *snap,
		      struct gf_failure *failure)
{
	const struct gf_ids *found = &snap->functions[snap->gpu].ids;

	gf_snapshot_judge(snap, failure);
	if (failure->error == -EIO || gf_expect_met(&step->expect, found))
		return;
	fail(failure, -EMEDIUMTYPE, GPUFABRIC_CAUSE_IDENTITY);
	failure->bar = 0;
	failure->size = 0;
	failure->ids = *found;
}

/* Nothing is believed after power-on: look at what is really there. */
static void judge_attach(const struct gf_step *step, int err, const struct gf_snapshot *snap,
			 struct gf_failure *failure)
{
	if (PTR_ERR_OR_ZERO(snap) == -ENOMEM) {
		fail(failure, -ENOMEM, GPUFABRIC_CAUSE_MEMORY);
	} else if (IS_ERR(snap)) {
		judge_power_on(step->slot, -ENODEV, NULL, failure);
	} else if (snap->gpu >= 0) {
		judge_gpu(step, snap, failure);
	} else if (snap->has_slots) {
		fail(failure, -EMEDIUMTYPE, GPUFABRIC_CAUSE_CHASSIS);
	} else if (snap->nr_functions) {
		fail(failure, -EMEDIUMTYPE, GPUFABRIC_CAUSE_OTHER);
		failure->class = snap->functions[0].class;
	} else if (err) {
		judge_power_on(step->slot, err, snap, failure);
	} else {
		fail(failure, -ENODEV, GPUFABRIC_CAUSE_ENUMERATE);
	}
}

static void note_attach_phases(struct gf_step *step, ktime_t enabled)
{
	u32 *us = step->result.phase_us;
	struct gf_marks marks;

	gf_notify_marks(step->slot, &marks);
	us[GPUFABRIC_PHASE_LINK] = us_between(step->start, marks.add ?: enabled);
	if (!marks.add)
		return;
	us[GPUFABRIC_PHASE_ENUMERATE] = us_between(marks.add, marks.bind ?: enabled);
	if (marks.bind && marks.bound)
		us[GPUFABRIC_PHASE_DRIVER] = us_between(marks.bind, marks.bound);
}

/* The step has had its windows, or will not get any: who waits for that and is the next goes on. */
static void leave_turns(struct gf_step *step)
{
	struct gf_switch *sw = step->slot->sw;
	struct gf_step *next;

	gf_assert_locked();
	if (list_empty(&step->turns))
		return;
	list_del_init(&step->turns);
	gf_notify_moving(sw);
	next = list_first_entry_or_null(&sw->turns, struct gf_step, turns);
	if (next && next->waits) {
		next->waits = false;
		queue_work(gf.work_wq, &next->work);
	}
}

/* Whether a step waits for those before it, each of which may take all its time. */
static bool has_to_wait(struct gf_step *step)
{
	struct gf_step *other = step;
	unsigned int before = 0;

	gf_assert_locked();
	list_for_each_entry_continue_reverse(other, &step->slot->sw->turns, turns)
		before++;
	step->op->turns = max(step->op->turns, before);
	return before;
}

/* Returns whether the worker can begin at once. */
static bool enter_turns(struct gf_step *step)
{
	struct gf_switch *sw = step->slot->sw;

	gf_assert_locked();
	list_add_tail(&step->turns, &sw->turns);
	step->waits = step->ordered && has_to_wait(step);
	gf_notify_moving(sw);
	return !step->waits;
}

/* The worker of a step that waits ends, and is queued again in its turn. */
static bool back_in_line(struct gf_step *step)
{
	gf_assert_locked();
	if (!step->again || step->expired)
		return false;
	step->again = false;
	/* Those before it may have gone meanwhile. */
	step->waits = has_to_wait(step);
	if (!step->waits)
		queue_work(gf.work_wq, &step->work);
	return true;
}

/* What is in the slot now is what the step is about. */
static void take_snapshot(struct gf_step *step, struct gf_snapshot *snap)
{
	if (IS_ERR(snap))
		return;
	guard(mutex)(&gf.lock);
	gf_slot_take(step->slot, snap);
	gf_functions_put(step->card);
	step->card = gf_functions_get(snap->card);
}

/* Wait for a change of the slot, or for the time after which to look again without one. */
static void wait_for_change(struct gf_slot *slot, int seen, bool unread, unsigned long left)
{
	if (unread)
		left = min(left, msecs_to_jiffies(GF_UNREAD_MS));
	wait_event_idle_timeout(slot->changed, atomic_read(&slot->changes) != seen, left);
}

static void wait_for_driver(struct gf_step *step, struct gf_failure *failure)
{
	const char *driver = step->op->driver;
	struct gf_slot *slot = step->slot;
	unsigned long end = jiffies + msecs_to_jiffies(step->op->driver_timeout_ms);

	for (;;) {
		int seen = atomic_read(&slot->changes);
		struct gf_snapshot *snap = gf_snapshot_take(slot);
		bool bound = !IS_ERR(snap) && gf_snapshot_bound(snap, driver);
		/* What cannot be looked at for want of memory is still there. */
		bool unread = IS_ERR(snap) ? PTR_ERR(snap) != -ENODEV : snap->driver_unread;
		bool there = IS_ERR(snap) ? unread : snap->gpu >= 0 &&
			     !gf_functions_bring(snap->card, step->card, true);
		long left = end - jiffies;

		if (!there) {
			fail(failure, -ENODEV, GPUFABRIC_CAUSE_SURPRISE);
			if (!IS_ERR(snap))
				gf_snapshot_free(snap);
			return;
		}
		take_snapshot(step, snap);
		if (bound)
			return;
		if (left <= 0) {
			fail(failure, -ETIMEDOUT, GPUFABRIC_CAUSE_DRIVER);
			strscpy(failure->driver, driver, sizeof(failure->driver));
			failure->waited_ms = step->op->driver_timeout_ms;
			return;
		}
		wait_for_change(slot, seen, unread, left);
	}
}

/* The GPU is there. Returns whether the step goes on: false when its deadline has passed. */
static bool announce_checked(struct gf_step *step)
{
	guard(mutex)(&gf.lock);
	leave_turns(step);
	if (!step->expired)
		gf_slot_trigger(step->slot, GF_CHECKED);
	return !step->expired;
}

/* What cannot be looked at for want of memory may be there. */
static bool has_functions(struct gf_slot *slot)
{
	struct gf_snapshot *snap = gf_snapshot_take(slot);
	bool has;

	if (IS_ERR(snap))
		return PTR_ERR(snap) != -ENODEV;
	has = snap->nr_functions;
	gf_snapshot_free(snap);
	return has;
}

/* Drivers let go first, without the rescan lock, so that one that does not stops no other slot. */
static int power_off(struct gf_step *step)
{
	struct gf_slot *slot = step->slot;
	struct gf_unbound *unbound = gf_unbind(slot, step->card);
	int err;

	if (IS_ERR(unbound))
		return PTR_ERR(unbound);
	err = slot->backend->set(slot, false);
	/* Without a power controller pciehp takes it for off, whoever scanned its bus since. */
	if (err == -ENODEV && has_functions(slot) && !slot->backend->set(slot, true))
		err = slot->backend->set(slot, false);
	gf_unbind_end(slot, unbound);
	return err;
}

/*
 * A card that failed is powered off, unless it took itself away. When we have not powered it on,
 * functions that are there all the same are somebody else's.
 */
static void power_off_failed(struct gf_step *step, bool powered)
{
	struct gf_snapshot *snap = gf_snapshot_take(step->slot);

	if (!IS_ERR(snap) && (snap->nr_functions ? powered : snap->power)) {
		/* Where the first look had no memory, this is the step's card. */
		if (step->card && step->card->count)
			gf_snapshot_free(snap);
		else
			take_snapshot(step, snap);
		/* What came in its place is for the next look. */
		if (power_off(step) == -ESTALE)
			return;
		snap = gf_snapshot_take(step->slot);
	}
	take_snapshot(step, snap);
}

/*
 * Whether somebody else brings up, or has brought up, what is in a slot that its driver does not
 * power on for us. Functions are announced; that power goes off again because nothing came of it
 * is not.
 */
static bool comes_by_itself(struct gf_slot *slot)
{
	unsigned long end = jiffies + msecs_to_jiffies(GF_BRING_UP_MS);
	bool present = false, power = false;

	/* Nobody else brings up a port without a slot driver. */
	while (slot->pci_slot) {
		int seen = atomic_read(&slot->changes);
		long left = end - jiffies;
		int err;

		if (has_functions(slot))
			return true;
		err = slot->backend->status(slot, &present, &power);
		if (left <= 0 || (err && err != -EBUSY) || (!err && !(present && power)))
			break;
		wait_for_change(slot, seen, true, left);
	}
	return false;
}

/*
 * Power a slot on. A slot driver refuses one that it brings up itself for a card that was put in,
 * and one that is on for it because the functions were removed behind its back. The latter is
 * powered off before, when there has been nothing in it for long enough to tell.
 */
static int power_on(struct gf_slot *slot, bool *found)
{
	bool present = false, power = false;
	int err = slot->backend->set(slot, true);

	if (!err)
		return 0;
	*found = comes_by_itself(slot);
	if (*found)
		return 0;
	if (slot->backend->status(slot, &present, &power) || !present || !power)
		return err;
	*found = has_functions(slot);
	if (*found)
		return 0;
	slot->backend->set(slot, false);
	return slot->backend->set(slot, true);
}

/*
 * A GPU that would harm its neighbours is not powered, unless that is asked for. Windows move for
 * one GPU after the other: who is not the first goes back in line.
 */
static bool has_room(struct gf_step *step, struct gf_failure *failure)
{
	u64 need = 0;
	int room = gf_guard(step->slot, &need);

	if (room == GF_ROOM_NONE && step->op->harm)
		room = GF_ROOM_MOVES;
	guard(mutex)(&gf.lock);
	step->again = room > GF_ROOM_OWN && !step->expired &&
		      !list_is_first(&step->turns, &step->slot->sw->turns);
	if (room < 0) {
		fail(failure, room, GPUFABRIC_CAUSE_MEMORY);
	} else if (room == GF_ROOM_NONE && !step->again) {
		fail(failure, -ENOSPC, GPUFABRIC_CAUSE_WINDOW);
		failure->size = need;
	}
	step->refused = failure->error;
	return !step->again && !failure->error;
}

static void run_attach(struct gf_step *step, struct gf_failure *failure)
{
	struct gf_slot *slot = step->slot;
	struct gf_snapshot *snap;
	ktime_t enabled;
	bool before = has_functions(slot), found = before;
	int err = 0;

	if (!found) {
		if (!has_room(step, failure))
			return;
		gf_notify_reset(slot);
		err = power_on(slot, &found);
	}
	step->found = found;
	enabled = ktime_get();
	/* The marks of what was there before are of another time. */
	if (!before)
		note_attach_phases(step, enabled);

	snap = gf_snapshot_take(slot);
	judge_attach(step, err, snap, failure);
	take_snapshot(step, snap);
	step->result.phase_us[GPUFABRIC_PHASE_RESOURCES] = us_between(enabled, ktime_get());

	if (!failure->error && announce_checked(step) && step->op->driver_timeout_ms) {
		wait_for_driver(step, failure);
		if (!before)
			note_attach_phases(step, enabled);
	}
	if (failure->error && !found)
		power_off_failed(step, !err);
}

static void run_detach(struct gf_step *step, struct gf_failure *failure)
{
	u32 *us = step->result.phase_us;
	struct gf_slot *slot = step->slot;
	struct gf_snapshot *snap;
	struct gf_marks marks;
	int err;

	gf_notify_reset(slot);
	/* The device that stands for the GPU goes before the GPU does, as udev's rules say. */
	flush_work(&slot->publish);
	err = power_off(step);
	gf_notify_marks(slot, &marks);
	if (marks.gone) {
		us[GPUFABRIC_PHASE_REMOVE] = us_between(step->start, marks.gone);
		us[GPUFABRIC_PHASE_POWER_OFF] = us_between(marks.gone, ktime_get());
	}
	snap = gf_snapshot_take(slot);
	/* It was none when the request was accepted, which may be a while ago. */
	step->refused = err == -ESTALE;
	if (err == -EMEDIUMTYPE)
		fail(failure, err, GPUFABRIC_CAUSE_CHASSIS);
	else if (step->refused)
		fail(failure, err, GPUFABRIC_CAUSE_CHANGED);
	else if (err == -ENOMEM)
		fail(failure, err, GPUFABRIC_CAUSE_MEMORY);
	else if (IS_ERR(snap) ? err && PTR_ERR(snap) == -ENOMEM : snap->nr_functions)
		fail(failure, err ?: -EIO, GPUFABRIC_CAUSE_POWER);
	take_snapshot(step, snap);
}

static void record(struct gf_step *step)
{
	gf_stats_step(step);
	gf_history_step(step);
	trace_gpufabric_step(step);
}

static enum gf_trigger left_as(const struct gf_slot *slot,
			       enum gf_trigger off, enum gf_trigger empty)
{
	return READ_ONCE(slot->presence) && !READ_ONCE(slot->dying) ? off : empty;
}

static void settle(struct gf_step *step, const struct gf_failure *failure)
{
	struct gf_slot *slot = step->slot;

	gf_assert_locked();
	step->result.failure = *failure;
	/* Before the state changes, so that the event of that tells how the operation went. */
	slot->last = step->result;
	if (failure->error && !step->refused) {
		gf_slot_fail(slot, failure->cause == GPUFABRIC_CAUSE_SURPRISE ||
			     failure->cause == GPUFABRIC_CAUSE_SWITCH_GONE ? GF_SURPRISE : GF_FAIL,
			     failure);
	} else if (step->need == GF_NEED_ATTACH && !step->refused) {
		step->attached = step->found ? 0 : slot->incarnation;
		slot->attaches++;
		slot->strikes = 0;
		gf_slot_trigger(slot, GF_BOUND);
	} else {
		slot->detaches += !step->refused;
		gf_slot_trigger(slot, left_as(slot, GF_GONE_OFF, GF_GONE_EMPTY));
		if (step->refused && gf_snapshot_gpu(slot->snap) &&
		    !gf_slot_trigger(slot, GF_INSERTED))
			gf_slot_gpu_came(slot);
	}
}

/* A worker that comes back after its deadline: nobody waits, only the slot. */
static void settle_late(struct gf_slot *slot)
{
	gf_assert_locked();
	dev_info(&slot->dev, "%s: the operation that was stuck has returned\n", slot->name);
	if (READ_ONCE(slot->dying) || !gf_snapshot_gpu(slot->snap))
		gf_slot_trigger(slot, left_as(slot, GF_BACK_OFF, GF_BACK_EMPTY));
	else if (!gf_slot_trigger(slot, GF_BACK_GPU))
		gf_slot_gpu_came(slot);
}

static enum gpufabric_activity activity_of(const struct gf_step *step)
{
	return step->need == GF_NEED_ATTACH ? GPUFABRIC_ACTIVITY_ATTACHING :
					      GPUFABRIC_ACTIVITY_DETACHING;
}

/* The worker has done what it could. Returns false when it will be queued again. */
static bool end_work(struct gf_step *step, const struct gf_failure *failure)
{
	struct gf_slot *slot = step->slot;

	guard(mutex)(&gf.lock);
	if (back_in_line(step))
		return false;
	leave_turns(step);
	gf_notify_choose(slot, NULL);
	slot->step = NULL;
	/* Another card has come in place of what was to go. */
	if (failure->cause == GPUFABRIC_CAUSE_CHANGED)
		gf_slot_holds(slot, GPUFABRIC_CONTENTS_UNKNOWN, NULL);
	if (step->expired) {
		settle_late(slot);
		gf_history_state(slot);
	} else {
		settle(step, failure);
		record(step);
		gf_step_ended(step);
	}
	/* Changes meanwhile were left to us; under the lock, so retiring the slot cancels it. */
	gf_slot_refresh(slot, 0);
	gf_sleep_worker(false);
	return true;
}

/* Worker of a step; holds a reference on the operation. */
void gf_step_run(struct work_struct *work)
{
	struct gf_step *step = container_of(work, struct gf_step, work);
	struct gf_slot *slot = step->slot;
	struct gf_op *op = step->op;
	struct gf_failure failure = {};
	u32 deadline = op->timeout_ms;

	step->start = ktime_get();
	if (step->need == GF_NEED_ATTACH)
		deadline += op->driver_timeout_ms;
	queue_delayed_work(system_unbound_wq, &step->watchdog, msecs_to_jiffies(deadline));
	/* Awake until all that is to be seen was seen. */
	pm_runtime_get_sync(&slot->port->dev);
	failure.activity = activity_of(step);
	if (step->need == GF_NEED_ATTACH)
		run_attach(step, &failure);
	else
		run_detach(step, &failure);
	if (!step->again)
		gf_notify_choose(slot, NULL);
	if (op->driver[0] && !step->occupied && (failure.error || READ_ONCE(step->expired)))
		gf_unbind_unchoose(slot, op->driver);
	pm_runtime_put(&slot->port->dev);
	cancel_delayed_work_sync(&step->watchdog);
	step->result.phase_us[GPUFABRIC_PHASE_TOTAL] = us_between(step->start, ktime_get());

	if (end_work(step, &failure))
		gf_op_put(op);
}

void gf_step_watchdog(struct work_struct *work)
{
	struct gf_step *step = container_of(work, struct gf_step, watchdog.work);
	struct gf_slot *slot = step->slot;
	struct gf_failure failure = {
		.cause = GPUFABRIC_CAUSE_TIMEOUT, .error = -ETIMEDOUT, .activity = activity_of(step)
	};
	const struct gf_function *gpu;

	gf_rescan_oldest(&failure.binding);
	guard(mutex)(&gf.lock);
	if (!step->running || step->expired)
		return;
	gpu = gf_snapshot_gpu(slot->snap);
	if (gpu) {
		strscpy(failure.address, gpu->address, sizeof(failure.address));
		strscpy(failure.driver, gpu->driver, sizeof(failure.driver));
	}
	leave_turns(step);
	step->expired = true;
	step->result.failure = failure;
	step->result.phase_us[GPUFABRIC_PHASE_TOTAL] = us_between(step->start, ktime_get());
	slot->last = step->result;
	/* While a worker is out, the slot changes by its step alone. */
	WARN_ON_ONCE(gf_slot_fail(slot, GF_EXPIRED, &failure));
	record(step);
	gf_step_ended(step);
}

/*
 * A removal waits for the additions. A GPU that was pulled and put in anew meanwhile was
 * announced as ready again, and nobody has drained it.
 */
static void refuse_step(struct gf_step *step)
{
	step->refused = true;
	fail(&step->result.failure, -ESTALE, GPUFABRIC_CAUSE_CHANGED);
	step->result.failure.activity = activity_of(step);
	step->slot->last = step->result;
	gf_history_step(step);
	gf_step_failed(step);
}

/* Nothing is known of how it will end. */
void gf_step_begin(struct gf_step *step)
{
	gf_assert_locked();
	step->result = (struct gf_result){
		.id = step->op->id, .kind = step->op->kind, .started = step->op->started,
	};
}

/* A slot whose state does not allow that is left alone, and the step has failed. */
void gf_step_launch(struct gf_step *step, enum gf_need need, bool undo)
{
	struct gf_slot *slot = step->slot;

	gf_assert_locked();
	step->need = need;
	gf_step_begin(step);
	/* The state changes, and is announced, with its operation in sight. */
	slot->step = step;
	if (gf_slot_trigger(slot, need == GF_NEED_ATTACH ? GF_ATTACH :
				  undo ? GF_UNDO : GF_DETACH)) {
		slot->step = NULL;
		refuse_step(step);
		return;
	}
	step->running = true;
	step->occupied = slot->snap && slot->snap->nr_functions;
	if (need == GF_NEED_ATTACH && step->op->driver[0])
		gf_notify_choose(slot, step->op->driver);
	gf_sleep_worker(true);
	step->op->pending++;
	kref_get(&step->op->ref);
	if (need != GF_NEED_ATTACH || enter_turns(step))
		queue_work(gf.work_wq, &step->work);
}
