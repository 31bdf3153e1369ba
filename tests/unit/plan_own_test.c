// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/csv.c ctl/plan/replay/jobs.c ctl/plan/replay/cluster.c ctl/plan/replay/policy.c ctl/plan/replay/ours.c ctl/plan/replay/own.c ctl/plan/replay/runtimes.c ctl/plan/replay/jobs_score.c ctl/base/fault.c ctl/base/text.c
/*
 * Hosts of one's own, imagined: the schedule there is the one that a tenant's jobs really have on
 * its own GPUs, lateness is what it says, and with it nobody who uses little waits for those who
 * use the pool.
 */
#include <stdlib.h>

#include "plan/replay/jobs_score.h"
#include "plan/replay/own.h"
#include "plan/replay/policy.h"
#include "tap.h"

#define JOBS 400
#define TENANTS 4
#define SMALL_JOBS 4096

static char names[TENANTS][CSV_WORD_MAX] = { "a", "b", "c", "d" };
static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* One job after the other, in both places; @now counts little against the time to forget. */
static void lateness(void)
{
	struct job list[] = { { 0, 100, 2, 0 }, { 10, 50, 2, 0 }, { 20, 10, 1, 1 } };
	struct jobs jobs = { list, 3, names, 2 };
	const uint32_t guarantee[] = { 2, 1 };
	struct own *own = own_new(&jobs, guarantee);

	own_submitted(own, 0, 100, 0);
	ok(own_is_due(own, 0), "a job starts on hosts of its own");
	own_begun(own, 0, 0);
	own_submitted(own, 1, 50, 10);
	ok(!own_is_due(own, 1), "the next one waits for it");
	own_submitted(own, 2, 10, 20);
	ok(own_is_due(own, 2), "that of another tenant does not");
	own_advance(own, 30);
	is_near(own_total(own, 0), 100 + 50 + 20, 0.1, "completion times grow while a job waits");
	is_near(own_late(own, 1), 10 / 10.0, 1e-3, "who waits in the pool alone is late");
	own_begun(own, 1, 30);
	is_int((int)own_advance(own, 80), 100, "only the end of a job that waits is expected");
	is_near(own_late(own, 0), -50 / 220.0, 1e-3, "who is ahead has credit");
	own_ended(own, 1, 80);
	own_ended(own, 0, 100);
	own_advance(own, 100);
	ok(own_is_due(own, 1), "the first one has ended, so the next one starts");
	is_near(own_late(own, 0), -70 / 240.0, 1e-3, "it was ahead by the difference");
	is_int((int)own_advance(own, 149), 150, "its end is known");
	own_free(own);
}

/* Two long jobs, one of which starts a day earlier in the pool; a short one in the next week. */
static void credit(void)
{
	struct job list[] = { { 0, 80000, 2, 0 }, { 0, 80000, 2, 0 }, { 520000, 60, 2, 0 } };
	struct jobs jobs = { list, 3, names, 1 };
	const uint32_t guarantee[] = { 2 };
	struct own *own = own_new(&jobs, guarantee);
	uint32_t job;

	for (job = 0; job < 2; job++) {
		own_submitted(own, job, 80000, 0);
		own_begun(own, job, 0);
	}
	own_ended(own, 0, 80000);
	own_ended(own, 1, 80000);
	own_advance(own, 160000);
	ok(own_late(own, 0) < 0, "who was ahead has credit on the next day");
	own_submitted(own, 2, 60, 520000);
	own_advance(own, 523600);
	ok(own_late(own, 0) > 0, "a week later that does not make up for an hour's wait");
	own_free(own);
}

/* The first job is expected to run for 100 s, and waits in the pool for 5000. */
static void blocked(void)
{
	struct job list[] = { { 0, 3000, 2, 0 }, { 10, 50, 2, 0 }, { 6000, 50, 2, 0 } };
	struct jobs jobs = { list, 3, names, 1 };
	const uint32_t guarantee[] = { 2 };
	struct own *own = own_new(&jobs, guarantee);

	own_submitted(own, 0, 100, 0);
	own_submitted(own, 1, 50, 10);
	own_advance(own, 700);
	ok(!own_is_due(own, 1), "a job that waits in the pool has its imagined GPUs");
	own_advance(own, 1000);
	ok(own_is_due(own, 1), "but not for much longer than it is expected to run");
	own_begun(own, 1, 1000);
	own_ended(own, 1, 1050);
	own_begun(own, 0, 5000);
	own_submitted(own, 2, 50, 6000);
	ok(!own_is_due(own, 2), "it has them again when it has run for as long");
	own_advance(own, 7900);
	ok(!own_is_due(own, 2), "as long as it runs");
	own_ended(own, 0, 8000);
	own_advance(own, 8000);
	ok(own_is_due(own, 2), "and no longer");
	own_free(own);
}

static void make(struct jobs *jobs)
{
	int64_t at = 0;
	size_t i;

	*jobs = (struct jobs){ calloc(JOBS, sizeof(*jobs->job)), JOBS, names, TENANTS };
	for (i = 0; i < JOBS; i++) {
		at += any(3) ? any(30) : 0;
		jobs->job[i] = (struct job){
			.submit = at,
			.duration = 1 + any(300),
			.gpus = 1 + any(4),
			.tenant = any(TENANTS),
		};
	}
}

/* When each job becomes due while all of them start at once in a pool that is never full. */
static void own_run(const struct jobs *jobs, const uint32_t *guarantee, int64_t *due)
{
	struct own *own = own_new(jobs, guarantee);
	size_t i, next = 0, left = jobs->n;
	int64_t now;

	for (i = 0; i < jobs->n; i++)
		due[i] = -1;
	for (now = 0; left; now++) {
		for (i = 0; i < next; i++)
			if (jobs->job[i].submit + jobs->job[i].duration == now)
				own_ended(own, (uint32_t)i, now);
		for (; next < jobs->n && jobs->job[next].submit == now; next++) {
			own_submitted(own, (uint32_t)next, 100, now);
			own_begun(own, (uint32_t)next, now);
		}
		own_advance(own, now);
		for (i = 0; i < next; i++) {
			if (due[i] >= 0 || !own_is_due(own, (uint32_t)i))
				continue;
			due[i] = now;
			left--;
		}
	}
	own_free(own);
}

/* Jobs of one tenant alone, on its own GPUs, by the replay's own means. */
static size_t differ(const struct jobs *all, uint32_t tenant, uint32_t gpus, const int64_t *due)
{
	struct jobs some = { calloc(all->n, sizeof(*some.job)), 0, names, TENANTS };
	int64_t *start = calloc(all->n, sizeof(*start));
	size_t i, n = 0, wrong = 0;

	for (i = 0; i < all->n; i++)
		if (all->job[i].tenant == tenant)
			some.job[some.n++] = all->job[i];
	cluster_run(&some, gpus, &policy_greedy, NULL, start);
	for (i = 0; i < all->n; i++)
		if (all->job[i].tenant == tenant)
			wrong += start[n++] != due[i];
	free(some.job);
	free(start);
	return wrong;
}

static void schedules(void)
{
	const uint32_t guarantee[TENANTS] = { 4, 5, 7, 16 };
	int64_t due[JOBS];
	struct jobs jobs;
	size_t wrong = 0;
	unsigned int i, t;

	for (i = 0; i < 20; i++) {
		make(&jobs);
		own_run(&jobs, guarantee, due);
		for (t = 0; t < TENANTS; t++)
			wrong += differ(&jobs, t, guarantee[t], due);
		free(jobs.job);
	}
	is_int((int)wrong, 0, "imagined starts are those on hosts of one's own");
}

/* Of a tenant that asks for a GPU for some seconds every ten minutes; the others want all. */
static double small_tenant(const uint32_t *guarantee)
{
	struct jobs jobs = { calloc(SMALL_JOBS, sizeof(*jobs.job)), 0, names, 2 };
	int64_t *start = calloc(SMALL_JOBS, sizeof(*start));
	double means[2];
	int64_t at;

	for (at = 0; at < 400000; at += 120) {
		jobs.job[jobs.n++] = (struct job){ at, 1 + any(8000), 1, 0 };
		if (at % 600 == 0)
			jobs.job[jobs.n++] = (struct job){ at, 30 + any(60), 1, 1 };
		/* A wide one now and then, for which the pool would have to run empty. */
		if (at % 36000 == 0)
			jobs.job[jobs.n++] = (struct job){ at, 20000, 8, 0 };
	}
	cluster_run(&jobs, 32, &policy_ours, guarantee, start);
	jobs_tenant_means(&jobs, start, 200000, means);
	free(jobs.job);
	free(start);
	return means[1];
}

static void guarantees(void)
{
	static const uint32_t guarantee[] = { 28, 4 };
	double with = small_tenant(guarantee), without = small_tenant(NULL);

	printf("# mean completion of the small tenant: %.1f s, without a guarantee %.1f s\n", with,
	       without);
	/* Its jobs run for a minute on average. */
	ok(with < 1.5 * 60, "who is guaranteed GPUs hardly waits");
	ok(without > 2 * with, "who is not waits on a full pool");
}

static const uint32_t one_each[] = { 1, 1, 1 };

/* All GPUs are busy; @start is of each job. */
static void with_known_runtimes(struct job *list, size_t n, uint32_t pool,
				const uint32_t *guarantee, int64_t *start)
{
	struct jobs jobs = { list, n, names, 3 };

	cluster_run(&jobs, pool, &policy_ours_known, guarantee, start);
}

/* The third tenant has never asked before. Its job is long; that of the second is short, and due. */
static void seldom(void)
{
	struct job list[] = {
		{ 0, 100500, 1, 0 },	  { 0, 100000, 1, 1 },	{ 50, 1000000, 1, 0 },
		{ 100100, 100000, 1, 2 }, { 100499, 60, 1, 1 },
	};
	int64_t start[5];

	with_known_runtimes(list, 5, 2, one_each, start);
	is_int((int)start[4], 100500, "who seldom asks does not hold up a short job of another");
	is_int((int)start[3], 100560, "and gets the GPU after that");
}

/* The third tenant has a GPU of the first, whose job is shorter than that of the second. */
static void inherited(void)
{
	struct job list[] = {
		{ 0, 5000, 1, 2 },  { 0, 5000, 1, 2 },	{ 0, 20, 1, 0 },
		{ 10, 1000, 1, 1 }, { 10, 1000, 1, 1 }, { 1000, 10, 1, 0 },
	};
	int64_t start[6];

	with_known_runtimes(list, 6, 3, one_each, start);
	is_int((int)start[3], 20, "a tenant is late");
	is_int((int)start[4], 1020, "the GPU that its job gives back is for its next one");
	is_int((int)start[5], 2020, "and not for that of another");
}

/* The second tenant has nothing and has waited for long when a job of the first one ends. */
static void yielded(void)
{
	static const uint32_t guarantee[] = { 2, 1, 1 };
	struct job list[] = {
		{ 0, 100, 1, 2 },  { 0, 100, 1, 2 },	{ 0, 5000, 1, 2 },  { 1, 1000, 1, 0 },
		{ 1, 2000, 1, 0 }, { 150, 1000, 1, 0 }, { 200, 500, 1, 1 },
	};
	int64_t start[7];

	with_known_runtimes(list, 7, 3, guarantee, start);
	is_int((int)start[4], 100, "a tenant has what it is guaranteed");
	is_int((int)start[6], 1100, "who is later, and has less, gets what its job gives back");
	is_int((int)start[5], 1600, "and its next job waits");
}

/* The first tenant's job needs both GPUs and has one; those of the second are short. */
static void borrowed(void)
{
	static const uint32_t guarantee[] = { 2, 3, 1 };
	struct job list[] = {
		{ 0, 100, 1, 2 },     { 0, 20000, 1, 2 },   { 1, 1000, 2, 0 },
		{ 9000, 100, 1, 1 },  { 19900, 500, 1, 1 }, { 19950, 100, 1, 1 },
		{ 20010, 100, 1, 1 },
	};
	int64_t start[7];

	with_known_runtimes(list, 7, 2, guarantee, start);
	is_int((int)start[3], 9000,
	       "a short job borrows a GPU for which a wide one waits for hours");
	is_int((int)start[5], 19950, "and so does the next short one");
	is_int((int)start[2], 20050, "the wide one starts when that has ended");
	is_int((int)start[6], 21050, "none begins when it waits for borrowed GPUs alone");
	is_int((int)start[4], 21050, "one that is not short waits all the time");
}

int main(void)
{
	lateness();
	credit();
	blocked();
	seldom();
	inherited();
	yielded();
	borrowed();
	schedules();
	guarantees();
	return tap_done();
}
