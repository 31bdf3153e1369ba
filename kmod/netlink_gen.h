/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	netlink/specs/gpufabric.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_GPUFABRIC_GEN_H
#define _LINUX_GPUFABRIC_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>
#include "compat.h"

#include <uapi/linux/gpufabric.h>

/* Common nested types */
extern const struct nla_policy gpufabric_named_member_nl_policy[GPUFABRIC_A_MEMBER_ORDER + 1];

/* Ops table for gpufabric */
extern const struct genl_split_ops gpufabric_nl_ops[22];

int gpufabric_nl_admin_doit(const struct genl_split_ops *ops,
			    struct sk_buff *skb, struct genl_info *info);

int gpufabric_nl_get_doit(struct sk_buff *skb, struct genl_info *info);
int gpufabric_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int gpufabric_nl_change_doit(struct sk_buff *skb, struct genl_info *info);
int gpufabric_nl_annotate_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	GPUFABRIC_NLGRP_MONITOR,
	GPUFABRIC_NLGRP_PRIVATE,
};

#endif /* _LINUX_GPUFABRIC_GEN_H */
