// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: making the model
 *
 * Only limits that can be reached become rows: what all workloads together could want at most
 * is added up first. A tenant with a single workload needs no row for its guarantee, which is
 * a cost of that workload then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/grain.h"
#include "plan/solver/model.h"

#define BUCKETS 4096
/* Intervals times configurations of a workload: what its way takes memory for. */
#define CELLS_MAX 50000000

/**
 * struct maker - what is needed while the model is made
 * @model: the model
 * @in: the instance
 * @host_links: by host, where its links begin in @links
 * @links: indices of links, by host
 * @buckets: shapes by hash
 * @most: by kind of row and index, what could be asked for at most
 * @row: by kind of row and index, the row
 * @tenant_workloads: by tenant, how many it has
 * @fault: why it cannot be
 */
struct maker {
	struct model *model;
	const struct plan_instance *in;
	uint32_t *host_links, *links;
	struct shape **buckets;
	uint64_t *most[ROW_GUARANTEE + 1];
	uint32_t *row[ROW_GUARANTEE + 1];
	uint32_t *tenant_workloads;
	struct fault *fault;
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void sort_links(struct maker *m)
{
	const struct plan_instance *in = m->in;
	size_t i;

	m->host_links = mem_zalloc(in->n_hosts + 2, sizeof(*m->host_links));
	m->links = mem_zalloc(in->n_links ? in->n_links : 1, sizeof(*m->links));
	for (i = 0; i < in->n_links; i++)
		m->host_links[in->links[i].host + 2]++;
	for (i = 0; i < in->n_hosts; i++)
		m->host_links[i + 2] += m->host_links[i + 1];
	for (i = 0; i < in->n_links; i++)
		m->links[m->host_links[in->links[i].host + 1]++] = (uint32_t)i;
}

/* The link from a switch to a host: its index, PLAN_NONE, or n_links where all are linked. */
static uint32_t find_link(const struct maker *m, uint32_t host, uint32_t sw)
{
	uint32_t i;

	if (!m->in->n_links)
		return 0;
	for (i = m->host_links[host]; i < m->host_links[host + 1]; i++)
		if (m->in->links[m->links[i]].sw == sw)
			return m->links[i];
	return PLAN_NONE;
}

static uint32_t now_of(const struct plan_workload *w, uint32_t pool)
{
	size_t i;

	for (i = 0; i < w->n_now; i++)
		if (w->now[i].pool == pool)
			return w->now[i].gpus;
	return 0;
}

/* GPUs of a choice that it has use for, or has. */
static uint32_t most_of(const struct maker *m, const struct plan_workload *w, size_t choice)
{
	const struct plan_instance *in = m->in;
	uint32_t most = 0, now = 0;
	size_t t, i;

	for (t = 0; t < in->n_intervals; t++)
		if (w->choices[choice].need[t] > most)
			most = w->choices[choice].need[t];
	most = min_u32(most, in->hosts[w->host].slots);
	if (w->tenant != PLAN_NONE)
		most = min_u32(most, in->tenants[w->tenant].limit);
	for (i = 0; i < w->n_now; i++)
		if (in->pools[w->now[i].pool].kind == w->choices[choice].kind)
			now += w->now[i].gpus;
	return now > most ? now : most;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The sizes that a gang can have: those it needs at some time, and what it has. */
static void add_sizes(const struct maker *m, const struct plan_workload *w, struct shape *s,
		      size_t choice)
{
	uint32_t *all = mem_zalloc(m->in->n_intervals + 1, sizeof(*all)), now = 0;
	size_t n = 0, i, k = 0;

	for (i = 0; i < m->in->n_intervals; i++)
		if (w->choices[choice].need[i] &&
		    w->choices[choice].need[i] <= s->total_max[choice])
			all[n++] = w->choices[choice].need[i];
	for (i = 0; i < w->n_now; i++)
		if (m->in->pools[w->now[i].pool].kind == w->choices[choice].kind)
			now += w->now[i].gpus;
	if (now)
		all[n++] = now;
	qsort(all, n, sizeof(*all), by_number);
	for (i = 0; i < n; i++)
		if (!i || all[i] != all[i - 1])
			all[k++] = all[i];
	s->sizes[choice] = all;
	s->n_sizes[choice] = k;
}

static int add_pool(struct maker *m, const struct plan_workload *w, struct shape *s, uint32_t q,
		    uint16_t choice)
{
	const struct plan_instance *in = m->in;
	const struct plan_pool *p = &in->pools[q];
	uint32_t link = find_link(m, w->host, p->sw), gpus, now = now_of(w, q);
	size_t i;

	if (link == PLAN_NONE && !now)
		return 0;
	gpus = min_u32(p->gpus, s->total_max[choice]);
	if (link == PLAN_NONE)
		gpus = 0;
	else if (in->n_links && w->lanes && in->links[link].lanes != PLAN_NONE)
		gpus = min_u32(gpus, in->links[link].lanes / w->lanes);
	if (now > gpus)
		gpus = now;
	if (!gpus)
		return 0;
	if (s->n_pools == SHAPE_POOLS_MAX)
		return fault_set(m->fault, EINVAL,
				 "workload %s can use more than %u pools: say by links which ones its host has",
				 w->name, SHAPE_POOLS_MAX);
	for (i = 0; i < s->n_switches && s->switches[i] != p->sw;)
		i++;
	if (i == s->n_switches)
		s->switches[s->n_switches++] = p->sw;
	s->pools[s->n_pools++] = (struct shape_pool){ q, choice, (uint16_t)i, gpus };
	return 0;
}

static int model_make_describe(struct maker *m, const struct plan_workload *w, struct shape *s)
{
	const struct plan_instance *in = m->in;
	size_t i, q;
	int err;

	s->n_choices = w->n_choices;
	s->span = w->span;
	s->pools = mem_zalloc(SHAPE_POOLS_MAX, sizeof(*s->pools));
	s->switches = mem_zalloc(SHAPE_POOLS_MAX, sizeof(*s->switches));
	s->total_max = mem_zalloc(w->n_choices, sizeof(*s->total_max));
	if (w->gang) {
		s->sizes = mem_zalloc(w->n_choices, sizeof(*s->sizes));
		s->n_sizes = mem_zalloc(w->n_choices, sizeof(*s->n_sizes));
	}
	for (i = 0; i < w->n_choices; i++) {
		s->total_max[i] = most_of(m, w, i);
		if (w->gang)
			add_sizes(m, w, s, i);
		for (q = 0; q < in->n_pools; q++) {
			if (in->pools[q].kind != w->choices[i].kind)
				continue;
			err = add_pool(m, w, s, (uint32_t)q, (uint16_t)i);
			if (err)
				return err;
		}
	}
	return 0;
}

static size_t hash(const struct shape *s)
{
	uint64_t h = 1469598103934665603ull;
	size_t i;

	for (i = 0; i < s->n_pools; i++)
		h = (h ^ (s->pools[i].pool * 131071ull + s->pools[i].gpus)) * 1099511628211ull;
	return (size_t)(h >> 20) % BUCKETS;
}

/* The shape of a workload, a new one or one that another has as well. */
static int make_shape(struct maker *m, const struct plan_workload *w, struct shape **found)
{
	struct shape *s = mem_zalloc(1, sizeof(*s)), *old;
	size_t h;
	int err;

	err = model_make_describe(m, w, s);
	if (err) {
		shape_free(s);
		return err;
	}
	h = hash(s);
	for (old = m->buckets[h]; old && !shape_same(old, s);)
		old = old->next;
	if (old) {
		shape_free(s);
		*found = old;
		return 0;
	}
	if (shape_complete(s)) {
		shape_free(s);
		return fault_set(m->fault, EINVAL,
				 "workload %s has more than %u configurations: fewer GPUs, pools or a smaller span",
				 w->name, SHAPE_CONFIGS_MAX);
	}
	s->next = m->buckets[h];
	m->buckets[h] = s;
	m->model->n_shapes++;
	*found = s;
	return 0;
}

static void make_costs(struct maker *m, struct model_workload *mw)
{
	const struct plan_instance *in = m->in;
	const struct shape *s = mw->shape;
	size_t i;

	mw->pools = mem_zalloc(s->n_pools ? s->n_pools : 1, sizeof(*mw->pools));
	for (i = 0; i < s->n_pools; i++) {
		const struct plan_pool *p = &in->pools[s->pools[i].pool];
		const struct plan_kind *kind = &in->kinds[p->kind];
		const struct model_power *power = &m->model->power[s->pools[i].pool];
		uint32_t link = find_link(m, mw->w->host, p->sw);
		struct model_pool *mp = &mw->pools[i];

		mp->up = p->attach_s + mw->w->weight * mw->w->load_s;
		mp->down = p->detach_s;
		mp->use = (kind->busy_w - kind->idle_w) * in->interval_s * in->energy_cost;
		if (power->wake <= 0)
			mp->use += power->on;
		if (in->n_links && link != PLAN_NONE)
			mp->use += in->links[link].locality * in->interval_s;
	}
	mw->scale = mw->w->weight * in->interval_s;
	mw->deficit = m->model->deficit;
}

static void make_power(struct model *model)
{
	const struct plan_instance *in = model->in;
	size_t q;

	model->power = mem_zalloc(in->n_pools ? in->n_pools : 1, sizeof(*model->power));
	for (q = 0; q < in->n_pools; q++) {
		const struct plan_kind *kind = &in->kinds[in->pools[q].kind];

		model->power[q].on =
			(kind->idle_w - kind->off_w) * in->interval_s * in->energy_cost;
		model->power[q].wake = kind->wake_j * in->energy_cost;
		model->off += kind->off_w * in->interval_s * in->energy_cost * in->pools[q].gpus *
			      in->n_intervals;
	}
}

/* What one workload could ask of each limit at most. */
static void add_most(struct maker *m, const struct model_workload *mw)
{
	const struct plan_instance *in = m->in;
	const struct shape *s = mw->shape;
	uint32_t most = 0, link;
	size_t i;

	for (i = 0; i < s->n_choices; i++)
		if (s->total_max[i] > most)
			most = s->total_max[i];
	for (i = 0; i < s->n_pools; i++) {
		const struct plan_pool *p = &in->pools[s->pools[i].pool];

		m->most[ROW_POOL][s->pools[i].pool] += s->pools[i].gpus;
		m->most[ROW_ATTACH][p->sw] += s->pools[i].gpus;
		link = find_link(m, mw->w->host, p->sw);
		if (in->n_links && link != PLAN_NONE)
			m->most[ROW_LINK][link] += (uint64_t)s->pools[i].gpus * mw->w->lanes;
	}
	m->most[ROW_HOST][mw->w->host] += most;
	if (mw->w->tenant != PLAN_NONE)
		m->most[ROW_LIMIT][mw->w->tenant] += most;
}

static void model_make_add_row(struct maker *m, enum model_row_kind kind, size_t index,
			       uint32_t cap)
{
	struct model *model = m->model;

	model->rows = mem_grow(model->rows, model->n_rows + 1, sizeof(*model->rows));
	model->rows[model->n_rows] =
		(struct model_row){ .kind = kind, .index = (uint32_t)index, .cap = cap };
	m->row[kind][index] = (uint32_t)model->n_rows++;
}

/* What a tenant is guaranteed, as far as it needs it. */
static void make_want(const struct maker *m, uint32_t tenant, uint32_t *want)
{
	const struct plan_instance *in = m->in;
	size_t w, t;

	for (w = 0; w < in->n_workloads; w++)
		if (in->workloads[w].tenant == tenant)
			for (t = 0; t < in->n_intervals; t++)
				want[t] += in->workloads[w].choices[0].need[t];
	for (t = 0; t < in->n_intervals; t++)
		want[t] = min_u32(want[t], in->tenants[tenant].guarantee);
}

static void add_guarantees(struct maker *m)
{
	const struct plan_instance *in = m->in;
	size_t i, w;

	if (m->model->deficit <= 0)
		return;
	for (i = 0; i < in->n_tenants; i++) {
		uint32_t *want;

		if (!in->tenants[i].guarantee || !m->tenant_workloads[i])
			continue;
		want = mem_zalloc(in->n_intervals, sizeof(*want));
		make_want(m, (uint32_t)i, want);
		if (m->tenant_workloads[i] > 1) {
			model_make_add_row(m, ROW_GUARANTEE, i, 0);
			m->model->rows[m->model->n_rows - 1].want = want;
			continue;
		}
		for (w = 0; in->workloads[w].tenant != i;)
			w++;
		m->model->workloads[w].want = want;
	}
}

static void add_rows(struct maker *m)
{
	const struct plan_instance *in = m->in;
	struct model *model = m->model;
	size_t i;

	for (i = 0; i < in->n_pools; i++)
		if (m->most[ROW_POOL][i] > in->pools[i].gpus || model->power[i].wake > 0)
			model_make_add_row(m, ROW_POOL, i, in->pools[i].gpus);
	for (i = 0; i < in->n_hosts; i++)
		if (m->most[ROW_HOST][i] > in->hosts[i].slots)
			model_make_add_row(m, ROW_HOST, i, in->hosts[i].slots);
	for (i = 0; i < in->n_links; i++)
		if (m->most[ROW_LINK][i] > in->links[i].lanes)
			model_make_add_row(m, ROW_LINK, i, in->links[i].lanes);
	for (i = 0; i < in->n_tenants; i++)
		if (m->most[ROW_LIMIT][i] > in->tenants[i].limit)
			model_make_add_row(m, ROW_LIMIT, i, in->tenants[i].limit);
	for (i = 0; i < in->n_switches; i++)
		if (m->most[ROW_ATTACH][i] > in->switches[i].attach_max)
			model_make_add_row(m, ROW_ATTACH, i, in->switches[i].attach_max);
	add_guarantees(m);
	for (i = 0; i < in->n_pools; i++)
		model->power[i].row = model->power[i].wake > 0 ? m->row[ROW_POOL][i] : PLAN_NONE;
}

static void tie_rows(struct maker *m, struct model_workload *mw)
{
	const struct plan_workload *w = mw->w;
	const struct shape *s = mw->shape;
	size_t i;

	mw->row_host = m->row[ROW_HOST][w->host];
	mw->row_limit = w->tenant == PLAN_NONE ? PLAN_NONE : m->row[ROW_LIMIT][w->tenant];
	mw->row_guarantee = w->tenant == PLAN_NONE ? PLAN_NONE : m->row[ROW_GUARANTEE][w->tenant];
	for (i = 0; i < s->n_pools; i++) {
		uint32_t q = s->pools[i].pool;
		uint32_t link = find_link(m, w->host, m->in->pools[q].sw);

		mw->pools[i].row_pool = m->row[ROW_POOL][q];
		mw->pools[i].row_link = m->in->n_links && w->lanes && link != PLAN_NONE ?
						m->row[ROW_LINK][link] :
						PLAN_NONE;
	}
	mw->row_attach = mem_zalloc(s->n_switches ? s->n_switches : 1, sizeof(*mw->row_attach));
	for (i = 0; i < s->n_switches; i++)
		mw->row_attach[i] = m->row[ROW_ATTACH][s->switches[i]];
}

/* What is kept cannot be planned away: it has to be possible. */
static int check_kept(struct maker *m)
{
	static const char *const words[] = {
		[ROW_POOL] = "GPUs of a pool",
		[ROW_HOST] = "GPUs of a host",
		[ROW_LINK] = "lanes of an uplink",
		[ROW_LIMIT] = "GPUs of a tenant",
	};
	struct model *model = m->model;
	uint64_t *kept = mem_zalloc(model->n_rows ? model->n_rows : 1, sizeof(*kept));
	size_t w, i;
	int err = 0;

	for (w = 0; w < m->in->n_workloads; w++) {
		const struct model_workload *mw = &model->workloads[w];
		const struct shape_config *c = &mw->shape->configs[mw->start];

		if (!mw->w->keep)
			continue;
		for (i = 0; i < c->n; i++) {
			const struct model_pool *p = &mw->pools[c->pool[i]];

			if (p->row_pool != PLAN_NONE)
				kept[p->row_pool] += c->gpus[i];
			if (p->row_link != PLAN_NONE)
				kept[p->row_link] += (uint64_t)c->gpus[i] * mw->w->lanes;
		}
		if (mw->row_host != PLAN_NONE)
			kept[mw->row_host] += c->total;
		if (mw->row_limit != PLAN_NONE)
			kept[mw->row_limit] += c->total;
	}
	for (i = 0; i < model->n_rows && !err; i++)
		if (model->rows[i].kind <= ROW_LIMIT && kept[i] > model->rows[i].cap)
			err = fault_set(m->fault, EINVAL,
					"workloads with keep hold %llu %s, the limit is %u",
					(unsigned long long)kept[i], words[model->rows[i].kind],
					model->rows[i].cap);
	free(kept);
	return err;
}

static int make_workloads(struct maker *m)
{
	const struct plan_instance *in = m->in;
	struct model *model = m->model;
	size_t w;
	int err;

	for (w = 0; w < in->n_workloads; w++) {
		struct model_workload *mw = &model->workloads[w];

		mw->w = &in->workloads[w];
		err = make_shape(m, mw->w, &mw->shape);
		if (err)
			return err;
		make_costs(m, mw);
		mw->start = (uint32_t)shape_find(mw->shape, mw->w->now, mw->w->n_now);
		add_most(m, mw);
		if (mw->w->tenant != PLAN_NONE)
			m->tenant_workloads[mw->w->tenant]++;
		if (mw->shape->n > model->configs_max)
			model->configs_max = mw->shape->n;
		if (mw->shape->n_pools > model->pools_max)
			model->pools_max = mw->shape->n_pools;
	}
	add_rows(m);
	for (w = 0; w < in->n_workloads; w++)
		tie_rows(m, &model->workloads[w]);
	if ((uint64_t)model->configs_max * in->n_intervals > CELLS_MAX)
		return fault_set(m->fault, EINVAL, "%zu configurations in %zu intervals: too many",
				 model->configs_max, in->n_intervals);
	return check_kept(m);
}

/* One list of all shapes, in an order that depends on nothing but the instance. */
static void collect_shapes(struct maker *m)
{
	size_t b;

	for (b = 0; b < BUCKETS; b++) {
		while (m->buckets[b]) {
			struct shape *s = m->buckets[b];

			m->buckets[b] = s->next;
			s->next = m->model->shapes;
			m->model->shapes = s;
		}
	}
}

int model_make(struct model *model, const struct plan_instance *in, struct fault *fault)
{
	const size_t counts[] = { in->n_pools,	 in->n_hosts,	 in->n_links,
				  in->n_tenants, in->n_switches, in->n_tenants };
	struct maker m = { .model = model, .in = in, .fault = fault };
	size_t k, i;
	int err;

	memset(model, 0, sizeof(*model));
	model->in = in;
	model->deficit = in->deficit_weight * in->interval_s;
	model->workloads =
		mem_zalloc(in->n_workloads ? in->n_workloads : 1, sizeof(*model->workloads));
	m.buckets = mem_zalloc(BUCKETS, sizeof(*m.buckets));
	m.tenant_workloads = mem_zalloc(in->n_tenants + 1, sizeof(*m.tenant_workloads));
	for (k = 0; k <= ROW_GUARANTEE; k++) {
		m.most[k] = mem_zalloc(counts[k] + 1, sizeof(*m.most[k]));
		m.row[k] = mem_zalloc(counts[k] + 1, sizeof(*m.row[k]));
		for (i = 0; i <= counts[k]; i++)
			m.row[k][i] = PLAN_NONE;
	}
	sort_links(&m);
	make_power(model);
	err = make_workloads(&m);
	if (!err)
		model->grain = grain_of(model);
	collect_shapes(&m);
	for (k = 0; k <= ROW_GUARANTEE; k++) {
		free(m.most[k]);
		free(m.row[k]);
	}
	free(m.tenant_workloads);
	free(m.buckets);
	free(m.host_links);
	free(m.links);
	return err;
}

void model_free(struct model *model)
{
	size_t i;

	for (i = 0; i < model->in->n_workloads; i++) {
		free(model->workloads[i].pools);
		free(model->workloads[i].row_attach);
		free(model->workloads[i].want);
	}
	for (i = 0; i < model->n_rows; i++)
		free(model->rows[i].want);
	while (model->shapes) {
		struct shape *s = model->shapes;

		model->shapes = s->next;
		shape_free(s);
	}
	free(model->workloads);
	free(model->power);
	free(model->rows);
}
