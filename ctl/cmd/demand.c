// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl demand
 *
 * One minute of each workload: what it uses becomes a row of the series that the planner reads. What
 * becomes of the demand is the planner's to decide; nothing is moved here.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/plan_costs.h"
#include "plan/series.h"
#include "sense/files.h"
#include "sense/gather.h"
#include "session/session.h"

#define MINUTE_MS 60000
#define KEEP_MS (7ull * 24 * 3600 * 1000)
#define KEEP_MAX_MS (60ull * 24 * 3600 * 1000)
#define KEEP_MIN_MS (2ull * 3600 * 1000)

static const struct ctl_option options[] = {
	{ "folder", 0, "DIR", "folder of the series (default: " SENSE_FOLDER ")" },
	{ "keep", 0, "TIME", "how much of a series is kept (default: 7d)" },
	{ "minute", 0, "N",
	  "the current minute, in the count of the series (default: minutes since 1970)" },
	{ NULL },
};

/**
 * struct demand - a run
 * @ctx: the run
 * @folder: where series are
 * @keep: minutes of a series that are kept
 * @minute: the current one
 * @attach_ms: what an attach takes on this host
 * @all: workloads that are measured
 * @n: number of @all
 * @worst: exit code of workloads that could not be measured
 */
struct demand {
	struct ctl_ctx *ctx;
	const char *folder;
	size_t keep;
	uint64_t minute, attach_ms;
	struct gathered *all;
	size_t n;
	int worst;
};

static int demand_options(struct ctl_ctx *ctx, struct demand *d)
{
	const char *folder = ctl_opt(ctx, "folder"), *keep = ctl_opt(ctx, "keep");
	const char *minute = ctl_opt(ctx, "minute");
	uint64_t ms = KEEP_MS;

	d->folder = folder ? folder : SENSE_FOLDER;
	d->minute = text_now() / MINUTE_MS;
	if (keep && (!text_parse_duration(keep, &ms) || ms < KEEP_MIN_MS || ms > KEEP_MAX_MS))
		return ctl_fail(ctx, CTL_USAGE, "--keep %s: write a time from 2h to 60d", keep);
	d->keep = (size_t)(ms / MINUTE_MS);
	if (minute && !text_number(minute, SERIES_MINUTE_MAX, &d->minute))
		return ctl_fail(ctx, CTL_USAGE, "--minute %s: a number up to %d", minute,
				SERIES_MINUTE_MAX);
	return CTL_DONE;
}

/* A workload that cannot be measured does not keep the others. */
static void demand_warn(struct demand *d, const char *name, int ret)
{
	ctl_warn(d->ctx, "%s: %s", name, d->ctx->error);
	free(d->ctx->error);
	d->ctx->error = NULL;
	d->worst = ret;
}

static bool is_wanted(const char *name, int argc, char *const *argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return !argc;
}

static int demand_read(struct demand *d, int argc, char **argv)
{
	char **names;
	size_t n, i;
	int ret, j;

	ret = sense_names(d->ctx, &names, &n);
	for (j = 0; j < argc && !ret; j++) {
		for (i = 0; i < n && strcmp(names[i], argv[j]);)
			i++;
		if (i == n)
			ret = ctl_fail(d->ctx, CTL_USAGE, "%s/workloads.d has no file %s",
				       d->ctx->config_dir, argv[j]);
	}
	d->all = mem_zalloc(n, sizeof(*d->all));
	for (i = 0; i < n && !ret; i++) {
		int one;

		if (!is_wanted(names[i], argc, argv))
			continue;
		one = sense_workload_read(d->ctx, names[i], &d->all[d->n].workload);
		if (!one) {
			d->n++;
			continue;
		}
		sense_workload_free(&d->all[d->n].workload);
		demand_warn(d, names[i], one);
	}
	sense_names_free(names, n);
	return ret;
}

/* GPUs of the composition that the workload is called after. */
static void find_gpus(const struct session *session, struct gathered *one)
{
	const struct gf_fabric *fabric = &session->fabric;
	size_t i;

	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		const struct gf_function *gpu = NULL;

		if (!slot->composition || strcmp(slot->composition, one->workload.name) ||
		    !gf_slot_has_gpu(slot))
			continue;
		/* As the planner counts them. */
		one->gpus += identity_count(&session->knowledge, slot);
		while ((gpu = gf_gpu_next(slot, gpu))) {
			one->addresses =
				mem_push(one->addresses, one->n_addresses, sizeof(*one->addresses));
			one->addresses[one->n_addresses++] = mem_strdup(gpu->address);
		}
	}
}

static int demand_look(struct demand *d)
{
	struct plan_costs costs = { 0 };
	struct session session;
	size_t i;
	int ret = session_open(d->ctx, &session, SESSION_LOOK);

	if (ret)
		return ret;
	ret = session_know(&session);
	if (!ret)
		ret = plan_costs_here(session.client, &costs);
	if (!ret && costs.attaches)
		d->attach_ms = (uint64_t)(costs.attach_s / (double)costs.attaches * 1000 + 0.5);
	for (i = 0; i < d->n && !ret; i++)
		find_gpus(&session, &d->all[i]);
	session_close(&session);
	return ret;
}

static const struct out_column demand_columns[] = {
	{ "workload", "WORKLOAD" },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "load", "LOAD", OUT_RIGHT },
	{ "target", "TARGET", OUT_RIGHT },
	{ "waiting", "WAITING", OUT_RIGHT | OUT_OPTIONAL },
	{ "demand", "DEMAND", OUT_RIGHT },
	{ "min", NULL },
	{ "max", NULL },
	{ "hold", NULL },
	{ "recorded", NULL },
	{ "faults", NULL },
	{ "why", "WHY" },
	{ NULL, NULL },
};

static void demand_print(struct demand *d, struct out_table *t, const struct follow *f,
			 bool recorded)
{
	const char *faults[SENSE_SENSORS_MAX];
	size_t i;

	for (i = 0; i < f->n_faults; i++) {
		faults[i] = f->faults[i];
		ctl_warn(d->ctx, "%s: %s; its demand stays %u", f->workload->name, f->faults[i],
			 f->demand);
	}
	out_row(t);
	out_str(t, "workload", f->workload->name);
	out_uint(t, "gpus", f->gpus);
	if (f->load >= 0) {
		out_real(t, "load", f->load, 2);
		out_real(t, "target", f->target, 2);
	}
	if (f->waiting >= 0)
		out_real(t, "waiting", f->waiting, 0);
	out_uint(t, "demand", f->demand);
	out_uint(t, "min", f->workload->min);
	out_uint(t, "max", f->workload->max);
	out_uint(t, "hold", follow_hold(f->workload, d->attach_ms));
	out_bool(t, "recorded", recorded);
	out_list(t, "faults", faults, f->n_faults);
	out_str(t, "why", f->why);
}

/* @text and @series: what there is so far. */
static int demand_keep(struct demand *d, const struct follow *f, const struct record_series *series,
		       const char *text, const struct follow_memory *memory)
{
	struct record record;
	char *rows;
	int ret;

	record_make(&record, f, memory);
	rows = record_series_add(series, text, d->keep, &record);
	ret = sense_record_write(d->ctx, d->folder, f->workload, &record, rows);
	free(rows);
	return ret;
}

/* The clock was ahead, or was set back: what it wrote for later would end the series here. */
static void demand_cut(struct demand *d, const char *name, struct record_series *series, char *text)
{
	uint64_t last = series->last;
	size_t later = record_series_cut(series, text, d->minute);

	if (later)
		ctl_warn(d->ctx,
			 "%s: its series ended with minute %llu, which is later than now: %zu minute%s from %llu on left out",
			 name, (unsigned long long)last, later, later == 1 ? "" : "s",
			 (unsigned long long)series->last + 1);
}

static int demand_one(struct demand *d, const struct gathered *one, struct out_table *t)
{
	struct follow f = {
		.workload = &one->workload,
		.readings = one->readings,
		.gpus = one->gpus,
		.minute = d->minute,
		.attach_ms = d->attach_ms,
	};
	struct record_series series = { 0 };
	struct record last;
	char *text = NULL;
	bool over;
	int ret = sense_record_read(d->ctx, d->folder, &one->workload, &last, &series, &text);

	if (!ret) {
		f.has_last = series.n;
		f.last = series.demand;
		demand_cut(d, one->workload.name, &series, text);
		over = series.n && series.last == d->minute;
		follow_minute(&f, &last.memory);
		if (!over && !d->ctx->dry_run)
			ret = demand_keep(d, &f, &series, text, &last.memory);
		if (!ret)
			demand_print(d, t, &f, !over && !d->ctx->dry_run);
	}
	free(text);
	return ret;
}

static int demand_all(struct demand *d)
{
	char *probe = mem_printf("%s/probe", d->ctx->libexec_dir);
	const struct gather_roots roots = { "/proc", "/sys", probe };
	char *lock_name = mem_printf("%s/demand", d->folder);
	int lock = d->ctx->dry_run ? 0 : replace_lock(lock_name), ret = CTL_DONE;
	struct out_table *t;
	size_t i;

	if (lock < 0)
		ret = ctl_fail(d->ctx, CTL_FAILED, "%s: %s", d->folder, replace_error(lock));
	if (!ret) {
		gather(&roots, d->all, d->n);
		t = out_table(d->ctx->out, "demand", demand_columns, OUT_TABLE);
		for (i = 0; i < d->n; i++) {
			int one = demand_one(d, &d->all[i], t);

			if (one)
				demand_warn(d, d->all[i].workload.name, one);
		}
		if (!d->n)
			out_line(d->ctx->out, "no workload in %s/workloads.d", d->ctx->config_dir);
	}
	if (lock > 0)
		close(lock);
	free(lock_name);
	free(probe);
	return ret;
}

static int demand_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct demand d = { .ctx = ctx };
	size_t i;
	int ret;

	ret = demand_options(ctx, &d);
	if (!ret)
		ret = demand_read(&d, argc, argv);
	if (!ret)
		ret = demand_look(&d);
	if (!ret)
		ret = demand_all(&d);
	for (i = 0; i < d.n; i++) {
		sense_names_free(d.all[i].addresses, d.all[i].n_addresses);
		sense_workload_free(&d.all[i].workload);
	}
	free(d.all);
	if (!ret && d.worst)
		ret = ctl_fail(ctx, (enum ctl_exit)d.worst, "not all workloads could be measured");
	return ret;
}

const struct ctl_command cmd_demand = {
	.name = "demand",
	.group = CTL_SIZING,
	.args = "[WORKLOAD...]",
	.summary = "measure what workloads use, and record their demand",
	.help = "A file workloads.d/NAME of the configuration says how the load of composition NAME is\n"
		"measured, and which load is aimed at: see gpuctl-workloads(5). Each run adds the current\n"
		"minute to NAME.csv, which gpuctl plan step and gpuctl plan run read as the workload's\n"
		"demand so far; it moves nothing. Demand is GPUS * LOAD / TARGET, within the limits of the\n"
		"file. A sensor that is dead or lies is named in a warning, and demand stays what it was.\n"
		"After the clock was set back, rows of minutes that are still to come are left out, with a\n"
		"warning. With -n nothing is recorded. gpufabric-demand.timer runs the command every minute.",
	.options = { options },
	.completes = "@workloads",
	.run = demand_run,
};
