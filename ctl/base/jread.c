// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: where in a JSON document something is wrong
 *
 * json-c says at which byte it could not go on, but keeps no positions of values. So a reader
 * notes the way to the value that it is at, and only when that is refused the text, which is
 * JSON by then, is walked the same way.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/jread.h"

static int refuse_at(struct jread *r, size_t offset, const char *why)
{
	size_t line = 1, column = 1, i;

	for (i = 0; i < offset && i < r->len; i++) {
		if (r->text[i] == '\n') {
			line++;
			column = 1;
		} else if ((r->text[i] & 0xc0) != 0x80) {
			/* Characters, not bytes. */
			column++;
		}
	}
	return fault_set(r->fault, EINVAL, "%s:%zu:%zu: %s", r->file, line, column, why);
}

static size_t skip_space(const struct jread *r, size_t at)
{
	while (at < r->len && strchr(" \t\r\n", r->text[at]) && r->text[at])
		at++;
	return at;
}

static size_t skip_string(const struct jread *r, size_t at)
{
	for (at++; at < r->len && r->text[at] != '"'; at++)
		if (r->text[at] == '\\')
			at++;
	return at < r->len ? at + 1 : r->len;
}

/* Behind the value that begins here; brackets are balanced, as this is JSON. */
static size_t skip_value(const struct jread *r, size_t at)
{
	size_t depth = 0;

	do {
		at = skip_space(r, at);
		if (at >= r->len)
			return r->len;
		if (r->text[at] == '"') {
			at = skip_string(r, at);
		} else if (strchr("[{", r->text[at])) {
			depth++;
			at++;
		} else if (strchr("]}", r->text[at])) {
			if (!depth)
				return at;
			depth--;
			at++;
		} else if (strchr(",:", r->text[at])) {
			at++;
		} else {
			while (at < r->len && !strchr(",:]}[{\" \t\r\n", r->text[at]))
				at++;
		}
	} while (depth);
	return at;
}

static bool same_key(const struct jread *r, size_t from, size_t to, const char *key)
{
	size_t len = strlen(key);

	return to - from == len + 2 && !strncmp(r->text + from + 1, key, len);
}

/* The value below a key: the last, as that is the one which json-c keeps. */
static size_t jread_find_key(const struct jread *r, size_t at, const char *key)
{
	size_t found = at, end;

	at = skip_space(r, at + 1);
	while (at < r->len && r->text[at] == '"') {
		size_t from = at;

		end = skip_string(r, at);
		at = skip_space(r, skip_space(r, end) + 1);
		if (same_key(r, from, end, key))
			found = at;
		at = skip_space(r, skip_value(r, at));
		if (at < r->len && r->text[at] == ',')
			at = skip_space(r, at + 1);
	}
	return found;
}

static size_t find_index(const struct jread *r, size_t at, size_t index)
{
	at = skip_space(r, at + 1);
	while (index-- && at < r->len) {
		at = skip_space(r, skip_value(r, at));
		if (at < r->len && r->text[at] == ',')
			at = skip_space(r, at + 1);
	}
	return at;
}

int jread_refuse(struct jread *r, const char *fmt, ...)
{
	size_t at = skip_space(r, 0), i;
	char why[FAULT_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (i = 0; i < r->depth; i++)
		at = r->keys[i] ? jread_find_key(r, at, r->keys[i]) :
				  find_index(r, at, r->indices[i]);
	return refuse_at(r, at, why);
}

int jread_open(struct jread *r, const char *file, const char *text, size_t len, struct fault *fault)
{
	struct json_tokener *tok = json_tokener_new_ex(JREAD_DEPTH);
	enum json_tokener_error error;
	size_t end;

	memset(r, 0, sizeof(*r));
	r->file = file;
	r->text = text;
	r->len = len;
	r->fault = fault;
	if (len > INT32_MAX) {
		json_tokener_free(tok);
		return refuse_at(r, 0, "longer than 2 GiB");
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	r->root = json_tokener_parse_ex(tok, text, (int)len);
	error = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	if (error == json_tokener_continue)
		return refuse_at(r, len, len ? "the document ends too early" : "the file is empty");
	if (error != json_tokener_success)
		return refuse_at(r, end, json_tokener_error_desc(error));
	end = skip_space(r, end);
	if (end < len)
		return refuse_at(r, end, "there is text after the end of the document");
	return 0;
}

void jread_close(struct jread *r)
{
	json_object_put(r->root);
	r->root = NULL;
}

void jread_key(struct jread *r, const char *key)
{
	if (r->depth < JREAD_DEPTH)
		r->keys[r->depth++] = key;
}

void jread_index(struct jread *r, size_t index)
{
	if (r->depth == JREAD_DEPTH)
		return;
	r->indices[r->depth] = index;
	r->keys[r->depth++] = NULL;
}

void jread_up(struct jread *r)
{
	r->depth--;
}

int jread_object(struct jread *r, struct json_object *from, const char *const *keys)
{
	size_t i;

	if (!json_object_is_type(from, json_type_object))
		return jread_refuse(r, "an object is expected here");
	json_object_object_foreach(from, key, value) {
		(void)value;
		for (i = 0; keys[i] && strcmp(keys[i], key);)
			i++;
		if (keys[i])
			continue;
		jread_key(r, key);
		return jread_refuse(r, "\"%.60s\" is not a key that can stand here", key);
	}
	return 0;
}

int jread_array(struct jread *r, struct json_object *from, const char *key, size_t max,
		struct json_object **array)
{
	if (!json_object_object_get_ex(from, key, array)) {
		*array = NULL;
		return 0;
	}
	jread_key(r, key);
	if (!json_object_is_type(*array, json_type_array))
		return jread_refuse(r, "\"%s\" must be a list", key);
	if (json_object_array_length(*array) > max)
		return jread_refuse(r, "\"%s\" has more than %zu entries", key, max);
	jread_up(r);
	return 0;
}

int jread_take_number(struct jread *r, struct json_object *value, double max, double *number)
{
	double n;

	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return jread_refuse(r, "a number is expected here");
	n = json_object_get_double(value);
	if (!isfinite(n) || n < 0 || n > max)
		return jread_refuse(r, "%g is outside 0 to %g", n, max);
	*number = n;
	return 0;
}

int jread_take_whole(struct jread *r, struct json_object *value, uint32_t max, uint32_t *number)
{
	int64_t n;

	if (!json_object_is_type(value, json_type_int))
		return jread_refuse(r, "a whole number is expected here");
	n = json_object_get_int64(value);
	if (n < 0 || n > max)
		return jread_refuse(r, "%lld is outside 0 to %u", (long long)n, max);
	*number = (uint32_t)n;
	return 0;
}

int jread_number(struct jread *r, struct json_object *from, const char *key, double max,
		 double *value)
{
	struct json_object *found;
	int err;

	if (!json_object_object_get_ex(from, key, &found))
		return 0;
	jread_key(r, key);
	err = jread_take_number(r, found, max, value);
	if (!err)
		jread_up(r);
	return err;
}

int jread_whole(struct jread *r, struct json_object *from, const char *key, uint32_t max,
		uint32_t *value)
{
	struct json_object *found;
	int err;

	if (!json_object_object_get_ex(from, key, &found))
		return 0;
	jread_key(r, key);
	err = jread_take_whole(r, found, max, value);
	if (!err)
		jread_up(r);
	return err;
}

int jread_flag(struct jread *r, struct json_object *from, const char *key, bool *value)
{
	struct json_object *found;

	if (!json_object_object_get_ex(from, key, &found))
		return 0;
	jread_key(r, key);
	if (!json_object_is_type(found, json_type_boolean))
		return jread_refuse(r, "\"%s\" must be true or false", key);
	*value = json_object_get_boolean(found);
	jread_up(r);
	return 0;
}

int jread_word(struct jread *r, struct json_object *from, const char *key, const char **value)
{
	struct json_object *found;

	if (!json_object_object_get_ex(from, key, &found))
		return 0;
	jread_key(r, key);
	if (!json_object_is_type(found, json_type_string) ||
	    strlen(json_object_get_string(found)) != (size_t)json_object_get_string_len(found))
		return jread_refuse(r, "\"%s\" must be a text", key);
	*value = json_object_get_string(found);
	jread_up(r);
	return 0;
}
