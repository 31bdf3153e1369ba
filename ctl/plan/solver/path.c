// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the way of one workload
 *
 * A shortest path over intervals and configurations. Moves cost so much per GPU that comes and so
 * much per GPU that goes, so the cheapest move between all pairs takes one sweep over the steps
 * down and one over the steps up (see solver/shape.c), not all pairs: O(intervals * steps).
 *
 * With a hold, whoever attached stays for as many intervals; those ways wait in a queue, with what
 * they cost so far, until they may move again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/path.h"

/* In @came: this configuration was entered by an attach and held since. */
#define HELD 0x8000u
/* An interval takes as long as so many configurations, however few there are. */
#define INTERVAL_WORK 16

/**
 * struct path - memory for any workload of a model
 * @intervals: of the instance
 * @configs: the most that a workload has
 * @free: cost so far, by configuration, of those that may move
 * @down: the same after steps down, without an attach
 * @up: with at least one attach
 * @layer: for limits of attaches: one attach more
 * @layer_from: where each came from
 * @stay: cost of this interval
 * @down_from: where @down came from
 * @up_from: where @up came from
 * @held: queue of those that hold: hold * configs
 * @held_room: its size
 * @came: where each interval and configuration came from, or HELD
 * @attached: where an attach in this interval came from
 * @work: intervals times configurations
 */
struct path {
	size_t intervals, configs;
	double *free, *down, *up, *layer, *stay;
	uint16_t *down_from, *up_from, *layer_from;
	double *held;
	size_t held_room;
	uint16_t *came, *attached;
	uint64_t work;
};

struct path *path_new(const struct model *model)
{
	struct path *p = mem_zalloc(1, sizeof(*p));
	size_t n = model->configs_max + 1;

	p->intervals = model->in->n_intervals;
	p->configs = n;
	p->free = mem_zalloc(n, sizeof(*p->free));
	p->down = mem_zalloc(n, sizeof(*p->down));
	p->up = mem_zalloc(n, sizeof(*p->up));
	p->layer = mem_zalloc(2 * n, sizeof(*p->layer));
	p->stay = mem_zalloc(n, sizeof(*p->stay));
	p->down_from = mem_zalloc(n, sizeof(*p->down_from));
	p->up_from = mem_zalloc(n, sizeof(*p->up_from));
	p->layer_from = mem_zalloc(2 * n, sizeof(*p->layer_from));
	p->came = mem_zalloc(n * p->intervals, sizeof(*p->came));
	p->attached = mem_zalloc(n * p->intervals, sizeof(*p->attached));
	return p;
}

void path_free(struct path *p)
{
	free(p->free);
	free(p->down);
	free(p->up);
	free(p->layer);
	free(p->stay);
	free(p->down_from);
	free(p->up_from);
	free(p->layer_from);
	free(p->held);
	free(p->came);
	free(p->attached);
	free(p);
}

uint64_t path_work(const struct path *p)
{
	return p->work;
}

static double pool_price(const struct path *p, const struct model_workload *w,
			 const struct path_input *in, size_t pool, size_t t)
{
	return w->pools[pool].use + (in->use ? in->use[pool * p->intervals + t] : 0);
}

/* One elastic workload in one pool: the counts are the configurations. */
static void stay_chain(const struct path *p, const struct model_workload *w,
		       const struct path_input *in, size_t t, double *stay)
{
	uint32_t need = w->w->choices[0].need[t], n = (uint32_t)w->shape->n, c, most = n;
	double price = pool_price(p, w, in, 0, t);
	double slope = w->scale + (in->extra ? in->extra[t] : 0);

	if (in->room && in->room[t] < most - 1)
		most = in->room[t] + 1;
	if (in->total && in->total[t] < most - 1)
		most = in->total[t] + 1;
	if (need > most)
		need = most;
	for (c = 0; c < need; c++)
		stay[c] = slope * (w->w->choices[0].need[t] - c) + price * c;
	for (; c < most; c++)
		stay[c] = price * c;
	for (; c < n; c++)
		stay[c] = INFINITY;
}

static bool fits(const struct path *p, const struct path_input *in, const struct shape_config *c,
		 size_t t)
{
	size_t i;

	if (in->total && c->total > in->total[t])
		return false;
	for (i = 0; in->room && i < c->n; i++)
		if (c->gpus[i] > in->room[c->pool[i] * p->intervals + t])
			return false;
	return true;
}

static void stay_any(const struct path *p, const struct model_workload *w,
		     const struct path_input *in, size_t t, double *stay)
{
	const struct plan_choice *choices = w->w->choices;
	const struct shape *s = w->shape;
	double all = (w->scale + (in->extra ? in->extra[t] : 0)) * choices[0].need[t];
	/* Of the pools of the shape alone: this runs for each workload and interval of a sweep. */
	double price[SHAPE_POOLS_MAX];
	size_t c, i;

	price[0] = 0;
	for (i = 0; i < s->n_pools; i++)
		price[i] = pool_price(p, w, in, i, t);
	stay[0] = all;
	for (c = 1; c < s->n; c++) {
		const struct shape_config *config = &s->configs[c];
		uint32_t need = choices[config->choice].need[t];
		double v = 0;

		if (config->total < need) {
			if (w->w->gang) {
				stay[c] = INFINITY;
				continue;
			}
			v = all * (1 - (double)config->total / need);
		}
		for (i = 0; i < config->n; i++)
			v += config->gpus[i] * price[config->pool[i]];
		stay[c] = v;
	}
	if (!in->room && !in->total)
		return;
	for (c = 1; c < s->n; c++)
		if (!fits(p, in, &s->configs[c], t))
			stay[c] = INFINITY;
}

/* What the tenant lacks of its guarantee once this workload has @config. */
static double lacking(const struct model_workload *w, const struct path_input *in, size_t t,
		      uint32_t config)
{
	double lack = in->lack ? in->lack[t] : w->want ? w->want[t] : 0;

	if (lack <= 0)
		return 0;
	lack -= model_served(w, t, config);
	return lack > 0 ? lack : 0;
}

void path_stay(struct path *p, const struct model_workload *w, const struct path_input *in,
	       size_t t, double *stay)
{
	const struct shape *s = w->shape;
	size_t c;

	if (t < w->w->keep) {
		/* What is kept is there whatever it costs, and whether there is room or not. */
		const struct shape_config *config = &s->configs[w->start];
		double v = model_missing(w, t, config->choice, config->total) *
			   (w->scale + (in->extra ? in->extra[t] : 0));

		for (c = 0; c < s->n; c++)
			stay[c] = INFINITY;
		for (c = 0; c < config->n; c++)
			v += config->gpus[c] * pool_price(p, w, in, config->pool[c], t);
		stay[w->start] = v;
	} else if (s->chain) {
		stay_chain(p, w, in, t, stay);
	} else {
		stay_any(p, w, in, t, stay);
	}
	if (in->extra)
		for (c = 0; c < s->n; c++)
			stay[c] -= in->extra[t] * w->w->choices[0].need[t];
	if (in->lack ? in->lack[t] <= 0 : !w->want || !w->want[t])
		return;
	for (c = 0; c < s->n; c++)
		stay[c] += w->deficit * lacking(w, in, t, (uint32_t)c);
}

static double up_price(const struct path *p, const struct model_workload *w,
		       const struct path_input *in, size_t pool, size_t t)
{
	return w->pools[pool].up +
	       (in->up ? in->up[w->shape->pools[pool].sw * p->intervals + t] : 0);
}

static void chain_down(struct path *p, size_t n, double cost)
{
	size_t c;

	for (c = 0; c < n; c++) {
		p->down[c] = p->free[c];
		p->down_from[c] = (uint16_t)c;
	}
	for (c = n - 1; c > 0; c--) {
		double v = p->down[c] + cost;

		if (v < p->down[c - 1]) {
			p->down[c - 1] = v;
			p->down_from[c - 1] = p->down_from[c];
		}
	}
}

static void chain_up(struct path *p, size_t n, double cost)
{
	double best = p->down[0];
	uint16_t from = p->down_from[0];
	size_t c;

	p->up[0] = INFINITY;
	for (c = 1; c < n; c++) {
		best += cost;
		p->up[c] = best;
		p->up_from[c] = from;
		if (p->down[c] <= best) {
			best = p->down[c];
			from = p->down_from[c];
		}
	}
}

static void edges_down(struct path *p, const struct model_workload *w)
{
	const struct shape *s = w->shape;
	size_t i, c;

	for (c = 0; c < s->n; c++) {
		p->down[c] = p->free[c];
		p->down_from[c] = (uint16_t)c;
	}
	for (i = s->n_edges; i-- > 0;) {
		const struct shape_edge *e = &s->edges[i];
		double v = p->down[e->to] + w->pools[e->pool].down;

		if (v < p->down[e->from]) {
			p->down[e->from] = v;
			p->down_from[e->from] = p->down_from[e->to];
		}
	}
}

static void edges_up(struct path *p, const struct model_workload *w, const double *price)
{
	const struct shape *s = w->shape;
	size_t i, c;

	for (c = 0; c < s->n; c++)
		p->up[c] = INFINITY;
	for (i = 0; i < s->n_edges; i++) {
		const struct shape_edge *e = &s->edges[i];
		bool had = p->up[e->from] < p->down[e->from];
		double v = (had ? p->up[e->from] : p->down[e->from]) + price[e->pool];

		if (v < p->up[e->to]) {
			p->up[e->to] = v;
			p->up_from[e->to] = had ? p->up_from[e->from] : p->down_from[e->from];
		}
	}
}

/*
 * At most @limit attaches behind one switch: layer k has the cheapest with exactly k of them.
 * What was attached behind other switches before stays as it is.
 */
static void layers_up(struct path *p, const struct model_workload *w, const double *price,
		      size_t sw, uint32_t limit)
{
	const struct shape *s = w->shape;
	size_t n = s->n, i, c;
	double *old = p->layer, *now = p->layer + p->configs, *swap;
	uint16_t *old_from = p->layer_from, *now_from = p->layer_from + p->configs, *swap_from;
	uint32_t k;

	for (c = 0; c < n; c++) {
		bool had = p->up[c] < p->down[c];

		old[c] = had ? p->up[c] : p->down[c];
		old_from[c] = had ? p->up_from[c] : p->down_from[c];
	}
	for (k = 0; k < limit; k++) {
		for (c = 0; c < n; c++)
			now[c] = INFINITY;
		for (i = 0; i < s->n_edges; i++) {
			const struct shape_edge *e = &s->edges[i];
			double v;

			if (e->sw != sw)
				continue;
			v = old[e->from] + price[e->pool];
			if (v < now[e->to]) {
				now[e->to] = v;
				now_from[e->to] = old_from[e->from];
			}
		}
		for (c = 0; c < n; c++)
			if (now[c] < p->up[c]) {
				p->up[c] = now[c];
				p->up_from[c] = now_from[c];
			}
		swap = old;
		old = now;
		now = swap;
		swap_from = old_from;
		old_from = now_from;
		now_from = swap_from;
	}
}

/* A limit that the largest configuration cannot reach is none. */
static bool limited(const struct path *p, const struct model_workload *w,
		    const struct path_input *in, size_t t)
{
	const struct shape *s = w->shape;
	size_t i;

	for (i = 0; in->attach && i < s->n_switches; i++)
		if (in->attach[i * p->intervals + t] < s->configs[s->n - 1].total)
			return true;
	return false;
}

static void elastic_moves(struct path *p, const struct model_workload *w,
			  const struct path_input *in, size_t t)
{
	const struct shape *s = w->shape;
	double price[SHAPE_POOLS_MAX];
	size_t i, c;

	for (i = 0; i < s->n_pools; i++)
		price[i] = up_price(p, w, in, i, t);
	if (s->chain)
		chain_down(p, s->n, w->pools[0].down);
	else
		edges_down(p, w);
	if (!limited(p, w, in, t)) {
		if (s->chain)
			chain_up(p, s->n, price[0]);
		else
			edges_up(p, w, price);
		return;
	}
	for (c = 0; c < s->n; c++)
		p->up[c] = INFINITY;
	for (i = 0; i < s->n_switches; i++) {
		uint32_t limit = in->attach[i * p->intervals + t];

		if (limit > s->configs[s->n - 1].total)
			limit = s->configs[s->n - 1].total;
		layers_up(p, w, price, i, limit);
	}
}

static bool may_attach(const struct path *p, const struct model_workload *w,
		       const struct path_input *in, uint32_t from, uint32_t to, size_t t)
{
	uint32_t count[SHAPE_POOLS_MAX];
	size_t i;

	if (!in->attach)
		return true;
	model_attached(w, from, to, count);
	for (i = 0; i < w->shape->n_switches; i++)
		if (count[i] > in->attach[i * p->intervals + t])
			return false;
	return true;
}

/*
 * From one to another that shares GPUs with it: @gone is the cost without the first, @come that
 * of the second.
 */
static void overlap_moves(struct path *p, const struct model_workload *w,
			  const struct path_input *in, size_t t, const double *price,
			  const double *gone, const double *come)
{
	const struct shape *s = w->shape;
	bool limits = limited(p, w, in, t);
	double both[SHAPE_POOLS_MAX] = { 0 };
	size_t i, k;

	for (i = 0; i < s->n_pools; i++)
		both[i] = price[i] + w->pools[i].down;
	for (i = 0; i < s->n_overlaps; i++) {
		const struct shape_overlap *o = &s->overlaps[i];
		double v = gone[o->from] + come[o->to];

		for (k = 0; k < o->n; k++)
			v -= o->gpus[k] * both[o->pool[k]];
		if (limits && !may_attach(p, w, in, o->from, o->to, t))
			continue;
		if (o->attaches && v < p->up[o->to]) {
			p->up[o->to] = v;
			p->up_from[o->to] = (uint16_t)o->from;
		}
		if (!o->attaches && v < p->down[o->to]) {
			p->down[o->to] = v;
			p->down_from[o->to] = (uint16_t)o->from;
		}
	}
}

/* From anything to anything by way of nothing. */
static void gang_moves(struct path *p, const struct model_workload *w, const struct path_input *in,
		       size_t t)
{
	const struct shape *s = w->shape;
	double price[SHAPE_POOLS_MAX] = { 0 }, best = INFINITY;
	double *gone = p->layer, *come = p->layer + p->configs;
	uint16_t from = 0;
	size_t c, i;

	for (i = 0; i < s->n_pools; i++)
		price[i] = up_price(p, w, in, i, t);
	for (c = 0; c < s->n; c++) {
		gone[c] = p->free[c];
		come[c] = 0;
		for (i = 0; i < s->configs[c].n; i++) {
			gone[c] += s->configs[c].gpus[i] * w->pools[s->configs[c].pool[i]].down;
			come[c] += s->configs[c].gpus[i] * price[s->configs[c].pool[i]];
		}
		if (gone[c] < best) {
			best = gone[c];
			from = (uint16_t)c;
		}
		p->down[c] = p->free[c];
		p->down_from[c] = (uint16_t)c;
		p->up[c] = INFINITY;
	}
	p->down[0] = best;
	p->down_from[0] = from;
	for (c = 1; c < s->n; c++) {
		if (!may_attach(p, w, in, 0, (uint32_t)c, t))
			continue;
		p->up[c] = best + come[c];
		p->up_from[c] = from;
	}
	if (s->n_overlaps)
		overlap_moves(p, w, in, t, price, gone, come);
}

/* Interval @t without a hold: everybody may move at any time. */
static void path_step_free(struct path *p, size_t n, uint16_t *came)
{
	size_t c;

	for (c = 0; c < n; c++) {
		bool up = p->up[c] < p->down[c];

		p->free[c] = (up ? p->up[c] : p->down[c]) + p->stay[c];
		came[c] = up ? p->up_from[c] : p->down_from[c];
	}
}

static void step_hold(struct path *p, size_t n, size_t hold, size_t t, uint16_t *came)
{
	uint16_t *attached = p->attached + t * p->configs;
	double *ring = p->held;
	size_t c, i, first = t % hold;

	memcpy(attached, p->up_from, n * sizeof(*attached));
	memcpy(ring + first * p->configs, p->up, n * sizeof(*ring));
	for (i = 0; i < hold; i++)
		for (c = 0; c < n; c++)
			ring[i * p->configs + c] += p->stay[c];
	/* Those that attached hold - 1 intervals ago are free behind this one. */
	ring += (t + 1) % hold * p->configs;
	for (c = 0; c < n; c++) {
		double v = p->down[c] + p->stay[c];

		p->free[c] = v;
		came[c] = p->down_from[c];
		if (t + 1 >= hold && ring[c] < v) {
			p->free[c] = ring[c];
			came[c] = HELD;
		}
	}
}

static void path_trace(const struct path *p, size_t hold, uint32_t end, size_t since, uint32_t *y)
{
	size_t t = p->intervals, i;
	uint32_t c = end;

	/* The end may be in the middle of a hold that began in interval @since. */
	if (since < p->intervals) {
		for (t = since, i = since; i < p->intervals; i++)
			y[i] = c;
		c = p->attached[since * p->configs + c];
	}
	while (t > 0) {
		uint16_t from = p->came[(t - 1) * p->configs + c];

		if (from != HELD) {
			y[--t] = c;
			c = from;
			continue;
		}
		for (i = 0; i < hold; i++)
			y[--t] = c;
		c = p->attached[t * p->configs + c];
	}
}

double path_solve(struct path *p, const struct model_workload *w, const struct path_input *in,
		  uint32_t *y)
{
	const struct shape *s = w->shape;
	size_t hold = w->w->hold, t, c, i, since = p->intervals, n = s->n;
	double best = INFINITY;
	uint32_t end = 0;

	if (hold > 1 && hold > p->held_room) {
		free(p->held);
		p->held = mem_zalloc(hold * p->configs, sizeof(*p->held));
		p->held_room = hold;
	}
	for (i = 0; hold > 1 && i < hold * p->configs; i++)
		p->held[i] = INFINITY;
	for (c = 0; c < n; c++)
		p->free[c] = c == w->start ? 0 : INFINITY;
	p->work += p->intervals * (n + INTERVAL_WORK + s->n_overlaps / 2);

	for (t = 0; t < p->intervals; t++) {
		path_stay(p, w, in, t, p->stay);
		if (w->w->gang)
			gang_moves(p, w, in, t);
		else
			elastic_moves(p, w, in, t);
		if (hold > 1)
			step_hold(p, n, hold, t, p->came + t * p->configs);
		else
			path_step_free(p, n, p->came + t * p->configs);
	}
	for (c = 0; c < n; c++) {
		if (p->free[c] < best) {
			best = p->free[c];
			end = (uint32_t)c;
			since = p->intervals;
		}
		for (t = p->intervals - (hold < p->intervals ? hold : p->intervals) + 1;
		     hold > 1 && t < p->intervals; t++)
			if (p->held[t % hold * p->configs + c] < best) {
				best = p->held[t % hold * p->configs + c];
				end = (uint32_t)c;
				since = t;
			}
	}
	if (best < INFINITY)
		path_trace(p, hold, end, since, y);
	return best;
}

double path_value(const struct path *p, const struct model_workload *w, const struct path_input *in,
		  const uint32_t *y)
{
	uint32_t before = w->start, count[SHAPE_POOLS_MAX];
	double v = 0;
	size_t t, i;

	for (t = 0; t < p->intervals; t++) {
		const struct shape_config *c = &w->shape->configs[y[t]];

		v += model_missing(w, t, c->choice, c->total) * w->scale;
		if (in->extra)
			v -= in->extra[t] * model_served(w, t, y[t]);
		for (i = 0; i < c->n; i++)
			v += c->gpus[i] * pool_price(p, w, in, c->pool[i], t);
		v += w->deficit * lacking(w, in, t, y[t]);
		if (y[t] == before)
			continue;
		v += model_move(w, before, y[t]);
		model_attached(w, before, y[t], count);
		for (i = 0; in->up && i < w->shape->n_switches; i++)
			v += count[i] * in->up[i * p->intervals + t];
		before = y[t];
	}
	return v;
}
