/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intervals of engines that nobody has fitted: how wide they must be, from rows of other
 * sources.
 */
#ifndef TESTS_BENCH_SIZE_WIDTHS_H
#define TESTS_BENCH_SIZE_WIDTHS_H

#include "size_regress.h"

/* What an estimate knows of the engine. */
enum width_kind {
	WIDTH_POLICY, /* its policy, but nothing was fitted */
	WIDTH_UNKNOWN, /* nothing: the generic policy */
	WIDTH_KINDS
};

/**
 * struct width_row - logarithms of measured over estimate
 * @off: NAN where the estimate does not exist
 */
struct width_row {
	const struct size_row *row;
	double off[WIDTH_KINDS];
};

struct widths {
	struct width_row row[2 * REGRESS_ROWS_MAX];
	size_t n;
};

/* Rows with a sum. Of logs, @logs, those of trainings that tell their length and layout. */
void widths_add(struct widths *widths, const struct size_row *rows, size_t n, bool logs);

/*
 * What 95 of 100 rows of @task are below, over the estimate. Sources with many rows and
 * engines with many sources weigh as the root of these numbers. @but: a source that is left
 * out; NULL: none. 0: there are no rows.
 */
double widths_of(struct widths *widths, enum size_task task, enum width_kind kind, const char *but);

/* The one for engines of which nothing is left out: what profiles without a fit have. */
double widths_shipped(struct widths *widths, enum size_task task, enum width_kind kind);

#endif
