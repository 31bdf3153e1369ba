/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUCTL_HOST_FIT_SIZE_H
#define GPUCTL_HOST_FIT_SIZE_H

#include "host/fit.h"

#define GF_FIT_MIN_ORDER 20 /* windows of bridges are aligned to 1 MiB */
#define GF_FIT_MAX_ORDERS 24 /* the PCI core knows alignments up to 8 TiB */

/**
 * struct gf_fit_sizing - a window that is being sized for what it shall hold
 * @sum: bytes
 * @aligns: bytes of what is aligned to 1 MiB, 2 MiB, ...
 * @max_order: the largest of these alignments
 */
struct gf_fit_sizing {
	u64 sum;
	u64 aligns[GF_FIT_MAX_ORDERS];
	u32 max_order;
};

static inline u64 gf_fit_larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 gf_fit_round(u64 value, u64 align)
{
	return (value + align - 1) & ~(align - 1);
}

u64 gf_fit_bar_size(const struct gf_fit_bar *bar, enum gf_fit_size size);
u64 gf_fit_bar_align(const struct gf_fit_bar *bar, enum gf_fit_size size);
enum gf_fit_which gf_fit_home(const struct gf_fit_own *own, u32 flags);
void gf_fit_add(struct gf_fit_sizing *sizing, enum gf_fit_rule rule, u64 size, u64 align);
/* The alignment of a window, and its size, which is at least @kept where that counts. */
u64 gf_fit_align(const struct gf_fit_sizing *sizing, enum gf_fit_rule rule);
u64 gf_fit_total(const struct gf_fit_sizing *sizing, enum gf_fit_rule rule, u64 kept);
/* Where a window or a BAR begins in an empty range that begins at @first. */
u64 gf_fit_begin(enum gf_fit_rule rule, u64 first, u64 size, u64 align);

#endif /* GPUCTL_HOST_FIT_SIZE_H */
