// SPDX-License-Identifier: GPL-2.0-only
/* DOC: giving and taking, see keep.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "keep.h"

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

static void give(struct keep *k)
{
	size_t i;

	for (i = 0; i < k->set->n; i++)
		while (k->has[i] < keep_demand(k, i)) {
			if (k->total >= k->rates->pool && !keep_take_one(k))
				return;
			k->has[i]++;
			k->total++;
		}
}

static void keep_setup(struct keep *k)
{
	size_t i, t;

	k->has = mem_zalloc(k->set->n, sizeof(*k->has));
	k->most = mem_zalloc(k->set->n, sizeof(*k->most));
	k->needed = mem_zalloc(k->set->n, sizeof(*k->needed));
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
			give(&k);
		}
		memcpy(has + k.t * set->n, k.has, set->n * sizeof(*has));
	}
	keep_cleanup(&k);
}
