// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how fast, as published
 *
 * Picks the rows that say how fast and computes the same: training is scored, inference and
 * whole trainings are too few and too different for that and are shown row by row.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "size_times.h"

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

double size_time_ratio(const struct size_time *time, const double *coef)
{
	double sum = 0;
	int k;

	for (k = 0; k < SPEED_TERMS; k++)
		sum += time->x[k] * coef[k];
	return 1 / sum;
}

static bool training(const struct catalogue *cat, struct size_time *t)
{
	const struct size_row *row = t->row;
	double parts[SPEED_TERMS];
	int k;

	if (*row->skip || row->req.task != SIZE_TRAIN)
		return false;
	t->published = published(row, t->gpu);
	if (t->published <= 0 || !size_speed_terms(&row->req, &row->layout, t->gpu,
						   row->global_batch, parts))
		return false;
	for (k = 0; k < SPEED_TERMS; k++)
		t->x[k] = parts[k] * t->published;
	t->computed = t->published * size_time_ratio(t, cat->speed);
	return true;
}

static bool inference(struct size_time *t)
{
	struct size_rate rate;

	if (!t->row->usable || t->row->req.task != SIZE_INFER || t->row->tokens_per_s <= 0)
		return false;
	size_rate_infer(&t->row->req, &t->row->layout, t->gpu, &rate);
	t->published = t->row->tokens_per_s;
	t->computed = rate.tokens_per_s;
	return t->computed > 0;
}

static bool hours(const struct catalogue *cat, struct size_time *t)
{
	const struct size_row *row = t->row;
	struct size_rate rate;

	if (!row->usable || row->gpu_hours <= 0 || row->tokens_trained <= 0 ||
	    (row->req.task == SIZE_INFER && row->tokens_per_s > 0))
		return false;
	size_rate_train(&row->req, &row->layout, t->gpu, cat->speed, 0, &rate);
	if (rate.tokens_per_s <= 0)
		return false;
	t->published = row->gpu_hours;
	t->computed = row->tokens_trained / rate.tokens_per_s / 3600;
	return true;
}

size_t size_times(const struct catalogue *cat, const struct size_row *rows, size_t n,
		  enum size_time_kind kind, struct size_time *out, size_t max)
{
	size_t found = 0, i;
	bool good;

	for (i = 0; i < n && found < max; i++) {
		struct size_time t = { .row = &rows[i], .gpu = gpu_of(cat, &rows[i]) };

		if (!t.gpu)
			continue;
		if (kind == TIME_TRAIN)
			good = training(cat, &t);
		else
			good = kind == TIME_INFER ? inference(&t) : hours(cat, &t);
		if (good)
			out[found++] = t;
	}
	return found;
}
