// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a step
 *
 * Two plans are compared: the best one, and the best one that waits for an interval. Moves that
 * save less than the margin are not made, so that what goes back and forth is left alone. A
 * plan that takes away a GPU that somebody holds is made anew with that workload as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/step.h"

/* Is a GPU to go that somebody holds? */
static bool takes_held(const struct plan_set *set, const struct plan_solution *s, size_t w)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (plan_gpus_of(s, w, 0, set->has[i].pool) < set->held[i])
			return true;
	return false;
}

/* Keep those; false when there is none. */
static bool keep_held(struct plan_instance *in, const struct plan_ahead *ahead,
		      const struct plan_solution *s, size_t *kept)
{
	bool found = false;
	size_t w;

	for (w = 0; w < in->n_workloads && ahead; w++) {
		const struct plan_set *set = ahead->asked[w].set;

		if (!set || ahead->asked[w].left || in->workloads[w].keep || !takes_held(set, s, w))
			continue;
		in->workloads[w].keep = 1;
		(*kept)++;
		found = true;
	}
	return found;
}

/* What the best plan costs that moves nothing in the first interval. */
static int cost_of_waiting(const struct plan_instance *in, const struct plan_options *how,
			   double *cost, struct fault *fault)
{
	struct plan_workload *workloads = mem_zalloc(in->n_workloads, sizeof(*workloads));
	struct plan_options options = *how;
	struct plan_instance waiting = *in;
	struct plan_solution s;
	size_t w;
	int err;

	/* Prices are those of the plan that is made. */
	options.keep = NULL;
	waiting.workloads = workloads;
	for (w = 0; w < in->n_workloads; w++) {
		workloads[w] = in->workloads[w];
		if (!workloads[w].keep)
			workloads[w].keep = 1;
	}
	err = plan_solve(&waiting, &options, &s, fault);
	*cost = s.cost.total;
	plan_solution_free(&s);
	free(workloads);
	return err;
}

int plan_step(struct plan_instance *in, const struct plan_ahead *ahead,
	      const struct plan_options *how, double margin, struct plan_step *step,
	      struct fault *fault)
{
	struct plan_solution s;
	int err;

	memset(step, 0, sizeof(*step));
	err = plan_solve(in, how, &s, fault);
	while (!err && keep_held(in, ahead, &s, &step->kept)) {
		plan_solution_free(&s);
		if (how->keep) {
			plan_prices_free(*how->keep);
			*how->keep = NULL;
		}
		err = plan_solve(in, how, &s, fault);
	}
	if (!err)
		err = cost_of_waiting(in, how, &step->waiting, fault);
	if (!err) {
		step->cost = s.cost.total;
		step->bound = s.bound;
		if (step->waiting - step->cost > margin)
			plan_moves_make(in, ahead, &s, &step->moves);
	}
	plan_solution_free(&s);
	return err;
}

void plan_step_free(struct plan_step *step)
{
	plan_moves_free(&step->moves);
}
