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

/* Why a workload is not moved now, although it could use other GPUs than it has. */
enum plan_off {
	PLAN_OFF_ROOM, /* others have the room, and do not make it */
	PLAN_OFF_BOUNDARY, /* it waits for its next boundary, or the end of an epoch */
	PLAN_OFF_HELD, /* a process holds a GPU that is to go */
	PLAN_OFF_REFUSED, /* it was told to let go of GPUs, and did not */
	PLAN_OFF_HOLD, /* it got a GPU less than its hold ago */
	PLAN_OFF_MARGIN, /* the moves save too little */
	PLAN_OFF_WORTH, /* no plan that moves it now costs less */
	PLAN_OFF_LEFT, /* it is not planned */
	PLAN_OFF_FAILED, /* the move was made, and failed, now or a few minutes ago */
	PLAN_OFFS
};

extern const char *const plan_off_names[PLAN_OFFS];

/**
 * struct plan_put_off - a workload that is not moved now
 * @workload: index
 * @reason: as a code
 * @why: in words
 */
struct plan_put_off {
	uint32_t workload;
	enum plan_off reason;
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
/* One more that is not moved now. */
void plan_moves_put_off(struct plan_moves *moves, uint32_t workload, enum plan_off reason,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void plan_moves_free(struct plan_moves *moves);

#endif /* GPUCTL_PLAN_MOVES_H */
