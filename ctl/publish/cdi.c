// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: container devices
 *
 * One JSON document of the Container Device Interface for all GPUs. Readers
 * refuse fields that are newer than its version, so it has the lowest one that
 * its contents allow: 0.3.0, or 0.5.0 with names that begin with a digit. They refuse
 * a document or a device without contents, too; such are not written.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "module/netlink_gen.h"
#include "publish/cdi.h"

#define VERSION_LOWEST "0.3.0"
#define VERSION_DIGITS "0.5.0"
#define NAME_LEN_MAX 63
#define DEPTH_MAX 8

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alphanumeric(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool cdi_name_valid(const char *name)
{
	size_t len = strlen(name), i;

	if (!len || len > NAME_LEN_MAX || !is_alphanumeric(name[0]) ||
	    !is_alphanumeric(name[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!is_alphanumeric(name[i]) && !strchr("_-.:", name[i]))
			return false;
	return true;
}

static void put_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

/* Numbers are given, so that nothing on the host is looked at when a container starts. */
static struct json_object *print_node(const struct gpunode *node)
{
	struct json_object *to = json_object_new_object();

	put_text(to, "path", node->path);
	put_text(to, "type", node->block ? "b" : "c");
	json_object_object_add(to, "major", json_object_new_int64(major(node->rdev)));
	json_object_object_add(to, "minor", json_object_new_int64(minor(node->rdev)));
	put_text(to, "permissions", "rw");
	return to;
}

/**
 * struct device - what one device of the document is made from
 * @nodes: of all its GPUs
 * @env: variables for the container
 */
struct device {
	struct gpunodes nodes;
	struct json_object *env;
};

static bool has_text(struct json_object *array, const char *text)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(array, i)), text))
			return true;
	return false;
}

static void cdi_add_slot(struct device *device, const struct places *places,
			 const struct vendors *vendors, const struct gf_slot *slot)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	const struct vendor *vendor = vendors_find(vendors, gpu ? gpu->driver : NULL);
	size_t i;

	gpunodes_add(&device->nodes, places, vendors, slot);
	for (i = 0; vendor && i < vendor->n[VENDOR_ENV]; i++) {
		const char *variable = vendor->lists[VENDOR_ENV][i];

		if (!has_text(device->env, variable))
			json_object_array_add(device->env, json_object_new_string(variable));
	}
}

/* Takes over what @device has. */
static void cdi_add_device(struct json_object *devices, const char *name, struct device *device)
{
	struct json_object *to, *edits, *nodes;
	size_t i;

	if (!device->nodes.n || !cdi_name_valid(name)) {
		json_object_put(device->env);
		gpunodes_free(&device->nodes);
		return;
	}
	nodes = json_object_new_array();
	for (i = 0; i < device->nodes.n; i++)
		json_object_array_add(nodes, print_node(&device->nodes.items[i]));
	edits = json_object_new_object();
	if (json_object_array_length(device->env))
		json_object_object_add(edits, "env", device->env);
	else
		json_object_put(device->env);
	json_object_object_add(edits, "deviceNodes", nodes);
	to = json_object_new_object();
	put_text(to, "name", name);
	json_object_object_add(to, "containerEdits", edits);
	json_object_array_add(devices, to);
	gpunodes_free(&device->nodes);
}

static bool usable(const struct gf_slot *slot)
{
	return slot && slot->state == GF_STATE_READY && !gf_slot_is_other(slot);
}

static bool slot_has_nodes(const struct places *places, const struct vendors *vendors,
			   const struct gf_slot *slot)
{
	struct gpunodes nodes = { 0 };
	bool has;

	gpunodes_add(&nodes, places, vendors, slot);
	has = nodes.n;
	gpunodes_free(&nodes);
	return has;
}

/* Half a composition is none: its workload counts on all of it. */
static void cdi_add_composition(struct json_object *devices, const struct gf_fabric *fabric,
				const struct gf_composition *composition,
				const struct places *places, const struct vendors *vendors)
{
	struct device device = { .env = NULL };
	size_t i;

	if (composition->state != GPUFABRIC_COMPOSITION_STATE_ACTIVE)
		return;
	for (i = 0; i < composition->n_members; i++) {
		const struct gf_slot *slot = gf_slot_by_id(fabric, composition->members[i].slot_id);

		if (!usable(slot) || !slot_has_nodes(places, vendors, slot))
			return;
	}
	device.env = json_object_new_array();
	for (i = 0; i < composition->n_members; i++)
		cdi_add_slot(&device, places, vendors,
			     gf_slot_by_id(fabric, composition->members[i].slot_id));
	cdi_add_device(devices, composition->name, &device);
}

/* Writes the document, unless there is nothing in it. Takes over @devices. */
static char *print_document(struct json_object *devices)
{
	struct json_object *to;
	const char *version = VERSION_LOWEST, *name;
	char *text;
	size_t i;

	if (!json_object_array_length(devices)) {
		json_object_put(devices);
		return NULL;
	}
	for (i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i), *value;

		json_object_object_get_ex(device, "name", &value);
		name = json_object_get_string(value);
		if (is_digit(name[0]))
			version = VERSION_DIGITS;
	}
	to = json_object_new_object();
	put_text(to, "cdiVersion", version);
	put_text(to, "kind", CDI_KIND);
	json_object_object_add(to, "devices", devices);
	text = mem_printf("%s\n",
			  json_object_to_json_string_ext(to,
							 JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(to);
	return text;
}

char *cdi_print(const struct gf_fabric *fabric, const struct places *places,
		const struct vendors *vendors)
{
	struct json_object *devices = json_object_new_array();
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		cdi_add_composition(devices, fabric, &fabric->compositions[i], places, vendors);
	for (i = 0; i < fabric->n_slots; i++) {
		struct device device = { .env = NULL };

		/* A name that is there twice is refused: a composition's comes first. */
		if (!usable(&fabric->slots[i]) ||
		    gf_composition_by_name(fabric, fabric->slots[i].name))
			continue;
		device.env = json_object_new_array();
		cdi_add_slot(&device, places, vendors, &fabric->slots[i]);
		cdi_add_device(devices, fabric->slots[i].name, &device);
	}
	return print_document(devices);
}

static bool slot_lacks(const struct places *places, const struct vendors *vendors,
		       const struct gf_slot *slot, struct fault *fault)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	const char *state = gf_state_name(slot->state);

	if (!usable(slot)) {
		fault_set(fault, ENODEV, "slot %s is %s", slot->name, state ? state : "unknown");
		return true;
	}
	if (slot_has_nodes(places, vendors, slot))
		return false;
	if (gpu && gpu->driver)
		fault_set(fault, ENODEV,
			  "the GPU in slot %s has no device node: its driver %s has made none",
			  slot->name, gpu->driver);
	else
		fault_set(fault, ENODEV,
			  "the GPU in slot %s has no device node: no driver is bound to it, load one",
			  slot->name);
	return true;
}

bool cdi_lacks(const struct gf_fabric *fabric, const struct places *places,
	       const struct vendors *vendors, const char *name, struct fault *fault)
{
	const struct gf_composition *composition = gf_composition_by_name(fabric, name);
	const struct gf_slot *slot = gf_slot_by_name(fabric, name);
	bool lacks = false;
	size_t i;

	if (!composition && !slot) {
		fault_set(fault, ENOENT, "there is no composition or slot %s", name);
		return true;
	}
	if (!cdi_name_valid(name)) {
		fault_set(fault, EINVAL,
			  "no container device can be called %s: a name has up to %d letters, digits and _-.:, with a letter or digit at both ends",
			  name, NAME_LEN_MAX);
		return true;
	}
	if (!composition)
		return slot_lacks(places, vendors, slot, fault);
	if (composition->state != GPUFABRIC_COMPOSITION_STATE_ACTIVE) {
		fault_set(fault, ENODEV, "composition %s is %s", name,
			  gfnl_composition_state_name(composition->state));
		return true;
	}
	if (!composition->n_members) {
		fault_set(fault, ENODEV, "composition %s has no GPU", name);
		return true;
	}
	for (i = 0; !lacks && i < composition->n_members; i++) {
		slot = gf_slot_by_id(fabric, composition->members[i].slot_id);
		lacks = !slot || slot_lacks(places, vendors, slot, fault);
		if (!slot)
			fault_set(fault, ENODEV, "a slot of composition %s is gone", name);
	}
	return lacks;
}

const char **cdi_together(const struct gf_fabric *fabric, const char *name, size_t *n)
{
	const struct gf_composition *composition = gf_composition_by_name(fabric, name);
	const struct gf_slot *slot = gf_slot_by_name(fabric, name);
	const char **names;
	size_t i;

	names = mem_zalloc(2 + (composition ? composition->n_members : 0), sizeof(*names));
	*n = 0;
	names[(*n)++] = name;
	for (i = 0; composition && i < composition->n_members; i++)
		if (composition->members[i].slot_name)
			names[(*n)++] = composition->members[i].slot_name;
	if (slot && slot->composition)
		names[(*n)++] = slot->composition;
	return names;
}

static bool cdi_named(struct json_object *device, const char *const *names, size_t n)
{
	struct json_object *value;
	size_t i;

	if (!json_object_object_get_ex(device, "name", &value))
		return false;
	for (i = 0; i < n; i++)
		if (!strcmp(json_object_get_string(value), names[i]))
			return true;
	return false;
}

/* Is it a document of ours, as far as this file relies on that? */
static int cdi_check(struct json_object *from, struct json_object **devices, struct fault *fault)
{
	struct json_object *kind, *name;
	size_t i;

	if (!json_object_is_type(from, json_type_object) ||
	    !json_object_object_get_ex(from, "kind", &kind) ||
	    !json_object_is_type(kind, json_type_string) ||
	    strcmp(json_object_get_string(kind), CDI_KIND) ||
	    !json_object_object_get_ex(from, "devices", devices) ||
	    !json_object_is_type(*devices, json_type_array))
		return fault_set(fault, EINVAL, "is not what gpuctl cdi writes");
	for (i = 0; i < json_object_array_length(*devices); i++)
		if (!json_object_object_get_ex(json_object_array_get_idx(*devices, i), "name",
					       &name) ||
		    !json_object_is_type(name, json_type_string) ||
		    !cdi_name_valid(json_object_get_string(name)))
			return fault_set(fault, EINVAL, "has a device without a valid name");
	return 0;
}

int cdi_without(const char *text, size_t len, const char *const *names, size_t n, char **result,
		size_t *removed, struct fault *fault)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *from = NULL, *devices = NULL, *left;
	size_t i;
	int err;

	*result = NULL;
	*removed = 0;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (len < INT32_MAX)
		from = json_tokener_parse_ex(tokener, text, (int)len);
	err = cdi_check(from, &devices, fault);
	if (!err) {
		left = json_object_new_array();
		for (i = 0; i < json_object_array_length(devices); i++) {
			struct json_object *device = json_object_array_get_idx(devices, i);

			if (cdi_named(device, names, n))
				(*removed)++;
			else
				json_object_array_add(left, json_object_get(device));
		}
		*result = print_document(left);
	}
	json_object_put(from);
	json_tokener_free(tokener);
	return err;
}
