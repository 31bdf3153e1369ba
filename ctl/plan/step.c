// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a step
 *
 * Two plans are compared: the best one, and the best one that waits for an interval. Moves that
 * save less than the margin are not made, so that what goes back and forth is left alone. A
 * plan that takes away a GPU that somebody holds is made anew with that workload as it is, and so
 * is one that moves a workload which is not at a boundary: others that are move first.
 *
 * A plan does not know in which order GPUs change hands, nor all that tenants are guaranteed: its
 * moves may end before it is reached. Nobody gives for who cannot get: then it is made anew, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/step.h"

/**
 * struct stepper - a step while it is planned
 * @in: the instance; workloads of it are kept as they are
 * @bounded: the same with less room: what is plans are made from
 * @ahead: NULL, or what is known beside it
 * @how: of the solver
 * @margin: least saving of moves
 * @kept: of each workload, why it was kept; PLAN_OFFS: it was not
 * @blocked: of each that was kept for room, why there is none; owned
 * @s: the plan
 * @step: what comes of it
 */
struct stepper {
	struct plan_instance *in, bounded;
	const struct plan_ahead *ahead;
	const struct plan_options *how;
	double margin;
	enum plan_off *kept;
	char **blocked;
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

/* Who could not be moved just now is not tried again at once, so that others are. */
static void keep_failed(struct stepper *st)
{
	const struct plan_ahead *ahead = st->ahead;
	size_t w, i;

	for (w = 0; w < st->in->n_workloads && ahead; w++) {
		struct plan_workload *work = &st->in->workloads[w];
		const struct plan_set *set = ahead->asked[w].set;

		if (set && set->refused)
			continue;
		for (i = 0; i < ahead->n_failed && !work->host && !work->keep; i++) {
			if (strcmp(ahead->failed[i], work->name))
				continue;
			work->keep = 1;
			st->kept[w] = PLAN_OFF_FAILED;
		}
	}
}

static int solve_anew(struct stepper *st, struct fault *fault)
{
	int err;

	plan_solution_free(&st->s);
	if (st->how->keep) {
		plan_prices_free(*st->how->keep);
		*st->how->keep = NULL;
	}
	err = plan_solve(&st->bounded, st->how, &st->s, fault);
	st->step->cost = st->s.cost.total;
	return err;
}

/* Plan anew until nothing has to stay that does not. */
static int solve(struct stepper *st, bool boundaries, struct fault *fault)
{
	int err = 0;

	while (!err && keep_some(st, boundaries))
		err = solve_anew(st, fault);
	return err;
}

/*
 * GPUs that all workloads together can come to have, PLAN_NONE where that is not to be said: what is
 * guaranteed to tenants who have no workload here stays free, as tenant_lets() has it. What is
 * held, and what others are guaranteed, is not taken from them by that.
 */
static uint32_t room_of_all(const struct plan_instance *in, const struct plan_ahead *ahead)
{
	uint64_t *has = mem_zalloc(in->n_tenants, sizeof(*has)), total = 0, due = 0, most = 0, n;
	bool *here = mem_zalloc(in->n_tenants, sizeof(*here));
	size_t i;

	for (i = 0; i < in->n_workloads; i++) {
		const struct plan_workload *w = &in->workloads[i];

		n = count(w->now, w->n_now);
		if (w->tenant == PLAN_NONE) {
			most += n;
			continue;
		}
		has[w->tenant] += n;
		here[w->tenant] = true;
	}
	for (i = 0; i < in->n_tenants; i++) {
		due += here[i] ? 0 : in->tenants[i].guarantee;
		n = in->tenants[i].guarantee;
		most += !here[i] ? 0 : has[i] > n ? has[i] : n;
	}
	for (i = 0; i < in->n_pools; i++)
		total += in->pools[i].gpus;
	free(has);
	free(here);
	/* Of several hosts, and of pools of others, tenant_lets() alone can tell. */
	if (!due || in->n_hosts != 1 ||
	    (ahead && ahead->has_state && ahead->n_pools != in->n_pools))
		return PLAN_NONE;
	if (total > due && total - due > most)
		most = total - due;
	return most < PLAN_NONE ? (uint32_t)most : PLAN_NONE;
}

/* The instance with what can be had of it; free its hosts. */
static void bound_room(struct stepper *st)
{
	uint32_t room = room_of_all(st->in, st->ahead);
	size_t i;

	st->bounded = *st->in;
	st->bounded.hosts = mem_zalloc(st->in->n_hosts, sizeof(*st->bounded.hosts));
	for (i = 0; i < st->in->n_hosts; i++) {
		st->bounded.hosts[i] = st->in->hosts[i];
		if (room < st->bounded.hosts[i].slots)
			st->bounded.hosts[i].slots = room;
	}
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
	return st->step->waiting - st->step->cost > st->margin;
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

static uint32_t had(const struct plan_held *held, size_t n, uint32_t pool)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (held[i].pool == pool)
			return held[i].gpus;
	return 0;
}

/* GPUs that come new to a pool of @to. */
static uint32_t gained(const struct plan_held *from, size_t n_from, const struct plan_held *to,
		       size_t n_to, uint32_t pool)
{
	uint32_t before = had(from, n_from, pool), after = had(to, n_to, pool);

	return after > before ? after - before : 0;
}

static double cost_of_move(const struct plan_instance *in, const struct plan_move *m, bool *gets)
{
	const struct plan_workload *w = &in->workloads[m->workload];
	double cost = 0;
	uint32_t q, up;

	*gets = false;
	for (q = 0; q < in->n_pools; q++) {
		up = gained(m->from, m->n_from, m->to, m->n_to, q);
		cost += up * (in->pools[q].attach_s + w->weight * w->load_s);
		cost += gained(m->to, m->n_to, m->from, m->n_from, q) * in->pools[q].detach_s;
		*gets = *gets || up;
	}
	return cost;
}

/* What the best plan costs that begins with the moves, and no others. */
static int cost_of_moves(const struct stepper *st, double *cost, struct fault *fault)
{
	const struct plan_instance *in = &st->bounded;
	struct plan_workload *workloads = mem_zalloc(in->n_workloads, sizeof(*workloads));
	struct plan_options options = *st->how;
	struct plan_instance moved = *in;
	struct plan_solution s;
	double moving = 0;
	bool gets;
	size_t i;
	int err;

	options.keep = NULL;
	moved.workloads = workloads;
	for (i = 0; i < in->n_workloads; i++) {
		workloads[i] = in->workloads[i];
		if (!workloads[i].keep)
			workloads[i].keep = 1;
	}
	for (i = 0; i < st->step->moves.n; i++) {
		struct plan_move *m = &st->step->moves.items[i];
		struct plan_workload *w = &workloads[m->workload];

		moving += cost_of_move(in, m, &gets);
		w->now = m->to;
		w->n_now = m->n_to;
		if (gets && w->hold > w->keep)
			w->keep = w->hold;
	}
	err = plan_solve(&moved, &options, &s, fault);
	*cost = s.cost.total + moving;
	plan_solution_free(&s);
	free(workloads);
	return err;
}

/* Does a move bring it a GPU? */
static bool gets_some(const struct stepper *st, uint32_t w)
{
	const struct plan_moves *moves = &st->step->moves;
	bool gets;
	size_t i;

	for (i = 0; i < moves->n; i++) {
		if (moves->items[i].workload != w)
			continue;
		cost_of_move(st->in, &moves->items[i], &gets);
		if (gets)
			return true;
	}
	return false;
}

/* Who was put off as there is no room stays as it is: all of them, or those who get nothing. */
static bool keep_blocked(struct stepper *st, bool all)
{
	const struct plan_moves *moves = &st->step->moves;
	bool found = false;
	size_t i;

	for (i = 0; i < moves->n_off; i++) {
		const struct plan_put_off *off = &moves->off[i];

		if (st->kept[off->workload] != PLAN_OFFS || (!all && gets_some(st, off->workload)))
			continue;
		if (!st->in->workloads[off->workload].keep)
			st->in->workloads[off->workload].keep = 1;
		st->kept[off->workload] = PLAN_OFF_ROOM;
		st->blocked[off->workload] = mem_strdup(off->why);
		found = true;
	}
	return found;
}

/* Moves of the plan, or of one made anew as nobody is to give for who cannot get. */
static int make_moves(struct stepper *st, struct fault *fault)
{
	struct plan_moves *moves = &st->step->moves;
	int err = 0;

	while (!err && is_worth_it(st)) {
		plan_moves_free(moves);
		plan_moves_make(st->in, st->ahead, &st->s, moves);
		if (!moves->n_off)
			return 0;
		if (!keep_blocked(st, false)) {
			err = cost_of_moves(st, &st->step->cost, fault);
			if (err || is_worth_it(st) || !keep_blocked(st, true))
				break;
		}
		err = solve_anew(st, fault);
		/* Who now has to give may hold what is to go, or wait for a boundary. */
		if (!err)
			err = solve(st, true, fault);
	}
	if (!is_worth_it(st))
		plan_moves_free(moves);
	return err;
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

static void step_say_kept(struct stepper *st, uint32_t w)
{
	const struct plan_asked *asked = st->ahead ? &st->ahead->asked[w] : NULL;

	switch (st->kept[w]) {
	case PLAN_OFF_ROOM:
		plan_moves_put_off(&st->step->moves, w, PLAN_OFF_ROOM, "%s", st->blocked[w]);
		break;
	case PLAN_OFF_FAILED:
		plan_moves_put_off(&st->step->moves, w, PLAN_OFF_FAILED,
				   "its last move failed a few minutes ago");
		break;
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
				   need, has, st->step->waiting - st->step->cost, st->margin);
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
			step_say_kept(st, w);
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
		.blocked = mem_zalloc(in->n_workloads, sizeof(*st.blocked)),
		.step = step,
	};
	size_t w;
	int err;

	memset(step, 0, sizeof(*step));
	bound_room(&st);
	for (w = 0; w < in->n_workloads; w++)
		st.kept[w] = PLAN_OFFS;
	keep_failed(&st);
	err = solve_anew(&st, fault);
	if (!err)
		err = solve(&st, false, fault);
	if (!err)
		err = cost_of_waiting(&st.bounded, how, &step->waiting, fault);
	if (!err && is_worth_it(&st))
		err = solve(&st, true, fault);
	if (!err)
		err = make_moves(&st, fault);
	if (!err) {
		step->bound = st.s.bound;
		say_why(&st);
	}
	for (w = 0; w < in->n_workloads; w++)
		free(st.blocked[w]);
	plan_solution_free(&st.s);
	free(st.bounded.hosts);
	free(st.blocked);
	free(st.kept);
	return err;
}

void plan_step_free(struct plan_step *step)
{
	plan_moves_free(&step->moves);
}
