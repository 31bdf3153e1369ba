// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the tool's copy of the fabric
 *
 * A snapshot carries, per object, the number of the last event that it
 * includes; gf_fabric_apply() uses it to skip events that came between
 * subscribing and the snapshot, so that nothing is lost or applied twice.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model.h"
#include "lib/text.h"

void gf_operation_free(struct gf_operation *operation)
{
	free(operation->text);
	free(operation->function);
	free(operation->driver);
	free(operation->command);
	free(operation->reason);
	free(operation->composition);
	memset(operation, 0, sizeof(*operation));
}

void gf_slot_free(struct gf_slot *slot)
{
	size_t i;

	free(slot->name);
	free(slot->address);
	free(slot->text);
	free(slot->slot_driver);
	free(slot->need);
	free(slot->composition);
	for (i = 0; i < slot->n_functions; i++) {
		free(slot->functions[i].address);
		free(slot->functions[i].driver);
		free(slot->functions[i].bars);
	}
	free(slot->functions);
	free(slot->windows);
	gf_operation_free(&slot->operation);
	gf_operation_free(&slot->last_operation);
	memset(slot, 0, sizeof(*slot));
}

void gf_switch_free(struct gf_switch *sw)
{
	free(sw->address);
	memset(sw, 0, sizeof(*sw));
}

void gf_member_free(struct gf_member *member)
{
	free(member->slot_name);
	memset(member, 0, sizeof(*member));
}

void gf_composition_free(struct gf_composition *composition)
{
	size_t i;

	free(composition->name);
	free(composition->tenant);
	free(composition->label);
	free(composition->job);
	for (i = 0; i < composition->n_members; i++)
		gf_member_free(&composition->members[i]);
	free(composition->members);
	gf_operation_free(&composition->operation);
	memset(composition, 0, sizeof(*composition));
}

void gf_history_free(struct gf_history *history)
{
	free(history->slot_name);
	gf_operation_free(&history->operation);
	memset(history, 0, sizeof(*history));
}

void gf_stats_free(struct gf_stats *stats)
{
	free(stats->buckets);
	memset(stats, 0, sizeof(*stats));
}

void gf_histograms_free(struct gf_histograms *histograms)
{
	size_t i;

	for (i = 0; i < histograms->n; i++)
		gf_stats_free(&histograms->items[i]);
	free(histograms->items);
	memset(histograms, 0, sizeof(*histograms));
}

void gf_event_free(struct gf_event *event)
{
	gf_slot_free(&event->slot);
	gf_switch_free(&event->sw);
	gf_composition_free(&event->composition);
	gf_operation_free(&event->operation);
	memset(event, 0, sizeof(*event));
}

void gf_fabric_free(struct gf_fabric *fabric)
{
	size_t i;

	for (i = 0; i < fabric->n_slots; i++)
		gf_slot_free(&fabric->slots[i]);
	for (i = 0; i < fabric->n_switches; i++)
		gf_switch_free(&fabric->switches[i]);
	for (i = 0; i < fabric->n_compositions; i++)
		gf_composition_free(&fabric->compositions[i]);
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

static int compare_slots(const void *a, const void *b)
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

void gf_fabric_sort(struct gf_fabric *fabric)
{
	if (fabric->n_slots)
		qsort(fabric->slots, fabric->n_slots, sizeof(*fabric->slots), compare_slots);
	if (fabric->n_switches)
		qsort(fabric->switches, fabric->n_switches, sizeof(*fabric->switches),
		      compare_switches);
	if (fabric->n_compositions)
		qsort(fabric->compositions, fabric->n_compositions, sizeof(*fabric->compositions),
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

bool gf_is_bridge(const struct gf_function *function)
{
	return function->class >> 8 == 0x0604;
}

bool gf_slot_is_left(const struct gf_slot *slot)
{
	return (slot->state == GPUFABRIC_SLOT_STATE_FAULT ||
		slot->state == GPUFABRIC_SLOT_STATE_LOST) &&
	       slot->n_functions && !(slot->flags & GPUFABRIC_SLOT_FLAG_FOREIGN);
}

bool gf_slot_has_gpu(const struct gf_slot *slot)
{
	switch (slot->state) {
	case GPUFABRIC_SLOT_STATE_ATTACHED:
	case GPUFABRIC_SLOT_STATE_READY:
	case GPUFABRIC_SLOT_STATE_DRAINING:
		return true;
	default:
		return slot->n_functions > 0;
	}
}

static bool apply_slot(struct gf_fabric *fabric, struct gf_event *event)
{
	struct gf_slot *old = gf_slot_by_id(fabric, event->slot.id);

	if (old && event->sequence <= old->sequence)
		return false;
	if (event->kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED) {
		if (!old)
			return false;
		gf_slot_free(old);
		*old = fabric->slots[--fabric->n_slots];
		return true;
	}
	if (old) {
		gf_slot_free(old);
	} else {
		fabric->slots =
			mem_push(fabric->slots, fabric->n_slots, sizeof(*fabric->slots));
		old = &fabric->slots[fabric->n_slots++];
	}
	*old = event->slot;
	memset(&event->slot, 0, sizeof(event->slot));
	return true;
}

static bool apply_switch(struct gf_fabric *fabric, struct gf_event *event)
{
	struct gf_switch *old = gf_switch_by_id(fabric, event->sw.id);

	if (old && event->sequence <= old->sequence)
		return false;
	if (event->kind == GPUFABRIC_EVENT_KIND_SWITCH_REMOVED) {
		if (!old)
			return false;
		gf_switch_free(old);
		*old = fabric->switches[--fabric->n_switches];
		return true;
	}
	if (old) {
		gf_switch_free(old);
	} else {
		fabric->switches = mem_grow(fabric->switches, fabric->n_switches + 1,
					    sizeof(*fabric->switches));
		old = &fabric->switches[fabric->n_switches++];
	}
	*old = event->sw;
	memset(&event->sw, 0, sizeof(event->sw));
	return true;
}

static struct gf_composition *composition_by_id(const struct gf_fabric *fabric, uint32_t id)
{
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		if (fabric->compositions[i].id == id)
			return &fabric->compositions[i];
	return NULL;
}

static bool apply_composition(struct gf_fabric *fabric, struct gf_event *event)
{
	struct gf_composition *old = composition_by_id(fabric, event->composition.id);

	if (old && event->sequence <= old->sequence)
		return false;
	if (event->kind == GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED) {
		if (!old)
			return false;
		gf_composition_free(old);
		*old = fabric->compositions[--fabric->n_compositions];
		return true;
	}
	if (old) {
		gf_composition_free(old);
	} else {
		fabric->compositions = mem_grow(fabric->compositions, fabric->n_compositions + 1,
						sizeof(*fabric->compositions));
		old = &fabric->compositions[fabric->n_compositions++];
	}
	*old = event->composition;
	memset(&event->composition, 0, sizeof(event->composition));
	return true;
}

bool gf_fabric_apply(struct gf_fabric *fabric, struct gf_event *event)
{
	switch (event->kind) {
	case GPUFABRIC_EVENT_KIND_SLOT_ADDED:
	case GPUFABRIC_EVENT_KIND_SLOT_CHANGED:
	case GPUFABRIC_EVENT_KIND_SLOT_REMOVED:
		return event->has_slot && apply_slot(fabric, event);
	case GPUFABRIC_EVENT_KIND_SWITCH_ADDED:
	case GPUFABRIC_EVENT_KIND_SWITCH_CHANGED:
	case GPUFABRIC_EVENT_KIND_SWITCH_REMOVED:
		return event->has_switch && apply_switch(fabric, event);
	case GPUFABRIC_EVENT_KIND_COMPOSITION_ADDED:
	case GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED:
	case GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED:
		return event->has_composition && apply_composition(fabric, event);
	default:
		return true;
	}
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
