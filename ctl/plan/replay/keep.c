// SPDX-License-Identifier: GPL-2.0-only
/* DOC: giving and taking, see keep.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "keep.h"

/* What a tenant has missed of all demand before others return what they were lent. */
#define PATIENCE 0.05

#define NEVER -1000000000ll

static void note_needs(struct keep *k)
{
	int32_t n, demand;
	size_t i;

	for (i = 0; i < k->set->n; i++) {
		demand = keep_demand(k, i);
		for (n = 0; n < demand; n++)
			k->needed[i][n] = (int64_t)k->t;
	}
}

static void let_go(struct keep *k)
{
	size_t i;

	for (i = 0; i < k->set->n; i++)
		while (k->has[i] > keep_demand(k, i) && k->policy->worth(k, i) < 0) {
			k->has[i]--;
			k->total--;
		}
}

/* Takes a GPU that is worth least where it is; false when all are needed. */
static bool keep_take_one(struct keep *k)
{
	double worth, least = 0;
	size_t i, from = k->set->n;

	for (i = 0; i < k->set->n; i++) {
		if (k->has[i] <= keep_demand(k, i))
			continue;
		worth = k->policy->worth(k, i);
		if (from == k->set->n || worth < least) {
			least = worth;
			from = i;
		}
	}
	if (from == k->set->n)
		return false;
	k->has[from]--;
	k->total--;
	return true;
}

/* For @to from the pool, or from who needs it least; false when all are needed. */
static bool keep_move_one(struct keep *k, size_t to)
{
	if (k->total >= k->rates->pool && !keep_take_one(k))
		return false;
	k->has[to]++;
	k->total++;
	return true;
}

/* Of those who need all that they have, who has most beyond its guarantee gives one back. */
static bool keep_return_one(struct keep *k)
{
	size_t i, from = k->set->n;
	int32_t lent, most = 0;

	for (i = 0; i < k->set->n; i++) {
		lent = k->has[i] - k->guarantee[i];
		if (lent > most) {
			most = lent;
			from = i;
		}
	}
	if (from == k->set->n)
		return false;
	k->has[from]--;
	k->total--;
	return true;
}

/* Of all that a tenant has wanted until now. */
static double missed_share(const struct keep *k, size_t tenant)
{
	return k->wanted[tenant] > 0 ? k->missed[tenant] / k->wanted[tenant] : 0;
}

static void give_guaranteed(struct keep *k)
{
	size_t i;

	for (i = 0; i < k->set->n; i++)
		while (k->has[i] < keep_demand(k, i) && k->has[i] < k->guarantee[i])
			if (!keep_move_one(k, i) && !(missed_share(k, i) > PATIENCE &&
						      keep_return_one(k) && keep_move_one(k, i)))
				break;
}

/* Of those who need more than they have; the number of tenants when there is none. */
static size_t worst_served(const struct keep *k)
{
	size_t i, who = k->set->n;
	double share, worst = -1;

	for (i = 0; i < k->set->n; i++) {
		if (k->has[i] >= keep_demand(k, i))
			continue;
		share = missed_share(k, i);
		if (share > worst) {
			worst = share;
			who = i;
		}
	}
	return who;
}

static void give_fairly(struct keep *k)
{
	size_t who;

	give_guaranteed(k);
	while ((who = worst_served(k)) < k->set->n)
		if (!keep_move_one(k, who))
			return;
}

static void give(struct keep *k)
{
	size_t i;

	for (i = 0; i < k->set->n; i++)
		while (k->has[i] < keep_demand(k, i))
			if (!keep_move_one(k, i))
				return;
}

static void note_misses(struct keep *k)
{
	int32_t demand;
	size_t i;

	for (i = 0; i < k->set->n; i++) {
		demand = keep_demand(k, i);
		k->wanted[i] += demand;
		if (demand > k->has[i])
			k->missed[i] += demand - k->has[i];
	}
}

static void set_guarantees(struct keep *k)
{
	int64_t all = 0;
	size_t i;

	for (i = 0; i < k->set->n; i++)
		all += k->set->of[i].quota;
	for (i = 0; i < k->set->n; i++) {
		int64_t quota = k->set->of[i].quota;

		if (all > k->rates->pool)
			quota = quota * k->rates->pool / all;
		k->guarantee[i] = (int32_t)quota;
	}
}

static void keep_setup(struct keep *k)
{
	size_t i, t;

	k->has = mem_zalloc(k->set->n, sizeof(*k->has));
	k->most = mem_zalloc(k->set->n, sizeof(*k->most));
	k->needed = mem_zalloc(k->set->n, sizeof(*k->needed));
	k->guarantee = mem_zalloc(k->set->n, sizeof(*k->guarantee));
	k->wanted = mem_zalloc(k->set->n, sizeof(*k->wanted));
	k->missed = mem_zalloc(k->set->n, sizeof(*k->missed));
	set_guarantees(k);
	for (i = 0; i < k->set->n; i++) {
		for (t = 0; t < k->set->minutes; t++)
			if (k->set->of[i].demand[t] > k->most[i])
				k->most[i] = k->set->of[i].demand[t];
		k->needed[i] = mem_zalloc((size_t)k->most[i] + 1, sizeof(**k->needed));
		for (t = 0; t <= (size_t)k->most[i]; t++)
			k->needed[i][t] = NEVER;
	}
}

static void keep_cleanup(struct keep *k)
{
	size_t i;

	for (i = 0; i < k->set->n; i++)
		free(k->needed[i]);
	free(k->needed);
	free(k->guarantee);
	free(k->wanted);
	free(k->missed);
	free(k->most);
	free(k->has);
}

void keep_run(const struct series_set *set, const struct serve_rates *rates,
	      const struct keep_policy *policy, uint32_t period, void *data, int32_t *has)
{
	struct keep k = { .set = set, .rates = rates, .policy = policy, .data = data };

	keep_setup(&k);
	for (k.t = 0; k.t < set->minutes; k.t++) {
		if (policy->learn)
			policy->learn(&k);
		note_needs(&k);
		if (k.t % period == 0) {
			let_go(&k);
			if (policy->fair)
				give_fairly(&k);
			else
				give(&k);
		}
		note_misses(&k);
		memcpy(has + k.t * set->n, k.has, set->n * sizeof(*has));
	}
	keep_cleanup(&k);
}
