// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what clients send
 *
 * One JSON object, strict JSON, no member twice. Members that cannot be changed or that nobody
 * knows are refused when nothing else is there, and remarked on in the answer otherwise, as Redfish
 * wants it. Annotations such as @odata.etag say nothing here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/body.h"

#define REMARKS_MAX 16
#define DEPTH_MAX 12

/*
 * In JSON a colon outside of strings follows each name of a member and nothing else. False for
 * what json-c takes beyond JSON: quotes of another kind, NaN, comments.
 */
static bool count_colons(const char *text, size_t len, size_t *n)
{
	bool string = false;
	size_t i;

	*n = 0;
	for (i = 0; i < len; i++) {
		if (text[i] == '\\' && string)
			i++;
		else if (text[i] == '"')
			string = !string;
		else if (!string &&
			 (!text[i] || !strchr("{}[]:, \t\r\n0123456789+-.eEtrufalsn", text[i])))
			return false;
		else if (text[i] == ':' && !string)
			++*n;
	}
	return true;
}

static size_t count_members(struct json_object *value)
{
	size_t n = 0, i;

	if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, key, member) {
			(void)key;
			n += 1 + count_members(member);
		}
	} else if (json_object_is_type(value, json_type_array)) {
		for (i = 0; i < json_object_array_length(value); i++)
			n += count_members(json_object_array_get_idx(value, i));
	}
	return n;
}

struct json_object *body_object(const char *text, size_t len, struct answer *answer)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *root = NULL;
	bool good = false;
	size_t end, at, colons = 0;

	if (tokener && len && len <= BODY_MAX) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		root = json_tokener_parse_ex(tokener, text, (int)len);
		end = json_tokener_get_parse_end(tokener);
		for (at = end; at < len && strchr(" \t\r\n", text[at]) && text[at]; at++)
			;
		good = json_tokener_get_error(tokener) == json_tokener_success && at == len &&
		       json_object_is_type(root, json_type_object) &&
		       count_colons(text, len, &colons);
	}
	json_tokener_free(tokener);
	if (!good) {
		answer_refuse(answer, 400, "MalformedJSON", NULL, NULL,
			      "the body is not a JSON object");
	} else if (colons != count_members(root)) {
		answer_refuse(answer, 400, "PropertyDuplicate", NULL, NULL,
			      "a member of the body appears twice");
		good = false;
	}
	if (!good) {
		json_object_put(root);
		root = NULL;
	}
	return root;
}

static bool is_annotation(const char *name)
{
	return strchr(name, '@');
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/**
 * struct kind - what the body of a PATCH is for
 * @list: in Links, which can be changed
 * @fixed: properties of the resource that cannot be changed
 */
struct kind {
	const char *list, *pointer;
	const char *const *names;
	const char *const *fixed;
};

static const char *const zone_names[] = { "Links", "Oem", NULL };
static const char *const system_names[] = { "Links", NULL };
static const char *const zone_fixed[] = {
	"Id",
	"Name",
	"Description",
	"Status",
	"ZoneType",
	"Actions",
	"Identifiers",
	"Fabric",
	"DefaultRoutingEnabled",
	"ExternalAccessibility",
	"ContainedByZones",
	"ContainsZones",
	"InvolvedSwitches",
	"ResourceBlocks",
	NULL,
};

static const char *const system_fixed[] = {
	"Id",	    "Name",	  "Description", "Status", "SystemType",
	"HostName", "PowerState", "Endpoints",	 NULL,
};

static const struct kind zone_kind = { "Endpoints", "/Links/Endpoints", zone_names, zone_fixed },
			 system_kind = { "ResourceBlocks", "/Links/ResourceBlocks", system_names,
					 system_fixed };

/* Remarks on members that are not among @names, as long as a person would read them. */
static void remark(const struct kind *kind, struct json_object **remarks,
		   struct json_object *object, const char *path, const char *const *names)
{
	json_object_object_foreach(object, key, value) {
		char *pointer, *name, *text;
		bool known = is_one_of(key, kind->fixed);
		struct json_object *list;

		(void)value;
		if (is_one_of(key, names) || is_annotation(key))
			continue;
		if (*remarks && json_object_object_length(*remarks) >= REMARKS_MAX)
			return;
		/* The cut may be inside a letter, and the client's name need not be UTF-8 at all. */
		pointer = mem_printf("%s/%.200s", path, key);
		text_utf8(pointer);
		text = mem_printf("%.200s %s", key,
				  known ? "cannot be changed" :
					  "is not a property of this resource");
		text_tame(text, false);
		name = mem_printf("%.200s@Message.ExtendedInfo", key);
		text_utf8(name);
		list = json_object_new_array();
		json_object_array_add(list, answer_message(known ? "PropertyNotWritable" :
								   "PropertyUnknown",
							   pointer, key, text));
		if (!*remarks)
			*remarks = json_object_new_object();
		json_object_object_add(*remarks, name, list);
		free(pointer);
		free(name);
		free(text);
	}
}

static bool wrong_type(struct answer *answer, const char *pointer, const char *what)
{
	answer_refuse(answer, 400, "PropertyValueTypeError", pointer, NULL, "%s is %s", pointer,
		      what);
	return false;
}

/* {"@odata.id": URI} and nothing else of meaning. */
static char *read_link(struct json_object *value, const char *pointer, struct answer *answer)
{
	struct json_object *uri;

	if (!json_object_is_type(value, json_type_object) ||
	    !json_object_object_get_ex(value, "@odata.id", &uri) ||
	    !json_object_is_type(uri, json_type_string) || json_object_object_length(value) != 1) {
		wrong_type(answer, pointer, "no object with @odata.id alone");
		return NULL;
	}
	if (!*json_object_get_string(uri) || strlen(json_object_get_string(uri)) > BODY_URI_MAX ||
	    strlen(json_object_get_string(uri)) != (size_t)json_object_get_string_len(uri)) {
		wrong_type(answer, pointer, "no URI of at most 512 characters");
		return NULL;
	}
	return mem_strdup(json_object_get_string(uri));
}

bool body_array(struct json_object *from, const char *key, const char *pointer,
		struct json_object **list, struct answer *answer)
{
	if (!json_object_object_get_ex(from, key, list)) {
		*list = NULL;
		return true;
	}
	if (!json_object_is_type(*list, json_type_array) ||
	    json_object_array_length(*list) > BODY_LINKS_MAX)
		return wrong_type(answer, pointer, "no array of at most 256 elements");
	return true;
}

static bool read_members(const struct kind *kind, struct json_object *links, struct body_zone *zone,
			 struct answer *answer)
{
	struct json_object *list;
	size_t i, n;
	char *uri;

	if (!body_array(links, kind->list, kind->pointer, &list, answer))
		return false;
	if (!list) {
		answer_refuse(answer, 400, "PropertyMissing", kind->pointer, kind->list,
			      "Links.%s, the only property that can be changed, is missing",
			      kind->list);
		return false;
	}
	n = json_object_array_length(list);
	zone->members = mem_zalloc(n + 1, sizeof(*zone->members));
	for (i = 0; i < n; i++) {
		uri = read_link(json_object_array_get_idx(list, i), kind->pointer, answer);
		if (!uri)
			return false;
		zone->members[zone->member_count++] = uri;
	}
	return true;
}

bool body_blocks(struct json_object *links, struct body_zone *zone, struct answer *answer)
{
	return read_members(&system_kind, links, zone, answer);
}

struct json_object *body_member(struct json_object *from, const char *key, const char *pointer,
				struct answer *answer)
{
	struct json_object *value;

	if (!json_object_object_get_ex(from, key, &value))
		return NULL;
	if (!json_object_is_type(value, json_type_object))
		wrong_type(answer, pointer, "no object");
	return value;
}

static bool read_wish(struct json_object *wish, struct body_zone *zone, struct answer *answer)
{
	struct json_object *endpoint, *port;
	char *a, *b;

	if (!json_object_is_type(wish, json_type_object) || json_object_object_length(wish) != 2 ||
	    !json_object_object_get_ex(wish, "Endpoint", &endpoint) ||
	    !json_object_object_get_ex(wish, "Port", &port))
		return wrong_type(answer, "/Oem/GPUFabric/Ports",
				  "no list of objects with Endpoint and Port");
	a = read_link(endpoint, "/Oem/GPUFabric/Ports/Endpoint", answer);
	b = a ? read_link(port, "/Oem/GPUFabric/Ports/Port", answer) : NULL;
	if (!b) {
		free(a);
		return false;
	}
	zone->wish_endpoint[zone->wish_count] = a;
	zone->wish_port[zone->wish_count++] = b;
	return true;
}

static bool read_wishes(struct json_object *root, struct body_zone *zone, struct answer *answer)
{
	static const char *const oem_names[] = { "GPUFabric", NULL }, *const own_names[] = {
		"Ports", NULL
	};
	struct json_object *oem = body_member(root, "Oem", "/Oem", answer), *own, *list;
	size_t i, n;

	if (answer->status || !oem)
		return !answer->status;
	remark(&zone_kind, &zone->remarks, oem, "/Oem", oem_names);
	own = body_member(oem, "GPUFabric", "/Oem/GPUFabric", answer);
	if (answer->status || !own)
		return !answer->status;
	remark(&zone_kind, &zone->remarks, own, "/Oem/GPUFabric", own_names);
	if (!body_array(own, "Ports", "/Oem/GPUFabric/Ports", &list, answer))
		return false;
	n = list ? json_object_array_length(list) : 0;
	zone->wish_endpoint = mem_zalloc(n + 1, sizeof(char *));
	zone->wish_port = mem_zalloc(n + 1, sizeof(char *));
	for (i = 0; i < n; i++)
		if (!read_wish(json_object_array_get_idx(list, i), zone, answer))
			return false;
	return true;
}

static bool read_patch(const struct kind *kind, const char *text, size_t len,
		       struct body_zone *zone, struct answer *answer)
{
	const char *const link_names[] = { kind->list, NULL };
	struct json_object *root = body_object(text, len, answer), *links;
	struct answer first;
	bool good = false;

	*zone = (struct body_zone){ 0 };
	if (!root)
		return false;
	remark(kind, &zone->remarks, root, "", kind->names);
	links = body_member(root, "Links", "/Links", answer);
	if (answer->status)
		goto out;
	if (links)
		remark(kind, &zone->remarks, links, "/Links", link_names);
	/* nothing that can be changed, and something that cannot: that is what is wrong */
	if (zone->remarks && (!links || !json_object_object_get_ex(links, kind->list, NULL))) {
		first = (struct answer){ 0 };
		json_object_object_foreach(zone->remarks, key, value) {
			struct json_object *info = json_object_array_get_idx(value, 0), *said, *id;

			(void)key;
			json_object_object_get_ex(info, "Message", &said);
			json_object_object_get_ex(info, "MessageId", &id);
			answer_refuse(&first, 400, json_object_get_string(id) + strlen(ANSWER_BASE),
				      NULL, NULL, "%s", json_object_get_string(said));
			break;
		}
		*answer = first;
		goto out;
	}
	if (!links) {
		answer_refuse(answer, 400, "PropertyMissing", "/Links", "Links",
			      "Links.%s is missing", kind->list);
		goto out;
	}
	good = read_members(kind, links, zone, answer) &&
	       (kind != &zone_kind || read_wishes(root, zone, answer));
out:
	json_object_put(root);
	return good;
}

bool body_read_zone(const char *text, size_t len, struct body_zone *zone, struct answer *answer)
{
	return read_patch(&zone_kind, text, len, zone, answer);
}

bool body_read_system(const char *text, size_t len, struct body_zone *zone, struct answer *answer)
{
	return read_patch(&system_kind, text, len, zone, answer);
}

static void free_list(char **list, size_t n)
{
	size_t i;

	for (i = 0; list && i < n; i++)
		free(list[i]);
	free(list);
}

void body_free_zone(struct body_zone *zone)
{
	free_list(zone->members, zone->member_count);
	free_list(zone->wish_endpoint, zone->wish_count);
	free_list(zone->wish_port, zone->wish_count);
	json_object_put(zone->remarks);
	*zone = (struct body_zone){ 0 };
}

bool body_text(struct json_object *root, const char *key, size_t max, char **text,
	       struct answer *answer)
{
	struct json_object *value;

	if (!json_object_object_get_ex(root, key, &value))
		return true;
	if (!json_object_is_type(value, json_type_string) ||
	    (size_t)json_object_get_string_len(value) > max ||
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value)) {
		answer_refuse(answer, 400, "PropertyValueTypeError", NULL, key,
			      "%s is not a text of at most %zu characters", key, max);
		return false;
	}
	*text = mem_strdup(json_object_get_string(value));
	return true;
}

static bool known_only(struct json_object *root, const char *const *names, struct answer *answer)
{
	json_object_object_foreach(root, key, value) {
		(void)value;
		if (is_one_of(key, names) || is_annotation(key))
			continue;
		answer_refuse(answer, 400, "ActionParameterUnknown", NULL, key,
			      "%.200s is not a parameter of this action", key);
		return false;
	}
	return true;
}

static bool read_action_port(struct json_object *root, struct body_action *action,
			     struct answer *answer)
{
	struct json_object *oem = body_member(root, "Oem", "/Oem", answer), *own, *port;

	if (answer->status || !oem)
		return !answer->status;
	own = body_member(oem, "GPUFabric", "/Oem/GPUFabric", answer);
	if (answer->status || !own || !json_object_object_get_ex(own, "Port", &port))
		return !answer->status;
	action->port = read_link(port, "/Oem/GPUFabric/Port", answer);
	return action->port;
}

bool body_read_action(const char *text, size_t len, bool with_port, struct body_action *action,
		      struct answer *answer)
{
	static const char *const names[] = { "Endpoint", "EndpointETag", "ZoneETag", "Oem", NULL };
	static const char *const less[] = { "Endpoint", "EndpointETag", "ZoneETag", NULL };
	struct json_object *root = body_object(text, len, answer), *endpoint;
	bool good;

	*action = (struct body_action){ 0 };
	if (!root)
		return false;
	good = known_only(root, with_port ? names : less, answer);
	if (good && !json_object_object_get_ex(root, "Endpoint", &endpoint)) {
		answer_refuse(answer, 400, "ActionParameterMissing", NULL, "Endpoint",
			      "the parameter Endpoint is missing");
		good = false;
	}
	if (good) {
		action->endpoint = read_link(endpoint, "/Endpoint", answer);
		good = action->endpoint &&
		       body_text(root, "EndpointETag", 128, &action->endpoint_etag, answer) &&
		       body_text(root, "ZoneETag", 128, &action->zone_etag, answer) &&
		       (!with_port || read_action_port(root, action, answer));
	}
	json_object_put(root);
	return good;
}

bool body_read_nothing(const char *text, size_t len, struct answer *answer)
{
	static const char *const none[] = { NULL };
	struct json_object *root;
	bool good;

	if (!len)
		return true;
	root = body_object(text, len, answer);
	good = root && known_only(root, none, answer);
	json_object_put(root);
	return good;
}

bool body_read_renewal(const char *text, size_t len, bool *release, struct answer *answer)
{
	static const char *const names[] = { "Release", NULL };
	struct json_object *root, *value = NULL;
	bool good;

	*release = false;
	if (!len)
		return true;
	root = body_object(text, len, answer);
	good = root && known_only(root, names, answer);
	if (good && json_object_object_get_ex(root, "Release", &value)) {
		good = json_object_is_type(value, json_type_boolean);
		*release = good && json_object_get_boolean(value);
	}
	if (!good && !answer->status)
		answer_refuse(answer, 400, "PropertyValueTypeError", "/Release", "Release",
			      "Release is true or false");
	json_object_put(root);
	return good;
}

void body_free_action(struct body_action *action)
{
	free(action->endpoint);
	free(action->endpoint_etag);
	free(action->zone_etag);
	free(action->port);
	*action = (struct body_action){ 0 };
}

bool body_read_login(const char *text, size_t len, struct body_login *login, struct answer *answer)
{
	struct json_object *root = body_object(text, len, answer);
	bool good;

	*login = (struct body_login){ 0 };
	if (!root)
		return false;
	good = body_text(root, "UserName", 64, &login->user, answer) &&
	       body_text(root, "Password", 128, &login->password, answer);
	if (good && (!login->user || !login->password)) {
		answer_refuse(answer, 400, "PropertyMissing", NULL,
			      login->user ? "Password" : "UserName",
			      "UserName and Password are needed");
		good = false;
	}
	json_object_put(root);
	return good;
}

void body_free_login(struct body_login *login)
{
	if (login->password)
		explicit_bzero(login->password, strlen(login->password));
	free(login->user);
	free(login->password);
	*login = (struct body_login){ 0 };
}
