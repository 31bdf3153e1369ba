// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: query parameters
 *
 * $expand, $select, $skip and $top as Redfish has them. A value that is not understood is
 * refused: a client that gets less than it has asked for would not notice.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/query.h"

static bool refuse_value(struct answer *answer, const char *key, const char *why)
{
	answer_refuse(answer, 400, "QueryParameterValueError", NULL, key, "%s: %s", key, why);
	return false;
}

/* "($levels=2)" */
static bool levels_read(const char *text, unsigned int *levels)
{
	static const char head[] = "($levels=";
	char digits[3] = "";
	uint64_t value;
	size_t len;

	if (strncmp(text, head, strlen(head)))
		return false;
	text += strlen(head);
	len = strspn(text, "0123456789");
	if (!len || len >= sizeof(digits) || strcmp(text + len, ")"))
		return false;
	memcpy(digits, text, len);
	if (!text_number(digits, QUERY_LEVELS_MAX, &value) || !value)
		return false;
	*levels = (unsigned int)value;
	return true;
}

static bool expand_take(struct query *query, const char *key, const char *value,
			struct answer *answer)
{
	const char kind = *value;

	query->expand = true;
	query->levels = 1;
	query->below = kind == '.' || kind == '*';
	query->links = kind == '~' || kind == '*';
	if (!query->below && !query->links)
		return refuse_value(answer, key, "write ., ~ or *");
	if (value[1] && !levels_read(value + 1, &query->levels))
		return refuse_value(answer, key, "behind it ($levels=N), N from 1 to MaxLevels");
	return true;
}

static bool name_is_good(const char *name)
{
	size_t parts = 1, i;

	if (!*name || strlen(name) > QUERY_NAME_MAX)
		return false;
	for (i = 0; name[i]; i++) {
		if (isalnum((unsigned char)name[i]) || strchr("_.@#-", name[i]))
			continue;
		if (name[i] != '/')
			return false;
		if (!i || !name[i + 1] || name[i + 1] == '/' || ++parts > QUERY_DEPTH_MAX)
			return false;
	}
	return true;
}

static bool select_take(struct query *query, const char *key, const char *value,
			struct answer *answer)
{
	char *copy = mem_strdup(value), *at = copy, *name;
	bool good = true;

	while (good && (name = strsep(&at, ","))) {
		good = name_is_good(name) && query->select_count < QUERY_SELECT_MAX;
		if (!good)
			break;
		query->select =
			mem_push(query->select, query->select_count, sizeof(*query->select));
		query->select[query->select_count++] = mem_strdup(name);
	}
	free(copy);
	return good ||
	       refuse_value(answer, key, "write names of properties, with commas between them");
}

static bool number_take(const char *key, const char *value, uint64_t least, uint64_t *number,
			struct answer *answer)
{
	size_t len = strlen(value);

	if (len && len < 10 && strspn(value, "0123456789") == len &&
	    text_number(value, INT32_MAX, number) && *number >= least)
		return true;
	return refuse_value(answer, key, least ? "a number, at least 1" : "a number");
}

bool query_take(struct query *query, const char *key, const char *value, struct answer *answer)
{
	bool twice = false;

	if (*key != '$')
		return true;
	query->given = true;
	value = value ? value : "";
	if (!strcmp(key, "$expand")) {
		twice = query->expand;
		if (!twice)
			return expand_take(query, key, value, answer);
	} else if (!strcmp(key, "$select")) {
		twice = query->select_count;
		if (!twice)
			return select_take(query, key, value, answer);
	} else if (!strcmp(key, "$skip")) {
		twice = query->has_skip;
		query->has_skip = true;
		if (!twice)
			return number_take(key, value, 0, &query->skip, answer);
	} else if (!strcmp(key, "$top")) {
		twice = query->has_top;
		query->has_top = true;
		if (!twice)
			return number_take(key, value, 1, &query->top, answer);
	}
	if (twice)
		answer_refuse(answer, 400, "QueryCombinationInvalid", NULL, NULL,
			      "%s stands there twice", key);
	else
		answer_refuse(answer, 501, "QueryParameterUnsupported", NULL, key,
			      "the query parameter %.100s is not supported", key);
	return false;
}

void query_free(struct query *query)
{
	while (query->select_count)
		free(query->select[--query->select_count]);
	free(query->select);
	*query = (struct query){ 0 };
}

/* What is in a name and not in an address. */
static void add_name(struct text *out, const char *name)
{
	for (; *name; name++)
		if (*name == '#')
			text_add(out, "%%23");
		else
			text_add(out, "%c", *name);
}

char *query_text(const struct query *query)
{
	const char *kind = query->below && query->links ? "*" : query->below ? "." : "~";
	struct text out = { 0 };
	unsigned int i;

	if (query->expand)
		text_add(&out, "$expand=%s($levels=%u)", kind, query->levels);
	for (i = 0; i < query->select_count; i++) {
		text_add(&out, "%s", i ? "," : query->expand ? "&$select=" : "$select=");
		add_name(&out, query->select[i]);
	}
	return out.text ? out.text : mem_strdup("");
}

const char *query_link(struct json_object *value)
{
	struct json_object *path;

	if (!json_object_is_type(value, json_type_object) ||
	    json_object_object_length(value) != 1 ||
	    !json_object_object_get_ex(value, "@odata.id", &path) ||
	    !json_object_is_type(path, json_type_string))
		return NULL;
	return json_object_get_string(path);
}

/* A resource within another one: it was expanded. */
static bool is_resource(struct json_object *value)
{
	return json_object_is_type(value, json_type_object) &&
	       json_object_object_length(value) > 1 &&
	       json_object_object_get_ex(value, "@odata.id", NULL);
}

enum choice {
	CHOICE_NONE,
	CHOICE_PART, /* something within it */
	CHOICE_WHOLE,
};

/*
 * Is the member @key of @where, "" or "Status/", named? What is said of a member, as
 * "Members@odata.count", goes with it.
 */
static enum choice choose(const struct query *query, const char *where, const char *key)
{
	size_t at = strlen(where), len = strcspn(key, "@");
	enum choice found = CHOICE_NONE;
	unsigned int i;

	if (!len)
		len = strlen(key);
	for (i = 0; i < query->select_count && found != CHOICE_WHOLE; i++) {
		const char *name = query->select[i];

		if (strncmp(name, where, at) || strncmp(name + at, key, len))
			continue;
		if (!name[at + len])
			found = CHOICE_WHOLE;
		else if (name[at + len] == '/' && !key[len])
			found = CHOICE_PART;
	}
	return found;
}

static bool must_stay(const char *key)
{
	static const char *const names[] = { "@odata.id",	    "@odata.type",
					     "@odata.etag",	    "@odata.context",
					     "Members@odata.count", "Members@odata.nextLink" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

static bool object_select(const struct query *query, struct json_object *object, const char *where);

/* Of a list, or of one value: is anything left of it? */
static bool value_select(const struct query *query, struct json_object *value, const char *where)
{
	bool some = false;
	size_t i;

	if (is_resource(value)) {
		object_select(query, value, "");
		return true;
	}
	if (json_object_is_type(value, json_type_object))
		return object_select(query, value, where);
	if (!json_object_is_type(value, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(value); i++)
		some |= value_select(query, json_object_array_get_idx(value, i), where);
	return some;
}

/* @where NULL: nothing in it is named, but there may be resources in it. */
static bool object_select(const struct query *query, struct json_object *object, const char *where)
{
	struct lh_entry *entry, *next;
	bool some = false;

	lh_foreach_safe(json_object_get_object(object), entry, next)
	{
		const char *key = lh_entry_k(entry);
		enum choice choice = where ? choose(query, where, key) : CHOICE_NONE;
		char *below = NULL;
		bool stays = choice == CHOICE_WHOLE || (where && !*where && must_stay(key));

		if (!stays) {
			if (choice == CHOICE_PART)
				below = mem_printf("%s%s/", where, key);
			stays = value_select(query, (struct json_object *)lh_entry_v(entry), below);
			free(below);
		}
		if (stays)
			some = true;
		else
			json_object_object_del(object, key);
	}
	return some;
}

void query_select(const struct query *query, struct json_object *resource)
{
	if (query->select_count)
		object_select(query, resource, "");
}

size_t query_unescape(char *text)
{
	char *to = text;
	const char *at;

	for (at = text; *at; at++) {
		char digits[3] = "";

		if (*at == '%' && isxdigit((unsigned char)at[1]) &&
		    isxdigit((unsigned char)at[2])) {
			memcpy(digits, at + 1, 2);
			if (strcmp(digits, "00")) {
				*to++ = (char)strtoul(digits, NULL, 16);
				at += 2;
				continue;
			}
		}
		*to++ = *at;
	}
	*to = '\0';
	return (size_t)(to - text);
}
