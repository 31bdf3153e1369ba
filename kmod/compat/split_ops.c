// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Split operations
 *
 * A command has a policy and hooks for do, and others for dump. What has no policy takes no
 * attribute; kernels with split operations would take any. Kernels that know one policy for both
 * get that of do, which takes all that dump's does, or of dump where there is no do; a dump is
 * held to its own as it goes.
 */
#include "compat.h"

static struct genl_split_ops split[32] __ro_after_init;

static const struct nla_policy nothing[] = { [1] = { .type = NLA_REJECT } };

#ifndef HAVE_GENL_SPLIT_OPS

static struct genl_ops whole[ARRAY_SIZE(split)] __ro_after_init;

/* The kernel asks for nothing that it was not given. */
static const struct genl_split_ops *find(u8 cmd, u8 flag)
{
	const struct genl_split_ops *op = split;

	while (op->cmd != cmd || !(op->flags & flag))
		op++;
	return op;
}

static int pre_doit(const struct genl_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	const struct genl_split_ops *op = find(ops->cmd, GENL_CMD_CAP_DO);

	return op->pre_doit ? op->pre_doit(op, skb, info) : 0;
}

/* Here and not in the dump, whose errors come at its end, where few look. */
static int start(struct netlink_callback *cb)
{
	struct genlmsghdr *header = nlmsg_data(cb->nlh);
	const struct genl_split_ops *op = find(header->cmd, GENL_CMD_CAP_DUMP);

	return nla_validate(genlmsg_data(header), genlmsg_len(header), op->maxattr, op->policy,
			    cb->extack);
}

static void __init set_ops(struct genl_family *family, unsigned int count)
{
	const struct genl_split_ops *from = split;
	struct genl_ops *op = NULL;

	for (; count--; from++) {
		if (!op || op->cmd != from->cmd)
			op = op ? op + 1 : whole;
		op->cmd = from->cmd;
		if (!op->policy) {
			op->policy = from->policy;
			op->maxattr = from->maxattr;
		}
		if (from->flags & GENL_CMD_CAP_DO) {
			op->doit = from->doit;
		} else {
			op->start = start;
			op->dumpit = from->dumpit;
		}
	}
	family->pre_doit = pre_doit;
	family->ops = whole;
	family->n_ops = op - whole + 1;
}

#else

static void __init set_ops(struct genl_family *family, unsigned int count)
{
	family->split_ops = split;
	family->n_split_ops = count;
}

#endif

/* Register a family with split operations, do before dump of one command. */
int __init gf_register_split(struct genl_family *family, const struct genl_split_ops *ops,
			     unsigned int count)
{
	unsigned int i;

	if (count > ARRAY_SIZE(split))
		return -E2BIG;
	for (i = 0; i < count; i++) {
		split[i] = ops[i];
		if (ops[i].policy)
			continue;
		split[i].policy = nothing;
		split[i].maxattr = ARRAY_SIZE(nothing) - 1;
	}
	set_ops(family, count);
	return genl_register_family(family);
}
