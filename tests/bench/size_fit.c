// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: fitting the profiles
 *
 *	build/size-fit DATA.csv CATALOGUE [-n]
 *
 * For each engine and task: coefficients of the parts by ridge regression
 * towards 1, the physics, on relative errors, every model with the same total
 * weight. How strong the ridge is, and how wide the interval, comes from rows
 * of models that were held out. Prints those errors and writes the profiles
 * behind their marker line; -n only prints.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size/physics.h"
#include "size_rows.h"

#define ROWS_MAX 4096
#define MARKER "# --- written by make fit; do not edit below ---"

/* Weight of the pooled residuals of a task, in rows, against the engine's own. */
#define POOL_ROWS 12

/* No engine is known better than this. */
#define P95_MIN 1.03

/**
 * struct sample - a row as the regression sees it
 * @row: where it comes from
 * @x: each part over what was measured
 * @residual: log of measured over estimate, of the model held out
 */
struct sample {
	const struct size_row *row;
	double x[SIZE_PARTS];
	double residual;
};

/**
 * struct group - the rows of an engine and a task
 * @engine: its profile
 * @coef: of all rows
 * @lambda: strength of the ridge
 */
struct group {
	const struct size_engine *engine;
	enum size_task task;
	struct sample *sample;
	size_t n;
	unsigned int models;
	double coef[SIZE_PARTS];
	double lambda;
	double p95;
};

static void make_sample(struct sample *s, const struct size_row *row)
{
	struct size_physics p;
	int k;

	s->row = row;
	size_physics(&row->req, &row->layout, &p);
	for (k = 0; k < SIZE_PARTS; k++) {
		s->x[k] = p.part[k] / row->measured;
		if (k == PART_FRAMEWORK)
			s->x[k] *= row->kind == MEMORY_DEVICE;
		else if (row->kind != MEMORY_ALLOCATED)
			s->x[k] *= p.reserve;
	}
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

/* One pass; @weight lets a robust fit discount rows that are far off. */
static void ridge(const struct group *g, const char *without, double lambda, const double *weight,
		  double *coef)
{
	double a[SIZE_PARTS][SIZE_PARTS + 1] = { 0 };
	double y, w;
	size_t i;
	int j, k;

	for (i = 0; i < g->n; i++) {
		const struct sample *s = &g->sample[i];

		if (without && !strcmp(s->row->model_name, without))
			continue;
		/* the square root: a model with many rows counts more, not that much more */
		w = weight[i] / sqrt((double)rows_of(g, s->row->model_name));
		for (y = 1, k = 0; k < SIZE_PARTS; k++)
			y -= s->x[k];
		for (j = 0; j < SIZE_PARTS; j++) {
			for (k = 0; k < SIZE_PARTS; k++)
				a[j][k] += w * s->x[j] * s->x[k];
			a[j][SIZE_PARTS] += w * s->x[j] * y;
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

static double predict(const struct sample *s, const double *coef)
{
	double sum = 0;
	int k;

	for (k = 0; k < SIZE_PARTS; k++)
		sum += s->x[k] * coef[k];
	return sum;
}

/* Three rounds of Huber's weights: a misprint must not bend a profile. */
static void fit(const struct group *g, const char *without, double lambda, double *coef)
{
	static double weight[ROWS_MAX];
	size_t i;
	int round;

	for (i = 0; i < g->n; i++)
		weight[i] = 1;
	for (round = 0; round < 4; round++) {
		ridge(g, without, lambda, weight, coef);
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

static double quantile(double *v, size_t n, double q)
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
	static double error[ROWS_MAX];
	double coef[SIZE_PARTS];
	size_t i, j;

	for (i = 0; i < g->n; i++) {
		if (!first_of_model(g, i))
			continue;
		fit(g, g->sample[i].row->model_name, lambda, coef);
		for (j = 0; j < g->n; j++) {
			struct sample *s = &g->sample[j];

			if (strcmp(s->row->model_name, g->sample[i].row->model_name))
				continue;
			s->residual = -log(predict(s, coef));
			error[j] = fabs(predict(s, coef) - 1);
		}
	}
	return quantile(error, g->n, 0.5) + quantile(error, g->n, 0.9) / 4;
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
	fit(g, NULL, g->lambda, g->coef);
}

/* --- the interval ------------------------------------------------------------- */

static void set_p95(struct group *groups, size_t n, struct group *g)
{
	static double pool[ROWS_MAX], own[ROWS_MAX];
	double q, p;
	size_t i, j, m = 0;

	for (i = 0; i < n; i++)
		for (j = 0; groups[i].task == g->task && j < groups[i].n; j++)
			pool[m++] = groups[i].sample[j].residual;
	for (j = 0; j < g->n; j++)
		own[j] = g->sample[j].residual;
	p = quantile(pool, m, 0.95);
	q = quantile(own, g->n, 0.97);
	q = ((double)g->n * q + POOL_ROWS * p) / ((double)g->n + POOL_ROWS);
	g->p95 = exp(q) > P95_MIN ? exp(q) : P95_MIN;
}

static void print_task(const struct group *groups, size_t n, int task)
{
	static double error[ROWS_MAX];
	size_t i, j, m = 0, covered = 0;
	double median;

	for (i = 0; i < n; i++) {
		for (j = 0; (int)groups[i].task == task && j < groups[i].n; j++) {
			double r = groups[i].sample[j].residual;

			error[m++] = fabs(exp(-r) - 1);
			covered += r <= log(groups[i].p95);
		}
	}
	if (!m)
		return;
	median = quantile(error, m, 0.5);
	printf("%-8s n %4zu  held out: median %5.2f %%  p90 %5.2f %%  p95 covers %5.1f %%\n",
	       size_task_name((enum size_task)task), m, 100 * median,
	       100 * quantile(error, m, 0.9), 100. * (double)covered / (double)m);
}

static void print_group(const struct group *g)
{
	static double error[ROWS_MAX];
	double median;
	size_t i;
	int k;

	for (i = 0; i < g->n; i++)
		error[i] = fabs(exp(-g->sample[i].residual) - 1);
	median = quantile(error, g->n, 0.5);
	printf("%-20s %-6s n %3zu  models %2u  ridge %6.2f  held out: median %5.2f %%  p90 %5.2f %%  p95 x %.3f\n   ",
	       g->engine->id, size_task_name(g->task), g->n, g->models, g->lambda, 100 * median,
	       100 * quantile(error, g->n, 0.9), g->p95);
	for (k = 0; k < SIZE_PARTS; k++)
		printf(" %s %.3f", engine_part_keys[k], g->coef[k]);
	printf("\n");
}

/* --- the files ---------------------------------------------------------------- */

static bool seen(const struct group *g, int part)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->sample[i].x[part] > 0.005)
			return true;
	return false;
}

static void write_group(FILE *file, const struct group *g)
{
	static double error[ROWS_MAX];
	double median;
	size_t i;
	int k;

	for (i = 0; i < g->n; i++)
		error[i] = fabs(exp(-g->sample[i].residual) - 1);
	median = quantile(error, g->n, 0.5);
	fprintf(file, "\n# held out by model: median %.1f %%, p90 %.1f %%\n", 100 * median,
		100 * quantile(error, g->n, 0.9));
	fprintf(file, "[%s.%s]\nrows = %zu\nmodels = %u\n", g->engine->id,
		size_task_name(g->task), g->n, g->models);
	for (k = 0; k < SIZE_PARTS; k++)
		if (seen(g, k))
			fprintf(file, "%s = %.4f\n", engine_part_keys[k], g->coef[k]);
	fprintf(file, "p95 = %.4f\n", g->p95);
}

/* Everything that was fitted of an engine. */
static void write_engine(FILE *file, const struct size_engine *engine, const struct group *groups,
			 size_t n)
{
	size_t i;
	int task;

	for (task = 0; task < SIZE_TASKS; task++) {
		for (i = 0; i < n; i++)
			if ((int)groups[i].task == task && groups[i].engine == engine)
				break;
		if (i == n)
			continue;
		write_group(file, &groups[i]);
	}
}

static bool rewrite(const char *path, const struct catalogue *cat, const struct group *groups,
		    size_t n)
{
	char *line = NULL, *kept = NULL;
	size_t size = 0, length = 0, i;
	FILE *file = fopen(path, "r"), *copy;

	if (!file)
		return false;
	copy = open_memstream(&kept, &length);
	while (getline(&line, &size, file) > 0 && strncmp(line, MARKER, strlen(MARKER)))
		fputs(line, copy);
	fclose(file);
	fclose(copy);
	while (length && kept[length - 1] == '\n')
		length--;
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "%.*s\n\n%s\n", (int)length, kept, MARKER);
	for (i = 0; i < cat->n_engines; i++) {
		char section[80];

		snprintf(section, sizeof(section), "[%s]\n", cat->engines[i].id);
		if (strstr(kept, section))
			write_engine(file, &cat->engines[i], groups, n);
	}
	free(line);
	free(kept);
	return !fclose(file);
}

/* Coefficients of an earlier fit must not steer this one. */
static void forget(struct catalogue *cat)
{
	size_t i;

	for (i = 0; i < cat->n_engines; i++)
		memcpy(cat->engines[i].fit, engine_generic.fit, sizeof(engine_generic.fit));
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
			if (g->n)
				count++;
			else
				free(g->sample);
		}
	}
	return count;
}

int main(int argc, char **argv)
{
	static struct group groups[256];
	static const char *const files[] = {
		"deepspeed", "fsdp", "gptq-for-llama", "hf", "hf-peft", "litgpt", "llama.cpp",
		"megatron", "torchtune", "unsloth", "vllm",
	};
	struct size_row *rows;
	struct catalogue cat;
	struct fault f;
	char path[4096];
	size_t n, count, i;
	int task;

	if (argc < 3) {
		fprintf(stderr, "usage: size-fit DATA.csv CATALOGUE [-n]\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[2], NULL, &f)) {
		fprintf(stderr, "size-fit: %s\n", f.text);
		return 1;
	}
	forget(&cat);
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows || n > ROWS_MAX)
		return 1;
	count = make_groups(&cat, rows, n, groups);
	for (i = 0; i < count; i++)
		fit_group(&groups[i]);
	for (i = 0; i < count; i++)
		set_p95(groups, count, &groups[i]);
	for (i = 0; i < count; i++)
		print_group(&groups[i]);
	for (task = 0; task < SIZE_TASKS; task++)
		print_task(groups, count, task);
	for (i = 0; argc == 3 && i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/engines.d/%s.conf", argv[2], files[i]);
		if (!rewrite(path, &cat, groups, count)) {
			fprintf(stderr, "size-fit: %s cannot be written\n", path);
			return 1;
		}
	}
	for (i = 0; i < count; i++)
		free(groups[i].sample);
	free(rows);
	catalogue_free(&cat);
	return 0;
}
