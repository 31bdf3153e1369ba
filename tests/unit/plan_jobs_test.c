// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/csv.c ctl/plan/replay/jobs.c ctl/plan/replay/cluster.c ctl/plan/replay/policy.c ctl/plan/replay/policy_hold.c ctl/plan/replay/ours.c ctl/plan/replay/own.c ctl/plan/replay/runtimes.c ctl/plan/replay/hosts.c ctl/plan/replay/jobs_score.c ctl/plan/replay/jobs_bound.c ctl/plan/energy.c ctl/base/fault.c ctl/base/text.c
/*
 * Job traces: what is refused, and what holds for every policy on random
 * traces: no GPU-second is lost or made up, the pool is never exceeded, the same comes
 * out twice, nobody looks at what is not known yet, no bound is above a schedule.
 */
#include <math.h>
#include <stdlib.h>

#include "plan/energy.h"
#include "plan/replay/hosts.h"
#include "plan/replay/jobs_score.h"
#include "plan/replay/policy.h"
#include "tap.h"

#define HEAD JOBS_HEADING "\n"
#define POOL 16

static const struct policy *const policies[] = {
	&policy_fifo, &policy_easy, &policy_greedy, &policy_sjf, &policy_hold, &policy_ours,
	&policy_ours_known,
};

#define POLICIES (sizeof(policies) / sizeof(policies[0]))

static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void refuses(const char *text, const char *want)
{
	struct fault f = { "" };
	struct jobs jobs;
	int err = jobs_parse(&jobs, "t.csv", text, strlen(text), POOL, &f);

	ok(err && !strcmp(f.text, want), "%.60s: %s", text, f.text);
	if (!err)
		jobs_free(&jobs);
}

static void reading(void)
{
	static const char good[] = HEAD "0,10,1,a\r\n0,5,16,b-1\r\n7,1,2,a";
	struct fault f = { "" };
	struct jobs jobs;

	refuses("", "t.csv:1:1: the file is empty: a heading \"" JOBS_HEADING "\" is expected");
	refuses("a,b\n1,2\n", "t.csv:1:1: the heading is not \"" JOBS_HEADING "\"");
	refuses(HEAD, "t.csv:1:32: there is no line after the heading");
	refuses(HEAD "5,1,1,a\n4,1,1,a\n",
		"t.csv:3:1: submit_s is before that of the line above: not sorted");
	refuses(HEAD "5,-1,1,a\n", "t.csv:2:3: duration_s is negative: -1");
	refuses(HEAD "5,0,1,a\n", "t.csv:2:3: duration_s is 0");
	refuses(HEAD "5,1,0,a\n", "t.csv:2:5: gpus is 0");
	refuses(HEAD "5,1,17,a\n", "t.csv:2:5: 17 GPUs are more than the pool of 16 has");
	refuses(HEAD "5,1,99999999,a\n", "t.csv:2:5: gpus is 99999999: at most 65536 is possible");
	refuses(HEAD "5,999999999999999999999999,1,a\n",
		"t.csv:2:3: duration_s is 999999999999999999999999: at most 315360000 is possible");
	refuses(HEAD "5,1.5,1,a\n", "t.csv:2:4: \".5\" after duration_s: a whole number or a word is expected");
	refuses(HEAD "5,1,1\n", "t.csv:2:6: the line ends after gpus: columns are missing");
	refuses(HEAD "5,1,1,a,b\n", "t.csv:2:8: more columns than the heading has");
	refuses(HEAD "5,1,1,\n", "t.csv:2:7: tenant is missing, or is not a word");
	refuses(HEAD "\n", "t.csv:2:1: submit_s is \"\": not a whole number");
	refuses(HEAD "x,1,1,a\n", "t.csv:2:1: submit_s is \"x\": not a whole number");

	ok(!jobs_parse(&jobs, "t.csv", good, strlen(good), POOL, &f), "a good trace %s", f.text);
	is_int((int)jobs.n, 3, "has its jobs, with and without carriage returns");
	is_int((int)jobs.n_tenants, 2, "and tenants");
	is_str(jobs.tenants[jobs.job[1].tenant], "b-1", "by name");
	jobs_free(&jobs);
}

/* A busy trace of @n jobs. */
static void make(struct jobs *jobs, size_t n)
{
	static char names[4][CSV_WORD_MAX] = { "a", "b", "c", "d" };
	int64_t at = 100;
	size_t i;

	jobs->n = n;
	jobs->job = calloc(n, sizeof(*jobs->job));
	jobs->tenants = names;
	jobs->n_tenants = 4;
	for (i = 0; i < n; i++) {
		at += any(3) ? any(20) : 0;
		jobs->job[i] = (struct job){
			.submit = at,
			.duration = 1 + (any(5) ? any(60) : any(600)),
			.gpus = any(3) ? 1 : 1 + any(POOL / 2),
			.tenant = any(4),
		};
	}
}

static int64_t work(const struct jobs *jobs)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < jobs->n; i++)
		sum += jobs->job[i].duration * jobs->job[i].gpus;
	return sum;
}

/* GPUs in use in the second that a job starts: the only moments at which it rises. */
static bool within(const struct jobs *jobs, const int64_t *start)
{
	size_t i, j;

	for (i = 0; i < jobs->n; i++) {
		uint32_t used = 0;

		for (j = 0; j < jobs->n; j++)
			if (start[j] <= start[i] && start[i] < start[j] + jobs->job[j].duration)
				used += jobs->job[j].gpus;
		if (used > POOL || start[i] < jobs->job[i].submit)
			return false;
	}
	return true;
}

/* Whatever runs longer than until @at may run for as long as it likes: nothing before changes. */
static bool blind(const struct jobs *jobs, const struct policy *policy, const uint32_t *guarantee,
		  const int64_t *start)
{
	int64_t *other = calloc(jobs->n, sizeof(*other));
	struct jobs changed = *jobs;
	int64_t at = jobs->job[jobs->n / 2].submit;
	bool same = true;
	size_t i;

	changed.job = calloc(jobs->n, sizeof(*changed.job));
	for (i = 0; i < jobs->n; i++) {
		changed.job[i] = jobs->job[i];
		if (start[i] + jobs->job[i].duration > at)
			changed.job[i].duration += any(2) ? 1 : any(20000);
	}
	cluster_run(&changed, POOL, policy, guarantee, other);
	for (i = 0; i < jobs->n; i++)
		if (start[i] < at && other[i] != start[i])
			same = false;
	free(changed.job);
	free(other);
	return same;
}

/**
 * struct tally - what failed in how many traces
 */
struct tally {
	unsigned int lost, over, unlike, looked, bound, worst, makespan, runs;
};

static void judge(struct tally *t, const struct jobs *jobs, const struct policy *policy,
		  const uint32_t *guarantee, int64_t *start, int64_t *again)
{
	int64_t busy = cluster_run(jobs, POOL, policy, guarantee, start);
	struct jobs_score s;
	double mean[4];

	t->runs++;
	t->lost += busy != work(jobs) ||
		   (int64_t)jobs_busy(jobs, start, 0, INT64_MAX, UINT32_MAX) != busy;
	t->over += !within(jobs, start);
	cluster_run(jobs, POOL, policy, guarantee, again);
	t->unlike += memcmp(start, again, jobs->n * sizeof(*start)) != 0;
	if (policy == &policy_ours || policy == &policy_greedy || policy == &policy_fifo ||
	    policy == &policy_hold)
		t->looked += !blind(jobs, policy, guarantee, start);
	jobs_score(jobs, start, POOL, 0, &s);
	t->makespan += jobs_makespan_bound(jobs, POOL) > s.makespan + 1e-6;
	t->bound += jobs_mean_bound(jobs, POOL, 0, s.mean * 0.9, 20) > s.mean + 1e-6;
	jobs_tenant_means(jobs, start, 0, mean);
	/* compared with itself, each tenant has a share of 1 */
	t->worst += jobs_worst_bound(jobs, POOL, 0, mean, 0.9, 20) > 1 + 1e-9;
}

static void properties(void)
{
	struct tally t = { 0 };
	int64_t *start = calloc(400, sizeof(*start)), *again = calloc(400, sizeof(*again));
	struct hosts hosts;
	struct jobs jobs;
	size_t round, i;

	for (round = 0; round < 12; round++) {
		make(&jobs, 40 + any(360));
		if (!hosts_divide(&hosts, &jobs, 2 * POOL, 8, 0))
			hosts.gpus = NULL;
		for (i = 0; i < POLICIES; i++)
			judge(&t, &jobs, policies[i], round % 2 ? hosts.gpus : NULL, start, again);
		hosts_free(&hosts);
		free(jobs.job);
	}
	is_int(t.lost, 0, "every GPU-second of a trace is run, and no other");
	is_int(t.over, 0, "no pool is exceeded, no job starts before it is there");
	is_int(t.unlike, 0, "the same comes out again");
	is_int(t.looked, 0, "without runtimes nobody knows what has not happened");
	is_int(t.makespan, 0, "no makespan is below its bound");
	is_int(t.bound, 0, "no mean is below its bound");
	is_int(t.worst, 0, "no worst tenant is below its bound");
	tap_counted("replay.schedules", t.runs);
	free(start);
	free(again);
}

#define FEW 5
#define FEW_GPUS 3

/* Is there room for a job at this time beside those that are placed already? */
static bool has_room(const struct jobs *jobs, const int64_t *start, const struct job *j, int64_t at)
{
	size_t i, k;

	/* use rises only where a job starts */
	for (i = 0; i <= jobs->n; i++) {
		int64_t t = i < jobs->n ? start[i] : at;
		uint32_t used = j->gpus;

		if (t < at || t >= at + j->duration)
			continue;
		for (k = 0; k < jobs->n; k++)
			if (start[k] <= t && t < start[k] + jobs->job[k].duration)
				used += jobs->job[k].gpus;
		if (used > FEW_GPUS)
			return false;
	}
	return true;
}

/* The least score: every order, each job as early as the ones before it allow. */
static double best_score(const struct jobs *jobs, int64_t *start, unsigned int left,
			 double (*score)(const struct jobs *jobs, const int64_t *start))
{
	double best = INFINITY;
	int64_t at;
	size_t i, k;

	if (!left)
		return score(jobs, start);
	for (i = 0; i < jobs->n; i++) {
		const struct job *j = &jobs->job[i];

		if (!(left & 1u << i))
			continue;
		at = has_room(jobs, start, j, j->submit) ? j->submit : INT64_MAX;
		for (k = 0; k < jobs->n; k++) {
			int64_t end = start[k] + jobs->job[k].duration;

			if (!(left & 1u << k) && end >= j->submit && end < at &&
			    has_room(jobs, start, j, end))
				at = end;
		}
		start[i] = at;
		best = fmin(best, best_score(jobs, start, left & ~(1u << i), score));
		start[i] = INT64_MIN / 2;
	}
	return best;
}

static double mean_of(const struct jobs *jobs, const int64_t *start)
{
	struct jobs_score s;

	jobs_score(jobs, start, FEW_GPUS, 0, &s);
	return s.mean;
}

/* Mean completion times of each tenant that others are compared with; 0: nobody asks. */
static double few_own[FEW];

static double worst_of(const struct jobs *jobs, const int64_t *start)
{
	double mean[FEW], worst = 0;
	size_t i;

	jobs_tenant_means(jobs, start, 0, mean);
	for (i = 0; i < jobs->n_tenants; i++)
		if (few_own[i] > 0)
			worst = fmax(worst, mean[i] / few_own[i]);
	return worst;
}

static void few_jobs(struct jobs *jobs, int64_t *start)
{
	size_t i;

	for (i = 0; i < FEW; i++) {
		jobs->job[i] = (struct job){
			.submit = (i ? jobs->job[i - 1].submit : 0) + 1800 * any(3),
			.duration = 3600 * (1 + any(6)),
			.gpus = 1 + any(FEW_GPUS),
			.tenant = any((uint32_t)jobs->n_tenants),
		};
		start[i] = INT64_MIN / 2;
	}
}

/*
 * The bounds against the best of all schedules, hours long as prices are by the hour. The worst
 * tenant's is near where tenants compete, which is above what each would have alone.
 */
static void tiny(void)
{
	char names[3][CSV_WORD_MAX] = { "a", "b", "c" };
	struct job list[FEW];
	struct jobs jobs = { list, FEW, names, 3 };
	unsigned int above = 0, near = 0, worst_above = 0, worst_near = 0, joint = 0, round;
	int64_t start[FEW];
	size_t i;

	for (round = 0; round < 300; round++) {
		double best, bound, alone;

		few_jobs(&jobs, start);
		best = best_score(&jobs, start, (1u << FEW) - 1, mean_of);
		bound = jobs_mean_bound(&jobs, FEW_GPUS, 0, best, 200);
		above += bound > best + 1e-6;
		near += bound > 0.95 * best;

		for (i = 0; i < jobs.n_tenants; i++)
			few_own[i] = any(8) ? 3600 * (1 + any(12)) : 0;
		best = best_score(&jobs, start, (1u << FEW) - 1, worst_of);
		alone = jobs_worst_bound(&jobs, FEW_GPUS, 0, few_own, best, 0);
		bound = jobs_worst_bound(&jobs, FEW_GPUS, 0, few_own, best, 300);
		worst_above += bound > best + 1e-9;
		worst_near += bound > 0.95 * best;
		joint += bound > 1.05 * alone;
	}
	is_int(above, 0, "no bound is above the best of all schedules");
	ok(near > 30, "and some are near it: %u of 300", near);
	is_int(worst_above, 0, "no bound of the worst tenant is above the best of all schedules");
	ok(worst_near > 30, "and some are near it: %u of 300", worst_near);
	ok(joint > 30, "some only because tenants compete: %u of 300", joint);
}

static void known_schedules(void)
{
	/* four GPUs: a wide job waits for a long one, short ones pass or not */
	struct job list[] = {
		{ 0, 100, 3, 0 }, { 1, 50, 4, 0 }, { 2, 90, 1, 1 }, { 3, 200, 1, 1 },
	};
	char names[2][CSV_WORD_MAX] = { "a", "b" };
	struct jobs jobs = { list, 4, names, 2 };
	struct jobs_score s;
	int64_t start[4];

	cluster_run(&jobs, 4, &policy_fifo, NULL, start);
	is_int(start[1], 100, "FIFO: the wide one waits");
	is_int(start[2], 150, "and all behind it");
	cluster_run(&jobs, 4, &policy_easy, NULL, start);
	is_int(start[2], 2, "EASY: who is done in time passes");
	is_int(start[1], 100, "which delays nobody");
	is_int(start[3], 150, "who is not, waits");
	cluster_run(&jobs, 4, &policy_greedy, NULL, start);
	is_int(start[3], 92, "greedy: whoever fits passes");
	is_int(start[1], 292, "at the wide one's cost");
	jobs_score(&jobs, start, 4, 0, &s);
	is_near(s.mean, (100 + (292 + 50 - 1) + 90 + (92 + 200 - 3)) / 4.0, 1e-9, "mean JCT");
	is_near(s.makespan, 342, 1e-9, "makespan");
	is_int((int)jobs_attaches(&jobs, start, 4, 0, 1000), 3 + 1 + 1,
	       "GPUs change hands only between tenants");
	is_near(jobs_makespan_bound(&jobs, 4), 203, 1e-9, "bound of the makespan: the last job");
	list[3].duration = 100;
	is_near(jobs_makespan_bound(&jobs, 4), 690 / 4.0, 1e-9, "or all of the work");
}

static void division(void)
{
	struct job list[] = { { 0, 100, 1, 0 }, { 0, 300, 8, 1 }, { 0, 100, 9, 2 } };
	char names[3][CSV_WORD_MAX] = { "a", "b", "c" };
	struct jobs jobs = { list, 3, names, 3 };
	struct hosts h;

	ok(!hosts_divide(&h, &jobs, 24, 8, 0), "too few hosts for the widest jobs");
	ok(hosts_divide(&h, &jobs, 50, 8, 0), "enough");
	is_int(h.gpus[0], 8, "a host for who uses one GPU");
	is_int(h.gpus[1], 24, "more for who uses most");
	is_int(h.gpus[2], 16, "two hosts for nine GPUs");
	hosts_free(&h);
}

static void energies(void)
{
	struct energy_rates r = energy_default;
	struct energy e;

	r.host_w = 100;
	r.price = 2;
	e = energy_of(&r, 3600, 7200, 3600);
	is_near(e.kwh, 0.427 + 2 * 0.068, 1e-9, "kWh of GPUs");
	is_near(e.idle_kwh, 2 * 0.068, 1e-9, "of these idle");
	is_near(e.host_kwh, 0.3, 1e-9, "hosts apart");
	is_near(e.house_kwh, (0.427 + 0.136 + 0.3) * 1.3, 1e-9, "with the house");
	is_near(e.co2_kg, e.house_kwh * 0.4, 1e-9, "carbon");
	is_near(e.cost, e.house_kwh * 2, 1e-9, "cost");
	is_near(energy_per_gpu_hour(&e, 3600), e.house_kwh, 1e-9, "for each GPU-hour");
}

int main(void)
{
	reading();
	known_schedules();
	tiny();
	division();
	energies();
	properties();
	return tap_done();
}
