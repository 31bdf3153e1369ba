/* SPDX-License-Identifier: GPL-2.0-only */
/* One step of a receding horizon: plan far, do what is worth doing now. Pure. */
#ifndef GPUCTL_PLAN_STEP_H
#define GPUCTL_PLAN_STEP_H

#include "plan/moves.h"

/**
 * struct plan_step - what is worth doing now
 * @moves: in their order; none when waiting is as good
 * @cost: of the plan
 * @bound: no plan costs less
 * @waiting: cost of the best plan found that moves nothing in the first interval
 * @kept: workloads that keep what they have, as somebody holds it
 */
struct plan_step {
	struct plan_moves moves;
	double cost, bound, waiting;
	size_t kept;
};

/*
 * @margin: cost that the moves have to save beyond their own. @in is changed: who has holders
 * keeps what it has. 0 or -EINVAL with @fault; free @step in either case.
 */
int plan_step(struct plan_instance *in, const struct plan_ahead *ahead,
	      const struct plan_options *how, double margin, struct plan_step *step,
	      struct fault *fault);
void plan_step_free(struct plan_step *step);

#endif /* GPUCTL_PLAN_STEP_H */
