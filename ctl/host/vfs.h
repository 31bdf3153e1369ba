/* SPDX-License-Identifier: GPL-2.0-only */
/* Virtual functions of a function, which the module does not list. */
#ifndef GPUCTL_VFS_H
#define GPUCTL_VFS_H

#include <stddef.h>

#include "module/model.h"

/* Address, driver and IOMMU group of each; free with vfs_free(). @sys is "/sys". */
struct gf_function *vfs_of(const char *sys, const char *address, size_t *n);
void vfs_free(struct gf_function *vfs, size_t n);

#endif /* GPUCTL_VFS_H */
