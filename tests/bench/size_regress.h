/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fit of the profiles: coefficients of the parts for each engine and task, and how far
 * estimates are off for models and sources that the fit has not seen.
 */
#ifndef TESTS_BENCH_SIZE_REGRESS_H
#define TESTS_BENCH_SIZE_REGRESS_H

#include "size/physics.h"
#include "size_rows.h"

#define REGRESS_ROWS_MAX 4096
#define REGRESS_GROUPS_MAX 256

/**
 * struct sample - a row as the regression sees it
 * @row: where it comes from
 * @physics: its parts, moment by moment
 * @x: each part over what was measured, at the largest moment by the plain formulas
 * @residual: log of measured over estimate, of the model held out
 * @foreign: the same of the source held out; the plain formulas where there is no other
 * @plain: the same of the engine held out: its policy by hand, nothing fitted
 * @unknown: the same as if nobody had heard of the engine: the generic policy
 */
struct sample {
	const struct size_row *row;
	struct size_physics physics;
	double x[SIZE_PARTS];
	double residual;
	double foreign;
	double plain;
	double unknown;
};

/**
 * struct group - the rows of an engine and a task
 * @engine: its profile
 * @coef: of all rows
 * @lambda: strength of the ridge
 * @sources: of how many files and threads
 * @width: logarithm of how far its rows are off
 * @p95: over the estimate
 */
struct group {
	const struct size_engine *engine;
	enum size_task task;
	struct sample *sample;
	size_t n;
	unsigned int models;
	unsigned int sources;
	double coef[SIZE_PARTS];
	double lambda;
	double width;
	double p95;
};

/*
 * Fits every engine and task that has rows; returns the number of groups. Coefficients of an
 * earlier fit steer nothing. Free with regress_free().
 */
size_t regress_groups(const struct catalogue *cat, const struct size_row *rows, size_t n,
		      struct group *groups);
void regress_free(struct group *groups, size_t n);

/* The workload of a row as a user has it who gives no engine; false: it is refused then. */
bool regress_generic(const struct size_row *row, struct size_request *req);

/* Logarithm of measured over estimate: with the engine's policy and no fit, and without either. */
double regress_plain(const struct size_row *row);
double regress_unknown(const struct size_row *row);

/* No engine is known better than this. */
#define REGRESS_P95_MIN 1.03

/* A residual and its weight. */
struct weighed {
	double residual;
	double weight;
};

/* Of the residuals the one with weight @at below it; sorts @v. */
double regress_weighed(struct weighed *v, size_t n, double at);

/* Sorts @v. */
double regress_quantile(double *v, size_t n, double q);

#endif
