// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan replay: traces of jobs. */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "cmd/plan_replay.h"
#include "plan/replay/hosts.h"
#include "plan/replay/jobs_score.h"
#include "plan/replay/picture.h"
#include "plan/replay/policy.h"

#define DAY_S 86400
#define BOUND_SWEEPS 60

static const struct out_column policy_columns[] = {
	{ "policy", NULL, 0 },
	{ NULL, "POLICY", 0 },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "jct_mean_s", NULL, 0 },
	{ NULL, "JCT MEAN h", OUT_RIGHT },
	{ "jct_median_s", NULL, 0 },
	{ NULL, "MEDIAN h", OUT_RIGHT },
	{ "jct_p95_s", NULL, 0 },
	{ NULL, "P95 h", OUT_RIGHT },
	{ "jct_over_duration", "/RUN", OUT_RIGHT },
	{ "jct_over_bound", "/BOUND", OUT_RIGHT },
	{ "jct_over_greedy", "/GREEDY", OUT_RIGHT },
	{ "wide_jct_s", NULL, 0 },
	{ NULL, "WIDE h", OUT_RIGHT },
	{ "wide_over_easy", "/EASY", OUT_RIGHT },
	{ "makespan_s", NULL, 0 },
	{ "makespan_over_bound", "MAKESPAN", OUT_RIGHT },
	{ "utilisation", "USED", OUT_RIGHT },
	{ "attaches_day", "ATTACHES/d", OUT_RIGHT | OUT_OPTIONAL },
	{ "worst_tenant_over_static", "WORST TENANT", OUT_RIGHT | OUT_OPTIONAL },
	{ "worst_tenant", "OF", OUT_OPTIONAL },
	{ "jain_index", "JAIN", OUT_RIGHT | OUT_OPTIONAL },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "idle_kwh", NULL, 0 },
	{ "host_kwh", NULL, 0 },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ "energy_cost", "COST", OUT_RIGHT | OUT_OPTIONAL },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static const struct out_column trace_columns[] = {
	{ "jobs", "jobs", 0 },
	{ "scored", "scored", 0 },
	{ "wide", "of 8 GPUs or more", 0 },
	{ "tenants", "tenants", 0 },
	{ "pool", "GPUs", 0 },
	{ "jct_bound_s", "bound of the mean JCT, s", 0 },
	{ "makespan_bound_s", "bound of the makespan, s", 0 },
	{ "equal_jct_static_gpus", "static GPUs for our JCT", OUT_OPTIONAL },
	{ "equal_jct_ratio", "over those of the pool", OUT_OPTIONAL },
	{ "avoided_kwh", "kWh avoided", OUT_OPTIONAL },
	{ "counterfactual", "against", OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static const struct out_column tenant_columns[] = {
	{ "tenant", "TENANT", 0 },
	{ "static_gpus", "OWN GPUS", OUT_RIGHT | OUT_OPTIONAL },
	{ "jct_static_s", "STATIC JCT s", OUT_RIGHT | OUT_OPTIONAL },
	{ "jct_ours_s", "OUR JCT s", OUT_RIGHT },
	{ "over_static", "OURS/STATIC", OUT_RIGHT | OUT_OPTIONAL },
	{ "gpu_hours", "GPU HOURS", OUT_RIGHT },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static const struct out_column day_columns[] = {
	{ "day", "DAY", OUT_RIGHT },
	{ "gpu_hours", "GPU HOURS", OUT_RIGHT },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

/**
 * struct result - of one policy
 * @start: of each job
 * @tenant: mean completion time of each
 * @gpus: of its pool
 */
struct result {
	const char *name;
	const char *title;
	int64_t *start;
	double *tenant;
	uint32_t gpus;
	struct jobs_score score;
};

enum which {
	STATIC,
	FIFO,
	EASY,
	GREEDY,
	SJF,
	HOLD,
	OURS,
	RESULTS
};

/**
 * struct jobs_replay - all of a run
 * @from: scored from here on
 * @hosts: of the static division; its gpus are NULL where the pool is too small for it
 * @worst_bound: of the tenant that fares worst against its own hosts
 */
struct jobs_replay {
	const struct replay *r;
	const struct jobs *jobs;
	int64_t from;
	struct hosts hosts;
	struct result results[RESULTS];
	double mean_bound, makespan_bound, worst_bound;
};

static void plan_replay_jobs_finish(const struct jobs_replay *p, struct result *res, int64_t *start,
				    uint32_t gpus, const char *name, const char *title)
{
	res->name = name;
	res->title = title;
	res->start = start;
	res->gpus = gpus;
	res->tenant = mem_zalloc(p->jobs->n_tenants, sizeof(*res->tenant));
	jobs_score(p->jobs, start, gpus, p->from, &res->score);
	jobs_tenant_means(p->jobs, start, p->from, res->tenant);
}

static void run_static(struct jobs_replay *p)
{
	int64_t *start;

	if (!hosts_divide(&p->hosts, p->jobs, p->r->pool, p->r->host, p->from))
		return;
	start = mem_zalloc(p->jobs->n, sizeof(*start));
	hosts_run(&p->hosts, p->jobs, start);
	plan_replay_jobs_finish(p, &p->results[STATIC], start, p->r->pool, "static",
				"static hosts, EASY");
	p->results[STATIC].score.attaches_day = 0;
}

static void plan_replay_jobs_run_policies(struct jobs_replay *p)
{
	const struct policy *const policies[RESULTS] = {
		[FIFO] = &policy_fifo,	   [EASY] = &policy_easy,
		[GREEDY] = &policy_greedy, [SJF] = &policy_sjf,
		[HOLD] = &policy_hold,	   [OURS] = p->r->known ? &policy_ours_known : &policy_ours,
	};
	size_t i;

	run_static(p);
	for (i = 0; i < RESULTS; i++) {
		int64_t *start;

		if (!policies[i])
			continue;
		start = mem_zalloc(p->jobs->n, sizeof(*start));
		cluster_run(p->jobs, p->r->pool, policies[i], p->hosts.gpus, start);
		plan_replay_jobs_finish(p, &p->results[i], start, p->r->pool, policies[i]->name,
					policies[i]->title);
	}
}

/* The energy until the last job has ended; GPUs that nobody uses stay on. */
static struct energy energy_until_end(const struct jobs_replay *p, const struct result *res,
				      double *busy)
{
	double all = res->score.makespan * res->gpus;
	int64_t first = p->jobs->job[0].submit;

	*busy = jobs_busy(p->jobs, res->start, first, INT64_MAX, UINT32_MAX);
	return energy_of(&p->r->energy, *busy, all - *busy, 0);
}

static double worst_tenant(const struct jobs_replay *p, const struct result *res, size_t *who)
{
	const struct result *own = &p->results[STATIC];
	double worst = 0, ratio;
	size_t i;

	for (i = 0; i < p->jobs->n_tenants; i++) {
		ratio = own->tenant[i] > 0 ? res->tenant[i] / own->tenant[i] : 0;
		if (ratio > worst) {
			worst = ratio;
			*who = i;
		}
	}
	return worst;
}

/*
 * How alike tenants fare: Jain's index of each one's completion time over that on hosts of its
 * own, which is Themis' finish-time fairness. 1 when all fare alike, 1/n when one has it all.
 */
static double jain_index(const struct jobs_replay *p, const struct result *res)
{
	const struct result *own = &p->results[STATIC];
	double sum = 0, squares = 0, ratio;
	size_t i, n = 0;

	for (i = 0; i < p->jobs->n_tenants; i++) {
		if (own->tenant[i] <= 0)
			continue;
		ratio = res->tenant[i] / own->tenant[i];
		sum += ratio;
		squares += ratio * ratio;
		n++;
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}

/* The static division is a schedule on the pool, too, so the bound is never above 1. */
static double worst_bound(const struct jobs_replay *p)
{
	double near = 1;
	size_t who, i;

	for (i = 0; i < RESULTS; i++)
		if (p->results[i].start)
			near = fmin(near, worst_tenant(p, &p->results[i], &who));
	return jobs_worst_bound(p->jobs, p->r->pool, p->from, p->results[STATIC].tenant, near,
				BOUND_SWEEPS);
}

static void put_hours(struct out_table *t, const char *name, const char *title, double seconds)
{
	out_real(t, name, seconds, 1);
	out_strf(t, title, "%.2f", seconds / 3600);
}

static void plan_replay_jobs_print_energy(const struct jobs_replay *p, struct out_table *t,
					  const struct result *res)
{
	double busy;
	struct energy e = energy_until_end(p, res, &busy);

	out_real(t, "kwh", e.house_kwh, 0);
	out_real(t, "idle_kwh", e.idle_kwh * p->r->energy.pue, 0);
	out_real(t, "host_kwh", e.host_kwh * p->r->energy.pue, 0);
	out_real(t, "co2_kg", e.co2_kg, 0);
	out_real(t, "kwh_per_gpu_hour", energy_per_gpu_hour(&e, busy), 4);
	if (p->r->energy.price > 0)
		out_real(t, "energy_cost", e.cost, 2);
}

static void plan_replay_jobs_print_result(const struct jobs_replay *p, struct out_table *t,
					  const struct result *res)
{
	const struct jobs_score *s = &res->score;
	double worst;
	size_t who = 0;

	out_row(t);
	out_str(t, "policy", res->name);
	out_str(t, "POLICY", res->title);
	out_uint(t, "gpus", res->gpus);
	put_hours(t, "jct_mean_s", "JCT MEAN h", s->mean);
	put_hours(t, "jct_median_s", "MEDIAN h", s->median);
	put_hours(t, "jct_p95_s", "P95 h", s->p95);
	out_real(t, "jct_over_duration", s->ratio, 4);
	if (p->mean_bound > 0)
		out_real(t, "jct_over_bound", s->mean / p->mean_bound, 4);
	if (p->results[GREEDY].score.mean > 0)
		out_real(t, "jct_over_greedy", s->mean / p->results[GREEDY].score.mean, 4);
	if (s->wide) {
		put_hours(t, "wide_jct_s", "WIDE h", s->wide_mean);
		out_real(t, "wide_over_easy", s->wide_mean / p->results[EASY].score.wide_mean, 4);
	}
	out_real(t, "makespan_s", s->makespan, 0);
	out_real(t, "makespan_over_bound", s->makespan / p->makespan_bound, 4);
	out_real(t, "utilisation", s->utilisation, 4);
	out_real(t, "attaches_day", s->attaches_day, 1);
	if (p->hosts.gpus) {
		worst = worst_tenant(p, res, &who);
		out_real(t, "worst_tenant_over_static", worst, 4);
		out_str(t, "worst_tenant", p->jobs->tenants[who]);
		out_real(t, "jain_index", jain_index(p, res), 4);
	}
	plan_replay_jobs_print_energy(p, t, res);
}

static void print_bound(const struct jobs_replay *p, struct out_table *t)
{
	out_row(t);
	out_str(t, "policy", "bound");
	out_str(t, "POLICY", "bound");
	out_uint(t, "gpus", p->r->pool);
	put_hours(t, "jct_mean_s", "JCT MEAN h", p->mean_bound);
	out_real(t, "jct_over_duration", p->mean_bound / p->results[OURS].score.duration, 4);
	out_real(t, "jct_over_bound", 1, 4);
	out_real(t, "makespan_s", p->makespan_bound, 0);
	out_real(t, "makespan_over_bound", 1, 4);
	if (p->hosts.gpus)
		out_real(t, "worst_tenant_over_static", p->worst_bound, 4);
}

/* The smallest static pool whose mean is no worse than ours, in whole hosts; 0: none is. */
static uint32_t equal_jct(const struct jobs_replay *p)
{
	int64_t *start = mem_zalloc(p->jobs->n, sizeof(*start));
	uint32_t low = 0, host = p->r->host, most = JOBS_GPUS_MAX / host, high = most;
	uint32_t first = p->r->pool / host;

	while (low + 1 < high) {
		uint32_t hosts = first > low && first < high ? first : (low + high) / 2;
		struct jobs_score s = { .mean = 0 };
		struct hosts h;
		bool good = false;

		first = 0;
		if (hosts_divide(&h, p->jobs, hosts * host, host, p->from)) {
			hosts_run(&h, p->jobs, start);
			hosts_free(&h);
			jobs_score(p->jobs, start, hosts * host, p->from, &s);
			good = s.mean <= p->results[OURS].score.mean;
		}
		if (good)
			high = hosts;
		else
			low = hosts;
	}
	free(start);
	return high == most ? 0 : high * host;
}

static void plan_replay_jobs_print_trace(struct ctl_ctx *ctx, const struct jobs_replay *p)
{
	struct out_table *t = out_table(ctx->out, "trace", trace_columns, OUT_SINGLE);
	const struct result *ours = &p->results[OURS], *own = &p->results[STATIC];
	uint32_t gpus = p->r->equal_jct ? equal_jct(p) : 0;
	double busy;

	out_row(t);
	out_uint(t, "jobs", p->jobs->n);
	out_uint(t, "scored", ours->score.n);
	out_uint(t, "wide", ours->score.wide);
	out_uint(t, "tenants", p->jobs->n_tenants);
	out_uint(t, "pool", p->r->pool);
	out_real(t, "jct_bound_s", p->mean_bound, 1);
	out_real(t, "makespan_bound_s", p->makespan_bound, 0);
	if (gpus) {
		out_uint(t, "equal_jct_static_gpus", gpus);
		out_real(t, "equal_jct_ratio", (double)gpus / p->r->pool, 3);
	}
	if (!p->hosts.gpus)
		return;
	out_real(t, "avoided_kwh",
		 energy_until_end(p, own, &busy).house_kwh -
			 energy_until_end(p, ours, &busy).house_kwh,
		 0);
	out_str(t, "counterfactual", "static hosts with as many GPUs, until the last job ends");
}

static void plan_replay_jobs_print_tenants(struct ctl_ctx *ctx, const struct jobs_replay *p)
{
	struct out_table *t = out_table(ctx->out, "tenants", tenant_columns, OUT_TABLE);
	const struct result *ours = &p->results[OURS], *own = &p->results[STATIC];
	size_t i;

	for (i = 0; i < p->jobs->n_tenants; i++) {
		double busy = jobs_busy(p->jobs, ours->start, p->from, INT64_MAX, (uint32_t)i);
		struct energy e = energy_of(&p->r->energy, busy, 0, 0);

		out_row(t);
		out_str(t, "tenant", p->jobs->tenants[i]);
		if (p->hosts.gpus) {
			out_uint(t, "static_gpus", p->hosts.gpus[i]);
			out_real(t, "jct_static_s", own->tenant[i], 0);
			if (own->tenant[i] > 0)
				out_real(t, "over_static", ours->tenant[i] / own->tenant[i], 4);
		}
		out_real(t, "jct_ours_s", ours->tenant[i], 0);
		out_real(t, "gpu_hours", busy / 3600, 1);
		out_real(t, "kwh", e.house_kwh, 1);
		out_real(t, "co2_kg", e.co2_kg, 1);
	}
}

static void plan_replay_jobs_print_days(struct ctl_ctx *ctx, const struct jobs_replay *p)
{
	struct out_table *t = out_table(ctx->out, "days", day_columns, OUT_TABLE);
	int64_t last = p->jobs->job[p->jobs->n - 1].submit, at;
	const int64_t *start = p->results[OURS].start;

	for (at = p->from; at < last; at += DAY_S) {
		double busy = jobs_busy(p->jobs, start, at, at + DAY_S, UINT32_MAX);
		struct energy e =
			energy_of(&p->r->energy, busy, (double)p->r->pool * DAY_S - busy, 0);

		out_row(t);
		out_int(t, "day", at / DAY_S);
		out_real(t, "gpu_hours", busy / 3600, 1);
		out_real(t, "kwh", e.house_kwh, 1);
		out_real(t, "co2_kg", e.co2_kg, 1);
		out_real(t, "kwh_per_gpu_hour", energy_per_gpu_hour(&e, busy), 4);
	}
}

static void print_all(struct ctl_ctx *ctx, const struct jobs_replay *p)
{
	struct out_table *t;
	size_t i;

	plan_replay_jobs_print_trace(ctx, p);
	t = out_table(ctx->out, "policies", policy_columns, OUT_TABLE);
	for (i = 0; i < RESULTS; i++)
		if (p->results[i].start)
			plan_replay_jobs_print_result(p, t, &p->results[i]);
	print_bound(p, t);
	if (out_is_json(ctx->out) || p->r->per) {
		plan_replay_jobs_print_tenants(ctx, p);
		plan_replay_jobs_print_days(ctx, p);
	}
	if (!p->hosts.gpus)
		out_note(ctx->out, "remarks", "",
			 "%u GPUs are too few to give each tenant hosts for its widest job: no static division, no guarantees",
			 p->r->pool);
	replay_energy_note(ctx, p->r);
}

/* Adds @gpus to each hour between two times. */
static void add_hours(double *hours, size_t n, int64_t first, int64_t from, int64_t to, double gpus)
{
	int64_t at = from, end;
	size_t i;

	for (i = (size_t)((from - first) / 3600); i < n && at < to; i++, at = end) {
		end = first + (int64_t)(i + 1) * 3600;
		end = end < to ? end : to;
		hours[i] += gpus * (double)(end - at) / 3600;
	}
}

/* Wanted is what runs or waits; hour by hour until the last submission. */
static int plan_replay_jobs_draw(struct ctl_ctx *ctx, const struct jobs_replay *p)
{
	int64_t first = p->jobs->job[0].submit, last = p->jobs->job[p->jobs->n - 1].submit;
	const int64_t *start = p->results[OURS].start;
	struct picture pic = { .title = "Jobs, our policy", .unit = "h", .pool = p->r->pool };
	double *demand, *given, *moves;
	size_t i;
	int ret;

	pic.n = (size_t)((last - first) / 3600) + 1;
	demand = mem_zalloc(pic.n, sizeof(*demand));
	given = mem_zalloc(pic.n, sizeof(*given));
	moves = mem_zalloc(pic.n, sizeof(*moves));
	for (i = 0; i < p->jobs->n; i++) {
		const struct job *j = &p->jobs->job[i];

		add_hours(demand, pic.n, first, j->submit, start[i] + j->duration, j->gpus);
		add_hours(given, pic.n, first, start[i], start[i] + j->duration, j->gpus);
	}
	jobs_attaches_hourly(p->jobs, start, p->r->pool, moves, pic.n);
	pic.demand = demand;
	pic.allocated = given;
	pic.moves = moves;
	ret = replay_draw(ctx, p->r, picture_svg(&pic));
	free(demand);
	free(given);
	free(moves);
	return ret;
}

int replay_jobs(struct ctl_ctx *ctx, const struct replay *r, const struct jobs *jobs)
{
	struct jobs_replay p = { .r = r, .jobs = jobs };
	int ret = CTL_DONE;
	size_t i;

	/* whole days, whatever second the first job came in */
	p.from = jobs->job[0].submit / DAY_S * DAY_S + r->warm_s;
	if (p.from > jobs->job[jobs->n - 1].submit)
		return ctl_fail(ctx, CTL_USAGE,
				"the trace ends before the warm start does: shorten --warm");
	plan_replay_jobs_run_policies(&p);
	p.makespan_bound = jobs_makespan_bound(jobs, r->pool);
	p.mean_bound =
		jobs_mean_bound(jobs, r->pool, p.from, p.results[SJF].score.mean, BOUND_SWEEPS);
	if (p.hosts.gpus)
		p.worst_bound = worst_bound(&p);
	print_all(ctx, &p);
	if (r->svg)
		ret = plan_replay_jobs_draw(ctx, &p);
	for (i = 0; i < RESULTS; i++) {
		free(p.results[i].start);
		free(p.results[i].tenant);
	}
	hosts_free(&p.hosts);
	return ret;
}
