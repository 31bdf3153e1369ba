// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: demand in files
 *
 * What a workload says beyond an instance: what it asked for so far, what is known to come,
 * and when it can be moved. What it has is said by the module, where that is asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/file_private.h"

#define PHASES_MAX 1000
#define EPOCHS_MAX 100000

const char *const plan_ahead_keys[] = {
	"name", "host", "tenant", "gang", "hold", "span", "lanes", "keep", "weight", "load_s",
	"gpus", "memory_gib", "kinds", "now", "history", "phases", "epochs", NULL
};

static int read_history(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	struct json_object *array;
	size_t i, n, first;
	int err;

	err = jread_array(&rd->r, from, "history", SERIES_MINUTE_MAX, &array);
	if (err || !array)
		return err;
	n = json_object_array_length(array);
	first = n > AHEAD_HISTORY ? n - AHEAD_HISTORY : 0;
	past->values = mem_zalloc(n, sizeof(*past->values));
	jread_key(&rd->r, "history");
	for (i = 0; i < n; i++) {
		double v = 0;

		jread_index(&rd->r, i);
		err = jread_take_number(&rd->r, json_object_array_get_idx(array, i),
					PLAN_GPUS_MAX, &v);
		if (err)
			return err;
		jread_up(&rd->r);
		if (i >= first)
			past->values[past->n++] = v;
	}
	jread_up(&rd->r);
	return 0;
}

static int file_ahead_read_minute(struct reader *rd, struct json_object *from,
				  const uint64_t *before, uint64_t *minute)
{
	uint32_t n = 0;
	int err = jread_take_whole(&rd->r, from, SERIES_MINUTE_MAX, &n);

	if (err)
		return err;
	if (before && n <= *before)
		return jread_refuse(&rd->r, "minute %u is not after %llu", n,
				    (unsigned long long)*before);
	*minute = n;
	return 0;
}

static int read_phase(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	static const char *const keys[] = { "phase", "minute", "gpus", NULL };
	static const char *const names[] = { "start", "middle", "end" };
	struct plan_phase *last = past->n_phases ? &past->phases[past->n_phases - 1] : NULL;
	struct plan_phase *phase = &past->phases[past->n_phases];
	struct json_object *minute;
	const char *name = NULL;
	size_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = jread_word(&rd->r, from, "phase", &name);
	if (err)
		return err;
	for (i = 0; name && i < 3 && strcmp(name, names[i]);)
		i++;
	if (name && i == 3) {
		jread_key(&rd->r, "phase");
		return jread_refuse(&rd->r, "a phase is start, middle or end");
	}
	if (!json_object_object_get_ex(from, "minute", &minute) ||
	    !json_object_object_get_ex(from, "gpus", NULL))
		return jread_refuse(&rd->r, "a phase needs \"minute\" and \"gpus\"");
	jread_key(&rd->r, "minute");
	err = file_ahead_read_minute(rd, minute, last ? &last->minute : NULL, &phase->minute);
	if (err)
		return err;
	jread_up(&rd->r);
	err = jread_number(&rd->r, from, "gpus", PLAN_GPUS_MAX, &phase->gpus);
	if (!err)
		past->n_phases++;
	return err;
}

static int read_phases(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	struct json_object *array;
	size_t i;
	int err;

	err = jread_array(&rd->r, from, "phases", PHASES_MAX, &array);
	if (err || !array)
		return err;
	past->phases = mem_zalloc(json_object_array_length(array), sizeof(*past->phases));
	jread_key(&rd->r, "phases");
	for (i = 0; i < json_object_array_length(array); i++) {
		jread_index(&rd->r, i);
		err = read_phase(rd, json_object_array_get_idx(array, i), past);
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	return 0;
}

/* Between the ends of epochs it is not moved. */
static int file_ahead_read_epochs(struct reader *rd, struct json_object *from,
				  struct plan_workload *w)
{
	struct json_object *array;
	uint64_t *epochs;
	size_t i, n;
	int err;

	err = jread_array(&rd->r, from, "epochs", EPOCHS_MAX, &array);
	if (err || !array)
		return err;
	n = json_object_array_length(array);
	epochs = mem_zalloc(n, sizeof(*epochs));
	jread_key(&rd->r, "epochs");
	for (i = 0; i < n && !err; i++) {
		jread_index(&rd->r, i);
		err = file_ahead_read_minute(rd, json_object_array_get_idx(array, i),
					     i ? &epochs[i - 1] : NULL, &epochs[i]);
		if (!err)
			jread_up(&rd->r);
	}
	if (!err) {
		uint32_t keep = plan_until_epoch(epochs, n, rd->ahead->minute,
						 rd->in->slot_s / 60, (uint32_t)rd->in->n_slots);

		jread_up(&rd->r);
		if (keep > w->keep)
			w->keep = keep;
	}
	free(epochs);
	return err;
}

static const struct series_set *series_of(const struct plan_ahead *ahead, const char *name)
{
	size_t i;

	for (i = 0; i < ahead->n_series; i++)
		if (!strcmp(ahead->series[i].of[0].name, name))
			return &ahead->series[i];
	return NULL;
}

static int read_past(struct reader *rd, struct json_object *from, const char *name,
		     struct plan_past *past)
{
	const struct series_set *series = series_of(rd->ahead, name);
	unsigned int slot_min = (unsigned int)(rd->in->slot_s / 60);
	int err;

	err = read_history(rd, from, past);
	if (!err)
		err = read_phases(rd, from, past);
	if (err)
		return err;
	if (past->values && series)
		return jread_refuse(&rd->r, "workload %s has \"history\" and a series", name);
	if (!past->values && !series && !past->n_phases)
		return jread_refuse(&rd->r,
				    "workload %s needs \"gpus\", \"memory_gib\", \"history\", \"phases\" or a series %s.csv",
				    name, name);
	if (!series)
		return 0;
	if (slot_min * 60.0 < rd->in->slot_s || !slot_min)
		return jread_refuse(&rd->r,
				    "workload %s has a series of minutes: \"slot_s\" is no multiple of 60",
				    name);
	plan_past_series(past, series, rd->ahead->minute, slot_min);
	return 0;
}

int plan_read_ahead(struct reader *rd, struct json_object *from, struct plan_workload *w,
		    bool given, double *demand)
{
	size_t index = rd->in->n_workloads - 1, t;
	struct plan_past past = { 0 };
	struct plan_asked *asked;
	int err = 0;

	rd->ahead->asked = mem_grow(rd->ahead->asked, index + 1, sizeof(*asked));
	asked = &rd->ahead->asked[index];
	memset(asked, 0, sizeof(*asked));
	if (given && (json_object_object_get_ex(from, "history", NULL) ||
		      json_object_object_get_ex(from, "phases", NULL)))
		return jread_refuse(&rd->r, "workload %s: its demand is given, and forecast too",
				    w->name);
	if (!given) {
		err = read_past(rd, from, w->name, &past);
		if (!err)
			asked->how = plan_forecast(&past, rd->ahead->minute, rd->in->slot_s / 60,
						   rd->ahead->quantile, rd->in->n_slots, demand);
	}
	free(past.values);
	free(past.phases);
	for (t = 0; t < rd->in->n_slots && !err; t++)
		if (demand[t] > asked->peak)
			asked->peak = demand[t];
	asked->now = demand[0];
	return err ? err : file_ahead_read_epochs(rd, from, w);
}

/* A composition that the instance cannot say: then its GPUs are nobody's. */
static const char *cannot_say(const struct plan_instance *in, const struct plan_workload *w,
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

static void leave(struct plan_instance *in, struct plan_workload *w, const struct plan_set *set)
{
	size_t i;

	for (i = 0; i < set->n; i++) {
		struct plan_pool *pool = &in->pools[set->has[i].pool];

		pool->gpus -= set->has[i].gpus;
		pool->on -= set->has[i].gpus;
	}
	for (i = 0; i < w->n_choices; i++)
		memset(w->choices[i].need, 0, in->n_slots * sizeof(*w->choices[i].need));
	w->keep = 0;
}

static int take_set(struct reader *rd, struct plan_workload *w, struct plan_asked *asked,
		    const struct plan_set *set)
{
	const char *tenant = w->tenant == PLAN_NONE ? NULL : rd->in->tenants[w->tenant].name;
	double age;
	size_t i;

	if (strcmp(tenant ? tenant : "", set->tenant ? set->tenant : ""))
		return jread_refuse(&rd->r, "composition %s is of %s%.63s, not of %s%.63s", w->name,
				    set->tenant ? "tenant " : "no tenant",
				    set->tenant ? set->tenant : "",
				    tenant ? "tenant " : "no tenant", tenant ? tenant : "");
	asked->set = set;
	asked->left = cannot_say(rd->in, w, set);
	if (asked->left) {
		leave(rd->in, w, set);
		return 0;
	}
	for (i = 0; i < set->n; i++)
		plan_add_now(w, set->has[i].pool, set->has[i].gpus);
	/* What it got is kept for its hold, also by whoever plans next. */
	age = set->age * 60.0 / rd->in->slot_s;
	if (set->n && age < w->hold && w->hold - (uint32_t)age > w->keep)
		w->keep = w->hold - (uint32_t)age;
	return 0;
}

int plan_read_state(struct reader *rd, struct json_object *from, uint32_t workload)
{
	struct plan_workload *w = &rd->in->workloads[workload];
	struct plan_ahead *ahead = rd->ahead;
	size_t i;

	if (!ahead->has_state || w->host)
		return 0;
	if (json_object_object_get_ex(from, "now", NULL))
		return jread_refuse(&rd->r, "workload %s: what it has now is known from the module",
				    w->name);
	if (ahead->tenants_rule && w->tenant == PLAN_NONE)
		return jread_refuse(&rd->r, "workload %s needs its \"tenant\": there are tenants",
				    w->name);
	for (i = 0; i < ahead->n_sets; i++)
		if (!strcmp(ahead->sets[i].name, w->name))
			return take_set(rd, w, &ahead->asked[workload], &ahead->sets[i]);
	return 0;
}

static void link_all(struct plan_instance *in, uint32_t host, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		plan_add_link(in, host, (uint32_t)i);
}

static void read_links(struct reader *rd)
{
	struct plan_instance *in = rd->in;
	bool linked = in->n_links > 0;
	size_t i;

	if (in->n_hosts == 1 && !linked && in->n_switches == rd->n_known_switches)
		return;
	for (i = 0; i < in->n_links; i++)
		if (!in->links[i].host)
			break;
	if (!linked || i == in->n_links)
		link_all(in, 0, 0, rd->n_known_switches);
	for (i = 1; i < in->n_hosts && !linked; i++)
		link_all(in, (uint32_t)i, rd->n_known_switches, in->n_switches);
}

/* Compositions that no workload names are somebody else's, and count for their tenants. */
static void leave_others(struct reader *rd)
{
	struct plan_instance *in = rd->in;
	size_t i, j, w;

	for (i = 0; i < rd->ahead->n_sets; i++) {
		const struct plan_set *set = &rd->ahead->sets[i];
		uint32_t gpus = 0;

		for (w = 0; w < in->n_workloads && rd->ahead->asked[w].set != set;)
			w++;
		if (w < in->n_workloads && !rd->ahead->asked[w].left)
			continue;
		for (j = 0; j < set->n; j++) {
			gpus += set->has[j].gpus;
			if (w < in->n_workloads)
				continue;
			in->pools[set->has[j].pool].gpus -= set->has[j].gpus;
			in->pools[set->has[j].pool].on -= set->has[j].gpus;
		}
		for (j = 0; j < in->n_tenants && set->tenant; j++) {
			struct plan_tenant *t = &in->tenants[j];

			if (strcmp(t->name, set->tenant))
				continue;
			t->guarantee -= gpus < t->guarantee ? gpus : t->guarantee;
			if (t->limit != PLAN_NONE)
				t->limit -= gpus < t->limit ? gpus : t->limit;
		}
	}
}

void plan_read_end(struct reader *rd)
{
	if (!rd->ahead->has_state)
		return;
	read_links(rd);
	leave_others(rd);
}
