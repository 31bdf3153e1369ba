// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev ncursesw
/*
 * Attributes of the module: each part of the input is the body of a message,
 * an event or one of the objects. What is read is applied to a fabric, shown as
 * text and as JSON, which has to be JSON. Attributes are in the byte order of
 * the machine; netlink_seed.py makes the corpus for a little-endian one.
 */
#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/netlink.h>

#include "fuzz.h"
#include "lib/model.h"
#include "lib/netlink_gen.h"
#include "lib/render.h"
#include "lib/text.h"

/* An attribute of its own allocation around some bytes; caller frees. */
static struct nlattr *nest_of(const uint8_t *data, size_t size)
{
	struct nlattr *nest = malloc(NLA_HDRLEN + size);

	must(nest);
	nest->nla_len = (uint16_t)(NLA_HDRLEN + size);
	nest->nla_type = NLA_F_NESTED | 1;
	memcpy((uint8_t *)nest + NLA_HDRLEN, data, size);
	return nest;
}

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
		struct identity identity;

		identity_of(&nothing, slot, &identity);
		out_row(table);
		render_slot(table, slot, &identity, text_now());
		render_operation(table, "operation", &slot->operation);
		render_slot_warnings(out, slot, &identity);
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

static void read_event(const uint8_t *data, size_t size, struct gf_fabric *fabric)
{
	struct nlattr *attrs[GPUFABRIC_A_MAX + 1];
	struct nlattr *nest = nest_of(data, size);
	struct gf_event event = { 0 };

	if (!nla_parse_nested(attrs, GPUFABRIC_A_MAX, nest, gfnl_message_policy) &&
	    !gf_parse_event(attrs, &event))
		gf_fabric_apply(fabric, &event);
	gf_event_free(&event);
	free(nest);
}

static void read_slot(struct nlattr *nest, struct gf_fabric *fabric)
{
	struct gf_slot slot = { 0 };

	if (!gf_parse_slot(nest, &slot)) {
		must(slot.name);
		fabric->slots = mem_grow(fabric->slots, fabric->n_slots + 1, sizeof(slot));
		fabric->slots[fabric->n_slots++] = slot;
		return;
	}
	gf_slot_free(&slot);
}

static void read_others(struct nlattr *nest)
{
	struct gf_composition composition = { 0 };
	struct gf_history history = { 0 };
	struct gf_status status = { 0 };
	struct gf_switch sw = { 0 };
	struct gf_stats stats = { 0 };

	gf_parse_composition(nest, &composition);
	gf_parse_history(nest, &history);
	gf_parse_switch(nest, &sw);
	gf_parse_stats(nest, &stats);
	gf_parse_status(nest, &status);
	gf_composition_free(&composition);
	gf_history_free(&history);
	gf_switch_free(&sw);
	gf_stats_free(&stats);
	free(status.version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gf_fabric fabric = { 0 };

	/* Each message is preceded by what it is and its length. */
	while (size >= 3) {
		size_t length = data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0];
		struct nlattr *nest;

		data += 3;
		size -= 3;
		length = length < size ? length : size;
		length = length < 0xff00 ? length : 0xff00;
		nest = nest_of(data, length);
		if (what % 3 == 0)
			read_event(data, length, &fabric);
		else if (what % 3 == 1)
			read_slot(nest, &fabric);
		else
			read_others(nest);
		free(nest);
		data += length;
		size -= length;
	}
	gf_fabric_sort(&fabric);
	show_as(&fabric, false);
	show_as(&fabric, true);
	gf_fabric_free(&fabric);
	return 0;
}
