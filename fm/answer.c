// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: answers
 *
 * A tag is a digest of what a document says, so it needs no counter that would have to outlive
 * the manager: what says the same has the same tag.
 */
#include <gnutls/crypto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/answer.h"

void answer_free(struct answer *answer)
{
	json_object_put(answer->body);
	free(answer->location);
	free(answer->allow);
	free(answer->token);
	free(answer->text);
	*answer = (struct answer){ 0 };
}

struct json_object *answer_message(const char *message, const char *property, const char *argument,
				   const char *text)
{
	struct json_object *info = json_object_new_object(), *list;
	char *id = mem_printf(ANSWER_BASE "%s", message), *told;

	json_object_object_add(info, "@odata.type",
			       json_object_new_string("#Message.v1_2_0.Message"));
	json_object_object_add(info, "MessageId", json_object_new_string(id));
	json_object_object_add(info, "Message", json_object_new_string(text));
	list = json_object_new_array();
	if (argument) {
		/* a part of the request, which need not be UTF-8 */
		told = mem_strdup(argument);
		text_utf8(told);
		json_object_array_add(list, json_object_new_string(told));
		free(told);
	}
	json_object_object_add(info, "MessageArgs", list);
	if (property) {
		list = json_object_new_array();
		json_object_array_add(list, json_object_new_string(property));
		json_object_object_add(info, "RelatedProperties", list);
	}
	json_object_object_add(info, "MessageSeverity", json_object_new_string("Critical"));
	json_object_object_add(info, "Resolution", json_object_new_string("See the message."));
	free(id);
	return info;
}

void answer_refuse(struct answer *answer, unsigned int status, const char *message,
		   const char *property, const char *argument, const char *fmt, ...)
{
	struct json_object *error = json_object_new_object(), *infos = json_object_new_array();
	char *text, *id = mem_printf(ANSWER_BASE "%s", message);
	va_list args;

	va_start(args, fmt);
	text = mem_vprintf(fmt, args);
	va_end(args);
	text_tame(text, false);
	json_object_object_add(error, "code", json_object_new_string(id));
	json_object_object_add(error, "message", json_object_new_string(text));
	json_object_array_add(infos, answer_message(message, property, argument, text));
	json_object_object_add(error, "@Message.ExtendedInfo", infos);
	json_object_put(answer->body);
	answer->body = json_object_new_object();
	json_object_object_add(answer->body, "error", error);
	answer->status = status;
	answer->etag[0] = '\0';
	free(id);
	free(text);
}

size_t answer_tag(struct json_object *document, char etag[ANSWER_ETAG])
{
	unsigned char digest[32];
	const char *text;
	size_t len, i;

	json_object_object_del(document, "@odata.etag");
	text = json_object_to_json_string_length(document, JSON_C_TO_STRING_PLAIN, &len);
	gnutls_hash_fast(GNUTLS_DIG_SHA256, text, len, digest);
	etag[0] = '"';
	for (i = 0; i < 10; i++)
		snprintf(etag + 1 + 2 * i, 3, "%02x", digest[i]);
	strcpy(etag + 21, "\"");
	return len;
}

bool answer_tag_matches(const char *list, const char *etag)
{
	while (*list) {
		const char *end;

		list += strspn(list, " \t,");
		if (*list == '*')
			return true;
		if (!strncmp(list, "W/", 2))
			list += 2;
		if (*list != '"')
			return false;
		end = strchr(list + 1, '"');
		if (!end)
			return false;
		end++;
		if ((size_t)(end - list) == strlen(etag) && !strncmp(list, etag, strlen(etag)))
			return true;
		list = end;
	}
	return false;
}

bool answer_schema(struct json_object *body, char *link, size_t size)
{
	struct json_object *type;
	const char *name, *dot;

	if (!json_object_object_get_ex(body, "@odata.type", &type))
		return false;
	/* #Zone.v1_6_1.Zone */
	name = json_object_get_string(type) + 1;
	dot = strrchr(name, '.');
	if (!dot)
		return false;
	snprintf(link, size, "<http://redfish.dmtf.org/schemas/v1/%.*s.json>; rel=describedby",
		 (int)(dot - name), name);
	return true;
}
