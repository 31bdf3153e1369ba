// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: whole groups
 *
 * GPUs that NVLink, NVSwitch or XGMI connects are worth most together: a request should get
 * whole groups, and one that needs a part should take it where a group is broken already.
 *
 * Which groups add up to a number is the subset sum problem, solved by the usual table over
 * sums with the fewest groups for each. It is filled for all slots, each switch and each NUMA
 * node, so that of groups that do as well near ones can be found. The comparison is choose.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/groups.h"

#define NONE SIZE_MAX
/* Sums that are tried for a place, the largest first. */
#define SUMS_MAX 4
#define RANK_EXTRA 1
#define RANK_HOME 2
#define RANK_LEFT 3

static bool is_home(const struct choose_request *request, const char *name)
{
	size_t i;

	for (i = 0; i < request->n_home_groups; i++)
		if (!strcmp(request->home_groups[i], name))
			return true;
	return false;
}

void groups_find(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		 struct groups *groups)
{
	size_t i, g;

	groups->n = 0;
	groups->items = mem_zalloc(n, sizeof(*groups->items));
	groups->of = mem_zalloc(n, sizeof(*groups->of));
	for (i = 0; i < n; i++) {
		struct group *group;

		if (!slots[i].group)
			continue;
		for (g = 0; g < groups->n && strcmp(groups->items[g].name, slots[i].group);)
			g++;
		group = &groups->items[g];
		if (g == groups->n) {
			*group = (struct group){ .name = slots[i].group,
						 .whole = true,
						 .home = is_home(request, slots[i].group) };
			groups->n++;
		}
		group->slots++;
		group->gpus += slots[i].gpus;
		group->whole &= choose_is_free(&slots[i]);
		groups->of[i] = g + 1;
	}
}

void groups_free(struct groups *groups)
{
	free(groups->items);
	free(groups->of);
	memset(groups, 0, sizeof(*groups));
}

bool groups_is_home(const struct groups *groups, size_t slot)
{
	return groups->of[slot] && groups->items[groups->of[slot] - 1].home;
}

/* How many slots of the @i-th one's group are picked; 0 where an earlier one stands for it. */
static size_t picked_of(const struct groups *groups, const size_t *picked, size_t n, size_t i)
{
	size_t count = 0, j;

	for (j = 0; j < n; j++) {
		if (groups->of[picked[j]] != groups->of[picked[i]])
			continue;
		if (j < i)
			return 0;
		count++;
	}
	return count;
}

size_t groups_broken(const struct groups *groups, const size_t *picked, size_t n)
{
	size_t broken = 0, i;

	for (i = 0; i < n; i++) {
		size_t of = groups->of[picked[i]], count;

		if (!of || !groups->items[of - 1].whole)
			continue;
		count = picked_of(groups, picked, n, i);
		broken += count && count < groups->items[of - 1].slots;
	}
	return broken;
}

size_t groups_parts(const struct groups *groups, const size_t *picked, size_t n)
{
	size_t parts = 0, i;

	for (i = 0; i < n; i++)
		parts += !groups_is_home(groups, picked[i]) &&
			 (!groups->of[picked[i]] || picked_of(groups, picked, n, i));
	return parts;
}

/**
 * struct finder - groups in one place
 * @groups: all groups
 * @slots: all slots
 * @n: how many
 * @count: GPUs that are wanted
 * @there: slots of this place that are usable
 * @free_gpus: by group, GPUs of it there
 * @free_slots: and slots
 * @can: by group, it is whole and all there
 * @single: GPUs there that are in no such group
 * @fewest: by sum, the fewest groups that make it, NONE for none
 * @last: by group and sum, that group is the last one of these
 * @within: what is tried
 * @rank: in which order
 */
struct finder {
	const struct groups *groups;
	const struct choose_slot *slots;
	size_t n;
	size_t count;
	bool *there;
	size_t *free_gpus;
	size_t *free_slots;
	bool *can;
	size_t single;
	size_t *fewest;
	bool *last;
	bool *within;
	size_t *rank;
};

static void finder_look(struct finder *f)
{
	const struct groups *groups = f->groups;
	size_t i, g;

	f->single = 0;
	memset(f->free_gpus, 0, groups->n * sizeof(*f->free_gpus));
	memset(f->free_slots, 0, groups->n * sizeof(*f->free_slots));
	for (i = 0; i < f->n; i++)
		if (f->there[i] && groups->of[i]) {
			f->free_gpus[groups->of[i] - 1] += f->slots[i].gpus;
			f->free_slots[groups->of[i] - 1]++;
		}
	for (g = 0; g < groups->n; g++)
		f->can[g] = groups->items[g].whole && f->free_gpus[g] == groups->items[g].gpus;
	for (i = 0; i < f->n; i++)
		if (f->there[i] && !(groups->of[i] && f->can[groups->of[i] - 1]))
			f->single += f->slots[i].gpus;
}

static void finder_fill(struct finder *f)
{
	size_t g, sum, gpus;

	f->fewest[0] = 0;
	for (sum = 1; sum <= f->count; sum++)
		f->fewest[sum] = NONE;
	for (g = 0; g < f->groups->n; g++) {
		gpus = f->free_gpus[g];
		for (sum = 0; sum <= f->count; sum++)
			f->last[g * (f->count + 1) + sum] = false;
		if (!f->can[g] || !gpus)
			continue;
		for (sum = f->count; sum >= gpus; sum--) {
			if (f->fewest[sum - gpus] == NONE ||
			    f->fewest[sum - gpus] + 1 >= f->fewest[sum])
				continue;
			f->fewest[sum] = f->fewest[sum - gpus] + 1;
			f->last[g * (f->count + 1) + sum] = true;
		}
	}
}

/* The smallest other group that has @gpus; NONE for none. */
static size_t finder_extra(const struct finder *f, const bool *taken, size_t gpus)
{
	size_t best = NONE, g;

	for (g = 0; g < f->groups->n; g++)
		if (f->can[g] && !taken[g] && f->free_gpus[g] >= gpus &&
		    (best == NONE || f->free_gpus[g] < f->free_gpus[best]))
			best = g;
	return best;
}

/* What is left of groups is taken together, too: of the composition's first, then the most. */
static size_t rank_left(const struct finder *f, size_t group)
{
	if (f->groups->items[group].home)
		return RANK_HOME;
	return RANK_LEFT + (f->n - f->free_slots[group]) * f->groups->n + group;
}

/* The groups that make @sum first, then a part of one more, then slots that stand alone. */
static void finder_try(struct finder *f, size_t sum, bool more, groups_try_fn try, void *arg)
{
	bool *taken = mem_zalloc(f->groups->n, sizeof(*taken));
	size_t rest = f->count - sum, extra = NONE, g, i;

	for (g = f->groups->n; g-- > 0;) {
		if (!f->last[g * (f->count + 1) + sum])
			continue;
		taken[g] = true;
		sum -= f->free_gpus[g];
	}
	if (more)
		extra = finder_extra(f, taken, rest);
	for (i = 0; i < f->n; i++) {
		f->within[i] = f->there[i];
		f->rank[i] = NONE;
		if (!f->groups->of[i])
			continue;
		g = f->groups->of[i] - 1;
		if (!f->can[g]) {
			f->rank[i] = rank_left(f, g);
			continue;
		}
		f->within[i] &= taken[g] || g == extra;
		f->rank[i] = taken[g] ? 0 : RANK_EXTRA;
	}
	if (!more || extra != NONE)
		try(arg, f->within, f->rank);
	free(taken);
}

static void finder_run(struct finder *f, groups_try_fn try, void *arg)
{
	size_t tried = 0, sum;

	finder_look(f);
	finder_fill(f);
	for (sum = f->count + 1; sum-- > 0 && tried < SUMS_MAX;) {
		if (f->fewest[sum] == NONE)
			continue;
		tried++;
		if (f->count - sum <= f->single)
			finder_try(f, sum, false, try, arg);
		if (sum < f->count)
			finder_try(f, sum, true, try, arg);
	}
	/* No whole group at all, where single slots do. */
	if (f->count <= f->single)
		finder_try(f, 0, false, try, arg);
}

/* The slots that are on a switch or a node with slot @i, if that is the first of them. */
static bool take_place(struct finder *f, const bool *usable, size_t i, bool node)
{
	size_t gpus = 0, j;

	if (!usable[i])
		return false;
	for (j = 0; j < f->n; j++) {
		f->there[j] = usable[j] && (node ? f->slots[j].numa == f->slots[i].numa :
						   f->slots[j].switch_id == f->slots[i].switch_id);
		if (j < i && f->there[j])
			return false;
		gpus += f->there[j] ? f->slots[j].gpus : 0;
	}
	return gpus >= f->count;
}

void groups_each(const struct groups *groups, const struct choose_slot *slots, const bool *usable,
		 size_t n, size_t count, groups_try_fn try, void *arg)
{
	struct finder f = { .groups = groups, .slots = slots, .n = n, .count = count };
	size_t i;

	f.there = mem_zalloc(n, sizeof(*f.there));
	f.within = mem_zalloc(n, sizeof(*f.within));
	f.rank = mem_zalloc(n, sizeof(*f.rank));
	f.free_gpus = mem_zalloc(groups->n, sizeof(*f.free_gpus));
	f.free_slots = mem_zalloc(groups->n, sizeof(*f.free_slots));
	f.can = mem_zalloc(groups->n, sizeof(*f.can));
	f.fewest = mem_zalloc(count + 1, sizeof(*f.fewest));
	f.last = mem_zalloc(groups->n * (count + 1), sizeof(*f.last));
	memcpy(f.there, usable, n * sizeof(*usable));
	finder_run(&f, try, arg);
	for (i = 0; i < n; i++) {
		if (take_place(&f, usable, i, false))
			finder_run(&f, try, arg);
		if (take_place(&f, usable, i, true))
			finder_run(&f, try, arg);
	}
	free(f.there);
	free(f.within);
	free(f.rank);
	free(f.free_gpus);
	free(f.free_slots);
	free(f.can);
	free(f.fewest);
	free(f.last);
}
