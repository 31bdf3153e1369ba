// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the pool
 *
 * Turns the snapshot into the plain structures that choose() works on: what
 * each slot's GPU is, where it sits, and whether anything keeps it from being
 * chosen now.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/driver.h"
#include "choose/placement.h"
#include "choose/pool.h"
#include "host/p2p.h"
#include "host/pci.h"
#include "host/topo.h"
#include "managers/bringing.h"

static char *pool_keep(struct pool *pool, char *text)
{
	pool->text = mem_grow(pool->text, pool->n_text + 1, sizeof(*pool->text));
	pool->text[pool->n_text++] = text;
	return text;
}

bool pool_narrows_out(const struct gpu_request *ask, const struct choose_slot *slot)
{
	bool narrows = false;
	uint64_t count;
	size_t i;

	for (i = 0; i < ask->n_kinds; i++) {
		if (strchr(ask->kinds[i], ':') || text_number(ask->kinds[i], UINT64_MAX, &count))
			continue;
		if (choose_matches(slot, ask->kinds[i]))
			return false;
		narrows = true;
	}
	return narrows;
}

static bool is_excluded(const struct gpu_request *ask, const struct gf_slot *slot)
{
	size_t i;

	for (i = 0; i < ask->n_exclude; i++)
		if (!strcmp(ask->exclude[i], slot->name))
			return true;
	for (i = 0; i < ask->n_from; i++)
		if (ask->from[i] == slot->id)
			return false;
	return ask->from;
}

static enum choose_bar pool_judge(const struct pool_terms *terms, const struct gpu_request *ask,
				  const struct gf_slot *slot, const struct identity *identity,
				  const struct choose_slot *choice, const struct verdict *verdict,
				  enum handover handover)
{
	if (slot->composition)
		return CHOOSE_CLAIMED;
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		return CHOOSE_FAULT;
	if (slot->operation.id)
		return CHOOSE_BUSY;
	switch (slot->state) {
	case GF_STATE_OFF:
		/* Its GPU is on its way to the fabric, or from there. */
		if (!bringing_is_free(slot->name))
			return CHOOSE_BUSY;
		if (verdict->now == GF_FIT_CANNOT && !terms->harm)
			return CHOOSE_NO_ROOM;
		break;
	case GF_STATE_READY:
		if (!driver_suits(terms->driver, slot))
			return CHOOSE_DRIVER;
		break;
	case GF_STATE_FAULT:
	case GF_STATE_STUCK:
	case GF_STATE_LOST:
		return CHOOSE_FAULT;
	default:
		return CHOOSE_BUSY;
	}
	if (identity->source == IDENTITY_UNKNOWN)
		return CHOOSE_UNKNOWN;
	if (is_excluded(ask, slot) || pool_narrows_out(ask, choice))
		return CHOOSE_EXCLUDED;
	return handover == HANDOVER_NEVER ? CHOOSE_DIRTY : CHOOSE_FREE;
}

static unsigned int doubt_of(const struct identity *identity)
{
	switch (identity->source) {
	case IDENTITY_LIVE:
		return 0;
	case IDENTITY_SEEN:
		return 1;
	default:
		return 2;
	}
}

/* MT/s times lanes of what the link has, or will have; 0 when unknown. */
static uint64_t bandwidth(const struct gf_link *link)
{
	uint32_t speed = link->port_speed, width = link->port_width;

	if (link->speed && link->width)
		return (uint64_t)link->speed * link->width;
	if (link->device_speed && link->device_speed < speed)
		speed = link->device_speed;
	if (link->device_width && link->device_width < width)
		width = link->device_width;
	return (uint64_t)speed * width;
}

/* Does a GPU of a composition sit in its IOMMU group? */
static bool shares_group(const struct gf_fabric *fabric, const struct gf_slot *slot)
{
	const struct gf_function *gpu = NULL, *other;
	size_t i;

	while ((gpu = gf_gpu_next(slot, gpu)))
		for (i = 0; gpu->has.iommu_group && i < fabric->n_slots; i++) {
			const struct gf_slot *held = &fabric->slots[i];

			for (other = NULL; held->composition && (other = gf_gpu_next(held, other));)
				if (other->has.iommu_group &&
				    other->iommu_group == gpu->iommu_group)
					return true;
		}
	return false;
}

void pool_place(struct session *session, struct pool *pool, const struct gf_slot *slot,
		struct choose_slot *choice)
{
	const struct gf_switch *sw = gf_switch_by_id(&session->fabric, slot->switch_id);

	choice->name = slot->name;
	choice->id = slot->id;
	choice->switch_id = slot->switch_id;
	choice->switch_name = sw ? sw->address : "?";
	choice->numa = slot->numa_node;
	if (slot->address)
		choice->path = pool_keep(pool, pci_path(&session->judge->tree, slot->address));
	choice->bandwidth = bandwidth(&slot->link);
}

static void pool_add_slot(struct session *session, const struct pool_terms *terms,
			  const struct gpu_request *ask, struct pool *pool,
			  const struct gf_slot *slot)
{
	enum handover handover = HANDOVER_AS_IS;
	struct choose_slot *choice;
	struct identity identity;
	struct verdict verdict;

	identity_of(&session->knowledge, slot, &identity);
	if (terms->to && !slot->composition)
		handover = handover_of(&session->judge->tree, slot, terms->to);
	choice = &pool->slots[pool->n++];
	pool_place(session, pool, slot, choice);
	choice->kind = pool_keep(pool, mem_strdup(strcmp(identity.label, "-") ? identity.label :
										"unknown GPU"));
	choice->gpu = identity.gpu;
	/* What a simulated GPU imitates is what requests name. */
	choice->vendor = (uint16_t)(identity.simulated ? identity.ids.subsystem_vendor :
							 identity.ids.vendor);
	choice->device = (uint16_t)(identity.simulated ? identity.ids.subsystem_device :
							 identity.ids.device);
	choice->gpus = identity.gpus;
	choice->memory = identity.memory;
	choice->group = identity.group;
	choice->shares = shares_group(&session->fabric, slot);
	placement_verdict(session, slot, &verdict);
	choice->moves = verdict.now == GF_FIT_FITS_AFTER_REASSIGNMENT;
	choice->doubt = doubt_of(&identity);
	choice->ready = slot->state == GF_STATE_READY;
	choice->dirty = handover != HANDOVER_AS_IS;
	/* By the time it is taken it is off, and its GPU was seen. */
	if (handover == HANDOVER_POWER_CYCLE) {
		choice->doubt = 1;
		choice->ready = false;
	}
	choice->bar = pool_judge(terms, ask, slot, &identity, choice, &verdict, handover);
}

static int check_excluded(struct session *session, const struct gpu_request *ask)
{
	struct gf_slot *slot;
	size_t i;
	int ret;

	for (i = 0; i < ask->n_exclude; i++) {
		ret = session_slot(session, ask->exclude[i], &slot);
		if (ret)
			return ret;
	}
	return CTL_DONE;
}

int pool_load(struct session *session, const struct pool_terms *terms,
	      const struct gpu_request *ask, struct pool *pool)
{
	const struct gf_fabric *fabric = &session->fabric;
	size_t i;
	int ret;

	memset(pool, 0, sizeof(*pool));
	ret = check_excluded(session, ask);
	if (ret)
		return ret;
	pool->slots = mem_zalloc(fabric->n_slots, sizeof(*pool->slots));
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];

		if (slot->state == GF_STATE_EMPTY || gf_slot_is_other(slot) ||
		    slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED)
			continue;
		pool_add_slot(session, terms, ask, pool, slot);
	}
	return CTL_DONE;
}

void pool_suppose_free(struct pool *pool)
{
	bool kept = false;
	size_t i;

	for (i = 0; i < pool->n; i++)
		kept = kept || pool->slots[i].bar == CHOOSE_CLAIMED ||
		       pool->slots[i].bar == CHOOSE_BUSY;
	for (i = 0; i < pool->n && kept; i++)
		if (pool->slots[i].bar == CHOOSE_CLAIMED || pool->slots[i].bar == CHOOSE_BUSY ||
		    pool->slots[i].bar == CHOOSE_NO_ROOM)
			pool->slots[i].bar = CHOOSE_FREE;
}

/* An earlier one that reaches as far; most often that of the slot before. @i when there is none. */
static size_t same_reach(char *const *reach, size_t i)
{
	size_t j;

	for (j = i; j > 0; j--)
		if (reach[j - 1] && !strcmp(reach[j - 1], reach[i]))
			return j - 1;
	return i;
}

void pool_find_peers(const struct session *session, struct pool *pool)
{
	char **reach = mem_zalloc(pool->n, sizeof(*reach));
	unsigned int groups = 0;
	size_t i, j;

	for (i = 0; i < pool->n; i++) {
		struct choose_slot *slot = &pool->slots[i];

		slot->peers = 0;
		if (!slot->path)
			continue;
		reach[i] = p2p_reach(&session->judge->tree, slot->path);
		if (!reach[i])
			continue;
		j = same_reach(reach, i);
		slot->peers = j < i ? pool->slots[j].peers : ++groups;
	}
	for (i = 0; i < pool->n; i++)
		free(reach[i]);
	free(reach);
}

void pool_free(struct pool *pool)
{
	size_t i;

	for (i = 0; i < pool->n_text; i++)
		free(pool->text[i]);
	free(pool->text);
	free(pool->slots);
	memset(pool, 0, sizeof(*pool));
}

struct gf_slot **pool_slots(const struct session *session, const struct pool *pool,
			    const size_t *picked, size_t n)
{
	struct gf_slot **slots = mem_zalloc(n, sizeof(*slots));
	size_t i;

	for (i = 0; i < n; i++)
		slots[i] = gf_slot_by_id(&session->fabric, pool->slots[picked[i]].id);
	return slots;
}

size_t pool_find(const struct pool *pool, uint32_t slot_id)
{
	size_t i;

	for (i = 0; i < pool->n; i++)
		if (pool->slots[i].id == slot_id)
			return i;
	return SIZE_MAX;
}
