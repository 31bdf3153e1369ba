/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_STATS_H
#define GPUFABRIC_STATS_H

#include "op.h"

/* Buckets double from 1 ms on; the last one has no bound. */
#define GF_BUCKETS 18
#define GF_BUCKET_FIRST_US 1000ULL

/* How long a phase took. */
struct gf_histogram {
	enum gpufabric_operation_kind kind; /* of this operation */
	enum gpufabric_phase phase; /* which phase */
	u64 count; /* how many were measured */
	u64 us; /* their sum in microseconds */
	/* How many fell below the bound of each bucket and above the last. */
	u64 buckets[GF_BUCKETS];
};

void gf_stats_step(const struct gf_step *step);
const struct gf_histogram *gf_stats_at(unsigned long index);

#endif /* GPUFABRIC_STATS_H */
