// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: matching
 *
 * Wants can overlap ("2 of any and 1 h100"), so GPUs are assigned by augmenting paths: what
 * stands in the way is moved to another GPU that it can have as well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/match.h"

#define NONE SIZE_MAX

/**
 * struct matching - assignment of wanted units to GPUs
 * @m: the problem
 * @unit_of: unit that a GPU serves, NONE for none
 * @want_of: want that a unit belongs to
 * @seen: GPUs that the present search has visited
 */
struct matching {
	const struct match *m;
	size_t *unit_of;
	size_t *want_of;
	bool *seen;
};

static bool match_takes(const struct match *m, size_t want, size_t i)
{
	return m->takes[want * m->n_slots + m->order[i]];
}

static bool assign(struct matching *a, size_t unit)
{
	size_t want = a->want_of[unit], i;

	/* Free slots first: moving others about is the exception. */
	for (i = 0; i < a->m->n; i++) {
		if (a->unit_of[i] != NONE || !match_takes(a->m, want, i))
			continue;
		a->unit_of[i] = unit;
		return true;
	}
	for (i = 0; i < a->m->n; i++) {
		if (a->seen[i] || a->unit_of[i] == NONE || !match_takes(a->m, want, i))
			continue;
		a->seen[i] = true;
		/* Units of one want are alike: moving one for another gains nothing. */
		if (a->want_of[a->unit_of[i]] != want && assign(a, a->unit_of[i])) {
			a->unit_of[i] = unit;
			return true;
		}
	}
	return false;
}

static size_t count_units(const struct match *match)
{
	size_t total = 0, w;

	for (w = 0; w < match->n_wants; w++)
		total += match->wants[w].count;
	return total;
}

/* The choosy wants first, "any" last. */
static bool assign_all(struct matching *a)
{
	const struct match *m = a->m;
	size_t units = 0, w, i;
	bool good = true;
	int any;

	for (any = 0; any < 2; any++) {
		for (w = 0; w < m->n_wants && good; w++) {
			if ((!m->wants[w].word && !m->wants[w].kind) != any)
				continue;
			for (i = 0; i < m->wants[w].count && good; i++) {
				a->want_of[units] = w;
				memset(a->seen, 0, m->n * sizeof(bool));
				good = assign(a, units++);
			}
		}
	}
	return good;
}

bool match_wants(const struct match *match, size_t *picked, size_t *n_picked)
{
	size_t total = count_units(match), i;
	struct matching a = { .m = match };
	bool good;

	*n_picked = 0;
	if (total > match->n)
		return false;
	a.unit_of = mem_zalloc(match->n, sizeof(size_t));
	a.want_of = mem_zalloc(total, sizeof(size_t));
	a.seen = mem_zalloc(match->n, sizeof(bool));
	for (i = 0; i < match->n; i++)
		a.unit_of[i] = NONE;
	good = assign_all(&a);
	/* The GPUs of a slot stand together. */
	for (i = 0; i < match->n && good; i++)
		if (a.unit_of[i] != NONE &&
		    (!*n_picked || picked[*n_picked - 1] != match->order[i]))
			picked[(*n_picked)++] = match->order[i];
	free(a.unit_of);
	free(a.want_of);
	free(a.seen);
	return good;
}
