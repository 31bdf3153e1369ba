// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts of JSON. Keys of GGUF have dots ("attention.head_count"), those of
 * config.json are nested: the longest key that is there is taken.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

static struct json_object *member(struct json_object *object, const char *path, size_t len)
{
	char key[EXPR_PATH_MAX], *end;
	struct json_object *value;
	unsigned long at;

	if (len >= sizeof(key))
		return NULL;
	memcpy(key, path, len);
	key[len] = '\0';
	if (json_object_is_type(object, json_type_object))
		return json_object_object_get_ex(object, key, &value) ? value : NULL;
	if (!json_object_is_type(object, json_type_array) || !isdigit((unsigned char)*key))
		return NULL;
	/* "0.attention" is no number, but a shorter word of it is */
	at = strtoul(key, &end, 10);
	return *end ? NULL : json_object_array_get_idx(object, at);
}

struct json_object *facts_find(struct json_object *object, const char *path)
{
	size_t len = strlen(path);
	struct json_object *value;

	while (object && len) {
		value = member(object, path, len);
		if (value)
			return path[len] ? facts_find(value, path + len + 1) : value;
		while (--len && path[len] != '.')
			;
	}
	return NULL;
}

/* The last part of @path as a character of a string: patterns such as "MEM*E". */
static bool character(struct json_object *object, const char *path, struct expr_value *out)
{
	static char texts[256][2];
	const char *dot = strrchr(path, '.'), *text;
	char before[EXPR_PATH_MAX];
	struct json_object *value;
	size_t at;

	if (!dot || !isdigit((unsigned char)dot[1]))
		return false;
	memcpy(before, path, (size_t)(dot - path));
	before[dot - path] = '\0';
	value = facts_find(object, before);
	at = strtoul(dot + 1, NULL, 10);
	if (!json_object_is_type(value, json_type_string) ||
	    at >= (size_t)json_object_get_string_len(value))
		return false;
	text = json_object_get_string(value);
	texts[(unsigned char)text[at]][0] = text[at];
	out->kind = EXPR_TEXT;
	out->text = texts[(unsigned char)text[at]];
	out->number = 1;
	return true;
}

static void get(const void *node, const char *path, struct expr_value *out)
{
	struct json_object *object = (struct json_object *)(uintptr_t)node;
	struct json_object *value = facts_find(object, path);

	switch (json_object_get_type(value)) {
	case json_type_boolean:
		out->kind = EXPR_NUMBER;
		out->number = json_object_get_boolean(value);
		break;
	case json_type_int:
		out->kind = EXPR_NUMBER;
		out->number = (double)json_object_get_int64(value);
		break;
	case json_type_double:
		out->kind = EXPR_NUMBER;
		out->number = json_object_get_double(value);
		/* JSON has no infinity, but json-c reads one */
		if (!(out->number > -1e300 && out->number < 1e300))
			out->kind = EXPR_ABSENT;
		break;
	case json_type_string:
		out->kind = EXPR_TEXT;
		out->text = json_object_get_string(value);
		out->number = json_object_get_string_len(value);
		break;
	case json_type_array:
		out->kind = EXPR_LIST;
		out->number = (double)json_object_array_length(value);
		break;
	case json_type_object:
		out->kind = EXPR_OBJECT;
		out->node = value;
		break;
	default:
		character(object, path, out);
	}
}

struct expr_facts facts_of(struct json_object *object)
{
	return (struct expr_facts){ get, object, NULL, NULL };
}

const char *facts_text(struct json_object *object, const char *path)
{
	struct json_object *value = facts_find(object, path);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

double facts_number(struct json_object *object, const char *path, double fallback)
{
	struct expr_value value = { EXPR_ABSENT, 0, NULL, NULL };

	get(object, path, &value);
	return value.kind == EXPR_NUMBER ? value.number : fallback;
}
