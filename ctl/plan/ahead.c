// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: demand of the slots ahead
 *
 * Slot 0 asks for what is asked for now. Later ones ask for what is not exceeded with the
 * chance of the quantile, forecast for some slots and drawn straight between them. What is
 * announced (a phase of training) counts from its minute on instead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/ahead.h"
#include "plan/forecast.h"

#define DAY_MIN 1440
#define ROUNDING 0.000000001

/* Slots ahead that are forecast; the last slot is, too. */
static const size_t horizons[] = { 1, 5, 15, 60 };

#define HORIZONS (sizeof(horizons) / sizeof(horizons[0]))

static double most(const double *values, size_t n)
{
	double found = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (values[i] > found)
			found = values[i];
	return found;
}

static double at_horizon(const struct plan_past *past, size_t horizon, unsigned int season,
			 double quantile, const char **how)
{
	struct forecast *f = forecast_new((unsigned int)horizon, season, quantile);
	double value;
	size_t i;

	for (i = 0; i < past->n; i++)
		forecast_add(f, past->values[i]);
	value = forecast_quantile(f);
	*how = forecast_way_names[forecast_best(f)];
	forecast_free(f);
	return value;
}

/* Slots from @from to @to, of which @from has its value. */
static void ahead_draw(double *demand, size_t from, size_t to, double value)
{
	double begin = demand[from];
	size_t t;

	for (t = from + 1; t <= to; t++)
		demand[t] = begin + (value - begin) * (double)(t - from) / (double)(to - from);
}

static const char *ahead_learn(const struct plan_past *past, double slot_min, double quantile,
			       size_t n_slots, double *demand)
{
	unsigned int season = (unsigned int)(DAY_MIN / slot_min);
	double top = most(past->values, past->n), value;
	size_t i, t, from = 0, to;
	const char *how = NULL, *near = NULL;

	for (i = 0; i <= HORIZONS && from + 1 < n_slots; i++) {
		to = i < HORIZONS && horizons[i] < n_slots ? horizons[i] : n_slots - 1;
		value = at_horizon(past, to, season ? season : 1, quantile, &how);
		if (!near)
			near = how;
		ahead_draw(demand, from, to, value < top ? value : top);
		from = to;
	}
	for (t = 1; t < n_slots; t++)
		demand[t] = floor(demand[t] + 0.5);
	return near ? near : "as it is now";
}

const char *plan_forecast(const struct plan_past *past, uint64_t minute, double slot_min,
			  double quantile, size_t n_slots, double *demand)
{
	const char *how = "as it is now";
	size_t t, i;

	demand[0] = past->n ? past->values[past->n - 1] : 0;
	if (past->n >= AHEAD_LEARN)
		how = ahead_learn(past, slot_min, quantile, n_slots, demand);
	else
		for (t = 1; t < n_slots; t++)
			demand[t] = demand[0];
	for (t = 0; t < n_slots; t++) {
		double then = (double)minute + (double)t * slot_min;

		/* What has begun is seen in the demand, where that is known. */
		for (i = 0; i < past->n_phases && (double)past->phases[i].minute <= then; i++)
			if (!past->n || past->phases[i].minute > minute)
				demand[t] = past->phases[i].gpus;
	}
	return past->n_phases && !past->n ? "as announced" : how;
}

void plan_past_series(struct plan_past *past, const struct series_set *series, uint64_t minute,
		      unsigned int slot_min)
{
	size_t n = series->minutes, i, j, slots;

	past->n = 0;
	if (minute < series->first)
		return;
	if (minute - series->first + 1 < n)
		n = (size_t)(minute - series->first + 1);
	slots = n / slot_min < AHEAD_HISTORY ? n / slot_min : AHEAD_HISTORY;
	/* The first minutes are the value now until there is a slot of them. */
	if (n && !slots)
		slots = 1;
	past->values = mem_zalloc(slots, sizeof(*past->values));
	past->n = slots;
	for (i = 0; i < slots; i++) {
		size_t end = n - (slots - 1 - i) * slot_min;

		for (j = end > slot_min ? end - slot_min : 0; j < end; j++)
			if (series->of[0].demand[j] > past->values[i])
				past->values[i] = series->of[0].demand[j];
	}
	/* What is over is over: the last minute says what is asked for now. */
	if (n)
		past->values[slots - 1] = series->of[0].demand[n - 1];
}

uint32_t plan_until_epoch(const uint64_t *epochs, size_t n, uint64_t minute, double slot_min,
			  uint32_t n_slots)
{
	double slots;
	size_t i;

	for (i = 0; i < n && epochs[i] < minute;)
		i++;
	if (i == n)
		return 0;
	slots = ceil((double)(epochs[i] - minute) / slot_min - ROUNDING);
	return slots < n_slots ? (uint32_t)slots : n_slots;
}

void plan_ahead_free(struct plan_ahead *ahead)
{
	size_t i;

	for (i = 0; i < ahead->n_sets; i++) {
		free(ahead->sets[i].name);
		free(ahead->sets[i].tenant);
		free(ahead->sets[i].has);
		free(ahead->sets[i].held);
	}
	free(ahead->sets);
	free(ahead->asked);
	ahead->sets = NULL;
	ahead->asked = NULL;
	ahead->n_sets = 0;
}
