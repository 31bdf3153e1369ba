// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The generic netlink family
 *
 * Policies and commands are generated from the spec. Reads are open to everyone in the initial
 * network namespace; all else needs CAP_SYS_ADMIN in the initial user namespace, of the sender
 * and of the socket's opener alike. No read waits for hardware or for the rescan lock.
 *
 * A dump goes by id, and inside of a slot by the place of a part, so it resumes where the last
 * buffer was full even when objects came or went meanwhile; if anything at all changed, its parts
 * carry NLM_F_DUMP_INTR and the reader starts over.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "netlink.h"
#include "netlink_gen.h"

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
		.name = GPUFABRIC_MCGRP_PRIVATE, .flags = GENL_MCAST_CAP_SYS_ADMIN,
	},
};

struct genl_family gf_family __ro_after_init = {
	.name = GPUFABRIC_FAMILY_NAME, .version = GPUFABRIC_FAMILY_VERSION,
	.module = THIS_MODULE, .parallel_ops = true, .resv_start_op = GPUFABRIC_CMD_STATUS_GET,
	.mcgrps = groups, .n_mcgrps = ARRAY_SIZE(groups),
};

/* Say why a request is refused. @text stays; macros of the netlink core take literals only. */
int gf_refuse(struct genl_info *info, const struct nlattr *attr, int error, const char *text)
{
	if (info->extack) {
		info->extack->_msg = text;
		info->extack->bad_attr = attr;
	}
	return error;
}

/* What the sender of a request may read; in its context, as each part of a dump is. */
static void reader_of(struct gf_reader *reader, struct sk_buff *request)
{
	/* Who may not is no denial to be written down: most readers may not. */
	reader->private = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) &&
			  netlink_capable(request, CAP_SYS_ADMIN);
	reader->pid_ns = task_active_pid_ns(current);
}

/*
 * Memory for the answer to a request that changes something, which names as many slots, for
 * gf_reply_send() or nlmsg_free(); NULL without memory. Whoever hears of an error must be able to
 * rely on nothing having happened, so this comes before anything is changed.
 */
struct sk_buff *gf_reply_alloc(unsigned int slots)
{
	return genlmsg_new(GF_MESSAGE_SIZE + slots * REPLY_SIZE_MEMBER, GFP_KERNEL);
}

/*
 * Answer a request that was carried out; uses up @reply. A client whose socket takes no more has
 * to look for itself: the request was carried out, and no error may say otherwise.
 */
int gf_reply_send(struct sk_buff *reply, struct sk_buff *request,
		  struct genl_info *info, gf_fill_fn *fill, const void *object)
{
	void *header = genlmsg_put_reply(reply, info, &gf_family, 0, info->genlhdr->cmd);
	struct gf_reader reader;

	gf_assert_locked();
	reader_of(&reader, request);
	if (WARN_ON_ONCE(!header || gf_fill_number(reply) || fill(reply, &reader, object))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

/* Answer a request that changes nothing; under the fabric's lock. */
static int answer(struct sk_buff *request, struct genl_info *info,
		  gf_fill_fn *fill, const void *object)
{
	struct sk_buff *reply = gf_reply_alloc(0);

	return reply ? gf_reply_send(reply, request, info, fill, object) : -ENOMEM;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct gf_reader *reader, gf_fill_fn *fill, const void *object)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &gf_family,
				   NLM_F_MULTI, request->cmd);

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

/* What a command tells of: objects, or the parts of each. */
static const struct {
	struct xarray *objects; /* by ids, or NULL where others have them */
	gf_fill_fn *fill;
	bool parts;
} told[] = {
	[GPUFABRIC_CMD_STATUS_GET] = { NULL, gf_fill_status },
	[GPUFABRIC_CMD_SWITCH_GET] = { &gf.switches, gf_fill_switch },
	[GPUFABRIC_CMD_SLOT_GET] = { &gf.slots, gf_fill_slot },
	[GPUFABRIC_CMD_FUNCTION_GET] = { &gf.slots, gf_fill_function, true },
	[GPUFABRIC_CMD_NEED_GET] = { &gf.slots, gf_fill_need, true },
	[GPUFABRIC_CMD_COMPOSITION_GET] = { &gf.compositions, gf_fill_composition },
	[GPUFABRIC_CMD_MEMBER_GET] = { &gf.compositions, gf_fill_membership, true },
	[GPUFABRIC_CMD_HISTORY_GET] = { NULL, gf_fill_history },
	[GPUFABRIC_CMD_STATS_GET] = { NULL, gf_fill_stats },
};

/* The first object from @at on, of those by ids only @id if it is not 0; its place becomes @at. */
static const void *object_from(u8 command, u32 id, unsigned long *at)
{
	switch (command) {
	case GPUFABRIC_CMD_STATUS_GET:
		return *at ? NULL : &gf;
	case GPUFABRIC_CMD_STATS_GET:
		return gf_stats_at(at);
	case GPUFABRIC_CMD_HISTORY_GET:
		return gf_history_at(at);
	default:
		*at = max_t(unsigned long, id, *at);
		return xa_find(told[command].objects, at, id ?: ULONG_MAX, XA_PRESENT);
	}
}

/* Whether an object is what a request asks for: 0 and NULL stand for any. */
static bool is_about(u8 command, const void *object, u32 id, const char *name)
{
	const struct gf_history_entry *entry = object;
	const struct gf_composition *composition = object;
	const struct gf_slot *slot = object;

	switch (command) {
	case GPUFABRIC_CMD_HISTORY_GET:
		return (!id || entry->slot_id == id) && (!name || !strcmp(entry->slot_name, name));
	case GPUFABRIC_CMD_SLOT_GET:
		return !name || !strcmp(slot->name, name);
	case GPUFABRIC_CMD_COMPOSITION_GET:
		return !name || !strcmp(composition->name, name);
	default:
		return true;
	}
}

/* The first object from @at on that a request asks for. */
static const void *next_object(const struct nlmsghdr *request, u8 command, unsigned long *at)
{
	const struct nlattr *id = nlmsg_find_attr(request, GENL_HDRLEN, GPUFABRIC_A_ID);
	const struct nlattr *name = nlmsg_find_attr(request, GENL_HDRLEN, GPUFABRIC_A_NAME);
	u32 only = id ? nla_get_u32(id) : 0;
	const void *object;

	for (; (object = object_from(command, only, at)); ++*at) {
		if (is_about(command, object, only, name ? nla_data(name) : NULL))
			break;
	}
	return object;
}

/* Of history the last one, of all else the only one. */
int gpufabric_nl_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = nlmsg_find_attr(info->nlhdr, GENL_HDRLEN, GPUFABRIC_A_ID);
	const struct nlattr *name = nlmsg_find_attr(info->nlhdr, GENL_HDRLEN, GPUFABRIC_A_NAME);
	const void *object, *found = NULL;
	u8 command = info->genlhdr->cmd;
	unsigned long at = 0;

	/* An object has an id from 1 on; 0 would stand for any, and the last one be told. */
	if (told[command].objects && !(id && nla_get_u32(id)) && !name) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, GPUFABRIC_A_ID);
		return gf_refuse(info, NULL, -EINVAL, "name what to get, by its id or name");
	}
	guard(mutex)(&gf.lock);
	for (; (object = next_object(info->nlhdr, command, &at)); at++)
		found = object;
	return found ? answer(skb, info, told[command].fill, found) :
		       gf_refuse(info, id ?: name, -ENOENT, "there is none of this id or name");
}

int gpufabric_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const u8 command = ((struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
	const bool parts = told[command].parts;
	unsigned long at = cb->args[0];
	struct gf_reader reader;
	struct gf_part part;
	int err = 0;

	guard(mutex)(&gf.lock);
	reader_of(&reader, cb->skb);
	/* Any event is a change; 0 stands for "no check" and is left out. */
	cb->seq = ((u32)gf.sequence + gf.inventory) | 1U << 31;
	for (; (part.of = next_object(cb->nlh, command, &at)); at++) {
		/* What it stopped in may have gone. */
		part.index = at == cb->args[0] ? cb->args[1] : 0;
		for (; part.index < (parts ? gf_part_count(part.of, command) : 1); part.index++) {
			err = dump_one(skb, cb, &reader, told[command].fill,
				       parts ? &part : part.of);
			if (err)
				goto out;
		}
	}
	part.index = 0;
out:
	cb->args[0] = at;
	cb->args[1] = part.index;
	/* Where there was room for nothing, the object is too big for any part. */
	return err && !skb->len ? err : skb->len;
}

static int socket_closed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct netlink_notify *notify = data;

	/* Sockets of others close all the time. */
	if (action != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net) ||
	    (!READ_ONCE(gf.nr_draining) && !READ_ONCE(gf.nr_compositions)))
		return NOTIFY_DONE;
	guard(mutex)(&gf.lock);
	gf_slot_port_closed(notify->portid);
	gf_composition_port_closed(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = { .notifier_call = socket_closed };

int gf_netlink_start(void)
{
	int err = netlink_register_notifier(&socket_notifier);

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
