/* SPDX-License-Identifier: GPL-2.0-only */
/* IOMMU groups: what is in one can only be given to a guest together. */
#ifndef GPUCTL_IOMMU_H
#define GPUCTL_IOMMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/model.h"

/* Does the kernel use an IOMMU at all? @sys is "/sys"; tests have their own. */
bool iommu_is_on(const char *sys);

/* Addresses of all members of a group, sorted; free with iommu_free(). */
char **iommu_members(const char *sys, uint32_t group, size_t *n);
void iommu_free(char **members, size_t n);

/*
 * Functions that are in a group of a slot's GPUs and not in the slot, bridges left out:
 * "0000:05:00.0, 0000:06:00.0". NULL when the slot is isolated; the caller frees it.
 */
char *iommu_others(const char *sys, const struct gf_slot *slot);

#endif /* GPUCTL_IOMMU_H */
