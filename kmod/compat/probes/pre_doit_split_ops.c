// SPDX-License-Identifier: GPL-2.0-only
#include <net/genetlink.h>

static int probe(const struct genl_split_ops *op, struct sk_buff *skb,
		 struct genl_info *info)
{
	return 0;
}

const struct genl_family family = { .pre_doit = probe };
