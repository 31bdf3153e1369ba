/* SPDX-License-Identifier: GPL-2.0-only */
/* Making the moves of a list on this host. */
#ifndef GPUCTL_APPLY_H
#define GPUCTL_APPLY_H

#include "op/terms.h"
#include "plan/move_list.h"
#include "session/session.h"

/* What became of a step. */
enum apply_outcome {
	APPLY_NOT_REACHED,
	APPLY_DONE,
	APPLY_BEFORE, /* it was made before: a list that is gone on with */
	APPLY_ELSEWHERE, /* of another host */
	APPLY_FAILED,
	APPLY_WOULD, /* with -n: it is still to be made */
	APPLY_OUTCOMES
};

extern const char *const apply_outcome_names[APPLY_OUTCOMES];

/*
 * Only one gpuctl at a time moves GPUs by a plan: take that place, or CTL_BUSY. The place is
 * free again once *@fd is closed, or its holder has gone.
 */
int apply_lock(struct ctl_ctx *ctx, int *fd);

/*
 * Make the steps of @host that are still to be made, in their order, up to the first that
 * fails; GPUs that somebody holds are never taken. @outcomes has room for each step. With -n
 * nothing is changed. A signal ends it between two steps.
 */
int apply_moves(struct session *session, const struct op_terms *terms, const char *host,
		const struct move_list *list, enum apply_outcome *outcomes);

/* The steps with their outcomes, or without them where @outcomes is NULL. */
void apply_render(struct ctl_ctx *ctx, const struct move_list *list,
		  const enum apply_outcome *outcomes);

#endif /* GPUCTL_APPLY_H */
