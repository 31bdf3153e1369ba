// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how true the times are
 *
 *	build/size-speed DATA.csv CATALOGUE [fit [-v]]
 *
 * Predicted tokens a second of a GPU against published ones; with "fit" the
 * coefficients are fitted first, towards 1, held out by model, and written to
 * engines.d/speed.conf.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "size/physics.h"
#include "size/speed.h"
#include "size_rows.h"

#define ROWS_MAX 4096
#define RIDGE 0.3

struct sample {
	const struct size_row *row;
	const struct cat_gpu *gpu;
	double x[SPEED_TERMS];
	double off;
};

static struct sample sample[ROWS_MAX];
static size_t n_samples;

/* The kind that a row means: "a100_40gb", "H100-80", "RTX4090". */
static const struct cat_gpu *gpu_of(const struct catalogue *cat, const struct size_row *row)
{
	static const struct {
		const char *word;
		const char *also;
		const char *id;
	} names[] = {
		{ "a100", "40", "a100-sxm4-40" }, { "a100", "", "a100-sxm4-80" },
		{ "h100", "", "h100-sxm5-80" },
		{ "h200", "", "h200-sxm-141" },	  { "b200", "", "b200-sxm-180" },
		{ "4090", "", "rtx-4090" },	  { "3090", "", "rtx-3090" },
		{ "l40s", "", "l40s" },		  { "a6000", "", "rtx-a6000" },
		{ "v100", "", "v100-sxm2-32" },
	};
	size_t i, j;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcasestr(row->gpu_name, names[i].word) ||
		    !strstr(row->gpu_name, names[i].also))
			continue;
		for (j = 0; j < cat->n_gpus; j++)
			if (!strcmp(cat->gpus[j].id, names[i].id))
				return &cat->gpus[j];
	}
	return NULL;
}

/* Tokens a second as published, or from the published MFU. */
static double published(const struct size_row *row, const struct cat_gpu *gpu)
{
	double tflops;

	if (row->tokens_per_s > 0)
		return row->tokens_per_s;
	if (row->mfu <= 0 || cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &tflops) == GPU_UNKNOWN)
		return 0;
	return row->mfu / 100 * tflops * 1e12 / size_flop_per_token(&row->req);
}

static void collect(const struct catalogue *cat, const struct size_row *rows, size_t n)
{
	double t[SPEED_TERMS], want;
	size_t i;
	int k;

	for (i = 0; i < n && n_samples < ROWS_MAX; i++) {
		struct sample *s = &sample[n_samples];

		if (*rows[i].skip || rows[i].req.task != SIZE_TRAIN)
			continue;
		s->row = &rows[i];
		s->gpu = gpu_of(cat, &rows[i]);
		want = s->gpu ? published(&rows[i], s->gpu) : 0;
		if (want <= 0 || !size_speed_terms(&rows[i].req, &rows[i].layout, s->gpu,
						   rows[i].global_batch, t))
			continue;
		for (k = 0; k < SPEED_TERMS; k++)
			s->x[k] = t[k] * want;
		n_samples++;
	}
}

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

static double predict(const struct sample *s, const double *coef)
{
	double sum = 0;
	int k;

	for (k = 0; k < SPEED_TERMS; k++)
		sum += s->x[k] * coef[k];
	return 1 / sum;
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
		error[i] = fabs(sample[i].off);
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
				sample[j].off = predict(&sample[j], coef) - 1;
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
	struct size_rate rate;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct size_row *r = &rows[i];
		const struct cat_gpu *gpu = r->usable ? gpu_of(cat, r) : NULL;

		if (!gpu)
			continue;
		if (r->req.task == SIZE_INFER && r->tokens_per_s > 0) {
			size_rate_infer(&r->req, &r->layout, gpu, &rate);
			printf("decoding %-6s %-18s %-14s %6.1f tokens/s, at most %7.1f (%.0f %%)\n", r->id,
			       r->model_name, r->req.precision->name, r->tokens_per_s,
			       rate.tokens_per_s, 100 * r->tokens_per_s / rate.tokens_per_s);
		} else if (r->gpu_hours > 0 && r->tokens_trained > 0) {
			double hours;

			size_rate_train(&r->req, &r->layout, gpu, cat->speed, 0, &rate);
			hours = r->tokens_trained / rate.tokens_per_s / 3600;
			printf("training %-6s %-18s %10.0f GPU-hours published, %10.0f computed (%+.0f %%)\n",
			       r->id, r->model_name, r->gpu_hours, hours,
			       100 * (hours / r->gpu_hours - 1));
		}
	}
}

int main(int argc, char **argv)
{
	double coef[SPEED_TERMS];
	struct size_row *rows;
	struct catalogue cat;
	struct fault f;
	size_t n, i;
	int k;

	if (argc < 3) {
		fprintf(stderr, "usage: size-speed DATA.csv CATALOGUE [fit [-v]]\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[2], NULL, &f)) {
		fprintf(stderr, "size-speed: %s\n", f.text);
		return 1;
	}
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows)
		return 1;
	collect(&cat, rows, n);
	memcpy(coef, cat.speed, sizeof(coef));
	if (argc > 3) {
		hold_out();
		fit(NULL, coef);
		if (!write_file(argv[2], coef))
			return 1;
	}
	for (i = 0; i < n_samples; i++) {
		sample[i].off = predict(&sample[i], coef) - 1;
		if (argc > 4)
			printf("row %s %s %s %s off %+.1f %%\n", sample[i].row->id,
			       sample[i].row->model_name, sample[i].row->engine_name,
			       sample[i].row->gpu_name, 100 * sample[i].off);
	}
	if (argc == 3)
		print_others(&cat, rows, n);
	report("tokens/s of a GPU");
	for (k = 0; k < SPEED_TERMS; k++)
		printf(" %s %.3f", speed_term_keys[k], coef[k]);
	printf("\n");
	free(rows);
	catalogue_free(&cat);
	return 0;
}
