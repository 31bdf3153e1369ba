// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Watching a GPU
 *
 * Nothing here removes a function. A GPU that stops answering is watched: what it is then is
 * decided in loss.c, and its functions stay, because only who took its link down knows for how
 * long. Where a slot driver removes them the GPU is gone at once.
 */
#include <linux/pci.h>

#include "composition.h"
#include "history.h"
#include "netlink.h"
#include "sight.h"
#include "slot.h"
#include "snapshot.h"

static unsigned int lost_ms = 3000;
module_param(lost_ms, uint, 0644);
MODULE_PARM_DESC(lost_ms, "Take a GPU for lost when it has not answered for so long in milliseconds; what is shorter is a flap (default 3000). One that the kernel recovers from an error has 20 times as long");

static void lose(struct gf_slot *slot, const struct gf_sight *sight)
{
	struct gf_failure failure = {
		.cause = sight->frozen ? GPUFABRIC_CAUSE_ERROR :
			 sight->link < 0 ? GPUFABRIC_CAUSE_PORT :
			 sight->link ? GPUFABRIC_CAUSE_ENUMERATE : GPUFABRIC_CAUSE_LINK,
	};

	slot->was_ready = slot->state != GF_STATE_ATTACHED;
	strscpy(failure.address, slot->snap->functions[slot->snap->gpu].address,
		sizeof(failure.address));
	gf_slot_fail(slot, GF_SURPRISE, &failure);
	gf_history_state(slot);
}

/* What it was before. */
static void come_back(struct gf_slot *slot)
{
	slot->flaps++;
	if (gf_slot_trigger(slot, GF_ANSWERED))
		return;
	if (slot->was_ready)
		gf_slot_trigger(slot, GF_BOUND);
	gf_history_state(slot);
}

static void find_reset(struct gf_slot *slot, const struct gf_sight *sight)
{
	gf_slot_befalls(slot, GF_FAIL, sight->same ? GPUFABRIC_CAUSE_RESET :
						     GPUFABRIC_CAUSE_REPLACED);
	gf_history_state(slot);
}

static void judge(struct gf_slot *slot, const struct gf_sight *sight)
{
	unsigned int wait_ms = READ_ONCE(lost_ms);
	enum gf_loss_verdict verdict;

	gf_assert_locked();
	verdict = gf_loss_judge(&slot->loss, sight, ktime_to_ms(ktime_get()), wait_ms);
	switch (verdict) {
	case GF_LOSS_NONE:
		/* Whether or not anybody polls. */
		if ((slot->loss.gone && !slot->loss.lost) || slot->loss.wiped || sight->busy)
			gf_slot_refresh_later(slot, wait_ms + 1);
		else if (slot->loss.frozen && !slot->loss.lost)
			gf_slot_refresh_later(slot, wait_ms * GF_RECOVERY_TIMES + 1);
		return;
	case GF_LOSS_FLAP:
		slot->flaps++;
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
		break;
	case GF_LOSS_LOST:
		lose(slot, sight);
		break;
	case GF_LOSS_BACK:
		come_back(slot);
		break;
	case GF_LOSS_RESET:
		find_reset(slot, sight);
		break;
	}
	/* The link, too, is another one than it was. */
	gf_slot_refresh_queue(slot);
}

/* The function to look at, NULL for none; the fabric's lock is held. */
static struct pci_dev *watched(const struct gf_slot *slot)
{
	gf_assert_locked();
	/* What is in a slot of another's is that one's business. */
	if (gf.sleeping || slot->retired || slot->step || !slot->snap ||
	    slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED ||
	    (!gf_state_has_gpu(slot->state) &&
	     slot->state != GF_STATE_LOST))
		return NULL;
	return slot->snap->pdev;
}

/*
 * See whether a slot's GPU is still what it was. For workers that have looked at the slot or do
 * so at a slow pace; called without locks.
 */
void gf_slot_watch(struct gf_slot *slot)
{
	struct gf_functions *card = NULL;
	struct gf_sight sight;
	struct pci_dev *gpu;
	u64 serial;

	mutex_lock(&gf.lock);
	gpu = watched(slot);
	if (gpu)
		card = gf_functions_get(slot->snap->card);
	serial = slot->identity.serial;
	mutex_unlock(&gf.lock);
	if (!gpu)
		return;
	if (!gf_port_hold(slot->port))
		goto out;
	gf_sight_read(slot, card, serial, &sight);
	gf_port_release(slot->port);
	mutex_lock(&gf.lock);
	if (watched(slot) == gpu) {
		judge(slot, &sight);
		/* The last look came at a bad time. */
		if (sight.known && !sight.partial && slot->snap->unread)
			gf_slot_refresh_queue(slot);
	}
	mutex_unlock(&gf.lock);
out:
	gf_functions_put(card);
}
