// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: snapshots
 *
 * Dumps of switches, slots and compositions into one struct gf_fabric. Each
 * object remembers the sequence number of the reply that it came with. The parts
 * of slots come by dumps of their own: each says which inventory of its slot it is
 * of, and where that is another than the slot's the slot is asked for again.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nl.h"
#include "lib/nl_private.h"
#include "lib/text.h"

/* As many as it takes until a slot and its parts are of one moment; then it never rests. */
#define TRIES 20

static void take_slot(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.slot)
		fabric->slots = object_push(&gf_slot_object, fabric->slots, &fabric->n_slots,
					    &message->slot);
}

static void take_switch(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.sw)
		fabric->switches = object_push(&gf_switch_object, fabric->switches,
					       &fabric->n_switches, &message->sw);
}

static void take_composition(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.composition)
		fabric->compositions = object_push(&gf_composition_object, fabric->compositions,
						   &fabric->n_compositions, &message->composition);
}

static void drop_slots(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_slot_object, fabric->slots, &fabric->n_slots);
}

static void drop_switches(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_switch_object, fabric->switches, &fabric->n_switches);
}

static void drop_compositions(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_composition_object, fabric->compositions, &fabric->n_compositions);
}

/**
 * struct kind - parts of slots that one command dumps
 * @bit: enum gfc_parts
 * @command: the command
 * @object: what each is
 * @part: where it is in a message
 * @slot_id: where the id of its slot is
 * @inventory: where that of its slot is
 * @items: where a slot has them
 * @n: and how many
 */
struct kind {
	enum gfc_parts bit;
	uint8_t command;
	const struct object *object;
	size_t part, slot_id, inventory, items, n;
};

#define KIND(BIT, COMMAND, type) { \
	.bit = (BIT), .command = (COMMAND), .object = &gf_##type##_object, \
	.part = offsetof(struct gf_message, type), \
	.slot_id = offsetof(struct gf_message, type.slot_id), \
	.inventory = offsetof(struct gf_##type, inventory), \
	.items = offsetof(struct gf_slot, type##s), .n = offsetof(struct gf_slot, n_##type##s) }

static const struct kind kinds[] = {
	KIND(GFC_FUNCTIONS, GPUFABRIC_CMD_FUNCTION_GET, function),
	KIND(GFC_WINDOWS, GPUFABRIC_CMD_WINDOW_GET, window),
	KIND(GFC_NEEDS, GPUFABRIC_CMD_NEED_GET, need),
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct parts - a dump of parts under way
 * @kind: what is dumped
 * @slots: slots that get theirs, by their ids
 * @n: how many
 * @at: the one whose turn it is
 */
struct parts {
	const struct kind *kind;
	struct gf_slot *slots;
	size_t n, at;
};

static uint32_t number_at(const void *object, size_t offset)
{
	uint32_t number;

	memcpy(&number, (const uint8_t *)object + offset, sizeof(number));
	return number;
}

static void take_part(struct gf_message *message, void *arg)
{
	struct parts *parts = arg;
	const struct kind *kind = parts->kind;
	uint32_t id = number_at(message, kind->slot_id);
	uint8_t *slot;
	void *items;

	/* They come slot by slot, in the order of the ids. */
	while (parts->at < parts->n && parts->slots[parts->at].id < id)
		parts->at++;
	if (parts->at == parts->n || parts->slots[parts->at].id != id)
		return;
	slot = (uint8_t *)&parts->slots[parts->at];
	memcpy(&items, slot + kind->items, sizeof(items));
	items = object_push(kind->object, items, (size_t *)(slot + kind->n),
			    (uint8_t *)message + kind->part);
	memcpy(slot + kind->items, &items, sizeof(items));
}

static void drop_parts(void *arg)
{
	struct parts *parts = arg;
	const struct kind *kind = parts->kind;
	void *items;
	size_t i;

	for (i = 0; i < parts->n; i++) {
		uint8_t *slot = (uint8_t *)&parts->slots[i];

		memcpy(&items, slot + kind->items, sizeof(items));
		object_drop(kind->object, items, (size_t *)(slot + kind->n));
	}
	parts->at = 0;
}

/* Parts of @slots, which are in the order of their ids; with @id those of one. */
static int dump_parts(struct gfc *client, const struct kind *kind, struct gf_slot *slots, size_t n,
		      uint32_t id)
{
	struct parts parts = { kind, slots, n, 0 };
	struct nl_msg *msg = gfc_message(client, kind->command);

	if (id)
		nla_put_u32(msg, GPUFABRIC_A_ID, id);
	return gfc_dump(client, msg, take_part, drop_parts, &parts);
}

/* Whether all its parts that were asked for are of the moment that the slot is of. */
static bool is_whole(const struct gf_slot *slot, unsigned int asked)
{
	size_t k, i;

	if (asked & GFC_FUNCTIONS && slot->n_functions != slot->function_count)
		return false;
	for (k = 0; k < N_KINDS; k++) {
		const uint8_t *items;
		size_t n;

		memcpy(&items, (const uint8_t *)slot + kinds[k].items, sizeof(items));
		memcpy(&n, (const uint8_t *)slot + kinds[k].n, sizeof(n));
		for (i = 0; i < n; i++)
			if (number_at(items + i * kinds[k].object->size, kinds[k].inventory) !=
			    slot->inventory)
				return false;
	}
	return true;
}

static void forget_parts(struct gf_slot *slot)
{
	struct parts parts = { NULL, slot, 1, 0 };
	size_t k;

	for (k = 0; k < N_KINDS; k++) {
		parts.kind = &kinds[k];
		drop_parts(&parts);
	}
	slot->loaded = 0;
}

static void take_one_slot(struct gf_message *message, void *arg)
{
	struct gf_slot *slot = arg;

	gf_slot_free(slot);
	*slot = message->slot;
	memset(&message->slot, 0, sizeof(message->slot));
}

int gfc_slot_parts(struct gfc *client, struct gf_slot *slot, bool follows)
{
	int ret, tries;
	size_t k;

	for (tries = 0; tries < TRIES; tries++) {
		const uint32_t id = slot->id;
		struct nl_msg *msg;

		ret = CTL_DONE;
		for (k = 0; k < N_KINDS && !ret; k++)
			ret = dump_parts(client, &kinds[k], slot, 1, id);
		if (!ret && is_whole(slot, GFC_PARTS))
			break;
		if (ret || !follows) {
			forget_parts(slot);
			return ret;
		}
		msg = gfc_message(client, GPUFABRIC_CMD_SLOT_GET);
		nla_put_u32(msg, GPUFABRIC_A_ID, id);
		ret = gfc_request(client, msg, take_one_slot, slot);
		if (!ret)
			continue;
		forget_parts(slot);
		/* That it is gone is told by an event. */
		if (gfc_last_errno(client) == ENOENT)
			ret = CTL_DONE;
		break;
	}
	slot->loaded = ret ? 0 : slot->inventory;
	return ret;
}

int gfc_slots(struct gfc *client, struct gf_fabric *fabric, unsigned int parts)
{
	size_t i, k;
	int ret;

	ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_SLOT_GET), take_slot, drop_slots,
		       fabric);
	for (i = 0; i < fabric->n_slots; i++)
		gfc_remember_name(client, &fabric->slots[i]);
	for (k = 0; k < N_KINDS && !ret; k++)
		if (parts & kinds[k].bit)
			ret = dump_parts(client, &kinds[k], fabric->slots, fabric->n_slots, 0);
	for (i = 0; i < fabric->n_slots && !ret && parts; i++) {
		fabric->slots[i].loaded = fabric->slots[i].inventory;
		if (!is_whole(&fabric->slots[i], parts))
			ret = gfc_slot_parts(client, &fabric->slots[i], true);
	}
	gf_fabric_sort(fabric);
	return ret;
}

int gfc_fabric(struct gfc *client, struct gf_fabric *fabric, unsigned int parts)
{
	int ret;

	memset(fabric, 0, sizeof(*fabric));
	ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_SWITCH_GET), take_switch,
		       drop_switches, fabric);
	if (!ret)
		ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_COMPOSITION_GET),
			       take_composition, drop_compositions, fabric);
	if (!ret)
		ret = gfc_slots(client, fabric, parts);
	if (ret)
		gf_fabric_free(fabric);
	return ret;
}

static void take_status(struct gf_message *message, void *arg)
{
	struct gf_status *status = arg;

	gf_status_free(status);
	*status = message->status;
	memset(&message->status, 0, sizeof(message->status));
}

int gfc_status(struct gfc *client, struct gf_status *status)
{
	memset(status, 0, sizeof(*status));
	return gfc_request(client, gfc_message(client, GPUFABRIC_CMD_STATUS_GET), take_status,
			   status);
}

static void take_histogram(struct gf_message *message, void *arg)
{
	struct gf_histograms *histograms = arg;

	if (message->has.stats)
		histograms->items = object_push(&gf_stats_object, histograms->items, &histograms->n,
						&message->stats);
}

static void drop_histograms(void *arg)
{
	gf_histograms_free(arg);
}

int gfc_histograms(struct gfc *client, struct gf_histograms *histograms)
{
	memset(histograms, 0, sizeof(*histograms));
	return gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_STATS_GET), take_histogram,
			drop_histograms, histograms);
}
