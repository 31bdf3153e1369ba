// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what an instance may say
 *
 * The arithmetic behind this trusts every index and every range; here is where it is decided.
 * Names are the reader's business, which knows lines; faults here name things.
 */
#include <errno.h>
#include <math.h>

#include "plan/solver/instance.h"

static bool in_range(double value, double max)
{
	return isfinite(value) && value >= 0 && value <= max;
}

static int check_whole(const struct plan_instance *in, struct fault *fault)
{
	if (!in->n_intervals || in->n_intervals > PLAN_INTERVALS_MAX)
		return fault_set(fault, EINVAL, "%zu intervals: there can be 1 to %u",
				 in->n_intervals, PLAN_INTERVALS_MAX);
	if (!in_range(in->interval_s, PLAN_SECONDS_MAX) || in->interval_s <= 0)
		return fault_set(fault, EINVAL, "an interval of %g s", in->interval_s);
	if (!in_range(in->energy_cost, PLAN_WEIGHT_MAX) ||
	    !in_range(in->deficit_weight, PLAN_WEIGHT_MAX))
		return fault_set(fault, EINVAL, "energy or deficit: a cost out of range");
	if (!in->n_hosts)
		return fault_set(fault, EINVAL, "there are no hosts");
	if (in->n_switches > PLAN_SWITCHES_MAX || in->n_hosts > PLAN_SWITCHES_MAX ||
	    in->n_kinds > PLAN_SWITCHES_MAX || in->n_tenants > PLAN_SWITCHES_MAX)
		return fault_set(fault, EINVAL, "more than %u switches, hosts, kinds or tenants",
				 PLAN_SWITCHES_MAX);
	if (in->n_workloads > PLAN_WORKLOADS_MAX)
		return fault_set(fault, EINVAL, "%zu workloads: there can be at most %u",
				 in->n_workloads, PLAN_WORKLOADS_MAX);
	return 0;
}

static int check_kinds(const struct plan_instance *in, struct fault *fault)
{
	size_t i;

	for (i = 0; i < in->n_kinds; i++) {
		const struct plan_kind *k = &in->kinds[i];

		if (!in_range(k->memory_gib, PLAN_WEIGHT_MAX) ||
		    !in_range(k->busy_w, PLAN_WEIGHT_MAX) || !in_range(k->wake_j, 1e12))
			return fault_set(fault, EINVAL, "kind %s: a number out of range", k->name);
		if (!in_range(k->off_w, k->idle_w) || !in_range(k->idle_w, k->busy_w))
			return fault_set(fault, EINVAL,
					 "kind %s: off_w, idle_w and busy_w do not rise", k->name);
	}
	return 0;
}

static int check_pools(const struct plan_instance *in, struct fault *fault)
{
	uint64_t all = 0;
	size_t i, j;

	if (in->n_pools > PLAN_SWITCHES_MAX)
		return fault_set(fault, EINVAL, "more than %u pools", PLAN_SWITCHES_MAX);
	for (i = 0; i < in->n_pools; i++) {
		const struct plan_pool *p = &in->pools[i];

		if (p->sw >= in->n_switches || p->kind >= in->n_kinds)
			return fault_set(fault, EINVAL, "pool %zu: no such switch or kind", i);
		for (j = 0; j < i; j++)
			if (in->pools[j].sw == p->sw && in->pools[j].kind == p->kind)
				return fault_set(fault, EINVAL, "two pools of %s behind %s",
						 in->kinds[p->kind].name, in->switches[p->sw].name);
		all += p->gpus;
		if (all > PLAN_GPUS_MAX)
			return fault_set(fault, EINVAL, "more than %u GPUs", PLAN_GPUS_MAX);
		if (p->on > p->gpus)
			return fault_set(fault, EINVAL, "pool of %s behind %s: %u of %u are on",
					 in->kinds[p->kind].name, in->switches[p->sw].name, p->on,
					 p->gpus);
		if (!in_range(p->attach_s, PLAN_SECONDS_MAX) ||
		    !in_range(p->detach_s, PLAN_SECONDS_MAX))
			return fault_set(fault, EINVAL,
					 "pool of %s behind %s: attach_s or detach_s out of range",
					 in->kinds[p->kind].name, in->switches[p->sw].name);
	}
	return 0;
}

static int check_links(const struct plan_instance *in, struct fault *fault)
{
	size_t i, j;

	if (in->n_links > PLAN_SWITCHES_MAX)
		return fault_set(fault, EINVAL, "more than %u links", PLAN_SWITCHES_MAX);
	for (i = 0; i < in->n_links; i++) {
		const struct plan_link *l = &in->links[i];

		if (l->host >= in->n_hosts || l->sw >= in->n_switches)
			return fault_set(fault, EINVAL, "link %zu: no such host or switch", i);
		for (j = 0; j < i; j++)
			if (in->links[j].host == l->host && in->links[j].sw == l->sw)
				return fault_set(fault, EINVAL, "two links from %s to %s",
						 in->switches[l->sw].name, in->hosts[l->host].name);
		if (!in_range(l->locality, PLAN_WEIGHT_MAX))
			return fault_set(fault, EINVAL, "link from %s to %s: locality out of range",
					 in->switches[l->sw].name, in->hosts[l->host].name);
	}
	for (i = 0; i < in->n_tenants; i++)
		if (in->tenants[i].guarantee > in->tenants[i].limit)
			return fault_set(fault, EINVAL,
					 "tenant %s: its guarantee of %u is above its limit of %u",
					 in->tenants[i].name, in->tenants[i].guarantee,
					 in->tenants[i].limit);
	return 0;
}

static int check_choices(const struct plan_instance *in, const struct plan_workload *w,
			 struct fault *fault)
{
	size_t i, j, t;

	if (!w->n_choices)
		return fault_set(fault, EINVAL, "workload %s: no kind that it can use", w->name);
	for (i = 0; i < w->n_choices; i++) {
		const struct plan_choice *c = &w->choices[i];

		if (c->kind >= in->n_kinds)
			return fault_set(fault, EINVAL, "workload %s: no such kind", w->name);
		for (j = 0; j < i; j++)
			if (w->choices[j].kind == c->kind)
				return fault_set(fault, EINVAL, "workload %s: kind %s twice",
						 w->name, in->kinds[c->kind].name);
		for (t = 0; t < in->n_intervals; t++) {
			if (c->need[t] > PLAN_GPUS_MAX)
				return fault_set(fault, EINVAL,
						 "workload %s: needs %u GPUs in interval %zu",
						 w->name, c->need[t], t);
			if (!c->need[t] != !w->choices[0].need[t])
				return fault_set(fault, EINVAL,
						 "workload %s: needs none of one kind and some of another in interval %zu",
						 w->name, t);
		}
	}
	return 0;
}

static int check_now(const struct plan_instance *in, const struct plan_workload *w,
		     struct fault *fault)
{
	uint32_t kind = PLAN_NONE;
	size_t i, j;

	if (w->n_now > w->span)
		return fault_set(fault, EINVAL,
				 "workload %s: has GPUs behind %zu switches, and a span of %u",
				 w->name, w->n_now, w->span);
	for (i = 0; i < w->n_now; i++) {
		const struct plan_held *h = &w->now[i];
		bool known = false;

		if (h->pool >= in->n_pools || !h->gpus || h->gpus > in->pools[h->pool].gpus)
			return fault_set(fault, EINVAL, "workload %s: has GPUs that do not exist",
					 w->name);
		for (j = 0; j < i; j++)
			if (w->now[j].pool == h->pool)
				return fault_set(fault, EINVAL, "workload %s: has a pool twice",
						 w->name);
		if (i && in->pools[h->pool].kind != kind)
			return fault_set(fault, EINVAL, "workload %s: has GPUs of two kinds",
					 w->name);
		kind = in->pools[h->pool].kind;
		for (j = 0; j < w->n_choices; j++)
			known |= w->choices[j].kind == kind;
		if (!known)
			return fault_set(fault, EINVAL,
					 "workload %s: has GPUs of kind %s, which it cannot use",
					 w->name, in->kinds[kind].name);
	}
	return 0;
}

static int check_workload(const struct plan_instance *in, const struct plan_workload *w,
			  struct fault *fault)
{
	int err;

	if (w->host >= in->n_hosts || (w->tenant != PLAN_NONE && w->tenant >= in->n_tenants))
		return fault_set(fault, EINVAL, "workload %s: no such host or tenant", w->name);
	if (!in_range(w->weight, PLAN_WEIGHT_MAX) || !in_range(w->load_s, PLAN_SECONDS_MAX))
		return fault_set(fault, EINVAL, "workload %s: weight or load_s out of range",
				 w->name);
	if (!w->span || w->span > 4)
		return fault_set(fault, EINVAL, "workload %s: a span of %u: 1 to 4 are possible",
				 w->name, w->span);
	if (w->hold > in->n_intervals || w->keep > in->n_intervals)
		return fault_set(fault, EINVAL, "workload %s: hold or keep is longer than the plan",
				 w->name);
	if (w->lanes > 64)
		return fault_set(fault, EINVAL, "workload %s: %u lanes a GPU", w->name, w->lanes);
	err = check_choices(in, w, fault);
	return err ? err : check_now(in, w, fault);
}

int plan_check(const struct plan_instance *in, struct fault *fault)
{
	size_t i;
	int err;

	err = check_whole(in, fault);
	if (!err)
		err = check_kinds(in, fault);
	if (!err)
		err = check_pools(in, fault);
	if (!err)
		err = check_links(in, fault);
	for (i = 0; i < in->n_workloads && !err; i++)
		err = check_workload(in, &in->workloads[i], fault);
	return err;
}
