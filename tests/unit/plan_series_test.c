// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/csv.c ctl/plan/series.c ctl/plan/replay/keep.c ctl/plan/replay/serve.c ctl/plan/replay/serve_ours.c ctl/plan/replay/serve_bound.c ctl/plan/replay/serve_links.c ctl/base/fault.c ctl/base/text.c
/*
 * Demand series: what is refused, and that on small random ones the bound is never
 * above the best plan of all, which is found by trying every plan, and no policy
 * is below it, has more GPUs than there are, or looks ahead.
 */
#include <stdlib.h>

#include "plan/replay/serve.h"
#include "tap.h"

#define HEAD SERIES_HEADING "\n"
#define MINUTES 14
#define POOL 3
#define MOST 3

static uint32_t seed = 7;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void refuses(const char *first, const char *name, const char *text, const char *want)
{
	struct series_set set = { 0 };
	struct fault f = { "" };
	int err = 0;

	if (first)
		err = series_add(&set, "a/x.csv", first, strlen(first), 8, &f);
	ok(!err, "the first file %s", f.text);
	err = series_add(&set, name, text, strlen(text), 8, &f);
	ok(err && !strcmp(f.text, want), "%s: %s", name, f.text);
	series_free(&set);
}

static void reading(void)
{
	static const char good[] = HEAD "5,4,3,9\r\n6,8,0,0\n";
	struct series_set set = { 0 };
	struct fault f = { "" };

	refuses(NULL, "x", "", "x:1:1: the file is empty: a heading \"" SERIES_HEADING
		"\" is expected");
	refuses(NULL, "x", HEAD "1,2,3\n", "x:2:6: the line ends after running_gpus: columns are missing");
	refuses(NULL, "x", HEAD "1,2,3,4\n3,2,3,4\n",
		"x:3:1: minute 3 where 2 is due: not sorted, or a gap");
	refuses(NULL, "x", HEAD "1,2,9,4\n", "x:2:5: 9 GPUs run, the pool has 8");
	refuses(NULL, "x", HEAD "1,2,3,-4\n", "x:2:7: pending_gpus is negative: -4");
	refuses(NULL, "x", HEAD "1,2,3,9999999\n",
		"x:2:7: pending_gpus is 9999999: at most 1000000 is possible");
	refuses(good, "b/x.csv.old", good, "b/x.csv.old:1:1: tenant x has a file already");
	refuses(good, "y", HEAD "6,1,1,1\n", "y:2:1: minute 6 is not one of tenant x");
	refuses(good, "y", HEAD "5,1,1,1\n", "y:2:1: ends after 1 minutes, tenant x has 2");
	refuses(good, "y", HEAD "5,1,1,1\n6,1,1,1\n7,1,1,1\n",
		"y:4:1: minute 7 is not one of tenant x");
	ok(!series_add(&set, "d/x.csv", good, strlen(good), 8, &f), "a good one %s", f.text);
	is_str(set.of[0].name, "x", "is called as its file");
	is_int(set.of[0].demand[0], 12, "wants what runs and what waits");
	is_int(set.of[0].quota, 8, "has the largest quota that is named");
	series_free(&set);
}

/* The cost of the best plan: every division of the pool in every minute; it begins as it likes. */
static double best_plan(const struct series_set *set, const struct serve_rates *r)
{
	double cost[POOL + 1][POOL + 1] = { { 0 } }, next[POOL + 1][POOL + 1], best = 1e9, c;
	int a, b, x, y;
	size_t t;

	for (t = 0; t < set->minutes; t++) {
		for (a = 0; a <= POOL; a++)
			for (b = 0; a + b <= POOL; b++) {
				int da = set->of[0].demand[t], db = set->of[1].demand[t];
				double here = (da > a ? da - a : r->hold * (a - da)) +
					      (db > b ? db - b : r->hold * (b - db));

				next[a][b] = 1e9;
				for (x = 0; x <= POOL; x++)
					for (y = 0; x + y <= POOL; y++) {
						c = cost[x][y] + here +
						    (t ? r->attach * ((a > x ? a - x : 0) +
								      (b > y ? b - y : 0)) : 0);
						if (c < next[a][b])
							next[a][b] = c;
					}
			}
		memcpy(cost, next, sizeof(cost));
	}
	for (a = 0; a <= POOL; a++)
		for (b = 0; a + b <= POOL; b++)
			best = cost[a][b] < best ? cost[a][b] : best;
	return best;
}

static bool within(const struct series_set *set, const int32_t *has)
{
	size_t t, i;

	for (t = 0; t < set->minutes; t++) {
		int64_t sum = 0;

		for (i = 0; i < set->n; i++) {
			sum += has[t * set->n + i];
			if (has[t * set->n + i] < 0)
				return false;
		}
		if (sum > POOL)
			return false;
	}
	return true;
}

/**
 * struct tally - what failed how often
 */
struct tally {
	unsigned int high, low, over, ahead, unlike, exact, plans;
};

static void run(const struct series_set *set, const struct serve_rates *r, int which, int32_t *has)
{
	if (which == 0)
		serve_offline(set, r, has);
	else if (which == 1)
		serve_ours(set, r, has);
	else if (which == 2)
		serve_reactive(set, r, 1, 0, has);
	else
		serve_reactive(set, r, 3, 4, has);
}

/* The same until a minute, whatever comes after it. */
static bool looks_ahead(struct series_set *set, const struct serve_rates *r, int which,
			const int32_t *has)
{
	int32_t *again = calloc(set->n * set->minutes, sizeof(*again)), kept[2][MINUTES];
	size_t half = 6, i, t;	/* our policy learns in minute 5 */
	bool differs;

	for (i = 0; i < 2; i++)
		for (t = half; t < MINUTES; t++) {
			kept[i][t] = set->of[i].demand[t];
			set->of[i].demand[t] = MOST - kept[i][t];
		}
	run(set, r, which, again);
	differs = memcmp(again, has, half * set->n * sizeof(*has)) != 0;
	for (i = 0; i < 2; i++)
		for (t = half; t < MINUTES; t++)
			set->of[i].demand[t] = kept[i][t];
	free(again);
	return differs;
}

static void judge(struct tally *y, struct series_set *set, const struct serve_rates *r,
		  bool roomy)
{
	int32_t has[2 * MINUTES], again[2 * MINUTES];
	double best = best_plan(set, r), bound = serve_bound(set, r, 0, best, 60);
	struct serve_score s;
	int which;

	y->high += bound > best + 1e-9;
	for (which = 0; which < 4; which++) {
		run(set, r, which, has);
		run(set, r, which, again);
		serve_score(set, r, has, 0, &s);
		/* the score counts what the first minute attaches, the plan of all does not */
		y->low += s.cost < best - 1e-9;
		y->over += !within(set, has);
		y->unlike += memcmp(has, again, sizeof(has)) != 0;
		y->ahead += which && looks_ahead(set, r, which, has);
		y->plans++;
	}
	if (roomy && r->hold <= 0)
		y->exact += bound < best - 1e-9;
}

static void properties(void)
{
	struct tally y = { 0 };
	int32_t demand[2][MINUTES];
	struct series_set set = { .n = 2, .minutes = MINUTES };
	struct series of[2] = { { "a", demand[0], 2 }, { "b", demand[1], 1 } };
	size_t round, t;

	set.of = of;
	for (round = 0; round < 400; round++) {
		struct serve_rates r = { POOL, 0.5, round % 2 ? 0.1 * any(4) : 0 };
		bool roomy = round % 4 < 2;

		for (t = 0; t < MINUTES; t++) {
			demand[0][t] = (int32_t)any(MOST + 1);
			demand[1][t] = (int32_t)any(roomy ? POOL + 1 - (uint32_t)demand[0][t]
							  : MOST + 1);
		}
		judge(&y, &set, &r, roomy);
	}
	is_int(y.high, 0, "no bound is above the best plan");
	is_int(y.exact, 0, "within the pool it is the best plan");
	is_int(y.low, 0, "no policy is below the best plan");
	is_int(y.over, 0, "nobody has more than there is");
	is_int(y.unlike, 0, "the same comes out again");
	is_int(y.ahead, 0, "but for the one that may, nobody looks ahead");
	tap_counted("replay.plans", y.plans);
}

/* Two tenants that want all of it, and more than their quotas, before one that wants its quota. */
static void shortage(void)
{
	enum { TENANTS = 3, LONG = 600 };
	static int32_t demand[TENANTS][LONG];
	static int32_t has[TENANTS * LONG], fixed[TENANTS * LONG];
	struct series of[TENANTS];
	struct series_set set = { .of = of, .n = TENANTS, .minutes = LONG };
	const struct serve_rates r = { .pool = 12, .attach = 0.5 };
	struct serve_score s, alone;
	size_t i, t;

	memset(of, 0, sizeof(of));
	for (i = 0; i < TENANTS; i++) {
		snprintf(of[i].name, sizeof(of[i].name), "%c", (char)('a' + i));
		of[i].quota = 4;
		of[i].demand = demand[i];
		for (t = 0; t < LONG; t++)
			demand[i][t] = i < 2 ? 6 + (int32_t)any(3) : 3 + (int32_t)any(2);
	}
	serve_ours(&set, &r, has);
	serve_score(&set, &r, has, 0, &s);
	serve_static(&set, fixed);
	serve_score(&set, &r, fixed, 0, &alone);
	printf("# most of its demand misses %s: %.3f, on its quota %.3f\n", of[s.worst].name,
	       s.worst_unmet, alone.worst_unmet);
	ok(s.worst_unmet <= alone.worst_unmet + 0.01,
	   "on a pool that is short nobody misses more than on its quota");
}

int main(void)
{
	reading();
	properties();
	shortage();
	return tap_done();
}
