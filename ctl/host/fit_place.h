/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUCTL_HOST_FIT_PLACE_H
#define GPUCTL_HOST_FIT_PLACE_H

#include "host/fit.h"

/**
 * struct gf_fit_ground - where a place is looked for
 * @trial: ranges of its bus are taken; NULL: there is no bus
 * @more: and so are these
 * @nr_more: how many
 * @rule: of the kernel
 */
struct gf_fit_ground {
	const struct gf_fit_trial *trial;
	const struct gf_fit_range *more;
	u32 nr_more;
	enum gf_fit_rule rule;
};

/* The windows of the bus, as the trial has left them. */
struct gf_fit_ground gf_fit_ground_of(const struct gf_fit_trial *trial);

/* The addresses that a window of a port has got in the trial, or lost; else NULL. */
const struct gf_fit_range *gf_fit_moved(const struct gf_fit_trial *trial, u32 port,
					enum gf_fit_which which);

/* Whether a range of the bus is in nobody's way any more. */
bool gf_fit_is_gone(const struct gf_fit_trial *trial, const struct gf_fit_range *range);

/* The lowest place in [low, high] that is free. Returns whether there is one. */
bool gf_fit_place(const struct gf_fit_ground *ground, u64 low, u64 high, u64 size, u64 align,
		  u64 *place);

/* The same in the window that suits best, @index, for what has @flags. */
bool gf_fit_room(const struct gf_fit_ground *ground, const struct gf_fit_window *windows,
		 u32 nr_windows, u32 flags, u64 size, u64 align, u64 *place, u32 *index);

#endif /* GPUCTL_HOST_FIT_PLACE_H */
