// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Requests that are over at once
 *
 * Drain, its abort, and clear change states and nothing else: no hardware is
 * touched, so there is nothing to wait for. A drain is the first half of a
 * removal. It is announced, bounded by a deadline and bound to the socket that
 * asked, and the generation that it returns is the ticket for the second half.
 * The operation that is accepted with it owns the slot: from then on nothing of
 * this ends the drain but the operation.
 */
#include <linux/slab.h>
#include <net/genetlink.h>

#include "event.h"
#include "history.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "pick.h"

static int fill_picks(struct sk_buff *skb, const struct gf_reader *reader,
		      const void *object)
{
	const struct gf_picks *picks = object;
	unsigned int i;

	for (i = 0; i < picks->count; i++) {
		if (gf_fill_member(skb, picks->picks[i].slot))
			return -EMSGSIZE;
	}
	return 0;
}

/* Requests that are over at once: parse, judge, change each slot, answer. */
static int change_at_once(struct sk_buff *skb, struct genl_info *info,
			  enum gpufabric_operation_kind kind, gf_check_fn check,
			  void (*change)(struct gf_slot *slot,
					 struct genl_info *info))
{
	struct gf_picks *picks = gf_picks_alloc(info, GPUFABRIC_A_MEMBER);
	struct sk_buff *reply = NULL;
	struct gf_who who;
	unsigned int i;
	int err;

	if (IS_ERR(picks))
		return PTR_ERR(picks);
	gf_who_current(&who, info->snd_portid, gf_request_reason(info));
	mutex_lock(&gf.lock);
	gf.request++;
	err = gf_picks_parse(info, GPUFABRIC_A_MEMBER, picks);
	if (!err && !picks->count)
		err = gf_refuse(info, NULL, -EINVAL, "name at least one slot");
	if (!err)
		err = gf_picks_judge(info, picks, NULL, check);
	if (!err) {
		reply = gf_reply_alloc(picks->count);
		err = reply ? 0 : -ENOMEM;
	}
	for (i = 0; !err && i < picks->count; i++) {
		change(picks->picks[i].slot, info);
		gf_history_request(picks->picks[i].slot, kind, &who);
	}
	if (!err)
		gf_reply_send(reply, skb, info, fill_picks, picks);
	mutex_unlock(&gf.lock);
	gf_who_drop(&who);
	kvfree(picks);
	return err;
}

static void start_drain(struct gf_slot *slot, struct genl_info *info)
{
	u32 timeout = GF_TIMEOUT_MS;

	if (info->attrs[GPUFABRIC_A_TIMEOUT])
		timeout = nla_get_u32(info->attrs[GPUFABRIC_A_TIMEOUT]);
	slot->drain_port = info->snd_portid;
	slot->drain_deadline = gf_clock_ms() + timeout;
	slot->drain_end = jiffies + msecs_to_jiffies(timeout);
	gf_slot_trigger(slot, GF_DRAIN);
	mod_delayed_work(gf.scan_wq, &slot->drain_work,
			 msecs_to_jiffies(timeout) + 1);
}

int gpufabric_nl_drain_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_at_once(skb, info, GPUFABRIC_OPERATION_KIND_DRAIN,
			      gf_check_drain, start_drain);
}

static int check_abort(const struct gf_check *slot, const char **why)
{
	if (slot->busy) {
		*why = "an operation is under way on this slot, wait for it to end";
		return -EBUSY;
	}
	if (slot->state == GPUFABRIC_SLOT_STATE_DRAINING)
		return GF_NEED_NOTHING;
	*why = "the slot is not being drained, there is nothing to take back";
	return -EINVAL;
}

static void end_drain(struct gf_slot *slot, struct genl_info *info)
{
	gf_slot_trigger(slot, GF_DRAIN_ABORT);
}

int gpufabric_nl_drain_abort_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_at_once(skb, info, GPUFABRIC_OPERATION_KIND_DRAIN_ABORT,
			      check_abort, end_drain);
}

static void clear_slot(struct gf_slot *slot, struct genl_info *info)
{
	/* Clearing a fault is no proof of health: only the last resort resets. */
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		slot->strikes = 0;
	slot->flags &= ~GPUFABRIC_SLOT_FLAG_QUARANTINED;
	if (!gf_slot_trigger(slot, GF_CLEAR) && slot->presence)
		gf_slot_trigger(slot, GF_PRESENT);
	gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot->state);
	gf_slot_refresh_queue(slot);
}

int gpufabric_nl_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_at_once(skb, info, GPUFABRIC_OPERATION_KIND_CLEAR,
			      gf_check_clear, clear_slot);
}
