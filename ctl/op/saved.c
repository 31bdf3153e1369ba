// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: saved compositions
 *
 * One JSON document, described in gpuctl-saved(5). It holds what compose needs to be
 * asked the same again, and what tells whether the GPUs are the same: their ids, which
 * the module verifies, and their serial numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/saved.h"

/* Raised when an older gpuctl would misunderstand a file. */
#define FORMAT 1
#define FORMAT_KEY "gpufabric"
#define DEPTH_MAX 8

static void saved_add_text(struct json_object *to, const char *key, const char *value)
{
	if (value)
		json_object_object_add(to, key, json_object_new_string(value));
}

static void saved_add_number(struct json_object *to, const char *key, uint64_t value)
{
	if (value)
		json_object_object_add(to, key, json_object_new_uint64(value));
}

static struct json_object *print_slot(const struct gf_slot *slot, const char *name)
{
	struct json_object *to = json_object_new_object();
	char serial[24];

	saved_add_text(to, "slot", name);
	if (!slot || !slot->vendor)
		return to;
	saved_add_number(to, "vendor", slot->vendor);
	saved_add_number(to, "device", slot->device);
	saved_add_number(to, "subsystem_vendor", slot->subsystem_vendor);
	saved_add_number(to, "subsystem_device", slot->subsystem_device);
	/* Numbers of JSON lose digits in other programs. */
	snprintf(serial, sizeof(serial), "%016" PRIx64, slot->serial);
	if (slot->serial)
		saved_add_text(to, "serial", serial);
	return to;
}

/* What a newer gpuctl wrote is kept as it is, for it to find again. */
static void add_unknown(struct json_object *to, const struct gf_composition *composition)
{
	struct text digits = { 0 };
	size_t i;

	for (i = 0; i < composition->n_annotation; i++)
		text_add(&digits, "%02x", composition->annotation[i]);
	saved_add_text(to, "annotation", digits.text);
	free(digits.text);
}

/* @clock: what to add to a time of text_uptime() for one that a reboot does not change */
static void print_annotation(struct json_object *to, const struct gf_composition *composition,
			     uint64_t clock)
{
	struct annotation note;
	uint64_t lease;

	if (!annotation_of(composition, &note))
		add_unknown(to, composition);
	saved_add_text(to, "tenant", *note.tenant ? note.tenant : NULL);
	saved_add_text(to, "label", *note.label ? note.label : NULL);
	saved_add_text(to, "job", *note.job ? note.job : NULL);
	lease = annotation_lease(&note, composition->instance);
	saved_add_number(to, "lease", lease ? clock + lease : 0);
}

static struct json_object *print_composition(const struct gf_fabric *fabric,
					     const struct gf_composition *composition,
					     uint64_t clock)
{
	struct json_object *to = json_object_new_object(), *slots = json_object_new_array();
	size_t i;

	saved_add_text(to, "name", composition->name);
	print_annotation(to, composition, clock);
	saved_add_number(to, "owner", composition->owner);
	for (i = 0; i < composition->n_members; i++) {
		const struct gf_membership *member = &composition->members[i];
		const struct gf_slot *slot = gf_slot_by_id(fabric, member->slot_id);

		json_object_array_add(slots, print_slot(slot, member->slot_name));
	}
	json_object_object_add(to, "slots", slots);
	return to;
}

char *saved_print(const struct gf_fabric *fabric, uint64_t now, uint64_t boot)
{
	struct json_object *to = json_object_new_object(), *list = json_object_new_array();
	char *text;
	size_t i;

	json_object_object_add(to, FORMAT_KEY, json_object_new_int(FORMAT));
	saved_add_number(to, "saved", now);
	for (i = 0; i < fabric->n_compositions; i++) {
		const struct gf_composition *composition = &fabric->compositions[i];

		/* One of a client's socket ends with the client, at a reboot at the latest. */
		if (composition->n_members &&
		    !(composition->flags &
		      (GPUFABRIC_COMPOSITION_FLAG_BOUND | GPUFABRIC_COMPOSITION_FLAG_ORPHANED)))
			json_object_array_add(list,
					      print_composition(fabric, composition, now - boot));
	}
	json_object_object_add(to, "compositions", list);
	text = mem_printf("%s\n", json_object_to_json_string_ext(to, JSON_C_TO_STRING_PRETTY));
	json_object_put(to);
	return text;
}

/* What stands under a key, of the type that is meant; a wrong one is an error. */
static int saved_take(struct json_object *from, const char *key, enum json_type type,
		      struct json_object **value, struct fault *fault)
{
	if (!json_object_object_get_ex(from, key, value)) {
		*value = NULL;
		return 0;
	}
	if (json_object_is_type(*value, type))
		return 0;
	return fault_set(fault, EINVAL, "\"%s\" must be of type %s", key, json_type_to_name(type));
}

static int saved_take_text(struct json_object *from, const char *key, char **text,
			   struct fault *fault)
{
	struct json_object *value;
	int err = saved_take(from, key, json_type_string, &value, fault);

	if (err || !value)
		return err;
	/* A NUL within would make another text of it. */
	if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value) ||
	    strlen(json_object_get_string(value)) > GPUFABRIC_NAME_MAX)
		return fault_set(fault, EINVAL, "\"%s\" is longer than %d bytes", key,
				 GPUFABRIC_NAME_MAX);
	*text = mem_strdup(json_object_get_string(value));
	return 0;
}

static int saved_take_number(struct json_object *from, const char *key, uint64_t max,
			     uint64_t *number, struct fault *fault)
{
	struct json_object *value;
	int err = saved_take(from, key, json_type_int, &value, fault);

	*number = 0;
	if (err || !value)
		return err;
	*number = json_object_get_uint64(value);
	if (json_object_get_int64(value) < 0 || *number > max)
		return fault_set(fault, EINVAL, "\"%s\" is out of range", key);
	return 0;
}

static int saved_take_ids(struct json_object *from, struct gf_ids *ids, struct fault *fault)
{
	static const char *const keys[] = { "vendor", "device", "subsystem_vendor",
					    "subsystem_device" };
	uint32_t *const to[] = { &ids->vendor, &ids->device, &ids->subsystem_vendor,
				 &ids->subsystem_device };
	uint64_t number;
	size_t i;
	int err = 0;

	for (i = 0; i < 4 && !err; i++) {
		err = saved_take_number(from, keys[i], 0xffff, &number, fault);
		*to[i] = (uint32_t)number;
	}
	return err;
}

static int take_serial(struct json_object *from, uint64_t *serial, struct fault *fault)
{
	char *text = NULL, *end;
	int err = saved_take_text(from, "serial", &text, fault);

	if (!err && text) {
		*serial = strtoull(text, &end, 16);
		if (strlen(text) != 16 || *end || strspn(text, "0123456789abcdef") != 16)
			err = fault_set(fault, EINVAL, "\"serial\" is not 16 hexadecimal digits");
	}
	free(text);
	return err;
}

static int saved_take_slot(struct json_object *from, struct saved_slot *slot, struct fault *fault)
{
	int err;

	if (!json_object_is_type(from, json_type_object))
		return fault_set(fault, EINVAL, "a slot is not an object");
	err = saved_take_text(from, "slot", &slot->name, fault);
	if (!err && (!slot->name || !*slot->name))
		err = fault_set(fault, EINVAL, "a slot has no name");
	if (!err)
		err = saved_take_ids(from, &slot->ids, fault);
	if (!err)
		err = take_serial(from, &slot->serial, fault);
	return err;
}

static int take_slots(struct json_object *from, struct saved_composition *composition,
		      struct fault *fault)
{
	struct json_object *list;
	size_t i, n;
	int err = saved_take(from, "slots", json_type_array, &list, fault);

	if (err)
		return err;
	n = list ? json_object_array_length(list) : 0;
	if (!n || n > GPUFABRIC_MEMBERS_MAX)
		return fault_set(fault, EINVAL, "%s has %zu slots", composition->name, n);
	composition->slots = mem_zalloc(n, sizeof(*composition->slots));
	for (i = 0; i < n && !err; i++) {
		composition->n_slots++;
		err = saved_take_slot(json_object_array_get_idx(list, i), &composition->slots[i],
				      fault);
	}
	return err;
}

/* A text of the annotation, as that can hold it. */
static int take_note(struct json_object *from, const char *key, bool name,
		     char to[GPUFABRIC_NAME_MAX + 1], struct fault *fault)
{
	char *text = NULL;
	int err = saved_take_text(from, key, &text, fault);

	if (!err && text) {
		if (name ? text_name_valid(text) : annotation_job_valid(text))
			strcpy(to, text);
		else
			err = fault_set(fault, EINVAL, "\"%s\" is not valid", key);
	}
	free(text);
	return err;
}

/* Two digits a byte. */
static int take_unknown(struct json_object *from, struct saved_composition *composition,
			struct fault *fault)
{
	static const char digits[] = "0123456789abcdef";
	struct json_object *value;
	const char *text;
	size_t i, len;
	int err = saved_take(from, "annotation", json_type_string, &value, fault);

	if (err || !value)
		return err;
	text = json_object_get_string(value);
	len = (size_t)json_object_get_string_len(value);
	if (!len || len % 2 || len / 2 > GPUFABRIC_ANNOTATION_MAX || strspn(text, digits) != len)
		return fault_set(fault, EINVAL, "\"annotation\" is not hexadecimal digits");
	composition->bytes = mem_zalloc(len / 2, 1);
	composition->n_bytes = len / 2;
	for (i = 0; i < len; i++)
		composition->bytes[i / 2] = (uint8_t)(composition->bytes[i / 2] << 4 |
						      (strchr(digits, text[i]) - digits));
	return 0;
}

static int take_annotation(struct json_object *from, struct saved_composition *composition,
			   struct fault *fault)
{
	struct annotation *note = &composition->note;
	int err = take_unknown(from, composition, fault);

	if (!err)
		err = take_note(from, "tenant", true, note->tenant, fault);
	if (!err)
		err = take_note(from, "label", true, note->label, fault);
	if (!err)
		err = take_note(from, "job", false, note->job, fault);
	if (!err)
		err = saved_take_number(from, "lease", INT64_MAX, &composition->lease, fault);
	return err;
}

static int saved_take_composition(struct json_object *from, struct saved_composition *composition,
				  struct fault *fault)
{
	uint64_t owner = 0;
	int err;

	if (!json_object_is_type(from, json_type_object))
		return fault_set(fault, EINVAL, "a composition is not an object");
	err = saved_take_text(from, "name", &composition->name, fault);
	if (!err && (!composition->name || !text_name_valid(composition->name)))
		err = fault_set(fault, EINVAL, "a composition has no valid name");
	if (!err)
		err = take_annotation(from, composition, fault);
	if (!err)
		err = saved_take_number(from, "owner", UINT32_MAX - 1, &owner, fault);
	composition->owner = (uint32_t)owner;
	return err ? err : take_slots(from, composition, fault);
}

static int take_document(struct json_object *from, struct saved *saved, struct fault *fault)
{
	struct json_object *list;
	uint64_t format = 0;
	size_t i, n;
	int err;

	if (!json_object_is_type(from, json_type_object))
		return fault_set(fault, EINVAL, "is not what gpuctl save writes");
	err = saved_take_number(from, FORMAT_KEY, INT32_MAX, &format, fault);
	if (!err && !format)
		err = fault_set(fault, EINVAL, "is not what gpuctl save writes");
	if (!err && format > FORMAT)
		err = fault_set(fault, EINVAL,
				"was written by a newer gpuctl (format %d, this one knows %d)",
				(int)format, FORMAT);
	if (!err)
		err = saved_take_number(from, "saved", INT64_MAX, &saved->when, fault);
	if (!err)
		err = saved_take(from, "compositions", json_type_array, &list, fault);
	if (!err && !list)
		err = fault_set(fault, EINVAL, "has no \"compositions\"");
	if (err)
		return err;
	n = json_object_array_length(list);
	saved->items = mem_zalloc(n, sizeof(*saved->items));
	for (i = 0; i < n && !err; i++) {
		saved->n++;
		err = saved_take_composition(json_object_array_get_idx(list, i), &saved->items[i],
					     fault);
	}
	return err;
}

int saved_parse(struct saved *saved, const char *file, const char *text, size_t len,
		struct fault *fault)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *document = NULL;
	struct fault why = { "" };
	int err = 0;

	memset(saved, 0, sizeof(*saved));
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (len < INT32_MAX)
		document = json_tokener_parse_ex(tokener, text, (int)len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) +
			    strspn(text + json_tokener_get_parse_end(tokener), " \t\r\n") !=
		    len)
		err = fault_set(&why, EINVAL, "is corrupt: %s",
				json_tokener_get_error(tokener) == json_tokener_continue ?
					"it ends too early" :
					"it is not JSON");
	else
		err = take_document(document, saved, &why);
	json_object_put(document);
	json_tokener_free(tokener);
	if (err) {
		saved_free(saved);
		err = fault_set(fault, EINVAL, "%s: %s", file, why.text);
	}
	return err;
}

/* It cannot be earlier than when the file was written: such a clock has lost its time, or was set back. */
uint64_t saved_left(const struct saved *saved, const struct saved_composition *composition,
		    uint64_t now)
{
	if (now < saved->when)
		now = saved->when;
	return composition->lease > now ? composition->lease - now : 0;
}

void saved_free(struct saved *saved)
{
	size_t i, j;

	for (i = 0; i < saved->n; i++) {
		struct saved_composition *composition = &saved->items[i];

		for (j = 0; j < composition->n_slots; j++)
			free(composition->slots[j].name);
		free(composition->slots);
		free(composition->name);
		free(composition->bytes);
	}
	free(saved->items);
	memset(saved, 0, sizeof(*saved));
}
