// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how true the times are
 *
 *	build/size-speed DATA.csv CATALOGUE [fit] [-v]
 *
 * Predicted tokens a second of a GPU against published ones; with "fit" the
 * coefficients are fitted first, towards 1, held out by model, and written to
 * engines.d/speed.conf.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size/physics.h"
#include "size_times.h"

#define ROWS_MAX 4096
#define RIDGE 0.3

static struct size_time sample[ROWS_MAX];
static double off[ROWS_MAX];
static size_t n_samples;

/* Coordinate descent: coefficients stay positive, a ridge holds them near 1. */
static void fit(const char *without, double *coef)
{
	int round, k, j;
	size_t i;

	for (k = 0; k < SPEED_TERMS; k++)
		coef[k] = 1;
	for (round = 0; round < 400; round++) {
		for (k = 0; k < SPEED_TERMS; k++) {
			double up = RIDGE, down = RIDGE;

			for (i = 0; i < n_samples; i++) {
				double rest = 1, w = 1;

				if (without && !strcmp(sample[i].row->model_name, without))
					continue;
				for (j = 0; j < SPEED_TERMS; j++)
					rest -= j == k ? 0 : coef[j] * sample[i].x[j];
				/* Huber: what is far off must not bend the rest */
				w = fabs(rest - coef[k] * sample[i].x[k]);
				w = w > 0.1 ? 0.1 / w : 1;
				up += w * sample[i].x[k] * rest;
				down += w * sample[i].x[k] * sample[i].x[k];
			}
			coef[k] = fmax(0.02, up / down);
		}
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *what)
{
	static double error[ROWS_MAX];
	size_t i;

	for (i = 0; i < n_samples; i++)
		error[i] = fabs(off[i]);
	qsort(error, n_samples, sizeof(error[0]), ascending);
	printf("speed    %-22s n %4zu  median %6.2f %%  p90 %6.2f %%\n", what, n_samples,
	       n_samples ? 100 * error[n_samples / 2] : 0,
	       n_samples ? 100 * error[n_samples * 9 / 10] : 0);
}

static void hold_out(void)
{
	double coef[SPEED_TERMS];
	size_t i, j;

	for (i = 0; i < n_samples; i++) {
		for (j = 0; j < i; j++)
			if (!strcmp(sample[j].row->model_name, sample[i].row->model_name))
				break;
		if (j < i)
			continue;
		fit(sample[i].row->model_name, coef);
		for (j = i; j < n_samples; j++)
			if (!strcmp(sample[j].row->model_name, sample[i].row->model_name))
				off[j] = size_time_ratio(&sample[j], coef) - 1;
	}
	report("held out by model");
}

static bool write_file(const char *dir, const double *coef)
{
	char path[4096];
	FILE *file;
	int k;

	snprintf(path, sizeof(path), "%s/engines.d/speed.conf", dir);
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "# SPDX-License-Identifier: GPL-2.0-only\n#\n"
		"# How well the rates of a GPU are reached in training: written by \"make fit\".\n"
		"# Format: gpuctl-catalogue(5).\n\n[speed]\nrows = %zu\n", n_samples);
	for (k = 0; k < SPEED_TERMS; k++)
		fprintf(file, "%s = %.4f\n", speed_term_keys[k], coef[k]);
	return !fclose(file);
}

/* Too few and too different to score: inference and whole trainings, row by row. */
static void print_others(const struct catalogue *cat, const struct size_row *rows, size_t n)
{
	static struct size_time other[ROWS_MAX];
	size_t found = size_times(cat, rows, n, TIME_INFER, other, ROWS_MAX), i;
	const struct size_time *t;

	for (i = 0; i < found; i++) {
		t = &other[i];
		printf("decoding %-6s %-18s %-14s %6.1f tokens/s, at most %7.1f (%.0f %%)\n",
		       t->row->id, t->row->model_name, t->row->req.precision->name, t->published,
		       t->computed, 100 * t->published / t->computed);
	}
	found = size_times(cat, rows, n, TIME_HOURS, other, ROWS_MAX);
	for (i = 0; i < found; i++) {
		t = &other[i];
		printf("training %-6s %-18s %10.0f GPU-hours published, %10.0f computed (%+.0f %%)\n",
		       t->row->id, t->row->model_name, t->published, t->computed,
		       100 * (t->computed / t->published - 1));
	}
}

int main(int argc, char **argv)
{
	double coef[SPEED_TERMS];
	struct size_row *rows;
	struct catalogue cat;
	struct fault f;
	bool fits = argc > 3 && !strcmp(argv[3], "fit");
	bool tells = argc > 3 && !strcmp(argv[argc - 1], "-v");
	size_t n, i;
	int k;

	if (argc < 3 || argc != 3 + fits + tells) {
		fprintf(stderr, "usage: size-speed DATA.csv CATALOGUE [fit] [-v]\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[2], NULL, &f)) {
		fprintf(stderr, "size-speed: %s\n", f.text);
		return 1;
	}
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows)
		return 1;
	n_samples = size_times(&cat, rows, n, TIME_TRAIN, sample, ROWS_MAX);
	memcpy(coef, cat.speed, sizeof(coef));
	if (fits) {
		hold_out();
		fit(NULL, coef);
		if (!write_file(argv[2], coef))
			return 1;
	}
	for (i = 0; i < n_samples; i++) {
		off[i] = size_time_ratio(&sample[i], coef) - 1;
		if (tells)
			printf("row %s %s %s %s off %+.1f %%\n", sample[i].row->id,
			       sample[i].row->model_name, sample[i].row->engine_name,
			       sample[i].row->gpu_name, 100 * off[i]);
	}
	if (!fits)
		print_others(&cat, rows, n);
	report("tokens/s of a GPU");
	for (k = 0; k < SPEED_TERMS; k++)
		printf(" %s %.3f", speed_term_keys[k], coef[k]);
	printf("\n");
	free(rows);
	catalogue_free(&cat);
	return 0;
}
