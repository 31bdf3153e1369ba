// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who had how many GPUs when
 *
 * All of it is spans: so many GPUs of this holder from then to then. A plan has them as they
 * are, and where power was planned, what is on beyond them was idle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "base/text.h"
#include "plan/solver/instance.h"
#include "plan/usage.h"

#define ROWS_MAX 10000000
/* GPUs: rounding of sums of seconds. */
#define SLACK 0.001

size_t usage_holder(struct usage *u, const char *name, const char *tenant)
{
	struct usage_holder *h;
	size_t i, k;

	for (i = 0; i < u->n_holders && (u->holders[i].over || strcmp(u->holders[i].name, name));)
		i++;
	if (i == u->n_holders) {
		u->holders = mem_grow(u->holders, i + 1, sizeof(*u->holders));
		u->holders[u->n_holders++] = (struct usage_holder){ .name = mem_strdup(name) };
	}
	h = &u->holders[i];
	if (!tenant || (h->tenant && !strcmp(h->tenant, tenant)))
		return i;
	free(h->tenant);
	h->tenant = mem_strdup(tenant);
	for (k = 0; k < u->n_tenants && strcmp(u->tenants[k], tenant);)
		k++;
	if (k == u->n_tenants) {
		u->tenants = mem_grow(u->tenants, k + 1, sizeof(*u->tenants));
		u->tenants[u->n_tenants++] = mem_strdup(tenant);
	}
	return i;
}

void usage_add(struct usage *u, double from, double to, uint32_t gpus, size_t who)
{
	if (to <= from || !gpus)
		return;
	if (!(u->n_spans & (u->n_spans - 1)))
		u->spans = mem_grow(u->spans, u->n_spans ? 2 * u->n_spans : 1, sizeof(*u->spans));
	u->spans[u->n_spans++] = (struct usage_span){ from, to, gpus, who };
}

void usage_free(struct usage *u)
{
	size_t i;

	for (i = 0; i < u->n_holders; i++) {
		free(u->holders[i].name);
		free(u->holders[i].tenant);
	}
	for (i = 0; i < u->n_tenants; i++)
		free((char *)u->tenants[i]);
	free(u->holders);
	free(u->tenants);
	free(u->spans);
	memset(u, 0, sizeof(*u));
}

static double overlap(const struct usage_span *s, double from, double to)
{
	double begin = s->from > from ? s->from : from, end = s->to < to ? s->to : to;

	return end > begin ? (end - begin) * s->gpus : 0;
}

double usage_seconds(const struct usage *u, size_t who, double from, double to)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < u->n_spans; i++)
		if (u->spans[i].who == who || (who == USAGE_ALL && u->spans[i].who != USAGE_NOBODY))
			sum += overlap(&u->spans[i], from, to);
	return sum;
}

static bool usage_is_of(const struct usage *u, const struct usage_span *s, const char *tenant)
{
	const char *its;

	if (s->who == USAGE_NOBODY)
		return false;
	its = u->holders[s->who].tenant;
	return tenant && its ? !strcmp(its, tenant) : !tenant && !its;
}

double usage_tenant_seconds(const struct usage *u, const char *tenant, double from, double to)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < u->n_spans; i++)
		if (usage_is_of(u, &u->spans[i], tenant))
			sum += overlap(&u->spans[i], from, to);
	return sum;
}

/**
 * struct turn - more or fewer GPUs from a time on
 * @at: seconds
 * @by: GPUs
 */
struct turn {
	double at;
	int64_t by;
};

/* Those who go do so before those who come at the same time. */
static int usage_by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->at < y->at || x->at > y->at)
		return x->at < y->at ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static uint32_t usage_highest(struct turn *turns, size_t n)
{
	int64_t sum = 0, most = 0;
	size_t i;

	if (n)
		qsort(turns, n, sizeof(*turns), usage_by_time);
	for (i = 0; i < n; i++) {
		sum += turns[i].by;
		most = sum > most ? sum : most;
	}
	free(turns);
	return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

static void add_turns(struct turn *turns, size_t *n, const struct usage_span *s)
{
	turns[(*n)++] = (struct turn){ s->from, s->gpus };
	turns[(*n)++] = (struct turn){ s->to, -(int64_t)s->gpus };
}

uint32_t usage_tenant_peak(const struct usage *u, const char *tenant)
{
	struct turn *turns = mem_zalloc(2 * u->n_spans + 1, sizeof(*turns));
	size_t n = 0, i;

	for (i = 0; i < u->n_spans; i++)
		if (usage_is_of(u, &u->spans[i], tenant))
			add_turns(turns, &n, &u->spans[i]);
	return usage_highest(turns, n);
}

uint32_t usage_peak(const struct usage *u, size_t who)
{
	struct turn *turns = mem_zalloc(2 * u->n_spans + 1, sizeof(*turns));
	size_t n = 0, i;

	for (i = 0; i < u->n_spans; i++)
		if (u->spans[i].who == who || (who == USAGE_ALL && u->spans[i].who != USAGE_NOBODY))
			add_turns(turns, &n, &u->spans[i]);
	return usage_highest(turns, n);
}

/**
 * struct plan_file - a written plan that is read
 * @r: place in it
 * @u: what was read
 * @interval_s: length of an interval
 * @intervals: how many
 */
struct plan_file {
	struct jread r;
	struct usage *u;
	double interval_s;
	uint32_t intervals;
};

static int read_times(struct plan_file *p, struct json_object *from, double *begin, double *end)
{
	uint32_t first = PLAN_NONE, last = PLAN_NONE;
	int err;

	if (!json_object_is_type(from, json_type_object))
		return jread_refuse(&p->r, "an object is expected here");
	err = jread_whole(&p->r, from, "first_interval", p->intervals - 1, &first);
	if (!err)
		err = jread_whole(&p->r, from, "last_interval", p->intervals - 1, &last);
	if (err)
		return err;
	if (first == PLAN_NONE || last == PLAN_NONE || last < first)
		return jread_refuse(&p->r,
				    "\"first_interval\" and \"last_interval\", not before it, are needed");
	*begin = first * p->interval_s;
	*end = (last + 1.0) * p->interval_s;
	return 0;
}

static int read_use(struct plan_file *p, struct json_object *from)
{
	const char *name = NULL, *tenant = NULL;
	double begin = 0, end = 0;
	uint32_t gpus = 0;
	int err;

	err = read_times(p, from, &begin, &end);
	if (!err)
		err = jread_word(&p->r, from, "workload", &name);
	if (!err && json_object_object_get(from, "tenant"))
		err = jread_word(&p->r, from, "tenant", &tenant);
	if (!err)
		err = jread_whole(&p->r, from, "gpus", PLAN_GPUS_MAX, &gpus);
	if (!err && !name)
		err = jread_refuse(&p->r, "\"workload\" is missing");
	if (!err)
		usage_add(p->u, begin, end, gpus, usage_holder(p->u, name, tenant));
	return err;
}

static int read_power(struct plan_file *p, struct json_object *from)
{
	double begin = 0, end = 0;
	uint32_t on = 0;
	int err;

	err = read_times(p, from, &begin, &end);
	if (!err)
		err = jread_whole(&p->r, from, "on", PLAN_GPUS_MAX, &on);
	if (!err)
		usage_add(p->u, begin, end, on, USAGE_NOBODY);
	return err;
}

static int usage_each(struct plan_file *p, const char *key,
		      int (*read)(struct plan_file *p, struct json_object *from), bool *there)
{
	struct json_object *rows = NULL;
	size_t i;
	int err;

	err = jread_array(&p->r, p->r.root, key, ROWS_MAX, &rows);
	if (err)
		return err;
	*there = rows;
	jread_key(&p->r, key);
	for (i = 0; rows && i < json_object_array_length(rows); i++) {
		jread_index(&p->r, i);
		err = read(p, json_object_array_get_idx(rows, i));
		if (err)
			return err;
		jread_up(&p->r);
	}
	jread_up(&p->r);
	return 0;
}

/* What is on counts those in use, too: take them out again, interval by interval. */
static int leave_idle(struct plan_file *p, const struct usage *on)
{
	struct usage *u = p->u;
	size_t t;

	for (t = 0; t < p->intervals; t++) {
		double from = t * p->interval_s, to = from + p->interval_s, idle;

		idle = usage_seconds(on, USAGE_NOBODY, from, to) -
		       usage_seconds(u, USAGE_ALL, from, to);
		idle /= p->interval_s;
		if (idle + SLACK < 0)
			return jread_refuse(&p->r,
					    "in interval %zu more GPUs are in use than are on", t);
		if (idle > PLAN_GPUS_MAX)
			return jread_refuse(&p->r, "in interval %zu more than %u GPUs are idle", t,
					    PLAN_GPUS_MAX);
		usage_add(u, from, to, (uint32_t)(idle + 0.5), USAGE_NOBODY);
	}
	return 0;
}

static int read_plan(struct plan_file *p)
{
	struct usage on = { 0 }, *u = p->u;
	bool there = false;
	int err;

	if (!json_object_is_type(p->r.root, json_type_object))
		return jread_refuse(&p->r, "an object is expected here");
	err = jread_number(&p->r, p->r.root, "interval_s", PLAN_SECONDS_MAX, &p->interval_s);
	if (!err)
		err = jread_whole(&p->r, p->r.root, "intervals", PLAN_INTERVALS_MAX, &p->intervals);
	if (!err && (!p->intervals || p->interval_s <= 0))
		err = jread_refuse(&p->r,
				   "\"intervals\" and \"interval_s\" are both needed, and above 0");
	if (!err)
		err = usage_each(p, "use", read_use, &there);
	if (!err && !there)
		err = jread_refuse(&p->r, "\"use\" is missing: \"gpuctl plan solve -j\" writes it");
	if (err)
		return err;
	u->to = p->intervals * p->interval_s;
	p->u = &on;
	err = usage_each(p, "power", read_power, &u->knows_idle);
	p->u = u;
	if (!err && u->knows_idle) {
		jread_key(&p->r, "power");
		err = leave_idle(p, &on);
	}
	usage_free(&on);
	u->gpus = usage_peak(u, USAGE_ALL);
	return err;
}

/* A journal has an object in each line, and a line's are of one entry each. */
static bool is_journal(const char *text, size_t len)
{
	static const char mark[] = "\"__REALTIME_TIMESTAMP\"";
	const char *end = memchr(text, '\n', len);

	if (end)
		len = (size_t)(end - text);
	return len && text[0] == '{' && memmem(text, len, mark, sizeof(mark) - 1);
}

int usage_read(struct usage *u, const char *file, const char *text, size_t len, struct fault *fault)
{
	struct plan_file p = { .u = u };
	int err;

	memset(u, 0, sizeof(*u));
	if (is_journal(text, len))
		return usage_read_journal(u, file, text, len, fault);
	err = jread_open(&p.r, file, text, len, fault);
	if (!err)
		err = read_plan(&p);
	jread_close(&p.r);
	return err;
}
