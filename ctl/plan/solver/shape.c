// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: configurations
 *
 * An elastic workload can have any counts up to its most, so whatever is inside a configuration
 * is one as well: every move is some single steps down and then some single steps up, and the
 * cheapest way between all pairs takes two sweeps over the steps (solver/path.c). A gang has only
 * few sizes; its moves go through nothing, but for pairs that share GPUs, which are listed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/solver/shape.h"

/* Counts that are tried; a shape that needs more has too many configurations anyway. */
#define STEPS_MAX (100 * SHAPE_CONFIGS_MAX)

struct builder {
	struct shape *shape;
	struct shape_config now;
	size_t room, steps;
	bool full;
};

static bool size_allowed(const struct shape *s, uint16_t choice, uint32_t total)
{
	size_t i;

	if (!s->sizes)
		return total <= s->total_max[choice];
	for (i = 0; i < s->n_sizes[choice]; i++)
		if (s->sizes[choice][i] == total)
			return true;
	return false;
}

static void add_config(struct builder *b)
{
	struct shape *s = b->shape;

	if (s->n == SHAPE_CONFIGS_MAX) {
		b->full = true;
		return;
	}
	if (s->n == b->room) {
		b->room = b->room ? 2 * b->room : 16;
		s->configs = mem_grow(s->configs, b->room, sizeof(*s->configs));
	}
	s->configs[s->n++] = b->now;
}

/* All counts of the pools from @first on, beside what is chosen already. */
static void shape_extend(struct builder *b, uint16_t choice, size_t first)
{
	struct shape_config *c = &b->now;
	struct shape *s = b->shape;
	uint32_t most, i;
	size_t p;

	if (c->n == s->span || c->n == SHAPE_SPAN_MAX)
		return;
	for (p = first; p < s->n_pools && !b->full; p++) {
		if (s->pools[p].choice != choice)
			continue;
		most = s->total_max[choice] - c->total;
		if (most > s->pools[p].gpus)
			most = s->pools[p].gpus;
		c->pool[c->n++] = (uint16_t)p;
		for (i = 1; i <= most && !b->full; i++) {
			b->full = ++b->steps > STEPS_MAX;
			c->gpus[c->n - 1] = i;
			c->total += i;
			if (size_allowed(s, choice, c->total))
				add_config(b);
			shape_extend(b, choice, p + 1);
			c->total -= i;
		}
		c->n--;
	}
}

static int by_total(const void *a, const void *b)
{
	const struct shape_config *x = a, *y = b;
	size_t i;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	for (i = 0; i < x->n; i++) {
		if (x->pool[i] != y->pool[i])
			return x->pool[i] < y->pool[i] ? -1 : 1;
		if (x->gpus[i] != y->gpus[i])
			return x->gpus[i] < y->gpus[i] ? -1 : 1;
	}
	return 0;
}

/* A configuration with one GPU less of its pool number @i. */
static struct shape_config shape_less(const struct shape_config *c, size_t i)
{
	struct shape_config d = *c;
	size_t k;

	d.total--;
	if (--d.gpus[i])
		return d;
	d.n--;
	for (k = i; k < d.n; k++) {
		d.pool[k] = d.pool[k + 1];
		d.gpus[k] = d.gpus[k + 1];
	}
	if (!d.n)
		d.choice = 0;
	return d;
}

static void add_edges(struct shape *s)
{
	size_t c, i, room = 0;

	for (c = 1; c < s->n; c++)
		room += s->configs[c].n;
	s->edges = mem_zalloc(room ? room : 1, sizeof(*s->edges));
	for (c = 1; c < s->n; c++) {
		for (i = 0; i < s->configs[c].n; i++) {
			struct shape_config from = shape_less(&s->configs[c], i);
			const struct shape_config *found =
				bsearch(&from, s->configs, s->n, sizeof(from), by_total);
			uint16_t pool = s->configs[c].pool[i];

			s->edges[s->n_edges++] =
				(struct shape_edge){ .from = (uint32_t)(found - s->configs),
						     .to = (uint32_t)c,
						     .pool = pool,
						     .sw = s->pools[pool].sw,
						     .gpus = 1 };
		}
	}
}

/* What two share, into @o; false when that is nothing. */
static bool shape_share(const struct shape_config *a, const struct shape_config *b,
			struct shape_overlap *o)
{
	uint32_t stay = 0;
	size_t i, k;

	o->n = 0;
	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (a->pool[i] == b->pool[k]) {
				o->pool[o->n] = a->pool[i];
				o->gpus[o->n] = a->gpus[i] < b->gpus[k] ? a->gpus[i] : b->gpus[k];
				stay += o->gpus[o->n++];
			}
	o->attaches = b->total > stay;
	return o->n > 0;
}

static int add_overlaps(struct shape *s)
{
	size_t a, b, room = 0;

	for (a = 1; a < s->n; a++) {
		for (b = 1; b < s->n; b++) {
			struct shape_overlap o = { .from = (uint32_t)a, .to = (uint32_t)b };

			if (a == b || !shape_share(&s->configs[a], &s->configs[b], &o))
				continue;
			if (s->n_overlaps == room) {
				room = room ? 2 * room : 16;
				s->overlaps = mem_grow(s->overlaps, room, sizeof(*s->overlaps));
			}
			s->overlaps[s->n_overlaps++] = o;
		}
		if (s->n_overlaps > 100ul * SHAPE_CONFIGS_MAX)
			return -EINVAL;
	}
	return 0;
}

int shape_complete(struct shape *s)
{
	struct builder b = { .shape = s };
	size_t c, i;
	uint16_t k;

	add_config(&b);
	for (k = 0; k < s->n_choices; k++) {
		b.now.choice = k;
		shape_extend(&b, k, 0);
	}
	if (b.full)
		return -EINVAL;
	qsort(s->configs, s->n, sizeof(*s->configs), by_total);
	s->held = mem_zalloc(s->n * SHAPE_SPAN_MAX, sizeof(*s->held));
	for (c = 0; c < s->n; c++)
		for (i = 0; i < s->configs[c].n; i++)
			s->held[c * SHAPE_SPAN_MAX + i] =
				(struct plan_held){ s->pools[s->configs[c].pool[i]].pool,
						    s->configs[c].gpus[i] };
	s->chain = !s->sizes && s->n_pools == 1 && !s->pools[0].choice;
	if (s->sizes)
		return add_overlaps(s);
	add_edges(s);
	return 0;
}

bool shape_same(const struct shape *a, const struct shape *b)
{
	size_t i;

	if (a->n_pools != b->n_pools || a->n_choices != b->n_choices || a->span != b->span ||
	    !a->sizes != !b->sizes)
		return false;
	for (i = 0; i < a->n_pools; i++)
		if (a->pools[i].pool != b->pools[i].pool || a->pools[i].gpus != b->pools[i].gpus ||
		    a->pools[i].choice != b->pools[i].choice)
			return false;
	for (i = 0; i < a->n_choices; i++) {
		if (a->total_max[i] != b->total_max[i])
			return false;
		if (a->sizes &&
		    (a->n_sizes[i] != b->n_sizes[i] ||
		     memcmp(a->sizes[i], b->sizes[i], a->n_sizes[i] * sizeof(*a->sizes[i]))))
			return false;
	}
	return true;
}

int64_t shape_find(const struct shape *s, const struct plan_held *held, size_t n)
{
	size_t c, i, k, same;

	for (c = 0; c < s->n; c++) {
		if (s->configs[c].n != n)
			continue;
		for (i = 0, same = 0; i < n; i++)
			for (k = 0; k < n; k++)
				same += s->held[c * SHAPE_SPAN_MAX + i].pool == held[k].pool &&
					s->held[c * SHAPE_SPAN_MAX + i].gpus == held[k].gpus;
		if (same == n)
			return (int64_t)c;
	}
	return -1;
}

void shape_free(struct shape *s)
{
	size_t i;

	for (i = 0; s->sizes && i < s->n_choices; i++)
		free(s->sizes[i]);
	free(s->sizes);
	free(s->n_sizes);
	free(s->total_max);
	free(s->pools);
	free(s->switches);
	free(s->configs);
	free(s->held);
	free(s->edges);
	free(s->overlaps);
	free(s);
}
