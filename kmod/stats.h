/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_STATS_H
#define GPUFABRIC_STATS_H

#include "op.h"

/*
 * Buckets double from 1 ms on; the last one has no bound.
 */
#define GF_BUCKETS 18
#define GF_BUCKET_FIRST_US 1000ULL

/**
 * struct gf_histogram - how long a phase took
 * @kind: of this operation
 * @phase: which phase
 * @count: how many were measured
 * @us: their sum in microseconds
 * @buckets: how many fell below the bound of each bucket and above the last
 */
struct gf_histogram {
	enum gpufabric_operation_kind kind;
	enum gpufabric_phase phase;
	u64 count;
	u64 us;
	u64 buckets[GF_BUCKETS];
};

void gf_stats_step(const struct gf_step *step);
const struct gf_histogram *gf_stats_at(unsigned long index);
const struct gf_histogram *gf_stats_find(enum gpufabric_operation_kind kind,
					 enum gpufabric_phase phase);

#endif /* GPUFABRIC_STATS_H */
