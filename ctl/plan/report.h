/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the planner that runs on this host said last, for who shows it: the cost of its plan, and why
 * workloads were not moved. A file that each step replaces; all but plan_report_write() and
 * plan_report_show() is pure.
 */
#ifndef GPUCTL_PLAN_REPORT_H
#define GPUCTL_PLAN_REPORT_H

#include "base/text.h"
#include "plan/step.h"

#define PLAN_REPORT_FILE "/run/gpuctl-plan.json"
#define PLAN_REPORT_MAX (4u << 20)

/**
 * struct plan_reported - a workload that was not moved
 * @workload: its name
 * @reason: as a code
 * @why: in words
 */
struct plan_reported {
	char *workload, *why;
	enum plan_off reason;
};

/**
 * struct plan_report - a step
 * @time: when it was made, in milliseconds since 1970; 0: there was none
 * @minute: that it was made for
 * @cost: of the plan
 * @bound: no plan costs less
 * @waiting: cost of moving nothing now
 * @moves: number of moves
 * @off: who was not moved
 * @n: number of @off
 */
struct plan_report {
	uint64_t time, minute;
	double cost, bound, waiting;
	uint32_t moves;
	struct plan_reported *off;
	size_t n;
};

/* Of a step; the time is the caller's to set. */
void plan_report_make(struct plan_report *report, const struct plan_instance *in,
		      const struct plan_ahead *ahead, const struct plan_step *step);
/* One more workload; another reason of the same workload is forgotten. */
void plan_report_add(struct plan_report *report, const char *workload, enum plan_off reason,
		     const char *why);
void plan_report_free(struct plan_report *report);

/* As JSON; the caller frees. */
char *plan_report_text(const struct plan_report *report);
/* 0 or -EINVAL with "file:line:column: reason"; free in either case. */
int plan_report_read(struct plan_report *report, const char *file, const char *text, size_t len,
		     struct fault *fault);

/* Replace the file; -errno. */
int plan_report_write(const struct plan_report *report);
/* What the file says; @time is 0 if there is none that can be read. */
void plan_report_show(struct plan_report *report);
/* Why a workload was not moved, NULL where nothing was said of it. */
const struct plan_reported *plan_report_find(const struct plan_report *report, const char *name);

/* For Prometheus; nothing without a step. */
void plan_report_metrics(struct text *t, const struct plan_report *report);

#endif /* GPUCTL_PLAN_REPORT_H */
