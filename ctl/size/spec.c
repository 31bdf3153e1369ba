// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: workloads in a file
 *
 * {"model": "llama-3.1-8b", "task": "train", "batch": 4} is the same as the
 * options --model, --task and --batch. Values are kept as words, so that one
 * set of readers judges both.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "spec.h"

#define FILE_MAX (1 << 16)

static int spec_take(struct size_spec *spec, const char *key, struct json_object *value,
		     struct fault *f)
{
	const char *text = value ? json_object_get_string(value) : NULL;
	enum json_type type = json_object_get_type(value);
	size_t i = spec->n;

	if (type != json_type_string && type != json_type_int && type != json_type_double &&
	    type != json_type_boolean)
		return fault_set(f, EINVAL, "%.40s: neither a string nor a number nor a boolean",
				 key);
	if (i == SPEC_ITEMS_MAX)
		return fault_set(f, E2BIG, "more than %d fields", SPEC_ITEMS_MAX);
	if (strlen(key) >= sizeof(spec->item[i].key))
		return fault_set(f, EINVAL, "%.40s: this name is longer than any option", key);
	if (strlen(text) >= SPEC_VALUE_MAX || !*text)
		return fault_set(f, EINVAL, "%s: 1 to %d characters", key, SPEC_VALUE_MAX - 1);
	strcpy(spec->item[i].key, key);
	strcpy(spec->item[i].value, text);
	spec->n++;
	return 0;
}

int spec_parse(const char *text, size_t len, struct size_spec *spec, struct fault *f)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *object;
	int err = 0;

	spec->n = 0;
	if (!tok)
		return fault_set(f, ENOMEM, "out of memory");
	object = json_tokener_parse_ex(tok, text, (int)len);
	if (!object || !json_object_is_type(object, json_type_object)) {
		err = fault_set(f, EINVAL, "not a JSON object (%s): write options and their values",
				json_why_no_object(tok));
	} else {
		json_object_object_foreach(object, key, value) {
			if (!err)
				err = spec_take(spec, key, value, f);
		}
	}
	json_object_put(object);
	json_tokener_free(tok);
	return err;
}

int spec_read(const char *path, struct size_spec *spec, struct fault *f)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t n;
	int err;

	if (!file)
		return fault_set(f, errno, "%.200s: %s", path, strerror(errno));
	text = malloc(FILE_MAX);
	n = text ? fread(text, 1, FILE_MAX, file) : 0;
	if (n == FILE_MAX || !n || ferror(file))
		err = fault_set(f, EINVAL, "not a file of 1 to %d bytes", FILE_MAX - 1);
	else
		err = spec_parse(text, n, spec, f);
	if (err)
		fault_prefix(f, "%.200s", path);
	free(text);
	fclose(file);
	return err;
}

const char *spec_get(const struct size_spec *spec, const char *key)
{
	size_t i;

	for (i = spec->n; i; i--)
		if (!strcmp(spec->item[i - 1].key, key))
			return spec->item[i - 1].value;
	return NULL;
}
