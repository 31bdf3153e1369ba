// SPDX-License-Identifier: GPL-2.0-only
/* DOC: what the planner said last, see report.h. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "base/replace.h"
#include "base/text.h"
#include "plan/report.h"

#define MODE 0644
#define COST_MAX 1e18
#define TIME_MAX 1e15
#define MOVES_MAX 1000000
#define OFF_MAX 100000
#define MS_PER_S 1000

void plan_report_add(struct plan_report *report, const char *workload, enum plan_off reason,
		     const char *why)
{
	struct plan_reported *off = (struct plan_reported *)plan_report_find(report, workload);

	if (off) {
		free(off->why);
	} else {
		report->off = mem_push(report->off, report->n, sizeof(*report->off));
		off = &report->off[report->n++];
		off->workload = mem_strdup(workload);
	}
	off->reason = reason;
	off->why = mem_strdup(why);
}

void plan_report_make(struct plan_report *report, const struct plan_instance *in,
		      const struct plan_ahead *ahead, const struct plan_step *step)
{
	size_t i;

	plan_report_free(report);
	report->minute = ahead->minute;
	report->cost = step->cost;
	report->bound = step->bound;
	report->waiting = step->waiting;
	report->moves = (uint32_t)step->moves.n;
	for (i = 0; i < step->moves.n_off; i++) {
		const struct plan_put_off *off = &step->moves.off[i];

		plan_report_add(report, in->workloads[off->workload].name, off->reason, off->why);
	}
	for (i = 0; i < in->n_workloads; i++)
		if (ahead->asked[i].left)
			plan_report_add(report, in->workloads[i].name, PLAN_OFF_LEFT,
					ahead->asked[i].left);
}

void plan_report_free(struct plan_report *report)
{
	size_t i;

	for (i = 0; i < report->n; i++) {
		free(report->off[i].workload);
		free(report->off[i].why);
	}
	free(report->off);
	memset(report, 0, sizeof(*report));
}

const struct plan_reported *plan_report_find(const struct plan_report *report, const char *name)
{
	size_t i;

	for (i = 0; i < report->n; i++)
		if (!strcmp(report->off[i].workload, name))
			return &report->off[i];
	return NULL;
}

static void report_put_real(struct json_object *to, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.3f", isfinite(value) ? value : 0);
	json_object_object_add(to, key, json_object_new_double_s(value, text));
}

static void report_put_text(struct json_object *to, const char *key, const char *value)
{
	char *tame = mem_strdup(value);

	text_tame(tame, false);
	json_object_object_add(to, key, json_object_new_string(tame));
	free(tame);
}

char *plan_report_text(const struct plan_report *report)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();
	char *text;
	size_t i;

	json_object_object_add(all, "gpufabric_planned", json_object_new_int(1));
	json_object_object_add(all, "time", json_object_new_int64((int64_t)report->time));
	json_object_object_add(all, "minute", json_object_new_int64((int64_t)report->minute));
	report_put_real(all, "cost", report->cost);
	report_put_real(all, "bound", report->bound);
	report_put_real(all, "waiting", report->waiting);
	json_object_object_add(all, "moves", json_object_new_int64(report->moves));
	for (i = 0; i < report->n; i++) {
		struct json_object *one = json_object_new_object();

		report_put_text(one, "workload", report->off[i].workload);
		report_put_text(one, "reason", plan_off_names[report->off[i].reason]);
		report_put_text(one, "why", report->off[i].why);
		json_object_array_add(list, one);
	}
	json_object_object_add(all, "put_off", list);
	text = mem_printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN));
	json_object_put(all);
	return text;
}

static int report_read_off(struct jread *r, struct json_object *from, struct plan_report *report)
{
	static const char *const keys[] = { "workload", "reason", "why", NULL };
	const char *workload = NULL, *reason = NULL, *why = NULL;
	unsigned int code = 0;
	int err = jread_object(r, from, keys);

	if (!err)
		err = jread_word(r, from, "workload", &workload);
	if (!err)
		err = jread_word(r, from, "reason", &reason);
	if (!err)
		err = jread_word(r, from, "why", &why);
	if (err)
		return err;
	while (reason && code < PLAN_OFFS && strcmp(reason, plan_off_names[code]))
		code++;
	if (!workload || !text_name_valid(workload) || !reason || !why || code == PLAN_OFFS)
		return jread_refuse(r, "this is no workload with a reason that there is");
	plan_report_add(report, workload, (enum plan_off)code, why);
	return 0;
}

static int report_read_list(struct jread *r, struct plan_report *report)
{
	struct json_object *list = NULL;
	size_t i;
	int err = jread_array(r, r->root, "put_off", OFF_MAX, &list);

	if (err || !list)
		return err;
	jread_key(r, "put_off");
	for (i = 0; !err && i < json_object_array_length(list); i++) {
		jread_index(r, i);
		err = report_read_off(r, json_object_array_get_idx(list, i), report);
		if (!err)
			jread_up(r);
	}
	if (!err)
		jread_up(r);
	return err;
}

int plan_report_read(struct plan_report *report, const char *file, const char *text, size_t len,
		     struct fault *fault)
{
	static const char *const keys[] = {
		"gpufabric_planned", "time",  "minute",	 "cost", "bound",
		"waiting",	     "moves", "put_off", NULL
	};
	double time = 0, minute = 0;
	struct jread r;
	int err;

	memset(report, 0, sizeof(*report));
	err = jread_open(&r, file, text, len, fault);
	if (!err)
		err = jread_object(&r, r.root, keys);
	if (!err)
		err = jread_number(&r, r.root, "time", TIME_MAX, &time);
	if (!err)
		err = jread_number(&r, r.root, "minute", TIME_MAX, &minute);
	if (!err)
		err = jread_number(&r, r.root, "cost", COST_MAX, &report->cost);
	if (!err)
		err = jread_number(&r, r.root, "bound", COST_MAX, &report->bound);
	if (!err)
		err = jread_number(&r, r.root, "waiting", COST_MAX, &report->waiting);
	if (!err)
		err = jread_whole(&r, r.root, "moves", MOVES_MAX, &report->moves);
	if (!err)
		err = report_read_list(&r, report);
	jread_close(&r);
	report->time = (uint64_t)time;
	report->minute = (uint64_t)minute;
	return err;
}

int plan_report_write(const struct plan_report *report)
{
	char *text = plan_report_text(report);
	int err = replace_file(PLAN_REPORT_FILE, text, MODE);

	free(text);
	return err;
}

void plan_report_show(struct plan_report *report)
{
	FILE *file = fopen(PLAN_REPORT_FILE, "re");
	struct fault fault = { "" };
	struct text text = { 0 };
	char part[4096];
	size_t n;

	memset(report, 0, sizeof(*report));
	if (!file)
		return;
	while ((n = fread(part, 1, sizeof(part) - 1, file)) && text.len < PLAN_REPORT_MAX) {
		part[n] = '\0';
		text_add(&text, "%s", part);
	}
	fclose(file);
	if (text.text && plan_report_read(report, PLAN_REPORT_FILE, text.text, text.len, &fault))
		plan_report_free(report);
	free(text.text);
}

static void report_metric(struct text *t, const char *name, const char *help, double value)
{
	text_add(t, "# HELP gpufabric_plan_%s %s\n# TYPE gpufabric_plan_%s gauge\n", name, help,
		 name);
	text_add(t, "gpufabric_plan_%s %.10g\n", name, value);
}

void plan_report_metrics(struct text *t, const struct plan_report *report)
{
	unsigned int reason;
	size_t i;

	if (!report->time)
		return;
	report_metric(t, "timestamp_seconds", "When the planner made its last step.",
		      (double)(report->time / MS_PER_S));
	report_metric(t, "cost", "Cost of its plan.", report->cost);
	report_metric(t, "bound", "No plan costs less.", report->bound);
	report_metric(t, "waiting_cost", "Cost of moving nothing now.", report->waiting);
	report_metric(t, "moves", "Moves of that step.", report->moves);
	text_add(t,
		 "# HELP gpufabric_plan_put_off Workloads that were not moved, by reason.\n# TYPE gpufabric_plan_put_off gauge\n");
	for (i = 0; i < report->n; i++)
		for (reason = 0; reason < PLAN_OFFS; reason++)
			text_add(t, "gpufabric_plan_put_off{workload=\"%s\",reason=\"%s\"} %d\n",
				 report->off[i].workload, plan_off_names[reason],
				 report->off[i].reason == reason);
}
