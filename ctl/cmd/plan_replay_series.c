// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan replay: demand series, one file a tenant. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "cmd/plan_replay.h"
#include "plan/replay/picture.h"
#include "plan/replay/serve.h"

#define BOUND_SWEEPS 100
#define DAY_MIN 1440

static const struct out_column policy_columns[] = {
	{ "policy", NULL, 0 },
	{ NULL, "POLICY", 0 },
	{ "unmet_gpu_minutes", "UNMET GPUmin", OUT_RIGHT },
	{ "unmet", "UNMET", OUT_RIGHT },
	{ "attaches_day", "ATTACHES/d", OUT_RIGHT },
	{ "attaches_over_optimum", "/OPTIMUM", OUT_RIGHT | OUT_OPTIONAL },
	{ "idle_gpu_minutes", NULL, 0 },
	{ "cost_gpu_minutes", "COST GPUmin", OUT_RIGHT },
	{ "cost_over_bound", "/BOUND", OUT_RIGHT },
	{ "utilisation", "USED", OUT_RIGHT | OUT_OPTIONAL },
	{ "worst_tenant_unmet", "WORST UNMET", OUT_RIGHT | OUT_OPTIONAL },
	{ "worst_tenant", "OF", OUT_OPTIONAL },
	{ "kwh", "kWh", OUT_RIGHT | OUT_OPTIONAL },
	{ "kwh_idle_off", NULL, OUT_OPTIONAL },
	{ "co2_kg", "CO2 kg", OUT_RIGHT | OUT_OPTIONAL },
	{ "energy_cost", "COST", OUT_RIGHT | OUT_OPTIONAL },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT | OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static const struct out_column trace_columns[] = {
	{ "tenants", "tenants", 0 },
	{ "minutes", "minutes", 0 },
	{ "scored_minutes", "scored", 0 },
	{ "pool", "GPUs", 0 },
	{ "quota_gpus", "GPUs of all quotas", 0 },
	{ "demand_gpu_minutes", "demand, GPU minutes", 0 },
	{ "avoided_kwh", "kWh avoided", 0 },
	{ "counterfactual", "against", 0 },
	{ NULL, NULL, 0 },
};

static const struct out_column tenant_columns[] = {
	{ "tenant", "TENANT", 0 },
	{ "quota_gpus", "QUOTA", OUT_RIGHT },
	{ "demand_gpu_hours", "WANTED GPUh", OUT_RIGHT },
	{ "unmet_static", "UNMET STATIC", OUT_RIGHT },
	{ "unmet_ours", "UNMET OURS", OUT_RIGHT },
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

enum which {
	STATIC,
	EVERY30,
	EVERY10,
	EVERY5,
	EVERY1,
	HOLD,
	OURS,
	OPTIMUM,
	RESULTS
};

static const struct {
	const char *name;
	const char *title;
} names[RESULTS] = {
	[STATIC] = { "static", "static quotas" },
	[EVERY30] = { "reactive30", "reactive, every 30 min" },
	[EVERY10] = { "reactive10", "reactive, every 10 min" },
	[EVERY5] = { "reactive5", "reactive, every 5 min" },
	[EVERY1] = { "reactive1", "reactive, every minute" },
	[HOLD] = { "hold", "reactive with hold" },
	[OURS] = { "ours", "gpuctl" },
	[OPTIMUM] = { "optimum", "all known beforehand" },
};

/**
 * struct series_replay - all of a run
 * @from: first scored minute
 * @has: of each policy
 */
struct series_replay {
	const struct replay *r;
	const struct series_set *set;
	struct serve_rates rates;
	size_t from;
	int32_t *has[RESULTS];
	struct serve_score score[RESULTS];
	double bound;
};

static uint64_t quotas(const struct series_set *set)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < set->n; i++)
		sum += (uint64_t)set->of[i].quota;
	return sum;
}

static void plan_replay_series_run_policies(struct series_replay *p)
{
	const struct series_set *set = p->set;
	size_t i;

	for (i = 0; i < RESULTS; i++)
		p->has[i] = mem_zalloc(set->n * set->minutes, sizeof(*p->has[i]));
	serve_static(set, p->has[STATIC]);
	serve_reactive(set, &p->rates, 30, 0, p->has[EVERY30]);
	serve_reactive(set, &p->rates, 10, 0, p->has[EVERY10]);
	serve_reactive(set, &p->rates, 5, 0, p->has[EVERY5]);
	serve_reactive(set, &p->rates, 1, 0, p->has[EVERY1]);
	serve_reactive(set, &p->rates, 1, p->r->hold_min, p->has[HOLD]);
	serve_ours(set, &p->rates, p->has[OURS]);
	serve_offline(set, &p->rates, p->has[OPTIMUM]);
	for (i = 0; i < RESULTS; i++)
		serve_score(set, &p->rates, p->has[i], p->from, &p->score[i]);
	p->bound = serve_bound(set, &p->rates, p->from, p->score[OPTIMUM].cost, BOUND_SWEEPS);
}

static double busy_s(const struct serve_score *s)
{
	return (s->demand - s->unmet) * 60;
}

/* GPUs of the quotas belong to somebody; those of a pool that nobody has are off. */
static struct energy energy_result(const struct series_replay *p, enum which i, bool off)
{
	const struct serve_score *s = &p->score[i];
	double all = (double)p->r->pool * s->days * 86400, busy = busy_s(s), idle = all - busy;

	if (i == STATIC)
		idle = s->idle * 60;
	return energy_of(&p->r->energy, busy, off ? 0 : idle, off ? idle : 0);
}

static void plan_replay_series_print_energy(const struct series_replay *p, struct out_table *t,
					    enum which i)
{
	struct energy on = energy_result(p, i, false), off = energy_result(p, i, true);

	out_real(t, "kwh", on.house_kwh, 0);
	out_real(t, "kwh_idle_off", off.house_kwh, 0);
	out_real(t, "co2_kg", on.co2_kg, 0);
	out_real(t, "kwh_per_gpu_hour", energy_per_gpu_hour(&on, busy_s(&p->score[i])), 4);
	if (p->r->energy.price > 0)
		out_real(t, "energy_cost", on.cost, 2);
}

static void plan_replay_series_print_result(const struct series_replay *p, struct out_table *t,
					    enum which i)
{
	const struct serve_score *s = &p->score[i], *best = &p->score[OPTIMUM];
	double gpus = i == STATIC ? (double)quotas(p->set) : p->r->pool;

	out_row(t);
	out_str(t, "policy", names[i].name);
	out_str(t, "POLICY", names[i].title);
	out_real(t, "unmet_gpu_minutes", s->unmet, 0);
	out_real(t, "unmet", s->demand > 0 ? s->unmet / s->demand : 0, 5);
	out_real(t, "attaches_day", s->attaches / s->days, 1);
	if (best->attaches > 0)
		out_real(t, "attaches_over_optimum", s->attaches / best->attaches, 4);
	out_real(t, "idle_gpu_minutes", s->idle, 0);
	out_real(t, "cost_gpu_minutes", s->cost, 1);
	if (p->bound > 0)
		out_real(t, "cost_over_bound", s->cost / p->bound, 4);
	out_real(t, "utilisation", busy_s(s) / (gpus * s->days * 86400), 4);
	out_real(t, "worst_tenant_unmet", s->worst_unmet, 5);
	out_str(t, "worst_tenant", p->set->of[s->worst].name);
	plan_replay_series_print_energy(p, t, i);
}

static void print_policies(struct ctl_ctx *ctx, const struct series_replay *p)
{
	struct out_table *t = out_table(ctx->out, "policies", policy_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < RESULTS; i++)
		plan_replay_series_print_result(p, t, (enum which)i);
	out_row(t);
	out_str(t, "policy", "bound");
	out_str(t, "POLICY", "bound");
	out_real(t, "cost_gpu_minutes", p->bound, 1);
	out_real(t, "cost_over_bound", 1, 4);
}

static void plan_replay_series_print_trace(struct ctl_ctx *ctx, const struct series_replay *p)
{
	struct out_table *t = out_table(ctx->out, "trace", trace_columns, OUT_SINGLE);
	const struct series_set *set = p->set;

	out_row(t);
	out_uint(t, "tenants", set->n);
	out_uint(t, "minutes", set->minutes);
	out_uint(t, "scored_minutes", set->minutes - p->from);
	out_uint(t, "pool", p->r->pool);
	out_uint(t, "quota_gpus", quotas(set));
	out_real(t, "demand_gpu_minutes", p->score[OURS].demand, 0);
	out_real(t, "avoided_kwh",
		 energy_result(p, STATIC, false).house_kwh - energy_result(p, OURS, true).house_kwh,
		 0);
	out_str(t, "counterfactual",
		"static quotas whose idle GPUs stay on; ours switches unused GPUs off");
}

static double tenant_unmet(const struct series_replay *p, enum which which, size_t i)
{
	double unmet = 0, demand = 0;
	size_t t;

	for (t = p->from; t < p->set->minutes; t++) {
		int32_t d = p->set->of[i].demand[t], has = p->has[which][t * p->set->n + i];

		demand += d;
		unmet += d > has ? d - has : 0;
	}
	return demand > 0 ? unmet / demand : 0;
}

/* GPU-seconds that ours served from one minute to another; of a tenant, or of all (n). */
static double served_s(const struct series_replay *p, size_t from, size_t to, size_t tenant)
{
	double sum = 0;
	size_t t, i;

	for (t = from; t < to && t < p->set->minutes; t++)
		for (i = 0; i < p->set->n; i++) {
			int32_t d = p->set->of[i].demand[t];
			int32_t has = p->has[OURS][t * p->set->n + i];

			if (tenant == p->set->n || tenant == i)
				sum += 60.0 * (d < has ? d : has);
		}
	return sum;
}

static void plan_replay_series_print_tenants(struct ctl_ctx *ctx, const struct series_replay *p)
{
	struct out_table *t = out_table(ctx->out, "tenants", tenant_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < p->set->n; i++) {
		double busy = served_s(p, p->from, p->set->minutes, i);
		double ours = tenant_unmet(p, OURS, i);
		struct energy e = energy_of(&p->r->energy, busy, 0, 0);

		out_row(t);
		out_str(t, "tenant", p->set->of[i].name);
		out_int(t, "quota_gpus", p->set->of[i].quota);
		out_real(t, "demand_gpu_hours", ours < 1 ? busy / 3600 / (1 - ours) : 0, 1);
		out_real(t, "unmet_static", tenant_unmet(p, STATIC, i), 5);
		out_real(t, "unmet_ours", ours, 5);
		out_real(t, "kwh", e.house_kwh, 1);
		out_real(t, "co2_kg", e.co2_kg, 1);
	}
}

static void plan_replay_series_print_days(struct ctl_ctx *ctx, const struct series_replay *p)
{
	struct out_table *t = out_table(ctx->out, "days", day_columns, OUT_TABLE);
	size_t at, to;

	for (at = p->from; at < p->set->minutes; at = to) {
		double busy, all;
		struct energy e;

		to = at + DAY_MIN < p->set->minutes ? at + DAY_MIN : p->set->minutes;
		busy = served_s(p, at, to, p->set->n);
		all = (double)p->r->pool * (double)(to - at) * 60;
		e = energy_of(&p->r->energy, busy, all - busy, 0);
		out_row(t);
		out_uint(t, "day", (p->set->first + at) / DAY_MIN);
		out_real(t, "gpu_hours", busy / 3600, 1);
		out_real(t, "kwh", e.house_kwh, 1);
		out_real(t, "co2_kg", e.co2_kg, 1);
		out_real(t, "kwh_per_gpu_hour", energy_per_gpu_hour(&e, busy), 4);
	}
}

/* Hour by hour. */
static int plan_replay_series_draw(struct ctl_ctx *ctx, const struct series_replay *p)
{
	struct picture pic = { .title = "Demand, our policy", .unit = "h", .pool = p->r->pool };
	const struct series_set *set = p->set;
	double *demand, *given, *moves;
	size_t t, i;
	int ret;

	pic.n = (set->minutes + 59) / 60;
	demand = mem_zalloc(pic.n, sizeof(*demand));
	given = mem_zalloc(pic.n, sizeof(*given));
	moves = mem_zalloc(pic.n, sizeof(*moves));
	for (t = 0; t < set->minutes; t++)
		for (i = 0; i < set->n; i++) {
			int32_t has = p->has[OURS][t * set->n + i];
			int32_t before = t ? p->has[OURS][(t - 1) * set->n + i] : 0;
			int32_t wanted = set->of[i].demand[t];

			demand[t / 60] += wanted / 60.0;
			given[t / 60] += (has < wanted ? has : wanted) / 60.0;
			moves[t / 60] += has > before ? has - before : 0;
		}
	pic.demand = demand;
	pic.allocated = given;
	pic.moves = moves;
	ret = replay_draw(ctx, p->r, picture_svg(&pic));
	free(demand);
	free(given);
	free(moves);
	return ret;
}

int replay_series(struct ctl_ctx *ctx, const struct replay *r, const struct series_set *set)
{
	struct series_replay p = {
		.r = r,
		.set = set,
		.from = (size_t)(r->warm_s / 60),
		.rates = { .pool = r->pool, .attach = r->attach_minutes, .hold = r->hold_cost },
	};
	int ret = CTL_DONE;
	size_t i;

	if (p.from >= set->minutes)
		return ctl_fail(ctx, CTL_USAGE,
				"the series end before the warm start does: shorten --warm");
	plan_replay_series_run_policies(&p);
	plan_replay_series_print_trace(ctx, &p);
	print_policies(ctx, &p);
	if (out_is_json(ctx->out) || r->per) {
		plan_replay_series_print_tenants(ctx, &p);
		plan_replay_series_print_days(ctx, &p);
	}
	replay_energy_note(ctx, r);
	if (r->svg)
		ret = plan_replay_series_draw(ctx, &p);
	for (i = 0; i < RESULTS; i++)
		free(p.has[i]);
	return ret;
}
