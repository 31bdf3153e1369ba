// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: cheapest flow
 *
 * Successive shortest paths: each unit goes the cheapest way that is left, where taking an
 * earlier one back is a way, too. With a number for each node, its distance so far, what an arc
 * costs beyond the difference of its ends is never below 0, so that the next way is found from
 * the near nodes to the far ones. The first numbers come from going over all arcs until none is
 * shorter, which is soon where arcs lead to higher nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/flow.h"

/**
 * struct search - memory for the ways
 * @first: arcs of a node stand at @by_node from here on
 * @by_node: numbers of arcs
 * @high: number of each node
 * @far: distance beyond that, of this search
 * @by: the arc that leads there
 * @heap: nodes that are to be looked at, the nearest first
 * @place: of a node in @heap, 0: it is not there
 * @n: nodes in @heap
 */
struct search {
	size_t *first, *by_node;
	double *high, *far;
	size_t *by;
	uint32_t *heap;
	size_t *place, n;
};

void flow_init(struct flow *f, size_t nodes)
{
	memset(f, 0, sizeof(*f));
	f->nodes = nodes;
}

void flow_free(struct flow *f)
{
	free(f->arcs);
	memset(f, 0, sizeof(*f));
}

size_t flow_arc(struct flow *f, uint32_t from, uint32_t to, uint32_t most, double cost)
{
	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		f->arcs = mem_grow(f->arcs, f->room, sizeof(*f->arcs));
	}
	f->arcs[f->n++] = (struct flow_arc){ to, most, cost };
	f->arcs[f->n++] = (struct flow_arc){ from, 0, -cost };
	return f->n / 2 - 1;
}

uint32_t flow_on(const struct flow *f, size_t arc)
{
	return f->arcs[2 * arc + 1].left;
}

static uint32_t tail(const struct flow *f, size_t arc)
{
	return f->arcs[arc ^ 1].to;
}

static void sort_arcs(const struct flow *f, struct search *s)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		s->first[tail(f, i) + 1]++;
	for (i = 0; i < f->nodes; i++)
		s->first[i + 1] += s->first[i];
	for (i = f->n; i-- > 0;)
		s->by_node[--s->first[tail(f, i) + 1]] = i;
	/* Counting down has left each where the node before it ends: shift back. */
	for (i = 0; i < f->nodes; i++)
		s->first[i] = s->first[i + 1];
	s->first[f->nodes] = f->n;
}

static void first_numbers(const struct flow *f, struct search *s, uint32_t from)
{
	bool shorter = true;
	size_t i, k, round;

	for (i = 0; i < f->nodes; i++)
		s->high[i] = INFINITY;
	s->high[from] = 0;
	for (round = 0; shorter && round < f->nodes; round++) {
		shorter = false;
		for (i = 0; i < f->nodes; i++) {
			for (k = s->first[i]; k < s->first[i + 1] && s->high[i] < INFINITY; k++) {
				const struct flow_arc *a = &f->arcs[s->by_node[k]];

				if (!a->left || s->high[i] + a->cost >= s->high[a->to])
					continue;
				s->high[a->to] = s->high[i] + a->cost;
				shorter = true;
			}
		}
	}
}

static void flow_put(struct search *s, size_t at, uint32_t node)
{
	s->heap[at] = node;
	s->place[node] = at + 1;
}

static void rise(struct search *s, size_t at)
{
	uint32_t node = s->heap[at];

	for (; at && s->far[s->heap[(at - 1) / 2]] > s->far[node]; at = (at - 1) / 2)
		flow_put(s, at, s->heap[(at - 1) / 2]);
	flow_put(s, at, node);
}

static uint32_t take_nearest(struct search *s)
{
	uint32_t nearest = s->heap[0], node = s->heap[--s->n];
	size_t at = 0, next;

	s->place[nearest] = 0;
	for (next = 1; next < s->n; next = 2 * at + 1) {
		if (next + 1 < s->n && s->far[s->heap[next + 1]] < s->far[s->heap[next]])
			next++;
		if (s->far[s->heap[next]] >= s->far[node])
			break;
		flow_put(s, at, s->heap[next]);
		at = next;
	}
	if (s->n)
		flow_put(s, at, node);
	return nearest;
}

static void look_from(const struct flow *f, struct search *s, uint32_t node)
{
	size_t k;

	for (k = s->first[node]; k < s->first[node + 1]; k++) {
		const struct flow_arc *a = &f->arcs[s->by_node[k]];
		double cost = a->cost + s->high[node] - s->high[a->to];

		/* What is below 0 is rounding. */
		if (!a->left || s->far[node] + (cost > 0 ? cost : 0) >= s->far[a->to])
			continue;
		s->far[a->to] = s->far[node] + (cost > 0 ? cost : 0);
		s->by[a->to] = s->by_node[k];
		if (!s->place[a->to])
			flow_put(s, s->n++, a->to);
		rise(s, s->place[a->to] - 1);
	}
}

/* The cheapest way that is left; false when there is none. */
static bool find_way(const struct flow *f, struct search *s, uint32_t from, uint32_t to)
{
	size_t i;
	uint32_t node;

	for (i = 0; i < f->nodes; i++) {
		s->far[i] = INFINITY;
		s->place[i] = 0;
	}
	s->n = 0;
	s->far[from] = 0;
	flow_put(s, s->n++, from);
	while (s->n) {
		node = take_nearest(s);
		if (node == to)
			break;
		look_from(f, s, node);
	}
	if (s->far[to] == INFINITY)
		return false;
	for (i = 0; i < f->nodes; i++)
		s->high[i] += s->far[i] < s->far[to] ? s->far[i] : s->far[to];
	return true;
}

static uint32_t go(struct flow *f, const struct search *s, uint32_t from, uint32_t to, double *cost)
{
	uint32_t most = UINT32_MAX, node;

	for (node = to; node != from; node = tail(f, s->by[node]))
		if (f->arcs[s->by[node]].left < most)
			most = f->arcs[s->by[node]].left;
	for (node = to; node != from; node = tail(f, s->by[node])) {
		f->arcs[s->by[node]].left -= most;
		f->arcs[s->by[node] ^ 1].left += most;
		*cost += most * f->arcs[s->by[node]].cost;
	}
	return most;
}

uint32_t flow_send(struct flow *f, uint32_t from, uint32_t to, double *cost)
{
	struct search s = { 0 };
	uint32_t sent = 0;

	s.first = mem_zalloc(f->nodes + 1, sizeof(*s.first));
	s.by_node = mem_zalloc(f->n + 1, sizeof(*s.by_node));
	s.high = mem_zalloc(f->nodes, sizeof(*s.high));
	s.far = mem_zalloc(f->nodes, sizeof(*s.far));
	s.by = mem_zalloc(f->nodes, sizeof(*s.by));
	s.heap = mem_zalloc(f->nodes, sizeof(*s.heap));
	s.place = mem_zalloc(f->nodes, sizeof(*s.place));
	sort_arcs(f, &s);
	first_numbers(f, &s, from);
	*cost = 0;
	while (find_way(f, &s, from, to))
		sent += go(f, &s, from, to, cost);
	free(s.first);
	free(s.by_node);
	free(s.high);
	free(s.far);
	free(s.by);
	free(s.heap);
	free(s.place);
	return sent;
}
