/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strict reading of a JSON document: whoever takes a value says what it may be, and a fault
 * says where in the text it stands. Pure.
 */
#ifndef GPUCTL_PLAN_JREAD_H
#define GPUCTL_PLAN_JREAD_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define JREAD_DEPTH 16

/**
 * struct jread - a document and a place in it
 * @file: its name, for faults
 * @text: as it was read
 * @len: bytes of it
 * @root: the document
 * @keys: the way to the place: names, or NULL where an index counts
 * @indices: the indices
 * @depth: steps of the way
 * @fault: what is wrong, with where
 */
struct jread {
	const char *file, *text;
	size_t len;
	struct json_object *root;
	const char *keys[JREAD_DEPTH];
	size_t indices[JREAD_DEPTH];
	size_t depth;
	struct fault *fault;
};

/* Parse; -EINVAL with "file:line:column: reason". Close in either case. */
int jread_open(struct jread *r, const char *file, const char *text, size_t len,
	       struct fault *fault);
void jread_close(struct jread *r);

/* Go one step into the document, and back. */
void jread_key(struct jread *r, const char *key);
void jread_index(struct jread *r, size_t index);
void jread_up(struct jread *r);

/* Refuse what is at the place; -EINVAL. */
int jread_refuse(struct jread *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* It is an object with no other keys than these; the list ends with NULL. */
int jread_object(struct jread *r, struct json_object *from, const char *const *keys);
/* An array below a key, NULL where there is none; @max elements at most. */
int jread_array(struct jread *r, struct json_object *from, const char *key, size_t max,
		struct json_object **array);
/* Numbers and words below a key; what is not there, or is refused, leaves the value as it is. */
int jread_number(struct jread *r, struct json_object *from, const char *key, double max,
		 double *value);
int jread_whole(struct jread *r, struct json_object *from, const char *key, uint32_t max,
		uint32_t *value);
int jread_flag(struct jread *r, struct json_object *from, const char *key, bool *value);
int jread_word(struct jread *r, struct json_object *from, const char *key, const char **value);
/* The value itself, at the place. */
int jread_take_number(struct jread *r, struct json_object *value, double max, double *number);
int jread_take_whole(struct jread *r, struct json_object *value, uint32_t max, uint32_t *number);

#endif /* GPUCTL_PLAN_JREAD_H */
