/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verbs of plan read, and the step that plan step and plan run share. */
#ifndef GPUCTL_PLAN_INPUT_H
#define GPUCTL_PLAN_INPUT_H

#include "plan/move_list.h"
#include "plan/report.h"
#include "plan/step.h"
#include "session/session.h"

/* --state, --quantile, --margin, --costs, --boundary-wait: of step and run. */
extern const struct ctl_option plan_input_options[];
/* --host, of apply as well. */
extern const struct ctl_option plan_host_options[];

/* Bytes of the name of a host, with its end. */
#define PLAN_HOST 64

/* The name that was given, or the host's own. */
int plan_host(struct ctl_ctx *ctx, char name[PLAN_HOST]);

/**
 * struct plan_input - what a step is planned from
 * @host: the name of this host in files
 * @module: the module says what this host has
 * @measured: and what an attach costs
 * @margin: cost that moves have to save beyond their own
 * @quantile: of forecasts
 * @minute: that the first interval begins with
 * @boundary_wait: minutes for which a move waits for the next boundary of its workload
 * @aged: NULL, or sets how long compositions have had their GPUs, and wait for boundaries
 * @arg: for @aged
 * @report: what came of it, or NULL
 * @warm: prices of the step before, or NULL
 * @keep: where prices are left, or NULL
 */
struct plan_input {
	char host[PLAN_HOST];
	bool module, measured;
	double margin, quantile;
	uint64_t minute, boundary_wait;
	void (*aged)(struct plan_ahead *ahead, void *arg);
	void *arg;
	struct plan_report *report;
	const struct plan_prices *warm;
	struct plan_prices **keep;
};

/* Read the options; @minute is left alone. */
int plan_input_options_read(struct ctl_ctx *ctx, struct plan_input *input);

/*
 * Plan a step from the demand file argv[0] and the series behind it, and from the session's
 * snapshot where the module is asked; print it. The moves are put into @list, which is to be
 * freed when this returns CTL_DONE. @seconds becomes the length of an interval.
 */
int plan_input_step(struct ctl_ctx *ctx, struct session *session, const struct plan_input *input,
		    int argc, char **argv, struct move_list *list, double *seconds);

#endif /* GPUCTL_PLAN_INPUT_H */
