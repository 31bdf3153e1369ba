// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: our order of jobs
 *
 * The job that is expected to take the least of the pool (seconds times GPUs) goes first, and
 * waiting counts against what is expected, so nobody waits for ever; whatever fits starts.
 *
 * Nobody is to be worse off than with hosts of its own. own.h imagines what each tenant's jobs
 * would do there. A tenant whose jobs are later in the pool than there is behind, and those of
 * its jobs that would have started there go ahead of others: the more, the later they are, and
 * the smaller the tenant's share of all completion times is, because a small tenant is helped by
 * little. Four more rules make that true on a pool that is full of jobs that nobody can stop:
 *
 * - A tenant that hardly ever uses what it is guaranteed has nothing to be compared with, and
 *   gets it when it asks. That says which of its jobs go ahead, not that short ones of others
 *   wait for them.
 * - What is free is kept for a job that goes ahead until the job fits. Meanwhile start only jobs
 *   that the tenant can wait for, or that take next to nothing; and as long as it does not fit,
 *   others that go ahead may borrow what is kept, for a small part of the time that it has waited.
 * - What a tenant's job gives back is for its next job that goes ahead, as on hosts of its own.
 *   Else who is behind would have less with each job that ends. It is not while a job comes
 *   before that one whose tenant is later, or seldom asks, and has less of what it is guaranteed:
 *   on a full pool hardly anything else ever becomes free.
 * - While a tenant is behind that asks every few minutes, GPUs for its next job are lent to
 *   short jobs alone.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "own.h"
#include "policy.h"
#include "runtimes.h"

#define AGE_WEIGHT 2 /* of the wait over the expected runtime */
#define SELDOM 0.1 /* of the guarantee is used on average at most */
#define SELDOM_S 604800.0 /* over which time */
#define LATE_SCALE 0.1 /* as much later makes a job e times more urgent */
#define LATE_EXPONENT_MAX 60
#define LATE_MOST 0.02 /* later than that, a tenant waits for nobody */
#define WAIT_SHARE 0.05 /* of what is left to it, it waits for one job */
#define WAIT_WORK 0.03 /* of its job's work others may take in any case */
#define WAIT_LENT 0.02 /* of its wait as yet, what is kept for a job may be lent */
#define SHORT_S 1800 /* jobs that GPUs are lent to which are kept */
#define OFTEN_S 1800 /* between two jobs of a tenant for which GPUs are kept */
#define OFTEN_DECAY 0.9
#define KEPT_MAX 8 /* GPUs */

/**
 * struct tenant - what this policy remembers of one
 * @held: GPUs now
 * @given: that its jobs gave back in the second @given_at
 * @average: of these over SELDOM_S, as of @at
 * @gap: seconds between two of its latest jobs, @width their GPUs, both on average
 * @last: when it submitted a job; @asked: it has
 * @late: see own_late(), as of the last look
 * @urgency: its jobs that go ahead are as urgent as others with so much less work
 */
struct tenant {
	uint32_t held;
	uint32_t given;
	int64_t given_at;
	double average;
	int64_t at;
	double gap, width;
	int64_t last;
	bool asked;
	double late, urgency;
};

/* A job of the queue. */
struct ranked {
	double key;
	double expect;
	uint32_t job;
	bool ahead, seldom;
};

/**
 * struct ours - what this policy remembers
 * @runtimes: learned; NULL when they are known
 * @own: imagined hosts of each tenant; NULL without guarantees
 * @tenants: all of them
 * @ranked: the queue in our order, made anew each time
 * @borrowed: does the job run on GPUs that are kept for another one; @lent: all of these GPUs
 */
struct ours {
	struct runtimes *runtimes;
	struct own *own;
	struct tenant *tenants;
	struct ranked *ranked;
	size_t room;
	bool *borrowed;
	uint32_t lent;
};

static struct tenant *tenant_now(struct cluster *c, uint32_t tenant)
{
	struct ours *o = c->data;
	struct tenant *t = &o->tenants[tenant];
	double keep = t->at ? exp(-(double)(c->now - t->at) / SELDOM_S) : 0;

	t->average = t->average * keep + (1 - keep) * t->held;
	t->at = c->now;
	return t;
}

static double expected(const struct cluster *c, uint32_t job)
{
	const struct ours *o = c->data;

	return o->runtimes ? runtimes_expect(o->runtimes, job, c->now) :
			     (double)c->jobs->job[job].duration;
}

static void setup_known(struct cluster *c)
{
	struct ours *o = mem_zalloc(1, sizeof(*o));

	o->tenants = mem_zalloc(c->jobs->n_tenants, sizeof(*o->tenants));
	o->borrowed = mem_zalloc(c->jobs->n, sizeof(*o->borrowed));
	if (c->guarantee)
		o->own = own_new(c->jobs, c->guarantee);
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
	own_free(o->own);
	free(o->tenants);
	free(o->ranked);
	free(o->borrowed);
	free(o);
}

static void tenant_asks(struct tenant *t, uint32_t gpus, int64_t now)
{
	const double gap = (double)(now - t->last);

	if (!t->asked) {
		t->width = gpus;
	} else {
		t->gap = t->gap > 0 ? OFTEN_DECAY * t->gap + (1 - OFTEN_DECAY) * gap : gap;
		t->width = OFTEN_DECAY * t->width + (1 - OFTEN_DECAY) * gpus;
	}
	t->asked = true;
	t->last = now;
}

static void submitted(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_arrive(o->runtimes, job, j->tenant, j->gpus, c->now);
	tenant_asks(&o->tenants[j->tenant], j->gpus, c->now);
	if (o->own)
		own_submitted(o->own, job, expected(c, job), c->now);
}

static void tenant_gives(struct tenant *t, uint32_t gpus, int64_t now)
{
	if (t->given_at != now)
		t->given = 0;
	t->given_at = now;
	t->given += gpus;
	t->held -= gpus;
}

/* What was borrowed is not for the next job of whoever borrowed it. */
static void job_returns(const struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	o->tenants[j->tenant].given -= j->gpus;
	o->lent -= j->gpus;
}

static void ours_ended(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_end(o->runtimes, job, c->now);
	if (o->own)
		own_ended(o->own, job, c->now);
	tenant_gives(tenant_now(c, j->tenant), j->gpus, c->now);
	if (o->borrowed[job])
		job_returns(c, job);
}

static void ours_begin(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct ours *o = c->data;

	if (o->runtimes)
		runtimes_begin(o->runtimes, job, c->now);
	if (o->own)
		own_begun(o->own, job, c->now);
	tenant_now(c, j->tenant)->held += j->gpus;
	cluster_start(c, job);
}

/* How late each tenant is, and what that makes of its jobs. */
static void tenants_look(const struct cluster *c)
{
	struct ours *o = c->data;
	double all = 0;
	size_t i;

	for (i = 0; i < c->jobs->n_tenants; i++)
		all += fmax(0, own_total(o->own, (uint32_t)i));
	for (i = 0; i < c->jobs->n_tenants; i++) {
		struct tenant *t = &o->tenants[i];
		double share = all > 0 ? fmax(0, own_total(o->own, (uint32_t)i)) / all : 1;

		t->late = own_late(o->own, (uint32_t)i);
		t->urgency = share * exp(-fmin(fmax(0, t->late) / LATE_SCALE, LATE_EXPONENT_MAX));
	}
}

/* GPUs for the next jobs of tenants that are behind and ask often. */
static uint32_t kept(const struct cluster *c)
{
	const struct ours *o = c->data;
	uint32_t gpus, sum = 0;
	size_t i;

	for (i = 0; o->own && i < c->jobs->n_tenants; i++) {
		const struct tenant *t = &o->tenants[i];

		/* Nine of ten jobs are no wider. */
		gpus = (uint32_t)ceil(t->width - 0.1);
		if (t->late > 0 && t->gap > 0 && t->gap < OFTEN_S &&
		    c->now - t->last < 3 * OFTEN_S && t->held + gpus <= c->guarantee[i])
			sum += gpus;
	}
	return sum < KEPT_MAX ? sum : KEPT_MAX;
}

static bool is_seldom(struct cluster *c, const struct job *j)
{
	const struct tenant *t;

	if (!c->guarantee)
		return false;
	t = tenant_now(c, j->tenant);
	return t->average <= SELDOM * c->guarantee[j->tenant] &&
	       t->held + j->gpus <= c->guarantee[j->tenant];
}

static struct ranked rank_job(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	const struct ours *o = c->data;
	const struct tenant *t = &o->tenants[j->tenant];
	double wait = (double)(c->now - j->submit);
	struct ranked r = { .job = job, .expect = expected(c, job), .seldom = is_seldom(c, j) };

	r.ahead = r.seldom || (o->own && t->late > 0 && own_is_due(o->own, job));
	r.key = r.expect * j->gpus / (1 + AGE_WEIGHT * wait / r.expect);
	if (r.ahead)
		r.key *= t->urgency;
	return r;
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
		o->ranked[n++] = rank_job(c, j);
	qsort(o->ranked, n, sizeof(*o->ranked), ours_by_key);
	return n;
}

/**
 * struct patience - of jobs that go ahead and do not fit yet
 * @seconds: others that start are expected to run no longer,
 * @work: or to take no more GPU-seconds
 * @lent: seconds for which others that go ahead may borrow what is kept,
 * @gpus: as long as this number of GPUs would not be free without the borrowed ones
 */
struct patience {
	double seconds;
	double work;
	double lent;
	uint32_t gpus;
};

static void patience_of(const struct cluster *c, const struct job *j, const struct ranked *r,
			struct patience *p)
{
	const struct ours *o = c->data;
	double left = LATE_MOST - o->tenants[j->tenant].late;
	double seconds = 0;

	p->lent = fmin(p->lent, WAIT_LENT * (double)(c->now - j->submit));
	p->gpus = j->gpus < p->gpus ? j->gpus : p->gpus;

	if (!r->seldom)
		seconds = fmax(0, left) * own_total(o->own, j->tenant) * WAIT_SHARE;
	if (seconds < p->seconds) {
		p->seconds = seconds;
		p->work = WAIT_WORK * r->expect * j->gpus;
	}
}

/* Not once the wide job would have its GPUs but for those lent: no chain of short jobs holds it up. */
static bool may_borrow(const struct cluster *c, const struct ranked *r, const struct patience *p)
{
	const struct ours *o = c->data;

	return r->ahead && r->expect <= p->lent && c->jobs->job[r->job].gpus <= c->free &&
	       c->free + o->lent < p->gpus;
}

static void job_borrows(struct cluster *c, uint32_t job)
{
	struct ours *o = c->data;

	o->borrowed[job] = true;
	o->lent += c->jobs->job[job].gpus;
	ours_begin(c, job);
}

/* How much of what it is guaranteed a tenant has. */
static double tenant_part(const struct cluster *c, uint32_t tenant)
{
	const struct ours *o = c->data;

	return (double)o->tenants[tenant].held / c->guarantee[tenant];
}

/* Does a job before the @n-th one have a better claim to what a job of the latter's tenant gave? */
static bool tenant_yields(const struct cluster *c, size_t n)
{
	const struct ours *o = c->data;
	const struct ranked *mine = &o->ranked[n];
	const uint32_t me = c->jobs->job[mine->job].tenant;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ranked *r = &o->ranked[i];
		const struct job *j = &c->jobs->job[r->job];
		const struct tenant *t = &o->tenants[j->tenant];

		if (r->ahead && c->start[r->job] == CLUSTER_NEVER &&
		    (t->late > o->tenants[me].late || (r->seldom && !mine->seldom)) &&
		    t->held + j->gpus <= c->guarantee[j->tenant] &&
		    tenant_part(c, j->tenant) < tenant_part(c, me))
			return true;
	}
	return false;
}

/* What jobs of a tenant give back is for those of its jobs that go ahead. */
static void tenants_inherit(struct cluster *c, size_t n)
{
	struct ours *o = c->data;
	size_t i;

	for (i = 0; o->own && i < n; i++) {
		const struct ranked *r = &o->ranked[i];
		const struct job *j = &c->jobs->job[r->job];
		struct tenant *t = &o->tenants[j->tenant];

		if (!r->ahead || t->given_at != c->now || j->gpus > t->given ||
		    t->held + j->gpus > c->guarantee[j->tenant] || tenant_yields(c, i))
			continue;
		t->given -= j->gpus;
		ours_begin(c, r->job);
	}
}

static void ours_schedule(struct cluster *c)
{
	const struct ours *o = c->data;
	struct patience p = { .seconds = INFINITY, .lent = INFINITY, .gpus = UINT32_MAX };
	uint32_t spare;
	size_t n, i;

	if (o->own)
		c->wake = own_advance(o->own, c->now);
	if (!c->free)
		return;
	if (o->own)
		tenants_look(c);
	n = rank(c);
	tenants_inherit(c, n);
	spare = kept(c);
	for (i = 0; i < n && c->free; i++) {
		const struct ranked *r = &o->ranked[i];
		const struct job *j = &c->jobs->job[r->job];
		uint32_t apart = !r->ahead && r->expect > SHORT_S ? spare : 0;

		if (c->start[r->job] != CLUSTER_NEVER)
			continue;
		if (r->expect > p.seconds && r->expect * j->gpus > p.work) {
			if (may_borrow(c, r, &p))
				job_borrows(c, r->job);
			continue;
		}
		if (j->gpus + apart <= c->free)
			ours_begin(c, r->job);
		else if (r->ahead)
			patience_of(c, j, r, &p);
	}
}

const struct policy policy_ours = {
	.name = "ours",
	.title = "gpuctl, runtimes learned",
	.setup = ours_setup,
	.submitted = submitted,
	.ended = ours_ended,
	.schedule = ours_schedule,
	.cleanup = ours_cleanup,
};

const struct policy policy_ours_known = {
	.name = "ours",
	.title = "gpuctl, runtimes known",
	.setup = setup_known,
	.submitted = submitted,
	.ended = ours_ended,
	.schedule = ours_schedule,
	.cleanup = ours_cleanup,
};
