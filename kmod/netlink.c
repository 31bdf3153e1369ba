// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The generic netlink family
 *
 * Policies and the table of commands are generated from the spec. Commands run in parallel; the
 * fabric's lock serialises what they touch. Reads are open to everyone in the initial network
 * namespace. By the spec everything else asks here, in one place, for CAP_SYS_ADMIN in the
 * initial user namespace, of the sender and of the socket's opener alike.
 *
 * Replies and dumps come from what workers have found; no read ever waits for hardware or for the
 * rescan lock. A dump goes by id, and inside of a slot by the place of a part, so it resumes
 * where the last buffer was full even when objects came or went meanwhile; if anything at all
 * changed, its parts carry NLM_F_DUMP_INTR and the reader starts over.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "composition.h"
#include "history.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "slot.h"
#include "stats.h"
#include "switch.h"

#define REPLY_SIZE_FIRST 2048
#define REPLY_SIZE_MAX (256 * 1024)
/* An operation and a composition with the longest texts. */
#define REPLY_SIZE_CHANGE (1536 + GPUFABRIC_ANNOTATION_MAX)
/* A member: its nest, two numbers and the longest name. */
#define REPLY_SIZE_MEMBER (3 * NLA_HDRLEN + 2 * sizeof(u32) + \
			   NLA_ALIGN(NLA_HDRLEN + GPUFABRIC_SLOT_NAME_MAX + 1))

int gpufabric_nl_admin_doit(const struct genl_split_ops *ops,
			    struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack, "changing the fabric needs CAP_SYS_ADMIN, run as root");
	return -EPERM;
}

static const struct genl_multicast_group groups[] = {
	[GPUFABRIC_NLGRP_MONITOR] = { .name = GPUFABRIC_MCGRP_MONITOR },
	[GPUFABRIC_NLGRP_PRIVATE] = {
		.name = GPUFABRIC_MCGRP_PRIVATE,
		.flags = GENL_MCAST_CAP_SYS_ADMIN,
	},
};

struct genl_family gf_family __ro_after_init = {
	.name = GPUFABRIC_FAMILY_NAME,
	.version = GPUFABRIC_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = false,
	.parallel_ops = true,
	.resv_start_op = GPUFABRIC_CMD_STATUS_GET,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/**
 * gf_refuse() - say why a request is refused
 * @info: the request, parsed
 * @attr: attribute that it is about, or NULL
 * @error: a negative errno
 * @text: text that stays; the macros of the netlink core take literals only
 *
 * Return: @error.
 */
int gf_refuse(struct genl_info *info, const struct nlattr *attr, int error, const char *text)
{
	if (info->extack) {
		info->extack->_msg = text;
		info->extack->bad_attr = attr;
	}
	return error;
}

/*
 * What the sender of a request may read. In the sender's context, which is that of each part of a
 * dump too.
 */
static void reader_of(struct gf_reader *reader, struct sk_buff *request)
{
	/* Who may not is no denial to be written down: most readers may not. */
	reader->private = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) &&
			  netlink_capable(request, CAP_SYS_ADMIN);
	reader->pid_ns = task_active_pid_ns(current);
}

static int fill_reply(struct sk_buff *skb, struct genl_info *info,
		      const struct gf_reader *reader, gf_fill_fn fill, const void *object)
{
	void *header = genlmsg_put_reply(skb, info, &gf_family, 0, info->genlhdr->cmd);

	if (!header)
		return -EMSGSIZE;
	if (gf_fill_number(skb) || fill(skb, reader, object))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return 0;
}

/* Answer a request that changes nothing; under the fabric's lock. */
static int answer(struct sk_buff *request, struct genl_info *info,
		  gf_fill_fn fill, const void *object)
{
	struct gf_reader reader;
	unsigned int size;

	reader_of(&reader, request);
	for (size = REPLY_SIZE_FIRST; size <= REPLY_SIZE_MAX; size *= 2) {
		struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

		if (!skb)
			return -ENOMEM;
		if (!fill_reply(skb, info, &reader, fill, object))
			return genlmsg_reply(skb, info);
		nlmsg_free(skb);
	}
	return -EMSGSIZE;
}

/*
 * Memory for the answer to a request that changes something, which names as many slots, for
 * gf_reply_send() or nlmsg_free(); NULL without memory. Whoever hears of an error must be able to
 * rely on nothing having happened, so this comes before anything is changed.
 */
struct sk_buff *gf_reply_alloc(unsigned int slots)
{
	return genlmsg_new(REPLY_SIZE_CHANGE + slots * REPLY_SIZE_MEMBER, GFP_KERNEL);
}

/**
 * gf_reply_send() - answer a request that was carried out
 * @reply: memory for the answer, used up
 * @request: the request as it came
 * @info: the request, parsed
 * @fill: puts the object
 * @object: the object
 *
 * Under the fabric's lock. A client whose socket takes no more has to look for
 * itself: the request was carried out, and no error may say otherwise.
 */
void gf_reply_send(struct sk_buff *reply, struct sk_buff *request,
		   struct genl_info *info, gf_fill_fn fill, const void *object)
{
	struct gf_reader reader;

	gf_assert_locked();
	reader_of(&reader, request);
	if (WARN_ON_ONCE(fill_reply(reply, info, &reader, fill, object)))
		nlmsg_free(reply);
	else
		genlmsg_reply(reply, info);
}

/* One part of a dump: the header, the sequence number, the object. */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    u8 command, const struct gf_reader *reader, gf_fill_fn fill, const void *object)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &gf_family,
				   NLM_F_MULTI, command);

	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (gf_fill_number(skb) || fill(skb, reader, object)) {
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
	reader_of(reader, cb->skb);
	/* Any event is a change; 0 stands for "no check" and is left out. */
	cb->seq = ((u32)gf.sequence + gf.inventory) | 1U << 31;
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
	err = answer(skb, info, gf_fill_status, NULL);
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
	err = sw ? answer(skb, info, gf_fill_switch, sw) :
		   gf_refuse(info, id, -ENOENT, "there is no such switch");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_switch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
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
		err = dump_one(skb, cb, GPUFABRIC_CMD_SWITCH_GET, &reader, gf_fill_switch, sw);
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
	slot = id ? gf_slot_find(nla_get_u32(id)) : gf_slot_find_name(nla_data(name));
	err = slot ? answer(skb, info, gf_fill_slot, slot) :
		     gf_refuse(info, NULL, -ENOENT, "there is no such slot");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_slot_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_all(skb, cb, &gf.slots, GPUFABRIC_CMD_SLOT_GET, gf_fill_slot);
}

/* Parts of all objects, or of one: object after object, and the parts of each in order. */
static int dump_parts(struct sk_buff *skb, struct netlink_callback *cb, struct xarray *objects,
		      u8 command, gf_fill_fn fill)
{
	struct nlattr **attrs = gf_dump_attrs(genl_dumpit_info(cb));
	u32 only = attrs && attrs[GPUFABRIC_A_ID] ? nla_get_u32(attrs[GPUFABRIC_A_ID]) : 0;
	struct gf_reader reader;
	struct gf_part part;
	unsigned long id;
	int err = 0;

	mutex_lock(&gf.lock);
	dump_begin(cb, &reader);
	xa_for_each_start(objects, id, part.of, max_t(unsigned long, only, cb->args[0])) {
		if (only && id != only)
			break;
		/* What it stopped in may have gone. */
		part.index = id == cb->args[0] ? cb->args[1] : 0;
		for (; part.index < gf_part_count(part.of, command); part.index++) {
			err = dump_one(skb, cb, command, &reader, fill, &part);
			if (err)
				break;
		}
		cb->args[0] = err ? id : id + 1;
		cb->args[1] = err ? part.index : 0;
		if (err)
			break;
	}
	mutex_unlock(&gf.lock);
	return dump_result(skb, err);
}

int gpufabric_nl_function_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_parts(skb, cb, &gf.slots, GPUFABRIC_CMD_FUNCTION_GET, gf_fill_function);
}

int gpufabric_nl_window_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_parts(skb, cb, &gf.slots, GPUFABRIC_CMD_WINDOW_GET, gf_fill_window);
}

int gpufabric_nl_need_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_parts(skb, cb, &gf.slots, GPUFABRIC_CMD_NEED_GET, gf_fill_need);
}

int gpufabric_nl_member_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_parts(skb, cb, &gf.compositions, GPUFABRIC_CMD_MEMBER_GET, gf_fill_membership);
}

int gpufabric_nl_composition_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[GPUFABRIC_A_ID];
	const struct nlattr *name = info->attrs[GPUFABRIC_A_NAME];
	const struct gf_composition *composition;
	int err;

	if (!id && !name)
		return gf_refuse(info, NULL, -EINVAL, "name a composition by id or name");
	mutex_lock(&gf.lock);
	composition = id ? gf_composition_find(nla_get_u32(id)) :
			   gf_composition_find_name(nla_data(name));
	err = composition ?
	      answer(skb, info, gf_fill_composition, composition) :
	      gf_refuse(info, NULL, -ENOENT, "there is no such composition");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_composition_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_all(skb, cb, &gf.compositions,
			GPUFABRIC_CMD_COMPOSITION_GET, gf_fill_composition);
}

static bool is_about(const struct gf_history_entry *entry, u32 id, const char *name)
{
	return (!id || entry->slot_id == id) && (!name || !strcmp(entry->slot_name, name));
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
	err = newest ? answer(skb, info, gf_fill_history, newest) :
		       gf_refuse(info, NULL, -ENOENT, "nothing has happened to this slot yet");
	mutex_unlock(&gf.lock);
	return err;
}

int gpufabric_nl_history_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
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

int gpufabric_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
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

static int socket_closed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct netlink_notify *notify = data;

	if (action != NETLINK_URELEASE ||
	    notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net))
		return NOTIFY_DONE;
	mutex_lock(&gf.lock);
	gf_slot_port_closed(notify->portid);
	gf_composition_port_closed(notify->portid);
	mutex_unlock(&gf.lock);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_closed,
};

int __init gf_netlink_start(void)
{
	int err;

	err = netlink_register_notifier(&socket_notifier);
	if (err)
		return err;
	err = gf_register_split(&gf_family, gpufabric_nl_ops, ARRAY_SIZE(gpufabric_nl_ops));
	if (err) {
		netlink_unregister_notifier(&socket_notifier);
		return err;
	}
	gf_event_enable(true);
	return 0;
}

void gf_netlink_stop(void)
{
	gf_event_enable(false);
	genl_unregister_family(&gf_family);
	netlink_unregister_notifier(&socket_notifier);
}
