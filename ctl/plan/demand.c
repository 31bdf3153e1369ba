// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: demand of the intervals ahead
 *
 * Interval 0 asks for what is asked for now. Later ones ask for what is not exceeded with the
 * chance of the quantile, forecast for some intervals and drawn straight between them. What is
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

/* Intervals ahead that are forecast; the last interval is, too. */
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

/* Intervals from @from to @to, of which @from has its value. */
static void ahead_draw(double *demand, size_t from, size_t to, double value)
{
	double begin = demand[from];
	size_t t;

	for (t = from + 1; t <= to; t++)
		demand[t] = begin + (value - begin) * (double)(t - from) / (double)(to - from);
}

static const char *ahead_learn(const struct plan_past *past, double interval_min, double quantile,
			       size_t n_intervals, double *demand)
{
	unsigned int season = (unsigned int)(DAY_MIN / interval_min);
	double top = most(past->values, past->n), value;
	size_t i, t, from = 0, to;
	const char *how = NULL, *near = NULL;
	bool whole = true;

	for (i = 0; i <= HORIZONS && from + 1 < n_intervals; i++) {
		to = i < HORIZONS && horizons[i] < n_intervals ? horizons[i] : n_intervals - 1;
		value = at_horizon(past, to, season ? season : 1, quantile, &how);
		if (!near)
			near = how;
		ahead_draw(demand, from, to, value < top ? value : top);
		from = to;
	}
	/* Of whole GPUs; a part of one is still asked for. */
	for (i = 0; i < past->n; i++)
		whole &= past->values[i] == floor(past->values[i]);
	for (t = 1; t < n_intervals && whole; t++)
		demand[t] = floor(demand[t] + 0.5);
	return near ? near : "as it is now";
}

const char *plan_forecast(const struct plan_past *past, uint64_t minute, double interval_min,
			  double quantile, size_t n_intervals, double *demand)
{
	const char *how = "as it is now";
	size_t t, i;

	demand[0] = past->n ? past->values[past->n - 1] : 0;
	if (past->n >= AHEAD_LEARN)
		how = ahead_learn(past, interval_min, quantile, n_intervals, demand);
	else
		for (t = 1; t < n_intervals; t++)
			demand[t] = demand[0];
	for (t = 0; t < n_intervals; t++) {
		double then = (double)minute + (double)t * interval_min;

		/* What has begun is seen in the demand, where that is known. */
		for (i = 0; i < past->n_phases && (double)past->phases[i].minute <= then; i++)
			if (!past->n || past->phases[i].minute > minute)
				demand[t] = past->phases[i].gpus;
	}
	return past->n_phases && !past->n ? "as announced" : how;
}

void plan_past_series(struct plan_past *past, const struct series_set *series, uint64_t minute,
		      unsigned int interval_min)
{
	size_t n = series->minutes, i, j, intervals;

	past->n = 0;
	if (minute < series->first)
		return;
	if (minute - series->first + 1 < n)
		n = (size_t)(minute - series->first + 1);
	intervals = n / interval_min < AHEAD_HISTORY ? n / interval_min : AHEAD_HISTORY;
	/* The first minutes are the value now until there is an interval of them. */
	if (n && !intervals)
		intervals = 1;
	past->values = mem_zalloc(intervals, sizeof(*past->values));
	past->n = intervals;
	for (i = 0; i < intervals; i++) {
		size_t end = n - (intervals - 1 - i) * interval_min;

		for (j = end > interval_min ? end - interval_min : 0; j < end; j++)
			if (series->of[0].demand[j] > past->values[i])
				past->values[i] = series->of[0].demand[j];
	}
	/* What is over is over: the last minute says what is asked for now. */
	if (n)
		past->values[intervals - 1] = series->of[0].demand[n - 1];
}

uint32_t plan_until_epoch(const uint64_t *epochs, size_t n, uint64_t minute, double interval_min,
			  uint32_t n_intervals)
{
	double intervals;
	size_t i;

	for (i = 0; i < n && epochs[i] < minute;)
		i++;
	if (i == n)
		return 0;
	intervals = ceil((double)(epochs[i] - minute) / interval_min - ROUNDING);
	return intervals < n_intervals ? (uint32_t)intervals : n_intervals;
}

static const struct series_set *series_of(const struct plan_ahead *ahead, const char *name)
{
	size_t i;

	for (i = 0; i < ahead->n_series; i++)
		if (!strcmp(ahead->series[i].of[0].name, name))
			return &ahead->series[i];
	return NULL;
}

/* What the forecast of a workload is made from: its history, or its series. */
static int past_find(const struct plan_instance *in, struct plan_ahead *ahead, size_t workload,
		     struct fault *fault)
{
	const char *name = in->workloads[workload].name;
	const struct series_set *series = series_of(ahead, name);
	struct plan_past *past = &ahead->asked[workload].past;
	unsigned int interval_min = (unsigned int)(in->interval_s / 60);

	if (past->values && series)
		return plan_workload_refuse(ahead, workload, fault,
					    "workload %s has \"history\" and a series", name);
	if (!past->values && !series && !past->n_phases)
		return plan_workload_refuse(ahead, workload, fault,
					    "workload %s needs \"gpus\", \"memory_gib\", \"history\", \"phases\" or a series %s.csv",
					    name, name);
	if (!series)
		return 0;
	if (interval_min * 60.0 < in->interval_s || !interval_min)
		return plan_workload_refuse(ahead, workload, fault,
					    "workload %s has a series of minutes: \"interval_s\" is no multiple of 60",
					    name);
	plan_past_series(past, series, ahead->minute, interval_min);
	return 0;
}

/* GPUs of one kind that do so much, of which one does @each. */
static int choice_need(const struct plan_instance *in, const struct plan_ahead *ahead,
		       size_t workload, size_t choice, struct fault *fault)
{
	const struct plan_asked *asked = &ahead->asked[workload];
	struct plan_choice *c = &in->workloads[workload].choices[choice];
	size_t t;

	for (t = 0; t < in->n_intervals; t++) {
		double n = ceil(asked->demand[t] / asked->each[choice] - 1.0 / (1 << 30));

		if (n > PLAN_GPUS_MAX)
			return plan_workload_refuse(ahead, workload, fault,
						    "%g GPUs of kind %s in interval %zu: at most %u are possible",
						    n, in->kinds[c->kind].name, t, PLAN_GPUS_MAX);
		c->need[t] = (uint32_t)n;
		/* What is not 0 in one kind is not 0 in another. */
		if (asked->demand[t] > 0 && !c->need[t])
			c->need[t] = 1;
	}
	return 0;
}

static int workload_forecast(struct plan_instance *in, struct plan_ahead *ahead, size_t workload,
			     struct fault *fault)
{
	struct plan_workload *w = &in->workloads[workload];
	struct plan_asked *asked = &ahead->asked[workload];
	double interval_min = in->interval_s / 60;
	uint32_t keep;
	size_t t, i;
	int err = 0;

	if (!asked->demand) {
		err = past_find(in, ahead, workload, fault);
		if (err)
			return err;
		asked->demand = mem_zalloc(in->n_intervals, sizeof(*asked->demand));
		asked->how = plan_forecast(&asked->past, ahead->minute, interval_min,
					   ahead->quantile, in->n_intervals, asked->demand);
		/* Of a clock that is not set yet, perhaps: it is left alone. */
		if (!asked->past.values && !asked->past.n_phases) {
			asked->how = "its series begins later";
			w->keep = (uint32_t)in->n_intervals;
		}
	}
	asked->now = asked->demand[0];
	for (t = 0; t < in->n_intervals; t++)
		if (asked->demand[t] > asked->peak)
			asked->peak = asked->demand[t];
	if (asked->left)
		return 0;
	for (i = 0; i < w->n_choices && !err; i++)
		err = choice_need(in, ahead, workload, i, fault);
	/* Between the ends of epochs it is not moved. */
	keep = plan_until_epoch(asked->epochs, asked->n_epochs, ahead->minute, interval_min,
				(uint32_t)in->n_intervals);
	if (keep > w->keep)
		w->keep = keep;
	return err;
}

int plan_demand_forecast(struct plan_instance *in, struct plan_ahead *ahead, struct fault *fault)
{
	size_t w;
	int err = 0;

	for (w = 0; w < in->n_workloads && !err; w++)
		err = workload_forecast(in, ahead, w, fault);
	return err;
}
