// SPDX-License-Identifier: GPL-2.0-only
/* DOC: resources of Redfish, of which only what is understood is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "managers/conf.h"
#include "redfish/doc.h"

#define ERROR_MAX 200

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

static struct json_object *member(struct json_object *from, const char *key, enum json_type type)
{
	struct json_object *found;

	if (!json_object_is_type(from, json_type_object) ||
	    !json_object_object_get_ex(from, key, &found) || !json_object_is_type(found, type))
		return NULL;
	return found;
}

struct json_object *doc_object(struct json_object *from, const char *key)
{
	return member(from, key, json_type_object);
}

struct json_object *doc_array(struct json_object *from, const char *key)
{
	return member(from, key, json_type_array);
}

const char *doc_text(struct json_object *from, const char *key)
{
	struct json_object *found = member(from, key, json_type_string);
	const char *text = found ? json_object_get_string(found) : NULL;

	/* A NUL inside would end it early. */
	return text && strlen(text) == (size_t)json_object_get_string_len(found) ? text : NULL;
}

const char *doc_path(struct json_object *from)
{
	const char *path = doc_text(from, "@odata.id");

	return path && manager_is_path(path) ? path : NULL;
}

const char *doc_link(struct json_object *from, const char *key)
{
	return doc_path(doc_object(from, key));
}

const char *doc_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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

char *doc_error(struct json_object *body)
{
	struct json_object *error = doc_object(body, "error"), *infos, *info;
	const char *text = doc_text(error, "message");
	char *said;

	infos = doc_array(error, "@Message.ExtendedInfo");
	info = infos ? json_object_array_get_idx(infos, 0) : NULL;
	if (doc_text(info, "Message"))
		text = doc_text(info, "Message");
	said = mem_printf("%.*s", ERROR_MAX, text ? text : "");
	text_tame(said, false);
	return said;
}

struct json_object *doc_reference(const char *path)
{
	struct json_object *reference = json_object_new_object();

	json_object_object_add(reference, "@odata.id", json_object_new_string(path));
	return reference;
}
