// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: policies for demand series to compare with, and the score
 *
 * The offline one keeps a GPU where it is until it is needed there again, if that
 * costs less than to attach another one then; when others need one, whose next need is
 * furthest gives. With moves that all cost the same nobody does better, as long
 * as demand is within the pool.
 */
#include <stdlib.h>

#include "base/text.h"
#include "keep.h"

#define DAY_MIN 1440.0

void serve_static(const struct series_set *set, int32_t *has)
{
	size_t i, t;

	for (t = 0; t < set->minutes; t++)
		for (i = 0; i < set->n; i++)
			has[t * set->n + i] = set->of[i].quota;
}

/* Minutes left of the hold: who has not needed it for longest gives first. */
static double hold_worth(const struct keep *k, size_t tenant)
{
	const uint32_t *hold = k->data;
	int64_t idle = (int64_t)k->t - k->needed[tenant][k->has[tenant] - 1];

	return idle < *hold ? (double)(*hold - idle) : -1;
}

static const struct keep_policy reactive = { .worth = hold_worth };

void serve_reactive(const struct series_set *set, const struct serve_rates *rates, uint32_t period,
		    uint32_t hold_min, int32_t *has)
{
	keep_run(set, rates, &reactive, period, &hold_min, has);
}

static double offline_worth(const struct keep *k, size_t tenant)
{
	const struct series *s = &k->set->of[tenant];
	int32_t level = k->has[tenant];
	size_t t = k->t;

	while (t < k->set->minutes && s->demand[t] < level)
		t++;
	/* never again, or only after it has cost more than to come back */
	if (k->rates->hold * (double)(t - k->t) >= k->rates->attach && k->rates->hold > 0)
		return -1;
	return 1 / (double)(1 + t - k->t);
}

static const struct keep_policy offline = { .worth = offline_worth };

void serve_offline(const struct series_set *set, const struct serve_rates *rates, int32_t *has)
{
	keep_run(set, rates, &offline, 1, NULL, has);
}

static void score_minute(const struct series_set *set, const int32_t *has, size_t t, size_t i,
			 struct serve_score *s, double *unmet)
{
	int32_t now = has[t * set->n + i], before = t ? has[(t - 1) * set->n + i] : 0;
	int32_t demand = set->of[i].demand[t];

	s->demand += demand;
	if (demand > now)
		*unmet += demand - now;
	else
		s->idle += now - demand;
	if (now > before)
		s->attaches += now - before;
}

void serve_score(const struct series_set *set, const struct serve_rates *rates, const int32_t *has,
		 size_t from, struct serve_score *score)
{
	size_t i, t;

	*score = (struct serve_score){ .days = (double)(set->minutes - from) / DAY_MIN };
	for (i = 0; i < set->n; i++) {
		double before = score->demand, unmet = 0, own;

		for (t = from; t < set->minutes; t++)
			score_minute(set, has, t, i, score, &unmet);
		own = score->demand - before;
		score->unmet += unmet;
		if (own > 0 && unmet / own > score->worst_unmet) {
			score->worst_unmet = unmet / own;
			score->worst = i;
		}
	}
	score->cost = score->unmet + rates->attach * score->attaches + rates->hold * score->idle;
}
