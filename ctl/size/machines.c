// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: machines
 *
 * Degrees are powers of two, as hosts and networks are, and divide what they
 * split. For each tensor and pipeline degree the fewest replicas are taken
 * that hold the states and, if there is a deadline, meet it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "machines.h"
#include "physics.h"

#define MIB_D 1048576.
#define TP_MAX 16
#define PP_MAX 64

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

	if (!size_has_expert_ranks(req, &m->layout))
		return false;
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

static bool infer_machine(const struct size_request *req, const struct cat_gpu *gpu,
			  const struct machine_wish *wish, struct machine *m)
{
	m->layout.gpus = m->layout.tp * m->layout.pp;
	m->gpus = m->layout.gpus;
	m->dp = 1;
	if (m->gpus > wish->gpus_max || !holds(req, m))
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
	unsigned int cp = req->cp > 1 ? req->cp : 1, group = m->layout.tp * m->layout.pp * cp;

	for (m->dp = req->dp ? req->dp : 1; group * m->dp <= wish->gpus_max; m->dp *= 2) {
		m->gpus = group * m->dp;
		m->layout.gpus = m->gpus;
		m->layout.cp = cp;
		if (holds(req, m)) {
			work(req, gpu, wish, m);
			if (wish->seconds <= 0 ||
			    (m->hours > 0 && m->hours * 3600 <= wish->seconds))
				return true;
		}
		if (req->dp)
			break;
	}
	return false;
}

size_t machines_find(const struct size_request *req, const struct cat_gpu *gpu, size_t kind,
		     const struct machine_wish *wish, struct machine *out, size_t max)
{
	const struct cat_model *model = req->model;
	unsigned int tp, pp;
	enum gpu_trust trust;
	struct machine m;
	size_t n = 0;

	for (tp = req->tp ? req->tp : 1; tp <= (req->tp ? req->tp : TP_MAX); tp *= 2) {
		if (model && !size_tp_divides(model, tp))
			continue;
		for (pp = req->pp ? req->pp : 1; pp <= (req->pp ? req->pp : PP_MAX); pp *= 2) {
			if (n == max || (model && pp > model->layers))
				break;
			/* every stage has as many layers: the fullest is like the others */
			if (model && !req->pp && model->layers % pp)
				continue;
			memset(&m, 0, sizeof(m));
			m.kind = kind;
			m.layout.tp = tp;
			m.layout.pp = pp;
			m.usable = (uint64_t)((double)cat_gpu_memory_mib(gpu, &trust) * MIB_D *
					      req->engine->number[ENGINE_SHARE]);
			if (req->task == SIZE_INFER ? infer_machine(req, gpu, wish, &m)
						    : train_machine(req, gpu, wish, &m))
				out[n++] = m;
		}
	}
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

	if (fx < fy || fx > fy)
		return fx < fy ? -1 : 1;
	if (x->gpus != y->gpus)
		return x->gpus < y->gpus ? -1 : 1;
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
