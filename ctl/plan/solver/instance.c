// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: an instance, built up
 *
 * Whoever plans fills these: the reader of files, the replay, a step from the module's state.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/instance.h"

uint32_t plan_add_kind(struct plan_instance *in, const char *name)
{
	in->kinds = mem_grow(in->kinds, in->n_kinds + 1, sizeof(*in->kinds));
	in->kinds[in->n_kinds] = (struct plan_kind){ .name = mem_strdup(name) };
	return (uint32_t)in->n_kinds++;
}

uint32_t plan_add_switch(struct plan_instance *in, const char *name)
{
	in->switches = mem_grow(in->switches, in->n_switches + 1, sizeof(*in->switches));
	in->switches[in->n_switches] =
		(struct plan_switch){ .name = mem_strdup(name), .attach_max = PLAN_NONE };
	return (uint32_t)in->n_switches++;
}

uint32_t plan_add_pool(struct plan_instance *in, uint32_t sw, uint32_t kind, uint32_t gpus)
{
	in->pools = mem_grow(in->pools, in->n_pools + 1, sizeof(*in->pools));
	in->pools[in->n_pools] =
		(struct plan_pool){ .sw = sw, .kind = kind, .gpus = gpus, .on = gpus };
	return (uint32_t)in->n_pools++;
}

uint32_t plan_add_host(struct plan_instance *in, const char *name)
{
	in->hosts = mem_grow(in->hosts, in->n_hosts + 1, sizeof(*in->hosts));
	in->hosts[in->n_hosts] = (struct plan_host){ .name = mem_strdup(name), .slots = PLAN_NONE };
	return (uint32_t)in->n_hosts++;
}

struct plan_link *plan_add_link(struct plan_instance *in, uint32_t host, uint32_t sw)
{
	in->links = mem_grow(in->links, in->n_links + 1, sizeof(*in->links));
	in->links[in->n_links] = (struct plan_link){ .host = host, .sw = sw, .lanes = PLAN_NONE };
	return &in->links[in->n_links++];
}

uint32_t plan_add_tenant(struct plan_instance *in, const char *name)
{
	in->tenants = mem_grow(in->tenants, in->n_tenants + 1, sizeof(*in->tenants));
	in->tenants[in->n_tenants] =
		(struct plan_tenant){ .name = mem_strdup(name), .limit = PLAN_NONE };
	return (uint32_t)in->n_tenants++;
}

uint32_t plan_add_workload(struct plan_instance *in, const char *name)
{
	in->workloads = mem_grow(in->workloads, in->n_workloads + 1, sizeof(*in->workloads));
	in->workloads[in->n_workloads] = (struct plan_workload){
		.name = mem_strdup(name), .tenant = PLAN_NONE, .span = 1, .weight = 1
	};
	return (uint32_t)in->n_workloads++;
}

struct plan_choice *plan_add_choice(const struct plan_instance *in, struct plan_workload *w,
				    uint32_t kind, const uint32_t *need)
{
	struct plan_choice *choice;

	w->choices = mem_grow(w->choices, w->n_choices + 1, sizeof(*w->choices));
	choice = &w->choices[w->n_choices++];
	choice->kind = kind;
	choice->need = mem_zalloc(in->n_intervals, sizeof(*choice->need));
	if (need)
		memcpy(choice->need, need, in->n_intervals * sizeof(*need));
	return choice;
}

void plan_add_now(struct plan_workload *w, uint32_t pool, uint32_t gpus)
{
	w->now = mem_grow(w->now, w->n_now + 1, sizeof(*w->now));
	w->now[w->n_now++] = (struct plan_held){ pool, gpus };
}

static void free_workload(struct plan_workload *w)
{
	size_t i;

	for (i = 0; i < w->n_choices; i++)
		free(w->choices[i].need);
	free(w->choices);
	free(w->now);
	free(w->name);
}

void plan_instance_free(struct plan_instance *in)
{
	size_t i;

	for (i = 0; i < in->n_kinds; i++)
		free(in->kinds[i].name);
	for (i = 0; i < in->n_switches; i++)
		free(in->switches[i].name);
	for (i = 0; i < in->n_hosts; i++)
		free(in->hosts[i].name);
	for (i = 0; i < in->n_tenants; i++)
		free(in->tenants[i].name);
	for (i = 0; i < in->n_workloads; i++)
		free_workload(&in->workloads[i]);
	free(in->kinds);
	free(in->switches);
	free(in->pools);
	free(in->hosts);
	free(in->links);
	free(in->tenants);
	free(in->workloads);
	memset(in, 0, sizeof(*in));
}
