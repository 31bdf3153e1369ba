/* SPDX-License-Identifier: GPL-2.0-only */
/* Which slot driver has a slot. */
#ifndef GPUCTL_HOST_DRIVES_H
#define GPUCTL_HOST_DRIVES_H

#include "base/tree.h"
#include "module/netlink_gen.h"

/* The module of a PCI slot's driver as the kernel names it, newly allocated; NULL: not known. */
char *drives_linked(const struct tree *tree, const char *slot);
/* The driver of a slot on this host, newly allocated; NULL: not known. */
char *drives_slot(const struct gf_slot *slot);

#endif /* GPUCTL_HOST_DRIVES_H */
