/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moves that lead from what workloads have to what a plan gives them in its first interval, in
 * an order in which each is possible once those before it are made. Pure.
 */
#ifndef GPUCTL_PLAN_MOVES_H
#define GPUCTL_PLAN_MOVES_H

#include "plan/ahead.h"

enum plan_action {
	PLAN_COMPOSE,
	PLAN_RESIZE,
	PLAN_RELEASE,
	PLAN_ACTIONS
};

extern const char *const plan_action_names[PLAN_ACTIONS];

/**
 * struct plan_move - one change of one workload, all or nothing
 * @workload: index
 * @action: what is done
 * @from: what it has before, by pool
 * @n_from: how many entries
 * @to: what it has afterwards
 * @n_to: how many entries
 * @why: in words
 */
struct plan_move {
	uint32_t workload;
	enum plan_action action;
	struct plan_held from[4], to[4];
	size_t n_from, n_to;
	char *why;
};

/**
 * struct plan_put_off - what the plan has, and cannot be done now
 * @workload: index
 * @why: in words
 */
struct plan_put_off {
	uint32_t workload;
	char *why;
};

struct plan_moves {
	struct plan_move *items;
	size_t n;
	struct plan_put_off *off;
	size_t n_off;
};

/* Make them for interval 0 of a solution; @ahead may be NULL. */
void plan_moves_make(const struct plan_instance *in, const struct plan_ahead *ahead,
		     const struct plan_solution *s, struct plan_moves *moves);
void plan_moves_free(struct plan_moves *moves);

#endif /* GPUCTL_PLAN_MOVES_H */
