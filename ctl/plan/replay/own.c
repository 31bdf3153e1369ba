// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: an imagined schedule on hosts of one's own
 *
 * It is the virtual schedule of fair queueing (Demers, Keshav and Shenker, SIGCOMM'89), for jobs
 * that nobody can stop: each tenant's jobs start on its own GPUs in order of submission, whatever
 * fits. A job runs there for as long as in the pool, so its completion times in both differ by
 * its start alone, and sums over starts are enough to compare them.
 *
 * A job that has ended there, but not in the pool, keeps its imagined GPUs until its duration is
 * known. If it waits in the pool, that may take days, and while it blocks the imagined hosts no
 * other job of its tenant is due, so the tenant would be thought to be served well just because it
 * is not. So such a job has imagined GPUs for HOLD times the duration that is expected, and gives
 * them back then. When it has run for as long in the pool, it has them again: what it takes is
 * neither forgotten nor counted twice.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "own.h"

/* After which an old job counts for 1/e. The last one is that of own_total(). */
static const double forget_s[] = { 86400, 604800 };

#define MEMORIES (sizeof(forget_s) / sizeof(forget_s[0]))

/* What is expected is the mean of those that have ended: of long ones there are too few. */
#define HOLD 8

/* What an imagined job has. */
enum has {
	HAS_NOTHING,
	HAS_GPUS,
	/* It gave them back before its duration was known. */
	HAS_PAUSE,
};

/* An imagined job that ends, pauses or goes on at a known time. */
struct ending {
	int64_t at;
	uint32_t job;
};

/* Jobs in one of two states, and when they entered it. */
struct pending {
	double n;
	double since;
};

/**
 * struct account - of one tenant
 * @late: start in the pool minus imagined start, of jobs that have started in both
 * @total: imagined completion times; those of jobs that wait lack the time since @at. Both
 *   with each of forget_s
 * @waiting: imagined to wait, since they were submitted
 * @ahead: started in the pool alone, @behind: imagined to have started, but not in the pool
 * @free: imagined GPUs that no job has; below 0 while jobs that were paused have more than all
 * @head: first imagined job that waits, CLUSTER_NONE for none, @tail the last
 */
struct account {
	double late[MEMORIES], total[MEMORIES];
	struct pending waiting, ahead, behind;
	int64_t free;
	uint32_t head, tail;
};

/**
 * struct own - all tenants
 * @next: links imagined jobs that wait
 * @start: imagined, of each job; CLUSTER_NEVER as long as it waits
 * @begun: in the pool, likewise
 * @ran: seconds, of jobs that have ended in the pool; 0 for others
 * @expect: seconds that each job is expected to run, in the total until it has ended
 * @has: what each job has
 * @ending: @n_ending of them; the last one comes first
 * @now: up to when all is known
 */
struct own {
	const struct jobs *jobs;
	struct account *account;
	uint32_t *next;
	int64_t *start, *begun, *ran;
	double *expect;
	enum has *has;
	struct ending *ending;
	size_t n_ending, room;
	int64_t now;
};

struct own *own_new(const struct jobs *jobs, const uint32_t *guarantee)
{
	struct own *own = mem_zalloc(1, sizeof(*own));
	size_t i;

	own->jobs = jobs;
	own->account = mem_zalloc(jobs->n_tenants, sizeof(*own->account));
	own->next = mem_zalloc(jobs->n, sizeof(*own->next));
	own->start = mem_zalloc(jobs->n, sizeof(*own->start));
	own->begun = mem_zalloc(jobs->n, sizeof(*own->begun));
	own->ran = mem_zalloc(jobs->n, sizeof(*own->ran));
	own->expect = mem_zalloc(jobs->n, sizeof(*own->expect));
	own->has = mem_zalloc(jobs->n, sizeof(*own->has));
	for (i = 0; i < jobs->n_tenants; i++) {
		own->account[i].free = guarantee[i];
		own->account[i].head = CLUSTER_NONE;
	}
	for (i = 0; i < jobs->n; i++) {
		own->start[i] = CLUSTER_NEVER;
		own->begun[i] = CLUSTER_NEVER;
	}
	return own;
}

void own_free(struct own *own)
{
	if (!own)
		return;
	free(own->account);
	free(own->next);
	free(own->start);
	free(own->begun);
	free(own->ran);
	free(own->expect);
	free(own->has);
	free(own->ending);
	free(own);
}

static void account_late(struct account *a, int64_t seconds)
{
	size_t i;

	for (i = 0; i < MEMORIES; i++)
		a->late[i] += (double)seconds;
}

static void account_took(struct account *a, double seconds)
{
	size_t i;

	for (i = 0; i < MEMORIES; i++)
		a->total[i] += seconds;
}

static struct account *own_account(struct own *own, uint32_t job)
{
	return &own->account[own->jobs->job[job].tenant];
}

static void pending_add(struct pending *p, int64_t since)
{
	p->n++;
	p->since += (double)since;
}

static void pending_remove(struct pending *p, int64_t since)
{
	p->n--;
	p->since -= (double)since;
}

/* Seconds that they have spent in that state, all together. */
static double pending_until(const struct pending *p, int64_t now)
{
	return p->n * (double)now - p->since;
}

static void own_forget_end(struct own *own, uint32_t job)
{
	size_t i;

	for (i = 0; i < own->n_ending && own->ending[i].job != job; i++)
		;
	if (i == own->n_ending)
		return;
	own->n_ending--;
	memmove(own->ending + i, own->ending + i + 1, (own->n_ending - i) * sizeof(*own->ending));
}

static void own_ends(struct own *own, uint32_t job, int64_t at)
{
	size_t i = own->n_ending++;

	if (own->n_ending > own->room) {
		own->room = 2 * own->n_ending;
		own->ending = mem_grow(own->ending, own->room, sizeof(*own->ending));
	}
	for (; i && own->ending[i - 1].at < at; i--)
		own->ending[i] = own->ending[i - 1];
	own->ending[i] = (struct ending){ .at = at, .job = job };
}

/* How long a job has imagined GPUs, as long as it waits in the pool. */
static int64_t own_hold(const struct own *own, uint32_t job)
{
	return (int64_t)ceil(HOLD * own->expect[job]);
}

static void own_takes(struct own *own, uint32_t job)
{
	own->has[job] = HAS_GPUS;
	own_account(own, job)->free -= own->jobs->job[job].gpus;
}

static void own_gives(struct own *own, uint32_t job)
{
	own->has[job] = HAS_NOTHING;
	own_account(own, job)->free += own->jobs->job[job].gpus;
}

static void own_starts(struct own *own, uint32_t job, int64_t at)
{
	struct account *a = own_account(own, job);
	int64_t submit = own->jobs->job[job].submit;

	own_takes(own, job);
	own->start[job] = at;
	pending_remove(&a->waiting, submit);
	account_took(a, (double)(at - submit));
	if (own->begun[job] == CLUSTER_NEVER) {
		pending_add(&a->behind, at);
	} else {
		pending_remove(&a->ahead, own->begun[job]);
		account_late(a, own->begun[job] - at);
	}
	if (own->ran[job])
		own_ends(own, job, at + own->ran[job]);
	else if (own->begun[job] == CLUSTER_NEVER)
		own_ends(own, job, at + own_hold(own, job));
}

/* Whatever fits, in order of submission. */
static void own_start_some(struct own *own, struct account *a, int64_t at)
{
	uint32_t job, next, last = CLUSTER_NONE;

	for (job = a->head; job != CLUSTER_NONE && a->free > 0; job = next) {
		next = own->next[job];
		if (own->jobs->job[job].gpus > a->free) {
			last = job;
			continue;
		}
		if (last == CLUSTER_NONE)
			a->head = next;
		else
			own->next[last] = next;
		if (next == CLUSTER_NONE)
			a->tail = last;
		own_starts(own, job, at);
	}
}

static void own_forget(struct own *own, int64_t now)
{
	size_t i, m;

	for (m = 0; m < MEMORIES; m++) {
		const double keep = exp(-(double)(now - own->now) / forget_s[m]);

		for (i = 0; i < own->jobs->n_tenants; i++) {
			own->account[i].late[m] *= keep;
			own->account[i].total[m] *= keep;
		}
	}
}

static int64_t own_next(const struct own *own)
{
	return own->n_ending ? own->ending[own->n_ending - 1].at : CLUSTER_NEVER;
}

/* Its time has come: to go on after a pause, to pause, or to end. */
static void own_turns(struct own *own, uint32_t job)
{
	if (own->has[job] == HAS_PAUSE) {
		own_takes(own, job);
		return;
	}
	own_gives(own, job);
	if (own->ran[job])
		return;
	own->has[job] = HAS_PAUSE;
	if (own->begun[job] != CLUSTER_NEVER)
		own_ends(own, job, own->begun[job] + own_hold(own, job));
}

/* All that end in this second give their GPUs back before any other starts. */
static void own_end_some(struct own *own, int64_t at)
{
	size_t i;

	while (own_next(own) == at)
		own_turns(own, own->ending[--own->n_ending].job);
	for (i = 0; i < own->jobs->n_tenants; i++)
		own_start_some(own, &own->account[i], at);
}

int64_t own_advance(struct own *own, int64_t now)
{
	while (own_next(own) <= now)
		own_end_some(own, own_next(own));
	if (now > own->now) {
		own_forget(own, now);
		own->now = now;
	}
	return own_next(own);
}

void own_submitted(struct own *own, uint32_t job, double expect, int64_t now)
{
	struct account *a = own_account(own, job);

	own_advance(own, now);
	pending_add(&a->waiting, now);
	account_took(a, expect);
	own->expect[job] = expect;
	own->next[job] = CLUSTER_NONE;
	if (a->head == CLUSTER_NONE)
		a->head = job;
	else
		own->next[a->tail] = job;
	a->tail = job;
	own_start_some(own, a, now);
}

void own_begun(struct own *own, uint32_t job, int64_t now)
{
	struct account *a = own_account(own, job);

	own_advance(own, now);
	own->begun[job] = now;
	if (own->has[job] == HAS_PAUSE)
		own_ends(own, job, now + own_hold(own, job));
	else if (own->start[job] == now)
		own_forget_end(own, job);
	if (own->start[job] == CLUSTER_NEVER) {
		pending_add(&a->ahead, now);
	} else {
		pending_remove(&a->behind, own->start[job]);
		account_late(a, now - own->start[job]);
	}
}

/* Others may end in the same second, so nothing starts yet. */
void own_ended(struct own *own, uint32_t job, int64_t now)
{
	int64_t at;

	own->ran[job] = now - own->begun[job];
	account_took(own_account(own, job), (double)own->ran[job] - own->expect[job]);
	if (own->start[job] == CLUSTER_NEVER)
		return;
	own_forget_end(own, job);
	if (own->has[job] == HAS_PAUSE) {
		own->has[job] = HAS_NOTHING;
		return;
	}
	at = own->start[job] + own->ran[job];
	own_ends(own, job, at > now ? at : now);
}

bool own_is_due(const struct own *own, uint32_t job)
{
	return own->start[job] != CLUSTER_NEVER;
}

double own_total(const struct own *own, uint32_t tenant)
{
	const struct account *a = &own->account[tenant];

	return a->total[MEMORIES - 1] + pending_until(&a->waiting, own->now);
}

double own_late(const struct own *own, uint32_t tenant)
{
	const struct account *a = &own->account[tenant];
	const double waiting = pending_until(&a->waiting, own->now);
	const double late =
		pending_until(&a->behind, own->now) - pending_until(&a->ahead, own->now);
	double worst = -INFINITY;
	size_t i;

	for (i = 0; i < MEMORIES; i++)
		if (a->total[i] + waiting > 0)
			worst = fmax(worst, (a->late[i] + late) / (a->total[i] + waiting));
	return worst > -INFINITY ? worst : 0;
}
