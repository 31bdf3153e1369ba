// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: System sleep
 *
 * A host that goes to sleep suspends its devices under their locks, and an attach holds that of
 * its port's service for as long as a GPU's driver takes. So before user space is frozen requests
 * that change something are refused and what is under way is awaited; what does not end in time
 * keeps the host awake, because a device whose lock is held would hang it half-way.
 *
 * Workers that look are on a queue that is frozen with user space. What was seen before says
 * nothing about what is after: links were down, and perhaps are still.
 */
#include <linux/notifier.h>
#include <linux/sched/signal.h>
#include <linux/suspend.h>

#include "compat.h"
#include "op.h"

#define GF_SLEEP_WAIT_MS 15000

/* Woken when the last worker of an operation has come back. */
static DECLARE_WAIT_QUEUE_HEAD(sleep_wait);

void gf_sleep_worker(bool begins)
{
	gf_assert_locked();
	WRITE_ONCE(gf.nr_workers, gf.nr_workers + (begins ? 1 : -1));
	if (!gf.nr_workers)
		wake_up_all(&sleep_wait);
}

static void open_again(void)
{
	struct gf_slot *slot;
	unsigned long id;

	guard(mutex)(&gf.lock);
	gf.sleeping = false;
	xa_for_each(&gf.slots, id, slot) {
		slot->loss.gone = false;
		slot->loss.wiped = false;
		slot->loss.frozen = false;
		gf_slot_refresh(slot, 0);
	}
	gf_slot_watch_drains();
	gf_inventory_queue();
}

static void name_workers(void)
{
	struct gf_slot *slot;
	unsigned long id;

	guard(mutex)(&gf.lock);
	xa_for_each(&gf.slots, id, slot) {
		if (slot->step)
			dev_warn(&slot->dev, "the system cannot sleep: operation %llu has not ended %s of slot %s\n",
				 slot->step->op->id, slot->step->need == GF_NEED_ATTACH ?
				 "attach" : "detach", slot->name);
	}
}

static int close_for_sleep(void)
{
	long left;

	scoped_guard(mutex, &gf.lock)
		gf.sleeping = true;
	left = wait_event_killable_timeout(sleep_wait, !READ_ONCE(gf.nr_workers),
					   msecs_to_jiffies(GF_SLEEP_WAIT_MS));
	if (left > 0)
		return 0;
	if (!left)
		name_workers();
	open_again();
	return left ?: -EBUSY;
}

static int sleep_event(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		return notifier_from_errno(close_for_sleep());
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		open_again();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = { .notifier_call = sleep_event };

int gf_sleep_start(void)
{
	return register_pm_notifier(&sleep_notifier);
}

void gf_sleep_stop(void)
{
	unregister_pm_notifier(&sleep_notifier);
}
