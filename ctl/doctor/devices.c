// SPDX-License-Identifier: GPL-2.0-only
/* Specifications of container devices: readable, no device twice, none of a GPU that went. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"
#include "publish/cdi.h"

/**
 * struct spec_name - a device of a specification
 * @name: what containers ask for
 * @file: where it is
 */
struct spec_name {
	char *name;
	char *file;
};

struct spec_names {
	struct spec_name *items;
	size_t n;
};

/* Ready slots and what they are composed to; everything else is gone. */
static bool devices_is_known(const struct doctor *doctor, const char *name)
{
	size_t i;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct doctor_slot *slot = &doctor->slots[i];

		if (slot->composition && !strcmp(slot->composition, name))
			return true;
		if (!strcmp(slot->name, name))
			return slot->state &&
			       (!strcmp(slot->state, "ready") || !strcmp(slot->state, "draining"));
	}
	return false;
}

/* The file that has it already. */
static const char *seen_in(const struct spec_names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->items[i].name, name))
			return names->items[i].file;
	return NULL;
}

static struct json_object *field(struct json_object *of, const char *name, enum json_type type)
{
	struct json_object *value;

	if (!json_object_is_type(of, json_type_object) ||
	    !json_object_object_get_ex(of, name, &value) || !json_object_is_type(value, type))
		return NULL;
	return value;
}

static size_t length(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

/* A node that is not there any more; only this host can be asked for it. */
static const char *missing_node(const struct doctor *doctor, struct json_object *device)
{
	struct json_object *edits = field(device, "containerEdits", json_type_object);
	struct json_object *nodes = edits ? field(edits, "deviceNodes", json_type_array) : NULL;
	size_t i;

	for (i = 0; tree_is_live(&doctor->tree) && i < length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);
		struct json_object *path = field(node, "hostPath", json_type_string);

		path = path ? path : field(node, "path", json_type_string);
		if (path && access(json_object_get_string(path), F_OK))
			return json_object_get_string(path);
	}
	return NULL;
}

static const char *remedy(const char *kind)
{
	return !strcmp(kind, CDI_KIND) ? "gpuctl cdi" : "run the program that wrote the file again";
}

static void check_device(struct doctor *doctor, struct spec_names *names, const char *file,
			 const char *kind, struct json_object *device)
{
	struct json_object *value = field(device, "name", json_type_string);
	const char *name = value ? json_object_get_string(value) : NULL, *other, *node;
	char *full;

	if (!name)
		return;
	full = mem_printf("%s=%s", kind, name);
	text_tame(full, false);
	other = seen_in(names, full);
	node = missing_node(doctor, device);
	if (other && !strcmp(other, file))
		doctor_find(doctor, DOCTOR_WARN, "cdi",
			    "%s is in /%s twice: container runtimes refuse the file\n%s", full,
			    file, remedy(kind));
	else if (other)
		doctor_find(doctor, DOCTOR_WARN, "cdi",
			    "%s is in /%s and in /%s: container runtimes refuse it\n"
			    "rm /%s; gpuctl cdi",
			    full, other, file, file);
	else if (!strcmp(kind, CDI_KIND) && tree_has(&doctor->tree, "sys/class/gpufabric") &&
		 !devices_is_known(doctor, name))
		doctor_find(doctor, DOCTOR_WARN, "cdi",
			    "/%s has %s, which is neither a ready GPU nor a composition\n"
			    "gpuctl cdi",
			    file, strchr(full, '=') + 1);
	else if (node)
		doctor_find(doctor, DOCTOR_WARN, "cdi", "/%s: %s has %s, which does not exist\n%s",
			    file, full, node, remedy(kind));
	names->items = mem_grow(names->items, names->n + 1, sizeof(*names->items));
	names->items[names->n++] = (struct spec_name){ full, mem_strdup(file) };
}

static void check_file(struct doctor *doctor, struct spec_names *names, const char *file,
		       const char *text)
{
	struct json_object *root = json_tokener_parse(text);
	struct json_object *kind = root ? field(root, "kind", json_type_string) : NULL;
	struct json_object *devices = root ? field(root, "devices", json_type_array) : NULL;
	size_t i;

	if (!kind || !devices)
		doctor_find(doctor, DOCTOR_WARN, "cdi",
			    "/%s is not a specification of devices: container runtimes complain or stop\n"
			    "rm /%s; gpuctl cdi",
			    file, file);
	for (i = 0; kind && i < length(devices); i++)
		check_device(doctor, names, file, json_object_get_string(kind),
			     json_object_array_get_idx(devices, i));
	json_object_put(root);
}

void doctor_check_cdi(struct doctor *doctor)
{
	size_t before = doctor->n_findings, i, k, n;
	struct spec_names names = { 0 };

	for (i = 0; places_cdi[i]; i++) {
		char **files = tree_names(&doctor->tree, &n, "%s", places_cdi[i]);

		for (k = 0; k < n; k++) {
			size_t len = strlen(files[k]);
			char *file = mem_printf("%s/%s", places_cdi[i], files[k]);
			char *text = len > 5 && !strcmp(files[k] + len - 5, ".json") ?
					     tree_read(&doctor->tree, NULL, "%s", file) :
					     NULL;

			if (text)
				check_file(doctor, &names, file, text);
			free(text);
			free(file);
		}
		tree_free_names(files, n);
	}
	if (names.n && doctor->n_findings == before)
		doctor_find(doctor, DOCTOR_OK, "cdi",
			    "%zu container devices, no duplicates, none stale", names.n);
	for (i = 0; i < names.n; i++) {
		free(names.items[i].name);
		free(names.items[i].file);
	}
	free(names.items);
}
