// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: giving back
 *
 * Of a composition that shrinks those go first that are farthest from the others, so that what
 * stays is closest together: first by groups with links of their own, then by switches. A card goes whole, so only what its cards add up to can be given back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/choose.h"

static bool is_linked(const struct choose_slot *a, const struct choose_slot *b)
{
	return a == b || (a->group && b->group && !strcmp(a->group, b->group));
}

/* How many of the members that remain share the group with this one, and then the switch. */
static size_t company(const struct choose_slot *slots, const size_t *members, size_t from, size_t n,
		      size_t i)
{
	size_t linked = 0, together = 0, j;

	for (j = from; j < n; j++) {
		linked += is_linked(&slots[members[j]], &slots[members[i]]);
		together += slots[members[j]].switch_id == slots[members[i]].switch_id;
	}
	return linked * (n + 1) + together;
}

/* Whether members have together exactly so many GPUs, and how many of which have them. */
static bool *find_sums(const struct choose_slot *slots, const size_t *members, size_t from,
		       size_t n, size_t count)
{
	bool *can = mem_zalloc(count + 1, sizeof(*can));
	size_t i, sum;

	can[0] = true;
	for (i = from; i < n; i++)
		for (sum = count; sum >= slots[members[i]].gpus && sum; sum--)
			can[sum] |= can[sum - slots[members[i]].gpus];
	return can;
}

/* Whether the others can make up what is missing of @count once this one has gone. */
static bool can_go(const struct choose_slot *slots, size_t *members, size_t from, size_t n,
		   size_t i, size_t count)
{
	size_t gpus = slots[members[i]].gpus, first = members[from];
	bool *can, good;

	if (gpus > count)
		return false;
	members[from] = members[i];
	members[i] = first;
	can = find_sums(slots, members, from + 1, n, count - gpus);
	good = can[count - gpus];
	free(can);
	members[i] = members[from];
	members[from] = first;
	return good;
}

size_t choose_shrink(const struct choose_slot *slots, size_t *members, size_t n, size_t count)
{
	size_t done, i;

	for (done = 0; count && done < n; done++) {
		size_t loneliest = SIZE_MAX, fewest = 0, swap;

		for (i = done; i < n; i++) {
			size_t here = company(slots, members, done, n, i);

			if (!can_go(slots, members, done, n, i, count))
				continue;
			/* The last of equals goes: slots at the front stay. */
			if (loneliest != SIZE_MAX &&
			    (here > fewest || (here == fewest && members[i] < members[loneliest])))
				continue;
			loneliest = i;
			fewest = here;
		}
		if (loneliest == SIZE_MAX)
			break;
		swap = members[done];
		members[done] = members[loneliest];
		members[loneliest] = swap;
		count -= slots[members[done]].gpus;
	}
	return count ? 0 : done;
}
