/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instance as the arithmetic wants it: configurations, costs an interval, and the rows that
 * workloads share. Private to ctl/plan.
 */
#ifndef GPUCTL_PLAN_MODEL_H
#define GPUCTL_PLAN_MODEL_H

#include "plan/solver/instance.h"
#include "plan/solver/shape.h"

/* Differences that are rounding, as a part of what is compared. */
#define MODEL_ROUNDING (1.0 / (1 << 30))

/* What workloads share: each limits a sum over them, in each interval. */
enum model_row_kind {
	ROW_POOL, /* GPUs of a pool: at most those that are on */
	ROW_HOST, /* GPUs of a host */
	ROW_LINK, /* lanes of an uplink */
	ROW_LIMIT, /* GPUs of a tenant, at most */
	ROW_ATTACH, /* attaches behind a switch */
	ROW_GUARANTEE, /* what a tenant is served, at least, or its deficit is paid for */
};

/**
 * struct model_row - one of them
 * @kind: enum model_row_kind
 * @index: of the pool, host, link, tenant or switch
 * @cap: at most so much
 * @want: for ROW_GUARANTEE: at least so many in each interval
 */
struct model_row {
	enum model_row_kind kind;
	uint32_t index;
	uint32_t cap;
	uint32_t *want;
};

/**
 * struct model_pool - a pool as one workload sees it
 * @use: cost of a GPU an interval, without what it is missing otherwise
 * @up: cost of attaching one
 * @down: cost of detaching one
 * @row_pool: its row, or PLAN_NONE where nothing can be short
 * @row_link: of the uplink
 */
struct model_pool {
	double use, up, down;
	uint32_t row_pool, row_link;
};

/**
 * struct model_workload - a workload with its costs
 * @w: what it is made from
 * @shape: what it can have
 * @pools: costs by pool of the shape
 * @row_attach: by switch of the shape
 * @row_host: of its host
 * @row_limit: of its tenant
 * @row_guarantee: of its tenant
 * @want: GPUs that its tenant, which has no other workload, is guaranteed; NULL: none
 * @scale: cost of a missing GPU an interval
 * @deficit: cost of a GPU below @want an interval
 * @start: what it has in interval -1
 */
struct model_workload {
	const struct plan_workload *w;
	struct shape *shape;
	struct model_pool *pools;
	uint32_t *row_attach;
	uint32_t row_host, row_limit, row_guarantee;
	uint32_t *want;
	double scale, deficit;
	uint32_t start;
};

/**
 * struct model_power - switching the GPUs of a pool on and off
 * @on: cost of an idle GPU an interval, against one that is off
 * @wake: cost of switching one on
 * @row: of the pool; PLAN_NONE where being on costs nothing that is not in the use
 */
struct model_power {
	double on, wake;
	uint32_t row;
};

/**
 * struct model - all of it
 * @in: what it is made from
 * @workloads: by workload
 * @power: by pool
 * @rows: shared limits; only those that can be reached
 * @n_rows: how many
 * @shapes: a list
 * @n_shapes: how many
 * @off: cost of GPUs that are off, which no plan can change
 * @deficit: cost of a GPU below a guarantee an interval
 * @grain: every plan costs @off and a whole multiple of it; 0: not known
 * @configs_max: of any workload
 * @pools_max: of any workload
 */
struct model {
	const struct plan_instance *in;
	struct model_workload *workloads;
	struct model_power *power;
	struct model_row *rows;
	size_t n_rows;
	struct shape *shapes;
	size_t n_shapes;
	double off, deficit, grain;
	size_t configs_max, pools_max;
};

int model_make(struct model *model, const struct plan_instance *in, struct fault *fault);
/* The shapes are left to whoever took them out of @model. */
void model_free(struct model *model);

/* What a workload lacks in an interval with @gpus of @choice, in GPUs of its first choice. */
double model_missing(const struct model_workload *w, size_t interval, uint16_t choice,
		     uint32_t gpus);
/* May it have this configuration in this interval? */
bool model_allowed(const struct model_workload *w, size_t interval, uint32_t config);

/* What it is served: the rest of what it needs. */
static inline double model_served(const struct model_workload *w, size_t interval, uint32_t config)
{
	const struct shape_config *c = &w->shape->configs[config];

	return w->w->choices[0].need[interval] - model_missing(w, interval, c->choice, c->total);
}

/* GPUs attached, by switch of the shape, from one configuration to another. */
void model_attached(const struct model_workload *w, uint32_t from, uint32_t to, uint32_t *count);
/* Does that attach anything? */
bool model_attaches(const struct model_workload *w, uint32_t from, uint32_t to);
/* What a configuration takes of a row, of any kind but attaches and guarantees. */
uint32_t model_use(const struct model_workload *w, uint32_t config, uint32_t row);
/* Cost of going from one configuration to the other. */
double model_move(const struct model_workload *w, uint32_t from, uint32_t to);

/* What plan @y costs, with the best @on for it, which is filled in. */
void model_cost(const struct model *model, const uint32_t *y, uint32_t *on, struct plan_cost *cost);
/* Cost of power of one pool in which @used GPUs an interval are held; @on may be NULL. */
void model_power(const struct model *model, size_t pool, const uint32_t *used, uint32_t *on,
		 double *energy, double *wake);

#endif /* GPUCTL_PLAN_MODEL_H */
