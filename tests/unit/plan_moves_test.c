// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/ahead.c ctl/plan/demand.c ctl/plan/state.c ctl/plan/solver/beam.c ctl/plan/solver/check.c ctl/base/csv.c ctl/plan/solver/dual.c ctl/plan/solver/exact.c ctl/plan/file.c ctl/plan/file_demand.c ctl/plan/solver/flow.c ctl/plan/forecast.c ctl/plan/solver/grain.c ctl/plan/solver/group.c ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/solver/ledger.c ctl/plan/solver/model.c ctl/plan/solver/model_make.c ctl/plan/move_list.c ctl/plan/moves.c ctl/plan/report.c ctl/base/replace.c ctl/plan/solver/path.c ctl/plan/solver/prices.c ctl/plan/solver/roster.c ctl/plan/series.c ctl/plan/solver/shape.c ctl/plan/solver/solve.c ctl/plan/step.c ctl/plan/solver/way.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Steps: what is worth moving, in an order in which each move is possible, and a list of moves
 * that is gone on with wherever it ended. Random fabrics are moved through move by move.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/move_list.h"
#include "plan/report.h"
#include "plan/step.h"
#include "tap.h"

#define RANDOM 400

static uint64_t state = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 11) % n;
}

/* A fabric that is rather full, with demand that others have to make room for. */
static void make(struct plan_instance *in)
{
	uint32_t switches = 1 + below(3), tenants = below(3), room[3], i, w, need[4], t;

	memset(in, 0, sizeof(*in));
	in->interval_s = 60;
	in->n_intervals = 4;
	in->deficit_weight = 10;
	plan_add_kind(in, "k");
	plan_add_host(in, "h");
	for (i = 0; i < switches; i++) {
		plan_add_switch(in, i ? i == 1 ? "s1" : "s2" : "s0");
		room[i] = 2 + below(6);
		plan_add_pool(in, i, 0, room[i]);
		in->pools[i].attach_s = below(5);
		in->pools[i].detach_s = below(3);
		plan_add_link(in, 0, i)->locality = below(2) * 0.05;
	}
	for (i = 0; i < tenants; i++)
		plan_add_tenant(in, i ? "t1" : "t0");
	for (w = 0; w < 2 + below(4); w++) {
		char name[2] = { (char)('a' + w), 0 };
		struct plan_workload *work;

		plan_add_workload(in, name);
		work = &in->workloads[w];
		work->span = 1 + below(3);
		work->gang = !below(3);
		work->weight = 1 + below(3);
		work->tenant = tenants ? below(tenants) : PLAN_NONE;
		for (t = 0; t < 4; t++)
			need[t] = t && below(2) ? need[t - 1] : below(8);
		plan_add_choice(in, work, 0, need);
		for (i = 0; i < switches && work->n_now < work->span; i++) {
			uint32_t gpus = below(room[i] + 1);

			/* A gang has one of its counts: nothing, here. */
			if (!gpus || work->gang)
				continue;
			plan_add_now(work, i, gpus);
			room[i] -= gpus;
		}
	}
}

static struct move_has has_of(const struct plan_instance *in, const struct plan_held *held, size_t n)
{
	struct move_has has = { .n = 0 };
	size_t i;

	for (i = 0; i < n; i++)
		move_has_add(&has, in->switches[in->pools[held[i].pool].sw].name, "k",
			     held[i].gpus);
	return has;
}

/* Each move begins with what the one before left, and never are there more GPUs than exist. */
static bool possible(const struct plan_instance *in, const struct plan_moves *moves)
{
	uint32_t now[8][3] = { { 0 } }, sum;
	size_t i, w, j, q;

	for (w = 0; w < in->n_workloads; w++)
		for (j = 0; j < in->workloads[w].n_now; j++)
			now[w][in->workloads[w].now[j].pool] = in->workloads[w].now[j].gpus;
	for (i = 0; i < moves->n; i++) {
		const struct plan_move *m = &moves->items[i];
		uint32_t from[3] = { 0 };

		for (j = 0; j < m->n_from; j++)
			from[m->from[j].pool] = m->from[j].gpus;
		if (memcmp(from, now[m->workload], sizeof(from)))
			return false;
		memset(now[m->workload], 0, sizeof(from));
		for (j = 0; j < m->n_to; j++)
			now[m->workload][m->to[j].pool] = m->to[j].gpus;
		if ((m->action == PLAN_COMPOSE) != !m->n_from ||
		    (m->action == PLAN_RELEASE) != !m->n_to)
			return false;
		for (q = 0; q < in->n_pools; q++) {
			for (w = 0, sum = 0; w < in->n_workloads; w++)
				sum += now[w][q];
			if (sum > in->pools[q].gpus)
				return false;
		}
	}
	return true;
}

/* A list that ended after @made of its moves: those are known as done, and no others. */
static bool goes_on(const struct plan_instance *in, const struct plan_moves *moves, size_t made)
{
	struct move_list list;
	bool good = true;
	size_t i, j;

	move_list_make(&list, in, moves);
	for (i = 0; i < moves->n; i++) {
		uint32_t w = moves->items[i].workload;
		struct move_has now = has_of(in, in->workloads[w].now, in->workloads[w].n_now);

		for (j = 0; j < made; j++) {
			if (moves->items[j].workload != w)
				continue;
			move_has_free(&now);
			now = has_of(in, moves->items[j].to, moves->items[j].n_to);
		}
		good &= move_place(&list, i, &now) == (i < made ? MOVE_DONE : MOVE_TO_DO);
		move_has_free(&now);
	}
	move_list_free(&list);
	return good;
}

/* What was not put off is as the plan has it in its first interval. */
static bool arrives(const struct plan_instance *in, const struct plan_solution *s,
		    const struct plan_moves *moves)
{
	size_t w, i, j;

	for (w = 0; w < in->n_workloads; w++) {
		struct move_has to = has_of(in, in->workloads[w].now, in->workloads[w].n_now);
		struct plan_config c = plan_config_at(s, w, 0);
		struct move_has want = has_of(in, c.held, c.n);
		bool same;

		for (i = 0; i < moves->n; i++) {
			if (moves->items[i].workload != w)
				continue;
			move_has_free(&to);
			to = has_of(in, moves->items[i].to, moves->items[i].n_to);
		}
		same = move_has_same(&to, &want);
		for (j = 0; j < moves->n_off; j++)
			same |= moves->off[j].workload == w;
		move_has_free(&to);
		move_has_free(&want);
		if (!same)
			return false;
	}
	return true;
}

static void test_random(void)
{
	size_t bad = 0, astray = 0, short_of = 0, moved = 0, split = 0, i, j, k;

	for (i = 0; i < RANDOM; i++) {
		struct plan_options how = { .sweeps = 3, .effort = 1 };
		struct fault fault = { "" };
		struct plan_solution s;
		struct plan_instance in;
		struct plan_moves moves;

		make(&in);
		if (plan_solve(&in, &how, &s, &fault)) {
			ok(false, "%s", fault.text);
			plan_solution_free(&s);
			plan_instance_free(&in);
			continue;
		}
		plan_moves_make(&in, NULL, &s, &moves);
		bad += !possible(&in, &moves);
		short_of += !arrives(&in, &s, &moves);
		moved += moves.n;
		for (j = 0; j <= moves.n; j++)
			astray += !goes_on(&in, &moves, j);
		for (j = 0; j < moves.n; j++)
			for (k = 0; k < j; k++)
				split += moves.items[j].workload == moves.items[k].workload;
		plan_moves_free(&moves);
		plan_solution_free(&s);
		plan_instance_free(&in);
	}
	is_int((intmax_t)bad, 0, "every move is possible when it is made");
	is_int((intmax_t)short_of, 0, "they lead to the plan, or say what they put off");
	is_int((intmax_t)astray, 0, "a list is gone on with wherever it ended");
	ok(moved > RANDOM, "%zu moves", moved);
	ok(split > 0, "%zu workloads give back before they get", split);
	tap_counted("plan.moves", moved);
}

/* Tenants are guaranteed GPUs, one of them without a workload here. */
static void make_guaranteed(struct plan_instance *in)
{
	size_t i;

	make(in);
	for (i = 0; i < in->n_tenants; i++)
		in->tenants[i].guarantee = below(4);
	plan_add_tenant(in, "absent");
	in->tenants[in->n_tenants - 1].guarantee = below(5);
}

/* What the best plan found costs that begins with the moves that are made, and these. */
static double cost_after(const struct plan_instance *in, const struct plan_moves *moves,
			 unsigned int effort)
{
	struct plan_workload works[8];
	struct plan_instance after = *in;
	struct plan_options how = { .sweeps = 20, .effort = effort };
	struct fault fault = { "" };
	struct plan_solution s;
	double cost = 0;
	size_t i, j;

	after.workloads = works;
	for (i = 0; i < in->n_workloads; i++) {
		works[i] = in->workloads[i];
		works[i].keep = 1;
	}
	for (i = 0; i < moves->n; i++) {
		struct plan_move *m = &moves->items[i];
		int64_t more[3] = { 0 };

		for (j = 0; j < m->n_to; j++)
			more[m->to[j].pool] += m->to[j].gpus;
		for (j = 0; j < m->n_from; j++)
			more[m->from[j].pool] -= m->from[j].gpus;
		for (j = 0; j < in->n_pools; j++)
			cost += more[j] > 0 ? (double)more[j] * in->pools[j].attach_s :
					      (double)-more[j] * in->pools[j].detach_s;
		works[m->workload].now = m->to;
		works[m->workload].n_now = m->n_to;
	}
	if (plan_solve(&after, &how, &s, &fault))
		ok(false, "%s", fault.text);
	cost += s.cost.total;
	plan_solution_free(&s);
	return cost;
}

/* Moves that are made save what they are to save, also where somebody is put off. */
static void test_worth_random(void)
{
	size_t bad = 0, moved = 0, off = 0, i, j;

	for (i = 0; i < RANDOM; i++) {
		struct plan_options how = { .sweeps = 20, .effort = 4 };
		struct fault fault = { "" };
		struct plan_instance in;
		struct plan_step step;

		make_guaranteed(&in);
		if (plan_step(&in, NULL, &how, 10, &step, &fault))
			ok(false, "%s", fault.text);
		bad += step.moves.n && cost_after(&in, &step.moves, 4) > step.waiting &&
		       cost_after(&in, &step.moves, 200) > step.waiting;
		moved += !!step.moves.n;
		for (j = 0; j < step.moves.n_off && step.moves.n; j++)
			off += step.moves.off[j].reason == PLAN_OFF_ROOM;
		plan_step_free(&step);
		plan_instance_free(&in);
	}
	is_int((intmax_t)bad, 0, "after the moves it costs less than waiting");
	ok(moved > RANDOM / 4, "%zu steps move something", moved);
	ok(off > 0, "%zu workloads are put off in them", off);
}

#define HEAD "{\"gpufabric_plan\":1,\"intervals\":10,\"interval_s\":60,\"attach_s\":%s,\n"
#define FABRIC "\"kinds\":[{\"name\":\"k\"}],\"switches\":[{\"name\":\"s\"}],\"hosts\":[{\"name\":\"h\"}],\n" \
	       "\"pools\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":8}],\n"
#define A_HAS "\"now\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":%d}]"

/* a has @has_a and asks for @a, b the same; how many moves are worth it? */
static size_t count_moves(const char *attach, int has_a, int a, int has_b, int b, double margin,
			  struct plan_ahead *ahead)
{
	char *text = mem_printf(HEAD FABRIC "\"workloads\":[{\"name\":\"a\",\"history\":[%d],\"kinds\":[\"k\"],"
				A_HAS "},\n{\"name\":\"b\",\"history\":[%d],\"kinds\":[\"k\"]," A_HAS "}]}",
				attach, a, has_a, b, has_b);
	struct plan_options how = { 0 };
	struct plan_instance in = { 0 };
	struct fault fault = { "" };
	struct plan_step step;
	size_t n;

	if (plan_read_onto(&in, ahead, "f", text, strlen(text), &fault) ||
	    plan_step(&in, ahead, &how, margin, &step, &fault)) {
		ok(false, "%s", fault.text);
		return SIZE_MAX;
	}
	n = step.moves.n;
	plan_step_free(&step);
	plan_instance_free(&in);
	plan_ahead_free(ahead);
	free(text);
	return n;
}

static void test_worth(void)
{
	struct plan_ahead ahead = { .quantile = 0.9 };

	is_int((intmax_t)count_moves("3", 4, 2, 4, 6, 10, &ahead), 2, "a GPU goes where it is needed");
	is_int((intmax_t)count_moves("3", 4, 2, 4, 4, 10, &ahead), 0, "not where nobody needs it");
	is_int((intmax_t)count_moves("3", 4, 3, 4, 5, 10000, &ahead), 0, "not for less than the margin");
	is_int((intmax_t)count_moves("1000", 4, 3, 4, 5, 10, &ahead), 0, "not for less than it costs");
	is_int((intmax_t)count_moves("3", 4, 4, 4, 4, 0, &ahead), 0, "and not for nothing");
}

static struct plan_set *add_set(struct plan_ahead *ahead, const char *name, uint32_t gpus,
				uint32_t held, uint32_t age)
{
	struct plan_set *set;

	ahead->sets = mem_grow(ahead->sets, ahead->n_sets + 1, sizeof(*set));
	set = &ahead->sets[ahead->n_sets++];
	*set = (struct plan_set){ .name = mem_strdup(name), .n = 1, .age = age };
	set->has = mem_zalloc(1, sizeof(*set->has));
	set->held = mem_zalloc(1, sizeof(*set->held));
	set->has[0] = (struct plan_held){ 0, gpus };
	set->held[0] = held;
	return set;
}

/* What the module would say: 8 GPUs, of which a has 4 and b has 4. None is free. */
static void module(struct plan_instance *in, struct plan_ahead *ahead, uint32_t held, uint32_t age)
{
	memset(in, 0, sizeof(*in));
	*ahead = (struct plan_ahead){ .quantile = 0.9, .has_state = true, .n_pools = 1 };
	plan_add_host(in, "9host");
	plan_add_switch(in, "0000:01:00.0");
	plan_add_kind(in, "k");
	plan_add_pool(in, 0, 0, 0);
	add_set(ahead, "a", 4, held, age);
	add_set(ahead, "b", 4, 0, age);
}

/* With @more of workload a, and @pools in the file. */
static size_t moves_with_pools(struct plan_instance *in, struct plan_ahead *ahead,
			       const char *more, const char *pools, struct plan_step *step)
{
	char *text = mem_printf("{\"gpufabric_plan\":1,\"intervals\":10,\"interval_s\":60,%s\"workloads\":[\n"
				"{\"name\":\"a\",\"history\":[2],\"kinds\":[\"k\"]%s},\n"
				"{\"name\":\"b\",\"history\":[6],\"kinds\":[\"k\"]}]}", pools, more);
	struct plan_options how = { 0 };
	struct fault fault = { "" };

	memset(step, 0, sizeof(*step));
	if (plan_read_onto(in, ahead, "f", text, strlen(text), &fault) ||
	    plan_step(in, ahead, &how, 10, step, &fault))
		ok(false, "%s", fault.text);
	free(text);
	return step->moves.n;
}

static size_t moves_of_module(struct plan_instance *in, struct plan_ahead *ahead, const char *more,
			      struct plan_step *step)
{
	return moves_with_pools(in, ahead, more, "", step);
}

static void done(struct plan_instance *in, struct plan_ahead *ahead, struct plan_step *step)
{
	plan_step_free(step);
	plan_instance_free(in);
	plan_ahead_free(ahead);
}

static void test_module(void)
{
	struct plan_instance in;
	struct plan_ahead ahead;
	struct plan_step step;

	module(&in, &ahead, 0, 1000);
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 2, "what the module has is moved");
	is_int((intmax_t)step.moves.items[0].workload, 0, "who gives does so first");
	is_int((intmax_t)step.kept, 0, "nobody holds anything");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	plan_add_kind(&in, "j");
	is_int((intmax_t)moves_with_pools(&in, &ahead, "", "\"pools\":[{\"switch\":\"0000:01:00.0\","
					  "\"kind\":\"j\",\"attach_s\":5}],", &step), 2,
	       "a pool of the file in which there is nothing just now is no hindrance");
	done(&in, &ahead, &step);

	module(&in, &ahead, 2, 1000);
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 2, "others are held: the rest moves");
	done(&in, &ahead, &step);

	module(&in, &ahead, 3, 1000);
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 0, "what is held does not move");
	is_int((intmax_t)step.kept, 1, "as is said");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 2);
	is_int((intmax_t)moves_of_module(&in, &ahead, ",\"hold\":5", &step), 0, "nor what came just now");
	is_int(in.workloads[0].keep, 3, "for what is left of its hold");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 5);
	is_int((intmax_t)moves_of_module(&in, &ahead, ",\"hold\":5", &step), 2, "but then");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.minute = 7;
	is_int((intmax_t)moves_of_module(&in, &ahead, ",\"epochs\":[5,9]", &step), 0,
	       "nor what is within an epoch");
	is_int(in.workloads[0].keep, 2, "until its end");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.sets[0].busy = true;
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 0, "nor what the module is changing");
	ok(ahead.asked[0].left, "which is said: %s", ahead.asked[0].left ? ahead.asked[0].left : "-");
	is_int(in.pools[0].gpus, 4, "its GPUs are not planned with");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	add_set(&ahead, "stranger", 1, 0, 0);
	moves_of_module(&in, &ahead, "", &step);
	is_int(in.pools[0].gpus, 8, "nor those of a composition that no workload names");
	done(&in, &ahead, &step);
}

static void test_forecast(void)
{
	struct plan_phase phases[] = { { 3, 5 }, { 5, 0 } };
	double values[300], demand[70];
	struct plan_past past = { .values = values, .n = 3 };
	const uint64_t epochs[] = { 5, 9 };
	struct series_set series = { 0 };
	struct fault fault = { "" };
	size_t i, above = 0;

	for (i = 0; i < 300; i++)
		values[i] = (double)(i % 60 < 30 ? 2 : 6);
	is_str(plan_forecast(&past, 0, 1, 0.9, 70, demand), "as it is now", "little is known");
	is_near(demand[69], 2, 0, "so nothing changes");
	past.n = 300;
	plan_forecast(&past, 0, 1, 0.9, 70, demand);
	is_near(demand[0], 6, 0, "now is what it is");
	for (i = 0; i < 70; i++)
		above += demand[i] > 6;
	is_int((intmax_t)above, 0, "never more than there was");
	past = (struct plan_past){ .phases = phases, .n_phases = 2 };
	is_str(plan_forecast(&past, 0, 1, 0.9, 8, demand), "as announced", "phases alone");
	ok(demand[2] == 0 && demand[3] == 5 && demand[4] == 5 && demand[5] == 0, "begin when they do");
	past.values = values;
	past.n = 1;
	plan_forecast(&past, 3, 1, 0.9, 8, demand);
	ok(demand[0] == 2 && demand[1] == 2 && demand[2] == 0, "one that has begun is seen, not told");

	is_int(plan_until_epoch(epochs, 2, 2, 1, 100), 3, "until the next epoch");
	is_int(plan_until_epoch(epochs, 2, 5, 1, 100), 0, "at one it can be moved");
	is_int(plan_until_epoch(epochs, 2, 6, 2, 100), 2, "intervals, not minutes");
	is_int(plan_until_epoch(epochs, 2, 10, 1, 100), 0, "after the last, too");
	is_int(plan_until_epoch(epochs, 2, 0, 1, 4), 4, "not longer than the plan");

	is_int(series_add(&series, "w.csv", SERIES_HEADING "\n4,1,1,0\n5,1,2,1\n6,1,0,9\n",
			  strlen(SERIES_HEADING "\n4,1,1,0\n5,1,2,1\n6,1,0,9\n"), 100, &fault), 0, "a series");
	plan_past_series(&past, &series, 5, 1);
	ok(past.n == 2 && past.values[0] == 1 && past.values[1] == 3, "up to now");
	free(past.values);
	plan_past_series(&past, &series, 100, 1);
	ok(past.n == 3 && past.values[2] == 9, "the last is now where it ends before");
	free(past.values);
	plan_past_series(&past, &series, 100, 2);
	ok(past.n == 1 && past.values[0] == 9, "intervals of two minutes");
	free(past.values);
	plan_past_series(&past, &series, 3, 1);
	is_int((intmax_t)past.n, 0, "before it begins there is none");
	series_free(&series);
}

#define STEP "{\"gpufabric_moves\":1,\"steps\":[\n{\"step\":1,\"host\":\"h\",\"workload\":\"a\","
#define TO "\"to\":[{\"switch\":\"0000:01:00.0\",\"kind\":\"k\",\"gpus\":2}]"

static void refused(const char *text, const char *why)
{
	struct fault fault = { "" };
	struct move_list list;

	is_int(move_list_read(&list, "f", text, strlen(text), &fault), -EINVAL, "refused");
	is_str(fault.text, why, why);
	move_list_free(&list);
}

static void test_file(void)
{
	const char *good = STEP "\"action\":\"compose\"," TO "}]}";
	struct fault fault = { "" };
	struct move_list list;
	char *words;

	is_int(move_list_read(&list, "f", good, strlen(good), &fault), 0, "a list of moves");
	is_int((intmax_t)list.n, 1, "with one");
	words = move_has_text(&list.items[0].to);
	is_str(words, "2 k behind 0000:01:00.0", "in words");
	free(words);
	move_list_free(&list);
	refused("", "f:1:1: the file is empty");
	refused("{}", "f:1:1: \"gpufabric_moves\" is 0, not 1");
	refused(STEP "\"action\":\"steal\"," TO "}]}", "f:2:46: an action is compose, resize or release");
	refused(STEP "\"action\":\"compose\"}]}", "f:2:1: a: \"to\" does not go with compose");
	refused(STEP "\"action\":\"resize\"," TO "}]}", "f:2:1: a: \"from\" does not go with resize");
	refused(STEP "\"action\":\"compose\"," TO "},\n{\"step\":3}]}", "f:3:1: step 3 where 2 is due");
	refused(STEP "\"action\":\"compose\"," TO "},\n{\"step\":2,\"host\":\"h\",\"workload\":\"a\","
		"\"action\":\"compose\"," TO "}]}", "f:3:1: a: this is not what an earlier step left");
	refused(STEP "\"action\":\"compose\",\"to\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":0}]}]}",
		"f:2:62: no GPUs: leave it out");
	refused(STEP "\"action\":\"compose\",\"to\":[{\"switch\":\"s\\u0007\",\"kind\":\"k\",\"gpus\":1}]}]}",
		"f:2:72: a name has 1 to 63 bytes, and no control characters");
}

/* red has 2 of 4 GPUs, 2 are guaranteed to blue, who has no workload; green asks for @ask. */
static size_t moves_beside_guarantee(const char *kind, unsigned int ask, struct plan_step *step)
{
	char *text = mem_printf(
		"{\"gpufabric_plan\":1,\"intervals\":10,\"interval_s\":60,\"attach_s\":1,\"detach_s\":1,\n"
		"\"kinds\":[{\"name\":\"k\"}],\"switches\":[{\"name\":\"s\"}],\"hosts\":[{\"name\":\"h\"}],\n"
		"\"pools\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":4}],\n"
		"\"tenants\":[{\"name\":\"blue\",\"guarantee\":2},{\"name\":\"red\"},{\"name\":\"green\"}],\n"
		"\"workloads\":[{\"name\":\"w1\",\"tenant\":\"red\",\"kinds\":[\"k\"],\"gpus\":2,"
		"\"now\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":2}]},\n"
		"{\"name\":\"w2\",\"tenant\":\"green\",\"kinds\":[\"k\"],\"weight\":3,\"gpus\":%u%s}]}",
		ask, kind);
	struct plan_ahead ahead = { .quantile = 0.9 };
	struct plan_options how = { 0 };
	struct plan_instance in = { 0 };
	struct fault fault = { "" };

	memset(step, 0, sizeof(*step));
	if (plan_read_onto(&in, &ahead, "f", text, strlen(text), &fault) ||
	    plan_step(&in, &ahead, &how, 10, step, &fault))
		ok(false, "%s", fault.text);
	plan_instance_free(&in);
	plan_ahead_free(&ahead);
	free(text);
	return step->moves.n;
}

static void test_guarantee(void)
{
	struct plan_step step;

	is_int((intmax_t)moves_beside_guarantee(",\"gang\":true", 4, &step), 0,
	       "nobody gives for who cannot get, as GPUs are guaranteed to others");
	ok(step.cost >= step.waiting, "nor does the plan count on it");
	plan_step_free(&step);
	is_int((intmax_t)moves_beside_guarantee(",\"gang\":true", 2, &step), 2, "who can get is given");
	is_int(step.moves.items[0].action, PLAN_RELEASE, "what another has");
	plan_step_free(&step);
	is_int((intmax_t)moves_beside_guarantee("", 4, &step), 2, "and who can use less gets what can be had");
	is_int(step.moves.items[1].to[0].gpus, 2, "which is no GPU of the guarantee");
	plan_step_free(&step);
}

/* The reason for which the step says that a workload is not moved; PLAN_OFFS: none. */
static enum plan_off off_of(const struct plan_step *step, uint32_t workload)
{
	size_t i;

	for (i = 0; i < step->moves.n_off; i++)
		if (step->moves.off[i].workload == workload)
			return step->moves.off[i].reason;
	return PLAN_OFFS;
}

/* Why each of two is not moved is said once, and not of who is. */
static void test_reasons(void)
{
	struct plan_instance in;
	struct plan_ahead ahead;
	struct plan_step step;

	module(&in, &ahead, 0, 1000);
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 2, "both are moved");
	is_int((intmax_t)step.moves.n_off, 0, "and nobody is put off");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.sets[0].patience = 7;
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 0, "who is not at a boundary is not moved");
	is_int((intmax_t)step.kept, 0, "nobody holds anything");
	is_int(off_of(&step, 0), PLAN_OFF_BOUNDARY, "it waits for its next one");
	is_str(step.moves.off[0].why, "it waits for its next boundary, at most 7 min more", "so long at most");
	is_int(off_of(&step, 1), PLAN_OFF_WORTH, "the other one gets none");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.sets[1].patience = 7;
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 0, "who waits itself gets no GPU either");
	is_int(off_of(&step, 1), PLAN_OFF_BOUNDARY, "as is said");
	done(&in, &ahead, &step);

	module(&in, &ahead, 3, 1000);
	moves_of_module(&in, &ahead, "", &step);
	is_int(off_of(&step, 0), PLAN_OFF_HELD, "what is held is said");
	done(&in, &ahead, &step);

	module(&in, &ahead, 4, 1000);
	ahead.sets[0].refused = true;
	moves_of_module(&in, &ahead, "", &step);
	is_int(off_of(&step, 0), PLAN_OFF_REFUSED, "and who refused");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.failed = mem_zalloc(1, sizeof(*ahead.failed));
	ahead.failed[ahead.n_failed++] = "b";
	is_int((intmax_t)moves_of_module(&in, &ahead, "", &step), 0, "nobody gives for one whose move just failed");
	is_int(off_of(&step, 1), PLAN_OFF_FAILED, "as is said");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 2);
	moves_of_module(&in, &ahead, ",\"hold\":5", &step);
	is_int(off_of(&step, 0), PLAN_OFF_HOLD, "a hold");
	done(&in, &ahead, &step);

	module(&in, &ahead, 0, 1000);
	ahead.minute = 7;
	moves_of_module(&in, &ahead, ",\"epochs\":[5,9]", &step);
	is_int(off_of(&step, 0), PLAN_OFF_BOUNDARY, "an epoch");
	done(&in, &ahead, &step);
}

static void test_report(void)
{
	struct plan_report report = { 0 }, again;
	struct fault fault = { "" };
	struct plan_instance in;
	struct plan_ahead ahead;
	struct plan_step step;
	struct text text = { 0 };
	char *json;

	module(&in, &ahead, 0, 1000);
	ahead.sets[0].patience = 7;
	ahead.minute = 12;
	moves_of_module(&in, &ahead, "", &step);
	plan_report_make(&report, &in, &ahead, &step);
	report.time = 5000;
	plan_report_add(&report, "b", PLAN_OFF_FAILED, "step 1: \"busy\"");
	json = plan_report_text(&report);
	is_int(plan_report_read(&again, "f", json, strlen(json), &fault), 0, "what is written can be read");
	is_int((intmax_t)again.n, 2, "each workload once");
	is_int(plan_report_find(&again, "a")->reason, PLAN_OFF_BOUNDARY, "with its reason");
	is_str(plan_report_find(&again, "b")->why, "step 1: \"busy\"", "and its words, the last ones");
	ok(!plan_report_find(&again, "c"), "of others nothing is said");
	is_int((intmax_t)again.minute, 12, "the minute");
	plan_report_metrics(&text, &again);
	ok(strstr(text.text, "\ngpufabric_plan_timestamp_seconds 5\n"), "when it was");
	ok(strstr(text.text, "\ngpufabric_plan_moves 0\n"), "nothing moved");
	ok(strstr(text.text, "\ngpufabric_plan_put_off{workload=\"a\",reason=\"boundary\"} 1\n"), "and why");
	ok(strstr(text.text, "\ngpufabric_plan_put_off{workload=\"a\",reason=\"held\"} 0\n"), "and why not");
	plan_report_free(&again);
	free(text.text);
	text = (struct text){ 0 };
	plan_report_metrics(&text, &again);
	ok(!text.text, "without a step there is nothing to say");
	free(json);
	json = mem_strdup("{\"gpufabric_planned\":1,\"put_off\":[{\"workload\":\"a\",\"reason\":\"x\",\"why\":\"\"}]}");
	is_int(plan_report_read(&again, "f", json, strlen(json), &fault), -EINVAL, "an unknown reason is refused");
	plan_report_free(&again);
	free(json);
	json = mem_strdup("{\"gpufabric_planned\":1,\"cost\":-1}");
	is_int(plan_report_read(&again, "f", json, strlen(json), &fault), -EINVAL, "a cost below 0 is refused");
	ok(again.cost == 0, "and is not taken");
	plan_report_free(&again);
	plan_report_free(&report);
	free(json);
	done(&in, &ahead, &step);
}

#define DEMAND "{\"gpufabric_plan\":1,\"intervals\":2,\"interval_s\":60," FABRIC "\"workloads\":[\n{\"name\":\"a\","

static void not_taken(const char *text, const char *why)
{
	struct plan_ahead ahead = { .quantile = 0.9 };
	struct plan_instance in = { 0 };
	struct fault fault = { "" };

	is_int(plan_read_onto(&in, &ahead, "f", text, strlen(text), &fault), -EINVAL, "not taken");
	is_str(fault.text, why, why);
	plan_instance_free(&in);
	plan_ahead_free(&ahead);
}

static void test_demand(void)
{
	not_taken(DEMAND "\"kinds\":[\"k\"]}]}",
		  "f:4:1: workload a needs \"gpus\", \"memory_gib\", \"history\", \"phases\" or a series a.csv");
	not_taken(DEMAND "\"history\":[1,-2],\"kinds\":[\"k\"]}]}", "f:4:26: -2 is outside 0 to 100000");
	not_taken(DEMAND "\"gpus\":1,\"history\":[1],\"kinds\":[\"k\"]}]}",
		  "f:4:1: workload a: its demand is given, and forecast too");
	not_taken(DEMAND "\"phases\":[{\"minute\":4,\"gpus\":1},{\"minute\":4,\"gpus\":2}],\"kinds\":[\"k\"]}]}",
		  "f:4:55: minute 4 is not after 4");
	not_taken(DEMAND "\"phases\":[{\"phase\":\"nap\",\"minute\":4,\"gpus\":1}],\"kinds\":[\"k\"]}]}",
		  "f:4:32: a phase is start, middle or end");
	not_taken(DEMAND "\"history\":[1],\"epochs\":[9,8],\"kinds\":[\"k\"]}]}",
		  "f:4:39: minute 8 is not after 9");
}

int main(void)
{
	test_random();
	test_worth_random();
	test_worth();
	test_guarantee();
	test_module();
	test_reasons();
	test_report();
	test_forecast();
	test_file();
	test_demand();
	return tap_done();
}
