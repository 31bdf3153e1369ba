// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how good forecasts are
 *
 * plan-forecast POOL FILE... prints one JSON object: mean pinball loss at 0.9 of forecasts 60 minutes
 * ahead, made every 10 minutes, summed over tenants, the first week not counted; ours, naive and
 * damped Holt-Winters, each with the errors that it made before. FILE is one trace of jobs, whose
 * tenants then want what all their jobs would have if they began at once, or demand series.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/forecast.h"
#include "plan/replay/jobs.h"
#include "plan/series.h"

#define STEP_MIN 10
#define HORIZON 6
#define SEASON 144
#define QUANTILE 0.9
#define WARM (7 * SEASON)

/**
 * struct tally - of all tenants
 * @ours: pinball loss, as @naive and @holt
 * @below: forecasts of ours that were not exceeded
 * @n: forecasts
 */
struct tally {
	double ours, naive, holt;
	size_t below, n;
};

static char *slurp(const char *name, size_t *len)
{
	FILE *f = fopen(name, "re");
	char *text;

	if (!f || fseek(f, 0, SEEK_END))
		exit(2);
	*len = (size_t)ftell(f);
	rewind(f);
	text = mem_zalloc(*len + 1, 1);
	if (fread(text, 1, *len, f) != *len)
		exit(2);
	fclose(f);
	return text;
}

static void judge(struct tally *t, const double *y, size_t n)
{
	struct forecast *f = forecast_new(HORIZON, SEASON, QUANTILE);
	size_t i;

	for (i = 0; i + HORIZON < n; i++) {
		double actual = y[i + HORIZON], ours;

		forecast_add(f, y[i]);
		if (i < WARM)
			continue;
		ours = forecast_quantile(f);
		t->ours += forecast_loss(actual, ours, QUANTILE);
		t->naive += forecast_loss(actual, forecast_model_quantile(f, FORECAST_NAIVE), QUANTILE);
		t->holt += forecast_loss(actual, forecast_model_quantile(f, FORECAST_HOLT_WINTERS),
					 QUANTILE);
		t->below += actual <= ours + 1e-9;
		t->n++;
	}
	forecast_free(f);
}

static void judge_series(struct tally *t, const struct series_set *set)
{
	size_t n = set->minutes / STEP_MIN, i, k;
	double *y = mem_zalloc(n + 1, sizeof(*y));

	for (i = 0; i < set->n; i++) {
		for (k = 0; k < n; k++)
			y[k] = set->of[i].demand[k * STEP_MIN];
		judge(t, y, n);
	}
	free(y);
}

static void judge_jobs(struct tally *t, const struct jobs *jobs)
{
	int64_t first = jobs->job[0].submit / 86400 * 86400, step = STEP_MIN * 60;
	size_t n = (size_t)((jobs->job[jobs->n - 1].submit - first) / step) + 1, i, k;
	double *y = mem_zalloc(n + 1, sizeof(*y));

	for (i = 0; i < jobs->n_tenants; i++) {
		memset(y, 0, n * sizeof(*y));
		for (k = 0; k < jobs->n; k++) {
			const struct job *j = &jobs->job[k];
			size_t at = (size_t)((j->submit - first + step - 1) / step);

			if (j->tenant != i)
				continue;
			for (; at < n && first + (int64_t)at * step < j->submit + j->duration; at++)
				y[at] += j->gpus;
		}
		judge(t, y, n);
	}
	free(y);
}

static size_t read_all(struct tally *t, uint32_t pool, int n, char **names)
{
	struct series_set set = { 0 };
	struct fault f = { "" };
	struct jobs jobs;
	size_t tenants, len;
	int i, err = 0;

	for (i = 0; i < n && !err; i++) {
		char *text = slurp(names[i], &len);

		if (!strncmp(text, "minute", 6)) {
			err = series_add(&set, names[i], text, len, pool, &f);
		} else {
			err = jobs_parse(&jobs, names[i], text, len, pool, &f);
			if (!err) {
				tenants = jobs.n_tenants;
				judge_jobs(t, &jobs);
				jobs_free(&jobs);
				free(text);
				return tenants;
			}
		}
		free(text);
	}
	if (err) {
		fprintf(stderr, "%s\n", f.text);
		exit(2);
	}
	tenants = set.n;
	judge_series(t, &set);
	series_free(&set);
	return tenants;
}

int main(int argc, char **argv)
{
	struct tally t = { 0 };
	double each, best;
	size_t tenants;

	if (argc < 3) {
		fprintf(stderr, "usage: plan-forecast POOL FILE...\n");
		return 2;
	}
	tenants = read_all(&t, (uint32_t)strtoul(argv[1], NULL, 10), argc - 2, argv + 2);
	if (!t.n) {
		fprintf(stderr, "plan-forecast: no more than the first week\n");
		return 2;
	}
	each = (double)t.n / (double)tenants;
	best = t.naive < t.holt ? t.naive : t.holt;
	printf("{\"pinball\":%.3f,\"naive\":%.3f,\"holt_winters\":%.3f,\"ratio\":%.4f,\"coverage\":%.4f,",
	       t.ours / each, t.naive / each, t.holt / each, best > 0 ? t.ours / best : 1,
	       (double)t.below / (double)t.n);
	printf("\"horizon_min\":%d,\"step_min\":%d,\"quantile\":%.2f,\"forecasts\":%zu}\n",
	       HORIZON * STEP_MIN, STEP_MIN, QUANTILE, t.n);
	return 0;
}
