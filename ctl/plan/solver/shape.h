/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a workload can have at one time: its configurations, and the steps between them.
 * Workloads with the same pools and the same counts share a shape.
 */
#ifndef GPUCTL_PLAN_SHAPE_H
#define GPUCTL_PLAN_SHAPE_H

#include "plan/solver/instance.h"

/* Pools that a workload can use, and switches that it can be spread over. */
#define SHAPE_POOLS_MAX 64
#define SHAPE_SPAN_MAX 4
/* More configurations than this are refused. */
#define SHAPE_CONFIGS_MAX 20000

/**
 * struct shape_edge - one configuration inside another that has more of one pool
 * @from: the smaller; its index is lower
 * @to: the larger
 * @pool: which pool of the shape
 * @gpus: how many more
 */
struct shape_edge {
	uint32_t from, to;
	uint16_t pool;
	uint16_t sw;
	uint32_t gpus;
};

/**
 * struct shape_config - GPUs of some pools of the shape
 * @total: GPUs
 * @choice: which kind, by the choices of the workload
 * @n: pools
 * @pool: which, as indices of the shape
 * @gpus: how many of each
 */
struct shape_config {
	uint32_t total;
	uint16_t choice, n;
	uint16_t pool[SHAPE_SPAN_MAX];
	uint32_t gpus[SHAPE_SPAN_MAX];
};

/**
 * struct shape_overlap - two configurations of a gang that share GPUs: those stay in a move
 * @from: the one
 * @to: the other
 * @attaches: does @to have any that @from has not?
 * @n: pools of which both have some
 * @pool: which
 * @gpus: how many both have
 */
struct shape_overlap {
	uint32_t from, to;
	bool attaches;
	uint8_t n;
	uint16_t pool[SHAPE_SPAN_MAX];
	uint32_t gpus[SHAPE_SPAN_MAX];
};

/**
 * struct shape_pool - a pool that a workload can use
 * @pool: index of the pool in the instance
 * @choice: of the workload
 * @sw: which switch of the shape
 * @gpus: of this pool at most
 */
struct shape_pool {
	uint32_t pool;
	uint16_t choice, sw;
	uint32_t gpus;
};

/**
 * struct shape - the configurations of some workloads
 * @n_pools: pools
 * @pools: by switch
 * @n_switches: how many switches they are behind
 * @switches: indices in the instance
 * @span: switches at one time
 * @sizes: counts that a gang can have, by choice in ascending order; NULL for an elastic one
 * @n_sizes: how many of each choice
 * @total_max: GPUs of each choice at most
 * @n: configurations; the first is nothing
 * @configs: by ascending total
 * @held: the same for plan_config_at(): SHAPE_SPAN_MAX entries for each
 * @n_edges: steps
 * @edges: by ascending @to; @switches of one @to may differ
 * @n_overlaps: for gangs: pairs of different configurations that share a pool
 * @overlaps: each pair
 * @chain: one pool, and configuration c is c GPUs of it
 * @next: all shapes
 */
struct shape {
	size_t n_pools;
	struct shape_pool *pools;
	size_t n_switches;
	uint32_t *switches;
	uint32_t span;
	uint32_t **sizes;
	size_t *n_sizes;
	size_t n_choices;
	uint32_t *total_max;
	size_t n;
	struct shape_config *configs;
	struct plan_held *held;
	size_t n_edges;
	struct shape_edge *edges;
	size_t n_overlaps;
	struct shape_overlap *overlaps;
	bool chain;
	struct shape *next;
};

/* Fill in everything behind @total_max; -EINVAL when there are too many configurations. */
int shape_complete(struct shape *shape);
/* Do two describe the same configurations? Only what stands before @n is looked at. */
bool shape_same(const struct shape *a, const struct shape *b);
void shape_free(struct shape *shape);
/* The configuration with these counts by pool of the shape, or -1. */
int64_t shape_find(const struct shape *shape, const struct plan_held *held, size_t n);

#endif /* GPUCTL_PLAN_SHAPE_H */
