// SPDX-License-Identifier: GPL-2.0-only
/* A family is described by operations that are split in do and dump. */
#include <net/genetlink.h>

static const struct genl_split_ops ops[] = { { .cmd = 1 } };

const struct genl_family family = { .split_ops = ops, .n_split_ops = 1 };
