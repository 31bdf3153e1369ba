/* SPDX-License-Identifier: GPL-2.0-only */
/* The bound of serve.h where keeping costs nothing; serve_bound() calls it. */
#ifndef GPUCTL_PLAN_SERVE_LINKS_H
#define GPUCTL_PLAN_SERVE_LINKS_H

#include "serve.h"

/* For rates without a hold cost whose attach is this at most. */
#define SERVE_LINKS_ATTACH_MAX 0.5

double serve_links_bound(const struct series_set *set, const struct serve_rates *rates,
			 size_t from);

#endif
