// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Reading
 *
 * Replies and dumps come from what workers have found; no read ever waits for
 * hardware or for the rescan lock. A dump goes by id, so it resumes where the
 * last buffer was full even when objects came or went meanwhile; if anything
 * at all changed, its parts carry NLM_F_DUMP_INTR and the reader starts over.
 */
#include <net/genetlink.h>

#include "compat.h"
#include "composition.h"
#include "history.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "slot.h"
#include "stats.h"
#include "switch.h"

static int fill_any_slot(struct sk_buff *skb, const struct gf_reader *reader,
			 void *object)
{
	return gf_fill_slot(skb, reader, object);
}

static int fill_any_switch(struct sk_buff *skb,
			   const struct gf_reader *reader, void *object)
{
	return gf_fill_switch(skb, reader, object);
}

static int fill_any_composition(struct sk_buff *skb,
				const struct gf_reader *reader, void *object)
{
	return gf_fill_composition(skb, reader, object);
}

static int fill_any_history(struct sk_buff *skb,
			    const struct gf_reader *reader, void *object)
{
	return gf_fill_history(skb, reader, object);
}

static int fill_any_status(struct sk_buff *skb,
			   const struct gf_reader *reader, void *object)
{
	return gf_fill_status(skb);
}

static int fill_total_stats(struct sk_buff *skb,
			    const struct gf_reader *reader, void *object)
{
	const enum gpufabric_operation_kind *kind = object;

	return gf_fill_stats(skb, *kind, GPUFABRIC_PHASE_TOTAL);
}

/* One part of a dump: the header, the sequence number, the object. */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    u8 command, const struct gf_reader *reader,
		    gf_fill_fn fill, void *object)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				   cb->nlh->nlmsg_seq, &gf_family,
				   NLM_F_MULTI, command);

	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (nla_put_u64_64bit(skb, GPUFABRIC_A_SEQUENCE, gf.sequence,
			      GPUFABRIC_A_PAD) ||
	    fill(skb, reader, object)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* What a part of a dump returns: go on, or the object is too big for any. */
static int dump_result(struct sk_buff *skb, int err)
{
	return err && !skb->len ? err : skb->len;
}

static void dump_begin(struct netlink_callback *cb, struct gf_reader *reader)
{
	gf_reader_of(reader, cb->skb);
	/* Any event is a change; 0 stands for "no check" and is left out. */
	cb->seq = (u32)gf.sequence | 1U << 31;
}

int gpufabric_nl_status_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	if (info->attrs[GPUFABRIC_A_FLAGS] &&
	    nla_get_u32(info->attrs[GPUFABRIC_A_FLAGS])) {
		gf_refuse(info->extack, info->attrs[GPUFABRIC_A_FLAGS],
			  "no flag has a meaning here, leave them out");
		return -EINVAL;
	}
	mutex_lock(&gf.lock);
	err = gf_reply(skb, info, fill_any_status, NULL);
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct gf_switch *sw;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, GPUFABRIC_A_ID)) {
		gf_refuse(info->extack, NULL, "name a switch by its id");
		return -EINVAL;
	}
	mutex_lock(&gf.lock);
	sw = gf_switch_find(nla_get_u32(info->attrs[GPUFABRIC_A_ID]));
	if (sw) {
		err = gf_reply(skb, info, fill_any_switch, sw);
	} else {
		gf_refuse(info->extack, info->attrs[GPUFABRIC_A_ID],
			  "no such switch, see gpuctl topo");
		err = -ENOENT;
	}
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_switch_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb)
{
	struct gf_reader reader;
	struct gf_switch *sw;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	/* Ids rise along the list. */
	list_for_each_entry(sw, &gf.switches, list) {
		if (sw->id <= cb->args[0])
			continue;
		err = dump_one(skb, cb, GPUFABRIC_CMD_SWITCH_GET, &reader,
			       fill_any_switch, sw);
		if (err)
			break;
		cb->args[0] = sw->id;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

static struct gf_slot *slot_asked_for(struct nlattr **attrs)
{
	if (attrs[GPUFABRIC_A_ID])
		return gf_slot_find(nla_get_u32(attrs[GPUFABRIC_A_ID]));
	return gf_slot_find_name(nla_data(attrs[GPUFABRIC_A_NAME]));
}

int gpufabric_nl_slot_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct gf_slot *slot;
	int err;

	if (!info->attrs[GPUFABRIC_A_ID] && !info->attrs[GPUFABRIC_A_NAME]) {
		gf_refuse(info->extack, NULL, "name a slot by id or name");
		return -EINVAL;
	}
	mutex_lock(&gf.lock);
	slot = slot_asked_for(info->attrs);
	if (slot) {
		err = gf_reply(skb, info, fill_any_slot, slot);
	} else {
		gf_refuse(info->extack, NULL, "no such slot, see gpuctl list");
		err = -ENOENT;
	}
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_slot_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct gf_reader reader;
	struct gf_slot *slot;
	unsigned long id;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	xa_for_each_start(&gf.slots, id, slot, cb->args[0]) {
		err = dump_one(skb, cb, GPUFABRIC_CMD_SLOT_GET, &reader,
			       fill_any_slot, slot);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_composition_get_doit(struct sk_buff *skb,
				      struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct gf_composition *composition;
	int err;

	if (!attrs[GPUFABRIC_A_ID] && !attrs[GPUFABRIC_A_NAME]) {
		gf_refuse(info->extack, NULL,
			  "name a composition by id or name");
		return -EINVAL;
	}
	mutex_lock(&gf.lock);
	if (attrs[GPUFABRIC_A_ID])
		composition =
			gf_composition_find(nla_get_u32(attrs[GPUFABRIC_A_ID]));
	else
		composition =
			gf_composition_find_name(nla_data(attrs[GPUFABRIC_A_NAME]));
	if (composition) {
		err = gf_reply(skb, info, fill_any_composition, composition);
	} else {
		gf_refuse(info->extack, NULL,
			  "no such composition, see gpuctl list");
		err = -ENOENT;
	}
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_composition_get_dumpit(struct sk_buff *skb,
					struct netlink_callback *cb)
{
	struct gf_composition *composition;
	struct gf_reader reader;
	unsigned long id;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	xa_for_each_start(&gf.compositions, id, composition, cb->args[0]) {
		err = dump_one(skb, cb, GPUFABRIC_CMD_COMPOSITION_GET, &reader,
			       fill_any_composition, composition);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

static bool is_about(const struct gf_history_entry *entry, u32 id,
		     const char *name)
{
	return (!id || entry->slot_id == id) &&
	       (!name || !strcmp(entry->slot_name, name));
}

int gpufabric_nl_history_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct gf_history_entry *entry, *newest = NULL;
	const char *name = NULL;
	u64 sequence;
	u32 id = 0;
	int err;

	if (info->attrs[GPUFABRIC_A_ID])
		id = nla_get_u32(info->attrs[GPUFABRIC_A_ID]);
	if (info->attrs[GPUFABRIC_A_NAME])
		name = nla_data(info->attrs[GPUFABRIC_A_NAME]);
	mutex_lock(&gf.lock);
	for (sequence = gf_history_last(); sequence && !newest; sequence--) {
		entry = gf_history_at(sequence);
		if (entry->sequence != sequence)
			break;
		if (is_about(entry, id, name))
			newest = entry;
	}
	if (newest) {
		err = gf_reply(skb, info, fill_any_history, (void *)newest);
	} else {
		gf_refuse(info->extack, NULL,
			  "nothing has happened to this slot yet");
		err = -ENOENT;
	}
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_history_get_dumpit(struct sk_buff *skb,
				    struct netlink_callback *cb)
{
	const struct genl_dumpit_info *info = genl_dumpit_info(cb);
	struct nlattr **attrs = gf_dump_attrs(info);
	const struct gf_history_entry *entry;
	const char *name = NULL;
	struct gf_reader reader;
	u32 id = 0;
	int err = 0;

	if (attrs && attrs[GPUFABRIC_A_ID])
		id = nla_get_u32(attrs[GPUFABRIC_A_ID]);
	if (attrs && attrs[GPUFABRIC_A_NAME])
		name = nla_data(attrs[GPUFABRIC_A_NAME]);
	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	while ((entry = gf_history_at(cb->args[0] + 1))) {
		if (is_about(entry, id, name))
			err = dump_one(skb, cb, GPUFABRIC_CMD_HISTORY_GET,
				       &reader, fill_any_history,
				       (void *)entry);
		if (err)
			break;
		cb->args[0] = entry->sequence;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	enum gpufabric_operation_kind kind;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, GPUFABRIC_A_ID)) {
		gf_refuse(info->extack, NULL,
			  "give the operation kind, attach or detach, as id");
		return -EINVAL;
	}
	kind = nla_get_u32(info->attrs[GPUFABRIC_A_ID]);
	mutex_lock(&gf.lock);
	if (gf_stats_get(kind, GPUFABRIC_PHASE_TOTAL)) {
		err = gf_reply(skb, info, fill_total_stats, &kind);
	} else {
		gf_refuse(info->extack, info->attrs[GPUFABRIC_A_ID],
			  "only attach and detach have statistics");
		err = -ENOENT;
	}
	mutex_unlock(&gf.lock);
	return err;
}

static int fill_phase_stats(struct sk_buff *skb,
			    const struct gf_reader *reader, void *object)
{
	unsigned long index = *(unsigned long *)object;

	return gf_fill_stats(skb, gf_stats_kind(index / GF_PHASES),
			     index % GF_PHASES);
}

int gpufabric_nl_stats_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	unsigned long index, end = gf_stats_kinds() * GF_PHASES;
	struct gf_reader reader;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	for (index = cb->args[0]; index < end && !err; index++) {
		if (!gf_stats_get(gf_stats_kind(index / GF_PHASES),
				  index % GF_PHASES)->count)
			continue;
		err = dump_one(skb, cb, GPUFABRIC_CMD_STATS_GET, &reader,
			       fill_phase_stats, &index);
		if (err)
			break;
	}
	cb->args[0] = index;
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}
