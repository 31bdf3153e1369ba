/* SPDX-License-Identifier: GPL-2.0-only */
/* Random small instances with a bit of everything, the same in each run. */
#ifndef TESTS_UNIT_PLAN_RANDOM_H
#define TESTS_UNIT_PLAN_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "plan/solver/instance.h"

static uint64_t random_state = 88172645463325252ull;

static inline uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 11) % n;
}

static inline bool one_in(uint32_t n)
{
	return !below(n);
}

static inline void random_fabric(struct plan_instance *in, uint32_t gpus_max)
{
	uint32_t kinds = 1 + one_in(3), switches = 1 + below(2), i, k;

	for (i = 0; i < kinds; i++) {
		plan_add_kind(in, "k");
		if (one_in(2)) {
			in->kinds[i].off_w = below(3);
			in->kinds[i].idle_w = in->kinds[i].off_w + below(50);
			in->kinds[i].busy_w = in->kinds[i].idle_w + below(100);
			in->kinds[i].wake_j = below(2) * below(20000);
		}
	}
	for (i = 0; i < switches; i++) {
		plan_add_switch(in, "s");
		if (one_in(4))
			in->switches[i].attach_max = below(gpus_max + 1);
		for (k = 0; k < kinds; k++) {
			uint32_t q;

			if (k && one_in(2))
				continue;
			q = plan_add_pool(in, i, k, 1 + below(gpus_max));
			in->pools[q].on = below(in->pools[q].gpus + 1);
			in->pools[q].attach_s = below(40);
			in->pools[q].detach_s = below(20);
		}
	}
	for (i = 0; i < 1 + (uint32_t)one_in(3); i++) {
		plan_add_host(in, "h");
		if (one_in(3))
			in->hosts[i].slots = 1 + below(2 * gpus_max);
	}
	for (i = 0; i < in->n_hosts && one_in(3); i++) {
		for (k = 0; k < switches; k++) {
			struct plan_link *link = plan_add_link(in, i, k);

			link->locality = below(3) * 0.1;
			if (one_in(2))
				link->lanes = 2 + below(8);
		}
	}
	for (i = 0; i < below(3); i++) {
		plan_add_tenant(in, "t");
		in->tenants[i].guarantee = below(gpus_max + 1);
		if (one_in(3))
			in->tenants[i].limit = in->tenants[i].guarantee + below(3);
	}
}

static inline void random_demand(struct plan_instance *in, struct plan_workload *w, uint32_t need_max)
{
	uint32_t *need = malloc(in->n_intervals * sizeof(*need));
	uint32_t last = 1 + below(need_max), k, first = below((uint32_t)in->n_kinds);
	size_t t;

	for (t = 0; t < in->n_intervals; t++) {
		if (one_in(2))
			last = below(need_max + 1);
		need[t] = last;
	}
	plan_add_choice(in, w, first, need);
	for (k = 0; k < in->n_kinds; k++) {
		if (k == first || one_in(2))
			continue;
		for (t = 0; t < in->n_intervals; t++)
			need[t] = need[t] ? 1 + below(need_max) : 0;
		plan_add_choice(in, w, k, need);
	}
	free(need);
}

/* Something that it has now, if there is such a thing and nobody else has it. */
static inline void random_now(struct plan_instance *in, struct plan_workload *w, uint32_t *left)
{
	uint32_t q = below((uint32_t)in->n_pools), gpus;
	size_t i, k;

	for (i = 0; i < w->n_choices && w->choices[i].kind != in->pools[q].kind;)
		i++;
	if (i == w->n_choices || !left[q])
		return;
	gpus = 1 + below(left[q]);
	for (k = 0; k < in->n_links; k++)
		if (w->lanes && in->links[k].lanes != PLAN_NONE &&
		    in->links[k].lanes / w->lanes / 2 < gpus)
			return;
	if (in->hosts[w->host].slots / 2 < gpus ||
	    (w->tenant != PLAN_NONE && in->tenants[w->tenant].limit / 3 < gpus))
		return;
	left[q] -= gpus;
	plan_add_now(w, q, gpus);
	w->keep = one_in(3) ? below((uint32_t)in->n_intervals + 1) : 0;
}

static inline void random_plan(struct plan_instance *in, uint32_t workloads, uint32_t intervals,
			       uint32_t gpus_max)
{
	uint32_t left[8], i;

	memset(in, 0, sizeof(*in));
	in->n_intervals = intervals;
	in->interval_s = 1 + below(300);
	in->energy_cost = one_in(2) ? below(10) / 1000.0 : 0;
	in->deficit_weight = one_in(4) ? 0 : 5 + below(30);
	random_fabric(in, gpus_max);
	for (i = 0; i < in->n_pools; i++)
		left[i] = in->pools[i].gpus;
	for (i = 0; i < workloads; i++) {
		struct plan_workload *w;

		plan_add_workload(in, "w");
		w = &in->workloads[i];
		w->host = below((uint32_t)in->n_hosts);
		w->tenant = in->n_tenants && !one_in(4) ? below((uint32_t)in->n_tenants) : PLAN_NONE;
		w->gang = one_in(2);
		w->hold = one_in(3) ? below(intervals + 1) : 0;
		w->span = 1 + one_in(3);
		w->lanes = one_in(2) ? 1 + below(3) : 0;
		w->weight = below(6);
		w->load_s = one_in(2) ? below(30) : 0;
		random_demand(in, w, gpus_max);
		if (one_in(2))
			random_now(in, w, left);
	}
}

#endif /* TESTS_UNIT_PLAN_RANDOM_H */
