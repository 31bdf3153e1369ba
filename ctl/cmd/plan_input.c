// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a step is planned from
 *
 * The demand file, series of demand beside it, and the module's state; read anew for each
 * step, so that a planner that runs for long follows all of them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/plan_costs.h"
#include "cmd/plan_input.h"
#include "cmd/plan_rates.h"
#include "cmd/plan_text.h"
#include "plan/apply.h"
#include "plan/planned.h"

#define QUANTILE 0.9
#define MARGIN 10
#define BOUNDARY_WAIT_MS 600000
#define BOUNDARY_WAIT_MAX_MS (7ull * 24 * 3600 * 1000)
#define MINUTE_MS 60000

const struct ctl_option plan_input_options[] = {
	{ "state", 0, "FROM",
	  "source of inventory and owners: module (default), or file (the demand file)",
	  "module file" },
	{ "costs", 'c', "from-stats", "cost of moves: the durations that the module measured",
	  "from-stats" },
	{ "quantile", 'q', "CHANCE",
	  "probability that demand does not exceed its forecast (default 0.9)" },
	{ "boundary-wait", 0, "TIME",
	  "how long a move waits for its workload's boundary (default 10min; 0: not)" },
	{ "margin", 0, "COST", "least saving for which gpuctl makes moves (default 10)" },
	{ NULL },
};

const struct ctl_option plan_host_options[] = {
	{ "host", 0, "NAME", "name of this host in files (default: its host name)" },
	{ NULL },
};

int plan_host(struct ctl_ctx *ctx, char name[PLAN_HOST])
{
	const char *given = ctl_opt(ctx, "host");

	memset(name, 0, PLAN_HOST);
	if (given && (!*given || strlen(given) >= PLAN_HOST))
		return ctl_fail(ctx, CTL_USAGE, "--host: a name of 1 to %d bytes", PLAN_HOST - 1);
	if (given)
		memcpy(name, given, strlen(given));
	else if (gethostname(name, PLAN_HOST - 1))
		return ctl_fail(ctx, CTL_FAILED, "no host name: %s", strerror(errno));
	return CTL_DONE;
}

static int boundary_wait_read(struct ctl_ctx *ctx, struct plan_input *input)
{
	const char *given = ctl_opt(ctx, "boundary-wait");
	uint64_t ms = BOUNDARY_WAIT_MS;

	if (given && !strcmp(given, "0"))
		ms = 0;
	else if (given && (!text_parse_duration(given, &ms) || ms > BOUNDARY_WAIT_MAX_MS))
		return ctl_fail(ctx, CTL_USAGE,
				"--boundary-wait %s: write a time of up to 7d, such as 15min, or 0",
				given);
	input->boundary_wait = (ms + MINUTE_MS - 1) / MINUTE_MS;
	return CTL_DONE;
}

int plan_input_options_read(struct ctl_ctx *ctx, struct plan_input *input)
{
	const char *state = ctl_opt(ctx, "state");
	const char *costs = ctl_opt(ctx, "costs");
	int ret;

	input->module = !state || !strcmp(state, "module");
	if (!input->module && strcmp(state, "file"))
		return ctl_fail(ctx, CTL_USAGE, "--state %s: write module or file", state);
	if (costs && strcmp(costs, "from-stats"))
		return ctl_fail(ctx, CTL_USAGE, "--costs %s: write from-stats", costs);
	input->measured = costs;
	if (costs && !input->module)
		return ctl_fail(ctx, CTL_USAGE,
				"--costs from-stats needs the module: leave --state file out");
	ret = plan_host(ctx, input->host);
	input->quantile = QUANTILE;
	input->margin = MARGIN;
	if (!ret)
		ret = plan_rates_number(ctx, "quantile", 0, 1, &input->quantile);
	if (!ret)
		ret = plan_rates_number(ctx, "margin", 0, PLAN_WEIGHT_MAX * PLAN_SECONDS_MAX,
					&input->margin);
	if (!ret)
		ret = boundary_wait_read(ctx, input);
	return ret;
}

/**
 * struct all_series - demand so far
 * @sets: one of each file
 * @n: how many
 */
struct all_series {
	struct series_set *sets;
	size_t n;
};

static void free_series(struct all_series *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		series_free(&all->sets[i]);
	free(all->sets);
}

static int add_series(struct ctl_ctx *ctx, const char *name, struct all_series *all)
{
	struct fault fault = { "" };
	struct series_set set = { 0 };
	char *text;
	size_t len, i;
	int ret;

	ret = plan_text(ctx, name, &text, &len);
	if (!ret && series_add(&set, name, text, len, PLAN_GPUS_MAX, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	free(text);
	for (i = 0; i < all->n && !ret; i++)
		if (!strcmp(all->sets[i].of[0].name, set.of[0].name))
			ret = ctl_fail(ctx, CTL_USAGE, "%s:1:1: workload %s has a series already",
				       name, set.of[0].name);
	if (ret) {
		series_free(&set);
		return ret;
	}
	all->sets = mem_grow(all->sets, all->n + 1, sizeof(*all->sets));
	all->sets[all->n++] = set;
	return CTL_DONE;
}

static int plan_input_is_series(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return *entry->d_name != '.' && n > 4 && !strcmp(entry->d_name + n - 4, ".csv");
}

/* A folder stands for the series in it. */
static int add_operand(struct ctl_ctx *ctx, const char *name, struct all_series *all)
{
	struct dirent **entries;
	struct stat st;
	int n, i, ret = CTL_DONE;

	if (stat(name, &st) || !S_ISDIR(st.st_mode))
		return add_series(ctx, name, all);
	n = scandir(name, &entries, plan_input_is_series, alphasort);
	if (n < 0)
		return ctl_fail(ctx, CTL_USAGE, "%s: %s", name, strerror(errno));
	for (i = 0; i < n; i++) {
		char *path = mem_printf("%s/%s", name, entries[i]->d_name);

		if (!ret)
			ret = add_series(ctx, path, all);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

static void plan_input_print_whole(struct ctl_ctx *ctx, const struct plan_input *input,
				   const struct plan_step *step)
{
	static const struct out_column columns[] = {
		{ "gpufabric_moves", NULL },
		{ "minute", NULL },
		{ "cost", NULL },
		{ "bound", NULL },
		{ "gap", NULL },
		{ "waiting", NULL },
		{ "kept", NULL },
		{ NULL, NULL },
	};
	struct out_table *t = out_table(ctx->out, NULL, columns, OUT_SINGLE);
	double gap = step->cost > 0 ? 1 - step->bound / step->cost : 0;

	out_row(t);
	out_uint(t, "gpufabric_moves", 1);
	out_uint(t, "minute", input->minute);
	out_real(t, "cost", step->cost, 3);
	out_real(t, "bound", step->bound, 3);
	out_real(t, "gap", gap, 6);
	out_real(t, "waiting", step->waiting, 3);
	out_uint(t, "kept", step->kept);
	out_line(ctx->out,
		 "minute %llu: the plan costs %.1f, at least %.1f is needed, waiting costs %.1f: %zu move%s",
		 (unsigned long long)input->minute, step->cost, step->bound, step->waiting,
		 step->moves.n, step->moves.n == 1 ? "" : "s");
}

/* What is not planned, or not done now, and why. */
static void print_rest(struct ctl_ctx *ctx, const struct plan_instance *in,
		       const struct plan_ahead *ahead, const struct plan_step *step)
{
	static const struct out_column columns[] = {
		{ "workload", "WORKLOAD" },
		{ "reason", NULL },
		{ "why", "WHY" },
		{ NULL, NULL },
	};
	struct out_table *t;
	size_t i, left = 0;

	t = out_table(ctx->out, "put_off", columns, OUT_LINES);
	for (i = 0; i < step->moves.n_off; i++) {
		out_row(t);
		out_str(t, "workload", in->workloads[step->moves.off[i].workload].name);
		out_str(t, "reason", plan_off_names[step->moves.off[i].reason]);
		out_strf(t, "why", "%s", step->moves.off[i].why);
		out_text(t, "why", "put off: %s", step->moves.off[i].why);
	}
	for (i = 0; i < in->n_workloads; i++)
		left += !!ahead->asked[i].left;
	t = out_table(ctx->out, "left", columns, OUT_LINES);
	for (i = 0; i < in->n_workloads && left; i++) {
		if (!ahead->asked[i].left)
			continue;
		out_row(t);
		out_str(t, "workload", in->workloads[i].name);
		out_str(t, "why", ahead->asked[i].left);
		out_text(t, "why", "left alone: %s", ahead->asked[i].left);
	}
}

static int plan_input_solve(struct ctl_ctx *ctx, const struct plan_input *input,
			    struct plan_instance *in, const struct plan_ahead *ahead,
			    struct move_list *list)
{
	struct plan_options how = { .warm = input->warm, .keep = input->keep };
	struct fault fault = { "" };
	struct plan_step step;
	int ret = CTL_DONE;

	if (plan_step(in, ahead, &how, input->margin, &step, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret) {
		move_list_make(list, in, &step.moves);
		plan_input_print_whole(ctx, input, &step);
		print_rest(ctx, in, ahead, &step);
		if (input->report)
			plan_report_make(input->report, in, ahead, &step);
	}
	plan_step_free(&step);
	return ret;
}

/* What pools of the file say is for who does not measure. */
static int plan_input_measure(struct ctl_ctx *ctx, struct session *session,
			      struct plan_instance *in)
{
	struct plan_costs costs = { 0 };
	int ret;

	ret = plan_costs_here(session->client, &costs);
	if (!ret)
		plan_costs_use(ctx, &costs, in);
	return ret;
}

int plan_input_step(struct ctl_ctx *ctx, struct session *session, const struct plan_input *input,
		    int argc, char **argv, struct move_list *list, double *seconds)
{
	struct plan_ahead ahead = { .minute = input->minute, .quantile = input->quantile };
	struct plan_instance in = { 0 };
	struct all_series all = { 0 };
	struct fault fault = { "" };
	char *text = NULL;
	size_t len;
	int ret = CTL_DONE, i;

	memset(list, 0, sizeof(*list));
	for (i = 1; i < argc && !ret; i++)
		ret = add_operand(ctx, argv[i], &all);
	if (!ret)
		ret = plan_text(ctx, argv[0], &text, &len);
	if (!ret && session)
		ret = planned_state(session, input->host, &in, &ahead);
	if (!ret && input->aged)
		input->aged(&ahead, input->arg);
	ahead.series = all.sets;
	ahead.n_series = all.n;
	if (!ret && plan_read_onto(&in, &ahead, argv[0], text, len, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret && input->measured)
		ret = plan_input_measure(ctx, session, &in);
	if (!ret)
		ret = plan_input_solve(ctx, input, &in, &ahead, list);
	*seconds = in.interval_s;
	plan_instance_free(&in);
	plan_ahead_free(&ahead);
	free_series(&all);
	free(text);
	return ret;
}
