// SPDX-License-Identifier: GPL-2.0-only
#include <net/genetlink.h>

struct nlattr **probe(const struct genl_dumpit_info *info)
{
	return info->info.attrs;
}
