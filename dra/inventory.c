// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: the inventory
 *
 * Names of slots and of GPUs at managers have letters that names of devices cannot have. Two
 * that become the same name are told apart by a checksum of the name behind it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra/inventory.h"

#define ROWS_MAX 65536

/* FNV-1a, 32 bits. */
static uint32_t checksum(const char *text)
{
	uint32_t sum = 2166136261u;

	while (*text)
		sum = (sum ^ (unsigned char)*text++) * 16777619u;
	return sum;
}

/* @plain letters at most, and a checksum where they do not say all. */
static void name_make(const char *name, size_t plain_max, char device[DEVICE_NAME_MAX])
{
	size_t n = 0;
	bool same = true;

	for (; n < plain_max && name[n]; n++) {
		unsigned char c = (unsigned char)name[n];
		bool plain = isdigit(c) || (c >= 'a' && c <= 'z') || (c == '-' && n && name[n + 1]);

		device[n] = plain ? (char)c : isupper(c) && c < 0x80 ? (char)tolower(c) : '-';
		same = same && plain;
	}
	device[n] = '\0';
	if (!n || !same || name[n])
		snprintf(device + n, DEVICE_NAME_MAX - n, "%s%08x", n ? "-" : "", checksum(name));
	if (*device == '-')
		*device = 'x';
}

void device_name(const char *name, char device[DEVICE_NAME_MAX])
{
	name_make(name, DEVICE_NAME_MAX - 10, device);
}

void pool_name(const char *manager, char pool[DEVICE_NAME_MAX])
{
	name_make(manager, DEVICE_NAME_MAX - 10 - strlen(POOL_LABEL), pool);
}

static int64_t number(struct json_object *row, const char *name, int64_t otherwise)
{
	struct json_object *value = json_member(row, name, json_type_int);

	return value ? json_object_get_int64(value) : otherwise;
}

static bool has_flag(struct json_object *row, const char *flag)
{
	struct json_object *flags = json_member(row, "flags", json_type_array);
	size_t i;

	for (i = 0; flags && i < json_object_array_length(flags); i++) {
		const char *one = json_object_get_string(json_object_array_get_idx(flags, i));

		if (one && !strcmp(one, flag))
			return true;
	}
	return false;
}

static bool read_slot(struct json_object *row, struct inv_slot *slot)
{
	const char *verdict;

	slot->name = json_text(row, "slot");
	slot->state = json_text(row, "state");
	if (!slot->name || !*slot->name || !slot->state)
		return false;
	device_name(slot->name, slot->device);
	slot->kind = json_text(row, "gpu_id");
	slot->label = json_text(row, "gpu");
	slot->cause = json_text(row, "cause");
	slot->composition = json_text(row, "composition");
	slot->memory = number(row, "memory", 0);
	slot->gpus = number(row, "gpus", 1);
	slot->speed = number(row, "link_speed", 0);
	slot->width = number(row, "link_width", 0);
	slot->numa = number(row, "numa_node", -1);
	slot->switch_id = number(row, "switch", -1);
	slot->quarantined = has_flag(row, "quarantined");
	slot->unmanaged = has_flag(row, "unmanaged");
	verdict = json_text(row, "verdict");
	slot->no_window = verdict && !strcmp(verdict, "cannot");
	return slot->memory >= 0 && slot->gpus >= 0;
}

static bool read_gpu(struct json_object *row, struct inv_gpu *gpu)
{
	gpu->id = json_text(row, "gpu");
	gpu->state = json_text(row, "state");
	gpu->manager = json_text(row, "manager");
	if (!gpu->id || !*gpu->id || !gpu->state || !gpu->manager || !*gpu->manager)
		return false;
	device_name(gpu->id, gpu->device);
	gpu->kind = json_text(row, "kind");
	gpu->host = json_text(row, "host");
	gpu->slot = json_text(row, "slot");
	return true;
}

static bool read_composition(struct json_object *row, struct inv_composition *composition)
{
	composition->name = json_text(row, "name");
	composition->state = json_text(row, "state");
	return composition->name && composition->state;
}

/* Rows below a name; their number, or SIZE_MAX if there are too many. */
static size_t rows(struct json_object *root, const char *name, struct json_object **array)
{
	*array = json_member(root, name, json_type_array);
	if (!*array)
		return 0;
	return json_object_array_length(*array) > ROWS_MAX ? SIZE_MAX :
							     json_object_array_length(*array);
}

bool inventory_read(struct json_object *root, struct inventory *inventory, struct reason *reason)
{
	struct json_object *slots, *gpus, *compositions;
	size_t n_slots = rows(root, "slots", &slots), n_gpus = rows(root, "pool", &gpus);
	size_t n_compositions = rows(root, "compositions", &compositions), i;
	bool good = slots && n_slots != SIZE_MAX && n_gpus != SIZE_MAX &&
		    n_compositions != SIZE_MAX;

	memset(inventory, 0, sizeof(*inventory));
	inventory->root = root;
	if (good) {
		inventory->slots = zalloc(n_slots, sizeof(*inventory->slots));
		inventory->gpus = zalloc(n_gpus, sizeof(*inventory->gpus));
		inventory->compositions = zalloc(n_compositions, sizeof(*inventory->compositions));
	}
	for (i = 0; good && i < n_slots; i++)
		good = read_slot(json_object_array_get_idx(slots, i), &inventory->slots[i]);
	for (i = 0; good && i < n_gpus; i++)
		good = read_gpu(json_object_array_get_idx(gpus, i), &inventory->gpus[i]);
	for (i = 0; good && i < n_compositions; i++)
		good = read_composition(json_object_array_get_idx(compositions, i),
					&inventory->compositions[i]);
	if (!good)
		return refuse(reason, "the output of gpuctl list is not a list of slots");
	inventory->n_slots = n_slots;
	inventory->n_gpus = n_gpus;
	inventory->n_compositions = n_compositions;
	return true;
}

void inventory_free(struct inventory *inventory)
{
	free(inventory->slots);
	free(inventory->gpus);
	free(inventory->compositions);
	json_object_put(inventory->root);
	memset(inventory, 0, sizeof(*inventory));
}

static int64_t kind_bytes(struct json_object *gpus, const char *kind, const char *field)
{
	size_t i;

	for (i = 0; kind && gpus && i < json_object_array_length(gpus); i++) {
		struct json_object *row = json_object_array_get_idx(gpus, i);
		const char *id = json_text(row, "id");
		int64_t mib = number(row, field, 0);

		if (id && !strcmp(id, kind))
			return mib > 0 && mib < INT32_MAX ? mib << 20 : 0;
	}
	return 0;
}

void inventory_kinds(struct inventory *inventory, struct json_object *catalogue)
{
	struct json_object *gpus = json_member(catalogue, "gpus", json_type_array);
	size_t i;

	for (i = 0; i < inventory->n_slots; i++)
		inventory->slots[i].bar = kind_bytes(gpus, inventory->slots[i].kind, "bar1_mib");
	for (i = 0; i < inventory->n_gpus; i++) {
		inventory->gpus[i].memory = kind_bytes(gpus, inventory->gpus[i].kind, "memory_mib");
		inventory->gpus[i].bar = kind_bytes(gpus, inventory->gpus[i].kind, "bar1_mib");
	}
}

const struct inv_composition *inventory_composition(const struct inventory *inventory,
						    const char *name)
{
	size_t i;

	for (i = 0; i < inventory->n_compositions; i++)
		if (!strcmp(inventory->compositions[i].name, name))
			return &inventory->compositions[i];
	return NULL;
}
