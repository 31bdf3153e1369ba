// SPDX-License-Identifier: GPL-2.0-only
/* DOC: what managers send as JSON, of which only what is understood is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "driver/doc.h"

#define WORDS_MAX 64

struct json_object *doc_parse(const char *text, size_t len, struct fault *f)
{
	struct json_tokener *tok = json_tokener_new_ex(DOC_DEPTH);
	struct json_object *root = NULL;
	enum json_tokener_error error = json_tokener_error_size;

	if (tok && len && len <= DOC_MAX) {
		json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
		root = json_tokener_parse_ex(tok, text, (int)len);
		error = json_tokener_get_error(tok);
	}
	json_tokener_free(tok);
	if (error == json_tokener_success && json_object_is_type(root, json_type_object))
		return root;
	json_object_put(root);
	fault_set(f, EINVAL, "%s",
		  !len				    ? "an empty answer" :
		  error == json_tokener_continue    ? "JSON that ends too early" :
		  error == json_tokener_error_depth ? "JSON that is too deep" :
		  error == json_tokener_success	    ? "JSON that is not an object" :
						      "text that is not JSON");
	return NULL;
}

static struct json_object *doc_member(struct json_object *from, const char *key,
				      enum json_type type)
{
	struct json_object *found;

	if (!json_object_is_type(from, json_type_object) ||
	    !json_object_object_get_ex(from, key, &found) || !json_object_is_type(found, type))
		return NULL;
	return found;
}

struct json_object *doc_object(struct json_object *from, const char *key)
{
	return doc_member(from, key, json_type_object);
}

struct json_object *doc_array(struct json_object *from, const char *key)
{
	return doc_member(from, key, json_type_array);
}

const char *doc_text(struct json_object *from, const char *key)
{
	struct json_object *found = doc_member(from, key, json_type_string);
	const char *text = found ? json_object_get_string(found) : NULL;

	/* A NUL inside would end it early. */
	return text && strlen(text) == (size_t)json_object_get_string_len(found) ? text : NULL;
}

unsigned int doc_id16(struct json_object *from, const char *key)
{
	const char *text = doc_text(from, key);
	char *prefixed;
	uint64_t value;
	bool good;

	if (!text || strlen(text) > 6)
		return 0;
	prefixed = mem_printf("0x%s", strncmp(text, "0x", 2) ? text : text + 2);
	good = text_number(prefixed, 0xffff, &value);
	free(prefixed);
	return good ? (unsigned int)value : 0;
}

char *doc_words(struct json_object *from, const char *key)
{
	const char *text = doc_text(from, key);
	char *copy;

	if (!text || !*text)
		return NULL;
	copy = mem_printf("%.*s", WORDS_MAX, text);
	text_tame(copy, false);
	return copy;
}
