// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: instances in files
 *
 * Names tie the parts together; a name stands before it is used. What is not said has a value
 * that changes nothing: no limit, no cost. What is not known is refused.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/file.h"
#include "plan/file_private.h"

#define FORMAT_KEY "gpufabric_plan"
#define FORMAT 1
/* A workload that lacks GPUs while its tenant is below the guarantee costs so much more. */
#define DEFICIT_TIMES 10

static const char *const thing_keys[] = { "kinds", "switches", "hosts", "tenants", "workloads" };
static const char *const thing_names[] = { "kind", "switch", "host", "tenant", "workload" };

static size_t file_count(const struct plan_instance *in, enum thing thing)
{
	const size_t counts[THINGS] = { in->n_kinds, in->n_switches, in->n_hosts, in->n_tenants,
					in->n_workloads };

	return counts[thing];
}

/*
 * A new name below "name": the next index of its kind is its, and @index is PLAN_NONE. Or
 * the first mention of something that was known before the file: then @index says which.
 */
static int new_name(struct reader *rd, struct json_object *from, enum thing thing,
		    const char **name, uint32_t *index)
{
	struct json_object *known;
	struct jread *r = &rd->r;
	const char *s = NULL;
	int err;

	*index = PLAN_NONE;

	err = jread_word(r, from, "name", &s);
	if (err)
		return err;
	if (!s)
		return jread_refuse(r, "a %s needs a \"name\"", thing_names[thing]);
	jread_key(r, "name");
	if (json_object_object_get_ex(rd->known[thing], s, &known))
		*index = (uint32_t)json_object_get_int(known);
	else if (!text_name_valid(s))
		return jread_refuse(r,
				    "a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'");
	if (json_object_object_get_ex(rd->names[thing], s, NULL))
		return jread_refuse(r, "%s %s is described twice", thing_names[thing], s);
	jread_up(r);
	json_object_object_add(rd->names[thing], s,
			       json_object_new_int(*index == PLAN_NONE ?
							   (int)file_count(rd->in, thing) :
							   (int)*index));
	*name = s;
	return 0;
}

static int file_look_up(struct reader *rd, const char *name, enum thing thing, uint32_t *index)
{
	struct json_object *found;

	if (!json_object_object_get_ex(rd->names[thing], name, &found) &&
	    !json_object_object_get_ex(rd->known[thing], name, &found))
		return jread_refuse(&rd->r, "no %s %.63s in \"%s\"", thing_names[thing], name,
				    thing_keys[thing]);
	*index = (uint32_t)json_object_get_int(found);
	return 0;
}

/* The index of what is named below @key; PLAN_NONE where nothing is. */
static int known_name(struct reader *rd, struct json_object *from, const char *key,
		      enum thing thing, uint32_t *index)
{
	const char *name = NULL;
	int err;

	*index = PLAN_NONE;
	err = jread_word(&rd->r, from, key, &name);
	if (err || !name)
		return err;
	jread_key(&rd->r, key);
	err = file_look_up(rd, name, thing, index);
	if (!err)
		jread_up(&rd->r);
	return err;
}

/* As known_name(), of what has to be said. */
static int file_need_name(struct reader *rd, struct json_object *from, enum thing thing,
			  uint32_t *index)
{
	int err = known_name(rd, from, thing_names[thing], thing, index);

	if (!err && *index == PLAN_NONE)
		return jread_refuse(&rd->r, "a \"%s\" is missing here", thing_names[thing]);
	return err;
}

static int file_read_kind(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "name",  "memory_gib", "busy_w", "idle_w",
					    "off_w", "wake_j",	   NULL };
	struct plan_kind *kind;
	const char *name;
	bool fresh;
	uint32_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = new_name(rd, from, KIND, &name, &i);
	if (err)
		return err;
	fresh = i == PLAN_NONE;
	if (fresh)
		i = plan_add_kind(rd->in, name);
	kind = &rd->in->kinds[i];
	err = jread_number(&rd->r, from, "memory_gib", PLAN_WEIGHT_MAX, &kind->memory_gib);
	if (!err)
		err = jread_number(&rd->r, from, "off_w", PLAN_WEIGHT_MAX, &kind->off_w);
	if (fresh)
		kind->idle_w = kind->off_w;
	if (!err)
		err = jread_number(&rd->r, from, "idle_w", PLAN_WEIGHT_MAX, &kind->idle_w);
	if (fresh)
		kind->busy_w = kind->idle_w;
	if (!err)
		err = jread_number(&rd->r, from, "busy_w", PLAN_WEIGHT_MAX, &kind->busy_w);
	if (!err)
		err = jread_number(&rd->r, from, "wake_j", 1e12, &kind->wake_j);
	if (!err && (kind->off_w > kind->idle_w || kind->idle_w > kind->busy_w))
		err = jread_refuse(&rd->r, "kind %s: off_w, idle_w and busy_w do not rise", name);
	return err;
}

static int read_switch(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "name", "attach_max", NULL };
	const char *name;
	uint32_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = new_name(rd, from, SWITCH, &name, &i);
	if (err)
		return err;
	if (i == PLAN_NONE)
		i = plan_add_switch(rd->in, name);
	return jread_whole(&rd->r, from, "attach_max", PLAN_GPUS_MAX,
			   &rd->in->switches[i].attach_max);
}

static int file_read_pool(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "switch",	"kind",	    "gpus", "on",
					    "attach_s", "detach_s", NULL };
	uint32_t sw = 0, kind = 0, gpus = PLAN_NONE, q, i;
	struct plan_pool *pool;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = file_need_name(rd, from, SWITCH, &sw);
	if (!err)
		err = file_need_name(rd, from, KIND, &kind);
	if (!err)
		err = jread_whole(&rd->r, from, "gpus", PLAN_GPUS_MAX, &gpus);
	if (err)
		return err;
	for (i = 0; i < rd->in->n_pools; i++)
		if (rd->in->pools[i].sw == sw && rd->in->pools[i].kind == kind)
			break;
	q = i;
	if (i < rd->n_known_pools) {
		if (gpus != PLAN_NONE || json_object_object_get_ex(from, "on", NULL))
			return jread_refuse(&rd->r, "the number comes from the module");
	} else if (i < rd->in->n_pools) {
		return jread_refuse(&rd->r, "there is a pool of %s behind %s already",
				    rd->in->kinds[kind].name, rd->in->switches[sw].name);
	}
	if (i == rd->in->n_pools) {
		/* GPUs come and go: of these there is none just now. */
		if (gpus == PLAN_NONE && rd->ahead->has_state)
			gpus = 0;
		if (gpus == PLAN_NONE)
			return jread_refuse(&rd->r, "a pool needs \"gpus\"");
		q = plan_add_pool(rd->in, sw, kind, gpus);
		rd->in->pools[q].attach_s = rd->attach_s;
		rd->in->pools[q].detach_s = rd->detach_s;
	}
	pool = &rd->in->pools[q];
	err = jread_whole(&rd->r, from, "on", pool->gpus, &pool->on);
	if (!err)
		err = jread_number(&rd->r, from, "attach_s", PLAN_SECONDS_MAX, &pool->attach_s);
	if (!err)
		err = jread_number(&rd->r, from, "detach_s", PLAN_SECONDS_MAX, &pool->detach_s);
	return err;
}

static int read_host(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "name", "slots", NULL };
	const char *name;
	uint32_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = new_name(rd, from, HOST, &name, &i);
	if (err)
		return err;
	if (i == PLAN_NONE)
		i = plan_add_host(rd->in, name);
	return jread_whole(&rd->r, from, "slots", PLAN_GPUS_MAX, &rd->in->hosts[i].slots);
}

static int read_link(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "host", "switch", "lanes", "locality", NULL };
	uint32_t host = 0, sw = 0;
	struct plan_link *link;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = file_need_name(rd, from, HOST, &host);
	if (!err)
		err = file_need_name(rd, from, SWITCH, &sw);
	if (err)
		return err;
	link = plan_add_link(rd->in, host, sw);
	err = jread_whole(&rd->r, from, "lanes", PLAN_GPUS_MAX, &link->lanes);
	if (!err)
		err = jread_number(&rd->r, from, "locality", PLAN_WEIGHT_MAX, &link->locality);
	return err;
}

static int read_tenant(struct reader *rd, struct json_object *from)
{
	static const char *const keys[] = { "name", "guarantee", "limit", NULL };
	struct plan_tenant *tenant;
	const char *name;
	uint32_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = new_name(rd, from, TENANT, &name, &i);
	if (err)
		return err;
	if (i == PLAN_NONE)
		i = plan_add_tenant(rd->in, name);
	tenant = &rd->in->tenants[i];
	err = jread_whole(&rd->r, from, "guarantee", PLAN_GPUS_MAX, &tenant->guarantee);
	if (!err)
		err = jread_whole(&rd->r, from, "limit", PLAN_GPUS_MAX, &tenant->limit);
	if (!err && tenant->guarantee > tenant->limit)
		err = jread_refuse(&rd->r,
				   "tenant %s: its guarantee of %u is above its limit of %u", name,
				   tenant->guarantee, tenant->limit);
	return err;
}

/* Demand is one number for all intervals, or a list of one for each. */
static int read_demand(struct reader *rd, struct json_object *from, const char *key, bool whole,
		       double *demand)
{
	struct json_object *found;
	uint32_t n = 0;
	size_t t, intervals = rd->in->n_intervals;
	double v = 0;
	int err = 0;
	bool list;

	json_object_object_get_ex(from, key, &found);
	jread_key(&rd->r, key);
	list = json_object_is_type(found, json_type_array);
	if (list && json_object_array_length(found) != intervals)
		return jread_refuse(&rd->r, "%zu numbers for %zu intervals",
				    json_object_array_length(found), intervals);
	for (t = 0; t < intervals && !err; t++) {
		struct json_object *at = list ? json_object_array_get_idx(found, t) : found;

		if (list)
			jread_index(&rd->r, t);
		if ((list || !t) && whole) {
			err = jread_take_whole(&rd->r, at, PLAN_GPUS_MAX, &n);
			v = n;
		} else if (list || !t) {
			err = jread_take_number(&rd->r, at, PLAN_WEIGHT_MAX, &v);
		}
		if (list && !err)
			jread_up(&rd->r);
		demand[t] = v;
	}
	if (!err)
		jread_up(&rd->r);
	return err;
}

/* A kind that a workload can use: its name, or an object with how fast it is. */
static int read_choice(struct reader *rd, struct json_object *from, struct plan_workload *w,
		       bool memory, double *each)
{
	static const char *const keys[] = { "kind", "speed", NULL };
	uint32_t kind = 0;
	size_t i;
	int err;

	*each = 1;
	if (json_object_is_type(from, json_type_string)) {
		err = file_look_up(rd, json_object_get_string(from), KIND, &kind);
	} else {
		err = jread_object(&rd->r, from, keys);
		if (!err)
			err = file_need_name(rd, from, KIND, &kind);
		if (!err)
			err = jread_number(&rd->r, from, "speed", PLAN_WEIGHT_MAX, each);
	}
	if (err)
		return err;
	for (i = 0; i < w->n_choices; i++)
		if (w->choices[i].kind == kind)
			return jread_refuse(&rd->r, "kind %s is there twice",
					    rd->in->kinds[kind].name);
	if (memory)
		*each = rd->in->kinds[kind].memory_gib;
	if (*each <= 0)
		return jread_refuse(&rd->r,
				    memory ? "kind %s has no \"memory_gib\"" :
					     "kind %s: a speed of 0",
				    rd->in->kinds[kind].name);
	plan_add_choice(rd->in, w, kind, NULL);
	return 0;
}

static int read_choices(struct reader *rd, struct json_object *from, struct plan_workload *w,
			struct plan_asked *asked)
{
	bool gpus = json_object_object_get_ex(from, "gpus", NULL);
	bool memory = json_object_object_get_ex(from, "memory_gib", NULL);
	struct json_object *kinds;
	size_t i;
	int err;

	if (gpus == memory && (gpus || rd->ahead->given))
		return jread_refuse(&rd->r, "workload %s needs either \"gpus\" or \"memory_gib\"",
				    w->name);
	err = jread_array(&rd->r, from, "kinds", PLAN_SWITCHES_MAX, &kinds);
	if (err)
		return err;
	if (!kinds || !json_object_array_length(kinds))
		return jread_refuse(&rd->r, "workload %s needs \"kinds\" that it can use", w->name);
	if (gpus || memory) {
		asked->demand = mem_zalloc(rd->in->n_intervals, sizeof(*asked->demand));
		err = read_demand(rd, from, gpus ? "gpus" : "memory_gib", gpus, asked->demand);
	}
	if (!err && !rd->ahead->given)
		err = plan_parse_demand(rd, from, asked);
	if (err)
		return err;
	asked->each = mem_zalloc(json_object_array_length(kinds), sizeof(*asked->each));
	jread_key(&rd->r, "kinds");
	for (i = 0; i < json_object_array_length(kinds); i++) {
		jread_index(&rd->r, i);
		err = read_choice(rd, json_object_array_get_idx(kinds, i), w, memory,
				  &asked->each[i]);
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	return 0;
}

static int read_now(struct reader *rd, struct json_object *from, struct plan_workload *w)
{
	static const char *const keys[] = { "switch", "kind", "gpus", NULL };
	uint32_t sw = 0, kind = 0, gpus = 0, q;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = file_need_name(rd, from, SWITCH, &sw);
	if (!err)
		err = file_need_name(rd, from, KIND, &kind);
	if (!err)
		err = jread_whole(&rd->r, from, "gpus", PLAN_GPUS_MAX, &gpus);
	if (err)
		return err;
	for (q = 0; q < rd->in->n_pools; q++)
		if (rd->in->pools[q].sw == sw && rd->in->pools[q].kind == kind)
			break;
	if (q == rd->in->n_pools)
		return jread_refuse(&rd->r, "no pool of %s behind %s", rd->in->kinds[kind].name,
				    rd->in->switches[sw].name);
	if (!gpus || gpus > rd->in->pools[q].gpus)
		return jread_refuse(&rd->r, "%u of %u GPUs of the pool", gpus,
				    rd->in->pools[q].gpus);
	plan_add_now(w, q, gpus);
	return 0;
}

static int file_each(struct reader *rd, struct json_object *from, const char *key, size_t max,
		     int (*take)(struct reader *rd, struct json_object *from))
{
	struct json_object *array;
	size_t i;
	int err;

	err = jread_array(&rd->r, from, key, max, &array);
	if (err || !array)
		return err;
	jread_key(&rd->r, key);
	for (i = 0; i < json_object_array_length(array); i++) {
		jread_index(&rd->r, i);
		err = take(rd, json_object_array_get_idx(array, i));
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	return 0;
}

static int read_nows(struct reader *rd, struct json_object *from, struct plan_workload *w)
{
	struct json_object *array;
	size_t i;
	int err;

	err = jread_array(&rd->r, from, "now", w->span, &array);
	if (err || !array)
		return err;
	jread_key(&rd->r, "now");
	for (i = 0; i < json_object_array_length(array); i++) {
		jread_index(&rd->r, i);
		err = read_now(rd, json_object_array_get_idx(array, i), w);
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	return 0;
}

/* Which host a workload is on need not be said where that is clear. */
static int read_host_of(struct reader *rd, struct json_object *from, struct plan_workload *w)
{
	int err = known_name(rd, from, "host", HOST, &w->host);

	if (err || w->host != PLAN_NONE)
		return err;
	w->host = 0;
	if (rd->in->n_hosts != 1 && !rd->ahead->has_state)
		return jread_refuse(&rd->r, "workload %s: there are several hosts: add \"host\"",
				    w->name);
	return 0;
}

static struct plan_asked *asked_add(struct plan_ahead *ahead)
{
	struct plan_asked *asked;

	ahead->asked = mem_grow(ahead->asked, ahead->n_asked + 1, sizeof(*ahead->asked));
	asked = &ahead->asked[ahead->n_asked++];
	memset(asked, 0, sizeof(*asked));
	return asked;
}

static int file_read_workload(struct reader *rd, struct json_object *from)
{
	static const char *const given_keys[] = { "name",   "host",   "tenant", "gang",
						  "hold",   "span",   "lanes",	"keep",
						  "weight", "load_s", "gpus",	"memory_gib",
						  "kinds",  "now",    NULL };
	static const char *const forecast_keys[] = { "name",   "host",	 "tenant",  "gang",
						     "hold",   "span",	 "lanes",   "keep",
						     "weight", "load_s", "gpus",    "memory_gib",
						     "kinds",  "now",	 "history", "phases",
						     "epochs", NULL };
	struct jread *r = &rd->r;
	uint32_t intervals = (uint32_t)rd->in->n_intervals, i;
	struct plan_asked *asked;
	struct plan_workload *w;
	const char *name;
	int err;

	err = jread_object(r, from, rd->ahead->given ? given_keys : forecast_keys);
	if (!err)
		err = new_name(rd, from, WORKLOAD, &name, &i);
	if (err)
		return err;
	i = plan_add_workload(rd->in, name);
	w = &rd->in->workloads[i];
	asked = asked_add(rd->ahead);
	err = read_host_of(rd, from, w);
	if (!err)
		err = known_name(rd, from, "tenant", TENANT, &w->tenant);
	if (!err)
		err = jread_flag(r, from, "gang", &w->gang);
	if (!err)
		err = jread_whole(r, from, "hold", intervals, &w->hold);
	if (!err)
		err = jread_whole(r, from, "span", 4, &w->span);
	if (!err && !w->span)
		return jread_refuse(r, "workload %s: a span of 0", name);
	if (!err)
		err = jread_whole(r, from, "lanes", 64, &w->lanes);
	if (!err)
		err = jread_whole(r, from, "keep", intervals, &w->keep);
	if (!err)
		err = jread_number(r, from, "weight", PLAN_WEIGHT_MAX, &w->weight);
	if (!err)
		err = jread_number(r, from, "load_s", PLAN_SECONDS_MAX, &w->load_s);
	if (!err)
		err = read_choices(rd, from, w, asked);
	if (err)
		return err;
	if (rd->ahead->has_state && !w->host && json_object_object_get_ex(from, "now", NULL))
		return jread_refuse(r, "workload %s: its current GPUs come from the module", name);
	return read_nows(rd, from, w);
}

static int read_head(struct reader *rd)
{
	static const char *const keys[] = { FORMAT_KEY,	      "interval_s", "intervals",
					    "attach_s",	      "detach_s",   "cost_per_kwh",
					    "deficit_weight", "kinds",	    "switches",
					    "pools",	      "hosts",	    "links",
					    "tenants",	      "workloads",  NULL };
	struct json_object *root = rd->r.root;
	struct plan_instance *in = rd->in;
	uint32_t format = 0, intervals = 0;
	double kwh = 0;
	size_t q;
	int err;

	err = jread_object(&rd->r, root, keys);
	if (!err)
		err = jread_whole(&rd->r, root, FORMAT_KEY, PLAN_NONE, &format);
	if (!err && format != FORMAT)
		return jread_refuse(&rd->r, "\"" FORMAT_KEY "\" is %u, not %u", format, FORMAT);
	if (!err)
		err = jread_number(&rd->r, root, "interval_s", PLAN_SECONDS_MAX, &in->interval_s);
	if (!err)
		err = jread_whole(&rd->r, root, "intervals", PLAN_INTERVALS_MAX, &intervals);
	if (!err && (!intervals || in->interval_s <= 0))
		return jread_refuse(&rd->r,
				    "\"intervals\" and \"interval_s\" are both needed, and above 0");
	in->n_intervals = intervals;
	if (!err)
		err = jread_number(&rd->r, root, "attach_s", PLAN_SECONDS_MAX, &rd->attach_s);
	if (!err)
		err = jread_number(&rd->r, root, "detach_s", PLAN_SECONDS_MAX, &rd->detach_s);
	/* What was not measured yet costs what the file says. */
	for (q = 0; q < rd->n_known_pools && !err; q++) {
		if (!in->pools[q].attach_s)
			in->pools[q].attach_s = rd->attach_s;
		if (!in->pools[q].detach_s)
			in->pools[q].detach_s = rd->detach_s;
	}
	if (!err)
		err = jread_number(&rd->r, root, "cost_per_kwh", PLAN_WEIGHT_MAX, &kwh);
	in->energy_cost = kwh / 3.6e6;
	rd->deficit_given = json_object_object_get_ex(root, "deficit_weight", NULL);
	if (!err)
		err = jread_number(&rd->r, root, "deficit_weight", PLAN_WEIGHT_MAX,
				   &in->deficit_weight);
	return err;
}

static int file_read_all(struct reader *rd)
{
	struct json_object *root = rd->r.root;
	size_t w;
	int err;

	err = read_head(rd);
	if (!err)
		err = file_each(rd, root, "kinds", PLAN_SWITCHES_MAX, file_read_kind);
	if (!err)
		err = file_each(rd, root, "switches", PLAN_SWITCHES_MAX, read_switch);
	if (!err)
		err = file_each(rd, root, "pools", PLAN_SWITCHES_MAX, file_read_pool);
	if (!err)
		err = file_each(rd, root, "hosts", PLAN_SWITCHES_MAX, read_host);
	if (!err && !rd->in->n_hosts)
		return jread_refuse(&rd->r, "there are no \"hosts\"");
	if (!err)
		err = file_each(rd, root, "links", PLAN_SWITCHES_MAX, read_link);
	if (!err)
		err = file_each(rd, root, "tenants", PLAN_SWITCHES_MAX, read_tenant);
	if (!err)
		err = file_each(rd, root, "workloads", PLAN_WORKLOADS_MAX, file_read_workload);
	for (w = 0; w < rd->in->n_workloads && !err && !rd->deficit_given; w++)
		if (DEFICIT_TIMES * rd->in->workloads[w].weight > rd->in->deficit_weight)
			rd->in->deficit_weight = DEFICIT_TIMES * rd->in->workloads[w].weight;
	if (rd->in->deficit_weight > PLAN_WEIGHT_MAX)
		rd->in->deficit_weight = PLAN_WEIGHT_MAX;
	return err;
}

static void know(struct reader *rd, enum thing kind, const char *name, size_t index)
{
	json_object_object_add(rd->known[kind], name, json_object_new_int((int)index));
}

/* What is there before the file is read can be named in it. */
static void know_all(struct reader *rd)
{
	const struct plan_instance *in = rd->in;
	size_t i;

	for (i = 0; i < in->n_kinds; i++)
		know(rd, KIND, in->kinds[i].name, i);
	for (i = 0; i < in->n_switches; i++)
		know(rd, SWITCH, in->switches[i].name, i);
	for (i = 0; i < in->n_hosts; i++)
		know(rd, HOST, in->hosts[i].name, i);
	for (i = 0; i < in->n_tenants; i++)
		know(rd, TENANT, in->tenants[i].name, i);
	rd->n_known_pools = in->n_pools;
	rd->n_known_switches = in->n_switches;
}

int plan_parse(struct plan_instance *in, struct plan_ahead *ahead, const char *file,
	       const char *text, size_t len, struct fault *fault)
{
	struct reader rd = { .in = in, .ahead = ahead };
	size_t i;
	int err;

	for (i = 0; i < THINGS; i++) {
		rd.names[i] = json_object_new_object();
		rd.known[i] = json_object_new_object();
	}
	know_all(&rd);
	ahead->n_switches = rd.n_known_switches;
	ahead->file = file;
	ahead->text = text;
	ahead->len = len;
	err = jread_open(&rd.r, file, text, len, fault);
	if (!err)
		err = file_read_all(&rd);
	jread_close(&rd.r);
	for (i = 0; i < THINGS; i++) {
		json_object_put(rd.names[i]);
		json_object_put(rd.known[i]);
	}
	return err;
}

int plan_read(struct plan_instance *in, const char *file, const char *text, size_t len,
	      struct fault *fault)
{
	struct plan_ahead ahead = { .given = true };
	int err;

	memset(in, 0, sizeof(*in));
	err = plan_read_onto(in, &ahead, file, text, len, fault);
	plan_ahead_free(&ahead);
	return err;
}
