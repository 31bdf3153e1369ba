// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan solve: the plan of an instance in a file. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/plan_costs.h"
#include "cmd/plan_text.h"
#include "plan/file.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "effort", 'e', "N",
	  "improvement passes over all workloads (default: by the instance's size)" },
	{ "costs", 'c', "WORD", "cost of moves: from-stats, or a file of gpuctl stats -j",
	  "from-stats @files" },
	{ NULL },
};

static const struct out_column plan_columns[] = {
	{ "intervals", NULL, 0 }, { "interval_s", NULL, 0 }, { "cost", NULL, 0 },
	{ "bound", NULL, 0 },	  { "gap", NULL, 0 },	     { "base", NULL, 0 },
	{ "exact", NULL, 0 },	  { "sweeps", NULL, 0 },     { NULL, NULL, 0 },
};

static const struct out_column part_columns[] = {
	{ "part", "COST OF", 0 },
	{ "cost", "COST", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static const struct out_column use_columns[] = {
	{ "workload", "WORKLOAD", 0 },
	{ "tenant", "TENANT", OUT_OPTIONAL },
	{ "first_interval", "FROM", OUT_RIGHT },
	{ "last_interval", "TO", OUT_RIGHT },
	{ "switch", "SWITCH", 0 },
	{ "kind", "KIND", 0 },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static const struct out_column power_columns[] = {
	{ "switch", "SWITCH", 0 },
	{ "kind", "KIND", 0 },
	{ "first_interval", "FROM", OUT_RIGHT },
	{ "last_interval", "TO", OUT_RIGHT },
	{ "on", "ON", OUT_RIGHT },
	{ NULL, NULL, 0 },
};

static void plan_solve_print_whole(struct ctl_ctx *ctx, const struct plan_instance *in,
				   const struct plan_solution *s)
{
	struct out_table *t = out_table(ctx->out, NULL, plan_columns, OUT_SINGLE);

	out_row(t);
	out_uint(t, "intervals", s->n_intervals);
	out_real(t, "interval_s", in->interval_s, 3);
	out_real(t, "cost", s->cost.total, 6);
	out_real(t, "bound", s->bound, 6);
	out_real(t, "gap", plan_gap(s), 6);
	out_real(t, "base", s->base, 6);
	out_bool(t, "exact", s->exact);
	out_uint(t, "sweeps", s->sweeps);
	if (s->exact)
		out_line(ctx->out, "cost %.1f: the best that is possible", s->cost.total);
	else
		out_line(ctx->out, "cost %.1f, and no plan costs less than %.1f: gap %.2f %%",
			 s->cost.total, s->bound, 100 * plan_gap(s));
}

static void print_parts(struct ctl_ctx *ctx, const struct plan_cost *cost)
{
	const struct {
		const char *name;
		double cost;
	} parts[] = {
		{ "missing", cost->missing },	{ "deficit", cost->deficit },
		{ "attach", cost->attach },	{ "detach", cost->detach },
		{ "locality", cost->locality }, { "energy", cost->energy },
		{ "wake", cost->wake },
	};
	struct out_table *t = out_table(ctx->out, "parts", part_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		out_row(t);
		out_str(t, "part", parts[i].name);
		out_real(t, "cost", parts[i].cost, 3);
	}
}

/* A line for each time in which a workload has the same number of a pool. */
static void print_use(struct ctl_ctx *ctx, const struct plan_instance *in,
		      const struct plan_solution *s)
{
	struct out_table *t = out_table(ctx->out, "use", use_columns, OUT_TABLE);
	size_t w, interval, first, i;

	for (w = 0; w < s->n_workloads; w++) {
		for (first = 0; first < s->n_intervals; first = interval) {
			struct plan_config c = plan_config_at(s, w, first);

			for (interval = first + 1;
			     interval < s->n_intervals && s->y[w * s->n_intervals + interval] ==
								  s->y[w * s->n_intervals + first];)
				interval++;
			for (i = 0; i < c.n; i++) {
				const struct plan_pool *p = &in->pools[c.held[i].pool];
				uint32_t tenant = in->workloads[w].tenant;

				out_row(t);
				out_str(t, "workload", in->workloads[w].name);
				if (tenant != PLAN_NONE)
					out_str(t, "tenant", in->tenants[tenant].name);
				out_uint(t, "first_interval", first);
				out_uint(t, "last_interval", interval - 1);
				out_str(t, "switch", in->switches[p->sw].name);
				out_str(t, "kind", in->kinds[p->kind].name);
				out_uint(t, "gpus", c.held[i].gpus);
			}
		}
	}
}

static void print_power(struct ctl_ctx *ctx, const struct plan_instance *in,
			const struct plan_solution *s)
{
	struct out_table *t = out_table(ctx->out, "power", power_columns, OUT_TABLE);
	size_t q, interval, first;

	for (q = 0; q < s->n_pools; q++) {
		const uint32_t *on = s->on + q * s->n_intervals;

		for (first = 0; first < s->n_intervals; first = interval) {
			for (interval = first + 1;
			     interval < s->n_intervals && on[interval] == on[first];)
				interval++;
			out_row(t);
			out_str(t, "switch", in->switches[in->pools[q].sw].name);
			out_str(t, "kind", in->kinds[in->pools[q].kind].name);
			out_uint(t, "first_interval", first);
			out_uint(t, "last_interval", interval - 1);
			out_uint(t, "on", on[first]);
		}
	}
}

static int measured_here(struct ctl_ctx *ctx, struct plan_costs *costs)
{
	struct gfc *client;
	int ret;

	ret = gfc_open(ctx, &client);
	if (ret)
		return ret;
	ret = plan_costs_here(client, costs);
	gfc_close(client);
	return ret;
}

static int measured_in(struct ctl_ctx *ctx, const char *name, struct plan_costs *costs)
{
	struct fault fault = { "" };
	char *text = NULL;
	size_t len;
	int ret;

	ret = plan_text(ctx, name, &text, &len);
	if (!ret && plan_costs_read(costs, name, text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	free(text);
	return ret;
}

static int plan_solve_measure(struct ctl_ctx *ctx, struct plan_instance *in)
{
	const char *from = ctl_opt(ctx, "costs");
	struct plan_costs c = { 0 };
	int ret;

	if (!from)
		return CTL_DONE;
	ret = strcmp(from, "from-stats") ? measured_in(ctx, from, &c) : measured_here(ctx, &c);
	if (ret)
		return ret;
	plan_costs_use(ctx, &c, in);
	return CTL_DONE;
}

static int plan_solve_solve(struct ctl_ctx *ctx, const struct plan_instance *in,
			    const struct plan_options *how)
{
	struct plan_solution s;
	struct fault fault = { "" };

	if (plan_solve(in, how, &s, &fault))
		return ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	plan_solve_print_whole(ctx, in, &s);
	print_parts(ctx, &s.cost);
	print_use(ctx, in, &s);
	if (in->energy_cost > 0)
		print_power(ctx, in, &s);
	plan_solution_free(&s);
	return CTL_DONE;
}

static int plan_solve_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct plan_options how = { 0 };
	const char *effort = ctl_opt(ctx, "effort");
	struct plan_instance in = { 0 };
	struct fault fault = { "" };
	uint64_t number = 0;
	char *text = NULL;
	size_t len;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (ret)
		return ret;
	if (effort && (!text_number(effort, 1000000, &number) || !number))
		return ctl_fail(ctx, CTL_USAGE, "--effort %s: a number from 1 to 1000000", effort);
	how.effort = (unsigned int)number;
	ret = plan_text(ctx, argv[0], &text, &len);
	if (!ret && plan_read(&in, argv[0], text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret)
		ret = plan_solve_measure(ctx, &in);
	if (!ret)
		ret = plan_solve_solve(ctx, &in, &how);
	plan_instance_free(&in);
	free(text);
	return ret;
}

const struct ctl_command cmd_plan_solve = {
	.name = "plan solve",
	.args = "FILE",
	.summary = "the plan of an instance in a file, with cost, bound and gap",
	.help = "FILE is JSON as in gpuctl-plan(5), - standard input. A cost of 1 is one GPU\n"
		"missing for one second to a workload of weight 1. No plan costs less than the\n"
		"bound: what lies between bound and cost is the most that another plan could save.\n"
		"The same file gives the same plan. With --costs an attach and a detach cost what\n"
		"they took on average, in place of attach_s and detach_s in the file.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = plan_solve_run,
};
