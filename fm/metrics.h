/* SPDX-License-Identifier: GPL-2.0-only */
/* What the manager counts, and all of it as text for Prometheus. */
#ifndef FM_METRICS_H
#define FM_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/fabric.h"

/* Durations below 0.25 s, 0.5 s, ... 64 s, and longer ones. */
#define METRICS_BUCKETS 10
#define METRICS_REFUSALS (REFUSED_ELSEWHERE + 1)

/**
 * struct metrics - since the manager started
 * @steps: binds and unbinds, by how they ended: done, or not
 * @buckets: of their durations, each with what is in none before it; of steps that were done
 * @ms: sum of these durations
 * @refused: requests that were refused, by enum fabric_refusal
 */
struct metrics {
	uint64_t steps[2][2];
	uint64_t buckets[2][METRICS_BUCKETS];
	uint64_t ms[2];
	uint64_t refused[METRICS_REFUSALS];
};

/* A bind or unbind has ended after @ms. */
void metrics_step(struct metrics *metrics, bool bind, bool done, uint64_t ms);

/* All of it, with the GPUs and hosts of the fabric as they are; the caller frees. */
char *metrics_text(const struct metrics *metrics, const struct fabric *fabric);

#endif /* FM_METRICS_H */
