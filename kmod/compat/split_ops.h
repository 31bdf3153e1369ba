/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SPLIT_OPS_H
#define GPUFABRIC_SPLIT_OPS_H

#include <net/genetlink.h>

#include "compat-probes.h"

#ifndef HAVE_GENL_SPLIT_OPS
/* As later kernels have it, less what nobody here needs. */
struct genl_split_ops {
	int (*pre_doit)(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info);
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd;
	u8 flags;
};
#endif

int gf_register_split(struct genl_family *family,
		      const struct genl_split_ops *ops, unsigned int count);

#endif /* GPUFABRIC_SPLIT_OPS_H */
