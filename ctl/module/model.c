// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the tool's copy of the fabric
 *
 * Each object carries the number of the last event that it includes, so that an event
 * that came between subscribing and the snapshot is not applied again.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/model.h"

int gf_message_read(const void *attrs, size_t len, struct gf_message *message)
{
	struct gf_slot *slot = &message->slot;
	struct gf_switch *sw = &message->sw;
	struct gf_composition *composition = &message->composition;
	int err = gf_message_parse(attrs, len, message);

	if (err)
		return err;
	/* What did not come stays zero: object_free() relies on that. */
	if (message->has.slot) {
		if (!slot->name)
			slot->name = mem_printf("#%u", slot->id);
		if (!slot->has.numa_node)
			slot->numa_node = -1;
		slot->state = gf_state_of(&slot->condition);
		slot->sequence = message->sequence;
	}
	if (message->has.sw) {
		if (!sw->address)
			sw->address = mem_printf("#%u", sw->id);
		if (!sw->has.numa_node)
			sw->numa_node = -1;
		sw->sequence = message->sequence;
	}
	if (message->has.composition) {
		if (!composition->name)
			composition->name = mem_printf("#%u", composition->id);
		composition->sequence = message->sequence;
		composition->instance = message->instance;
	}
	if (message->has.history)
		message->history.state = gf_state_of(&message->history.condition);
	if (message->has.status) {
		message->status.sequence = message->sequence;
		message->status.instance = message->instance;
	}
	message->was = gf_state_of(&message->previous);
	return 0;
}

void gf_histograms_free(struct gf_histograms *histograms)
{
	object_drop(&gf_stats_object, histograms->items, &histograms->n);
	free(histograms->items);
	memset(histograms, 0, sizeof(*histograms));
}

void gf_fabric_free(struct gf_fabric *fabric)
{
	object_drop(&gf_slot_object, fabric->slots, &fabric->n_slots);
	object_drop(&gf_switch_object, fabric->switches, &fabric->n_switches);
	object_drop(&gf_composition_object, fabric->compositions, &fabric->n_compositions);
	free(fabric->slots);
	free(fabric->switches);
	free(fabric->compositions);
	memset(fabric, 0, sizeof(*fabric));
}

int gf_name_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			unsigned long long na, nb;
			char *ea, *eb;

			na = strtoull(a, &ea, 10);
			nb = strtoull(b, &eb, 10);
			if (na != nb)
				return na < nb ? -1 : 1;
			a = ea;
			b = eb;
			continue;
		}
		if (*a != *b)
			break;
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static int model_compare_slots(const void *a, const void *b)
{
	const struct gf_slot *sa = a, *sb = b;

	if (sa->switch_id != sb->switch_id)
		return sa->switch_id < sb->switch_id ? -1 : 1;
	return gf_name_compare(sa->name, sb->name);
}

static int compare_switches(const void *a, const void *b)
{
	const struct gf_switch *sa = a, *sb = b;

	return (sa->id > sb->id) - (sa->id < sb->id);
}

static int compare_compositions(const void *a, const void *b)
{
	const struct gf_composition *ca = a, *cb = b;

	return gf_name_compare(ca->name, cb->name);
}

/* A dump of thousands of slots nearly always comes in order, and to see that is cheap. */
static void model_sort(void *items, size_t n, size_t size,
		       int (*compare)(const void *, const void *))
{
	const uint8_t *item = items;
	size_t i;

	for (i = 1; i < n; i++, item += size) {
		if (compare(item, item + size) > 0) {
			qsort(items, n, size, compare);
			return;
		}
	}
}

void gf_fabric_sort(struct gf_fabric *fabric)
{
	model_sort(fabric->slots, fabric->n_slots, sizeof(*fabric->slots), model_compare_slots);
	model_sort(fabric->switches, fabric->n_switches, sizeof(*fabric->switches),
		   compare_switches);
	model_sort(fabric->compositions, fabric->n_compositions, sizeof(*fabric->compositions),
		   compare_compositions);
}

struct gf_slot *gf_slot_by_name(const struct gf_fabric *fabric, const char *name)
{
	size_t i;

	for (i = 0; i < fabric->n_slots; i++)
		if (!strcmp(fabric->slots[i].name, name))
			return &fabric->slots[i];
	return NULL;
}

struct gf_slot *gf_slot_by_id(const struct gf_fabric *fabric, uint32_t id)
{
	size_t i;

	for (i = 0; i < fabric->n_slots; i++)
		if (fabric->slots[i].id == id)
			return &fabric->slots[i];
	return NULL;
}

struct gf_switch *gf_switch_by_id(const struct gf_fabric *fabric, uint32_t id)
{
	size_t i;

	for (i = 0; i < fabric->n_switches; i++)
		if (fabric->switches[i].id == id)
			return &fabric->switches[i];
	return NULL;
}

struct gf_composition *gf_composition_by_name(const struct gf_fabric *fabric, const char *name)
{
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		if (!strcmp(fabric->compositions[i].name, name))
			return &fabric->compositions[i];
	return NULL;
}

bool gf_operation_is_under_way(const struct gf_operation *operation)
{
	return operation->id && !operation->has.error;
}

uint64_t gf_duration(const struct gf_operation *operation, uint32_t phase)
{
	size_t i;

	for (i = 0; i < operation->n_durations; i++)
		if (operation->durations[i].phase == phase)
			return operation->durations[i].microseconds;
	return 0;
}

struct gf_ids gf_slot_ids(const struct gf_slot *slot)
{
	return (struct gf_ids){ .vendor = slot->vendor,
				.device = slot->device,
				.subsystem_vendor = slot->subsystem_vendor,
				.subsystem_device = slot->subsystem_device,
				.class = slot->class };
}

const struct gf_function *gf_gpu_function(const struct gf_slot *slot)
{
	return gf_gpu_next(slot, NULL);
}

const struct gf_function *gf_gpu_next(const struct gf_slot *slot, const struct gf_function *gpu)
{
	size_t i;

	/* What is behind a chassis is not among the functions, and the chassis is no GPU. */
	for (i = gpu ? (size_t)(gpu - slot->functions) + 1 : 0; i < slot->n_functions; i++) {
		uint32_t base = slot->functions[i].class >> 16;

		if (base == 0x03 || base == 0x12)
			return &slot->functions[i];
	}
	return NULL;
}

bool gf_slot_is_off(const struct gf_slot *slot)
{
	return slot->state == GF_STATE_EMPTY || slot->state == GF_STATE_OFF;
}

bool gf_slot_has_no_power(const struct gf_slot *slot)
{
	if (slot->operation.id)
		return false;
	return gf_slot_is_off(slot) ||
	       ((slot->state == GF_STATE_FAULT || slot->state == GF_STATE_LOST) &&
		!slot->function_count && slot->condition.power != GPUFABRIC_POWER_CHANGING);
}

bool gf_slot_is_vacant(const struct gf_slot *slot)
{
	return slot->state == GF_STATE_EMPTY && !slot->operation.id && !slot->composition &&
	       !(slot->flags & (GPUFABRIC_SLOT_FLAG_UNMANAGED | GPUFABRIC_SLOT_FLAG_QUARANTINED));
}

bool gf_is_bridge(const struct gf_function *function)
{
	return function->class >> 8 == 0x0604;
}

bool gf_slot_is_other(const struct gf_slot *slot)
{
	return slot->condition.occupancy == GPUFABRIC_OCCUPANCY_OTHER;
}

bool gf_slot_is_left(const struct gf_slot *slot)
{
	return (slot->state == GF_STATE_FAULT || slot->state == GF_STATE_LOST) &&
	       slot->function_count && !gf_slot_is_other(slot);
}

bool gf_slot_has_gpu(const struct gf_slot *slot)
{
	switch (slot->state) {
	case GF_STATE_ATTACHED:
	case GF_STATE_READY:
	case GF_STATE_DRAINING:
		return true;
	default:
		return slot->function_count > 0;
	}
}

struct gf_composition *gf_composition_by_id(const struct gf_fabric *fabric, uint32_t id)
{
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		if (fabric->compositions[i].id == id)
			return &fabric->compositions[i];
	return NULL;
}

bool gf_fabric_includes(const struct gf_fabric *fabric, const struct gf_message *event)
{
	const struct gf_composition *composition;
	const struct gf_switch *sw;
	const struct gf_slot *slot;

	if (event->has.slot) {
		slot = gf_slot_by_id(fabric, event->slot.id);
		return slot ? event->sequence <= slot->sequence :
			      event->kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED;
	}
	if (event->has.sw) {
		sw = gf_switch_by_id(fabric, event->sw.id);
		return sw ? event->sequence <= sw->sequence :
			    event->kind == GPUFABRIC_EVENT_KIND_SWITCH_REMOVED;
	}
	if (event->has.composition) {
		composition = gf_composition_by_id(fabric, event->composition.id);
		return composition ? event->sequence <= composition->sequence :
				     event->kind == GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED;
	}
	return false;
}

void gf_slot_move_parts(struct gf_slot *to, struct gf_slot *from)
{
	if (!from || to->loaded == to->inventory || to->inventory != from->loaded)
		return;
	to->functions = from->functions;
	to->n_functions = from->n_functions;
	to->needs = from->needs;
	to->n_needs = from->n_needs;
	to->loaded = from->loaded;
	from->functions = NULL;
	from->n_functions = 0;
	from->needs = NULL;
	from->n_needs = 0;
	from->loaded = 0;
}

void gf_composition_move_parts(struct gf_composition *to, struct gf_composition *from)
{
	if (!from || to->loaded == to->generation || to->generation != from->loaded)
		return;
	to->members = from->members;
	to->n_members = from->n_members;
	to->loaded = from->loaded;
	from->members = NULL;
	from->n_members = 0;
	from->loaded = 0;
}

/*
 * An array with the object of an event: in place of @old, or at the end when there was
 * none; without @old when it is @gone.
 */
static void *model_apply(const struct object *object, void *items, size_t *n, void *old, void *now,
			 bool gone)
{
	if (!old)
		return object_push(object, items, n, now);
	object_free(object, old);
	if (gone) {
		/* The last one may be the one that goes. */
		memmove(old, (uint8_t *)items + --*n * object->size, object->size);
	} else {
		memcpy(old, now, object->size);
		memset(now, 0, object->size);
	}
	return items;
}

bool gf_fabric_apply(struct gf_fabric *fabric, struct gf_message *event)
{
	struct gf_composition *composition = NULL;

	if (gf_fabric_includes(fabric, event))
		return false;
	if (event->has.composition)
		composition = gf_composition_by_id(fabric, event->composition.id);
	/* Whatever kind of event it is, the object in it is as it is now. */
	if (event->has.slot)
		gf_slot_move_parts(&event->slot, gf_slot_by_id(fabric, event->slot.id));
	if (composition)
		gf_composition_move_parts(&event->composition, composition);
	if (event->has.slot)
		fabric->slots = model_apply(&gf_slot_object, fabric->slots, &fabric->n_slots,
					    gf_slot_by_id(fabric, event->slot.id), &event->slot,
					    event->kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED);
	else if (event->has.sw)
		fabric->switches = model_apply(&gf_switch_object, fabric->switches,
					       &fabric->n_switches,
					       gf_switch_by_id(fabric, event->sw.id), &event->sw,
					       event->kind == GPUFABRIC_EVENT_KIND_SWITCH_REMOVED);
	else if (event->has.composition)
		fabric->compositions =
			model_apply(&gf_composition_object, fabric->compositions,
				    &fabric->n_compositions, composition, &event->composition,
				    event->kind == GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED);
	return true;
}

const char *gf_link_text(char buf[32], uint32_t speed, uint32_t width)
{
	if (!speed || !width)
		snprintf(buf, 32, "-");
	else if (speed % 1000)
		snprintf(buf, 32, "%u.%u GT/s x%u", speed / 1000, speed % 1000 / 100, width);
	else
		snprintf(buf, 32, "%u GT/s x%u", speed / 1000, width);
	return buf;
}
