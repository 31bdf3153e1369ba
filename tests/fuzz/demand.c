// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/ahead.c ctl/plan/demand.c ctl/plan/state.c ctl/plan/solver/check.c ctl/base/csv.c ctl/plan/file.c ctl/plan/file_demand.c ctl/plan/forecast.c ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/series.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Demand, on top of what a module could say: one line with line and column, or an instance
 * in range. The first byte says what the module says.
 */
#include "base/text.h"
#include "fuzz.h"
#include "plan/ahead.h"

static void add_set(struct plan_ahead *ahead, const char *name, uint32_t pool, uint32_t gpus)
{
	struct plan_set *set;

	ahead->sets = mem_grow(ahead->sets, ahead->n_sets + 1, sizeof(*set));
	set = &ahead->sets[ahead->n_sets++];
	*set = (struct plan_set){ .name = mem_strdup(name), .n = 1, .age = 3 };
	set->has = mem_zalloc(1, sizeof(*set->has));
	set->held = mem_zalloc(1, sizeof(*set->held));
	set->has[0] = (struct plan_held){ pool, gpus };
	set->busy = gpus == 2;
}

static void module(struct plan_instance *in, struct plan_ahead *ahead)
{
	plan_add_host(in, "9host");
	plan_add_switch(in, "0000:01:00.0");
	plan_add_kind(in, "k");
	plan_add_kind(in, "l");
	plan_add_pool(in, 0, 0, 1);
	plan_add_pool(in, 0, 1, 2);
	plan_add_tenant(in, "t");
	in->tenants[0].guarantee = 2;
	ahead->has_state = true;
	ahead->n_pools = 2;
	add_set(ahead, "a", 0, 4);
	add_set(ahead, "b", 1, 2);
	add_set(ahead, "other", 0, 3);
	ahead->sets[2].tenant = mem_strdup("t");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char series[] = SERIES_HEADING "\n7,1,1,0\n8,1,2,1\n9,1,0,9\n";
	struct plan_ahead ahead = { .minute = 8, .quantile = 0.9 };
	struct plan_instance in = { 0 };
	struct series_set set = { 0 };
	struct fault fault = { "" };
	size_t i, w;

	if (!size)
		return 0;
	must(!series_add(&set, "a.csv", series, sizeof(series) - 1, 100, &fault));
	ahead.series = &set;
	ahead.n_series = 1;
	if (data[0] & 1)
		module(&in, &ahead);
	ahead.tenants_rule = data[0] & 2;
	if (plan_read_onto(&in, &ahead, "f", (const char *)data + 1, size - 1, &fault)) {
		must(fuzz_is_line(fault.text));
		must(!strncmp(fault.text, "f:", 2));
	} else {
		must(!fault.text[0]);
		must(!plan_check(&in, &fault));
		for (i = 0; i < in.n_pools; i++)
			must(in.pools[i].gpus <= PLAN_GPUS_MAX && in.pools[i].on <= in.pools[i].gpus);
		for (w = 0; w < in.n_workloads; w++)
			must(ahead.asked[w].peak >= ahead.asked[w].now);
	}
	plan_ahead_free(&ahead);
	plan_instance_free(&in);
	series_free(&set);
	return 0;
}
