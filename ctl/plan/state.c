// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what compositions have, in an instance
 *
 * The inventory counts the GPUs that are free. Those of a composition come to their pools here,
 * once it is known that a workload has its name and that an instance can say what it has. GPUs
 * of all other compositions are somebody else's: they are in no pool, and they count for their
 * tenants.
 */
#include <errno.h>
#include <string.h>

#include "plan/ahead.h"

/* Why an instance cannot say what a composition has, or NULL. */
static const char *set_obstacle(const struct plan_instance *in, const struct plan_workload *w,
				const struct plan_set *set)
{
	uint32_t kind = set->n ? in->pools[set->has[0].pool].kind : 0;
	size_t i;

	if (set->busy)
		return "the module is changing it, or it has lost a GPU";
	if (set->n > w->span)
		return "it has GPUs behind more switches than its span";
	for (i = 1; i < set->n; i++)
		if (in->pools[set->has[i].pool].kind != kind)
			return "it has GPUs of two kinds";
	for (i = 0; i < w->n_choices && w->choices[i].kind != kind;)
		i++;
	return set->n && i == w->n_choices ? "it has GPUs of a kind that it does not name" : NULL;
}

/* @in: the pools count these GPUs from now on, and the workload has them. */
static void set_take(struct plan_instance *in, struct plan_workload *w, const struct plan_set *set)
{
	double age = set->age * 60.0 / in->interval_s;
	size_t i;

	for (i = 0; i < set->n; i++) {
		struct plan_pool *pool = &in->pools[set->has[i].pool];

		pool->gpus += set->has[i].gpus;
		pool->on += set->has[i].gpus;
		plan_add_now(w, set->has[i].pool, set->has[i].gpus);
	}
	/* What it got is kept for its hold, also by whoever plans next. */
	if (set->n && age < w->hold && w->hold - (uint32_t)age > w->keep)
		w->keep = w->hold - (uint32_t)age;
}

static int workload_merge(struct plan_instance *in, struct plan_ahead *ahead, size_t workload,
			  struct fault *fault)
{
	struct plan_workload *w = &in->workloads[workload];
	const char *tenant = w->tenant == PLAN_NONE ? NULL : in->tenants[w->tenant].name;
	struct plan_asked *asked = &ahead->asked[workload];
	const struct plan_set *set = NULL;
	size_t i;

	if (w->host)
		return 0;
	if (ahead->tenants_rule && !tenant)
		return plan_workload_refuse(ahead, workload, fault,
					    "workload %s needs its \"tenant\": there are tenants",
					    w->name);
	for (i = 0; i < ahead->n_sets && !set; i++)
		if (!strcmp(ahead->sets[i].name, w->name))
			set = &ahead->sets[i];
	if (!set)
		return 0;
	if (strcmp(tenant ? tenant : "", set->tenant ? set->tenant : ""))
		return plan_workload_refuse(ahead, workload, fault,
					    "composition %s is of %s%.63s, not of %s%.63s", w->name,
					    set->tenant ? "tenant " : "no tenant",
					    set->tenant ? set->tenant : "",
					    tenant ? "tenant " : "no tenant", tenant ? tenant : "");
	asked->set = set;
	asked->left = set_obstacle(in, w, set);
	if (asked->left)
		w->keep = 0;
	else
		set_take(in, w, set);
	return 0;
}

static void host_link(struct plan_instance *in, uint32_t host, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		plan_add_link(in, host, (uint32_t)i);
}

/* Where the file gives a host no link, the host reaches the switches that came with it. */
static void state_link(struct plan_instance *in, const struct plan_ahead *ahead)
{
	bool linked = in->n_links > 0;
	size_t i;

	if (in->n_hosts == 1 && !linked && in->n_switches == ahead->n_switches)
		return;
	for (i = 0; i < in->n_links; i++)
		if (!in->links[i].host)
			break;
	if (!linked || i == in->n_links)
		host_link(in, 0, 0, ahead->n_switches);
	for (i = 1; i < in->n_hosts && !linked; i++)
		host_link(in, (uint32_t)i, ahead->n_switches, in->n_switches);
}

static void tenant_use(struct plan_instance *in, const char *name, uint32_t gpus)
{
	size_t i;

	for (i = 0; i < in->n_tenants && name; i++) {
		struct plan_tenant *t = &in->tenants[i];

		if (strcmp(t->name, name))
			continue;
		t->guarantee -= gpus < t->guarantee ? gpus : t->guarantee;
		if (t->limit != PLAN_NONE)
			t->limit -= gpus < t->limit ? gpus : t->limit;
	}
}

/* Compositions that are not planned count for their tenants. */
static void state_set_aside(struct plan_instance *in, const struct plan_ahead *ahead)
{
	size_t i, j, w;

	for (i = 0; i < ahead->n_sets; i++) {
		const struct plan_set *set = &ahead->sets[i];
		uint32_t gpus = 0;

		for (w = 0; w < in->n_workloads && ahead->asked[w].set != set;)
			w++;
		if (w < in->n_workloads && !ahead->asked[w].left)
			continue;
		for (j = 0; j < set->n; j++)
			gpus += set->has[j].gpus;
		tenant_use(in, set->tenant, gpus);
	}
}

int plan_state_merge(struct plan_instance *in, struct plan_ahead *ahead, struct fault *fault)
{
	size_t w;
	int err = 0;

	if (!ahead->has_state)
		return 0;
	for (w = 0; w < in->n_workloads && !err; w++)
		err = workload_merge(in, ahead, w, fault);
	if (err)
		return err;
	state_link(in, ahead);
	state_set_aside(in, ahead);
	return 0;
}
