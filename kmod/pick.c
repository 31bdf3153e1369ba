// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The slots that a request names
 *
 * Parses the slots that a request names, finds them, and judges each with the pure checks. Slots
 * are found, judged and changed under one hold of the fabric's lock, so what was judged is changed.
 */
#include <linux/slab.h>

#include "netlink.h"
#include "netlink_gen.h"
#include "snapshot.h"

static int find_slot(struct genl_info *info, const struct nlattr *attr,
		     struct nlattr **tb, struct gf_slot **slot)
{
	if (tb[GPUFABRIC_A_MEMBER_SLOT_ID])
		*slot = xa_load(&gf.slots, nla_get_u32(tb[GPUFABRIC_A_MEMBER_SLOT_ID]));
	else if (tb[GPUFABRIC_A_MEMBER_SLOT_NAME])
		*slot = gf_slot_find_name(nla_data(tb[GPUFABRIC_A_MEMBER_SLOT_NAME]));
	else
		return gf_refuse(info, attr, -EINVAL, "name each slot by slot-id or slot-name");
	if (!*slot || (tb[GPUFABRIC_A_MEMBER_SLOT_NAME] &&
		       strcmp((*slot)->name, nla_data(tb[GPUFABRIC_A_MEMBER_SLOT_NAME]))))
		return gf_refuse(info, attr, -ENOENT, "there is no such slot");
	if ((*slot)->request == gf.request)
		return gf_refuse(info, attr, -EINVAL, "the slot is named twice, name it once");
	(*slot)->request = gf.request;
	return 0;
}

static void parse_expect(struct nlattr **tb, struct gf_expect *expect)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(expect->ids.id); i++) {
		const struct nlattr *attr = tb[GPUFABRIC_A_MEMBER_EXPECT_VENDOR + i];

		if (!attr)
			continue;
		expect->mask |= BIT(i);
		expect->ids.id[i] = nla_get_u32(attr);
	}
}

/* The last attribute of a slot that means something: one that is attached may have all. */
static int last_of_meaning(struct genl_info *info, int type)
{
	switch (info->genlhdr->cmd) {
	case GPUFABRIC_CMD_ATTACH:
	case GPUFABRIC_CMD_COMPOSE:
	case GPUFABRIC_CMD_RESIZE:
		if (type == GPUFABRIC_A_MEMBER)
			return GPUFABRIC_A_MEMBER_ORDER;
		fallthrough;
	case GPUFABRIC_CMD_DETACH:
	case GPUFABRIC_CMD_RELEASE:
	case GPUFABRIC_CMD_DRAIN_ABORT:
		return GPUFABRIC_A_MEMBER_GENERATION;
	default:
		return GPUFABRIC_A_MEMBER_SLOT_NAME;
	}
}

static int parse_pick(struct genl_info *info, int type,
		      const struct nlattr *attr, struct gf_pick *pick)
{
	struct nlattr *tb[GPUFABRIC_A_MEMBER_ORDER + 1];
	int err, i;

	err = nla_parse_nested(tb, GPUFABRIC_A_MEMBER_ORDER, attr,
			       gpufabric_named_member_nl_policy, info->extack);
	if (err)
		return err;
	for (i = last_of_meaning(info, type) + 1; i <= GPUFABRIC_A_MEMBER_ORDER; i++) {
		if (tb[i])
			return gf_refuse(info, tb[i], -EINVAL,
					 "this command does not use this attribute of a slot");
	}
	pick->attr = attr;
	if (tb[GPUFABRIC_A_MEMBER_GENERATION]) {
		pick->generation = nla_get_u32(tb[GPUFABRIC_A_MEMBER_GENERATION]);
		pick->has_generation = true;
	}
	parse_expect(tb, &pick->expect);
	if (tb[GPUFABRIC_A_MEMBER_ORDER])
		pick->turn = nla_get_u32(tb[GPUFABRIC_A_MEMBER_ORDER]);
	return find_slot(info, attr, tb, &pick->slot);
}

/* Room for the slots that one attribute names; for none where that is 0. */
int gf_picks_alloc(struct genl_info *info, int type, struct gf_picks **picks)
{
	unsigned int count = 0;
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr), rem)
		count += nla_type(attr) == type;
	if (count > GPUFABRIC_MEMBERS_MAX)
		return gf_refuse(info, NULL, -E2BIG,
				 "too many slots, name at most 512 in one request");
	*picks = kvzalloc(struct_size(*picks, picks, count), GFP_KERNEL);
	if (!*picks)
		return -ENOMEM;
	(*picks)->named = count;
	return 0;
}

int gf_picks_parse(struct genl_info *info, int type, struct gf_picks *picks)
{
	struct nlattr *attr;
	int err, rem;

	gf_assert_locked();
	/* All that changes something comes along here. */
	if (gf.sleeping)
		return gf_refuse(info, NULL, -EBUSY,
				 "the system is going to sleep, try again when it is awake");
	nla_for_each_attr(attr, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr), rem) {
		if (nla_type(attr) != type)
			continue;
		err = parse_pick(info, type, attr, &picks->picks[picks->count]);
		if (err)
			return err;
		picks->count++;
	}
	return 0;
}

u32 gf_request_flags(struct genl_info *info)
{
	static const u8 type_of[] = {
		[GPUFABRIC_CMD_ATTACH] = GPUFABRIC_A_ATTACH_FLAGS,
		[GPUFABRIC_CMD_DETACH] = GPUFABRIC_A_DETACH_FLAGS,
		[GPUFABRIC_CMD_COMPOSE] = GPUFABRIC_A_COMPOSE_FLAGS,
		[GPUFABRIC_CMD_RESIZE] = GPUFABRIC_A_RESIZE_FLAGS,
		[GPUFABRIC_CMD_RELEASE] = GPUFABRIC_A_RELEASE_FLAGS,
		[GPUFABRIC_CMD_DRAIN_ABORT] = GPUFABRIC_A_DRAIN_ABORT_FLAGS,
	};
	const struct nlattr *attr = info->attrs[type_of[info->genlhdr->cmd]];

	return attr ? nla_get_u32(attr) : 0;
}

static enum gf_claim claim_of(struct genl_info *info, const struct gf_slot *slot,
			      const struct gf_composition *ours)
{
	if (!slot->composition)
		return GF_CLAIM_NONE;
	/* Powering a member of a composition again takes it from nobody. */
	if (info->genlhdr->cmd == GPUFABRIC_CMD_ATTACH &&
	    gf_request_flags(info) & GPUFABRIC_ATTACH_FLAG_FORCE)
		return GF_CLAIM_NONE;
	return slot->composition == ours ? GF_CLAIM_OURS : GF_CLAIM_OTHER;
}

/* Whether a GPU that is attached already is what a request to add it wants. */
static int judge_attached(struct genl_info *info, const struct gf_pick *pick)
{
	const struct nlattr *driver = info->attrs[GPUFABRIC_A_DRIVER];
	const struct gf_slot *slot = pick->slot;

	if (!gf_expect_met(&pick->expect, &slot->identity.ids))
		return gf_refuse(info, pick->attr, -EMEDIUMTYPE,
			      "the slot holds another GPU than the request expects");
	if (driver && !(slot->snap && gf_snapshot_bound(slot->snap, nla_data(driver))))
		return gf_refuse(info, pick->attr, -EBUSY,
			      "the GPU is attached without the requested driver, detach it first");
	return 0;
}

int gf_pick_judge(struct genl_info *info, struct gf_pick *pick,
		  const struct gf_composition *ours, gf_check_fn check)
{
	const struct gf_slot *slot = pick->slot;
	const struct gf_check known = {
		.state = slot->state, .flags = slot->flags, .foreign = slot->foreign,
		.claim = claim_of(info, slot, ours),
		/* A stuck slot has a worker out, but nobody waits for it. */
		.busy = slot->op || (slot->step && slot->state != GF_STATE_STUCK),
		.force = info->genlhdr->cmd == GPUFABRIC_CMD_DETACH &&
			 gf_request_flags(info) & GPUFABRIC_DETACH_FLAG_FORCE,
		.functions = slot->snap && slot->snap->nr_functions,
		.has_generation = pick->has_generation,
		.same_generation = pick->has_generation && pick->generation == slot->generation,
	};
	const char *why = NULL;
	int need;

	if (ours && check != gf_check_add && slot->composition != ours)
		return gf_refuse(info, pick->attr, -EINVAL, "the slot is not in this composition");
	need = check(&known, &why);
	if (need < 0)
		return gf_refuse(info, pick->attr, need, why);
	pick->need = need;
	/* What will be powered on is compared then, what is there now. */
	return check == gf_check_add && need == GF_NEED_NOTHING ? judge_attached(info, pick) : 0;
}

int gf_picks_judge(struct genl_info *info, struct gf_picks *picks,
		   const struct gf_composition *ours, gf_check_fn check)
{
	unsigned int i;
	int err;

	for (i = 0; i < picks->count; i++) {
		err = gf_pick_judge(info, &picks->picks[i], ours, check);
		if (err)
			return err;
	}
	return 0;
}

/* Refuses what was judged by windows that have changed since, or by numbers of another load. */
int gf_picks_check_stale(struct genl_info *info, const struct gf_picks *picks)
{
	const struct nlattr *attr = info->attrs[GPUFABRIC_A_JUDGED_AT];
	u64 at = attr ? nla_get_u64(attr) : 0;
	bool stale = attr && at > gf_notify_changes();
	unsigned int i;

	gf_assert_locked();
	for (i = 0; attr && i < picks->count; i++)
		stale |= picks->picks[i].need == GF_NEED_ATTACH &&
			 READ_ONCE(picks->picks[i].slot->sw->changed) > at;
	if (!stale)
		return 0;
	return gf_refuse(info, attr, -EAGAIN,
			 "stale: the fabric has changed since the request was judged, judge it again");
}
