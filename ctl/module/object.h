/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects from netlink. A table for each kind of object, generated from the spec, says
 * which attribute goes where; these read and free them by their tables.
 */
#ifndef GPUCTL_OBJECT_H
#define GPUCTL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an attribute is; one that the table does not have is passed over. */
enum object_kind {
	OBJECT_UNKNOWN,
	OBJECT_UNSIGNED,
	OBJECT_SIGNED,
	OBJECT_STRING, /* owned, NULL when absent */
	OBJECT_BINARY, /* bytes, owned, with their number; NULL when there are none */
	OBJECT_NEST, /* an object inside this one */
	OBJECT_LIST, /* an array of objects, owned, with its number */
	OBJECT_OWNED, /* the same, and no attribute has it */
};

struct object;

/**
 * struct object_field - where an attribute goes
 * @nested: table of a nest or of an item of a list
 * @kind: enum object_kind
 * @width: of the member of a number, in bytes
 * @at: offset of the member
 * @has: offset of a bool that says whether it came; of a list or bytes that of their number
 */
struct object_field {
	const struct object *nested;
	uint8_t kind;
	uint8_t width;
	uint16_t at;
	uint16_t has;
};

/**
 * struct object - a kind of object
 * @fields: by the number of the attribute
 * @n_fields: number of @fields
 * @owners: indices of the fields whose members hold memory of their own
 * @n_owners: number of @owners
 * @size: of the struct, in bytes
 */
struct object {
	const struct object_field *fields;
	size_t n_fields;
	const uint16_t *owners;
	size_t n_owners;
	size_t size;
};

/*
 * Read @len bytes of attributes into @to, which is zeroed. 0 or a negative errno: then
 * @to is zeroed again. Any bytes may come: each length is checked.
 */
int object_parse(const struct object *object, const void *attrs, size_t len, void *to);

/* Free what the object owns, and zero it. */
void object_free(const struct object *object, void *from);

/*
 * An array of objects that only these made. An object moves to its end, and is zeroed
 * where it was; the array may move, too, and is returned.
 */
void *object_push(const struct object *object, void *items, size_t *n, void *from);
/* Free the objects, and not the array. */
void object_drop(const struct object *object, void *items, size_t *n);

#endif /* GPUCTL_OBJECT_H */
