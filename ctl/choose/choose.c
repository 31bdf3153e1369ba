// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: choosing slots
 *
 * Candidate sets are built for every few kinds of GPU and every place: each switch
 * alone, each NUMA node, everything. Within a place the fewest switches that
 * suffice are taken. The sets are compared by one ordered list of criteria (score.c).
 *
 * GPUs are assigned to wants by match.c. Those of one card are had together alone; slots
 * that an assignment can do without are dropped again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/choose.h"
#include "choose/explain.h"
#include "choose/groups.h"
#include "choose/match.h"
#include "choose/score.h"

#define NONE SIZE_MAX
/* Sets of so many kinds are tried one by one unless there are more of them than this. */
#define KIND_SETS_MAX 4096

#define ORDER_KEYS 11

/* A slot, and by what it is taken before or after others. */
struct ordered {
	size_t slot;
	uint64_t key[ORDER_KEYS];
};

/**
 * struct chooser - one run
 * @slots: all slots
 * @n: how many
 * @gpus: GPUs in all of them
 * @request: what is wanted
 * @wants: what is wanted by count; for a request by memory made per kind
 * @n_wants: how many
 * @takes: by want and slot: the slot's GPU is what the want names
 * @base: slots that are free, with nothing in the request against them
 * @usable: those of @base that the present search may take
 * @kind_of: number of each slot's kind
 * @n_kinds: how many kinds there are
 * @switch_of: number of each slot's switch
 * @n_switches: how many switches there are
 * @left: slots of @base behind each switch
 * @position: by switch, its place in the list that is looked at, and work space
 * @sorted: work space of order_slots()
 * @kinds: by kind: it is allowed at present; NULL: all are
 * @allowed: slots that are allowed at present
 * @rank: position of a slot among the free ones of its switch
 * @best: the best set so far, NULL for none
 * @n_best: slots in it
 * @best_score: its score
 * @n_peers: largest number of peers that a slot has
 * @groups: groups of GPUs with links of their own
 * @taken_as: in which order slots of these are taken, NULL for any
 */
struct chooser {
	const struct choose_slot *slots;
	size_t n;
	size_t gpus;
	const struct choose_request *request;
	const struct choose_want *wants;
	size_t n_wants;
	bool *takes;
	bool *base;
	bool *usable;
	size_t *kind_of;
	size_t n_kinds;
	size_t *switch_of;
	size_t n_switches;
	size_t *left;
	size_t *position;
	struct ordered *sorted;
	const bool *kinds;
	bool *allowed;
	size_t *rank;
	size_t *best;
	size_t n_best;
	uint64_t best_score[CHOOSE_CRITERIA];
	unsigned int n_peers;
	struct groups groups;
	const size_t *taken_as;
};

static bool want_takes(const struct choose_want *want, const struct choose_slot *slot)
{
	if (want->kind)
		return !strcmp(want->kind, slot->kind);
	return !want->word || choose_matches(slot, want->word);
}

static bool excluded(const struct choose_request *request, const struct choose_slot *slot)
{
	size_t i;

	for (i = 0; i < request->n_wants; i++)
		if (!request->wants[i].count && want_takes(&request->wants[i], slot))
			return true;
	return false;
}

/* Free, and nothing in the request speaks against it. */
static bool is_usable(const struct choose_request *request, const struct choose_slot *slot)
{
	if (slot->bar != CHOOSE_FREE || excluded(request, slot))
		return false;
	if (request->numa >= 0 && slot->numa != request->numa)
		return false;
	if (request->p2p && request->home_peers && slot->peers != request->home_peers)
		return false;
	return !request->same_switch || !request->n_home ||
	       choose_is_home(request, slot->switch_id);
}

static void find_base(struct chooser *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		c->base[i] = is_usable(c->request, &c->slots[i]);
}

/* Names are compared once for each want and slot: assignments ask very often. */
static void set_wants(struct chooser *c, const struct choose_want *wants, size_t n)
{
	size_t w, i;

	c->wants = wants;
	c->n_wants = n;
	c->takes = mem_grow(c->takes, n * c->n, sizeof(*c->takes));
	for (w = 0; w < n; w++)
		for (i = 0; i < c->n; i++)
			c->takes[w * c->n + i] = c->usable[i] &&
						 want_takes(&wants[w], &c->slots[i]);
}

static bool takes(const struct chooser *c, size_t want, size_t slot)
{
	return c->takes[want * c->n + slot];
}

static bool choose_is_wanted(const struct chooser *c, size_t i)
{
	size_t w;

	if (c->kinds && !c->kinds[c->kind_of[i]])
		return false;
	for (w = 0; w < c->n_wants; w++)
		if (c->wants[w].count && takes(c, w, i))
			return true;
	return false;
}

static size_t wanted_count(const struct chooser *c)
{
	return choose_count_wants(c->wants, c->n_wants);
}

/* Assign all wanted units to slots of @order; @picked gets the slots. Returns success. */
static bool match(const struct chooser *c, const size_t *order, size_t n, size_t *picked,
		  size_t *n_picked)
{
	const struct match match = {
		.takes = c->takes,
		.n_slots = c->n,
		.wants = c->wants,
		.n_wants = c->n_wants,
		.order = order,
		.n = n,
	};

	return match_wants(&match, picked, n_picked);
}

static void consider(struct chooser *c, const size_t *picked, size_t n)
{
	const struct score_terms by = { c->slots, c->request, &c->groups, c->switch_of, c->left };
	uint64_t score[CHOOSE_CRITERIA];

	score_set(&by, picked, n, score);
	if (c->best && !score_is_better(score, c->best_score))
		return;
	free(c->best);
	c->best = mem_zalloc(n, sizeof(*c->best));
	memcpy(c->best, picked, n * sizeof(*picked));
	c->n_best = n;
	memcpy(c->best_score, score, sizeof(score));
}

/**
 * struct place - a switch with what it has for the request
 * @number: of the switch, as in @switch_of
 * @switch_id: the switch
 * @count: wanted GPUs behind it
 * @home: the composition is there already
 * @used: taken into the set
 */
struct place {
	size_t number;
	uint32_t switch_id;
	size_t count;
	bool home;
	bool used;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *pa = a, *pb = b;

	if (pa->home != pb->home)
		return pa->home ? -1 : 1;
	if (pa->count != pb->count)
		return pa->count > pb->count ? -1 : 1;
	return (pa->switch_id > pb->switch_id) - (pa->switch_id < pb->switch_id);
}

static size_t collect_places(const struct chooser *c, struct place *places)
{
	size_t n = 0, i;

	for (i = 0; i < c->n_switches; i++)
		c->position[i] = NONE;
	for (i = 0; i < c->n; i++) {
		size_t *at = &c->position[c->switch_of[i]];

		if (!c->allowed[i])
			continue;
		if (*at == NONE) {
			*at = n++;
			places[*at] = (struct place){
				.number = c->switch_of[i],
				.switch_id = c->slots[i].switch_id,
				.home = choose_is_home(c->request, c->slots[i].switch_id),
			};
		}
		places[*at].count += c->slots[i].gpus;
	}
	qsort(places, n, sizeof(*places), compare_places);
	return n;
}

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *oa = a, *ob = b;
	size_t i;

	for (i = 0; i < ORDER_KEYS; i++)
		if (oa->key[i] != ob->key[i])
			return oa->key[i] < ob->key[i] ? -1 : 1;
	return (oa->slot > ob->slot) - (oa->slot < ob->slot);
}

/*
 * The allowed slots of the used places, in the order in which they are best taken; each as
 * often as it has GPUs.
 */
static size_t order_slots(const struct chooser *c, const struct place *places, size_t n_places,
			  size_t *order)
{
	struct ordered *all = c->sorted;
	size_t n = 0, n_gpus = 0, i, j;

	for (i = 0; i < c->n_switches; i++)
		c->position[i] = NONE;
	for (i = 0; i < n_places; i++)
		if (places[i].used)
			c->position[places[i].number] = i;
	for (i = 0; i < c->n; i++) {
		size_t at = c->position[c->switch_of[i]];

		if (!c->allowed[i] || at == NONE)
			continue;
		all[n].slot = i;
		/* Spread: the first of every switch, then the second of every switch... */
		all[n].key[0] = c->taken_as ? c->taken_as[i] : 0;
		all[n].key[1] = c->slots[i].brought;
		all[n].key[2] = c->request->spread ? c->rank[i] : at;
		all[n].key[3] = c->slots[i].shares;
		all[n].key[4] = c->slots[i].bandwidth ? UINT64_MAX - c->slots[i].bandwidth : 0;
		all[n].key[5] = c->slots[i].moves;
		all[n].key[6] = c->slots[i].doubt;
		all[n].key[7] = c->slots[i].memory;
		all[n].key[8] = c->slots[i].dirty;
		all[n].key[9] = !c->slots[i].ready;
		all[n].key[10] = c->slots[i].gpus;
		n++;
	}
	qsort(all, n, sizeof(*all), compare_ordered);
	for (i = 0; i < n; i++)
		for (j = 0; j < c->slots[all[i].slot].gpus; j++)
			order[n_gpus++] = all[i].slot;
	return n_gpus;
}

/* Leave out slots that the others can stand in for, the last ones first. */
static void drop_needless(const struct chooser *c, size_t *picked, size_t *n_picked)
{
	size_t *order = mem_zalloc(c->gpus, sizeof(*order));
	size_t *fewer = mem_zalloc(c->n, sizeof(*fewer));
	size_t leave = *n_picked, n, n_fewer, i, j;

	while (leave-- && choose_gpus(c->slots, picked, *n_picked) > wanted_count(c)) {
		for (n = 0, i = 0; i < *n_picked; i++)
			for (j = 0; i != leave && j < c->slots[picked[i]].gpus; j++)
				order[n++] = picked[i];
		if (!match(c, order, n, fewer, &n_fewer))
			continue;
		memcpy(picked, fewer, n_fewer * sizeof(*fewer));
		*n_picked = n_fewer;
		leave = n_fewer;
	}
	free(order);
	free(fewer);
}

static bool try_places(const struct chooser *c, const struct place *places, size_t n_places,
		       size_t *picked, size_t *n_picked)
{
	size_t *order = mem_zalloc(c->gpus, sizeof(*order));
	bool good;

	good = match(c, order, order_slots(c, places, n_places, order), picked, n_picked);
	if (good)
		drop_needless(c, picked, n_picked);
	free(order);
	return good;
}

/* Take switches, those with the most first, until they suffice; then drop what was not needed. */
static void try_fewest(struct chooser *c, struct place *places, size_t n)
{
	size_t *picked = mem_zalloc(c->n, sizeof(*picked));
	size_t n_picked = 0, i;
	bool good = false;

	for (i = 0; i < n; i++)
		places[i].used = c->request->spread;
	if (c->request->spread)
		good = try_places(c, places, n, picked, &n_picked);
	for (i = 0; i < n && !good; i++) {
		places[i].used = true;
		good = try_places(c, places, n, picked, &n_picked);
	}
	for (i = n; good && !c->request->spread && i-- > 0;) {
		if (!places[i].used)
			continue;
		places[i].used = false;
		if (!try_places(c, places, n, picked, &n_picked))
			places[i].used = true;
	}
	/* The last attempt may have been one that failed. */
	if (good && try_places(c, places, n, picked, &n_picked))
		consider(c, picked, n_picked);
	free(picked);
}

static void try_each_switch(struct chooser *c, struct place *places, size_t n)
{
	size_t *picked = mem_zalloc(c->n, sizeof(*picked));
	size_t n_picked, i, j;

	for (i = 0; i < n; i++) {
		if (places[i].count < wanted_count(c))
			continue;
		for (j = 0; j < n; j++)
			places[j].used = j == i;
		if (try_places(c, places, n, picked, &n_picked))
			consider(c, picked, n_picked);
	}
	free(picked);
}

/* Groups are in their order already. */
static void try_groups(struct chooser *c, struct place *places, size_t n)
{
	size_t *picked = mem_zalloc(c->n, sizeof(*picked));
	size_t n_picked, i;

	for (i = 0; i < n; i++)
		places[i].used = true;
	if (try_places(c, places, n, picked, &n_picked))
		consider(c, picked, n_picked);
	free(picked);
}

/* All places for the kinds that are allowed at present. */
static void try_kind(struct chooser *c)
{
	struct place *places = mem_zalloc(c->n, sizeof(*places));
	size_t n, i, j;
	bool *all;

	for (i = 0; i < c->n; i++)
		c->allowed[i] = c->usable[i] && choose_is_wanted(c, i);
	n = collect_places(c, places);
	if (c->taken_as) {
		/* Each switch has a turn of its own. */
		if (n == 1 || !c->request->same_switch)
			try_groups(c, places, n);
		free(places);
		return;
	}
	if (!c->request->spread)
		try_each_switch(c, places, n);
	if (!c->request->same_switch) {
		try_fewest(c, places, n);

		/* Each NUMA node alone; the first slot of a node stands for it. */
		all = mem_zalloc(c->n, sizeof(*all));
		memcpy(all, c->allowed, c->n * sizeof(*all));
		for (i = 0; i < c->n; i++) {
			for (j = 0; j < i && !(all[j] && c->slots[j].numa == c->slots[i].numa);)
				j++;
			if (!all[i] || j < i)
				continue;
			for (j = 0; j < c->n; j++)
				c->allowed[j] = all[j] && c->slots[j].numa == c->slots[i].numa;
			n = collect_places(c, places);
			try_fewest(c, places, n);
		}
		free(all);
	}
	free(places);
}

static void number_kinds(struct chooser *c)
{
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		for (j = 0; j < i && strcmp(c->slots[j].kind, c->slots[i].kind);)
			j++;
		c->kind_of[i] = j < i ? c->kind_of[j] : c->n_kinds++;
	}
}

/* Kinds of which there is something that is wanted. */
static size_t find_open_kinds(const struct chooser *c, size_t *open)
{
	bool *seen = mem_zalloc(c->n_kinds, sizeof(*seen));
	size_t n = 0, i;

	for (i = 0; i < c->n; i++) {
		if (seen[c->kind_of[i]] || !choose_is_wanted(c, i))
			continue;
		seen[c->kind_of[i]] = true;
		open[n++] = c->kind_of[i];
	}
	free(seen);
	return n;
}

/* How many sets of @size there are among @n, or any number above KIND_SETS_MAX. */
static size_t count_sets(size_t n, size_t size)
{
	size_t sets = 1, i;

	if (size > n - size)
		size = n - size;
	for (i = 0; i < size && sets <= KIND_SETS_MAX; i++)
		sets = sets * (n - i) / (i + 1);
	return sets;
}

/* All sets of @size of the @n kinds @open; @kinds has none of them, before and after. */
static void try_sets(struct chooser *c, const size_t *open, size_t n, size_t size, bool *kinds)
{
	size_t i;

	if (!size) {
		try_kind(c);
		return;
	}
	for (i = 0; i + size <= n; i++) {
		kinds[open[i]] = true;
		try_sets(c, open + i + 1, n - i - 1, size - 1, kinds);
		kinds[open[i]] = false;
	}
}

/* The kind is open: of all sets of kinds that suffice the smallest ones matter. */
static void try_kind_sets(struct chooser *c)
{
	size_t *open = mem_zalloc(c->n_kinds, sizeof(*open));
	bool *kinds = mem_zalloc(c->n_kinds, sizeof(*kinds));
	size_t n = find_open_kinds(c, open), size;

	c->kinds = kinds;
	for (size = 1; size <= n && !c->best && count_sets(n, size) <= KIND_SETS_MAX; size++)
		try_sets(c, open, n, size, kinds);
	c->kinds = NULL;
	if (!c->best)
		try_kind(c);
	free(kinds);
	free(open);
}

static void try_by_count(struct chooser *c)
{
	size_t wants = 0, have = 0, i;

	set_wants(c, c->request->wants, c->request->n_wants);
	for (i = 0; i < c->n_wants; i++)
		wants += c->wants[i].count > 0;
	for (i = 0; i < c->n; i++)
		have += choose_is_wanted(c, i) ? c->slots[i].gpus : 0;
	/* Too few, wherever they are: no need to look at every place. */
	if (have < wanted_count(c))
		return;
	/* Several wants say themselves which kinds they mean. */
	if (wants == 1)
		try_kind_sets(c);
	else
		try_kind(c);
}

/* So much memory: for each kind as many as that takes. */
static void try_by_memory(struct chooser *c)
{
	struct choose_want want = { 0 };
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		if (!c->usable[i] || !c->slots[i].memory)
			continue;
		for (k = 0; k < i && (strcmp(c->slots[k].kind, c->slots[i].kind) || !c->usable[k]);)
			k++;
		if (k < i)
			continue;
		want.kind = c->slots[i].kind;
		want.count = (c->request->memory + c->slots[i].memory - 1) / c->slots[i].memory;
		/* More than there are cannot be had, nor counted. */
		if (want.count > c->gpus)
			continue;
		set_wants(c, &want, 1);
		try_kind(c);
	}
}

static void number_switches(struct chooser *c)
{
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		/* Slots of a switch stand together, most often. */
		for (j = i; j > 0 && c->slots[j - 1].switch_id != c->slots[i].switch_id;)
			j--;
		c->switch_of[i] = j > 0 ? c->switch_of[j - 1] : c->n_switches++;
	}
}

static void rank_slots(struct chooser *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		c->rank[i] = c->left[c->switch_of[i]];
		c->left[c->switch_of[i]] += c->base[i];
	}
}

/* The first of @order that have it together; of one switch, or of any with NONE. */
static void take_memory(struct chooser *c, const size_t *order, size_t n, size_t on)
{
	size_t *picked = mem_zalloc(c->n, sizeof(*picked));
	uint64_t memory = 0;
	size_t n_picked = 0, i;

	for (i = 0; i < n && memory < c->request->memory; i++) {
		if (on != NONE && c->switch_of[order[i]] != on)
			continue;
		memory += c->slots[order[i]].memory * c->slots[order[i]].gpus;
		picked[n_picked++] = order[i];
	}
	if (n_picked && memory >= c->request->memory)
		consider(c, picked, n_picked);
	free(picked);
}

/* No kind has enough memory alone: the largest GPUs of all kinds together. */
static void try_mixed_memory(struct chooser *c)
{
	size_t *order = mem_zalloc(c->n, sizeof(*order));
	size_t n = 0, i, j;

	for (i = 0; i < c->n; i++) {
		if (!c->usable[i] || !c->slots[i].memory)
			continue;
		for (j = n; j > 0 && c->slots[order[j - 1]].memory < c->slots[i].memory; j--)
			order[j] = order[j - 1];
		order[j] = i;
		n++;
	}
	for (i = 0; i < c->n_switches; i++)
		take_memory(c, order, n, i);
	if (!c->request->same_switch)
		take_memory(c, order, n, NONE);
	free(order);
}

static int compare_indices(const void *a, const void *b)
{
	size_t ia = *(const size_t *)a, ib = *(const size_t *)b;

	return (ia > ib) - (ia < ib);
}

/* Any set of usable slots that serves the request; the best one. */
static void search_all(struct chooser *c)
{
	if (!c->request->memory) {
		try_by_count(c);
		return;
	}
	try_by_memory(c);
	if (!c->best)
		try_mixed_memory(c);
}

/* Search anew with @how; what was found before stays where it is better. */
static void search_also(struct chooser *c, void (*how)(struct chooser *))
{
	uint64_t score[CHOOSE_CRITERIA];
	size_t *best = c->best, n = c->n_best;

	memcpy(score, c->best_score, sizeof(score));
	c->best = NULL;
	how(c);
	if (best && (!c->best || !score_is_better(c->best_score, score))) {
		free(c->best);
		c->best = best;
		c->n_best = n;
		memcpy(c->best_score, score, sizeof(score));
	} else {
		free(best);
	}
}

static void search_within(void *arg, const bool *within, const size_t *rank)
{
	struct chooser *c = arg;

	memcpy(c->usable, within, c->n * sizeof(*within));
	c->taken_as = rank;
	search_also(c, search_all);
	c->taken_as = NULL;
}

static bool is_here(const struct chooser *c, size_t i)
{
	return !c->slots[i].brought;
}

static bool is_of_home_group(const struct chooser *c, size_t i)
{
	return groups_is_home(&c->groups, i);
}

/* Those first, wherever they are, where there are others as well. */
static void search_first(struct chooser *c, bool (*first)(const struct chooser *c, size_t i))
{
	size_t *rank = mem_zalloc(c->n, sizeof(*rank)), later = 0, i;

	for (i = 0; i < c->n; i++) {
		rank[i] = !first(c, i);
		later += rank[i];
	}
	c->taken_as = rank;
	if (later && later < c->n && c->best)
		search_also(c, search_all);
	c->taken_as = NULL;
	free(rank);
}

static void choose_search(struct chooser *c)
{
	size_t count = choose_count_wants(c->request->wants, c->request->n_wants);
	bool *usable;

	search_all(c);
	search_first(c, is_here);
	search_first(c, is_of_home_group);
	/* What cannot be had at all is in no group either. */
	if (!c->best || !c->groups.n || !count || c->request->spread)
		return;
	usable = mem_zalloc(c->n, sizeof(*usable));
	memcpy(usable, c->usable, c->n * sizeof(*usable));
	groups_each(&c->groups, c->slots, usable, c->n, count, search_within, c);
	memcpy(c->usable, usable, c->n * sizeof(*usable));
	free(usable);
}

/* Each group of peers alone, where it is large enough. */
static void search_peers(struct chooser *c)
{
	size_t wanted = choose_count_wants(c->request->wants, c->request->n_wants);
	size_t least = c->request->memory ? 1 : wanted;
	size_t *sizes = mem_zalloc(c->n_peers + 1, sizeof(*sizes)), i;
	unsigned int peers;

	for (i = 0; i < c->n; i++)
		sizes[c->slots[i].peers] += c->base[i] ? c->slots[i].gpus : 0;
	for (peers = 1; peers <= c->n_peers; peers++) {
		if (!sizes[peers] || sizes[peers] < least)
			continue;
		for (i = 0; i < c->n; i++)
			c->usable[i] = c->base[i] && c->slots[i].peers == peers;
		search_also(c, choose_search);
	}
	free(sizes);
	memcpy(c->usable, c->base, c->n * sizeof(*c->usable));
	if (!c->request->p2p)
		search_also(c, choose_search);
}

/* Does a switch hold more than one group of peers, so that it matters which are taken? */
static bool peers_are_mixed(struct chooser *c)
{
	bool mixed = false;
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct choose_slot *slot = &c->slots[i];

		if (slot->peers > c->n_peers)
			c->n_peers = slot->peers;
		/* Slots of a switch stand together. */
		mixed |= i && slot->switch_id == slot[-1].switch_id &&
			 slot->peers != slot[-1].peers;
	}
	return mixed;
}

int choose(const struct choose_slot *slots, size_t n, const struct choose_request *request,
	   struct choose_result *result, struct fault *fault)
{
	struct chooser c = { .slots = slots, .n = n, .request = request };
	int err;
	bool mixed;
	size_t i;

	for (i = 0; i < n; i++)
		c.gpus += slots[i].gpus;
	memset(result, 0, sizeof(*result));
	err = choose_check(request, fault);
	if (err)
		return err;
	c.base = mem_zalloc(n, sizeof(*c.base));
	c.usable = mem_zalloc(n, sizeof(*c.usable));
	c.allowed = mem_zalloc(n, sizeof(*c.allowed));
	c.rank = mem_zalloc(n, sizeof(*c.rank));
	c.kind_of = mem_zalloc(n, sizeof(*c.kind_of));
	c.switch_of = mem_zalloc(n, sizeof(*c.switch_of));
	c.left = mem_zalloc(n, sizeof(*c.left));
	c.position = mem_zalloc(n, sizeof(*c.position));
	c.sorted = mem_zalloc(n, sizeof(*c.sorted));
	number_kinds(&c);
	number_switches(&c);
	groups_find(slots, n, request, &c.groups);
	find_base(&c);
	memcpy(c.usable, c.base, n * sizeof(*c.usable));
	rank_slots(&c);

	mixed = peers_are_mixed(&c);
	if (request->p2p || (mixed && !request->spread))
		search_peers(&c);
	else
		choose_search(&c);
	if (c.best) {
		qsort(c.best, c.n_best, sizeof(*c.best), compare_indices);
		result->picked = c.best;
		result->n = c.n_best;
		memcpy(result->score, c.best_score, sizeof(result->score));
		result->why = choose_why(slots, n, request, &c.groups, c.best, c.n_best);
	} else {
		err = choose_lack(slots, n, request, fault);
	}
	groups_free(&c.groups);
	free(c.base);
	free(c.usable);
	free(c.allowed);
	free(c.rank);
	free(c.switch_of);
	free(c.left);
	free(c.position);
	free(c.sorted);
	free(c.kind_of);
	free(c.takes);
	return err;
}
