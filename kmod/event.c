// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Events
 *
 * Every change is announced once, under the fabric's lock and with a sequence
 * number that rises by one, so that events arrive in the order of the changes
 * and a listener sees a gap. Two groups carry them: monitor for everyone, and
 * private, with who and why, for CAP_SYS_ADMIN. An event that cannot be built
 * for want of memory still takes its number: the gap tells listeners to take
 * a new snapshot.
 */
#include <net/genetlink.h>

#include "compat.h"
#include "composition.h"
#include "event.h"
#include "fabric.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "op.h"
#include "slot.h"
#include "switch.h"

#define EVENT_SIZE_FIRST 2048
#define EVENT_SIZE_MAX (256 * 1024)

/**
 * struct gf_event - an event that is being announced
 * @kind: what it tells
 * @slot: slot that it is about, or NULL
 * @previous: state of @slot before
 * @sw: switch that it is about, or NULL
 * @composition: composition that it is about, or NULL
 * @op: operation that it is about, or NULL
 * @time: when, milliseconds since the epoch
 */
struct gf_event {
	enum gpufabric_event_kind kind;
	struct gf_slot *slot;
	enum gpufabric_slot_state previous;
	struct gf_switch *sw;
	struct gf_composition *composition;
	struct gf_op *op;
	u64 time;
};

static int fill_event(struct sk_buff *skb, const struct gf_reader *reader,
		      const struct gf_event *event)
{
	void *header = genlmsg_put(skb, 0, 0, &gf_family, 0,
				   GPUFABRIC_CMD_EVENT);

	if (!header)
		return -EMSGSIZE;
	if (nla_put_uint(skb, GPUFABRIC_A_SEQUENCE, gf.sequence) ||
	    nla_put_uint(skb, GPUFABRIC_A_TIME, event->time) ||
	    nla_put_u32(skb, GPUFABRIC_A_EVENT, event->kind) ||
	    (event->slot &&
	     (nla_put_u32(skb, GPUFABRIC_A_PREVIOUS, event->previous) ||
	      gf_fill_slot(skb, reader, event->slot))) ||
	    (event->sw && gf_fill_switch(skb, reader, event->sw)) ||
	    (event->composition &&
	     gf_fill_composition(skb, reader, event->composition)) ||
	    (event->op && gf_fill_op(skb, reader, event->op))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static struct sk_buff *build_event(const struct gf_reader *reader,
				   const struct gf_event *event)
{
	unsigned int size;

	for (size = EVENT_SIZE_FIRST; size <= EVENT_SIZE_MAX; size *= 2) {
		struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

		if (!skb)
			return NULL;
		if (!fill_event(skb, reader, event))
			return skb;
		nlmsg_free(skb);
	}
	return NULL;
}

static void send_to(unsigned int group, bool private,
		    const struct gf_event *event)
{
	const struct gf_reader reader = {
		.private = private,
		.pid_ns = &init_pid_ns,
	};
	struct sk_buff *skb;

	if (!genl_has_listeners(&gf_family, &init_net, group))
		return;
	skb = build_event(&reader, event);
	if (skb)
		genlmsg_multicast(&gf_family, skb, 0, group, GFP_KERNEL);
}

/* The family is registered; under the fabric's lock. */
static bool announcing;

/**
 * gf_event_enable() - begin or cease to send events
 * @on: the family is registered; when it ceases to be, this comes before
 *
 * The numbers of groups mean nothing, or somebody else's groups, without it.
 */
void gf_event_enable(bool on)
{
	mutex_lock(&gf.lock);
	announcing = on;
	mutex_unlock(&gf.lock);
}

static void announce(struct gf_event *event)
{
	gf_assert_locked();
	gf.sequence++;
	if (!announcing)
		return;
	event->time = gf_now_ms();
	send_to(GPUFABRIC_NLGRP_MONITOR, false, event);
	send_to(GPUFABRIC_NLGRP_PRIVATE, true, event);
}

/**
 * gf_event_slot() - announce a slot
 * @slot: slot
 * @kind: what happened
 * @previous: state that it had before
 */
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind,
		   enum gpufabric_slot_state previous)
{
	struct gf_event event = {
		.kind = kind, .slot = slot, .previous = previous,
	};

	announce(&event);
}

/**
 * gf_event_switch() - announce a switch
 * @sw: switch
 * @kind: what happened
 */
void gf_event_switch(struct gf_switch *sw, enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .sw = sw };

	announce(&event);
}

/**
 * gf_event_composition() - announce a composition
 * @composition: composition
 * @kind: what happened
 */
void gf_event_composition(struct gf_composition *composition,
			  enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .composition = composition };

	announce(&event);
}

/**
 * gf_event_operation() - announce the start or the end of an operation
 * @op: operation
 * @kind: what happened
 */
void gf_event_operation(struct gf_op *op, enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .op = op };

	announce(&event);
}
