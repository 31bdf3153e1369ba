// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: objects from netlink
 *
 * What comes is believed in nothing: lengths are checked here and nowhere else. An
 * attribute that a newer module adds is passed over, of one that comes again the last
 * counts. A number of 32 or 64 bits may come in either width, as long as it fits the
 * member. A string need not have an end. Nests are as deep as the tables, which
 * have no cycle.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/object.h"

/* Members are reached by their bytes: a table knows their size but not their type. */
static void *pointer_at(const void *member)
{
	void *pointer;

	memcpy(&pointer, member, sizeof(pointer));
	return pointer;
}

static void put_pointer(void *member, void *pointer)
{
	memcpy(member, &pointer, sizeof(pointer));
}

static void put_bytes(void *member, uint8_t width, uint64_t value)
{
	const uint32_t middle = (uint32_t)value;
	const uint8_t small = (uint8_t)value;

	if (width == sizeof(value))
		memcpy(member, &value, sizeof(value));
	else if (width == sizeof(middle))
		memcpy(member, &middle, sizeof(middle));
	else
		memcpy(member, &small, sizeof(small));
}

static int object_take_number(const struct object_field *field, const void *data, size_t len,
			      void *member)
{
	const unsigned int unused = 64 - 8 * field->width;
	uint64_t value;
	uint32_t middle;
	uint8_t small;

	if (field->width == sizeof(small) && len == sizeof(small)) {
		memcpy(&small, data, sizeof(small));
		value = small;
	} else if (field->width != sizeof(small) && len == sizeof(middle)) {
		memcpy(&middle, data, sizeof(middle));
		value = field->kind == OBJECT_SIGNED ? (uint64_t)(int32_t)middle : middle;
	} else if (field->width != sizeof(small) && len == sizeof(value)) {
		memcpy(&value, data, sizeof(value));
	} else {
		return -EBADMSG;
	}
	if (field->kind == OBJECT_SIGNED ? (int64_t)(value << unused) >> unused != (int64_t)value :
					   value << unused >> unused != value)
		return -ERANGE;
	put_bytes(member, field->width, value);
	return 0;
}

static void object_take_string(const void *data, size_t len, void *member)
{
	char *s = mem_zalloc(len + 1, 1);

	memcpy(s, data, len);
	free(pointer_at(member));
	put_pointer(member, s);
}

static void take_bytes(const void *data, size_t len, void *member, size_t *n)
{
	free(pointer_at(member));
	put_pointer(member, len ? mem_zalloc(len, 1) : NULL);
	if (len)
		memcpy(pointer_at(member), data, len);
	*n = len;
}

static int object_take_item(const struct object *object, const void *data, size_t len, void *member,
			    size_t *n)
{
	uint8_t *items = mem_push(pointer_at(member), *n, object->size), *item;

	put_pointer(member, items);
	item = items + *n * object->size;
	memset(item, 0, object->size);
	++*n;
	return object_parse(object, data, len, item);
}

static int object_take(const struct object_field *field, const void *data, size_t len, uint8_t *to)
{
	void *member = to + field->at, *has = to + field->has;
	int err = 0;

	switch (field->kind) {
	case OBJECT_UNKNOWN:
	case OBJECT_OWNED:
		return 0;
	case OBJECT_LIST:
		return object_take_item(field->nested, data, len, member, has);
	case OBJECT_BINARY:
		take_bytes(data, len, member, has);
		return 0;
	case OBJECT_NEST:
		if (*(bool *)has)
			object_free(field->nested, member);
		err = object_parse(field->nested, data, len, member);
		break;
	case OBJECT_STRING:
		object_take_string(data, len, member);
		break;
	default:
		err = object_take_number(field, data, len, member);
	}
	*(bool *)has = !err;
	return err;
}

int object_parse(const struct object *object, const void *attrs, size_t len, void *to)
{
	const uint8_t *at = attrs;
	int err = 0;

	while (len && !err) {
		struct nlattr attr = { 0 };
		unsigned int type;
		size_t step;

		if (len >= sizeof(attr))
			memcpy(&attr, at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > len) {
			err = -EBADMSG;
			break;
		}
		type = attr.nla_type & NLA_TYPE_MASK;
		if (type < object->n_fields)
			err = object_take(&object->fields[type], at + NLA_HDRLEN,
					  attr.nla_len - NLA_HDRLEN, to);
		step = NLA_ALIGN(attr.nla_len);
		/* The last one may come without its padding. */
		step = step < len ? step : len;
		at += step;
		len -= step;
	}
	if (err)
		object_free(object, to);
	return err;
}

/* A nest that did not come is zero already: most of a message never came. */
static void object_clear(const struct object *object, uint8_t *bytes)
{
	size_t done = 0, i;

	for (i = 0; i < object->n_fields; i++) {
		const struct object_field *field = &object->fields[i];

		if (field->kind != OBJECT_NEST || field->at < done || *(bool *)(bytes + field->has))
			continue;
		memset(bytes + done, 0, field->at - done);
		done = field->at + field->nested->size;
	}
	memset(bytes + done, 0, object->size - done);
}

void object_free(const struct object *object, void *from)
{
	uint8_t *bytes = from;
	size_t i;

	for (i = 0; i < object->n_owners; i++) {
		const struct object_field *field = &object->fields[object->owners[i]];
		void *member = bytes + field->at;

		if (field->kind == OBJECT_STRING || field->kind == OBJECT_BINARY) {
			free(pointer_at(member));
		} else if (field->kind == OBJECT_NEST) {
			/* One that did not come, as most of those of a message, owns nothing. */
			if (*(bool *)(bytes + field->has))
				object_free(field->nested, member);
		} else {
			object_drop(field->nested, pointer_at(member),
				    (size_t *)(bytes + field->has));
			free(pointer_at(member));
		}
	}
	object_clear(object, bytes);
}

void *object_push(const struct object *object, void *items, size_t *n, void *from)
{
	uint8_t *array = mem_push(items, *n, object->size);

	memcpy(array + *n * object->size, from, object->size);
	memset(from, 0, object->size);
	++*n;
	return array;
}

void object_drop(const struct object *object, void *items, size_t *n)
{
	uint8_t *array = items;

	while (*n)
		object_free(object, array + --*n * object->size);
}
