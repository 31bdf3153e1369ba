// SPDX-License-Identifier: GPL-2.0-only
/* DOC: links between resources of Redfish, and its errors. */
#include <string.h>

#include "base/text.h"
#include "managers/conf.h"
#include "redfish/link.h"

#define ERROR_MAX 200

const char *link_path(struct json_object *from)
{
	const char *path = doc_text(from, "@odata.id");

	return path && manager_is_path(path) ? path : NULL;
}

const char *link_below(struct json_object *from, const char *key)
{
	return link_path(doc_object(from, key));
}

const char *link_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *redfish_complaint(struct json_object *body)
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

struct json_object *link_reference(const char *path)
{
	struct json_object *reference = json_object_new_object();

	json_object_object_add(reference, "@odata.id", json_object_new_string(path));
	return reference;
}
