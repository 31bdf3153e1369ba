// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: forecasts
 *
 * A way of forecasting is a model and the errors that it made before: all of the
 * last days, those at this time of day, those at about this value, and any of them
 * measured in what the series moved lately. Each step all ways forecast; when the value comes, each
 * is charged its pinball loss. The forecast is their mean, those with the least
 * loss of late counting most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "forecast.h"

#define SPEEDS 3
#define ERRORS_MIN 30 /* fewer at this time of day, or at this value: all errors */
#define LEVEL_APART 0.5 /* values that are at most this far apart are alike */
#define LOSS_KEEP 0.998
#define LOSS_SPREAD 0.1 /* a way that is so much worse counts 1/e */
#define LOSS_LEAST 0.000000001
#define SCALE_FLOOR 0.1
#define SCALE_FAST 0.8 /* share of the recent moves in the scale */
#define MOVES_LONG 0.002
#define LEVEL_GAIN 0.5 /* Holt-Winters */
#define TREND_GAIN 0.01
#define SEASON_GAIN 0.1
#define DAMPING 0.9
#define SMOOTH_GAIN 0.3
#define MEAN_GAIN 0.002 /* of the profile's level */
#define PROFILE_GAIN 0.2
#define FADE 0.995 /* AR(1) */

static const double speeds[SPEEDS] = { 0.03, 0.1, 0.3 };

/**
 * struct way - a model and which of its errors count
 * @model: the model
 * @window: seasons back
 * @near: only errors at most this part of a season off this time; 0: all
 * @speed: of the scale, 1 and up; 0: errors as they are
 * @level: only errors made when the value was at most this part of it off; 0: all. What is far
 *   above its mean falls, and what is 0 does not
 */
static const struct way {
	enum forecast_model model;
	unsigned int window;
	double near;
	unsigned int speed;
	double level;
} ways[FORECAST_WAYS] = {
	[FORECAST_NAIVE] = { FORECAST_NAIVE, 7, 0, 0, 0 },
	[FORECAST_SMOOTHED] = { FORECAST_SMOOTHED, 7, 0, 0, 0 },
	[FORECAST_HOLT_WINTERS] = { FORECAST_HOLT_WINTERS, 7, 0, 0, 0 },
	[FORECAST_PROFILE] = { FORECAST_PROFILE, 7, 0, 0, 0 },
	{ FORECAST_NAIVE, 14, 1 / 16.0, 0, 0 },
	{ FORECAST_NAIVE, 14, 1 / 24.0, 0, 0 },
	{ FORECAST_NAIVE, 14, 1 / 24.0, 2, 0 },
	{ FORECAST_NAIVE, 14, 0, 3, 0 },
	{ FORECAST_NAIVE, 14, 1 / 8.0, 1, 0 },
	{ FORECAST_NAIVE, 14, 1 / 16.0, 2, 0 },
	{ FORECAST_NAIVE, 14, 1 / 8.0, 3, 0 },
	{ FORECAST_NAIVE, 14, 0, 2, 0.2 },
};

const char *const forecast_way_names[FORECAST_WAYS] = {
	"naive",
	"smoothed",
	"holt-winters",
	"profile",
	"naive by time of day",
	"naive by hour",
	"naive by hour and moves",
	"naive by fast moves",
	"naive by part of day and slow moves",
	"naive by time of day and moves",
	"naive by part of day and fast moves",
	"naive by value and moves",
};

/**
 * struct hint - a value that is known beforehand
 * @from: first step
 * @value: from then on
 */
struct hint {
	size_t from;
	double value;
};

/**
 * struct errors - all errors of a way in its window, sorted
 * @values: @n of them
 * @n: how many
 * @room: for how many
 * @first: step of the oldest
 */
struct errors {
	double *values;
	size_t n, room, first;
};

/**
 * struct forecast - one series
 * @y: the values, @n of them
 * @point: what each model said of the step that is the horizon later
 * @scale: how much it moved lately, at each speed
 * @errors: of each way that looks at all of its window
 * @said: what each way said of the latest steps, by step modulo horizon + 1
 * @loss: of each way, recent ones count most
 */
struct forecast {
	unsigned int horizon, season;
	double q;
	double *y, *point[FORECAST_MODELS], *scale[SPEEDS];
	double *buf;
	size_t n, room;
	struct errors errors[FORECAST_WAYS];
	double *said;
	double loss[FORECAST_WAYS];
	struct hint *hints;
	size_t n_hints;
	double smooth, level, trend, mean, moves[SPEEDS], moves_long;
	double *seasonal, *profile;
};

struct forecast *forecast_new(unsigned int horizon, unsigned int season, double q)
{
	struct forecast *f = mem_zalloc(1, sizeof(*f));

	f->horizon = horizon ? horizon : 1;
	f->season = season ? season : 1;
	f->q = q;
	f->said = mem_zalloc((f->horizon + 1) * (size_t)FORECAST_WAYS, sizeof(*f->said));
	f->seasonal = mem_zalloc(f->season, sizeof(*f->seasonal));
	f->profile = mem_zalloc(f->season, sizeof(*f->profile));
	return f;
}

void forecast_free(struct forecast *f)
{
	size_t i;

	for (i = 0; i < FORECAST_MODELS; i++)
		free(f->point[i]);
	for (i = 0; i < SPEEDS; i++)
		free(f->scale[i]);
	for (i = 0; i < FORECAST_WAYS; i++)
		free(f->errors[i].values);
	free(f->y);
	free(f->buf);
	free(f->said);
	free(f->hints);
	free(f->seasonal);
	free(f->profile);
	free(f);
}

static void grow(struct forecast *f)
{
	size_t i;

	if (f->n < f->room)
		return;
	f->room = f->room ? 2 * f->room : 256;
	f->y = mem_grow(f->y, f->room, sizeof(*f->y));
	f->buf = mem_grow(f->buf, f->room, sizeof(*f->buf));
	for (i = 0; i < FORECAST_MODELS; i++)
		f->point[i] = mem_grow(f->point[i], f->room, sizeof(*f->point[i]));
	for (i = 0; i < SPEEDS; i++)
		f->scale[i] = mem_grow(f->scale[i], f->room, sizeof(*f->scale[i]));
}

/* The k-th smallest; the order of the rest is lost. */
static double kth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1, i, j;
	double pivot, swap;

	while (low < high) {
		pivot = v[low + (high - low) / 2];
		i = low;
		j = high;
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap = v[i];
			v[i++] = v[j];
			v[j--] = swap;
		}
		/* below i nothing is larger, above j nothing smaller than the pivot */
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

/* The models take in the value at @t and say what comes a horizon later. */
static void run_models(struct forecast *f, size_t t)
{
	size_t now = t % f->season, then = (t + f->horizon) % f->season;
	double y = f->y[t], before = f->level, ahead = 0, damp = 1;
	unsigned int h;

	if (!t) {
		f->smooth = y;
		f->level = y;
		f->mean = y;
		before = y;
	}
	f->smooth += SMOOTH_GAIN * (y - f->smooth);
	f->level = LEVEL_GAIN * (y - f->seasonal[now]) +
		   (1 - LEVEL_GAIN) * (f->level + DAMPING * f->trend);
	f->trend = TREND_GAIN * (f->level - before) + (1 - TREND_GAIN) * DAMPING * f->trend;
	f->seasonal[now] += SEASON_GAIN * (y - f->level - f->seasonal[now]);
	f->mean += MEAN_GAIN * (y - f->mean);
	f->profile[now] += (t < f->season ? 1 : PROFILE_GAIN) * (y - f->mean - f->profile[now]);
	for (h = 0; h < f->horizon; h++) {
		damp *= DAMPING;
		ahead += damp;
	}
	f->point[FORECAST_NAIVE][t] = y;
	f->point[FORECAST_SMOOTHED][t] = f->smooth;
	f->point[FORECAST_HOLT_WINTERS][t] = f->level + ahead * f->trend + f->seasonal[then];
	f->point[FORECAST_PROFILE][t] = f->mean + f->profile[then] +
					pow(FADE, f->horizon) * (y - f->mean - f->profile[now]);
}

static void run_scales(struct forecast *f, size_t t)
{
	double move = t ? fabs(f->y[t] - f->y[t - 1]) : 0;
	size_t i;

	f->moves_long += MOVES_LONG * (move - f->moves_long);
	for (i = 0; i < SPEEDS; i++) {
		f->moves[i] += speeds[i] * (move - f->moves[i]);
		f->scale[i][t] =
			SCALE_FLOOR + SCALE_FAST * f->moves[i] + (1 - SCALE_FAST) * f->moves_long;
	}
}

/* What a way was wrong by at step @s. */
static double error_at(const struct forecast *f, const struct way *w, size_t s)
{
	double error = f->y[s + f->horizon] - f->point[w->model][s];

	return w->speed ? error / f->scale[w->speed - 1][s] : error;
}

/* The first of them that is not smaller. */
static size_t errors_find(const struct errors *e, double error)
{
	size_t low = 0, high = e->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->values[middle] < error)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The error that is known with the last value comes, what is older than the window goes. */
static void errors_move(struct forecast *f, const struct way *w, struct errors *e)
{
	size_t last = f->n - 1, back = (size_t)w->window * f->season + f->horizon, at;

	if (last < f->horizon)
		return;
	if (e->n == e->room) {
		e->room = e->room ? 2 * e->room : 256;
		e->values = mem_grow(e->values, e->room, sizeof(*e->values));
	}
	at = errors_find(e, error_at(f, w, last - f->horizon));
	memmove(e->values + at + 1, e->values + at, (e->n - at) * sizeof(*e->values));
	e->values[at] = error_at(f, w, last - f->horizon);
	for (e->n++; e->first + back < last; e->first++) {
		at = errors_find(e, error_at(f, w, e->first));
		e->n--;
		memmove(e->values + at, e->values + at + 1, (e->n - at) * sizeof(*e->values));
	}
}

/* The errors of steps that are @from to @to before the last one; @n of them are there already. */
static size_t collect(const struct forecast *f, const struct way *w, size_t from, size_t to,
		      size_t n)
{
	size_t last = f->n - 1, s;

	for (s = last - to; s + from <= last; s++)
		f->buf[n++] = error_at(f, w, s);
	return n;
}

static size_t forecast_window(const struct forecast *f, const struct way *w)
{
	size_t last = f->n - 1, most = (size_t)w->window * f->season + f->horizon;

	return last < most ? last : most;
}

/* Those made when the series was about where it is now. */
static size_t collect_alike(const struct forecast *f, const struct way *w)
{
	size_t last = f->n - 1, s, n = 0;
	double apart = w->level * f->y[last] + LEVEL_APART;

	for (s = last - forecast_window(f, w); s + f->horizon <= last; s++)
		if (fabs(f->y[s] - f->y[last]) <= apart)
			f->buf[n++] = error_at(f, w, s);
	return n;
}

/* Those at about the same time of the season, or all. */
static size_t forecast_collect(const struct forecast *f, const struct way *w, bool near)
{
	size_t off = (size_t)(w->near * f->season), n = 0, season;
	size_t most = forecast_window(f, w);

	if (most < f->horizon)
		return 0;
	if (!near || 2 * off + 1 >= f->season)
		return collect(f, w, f->horizon, most, 0);
	for (season = 0; season <= most + off; season += f->season) {
		size_t from = season > off ? season - off : 0, to = season + off;

		from = from > f->horizon ? from : f->horizon;
		to = to < most ? to : most;
		if (from <= to)
			n = collect(f, w, from, to, n);
	}
	return n;
}

/* The errors that count, in the buffer; 0: those that the way keeps sorted. */
static size_t forecast_choose(const struct forecast *f, const struct way *w)
{
	size_t n;

	if (w->level > 0) {
		n = collect_alike(f, w);
		return n < ERRORS_MIN ? 0 : n;
	}
	if (w->near <= 0)
		return 0;
	n = forecast_collect(f, w, true);
	return n < ERRORS_MIN ? forecast_collect(f, w, false) : n;
}

/* What one way says of the step that is the horizon after the last. */
static double forecast_say(const struct forecast *f, const struct way *w, const struct errors *e)
{
	size_t last = f->n - 1, chosen = forecast_choose(f, w), n = chosen ? chosen : e->n, k;
	double value = f->point[w->model][last], error;

	if (!n)
		return value > 0 ? value : 0;
	k = (size_t)ceil(f->q * (double)n);
	k -= k > 0;
	error = chosen ? kth(f->buf, n, k) : e->values[k];
	value += w->speed ? error * f->scale[w->speed - 1][last] : error;
	return value > 0 ? value : 0;
}

double forecast_loss(double actual, double forecast, double q)
{
	return actual >= forecast ? q * (actual - forecast) : (1 - q) * (forecast - actual);
}

static double *said_at(const struct forecast *f, size_t step)
{
	return f->said + step % (f->horizon + 1) * FORECAST_WAYS;
}

void forecast_add(struct forecast *f, double value)
{
	double *said;
	size_t i;

	grow(f);
	f->y[f->n] = value > 0 ? value : 0;
	run_models(f, f->n);
	run_scales(f, f->n);
	f->n++;
	if (f->n > f->horizon) {
		said = said_at(f, f->n - 1 - f->horizon);
		for (i = 0; i < FORECAST_WAYS; i++)
			f->loss[i] = LOSS_KEEP * f->loss[i] +
				     (1 - LOSS_KEEP) * forecast_loss(f->y[f->n - 1], said[i], f->q);
	}
	said = said_at(f, f->n - 1);
	for (i = 0; i < FORECAST_WAYS; i++) {
		if (ways[i].near <= 0)
			errors_move(f, &ways[i], &f->errors[i]);
		said[i] = forecast_say(f, &ways[i], &f->errors[i]);
	}
}

void forecast_hint(struct forecast *f, size_t from, double value)
{
	f->hints = mem_grow(f->hints, f->n_hints + 1, sizeof(*f->hints));
	f->hints[f->n_hints++] = (struct hint){ from, value };
}

/* The hint that holds at a step, if it is about what has not come yet. */
static const struct hint *hint_at(const struct forecast *f, size_t step)
{
	const struct hint *found = NULL;
	size_t i;

	for (i = 0; i < f->n_hints; i++)
		if (f->hints[i].from <= step && f->hints[i].from >= f->n &&
		    (!found || f->hints[i].from >= found->from))
			found = &f->hints[i];
	return found;
}

size_t forecast_best(const struct forecast *f)
{
	size_t i, best = 0;

	for (i = 1; i < FORECAST_WAYS; i++)
		if (f->loss[i] < f->loss[best])
			best = i;
	return best;
}

double forecast_quantile(const struct forecast *f)
{
	const struct hint *hint;
	const double *said;
	double least, weight, sum = 0, all = 0;
	size_t i;

	if (!f->n)
		return 0;
	hint = hint_at(f, f->n - 1 + f->horizon);
	if (hint)
		return hint->value;
	said = said_at(f, f->n - 1);
	least = f->loss[forecast_best(f)];
	for (i = 0; i < FORECAST_WAYS; i++) {
		weight = exp(-(f->loss[i] - least) / (LOSS_SPREAD * least + LOSS_LEAST));
		sum += weight * said[i];
		all += weight;
	}
	return sum / all;
}

double forecast_model_quantile(const struct forecast *f, enum forecast_model model)
{
	return f->n ? said_at(f, f->n - 1)[model] : 0;
}
