/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows that say how fast: tokens a second of training and inference, GPU-hours of a training. */
#ifndef TESTS_BENCH_SIZE_TIMES_H
#define TESTS_BENCH_SIZE_TIMES_H

#include "size/speed.h"
#include "size_rows.h"

enum size_time_kind {
	TIME_TRAIN,	/* tokens a second of a GPU */
	TIME_INFER,	/* the same of all GPUs of a row; computed is the most that can be */
	TIME_HOURS,	/* GPU-hours */
	TIME_KINDS
};

/**
 * struct size_time - a row that says how fast
 * @row: it
 * @gpu: the kind that it means
 * @published: what was measured, or follows from the published MFU
 * @computed: by the coefficients of the catalogue
 * @x: TIME_TRAIN: parts of the published time
 */
struct size_time {
	const struct size_row *row;
	const struct cat_gpu *gpu;
	double published;
	double computed;
	double x[SPEED_TERMS];
};

/* All rows of a kind, at most @max; returns how many. */
size_t size_times(const struct catalogue *cat, const struct size_row *rows, size_t n,
		  enum size_time_kind kind, struct size_time *out, size_t max);

/* Tokens a second over the published ones, with these coefficients. */
double size_time_ratio(const struct size_time *time, const double *coef);

#endif
