// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: snapshots
 *
 * Dumps of switches, slots and compositions into one struct gf_fabric. Each
 * object remembers the sequence number of the reply that it came with. The parts of slots
 * and the members of compositions come by dumps of their own: each says which inventory of
 * its slot, or generation of its composition, it is of, and where that is another than the
 * object's the object is asked for again.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/nl.h"
#include "module/nl_private.h"

/* As many as it takes until a slot and its parts are of one moment; then it never rests. */
#define TRIES 20

static void nl_fabric_take_slot(struct gf_message *message, void *arg)
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

static void nl_fabric_take_composition(struct gf_message *message, void *arg)
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
 * struct owner - an object whose parts come by dumps of their own
 * @object: what it is
 * @command: the command that gets one
 * @in_message: where it is in a message
 * @id: where it has its id
 * @version: where it has the number that every part of it has, too
 * @loaded: where the number is that its parts are of
 * @count: where it says how many parts of the kind @counted it has
 * @counted: enum gfc_parts
 */
struct owner {
	const struct object *object;
	uint8_t command;
	size_t in_message, id, version, loaded, count;
	enum gfc_parts counted;
};

static const struct owner slot_owner = {
	&gf_slot_object,
	GPUFABRIC_CMD_SLOT_GET,
	offsetof(struct gf_message, slot),
	offsetof(struct gf_slot, id),
	offsetof(struct gf_slot, inventory),
	offsetof(struct gf_slot, loaded),
	offsetof(struct gf_slot, function_count),
	GFC_FUNCTIONS,
};

static const struct owner composition_owner = {
	&gf_composition_object,
	GPUFABRIC_CMD_COMPOSITION_GET,
	offsetof(struct gf_message, composition),
	offsetof(struct gf_composition, id),
	offsetof(struct gf_composition, generation),
	offsetof(struct gf_composition, loaded),
	offsetof(struct gf_composition, member_count),
	GFC_MEMBERS,
};

/**
 * struct kind - parts that one command dumps
 * @bit: enum gfc_parts
 * @command: the command
 * @owner: whose they are
 * @object: what each is
 * @part: where it is in a message
 * @owner_id: where the id of its owner is
 * @version: where that of its owner is
 * @items: where an owner has them
 * @n: and how many
 */
struct kind {
	enum gfc_parts bit;
	uint8_t command;
	const struct owner *owner;
	const struct object *object;
	size_t part, owner_id, version, items, n;
};

#define KIND(BIT, COMMAND, type, of, number, list)                                                 \
	{                                                                                          \
		.bit = (BIT), .command = (COMMAND), .owner = &of##_owner,                          \
		.object = &gf_##type##_object, .part = offsetof(struct gf_message, type),          \
		.owner_id = offsetof(struct gf_message, type.of##_id),                             \
		.version = offsetof(struct gf_##type, number),                                     \
		.items = offsetof(struct gf_##of, list), .n = offsetof(struct gf_##of, n_##list)   \
	}

static const struct kind kinds[] = {
	KIND(GFC_FUNCTIONS, GPUFABRIC_CMD_FUNCTION_GET, function, slot, inventory, functions),
	KIND(GFC_NEEDS, GPUFABRIC_CMD_NEED_GET, need, slot, inventory, needs),
	KIND(GFC_MEMBERS, GPUFABRIC_CMD_MEMBER_GET, membership, composition, generation, members),
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct parts - a dump of parts under way
 * @kind: what is dumped
 * @owners: objects that get theirs, by their ids
 * @n: how many
 * @at: the one whose turn it is
 */
struct parts {
	const struct kind *kind;
	void *owners;
	size_t n, at;
};

static uint32_t number_at(const void *object, size_t offset)
{
	uint32_t number;

	memcpy(&number, (const uint8_t *)object + offset, sizeof(number));
	return number;
}

static void set_number(void *object, size_t offset, uint32_t number)
{
	memcpy((uint8_t *)object + offset, &number, sizeof(number));
}

static void *owner_at(const struct parts *parts, size_t at)
{
	return (uint8_t *)parts->owners + at * parts->kind->owner->object->size;
}

static void nl_fabric_take_part(struct gf_message *message, void *arg)
{
	struct parts *parts = arg;
	const struct kind *kind = parts->kind;
	const size_t id = kind->owner->id;
	uint32_t wanted = number_at(message, kind->owner_id);
	uint8_t *owner;
	void *items;

	/* They come owner by owner, in the order of the ids. */
	while (parts->at < parts->n && number_at(owner_at(parts, parts->at), id) < wanted)
		parts->at++;
	if (parts->at == parts->n || number_at(owner_at(parts, parts->at), id) != wanted)
		return;
	owner = owner_at(parts, parts->at);
	memcpy(&items, owner + kind->items, sizeof(items));
	items = object_push(kind->object, items, (size_t *)(owner + kind->n),
			    (uint8_t *)message + kind->part);
	memcpy(owner + kind->items, &items, sizeof(items));
}

static void drop_parts(void *arg)
{
	struct parts *parts = arg;
	const struct kind *kind = parts->kind;
	void *items;
	size_t i;

	for (i = 0; i < parts->n; i++) {
		uint8_t *owner = owner_at(parts, i);

		memcpy(&items, owner + kind->items, sizeof(items));
		object_drop(kind->object, items, (size_t *)(owner + kind->n));
	}
	parts->at = 0;
}

/* Parts of @owners, which are in the order of their ids; with @id those of one. */
static int dump_parts(struct gfc *client, const struct kind *kind, void *owners, size_t n,
		      uint32_t id)
{
	struct parts parts = { kind, owners, n, 0 };
	struct nl_msg *msg = gfc_message(client, kind->command);

	if (id)
		nla_put_u32(msg, GPUFABRIC_A_ID, id);
	return gfc_dump(client, msg, nl_fabric_take_part, drop_parts, &parts);
}

/* Whether all parts of an object that were asked for are of the moment that it is of. */
static bool nl_fabric_is_whole(const struct owner *owner, const void *object, unsigned int asked)
{
	size_t k, i;

	for (k = 0; k < N_KINDS; k++) {
		const uint8_t *items;
		size_t n;

		if (kinds[k].owner != owner)
			continue;
		memcpy(&items, (const uint8_t *)object + kinds[k].items, sizeof(items));
		memcpy(&n, (const uint8_t *)object + kinds[k].n, sizeof(n));
		if (asked & kinds[k].bit & owner->counted && n != number_at(object, owner->count))
			return false;
		for (i = 0; i < n; i++)
			if (number_at(items + i * kinds[k].object->size, kinds[k].version) !=
			    number_at(object, owner->version))
				return false;
	}
	return true;
}

static void forget_parts(const struct owner *owner, void *object)
{
	struct parts parts = { NULL, object, 1, 0 };
	size_t k;

	for (k = 0; k < N_KINDS; k++) {
		parts.kind = &kinds[k];
		if (kinds[k].owner == owner)
			drop_parts(&parts);
	}
	set_number(object, owner->loaded, 0);
}

/**
 * struct one - an object that is asked for again
 * @owner: what it is
 * @object: where it goes
 */
struct one {
	const struct owner *owner;
	void *object;
};

static void nl_fabric_take_one(struct gf_message *message, void *arg)
{
	const struct one *one = arg;
	void *now = (uint8_t *)message + one->owner->in_message;

	object_free(one->owner->object, one->object);
	memcpy(one->object, now, one->owner->object->size);
	memset(now, 0, one->owner->object->size);
}

/* See gfc_slot_parts(). */
static int load_parts(struct gfc *client, const struct owner *owner, void *object, bool follows)
{
	struct one one = { owner, object };
	int ret, tries;
	size_t k;

	for (tries = 0; tries < TRIES; tries++) {
		const uint32_t id = number_at(object, owner->id);
		struct nl_msg *msg;

		ret = CTL_DONE;
		for (k = 0; k < N_KINDS && !ret; k++)
			if (kinds[k].owner == owner)
				ret = dump_parts(client, &kinds[k], object, 1, id);
		if (!ret && nl_fabric_is_whole(owner, object, GFC_PARTS))
			break;
		if (ret || !follows) {
			forget_parts(owner, object);
			return ret;
		}
		msg = gfc_message(client, owner->command);
		nla_put_u32(msg, GPUFABRIC_A_ID, id);
		ret = gfc_request(client, msg, nl_fabric_take_one, &one);
		if (!ret)
			continue;
		forget_parts(owner, object);
		/* That it is gone is told by an event. */
		if (gfc_last_errno(client) == ENOENT)
			ret = CTL_DONE;
		break;
	}
	set_number(object, owner->loaded, ret ? 0 : number_at(object, owner->version));
	return ret;
}

int gfc_slot_parts(struct gfc *client, struct gf_slot *slot, bool follows)
{
	return load_parts(client, &slot_owner, slot, follows);
}

int gfc_composition_parts(struct gfc *client, struct gf_composition *composition, bool follows)
{
	return load_parts(client, &composition_owner, composition, follows);
}

/* The parts in @parts of all objects of a kind, which are in the order of their ids. */
static int load_all(struct gfc *client, const struct owner *owner, void *objects, size_t n,
		    unsigned int parts)
{
	uint8_t *object = objects;
	size_t i, k;
	int ret = CTL_DONE;

	for (k = 0; k < N_KINDS && n && !ret; k++)
		if (kinds[k].owner == owner && parts & kinds[k].bit)
			ret = dump_parts(client, &kinds[k], objects, n, 0);
	for (i = 0; i < n && !ret && parts; i++, object += owner->object->size) {
		set_number(object, owner->loaded, number_at(object, owner->version));
		if (!nl_fabric_is_whole(owner, object, parts))
			ret = load_parts(client, owner, object, true);
	}
	return ret;
}

static int slots_by_id(const void *a, const void *b)
{
	const struct gf_slot *sa = a, *sb = b;

	return (sa->id > sb->id) - (sa->id < sb->id);
}

int gfc_all_slot_parts(struct gfc *client, struct gf_fabric *fabric)
{
	int ret;

	if (fabric->n_slots)
		qsort(fabric->slots, fabric->n_slots, sizeof(*fabric->slots), slots_by_id);
	ret = load_all(client, &slot_owner, fabric->slots, fabric->n_slots, GFC_PARTS);
	/* Each is where it was before. */
	gf_fabric_sort(fabric);
	return ret;
}

int gfc_slots(struct gfc *client, struct gf_fabric *fabric, unsigned int parts)
{
	size_t i;
	int ret;

	ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_SLOT_GET), nl_fabric_take_slot,
		       drop_slots, fabric);
	for (i = 0; i < fabric->n_slots; i++)
		gfc_remember_name(client, &fabric->slots[i]);
	if (!ret)
		ret = load_all(client, &slot_owner, fabric->slots, fabric->n_slots, parts);
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
			       nl_fabric_take_composition, drop_compositions, fabric);
	/* A composition without its members is of no use to anybody. */
	if (!ret)
		ret = load_all(client, &composition_owner, fabric->compositions,
			       fabric->n_compositions, GFC_MEMBERS);
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
