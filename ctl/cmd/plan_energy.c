// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan energy: energy and CO2 of a plan, or of what a host's journal has recorded. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/plan_rates.h"
#include "cmd/plan_text.h"
#include "plan/usage.h"

#define PERIODS_MAX 100000

static const struct ctl_option options[] = {
	{ "period", 0, "TIME", "length of the periods (default 1d)" },
	{ "against", 0, "WORD", "always-on (default): all GPUs; static: the peak of each tenant",
	  "always-on static" },
	{ "pool", 'p', "COUNT", "GPUs that would be always on (default: all that were seen)" },
	{ NULL },
};

static const struct out_column whole_columns[] = {
	{ "gpu_hours", "GPU hours", 0 },
	{ "gpu_hours_basis", NULL, 0 },
	{ "idle_gpu_hours", "on and idle, GPU hours", 0 },
	{ "kwh", "kWh", 0 },
	{ "idle_kwh", NULL, 0 },
	{ "co2_kg", "CO2 kg", 0 },
	{ "energy_cost", "cost", 0 },
	{ "kwh_per_gpu_hour", "kWh of a GPU hour", 0 },
	{ "kwh_basis", NULL, 0 },
	{ "counterfactual", "against", 0 },
	{ "counterfactual_gpus", NULL, 0 },
	{ "counterfactual_kwh", NULL, 0 },
	{ "avoided_kwh", "kWh avoided", 0 },
	{ "avoided_co2_kg", "CO2 kg avoided", 0 },
	{ "avoided_basis", NULL, 0 },
	{ NULL, NULL, 0 },
};

static const struct out_column holder_columns[] = {
	{ "composition", "COMPOSITION", 0 },
	{ "tenant", "TENANT", OUT_OPTIONAL },
	{ "gpu_hours", "GPU HOURS", OUT_RIGHT },
	{ "gpu_hours_basis", "HOURS ARE", 0 },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ "kwh_basis", "WATTS ARE", 0 },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT | OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static const struct out_column tenant_columns[] = {
	{ "tenant", "TENANT", 0 },
	{ "gpu_hours", "GPU HOURS", OUT_RIGHT },
	{ "gpu_hours_basis", "HOURS ARE", 0 },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ "kwh_basis", "WATTS ARE", 0 },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT | OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

static const struct out_column period_columns[] = {
	{ "from_s", NULL, 0 },
	{ NULL, "FROM", OUT_RIGHT },
	{ "idle_gpu_hours", "IDLE GPUh", OUT_RIGHT },
	{ "gpu_hours", "GPU HOURS", OUT_RIGHT },
	{ "gpu_hours_basis", "HOURS ARE", 0 },
	{ "kwh", "kWh", OUT_RIGHT },
	{ "co2_kg", "CO2 kg", OUT_RIGHT },
	{ "kwh_basis", "WATTS ARE", 0 },
	{ "kwh_per_gpu_hour", "kWh/GPUh", OUT_RIGHT | OUT_OPTIONAL },
	{ NULL, NULL, 0 },
};

/**
 * struct report - what is to be said
 * @u: who had what
 * @rates: watts and the rest
 * @period: seconds
 * @pool: GPUs that are on in the world to compare with, 0: as many as were seen
 * @fixed: there each tenant keeps its peak
 * @hours: where GPU-seconds are from
 * @watts: where watts are from
 */
struct report {
	struct usage u;
	struct energy_rates rates;
	double period;
	uint32_t pool;
	bool fixed;
	const char *hours, *watts;
};

static void fill(const struct report *r, struct out_table *t, double busy, double idle)
{
	struct energy e = energy_of(&r->rates, busy, idle, 0);

	out_real(t, "gpu_hours", busy / 3600, 3);
	out_str(t, "gpu_hours_basis", r->hours);
	out_real(t, "kwh", e.house_kwh, 3);
	out_real(t, "co2_kg", e.co2_kg, 3);
	out_str(t, "kwh_basis", r->watts);
	if (busy > 0)
		out_real(t, "kwh_per_gpu_hour", energy_per_gpu_hour(&e, busy), 4);
}

/* GPUs that are on all the time in the world that this one is compared with. */
static uint32_t counterfactual(const struct report *r)
{
	const struct usage *u = &r->u;
	uint32_t sum = 0;
	size_t i;

	if (!r->fixed)
		return r->pool ? r->pool : u->gpus;
	for (i = 0; i < u->n_tenants; i++)
		sum += usage_tenant_peak(u, u->tenants[i]);
	for (i = 0; i < u->n_holders; i++)
		if (!u->holders[i].tenant)
			sum += usage_peak(u, i);
	return sum;
}

static void plan_energy_print_whole(struct ctl_ctx *ctx, const struct report *r)
{
	struct out_table *t = out_table(ctx->out, "energy", whole_columns, OUT_SINGLE);
	const struct usage *u = &r->u;
	double busy = usage_seconds(u, USAGE_ALL, u->from, u->to);
	double idle = usage_seconds(u, USAGE_NOBODY, u->from, u->to);
	uint32_t gpus = counterfactual(r);
	double rest = gpus * (u->to - u->from) - busy;
	struct energy is = energy_of(&r->rates, busy, idle, 0);
	struct energy was = energy_of(&r->rates, busy, rest > 0 ? rest : 0, 0);

	out_row(t);
	fill(r, t, busy, idle);
	out_real(t, "idle_gpu_hours", idle / 3600, 3);
	out_real(t, "idle_kwh", is.idle_kwh * r->rates.pue, 3);
	if (r->rates.price > 0)
		out_real(t, "energy_cost", is.cost, 2);
	out_str(t, "counterfactual", r->fixed ? "static" : "always-on");
	out_text(t, "counterfactual", "%s: %u GPUs on all the time, the same work",
		 r->fixed ? "static, each tenant keeps its peak" : "always-on", gpus);
	out_uint(t, "counterfactual_gpus", gpus);
	out_real(t, "counterfactual_kwh", was.house_kwh, 3);
	out_real(t, "avoided_kwh", was.house_kwh - is.house_kwh, 3);
	out_real(t, "avoided_co2_kg", was.co2_kg - is.co2_kg, 3);
	out_str(t, "avoided_basis", "modelled");
}

static void print_holders(struct ctl_ctx *ctx, const struct report *r)
{
	struct out_table *t = out_table(ctx->out, "compositions", holder_columns, OUT_TABLE);
	const struct usage *u = &r->u;
	size_t i;

	for (i = 0; i < u->n_holders; i++) {
		out_row(t);
		out_str(t, "composition", u->holders[i].name);
		if (u->holders[i].tenant)
			out_str(t, "tenant", u->holders[i].tenant);
		fill(r, t, usage_seconds(u, i, u->from, u->to), 0);
	}
}

static void plan_energy_print_tenants(struct ctl_ctx *ctx, const struct report *r)
{
	struct out_table *t = out_table(ctx->out, "tenants", tenant_columns, OUT_TABLE);
	const struct usage *u = &r->u;
	double none = usage_tenant_seconds(u, NULL, u->from, u->to);
	size_t i;

	for (i = 0; i < u->n_tenants; i++) {
		out_row(t);
		out_str(t, "tenant", u->tenants[i]);
		fill(r, t, usage_tenant_seconds(u, u->tenants[i], u->from, u->to), 0);
	}
	if (none > 0) {
		out_row(t);
		out_str(t, "tenant", NULL);
		fill(r, t, none, 0);
	}
}

/* Periods of a record begin at full days and hours of UTC, those of a plan at 0. */
static void print_periods(struct ctl_ctx *ctx, const struct report *r)
{
	struct out_table *t = out_table(ctx->out, "periods", period_columns, OUT_TABLE);
	const struct usage *u = &r->u;
	double at = u->from, next;
	char text[32];
	struct tm tm;
	time_t when;

	for (; at < u->to; at = next) {
		double idle;

		next = ((double)(uint64_t)(at / r->period) + 1) * r->period;
		if (next > u->to)
			next = u->to;
		idle = usage_seconds(u, USAGE_NOBODY, at, next);
		out_row(t);
		out_real(t, "from_s", at, 3);
		when = (time_t)at;
		if (u->recorded && gmtime_r(&when, &tm) &&
		    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm))
			out_text(t, "FROM", "%s", text);
		else
			out_text(t, "FROM", "%.2f h", at / 3600);
		out_real(t, "idle_gpu_hours", idle / 3600, 3);
		fill(r, t, usage_seconds(u, USAGE_ALL, at, next), idle);
	}
}

static void plan_energy_print_remarks(struct ctl_ctx *ctx, const struct report *r)
{
	const struct energy_rates *e = &r->rates;

	if (r->u.recorded)
		out_note(ctx->out, "remarks", "",
			 "GPU hours are measured, from the first entry of the journal to the last; the state of a slot before its own first entry, and between two boots, is not known");
	else
		out_note(ctx->out, "remarks", "",
			 "GPU hours are modelled: they are those of the plan");
	if (r->u.set_back)
		out_note(ctx->out, "remarks", "",
			 "the clock of the journal went back %zu time%s: no time is counted until it has come to where it was",
			 r->u.set_back, r->u.set_back == 1 ? "" : "s");
	if (!r->u.knows_idle)
		out_note(ctx->out, "remarks", "",
			 "the plan has no power states: GPUs without a workload count as off");
	out_note(ctx->out, "remarks", "",
		 "watts are %s, energy is not measured: %g W busy, %g W idle, %g W off, %g W host a GPU; PUE %g, %g g CO2 a kWh (options or assumed)",
		 r->watts, e->busy_w, e->idle_w, e->off_w, e->host_w, e->pue, e->carbon);
}

static int plan_energy_read_options(struct ctl_ctx *ctx, struct report *r)
{
	const char *period = ctl_opt(ctx, "period"), *against = ctl_opt(ctx, "against");
	const char *pool = ctl_opt(ctx, "pool");
	uint64_t n = 86400000;

	if (period && (!text_parse_duration(period, &n) || n < 60000))
		return ctl_fail(ctx, CTL_USAGE,
				"--period: \"%.40s\" is not a time of a minute or more", period);
	r->period = (double)n / 1000;
	if (against && strcmp(against, "always-on") && strcmp(against, "static"))
		return ctl_fail(ctx, CTL_USAGE,
				"--against: \"%.40s\" is neither always-on nor static", against);
	r->fixed = against && !strcmp(against, "static");
	if (pool && r->fixed)
		return ctl_fail(ctx, CTL_USAGE, "--pool goes with --against always-on");
	if (pool && (!text_number(pool, 1000000, &n) || !n))
		return ctl_fail(ctx, CTL_USAGE,
				"--pool: \"%.40s\" is not a number from 1 to 1000000", pool);
	r->pool = pool ? (uint32_t)n : 0;
	return plan_rates(ctx, &r->rates);
}

static int plan_energy_print(struct ctl_ctx *ctx, struct report *r)
{
	uint32_t peak = usage_peak(&r->u, USAGE_ALL);

	if (r->pool && r->pool < peak)
		return ctl_fail(ctx, CTL_USAGE, "--pool %u: %u GPUs were in use at one time",
				r->pool, peak);
	if ((r->u.to - r->u.from) / r->period > PERIODS_MAX)
		return ctl_fail(ctx, CTL_USAGE, "more than %d periods: lengthen --period",
				PERIODS_MAX);
	r->hours = r->u.recorded ? "measured" : "modelled";
	r->watts = plan_rates_basis(ctx);
	plan_energy_print_whole(ctx, r);
	print_holders(ctx, r);
	plan_energy_print_tenants(ctx, r);
	print_periods(ctx, r);
	plan_energy_print_remarks(ctx, r);
	return CTL_DONE;
}

static int plan_energy_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct report r = { 0 };
	struct fault fault = { "" };
	char *text = NULL;
	size_t len;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = plan_energy_read_options(ctx, &r);
	if (ret)
		return ret;
	ret = plan_text(ctx, argv[0], &text, &len);
	if (!ret && usage_read(&r.u, strcmp(argv[0], "-") ? argv[0] : "stdin", text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret)
		ret = plan_energy_print(ctx, &r);
	usage_free(&r.u);
	free(text);
	return ret;
}

const struct ctl_command cmd_plan_energy = {
	.name = "plan energy",
	.args = "FILE",
	.summary = "energy and CO2, by composition, tenant and period",
	.help = "FILE is the output of \"gpuctl plan solve -j\", or of \"journalctl -o json -t gpufabric\", which prints the\n"
		"entries of the watch service; - is standard input. GPU hours of a journal are measured, those of a plan\n"
		"are modelled. The watts are those of an H100 unless options give others. The energy avoided is the difference\n"
		"to a host that does the same work and keeps its unused GPUs on; --against chooses another comparison.",
	.options = { options, plan_rates_options },
	.flags = CTL_NO_DRY_RUN,
	.run = plan_energy_run,
};
