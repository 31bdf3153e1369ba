/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two kinds of replay share: options and the files. */
#ifndef GPUCTL_CMD_PLAN_REPLAY_H
#define GPUCTL_CMD_PLAN_REPLAY_H

#include "cli/ctl.h"
#include "plan/energy.h"
#include "plan/replay/jobs.h"
#include "plan/series.h"

/**
 * struct replay - what was asked for
 * @pool: GPUs
 * @host: GPUs of a static tenant's host
 * @warm_s: seconds at the beginning that are not scored
 * @known: our policy is told the runtimes
 * @equal_jct: look for the static GPUs with our mean completion time
 * @attach_minutes: cost of an attach, in minutes of a GPU
 * @hold_cost: of a GPU that is kept and not needed, each minute
 * @hold_min: minutes that a reactive policy keeps what it had
 * @svg: file for the picture, or NULL
 * @energy: what is assumed
 * @per: energy of each tenant and day is asked for
 */
struct replay {
	uint32_t pool, host;
	int64_t warm_s;
	bool known, equal_jct, per;
	double attach_minutes, hold_cost;
	uint32_t hold_min;
	const char *svg;
	struct energy_rates energy;
};

int replay_jobs(struct ctl_ctx *ctx, const struct replay *r, const struct jobs *jobs);
int replay_series(struct ctl_ctx *ctx, const struct replay *r, const struct series_set *set);

/* What the energy is based on, in words, once. */
void replay_energy_note(struct ctl_ctx *ctx, const struct replay *r);

/* Writes the picture to where it was asked for; frees it. */
int replay_draw(struct ctl_ctx *ctx, const struct replay *r, char *svg);

#endif
