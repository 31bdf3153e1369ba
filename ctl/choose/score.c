// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: scores
 *
 * Sets of slots are compared by one ordered list of criteria: one kind of GPU, few GPUs, few that a
 * fabric manager has to bind, no group broken (groups.c), few parts without links between them,
 * one NUMA node, few switches, few hops (of the GPUs that are added: also to where the composition
 * is already), near peers (no ACS redirect between them), no IOMMU group
 * shared with another composition, wide and fast links, windows that need not move, certain
 * identities, the smallest GPU that does, nothing of another tenant to clear, the least left over
 * for large groups.
 */
#include <string.h>

#include "choose/score.h"
#include "host/topo.h"

bool choose_is_home(const struct choose_request *request, uint32_t switch_id)
{
	size_t i;

	for (i = 0; i < request->n_home; i++)
		if (request->home[i].switch_id == switch_id)
			return true;
	return false;
}

/* The first slot of each switch, NUMA node, kind or group of peers among the picked. */
static bool first_of(const struct choose_slot *slots, const size_t *picked, size_t i, int what)
{
	const struct choose_slot *slot = &slots[picked[i]];
	size_t j;

	for (j = 0; j < i; j++) {
		const struct choose_slot *other = &slots[picked[j]];

		if (what == 's' && other->switch_id == slot->switch_id)
			return false;
		if (what == 'n' && other->numa == slot->numa)
			return false;
		if (what == 'k' && !strcmp(other->kind, slot->kind))
			return false;
		if (what == 'p' && slot->peers && other->peers == slot->peers)
			return false;
	}
	return true;
}

static bool is_home_node(const struct choose_request *request, int numa)
{
	size_t i;

	for (i = 0; i < request->n_home; i++)
		if (request->home[i].numa == numa)
			return true;
	return false;
}

/* From a switch to those that the composition is on already. */
static uint64_t hops_home(const struct choose_request *request, const struct choose_slot *slot)
{
	uint64_t hops = 0;
	size_t i;

	if (!slot->path || choose_is_home(request, slot->switch_id))
		return 0;
	for (i = 0; i < request->n_home; i++)
		if (request->home[i].path)
			hops += topo_hops(slot->path, request->home[i].path);
	return hops;
}

void score_set(const struct score_terms *by, const size_t *picked, size_t n,
	       uint64_t score[CHOOSE_CRITERIA])
{
	uint64_t kinds = 0, nodes = 0, switches = by->request->n_home, hops = 0, doubt = 0;
	uint64_t cold = 0, left = 0, memory = 0, dirty = 0, peers = 0, shares = 0, moves = 0;
	uint64_t brought = 0, narrowest = UINT64_MAX;
	bool spread = by->request->spread;
	size_t i, j;

	for (i = 0; i < n; i++) {
		const struct choose_slot *slot = &by->slots[picked[i]];

		moves += slot->moves;
		doubt += slot->doubt;
		dirty += slot->dirty;
		cold += !slot->ready;
		brought += slot->brought;
		memory += slot->memory * slot->gpus;
		shares += slot->shares;
		if (slot->bandwidth && slot->bandwidth < narrowest)
			narrowest = slot->bandwidth;
		peers += first_of(by->slots, picked, i, 'p');
		kinds += first_of(by->slots, picked, i, 'k');
		nodes += first_of(by->slots, picked, i, 'n') &&
			 !is_home_node(by->request, slot->numa);
		if (!first_of(by->slots, picked, i, 's'))
			continue;
		switches += !choose_is_home(by->request, slot->switch_id);
		hops += hops_home(by->request, slot);
		for (j = 0; j < i; j++)
			if (first_of(by->slots, picked, j, 's') && slot->path &&
			    by->slots[picked[j]].path)
				hops += topo_hops(slot->path, by->slots[picked[j]].path);
		left += by->left[by->switch_of[picked[i]]];
	}
	score[0] = kinds;
	/* Fewer GPUs are better: more than were asked for are held for nothing. */
	score[1] = choose_gpus(by->slots, picked, n);
	score[2] = brought;
	score[3] = groups_broken(by->groups, picked, n);
	score[4] = spread ? 0 : groups_parts(by->groups, picked, n);
	score[5] = spread ? 0 : nodes;
	score[6] = spread ? UINT64_MAX - switches : switches;
	score[7] = spread ? 0 : hops;
	score[8] = spread ? 0 : peers;
	score[9] = shares;
	score[10] = UINT64_MAX - narrowest;
	score[11] = moves;
	score[12] = doubt;
	score[13] = memory;
	score[14] = dirty;
	score[15] = cold;
	score[16] = left;
}

bool score_is_better(const uint64_t *score, const uint64_t *than)
{
	size_t i;

	for (i = 0; i < CHOOSE_CRITERIA && score[i] == than[i];)
		i++;
	return i < CHOOSE_CRITERIA && score[i] < than[i];
}
