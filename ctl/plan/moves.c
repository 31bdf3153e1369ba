// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: moves in order
 *
 * Whoever can have GPUs that are free gets them first, the heaviest first. When nobody can,
 * somebody gives GPUs back; a workload that goes from one pool to another gives back before
 * it gets only where nothing else makes room. What finds no room even then is put off,
 * or made smaller where fewer GPUs are of use.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/moves.h"

const char *const plan_action_names[PLAN_ACTIONS] = { "compose", "resize", "release" };

const char *const plan_off_names[PLAN_OFFS] = {
	[PLAN_OFF_ROOM] = "room",     [PLAN_OFF_BOUNDARY] = "boundary",
	[PLAN_OFF_HELD] = "held",     [PLAN_OFF_REFUSED] = "refused",
	[PLAN_OFF_HOLD] = "hold",     [PLAN_OFF_MARGIN] = "margin",
	[PLAN_OFF_WORTH] = "worth",   [PLAN_OFF_LEFT] = "left",
	[PLAN_OFF_FAILED] = "failed",
};

/**
 * struct has - what a workload has at some time
 * @held: by pool
 * @n: entries
 */
struct has {
	struct plan_held held[4];
	size_t n;
};

/**
 * struct order - what is free while moves are made one after the other
 * @in: the instance
 * @ahead: NULL, or what is known beside it
 * @moves: made so far
 * @now: what each workload has by then
 * @want: what each is to have
 * @room: free GPUs of each pool
 * @host: GPUs of each host
 * @tenant: GPUs of each tenant
 */
struct order {
	const struct plan_instance *in;
	const struct plan_ahead *ahead;
	struct plan_moves *moves;
	struct has *now, *want;
	int64_t *room, *host, *tenant;
};

static uint32_t of_pool(const struct has *has, uint32_t pool)
{
	size_t i;

	for (i = 0; i < has->n; i++)
		if (has->held[i].pool == pool)
			return has->held[i].gpus;
	return 0;
}

static uint32_t moves_all_of(const struct has *has)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < has->n; i++)
		sum += has->held[i].gpus;
	return sum;
}

static bool same(const struct has *a, const struct has *b)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (of_pool(b, a->held[i].pool) != a->held[i].gpus)
			return false;
	return moves_all_of(a) == moves_all_of(b);
}

static bool gives(const struct has *a, const struct has *b)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (of_pool(b, a->held[i].pool) < a->held[i].gpus)
			return true;
	return false;
}

static void account(struct order *o, uint32_t w, const struct has *has, int sign)
{
	const struct plan_workload *work = &o->in->workloads[w];
	size_t i;

	for (i = 0; i < has->n; i++) {
		int64_t gpus = sign * (int64_t)has->held[i].gpus;

		o->room[has->held[i].pool] -= gpus;
		o->host[work->host] += gpus;
		if (work->tenant != PLAN_NONE)
			o->tenant[work->tenant] += gpus;
	}
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static char *reason(const struct order *o, uint32_t w, const struct has *to)
{
	const struct plan_asked *asked = o->ahead ? &o->ahead->asked[w] : NULL;
	const struct plan_workload *work = &o->in->workloads[w];
	uint32_t need = work->choices[0].need[0], peak = 0, has = moves_all_of(&o->now[w]);
	struct text t = { 0 };
	size_t i;

	for (i = 0; i < o->in->n_intervals; i++)
		if (work->choices[0].need[i] > peak)
			peak = work->choices[0].need[i];
	text_add(&t, "needs %u GPU%s, has %u", need, plural(need), has);
	if (peak > need)
		text_add(&t, ", at most %u ahead", peak);
	if (asked && asked->how && peak > need)
		text_add(&t, " (%s)", asked->how);
	if (moves_all_of(to) > has && moves_all_of(to) < need)
		text_add(&t, "; no more are to be had");
	if (moves_all_of(to) < has && need >= has)
		text_add(&t, "; others need them more");
	if (moves_all_of(to) == has)
		text_add(&t, "; moves to make room or to be nearer");
	return t.text;
}

static void make(struct order *o, uint32_t w, const struct has *to)
{
	struct plan_moves *m = o->moves;
	struct plan_move *move;

	m->items = mem_push(m->items, m->n, sizeof(*m->items));
	move = &m->items[m->n++];
	*move = (struct plan_move){
		.workload = w,
		.n_from = o->now[w].n,
		.n_to = to->n,
		.action = !o->now[w].n ? PLAN_COMPOSE :
			  to->n	       ? PLAN_RESIZE :
					 PLAN_RELEASE,
		.why = reason(o, w, to),
	};
	memcpy(move->from, o->now[w].held, sizeof(move->from));
	memcpy(move->to, to->held, sizeof(move->to));
	account(o, w, &o->now[w], -1);
	account(o, w, to, 1);
	o->now[w] = *to;
}

/* Lanes of an uplink that the host's workloads take, once this one has @to. */
static bool lanes_fit(const struct order *o, uint32_t w, const struct has *to, uint32_t sw)
{
	const struct plan_instance *in = o->in;
	uint32_t host = in->workloads[w].host;
	uint64_t lanes = 0, limit = PLAN_NONE;
	size_t i, j;

	for (i = 0; i < in->n_links; i++)
		if (in->links[i].host == host && in->links[i].sw == sw)
			limit = in->links[i].lanes;
	if (limit == PLAN_NONE)
		return true;
	for (i = 0; i < in->n_workloads; i++) {
		const struct has *has = i == w ? to : &o->now[i];

		for (j = 0; j < has->n && in->workloads[i].host == host; j++)
			if (in->pools[has->held[j].pool].sw == sw)
				lanes += (uint64_t)has->held[j].gpus * in->workloads[i].lanes;
	}
	return lanes <= limit;
}

/* As tenants_admit(), which decides when the move is made: on this host, of its free GPUs. */
static bool tenant_lets(const struct order *o, uint32_t w, int64_t more)
{
	bool local = o->ahead && o->ahead->has_state;
	const struct plan_instance *in = o->in;
	uint32_t tenant = in->workloads[w].tenant;
	size_t pools = local ? o->ahead->n_pools : in->n_pools, i;
	int64_t left = -more, due = 0;

	if (more <= 0 || !in->n_tenants || (local && in->workloads[w].host))
		return true;
	if (tenant != PLAN_NONE) {
		const struct plan_tenant *t = &in->tenants[tenant];

		if (t->limit != PLAN_NONE && o->tenant[tenant] + more > t->limit)
			return false;
		if (o->tenant[tenant] + more <= t->guarantee)
			return true;
	}
	for (i = 0; i < pools; i++)
		left += o->room[i];
	for (i = 0; i < in->n_tenants; i++)
		if (i != tenant && in->tenants[i].guarantee > o->tenant[i])
			due += in->tenants[i].guarantee - o->tenant[i];
	return left >= due;
}

/* NULL when the move is possible now, else why not. */
static const char *hinders(const struct order *o, uint32_t w, const struct has *to)
{
	const struct plan_instance *in = o->in;
	const struct plan_host *host = &in->hosts[in->workloads[w].host];
	int64_t more = (int64_t)moves_all_of(to) - moves_all_of(&o->now[w]);
	size_t i;

	for (i = 0; i < to->n; i++) {
		uint32_t pool = to->held[i].pool, had = of_pool(&o->now[w], pool);

		if (to->held[i].gpus <= had)
			continue;
		if (to->held[i].gpus - had > o->room[pool])
			return "no GPU is free before others give back";
		if (!lanes_fit(o, w, to, in->pools[pool].sw))
			return "the uplink has no lanes left";
	}
	if (host->slots != PLAN_NONE && more > 0 &&
	    o->host[in->workloads[w].host] + more > host->slots)
		return "the host has no slot left";
	if (!tenant_lets(o, w, more))
		return "its tenant has no room: what is free is guaranteed to others";
	return NULL;
}

/* What it has when it has given back all that it is to give back, and got nothing. */
static struct has moves_less(const struct order *o, uint32_t w)
{
	struct has to = { .n = 0 };
	size_t i;

	for (i = 0; i < o->now[w].n; i++) {
		struct plan_held h = o->now[w].held[i];
		uint32_t wanted = of_pool(&o->want[w], h.pool);

		h.gpus = wanted < h.gpus ? wanted : h.gpus;
		if (h.gpus)
			to.held[to.n++] = h;
	}
	return to;
}

static bool only_gives(const struct order *o, uint32_t w)
{
	struct has to = moves_less(o, w);

	return same(&to, &o->want[w]);
}

/* The next of those that are not there yet: the heaviest, or the lightest; ties by index. */
static uint32_t moves_pick(const struct order *o, bool heaviest,
			   bool (*may)(const struct order *o, uint32_t w))
{
	uint32_t found = PLAN_NONE, w;

	for (w = 0; w < o->in->n_workloads; w++) {
		double weight = o->in->workloads[w].weight;

		if (same(&o->now[w], &o->want[w]) || !may(o, w))
			continue;
		if (found == PLAN_NONE || (heaviest ? weight > o->in->workloads[found].weight :
						      weight < o->in->workloads[found].weight))
			found = w;
	}
	return found;
}

static bool gets_now(const struct order *o, uint32_t w)
{
	return !only_gives(o, w) && !hinders(o, w, &o->want[w]);
}

static bool must_give_first(const struct order *o, uint32_t w)
{
	return gives(&o->now[w], &o->want[w]);
}

static bool any(const struct order *o, uint32_t w)
{
	(void)o;
	(void)w;
	return true;
}

/* As many as are possible of what it wants, one after the other; none where all are needed. */
static struct has part(const struct order *o, uint32_t w)
{
	struct has to = o->now[w], more;
	size_t i;

	if (o->in->workloads[w].gang)
		return to;
	for (i = 0; i < o->want[w].n; i++) {
		struct plan_held h = o->want[w].held[i];

		for (h.gpus = of_pool(&to, h.pool) + 1; h.gpus <= o->want[w].held[i].gpus;
		     h.gpus++) {
			size_t j;

			more = to;
			for (j = 0; j < more.n && more.held[j].pool != h.pool;)
				j++;
			if (j == 4)
				break;
			more.held[j] = h;
			more.n = j == more.n ? j + 1 : more.n;
			if (hinders(o, w, &more))
				break;
			to = more;
		}
	}
	return to;
}

void plan_moves_put_off(struct plan_moves *moves, uint32_t workload, enum plan_off reason,
			const char *fmt, ...)
{
	va_list ap;

	moves->off = mem_push(moves->off, moves->n_off, sizeof(*moves->off));
	va_start(ap, fmt);
	moves->off[moves->n_off++] = (struct plan_put_off){
		.workload = workload,
		.reason = reason,
		.why = mem_vprintf(fmt, ap),
	};
	va_end(ap);
}

static void moves_take_part(struct order *o, uint32_t w)
{
	const char *why = hinders(o, w, &o->want[w]);
	struct has to = part(o, w);

	plan_moves_put_off(o->moves, w, PLAN_OFF_ROOM, "%s", why ? why : "not possible");
	if (!same(&to, &o->now[w]))
		make(o, w, &to);
	o->want[w] = o->now[w];
}

static void moves_run(struct order *o)
{
	for (;;) {
		uint32_t w = moves_pick(o, true, gets_now);
		struct has to;

		if (w != PLAN_NONE) {
			make(o, w, &o->want[w]);
			continue;
		}
		w = moves_pick(o, false, only_gives);
		if (w == PLAN_NONE)
			w = moves_pick(o, false, must_give_first);
		if (w != PLAN_NONE) {
			to = moves_less(o, w);
			make(o, w, &to);
			continue;
		}
		w = moves_pick(o, true, any);
		if (w == PLAN_NONE)
			return;
		moves_take_part(o, w);
	}
}

static void take_config(struct has *has, const struct plan_held *held, size_t n)
{
	has->n = n < 4 ? n : 4;
	if (has->n)
		memcpy(has->held, held, has->n * sizeof(*held));
}

void plan_moves_make(const struct plan_instance *in, const struct plan_ahead *ahead,
		     const struct plan_solution *s, struct plan_moves *moves)
{
	struct order o = { .in = in, .ahead = ahead, .moves = moves };
	uint32_t w;
	size_t q;

	memset(moves, 0, sizeof(*moves));
	o.now = mem_zalloc(in->n_workloads, sizeof(*o.now));
	o.want = mem_zalloc(in->n_workloads, sizeof(*o.want));
	o.room = mem_zalloc(in->n_pools, sizeof(*o.room));
	o.host = mem_zalloc(in->n_hosts, sizeof(*o.host));
	o.tenant = mem_zalloc(in->n_tenants, sizeof(*o.tenant));
	for (q = 0; q < in->n_pools; q++)
		o.room[q] = in->pools[q].gpus;
	for (w = 0; w < in->n_workloads; w++) {
		const struct plan_workload *work = &in->workloads[w];
		struct plan_config c = plan_config_at(s, w, 0);

		take_config(&o.now[w], work->now, work->n_now);
		take_config(&o.want[w], c.held, c.n);
		account(&o, w, &o.now[w], 1);
	}
	moves_run(&o);
	free(o.now);
	free(o.want);
	free(o.room);
	free(o.host);
	free(o.tenant);
}

void plan_moves_free(struct plan_moves *moves)
{
	size_t i;

	for (i = 0; i < moves->n; i++)
		free(moves->items[i].why);
	for (i = 0; i < moves->n_off; i++)
		free(moves->off[i].why);
	free(moves->items);
	free(moves->off);
	memset(moves, 0, sizeof(*moves));
}
