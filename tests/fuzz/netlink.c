// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * Attributes of the module: each part of the input is the body of a message,
 * an event or one of the objects. What is read is applied to a fabric, shown as
 * text and as JSON, which has to be JSON. Attributes are in the byte order of
 * the machine; netlink_seed.py makes the corpus for a little-endian one.
 */
#include <json-c/json.h>
#include <linux/netlink.h>

#include "base/text.h"
#include "fuzz.h"
#include "module/model.h"
#include "session/render.h"

/* Shown as JSON, it is a document; -j never prints anything else. */
static void show_as(const struct gf_fabric *fabric, bool json)
{
	static const struct knowledge nothing;
	char *text = NULL;
	size_t size, i;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);
	struct out_table *table;

	out_set_json(out, json);
	table = out_table(out, "slots", render_slot_columns, OUT_TABLE);
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		struct verdict verdict = { 0 };
		struct identity identity;

		identity_of(&nothing, slot, &identity);
		out_row(table);
		render_slot(table, slot, &identity, text_now());
		render_operation(table, "operation", &slot->operation);
		render_slot_warnings(out, slot, &identity, &verdict);
	}
	table = out_table(out, "compositions", render_composition_columns, OUT_TABLE);
	for (i = 0; i < fabric->n_compositions; i++) {
		out_row(table);
		render_composition(table, &fabric->compositions[i], fabric, &nothing, text_now());
	}
	render_summary(out, fabric);
	must(!out_flush(out));
	out_free(out);
	fclose(file);
	if (json) {
		struct json_object *object = json_tokener_parse(text);

		must(object);
		json_object_put(object);
	}
	free(text);
}

/* Freed, or refused: either way nothing is left in it. */
static void is_empty(const void *object, size_t size)
{
	const uint8_t *bytes = object;

	while (size--)
		must(!*bytes++);
}

static void read_event(const uint8_t *data, size_t size, struct gf_fabric *fabric)
{
	struct gf_message event = { 0 };

	if (!gf_message_read(data, size, &event)) {
		must(!event.has.slot || event.slot.name);
		gf_fabric_apply(fabric, &event);
		gf_message_free(&event);
	}
	is_empty(&event, sizeof(event));
}

/* A slot, as it stands in a message of a dump. */
static void read_slot(const uint8_t *data, size_t size, struct gf_fabric *fabric)
{
	struct nlattr head = { (uint16_t)(NLA_HDRLEN + size), NLA_F_NESTED | GPUFABRIC_A_SLOT };
	struct gf_message message = { 0 };
	uint8_t *attr = malloc(sizeof(head) + size);

	must(attr);
	memcpy(attr, &head, sizeof(head));
	memcpy(attr + sizeof(head), data, size);
	if (!gf_message_read(attr, sizeof(head) + size, &message)) {
		must(message.slot.name);
		fabric->slots = mem_push(fabric->slots, fabric->n_slots, sizeof(*fabric->slots));
		fabric->slots[fabric->n_slots++] = message.slot;
	} else {
		is_empty(&message, sizeof(message));
	}
	free(attr);
}

static void read_others(const uint8_t *data, size_t size)
{
	static const struct object *const objects[] = {
		&gf_composition_object, &gf_history_object, &gf_switch_object, &gf_stats_object,
		&gf_status_object, &gf_member_object, &gf_message_object,
	};
	struct gf_message room = { 0 };
	size_t i;

	for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		must(objects[i]->size <= sizeof(room));
		if (!object_parse(objects[i], data, size, &room))
			object_free(objects[i], &room);
		is_empty(&room, sizeof(room));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gf_fabric fabric = { 0 };

	/* Each message is preceded by what it is and its length. */
	while (size >= 3) {
		size_t length = data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0], *body;

		data += 3;
		size -= 3;
		length = length < size ? length : size;
		length = length < 0xff00 ? length : 0xff00;
		/* An allocation of its own, so that a byte behind it is not read unseen. */
		body = malloc(length ? length : 1);
		must(body);
		memcpy(body, data, length);
		if (what % 3 == 0)
			read_event(body, length, &fabric);
		else if (what % 3 == 1)
			read_slot(body, length, &fabric);
		else
			read_others(body, length);
		free(body);
		data += length;
		size -= length;
	}
	gf_fabric_sort(&fabric);
	show_as(&fabric, false);
	show_as(&fabric, true);
	gf_fabric_free(&fabric);
	return 0;
}
