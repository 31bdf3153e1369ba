// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the fit of the profiles
 *
 * Ridge regression towards 1, the physics, on relative errors, every model with the same
 * total weight. How strong the ridge is comes from models that were held out, how wide the
 * interval is from whole sources that were.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "size_regress.h"

bool regress_generic(const struct size_row *row, struct size_request *req)
{
	struct fault f;

	*req = row->req;
	req->engine = &engine_generic;
	return !size_request_check(req, &f);
}

double regress_unknown(const struct size_row *row)
{
	struct size_request req;
	struct size_estimate e;

	if (!regress_generic(row, &req))
		return NAN;
	size_estimate(&req, &row->layout, &e);
	return log(row->measured / e.memory[row->kind]);
}

static const double plain_coef[SIZE_PARTS] = { 1, 1, 1, 1, 1, 1, 1, 1 };

/* Each part over what was measured, at the moment that is the largest with these coefficients. */
static void parts_with(const struct sample *s, const double *coef, double *x)
{
	int k;

	size_physics_peak(&s->physics, coef, x);
	for (k = 0; k < SIZE_PARTS; k++) {
		x[k] /= s->row->measured;
		if (k == PART_FRAMEWORK)
			x[k] *= s->row->kind == MEMORY_DEVICE;
		else if (s->row->kind != MEMORY_ALLOCATED)
			x[k] *= s->physics.reserve;
	}
}

static double predict(const struct sample *s, const double *coef)
{
	double x[SIZE_PARTS], sum = 0;
	int k;

	parts_with(s, coef, x);
	for (k = 0; k < SIZE_PARTS; k++)
		sum += x[k] * coef[k];
	return sum;
}

static void make_sample(struct sample *s, const struct size_row *row)
{
	s->row = row;
	size_physics(&row->req, &row->layout, &s->physics);
	parts_with(s, plain_coef, s->x);
	s->plain = -log(predict(s, plain_coef));
	s->unknown = regress_unknown(row);
}

double regress_plain(const struct size_row *row)
{
	struct sample s = { .row = row };

	make_sample(&s, row);
	return s.plain;
}

/* Is this the first row of its model within the group? */
static bool first_of_model(const struct group *g, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (!strcmp(g->sample[j].row->model_name, g->sample[i].row->model_name))
			return false;
	return true;
}

static size_t rows_of(const struct group *g, const char *model)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		n += !strcmp(g->sample[i].row->model_name, model);
	return n;
}

/* Gauss with pivots; the ridge makes the matrix regular. */
static void solve(double a[SIZE_PARTS][SIZE_PARTS + 1], double *x)
{
	int i, j, k, best;
	double t;

	for (i = 0; i < SIZE_PARTS; i++) {
		for (best = i, j = i + 1; j < SIZE_PARTS; j++)
			if (fabs(a[j][i]) > fabs(a[best][i]))
				best = j;
		for (k = 0; k <= SIZE_PARTS; k++) {
			t = a[i][k];
			a[i][k] = a[best][k];
			a[best][k] = t;
		}
		for (j = i + 1; j < SIZE_PARTS; j++) {
			t = a[j][i] / a[i][i];
			for (k = i; k <= SIZE_PARTS; k++)
				a[j][k] -= t * a[i][k];
		}
	}
	for (i = SIZE_PARTS - 1; i >= 0; i--) {
		x[i] = a[i][SIZE_PARTS];
		for (k = i + 1; k < SIZE_PARTS; k++)
			x[i] -= a[i][k] * x[k];
		x[i] /= a[i][i];
	}
}

/* What is left out of a fit: the rows of a model or of a source. */
struct held {
	const char *model;
	const char *source;
};

static bool is_held(const struct held *held, const struct size_row *row)
{
	return (held->model && !strcmp(row->model_name, held->model)) ||
	       (held->source && !strcmp(row->source, held->source));
}

/*
 * One pass; @weight lets a robust fit discount rows that are far off. Which moment of a row
 * is the largest is judged with the coefficients of the pass before.
 */
static void ridge(const struct group *g, const struct held *held, double lambda,
		  const double *weight, double *coef)
{
	double a[SIZE_PARTS][SIZE_PARTS + 1] = { 0 };
	double x[SIZE_PARTS], y, w;
	size_t i;
	int j, k;

	for (i = 0; i < g->n; i++) {
		const struct sample *s = &g->sample[i];

		if (is_held(held, s->row))
			continue;
		/* the square root: a model with many rows counts more, not that much more */
		w = weight[i] / sqrt((double)rows_of(g, s->row->model_name));
		parts_with(s, coef, x);
		for (y = 1, k = 0; k < SIZE_PARTS; k++)
			y -= x[k];
		for (j = 0; j < SIZE_PARTS; j++) {
			for (k = 0; k < SIZE_PARTS; k++)
				a[j][k] += w * x[j] * x[k];
			a[j][SIZE_PARTS] += w * x[j] * y;
		}
	}
	for (k = 0; k < SIZE_PARTS; k++)
		a[k][k] += lambda;
	solve(a, coef);
	for (k = 0; k < SIZE_PARTS; k++) {
		coef[k] += 1;
		coef[k] = coef[k] < 0.2 ? 0.2 : coef[k] > 5 ? 5 : coef[k];
	}
}

/* Three rounds of Huber's weights: a misprint must not bend a profile. */
static void fit(const struct group *g, const struct held *held, double lambda, double *coef)
{
	static double weight[REGRESS_ROWS_MAX];
	size_t i;
	int round;

	for (i = 0; i < g->n; i++)
		weight[i] = 1;
	memcpy(coef, plain_coef, sizeof(plain_coef));
	for (round = 0; round < 4; round++) {
		ridge(g, held, lambda, weight, coef);
		for (i = 0; i < g->n; i++) {
			double off = fabs(predict(&g->sample[i], coef) - 1);

			weight[i] = off > 0.05 ? 0.05 / off : 1;
		}
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double regress_quantile(double *v, size_t n, double q)
{
	double at = q * (double)(n ? n - 1 : 0);
	size_t i = (size_t)at;

	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), ascending);
	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

/* Leaves each model out in turn; fills the residuals, returns median + p90 / 4. */
static double held_out(struct group *g, double lambda)
{
	static double error[REGRESS_ROWS_MAX];
	double coef[SIZE_PARTS];
	size_t i, j;

	for (i = 0; i < g->n; i++) {
		if (!first_of_model(g, i))
			continue;
		fit(g, &(struct held){ .model = g->sample[i].row->model_name }, lambda, coef);
		for (j = 0; j < g->n; j++) {
			struct sample *s = &g->sample[j];

			if (strcmp(s->row->model_name, g->sample[i].row->model_name))
				continue;
			s->residual = -log(predict(s, coef));
			error[j] = fabs(predict(s, coef) - 1);
		}
	}
	return regress_quantile(error, g->n, 0.5) + regress_quantile(error, g->n, 0.9) / 4;
}

/* Is this the first row of its source within the group? */
static bool first_of_source(const struct group *g, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (!strcmp(g->sample[j].row->source, g->sample[i].row->source))
			return false;
	return true;
}

/* Leaves each source out in turn. Of the only one nothing is left: formulas alone. */
static void sources_held_out(struct group *g)
{
	double coef[SIZE_PARTS];
	size_t i, j;

	for (i = 0; i < g->n; i++) {
		if (!first_of_source(g, i))
			continue;
		memcpy(coef, plain_coef, sizeof(plain_coef));
		if (g->sources > 1)
			fit(g, &(struct held){ .source = g->sample[i].row->source }, g->lambda,
			    coef);
		for (j = 0; j < g->n; j++)
			if (!strcmp(g->sample[j].row->source, g->sample[i].row->source))
				g->sample[j].foreign = -log(predict(&g->sample[j], coef));
	}
}

static void fit_group(struct group *g)
{
	static const double lambdas[] = { 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100 };
	double best = INFINITY, loss;
	size_t i;

	/* one model tells nothing of others, two little: stay near the physics */
	g->lambda = 3;
	for (i = g->models > 2 ? 0 : 3; g->models > 1 && i < sizeof(lambdas) / sizeof(lambdas[0]); i++) {
		loss = held_out(g, lambdas[i]);
		/* a stronger ridge wins a tie */
		if (loss <= best * 1.02) {
			best = loss < best ? loss : best;
			g->lambda = lambdas[i];
		}
	}
	held_out(g, g->lambda);
	fit(g, &(struct held){ 0 }, g->lambda, g->coef);
	sources_held_out(g);
}

/* --- the interval ------------------------------------------------------------- */

/* Sources that a task's pool counts as, against the engine's own. */
#define POOL_SOURCES 2

static int by_residual(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return x->residual < y->residual ? -1 : x->residual > y->residual;
}

static size_t rows_of_source(const struct group *groups, size_t n, enum size_task task,
			     const char *source)
{
	size_t i, j, count = 0;

	for (i = 0; i < n; i++)
		for (j = 0; groups[i].task == task && j < groups[i].n; j++)
			count += !strcmp(groups[i].sample[j].row->source, source);
	return count;
}

/*
 * Of residuals the one with weight @at below it. Each row lies in the middle of its
 * own weight, and between two rows the value is in proportion, as regress_quantile() has it:
 * of few sources the largest row alone would be the quantile.
 */
double regress_weighed(struct weighed *v, size_t n, double at)
{
	double below = 0, middle, before = 0;
	size_t i;

	qsort(v, n, sizeof(*v), by_residual);
	for (i = 0; i < n; i++) {
		middle = below + v[i].weight / 2;
		if (middle >= at)
			break;
		before = middle;
		below += v[i].weight;
	}
	if (!i || i == n)
		return n ? v[i ? n - 1 : 0].residual : 0;
	return v[i - 1].residual +
	       (v[i].residual - v[i - 1].residual) * (at - before) / (middle - before);
}

/* What 95 of 100 rows of the task are below; @unit: in units of their group's own width. */
static double task_quantile(const struct group *groups, size_t n, enum size_task task, bool unit)
{
	static struct weighed pool[REGRESS_ROWS_MAX];
	double all = 0;
	size_t i, j, m = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; groups[i].task == task && j < groups[i].n; j++) {
			const struct sample *s = &groups[i].sample[j];

			/* the square root: as in the fit */
			pool[m].weight = 1. / sqrt((double)rows_of_source(groups, n, task,
									  s->row->source));
			pool[m].residual = s->foreign / (unit ? groups[i].width : 1);
			all += pool[m++].weight;
		}
	}
	return regress_weighed(pool, m, 0.95 * all);
}

/* How far rows of a group are off, drawn towards its task's: few sources tell little. */
static double group_width(const struct group *g, double pool)
{
	static double own[REGRESS_ROWS_MAX];
	double q;
	size_t j;

	for (j = 0; j < g->n; j++)
		own[j] = g->sources > 1 ? g->sample[j].foreign : g->sample[j].residual;
	q = regress_quantile(own, g->n, 0.95);
	q = (g->sources * q + POOL_SOURCES * pool) / (g->sources + POOL_SOURCES);
	return q > log(REGRESS_P95_MIN) ? q : log(REGRESS_P95_MIN);
}

/*
 * Conformal intervals (Vovk, Gammerman and Shafer 2005): residuals with whole sources left
 * out, over the width of their group, tell by how much all widths of a task are too large.
 * They are never made larger: with a handful of sources the quantile is the worst row alone.
 */
static void set_intervals(struct group *groups, size_t n)
{
	double pool[SIZE_TASKS], scale;
	size_t i;
	int t;

	for (t = 0; t < SIZE_TASKS; t++)
		pool[t] = task_quantile(groups, n, (enum size_task)t, false);
	for (i = 0; i < n; i++)
		groups[i].width = group_width(&groups[i], pool[groups[i].task]);
	for (i = 0; i < n; i++) {
		scale = fmin(1, task_quantile(groups, n, groups[i].task, true));
		groups[i].p95 = exp(fmax(groups[i].width * scale, log(REGRESS_P95_MIN)));
	}
}

static size_t make_groups(const struct catalogue *cat, const struct size_row *rows, size_t n,
			  struct group *groups)
{
	size_t e, i, count = 0;
	int task;

	for (e = 0; e < cat->n_engines; e++) {
		for (task = 0; task < SIZE_TASKS; task++) {
			struct group *g = &groups[count];

			memset(g, 0, sizeof(*g));
			g->engine = &cat->engines[e];
			g->task = (enum size_task)task;
			g->sample = calloc(n, sizeof(*g->sample));
			for (i = 0; i < n; i++)
				if (!*rows[i].skip && rows[i].measured > 0 && rows[i].profiled &&
				    rows[i].req.engine == g->engine &&
				    (int)rows[i].req.task == task)
					make_sample(&g->sample[g->n++], &rows[i]);
			for (i = 0; i < g->n; i++)
				g->models += first_of_model(g, i);
			for (i = 0; i < g->n; i++)
				g->sources += first_of_source(g, i);
			if (g->n)
				count++;
			else
				free(g->sample);
		}
	}
	return count;
}

size_t regress_groups(const struct catalogue *cat, const struct size_row *rows, size_t n,
		      struct group *groups)
{
	size_t count, i;

	count = make_groups(cat, rows, n, groups);
	for (i = 0; i < count; i++)
		fit_group(&groups[i]);
	set_intervals(groups, count);
	return count;
}

void regress_free(struct group *groups, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(groups[i].sample);
}
