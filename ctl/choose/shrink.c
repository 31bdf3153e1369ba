// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: giving back
 *
 * Of a composition that shrinks those go first that are farthest from the others, so that what
 * stays is closest together.
 */
#include "choose/choose.h"

/* How many of the members that remain share the switch with this one. */
static size_t company(const struct choose_slot *slots, const size_t *members, size_t from, size_t n,
		      size_t i)
{
	size_t together = 0, j;

	for (j = from; j < n; j++)
		together += slots[members[j]].switch_id == slots[members[i]].switch_id;
	return together;
}

void choose_shrink(const struct choose_slot *slots, size_t *members, size_t n, size_t count)
{
	size_t done, i;

	for (done = 0; done < count && done < n; done++) {
		size_t loneliest = done, fewest = company(slots, members, done, n, done), swap;

		for (i = done + 1; i < n; i++) {
			size_t here = company(slots, members, done, n, i);

			/* The last of equals goes: slots at the front stay. */
			if (here > fewest || (here == fewest && members[i] < members[loneliest]))
				continue;
			loneliest = i;
			fewest = here;
		}
		swap = members[done];
		members[done] = members[loneliest];
		members[loneliest] = swap;
	}
}
