// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/object.c ctl/module/netlink_gen.c ctl/module/model.c ctl/module/state.c ctl/base/text.c
/*
 * Objects from netlink: every attribute of every table goes where it belongs and nowhere
 * else; what is too short, too long, cut, nested wrongly or absent is refused or
 * passed over, and nothing of it is left.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/model.h"
#include "tap.h"

/* A message that is being written, in an allocation that ends where it does. */
struct bytes {
	uint8_t *data;
	size_t len;
};

static void add(struct bytes *to, const void *data, size_t len)
{
	to->data = mem_grow(to->data, to->len + len, 1);
	if (len)
		memcpy(to->data + to->len, data, len);
	to->len += len;
}

static void put(struct bytes *to, int type, const void *data, size_t len)
{
	const struct nlattr head = { (uint16_t)(NLA_HDRLEN + len), (uint16_t)type };

	add(to, &head, sizeof(head));
	add(to, data, len);
	add(to, "\0\0\0", NLA_ALIGN(len) - len);
}

static void put_u32(struct bytes *to, int type, uint32_t value)
{
	put(to, type, &value, sizeof(value));
}

static void put_u64(struct bytes *to, int type, uint64_t value)
{
	put(to, type, &value, sizeof(value));
}

static void put_text(struct bytes *to, int type, const char *text)
{
	put(to, type, text, strlen(text) + 1);
}

/* Writes @nest into @to and drops it. */
static void put_nest(struct bytes *to, int type, struct bytes *nest)
{
	put(to, type | NLA_F_NESTED, nest->data, nest->len);
	free(nest->data);
	*nest = (struct bytes){ 0 };
}

static bool is_zero(const void *object, size_t size)
{
	const uint8_t *bytes = object;
	size_t i;

	for (i = 0; i < size && !bytes[i]; i++)
		;
	return i == size;
}

/* Reads a slot and drops the bytes. */
static int read_slot(struct bytes *from, struct gf_slot *slot)
{
	int err;

	memset(slot, 0, sizeof(*slot));
	err = gf_slot_parse(from->data, from->len, slot);
	free(from->data);
	*from = (struct bytes){ 0 };
	return err;
}

static void refused(struct bytes *from, int want, const char *what)
{
	struct gf_slot slot;
	int err = read_slot(from, &slot);

	ok(err == -want && is_zero(&slot, sizeof(slot)), "refused, and nothing is left: %s", what);
	if (!err)
		gf_slot_free(&slot);
}

static void refused_number(int type, const void *data, size_t len, int want, const char *what)
{
	struct bytes b = { 0 };

	put_text(&b, GPUFABRIC_A_SLOT_NAME, "3-1");
	put(&b, type, data, len);
	refused(&b, want, what);
}

/* One attribute, as wide as its member: it and that it came are all that there is. */
static bool goes_where_it_belongs(const struct object *object, unsigned int type)
{
	const struct object_field *field = &object->fields[type];
	uint8_t *room = mem_zalloc(1, object->size), *want = mem_zalloc(1, object->size);
	const uint64_t value = 0x0102030405060708;
	struct bytes b = { 0 };
	bool good;

	if (field->kind == OBJECT_UNSIGNED || field->kind == OBJECT_SIGNED)
		put(&b, (int)type, &value, field->width);
	else if (field->kind == OBJECT_BINARY)
		put(&b, (int)type, &value, 1);
	else
		put(&b, (int)type, "", 0);
	good = !object_parse(object, b.data, b.len, room);
	if (field->kind == OBJECT_STRING || field->kind == OBJECT_LIST ||
	    field->kind == OBJECT_BINARY) {
		char *owned;

		memcpy(&owned, room + field->at, sizeof(owned));
		good = good && owned;
		memcpy(want + field->at, &owned, sizeof(owned));
	} else if (field->kind != OBJECT_NEST) {
		memcpy(want + field->at, &value, field->width);
	}
	want[field->has] = 1;
	good = good && !memcmp(room, want, object->size);
	object_free(object, room);
	good = good && is_zero(room, object->size);
	free(room);
	free(want);
	free(b.data);
	return good;
}

static void test_tables(void)
{
	static const struct {
		const struct object *object;
		const char *name;
		size_t n;
	} rows[] = {
		{ &gf_link_object, "link", GPUFABRIC_A_LINK_MAX + 1 },
		{ &gf_function_object, "function", GPUFABRIC_A_FUNCTION_MAX + 1 },
		{ &gf_need_object, "need", GPUFABRIC_A_NEED_MAX + 1 },
		{ &gf_duration_object, "duration", GPUFABRIC_A_DURATION_MAX + 1 },
		{ &gf_operation_object, "operation", GPUFABRIC_A_OPERATION_MAX + 1 },
		{ &gf_slot_object, "slot", GPUFABRIC_A_SLOT_MAX + 1 },
		{ &gf_switch_object, "switch", GPUFABRIC_A_SWITCH_MAX + 1 },
		{ &gf_member_object, "member", GPUFABRIC_A_MEMBER_MAX + 1 },
		{ &gf_composition_object, "composition", GPUFABRIC_A_COMPOSITION_MAX + 1 },
		{ &gf_history_object, "history", GPUFABRIC_A_HISTORY_MAX + 1 },
		{ &gf_bucket_object, "bucket", GPUFABRIC_A_BUCKET_MAX + 1 },
		{ &gf_stats_object, "stats", GPUFABRIC_A_STATS_MAX + 1 },
		{ &gf_status_object, "status", GPUFABRIC_A_STATUS_MAX + 1 },
		{ &gf_message_object, "message", GPUFABRIC_A_MAX + 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct object *object = rows[i].object;
		unsigned int type, wrong = 0, n = 0;

		for (type = 0; type < object->n_fields; type++) {
			/* What comes by itself has no number that could come. */
			if (object->fields[type].kind == OBJECT_UNKNOWN || type >= rows[i].n)
				continue;
			n++;
			wrong += !goes_where_it_belongs(object, type);
		}
		ok(n && !wrong, "%s: each of %u attributes goes where it belongs",
		   rows[i].name, n);
	}
}

static void test_bytes(void)
{
	struct gf_composition composition = { 0 };
	struct bytes b = { 0 };

	put(&b, GPUFABRIC_A_COMPOSITION_ANNOTATION, "12345", 5);
	put(&b, GPUFABRIC_A_COMPOSITION_ANNOTATION, "\0\1\2", 3);
	ok(!gf_composition_parse(b.data, b.len, &composition) && composition.n_annotation == 3 &&
		   !memcmp(composition.annotation, "\0\1\2", 3),
	   "bytes as they are, the last ones count");
	put(&b, GPUFABRIC_A_COMPOSITION_ANNOTATION, "", 0);
	gf_composition_free(&composition);
	ok(!gf_composition_parse(b.data, b.len, &composition) && !composition.n_annotation &&
		   !composition.annotation,
	   "none at all are none");
	gf_composition_free(&composition);
	free(b.data);
}

static void test_numbers(void)
{
	const uint64_t wide = 1ull << 32, small = 7;
	const int64_t node = -2, low = INT32_MIN - 1ll;
	struct bytes b = { 0 };
	struct gf_slot slot;

	put(&b, GPUFABRIC_A_SLOT_GENERATION, &small, 8);
	put_u32(&b, GPUFABRIC_A_SLOT_SINCE, UINT32_MAX);
	put(&b, GPUFABRIC_A_SLOT_NUMA_NODE, &node, 8);
	ok(!read_slot(&b, &slot), "numbers in the other width");
	is_int(slot.generation, 7, "8 bytes for 32 bits");
	is_int((intmax_t)slot.since, UINT32_MAX, "4 bytes for 64 bits");
	is_int(slot.numa_node, -2, "8 bytes with a sign");
	gf_slot_free(&slot);
	put_u32(&b, GPUFABRIC_A_SLOT_NUMA_NODE, (uint32_t)-1);
	put_u32(&b, GPUFABRIC_A_SLOT_NUMA_NODE, (uint32_t)-3);
	ok(!read_slot(&b, &slot) && slot.numa_node == -3, "4 bytes with a sign, and the last one counts");
	gf_slot_free(&slot);

	refused_number(GPUFABRIC_A_SLOT_GENERATION, &wide, 8, ERANGE, "more than 32 bits hold");
	refused_number(GPUFABRIC_A_SLOT_NUMA_NODE, &low, 8, ERANGE, "less than 32 bits hold");
	refused_number(GPUFABRIC_A_SLOT_NUMA_NODE, &wide, 8, ERANGE, "more than 32 bits with a sign hold");
	refused_number(GPUFABRIC_A_SLOT_GENERATION, &wide, 0, EBADMSG, "a number of no bytes");
	refused_number(GPUFABRIC_A_SLOT_GENERATION, &wide, 1, EBADMSG, "a number of 1 byte");
	refused_number(GPUFABRIC_A_SLOT_GENERATION, &wide, 3, EBADMSG, "a number of 3 bytes");
	refused_number(GPUFABRIC_A_SLOT_SINCE, &wide, 5, EBADMSG, "a number of 5 bytes");
	refused_number(GPUFABRIC_A_SLOT_SINCE, &wide, 7, EBADMSG, "a number of 7 bytes");
}

static void test_strings(void)
{
	struct bytes b = { 0 };
	struct gf_slot slot;

	put(&b, GPUFABRIC_A_SLOT_NAME, "3-1", 3);
	put(&b, GPUFABRIC_A_SLOT_ADDRESS, "", 0);
	put(&b, GPUFABRIC_A_SLOT_COMPOSITION, "a\0b", 4);
	put_text(&b, GPUFABRIC_A_SLOT_SLOT_DRIVER, "one");
	put_text(&b, GPUFABRIC_A_SLOT_SLOT_DRIVER, "two");
	ok(!read_slot(&b, &slot), "strings");
	is_str(slot.name, "3-1", "without an end");
	is_str(slot.address, "", "of no bytes");
	is_str(slot.composition, "a", "with more behind the end");
	is_str(slot.slot_driver, "two", "of two the last");
	gf_slot_free(&slot);
}

static void test_lengths(void)
{
	static const uint16_t odd[] = { 0, 1, 2, 3, 9, 12, 0xffff };
	struct bytes b = { 0 };
	struct gf_slot slot;
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		const struct nlattr head = { odd[i], GPUFABRIC_A_SLOT_ID };
		char what[64];

		snprintf(what, sizeof(what), "an attribute of 8 bytes says %u", odd[i]);
		put_text(&b, GPUFABRIC_A_SLOT_NAME, "3-1");
		add(&b, &head, sizeof(head));
		add(&b, "\1\0\0\0", 4);
		refused(&b, EBADMSG, what);
	}
	for (i = 1; i < 4; i++) {
		put_text(&b, GPUFABRIC_A_SLOT_NAME, "3-1");
		add(&b, "\4\0\1", i);
		refused(&b, EBADMSG, "less than the head of an attribute");
	}
	put_text(&b, GPUFABRIC_A_SLOT_NAME, "3-10");
	b.len -= 3;
	ok(!read_slot(&b, &slot) && !strcmp(slot.name, "3-10"), "the last one without its padding");
	gf_slot_free(&slot);
	ok(!read_slot(&b, &slot) && is_zero(&slot, sizeof(slot)), "nothing at all is a slot of which nothing is known");
}

/* Durations of phases, with something between. */
static void put_durations(struct bytes *to, unsigned int n)
{
	struct bytes duration = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++) {
		put_u32(&duration, GPUFABRIC_A_DURATION_PHASE, i);
		if (i)
			put_u64(&duration, GPUFABRIC_A_DURATION_MICROSECONDS, 1ull << 38);
		put_nest(to, GPUFABRIC_A_OPERATION_DURATION, &duration);
		put_u32(to, GPUFABRIC_A_OPERATION_SLOTS, i);
	}
}

static void put_last(struct bytes *to, struct bytes *operation)
{
	put_nest(to, GPUFABRIC_A_SLOT_LAST_OPERATION, operation);
}

static void test_nests(void)
{
	struct bytes b = { 0 }, nest = { 0 }, item = { 0 };
	struct gf_slot slot;
	size_t i, n;

	put_durations(&nest, 3);
	put_last(&b, &nest);
	put_text(&b, GPUFABRIC_A_SLOT_NAME, "3-1");
	put_text(&nest, GPUFABRIC_A_OPERATION_COMPOSITION, "first");
	put_u32(&nest, GPUFABRIC_A_OPERATION_UID, 0);
	put_nest(&b, GPUFABRIC_A_SLOT_OPERATION, &nest);
	put_text(&nest, GPUFABRIC_A_OPERATION_REASON, "second");
	put_nest(&b, GPUFABRIC_A_SLOT_OPERATION, &nest);
	ok(!read_slot(&b, &slot), "nests");
	is_int((intmax_t)slot.last_operation.n_durations, 3, "a list, whatever is between");
	is_int((intmax_t)slot.last_operation.durations[2].microseconds, 1ll << 38, "of numbers");
	ok(!slot.last_operation.durations[0].has.microseconds && slot.last_operation.durations[0].has.phase,
	   "of which one is missing");
	ok(slot.has.operation && slot.has.last_operation && !slot.n_functions, "two operations, and no function");
	ok(!slot.operation.composition && !slot.operation.has.uid && !strcmp(slot.operation.reason, "second"),
	   "of two the last, with nothing of the first");
	gf_slot_free(&slot);
	ok(is_zero(&slot, sizeof(slot)), "nothing is left of a slot that was freed");

	put_u32(&item, GPUFABRIC_A_DURATION_PHASE, 1);
	put(&item, GPUFABRIC_A_DURATION_MICROSECONDS, "abc", 3);
	put_durations(&nest, 2);
	put_nest(&nest, GPUFABRIC_A_OPERATION_DURATION, &item);
	put_last(&b, &nest);
	refused(&b, EBADMSG, "a list whose third item is wrong");
	put_u32(&b, GPUFABRIC_A_SLOT_LINK, 7);
	refused(&b, EBADMSG, "a number where a nest belongs");
	put_text(&nest, GPUFABRIC_A_OPERATION_DURATION, "0000:41:00.0");
	put_last(&b, &nest);
	refused(&b, EBADMSG, "a string where a list belongs");
	put_u64(&nest, GPUFABRIC_A_LINK_SPEED, 32000);
	put_nest(&b, GPUFABRIC_A_SLOT_SINCE, &nest);
	refused(&b, EBADMSG, "a nest where a number belongs");

	put_durations(&nest, 2);
	put_last(&b, &nest);
	n = b.len;
	for (i = 1; i < n; i++) {
		struct bytes cut = { 0 };

		add(&cut, b.data, n - i);
		if (!read_slot(&cut, &slot))
			break;
	}
	is_int((intmax_t)i, (intmax_t)n, "an operation that is cut anywhere");
	free(b.data);
}

static void test_newer(void)
{
	struct bytes b = { 0 };
	struct gf_slot slot;

	put_text(&b, 0, "attribute zero");
	put_text(&b, GPUFABRIC_A_SLOT_MAX + 1, "of a newer module");
	put(&b, NLA_TYPE_MASK, "", 0);
	put_u32(&b, GPUFABRIC_A_SLOT_ID | NLA_F_NET_BYTEORDER, 5);
	ok(!read_slot(&b, &slot) && slot.id == 5, "what is not known is passed over, flags of a type as well");
	gf_slot_free(&slot);
}

static void test_message(void)
{
	struct gf_message message = { 0 };
	struct bytes b = { 0 }, nest = { 0 };

	put_u32(&nest, GPUFABRIC_A_SLOT_ID, 7);
	put_nest(&b, GPUFABRIC_A_SLOT, &nest);
	put_nest(&b, GPUFABRIC_A_SWITCH, &nest);
	put_u32(&nest, GPUFABRIC_A_COMPOSITION_ID, 9);
	put_nest(&b, GPUFABRIC_A_COMPOSITION, &nest);
	put_u64(&b, GPUFABRIC_A_SEQUENCE, 41);
	put_u32(&b, GPUFABRIC_A_EVENT, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
	ok(!gf_message_read(b.data, b.len, &message), "a message");
	ok(message.has.slot && message.has.sw && message.has.composition && !message.has.operation,
	   "says what it has");
	is_str(message.slot.name, "#7", "a slot without a name is called by its number");
	is_str(message.sw.address, "#0", "a switch without an address as well");
	is_str(message.composition.name, "#9", "and a composition without a name");
	ok(message.slot.numa_node == -1 && message.sw.numa_node == -1, "no node is not node 0");
	ok(message.slot.sequence == 41 && message.sw.sequence == 41 && message.composition.sequence == 41 &&
	   message.kind == GPUFABRIC_EVENT_KIND_SLOT_CHANGED, "they know the event");
	gf_message_free(&message);
	put_u32(&b, GPUFABRIC_A_MEMBER, 1);
	ok(gf_message_read(b.data, b.len, &message) == -EBADMSG && is_zero(&message, sizeof(message)),
	   "nothing is left of one that is refused at its end");
	free(b.data);
}

int main(void)
{
	test_tables();
	test_bytes();
	test_numbers();
	test_strings();
	test_lengths();
	test_nests();
	test_newer();
	test_message();
	return tap_done();
}
