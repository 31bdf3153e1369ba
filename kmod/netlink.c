// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The generic netlink family
 *
 * Policies and the table of commands are generated from the spec. Commands run
 * in parallel; the fabric's lock serialises what they touch. Reads are open to
 * everyone in the initial network namespace. By the spec everything else asks
 * here, in one place, for CAP_SYS_ADMIN in the initial user namespace, of the
 * sender and of the socket's opener alike.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "composition.h"
#include "event.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "slot.h"

#define REPLY_SIZE_FIRST 2048
#define REPLY_SIZE_MAX (256 * 1024)
/* An operation and a composition with the longest texts, without its members. */
#define REPLY_SIZE_CHANGE 2048
/* A member: its nest, three numbers and the longest name. */
#define REPLY_SIZE_MEMBER (4 * NLA_HDRLEN + 3 * sizeof(u32) + \
			   NLA_ALIGN(NLA_HDRLEN + GPUFABRIC_SLOT_NAME_MAX + 1))

int gpufabric_nl_admin_doit(const struct genl_split_ops *ops,
			    struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack,
		       "changing the fabric needs CAP_SYS_ADMIN, run as root");
	return -EPERM;
}

/* 512 members with the longest names; other objects fit the default. */
#define COMPOSITION_DUMP_SIZE (60 * 1024)

int gpufabric_nl_composition_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = COMPOSITION_DUMP_SIZE;
	return 0;
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
int gf_refuse(struct genl_info *info, const struct nlattr *attr, int error,
	      const char *text)
{
	if (info->extack) {
		info->extack->_msg = text;
		info->extack->bad_attr = attr;
	}
	return error;
}

/**
 * gf_reader_of() - what the sender of a request may read
 * @reader: filled
 * @request: the request
 *
 * Called in the sender's context, which is that of each part of a dump too.
 */
void gf_reader_of(struct gf_reader *reader, struct sk_buff *request)
{
	/* Who may not is no denial to be written down: most readers may not. */
	reader->private = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) &&
			  netlink_capable(request, CAP_SYS_ADMIN);
	reader->pid_ns = task_active_pid_ns(current);
}

static int fill_reply(struct sk_buff *skb, struct genl_info *info,
		      const struct gf_reader *reader, gf_fill_fn fill,
		      const void *object)
{
	void *header = genlmsg_put_reply(skb, info, &gf_family, 0,
					 info->genlhdr->cmd);

	if (!header)
		return -EMSGSIZE;
	if (nla_put_uint(skb, GPUFABRIC_A_SEQUENCE, gf.sequence) ||
	    fill(skb, reader, object))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return 0;
}

/**
 * gf_reply() - answer a request that changes nothing
 * @request: the request as it came
 * @info: the request, parsed
 * @fill: puts the object
 * @object: the object
 *
 * Under the fabric's lock.
 *
 * Return: 0, -ENOMEM, or what sending returned.
 */
int gf_reply(struct sk_buff *request, struct genl_info *info, gf_fill_fn fill,
	     const void *object)
{
	struct gf_reader reader;
	unsigned int size;

	gf_assert_locked();
	gf_reader_of(&reader, request);
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

/**
 * gf_reply_alloc() - memory for the answer to a request that changes something
 * @members: how many slots the answer will list
 *
 * Whoever hears of an error must be able to rely on nothing having happened, so
 * this comes before anything is changed.
 *
 * Return: for gf_reply_send() or nlmsg_free(); NULL without memory.
 */
struct sk_buff *gf_reply_alloc(unsigned int members)
{
	return genlmsg_new(REPLY_SIZE_CHANGE + members * REPLY_SIZE_MEMBER,
			   GFP_KERNEL);
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
	gf_reader_of(&reader, request);
	if (WARN_ON_ONCE(fill_reply(reply, info, &reader, fill, object)))
		nlmsg_free(reply);
	else
		genlmsg_reply(reply, info);
}

static int socket_closed(struct notifier_block *nb, unsigned long action,
			 void *data)
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
	err = gf_register_split(&gf_family, gpufabric_nl_ops,
				ARRAY_SIZE(gpufabric_nl_ops));
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
