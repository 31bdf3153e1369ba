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
#include "pick.h"
#include "slot.h"
#include "stats.h"
#include "switch.h"

/* One part of a dump: the header, the sequence number, the object. */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    u8 command, const struct gf_reader *reader,
		    gf_fill_fn fill, const void *object)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				   cb->nlh->nlmsg_seq, &gf_family,
				   NLM_F_MULTI, command);

	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (nla_put_uint(skb, GPUFABRIC_A_SEQUENCE, gf.sequence) ||
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

/* Ids of objects rise along the array, and are those of a dump. */
static int dump_all(struct sk_buff *skb, struct netlink_callback *cb,
		    struct xarray *objects, u8 command, gf_fill_fn fill)
{
	struct gf_reader reader;
	const void *object;
	unsigned long id;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	xa_for_each_start(objects, id, object, cb->args[0]) {
		err = dump_one(skb, cb, command, &reader, fill, object);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_status_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	mutex_lock(&gf.lock);
	err = gf_reply(skb, info, gf_fill_status, NULL);
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[GPUFABRIC_A_ID];
	const struct gf_switch *sw;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, GPUFABRIC_A_ID))
		return gf_refuse(info, NULL, -EINVAL, "name a switch by its id");
	mutex_lock(&gf.lock);
	sw = gf_switch_find(nla_get_u32(id));
	err = sw ? gf_reply(skb, info, gf_fill_switch, sw) :
		   gf_refuse(info, id, -ENOENT, "there is no such switch");
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
			       gf_fill_switch, sw);
		if (err)
			break;
		cb->args[0] = sw->id;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_slot_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[GPUFABRIC_A_ID];
	const struct nlattr *name = info->attrs[GPUFABRIC_A_NAME];
	const struct gf_slot *slot;
	int err;

	if (!id && !name)
		return gf_refuse(info, NULL, -EINVAL, "name a slot by id or name");
	mutex_lock(&gf.lock);
	slot = id ? gf_slot_find(nla_get_u32(id)) :
		    gf_slot_find_name(nla_data(name));
	err = slot ? gf_reply(skb, info, gf_fill_slot, slot) :
		     gf_refuse(info, NULL, -ENOENT, "there is no such slot");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_slot_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	return dump_all(skb, cb, &gf.slots, GPUFABRIC_CMD_SLOT_GET,
			gf_fill_slot);
}

int gpufabric_nl_composition_get_doit(struct sk_buff *skb,
				      struct genl_info *info)
{
	const struct nlattr *id = info->attrs[GPUFABRIC_A_ID];
	const struct nlattr *name = info->attrs[GPUFABRIC_A_NAME];
	const struct gf_composition *composition;
	int err;

	if (!id && !name)
		return gf_refuse(info, NULL, -EINVAL,
				 "name a composition by id or name");
	mutex_lock(&gf.lock);
	composition = id ? gf_composition_find(nla_get_u32(id)) :
			   gf_composition_find_name(nla_data(name));
	err = composition ?
	      gf_reply(skb, info, gf_fill_composition, composition) :
	      gf_refuse(info, NULL, -ENOENT, "there is no such composition");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_composition_get_dumpit(struct sk_buff *skb,
					struct netlink_callback *cb)
{
	return dump_all(skb, cb, &gf.compositions,
			GPUFABRIC_CMD_COMPOSITION_GET, gf_fill_composition);
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
	err = newest ? gf_reply(skb, info, gf_fill_history, newest) :
		       gf_refuse(info, NULL, -ENOENT,
				 "nothing has happened to this slot yet");
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
				       &reader, gf_fill_history, entry);
		if (err)
			break;
		cb->args[0] = entry->sequence;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[GPUFABRIC_A_ID];
	const struct gf_histogram *histogram;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, GPUFABRIC_A_ID))
		return gf_refuse(info, NULL, -EINVAL,
				 "give the operation kind, attach or detach, as id");
	mutex_lock(&gf.lock);
	histogram = gf_stats_find(nla_get_u32(id), GPUFABRIC_PHASE_TOTAL);
	err = histogram ? gf_reply(skb, info, gf_fill_stats, histogram) :
			  gf_refuse(info, id, -ENOENT,
				    "only attach and detach have statistics");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_stats_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	const struct gf_histogram *histogram;
	struct gf_reader reader;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	while (!err && (histogram = gf_stats_at(cb->args[0]))) {
		if (histogram->count)
			err = dump_one(skb, cb, GPUFABRIC_CMD_STATS_GET,
				       &reader, gf_fill_stats, histogram);
		if (!err)
			cb->args[0]++;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}
