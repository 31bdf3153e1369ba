// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: capacity
 *
 * What schedulers may count on: GPUs in state ready alone. It falls before a
 * GPU goes, since draining comes first, and rises when its driver is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "publish/capacity.h"

void capacity_name(const struct identity *identity, char name[64])
{
	if (identity->gpu)
		snprintf(name, 64, "%.58s%s", identity->gpu->id, identity->simulated ? "-sim" : "");
	else if (identity->ids.vendor)
		snprintf(name, 64, "%04x-%04x", identity->ids.vendor, identity->ids.device);
	else
		snprintf(name, 64, "unknown");
}

static struct capacity_kind *capacity_find(struct capacity *capacity, const char *name)
{
	struct capacity_kind *kind;
	size_t i;

	for (i = 0; i < capacity->n; i++)
		if (!strcmp(capacity->kinds[i].name, name))
			return &capacity->kinds[i];
	capacity->kinds = mem_grow(capacity->kinds, capacity->n + 1, sizeof(*kind));
	kind = &capacity->kinds[capacity->n++];
	memset(kind, 0, sizeof(*kind));
	snprintf(kind->name, sizeof(kind->name), "%s", name);
	return kind;
}

static void capacity_add(struct capacity *capacity, const struct gf_slot *slot,
			 const struct identity *identity)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	const char *driver = gpu ? gpu->driver : NULL;
	struct capacity_kind *kind;
	char name[64];

	capacity_name(identity, name);
	kind = capacity_find(capacity, name);
	if (!kind->ready)
		kind->driver = driver;
	else if (strcmp(kind->driver ? kind->driver : "", driver ? driver : ""))
		kind->mixed = true;
	kind->ready += identity->gpus;
	kind->held += slot->composition ? identity->gpus : 0;
	if (identity->memory)
		kind->memory = identity->memory;
}

static int capacity_by_name(const void *a, const void *b)
{
	const struct capacity_kind *one = a, *other = b;

	return strcmp(one->name, other->name);
}

void capacity_of(const struct gf_fabric *fabric, const struct knowledge *knowledge,
		 struct capacity *capacity)
{
	size_t i;

	memset(capacity, 0, sizeof(*capacity));
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		struct identity identity;

		if (slot->state != GF_STATE_READY || gf_slot_is_other(slot))
			continue;
		identity_of(knowledge, slot, &identity);
		capacity_add(capacity, slot, &identity);
	}
	if (capacity->n)
		qsort(capacity->kinds, capacity->n, sizeof(*capacity->kinds), capacity_by_name);
}

void capacity_free(struct capacity *capacity)
{
	free(capacity->kinds);
	memset(capacity, 0, sizeof(*capacity));
}
