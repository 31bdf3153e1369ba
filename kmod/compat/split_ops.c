// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Split operations
 *
 * A command has one policy and set of hooks for do, and another for dump. Kernels that support a
 * single policy for both get the policy of do, which accepts everything that the policy of dump
 * accepts, or that of dump if there is no do; the dump then checks its own policy while it runs.
 * Kernels that support both need nothing of this.
 */
#include "compat.h"

#ifndef HAVE_GENL_SPLIT_OPS

static const struct genl_split_ops *split __ro_after_init;
static struct genl_ops whole[32] __ro_after_init;

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

/* Register a family with split operations, do before dump of one command. */
int gf_register_split(struct genl_family *family, const struct genl_split_ops *ops,
		      unsigned int count)
{
	struct genl_ops *op = NULL;

	if (count > ARRAY_SIZE(whole))
		return -E2BIG;
	for (split = ops; count--; ops++) {
		if (!op || op->cmd != ops->cmd)
			op = op ? op + 1 : whole;
		op->cmd = ops->cmd;
		if (!op->policy) {
			op->policy = ops->policy;
			op->maxattr = ops->maxattr;
		}
		if (ops->flags & GENL_CMD_CAP_DO) {
			op->doit = ops->doit;
		} else {
			op->start = start;
			op->dumpit = ops->dumpit;
		}
	}
	family->pre_doit = pre_doit;
	family->ops = whole;
	family->n_ops = op - whole + 1;
	return genl_register_family(family);
}

#endif
