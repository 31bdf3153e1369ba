// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the bound where keeping a GPU costs nothing
 *
 * In a minute with more demand than GPUs, what is missing costs 1 each, whoever
 * goes without: let everybody pay that and have its GPUs, but let nobody keep one there
 * that it does not need. All other minutes have room for all demand. What is left to
 * decide is which GPUs stay with their tenant from one need to the next, which saves an attach: in
 * each minute no more than the demand leaves room for. To keep as many as
 * possible, give up whose next need is last: that is exact for this problem, and no plan
 * for the real one can cost less. Holds while an attach costs at most half a minute:
 * then to leave a need unserved never saves more than it costs.
 */
#include <stdlib.h>

#include "base/text.h"
#include "serve_links.h"

/**
 * struct link - from one need of a GPU to the next
 * @from: first minute without need
 * @to: first one with it again
 */
struct link {
	size_t from, to;
};

/**
 * struct links - of all tenants
 * @broken: needs that no link can reach
 * @room: GPUs in each minute that nobody needs, -1 where there are too few
 * @start: first minute that counts
 */
struct links {
	struct link *link;
	size_t n, alloc;
	double broken;
	int64_t *room;
	size_t start, minutes;
};

static void add_link(struct links *l, size_t from, size_t to)
{
	if (l->n == l->alloc) {
		l->alloc = l->alloc ? 2 * l->alloc : 1024;
		l->link = mem_grow(l->link, l->alloc, sizeof(*l->link));
	}
	l->link[l->n++] = (struct link){ from, to };
}

/* The links of one GPU of a tenant: that which it needs when it needs @level of them. */
static void serve_links_collect(struct links *l, const struct series *s, int32_t level)
{
	size_t t, idle = l->start;
	bool gap = false, broken = false;

	for (t = l->start; t < l->minutes; t++) {
		if (l->room[t] < 0) {
			broken |= s->demand[t] < level;
			continue;
		}
		if (s->demand[t] < level) {
			if (!gap)
				idle = t;
			gap = true;
			continue;
		}
		if (broken)
			l->broken++;
		else if (gap)
			add_link(l, idle, t);
		gap = false;
		broken = false;
	}
}

static int serve_links_by_start(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* How many links have to be given up. */
static double serve_links_give_up(const struct links *l)
{
	size_t *ends = mem_zalloc(l->minutes + 1, sizeof(*ends));
	size_t next = 0, last = 0, t;
	int64_t kept = 0;
	double lost = 0;

	for (t = l->start; t < l->minutes; t++) {
		kept -= (int64_t)ends[t];
		ends[t] = 0;
		for (; next < l->n && l->link[next].from == t; next++, kept++) {
			ends[l->link[next].to]++;
			last = l->link[next].to > last ? l->link[next].to : last;
		}
		if (l->room[t] < 0)
			continue;
		for (; kept > l->room[t]; kept--, lost++) {
			while (!ends[last])
				last--;
			ends[last]--;
		}
	}
	free(ends);
	return lost;
}

double serve_links_bound(const struct series_set *set, const struct serve_rates *rates, size_t from)
{
	struct links l = { .start = from, .minutes = set->minutes };
	double missing = 0, lost;
	int32_t level, most;
	size_t i, t;

	l.room = mem_zalloc(set->minutes, sizeof(*l.room));
	for (t = from; t < set->minutes; t++) {
		l.room[t] = rates->pool;
		for (i = 0; i < set->n; i++)
			l.room[t] -= set->of[i].demand[t];
		if (l.room[t] < 0)
			missing -= (double)l.room[t];
	}
	for (i = 0; i < set->n; i++) {
		for (most = 0, t = from; t < set->minutes; t++)
			most = set->of[i].demand[t] > most ? set->of[i].demand[t] : most;
		for (level = 1; level <= most; level++)
			serve_links_collect(&l, &set->of[i], level);
	}
	if (l.n)
		qsort(l.link, l.n, sizeof(*l.link), serve_links_by_start);
	lost = serve_links_give_up(&l);
	free(l.link);
	free(l.room);
	return missing + rates->attach * (l.broken + lost);
}
