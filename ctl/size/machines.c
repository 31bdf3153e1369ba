// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: machines
 *
 * Of the layouts that hold a workload those with as few stages, or in training as few
 * replicas, as hold it and meet the deadline: more stages answer no faster.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "layouts.h"
#include "machines.h"
#include "physics.h"

#define MIB (1ull << 20)

/* A busy GPU draws less than its limit on average. */
#define BUSY 0.85

static const char *const goals[MACHINE_GOALS] = {
	[GOAL_COUNT] = "count",
	[GOAL_COST] = "cost",
	[GOAL_TIME] = "time",
	[GOAL_ENERGY] = "energy",
};

int machine_goal_find(const char *word, enum machine_goal *goal, struct fault *f)
{
	int i;

	for (i = 0; i < MACHINE_GOALS; i++) {
		if (!strcasecmp(word, goals[i])) {
			*goal = (enum machine_goal)i;
			return 0;
		}
	}
	return fault_set(f, ENOENT, "\"%.40s\" is none of cost, time, energy, count", word);
}

/* What a replica or the whole needs, and whether the GPU has it. */
static bool holds(const struct size_request *req, struct machine *m)
{
	struct size_estimate e;

	size_estimate(req, &m->layout, &e);
	m->p50 = e.memory[MEMORY_DEVICE];
	m->p95 = e.p95[MEMORY_DEVICE];
	return m->p95 <= (double)m->usable;
}

static void work(const struct size_request *req, const struct cat_gpu *gpu,
		 const struct machine_wish *wish, struct machine *m)
{
	double watts = 0, tokens = wish->tokens;

	if (req->task == SIZE_INFER)
		size_rate_infer(req, &m->layout, gpu, &m->rate);
	else
		size_rate_train(req, &m->layout, gpu, wish->speed, 0, &m->rate);
	if (m->rate.tokens_per_s <= 0 || tokens <= 0)
		return;
	m->hours = tokens / (m->rate.tokens_per_s * m->gpus) / 3600;
	if (wish->price && wish->price[m->kind] >= 0)
		m->cost = wish->price[m->kind] * m->gpus * m->hours;
	if (cat_gpu_fact(gpu, GPU_TDP_W, &watts) == GPU_UNKNOWN)
		return;
	m->kwh = watts * BUSY * m->gpus * m->hours * wish->pue / 1000;
	m->co2_kg = m->kwh * wish->carbon / 1000;
}

/* Replicas that answer as much as is asked. */
static unsigned int replicas_wanted(const struct size_request *req, const struct machine_wish *wish,
				    const struct machine *m)
{
	double one = m->rate.tokens_per_s * m->layout.gpus;

	if (req->dp)
		return req->dp;
	if (wish->answers <= 0 || one <= 0)
		return 1;
	return (unsigned int)fmin(1e6, ceil(wish->answers / one));
}

/* Can an engine be so fast there at all? A product whose speed is not known cannot say so. */
static bool is_soon(double wish, double bound)
{
	return wish <= 0 || (bound > 0 && bound <= wish);
}

static bool infer_machine(const struct size_request *req, const struct cat_gpu *gpu,
			  const struct machine_wish *wish, struct machine *m)
{
	m->gpus = m->layout.gpus;
	size_latency(req, &m->layout, gpu, &m->latency);
	if (!is_soon(wish->ttft, m->latency.ttft) || !is_soon(wish->tpot, m->latency.tpot))
		return false;
	work(req, gpu, wish, m);
	if (wish->answers > 0 && m->rate.tokens_per_s <= 0)
		return false;
	m->dp = replicas_wanted(req, wish, m);
	if (m->dp > wish->gpus_max / m->layout.gpus)
		return false;
	m->gpus = m->layout.gpus * m->dp;
	work(req, gpu, wish, m);
	return true;
}

static bool train_machine(const struct size_request *req, const struct cat_gpu *gpu,
			  const struct machine_wish *wish, struct machine *m)
{
	unsigned int cp = m->layout.cp > 1 ? m->layout.cp : 1;

	m->gpus = m->layout.gpus;
	m->dp = m->gpus / (m->layout.tp * m->layout.pp * cp);
	work(req, gpu, wish, m);
	return wish->seconds <= 0 || (m->hours > 0 && m->hours * 3600 <= wish->seconds);
}

size_t machines_find(const struct size_request *any, const struct cat_gpu *gpu, size_t kind,
		     const struct machine_wish *wish, struct machine *out, size_t max)
{
	enum gpu_trust trust;
	const uint64_t memory = cat_gpu_memory_mib(gpu, &trust) * MIB;
	const struct size_request on = size_request_for(any, gpu), *req = &on;
	struct machine m = { .kind = kind };
	struct layouts layouts;
	size_t n = 0;

	m.usable = size_usable_bytes(req, memory);
	m.later = (cat_gpu_for_models(gpu) ? 0 : 2) + (trust == GPU_FROM_LABEL);
	layouts_start(&layouts, req, 1, wish->gpus_max);
	layouts_leave_hopeless(&layouts, m.usable);
	while (n < max && layouts_next(&layouts, &m.layout)) {
		if (!holds(req, &m) ||
		    !(req->task == SIZE_INFER ? infer_machine(req, gpu, wish, &m) :
						train_machine(req, gpu, wish, &m)))
			continue;
		out[n++] = m;
		layouts_leave(&layouts);
	}
	layouts_end(&layouts);
	return n;
}

static enum machine_goal sort_goal;

static double figure(const struct machine *m)
{
	double v = 0;

	switch (sort_goal) {
	case GOAL_COST:
		v = m->cost;
		break;
	case GOAL_ENERGY:
		v = m->kwh;
		break;
	case GOAL_TIME:
		v = m->hours;
		/* without an amount of work the fastest comes first */
		if (v <= 0 && m->rate.tokens_per_s > 0)
			v = 1 / (m->rate.tokens_per_s * m->gpus);
		break;
	default:
		return m->gpus;
	}
	return v > 0 ? v : INFINITY;
}

static int by_goal(const void *a, const void *b)
{
	const struct machine *x = a, *y = b;
	double fx = figure(x), fy = figure(y);

	/* without another goal first what is made for models, and known for sure */
	if (sort_goal == GOAL_COUNT && x->later / 2 != y->later / 2)
		return x->later < y->later ? -1 : 1;
	if (fx < fy || fx > fy)
		return fx < fy ? -1 : 1;
	if (x->gpus != y->gpus)
		return x->gpus < y->gpus ? -1 : 1;
	if (x->later != y->later)
		return x->later < y->later ? -1 : 1;
	if (x->usable != y->usable)
		return x->usable < y->usable ? -1 : 1;
	if (x->layout.pp != y->layout.pp)
		return x->layout.pp < y->layout.pp ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void machines_sort(struct machine *machines, size_t n, enum machine_goal goal)
{
	sort_goal = goal;
	qsort(machines, n, sizeof(*machines), by_goal);
}
