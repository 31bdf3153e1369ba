// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a step
 *
 * Two plans are compared: the best one, and the best one that waits for an interval. Moves that
 * save less than the margin are not made, so that what goes back and forth is left alone. A
 * plan that takes away a GPU that somebody holds is made anew with that workload as it is, and so
 * is one that moves a workload which is not at a boundary: others that are move first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/step.h"

/**
 * struct stepper - a step while it is planned
 * @in: the instance; workloads of it are kept as they are
 * @ahead: NULL, or what is known beside it
 * @how: of the solver
 * @margin: least saving of moves
 * @kept: of each workload, why it was kept; PLAN_OFFS: it was not
 * @s: the plan
 * @step: what comes of it
 */
struct stepper {
	struct plan_instance *in;
	const struct plan_ahead *ahead;
	const struct plan_options *how;
	double margin;
	enum plan_off *kept;
	struct plan_solution s;
	struct plan_step *step;
};

static uint32_t count(const struct plan_held *held, size_t n)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += held[i].gpus;
	return sum;
}

/* Is a GPU to go that somebody holds? */
static bool takes_held(const struct plan_set *set, const struct plan_solution *s, size_t w)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (plan_gpus_of(s, w, 0, set->has[i].pool) < set->held[i])
			return true;
	return false;
}

/* Has it other GPUs in the first interval than now? */
static bool changes(const struct plan_workload *work, const struct plan_solution *s, size_t w)
{
	struct plan_config c = plan_config_at(s, w, 0);
	size_t i;

	for (i = 0; i < work->n_now; i++)
		if (plan_gpus_of(s, w, 0, work->now[i].pool) != work->now[i].gpus)
			return true;
	return count(c.held, c.n) != count(work->now, work->n_now);
}

/* Why it has to stay as it is, PLAN_OFFS if it need not. */
static enum plan_off obstacle(const struct stepper *st, size_t w, bool boundaries)
{
	const struct plan_set *set = st->ahead->asked[w].set;

	if (!set || st->ahead->asked[w].left || st->in->workloads[w].keep)
		return PLAN_OFFS;
	if (takes_held(set, &st->s, w))
		return set->refused ? PLAN_OFF_REFUSED : PLAN_OFF_HELD;
	if (boundaries && set->patience && changes(&st->in->workloads[w], &st->s, w))
		return PLAN_OFF_BOUNDARY;
	return PLAN_OFFS;
}

/* Keep those that have to stay; false when there is none. */
static bool keep_some(struct stepper *st, bool boundaries)
{
	bool found = false;
	size_t w;

	for (w = 0; w < st->in->n_workloads && st->ahead; w++) {
		enum plan_off reason = obstacle(st, w, boundaries);

		if (reason == PLAN_OFFS)
			continue;
		st->in->workloads[w].keep = 1;
		st->kept[w] = reason;
		st->step->kept += reason != PLAN_OFF_BOUNDARY;
		found = true;
	}
	return found;
}

/* Plan anew until nothing has to stay that does not. */
static int solve(struct stepper *st, bool boundaries, struct fault *fault)
{
	int err = 0;

	while (!err && keep_some(st, boundaries)) {
		plan_solution_free(&st->s);
		if (st->how->keep) {
			plan_prices_free(*st->how->keep);
			*st->how->keep = NULL;
		}
		err = plan_solve(st->in, st->how, &st->s, fault);
	}
	return err;
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

/* Moves that are not worth making are not waited for either. */
static bool is_worth_it(const struct stepper *st)
{
	return st->step->waiting - st->s.cost.total > st->margin;
}

static bool is_put_off(const struct plan_moves *moves, size_t w)
{
	size_t i;

	for (i = 0; i < moves->n_off; i++)
		if (moves->off[i].workload == w)
			return true;
	return false;
}

static bool is_moved(const struct plan_moves *moves, size_t w)
{
	size_t i;

	for (i = 0; i < moves->n; i++)
		if (moves->items[i].workload == w)
			return true;
	return false;
}

/* GPUs that it needs now, of the kind that it has. */
static uint32_t need_of(const struct plan_instance *in, const struct plan_workload *work)
{
	uint32_t kind = work->n_now ? in->pools[work->now[0].pool].kind : PLAN_NONE;
	size_t i;

	for (i = 0; i < work->n_choices && work->choices[i].kind != kind;)
		i++;
	return work->n_choices ? work->choices[i < work->n_choices ? i : 0].need[0] : 0;
}

static void say_kept(struct stepper *st, uint32_t w)
{
	const struct plan_asked *asked = &st->ahead->asked[w];

	switch (st->kept[w]) {
	case PLAN_OFF_HELD:
		plan_moves_put_off(&st->step->moves, w, PLAN_OFF_HELD,
				   "a process holds a GPU that is to go");
		break;
	case PLAN_OFF_REFUSED:
		plan_moves_put_off(&st->step->moves, w, PLAN_OFF_REFUSED,
				   "it did not let go of its GPUs when it was last told to");
		break;
	case PLAN_OFF_BOUNDARY:
		plan_moves_put_off(&st->step->moves, w, PLAN_OFF_BOUNDARY,
				   "it waits for its next boundary, at most %u min more",
				   asked->set->patience);
		break;
	default:
		break;
	}
}

/* A workload that is not moved, and has other GPUs than it needs. */
static void say_idle(struct stepper *st, uint32_t w)
{
	const struct plan_workload *work = &st->in->workloads[w];
	struct plan_moves *moves = &st->step->moves;
	uint32_t has = count(work->now, work->n_now), need = need_of(st->in, work);

	if (changes(work, &st->s, w))
		plan_moves_put_off(moves, w, PLAN_OFF_MARGIN,
				   "needs %u, has %u; the moves save %.1f, and the margin is %.1f",
				   need, has, st->step->waiting - st->s.cost.total, st->margin);
	else if (work->keep && need != has)
		plan_moves_put_off(moves, w,
				   st->ahead->asked[w].n_epochs ? PLAN_OFF_BOUNDARY : PLAN_OFF_HOLD,
				   "needs %u, has %u, which it keeps for %u more interval%s", need,
				   has, work->keep, work->keep == 1 ? "" : "s");
	else if (need != has)
		plan_moves_put_off(moves, w, PLAN_OFF_WORTH,
				   "needs %u, has %u; no plan that moves it now costs less", need,
				   has);
}

static void say_why(struct stepper *st)
{
	uint32_t w;

	for (w = 0; w < st->in->n_workloads && st->ahead; w++) {
		if (st->ahead->asked[w].left || is_put_off(&st->step->moves, w) ||
		    is_moved(&st->step->moves, w))
			continue;
		if (st->kept[w] != PLAN_OFFS)
			say_kept(st, w);
		else
			say_idle(st, w);
	}
}

int plan_step(struct plan_instance *in, const struct plan_ahead *ahead,
	      const struct plan_options *how, double margin, struct plan_step *step,
	      struct fault *fault)
{
	struct stepper st = {
		.in = in,
		.ahead = ahead,
		.how = how,
		.margin = margin,
		.kept = mem_zalloc(in->n_workloads, sizeof(*st.kept)),
		.step = step,
	};
	size_t w;
	int err;

	memset(step, 0, sizeof(*step));
	for (w = 0; w < in->n_workloads; w++)
		st.kept[w] = PLAN_OFFS;
	err = plan_solve(in, how, &st.s, fault);
	if (!err)
		err = solve(&st, false, fault);
	if (!err)
		err = cost_of_waiting(in, how, &step->waiting, fault);
	if (!err && is_worth_it(&st))
		err = solve(&st, true, fault);
	if (!err) {
		step->cost = st.s.cost.total;
		step->bound = st.s.bound;
		if (is_worth_it(&st))
			plan_moves_make(in, ahead, &st.s, &step->moves);
		say_why(&st);
	}
	plan_solution_free(&st.s);
	free(st.kept);
	return err;
}

void plan_step_free(struct plan_step *step)
{
	plan_moves_free(&step->moves);
}
