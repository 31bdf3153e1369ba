/* SPDX-License-Identifier: GPL-2.0-only */
/* All workloads together, interval after interval, led by prices. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_BEAM_H
#define GPUCTL_PLAN_BEAM_H

#include "plan/solver/ledger.h"

struct beam;

/* NULL for an instance that this cannot search, or that is too large for it: see beam.c. */
struct beam *beam_new(const struct model *model, struct path *path);
void beam_free(struct beam *beam);
/* Prices that lead what follows, by row and interval, and the bound that they prove. */
void beam_price(struct beam *beam, const double *price, double bound);
/*
 * The best plan that is found with @width at a time, into @y; what it costs, or INFINITY when
 * none was found that costs less than @most. @all: nothing was left out, more would find no more.
 */
double beam_search(struct beam *beam, double most, size_t width, uint32_t *y, bool *all);
/*
 * Change plan @y for the better, from interval @from on, up to interval @to, in which it is as
 * before; only those workloads change that are free. By how much the cost fell.
 */
double beam_improve(struct beam *beam, uint32_t *y, const bool *is_free, size_t from, size_t to,
		    size_t width);
/* States that were looked at since the start. */
uint64_t beam_work(const struct beam *beam);

#endif /* GPUCTL_PLAN_BEAM_H */
