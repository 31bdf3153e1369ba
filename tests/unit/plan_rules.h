/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of gpuctl-plan(5) once more, without any thought of speed: what a plan must keep,
 * and what it costs. A plan is counts by workload, interval and pool.
 */
#ifndef TESTS_UNIT_PLAN_RULES_H
#define TESTS_UNIT_PLAN_RULES_H

#include <stdlib.h>

#include "plan/solver/instance.h"

#define RULES_POOLS 8
#define RULES_USE_MAX (16 * 32 * RULES_POOLS)

static inline uint32_t *rules_at(const struct plan_instance *in, uint32_t *use, size_t w, size_t t,
				 size_t q)
{
	return &use[(w * in->n_intervals + t) * RULES_POOLS + q];
}

static inline uint32_t rules_now(const struct plan_workload *w, size_t q)
{
	size_t i;

	for (i = 0; i < w->n_now; i++)
		if (w->now[i].pool == q)
			return w->now[i].gpus;
	return 0;
}

/* What it had in the interval before; interval 0 comes after now. */
static inline uint32_t rules_before(const struct plan_instance *in, uint32_t *use, size_t w,
				    size_t t, size_t q)
{
	return t ? *rules_at(in, use, w, t - 1, q) : rules_now(&in->workloads[w], q);
}

static inline const struct plan_choice *rules_choice(const struct plan_workload *w, uint32_t kind)
{
	size_t i;

	for (i = 0; i < w->n_choices; i++)
		if (w->choices[i].kind == kind)
			return &w->choices[i];
	return NULL;
}

static inline bool rules_linked(const struct plan_instance *in, uint32_t host, uint32_t sw)
{
	size_t i;

	for (i = 0; i < in->n_links; i++)
		if (in->links[i].host == host && in->links[i].sw == sw)
			return true;
	return !in->n_links;
}

/* A gang has as many as it needs at some time, or as it has now. */
static inline bool rules_size(const struct plan_instance *in, const struct plan_workload *w,
			      uint32_t kind, const uint32_t *counts)
{
	uint32_t total = 0, now = 0;
	size_t q, t;

	for (q = 0; q < in->n_pools; q++) {
		total += counts[q];
		if (in->pools[q].kind == kind)
			now += rules_now(w, q);
	}
	for (t = 0; total && t < in->n_intervals; t++)
		if (rules_choice(w, kind)->need[t] == total)
			return true;
	return !total || total == now;
}

/* Is this something that the workload could have at some time at all? */
static inline bool rules_config(const struct plan_instance *in, size_t w, const uint32_t *counts)
{
	const struct plan_workload *wl = &in->workloads[w];
	uint32_t kind = PLAN_NONE, pools = 0;
	bool is_now = true;
	size_t q;

	for (q = 0; q < in->n_pools; q++)
		is_now = is_now && counts[q] == rules_now(wl, q);
	for (q = 0; q < in->n_pools; q++) {
		if (!counts[q])
			continue;
		if (!rules_choice(wl, in->pools[q].kind) ||
		    (kind != PLAN_NONE && kind != in->pools[q].kind) ||
		    (!rules_linked(in, wl->host, in->pools[q].sw) && counts[q] > rules_now(wl, q)))
			return false;
		kind = in->pools[q].kind;
		pools++;
	}
	return (pools <= wl->span || is_now) && (!wl->gang || rules_size(in, wl, kind, counts));
}

static inline uint32_t rules_total(const struct plan_instance *in, uint32_t *use, size_t w,
				   size_t t, uint32_t *kind)
{
	uint32_t total = 0;
	size_t q;

	for (q = 0; q < in->n_pools; q++) {
		if (*rules_at(in, use, w, t, q) && kind)
			*kind = in->pools[q].kind;
		total += *rules_at(in, use, w, t, q);
	}
	return total;
}

/* What one workload's plan breaks, NULL for nothing. */
static inline const char *rules_workload(const struct plan_instance *in, uint32_t *use, size_t w)
{
	const struct plan_workload *wl = &in->workloads[w];
	size_t t, q, held = 0;

	for (t = 0; t < in->n_intervals; t++) {
		bool moves = false, comes = false;
		uint32_t kind = 0, total = rules_total(in, use, w, t, &kind);

		for (q = 0; q < in->n_pools; q++) {
			uint32_t before = rules_before(in, use, w, t, q);

			moves |= *rules_at(in, use, w, t, q) != before;
			comes |= *rules_at(in, use, w, t, q) > before;
		}
		if (t < wl->keep) {
			if (moves)
				return "it does not keep what it has";
			continue;
		}
		if (!rules_config(in, w, rules_at(in, use, w, t, 0)))
			return "it cannot have this";
		if (wl->gang && total && total < rules_choice(wl, kind)->need[t])
			return "a gang is not whole";
		if (moves && t < held)
			return "it moves within its hold";
		if (comes)
			held = t + (wl->hold ? wl->hold : 1);
	}
	return NULL;
}

static inline const char *rules_interval(const struct plan_instance *in, uint32_t *use, size_t t)
{
	uint64_t sum;
	size_t i, w, q;

	for (q = 0; q < in->n_pools; q++) {
		for (sum = 0, w = 0; w < in->n_workloads; w++)
			sum += *rules_at(in, use, w, t, q);
		if (sum > in->pools[q].gpus)
			return "a pool is overdrawn";
	}
	for (i = 0; i < in->n_hosts; i++) {
		for (sum = 0, w = 0; w < in->n_workloads; w++)
			if (in->workloads[w].host == i)
				sum += rules_total(in, use, w, t, NULL);
		if (sum > in->hosts[i].slots)
			return "a host has too many";
	}
	for (i = 0; i < in->n_tenants; i++) {
		for (sum = 0, w = 0; w < in->n_workloads; w++)
			if (in->workloads[w].tenant == i)
				sum += rules_total(in, use, w, t, NULL);
		if (sum > in->tenants[i].limit)
			return "a tenant is above its limit";
	}
	for (i = 0; i < in->n_links; i++) {
		for (sum = 0, w = 0; w < in->n_workloads; w++)
			for (q = 0; q < in->n_pools; q++)
				if (in->workloads[w].host == in->links[i].host &&
				    in->pools[q].sw == in->links[i].sw)
					sum += (uint64_t)in->workloads[w].lanes *
					       *rules_at(in, use, w, t, q);
		if (sum > in->links[i].lanes)
			return "an uplink is overdrawn";
	}
	for (i = 0; i < in->n_switches; i++) {
		for (sum = 0, w = 0; w < in->n_workloads; w++)
			for (q = 0; q < in->n_pools; q++)
				if (in->pools[q].sw == i && *rules_at(in, use, w, t, q) >
				    rules_before(in, use, w, t, q))
					sum += *rules_at(in, use, w, t, q) -
					       rules_before(in, use, w, t, q);
		if (sum > in->switches[i].attach_max)
			return "too many attaches at a time";
	}
	return NULL;
}

/* What the plans of all break together, NULL for nothing. */
static inline const char *rules_limits(const struct plan_instance *in, uint32_t *use)
{
	const char *why = NULL;
	size_t t;

	for (t = 0; t < in->n_intervals && !why; t++)
		why = rules_interval(in, use, t);
	return why;
}

/* What a workload lacks in an interval, in GPUs of its first choice. */
static inline double rules_missing(const struct plan_instance *in, uint32_t *use, size_t w,
				   size_t t)
{
	const struct plan_workload *wl = &in->workloads[w];
	uint32_t kind = wl->choices[0].kind, total = rules_total(in, use, w, t, &kind);
	uint32_t first = wl->choices[0].need[t], need = rules_choice(wl, kind)->need[t];

	if (total >= need)
		return 0;
	return wl->gang ? first : first * (1 - (double)total / need);
}

/* What a workload costs by itself: what is missing, its moves, its use. */
static inline double rules_cost_alone(const struct plan_instance *in, uint32_t *use, size_t w)
{
	const struct plan_workload *wl = &in->workloads[w];
	double cost = 0;
	size_t t, q, i;

	for (t = 0; t < in->n_intervals; t++) {
		cost += wl->weight * in->interval_s * rules_missing(in, use, w, t);
		for (q = 0; q < in->n_pools; q++) {
			const struct plan_pool *p = &in->pools[q];
			uint32_t n = *rules_at(in, use, w, t, q);
			uint32_t before = rules_before(in, use, w, t, q);

			if (n > before)
				cost += (n - before) * (p->attach_s + wl->weight * wl->load_s);
			else
				cost += (before - n) * p->detach_s;
			cost += n * in->interval_s * in->energy_cost *
				(in->kinds[p->kind].busy_w - in->kinds[p->kind].idle_w);
			for (i = 0; i < in->n_links; i++)
				if (in->links[i].host == wl->host && in->links[i].sw == p->sw)
					cost += n * in->interval_s * in->links[i].locality;
		}
	}
	return cost;
}

/* Power of one pool: as @on says, or as cheap as can be where that is NULL. */
static inline double rules_power(const struct plan_instance *in, uint32_t *use, size_t q,
				 const uint32_t *on)
{
	const struct plan_pool *p = &in->pools[q];
	const struct plan_kind *kind = &in->kinds[p->kind];
	double per = in->interval_s * in->energy_cost, best[64], next[64], cost = 0;
	uint32_t n, k;
	size_t t, w;

	for (n = 0; n <= p->gpus; n++)
		best[n] = n == p->on ? 0 : 1e300;
	for (t = 0; t < in->n_intervals; t++) {
		uint32_t used = 0;

		for (w = 0; w < in->n_workloads; w++)
			used += *rules_at(in, use, w, t, q);
		for (n = 0; n <= p->gpus; n++) {
			next[n] = 1e300;
			for (k = 0; k <= p->gpus && n >= used && (!on || on[t] == n); k++) {
				double v = best[k] + per * (n * kind->idle_w +
							    (p->gpus - n) * kind->off_w);

				if (n > k)
					v += (n - k) * kind->wake_j * in->energy_cost;
				if (v < next[n])
					next[n] = v;
			}
		}
		for (n = 0; n <= p->gpus; n++)
			best[n] = next[n];
	}
	cost = best[0];
	for (n = 1; n <= p->gpus; n++)
		if (best[n] < cost)
			cost = best[n];
	return cost;
}

/* What all cost together: power and deficits. @on by pool and interval, or NULL for the best. */
static inline double rules_cost_shared(const struct plan_instance *in, uint32_t *use,
				       const uint32_t *on)
{
	double cost = 0;
	size_t i, w, t;

	for (i = 0; i < in->n_pools; i++)
		cost += rules_power(in, use, i, on ? on + i * in->n_intervals : NULL);
	for (i = 0; i < in->n_tenants; i++) {
		for (t = 0; t < in->n_intervals; t++) {
			double need = 0, has = 0;

			for (w = 0; w < in->n_workloads; w++) {
				if (in->workloads[w].tenant != i)
					continue;
				need += in->workloads[w].choices[0].need[t];
				has += in->workloads[w].choices[0].need[t] -
				       rules_missing(in, use, w, t);
			}
			if (need > in->tenants[i].guarantee)
				need = in->tenants[i].guarantee;
			if (need > has)
				cost += in->deficit_weight * in->interval_s * (need - has);
		}
	}
	return cost;
}

#endif /* TESTS_UNIT_PLAN_RULES_H */
