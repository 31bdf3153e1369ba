/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a workload will want some steps from now: not the mean, but what it
 * will not exceed with a given chance, since too few GPUs cost more than too many.
 */
#ifndef GPUCTL_PLAN_FORECAST_H
#define GPUCTL_PLAN_FORECAST_H

#include <stddef.h>

/* What is forecast is the value of a model, and a quantile of how wrong it was. */
enum forecast_model {
	FORECAST_NAIVE, /* as it is now */
	FORECAST_SMOOTHED, /* exponential smoothing */
	FORECAST_HOLT_WINTERS, /* level, damped trend, season */
	FORECAST_PROFILE, /* profile of the season, and what is left fades: AR(1) */
	FORECAST_MODELS
};

/* Several ways of learning how wrong it was, for each model that they suit. */
#define FORECAST_WAYS 12

extern const char *const forecast_way_names[FORECAST_WAYS];

struct forecast;

/*
 * @horizon and @season in steps, @q from 0 to 1: the price of a missing GPU
 * over the sum of that and the price of one too many.
 */
struct forecast *forecast_new(unsigned int horizon, unsigned int season, double q);
void forecast_free(struct forecast *f);

/* The value of the next step; values below 0 count as 0. */
void forecast_add(struct forecast *f, double value);

/*
 * From step @from on (counted from 0, as values are added) the value is known
 * to be @value: the end of a job, a phase of training. Hints may come in any order.
 */
void forecast_hint(struct forecast *f, size_t from, double value);

/* For the last step that was added plus the horizon; 0 before any was. */
double forecast_quantile(const struct forecast *f);
/* The same by one model alone with its plain errors. */
double forecast_model_quantile(const struct forecast *f, enum forecast_model model);
/* Which way has been best of late. */
size_t forecast_best(const struct forecast *f);

/* Pinball loss: q a GPU too few, 1 - q one too many. */
double forecast_loss(double actual, double forecast, double q);

#endif
