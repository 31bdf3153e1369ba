// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/forecast.c ctl/base/text.c
/* Forecasts of series whose future is known: steps, seasons, noise, hints. */
#include <math.h>
#include <stdlib.h>

#include "plan/forecast.h"
#include "tap.h"

static uint32_t seed = 3;

static double any(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (double)(seed >> 8) / (1 << 24);
}

static void constant(void)
{
	struct forecast *f = forecast_new(6, 24, 0.9);
	size_t i;

	ok(forecast_quantile(f) <= 0, "nothing is known of nothing");
	forecast_add(f, 5);
	is_near(forecast_quantile(f), 5, 1e-9, "one value stays");
	for (i = 0; i < 100; i++)
		forecast_add(f, 5);
	is_near(forecast_quantile(f), 5, 1e-9, "as many do");
	forecast_add(f, -3);
	ok(forecast_quantile(f) >= 0, "nobody wants less than nothing");
	forecast_free(f);
}

static void hints(void)
{
	struct forecast *f = forecast_new(3, 24, 0.9);
	size_t i;

	forecast_hint(f, 12, 0);
	forecast_hint(f, 20, 7);
	for (i = 0; i < 8; i++)
		forecast_add(f, 4);
	is_near(forecast_quantile(f), 4, 1e-9, "what is hinted at comes after the horizon");
	forecast_add(f, 4);
	forecast_add(f, 4);
	ok(forecast_quantile(f) <= 0, "and then it is known");
	for (i = 0; i < 3; i++)
		forecast_add(f, 4);
	is_near(forecast_quantile(f), 4, 1e-9, "a hint that has passed says nothing more");
	for (i = 0; i < 5; i++)
		forecast_add(f, 4);
	is_near(forecast_quantile(f), 7, 1e-9, "the next one does");
	forecast_free(f);
}

/* Steps with noise between 0 and 10: nine of ten are below 9. */
static void noise(void)
{
	struct forecast *f = forecast_new(1, 24, 0.9);
	size_t i, below = 0, n = 0;
	double said = 0, actual;

	for (i = 0; i < 3000; i++) {
		actual = 10 * any();
		if (i >= 500) {
			below += actual <= said;
			n++;
		}
		forecast_add(f, actual);
		said = forecast_quantile(f);
	}
	is_near((double)below / (double)n, 0.9, 0.04, "the quantile is exceeded as often as it may");
	forecast_free(f);
}

/* A day that repeats: who knows the season pays less than who says "as now". */
static void season(void)
{
	struct forecast *f = forecast_new(6, 24, 0.9);
	double loss = 0, naive = 0, holt = 0, profile = 0, y;
	size_t i;

	for (i = 0; i < 24 * 40; i++) {
		y = 50 + 40 * sin((double)(i + 5) * 2 * M_PI / 24) + any();
		if (i >= 24 * 20) {
			/* said now for six steps on: a sine of the next quarter */
			loss += forecast_loss(y, forecast_quantile(f), 0.9);
			naive += forecast_loss(y, forecast_model_quantile(f, FORECAST_NAIVE), 0.9);
			holt += forecast_loss(y, forecast_model_quantile(f, FORECAST_HOLT_WINTERS),
					      0.9);
			profile += forecast_loss(y, forecast_model_quantile(f, FORECAST_PROFILE),
						 0.9);
		}
		forecast_add(f, 50 + 40 * sin((double)i * 2 * M_PI / 24) + any());
	}
	ok(profile < naive / 4, "a profile knows a season: %.1f of %.1f", profile, naive);
	ok(holt < naive, "Holt-Winters knows something of it: %.1f", holt);
	ok(loss < naive / 4, "and ours finds out who does: %.1f", loss);
	ok(forecast_best(f) != FORECAST_NAIVE, "it is %s", forecast_way_names[forecast_best(f)]);
	forecast_free(f);
}

/* Either 5, or anything from 20 to 60, each for 25 steps on average: only the value says which. */
static void regimes(void)
{
	struct forecast *f = forecast_new(1, 24, 0.9);
	double loss = 0, known = 0, y = 5, next;
	bool quiet = true;
	size_t i;

	for (i = 0; i < 24 * 100; i++) {
		forecast_add(f, y);
		quiet = any() < 0.04 ? !quiet : quiet;
		next = quiet ? 5 : 20 + 40 * any();
		if (i >= 24 * 20) {
			loss += forecast_loss(next, forecast_quantile(f), 0.9);
			known += forecast_loss(next, y < 10 ? 5 : 56, 0.9);
		}
		y = next;
	}
	ok(loss < 1.4 * known, "what is high falls, what is low stays: %.0f, at best %.0f", loss,
	   known);
	forecast_free(f);
}

static void repeatable(void)
{
	struct forecast *a = forecast_new(4, 24, 0.8), *b = forecast_new(4, 24, 0.8);
	size_t i, unlike = 0;
	double y;

	for (i = 0; i < 500; i++) {
		y = floor(20 * any());
		forecast_add(a, y);
		forecast_add(b, y);
		unlike += fabs(forecast_quantile(a) - forecast_quantile(b)) > 0;
	}
	is_int((int)unlike, 0, "the same comes out again");
	forecast_free(a);
	forecast_free(b);
	is_near(forecast_loss(5, 3, 0.9), 1.8, 1e-9, "one too few costs most of all");
	is_near(forecast_loss(3, 5, 0.9), 0.2, 1e-9, "one too many the rest");
}

int main(void)
{
	constant();
	hints();
	noise();
	season();
	regimes();
	repeatable();
	return tap_done();
}
