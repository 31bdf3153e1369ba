// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a plan costs
 *
 * With n(w,t,q) GPUs of pool q for workload w in interval t of D seconds, the cost is the sum of
 *
 *   weight * D * need * (1 - n / need)      per workload and interval; a gang with fewer than it
 *                                           needs counts as one with none
 *   attach_s + weight * load_s              per GPU that comes, detach_s per GPU that goes
 *   locality * D                            per GPU and interval
 *   watts * D * energy_cost                 busy, idle or off, and wake_j * energy_cost
 *   deficit_weight * D                      per GPU that a tenant's workloads are served less
 *                                           than the smaller of its guarantee and their need
 *
 * A GPU that nobody holds may be on or off, whichever is cheaper over time: for each count k
 * by itself, the k-th GPU stays on over a gap exactly when idling costs less than waking.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/model.h"

double model_missing(const struct model_workload *w, size_t interval, uint16_t choice,
		     uint32_t gpus)
{
	const struct plan_choice *choices = w->w->choices;
	uint32_t need = choices[choice].need[interval];

	if (gpus >= need)
		return 0;
	if (w->w->gang)
		return choices[0].need[interval];
	return choices[0].need[interval] * (1 - (double)gpus / need);
}

bool model_allowed(const struct model_workload *w, size_t interval, uint32_t config)
{
	const struct shape_config *c = &w->shape->configs[config];

	if (interval < w->w->keep)
		return config == w->start;
	return !w->w->gang || !c->total || c->total >= w->w->choices[c->choice].need[interval];
}

static uint32_t count_of(const struct shape_config *c, uint16_t pool)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->pool[i] == pool)
			return c->gpus[i];
	return 0;
}

void model_attached(const struct model_workload *w, uint32_t from, uint32_t to, uint32_t *count)
{
	const struct shape_config *a = &w->shape->configs[from], *b = &w->shape->configs[to];
	size_t i;

	memset(count, 0, w->shape->n_switches * sizeof(*count));
	for (i = 0; i < b->n; i++) {
		uint32_t had = count_of(a, b->pool[i]);

		if (b->gpus[i] > had)
			count[w->shape->pools[b->pool[i]].sw] += b->gpus[i] - had;
	}
}

/* Attaching and detaching apart. */
static void moves(const struct model_workload *w, uint32_t from, uint32_t to, double *up,
		  double *down)
{
	const struct shape_config *a = &w->shape->configs[from], *b = &w->shape->configs[to];
	size_t i;

	*up = 0;
	*down = 0;
	for (i = 0; i < b->n; i++) {
		uint32_t had = count_of(a, b->pool[i]);

		if (b->gpus[i] > had)
			*up += (b->gpus[i] - had) * w->pools[b->pool[i]].up;
	}
	for (i = 0; i < a->n; i++) {
		uint32_t has = count_of(b, a->pool[i]);

		if (a->gpus[i] > has)
			*down += (a->gpus[i] - has) * w->pools[a->pool[i]].down;
	}
}

double model_move(const struct model_workload *w, uint32_t from, uint32_t to)
{
	double up, down;

	if (from == to)
		return 0;
	moves(w, from, to, &up, &down);
	return up + down;
}

bool model_attaches(const struct model_workload *w, uint32_t from, uint32_t to)
{
	uint32_t count[SHAPE_POOLS_MAX];
	size_t i;

	model_attached(w, from, to, count);
	for (i = 0; i < w->shape->n_switches; i++)
		if (count[i])
			return true;
	return false;
}

uint32_t model_use(const struct model_workload *w, uint32_t config, uint32_t row)
{
	const struct shape_config *c = &w->shape->configs[config];
	uint32_t use = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (w->pools[c->pool[i]].row_pool == row)
			use += c->gpus[i];
		if (w->pools[c->pool[i]].row_link == row)
			use += c->gpus[i] * w->w->lanes;
	}
	if (w->row_host == row || w->row_limit == row)
		use += c->total;
	return use;
}

/* Intervals over which the k-th GPU, with @used below k in between, is better left on. */
static void fill_gaps(const struct model_power *power, const uint32_t *used, uint32_t k,
		      bool on_now, size_t n, bool *on)
{
	size_t t, gap = 0, i;
	bool was_on = on_now;

	for (t = 0; t < n; t++) {
		on[t] = used[t] >= k;
		if (!on[t]) {
			gap++;
			continue;
		}
		if (was_on && power->on * (double)gap <= power->wake)
			for (i = t - gap; i < t; i++)
				on[i] = true;
		was_on = true;
		gap = 0;
	}
	/* Being idle for nothing is left alone: one switch less. */
	for (i = n - gap; was_on && power->on <= 0 && i < n; i++)
		on[i] = true;
}

void model_power(const struct model *model, size_t pool, const uint32_t *used, uint32_t *on,
		 double *energy, double *wake)
{
	const struct plan_instance *in = model->in;
	const struct plan_pool *p = &in->pools[pool];
	const struct model_power *power = &model->power[pool];
	size_t n = in->n_intervals, t;
	bool *is_on = mem_zalloc(n, sizeof(*is_on));
	uint32_t k;

	*energy = 0;
	*wake = 0;
	if (on)
		memset(on, 0, n * sizeof(*on));
	for (k = 1; k <= p->gpus; k++) {
		bool before = k <= p->on, any = false;

		fill_gaps(power, used, k, before, n, is_on);
		for (t = 0; t < n; t++) {
			if (is_on[t] && !before)
				*wake += power->wake;
			if (is_on[t])
				*energy += power->on;
			before = is_on[t];
			any |= is_on[t];
			if (on)
				on[t] += is_on[t];
		}
		if (!any && k > p->on)
			break;
	}
	free(is_on);
}

static void add_workload(const struct model *model, size_t w, const uint32_t *y, uint32_t *used,
			 struct plan_cost *cost)
{
	const struct plan_instance *in = model->in;
	const struct model_workload *mw = &model->workloads[w];
	uint32_t before = mw->start;
	size_t t, i;

	for (t = 0; t < in->n_intervals; t++) {
		const struct shape_config *c = &mw->shape->configs[y[t]];
		double up, down, served = model_served(mw, t, y[t]);

		cost->missing += mw->scale * model_missing(mw, t, c->choice, c->total);
		if (mw->want && mw->want[t] > served)
			cost->deficit += model->deficit * (mw->want[t] - served);
		for (i = 0; i < c->n; i++) {
			uint32_t q = mw->shape->pools[c->pool[i]].pool;
			const struct plan_kind *kind = &in->kinds[in->pools[q].kind];
			double busy = (kind->busy_w - kind->idle_w) * in->interval_s *
				      in->energy_cost * c->gpus[i];

			used[q * in->n_intervals + t] += c->gpus[i];
			cost->energy += busy;
			cost->locality += c->gpus[i] * mw->pools[c->pool[i]].use - busy;
			if (model->power[q].row == PLAN_NONE)
				cost->locality -= c->gpus[i] * model->power[q].on;
		}
		if (before != y[t]) {
			moves(mw, before, y[t], &up, &down);
			cost->attach += up;
			cost->detach += down;
		}
		before = y[t];
	}
}

/* What tenants with several workloads lack of their guarantees. */
static double deficits(const struct model *model, const uint32_t *y)
{
	const struct plan_instance *in = model->in;
	double *has = mem_zalloc(model->n_rows ? model->n_rows * in->n_intervals : 1, sizeof(*has));
	double cost = 0;
	size_t w, t, r;

	for (w = 0; w < in->n_workloads; w++) {
		const struct model_workload *mw = &model->workloads[w];

		if (mw->row_guarantee == PLAN_NONE)
			continue;
		for (t = 0; t < in->n_intervals; t++)
			has[mw->row_guarantee * in->n_intervals + t] +=
				model_served(mw, t, y[w * in->n_intervals + t]);
	}
	for (r = 0; r < model->n_rows; r++) {
		if (model->rows[r].kind != ROW_GUARANTEE)
			continue;
		for (t = 0; t < in->n_intervals; t++)
			if (model->rows[r].want[t] > has[r * in->n_intervals + t])
				cost += model->deficit *
					(model->rows[r].want[t] - has[r * in->n_intervals + t]);
	}
	free(has);
	return cost;
}

void model_cost(const struct model *model, const uint32_t *y, uint32_t *on, struct plan_cost *cost)
{
	const struct plan_instance *in = model->in;
	uint32_t *used = mem_zalloc(in->n_pools ? in->n_pools * in->n_intervals : 1, sizeof(*used));
	double energy, wake;
	size_t w, q;

	memset(cost, 0, sizeof(*cost));
	for (w = 0; w < in->n_workloads; w++)
		add_workload(model, w, y + w * in->n_intervals, used, cost);
	/* What is left of it is rounding. */
	if (fabs(cost->locality) < MODEL_ROUNDING * (1 + fabs(cost->energy)))
		cost->locality = 0;
	cost->deficit += deficits(model, y);
	cost->energy += model->off;
	for (q = 0; q < in->n_pools; q++) {
		model_power(model, q, used + q * in->n_intervals,
			    on ? on + q * in->n_intervals : NULL, &energy, &wake);
		cost->energy += energy;
		cost->wake += wake;
	}
	cost->total = cost->missing + cost->deficit + cost->attach + cost->detach + cost->locality +
		      cost->energy + cost->wake;
	free(used);
}
