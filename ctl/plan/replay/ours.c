// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: our order of jobs
 *
 * The job that is expected to take the least of the pool (seconds times GPUs)
 * goes first, and waiting counts against what is expected, so nobody waits for
 * ever; whatever fits starts. One exception guards those who would be better off with
 * hosts of their own: a tenant that hardly ever uses what it is guaranteed gets
 * that at once when it asks, and what becomes free is kept for it until it fits.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "policy.h"
#include "runtimes.h"

#define AGE_WEIGHT 2 /* of the wait over the expected runtime */
#define SELDOM 0.1 /* of the guarantee is used on average at most */
#define SELDOM_S 604800.0 /* over which time */
#define FIRST -1e15 /* no other key is as small */

/**
 * struct use - of one tenant
 * @held: GPUs now
 * @average: of these over SELDOM_S, as of @at
 */
struct use {
	uint32_t held;
	double average;
	int64_t at;
};

struct ranked {
	double key;
	uint32_t job;
};

/**
 * struct ours - what this policy remembers
 * @runtimes: learned; NULL when they are known
 * @use: of each tenant
 * @ranked: the queue in our order, made anew each time
 */
struct ours {
	struct runtimes *runtimes;
	struct use *use;
	struct ranked *ranked;
	size_t room;
};

static struct use *use_now(const struct cluster *c, uint32_t tenant)
{
	struct ours *o = c->data;
	struct use *u = &o->use[tenant];
	double keep = u->at ? exp(-(double)(c->now - u->at) / SELDOM_S) : 0;

	u->average = u->average * keep + (1 - keep) * u->held;
	u->at = c->now;
	return u;
}

static void setup_known(struct cluster *c)
{
	struct ours *o = mem_zalloc(1, sizeof(*o));

	o->use = mem_zalloc(c->jobs->n_tenants, sizeof(*o->use));
	c->data = o;
}

static void ours_setup(struct cluster *c)
{
	struct ours *o;

	setup_known(c);
	o = c->data;
	o->runtimes = runtimes_new(c->jobs->n);
}

static void ours_cleanup(struct cluster *c)
{
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_free(o->runtimes);
	free(o->use);
	free(o->ranked);
	free(o);
}

static void submitted(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_arrive(o->runtimes, job, j->tenant, j->gpus, c->now);
}

static void ours_ended(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_end(o->runtimes, job, c->now);
	use_now(c, j->tenant)->held -= j->gpus;
}

static void ours_begin(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_begin(o->runtimes, job, c->now);
	use_now(c, j->tenant)->held += j->gpus;
	cluster_start(c, job);
}

static bool guarded(const struct cluster *c, const struct job *j)
{
	const struct use *u;
	double guarantee;

	if (!c->guarantee)
		return false;
	u = use_now(c, j->tenant);
	guarantee = c->guarantee[j->tenant];
	return u->average <= SELDOM * guarantee && u->held + j->gpus <= guarantee;
}

static double key(const struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	const struct ours *o = c->data;
	double expect, wait = (double)(c->now - j->submit);

	if (guarded(c, j))
		return FIRST + (double)j->submit;
	expect = o->runtimes ? runtimes_expect(o->runtimes, job, c->now) : (double)j->duration;
	return expect * j->gpus / (1 + AGE_WEIGHT * wait / expect);
}

static int ours_by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key < y->key || x->key > y->key)
		return x->key < y->key ? -1 : 1;
	return x->job < y->job ? -1 : 1;
}

static size_t rank(struct cluster *c)
{
	struct ours *o = c->data;
	size_t n = 0;
	uint32_t j;

	if (o->room < c->waiting) {
		o->room = 2 * c->waiting;
		o->ranked = mem_grow(o->ranked, o->room, sizeof(*o->ranked));
	}
	for (j = c->head; j != CLUSTER_NONE; j = c->next[j])
		o->ranked[n++] = (struct ranked){ .key = key(c, j), .job = j };
	qsort(o->ranked, n, sizeof(*o->ranked), ours_by_key);
	return n;
}

static void ours_schedule(struct cluster *c)
{
	const struct ours *o = c->data;
	size_t n, i;

	if (!c->free)
		return;
	n = rank(c);
	for (i = 0; i < n && c->free; i++) {
		const struct ranked *r = &o->ranked[i];

		if (c->jobs->job[r->job].gpus <= c->free)
			ours_begin(c, r->job);
		else if (r->key < 0)
			return;
	}
}

const struct policy policy_ours = {
	.name = "ours",
	.title = "ours, runtimes learned",
	.setup = ours_setup,
	.submitted = submitted,
	.ended = ours_ended,
	.schedule = ours_schedule,
	.cleanup = ours_cleanup,
};

const struct policy policy_ours_known = {
	.name = "ours",
	.title = "ours, runtimes known",
	.setup = setup_known,
	.submitted = submitted,
	.ended = ours_ended,
	.schedule = ours_schedule,
	.cleanup = ours_cleanup,
};
